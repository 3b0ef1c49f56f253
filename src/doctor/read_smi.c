/* SPDX-License-Identifier: Apache-2.0 */
/* nvidia-smi: its table, -q, -L, -x, its lists of MIG instances and its errors. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/reader.h"

/* How to add an error: what nvidia-smi prints, and what it is called. The first that fits. */
static const struct {
	const char *text, *name;
} errors[] = {
	{ "Driver/library version mismatch", "mismatch" },
	{ "couldn't communicate with the NVIDIA driver", "not_loaded" },
	{ "Failed to initialize NVML: Driver Not Loaded", "not_loaded" },
	{ "Failed to initialize NVML: Unknown Error", "unknown_error" },
	{ "Failed to initialize NVML: Insufficient Permissions", "no_permission" },
	{ "Failed to initialize NVML: No Permission", "no_permission" },
	{ "Failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND", "no_library" },
	{ "Failed to initialize NVML: N/A", "not_supported" },
	{ "Failed to initialize NVML: GPU access blocked", "no_permission" },
	{ "Failed to initialize NVML: Insufficient external power", "insufficient_power" },
	{ "couldn't find libnvidia-ml.so", "no_library" },
	{ "No devices were found", "no_devices" },
	{ "GPU is lost", "lost" },
	{ "Unable to determine the device handle", "no_handle" },
	{ "nvidia-smi: command not found", "not_found" },
	{ "nvidia-smi: not found", "not_found" },
	{ "\"nvidia-smi\": executable file not found", "not_found" },
};

static void tell_error(struct readers *readers, const char *name)
{
	static const enum fact_key keys[] = { FACT_DRIVER_SMI_ERROR, FACT_DRIVER_SMI_ERROR_HOST,
					      FACT_DRIVER_SMI_ERROR_CONTAINER };

	tell(readers, FACT_DRIVER_SMI_ERROR, name);
	if (readers->where != WHERE_UNKNOWN)
		tell(readers, keys[readers->where], name);
	if (strcmp(name, "lost") == 0)
		tell(readers, FACT_CARD_LOST, NULL);
}

static void read_error(struct readers *readers, const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		if (!has(line, errors[i].text))
			continue;
		tell_error(readers, errors[i].name);
		return;
	}
}

static void driver_version(struct readers *readers, const char *text)
{
	char version[24];
	const char *dot;

	if (!copy_version(text, version, sizeof(version)))
		return;
	tell(readers, FACT_DRIVER_VERSION, version);
	COPY(readers->smi.driver, version);
	dot = strchr(version, '.');
	tellf(readers, FACT_DRIVER_BRANCH, "%.*s", (int)(dot - version), version);
}

static void cuda_version(struct readers *readers, const char *text)
{
	char version[24];

	if (copy_version(text, version, sizeof(version)))
		tell(readers, FACT_DRIVER_CUDA_VERSION, version);
}

/* One more card; what was compared within the last one is told. */
static void end_card(struct readers *readers)
{
	struct smi *smi = &readers->smi;

	if (smi->width_now > 0 && smi->width_most > smi->width_now)
		tellf(readers, FACT_CARD_PCIE_WIDTH_LOW, "%ldx of %ldx", smi->width_now,
		      smi->width_most);
	/* A card at rest lowers its link by itself. */
	if (smi->busy && smi->pcie_now > 0 && smi->pcie_most > smi->pcie_now)
		tellf(readers, FACT_CARD_PCIE_SPEED_LOW, "%ld of %ld", smi->pcie_now,
		      smi->pcie_most);
	if (smi->power_limit > 0 && smi->power_limit * 10 < smi->power_default * 8)
		tellf(readers, FACT_CARD_POWER_LIMIT_LOW, "%ld W of %ld W", smi->power_limit,
		      smi->power_default);
	if (smi->total > 0 && smi->used * 100 >= smi->total * 95)
		tellf(readers, FACT_CARD_MEMORY_FULL, "%ld of %ld MiB", smi->used, smi->total);
	smi->pcie_now = smi->pcie_most = smi->width_now = smi->width_most = 0;
	smi->power_limit = smi->power_default = smi->used = smi->total = 0;
	smi->busy = false;
}

static void begin_card(struct readers *readers, const char *model)
{
	struct smi *smi = &readers->smi;

	end_card(readers);
	smi->any = true;
	smi->cards++;
	if (smi->model[0] && strcmp(smi->model, model) != 0 && !smi->models_differ) {
		smi->models_differ = true;
		tellf(readers, FACT_CARD_MODELS_DIFFER, "%s, %s", smi->model, model);
	}
	COPY(smi->model, model);
	read_model(readers, model, "");
}

static void begin_instance(struct readers *readers, const char *profile)
{
	struct smi *smi = &readers->smi;

	smi->any = true;
	smi->instances++;
	if (!*profile)
		return;
	tell(readers, FACT_CARD_MIG_PROFILE, profile);
	if (smi->profile[0] && strcmp(smi->profile, profile) != 0 && !smi->profiles_differ) {
		smi->profiles_differ = true;
		tellf(readers, FACT_CARD_MIG_PROFILES_DIFFER, "%s, %s", smi->profile, profile);
	}
	COPY(smi->profile, profile);
}

static void mig_mode(struct readers *readers, const char *mode)
{
	if (starts(mode, "Enabled")) {
		readers->smi.mig_on++;
		tell(readers, FACT_CARD_MIG, strchr(mode, '*') ? "pending" : "enabled");
	} else if (starts(mode, "Disabled")) {
		readers->smi.mig_off++;
		tell(readers, FACT_CARD_MIG, strchr(mode, '*') ? "pending" : "disabled");
	} else if (starts(mode, "N/A") || starts(mode, "[N/A]")) {
		tell(readers, FACT_CARD_MIG_UNABLE, NULL);
	}
}

static void compute_mode(struct readers *readers, const char *mode)
{
	if (has(mode, "E. Process") || has(mode, "Exclusive_Process"))
		tell(readers, FACT_CARD_COMPUTE_MODE, "exclusive_process");
	else if (has(mode, "E. Thread") || has(mode, "Exclusive_Thread"))
		tell(readers, FACT_CARD_COMPUTE_MODE, "exclusive_thread");
	else if (has(mode, "Prohibited"))
		tell(readers, FACT_CARD_COMPUTE_MODE, "prohibited");
	else if (has(mode, "Default"))
		tell(readers, FACT_CARD_COMPUTE_MODE, "default");
}

static void persistence(struct readers *readers, const char *mode)
{
	if (starts(mode, "On") || starts(mode, "Enabled"))
		tell(readers, FACT_CARD_PERSISTENCE, "on");
	if (starts(mode, "Off") || starts(mode, "Disabled"))
		tell(readers, FACT_CARD_PERSISTENCE, "off");
}

/* The first number of TEXT, -1 for none. */
static long number_in(const char *text)
{
	char digits[10];
	size_t length;

	text += strcspn(text, "0123456789");
	length = strspn(text, "0123456789");
	if (!length || length >= sizeof(digits))
		return -1;
	memcpy(digits, text, length);
	digits[length] = '\0';
	return count_of(digits);
}

static void temperature(struct readers *readers, const char *text)
{
	long degrees = number_in(text);

	if (degrees >= 85 && degrees < 200)
		tellf(readers, FACT_CARD_HOT, "%ld", degrees);
}

/* The table. */

static char *trimmed(char *text)
{
	char *end = text + strlen(text);

	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text + strspn(text, " \t");
}

static size_t cells_of(char *line, char **ret, size_t most)
{
	size_t count = 0;
	char *rest = line + 1, *cell;

	while (count < most && (cell = strsep(&rest, "|")))
		if (rest)
			ret[count++] = trimmed(cell);
	return count;
}

/* 00000000:07:00.0 */
static bool is_bus_id(const char *text)
{
	return strspn(text, "0123456789abcdefABCDEF") >= 4 && text[strcspn(text, ":")] == ':' &&
	       strlen(text) >= 12 && memchr(text, '.', 18 < strlen(text) ? 18 : strlen(text));
}

/* "0  NVIDIA A100-SXM4-40GB   On" */
static void card_row(struct readers *readers, char *cell)
{
	char *last, *name = cell + strspn(cell, "0123456789");

	name += strspn(name, " ");
	last = strrchr(name, ' ');
	if (last) {
		persistence(readers, last + 1);
		*last = '\0';
	}
	begin_card(readers, trimmed(name));
	readers->smi.row = 1;
}

/* "N/A 34C P0 56W / 400W", "1MiB / 40960MiB", "0% Default" */
static void numbers_row(struct readers *readers, char **cells)
{
	struct smi *smi = &readers->smi;
	const char *degrees = strstr(cells[0], "C ");
	const char *slash = strchr(cells[1], '/');

	while (degrees && degrees > cells[0] && isdigit((unsigned char)degrees[-1]))
		degrees--;
	if (degrees)
		temperature(readers, degrees);
	smi->used = number_in(cells[1]);
	smi->total = slash ? number_in(slash) : -1;
	if (strchr(cells[2], '%') && number_in(cells[2]) >= 95)
		tell(readers, FACT_CARD_BUSY, NULL);
	compute_mode(readers, cells[2]);
	smi->row = 2;
}

/* "0 N/A N/A 1234 C /usr/bin/python3 1000MiB", of older drivers without the N/A. */
static void process_row(struct readers *readers, char *cell)
{
	char *words[12];
	size_t count = split(cell, words, ARRAY_SIZE(words));

	for (size_t i = 1; i + 1 < count; i++) {
		const char *slash;

		if (strcmp(words[i], "C") != 0 && strcmp(words[i], "G") != 0 &&
		    strcmp(words[i], "C+G") != 0 && strcmp(words[i], "M+C") != 0)
			continue;
		slash = strrchr(words[i + 1], '/');
		tell(readers, FACT_CARD_PROCESS_KIND, words[i]);
		tell(readers, FACT_CARD_PROCESS, slash ? slash + 1 : words[i + 1]);
		return;
	}
}

/* "0  MIG 1g.5gb  19  7  4:1": an instance; what can be made has "7/7". */
static void instance_row(struct readers *readers, char *cell)
{
	char *profile = strcasestr(cell, "MIG ");

	if (profile && !strchr(cell, '/') && isdigit((unsigned char)profile[4])) {
		profile += 4;
		profile[strcspn(profile, " +")] = '\0';
		begin_instance(readers, profile);
	}
}

static bool four_numbers(const char *cell)
{
	int count = 0;

	for (; *cell; count++) {
		if (!isdigit((unsigned char)*cell))
			return false;
		cell += strspn(cell, "0123456789");
		cell += strspn(cell, " ");
	}
	return count == 4;
}

static void head_row(struct readers *readers, const char *line)
{
	const char *driver = strcasestr(line, "Driver Version:");
	const char *cuda = strcasestr(line, "CUDA Version:");
	const char *program = strcasestr(line, "NVIDIA-SMI ");

	end_smi(readers);
	driver_version(readers, driver ? driver : program);
	if (cuda)
		cuda_version(readers, cuda);
}

/* Rows of three cells: a card's three, or an instance's. */
static void wide_row(struct readers *readers, char **cells)
{
	struct smi *smi = &readers->smi;

	if (is_bus_id(cells[1])) {
		card_row(readers, cells[0]);
	} else if (four_numbers(cells[0])) {
		begin_instance(readers, "");
	} else if (smi->row == 1 && has(cells[1], "MiB")) {
		numbers_row(readers, cells);
	} else if (smi->row == 2 && !*cells[0]) {
		mig_mode(readers, cells[2]);
		smi->row = 0;
	}
}

static void table_row(struct readers *readers, char *line)
{
	struct smi *smi = &readers->smi;
	char *cells[6];
	size_t count;

	if (has(line, "ERR!"))
		tell(readers, FACT_CARD_LOST, "ERR!");
	smi->no_instances |= has(line, "No MIG devices found");
	smi->processes |= has(line, "Processes:");
	count = cells_of(line, cells, ARRAY_SIZE(cells));
	if (count >= 3)
		wide_row(readers, cells);
	else if (count == 1 && smi->processes)
		process_row(readers, cells[0]);
	else if (count == 1)
		instance_row(readers, cells[0]);
}

/* -L: "GPU 0: NVIDIA A10 (UUID: GPU-...)", "  MIG 1g.5gb  Device  0: (UUID: MIG-...)" */
static bool list_row(struct readers *readers, char *line)
{
	char *at = line + strspn(line, " \t");
	char *uuid = strstr(at, "(UUID: ");
	char *colon;

	if (!uuid || !(starts(at, "GPU ") || starts(at, "MIG ")))
		return false;
	*uuid = '\0';
	if (starts(at, "MIG ")) {
		at += 4;
		at[strcspn(at, " +")] = '\0';
		begin_instance(readers, at);
		return true;
	}
	colon = strchr(at, ':');
	if (colon)
		begin_card(readers, trimmed(colon + 1));
	return colon != NULL;
}

/* -x: <tag>text</tag>, several in a line; a tag alone stands above what follows. */
static void xml_line(struct readers *readers, char *line)
{
	char *at = line;

	while ((at = strchr(at, '<'))) {
		char *tag = ++at, *text, *end;

		at += strcspn(at, ">");
		if (!*at)
			return;
		*at++ = '\0';
		if (strchr("/?!", *tag))
			continue;
		tag[strcspn(tag, " ")] = '\0';
		text = at;
		end = strchr(at, '<');
		if (!end || end[1] != '/' || end == text) {
			COPY(readers->smi.parent, tag);
			continue;
		}
		*end = '\0';
		read_smi_tag(readers, tag, text);
		*end = '<';
		at = end;
	}
}

static bool may_be_error(const char *line)
{
	if (starts(line, "No devices were found") || starts(line, "Unable to determine"))
		return true;
	return read_names_nvidia(line) &&
	       (strstr(line, "NVML") || strstr(line, "NVIDIA-SMI") || strstr(line, "nvidia-smi") ||
		strstr(line, "device handle"));
}

static bool is_tag(const char *at)
{
	return *at == '<' && (isalpha((unsigned char)at[1]) || at[1] == '/' || at[1] == '?');
}

bool read_smi_line(struct readers *readers, char *line)
{
	char *at = line + strspn(line, " \t");

	if (*at == '|' || *at == '+') {
		if (has(at, "NVIDIA-SMI "))
			head_row(readers, at);
		else if (*at == '|')
			table_row(readers, at);
		return true;
	}
	if (is_tag(at)) {
		xml_line(readers, line);
		return true;
	}
	if ((*at == 'G' || *at == 'M') && list_row(readers, line))
		return true;
	if (may_be_error(at))
		read_error(readers, at);
	return false;
}

/* -q and -x. Keys of both; the parent tells those apart that stand in several places. */

static bool below(const struct readers *readers, const char *word)
{
	if (has(readers->smi.parent, word))
		return true;
	for (unsigned i = 1; i < 4; i++)
		if (has(outline_up(&readers->outline, i), word))
			return true;
	return false;
}

static void leaf_driver(struct readers *readers, const char *key, char *value)
{
	(void)key;
	driver_version(readers, value);
}

static void leaf_cuda(struct readers *readers, const char *key, char *value)
{
	(void)key;
	cuda_version(readers, value);
}

static void leaf_product(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (!*value)
		return;
	begin_card(readers, value);
	readers->smi.detail = true;
}

static void leaf_persistence(struct readers *readers, const char *key, char *value)
{
	(void)key;
	readers->smi.detail = true;
	persistence(readers, value);
}

static void leaf_current(struct readers *readers, const char *key, char *value)
{
	struct smi *smi = &readers->smi;

	(void)key;
	if (below(readers, "MIG Mode"))
		mig_mode(readers, value);
	else if (below(readers, "Link Width"))
		smi->width_now = number_in(value);
	else if (below(readers, "PCIe Generation"))
		smi->pcie_now = number_in(value);
}

static void leaf_max(struct readers *readers, const char *key, char *value)
{
	struct smi *smi = &readers->smi;

	(void)key;
	if (below(readers, "Link Width"))
		smi->width_most = number_in(value);
	else if (below(readers, "PCIe Generation"))
		smi->pcie_most = number_in(value);
}

static void leaf_mig(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (!readers->smi.tag)
		return;
	mig_mode(readers, value);
}

static void leaf_link(struct readers *readers, const char *key, char *value)
{
	struct smi *smi = &readers->smi;
	long number = number_in(value);

	if (same(key, "max_link_width"))
		smi->width_most = number;
	else if (same(key, "current_link_width"))
		smi->width_now = number;
	else if (same(key, "max_link_gen"))
		smi->pcie_most = number;
	else
		smi->pcie_now = number;
}

static void leaf_compute_mode(struct readers *readers, const char *key, char *value)
{
	(void)key;
	compute_mode(readers, value);
}

static void leaf_state(struct readers *readers, const char *key, char *value)
{
	(void)key;
	readers->smi.busy = value[0] == 'P' && (value[1] == '0' || value[1] == '2') && !value[2];
}

static void leaf_uncorrected(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (number_in(value) <= 0 || strchr(value, '.'))
		return;
	if (below(readers, "Remapped"))
		tell(readers, FACT_CARD_REMAPPED, value);
	else if (below(readers, "Volatile"))
		tell(readers, FACT_CARD_ECC_UNCORRECTED, "volatile");
	else if (below(readers, "Aggregate"))
		tell(readers, FACT_CARD_ECC_UNCORRECTED, "aggregate");
}

static void leaf_remap(struct readers *readers, const char *key, char *value)
{
	if (!same(value, "Yes"))
		return;
	if (has(key, "fail"))
		tell(readers, FACT_CARD_REMAP_FAILED, NULL);
	else if (has(key, "remapped") || below(readers, "Remapped"))
		tell(readers, FACT_CARD_REMAP_PENDING, NULL);
	else if (below(readers, "Retired") || has(key, "retire") || has(key, "blacklist"))
		tell(readers, FACT_CARD_RETIRE_PENDING, NULL);
}

/* How to add a reason: its name in -q without blanks and marks, and ours. */
static const struct {
	const char *word, *name;
} throttles[] = {
	{ "hw thermal", "hw_thermal" },
	{ "sw thermal", "sw_thermal" },
	{ "hw power brake", "hw_power_brake" },
	{ "hw slowdown", "hw_slowdown" },
	{ "sw power cap", "sw_power_cap" },
	{ "sync boost", "sync_boost" },
	{ "applications clocks", "applications_clocks" },
	{ "display clock", "display_clocks" },
};

static void leaf_throttle(struct readers *readers, const char *key, char *value)
{
	char name[OUTLINE_KEY_MAX];

	if (!same(value, "Active"))
		return;
	COPY(name, key);
	for (char *c = name; *c; c++)
		if (*c == '_')
			*c = ' ';
	for (size_t i = 0; i < ARRAY_SIZE(throttles); i++) {
		if (!has(name, throttles[i].word))
			continue;
		tell(readers, FACT_CARD_THROTTLE, throttles[i].name);
		return;
	}
}

static void leaf_temperature(struct readers *readers, const char *key, char *value)
{
	(void)key;
	temperature(readers, value);
}

static void leaf_memory(struct readers *readers, const char *key, char *value)
{
	if (!below(readers, "FB Memory") && !below(readers, "fb_memory"))
		return;
	if (same(key, "Total"))
		readers->smi.total = number_in(value);
	else
		readers->smi.used = number_in(value);
}

static void leaf_power(struct readers *readers, const char *key, char *value)
{
	if (!has(value, "W"))
		return;
	if (has(key, "default"))
		readers->smi.power_default = number_in(value);
	else
		readers->smi.power_limit = number_in(value);
}

static void leaf_process(struct readers *readers, const char *key, char *value)
{
	const char *slash = strrchr(value, '/');

	if (!*value || (!readers->smi.tag && !below(readers, "Process")))
		return;
	if (same(key, "type"))
		tell(readers, FACT_CARD_PROCESS_KIND, value);
	else
		tell(readers, FACT_CARD_PROCESS, slash ? slash + 1 : value);
}

static void leaf_fabric(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (!below(readers, "fabric"))
		return;
	if (has(value, "Completed"))
		tell(readers, FACT_CARD_FABRIC, "completed");
	else if (has(value, "Progress"))
		tell(readers, FACT_CARD_FABRIC, "in_progress");
	else if (has(value, "Not Started"))
		tell(readers, FACT_CARD_FABRIC, "not_started");
	else if (has(value, "N/A") || has(value, "Not Supported"))
		tell(readers, FACT_CARD_FABRIC, "not_supported");
}

static void leaf_licence(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (starts(value, "Unlicensed"))
		tell(readers, FACT_CARD_LICENCE, "unlicensed");
	else if (starts(value, "Licensed"))
		tell(readers, FACT_CARD_LICENCE, "licensed");
}

static void leaf_no_instances(struct readers *readers, const char *key, char *value)
{
	(void)key;
	if (same(value, "None"))
		readers->smi.no_instances = true;
}

const struct key_row keys_smi[] = {
	{ "driver version", leaf_driver },
	{ "driver_version", leaf_driver },
	{ "cuda version", leaf_cuda },
	{ "cuda_version", leaf_cuda },
	{ "product name", leaf_product },
	{ "product_name", leaf_product },
	{ "persistence mode", leaf_persistence },
	{ "persistence_mode", leaf_persistence },
	{ "current", leaf_current },
	{ "max", leaf_max },
	{ "current_mig", leaf_mig },
	{ "max_link_width", leaf_link },
	{ "current_link_width", leaf_link },
	{ "max_link_gen", leaf_link },
	{ "current_link_gen", leaf_link },
	{ "compute mode", leaf_compute_mode },
	{ "compute_mode", leaf_compute_mode },
	{ "performance state", leaf_state },
	{ "performance_state", leaf_state },
	{ "uncorrectable error", leaf_uncorrected },
	{ "remapped_row_unc", leaf_uncorrected },
	{ "dram uncorrectable", leaf_uncorrected },
	{ "sram uncorrectable", leaf_uncorrected },
	{ "dram_uncorrectable", leaf_uncorrected },
	{ "sram_uncorrectable", leaf_uncorrected },
	{ "double bit", leaf_uncorrected },
	{ "pending", leaf_remap },
	{ "remapping failure occurred", leaf_remap },
	{ "pending page blacklist", leaf_remap },
	{ "pending_retirement", leaf_remap },
	{ "remapped_row_pending", leaf_remap },
	{ "remapped_row_failure", leaf_remap },
	{ "sw power cap", leaf_throttle },
	{ "hw slowdown", leaf_throttle },
	{ "hw thermal slowdown", leaf_throttle },
	{ "hw power brake slowdown", leaf_throttle },
	{ "sync boost", leaf_throttle },
	{ "sw thermal slowdown", leaf_throttle },
	{ "applications clocks setting", leaf_throttle },
	{ "display clock setting", leaf_throttle },
	{ "gpu current temp", leaf_temperature },
	{ "gpu_temp", leaf_temperature },
	{ "total", leaf_memory },
	{ "used", leaf_memory },
	{ "current power limit", leaf_power },
	{ "default power limit", leaf_power },
	{ "current_power_limit", leaf_power },
	{ "default_power_limit", leaf_power },
	{ "name", leaf_process },
	{ "type", leaf_process },
	{ "process_name", leaf_process },
	{ "state", leaf_fabric },
	{ "license status", leaf_licence },
	{ "license_status", leaf_licence },
	{ "mig devices", leaf_no_instances },
	{ NULL, NULL },
};

void read_smi_tag(struct readers *readers, const char *tag, char *text)
{
	readers->smi.tag = true;
	if (starts(tag, "clocks_throttle_reason_") || starts(tag, "clocks_event_reason_"))
		leaf_throttle(readers, tag, text);
	for (const struct key_row *row = keys_smi; row->key; row++)
		if (same(row->key, tag))
			row->read(readers, tag, text);
	readers->smi.tag = false;
}

/* A listing with cards, and nothing wrong in it. */
static void end_listing(struct readers *readers)
{
	static const enum fact_key counts[] = { FACT_MAX, FACT_DRIVER_CARDS_HOST,
						FACT_DRIVER_CARDS_CONTAINER };
	const struct smi *smi = &readers->smi;

	tell(readers, FACT_SEEN_SMI, NULL);
	readers->listings++;
	read_card_and_driver(readers, smi->model, smi->driver);
	tellf(readers, FACT_DRIVER_CARDS, "%u", smi->cards);
	if (readers->where != WHERE_UNKNOWN)
		tellf(readers, counts[readers->where], "%u", smi->cards);
	if (smi->detail)
		tell(readers, FACT_SEEN_SMI_DETAIL, NULL);
	/* Whether the driver works is told when the host's word is known too: combine.c. */
	keep(readers,
	     readers->where == WHERE_CONTAINER ? &readers->listed_container : &readers->listed);
	if (readers->where == WHERE_CONTAINER)
		tell(readers, FACT_INJECTION_OK, NULL);
	if (smi->mig_on && smi->mig_off)
		tell(readers, FACT_CARD_MIG_MIXED, NULL);
	if (smi->mig_on && smi->no_instances && !smi->instances)
		tell(readers, FACT_CARD_MIG_EMPTY, NULL);
}

void end_smi(struct readers *readers)
{
	end_card(readers);
	if (readers->smi.cards)
		end_listing(readers);
	if (readers->smi.instances)
		readers->instances += readers->smi.instances;
	memset(&readers->smi, 0, sizeof(readers->smi));
}

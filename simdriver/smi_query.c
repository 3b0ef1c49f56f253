/* SPDX-License-Identifier: Apache-2.0 */
/* --query-gpu, --query-compute-apps and topo -m. */
#include "smi.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX          64
#define STATUS_BAD_ARGUMENT 2

struct format {
	bool header, units;
};

/* csv, noheader and nounits in any order; csv is not optional. */
static bool parse_format(const char *text, struct format *ret)
{
	bool csv = false;

	*ret = (struct format){ .header = true, .units = true };
	while (text != NULL && *text != '\0') {
		size_t length = strcspn(text, ",");

		if (length == 3 && strncmp(text, "csv", 3) == 0)
			csv = true;
		else if (length == 8 && strncmp(text, "noheader", 8) == 0)
			ret->header = false;
		else if (length == 7 && strncmp(text, "nounits", 7) == 0)
			ret->units = false;
		else
			return false;
		text += length + (text[length] == ',');
	}
	return csv;
}

static int refuse_format(const char *format)
{
	if (format == NULL)
		puts("\"--format=\" switch is missing. csv is required: --format=csv[,noheader]"
		     "[,nounits]");
	else
		printf("Invalid combination of format options: \"%s\".\n", format);
	return STATUS_BAD_ARGUMENT;
}

static size_t parse_fields(const char *text, const struct smi_property *ret[FIELDS_MAX])
{
	size_t count = 0;

	while (*text != '\0' && count < FIELDS_MAX) {
		size_t skip = strspn(text, " "), length = strcspn(text + skip, ",");
		size_t name = length;

		while (name > 0 && text[skip + name - 1] == ' ')
			name--;
		ret[count] = smi_property_find(text + skip, name);
		if (ret[count] == NULL) {
			printf("Field \"%.*s\" is not a valid field to query.\n\n", (int)name,
			       text + skip);
			return 0;
		}
		count++;
		text += skip + length + (text[skip + length] == ',');
	}
	return count;
}

static void print_value(const struct smi *smi, const struct smi_card *card,
			const struct smi_property *property, bool units)
{
	char value[SMI_TEXT_MAX];
	enum nvml_return result = property->get(smi, card->device, value);

	if (result != NVML_SUCCESS) {
		fputs(result == NVML_ERROR_GPU_IS_LOST ? "[GPU is lost]" : "[N/A]", stdout);
		return;
	}
	fputs(value, stdout);
	if (units && property->unit != NULL)
		printf(" %s", property->unit);
}

int smi_show_query(const struct smi *smi, const char *fields, const char *format)
{
	const struct smi_property *properties[FIELDS_MAX];
	struct format shape;
	size_t count;

	if (!parse_format(format, &shape))
		return refuse_format(format);
	count = parse_fields(fields, properties);
	if (count == 0)
		return STATUS_BAD_ARGUMENT;
	for (size_t k = 0; shape.header && k < count; k++) {
		printf("%s%s", k > 0 ? ", " : "", properties[k]->name);
		if (shape.units && properties[k]->unit != NULL)
			printf(" [%s]", properties[k]->unit);
	}
	if (shape.header)
		putchar('\n');
	for (unsigned i = 0; i < smi->count; i++) {
		for (size_t k = 0; k < count; k++) {
			fputs(k > 0 ? ", " : "", stdout);
			print_value(smi, &smi->cards[i], properties[k], shape.units);
		}
		putchar('\n');
	}
	return 0;
}

/* Columns of --query-compute-apps; the rest are the card's. */
static const struct {
	const char *name, *alias, *unit;
} application_fields[] = {
	{ "pid", NULL, NULL },
	{ "process_name", "name", NULL },
	{ "used_gpu_memory", "used_memory", "MiB" },
	{ "gpu_uuid", NULL, NULL },
	{ "gpu_bus_id", NULL, NULL },
	{ "gpu_name", NULL, NULL },
	{ "gpu_serial", NULL, NULL },
};

#define APPLICATION_FIELD_COUNT (sizeof(application_fields) / sizeof(application_fields[0]))

static size_t parse_application_fields(const char *text, size_t ret[FIELDS_MAX])
{
	size_t count = 0;

	while (*text != '\0' && count < FIELDS_MAX) {
		size_t length = strcspn(text, ","), i = 0;

		for (; i < APPLICATION_FIELD_COUNT; i++) {
			const char *alias = application_fields[i].alias;

			if ((strlen(application_fields[i].name) == length &&
			     strncmp(application_fields[i].name, text, length) == 0) ||
			    (alias != NULL && strlen(alias) == length &&
			     strncmp(alias, text, length) == 0))
				break;
		}
		if (i == APPLICATION_FIELD_COUNT) {
			printf("Field \"%.*s\" is not a valid field to query.\n\n", (int)length,
			       text);
			return 0;
		}
		ret[count++] = i;
		text += length + (text[length] == ',');
	}
	return count;
}

static void print_application(const struct smi *smi, const struct smi_card *card,
			      const struct smi_process *process, size_t field, bool units)
{
	char text[SMI_TEXT_MAX];

	switch (field) {
	case 0:
		printf("%u", process->pid);
		break;
	case 1:
		fputs(process->name, stdout);
		break;
	case 2:
		printf("%llu%s", process->mib, units ? " MiB" : "");
		break;
	default:
		smi_get(smi, card, application_fields[field].name, false, text);
		fputs(text, stdout);
		break;
	}
}

static void print_application_header(const size_t *fields, size_t count, bool units)
{
	for (size_t k = 0; k < count; k++)
		printf("%s%s%s", k > 0 ? ", " : "", application_fields[fields[k]].name,
		       units && application_fields[fields[k]].unit != NULL ? " [MiB]" : "");
	putchar('\n');
}

static void print_applications(const struct smi *smi, const struct smi_card *card,
			       const size_t *fields, size_t count, bool units)
{
	struct smi_process *processes = calloc(SMI_PROCESSES_MAX, sizeof(*processes));
	size_t process_count = processes == NULL ? 0 : smi_processes(smi, card, processes);

	for (size_t p = 0; p < process_count; p++) {
		for (size_t k = 0; k < count; k++) {
			fputs(k > 0 ? ", " : "", stdout);
			print_application(smi, card, &processes[p], fields[k], units);
		}
		putchar('\n');
	}
	free(processes);
}

int smi_show_applications(const struct smi *smi, const char *fields, const char *format)
{
	size_t wanted[FIELDS_MAX], count;
	struct format shape;

	if (!parse_format(format, &shape))
		return refuse_format(format);
	count = parse_application_fields(fields, wanted);
	if (count == 0)
		return STATUS_BAD_ARGUMENT;
	if (shape.header)
		print_application_header(wanted, count, shape.units);
	for (unsigned i = 0; i < smi->count; i++)
		print_applications(smi, &smi->cards[i], wanted, count, shape.units);
	return 0;
}

/* Direct links between two cards, or through switches that both are on. */
static unsigned count_links(const struct smi *smi, const struct smi_card *a,
			    const struct smi_card *b)
{
	enum nvml_nvlink_device_type type;
	enum nvml_enable_state active;
	struct nvml_pci_info remote, other;
	unsigned count = 0;

	if (smi->nvml.nvmlDeviceGetPciInfo_v3(b->device, &other) != NVML_SUCCESS)
		return 0;
	for (unsigned link = 0; link < NVML_NVLINK_MAX_LINKS; link++) {
		if (smi->nvml.nvmlDeviceGetNvLinkState(a->device, link, &active) != NVML_SUCCESS ||
		    active != NVML_FEATURE_ENABLED ||
		    smi->nvml.nvmlDeviceGetNvLinkRemoteDeviceType(a->device, link, &type) !=
			    NVML_SUCCESS)
			continue;
		if (type == NVML_NVLINK_DEVICE_TYPE_SWITCH)
			count += smi->nvml.nvmlDeviceGetNvLinkState(b->device, link, &active) ==
					 NVML_SUCCESS &&
				 active == NVML_FEATURE_ENABLED;
		else
			count += smi->nvml.nvmlDeviceGetNvLinkRemotePciInfo_v2(
					 a->device, link, &remote) == NVML_SUCCESS &&
				 strcmp(remote.busId, other.busId) == 0;
	}
	return count;
}

static void print_connection(const struct smi *smi, const struct smi_card *a,
			     const struct smi_card *b)
{
	enum nvml_topology_level level = NVML_TOPOLOGY_SYSTEM;
	unsigned links;

	if (a->device == b->device) {
		fputs("\t X ", stdout);
		return;
	}
	links = count_links(smi, a, b);
	if (links > 0) {
		printf("\tNV%u", links);
		return;
	}
	smi->nvml.nvmlDeviceGetTopologyCommonAncestor(a->device, b->device, &level);
	switch (level) {
	case NVML_TOPOLOGY_INTERNAL:
	case NVML_TOPOLOGY_SINGLE:
		fputs("\tPIX", stdout);
		break;
	case NVML_TOPOLOGY_MULTIPLE:
		fputs("\tPXB", stdout);
		break;
	case NVML_TOPOLOGY_HOSTBRIDGE:
		fputs("\tPHB", stdout);
		break;
	case NVML_TOPOLOGY_NODE:
		fputs("\tNODE", stdout);
		break;
	case NVML_TOPOLOGY_SYSTEM:
		fputs("\tSYS", stdout);
		break;
	}
}

/* The set bits as "0-63,128-191". */
static void print_set(const unsigned long *set, unsigned words)
{
	const unsigned bits = 8 * sizeof(*set);
	const char *comma = "";
	unsigned first, i = 0;

	while (i < words * bits) {
		if ((set[i / bits] >> (i % bits) & 1) == 0) {
			i++;
			continue;
		}
		first = i;
		while (i < words * bits && (set[i / bits] >> (i % bits) & 1) != 0)
			i++;
		printf("%s%u", comma, first);
		if (i - 1 > first)
			printf("-%u", i - 1);
		comma = ",";
	}
}

int smi_show_topology(const struct smi *smi)
{
	unsigned long cpus[16] = { 0 }, nodes[1] = { 0 };

	for (unsigned i = 0; i < smi->count; i++)
		printf("\tGPU%u", smi->cards[i].index);
	puts("\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID");
	for (unsigned i = 0; i < smi->count; i++) {
		printf("GPU%u", smi->cards[i].index);
		for (unsigned k = 0; k < smi->count; k++)
			print_connection(smi, &smi->cards[i], &smi->cards[k]);
		putchar('\t');
		if (smi->nvml.nvmlDeviceGetCpuAffinity(smi->cards[i].device, 16, cpus) ==
		    NVML_SUCCESS)
			print_set(cpus, 16);
		putchar('\t');
		if (smi->nvml.nvmlDeviceGetMemoryAffinity(smi->cards[i].device, 1, nodes, 0) ==
		    NVML_SUCCESS)
			print_set(nodes, 1);
		puts("\t\tN/A");
	}
	puts("\nLegend:\n\n  X    = Self\n"
	     "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA "
	     "nodes "
	     "(e.g., QPI/UPI)\n"
	     "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host "
	     "Bridges within a NUMA node\n"
	     "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the "
	     "CPU)\n"
	     "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe "
	     "Host "
	     "Bridge)\n"
	     "  PIX  = Connection traversing at most a single PCIe bridge\n"
	     "  NV#  = Connection traversing a bonded set of # NVLinks");
	return 0;
}

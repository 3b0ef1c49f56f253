/* SPDX-License-Identifier: Apache-2.0 */
/* -q -x: elements and their order as in nvsmi_device_v12.dtd. */
#include "smi.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum row_kind {
	OPEN, /* an element with elements in it */
	CLOSE,
	PROPERTY, /* text of the card */
	FIXED,    /* text that is the same for every card here */
	MIGS,     /* the card's MIG devices */
};

struct row {
	enum row_kind kind;
	const char *element;
	const char *source; /* name of the property, or the fixed text */
};

/* How to add an element: a row at its place. */
static const struct row rows[] = {
	{ PROPERTY, "product_name", "name" },
	{ FIXED, "product_brand", "NVIDIA" },
	{ PROPERTY, "product_architecture", "architecture" },
	{ PROPERTY, "display_mode", "display_mode" },
	{ PROPERTY, "display_active", "display_active" },
	{ PROPERTY, "persistence_mode", "persistence_mode" },
	{ FIXED, "addressing_mode", "None" },
	{ OPEN, "mig_mode", NULL },
	{ PROPERTY, "current_mig", "mig.mode.current" },
	{ PROPERTY, "pending_mig", "mig.mode.pending" },
	{ CLOSE, "mig_mode", NULL },
	{ MIGS, "mig_devices", NULL },
	{ FIXED, "accounting_mode", "Disabled" },
	{ FIXED, "accounting_mode_buffer_size", "4000" },
	{ OPEN, "driver_model", NULL },
	{ FIXED, "current_dm", "N/A" },
	{ FIXED, "pending_dm", "N/A" },
	{ CLOSE, "driver_model", NULL },
	{ PROPERTY, "serial", "serial" },
	{ PROPERTY, "uuid", "uuid" },
	{ PROPERTY, "minor_number", "minor" },
	{ PROPERTY, "vbios_version", "vbios_version" },
	{ FIXED, "multigpu_board", "No" },
	{ PROPERTY, "board_id", "board_id" },
	{ PROPERTY, "board_part_number", "board_part_number" },
	{ OPEN, "inforom_version", NULL },
	{ PROPERTY, "img_version", "inforom.img" },
	{ PROPERTY, "oem_object", "inforom.oem" },
	{ PROPERTY, "ecc_object", "inforom.ecc" },
	{ PROPERTY, "pwr_object", "inforom.pwr" },
	{ CLOSE, "inforom_version", NULL },
	{ OPEN, "gpu_operation_mode", NULL },
	{ FIXED, "current_gom", "N/A" },
	{ FIXED, "pending_gom", "N/A" },
	{ CLOSE, "gpu_operation_mode", NULL },
	{ PROPERTY, "gsp_firmware_version", "gsp.version" },
	{ OPEN, "gpu_virtualization_mode", NULL },
	{ FIXED, "virtualization_mode", "None" },
	{ FIXED, "host_vgpu_mode", "N/A" },
	{ CLOSE, "gpu_virtualization_mode", NULL },
	{ OPEN, "pci", NULL },
	{ PROPERTY, "pci_bus", "pci.bus" },
	{ PROPERTY, "pci_device", "pci.device" },
	{ PROPERTY, "pci_domain", "pci.domain" },
	{ PROPERTY, "pci_device_id", "pci.device_id" },
	{ PROPERTY, "pci_bus_id", "pci.bus_id" },
	{ PROPERTY, "pci_sub_system_id", "pci.sub_device_id" },
	{ OPEN, "pci_gpu_link_info", NULL },
	{ OPEN, "pcie_gen", NULL },
	{ PROPERTY, "max_link_gen", "pcie.link.gen.max" },
	{ PROPERTY, "current_link_gen", "pcie.link.gen.current" },
	{ CLOSE, "pcie_gen", NULL },
	{ OPEN, "link_widths", NULL },
	{ PROPERTY, "max_link_width", "pcie.link.width.max" },
	{ PROPERTY, "current_link_width", "pcie.link.width.current" },
	{ CLOSE, "link_widths", NULL },
	{ CLOSE, "pci_gpu_link_info", NULL },
	{ PROPERTY, "replay_counter", "replay_counter" },
	{ CLOSE, "pci", NULL },
	{ PROPERTY, "fan_speed", "fan.speed" },
	{ PROPERTY, "performance_state", "pstate" },
	{ OPEN, "fb_memory_usage", NULL },
	{ PROPERTY, "total", "memory.total" },
	{ PROPERTY, "reserved", "memory.reserved" },
	{ PROPERTY, "used", "memory.used" },
	{ PROPERTY, "free", "memory.free" },
	{ CLOSE, "fb_memory_usage", NULL },
	{ OPEN, "bar1_memory_usage", NULL },
	{ PROPERTY, "total", "bar1.total" },
	{ PROPERTY, "used", "bar1.used" },
	{ PROPERTY, "free", "bar1.free" },
	{ CLOSE, "bar1_memory_usage", NULL },
	{ PROPERTY, "compute_mode", "compute_mode" },
	{ OPEN, "utilization", NULL },
	{ PROPERTY, "gpu_util", "utilization.gpu" },
	{ PROPERTY, "memory_util", "utilization.memory" },
	{ CLOSE, "utilization", NULL },
	{ OPEN, "ecc_mode", NULL },
	{ PROPERTY, "current_ecc", "ecc.mode.current" },
	{ PROPERTY, "pending_ecc", "ecc.mode.pending" },
	{ CLOSE, "ecc_mode", NULL },
	{ OPEN, "temperature", NULL },
	{ PROPERTY, "gpu_temp", "temperature.gpu" },
	{ PROPERTY, "gpu_temp_max_threshold", "temperature.shutdown" },
	{ PROPERTY, "gpu_temp_slow_threshold", "temperature.slowdown" },
	{ CLOSE, "temperature", NULL },
	{ OPEN, "gpu_power_readings", NULL },
	{ PROPERTY, "power_state", "pstate" },
	{ PROPERTY, "power_draw", "power.draw" },
	{ PROPERTY, "current_power_limit", "power.limit" },
	{ PROPERTY, "default_power_limit", "power.default_limit" },
	{ PROPERTY, "min_power_limit", "power.min_limit" },
	{ PROPERTY, "max_power_limit", "power.max_limit" },
	{ CLOSE, "gpu_power_readings", NULL },
	{ OPEN, "clocks", NULL },
	{ PROPERTY, "graphics_clock", "clocks.current.graphics" },
	{ PROPERTY, "sm_clock", "clocks.current.sm" },
	{ PROPERTY, "mem_clock", "clocks.current.memory" },
	{ PROPERTY, "video_clock", "clocks.current.video" },
	{ CLOSE, "clocks", NULL },
	{ OPEN, "max_clocks", NULL },
	{ PROPERTY, "graphics_clock", "clocks.max.graphics" },
	{ PROPERTY, "sm_clock", "clocks.max.sm" },
	{ PROPERTY, "mem_clock", "clocks.max.memory" },
	{ PROPERTY, "video_clock", "clocks.max.video" },
	{ CLOSE, "max_clocks", NULL },
};

/* Units that the XML writes and --query-gpu does not, and ids without 0x. */
static void adapt(const char *property, char text[SMI_TEXT_MAX])
{
	size_t length = strlen(text);

	if (strcmp(text, "N/A") == 0)
		return;
	if (strncmp(property, "temperature.", 12) == 0)
		snprintf(text + length, SMI_TEXT_MAX - length, " C");
	else if (strncmp(property, "pcie.link.width", 15) == 0)
		snprintf(text + length, SMI_TEXT_MAX - length, "x");
	else if (strcmp(property, "pci.device_id") == 0 ||
		 strcmp(property, "pci.sub_device_id") == 0)
		memmove(text, text + 2, length - 1);
}

static void print_escaped(const char *text)
{
	for (; *text != '\0'; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", stdout);
			break;
		case '<':
			fputs("&lt;", stdout);
			break;
		case '>':
			fputs("&gt;", stdout);
			break;
		default:
			/* XML 1.0 has no control characters; bytes above 0x7F may be no UTF-8. */
			putchar((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7E ? '?'
											   : *text);
		}
	}
}

static void print_element(int depth, const char *element, const char *text)
{
	for (int i = 0; i < depth; i++)
		putchar('\t');
	printf("<%s>", element);
	print_escaped(text);
	printf("</%s>\n", element);
}

static void print_tag(int depth, const char *slash, const char *element)
{
	for (int i = 0; i < depth; i++)
		putchar('\t');
	printf("<%s%s>\n", slash, element);
}

static void print_number(int depth, const char *element, unsigned number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	print_element(depth, element, text);
}

static void print_instance(int depth, const char *element, unsigned number)
{
	if (number == NVML_NO_INSTANCE)
		print_element(depth, element, "N/A");
	else
		print_number(depth, element, number);
}

static void print_mib(int depth, const char *element, unsigned long long bytes)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu MiB", bytes >> 20);
	print_element(depth, element, text);
}

static void print_mig(const struct smi_mig *mig)
{
	print_tag(3, "", "mig_device");
	print_number(4, "index", mig->index);
	print_number(4, "gpu_instance_id", mig->gpu_instance);
	print_number(4, "compute_instance_id", mig->compute_instance);
	print_tag(4, "", "device_attributes");
	print_tag(5, "", "shared");
	print_number(6, "multiprocessor_count", mig->attributes.multiprocessorCount);
	print_number(6, "copy_engine_count", mig->attributes.sharedCopyEngineCount);
	print_number(6, "encoder_count", mig->attributes.sharedEncoderCount);
	print_number(6, "decoder_count", mig->attributes.sharedDecoderCount);
	print_number(6, "ofa_count", mig->attributes.sharedOfaCount);
	print_number(6, "jpg_count", mig->attributes.sharedJpegCount);
	print_tag(5, "/", "shared");
	print_tag(4, "/", "device_attributes");
	print_tag(4, "", "fb_memory_usage");
	print_mib(5, "total", mig->memory.total);
	print_mib(5, "reserved", mig->memory.reserved);
	print_mib(5, "used", mig->memory.used);
	print_mib(5, "free", mig->memory.free);
	print_tag(4, "/", "fb_memory_usage");
	print_tag(3, "/", "mig_device");
}

static void print_migs(const struct smi *smi, const struct smi_card *card)
{
	struct smi_mig migs[SMI_MIGS_MAX];
	int count = smi_migs(smi, card, migs);

	if (count < 0) {
		print_element(2, "mig_devices", "None");
		return;
	}
	print_tag(2, "", "mig_devices");
	for (int i = 0; i < count; i++)
		print_mig(&migs[i]);
	print_tag(2, "/", "mig_devices");
}

static void print_processes(const struct smi *smi, const struct smi_card *card)
{
	struct smi_process *processes = calloc(SMI_PROCESSES_MAX, sizeof(*processes));
	size_t count = processes == NULL ? 0 : smi_processes(smi, card, processes);
	char number[SMI_TEXT_MAX];

	print_tag(2, "", "processes");
	for (size_t i = 0; i < count; i++) {
		print_tag(3, "", "process_info");
		print_instance(4, "gpu_instance_id", processes[i].gpu_instance);
		print_instance(4, "compute_instance_id", processes[i].compute_instance);
		snprintf(number, sizeof(number), "%u", processes[i].pid);
		print_element(4, "pid", number);
		print_element(4, "type", "C");
		print_element(4, "process_name", processes[i].name);
		snprintf(number, sizeof(number), "%llu MiB", processes[i].mib);
		print_element(4, "used_memory", number);
		print_tag(3, "/", "process_info");
	}
	print_tag(2, "/", "processes");
	print_tag(2, "", "accounted_processes");
	print_tag(2, "/", "accounted_processes");
	free(processes);
}

static void print_card(const struct smi *smi, const struct smi_card *card)
{
	char text[SMI_TEXT_MAX];
	int depth = 2;

	smi_get(smi, card, "pci.bus_id", false, text);
	printf("\t<gpu id=\"%s\">\n", text);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		switch (rows[i].kind) {
		case OPEN:
			print_tag(depth++, "", rows[i].element);
			break;
		case CLOSE:
			print_tag(--depth, "/", rows[i].element);
			break;
		case PROPERTY:
			smi_get(smi, card, rows[i].source, true, text);
			adapt(rows[i].source, text);
			print_element(depth, rows[i].element, text);
			break;
		case FIXED:
			print_element(depth, rows[i].element, rows[i].source);
			break;
		case MIGS:
			print_migs(smi, card);
			break;
		}
	}
	print_processes(smi, card);
	puts("\t</gpu>\n");
}

int smi_show_xml(const struct smi *smi)
{
	char date[64], cuda[32], count[16];
	time_t now = time(NULL);
	struct tm parts;

	localtime_r(&now, &parts);
	strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &parts);
	snprintf(cuda, sizeof(cuda), "%d.%d", smi->cuda_version / 1000,
		 smi->cuda_version % 1000 / 10);
	snprintf(count, sizeof(count), "%u", smi->count);
	puts("<?xml version=\"1.0\" ?>\n"
	     "<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>");
	print_element(1, "timestamp", date);
	print_element(1, "driver_version", smi->driver_version);
	print_element(1, "cuda_version", cuda);
	print_element(1, "attached_gpus", count);
	for (unsigned i = 0; i < smi->count; i++)
		print_card(smi, &smi->cards[i]);
	puts("</nvidia_smi_log>");
	return 0;
}

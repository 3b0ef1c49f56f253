/* SPDX-License-Identifier: Apache-2.0 */
/* The usual table and -L. Column widths are those of the real programs of 535 and 550. */
#include "smi.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Two generations differ in the widths of the middle column. */
struct layout {
	int width; /* between the outer bars */
	int middle;
	int driver; /* field of the driver version */
	int bus;
	int process; /* field of a process's name */
	int wide;    /* how much wider the number fields are */
};

static const struct layout layouts[] = {
	{ .width = 87, .middle = 22, .driver = 13, .bus = 16, .process = 40, .wide = 0 },
	{ .width = 89, .middle = 24, .driver = 15, .bus = 18, .process = 42, .wide = 1 },
};

static const struct layout *choose_layout(const struct smi *smi)
{
	return &layouts[strtoul(smi->driver_version, NULL, 10) >= 550];
}

static void repeat(char c, int count)
{
	while (count-- > 0)
		putchar(c);
}

static void print_rule(const struct layout *layout, char left, char line, char right)
{
	putchar(left);
	repeat(line, 41);
	putchar('+');
	repeat(line, layout->middle);
	putchar('+');
	repeat(line, 22);
	putchar(right);
	putchar('\n');
}

static void print_wide_rule(const struct layout *layout)
{
	putchar('+');
	repeat('-', layout->width);
	puts("+");
}

static void print_head(const struct smi *smi, const struct layout *layout)
{
	char date[64], cuda[32];
	time_t now = time(NULL);
	struct tm parts;

	localtime_r(&now, &parts);
	strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &parts);
	snprintf(cuda, sizeof(cuda), "%d.%d", smi->cuda_version / 1000,
		 smi->cuda_version % 1000 / 10);
	printf("%s       \n", date);
	print_wide_rule(layout);
	printf("| NVIDIA-SMI %-23sDriver Version: %-*sCUDA Version: %-9s|\n", smi->driver_version,
	       layout->driver, smi->driver_version, cuda);
	print_rule(layout, '|', '-', '+');
	printf("| GPU  Name                 Persistence-M | %-*sDisp.A | Volatile Uncorr. ECC |\n",
	       layout->middle - 8, "Bus-Id");
	printf("| Fan  Temp   Perf          Pwr:Usage/Cap | %*s | GPU-Util  Compute M. |\n",
	       layout->middle - 2, "Memory-Usage");
	printf("|                                         |%*s|               MIG M. |\n",
	       layout->middle, "");
	print_rule(layout, '|', '=', '|');
}

static void get_watts(const struct smi *smi, const struct smi_card *card, const char *property,
		      char ret[SMI_TEXT_MAX])
{
	smi_get(smi, card, property, false, ret);
	if (strchr(ret, '.') != NULL)
		snprintf(strchr(ret, '.'), 2, "W");
}

static void add_suffix(char text[SMI_TEXT_MAX], const char *suffix)
{
	size_t length = strlen(text);

	if (strcmp(text, "N/A") != 0)
		snprintf(text + length, SMI_TEXT_MAX - length, "%s", suffix);
}

static void print_card(const struct smi *smi, const struct layout *layout,
		       const struct smi_card *card)
{
	char a[SMI_TEXT_MAX], b[SMI_TEXT_MAX], c[SMI_TEXT_MAX], d[SMI_TEXT_MAX], e[SMI_TEXT_MAX];

	smi_get(smi, card, "name", false, a);
	smi_get(smi, card, "persistence_mode", false, b);
	smi_get(smi, card, "pci.bus_id", false, c);
	smi_get(smi, card, "display_active", false, d);
	smi_get(smi, card, "ecc.errors.uncorrected.volatile.total", false, e);
	printf("| %3u  %-27.27s    %-3s | %*s %-3s | %20s |\n", card->index, a,
	       strcmp(b, "Enabled") == 0 ? "On" : "Off", layout->bus, c,
	       strcmp(d, "Enabled") == 0 ? "On" : "Off", e);
	smi_get(smi, card, "fan.speed", false, a);
	add_suffix(a, "%");
	smi_get(smi, card, "temperature.gpu", false, b);
	add_suffix(b, "C");
	smi_get(smi, card, "pstate", false, c);
	get_watts(smi, card, "power.draw", d);
	get_watts(smi, card, "power.limit", e);
	printf("|%4s  %4s %5s%*s%4s / %*s |", a, b, c, 13 - layout->wide, "", d, 4 + layout->wide,
	       e);
	smi_get(smi, card, "memory.used", false, a);
	smi_get(smi, card, "memory.total", false, b);
	smi_get(smi, card, "utilization.gpu", false, c);
	add_suffix(c, "%");
	smi_get(smi, card, "compute_mode", false, d);
	if (strcmp(a, "N/A") == 0) /* a container with a MIG device only is not told of the card */
		printf(" %*s |    %4s   %10.10s |\n", 20 + 2 * layout->wide, a, c, d);
	else
		printf(" %*sMiB / %*sMiB |    %4s   %10.10s |\n", 6 + layout->wide, a,
		       5 + layout->wide, b, c, d);
	smi_get(smi, card, "mig.mode.current", false, a);
	printf("|                                         |%*s|           %10s |\n", layout->middle,
	       "", a);
	print_rule(layout, '+', '-', '+');
}

static void print_mig_rule(const struct layout *layout, char left, char line, char cross)
{
	putchar(left);
	repeat(line, 18);
	putchar(cross);
	repeat(line, layout->middle + 10);
	putchar(cross);
	repeat(line, 11);
	putchar(cross);
	repeat(line, 23);
	putchar(left);
	putchar('\n');
}

static void print_mig(const struct layout *layout, const struct smi_card *card,
		      const struct smi_mig *mig)
{
	int room = layout->middle + 10;

	printf("|%3u %4u %3u %3u  |%*lluMiB / %5lluMiB  |%3u %6u |%3u %3u %4u %4u %4u |\n",
	       card->index, mig->gpu_instance, mig->compute_instance, mig->index, room - 16,
	       mig->memory.used >> 20, mig->memory.total >> 20, mig->attributes.multiprocessorCount,
	       0u, mig->attributes.sharedCopyEngineCount, mig->attributes.sharedEncoderCount,
	       mig->attributes.sharedDecoderCount, mig->attributes.sharedOfaCount,
	       mig->attributes.sharedJpegCount);
	print_mig_rule(layout, '+', '-', '+');
}

static void print_migs(const struct smi *smi, const struct layout *layout)
{
	struct smi_mig migs[SMI_MIGS_MAX];
	bool any = false, found = false;

	for (unsigned i = 0; i < smi->count; i++) {
		int count = smi_migs(smi, &smi->cards[i], migs);

		if (count >= 0 && !any) {
			printf("%*s\n", layout->width + 2, "");
			print_wide_rule(layout);
			printf("| %-*s|\n", layout->width - 1, "MIG devices:");
			print_mig_rule(layout, '+', '-', '+');
			printf("| GPU  GI  CI  MIG |%*s |        Vol|        Shared         |\n",
			       layout->middle + 9, "Memory-Usage");
			printf("|      ID  ID  Dev |%*s | SM     Unc| CE ENC  DEC  OFA  JPG |\n",
			       layout->middle + 9, "BAR1-Usage");
			printf("|                  |%*s|        ECC|                       |\n",
			       layout->middle + 10, "");
			print_mig_rule(layout, '|', '=', '+');
			any = true;
		}
		for (int k = 0; k < count; k++)
			print_mig(layout, &smi->cards[i], &migs[k]);
		found = found || count > 0;
	}
	if (any && !found) {
		printf("| %-*s|\n", layout->width - 1, " No MIG devices found");
		print_wide_rule(layout);
	}
}

/* The end of a name says more than its beginning. */
static void shorten(char *name, size_t room)
{
	size_t length = strlen(name);

	if (length <= room)
		return;
	memmove(name + 3, name + length - (room - 3), room - 3 + 1);
	memcpy(name, "...", 3);
}

static void print_processes(const struct smi *smi, const struct layout *layout)
{
	struct smi_process *processes = calloc(SMI_PROCESSES_MAX, sizeof(*processes));
	bool any = false;

	printf("%*s\n", layout->width + 2, "");
	print_wide_rule(layout);
	printf("| %-*s|\n", layout->width - 1, "Processes:");
	printf("|  GPU   GI   CI        PID   Type   %-*sGPU Memory |\n", layout->process,
	       "Process name");
	printf("|        ID   ID                     %-*sUsage      |\n", layout->process, "");
	putchar('|');
	repeat('=', layout->width);
	puts("|");
	for (unsigned i = 0; processes != NULL && i < smi->count; i++) {
		size_t count = smi_processes(smi, &smi->cards[i], processes);

		for (size_t k = 0; k < count; k++) {
			char gpu[16] = "N/A", compute[16] = "N/A";

			shorten(processes[k].name, (size_t)layout->process - 2);
			if (processes[k].gpu_instance != NVML_NO_INSTANCE) {
				snprintf(gpu, sizeof(gpu), "%u", processes[k].gpu_instance);
				snprintf(compute, sizeof(compute), "%u",
					 processes[k].compute_instance);
			}
			printf("|  %3u  %4s %4s  %8u      C   %-*s%7lluMiB |\n",
			       smi->cards[i].index, gpu, compute, processes[k].pid, layout->process,
			       processes[k].name, processes[k].mib);
			any = true;
		}
	}
	if (!any)
		printf("| %-*s|\n", layout->width - 1, " No running processes found");
	print_wide_rule(layout);
	free(processes);
}

int smi_show_table(const struct smi *smi)
{
	const struct layout *layout = choose_layout(smi);

	print_head(smi, layout);
	for (unsigned i = 0; i < smi->count; i++)
		print_card(smi, layout, &smi->cards[i]);
	print_migs(smi, layout);
	print_processes(smi, layout);
	return 0;
}

int smi_show_list(const struct smi *smi)
{
	char name[SMI_TEXT_MAX], uuid[SMI_TEXT_MAX];
	struct smi_mig migs[SMI_MIGS_MAX];

	for (unsigned i = 0; i < smi->count; i++) {
		smi_get(smi, &smi->cards[i], "name", false, name);
		smi_get(smi, &smi->cards[i], "uuid", false, uuid);
		printf("GPU %u: %s (UUID: %s)\n", smi->cards[i].index, name, uuid);
		for (int k = 0, count = smi_migs(smi, &smi->cards[i], migs); k < count; k++)
			printf("  MIG %-11s Device %2u: (UUID: %s)\n", migs[k].profile,
			       migs[k].index, migs[k].uuid);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "smi.h"

#include <dlfcn.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "nvml_internal.h"

#define STATUS_USAGE     2
#define STATUS_NOT_FOUND 6
#define STATUS_LIBRARY   12

struct options {
	const char *id, *query, *applications, *format;
	bool list, full, xml, topology;
	bool mig;     /* nvidia-smi mig */
	int mig_mode; /* of -mig, -1: not given */
	struct smi_mig_command command;
};

static const char help[] =
	"NVIDIA System Management Interface, simulated\n"
	"\n"
	"nvidia-smi [OPTION]...\n"
	"\n"
	"    (nothing)                   the usual table\n"
	"    -L, --list-gpus             one line a card\n"
	"    -q -x                       everything as XML\n"
	"    -i, --id=ID                 only the card of that index, UUID or PCI address\n"
	"    --query-gpu=FIELDS          fields of cards, with --format=csv[,noheader][,nounits]\n"
	"    --query-compute-apps=FIELDS fields of processes, the same\n"
	"    topo -m                     how cards are connected\n"
	"    -mig 0|1                    MIG mode off or on\n"
	"    mig -lgip | -lgipp          MIG: GPU instances that there could be, and where\n"
	"    mig -lgi | -lci | -lcip     GPU instances, compute instances, those that could be\n"
	"    mig -cgi LIST [-C]          create GPU instances: IDs or names, name:start\n"
	"    mig -cci [LIST] [-gi IDS]   create compute instances\n"
	"    mig -dci [-ci IDS] [-gi IDS]  destroy compute instances\n"
	"    mig -dgi [-gi IDS]          destroy GPU instances\n"
	"    -h, --help                  this text\n";

static int open_nvml(struct smi *smi)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);

	if (library == NULL) {
		puts("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make "
		     "sure that the NVIDIA Display Driver is properly installed and present in "
		     "your "
		     "system.\nPlease also try adding directory that contains libnvidia-ml.so to "
		     "your "
		     "system PATH.");
		return STATUS_LIBRARY;
	}
#define SMI_LOAD(name)                                                 \
	*(void **)&smi->nvml.name = dlsym(library, #name);             \
	if (smi->nvml.name == NULL) {                                  \
		puts("Failed to initialize NVML: Function Not Found"); \
		return NVML_ERROR_FUNCTION_NOT_FOUND;                  \
	}
	SMI_FUNCTIONS(SMI_LOAD)
	return 0;
}

static int say_init_failed(const struct smi *smi, enum nvml_return result)
{
	if (result == NVML_ERROR_DRIVER_NOT_LOADED)
		puts("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA "
		     "driver. "
		     "Make sure that the latest NVIDIA driver is installed and running.\n");
	else
		printf("Failed to initialize NVML: %s\n", smi->nvml.nvmlErrorString(result));
	return (int)result;
}

static int say_card_failed(const struct smi *smi, unsigned index, enum nvml_return result)
{
	int (*get_table)(const void **, const void *);
	const void *table = NULL;
	char address[32] = "";

	*(void **)&get_table = dlsym(RTLD_DEFAULT, "nvmlInternalGetExportTable");
	if (get_table == NULL) {
		void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_NOLOAD);

		*(void **)&get_table =
			library == NULL ? NULL : dlsym(library, "nvmlInternalGetExportTable");
	}
	if (get_table == NULL || get_table(&table, NVML_INTERNAL_KEY) != NVML_SUCCESS ||
	    ((const struct nvml_internal *)table)->address(index, address, sizeof(address)) !=
		    NVML_SUCCESS)
		snprintf(address, sizeof(address), " %u", index);
	printf("Unable to determine the device handle for GPU%s: %s\n", address,
	       result == NVML_ERROR_GPU_IS_LOST
		       ? "GPU is lost.  Reboot the system to recover this GPU"
		       : smi->nvml.nvmlErrorString(result));
	return (int)result;
}

static bool is_wanted(const struct smi *smi, const struct smi_card *card, const char *id)
{
	char text[SMI_TEXT_MAX];
	char *end;
	unsigned long index;

	if (id == NULL)
		return true;
	index = strtoul(id, &end, 10);
	if (*end == '\0' && end != id)
		return index == card->index;
	smi_get(smi, card, "uuid", false, text);
	if (strcmp(id, text) == 0)
		return true;
	smi_get(smi, card, "pci.bus_id", false, text);
	return strcasecmp(id, text) == 0 || strcasecmp(id, text + 4) == 0;
}

/* 0, or the exit status after saying why. A card that fails stops all, as in the real one. */
static int find_cards(struct smi *smi, const struct options *options)
{
	unsigned count = 0;

	smi->nvml.nvmlDeviceGetCount_v2(&count);
	if (count == 0) {
		puts("No devices were found");
		return STATUS_NOT_FOUND;
	}
	for (unsigned i = 0; i < count && smi->count < SMI_CARDS_MAX; i++) {
		struct smi_card *card = &smi->cards[smi->count];
		enum nvml_return result = smi->nvml.nvmlDeviceGetHandleByIndex_v2(i, &card->device);

		if (result != NVML_SUCCESS)
			return say_card_failed(smi, i, result);
		card->index = i;
		smi->count += is_wanted(smi, card, options->id);
	}
	if (smi->count > 0)
		return 0;
	puts("No devices were found");
	return STATUS_NOT_FOUND;
}

static bool is_change(const struct smi_mig_command *command)
{
	return command->create_gpu != NULL || command->create_compute != NULL ||
	       command->destroy_gpu || command->destroy_compute;
}

static int show(const struct smi *smi, const struct options *options)
{
	if (options->mig_mode >= 0)
		return smi_mig_mode(smi, (unsigned)options->mig_mode);
	if (options->mig)
		return is_change(&options->command) ? smi_mig_change(smi, &options->command)
						    : smi_mig_list(smi, &options->command);
	if (options->list)
		return smi_show_list(smi);
	if (options->topology)
		return smi_show_topology(smi);
	if (options->query != NULL)
		return smi_show_query(smi, options->query, options->format);
	if (options->applications != NULL)
		return smi_show_applications(smi, options->applications, options->format);
	return options->xml ? smi_show_xml(smi) : smi_show_table(smi);
}

static int run(const struct options *options)
{
	struct smi smi = { .count = 0 };
	enum nvml_return result;
	int status = open_nvml(&smi);

	if (status != 0)
		return status;
	result = smi.nvml.nvmlInit_v2();
	if (result != NVML_SUCCESS)
		return say_init_failed(&smi, result);
	smi.nvml.nvmlSystemGetDriverVersion(smi.driver_version, sizeof(smi.driver_version));
	smi.nvml.nvmlSystemGetCudaDriverVersion_v2(&smi.cuda_version);
	status = find_cards(&smi, options);
	if (status == 0)
		status = show(&smi, options);
	smi.nvml.nvmlShutdown();
	return status;
}
static int read_options(int argc, char **argv, struct options *options)
{
	static const struct option names[] = { { "list-gpus", no_argument, NULL, 'L' },
					       { "query", no_argument, NULL, 'q' },
					       { "xml-format", no_argument, NULL, 'x' },
					       { "id", required_argument, NULL, 'i' },
					       { "query-gpu", required_argument, NULL, 'g' },
					       { "query-compute-apps", required_argument, NULL,
						 'a' },
					       { "format", required_argument, NULL, 'f' },
					       { "help", no_argument, NULL, 'h' },
					       { NULL, 0, NULL, 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "Lqxi:hm", names, NULL)) != -1) {
		switch (c) {
		case 'L':
			options->list = true;
			break;
		case 'q':
			options->full = true;
			break;
		case 'x':
			options->xml = true;
			break;
		case 'i':
			options->id = optarg;
			break;
		case 'g':
			options->query = optarg;
			break;
		case 'a':
			options->applications = optarg;
			break;
		case 'f':
			options->format = optarg;
			break;
		case 'm':
			options->topology = true;
			break;
		case 'h':
			fputs(help, stdout);
			exit(0);
		default:
			return STATUS_USAGE;
		}
	}
	return 0;
}

/* "7,8": numbers of instances. */
static bool read_numbers(const char *text, int *numbers, unsigned *count)
{
	char *end;

	if (text == NULL)
		return false;
	for (;;) {
		unsigned long number = strtoul(text, &end, 10);

		if (end == text || number > 255 || *count == SMI_NUMBERS_MAX)
			return false;
		numbers[(*count)++] = (int)number;
		if (*end == '\0')
			return true;
		if (*end != ',')
			return false;
		text = end + 1;
	}
}

/* Words that switch something on. How to add one: a row. */
static const struct {
	const char *word, *other;
	size_t field;
} mig_switches[] = {
#define FIELD(name) offsetof(struct smi_mig_command, name)
	{ "-lgip", "--list-gpu-instance-profiles", FIELD(list_profiles) },
	{ "-lgipp", "--list-gpu-instance-possible-placements", FIELD(list_places) },
	{ "-lgi", "--list-gpu-instances", FIELD(list_gpus) },
	{ "-lci", "--list-compute-instances", FIELD(list_computes) },
	{ "-lcip", "--list-compute-instance-profiles", FIELD(list_compute_profiles) },
	{ "-dgi", "--destroy-gpu-instance", FIELD(destroy_gpu) },
	{ "-dci", "--destroy-compute-instance", FIELD(destroy_compute) },
	{ "-C", "--default-compute-instance", FIELD(with_compute) },
#undef FIELD
};

static bool read_switch(const char *word, struct smi_mig_command *command)
{
	for (size_t i = 0; i < sizeof(mig_switches) / sizeof(mig_switches[0]); i++) {
		if (strcmp(word, mig_switches[i].word) == 0 ||
		    strcmp(word, mig_switches[i].other) == 0) {
			*(bool *)((char *)command + mig_switches[i].field) = true;
			return true;
		}
	}
	return false;
}

/* Words with a value. Returns how many words were taken, 0 for what is wrong. */
static int read_value(char **words, int count, struct options *options)
{
	struct smi_mig_command *command = &options->command;
	const char *value = count > 1 ? words[1] : NULL;

	if (strcmp(words[0], "-cci") == 0) { /* the value may be left out */
		bool given = value != NULL && value[0] != '-';

		command->create_compute = given ? value : "";
		return given ? 2 : 1;
	}
	if (value == NULL)
		return 0;
	if (strcmp(words[0], "-i") == 0)
		options->id = value;
	else if (strcmp(words[0], "-cgi") == 0)
		command->create_gpu = value;
	else if (strcmp(words[0], "-gi") == 0)
		return read_numbers(value, command->gpus, &command->gpu_count) ? 2 : 0;
	else if (strcmp(words[0], "-ci") == 0)
		return read_numbers(value, command->computes, &command->compute_count) ? 2 : 0;
	else
		return 0;
	return 2;
}

/* nvidia-smi mig ...: words of several letters with one dash, which getopt does not know. */
static int read_mig(int argc, char **argv, struct options *options)
{
	options->mig = true;
	for (int i = 2; i < argc;) {
		int taken = 1;

		if (!read_switch(argv[i], &options->command))
			taken = read_value(&argv[i], argc - i, options);
		if (taken == 0) {
			printf("Invalid combination of input arguments. Please run 'nvidia-smi "
			       "mig -h' for help.\n");
			return STATUS_USAGE;
		}
		i += taken;
	}
	return 0;
}

/* -mig N is taken out of the words. */
static bool take_mode(int *argc, char **argv, struct options *options)
{
	for (int i = 1; i + 1 < *argc; i++) {
		if (strcmp(argv[i], "-mig") != 0)
			continue;
		options->mig_mode = strcmp(argv[i + 1], "1") == 0   ? 1
				    : strcmp(argv[i + 1], "0") == 0 ? 0
								    : -2;
		memmove(&argv[i], &argv[i + 2], (size_t)(*argc - i - 1) * sizeof(*argv));
		*argc -= 2;
		return options->mig_mode >= 0;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct options options = { .mig_mode = -1 };
	int status;

	if (argc > 1 && strcmp(argv[1], "mig") == 0) {
		status = read_mig(argc, argv, &options);
		return status != 0 ? status : run(&options);
	}
	if (!take_mode(&argc, argv, &options)) {
		puts("Option -mig takes 0 or 1.");
		return STATUS_USAGE;
	}
	status = read_options(argc, argv, &options);
	if (status != 0)
		return status;
	if (optind < argc && (strcmp(argv[optind], "topo") != 0 || !options.topology)) {
		printf("Invalid combination of input arguments. Please run 'nvidia-smi -h' for "
		       "help.\n");
		return STATUS_USAGE;
	}
	if (options.topology && optind == argc) {
		puts("-m belongs to nvidia-smi topo.");
		return STATUS_USAGE;
	}
	if (options.full != options.xml) {
		puts("The simulated nvidia-smi prints everything as XML only: nvidia-smi -q -x");
		return STATUS_USAGE;
	}
	return run(&options);
}

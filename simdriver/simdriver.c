/* SPDX-License-Identifier: Apache-2.0 */
/* The tool: builds a driver root, starts and stops its kernel module, commands faults. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#include "client.h"
#include "root.h"
#include "tree.h"
#include "values.h"

#define EXIT_USAGE 2

struct options {
	const char *root, *profile, *card, *version, *instance;
	const char *layouts[SIM_CARDS_MAX]; /* of start: --mig, in order */
	size_t layout_count;
	uint64_t xid, delay_ms, for_ms;
	bool has_delay, remove;
	const char *word; /* the kind of fault, NAME=NUMBER, or a layout */
	char full_root[TREE_PATH_MAX];
	struct root_made made;
};

static const char help[] =
	"usage: simdriver start  --root DIR --profile NAME [--version V] [--mig CARD=LAYOUT]...\n"
	"                        [--delay-free MS]\n"
	"       simdriver stop   --root DIR [--remove]\n"
	"       simdriver status --root DIR\n"
	"       simdriver mig    --root DIR LAYOUT [--card INDEX|UUID]\n"
	"       simdriver fault  --root DIR FAULT [--card INDEX|UUID] [--version V] [--xid N]\n"
	"                        [--instance GI[/CI]] [--for MS] [--delay-free MS]\n"
	"       simdriver set    --root DIR NAME=NUMBER|NAME= [--card INDEX|UUID]\n"
	"       simdriver profiles\n"
	"\n"
	"Makes a driver root: a folder with the libraries, programs, device nodes, /proc and /sys\n"
	"files of an NVIDIA driver, and starts the simulated nvidia-persistenced, which owns the\n"
	"memory of the cards. Needs root (device nodes). Programs find the daemon at\n"
	"" SIM_SOCKET ", so one mount namespace can have one driver.\n"
	"\n"
	"  start     build DIR (empty, absent, or made by simdriver) and start its daemon; after\n"
	"            stop, with another --version, it is an upgraded driver\n"
	"  stop      end the daemon; --remove also removes what was made\n"
	"  status    what runs, each card's memory and faults\n"
	"  mig       another MIG layout of the card (all that can, without --card), at once, "
	"while\n"
	"            programs run; refused while any of them uses the card\n"
	"  fault     lost      the card falls off the bus (all cards without --card); XID 79\n"
	"            hang      calls block: of one card, or of the whole driver; for --for MS\n"
	"            full      allocations of the card fail, whatever it reports as free\n"
	"            xid       report the XID of --xid, nothing else; --instance says whose it is\n"
	"            ecc       an uncorrected memory error: counted, told, XID 48\n"
	"            missing   the kernel module is unloaded\n"
	"            mismatch  the module has another version (--version, or an older one)\n"
	"            delay     memory of an ended process is free only after --delay-free MS\n"
	"            recover   all well again: one card, or everything\n"
	"  set       what a card measures from now on, in NVML's units; without a number: as it "
	"was\n"
	"            (simdriver set --root DIR names= lists the names)\n"
	"  profiles  what machines there are\n"
	"\n"
	"A LAYOUT is \"1g.10gb*3,3g.40gb\" (GPU instances, each with a compute instance of its\n"
	"size), \"empty\" (MIG mode without instances) or \"off\".\n"
	"\n"
	"start, stop and status also take DIR as their only word.\n"
	"\n"
	"exit status: 0 done, 1 failed, 2 wrong usage\n";

static int usage(const char *before, const char *word, const char *after)
{
	fprintf(stderr, "simdriver: %s%s%s; see simdriver --help\n", before, word, after);
	return EXIT_USAGE;
}

static bool parse_number(const char *text, uint64_t highest, uint64_t *ret)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || value > highest)
		return false;
	*ret = value;
	return true;
}

static int make_absolute(struct options *options)
{
	char folder[TREE_PATH_MAX];

	if (options->root[0] == '/')
		snprintf(options->full_root, sizeof(options->full_root), "%s", options->root);
	else if (getcwd(folder, sizeof(folder)) == NULL ||
		 (size_t)snprintf(options->full_root, sizeof(options->full_root), "%s/%s", folder,
				  options->root) >= sizeof(options->full_root))
		return tree_fail("the path of %s is too long", options->root);
	for (size_t n = strlen(options->full_root); n > 1 && options->full_root[n - 1] == '/'; n--)
		options->full_root[n - 1] = '\0';
	if (strcmp(options->full_root, "/") == 0)
		return tree_fail("/ cannot be the driver root");
	options->root = options->full_root;
	return 0;
}

/* In the child. Of the caller's descriptors only stderr stays open, until the daemon is ready. */
static void __attribute__((noreturn))
run_daemon(const struct options *options, const char *program, const char *log, int ready)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || setsid() < 0 || chdir("/") != 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    dup2(ready, 3) < 0 || close_range(4, ~0U, 0) != 0)
		_exit(127);
	execl(program, "nvidia-persistenced", "--root", options->root, "--profile",
	      options->profile, "--log", log, "--ready-fd", "3",
	      options->version != NULL ? "--version" : NULL, options->version, (char *)NULL);
	_exit(127);
}

static int start_daemon(const struct options *options, pid_t *ret)
{
	char program[TREE_PATH_MAX], log[TREE_PATH_MAX], byte;
	int ready[2], status;
	pid_t pid;

	if (tree_path(options->root, "usr/bin/nvidia-persistenced", program) != 0 ||
	    tree_path(options->root, ROOT_MARK "/log", log) != 0)
		return -1;
	if (pipe(ready) != 0)
		return tree_fail("cannot make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0)
		run_daemon(options, program, log, ready[1]);
	close(ready[1]);
	if (pid < 0) {
		close(ready[0]);
		return tree_fail("cannot start %s: %s", program, strerror(errno));
	}
	status = (int)read(ready[0], &byte, 1);
	close(ready[0]);
	*ret = pid;
	if (status == 1)
		return 0;
	waitpid(pid, &status, 0);
	return tree_fail("%s did not start (exit status %d)", program,
			 WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void print_card(const struct sim_card_info *info, unsigned index)
{
	printf("  %u  %-22s %s  0000:%02x:00.0  /dev/nvidia%u  %llu MiB  NUMA %u\n", index,
	       info->name, info->uuid, info->pci.bus, info->minor,
	       (unsigned long long)(info->memory_bytes >> 20), info->numa);
}

static int send_control(const struct options *options, const struct sim_request *request,
			struct sim_reply *reply)
{
	struct client client = CLIENT_INIT;
	enum sim_status status = client_open_control(&client, options->root);

	if (status != SIM_OK)
		return tree_fail("no driver runs for %s; start it with simdriver start",
				 options->root);
	status = client_request(&client, request, reply);
	client_close(&client);
	return (int)status;
}

/* The path of the folder that this program is in. */
static int find_artefacts(char ret[TREE_PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", ret, TREE_PATH_MAX - 1);
	char *slash;

	if (length <= 0)
		return tree_fail("cannot read /proc/self/exe: %s", strerror(errno));
	ret[length] = '\0';
	slash = strrchr(ret, '/');
	if (slash != NULL)
		*slash = '\0';
	return 0;
}

static int find_card(const char *word, const struct profile *profile, uint32_t *ret);

static int make_layout(const struct options *options, uint32_t minor, const char *text)
{
	struct sim_request request = { .operation = SIM_MIG_MAKE, .card = minor };
	struct sim_reply reply;

	if (strcmp(text, "off") != 0 && (size_t)snprintf(request.text, sizeof(request.text), "%s",
							 text) >= sizeof(request.text))
		return tree_fail("the layout %s is too long", text);
	switch (send_control(options, &request, &reply)) {
	case SIM_OK:
		return 0;
	case SIM_NOT_SUPPORTED:
		return tree_fail("/dev/nvidia%u cannot do MIG", minor);
	case SIM_IN_USE:
		return tree_fail("/dev/nvidia%u is in use: its layout stays", minor);
	case SIM_NO_ROOM:
		return tree_fail("%s does not fit on /dev/nvidia%u", text, minor);
	default:
		return tree_fail("/dev/nvidia%u has no such layout: %s", minor, text);
	}
}

/* "3=1g.10gb*7" of start. */
static int make_first_layout(const struct options *options, const struct profile *profile,
			     const char *text)
{
	const char *equals = strchr(text, '=');
	char card[64];
	uint32_t minor;

	if (equals == NULL || (size_t)(equals - text) >= sizeof(card))
		return tree_fail("%s is no CARD=LAYOUT", text);
	memcpy(card, text, (size_t)(equals - text));
	card[equals - text] = '\0';
	return find_card(card, profile, &minor) != 0 ? -1 : make_layout(options, minor, equals + 1);
}

static int command_mig(struct options *options)
{
	const struct profile *profile = root_profile(options->root, &options->made);
	uint32_t minor;

	if (options->word == NULL)
		return usage("which layout", "", "?");
	if (profile == NULL)
		return 1;
	if (options->card != NULL)
		return find_card(options->card, profile, &minor) != 0 ||
		       make_layout(options, minor, options->word) != 0;
	for (uint32_t i = 0; i < profile->card_count; i++) {
		if (profile->cards[i].model->mig != NULL &&
		    make_layout(options, profile->cards[i].minor, options->word) != 0)
			return 1;
	}
	return 0;
}

static int command_start(struct options *options)
{
	struct client client = CLIENT_INIT;
	const struct profile *profile;
	char artefacts[TREE_PATH_MAX];
	pid_t pid = -1;

	if (options->profile == NULL)
		return usage("start needs --profile", "", "");
	profile = profile_find(options->profile);
	if (profile == NULL)
		return usage("there is no profile ", options->profile,
			     " (simdriver profiles lists them)");
	profile = root_make_profile(profile, options->version, &options->made);
	if (client_open_control(&client, options->root) == SIM_OK) {
		client_close(&client);
		tree_fail("a driver runs already for %s; stop it first", options->root);
		return 1;
	}
	if (find_artefacts(artefacts) != 0 || root_build(options->root, profile, artefacts) != 0 ||
	    start_daemon(options, &pid) != 0)
		return 1;
	if (options->has_delay) {
		const struct sim_request request = { .operation = SIM_FAULT,
						     .card = SIM_ALL_CARDS,
						     .kind = SIM_FAULT_DELAY,
						     .value = options->delay_ms };
		struct sim_reply reply;

		if (send_control(options, &request, &reply) != SIM_OK)
			return 1;
	}
	for (size_t i = 0; i < options->layout_count; i++) {
		if (make_first_layout(options, profile, options->layouts[i]) != 0)
			return 1;
	}
	printf("driver root %s: %s\ndriver %s, CUDA %u.%u, nvidia-persistenced %d at %s\n",
	       options->root, profile->title, profile->driver_version, profile->cuda_version / 1000,
	       profile->cuda_version % 1000 / 10, (int)pid, SIM_SOCKET);
	for (uint32_t i = 0; i < profile->card_count; i++) {
		struct sim_card_info info;

		profile_card_info(profile, i, &info);
		print_card(&info, i);
	}
	return 0;
}

static int command_stop(struct options *options)
{
	const struct sim_request request = { .operation = SIM_SHUTDOWN };
	struct client client = CLIENT_INIT;
	struct sim_reply reply;
	char byte;

	if (root_profile(options->root, &options->made) == NULL)
		return 1;
	if (client_open_control(&client, options->root) == SIM_OK) {
		client_request(&client, &request, &reply);
		/* The end of the connection is the end of the daemon. */
		while (read(client.socket, &byte, 1) > 0)
			;
		client_close(&client);
	} else if (!options->remove) {
		tree_fail("no driver runs for %s", options->root);
		return 1;
	}
	return options->remove && root_remove(options->root) != 0;
}

static int status_card(const struct options *options, uint32_t index, uint32_t minor)
{
	struct sim_request request = { .operation = SIM_CARD_INFO, .card = minor };
	struct sim_reply info, state;
	const char *word = "well";

	if (send_control(options, &request, &info) != SIM_OK)
		return -1;
	request.operation = SIM_CARD_STATE;
	switch (send_control(options, &request, &state)) {
	case SIM_OK:
		break;
	case SIM_CARD_LOST:
		word = "lost";
		break;
	case SIM_NO_MEMORY:
		word = "full";
		break;
	case SIM_TIMEOUT:
		word = "hangs";
		break;
	default:
		return -1;
	}
	print_card(&info.info, index);
	printf("       %llu MiB used, %llu MiB free, %s\n",
	       (unsigned long long)(state.state.used_bytes >> 20),
	       (unsigned long long)(state.state.free_bytes >> 20), word);
	return 0;
}

static int command_status(struct options *options)
{
	const struct sim_request request = { .operation = SIM_HELLO };
	const struct profile *profile = root_profile(options->root, &options->made);
	struct sim_reply reply;

	if (profile == NULL || send_control(options, &request, &reply) != SIM_OK)
		return 1;
	printf("driver root %s: %s\nmodule %s, driver libraries %s\n", options->root,
	       profile->title, reply.driver.version, profile->driver_version);
	for (uint32_t i = 0; i < reply.driver.card_count && i < SIM_CARDS_MAX; i++) {
		if (status_card(options, i, reply.driver.minors[i]) != 0)
			return 1;
	}
	return 0;
}

/* How to add a fault: a row, the number in protocol.h, its case in kernel.c, a line of the help. */
static const struct {
	const char *word;
	enum sim_fault fault;
	bool card, driver; /* can be of one card; of the whole driver, or of all cards */
} faults[] = {
	{ "recover", SIM_FAULT_RECOVER, true, true },
	{ "lost", SIM_FAULT_LOST, true, true },
	{ "hang", SIM_FAULT_HANG, true, true },
	{ "full", SIM_FAULT_FULL, true, true },
	{ "xid", SIM_FAULT_XID, true, true },
	{ "ecc", SIM_FAULT_ECC, true, true },
	{ "missing", SIM_FAULT_MISSING, false, true },
	{ "mismatch", SIM_FAULT_MISMATCH, false, true },
	{ "delay", SIM_FAULT_DELAY, false, true },
};

#define FAULT_COUNT (sizeof(faults) / sizeof(faults[0]))

static int find_card(const char *word, const struct profile *profile, uint32_t *ret)
{
	uint64_t index;

	for (uint32_t i = 0; i < profile->card_count; i++) {
		struct sim_card_info info;

		profile_card_info(profile, i, &info);
		if (strcmp(word, info.uuid) == 0) {
			*ret = info.minor;
			return 0;
		}
	}
	if (parse_number(word, profile->card_count - 1, &index)) {
		*ret = profile->cards[index].minor;
		return 0;
	}
	return tree_fail("there is no card %s; indices go from 0 to %u, or give a UUID", word,
			 profile->card_count - 1);
}

/* "9" or "9/0". */
static bool parse_instance(const char *text, uint32_t *ret)
{
	char part[16];
	const char *slash = strchr(text, '/');
	size_t length = slash != NULL ? (size_t)(slash - text) : strlen(text);
	uint64_t gpu, compute = 0;

	if (length >= sizeof(part))
		return false;
	memcpy(part, text, length);
	part[length] = '\0';
	if (!parse_number(part, 254, &gpu) ||
	    (slash != NULL && !parse_number(slash + 1, 254, &compute)))
		return false;
	*ret = slash != NULL ? SIM_INSTANCE(gpu, compute) : SIM_INSTANCE_GPU_ONLY(gpu);
	return true;
}

/* procfs anew; what the daemon shows there is shown again. */
static int set_module(const struct options *options, const struct profile *profile,
		      const char *version)
{
	const struct sim_request request = { .operation = SIM_SYNC };
	struct sim_reply reply;

	if (root_set_module(options->root, profile, version) != 0)
		return -1;
	return version == NULL || send_control(options, &request, &reply) == SIM_OK ? 0 : -1;
}

static int apply_fault(struct options *options, const struct profile *profile,
		       struct sim_request *request)
{
	const char *version = profile->driver_version;
	struct sim_reply reply;

	if (request->kind == SIM_FAULT_MISMATCH) {
		version = options->version != NULL ? options->version : profile->older_version;
		snprintf(request->text, sizeof(request->text), "%s", version);
	}
	if (request->kind == SIM_FAULT_DELAY)
		request->value = options->delay_ms;
	if (request->kind == SIM_FAULT_XID)
		request->value = options->xid;
	if (request->kind == SIM_FAULT_HANG)
		request->value = options->for_ms;
	if (send_control(options, request, &reply) != SIM_OK)
		return tree_fail("the driver of %s did not take the fault", options->root);
	if (request->kind == SIM_FAULT_MISSING)
		return set_module(options, profile, NULL);
	if (request->kind == SIM_FAULT_MISMATCH ||
	    (request->kind == SIM_FAULT_RECOVER && request->card == SIM_ALL_CARDS))
		return set_module(options, profile, version);
	return 0;
}

/* What the fault cannot do without. 0 or the exit status. */
static int check_fault(const struct options *options, size_t i)
{
	if (options->card != NULL && !faults[i].card)
		return usage("", options->word, " is of the driver, not of one --card");
	if (faults[i].fault == SIM_FAULT_DELAY && !options->has_delay)
		return usage("", options->word, " needs --delay-free MS");
	if (faults[i].fault == SIM_FAULT_XID && options->xid == 0)
		return usage("", options->word, " needs --xid N");
	return 0;
}

static int command_fault(struct options *options)
{
	struct sim_request request = { .operation = SIM_FAULT, .card = SIM_ALL_CARDS };
	const struct profile *profile;
	size_t i = 0;
	int result;

	if (options->word == NULL)
		return usage("which fault", "", "?");
	while (i < FAULT_COUNT && strcmp(faults[i].word, options->word) != 0)
		i++;
	if (i == FAULT_COUNT)
		return usage("there is no fault ", options->word, "");
	result = check_fault(options, i);
	if (result != 0)
		return result;
	if (options->instance != NULL && !parse_instance(options->instance, &request.instance))
		return usage("", options->instance, " is no GI or GI/CI");
	profile = root_profile(options->root, &options->made);
	if (profile == NULL ||
	    (options->card != NULL && find_card(options->card, profile, &request.card) != 0))
		return 1;
	request.kind = faults[i].fault;
	umask(0);
	return apply_fault(options, profile, &request) != 0;
}

static int list_values(void)
{
	const char *word;

	for (unsigned i = 0; (word = value_word((enum sim_value)i)) != NULL; i++)
		printf("%s\n", word);
	return 0;
}

static int command_set(struct options *options)
{
	struct sim_request request = { .operation = SIM_SET, .card = SIM_ALL_CARDS };
	const struct profile *profile = root_profile(options->root, &options->made);
	const char *equals = options->word != NULL ? strchr(options->word, '=') : NULL;
	const char *word;
	struct sim_reply reply;

	if (equals == NULL)
		return usage("set needs NAME=NUMBER", "", "");
	if (strcmp(options->word, "names=") == 0)
		return list_values();
	while ((word = value_word((enum sim_value)request.kind)) != NULL &&
	       (strlen(word) != (size_t)(equals - options->word) ||
		strncmp(word, options->word, strlen(word)) != 0))
		request.kind++;
	if (word == NULL)
		return usage("no card measures ", options->word, "");
	request.handle = equals[1] == '\0';
	if (equals[1] != '\0' && !parse_number(equals + 1, UINT64_MAX, &request.value))
		return usage("", equals + 1, " is no number that fits here");
	if (profile == NULL ||
	    (options->card != NULL && find_card(options->card, profile, &request.card) != 0))
		return 1;
	if (send_control(options, &request, &reply) != SIM_OK)
		return tree_fail("the driver of %s did not take the number", options->root) != 0;
	return 0;
}

static int command_profiles(struct options *options)
{
	(void)options;
	for (size_t i = 0; i < profile_count; i++)
		printf("%-8s  driver %-12s CUDA %u.%u  %s\n", profiles[i].name,
		       profiles[i].driver_version, profiles[i].cuda_version / 1000,
		       profiles[i].cuda_version % 1000 / 10, profiles[i].title);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct options *options);
	bool needs_root;
} commands[] = {
	{ "start", command_start, true },   { "stop", command_stop, true },
	{ "status", command_status, true }, { "fault", command_fault, true },
	{ "set", command_set, true },       { "profiles", command_profiles, false },
	{ "mig", command_mig, true },
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

/* False for what is no number that fits, or one layout too many. */
static bool take_option(int letter, struct options *options)
{
	switch (letter) {
	case 'r':
		options->root = optarg;
		return true;
	case 'p':
		options->profile = optarg;
		return true;
	case 'c':
		options->card = optarg;
		return true;
	case 'v':
		options->version = optarg;
		return true;
	case 'i':
		options->instance = optarg;
		return true;
	case 'm':
		options->remove = true;
		return true;
	case 'g':
		if (options->layout_count == SIM_CARDS_MAX)
			return false;
		options->layouts[options->layout_count++] = optarg;
		return true;
	case 'f':
		return parse_number(optarg, 600000, &options->for_ms);
	case 'd':
		options->has_delay = true;
		return parse_number(optarg, 60000, &options->delay_ms);
	default:
		return parse_number(optarg, UINT32_MAX, &options->xid);
	}
}

static int read_options(int argc, char **argv, struct options *options)
{
	static const struct option names[] = { { "root", required_argument, NULL, 'r' },
					       { "profile", required_argument, NULL, 'p' },
					       { "card", required_argument, NULL, 'c' },
					       { "version", required_argument, NULL, 'v' },
					       { "xid", required_argument, NULL, 'x' },
					       { "delay-free", required_argument, NULL, 'd' },
					       { "for", required_argument, NULL, 'f' },
					       { "mig", required_argument, NULL, 'g' },
					       { "instance", required_argument, NULL, 'i' },
					       { "remove", no_argument, NULL, 'm' },
					       { "help", no_argument, NULL, 'h' },
					       { NULL, 0, NULL, 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "h", names, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			exit(0);
		}
		if (c == '?')
			return usage("wrong option", "", "");
		if (!take_option(c, options))
			return usage("", optarg, " is no number that fits here");
	}
	if (options->version != NULL &&
	    (strlen(options->version) >= ROOT_VERSION_MAX ||
	     strspn(options->version, "0123456789.") != strlen(options->version)))
		return usage("the version ", options->version,
			     " is more than digits and dots, or longer than 31 characters");
	return 0;
}

static bool takes_word(size_t command)
{
	return commands[command].run == command_fault || commands[command].run == command_set ||
	       commands[command].run == command_mig;
}

/* The words after the options: a command, and a fault or the root. */
static int run_command(int argc, char **argv, struct options *options)
{
	const char *name = argv[optind++];
	size_t i = 0;

	if (optind < argc)
		options->word = argv[optind++];
	if (optind < argc)
		return usage("", argv[optind], " is one word too many");
	while (i < COMMAND_COUNT && strcmp(commands[i].name, name) != 0)
		i++;
	if (i == COMMAND_COUNT)
		return usage("there is no command ", name, "");
	if (options->root == NULL && commands[i].needs_root && !takes_word(i)) {
		options->root = options->word;
		options->word = NULL;
	}
	if (options->word != NULL && !takes_word(i))
		return usage("", options->word, " is one word too many");
	if (commands[i].needs_root && options->root == NULL)
		return usage("", name, " needs --root DIR");
	if (commands[i].needs_root && make_absolute(options) != 0)
		return 1;
	return commands[i].run(options);
}

int main(int argc, char **argv)
{
	struct options options = { 0 };
	int result = read_options(argc, argv, &options);

	if (result != 0)
		return result;
	if (optind == argc)
		return usage("which command", "", "?");
	return run_command(argc, argv, &options);
}

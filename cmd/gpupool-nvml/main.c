/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpupool-nvml: the only program that loads the driver. It answers the questions of
 * abi/nvml_record.h on a socket that it was started with, and is killed when it takes too long.
 */
#include <errno.h>
#include <getopt.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver.h"

#define EXIT_USAGE 2

static const char help[] =
	"gpupool-nvml: answers questions about NVIDIA cards for the other gpupool programs\n"
	"\n"
	"Usage: gpupool-nvml --fd N [--library FILE] [--proc DIR] [--parent PID]\n"
	"       gpupool-nvml --fd N --library FILE --events [--skip MASK] [--parent PID]\n"
	"\n"
	"It is started by gpupool and gpupoold, not by people; see gpupool inventory.\n"
	"\n"
	"  --fd N          answer on this socket (SEQPACKET), inherited\n"
	"  --library FILE  the driver's libnvidia-ml.so.1\n"
	"  --proc DIR      the kernel module's /proc/driver/nvidia\n"
	"  --parent PID    end at once when this process is no more\n"
	"  --events        tell what happens to the cards, instead of answering\n"
	"  --skip MASK     with --events: cards not to be touched; bit N is card N\n"
	"  --help          print this text\n"
	"  --version       print the version\n";

struct settings {
	const char *library, *proc; /* NULL: not given */
	uint64_t fd, parent;        /* parent 0: not given */
	uint64_t skip;
	bool events;
};

static const struct option long_options[] = {
	{ "fd", required_argument, NULL, 'f' },
	{ "library", required_argument, NULL, 'l' },
	{ "proc", required_argument, NULL, 'd' },
	{ "parent", required_argument, NULL, 'p' },
	{ "events", no_argument, NULL, 'e' },
	{ "skip", required_argument, NULL, 's' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'v' },
	{ 0 },
};

static int usage(const char *text)
{
	fprintf(stderr, "gpupool-nvml: %s; see gpupool-nvml --help\n", text);
	return EXIT_USAGE;
}

#define FD_NONE UINT64_MAX

/* -1: go on. Else the exit code. */
static int option_take(struct settings *settings, int letter)
{
	switch (letter) {
	case 'f':
		if (parse_uint(optarg, 0, 1 << 20, &settings->fd) < 0)
			return usage("--fd wants the number of a descriptor");
		return -1;
	case 'l':
		settings->library = optarg;
		return -1;
	case 'd':
		settings->proc = optarg;
		return -1;
	case 'p':
		if (parse_uint(optarg, 1, 1 << 30, &settings->parent) < 0)
			return usage("--parent wants the number of a process");
		return -1;
	case 'e':
		settings->events = true;
		return -1;
	case 's':
		if (parse_uint(optarg, 0, UINT64_MAX, &settings->skip) < 0)
			return usage("--skip wants a number whose bits are cards");
		return -1;
	case 'h':
		fputs(help, stdout);
		return 0;
	case 'v':
		puts("gpupool-nvml " GPUPOOL_VERSION);
		return 0;
	default:
		return usage("unknown option, or one without its argument");
	}
}

static int settings_check(const struct settings *settings)
{
	if (settings->fd == FD_NONE)
		return usage("--fd is needed");
	if ((settings->library && settings->library[0] != '/') ||
	    (settings->proc && settings->proc[0] != '/'))
		return usage("--library and --proc want absolute paths");
	if (settings->skip && !settings->events)
		return usage("--skip goes with --events");
	return -1;
}

static int settings_read(struct settings *settings, int argc, char **argv)
{
	opterr = 0;
	for (int letter; (letter = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
		int code = option_take(settings, letter);

		if (code >= 0)
			return code;
	}
	return optind == argc ? settings_check(settings) : usage("it takes no operands");
}

/* nvmlInit makes device nodes and loads modules where it can: here it cannot. */
static int drop_capabilities(void)
{
	static const unsigned dropped[] = { CAP_MKNOD, CAP_SYS_MODULE };
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(dropped); i++) {
		unsigned word = CAP_TO_INDEX(dropped[i]);
		unsigned keep = ~CAP_TO_MASK(dropped[i]);

		/* Fails without CAP_SETPCAP; then no_new_privs keeps an exec from regaining it. */
		(void)prctl(PR_CAPBSET_DROP, dropped[i], 0, 0, 0);
		data[word].effective &= keep;
		data[word].permitted &= keep;
		data[word].inheritable &= keep;
	}
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

static int close_others(unsigned keep)
{
	if (keep > 3 && syscall(SYS_close_range, 3u, keep - 1, 0u) < 0)
		return -errno;
	return syscall(SYS_close_range, keep < 3 ? 3 : keep + 1, ~0u, 0u) < 0 ? -errno : 0;
}

/* Everything that the driver's library must not have, before it is loaded. */
static int confine(const struct settings *settings)
{
	const struct rlimit no_core = { 0, 0 };
	int r;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return -errno;
	/* The parent may have died before the line above. */
	if (settings->parent && (uint64_t)getppid() != settings->parent)
		return -ESRCH;
	if (chdir("/") < 0 || clearenv() != 0)
		return -EIO;
	umask(077);
	(void)setrlimit(RLIMIT_CORE, &no_core);
	r = close_others((unsigned)settings->fd);
	if (r < 0 && r != -ENOSYS) /* before Linux 5.9: what was inherited stays open */
		return r;
	r = drop_capabilities();
	if (r < 0)
		return r;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

static bool request_is_valid(const struct record_request *request, ssize_t length)
{
	return length == (ssize_t)sizeof(*request) && request->magic == RECORD_MAGIC &&
	       request->version == RECORD_VERSION;
}

/* Until the other end is closed, asks to quit, or says something else. */
static int serve(struct driver *driver, int fd)
{
	struct record_request request;
	struct record_answer answer;

	for (;;) {
		ssize_t length = recv(fd, &request, sizeof(request), 0);

		if (length < 0 && errno == EINTR)
			continue;
		if (length == 0)
			return 0;
		if (!request_is_valid(&request, length))
			return 1;
		if (request.kind == RECORD_QUIT)
			return 0;
		memset(&answer, 0, sizeof(answer));
		answer.magic = RECORD_MAGIC;
		answer.version = RECORD_VERSION;
		answer.kind = request.kind;
		answer.sequence = request.sequence;
		answer.index = request.index;
		driver_answer(driver, &request, &answer);
		if (send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) != (ssize_t)sizeof(answer))
			return 1;
	}
}

int main(int argc, char **argv)
{
	struct settings settings = { .fd = FD_NONE };
	int code = settings_read(&settings, argc, argv);

	if (code >= 0)
		return code;
	int type = 0;
	socklen_t size = sizeof(type);
	if (getsockopt((int)settings.fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 ||
	    type != SOCK_SEQPACKET)
		return usage("--fd is not an open SEQPACKET socket");
	if (confine(&settings) < 0)
		return 1;
	struct driver driver = { .path = settings.library, .proc = settings.proc };
	code = settings.events ? driver_watch(&driver, (int)settings.fd, settings.skip)
			       : serve(&driver, (int)settings.fd);
	free(driver.snapshot);
	return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* How to add a command: one file that ends in a `const struct command`, a line here, a declaration
 * in gpupool.h, a line in meson.build. */
#include "gpupool.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

static const struct command *const commands[] = { &command_demo, &command_inventory, &command_run,
						  &command_apply, NULL };

static const struct program program = {
	.name = "gpupool",
	.summary = "share the GPUs of a machine by card, by memory and by compute",
	.description =
		"gpupool owns the chain from the physical card to the device node in a container: "
		"it takes an inventory through the driver, places requests on cards, plans what a "
		"container needs, and runs it. Every refusal says why, with the numbers.\n"
		"\n"
		"Exit codes: 0 done, 1 failed, 2 usage, 3 not enough rights or no driver, 4 "
		"refused "
		"for ever, 5 could fit later. `run` and `apply` of one container return its "
		"command's "
		"status once it started.",
	.commands = commands,
};

/*
 * What a caller may have left in another state than we rely on. A closed descriptor 0, 1 or 2 would
 * be the next file that we open; it gets one that fails as a closed one does. With SIGCHLD ignored
 * nobody's exit status can be waited for. Directories on the way to a container's mount points must
 * be open to its user, whatever root's umask (the runtime gives the container one of its own).
 */
static void start_from_known_state(void)
{
	const struct sigaction standard = { .sa_handler = SIG_DFL };

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			exit(EXIT_FAILED);
	sigaction(SIGCHLD, &standard, NULL);
	umask(022);
}

int main(int argc, char **argv)
{
	start_from_known_state();
	return finish_output(program_main(&program, argc, argv));
}

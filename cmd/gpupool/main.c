/* SPDX-License-Identifier: Apache-2.0 */
/* How to add a command: one file that ends in a `const struct command`, a line here, a declaration
 * in gpupool.h, a line in meson.build. */
#include "gpupool.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

static const struct command *const commands[] = {
	&command_demo,         &command_inventory,    &command_run,
	&command_apply,        &command_configure,    &command_system_nodes,
	&command_system_links, &command_sim_run,      &command_sim_compare,
	&command_sim_explain,  &command_sim_fit,      &command_sim_fragments,
	&command_sim_generate, &command_sim_replay,   &command_sim_whatif,
	&command_bench_place,  &command_cdi_generate, &command_cdi_list,
	&command_cdi_validate, &command_cdi_diff,     NULL
};

static const struct program program = {
	.name = "gpupool",
	.summary = "share the GPUs of a machine by card, by memory and by compute",
	.description =
		"Takes an inventory of the cards through the driver, places requests on them, and "
		"runs each command or Pod in a container that can open the cards it was granted "
		"and "
		"no other. Every refusal says why, with the numbers, and what to change.\n"
		"\n"
		"Exit codes:\n"
		"  0  done\n"
		"  1  failed\n"
		"  2  wrong usage\n"
		"  3  a right, the driver or a container runtime is missing\n"
		"  4  refused: it can never fit this machine as it is asked for\n"
		"  5  refused now: it fits once others have ended, or once a card is well again\n"
		"\n"
		"Once a command has started, run returns its exit status, and so does apply for a "
		"single container; for several, apply returns 1 when one of them failed. A command "
		"that cannot be started gives 127 when it was not found, else 126.\n"
		"\n"
		"GPUPOOL_DRIVER_ROOT in the environment does what --driver-root does.",
	.commands = commands,
	.see_also = "*gpupool-runtime*(8), *runc*(8), *crun*(1)",
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

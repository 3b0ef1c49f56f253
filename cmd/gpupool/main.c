/* SPDX-License-Identifier: Apache-2.0 */
/* How to add a command: one file that ends in a `const struct command`, a line here, a declaration
 * in gpupool.h, a line in meson.build. */
#include "gpupool.h"

static const struct command *const commands[] = { &command_demo,         &command_inventory,
						  &command_run,          &command_apply,
						  &command_configure,    &command_system_nodes,
						  &command_system_links, &command_sim_run,
						  &command_sim_compare,  &command_sim_explain,
						  &command_sim_fit,      &command_sim_fragments,
						  &command_sim_generate, &command_sim_replay,
						  &command_sim_whatif,   &command_bench_place,
						  &command_cdi_generate, &command_cdi_list,
						  &command_cdi_validate, &command_cdi_diff,
						  &command_doctor,       NULL };

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
	.see_also = "*gpupool-runtime*(8), *gpupoold*(8), *runc*(8), *crun*(1)",
};

int main(int argc, char **argv)
{
	if (process_begin() < 0)
		return EXIT_FAILED;
	return finish_output(program_main(&program, argc, argv));
}

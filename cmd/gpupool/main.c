/* SPDX-License-Identifier: Apache-2.0 */
/* How to add a command: one file that ends in a `const struct command`, a line here, a declaration
 * in gpupool.h, a line in meson.build. */
#include "gpupool.h"

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

int main(int argc, char **argv)
{
	return finish_output(program_main(&program, argc, argv));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sysfs/sysfs.h"

#include <string.h>
#include <sys/stat.h>

#include "device/sysfs/tree.h"

void process_describe(struct card_process *process)
{
	autofree char *directory = NULL, *name = NULL;
	struct stat stat_of;

	if (tree_path(&directory, NULL, "/proc/%d", process->pid) < 0 ||
	    stat(directory, &stat_of) < 0)
		return; /* it ended, or it is not of our PID namespace */
	process->uid = stat_of.st_uid;
	/* The kernel's own name (at most 15 characters) only where the driver gave none. */
	if (process->name[0] || tree_read(&name, 256, "%s/comm", directory) < 0)
		return;
	name[strcspn(name, "\n")] = '\0';
	for (char *at = name; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	reason_text(process->name, sizeof(process->name), "%s", name);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sysfs/sysfs.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/sysfs/tree.h"

bool process_ids_are_of_host(void)
{
	/* PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h. */
	static const char initial[] = "pid:[4026531836]";
	char own[64];
	ssize_t length = readlink("/proc/self/ns/pid", own, sizeof(own));

	return length == (ssize_t)strlen(initial) && memcmp(own, initial, strlen(initial)) == 0;
}

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

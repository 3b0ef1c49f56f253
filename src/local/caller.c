/* SPDX-License-Identifier: Apache-2.0 */
#include "local/local.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROUPS_MAX 65536

/* SUDO_UID and SUDO_GID count only in root's environment: there sudo, not the user, wrote them. */
static void caller_numbers(uid_t *ret_uid, gid_t *ret_gid)
{
	uint64_t uid, gid;
	const char *uid_text = getenv("SUDO_UID"), *gid_text = getenv("SUDO_GID");

	*ret_uid = getuid();
	*ret_gid = getgid();
	if (*ret_uid != 0 || !uid_text || !gid_text)
		return;
	if (parse_uint(uid_text, 0, UINT32_MAX - 1, &uid) < 0 ||
	    parse_uint(gid_text, 0, UINT32_MAX - 1, &gid) < 0)
		return;
	*ret_uid = (uid_t)uid;
	*ret_gid = (gid_t)gid;
}

static int caller_groups(struct local_caller *caller, struct error *error)
{
	int count = 64;

	for (;;) {
		if (vec_reserve(&caller->groups, &caller->group_capacity, (size_t)count,
				sizeof(*caller->groups)) < 0)
			return error_no_memory(error);
		int wanted = count;
		_Static_assert(sizeof(gid_t) == sizeof(unsigned), "group numbers are unsigned");
		if (getgrouplist(caller->name, caller->gid, caller->groups, &wanted) >= 0) {
			caller->group_count = (size_t)wanted;
			return 0;
		}
		if (wanted <= count || wanted > GROUPS_MAX)
			return error_set(error, E2BIG, "user %s is in too many groups",
					 caller->name);
		count = wanted;
	}
}

int local_caller_find(struct local_caller *ret, struct error *error)
{
	struct local_caller caller = { .uid = 0 };

	caller_numbers(&caller.uid, &caller.gid);
	errno = 0;
	const struct passwd *entry = getpwuid(caller.uid);
	caller.name = strdup(entry ? entry->pw_name : "");
	caller.home = strdup(entry && entry->pw_dir[0] == '/' ? entry->pw_dir : "/");
	caller.shell = strdup(entry && entry->pw_shell[0] == '/' ? entry->pw_shell : "/bin/sh");
	if (!caller.name || !caller.home || !caller.shell) {
		local_caller_release(&caller);
		return error_no_memory(error);
	}
	/* A user without an entry (a number from a directory service that is away) has one group. */
	if (entry) {
		int r = caller_groups(&caller, error);
		if (r < 0) {
			local_caller_release(&caller);
			return r;
		}
	}
	*ret = caller;
	return 0;
}

void local_caller_release(struct local_caller *caller)
{
	free(caller->groups);
	free(caller->name);
	free(caller->home);
	free(caller->shell);
	*caller = (struct local_caller){ .uid = 0 };
}

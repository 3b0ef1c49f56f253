/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds what now, from <run>/containers/<id>/grant.json. */
#include "local/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOLDERS_MAX 4096

const char *local_run_directory(void)
{
	const char *directory = secure_getenv(ENV_RUN_DIR);

	return directory && directory[0] == '/' ? directory : PATH_RUN;
}

void local_node_name(char *ret, size_t size)
{
	if (gethostname(ret, size) < 0 || !ret[0])
		reason_text(ret, size, "this machine");
	ret[size - 1] = '\0';
}

static bool process_alive(struct json_object *object, const char *key, pid_t *ret_pid)
{
	struct json_object *process = json_get(object, key);
	uint64_t pid = json_get_uint(process, "pid", 0);
	uint64_t start = json_get_uint(process, "start", 0);

	if (!pid || pid > INT32_MAX || !start)
		return false;
	if (ret_pid)
		*ret_pid = (pid_t)pid;
	return process_start((pid_t)pid) == start;
}

static int process_add(struct json_object *object, const char *key, pid_t pid)
{
	struct json_object *process = json_object_new_object();

	if (!process)
		return -ENOMEM;
	if (json_add_uint(process, "pid", (uint64_t)pid) < 0 ||
	    json_add_uint(process, "start", process_start(pid)) < 0) {
		json_object_put(process);
		return -ENOMEM;
	}
	return json_add(object, key, process);
}

int holder_write(const struct local_job *job, struct error *error)
{
	autojson *object = json_object_new_object();
	struct json_object *grant = NULL;
	autostrbuf path = STRBUF_INIT(4096);

	if (!object)
		return error_no_memory(error);
	int r = grant_to_json(&job->grant, &grant, error);
	if (r < 0)
		return r;
	if (json_add(object, "grant", grant) < 0 || json_add_uint(object, "version", 1) < 0 ||
	    process_add(object, "owner", getpid()) < 0)
		return error_no_memory(error);
	if (job->pid > 0 && process_add(object, "process", job->pid) < 0)
		return error_no_memory(error);
	strbuf_addf(&path, "%s/grant.json", job->bundle);
	if (strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "the path of container %s is too long",
				 job->id);
	return json_write_file(path.data, object, 0644, error);
}

/* 1: *ret is a holder; 0: what is there holds nothing any more. */
static int holder_read(const char *directory, const char *id, struct local_holder *ret,
		       struct error *error)
{
	autostrbuf path = STRBUF_INIT(4096);
	autojson *object = NULL;
	struct local_holder holder = { .pid = 0 };

	strbuf_addf(&path, "%s/%s/grant.json", directory, id);
	if (strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "the name %s in %s is too long", id,
				 directory);
	struct error failure = ERROR_INIT;
	struct stat status;
	int r = -EINVAL;
	/* A pipe would have us wait for whoever made it. */
	if (lstat(path.data, &status) == 0 && !S_ISREG(status.st_mode))
		error_set(&failure, EINVAL, "%s is no regular file", path.data);
	else
		r = json_read_file(path.data, NULL, &object, &failure);
	/* Made and not yet filled, or being removed: it holds nothing. */
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return error_set(error, -r,
				 "%s; nothing is granted while it is unknown what a container "
				 "holds. If no process of %s runs, remove %s/%s",
				 failure.message, id, directory, id);
	bool owner = process_alive(object, "owner", NULL);
	bool process = process_alive(object, "process", &holder.pid);
	if (!owner && !process)
		return 0;
	r = grant_from_json(json_get(object, "grant"), &holder.grant, error);
	if (r < 0)
		return error_wrap(error, "%s", path.data);
	holder.orphaned = !owner;
	holder.id = strdup(id);
	if (!holder.id) {
		grant_release(&holder.grant);
		return error_no_memory(error);
	}
	*ret = holder;
	return 1;
}

static int holders_read_directory(const char *directory, DIR *stream, struct local_holders *holders,
				  struct error *error)
{
	const struct dirent *entry;

	while ((entry = readdir(stream))) {
		struct local_holder holder;

		if (entry->d_name[0] == '.')
			continue;
		if (holders->count >= HOLDERS_MAX)
			return error_set(error, E2BIG, "%s holds more than %d containers",
					 directory, HOLDERS_MAX);
		int r = holder_read(directory, entry->d_name, &holder, error);
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		struct local_holder *item =
			VEC_ADD(&holders->items, &holders->count, &holders->capacity);
		if (!item) {
			grant_release(&holder.grant);
			free(holder.id);
			return error_no_memory(error);
		}
		*item = holder;
	}
	return 0;
}

int containers_open(const char *path, DIR **ret, struct error *error)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0
				       : error_set(error, errno,
						   "cannot read %s: %s; remove it if it is no "
						   "directory of gpupool",
						   path, strerrordesc_np(errno));
	DIR *stream = NULL;
	int r = 0;
	if (fstat(fd, &status) < 0)
		r = error_set_errno(error, errno, "cannot look at %s", path);
	else if ((status.st_uid != 0 && status.st_uid != geteuid()) || status.st_mode & 022)
		r = error_set(error, EPERM,
			      "%s can be written by others (owner %u, mode %o); remove it, or "
			      "set " ENV_RUN_DIR " to a directory of root",
			      path, status.st_uid, status.st_mode & 07777);
	else if (!(stream = fdopendir(fd)))
		r = error_set_errno(error, errno, "cannot read %s", path);
	if (r < 0) {
		close(fd);
		return r;
	}
	*ret = stream;
	return 1;
}

int local_holders_read(const char *run_directory, struct local_holders *ret, struct error *error)
{
	autostrbuf directory = STRBUF_INIT(4096);
	struct local_holders holders = { .items = NULL };

	strbuf_addf(&directory, "%s/containers", run_directory);
	if (strbuf_failed(&directory) < 0)
		return error_set(error, ENAMETOOLONG, "the path %s is too long", run_directory);
	DIR *stream;
	int r = containers_open(directory.data, &stream, error);
	if (r < 0)
		return r;
	if (r == 0) {
		*ret = holders;
		return 0;
	}
	r = holders_read_directory(directory.data, stream, &holders, error);
	closedir(stream);
	if (r < 0) {
		local_holders_release(&holders);
		return r;
	}
	*ret = holders;
	return 0;
}

void local_holders_release(struct local_holders *holders)
{
	for (size_t i = 0; i < holders->count; i++) {
		free(holders->items[i].id);
		grant_release(&holders->items[i].grant);
	}
	free(holders->items);
	*holders = (struct local_holders){ .items = NULL };
}

/* The id in ".../gpupool/<id>" of a line of /proc/<pid>/cgroup. */
static bool process_in_container(pid_t pid, const struct local_holders *holders)
{
	autofree char *text = NULL;

	if (process_read(pid, "cgroup", &text, NULL) < 0)
		return false;
	for (const char *at = text; (at = strstr(at, CGROUP_PARENT "/")); at++) {
		const char *id = at + strlen(CGROUP_PARENT "/");
		size_t span = strcspn(id, "/\n");

		for (size_t i = 0; i < holders->count; i++)
			if (strlen(holders->items[i].id) == span &&
			    strncmp(holders->items[i].id, id, span) == 0)
				return true;
	}
	return false;
}

void local_holders_mark(const struct local_holders *holders, struct inventory *inventory)
{
	for (size_t i = 0; i < inventory->card_count; i++) {
		struct card *card = &inventory->cards[i];

		for (size_t k = 0; k < card->process_count; k++)
			card->processes[k].granted =
				process_in_container(card->processes[k].pid, holders);
	}
}

static bool pool_has_card(const struct pool *pool, const char *uuid)
{
	for (unsigned i = 0; i < pool_node_card_count(pool, 0); i++)
		if (strcmp(pool_card(pool, 0, i)->uuid, uuid) == 0)
			return true;
	return false;
}

/* A card that the driver lists no more cannot be given to anybody: the others of the grant count. */
static int holder_hold(const struct local_holder *holder, struct pool *pool, struct error *error)
{
	autofree struct grant_card *cards = calloc(holder->grant.card_count, sizeof(*cards));
	struct grant known = holder->grant;
	uint64_t unused;

	if (!cards)
		return error_no_memory(error);
	known.cards = cards;
	known.card_count = 0;
	for (size_t i = 0; i < holder->grant.card_count; i++)
		if (pool_has_card(pool, holder->grant.cards[i].uuid))
			cards[known.card_count++] = holder->grant.cards[i];
	return known.card_count ? pool_hold_grant(pool, 0, &known, &unused, error) : 0;
}

int local_holders_hold(const struct local_holders *holders, struct pool *pool, struct error *error)
{
	for (size_t i = 0; i < holders->count; i++) {
		if (!holders->items[i].grant.card_count)
			continue;
		if (holder_hold(&holders->items[i], pool, error) < 0)
			return error_wrap(error, "container %s", holders->items[i].id);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/engines.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "runtimes/configure_parts.h"
#include "runtimes/engine_parts.h"

static const char *const engine_kind_table[ENGINE_KIND_MAX] = {
	[ENGINE_CONTAINERD] = "containerd",
	[ENGINE_DOCKER] = "docker",
	[ENGINE_CRIO] = "crio",
};
DEFINE_STRING_TABLE(engine_kind, enum engine_kind, ENGINE_KIND_MAX)

/*
 * How to add an engine: a row here, and its editor in formats/. Facts: the daemons' own help texts
 * (containerd 1.6 to 2.4, dockerd 20 to 29, crio 1.2x and 1.3x).
 */
static const struct engine_row {
	const char *name; /* of its program */
	const char *title;
	const char *config_option, *config; /* where its file is when it does not say */
	char config_letter;
	const char *socket_option, *socket;
	char socket_letter;
	const char *drop_in_option, *drop_in_directory;
	char drop_in_letter;
} engine_rows[ENGINE_KIND_MAX] = {
	[ENGINE_CONTAINERD] = { .name = "containerd",
				.title = "containerd",
				.config_option = "config",
				.config_letter = 'c',
				.config = "/etc/containerd/config.toml",
				.socket_option = "address",
				.socket_letter = 'a',
				.socket = "/run/containerd/containerd.sock" },
	[ENGINE_DOCKER] = { .name = "dockerd",
			    .title = "Docker",
			    .config_option = "config-file",
			    .config = "/etc/docker/daemon.json",
			    .socket_option = "host",
			    .socket_letter = 'H',
			    .socket = "/run/docker.sock" },
	[ENGINE_CRIO] = { .name = "crio",
			  .title = "CRI-O",
			  .config_option = "config",
			  .config_letter = 'c',
			  .config = "/etc/crio/crio.conf",
			  .socket_option = "listen",
			  .socket = "/run/crio/crio.sock",
			  .drop_in_option = "config-dir",
			  .drop_in_letter = 'd',
			  .drop_in_directory = "/etc/crio/crio.conf.d" },
};

void engine_release(struct engine *engine)
{
	free(engine->config);
	free(engine->drop_in);
	free(engine->drop_in_directory);
	free(engine->socket);
	free(engine->program);
	free(engine->service);
	free(engine->version);
	*engine = (struct engine){ .pid = 0 };
}

void engine_list_release(struct engine_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		engine_release(&list->items[i]);
	free(list->items);
	free(list->endpoint);
	*list = (struct engine_list){ .items = NULL };
}

static int copy(char **ret, const char *text)
{
	*ret = strdup(text);
	return *ret ? 0 : -ENOMEM;
}

/* What all need: files, socket and drop-in, as they are without any option. */
static int engine_fill(struct engine *engine, const char *config, const char *socket,
		       const char *directory)
{
	const struct engine_row *row = &engine_rows[engine->kind];
	int r = copy(&engine->config, config ? config : row->config);

	if (r == 0) {
		engine->socket = socket_name(socket ? socket : row->socket);
		r = engine->socket ? 0 : -ENOMEM;
	}
	if (r == 0)
		r = copy(&engine->version, "");
	if (r == 0 && row->drop_in_directory) {
		r = copy(&engine->drop_in_directory,
			 directory ? directory : row->drop_in_directory);
		if (r == 0 && asprintf(&engine->drop_in, "%s/99-nvidia.toml",
				       engine->drop_in_directory) < 0) {
			engine->drop_in = NULL;
			r = -ENOMEM;
		}
	}
	return r;
}

/* dockerd starts one of its own, which it writes the file of, and which no kubelet can use. */
static bool is_private_containerd(const struct host_process *process)
{
	const char *config = host_process_option(process, "config", 'c');

	return config && strstr(config, "/run/docker/containerd/") != NULL;
}

static enum engine_kind engine_of(const struct host_process *process)
{
	for (int kind = 0; kind < ENGINE_KIND_MAX; kind++)
		if (strcmp(process->name, engine_rows[kind].name) == 0)
			/* Short-lived calls of the same program: "containerd publish", "crio config". */
			return host_process_has_word(process, "publish") ||
					       host_process_has_word(process, "config") ||
					       host_process_has_word(process, "status") ||
					       is_private_containerd(process)
				       ? ENGINE_KIND_INVALID
				       : (enum engine_kind)kind;
	return ENGINE_KIND_INVALID;
}

/* Where its command line names no socket, its files may. A file that cannot be read leaves the usual
 * one, and is told of when it is to be changed. */
static int socket_of_files(const struct host *host, struct engine *engine)
{
	const struct engine_work *work = engine_work(engine);
	autofree char *text = NULL;
	int r = work->socket ? work->socket(host, engine, &text) : 0;

	if (r == -ENOMEM || !text)
		return r == -ENOMEM ? r : 0;
	char *name = socket_name(text);
	if (!name)
		return -ENOMEM;
	free(engine->socket);
	engine->socket = name;
	return 0;
}

static bool same_place(const char *one, const char *other)
{
	struct stat first, second;
	bool is_first = stat(one, &first) == 0, is_second = stat(other, &second) == 0;

	if (!is_first || !is_second)
		return is_first == is_second;
	return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* PROC/PID/root; *ret false: not to be seen at all, so nothing can be said. */
static int root_of(const struct host *host, pid_t pid, struct strbuf *path, bool *ret)
{
	struct stat status;
	int r = host_proc(host, path);

	strbuf_addf(path, "/%d/root", (int)pid);
	if (r == 0)
		r = strbuf_failed(path);
	*ret = r == 0 && lstat(path->data, &status) == 0;
	return r == -ENOMEM ? r : 0;
}

/*
 * Is the file that the daemon reads the one that we would write? A daemon in a mount namespace of its
 * own may have another directory under that name; one that is ending has none at all.
 */
static int sees_our_files(const struct host *host, const struct engine *engine, bool *ret)
{
	autostrbuf theirs = STRBUF_INIT(2 * ROOT_PATH_MAX), ours = STRBUF_INIT(2 * ROOT_PATH_MAX);
	autofree char *directory = strdup(engine->config);
	bool known = false;

	*ret = true;
	if (!directory)
		return -ENOMEM;
	int r = root_of(host, engine->pid, &theirs, &known);
	char *slash = strrchr(directory, '/');
	if (r < 0 || !known || !slash)
		return r;
	slash[slash == directory ? 1 : 0] = '\0';
	strbuf_adds(&theirs, directory);
	r = host_path(host, directory, &ours, NULL);
	if (r == 0)
		r = strbuf_failed(&theirs);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	*ret = same_place(theirs.data, ours.data);
	return 0;
}

static int engine_add(const struct host *host, struct host_process *process, enum engine_kind kind,
		      struct engine_list *list)
{
	bool ours = true;
	const struct engine_row *row = &engine_rows[kind];
	struct engine *engine = VEC_ADD(&list->items, &list->count, &list->capacity);

	if (!engine)
		return -ENOMEM;
	engine->kind = kind;
	engine->pid = process->pid;
	engine->program = TAKE_PTR(process->program);
	engine->service = TAKE_PTR(process->service);
	int r = engine_fill(engine,
			    host_process_option(process, row->config_option, row->config_letter),
			    host_process_option(process, row->socket_option, row->socket_letter),
			    row->drop_in_option ? host_process_option(process, row->drop_in_option,
								      row->drop_in_letter)
						: NULL);
	if (r == 0 && !host_process_option(process, row->socket_option, row->socket_letter))
		r = socket_of_files(host, engine);
	if (r == 0)
		r = engine_place(engine);
	if (r == 0)
		r = sees_our_files(host, engine, &ours);
	if (r == 0 && !ours)
		engine_release(&list->items[--list->count]);
	return r;
}

/* What else is to be known of the processes, beside the engines. */
struct others {
	char *cri_dockerd;       /* the socket that it serves; NULL: none runs */
	char *docker_containerd; /* the containerd that dockerd was told to use */
};

static void others_release(struct others *others)
{
	free(others->cri_dockerd);
	free(others->docker_containerd);
}

static int keep_socket(char **slot, const char *endpoint)
{
	char *name = endpoint ? socket_name(endpoint) : NULL;

	if (endpoint && !name)
		return -ENOMEM;
	if (name) {
		free(*slot);
		*slot = name;
	}
	return 0;
}

static int take_process(const struct host *host, struct host_process *process,
			struct engine_list *list, struct others *others)
{
	enum engine_kind kind = engine_of(process);

	if (strcmp(process->name, "cri-dockerd") == 0) {
		const char *own = host_process_option(process, "container-runtime-endpoint", 0);

		/* fd://: the socket is systemd's, under the name that its unit has. */
		return keep_socket(&others->cri_dockerd, own && strncmp(own, "fd:", 3) != 0
								 ? own
								 : "/run/cri-dockerd.sock");
	}
	if (host_process_is_kubelet(process)) {
		char *endpoint = NULL;
		int r = kubelet_endpoint(host, process, &endpoint);

		if (r < 0)
			return r;
		free(list->endpoint);
		list->endpoint = endpoint;
		list->kubelet = true;
		return 0;
	}
	if (kind == ENGINE_KIND_INVALID)
		return 0;
	int r = kind == ENGINE_DOCKER ? keep_socket(&others->docker_containerd,
						    host_process_option(process, "containerd", 0))
				      : 0;
	return r < 0 ? r : engine_add(host, process, kind, list);
}

static void mark(struct engine_list *list, const struct others *others)
{
	for (size_t i = 0; i < list->count; i++) {
		struct engine *engine = &list->items[i];

		engine->of_docker = engine->kind == ENGINE_CONTAINERD &&
				    others->docker_containerd &&
				    strcmp(engine->socket, others->docker_containerd) == 0;
		if (!list->endpoint)
			continue;
		if (engine->kind == ENGINE_DOCKER)
			engine->of_kubelet = strcmp(list->endpoint, "/run/dockershim.sock") == 0 ||
					     (others->cri_dockerd &&
					      strcmp(list->endpoint, others->cri_dockerd) == 0);
		else
			engine->of_kubelet = strcmp(list->endpoint, engine->socket) == 0;
	}
}

static int find_in(const struct host *host, const char *proc, DIR *directory,
		   struct engine_list *list, struct others *others)
{
	struct dirent *entry;

	while ((entry = readdir(directory))) {
		cleanup(host_process_release) struct host_process process = { .pid = 0 };
		int r = host_process_read(proc, entry->d_name, &process);

		if (r == 0)
			r = take_process(host, &process, list, others);
		if (r < 0 && r != -ESRCH)
			return r;
	}
	mark(list, others);
	return 0;
}

static int by_pid(const void *left, const void *right)
{
	const struct engine *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

int engines_find(const struct host *host, struct engine_list *ret, struct error *error)
{
	cleanup(engine_list_release) struct engine_list list = { .items = NULL };
	cleanup(others_release) struct others others = { .cri_dockerd = NULL };
	autostrbuf proc = STRBUF_INIT(ROOT_PATH_MAX);

	int r = host_proc(host, &proc);
	if (r == -ENOMEM)
		return error_no_memory(error);
	if (r < 0)
		return error_set(error, ENAMETOOLONG, "the path of the host's root is too long");
	DIR *directory = opendir(proc.data);
	if (!directory)
		return error_set_errno(
			error, errno,
			"cannot see the host's processes in %s; mount its procfs there", proc.data);
	r = find_in(host, proc.data, directory, &list, &others);
	closedir(directory);
	if (r < 0)
		return error_no_memory(error);
	if (list.count)
		qsort(list.items, list.count, sizeof(*list.items), by_pid);
	*ret = list;
	list = (struct engine_list){ .items = NULL };
	return 0;
}

static int choose_none(const struct engine_list *list, enum engine_kind kind, struct error *error)
{
	if (kind != ENGINE_KIND_MAX)
		return error_set(
			error, ENOENT,
			"%s does not run here; start it, or name its file with --config to "
			"prepare this machine",
			engine_rows[kind].title);
	if (list->kubelet)
		return error_set(
			error, ENOENT,
			"the kubelet uses %s, and no containerd, CRI-O or Docker that runs "
			"here serves it; start it, or name another with --runtime",
			list->endpoint);
	return error_set(error, ENOENT,
			 "no containerd, CRI-O or Docker runs here; start one, or name one with "
			 "--runtime and its file with --config");
}

static int choose_several(const struct engine *one, const struct engine *other, struct error *error)
{
	if (one->kind != other->kind)
		return error_set(
			error, EEXIST,
			"%s and %s run here, and no kubelet says which counts; choose with "
			"--runtime %s or --runtime %s",
			engine_rows[one->kind].title, engine_rows[other->kind].title,
			engine_kind_to_string(one->kind), engine_kind_to_string(other->kind));
	return error_set(
		error, EEXIST,
		"two of %s run here (%s, %s), and no kubelet says which counts; choose with "
		"--runtime %s --config FILE",
		engine_rows[one->kind].title, one->config, other->config,
		engine_kind_to_string(one->kind));
}

int engines_choose(const struct engine_list *list, enum engine_kind kind, const struct engine **ret,
		   struct error *error)
{
	const struct engine *found = NULL;

	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].of_kubelet &&
		    (kind == ENGINE_KIND_MAX || list->items[i].kind == kind)) {
			*ret = &list->items[i];
			return 0;
		}
	if (list->kubelet && kind == ENGINE_KIND_MAX)
		return choose_none(list, kind, error);
	for (size_t i = 0; i < list->count; i++) {
		const struct engine *engine = &list->items[i];

		/* Docker's own containerd is configured through Docker, unless it is asked for. */
		if (kind == ENGINE_KIND_MAX ? engine->of_docker : engine->kind != kind)
			continue;
		if (found)
			return choose_several(found, engine, error);
		found = engine;
	}
	if (!found)
		return choose_none(list, kind, error);
	*ret = found;
	return 0;
}

int engine_assume(enum engine_kind kind, const char *config, struct engine *ret,
		  struct error *error)
{
	struct engine engine = { .kind = kind };

	if (engine_fill(&engine, config, NULL, NULL) < 0) {
		engine_release(&engine);
		return error_no_memory(error);
	}
	*ret = engine;
	return 0;
}

/* The first number with two dots of "containerd github.com/x v1.7.27 05044...", "Docker version
 * 28.1.1, build ..." or "crio version 1.33.0". */
static const char *find_version(const char *text, size_t *ret_length)
{
	for (const char *at = text; *at; at++) {
		size_t length = strspn(at, "0123456789.");
		const char *dot = memchr(at, '.', length);

		if (length && dot && dot > at && *at != '.' &&
		    (at == text || strchr(" v\tn:", at[-1]))) {
			*ret_length = length;
			return at;
		}
		at += length ? length - 1 : 0;
	}
	return NULL;
}

static void read_version(struct engine *engine)
{
	unsigned *const parts[2] = { &engine->major, &engine->minor };
	const char *at = engine->version;

	for (size_t i = 0; i < 2; i++) {
		unsigned value = 0;

		for (; *at >= '0' && *at <= '9' && value < 10000; at++)
			value = value * 10 + (unsigned)(*at - '0');
		*parts[i] = value;
		at += *at == '.';
	}
}

int engine_ask_version(const struct host *host, struct engine *engine)
{
	const char *const argv[] = { engine->program, "--version", NULL };
	autofree char *text = NULL;
	size_t length = 0;

	if (!engine->program)
		return 0;
	int r = host_run(host, argv, &text, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	const char *found = find_version(text, &length);
	if (!found)
		return 0;
	char *version = strndup(found, length);
	if (!version)
		return -ENOMEM;
	free(engine->version);
	engine->version = version;
	read_version(engine);
	return 0;
}

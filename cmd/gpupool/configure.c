/* SPDX-License-Identifier: Apache-2.0 */
#include "configure.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

struct configure_command {
	struct common_options common;
	const char *runtime, *config, *host_root, *name, *path, *restart;
	bool set_default, cdi, undo, check, runtime_class;
};

static const struct option_row configure_rows[] = {
	{ .name = "runtime",
	  .kind = OPTION_CHOICE,
	  .argument = "NAME",
	  .choices = "containerd|docker|crio",
	  .help = "the engine to configure (default: the one that the kubelet uses, else the only "
		  "one)",
	  .offset = offsetof(struct configure_command, runtime) },
	{ .name = "config",
	  .kind = OPTION_STRING,
	  .argument = "FILE",
	  .help = "its file, with --runtime: also for an engine that does not run yet",
	  .offset = offsetof(struct configure_command, config) },
	{ .name = "runtime-name",
	  .kind = OPTION_STRING,
	  .argument = "NAME",
	  .help = "name of our runtime there, and handler of its RuntimeClass",
	  .fallback = "nvidia",
	  .offset = offsetof(struct configure_command, name) },
	{ .name = "runtime-path",
	  .kind = OPTION_STRING,
	  .argument = "FILE",
	  .help = "our runtime (default: gpupool-runtime beside this program)",
	  .offset = offsetof(struct configure_command, path) },
	{ .name = "set-as-default",
	  .kind = OPTION_FLAG,
	  .help = "make it the default runtime, too",
	  .offset = offsetof(struct configure_command, set_default) },
	{ .name = "cdi",
	  .kind = OPTION_FLAG,
	  .help = "switch CDI on where it is off",
	  .offset = offsetof(struct configure_command, cdi) },
	{ .name = "restart",
	  .kind = OPTION_CHOICE,
	  .argument = "WHEN",
	  .choices = "auto|always|never",
	  .help = "restart the engine when that is needed; auto: unless running containers end",
	  .fallback = "auto",
	  .offset = offsetof(struct configure_command, restart) },
	{ .name = "dry-run",
	  .kind = OPTION_FLAG,
	  .help = "print what would change, change nothing",
	  .offset = offsetof(struct configure_command, common.dry_run) },
	{ .name = "undo",
	  .kind = OPTION_FLAG,
	  .help = "take back what earlier calls have changed",
	  .offset = offsetof(struct configure_command, undo) },
	{ .name = "check",
	  .kind = OPTION_FLAG,
	  .help = "say what is configured and what a Pod would get; exit 1 when something is wrong",
	  .offset = offsetof(struct configure_command, check) },
	{ .name = "runtime-class",
	  .kind = OPTION_FLAG,
	  .help = "print the RuntimeClass of our runtime, for kubectl apply -f -",
	  .offset = offsetof(struct configure_command, runtime_class) },
	{ .name = "host-root",
	  .kind = OPTION_STRING,
	  .argument = "DIR",
	  .help = "where the root of the host is, for a Pod that has it mounted",
	  .fallback = "/",
	  .offset = offsetof(struct configure_command, host_root) },
	COMMON_ROW_JSON(struct configure_command),
	{ .name = NULL },
};

static const char *name_of(const struct configure_command *command)
{
	return command->name ? command->name : "nvidia";
}

/* gpupool-runtime in the directory of this program, as the host names it. */
static int find_runtime(const struct configure_command *options, char *to, size_t size)
{
	if (options->path) {
		if (snprintf(to, size, "%s", options->path) < (int)size)
			return 0;
		say("the path of the runtime is too long");
		return -EINVAL;
	}
	ssize_t length = readlink("/proc/self/exe", to, size - 1);
	to[length < 0 ? 0 : length] = '\0';
	char *slash = strrchr(to, '/');
	size_t left = slash ? size - (size_t)(slash + 1 - to) : 0;
	if (strcmp(options->host_root ? options->host_root : "/", "/") == 0 && left &&
	    snprintf(slash + 1, left, "gpupool-runtime") < (int)left && access(to, X_OK) == 0)
		return 0;
	say("there is no gpupool-runtime beside this program; say where the host has it with "
	    "--runtime-path");
	return -EINVAL;
}

/* The engine of KIND that runs and reads FILE; *ret stays when there is none. */
static int choose_by_file(const struct engine_list *list, enum engine_kind kind, const char *file,
			  const struct engine **ret, struct error *error)
{
	const struct engine *found = NULL;

	for (size_t i = 0; i < list->count; i++) {
		const struct engine *engine = &list->items[i];

		if (engine->kind != kind || strcmp(engine->config, file) != 0)
			continue;
		if (found)
			return error_set(
				error, EAGAIN,
				"two processes of %s read %s (%d and %d): is one just ending? "
				"Try again when one runs",
				engine_kind_to_string(kind), file, (int)found->pid,
				(int)engine->pid);
		found = engine;
	}
	if (found)
		*ret = found;
	return 0;
}

static int choose(const struct configure_command *options, const struct host *host,
		  struct engine_list *list, struct engine *assumed, const struct engine **ret,
		  struct error *error)
{
	enum engine_kind kind =
		options->runtime ? engine_kind_from_string(options->runtime) : ENGINE_KIND_MAX;
	int r = engines_find(host, list, error);

	if (r < 0 || !options->config)
		return r < 0 ? r : engines_choose(list, kind, ret, error);
	r = choose_by_file(list, kind, options->config, ret, error);
	if (r < 0 || *ret)
		return r;
	r = engine_assume(kind, options->config, assumed, error);
	*ret = assumed;
	return r;
}

void configure_print_engine(const struct engine *engine)
{
	print_text(stdout, "engine: %s%s%s%s%s%s%s\n", engine_kind_to_string(engine->kind),
		   engine->version && *engine->version ? " " : "",
		   engine->version ? engine->version : "", engine->distribution[0] ? " of " : "",
		   engine->distribution, engine->of_kubelet ? ", used by the kubelet" : "",
		   engine->pid ? "" : ", which does not run here");
	print_text(stdout, "file: %s\n", engine->config);
}

static void say_notes(const struct string_list *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		say("note: %s", notes->items[i]);
}

static const char *restart_text(const struct configure_plan *plan)
{
	switch (plan->restart) {
	case CONFIGURE_RELOAD:
		return "reload";
	case CONFIGURE_RESTART:
		return plan->ends_containers ? "restart, which ends running containers" : "restart";
	case CONFIGURE_NO_RESTART:
	default:
		return "none";
	}
}

static int print_plan(const struct engine *engine, const struct configure_plan *plan)
{
	autostrbuf text = STRBUF_INIT(64 << 20);
	struct error error = ERROR_INIT;

	if (configure_plan_diff(plan, &text) < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	text_make_visible(text.data, true);
	fputs(text.data, stdout);
	printf("restart: %s\n", engine->pid || plan->restart == CONFIGURE_NO_RESTART
					? restart_text(plan)
					: "none, since it does not run");
	return EXIT_DONE;
}

int configure_engine_json(const struct engine *engine, struct json_object *root)
{
	if (json_add_string(root, "engine", engine_kind_to_string(engine->kind)) < 0 ||
	    json_add_string(root, "version", engine->version) < 0 ||
	    json_add_string(root, "distribution", engine->distribution) < 0 ||
	    json_add_string(root, "config", engine->config) < 0 ||
	    json_add_bool(root, "runs", engine->pid > 0) < 0)
		return -ENOMEM;
	return json_add_bool(root, "usedByKubelet", engine->of_kubelet);
}

static const char *const restart_names[] = {
	[CONFIGURE_NO_RESTART] = "none",
	[CONFIGURE_RELOAD] = "reload",
	[CONFIGURE_RESTART] = "restart",
};

static struct json_object *change_object(const struct file_change *change)
{
	struct json_object *object = json_object_new_object();

	if (!object || json_add_string(object, "path", change->path) < 0 ||
	    json_add_string(object, "before", change->before) < 0 ||
	    json_add_string(object, "after", change->after) < 0) {
		json_object_put(object);
		return NULL;
	}
	return object;
}

static int plan_json(const struct engine *engine, const struct configure_plan *plan,
		     struct json_object *root)
{
	struct json_object *changes = json_object_new_array(), *notes = json_object_new_array();
	int r = configure_engine_json(engine, root);

	for (size_t i = 0; r == 0 && i < plan->count; i++)
		r = json_append(changes, change_object(&plan->changes[i]));
	for (size_t i = 0; r == 0 && i < plan->notes.count; i++)
		r = json_append_string(notes, plan->notes.items[i]);
	if (r == 0)
		r = json_add_string(root, "restart", restart_names[plan->restart]);
	if (r == 0)
		r = json_add_bool(root, "endsContainers",
				  plan->restart == CONFIGURE_RESTART && plan->ends_containers);
	if (r < 0) {
		json_object_put(changes);
		json_object_put(notes);
		return r;
	}
	r = json_add(root, "changes", changes);
	return json_add(root, "notes", notes) < 0 ? -ENOMEM : r;
}

static int print_plan_json(const struct engine *engine, const struct configure_plan *plan)
{
	autojson *root = json_object_new_object();
	struct error error = ERROR_INIT;

	if (!root || plan_json(engine, plan, root) < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	return print_json(root);
}

static int do_it(const struct configure_command *command, const struct host *host,
		 const struct engine *engine, const struct configure_options *options,
		 const struct configure_plan *plan)
{
	cleanup(string_list_release) struct string_list notes = { .items = NULL };
	struct error error = ERROR_INIT;
	int r = configure_apply(host, engine, options, plan, &notes, &error);

	say_notes(&notes);
	if (r == -EAGAIN)
		return fail(EXIT_WAITING, &error);
	if (r < 0)
		return fail(r == -EACCES || r == -EPERM || r == -EROFS ? EXIT_RIGHTS : EXIT_FAILED,
			    &error);
	if (!command->common.json)
		printf("%s\n",
		       plan->count ? command->undo ? "taken back" : "done" : "nothing to change");
	return EXIT_DONE;
}

/* A machine may be prepared before gpupool is installed there, and a path may be misspelt. */
static int note_missing(const struct host *host, const char *path, struct string_list *notes)
{
	if (host_exists(host, path))
		return 0;
	return string_list_addf(
		notes, "%s is not there; until it is, no container of this runtime starts", path);
}

static int work(const struct configure_command *command, const struct host *host,
		const struct engine *engine)
{
	cleanup(configure_plan_release) struct configure_plan plan = { .changes = NULL };
	char path[PATH_MAX] = "";
	struct runtime_entry entry = { name_of(command), path };
	struct configure_options options = {
		.wish = { .entries = &entry,
			  .count = 1,
			  .set_default = command->set_default,
			  .cdi = command->cdi },
		.restart = restart_choice_from_string(command->restart ? command->restart : "auto"),
	};
	struct error error = ERROR_INIT;

	if (!command->undo && find_runtime(command, path, sizeof(path)) < 0)
		return EXIT_USAGE;
	int r = command->undo ? configure_plan_undo(host, engine, &options, &plan, &error)
			      : configure_plan_make(host, engine, &options, &plan, &error);
	if (r == -EACCES || r == -EPERM)
		return fail(EXIT_RIGHTS, &error);
	if (r < 0)
		return fail(EXIT_FAILED, &error);
	if (!command->undo && note_missing(host, path, &plan.notes) < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	say_notes(&plan.notes);
	if (!command->common.json)
		configure_print_engine(engine);
	int code =
		command->common.json ? print_plan_json(engine, &plan) : print_plan(engine, &plan);
	return code != EXIT_DONE || command->common.dry_run
		       ? code
		       : do_it(command, host, engine, &options, &plan);
}

/* A label of DNS, as Kubernetes wants a RuntimeClass's handler (pkg/apis/node/validation). */
static bool is_handler(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && length <= 63 && name[0] != '-' && name[length - 1] != '-' &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

/* 0, or EXIT_USAGE after a sentence. */
static int check_options(const struct configure_command *command)
{
	if (command->check && (command->undo || command->common.dry_run)) {
		say("--check changes nothing and takes no --undo or --dry-run beside it");
		return EXIT_USAGE;
	}
	if (command->config && (!command->runtime || command->config[0] != '/')) {
		say("--config wants an absolute path, and --runtime beside it");
		return EXIT_USAGE;
	}
	if (command->path && command->path[0] != '/') {
		say("--runtime-path wants an absolute path, not '%s'", command->path);
		return EXIT_USAGE;
	}
	if (command->runtime_class && !is_handler(name_of(command))) {
		say("'%s' can be no handler of a RuntimeClass: use small letters, digits and '-'",
		    name_of(command));
		return EXIT_USAGE;
	}
	return 0;
}

static int print_runtime_class(const char *name)
{
	print_text(stdout,
		   "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata:\n  name: %s\n"
		   "handler: %s\n",
		   name, name);
	return EXIT_DONE;
}

static int fail_choice(int r, const struct error *error)
{
	if (r == -ENOENT || r == -EACCES)
		return fail(EXIT_RIGHTS, error);
	if (r == -EAGAIN)
		return fail(EXIT_WAITING, error);
	return fail(r == -EEXIST ? EXIT_USAGE : EXIT_FAILED, error);
}

static int configure_run(void *data, int argc, char **argv)
{
	const struct configure_command *command = data;
	struct host host = { .root = command->host_root ? command->host_root : "/" };
	cleanup(engine_list_release) struct engine_list list = { .items = NULL };
	cleanup(engine_release) struct engine assumed = { .pid = 0 };
	const struct engine *chosen = NULL;
	struct error error = ERROR_INIT;

	(void)argc;
	(void)argv;
	if (check_options(command) != 0)
		return EXIT_USAGE;
	if (command->runtime_class)
		return print_runtime_class(name_of(command));
	int r = choose(command, &host, &list, &assumed, &chosen, &error);
	if (r < 0)
		return fail_choice(r, &error);
	/* The list is ours: its items may be told more. */
	for (size_t i = 0; i < list.count; i++)
		if (&list.items[i] == chosen && engine_ask_version(&host, &list.items[i]) < 0) {
			error_no_memory(&error);
			return fail(EXIT_FAILED, &error);
		}
	return command->check
		       ? configure_check(&host, chosen, name_of(command), command->common.json)
		       : work(command, &host, chosen);
}

const struct command command_configure = {
	.name = "configure",
	.summary = "tell containerd, Docker or CRI-O of gpupool-runtime, or take it back",
	.operands = "",
	.description =
		"Finds the engine that the kubelet really uses, from the processes that run and "
		"the "
		"socket that they serve; k3s, RKE2, k0s and MicroK8s have files of their own, "
		"which are "
		"known. Prints what changes and nothing else changes: comments, unknown keys and "
		"their "
		"order stay. The files as they were are kept, the engine's own program is asked "
		"whether "
		"it understands the result, and the engine is restarted once, if it must be. When "
		"it "
		"does not come back, all is as before.\n"
		"\n"
		"A second call changes nothing. Exit code 3: no engine was found, or a right is "
		"missing.",
	.examples = "sudo gpupool configure --dry-run\nsudo gpupool configure --runtime docker "
		    "--set-as-default\nsudo gpupool configure --undo",
	.options = configure_rows,
	.run = configure_run,
	.size = sizeof(struct configure_command),
};

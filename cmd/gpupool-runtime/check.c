/* SPDX-License-Identifier: Apache-2.0 */
/* --check: the runtime that would be used, the kernel, the cards, the configuration. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "runtime.h"

enum { VERSION_BYTES_MAX = 4096, PATIENCE_MS = 5000 };

struct findings {
	struct string_list lines, warnings;
	bool broken;
};

static int line(struct string_list *list, struct error *error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int line(struct string_list *list, struct error *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int r = string_list_addv(list, format, arguments);
	va_end(arguments);
	return r < 0 ? error_no_memory(error) : 0;
}

static int start_version(const char *path, int output, pid_t *ret)
{
	char *const argv[] = { (char *)(uintptr_t)path, (char *)(uintptr_t) "--version", NULL };
	posix_spawn_file_actions_t actions;
	int r = posix_spawn_file_actions_init(&actions);

	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn(ret, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* All that comes before the end, or before patience ends. */
static void read_output(int fd, struct strbuf *out)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	char bytes[512];
	ssize_t got;

	while (poll(&ready, 1, PATIENCE_MS) > 0 && (got = read(fd, bytes, sizeof(bytes))) > 0)
		strbuf_add(out, bytes, (size_t)got);
}

static int ask_version(const char *path, struct runtime_version *ret, struct error *error)
{
	autostrbuf output = STRBUF_INIT(VERSION_BYTES_MAX);
	int pipes[2];
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return error_set_errno(error, errno, "cannot make a pipe");
	autoclose int reader = pipes[0], writer = pipes[1];
	int r = start_version(path, writer, &pid);
	if (r < 0)
		return error_set_errno(error, -r, "cannot run %s", path);
	close(TAKE_FD(writer));
	read_output(reader, &output);
	kill(pid, SIGKILL); /* what has answered is gone or of no more use */
	waitpid(pid, NULL, 0);
	r = runtime_version_parse(output.data, ret, error);
	return r < 0 ? error_wrap(error, "%s", path) : 0;
}

static int check_runtime(const struct toolkit_config *config, struct findings *findings,
			 struct error *error)
{
	autofree char *path = NULL;
	struct runtime_version version;
	enum version_verdict verdict;

	int r = handover_find(config, &path, error);
	if (r == 0)
		r = ask_version(path, &version, error);
	if (r == 0)
		r = line(&findings->lines, error, "runtime: %s, %s %s", path, version.name,
			 version.text);
	if (r == 0)
		r = runtime_version_judge(&version, &verdict, &findings->warnings, error);
	if (r == 0 && verdict == VERSION_UNSAFE)
		findings->broken = true;
	return r;
}

static int check_kernel(struct findings *findings, struct error *error)
{
	struct utsname names;

	if (uname(&names) < 0)
		return error_set_errno(error, errno, "cannot read the kernel's release");
	int r = line(&findings->lines, error, "kernel: Linux %s", names.release);
	return r < 0 ? r : kernel_release_judge(names.release, &findings->warnings, error);
}

static int check_cards(const struct toolkit_config *config, struct findings *findings,
		       struct error *error)
{
	cleanup(inventory_release) struct inventory inventory;

	inventory_init(&inventory);
	int r = cards_find(config, &inventory, &findings->warnings, error);
	if (r < 0)
		return r;
	if (!inventory.problem[0])
		return line(&findings->lines, error, "cards: %zu, driver %s in %s, by %s",
			    inventory.card_count, inventory.driver_version, inventory.driver_root,
			    inventory.kernel_only ? "the kernel" : "the inventory file");
	findings->broken = true;
	return line(&findings->lines, error, "cards: none; %s", inventory.problem);
}

static int check_policy(const struct toolkit_config *config, struct findings *findings,
			struct error *error)
{
	autostrbuf files = STRBUF_INIT(ERROR_MESSAGE_MAX);

	config_files(&files);
	int r = line(&findings->lines, error, "configuration: %s",
		     files.length ? files.data : "no file; the defaults hold");
	if (r < 0)
		return r;
	r = line(&findings->lines, error,
		 "requests: CDI annotations count; the volume list %s; the environment %s "
		 "outside Kubernetes and %s in it",
		 config->accept_volume_list ? "counts" : "does not",
		 config->accept_env_unprivileged ? "counts"
						 : "counts in privileged containers only",
		 config->accept_env_in_kubernetes ? "also counts" : "does not count");

	if (r == 0 && config->mode == TOOLKIT_CSV) {
		findings->broken = true;
		r = line(&findings->warnings, error,
			 "mode = \"csv\" is for Tegra boards: no container gets a card here");
	}
	for (size_t i = 0; r == 0 && i < config->notes.count; i++)
		r = line(&findings->warnings, error, "%s", config->notes.items[i]);
	return r;
}

static void print_findings(const struct findings *findings)
{
	for (size_t i = 0; i < findings->lines.count; i++)
		printf("%s\n", findings->lines.items[i]);
	for (size_t i = 0; i < findings->warnings.count; i++)
		printf("warning: %s\n", findings->warnings.items[i]);
}

int check(void)
{
	cleanup(toolkit_config_release) struct toolkit_config config = { 0 };
	struct findings findings = { .broken = false };
	struct error error = ERROR_INIT;

	int r = config_read(&config, &error);
	if (r == 0)
		r = check_runtime(&config, &findings, &error);
	if (r == 0)
		r = check_kernel(&findings, &error);
	if (r == 0)
		r = check_policy(&config, &findings, &error);
	if (r == 0)
		r = check_cards(&config, &findings, &error);
	print_findings(&findings);
	if (r < 0)
		fprintf(stderr, "gpupool-runtime: %s\n", error.message);
	string_list_release(&findings.lines);
	string_list_release(&findings.warnings);
	if (fflush(stdout) < 0 || r < 0)
		return EXIT_FAILED;
	return findings.broken ? EXIT_FAILED : EXIT_DONE;
}

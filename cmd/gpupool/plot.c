/* SPDX-License-Identifier: Apache-2.0 */
#include "plot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#define SCRIPT_MAX  (1u << 20)
#define PICTURE_MAX (64u << 20)
#define MESSAGE_MAX 400 /* of gnuplot's words */

const char plot_palette[] = "defined (0 '#440154', 1 '#472d7b', 2 '#3b528b', 3 '#2c728e', "
			    "4 '#21918c', 5 '#28ae80', 6 '#5ec962', 7 '#addc30', 8 '#fde725')";

const char *plot_colour(size_t number)
{
	static const char *const colours[PLOT_COLOURS] = { "#0072b2", "#d55e00", "#009e73",
							   "#cc79a7", "#e69f00", "#56b4e9",
							   "#000000" };

	return colours[number % PLOT_COLOURS];
}

/* Nothing is special between single quotes but the quote itself. */
void plot_quote(struct strbuf *script, const char *text)
{
	strbuf_addc(script, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			strbuf_addc(script, '\'');
		strbuf_addc(script, (unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text);
	}
	strbuf_addc(script, '\'');
}

void plot_field(struct strbuf *table, const char *text)
{
	if (!strpbrk(text, ",\"\n\r")) {
		strbuf_adds(table, text);
		return;
	}
	strbuf_addc(table, '"');
	for (; *text; text++) {
		if (*text == '"')
			strbuf_addc(table, '"');
		strbuf_addc(table, *text);
	}
	strbuf_addc(table, '"');
}

static int write_text(const struct plot *plot, const char *ending, const struct strbuf *text,
		      struct error *error)
{
	autostrbuf path = STRBUF_INIT(4096);

	strbuf_addf(&path, "%s/%s.%s", plot->directory, plot->name, ending);
	if (strbuf_failed(text) == -ENOMEM || strbuf_failed(&path) == -ENOMEM)
		return error_no_memory(error);
	if (strbuf_failed(text) < 0 || strbuf_failed(&path) < 0)
		return error_set(error, ENAMETOOLONG, "the plot %s is too large; draw less",
				 plot->name);
	return file_write_atomic(path.data, text->data, text->length, 0644, error);
}

static int write_script(const struct plot *plot, struct error *error)
{
	autostrbuf script = STRBUF_INIT(SCRIPT_MAX);

	strbuf_addf(
		&script,
		"# gnuplot %s.gnuplot\n"
		"set datafile separator ','\n"
		"do for [kind in 'svg png'] {\n"
		"if (kind eq 'svg') {\n"
		"set terminal svg noenhanced size %u,%u font 'sans-serif,13' background 'white'\n"
		"} else {\n"
		"set terminal pngcairo noenhanced size %u,%u font 'sans,11' background 'white'\n"
		"}\n"
		"set output '%s.'.kind\n",
		plot->name, plot->width, plot->height, plot->width, plot->height, plot->name);
	strbuf_add(&script, plot->panels->data, plot->panels->length);
	strbuf_adds(&script, "unset output\n}\n");
	return write_text(plot, "gnuplot", strbuf_failed(plot->panels) < 0 ? plot->panels : &script,
			  error);
}

/* The whole output is read, so that the program never waits; its beginning is kept. */
static void read_words(int fd, char ret[static MESSAGE_MAX])
{
	size_t length = 0;
	char bytes[512];
	ssize_t got;

	while ((got = read(fd, bytes, sizeof(bytes))) > 0 || (got < 0 && errno == EINTR))
		for (ssize_t i = 0; i < got && length < MESSAGE_MAX - 1; i++)
			if (length || (bytes[i] != '\n' && bytes[i] != ' '))
				ret[length++] = bytes[i] == '\n' ? ' ' : bytes[i];
	while (length && ret[length - 1] == ' ')
		length--;
	ret[length] = '\0';
}

static int fail_spawn(int number, struct error *error)
{
	if (number == ENOENT)
		return error_set(error, ENOENT,
				 "plots are drawn by gnuplot, which is not in PATH; install it "
				 "(Debian: apt-get install gnuplot-nox)");
	return error_set_errno(error, number, "cannot start gnuplot");
}

/* Its words go to PIPE. -d: no settings of the user's. */
static int start_gnuplot(const struct plot *plot, int pipe, pid_t *ret_pid, struct error *error)
{
	char name[256], command[] = "gnuplot", defaults[] = "-d";
	char *const arguments[] = { command, defaults, name, NULL };
	posix_spawn_file_actions_t actions;

	snprintf(name, sizeof(name), "%s.gnuplot", plot->name);
	int r = posix_spawn_file_actions_init(&actions);
	if (r != 0)
		return fail_spawn(r, error);
	r = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, pipe, 1);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, pipe, 2);
	if (r == 0)
		r = posix_spawn_file_actions_addchdir_np(&actions, plot->directory);
	if (r == 0)
		r = posix_spawnp(ret_pid, command, &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	return r ? fail_spawn(r, error) : 0;
}

static int run_gnuplot(const struct plot *plot, struct error *error)
{
	char words[MESSAGE_MAX];
	pid_t pid = 0;
	int pipes[2], status = 0;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return error_set_errno(error, errno, "cannot make a pipe");
	int r = start_gnuplot(plot, pipes[1], &pid, error);
	close(pipes[1]);
	if (r == 0)
		read_words(pipes[0], words);
	close(pipes[0]);
	if (r < 0)
		return r;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status != 0)
		return error_set(error, EIO, "gnuplot cannot draw %s/%s.gnuplot: %s",
				 plot->directory, plot->name, words[0] ? words : "it says nothing");
	return 0;
}

/* A browser blurs a picture of few points; gnuplot has no word against it. */
static int sharpen_images(const struct plot *plot, struct error *error)
{
	static const char image[] = "<image ";
	autostrbuf path = STRBUF_INIT(4096), sharp = STRBUF_INIT(PICTURE_MAX * 2);
	autofree char *text = NULL;
	size_t length;

	strbuf_addf(&path, "%s/%s.svg", plot->directory, plot->name);
	int r = file_read(path.data, PICTURE_MAX, &text, &length, error);
	if (r < 0 || !strstr(text, image))
		return r;
	const char *from = text;
	for (const char *at; (at = strstr(from, image)); from = at + strlen(image)) {
		strbuf_add(&sharp, from, (size_t)(at - from));
		strbuf_adds(&sharp, "<image style='image-rendering:pixelated' ");
	}
	strbuf_adds(&sharp, from);
	return write_text(plot, "svg", &sharp, error);
}

int plot_draw(const struct plot *plot, struct error *error)
{
	int r = file_make_directories(plot->directory, 0755, error);

	if (r == 0)
		r = write_text(plot, "csv", plot->table, error);
	if (r == 0)
		r = write_script(plot, error);
	if (r == 0)
		r = run_gnuplot(plot, error);
	return r < 0 ? r : sharpen_images(plot, error);
}

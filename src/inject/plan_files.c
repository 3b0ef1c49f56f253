/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the driver's files go in the container. Each library is mounted at its SONAME into a
 * directory that the container's loader searches without any cache, so nothing has to run there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "inject/driver_table.h"
#include "inject/plan.h"

#define FILE_OPTIONS   "ro,nosuid,nodev,rbind,rprivate"
#define SOCKET_OPTIONS "nosuid,nodev,rbind,rprivate,noexec"

/* In front of everything in images derived from nvidia/cuda, whose LD_LIBRARY_PATH names it. */
#define CUDA_DIRECTORY "/usr/local/nvidia/lib64"
#define HOST_PROGRAMS  PATH_HOST_DRIVER "/bin"
#define HOST_LIBRARIES PATH_HOST_DRIVER "/lib64"
#define HOST_32        PATH_HOST_DRIVER "/lib32"
#define DEFAULT_PATH   "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

enum { DIRECTORIES_MAX = 4 };

struct targets {
	const char *libraries[DIRECTORIES_MAX];
	size_t library_count;
	const char *common;   /* compute and utility libraries are here too; NULL: nowhere */
	const char *narrow;   /* 32-bit libraries; NULL: none */
	const char *programs; /* NULL: none */
	bool cuda;            /* CUDA_DIRECTORY too */
	bool everything;      /* firmware, config files, library sub-directories */
	bool make;            /* the caller makes the mount points */
};

static bool on_host(const struct builder *builder)
{
	return builder->injection->target == INJECT_HOST;
}

static bool same_file(const char *left, const char *right)
{
	struct stat a, b;

	if (strcmp(left, right) == 0)
		return true;
	return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* PATH, at or below PLACE, is the container's own: the very file, or one that hides ours. */
static int add_covered(struct builder *builder, const char *path, const char *place,
		       const struct driver_file *file)
{
	autostrbuf host = STRBUF_INIT(ROOT_PATH_MAX);
	int r = guard_host_path(&builder->guard, path, &host);

	if (r == -ENOMEM)
		return error_no_memory(builder->error);
	if (r > 0 && same_file(host.data, file->source)) {
		builder->placed++;
		return 0;
	}
	builder->covered += r == 2;
	return builder_note(builder,
			    "%s is not mounted: the container has a volume or no "
			    "usable path at %s.",
			    path, place);
}

/* Mounts SOURCE at PATH unless a volume of the container lies there. */
static int add_mount(struct builder *builder, const struct targets *targets, const char *path,
		     const struct driver_file *file, const char *options, const char *reason)
{
	autostrbuf real = STRBUF_INIT(ROOT_PATH_MAX);
	const char *place = NULL;
	char *name = NULL;
	int r = on_host(builder)
			? guard_covers(&builder->guard, path, &place)
			: guard_mount_point(&builder->guard, path, file->directory, &real, &place);

	if (r < 0)
		return error_no_memory(builder->error);
	if (r > 0)
		return add_covered(builder, path, place, file);
	builder->placed++;
	name = strdup(real.length ? real.data : path);
	if (!name)
		return error_no_memory(builder->error);
	struct edit edit = { .kind = EDIT_MOUNT,
			     .name = name,
			     .source = file->source,
			     .options = options,
			     .make_target = targets && targets->make };
	r = builder_add(builder, &edit, "%s", reason);
	free(name);
	return r;
}

static int add_mount_in(struct builder *builder, const struct targets *targets,
			const char *directory, const char *name, const struct driver_file *file,
			const char *reason)
{
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);

	strbuf_addf(&path, "%s/%s", directory, name);
	if (strbuf_failed(&path) < 0)
		return error_no_memory(builder->error);
	return add_mount(builder, targets, path.data, file, FILE_OPTIONS, reason);
}

static bool is_wanted(const struct builder *builder, const struct driver_file *file)
{
	unsigned capabilities = builder->injection->capabilities;

	if (file->bits == 32 && !(capabilities & CAPABILITY_COMPAT32))
		return false;
	if (file->gated && !(file->gated & builder->injection->gated))
		return false;
	return !file->capabilities || (file->capabilities & capabilities);
}

static int describe_file(const struct builder *builder, const struct driver_file *file,
			 struct strbuf *out)
{
	static const char *const kinds[DRIVER_FILE_KIND_MAX] = {
		[DRIVER_LIBRARY] = "library",
		[DRIVER_BINARY] = "program",
		[DRIVER_FIRMWARE] = "GSP firmware",
		[DRIVER_CONFIG] = "configuration",
		[DRIVER_MODULE] = "module of the X server",
		[DRIVER_SOCKET] = "socket of the driver's daemon",
	};
	unsigned reasons = file->capabilities & builder->injection->capabilities;

	if (file->bits == 32)
		strbuf_adds(out, "32-bit ");
	strbuf_adds(out, kinds[file->kind]);
	if (reasons) {
		strbuf_adds(out, " for ");
		capabilities_describe(reasons, out);
	}
	return strbuf_failed(out);
}

static int add_wide(struct builder *builder, const struct targets *targets,
		    const struct driver_file *file, const char *name, const char *reason)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < targets->library_count; i++)
		r = add_mount_in(builder, targets, targets->libraries[i], name, file, reason);
	if (r == 0 && targets->common &&
	    (file->capabilities & (CAPABILITY_COMPUTE | CAPABILITY_UTILITY)))
		r = add_mount_in(builder, targets, targets->common, name, file, reason);
	if (r < 0 || !targets->cuda || !file->cuda_search || name != file->names.items[0])
		return r;
	autostrbuf text = STRBUF_INIT(ERROR_MESSAGE_MAX);
	strbuf_addf(&text, "%s, where CUDA images look first", reason);
	if (strbuf_failed(&text) < 0)
		return error_no_memory(builder->error);
	return add_mount_in(builder, targets, CUDA_DIRECTORY, name, file, text.data);
}

static int add_library(struct builder *builder, const struct targets *targets,
		       const struct driver_file *file, const char *reason)
{
	for (size_t i = 0; i < file->names.count; i++) {
		const char *name = file->names.items[i];
		int r = 0;

		builder->placed = builder->covered = 0;
		if (strchr(name, '/') && !targets->everything)
			continue;
		if (file->bits == 64)
			r = add_wide(builder, targets, file, name, reason);
		else if (targets->narrow)
			r = add_mount_in(builder, targets, targets->narrow, name, file, reason);
		/* A program would load the file of the container's own in its place. */
		if (r == 0 && file->cuda_search && file->bits == 64 && i == 0 && !builder->placed &&
		    builder->covered)
			return builder_refuse(builder, REASON_BAD_MOUNT,
					      "every place where the driver's %s could be mounted",
					      name);
		if (r < 0)
			return r;
	}
	return 0;
}

/* 1 when PATH exists in the container's root, 0 when not, -errno when that cannot be known. */
static int exists(const struct builder *builder, const char *path)
{
	struct stat status;
	int r = root_stat(builder->injection->root_fd, path, &status);

	/* What could not be looked at for want of something is not absent. */
	if (r == -ENOMEM || r == -EMFILE || r == -ENFILE || r == -EIO || r == -EAGAIN)
		return error_set_errno(builder->error, -r, "cannot look at %s of the image", path);
	return r == 0;
}

/* With this machine's root only what exists there can be a mount point. */
static int add_host_socket(struct builder *builder, const struct driver_file *file,
			   const char *reason)
{
	const char *target = file->names.items[0];
	autostrbuf real = STRBUF_INIT(ROOT_PATH_MAX);
	int root = builder->injection->root_fd;
	int r = root < 0 ? 0 : exists(builder, target);

	if (r < 0)
		return r;
	if (r == 0)
		return builder_note(
			builder,
			"%s is not mounted: this machine has no %s to mount it "
			"on. Start that daemon of the driver on this machine too, or make an "
			"empty mount point there.",
			file->source, target);
	r = root_resolve(root, target, &real);
	if (r < 0)
		return error_set_errno(builder->error, -r, "cannot follow %s", target);
	if (strcmp(real.data, file->source) == 0) /* the root is this machine's: it is there */
		return 0;
	return add_mount(builder, NULL, target, file, SOCKET_OPTIONS, reason);
}

/* Where the image's X server looks, which its C library's directory tells; in all places otherwise. */
static int add_module(struct builder *builder, const struct targets *targets,
		      const struct driver_file *file, const char *reason)
{
	const char *libraries = targets->library_count ? targets->libraries[0] : "";
	bool wide = strcmp(libraries, "/usr/lib64") == 0 || strcmp(libraries, "/lib64") == 0;
	int r = 0;

	for (size_t i = 0; r == 0 && targets->everything && i < file->names.count; i++)
		if (builder->injection->root_fd < 0 || wide == (i > 0))
			r = add_mount(builder, NULL, file->names.items[i], file, FILE_OPTIONS,
				      reason);
	return r;
}

static int add_file(struct builder *builder, const struct targets *targets,
		    const struct driver_file *file)
{
	autostrbuf reason = STRBUF_INIT(ERROR_MESSAGE_MAX);

	if (describe_file(builder, file, &reason) < 0)
		return error_no_memory(builder->error);
	switch (file->kind) {
	case DRIVER_LIBRARY:
		return add_library(builder, targets, file, reason.data);
	case DRIVER_BINARY:
		return targets->programs ? add_mount_in(builder, targets, targets->programs,
							file->names.items[0], file, reason.data)
					 : 0;
	case DRIVER_SOCKET:
		return on_host(builder) ? add_host_socket(builder, file, reason.data)
					: add_mount(builder, NULL, file->names.items[0], file,
						    SOCKET_OPTIONS, reason.data);
	case DRIVER_MODULE:
		return add_module(builder, targets, file, reason.data);
	case DRIVER_FIRMWARE:
	case DRIVER_CONFIG:
		return targets->everything ? add_mount(builder, NULL, file->names.items[0], file,
						       FILE_OPTIONS, reason.data)
					   : 0;
	case DRIVER_FILE_KIND_MAX:
		break;
	}
	return 0;
}

static int has_libc(const struct builder *builder, const char *directory)
{
	autostrbuf path = STRBUF_INIT(ROOT_PATH_MAX);

	strbuf_addf(&path, "%s/libc.so.6", directory);
	if (strbuf_failed(&path) < 0)
		return error_no_memory(builder->error);
	return exists(builder, path.data);
}

/*
 * The first directory of LIST that has a C library and is not inside a volume. *ret stays NULL
 * when there is none; *ret_place is the volume that was met.
 */
static int find_loader_directory(struct builder *builder, const char *const *list, const char **ret,
				 const char **ret_place)
{
	for (size_t i = 0; list[i]; i++) {
		int r = has_libc(builder, list[i]);

		if (r < 0)
			return r;
		if (r == 0)
			continue;
		r = guard_covers(&builder->guard, list[i], ret_place);
		if (r < 0)
			return error_no_memory(builder->error);
		if (r == 0) {
			*ret = list[i];
			return 0;
		}
	}
	return 0;
}

/* Nothing to load NVIDIA's libraries with: devices only, and one sentence. */
static int note_no_libc(struct builder *builder)
{
	int r = exists(builder, LOADER_MUSL);

	if (r < 0)
		return r;
	if (r > 0)
		return builder_note(builder,
				    "musl image: NVIDIA's libraries need glibc, so the container "
				    "gets device nodes only. Use a glibc image.");
	return builder_note(
		builder, "image without a C library (libc.so.6): the container gets device nodes "
			 "only. Use a glibc image for programs that load the driver.");
}

static int image_targets(struct builder *builder, struct targets *targets)
{
	const char *wide = NULL, *place = NULL;
	int r;

	*targets = (struct targets){ .programs = "/usr/bin", .cuda = true, .everything = true };
	if (builder->injection->root_fd < 0) {
		for (size_t i = 0; static_directories[i] && i < DIRECTORIES_MAX; i++)
			targets->libraries[targets->library_count++] = static_directories[i];
		targets->common = STATIC_COMMON;
		targets->narrow = loader_directories_32[0];
		return 0;
	}
	r = find_loader_directory(builder, loader_directories, &wide, &place);
	if (r < 0)
		return r;
	if (!wide && place)
		return builder_refuse(builder, REASON_BAD_MOUNT,
				      "%.200s, where the driver's libraries must be mounted",
				      place);
	if (!wide)
		return note_no_libc(builder);
	targets->libraries[targets->library_count++] = wide;
	if (!(builder->injection->capabilities & CAPABILITY_COMPAT32))
		return 0;
	r = find_loader_directory(builder, loader_directories_32, &targets->narrow, &place);
	if (r == 0 && targets->narrow && strcmp(targets->narrow, wide) == 0)
		targets->narrow = NULL;
	/* "all" includes it without meaning it. */
	if (r == 0 && !targets->narrow && builder->injection->capabilities != CAPABILITY_ALL)
		return builder_note(builder, "compat32: the image has no 32-bit C library, so no "
					     "32-bit library of the driver is mounted.");
	return r;
}

static int add_variable(struct builder *builder, const char *name, const char *value,
			bool only_if_unset, const char *reason)
{
	autofree char *own_name = strdup(name);
	autofree char *own_value = strdup(value);
	struct edit edit = { .kind = EDIT_ENV,
			     .name = own_name,
			     .source = own_value,
			     .only_if_unset = only_if_unset };

	if (!own_name || !own_value)
		return error_no_memory(builder->error);
	return builder_add(builder, &edit, "%s", reason);
}

/* DIRECTORY in front of the list in NAME, or of FALLBACK. */
static int add_prefix(struct builder *builder, const char *name, const char *directory,
		      const char *fallback, const char *reason)
{
	autostrbuf value = STRBUF_INIT(oci_limits.bytes);
	const char *old =
		builder->injection->spec ? oci_spec_env(builder->injection->spec, name) : NULL;

	if (!old || !*old)
		old = fallback;
	/* An empty part would be the working directory. */
	strbuf_addf(&value, "%s%s%s", directory, *old ? ":" : "", old);
	if (strbuf_failed(&value) < 0)
		return error_no_memory(builder->error);
	return add_variable(builder, name, value.data, false, reason);
}

/* Triton asks `ldconfig -p`, which knows nothing of mounted libraries, unless this is set. */
static int add_triton(struct builder *builder, const char *directory)
{
	if (!(builder->injection->capabilities & CAPABILITY_COMPUTE))
		return 0;
	return add_variable(builder, "TRITON_LIBCUDA_PATH", directory, true,
			    "Triton finds libcuda.so here, which no loader cache lists");
}

static int add_host_environment(struct builder *builder, const struct targets *targets)
{
	int r = add_prefix(builder, "PATH", HOST_PROGRAMS, DEFAULT_PATH,
			   "the driver's programs are mounted here");

	if (r == 0)
		r = add_prefix(builder, "LD_LIBRARY_PATH",
			       targets->narrow ? HOST_LIBRARIES ":" HOST_32 : HOST_LIBRARIES, "",
			       "the driver's libraries are mounted here");
	return r;
}

/* A driver that is there and not for this capability is worth a word before the program fails. */
static int note_missing(struct builder *builder)
{
	static const struct {
		unsigned capability;
		const char *name, *effect;
	} rows[] = {
		{ CAPABILITY_COMPUTE, "libcuda.so.1", "CUDA programs will not start" },
		{ CAPABILITY_UTILITY, "libnvidia-ml.so.1", "nvidia-smi will not start" },
	};
	const struct driver_files *files = builder->injection->files;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool found = !(builder->injection->capabilities & rows[i].capability);

		for (size_t j = 0; !found && j < files->count; j++)
			found = files->items[j].kind == DRIVER_LIBRARY &&
				files->items[j].bits == 64 &&
				strcmp(files->items[j].names.items[0], rows[i].name) == 0;
		if (!found && builder_note(builder,
					   "driver root %s has no usable %s: %s. Install the "
					   "driver's package that has it.",
					   files->root, rows[i].name, rows[i].effect) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int copy_notes(struct builder *builder)
{
	const struct string_list *notes = &builder->injection->files->notes;

	for (size_t i = 0; i < notes->count; i++) {
		int r = builder_note(builder, "%s.", notes->items[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

/* 1 when the container gets files at all. */
static int find_targets(struct builder *builder, struct targets *targets)
{
	const struct injection *injection = builder->injection;

	*targets = (struct targets){ 0 };
	if (!on_host(builder)) {
		int r = image_targets(builder, targets);

		return r < 0 ? r : targets->library_count > 0;
	}
	if (strcmp(injection->files->root, "/") == 0) /* the driver's files are where they belong */
		return 1;
	*targets = (struct targets){ .libraries = { HOST_LIBRARIES },
				     .library_count = 1,
				     .programs = HOST_PROGRAMS,
				     .make = true };
	if (injection->capabilities & CAPABILITY_COMPAT32)
		targets->narrow = HOST_32;
	return 1;
}

static int add_environment(struct builder *builder, const struct targets *targets)
{
	int r = 0;

	if (!targets->library_count)
		return 0;
	if (on_host(builder))
		r = add_host_environment(builder, targets);
	if (r == 0)
		r = add_triton(builder, targets->libraries[targets->library_count - 1]);
	return r;
}

/* There a mount that has noexec cannot be mounted again without it, and no library loads with it. */
static int note_noexec(struct builder *builder)
{
	const struct driver_files *files = builder->injection->files;

	for (size_t i = 0; builder->injection->user_namespace && i < files->count; i++) {
		const struct driver_file *file = &files->items[i];
		struct statvfs status;

		if (file->kind != DRIVER_LIBRARY || !is_wanted(builder, file) ||
		    statvfs(file->source, &status) < 0 || !(status.f_flag & ST_NOEXEC))
			continue;
		return builder_note(
			builder,
			"%s lies on a file system that is mounted noexec: in a user "
			"namespace no runtime can mount it. Mount that file system without "
			"noexec.",
			file->source);
	}
	return 0;
}

int builder_add_files(struct builder *builder)
{
	const struct driver_files *files = builder->injection->files;
	struct targets targets;
	int r = find_targets(builder, &targets);

	if (r <= 0)
		return r;
	r = 0;
	for (size_t i = 0; r == 0 && i < files->count; i++)
		if (is_wanted(builder, &files->items[i]))
			r = add_file(builder, &targets, &files->items[i]);
	if (r == 0)
		r = add_environment(builder, &targets);
	if (r == 0)
		r = note_missing(builder);
	if (r == 0)
		r = note_noexec(builder);
	return r < 0 ? r : copy_notes(builder);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/formats.h"

struct files {
	char directory[64], toolkit[96], own[96];
};

static void put(const char *path, const char *text)
{
	struct error error = ERROR_INIT;

	if (text && file_write_atomic(path, text, strlen(text), 0644, &error) < 0)
		fail_msg("%s", error.message);
}

static void files_make(struct files *files, const char *toolkit, const char *own)
{
	snprintf(files->directory, sizeof(files->directory), "/tmp/gpupool-test-XXXXXX");
	assert_non_null(mkdtemp(files->directory));
	snprintf(files->toolkit, sizeof(files->toolkit), "%s/config.toml", files->directory);
	snprintf(files->own, sizeof(files->own), "%s/config.yaml", files->directory);
	put(files->toolkit, toolkit);
	put(files->own, own);
}

static void files_remove(const struct files *files)
{
	unlink(files->toolkit);
	unlink(files->own);
	assert_int_equal(rmdir(files->directory), 0);
}

static void describe_list(const struct string_list *list, struct strbuf *out)
{
	for (size_t i = 0; i < list->count; i++)
		strbuf_addf(out, "%s%s", i ? "," : "", list->items[i]);
	strbuf_addc(out, ' ');
}

static void describe(const struct toolkit_config *config, struct strbuf *out)
{
	const bool flags[] = { config->disable_require,
			       config->accept_env_unprivileged,
			       config->accept_env_in_kubernetes,
			       config->accept_volume_list,
			       config->ignore_imex,
			       config->no_additional_gids,
			       config->all_capabilities };
	const char *const texts[] = { config->supported_capabilities, config->swarm_resource,
				      config->driver_root, config->default_kind, config->log_file };

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		strbuf_addc(out, flags[i] ? '1' : '0');
	strbuf_addf(out, " %s ", toolkit_mode_to_string(config->mode));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		strbuf_addf(out, "%s ", texts[i] ? texts[i] : "-");
	describe_list(&config->runtimes, out);
	describe_list(&config->annotation_prefixes, out);
	describe_list(&config->spec_directories, out);
	for (size_t i = 0; i < config->notes.count; i++)
		strbuf_addf(out, "| %s ", strrchr(config->notes.items[i], '/') + 1);
}

#define CAPABILITIES "compat32,compute,display,graphics,ngx,utility,video"
#define LISTS        "runc,crun cdi.k8s.io/ /etc/cdi,/var/run/cdi "
#define DEFAULTS     "0100000 auto " CAPABILITIES " - - nvidia.com/gpu - " LISTS

/* The file that NVIDIA's packages install, as its documentation prints it, with comments left out
 * and two defaults turned round. */
#define PACKAGED                                                                     \
	"disable-require = false\n"                                                  \
	"supported-driver-capabilities = \"" CAPABILITIES "\"\n"                     \
	"accept-nvidia-visible-devices-envvar-when-unprivileged = false\n"           \
	"accept-nvidia-visible-devices-as-volume-mounts = true\n"                    \
	"[nvidia-container-cli]\nenvironment = []\nload-kmods = true\n"              \
	"ldconfig = \"@/sbin/ldconfig\"\n[nvidia-ctk]\npath = \"nvidia-ctk\"\n"      \
	"[nvidia-container-runtime]\nlog-level = \"info\"\n"                         \
	"runtimes = [\"runc\", \"crun\"]\nmode = \"auto\"\n"                         \
	"[nvidia-container-runtime.modes.cdi]\n"                                     \
	"annotation-prefixes = [\"cdi.k8s.io/\"]\n"                                  \
	"spec-dirs = [\"/etc/cdi\", \"/var/run/cdi\"]\n"                             \
	"[nvidia-container-runtime.modes.csv]\n"                                     \
	"mount-spec-path = \"/etc/nvidia-container-runtime/host-files\"\n"           \
	"[nvidia-container-runtime.modes.legacy]\ncuda-compat-mode = \"ldconfig\"\n" \
	"[nvidia-container-runtime-hook]\nskip-mode-detection = false\n"             \
	"[features]\nallow-ldconfig-from-container = true\n"

static const struct {
	const char *toolkit, *own, *expected;
} rows[] = {
	{ NULL, NULL, DEFAULTS },
	{ "", "", DEFAULTS },
	{ PACKAGED, NULL, "0001000 auto " CAPABILITIES " - - nvidia.com/gpu - " LISTS },
	{ "disable-require = true\nswarm-resource = \"DOCKER_RESOURCE_GPU\"\n"
	  "supported-driver-capabilities = \"compute\"\n"
	  "[nvidia-container-cli]\nroot = \"/run/nvidia/driver\"\n"
	  "[nvidia-container-runtime]\ndebug = \"/var/log/x\"\nmode = \"cdi\"\n"
	  "runtimes = [\"/opt/runc\"]\nmodes.cdi.default-kind = \"a.b/c\"\n"
	  "modes.cdi.annotation-prefixes = []\nmodes.cdi.spec-dirs = [\"/x\"]\n"
	  "[features]\nignore-imex-channel-requests = true\n"
	  "no-additional-gids-for-device-nodes = true\n",
	  NULL,
	  "1100110 cdi compute DOCKER_RESOURCE_GPU /run/nvidia/driver a.b/c /var/log/x /opt/runc "
	  " /x " },
	/* Ours wins; other sections of our file are no matter here. */
	{ "[nvidia-container-runtime]\nruntimes = [\"a\"]\n",
	  "mig: {}\nruntime:\n  runtimes: [crun]\n  accept-env-in-kubernetes: true\n"
	  "  accept-env-when-unprivileged: false\n  accept-volume-list: true\n"
	  "  disable-require: true\n  capabilities: all\n  driver-root: /d\n  log-file: /l\n"
	  "  cdi-directories: [/c]\n",
	  "1011001 auto " CAPABILITIES " - /d nvidia.com/gpu /l crun cdi.k8s.io/ /c " },
	{ NULL, "runtime: {capabilities: honour}\n", DEFAULTS },
	{ NULL, "", DEFAULTS },
	{ NULL, "version: v1\nsharing: {}\n", DEFAULTS },
	{ NULL, "gpupool: {mode: slices}\n", DEFAULTS },
	{ NULL, "runtimes: [crun]\n",
	  DEFAULTS "| config.yaml has no section runtime, so that nothing in it counts here " },
	/* What nobody knows is said, with its line, and no more. */
	{ "swarm_resource = 1\n[features]\n\nx.y = [1]\n", "runtime:\n  runtime: a\n",
	  DEFAULTS "| config.toml:1: the key swarm_resource is not known here and decides nothing "
		   "| config.toml:4: the key features.x.y is not known here and decides nothing "
		   "| config.yaml:2: the key runtime is not known here and decides nothing " },
};

TEST(toolkit_values_come_from_both_files)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup(toolkit_config_release) struct toolkit_config config = { 0 };
		autostrbuf text = STRBUF_INIT(8192);
		struct files files;
		struct error error = ERROR_INIT;

		files_make(&files, rows[i].toolkit, rows[i].own);
		int r = toolkit_config_read(files.toolkit, files.own, &config, &error);
		files_remove(&files);
		if (r < 0)
			fail_msg("row %zu: %s", i, error.message);
		describe(&config, &text);
		if (strcmp(text.data, rows[i].expected) != 0)
			fail_msg("row %zu:\n%s\n%s", i, text.data, rows[i].expected);
	}
}

static const struct {
	const char *toolkit, *own, *message;
} wrong_rows[] = {
	{ "disable-require = 1\n", NULL, "config.toml:1: disable-require must be true or false" },
	{ "a = 1\nb =\n", NULL, "config.toml:2:" },
	{ "[nvidia-container-runtime]\nruntimes = \"runc\"\n", NULL,
	  "config.toml:2: nvidia-container-runtime.runtimes must be a list of strings" },
	{ "[nvidia-container-runtime]\nruntimes = [\"runc\", 1]\n", NULL, "a list of strings" },
	{ "[nvidia-container-runtime]\nmode = \"fast\"\n", NULL,
	  "config.toml:2: nvidia-container-runtime.mode must be auto, legacy, cdi, jit-cdi or "
	  "csv" },
	{ "[nvidia-container-cli]\nroot = true\n", NULL, "root must be a string" },
	{ NULL, "runtime: 1\n", "config.yaml:1: runtime must be a map" },
	{ NULL, "runtime:\n  capabilities: some\n",
	  "config.yaml:2: capabilities must be honour or all" },
	{ NULL, "runtime:\n  runtimes: runc\n", "config.yaml:2: runtimes must be a list" },
	{ NULL, "a: [\n", "config.yaml" },
};

TEST(toolkit_errors_name_file_line_and_key)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrong_rows); i++) {
		struct toolkit_config config = { 0 };
		struct files files;
		struct error error = ERROR_INIT;

		files_make(&files, wrong_rows[i].toolkit, wrong_rows[i].own);
		int r = toolkit_config_read(files.toolkit, files.own, &config, &error);
		files_remove(&files);
		if (r >= 0 || !strstr(error.message, wrong_rows[i].message))
			fail_msg("row %zu: %d \"%s\"", i, r, error.message);
		assert_null(config.default_kind);
	}
}

TEST(toolkit_survives_every_failed_allocation)
{
	struct files files;

	files_make(&files, rows[3].toolkit, rows[4].own);
	for (unsigned n = 0;; n++) {
		cleanup(toolkit_config_release) struct toolkit_config config = { 0 };
		struct error error = ERROR_INIT;

		fault_arm(n);
		int r = toolkit_config_read(files.toolkit, files.own, &config, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n > 50);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	files_remove(&files);
}

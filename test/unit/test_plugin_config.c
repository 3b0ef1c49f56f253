/* SPDX-License-Identifier: Apache-2.0 */
/* Each key of gpupoold from each of its sources, and which source is stronger. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/model.h"
#include "model/plugin_keys.h"

#define VALUES 2

/*
 * A row a key: two values that show, as they are typed on the command line and in the environment,
 * as they stand in the file, and as --check shows them. The page docs/gpupoold.md has the meaning.
 */
static const struct row {
	const char *name; /* in the file; of the one that is not there its option */
	struct {
		const char *text, *file, *shown;
	} values[VALUES];
} rows[] = {
	{ "flags.migStrategy",
	  { { "single", "single", "\"single\"" }, { "mixed", "mixed", "\"mixed\"" } } },
	{ "flags.failOnInitError", { { "true", "true", "true" }, { "false", "false", "false" } } },
	{ "flags.mpsRoot", { { "/a", "/a", "\"/a\"" }, { "/b", "/b", "\"/b\"" } } },
	{ "flags.nvidiaDriverRoot", { { "/a", "/a", "\"/a\"" }, { "/b", "/b", "\"/b\"" } } },
	{ "flags.nvidiaDevRoot", { { "/a", "/a", "\"/a\"" }, { "/b", "/b", "\"/b\"" } } },
	{ "flags.gdrcopyEnabled", { { "true", "true", "true" }, { "false", "false", "false" } } },
	{ "flags.gdsEnabled", { { "true", "true", "true" }, { "false", "false", "false" } } },
	{ "flags.mofedEnabled", { { "true", "true", "true" }, { "false", "false", "false" } } },
	{ "flags.useNodeFeatureAPI", { { NULL, "true", "true" }, { NULL, "false", "false" } } },
	{ "flags.deviceDiscoveryStrategy",
	  { { "nvml", "nvml", "\"nvml\"" }, { "tegra", "tegra", "\"tegra\"" } } },
	{ "flags.plugin.passDeviceSpecs",
	  { { "true", "true", "true" }, { "false", "false", "false" } } },
	{ "flags.plugin.deviceListStrategy",
	  { { "envvar,cdi-cri", "[cdi-cri, envvar]", "[\"envvar\",\"cdi-cri\"]" },
	    { "volume-mounts", "volume-mounts", "[\"volume-mounts\"]" } } },
	{ "flags.plugin.deviceIDStrategy",
	  { { "index", "index", "\"index\"" }, { "uuid", "uuid", "\"uuid\"" } } },
	{ "flags.plugin.cdiAnnotationPrefix",
	  { { "a.b/", "a.b/", "\"a.b/\"" }, { "c.d/", "c.d/", "\"c.d/\"" } } },
	{ "flags.plugin.nvidiaCTKPath", { { "a", "a", "\"a\"" }, { "/b", "/b", "\"/b\"" } } },
	{ "flags.plugin.containerDriverRoot",
	  { { "/a", "/a", "\"/a\"" }, { "/b", "/b", "\"/b\"" } } },
	{ "flags.plugin.sharedDevicesAllocationPolicy",
	  { { "packed", "packed", "\"packed\"" },
	    { "distributed", "distributed", "\"distributed\"" } } },
	{ "flags.gfd.oneshot", { { NULL, "true", "true" }, { NULL, "false", "false" } } },
	{ "flags.gfd.noTimestamp", { { NULL, "true", "true" }, { NULL, "false", "false" } } },
	{ "flags.gfd.sleepInterval",
	  { { NULL, "infinite", "\"infinite\"" }, { NULL, "5m", "\"5m\"" } } },
	{ "flags.gfd.outputFile", { { NULL, "a", "\"a\"" }, { NULL, "/b", "\"/b\"" } } },
	{ "flags.gfd.machineTypeFile", { { NULL, "a", "\"a\"" }, { NULL, "/b", "\"/b\"" } } },
	{ "imex.channelIDs", { { "0", "[0]", "[0]" }, { NULL, "[]", "[]" } } },
	{ "imex.required", { { "true", "true", "true" }, { "false", "false", "false" } } },
	{ "gpupool.mode",
	  { { "slices", "slices", "\"slices\"" }, { "whole", "whole", "\"whole\"" } } },
	{ "gpupool.health.disableXIDs",
	  { { "79, 74", "[79, 74]", "[79,74]" }, { "ALL", "all", "\"all\"" } } },
	{ "gpupool.health.enableXIDs",
	  { { "43", "[43]", "[43]" }, { "xids", "[all]", "\"all\"" } } },
	{ "gpupool.probePeriod", { { "2s", "2s", "\"2s\"" }, { "1h0m", "1h", "\"1h\"" } } },
	{ "gpupool.probeTimeout",
	  { { "250ms", "0.25s", "\"250ms\"" }, { "1m", "60s", "\"1m\"" } } },
	{ "gpupool.metricsAddress",
	  { { "[::1]:1", "\"[::1]:1\"", "\"[::1]:1\"" }, { "", "\"\"", "\"\"" } } },
	{ "gpupool.paths.kubeletSocket", { { "/a", "/a", "\"/a\"" }, { "", "\"\"", "\"\"" } } },
	{ "gpupool.paths.podResourcesSocket",
	  { { "/a", "/a", "\"/a\"" }, { "", "\"\"", "\"\"" } } },
	{ "gpupool.paths.criSocket", { { "/a", "/a", "\"/a\"" }, { "/b", "/b", "\"/b\"" } } },
	{ "gpupool.paths.cdiDirectory", { { "/a", "/a", "\"/a\"" }, { "/b", "/b", "\"/b\"" } } },
	{ "gpupool.paths.stateDirectory", { { "/a", "/a", "\"/a\"" }, { "/b", "/b", "\"/b\"" } } },
	{ "gpupool.paths.runDirectory", { { "/a", "/a", "\"/a\"" }, { "/b", "/b", "\"/b\"" } } },
	{ "gpupool.paths.nvmlHelper", { { "/a", "/a", "\"/a\"" }, { "/b", "/b", "\"/b\"" } } },
	{ "gpupool.ignored.cdiFeatureFlags",
	  { { "a, b", "[a, b]", "[\"a\",\"b\"]" }, { "c", "c", "[\"c\"]" } } },
	{ "gpupool.ignored.cdiDisableHooks",
	  { { "a,b", "[a, b]", "[\"a\",\"b\"]" }, { "c", "c", "[\"c\"]" } } },
};

struct world {
	char directory[64], file[96];
};

static void world_make(struct world *world)
{
	snprintf(world->directory, sizeof(world->directory), "/tmp/gpupool-test-XXXXXX");
	assert_non_null(mkdtemp(world->directory));
	snprintf(world->file, sizeof(world->file), "%s/config.yaml", world->directory);
}

static void world_remove(const struct world *world)
{
	unlink(world->file);
	assert_int_equal(rmdir(world->directory), 0);
}

/* What a case gives; NULL: nothing from there. */
struct given {
	const char *file, *flag, *variable;
};

static int read_given(const struct world *world, const struct given *given,
		      struct plugin_config *ret, struct error *error)
{
	cleanup(plugin_flags_release) struct plugin_flags flags = { .action = PLUGIN_RUN };
	char *argv[] = { (char[]){ "gpupoold" }, (char *)(uintptr_t)given->flag };
	char *environment[] = { (char *)(uintptr_t)given->variable, NULL };
	const struct plugin_inputs inputs = { &flags, environment,
					      given->file ? world->file : NULL };

	if (given->file &&
	    file_write_atomic(world->file, given->file, strlen(given->file), 0644, error) < 0)
		fail_msg("%s", error->message);
	int r = plugin_flags_parse(given->flag ? 2 : 1, argv, &flags, error);
	return r < 0 ? r : plugin_config_read(&inputs, ret, error);
}

/* "VALUE SOURCE" of the key, as --check --json has them. */
static void show(const struct plugin_config *config, const char *name, struct strbuf *out)
{
	autojson *report = NULL;
	struct error error = ERROR_INIT;
	autostrbuf path = STRBUF_INIT(256);

	if (plugin_config_report(config, &report, &error) < 0)
		fail_msg("%s", error.message);
	strbuf_addf(&path, "config.%s", name);
	assert_int_equal(json_to_text(json_get(report, path.data), false, out, &error), 0);
	struct json_object *sources = json_object_object_get(report, "sources");
	strbuf_addf(out, " %s", json_object_get_string(json_object_object_get(sources, name)));
}

static void expect(const struct world *world, const char *name, const struct given *given,
		   const char *shown, const char *source)
{
	cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
	autostrbuf text = STRBUF_INIT(4096), wanted = STRBUF_INIT(4096);
	struct error error = ERROR_INIT;

	if (read_given(world, given, &config, &error) < 0)
		fail_msg("%s: %s", name, error.message);
	show(&config, name, &text);
	strbuf_addf(&wanted, "%s %s", shown, source);
	if (strcmp(text.data, wanted.data) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", name, text.data, wanted.data);
}

/* "flags: {plugin: {deviceIDStrategy: index}}" */
static void file_with(const char *path, const char *value, struct strbuf *out)
{
	unsigned open = 0;

	for (const char *dot; (dot = strchr(path, '.')); path = dot + 1, open++)
		strbuf_addf(out, "%s%.*s: ", open ? "{" : "", (int)(dot - path), path);
	strbuf_addf(out, "%s%s: %s", open ? "{" : "", path, value);
	while (open--)
		strbuf_addc(out, '}');
	strbuf_addc(out, '\n');
}

static const struct row *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	fail_msg("no row for the key %s: add one with two values that show", name);
	return NULL;
}

struct texts { /* of one value, for each source; "": the key is not there */
	char file[256], variable[256], flag[256];
};

static void make_texts(const struct plugin_key *key, const struct row *row, int value,
		       struct texts *ret)
{
	const char *text = row->values[value].text;
	autostrbuf file = STRBUF_INIT(255);

	*ret = (struct texts){ .file = "" };
	file_with(row->name, row->values[value].file, &file);
	snprintf(ret->file, sizeof(ret->file), "%s", file.data);
	if (text && key->flags[0])
		snprintf(ret->flag, sizeof(ret->flag), "--%s=%s", key->flags[0], text);
	if (text && key->variables[0])
		snprintf(ret->variable, sizeof(ret->variable), "%s=%s", key->variables[0], text);
}

/*
 * MASK has bit 0 for the file, 1 for the environment, 2 for the command line. The strongest of them
 * gives VALUE, the others the other one.
 */
static void check_sources_of(const struct world *world, const struct row *row,
			     const struct texts texts[VALUES], unsigned mask, int value)
{
	static const char *const names[] = { "file", "environment", "command line" };
	const int strongest = mask & 4 ? 2 : mask & 2 ? 1 : 0;
	const struct given given = {
		.file = mask & 1 ? texts[strongest == 0 ? value : 1 - value].file : NULL,
		.variable = mask & 2 ? texts[strongest == 1 ? value : 1 - value].variable : NULL,
		.flag = mask & 4 ? texts[strongest == 2 ? value : 1 - value].flag : NULL,
	};

	if ((given.variable && !*given.variable) || (given.flag && !*given.flag))
		return;
	expect(world, row->name, &given, row->values[value].shown, names[strongest]);
}

static void check_sources(const struct world *world, const struct plugin_key *key,
			  const struct row *row)
{
	struct texts texts[VALUES];

	for (int value = 0; value < VALUES; value++)
		make_texts(key, row, value, &texts[value]);
	for (unsigned mask = 1; mask < 8; mask++)
		for (int value = 0; value < VALUES; value++)
			check_sources_of(world, row, texts, mask, value);
}

static void check_aliases(const struct world *world, const struct plugin_key *key,
			  const struct row *row)
{
	for (int i = 0; i < VALUES && row->values[i].text; i++) {
		for (size_t j = 0; key->flags[j]; j++) {
			autostrbuf flag = STRBUF_INIT(256);

			strbuf_addf(&flag, "-%s=%s", key->flags[j], row->values[i].text);
			expect(world, row->name, &(struct given){ .flag = flag.data },
			       row->values[i].shown, "command line");
		}
		for (size_t j = 0; key->variables[j]; j++) {
			autostrbuf variable = STRBUF_INIT(256);

			strbuf_addf(&variable, "%s=%s", key->variables[j], row->values[i].text);
			expect(world, row->name, &(struct given){ .variable = variable.data },
			       row->values[i].shown, "environment");
		}
	}
}

TEST(each_key_shows_from_each_source_and_the_stronger_one_wins)
{
	struct world world;
	unsigned keys = 0;

	world_make(&world);
	for (unsigned i = 0; i < plugin_key_count; i++) {
		const struct plugin_key *key = &plugin_keys[i];

		if (!key->path) {
			assert_string_equal(key->flags[0], "config-file");
			continue;
		}
		const struct row *row = find(key->path);
		assert_true(strcmp(row->values[0].shown, row->values[1].shown) != 0);
		check_sources(&world, key, row);
		check_aliases(&world, key, row);
		keys++;
	}
	world_remove(&world);
	assert_int_equal(keys, ARRAY_SIZE(rows));
}

/* Each field by its name in C: a row with the offset of another field would show the same as its text. */
TEST(keys_fill_the_fields_that_are_named_after_them)
{
	static const char text[] =
		"flags: {migStrategy: mixed, failOnInitError: true, mpsRoot: /mps, "
		"nvidiaDriverRoot: /driver,\n"
		"  nvidiaDevRoot: /dev-root, gdrcopyEnabled: true, mofedEnabled: true,\n"
		"  deviceDiscoveryStrategy: nvml, useNodeFeatureAPI: false,\n"
		"  plugin: {deviceListStrategy: [envvar, cdi-annotations], deviceIDStrategy: "
		"index,\n"
		"    cdiAnnotationPrefix: p/, nvidiaCTKPath: /ctk, containerDriverRoot: /ctr,\n"
		"    sharedDevicesAllocationPolicy: packed},\n"
		"  gfd: {oneshot: true, sleepInterval: 7s, outputFile: /out, machineTypeFile: "
		"/type}}\n"
		"imex: {channelIDs: [0], required: true}\n"
		"gpupool: {mode: slices, probePeriod: 3s, probeTimeout: 4s, metricsAddress: "
		"'h:1',\n"
		"  health: {disableXIDs: [1, 2], enableXIDs: all},\n"
		"  paths: {kubeletSocket: /k, podResourcesSocket: /p, criSocket: /c, cdiDirectory: "
		"/cdi,\n"
		"    stateDirectory: /state, runDirectory: /run-dir, nvmlHelper: /helper},\n"
		"  ignored: {cdiFeatureFlags: f, cdiDisableHooks: [g, h]}}\n";
	cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
	struct error error = ERROR_INIT;
	struct world world;

	world_make(&world);
	if (read_given(&world, &(struct given){ .file = text }, &config, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(config.mig_strategy, MIG_STRATEGY_MIXED);
	assert_true(config.fail_on_init_error && config.gdrcopy && config.mofed && !config.gds);
	assert_true(config.gfd.oneshot && !config.gfd.no_timestamp && config.imex_required);
	assert_false(config.gfd.use_node_feature_api || config.pass_device_specs);
	assert_string_equal(config.mps_root, "/mps");
	assert_string_equal(config.driver_root, "/driver");
	assert_string_equal(config.dev_root, "/dev-root");
	assert_string_equal(config.container_driver_root, "/ctr");
	assert_int_equal(config.discovery, DISCOVERY_NVML);
	assert_int_equal(config.device_lists, DEVICE_LIST_ENVVAR | DEVICE_LIST_CDI_ANNOTATIONS);
	assert_int_equal(config.device_id, DEVICE_ID_INDEX);
	assert_string_equal(config.cdi_annotation_prefix, "p/");
	assert_string_equal(config.ctk.hook_path, "/ctk");
	assert_int_equal(config.share_policy, SHARE_PACKED);
	assert_int_equal(config.gfd.sleep_ms, 7000);
	assert_string_equal(config.gfd.output_file, "/out");
	assert_string_equal(config.gfd.machine_type_file, "/type");
	assert_int_equal(config.imex_channels.count, 1);
	assert_int_equal(config.default_mode, DEFAULT_MODE_SLICES);
	assert_int_equal(config.probe_period_ms, 3000);
	assert_int_equal(config.probe_timeout_ms, 4000);
	assert_string_equal(config.metrics_address, "h:1");
	assert_true(config.disabled_xids.count == 2 && !config.disabled_xids.all);
	assert_true(config.enabled_xids.all);
	assert_string_equal(config.kubelet_socket, "/k");
	assert_string_equal(config.pod_resources_socket, "/p");
	assert_string_equal(config.cri_socket, "/c");
	assert_string_equal(config.cdi_directory, "/cdi");
	assert_string_equal(config.state_directory, "/state");
	assert_string_equal(config.run_directory, "/run-dir");
	assert_string_equal(config.nvml_helper, "/helper");
	assert_string_equal(config.config_file, world.file);
	assert_int_equal(config.ctk.feature_flags.count, 1);
	assert_int_equal(config.ctk.disabled_hooks.count, 2);
	world_remove(&world);
}

TEST(the_file_is_named_by_option_environment_or_is_the_usual_one)
{
	static const struct {
		const char *flag, *variable, *shown;
	} cases[] = {
		{ NULL, NULL, "\"single\" file" },
		{ NULL, "CONFIG_FILE=/dev/null", "\"none\" default" },
		{ NULL, "CONFIG_FILE=", "\"none\" default" },
		{ NULL, "GPUPOOL_CONFIG=/dev/null", "\"none\" default" },
		{ NULL, "GPUPOOL_CONFIG=", "\"single\" file" },
		{ "--config-file=/dev/null", NULL, "\"none\" default" },
		{ "--config-file=", "CONFIG_FILE=/nowhere", "\"none\" default" },
	};
	struct world world;

	world_make(&world);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
		autostrbuf text = STRBUF_INIT(256);
		struct error error = ERROR_INIT;
		const struct given given = { "flags: {migStrategy: single}\n", cases[i].flag,
					     cases[i].variable };

		/* /dev/null is no regular file; a file without a word in it does the same. */
		autostrbuf flag = STRBUF_INIT(256), variable = STRBUF_INIT(256);
		autofree char *empty = NULL;
		assert_true(asprintf(&empty, "%s/empty", world.directory) > 0);
		assert_int_equal(file_write_atomic(empty, "", 0, 0644, &error), 0);
		struct given real = given;
		const char *at = given.flag ? strstr(given.flag, "/dev/null") : NULL;
		if (at) {
			strbuf_addf(&flag, "%.*s%s", (int)(at - given.flag), given.flag, empty);
			real.flag = flag.data;
		}
		at = given.variable ? strstr(given.variable, "/dev/null") : NULL;
		if (at) {
			strbuf_addf(&variable, "%.*s%s", (int)(at - given.variable), given.variable,
				    empty);
			real.variable = variable.data;
		}
		int r = read_given(&world, &real, &config, &error);
		unlink(empty);
		if (r < 0)
			fail_msg("case %zu: %s", i, error.message);
		show(&config, "flags.migStrategy", &text);
		assert_string_equal(text.data, cases[i].shown);
	}
	world_remove(&world);
}

TEST(a_named_file_must_be_there_and_the_usual_one_need_not)
{
	cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
	struct error error = ERROR_INIT;
	const struct plugin_inputs usual = { .usual_file = "/nowhere/config.yaml" };

	assert_int_equal(plugin_config_read(&usual, &config, &error), 0);
	assert_string_equal(config.config_file, "");
	struct plugin_config other = { .notes = { 0 } };
	char *environment[] = { (char[]){ "CONFIG_FILE=/nowhere/config.yaml" }, NULL };
	const struct plugin_inputs named = { .environment = environment };
	assert_int_equal(plugin_config_read(&named, &other, &error), -ENOENT);
	assert_non_null(strstr(error.message, "'/nowhere/config.yaml'"));
	assert_null(other.config_file);
}

/* As the peer's library takes them (urfave/cli v2: flag_bool.go, flag_string.go, flag_string_slice.go). */
static const struct {
	const char *variable, *key, *shown; /* shown: what --check has, or the end of a refusal */
	bool refused;
} environment_rows[] = {
	{ "FAIL_ON_INIT_ERROR=1", "flags.failOnInitError", "true environment", false },
	{ "FAIL_ON_INIT_ERROR=t", "flags.failOnInitError", "true environment", false },
	{ "FAIL_ON_INIT_ERROR=T", "flags.failOnInitError", "true environment", false },
	{ "FAIL_ON_INIT_ERROR=True", "flags.failOnInitError", "true environment", false },
	{ "FAIL_ON_INIT_ERROR=TRUE", "flags.failOnInitError", "true environment", false },
	{ "FAIL_ON_INIT_ERROR=0", "flags.failOnInitError", "false environment", false },
	{ "FAIL_ON_INIT_ERROR=f", "flags.failOnInitError", "false environment", false },
	{ "FAIL_ON_INIT_ERROR=F", "flags.failOnInitError", "false environment", false },
	{ "FAIL_ON_INIT_ERROR=FALSE", "flags.failOnInitError", "false environment", false },
	{ "FAIL_ON_INIT_ERROR=False", "flags.failOnInitError", "false environment", false },
	{ "FAIL_ON_INIT_ERROR=yes", "flags.failOnInitError",
	  "FAIL_ON_INIT_ERROR in the environment: wants true or false, not 'yes'; write for "
	  "example "
	  "FAIL_ON_INIT_ERROR=true",
	  true },
	{ "FAIL_ON_INIT_ERROR=tRUE", "flags.failOnInitError", "not 'tRUE'", true },
	{ "FAIL_ON_INIT_ERROR= true", "flags.failOnInitError", "not ' true'", true },
	{ "FAIL_ON_INIT_ERROR=", "flags.failOnInitError", "false environment", false },
	{ "MIG_STRATEGY=", "flags.migStrategy", "wants one of none, single, mixed, not ''", true },
	{ "NVIDIA_DRIVER_ROOT=", "flags.nvidiaDriverRoot", "\"\" environment", false },
	{ "GPUPOOL_DRIVER_ROOT=", "flags.nvidiaDriverRoot", "\"/file\" file", false },
	{ "GPUPOOL_RUN_DIR=", "gpupool.paths.runDirectory", "\"/run/gpupool\" default", false },
	{ "KUBELET_SOCKET=", "gpupool.paths.kubeletSocket", "\"\" environment", false },
	{ "DEVICE_LIST_STRATEGY=", "flags.plugin.deviceListStrategy", "not ''", true },
	{ "DEVICE_LIST_STRATEGY=envvar, cdi-cri ", "flags.plugin.deviceListStrategy",
	  "[\"envvar\",\"cdi-cri\"] environment", false },
	{ "DEVICE_LIST_STRATEGY=envvar,,cdi-cri", "flags.plugin.deviceListStrategy", "not ''",
	  true },
	{ "IMEX_CHANNEL_IDS=", "imex.channelIDs", "[] default", false },
	{ "IMEX_CHANNEL_IDS=0x0", "imex.channelIDs", "[0] environment", false },
	{ "IMEX_CHANNEL_IDS=0,0", "imex.channelIDs", "none or 0 alone", true },
	{ "IMEX_CHANNEL_IDS=1", "imex.channelIDs", "none or 0 alone", true },
	{ "IMEX_CHANNEL_IDS=a", "imex.channelIDs", "wants numbers", true },
	{ "CDI_FEATURE_FLAGS=", "gpupool.ignored.cdiFeatureFlags", "[] environment", false },
	{ "DP_DISABLE_HEALTHCHECKS=", "gpupool.health.disableXIDs", "[] environment", false },
	{ "DP_DISABLE_HEALTHCHECKS=Xids,3", "gpupool.health.disableXIDs", "[\"all\",3] environment",
	  false },
	{ "DP_DISABLE_HEALTHCHECKS=0", "gpupool.health.disableXIDs", "\"all\" environment", false },
	{ "DP_DISABLE_HEALTHCHECKS= 3 ,x,, 4", "gpupool.health.disableXIDs", "[3,4] environment",
	  false },
	{ "NVIDIA_DEV_ROOT=dev", "flags.nvidiaDevRoot", "wants a path that begins with /", true },
};

TEST(variables_count_as_the_peers_library_takes_them)
{
	struct world world;

	world_make(&world);
	for (size_t i = 0; i < ARRAY_SIZE(environment_rows); i++) {
		cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
		autostrbuf text = STRBUF_INIT(4096);
		struct error error = ERROR_INIT;
		const struct given given = { .file = "flags: {nvidiaDriverRoot: /file}\n",
					     .variable = environment_rows[i].variable };

		int r = read_given(&world, &given, &config, &error);
		if (r < 0)
			strbuf_adds(&text, error.message);
		else
			show(&config, environment_rows[i].key, &text);
		if (r != (environment_rows[i].refused ? -EBADMSG : 0) ||
		    !strstr(text.data, environment_rows[i].shown))
			fail_msg("%s: %d %s", environment_rows[i].variable, r, text.data);
	}
	world_remove(&world);
}

TEST(of_two_variables_the_first_counts)
{
	char *environment[] = { (char[]){ "CONTAINER_DRIVER_ROOT=/second" },
				(char[]){ "DRIVER_ROOT_CTR_PATH=/first" },
				(char[]){ "NVIDIA_DRIVER_ROOT=/theirs" },
				(char[]){ "GPUPOOL_DRIVER_ROOT=" }, NULL };
	const struct plugin_inputs inputs = { .environment = environment };
	cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
	struct error error = ERROR_INIT;

	assert_int_equal(plugin_config_read(&inputs, &config, &error), 0);
	assert_string_equal(config.container_driver_root, "/first");
	assert_string_equal(config.driver_root, "/theirs");
}

static void expect_counts(const char *variable, const char *other, const char *counting)
{
	static const uint64_t xids[] = { 13, 31, 43, 45, 48, 68, 79, 109, 119 };
	char *environment[] = { (char *)(uintptr_t)variable, (char *)(uintptr_t)other, NULL };
	const struct plugin_inputs inputs = { .environment = environment };
	cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
	autostrbuf text = STRBUF_INIT(256);
	struct error error = ERROR_INIT;

	if (plugin_config_read(&inputs, &config, &error) < 0)
		fail_msg("%s", error.message);
	for (size_t i = 0; i < ARRAY_SIZE(xids); i++)
		if (plugin_config_xid_counts(&config, xids[i]))
			strbuf_addf(&text, "%lu ", (unsigned long)xids[i]);
	if (strcmp(text.data, counting) != 0)
		fail_msg("%s %s: %s", variable ? variable : "", other ? other : "", text.data);
}

/* NVIDIA/k8s-device-plugin internal/rm/health.go: an enabling wins over every disabling. */
TEST(xids_count_by_the_peers_rule)
{
	expect_counts(NULL, NULL, "48 79 119 ");
	expect_counts("DP_DISABLE_HEALTHCHECKS=48,79", NULL, "119 ");
	expect_counts("DP_DISABLE_HEALTHCHECKS=all", NULL, "");
	expect_counts("DP_DISABLE_HEALTHCHECKS=79,xids", NULL, "");
	expect_counts("DP_ENABLE_HEALTHCHECKS=43", NULL, "43 48 79 119 ");
	expect_counts("DP_ENABLE_HEALTHCHECKS=ALL", NULL, "13 31 43 45 48 68 79 109 119 ");
	expect_counts("DP_DISABLE_HEALTHCHECKS=all", "DP_ENABLE_HEALTHCHECKS=79,13", "13 79 ");
	expect_counts("DP_DISABLE_HEALTHCHECKS=79", "DP_ENABLE_HEALTHCHECKS=all",
		      "13 31 43 45 48 68 79 109 119 ");
}

TEST(a_malformed_xid_of_the_environment_is_noted)
{
	char *environment[] = { (char[]){ "DP_DISABLE_HEALTHCHECKS=79,seven\033[2J" }, NULL };
	const struct plugin_inputs inputs = { .environment = environment };
	cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
	struct error error = ERROR_INIT;

	assert_int_equal(plugin_config_read(&inputs, &config, &error), 0);
	assert_int_equal(config.notes.count, 1);
	assert_string_equal(
		config.notes.items[0],
		"DP_DISABLE_HEALTHCHECKS in the environment: 'seven?[2J' is no number of "
		"an XID and is left out");
}

/* What --check prints is a file that says the same. */
TEST(what_is_printed_reads_back_to_the_same)
{
	static const char text[] =
		"version: v1\n"
		"flags: {migStrategy: single, plugin: {deviceListStrategy: envvar}}\n"
		"resources: {gpus: [{pattern: \"*\", name: gpu}], mig: [{pattern: 1g*, name: "
		"mig-x}]}\n"
		"sharing:\n  timeSlicing:\n    renameByDefault: true\n    resources:\n"
		"    - {name: gpu, replicas: 2, devices: [0, 0:1]}\n"
		"    - {name: gpu, replicas: 3, devices: [1], rename: slow}\n"
		"    - {name: nvidia.com/mig-1g.10gb, replicas: 4, devices: 2}\n"
		"gpupool: {cards: [{index: 3, mode: slices}, {uuid: GPU-a, mode: mig}, "
		"{model: 'a: \"#', mode: excluded}], health: {disableXIDs: [79, all]}}\n";
	cleanup(plugin_config_release) struct plugin_config first = { .notes = { 0 } };
	cleanup(plugin_config_release) struct plugin_config second = { .notes = { 0 } };
	autostrbuf one = STRBUF_INIT(65536), other = STRBUF_INIT(65536);
	autojson *tree = NULL, *again = NULL;
	struct error error = ERROR_INIT;
	struct world world;

	world_make(&world);
	if (read_given(&world, &(struct given){ .file = text, .flag = "-probe-period=2s" }, &first,
		       &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(plugin_config_to_yaml(&first, &one, &error), 0);
	if (read_given(&world, &(struct given){ .file = one.data }, &second, &error) < 0)
		fail_msg("%s\n%s", error.message, one.data);
	world_remove(&world);
	assert_int_equal(plugin_config_to_json(&first, &tree, &error), 0);
	assert_int_equal(plugin_config_to_json(&second, &again, &error), 0);
	strbuf_reset(&one);
	assert_int_equal(json_to_text(tree, false, &one, &error), 0);
	assert_int_equal(json_to_text(again, false, &other, &error), 0);
	assert_string_equal(one.data, other.data);
	assert_non_null(strstr(one.data, "\"rename\":\"nvidia.com/slow\""));
}

static void add_names(const char *const *names, const char *lead, struct strbuf *out)
{
	for (size_t i = 0; names[i]; i++)
		strbuf_addf(out, "%s`%s%s`", i ? ", " : "", lead, names[i]);
}

/* "| `key` | `--option`, `--alias` | `VARIABLE` | `default` | " */
static void add_page_row(const struct plugin_key *key, struct strbuf *out)
{
	if (key->path)
		strbuf_addf(out, "| `%s` | ", key->path);
	else
		strbuf_adds(out, "| (not there) | ");
	add_names(key->flags, "--", out);
	strbuf_adds(out, " | ");
	add_names(key->variables, "", out);
	if (key->fallback && *key->fallback)
		strbuf_addf(out, " | `%s` | ", key->fallback);
	else
		strbuf_adds(out, " | empty | ");
	if (key->idle)
		strbuf_adds(out, "no effect: ");
}

TEST(the_page_has_each_key_as_the_table_has_it)
{
	autofree char *page = NULL;
	struct error error = ERROR_INIT;
	size_t length = 0, rows_there = 0;

	if (file_read(SOURCE_ROOT "/docs/gpupoold.md", 1 << 20, &page, &length, &error) < 0)
		fail_msg("%s", error.message);
	for (unsigned i = 0; i < plugin_key_count; i++) {
		autostrbuf row = STRBUF_INIT(1024);

		add_page_row(&plugin_keys[i], &row);
		if (!strstr(page, row.data))
			fail_msg("docs/gpupoold.md has no row that begins \"%s\"", row.data);
	}
	const char *at = strstr(page, "| key in the file |");
	assert_non_null(at);
	for (; *at == '|'; at += strcspn(at, "\n") + 1)
		rows_there++;
	assert_int_equal(rows_there, plugin_key_count + 2);
}

TEST(configuration_survives_every_failed_allocation)
{
	static const char text[] =
		"flags: {migStrategy: single, plugin: {deviceListStrategy: [envvar]}}\n"
		"resources: {gpus: [{pattern: \"*\", name: gpu}]}\n"
		"sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2, devices: [0, "
		"0:1]}]}}\n"
		"gpupool: {cards: [{index: 3, mode: slices}, {uuid: GPU-a, mode: mig}], "
		"health: {disableXIDs: [79]}}\n";
	struct world world;
	unsigned n;

	world_make(&world);
	for (n = 0;; n++) {
		cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
		autostrbuf yaml = STRBUF_INIT(65536);
		autojson *report = NULL;
		struct error error = ERROR_INIT;
		char *environment[] = { (char[]){ "DP_ENABLE_HEALTHCHECKS=79,x" }, NULL };
		cleanup(plugin_flags_release) struct plugin_flags flags = { .action = PLUGIN_RUN };
		char *argv[] = { (char[]){ "" }, (char[]){ "--imex-channel-ids" },
				 (char[]){ "0" } };
		const struct plugin_inputs inputs = { &flags, environment, world.file };

		assert_int_equal(file_write_atomic(world.file, text, strlen(text), 0644, &error),
				 0);
		fault_arm(n);
		int r = plugin_flags_parse(3, argv, &flags, &error);
		if (r == 0)
			r = plugin_config_read(&inputs, &config, &error);
		if (r == 0)
			r = plugin_config_to_yaml(&config, &yaml, &error);
		if (r == 0)
			r = plugin_config_report(&config, &report, &error);
		if (!fault_disarm()) {
			if (r < 0)
				fail_msg("%s", error.message);
			break;
		}
		if (r != -ENOMEM)
			fail_msg("allocation %u: %d %s", n, r, error.message);
	}
	world_remove(&world);
	assert_true(n > 300);
}

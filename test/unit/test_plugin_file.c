/* SPDX-License-Identifier: Apache-2.0 */
/* The file of gpupoold: its sections, and what is wrong in it; the command line; what is refused. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/model.h"

#define UUID_1 "GPU-b1028956-cfa2-0990-bf4a-5da9abb51763"
#define UUID_2 "MIG-b1028956-cfa2-0990-bf4a-5da9abb51763"

/* A file in a place of its own; PATH is where it was. */
static int read_text(const char *text, struct plugin_config *ret, struct error *error)
{
	char directory[] = "/tmp/gpupool-test-XXXXXX", path[64];
	const struct plugin_inputs inputs = { .usual_file = path };

	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/config.yaml", directory);
	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, error), 0);
	int r = plugin_config_read(&inputs, ret, error);
	unlink(path);
	assert_int_equal(rmdir(directory), 0);
	return r;
}

static void describe_sharing(const struct plugin_sharing *sharing, struct strbuf *out)
{
	for (size_t i = 0; i < sharing->count; i++) {
		const struct shared_resource *resource = &sharing->resources[i];

		strbuf_addf(out, "%s>%s x%u ", resource->name, resource->rename,
			    resource->replicas);
		if (resource->devices == SHARED_ALL)
			strbuf_adds(out, "all");
		if (resource->devices == SHARED_COUNT)
			strbuf_addf(out, "%u", resource->device_count);
		for (size_t j = 0; j < resource->device_names.count; j++)
			strbuf_addf(out, "%s%s", j ? "," : "", resource->device_names.items[j]);
		strbuf_addf(out, "%s; ", sharing->single_only ? " single" : "");
	}
}

static void describe(const struct plugin_config *config, struct strbuf *out)
{
	describe_sharing(&config->time_slicing, out);
	if (config->mps.count)
		strbuf_adds(out, "mps ");
	describe_sharing(&config->mps, out);
	for (size_t i = 0; i < config->gpus.count; i++)
		strbuf_addf(out, "gpus %s=%s; ", config->gpus.items[i].pattern,
			    config->gpus.items[i].name);
	for (size_t i = 0; i < config->mig_devices.count; i++)
		strbuf_addf(out, "mig %s=%s; ", config->mig_devices.items[i].pattern,
			    config->mig_devices.items[i].name);
	for (size_t i = 0; i < config->card_count; i++) {
		const struct card_choice *card = &config->cards[i];

		strbuf_addf(out, "card %s%s", card->uuid ? card->uuid : "",
			    card->model ? card->model : "");
		if (card->index != CARD_INDEX_NONE)
			strbuf_addf(out, "%u", card->index);
		strbuf_addf(out, " %s; ",
			    card->excluded ? "excluded" : card_mode_to_string(card->mode));
	}
}

#define SHARED(members) "sharing: {timeSlicing: {resources: [" members "]}}\n"

static const struct {
	const char *text, *expected;
} section_rows[] = {
	{ "", "" },
	{ "version: v1\n", "" },
	{ "version:\nflags:\nresources:\nimex:\n", "" },
	{ "# only words\n", "" },
	/* As Helm's charts write it. */
	{ "version: v1\nsharing:\n  timeSlicing:\n    resources:\n    - name: nvidia.com/gpu\n"
	  "      replicas: 4\n",
	  "nvidia.com/gpu>nvidia.com/gpu x4 all; " },
	{ "{\"version\": \"v1\", \"sharing\": {\"timeSlicing\": {\"resources\": [{\"name\": "
	  "\"gpu\", "
	  "\"replicas\": 2}]}}}",
	  "nvidia.com/gpu>nvidia.com/gpu x2 all; " },
	{ "sharing: {timeSlicing: {renameByDefault: true, failRequestsGreaterThanOne: true, "
	  "resources: [{name: gpu, replicas: 2}, {name: mig-1g.10gb, replicas: 3, rename: "
	  "slow}]}}\n",
	  "nvidia.com/gpu>nvidia.com/gpu.shared x2 all single; "
	  "nvidia.com/mig-1g.10gb>nvidia.com/slow x3 all single; " },
	{ "sharing: {timeSlicing: {renameByDefault: false, failRequestsGreaterThanOne: false, "
	  "resources: [{name: gpu, replicas: 2, rename: ''}]}}\n",
	  "nvidia.com/gpu>nvidia.com/gpu x2 all; " },
	{ SHARED("{name: gpu, replicas: 2, devices: all}"),
	  "nvidia.com/gpu>nvidia.com/gpu x2 all; " },
	{ SHARED("{name: gpu, replicas: 2, devices: 3}"), "nvidia.com/gpu>nvidia.com/gpu x2 3; " },
	{ SHARED("{name: gpu, replicas: 1024, devices: [0, '1', '0:1', " UUID_1 ", " UUID_2
		 ", MIG-" UUID_1 "/3/0]}"),
	  "nvidia.com/gpu>nvidia.com/gpu x1024 0,1,0:1," UUID_1 "," UUID_2 ",MIG-" UUID_1
	  "/3/0; " },
	{ SHARED("{name: gpu, replicas: 2, devices: [0]}, {name: gpu, replicas: 3, devices: [1]}"),
	  "nvidia.com/gpu>nvidia.com/gpu x2 0; nvidia.com/gpu>nvidia.com/gpu x3 1; " },
	{ "sharing: {mps: {resources: [{name: gpu, replicas: 2}]}}\n",
	  "mps nvidia.com/gpu>nvidia.com/gpu x2 all single; " },
	{ "sharing: {mps: {failRequestsGreaterThanOne: false, resources: [{name: gpu, replicas: "
	  "2}]}}\n",
	  "mps nvidia.com/gpu>nvidia.com/gpu x2 all; " },
	{ "sharing: {mps: }\n", "" },
	{ "resources: {gpus: [{pattern: '*', name: gpu}], mig: [{pattern: 1g.5gb, name: mig-x}]}\n",
	  "gpus *=nvidia.com/gpu; mig 1g.5gb=nvidia.com/mig-x; " },
	{ "flags: {migStrategy: mixed}\ngpupool:\n  cards:\n  - {index: 63, mode: slices}\n"
	  "  - {uuid: GPU-x, mode: mig}\n  - {model: '*A100*', mode: excluded}\n"
	  "  - {index: 0, mode: auto}\n  - {index: 1, mode: mps}\n  - {index: 2, mode: whole}\n",
	  "card 63 slices; card GPU-x mig; card *A100* excluded; card 0 auto; card 1 mps; "
	  "card 2 whole; " },
	{ "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2}]}}\n"
	  "gpupool: {mode: replicas, cards: [{index: 1, mode: replicas}]}\n",
	  "nvidia.com/gpu>nvidia.com/gpu x2 all; card 1 replicas; " },
	/* The settings of gpupool-runtime in the same file are its own. */
	{ "runtime: {runtimes: [crun], what: ever}\n", "" },
};

TEST(sections_are_read)
{
	for (size_t i = 0; i < ARRAY_SIZE(section_rows); i++) {
		cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
		autostrbuf text = STRBUF_INIT(4096);
		struct error error = ERROR_INIT;

		if (read_text(section_rows[i].text, &config, &error) < 0)
			fail_msg("row %zu: %s", i, error.message);
		describe(&config, &text);
		if (strcmp(text.data, section_rows[i].expected) != 0)
			fail_msg("row %zu:\n%s\n%s", i, text.data, section_rows[i].expected);
	}
}

#define LONG "a23456789012345678901234567890123456789012345678901234567890"

static const struct {
	const char *text, *message; /* what stands after "config.yaml:" */
} wrong_rows[] = {
	{ "version: v2\n", "1: version: wants v1, the one version that there is, not v2" },
	{ "version: 1\n", "1: version: wants v1, the one version that there is, not 1" },
	{ "\n- a\n", "2: the file: wants keys and values, as version: v1" },
	{ "version: v1\n---\nversion: v1\n",
	  "3: a second document: one file is one configuration; remove it" },
	{ "a: [\n", "2:1: no valid YAML" },
	{ "flags:\n  migStrategy: none\n  migStrategy: mixed\n",
	  "3: key 'migStrategy' stands here and in line 2" },
	{ "flags: 1\n", "1: flags: wants keys and values, not 1" },
	{ "flags: {plugin: []}\n", "1: flags.plugin: wants keys and values, not [ ]" },
	/* Unknown keys, with what was meant. */
	{ "flag: {}\n", "1: flag: there is no such key; did you mean flags?" },
	{ "\nflags:\n  migstrategy:\n",
	  "3: flags.migstrategy: there is no such key; did you mean flags.migStrategy?" },
	{ "flags: {migStrategi: none}\n",
	  "1: flags.migStrategi: there is no such key; did you mean "
	  "flags.migStrategy?" },
	{ "flags: {deviceListStrategy: envvar}\n",
	  "1: flags.deviceListStrategy: there is no such key; did you mean "
	  "flags.plugin.deviceListStrategy?" },
	{ "migStrategy: none\n", "1: migStrategy: there is no such key; did you mean "
				 "flags.migStrategy?" },
	{ "sharing: {timeslicing: {}}\n",
	  "1: sharing.timeslicing: there is no such key; did you mean "
	  "sharing.timeSlicing?" },
	{ "something: 1\n", "1: something: there is no such key; remove it" },
	{ SHARED("{name: gpu, replica: 2}"),
	  "1: sharing.timeSlicing: there is no key replica; did you mean replicas?" },
	{ "gpupool: {cards: [{card: 0}]}\n",
	  "1: gpupool.cards: there is no key card; there are uuid, index, model, mode" },
	/* Other types. */
	{ "flags: {failOnInitError: 'true'}\n",
	  "1: flags.failOnInitError: wants true or false, not true" },
	{ "flags: {failOnInitError: 1}\n", "1: flags.failOnInitError: wants true or false, not 1" },
	{ "flags: {migStrategy: true}\n", "1: flags.migStrategy: wants a word, not true" },
	{ "flags: {migStrategy: [none]}\n", "1: flags.migStrategy: wants a word, not [" },
	{ "flags: {migStrategy: None}\n",
	  "1: flags.migStrategy: wants one of none, single, mixed, not 'None'; write for example "
	  "migStrategy: none" },
	{ "flags: {mpsRoot: 1}\n", "1: flags.mpsRoot: wants a path, not 1" },
	{ "flags: {mpsRoot: mps}\n",
	  "1: flags.mpsRoot: wants a path that begins with /, not 'mps'" },
	{ "flags: {nvidiaDriverRoot: \"/a\\nb\"}\n",
	  "1: flags.nvidiaDriverRoot: wants a text without control characters, not '/a?b'" },
	{ "flags: {plugin: {cdiAnnotationPrefix: ''}}\n",
	  "1: flags.plugin.cdiAnnotationPrefix: wants a text, not ''; write for example "
	  "cdiAnnotationPrefix: cdi.k8s.io/" },
	{ "flags: {plugin: {deviceListStrategy: 'envvar,cdi-cri'}}\n",
	  "1: flags.plugin.deviceListStrategy: wants one of envvar, volume-mounts, "
	  "cdi-annotations, "
	  "cdi-cri, kubelet, auto, not 'envvar,cdi-cri'" },
	{ "flags: {plugin: {deviceListStrategy: []}}\n", "the list is empty; name a strategy" },
	{ "flags: {plugin: {deviceListStrategy: {}}}\n",
	  "wants a word or a list of words, not { }" },
	{ "flags: {plugin: {deviceListStrategy: [null]}}\n",
	  "wants a word or a list of words, not null" },
	{ "flags: {plugin: {deviceListStrategy: [auto, envvar]}}\n",
	  "auto does not go together with others" },
	{ "flags: {plugin: {deviceListStrategy: [kubelet, envvar]}}\n",
	  "kubelet does not go together with others" },
	{ "imex: {channelIDs: [1]}\n", "1: imex.channelIDs: IMEX channels can be none or 0 alone" },
	{ "imex: {channelIDs: ['0']}\n", "1: imex.channelIDs: wants a list of numbers, not 0" },
	{ "imex: {channelIDs: 0}\n", "1: imex.channelIDs: wants a list of numbers, as [0]" },
	/* Times. */
	{ "flags: {gfd: {sleepInterval: 5}}\ngpupool: {probePeriod: 5}\n",
	  "2: gpupool.probePeriod: wants a time from 1s to 1h, not '5'; write for example "
	  "probePeriod: 2s" },
	{ "gpupool: {probePeriod: 5 s}\n", "wants a time with its unit, not '5 s'" },
	{ "gpupool: {probePeriod: -5s}\n", "wants a time with its unit, not '-5s'" },
	{ "gpupool: {probePeriod: 5d}\n", "wants a time with its unit, not '5d'" },
	{ "gpupool: {probePeriod: .s}\n", "wants a time with its unit, not '.s'" },
	{ "gpupool: {probePeriod: ''}\n", "wants a time with its unit, not ''" },
	{ "gpupool: {probePeriod: 999ms}\n", "wants a time from 1s to 1h, not '999ms'" },
	{ "gpupool: {probePeriod: 1h1ms}\n", "wants a time from 1s to 1h, not '1h1ms'" },
	{ "gpupool: {probePeriod: infinite}\n", "wants a time with its unit, not 'infinite'" },
	{ "gpupool: {probeTimeout: 99ms}\n", "wants a time from 100ms to 10m, not '99ms'" },
	{ "flags: {gfd: {sleepInterval: 9999999999h}}\n", "wants a time with its unit" },
	/* Addresses. */
	{ "gpupool: {metricsAddress: 9400}\n", "wants a text, not 9400" },
	{ "gpupool: {metricsAddress: '9400'}\n",
	  "wants an address and a port, not '9400'; write for "
	  "example metricsAddress: 127.0.0.1:9400" },
	{ "gpupool: {metricsAddress: '::1:9400'}\n", "wants an address and a port" },
	{ "gpupool: {metricsAddress: 'a:0'}\n", "wants an address and a port" },
	{ "gpupool: {metricsAddress: 'a:65536'}\n", "wants an address and a port" },
	{ "gpupool: {metricsAddress: 'http://a:1'}\n", "wants an address and a port" },
	{ "gpupool: {health: {disableXIDs: [x]}}\n", "wants numbers of XIDs, or all, not 'x'" },
	{ "gpupool: {health: {disableXIDs: [-1]}}\n", "wants numbers of XIDs, or all, not '-1'" },
	{ "gpupool: {health: {disableXIDs: [1.5]}}\n", "wants all, or a list of numbers, not 1.5" },
	/* Sharing. */
	{ "sharing: {timeSlicing: }\n",
	  "1: sharing.timeSlicing: wants keys and values, not nothing" },
	{ "sharing: {timeSlicing: {}}\n",
	  "1: sharing.timeSlicing.resources: wants at least one resource, not nothing" },
	{ "sharing: {timeSlicing: {resources: []}}\n", "wants at least one resource, not [ ]" },
	{ "sharing: {timeSlicing: {resources: [1]}}\n", "wants keys and values, not 1" },
	{ "sharing: {timeSlicing: {renameByDefault: 1, resources: [{name: gpu, replicas: 2}]}}\n",
	  "1: sharing.timeSlicing.renameByDefault: wants true or false, not 1" },
	{ SHARED("{replicas: 2}"), "1: sharing.timeSlicing.name: wants the name of a resource, as "
				   "nvidia.com/gpu, not nothing" },
	{ SHARED("{name: gpu}"),
	  "1: sharing.timeSlicing.replicas: wants a whole number from 2 to 1024, not nothing" },
	{ SHARED("{name: gpu, replicas: 1}"), "wants a whole number from 2 to 1024, not 1" },
	{ SHARED("{name: gpu, replicas: 1025}"), "wants a whole number from 2 to 1024, not 1025" },
	{ SHARED("{name: gpu, replicas: '2'}"), "wants a whole number from 2 to 1024, not 2" },
	{ SHARED("{name: amd.com/gpu, replicas: 2}"),
	  "wants small letters, digits, '-' and '.' after nvidia.com/, not amd.com/gpu" },
	{ SHARED("{name: GPU, replicas: 2}"), "wants small letters" },
	{ SHARED("{name: a..b, replicas: 2}"), "wants small letters" },
	{ SHARED("{name: -a, replicas: 2}"), "wants small letters" },
	{ SHARED("{name: a-, replicas: 2}"), "wants small letters" },
	{ SHARED("{name: '', replicas: 2}"), "wants small letters" },
	{ SHARED("{name: " LONG ", replicas: 2}"), "at most 63 characters" },
	{ SHARED("{name: gpu, replicas: 2, rename: A}"),
	  "1: sharing.timeSlicing.rename: wants small letters" },
	{ "sharing: {timeSlicing: {renameByDefault: true, resources: [{name: "
	  "a2345678901234567890123456789012345678901234567890, replicas: 2}]}}\n",
	  "with .shared the name of nvidia.com/a2345678901234567890123456789012345678901234567890 "
	  "is "
	  "longer than 63 characters; give a rename" },
	{ SHARED("{name: gpu, replicas: 2, devices: some}"),
	  "1: sharing.timeSlicing.devices: wants all, a count from 1, or a list of devices, not "
	  "some" },
	{ SHARED("{name: gpu, replicas: 2, devices: 0}"), "wants all, a count from 1" },
	{ SHARED("{name: gpu, replicas: 2, devices: []}"), "wants at least one device, or all" },
	{ SHARED("{name: gpu, replicas: 2, devices: [a]}"), "wants indexes (0)" },
	{ SHARED("{name: gpu, replicas: 2, devices: [GPU-1]}"), "wants indexes (0)" },
	{ SHARED("{name: gpu, replicas: 2, devices: ['0:']}"), "wants indexes (0)" },
	{ SHARED("{name: gpu, replicas: 2, devices: [MIG-" UUID_1 "/3]}"), "wants indexes (0)" },
	{ SHARED("{name: gpu, replicas: 2, devices: [MIG-GPU-/1/2]}"), "wants indexes (0)" },
	{ "sharing:\n  timeSlicing:\n    resources:\n    - {name: gpu, replicas: 2}\n"
	  "    - {name: nvidia.com/gpu, replicas: 3, devices: [0]}\n",
	  "5: sharing.timeSlicing: nvidia.com/gpu is shared twice, on line 4 too" },
	{ SHARED("{name: gpu, replicas: 2, devices: [0, 1]}, {name: gpu, replicas: 2, devices: "
		 "[1]}"),
	  "nvidia.com/gpu is shared twice" },
	{ "sharing:\n  mps: {resources: [{name: gpu, replicas: 2}]}\n"
	  "  timeSlicing: {resources: [{name: gpu, replicas: 2}]}\n",
	  "3: sharing.timeSlicing: cards are shared by mps or by timeSlicing; remove one" },
	{ "sharing:\n  timeSlicing: {resources: [{name: gpu, replicas: 2}]}\n"
	  "  mps: {resources: [{name: gpu, replicas: 2}]}\n",
	  "3: sharing.mps: cards are shared by mps or by timeSlicing; remove one" },
	/* Patterns of resources. */
	{ "resources: {gpus: {}}\n", "1: resources.gpus: wants a list, not { }" },
	{ "resources: {gpus: [{name: gpu}]}\n",
	  "1: resources.gpus.pattern: wants a pattern, as *, not nothing" },
	{ "resources: {mig: [{pattern: a}]}\n",
	  "1: resources.mig.name: wants the name of a resource" },
	/* Cards. */
	{ "gpupool: {cards: 1}\n", "1: gpupool.cards: wants a list of cards, not 1" },
	{ "gpupool:\n  cards:\n  - mode: whole\n",
	  "3: gpupool.cards: names cards by one of uuid, index and model" },
	{ "gpupool: {cards: [{index: 1, model: a, mode: whole}]}\n",
	  "names cards by one of uuid, index and model" },
	{ "gpupool: {cards: [{index: 64, mode: whole}]}\n",
	  "1: gpupool.cards.index: wants the index that nvidia-smi shows, from 0 to 63, not 64" },
	{ "gpupool: {cards: [{index: a, mode: whole}]}\n", "wants the index" },
	{ "gpupool: {cards: [{uuid: MIG-1, mode: whole}]}\n",
	  "wants a UUID, as GPU-..., not MIG-1" },
	{ "gpupool: {cards: [{model: '', mode: whole}]}\n", "wants a pattern of models" },
	{ "gpupool: {cards: [{model: [a], mode: whole}]}\n", "wants a pattern of models" },
	{ "gpupool: {cards: [{index: 0}]}\n", "1: gpupool.cards.mode: wants one of whole, slices, "
					      "replicas, mig, excluded, not nothing" },
	{ "gpupool: {cards: [{index: 0, mode: mgi}]}\n", "not mgi" },
	{ "gpupool:\n  cards:\n  - {index: 0, mode: whole}\n  - {index: 0, mode: slices}\n",
	  "4: gpupool.cards: these cards are named on line 3 already" },
	{ "gpupool: {cards: [{uuid: GPU-a, mode: whole}, {uuid: GPU-a, mode: whole}]}\n",
	  "named on line 1 already" },
	{ "gpupool: {cards: [{model: a, mode: whole}, {model: a, mode: whole}]}\n",
	  "named on line 1 already" },
	{ "gpupool:\n  cards:\n  - {index: 0, mode: mig}\n",
	  "3: gpupool.cards: mode mig lists MIG devices, which migStrategy none leaves out" },
	{ "gpupool:\n  cards:\n  - {index: 0, mode: replicas}\n",
	  "3: gpupool.cards: mode replicas needs their number; add nvidia.com/gpu" },
	{ "gpupool: {mode: mig}\n", "gpupool.mode: mode mig lists MIG devices" },
	{ "gpupool: {mode: replicas}\n", "gpupool.mode: mode replicas needs their number" },
	{ "gpupool: {mode: fast}\n", "1: gpupool.mode: wants one of default, whole, slices" },
};

/* Rows that begin with a number begin with the line. */
static bool message_fits(const char *message, const char *wanted)
{
	const char *at = strstr(message, "config.yaml:");

	if (!at)
		return false;
	at += strlen("config.yaml:");
	if (wanted[0] >= '1' && wanted[0] <= '9')
		return strncmp(at, wanted, strlen(wanted)) == 0;
	return strstr(at, wanted) != NULL;
}

TEST(errors_name_file_line_and_key_and_what_to_do)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < ARRAY_SIZE(wrong_rows); i++) {
		cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
		struct error error = ERROR_INIT;

		int r = read_text(wrong_rows[i].text, &config, &error);
		if (r == -EBADMSG && message_fits(error.message, wrong_rows[i].message) &&
		    !config.config_file)
			continue;
		print_error("row %zu (%s): %d \"%s\"\n", i, wrong_rows[i].text, r, error.message);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

/* On a reload the last good one stays: a broken file leaves nothing half. */
TEST(a_broken_file_leaves_the_old_configuration)
{
	cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
	struct error error = ERROR_INIT;

	assert_int_equal(read_text(SHARED("{name: gpu, replicas: 4}"), &config, &error), 0);
	const struct plugin_config before = config;
	assert_int_equal(read_text(SHARED("{name: gpu, replicas: 3}, {name: b}"), &config, &error),
			 -EBADMSG);
	assert_memory_equal(&before, &config, sizeof(config));
	assert_int_equal(config.time_slicing.resources[0].replicas, 4);
}

TEST(what_has_no_effect_is_noted)
{
	static const struct {
		const char *text, *note; /* NULL: none */
	} cases[] = {
		{ "flags: {migStrategy: none}\n", NULL },
		{ "flags: {mpsRoot: /mps}\n", "flags.mpsRoot (the file) has no effect: gpupoold "
					      "does not share cards by MPS yet" },
		{ "flags: {gfd: {oneshot: true}}\n",
		  "flags.gfd.oneshot (the file) has no effect: gpupoold makes no node labels yet" },
		{ "resources: {gpus: []}\n", NULL },
		{ "\nresources: {gpus: [{pattern: a, name: b}]}\n",
		  "config.yaml:2: resources.gpus has no effect, here as with NVIDIA's plugin" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
		struct error error = ERROR_INIT;

		if (read_text(cases[i].text, &config, &error) < 0)
			fail_msg("%s", error.message);
		assert_int_equal(config.notes.count, cases[i].note ? 1 : 0);
		if (cases[i].note && !strstr(config.notes.items[0], cases[i].note))
			fail_msg("%s", config.notes.items[0]);
	}
}

TEST(what_is_not_there_yet_is_refused_with_one_sentence)
{
	static const struct {
		const char *text, *sentence; /* NULL: supported */
	} cases[] = {
		{ "gpupool: {mode: slices, cards: [{index: 0, mode: whole}]}\n", NULL },
		{ "gpupool: {mode: auto}\n", "card mode auto needs the planner" },
		{ "gpupool: {cards: [{index: 0, mode: auto}]}\n",
		  "card mode auto needs the planner" },
		{ "gpupool: {cards: [{index: 0, mode: mps}]}\n", "sharing by MPS is not there" },
		{ "sharing: {mps: {resources: [{name: gpu, replicas: 2}]}}\n",
		  "sharing by MPS is not there" },
		{ "flags: {deviceDiscoveryStrategy: tegra}\n", "Tegra systems are not supported" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
		struct error error = ERROR_INIT;

		if (read_text(cases[i].text, &config, &error) < 0)
			fail_msg("%s", error.message);
		int r = plugin_config_supported(&config, &error);
		assert_int_equal(r, cases[i].sentence ? -ENOTSUP : 0);
		if (cases[i].sentence && !strstr(error.message, cases[i].sentence))
			fail_msg("%s", error.message);
	}
}

TEST(a_card_is_found_by_uuid_before_index_before_model)
{
	static const struct {
		const char *uuid, *model;
		unsigned index, line; /* 0: no row names it */
	} cases[] = {
		{ "GPU-a", "NVIDIA A100", 0, 5 },
		{ "GPU-b", "NVIDIA A100", 1, 4 },
		{ "GPU-b", "NVIDIA A100", 2, 3 },
		{ "GPU-b", "nvidia a100-x", 2, 3 },
		{ "GPU-b", "NVIDIA H100", 2, 6 },
		{ "GPU-b", "Tesla T4", 2, 0 },
		{ "GPU-b", "Tesla T4", CARD_INDEX_NONE, 0 },
	};
	cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
	struct error error = ERROR_INIT;

	assert_int_equal(read_text("gpupool:\n  cards:\n  - {model: '*A100*', mode: slices}\n"
				   "  - {index: 1, mode: whole}\n  - {uuid: GPU-a, mode: whole}\n"
				   "  - {model: 'NVIDIA*', mode: excluded}\n",
				   &config, &error),
			 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct card card = { .index = cases[i].index };

		snprintf(card.uuid, sizeof(card.uuid), "%s", cases[i].uuid);
		snprintf(card.model, sizeof(card.model), "%s", cases[i].model);
		const struct card_choice *choice = plugin_config_find_card(&config, &card);
		if ((choice ? choice->line : 0) != cases[i].line)
			fail_msg("case %zu: line %u", i, choice ? choice->line : 0);
	}
}

#define LINE_WORDS 5

/* The forms of Go's package flag. */
static const struct {
	const char *words[LINE_WORDS];
	const char *shown; /* values given, or the refusal */
	int result;
} line_rows[] = {
	{ { NULL }, "", 0 },
	{ { "--mig-strategy=none" }, "none ", 0 },
	{ { "-mig-strategy", "none" }, "none ", 0 },
	{ { "--mig-strategy", "-x" }, "-x ", 0 },
	{ { "--mig-strategy=" }, " ", 0 },
	{ { "--mig-strategy=a=b" }, "a=b ", 0 },
	{ { "--fail-on-init-error", "--gds-enabled=f" }, "true f ", 0 },
	{ { "--device-list-strategy=a", "--device-list-strategy", "b" }, "a b ", 0 },
	{ { "--check", "--json" }, "check json ", 0 },
	{ { "--check", "-h" }, "help ", 0 },
	{ { "-v", "--check" }, "version ", 0 },
	{ { "--" }, "", 0 },
	{ { "--mig-stratgy=x" },
	  "there is no option --mig-stratgy; did you mean --mig-strategy?",
	  -EINVAL },
	{ { "--mig" }, "there is no option --mig; did you mean --mig-strategy?", -EINVAL },
	{ { "--frobnicate" },
	  "there is no option --frobnicate; 'gpupoold --help' lists them",
	  -EINVAL },
	{ { "--mig-strategy" },
	  "--mig-strategy needs a value; write --mig-strategy=STRATEGY",
	  -EINVAL },
	{ { "--fail-on-init-error", "false" },
	  "--fail-on-init-error takes its value after '='; write --fail-on-init-error=false",
	  -EINVAL },
	{ { "run" }, "'run' is no option, and gpupoold takes nothing else; remove it", -EINVAL },
	{ { "-" }, "'-' is no option", -EINVAL },
	{ { "--", "--check" }, "'--check' is no option", -EINVAL },
	{ { "--=x" }, "there is no option --=x", -EINVAL },
	{ { "--check=yes" }, "--check takes no value; write --check alone", -EINVAL },
	{ { "--json" }, "--json is for --check; write --check --json", -EINVAL },
	{ { "--driver-root=/a", "--nvidia-driver-root=/a" },
	  "--driver-root and --nvidia-driver-root are two names of one option; give one of them",
	  -EINVAL },
};

static void describe_flags(const struct plugin_flags *flags, struct strbuf *out)
{
	static const char *const actions[] = { "",         "check ", "help ",
					       "version ", "man ",   "completion " };

	for (size_t i = 0; i < flags->count; i++)
		strbuf_addf(out, "%s ", flags->items[i].text);
	strbuf_addf(out, "%s%s", actions[flags->action], flags->json ? "json " : "");
}

TEST(the_command_line_has_the_forms_of_gos_flags)
{
	for (size_t i = 0; i < ARRAY_SIZE(line_rows); i++) {
		cleanup(plugin_flags_release) struct plugin_flags flags = { .action = PLUGIN_RUN };
		autostrbuf text = STRBUF_INIT(1024);
		struct error error = ERROR_INIT;
		char *argv[LINE_WORDS + 1] = { (char[]){ "gpupoold" } };
		int argc = 1;

		for (; argc <= LINE_WORDS && line_rows[i].words[argc - 1]; argc++)
			argv[argc] = (char *)(uintptr_t)line_rows[i].words[argc - 1];
		int r = plugin_flags_parse(argc, argv, &flags, &error);
		if (r < 0)
			strbuf_adds(&text, error.message);
		else
			describe_flags(&flags, &text);
		if (r != line_rows[i].result || (r == 0 ? strcmp(text.data, line_rows[i].shown) != 0
							: !strstr(text.data, line_rows[i].shown)))
			fail_msg("row %zu: %d \"%s\"", i, r, text.data);
	}
}

/* Repeated: of one value the last counts, lists grow, and the environment's list is replaced. */
TEST(repeated_options_count_as_with_the_peer)
{
	char *argv[] = { (char[]){ "" },
			 (char[]){ "--mig-strategy=single" },
			 (char[]){ "--device-list-strategy=envvar" },
			 (char[]){ "--mig-strategy=mixed" },
			 (char[]){ "--device-list-strategy=cdi-cri, cdi-annotations" },
			 (char[]){ "--gds-enabled=0" },
			 (char[]){ "--gds-enabled" } };
	char *environment[] = { (char[]){ "DEVICE_LIST_STRATEGY=volume-mounts" }, NULL };
	cleanup(plugin_flags_release) struct plugin_flags flags = { .action = PLUGIN_RUN };
	cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
	const struct plugin_inputs inputs = { &flags, environment, NULL };
	struct error error = ERROR_INIT;

	assert_int_equal(plugin_flags_parse(ARRAY_SIZE(argv), argv, &flags, &error), 0);
	assert_int_equal(plugin_config_read(&inputs, &config, &error), 0);
	assert_int_equal(config.mig_strategy, MIG_STRATEGY_MIXED);
	assert_true(config.gds);
	assert_int_equal(config.device_lists,
			 DEVICE_LIST_ENVVAR | DEVICE_LIST_CDI_ANNOTATIONS | DEVICE_LIST_CDI_CRI);
}

/* A wrong command line is wrong usage, also when the file is broken as well. */
TEST(the_command_line_is_checked_first)
{
	char *argv[] = { (char[]){ "" }, (char[]){ "--mig-strategy=foo" } };
	cleanup(plugin_flags_release) struct plugin_flags flags = { .action = PLUGIN_RUN };
	struct plugin_config config = { .notes = { 0 } };
	const struct plugin_inputs inputs = { &flags, NULL, "/" };
	struct error error = ERROR_INIT;

	assert_int_equal(plugin_flags_parse(ARRAY_SIZE(argv), argv, &flags, &error), 0);
	assert_int_equal(plugin_config_read(&inputs, &config, &error), -EINVAL);
	assert_string_equal(error.message, "--mig-strategy: wants one of none, single, mixed, not "
					   "'foo'; write for example --mig-strategy=none");
}

/* Only of the environment is an empty boolean one: false. */
TEST(a_boolean_option_without_a_word_after_its_sign_is_refused)
{
	char *argv[] = { (char[]){ "" }, (char[]){ "--gds-enabled=" } };
	cleanup(plugin_flags_release) struct plugin_flags flags = { .action = PLUGIN_RUN };
	struct plugin_config config = { .notes = { 0 } };
	const struct plugin_inputs inputs = { .flags = &flags };
	struct error error = ERROR_INIT;

	assert_int_equal(plugin_flags_parse(ARRAY_SIZE(argv), argv, &flags, &error), 0);
	assert_int_equal(plugin_config_read(&inputs, &config, &error), -EINVAL);
	assert_string_equal(error.message, "--gds-enabled: wants true or false, not ''; write for "
					   "example --gds-enabled=true");
}

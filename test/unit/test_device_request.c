/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "formats/formats.h"
#include "inject/inject.h"
#include "inject/plan.h"

/* Texts with several items have a '|' between them. */
struct asked {
	const char *environment, *mounts, *annotations; /* mounts: "SOURCE>DESTINATION" */
	bool privileged;
};

enum { /* what is not as the toolkit's defaults are */
       CONFIG_NO_ENV = 1 << 0,
       CONFIG_ENV_IN_KUBERNETES = 1 << 1,
       CONFIG_VOLUMES = 1 << 2,
       CONFIG_NO_IMEX = 1 << 3,
       CONFIG_NO_REQUIRE = 1 << 4,
       CONFIG_ALL_CAPABILITIES = 1 << 5,
       CONFIG_SWARM = 1 << 6,
       CONFIG_OWN_KIND = 1 << 7,
};

static void config_init(struct toolkit_config *config, unsigned flags)
{
	*config = (struct toolkit_config){
		.accept_env_unprivileged = !(flags & CONFIG_NO_ENV),
		.accept_env_in_kubernetes = flags & CONFIG_ENV_IN_KUBERNETES,
		.accept_volume_list = flags & CONFIG_VOLUMES,
		.ignore_imex = flags & CONFIG_NO_IMEX,
		.disable_require = flags & CONFIG_NO_REQUIRE,
		.all_capabilities = flags & CONFIG_ALL_CAPABILITIES,
		.supported_capabilities =
			strdup("compat32,compute,display,graphics,ngx,utility,video"),
		.default_kind = strdup(flags & CONFIG_OWN_KIND ? "example.org/accelerator"
							       : "nvidia.com/gpu"),
		.swarm_resource = flags & CONFIG_SWARM ? strdup("DOCKER_RESOURCE_GPU") : NULL,
	};
	assert_int_equal(string_list_add(&config->annotation_prefixes, "cdi.k8s.io/"), 0);
}

static void config_clear(struct toolkit_config *config)
{
	free(config->supported_capabilities);
	free(config->default_kind);
	free(config->swarm_resource);
	string_list_release(&config->annotation_prefixes);
}

/* The first item of *TEXT; NULL at the end. The caller frees. */
static char *next_item(const char **text)
{
	if (!*text)
		return NULL;
	size_t length = strcspn(*text, "|");
	char *item = strndup(*text, length);

	assert_non_null(item);
	*text = (*text)[length] ? *text + length + 1 : NULL;
	return item;
}

static struct json_object *strings(const char *text)
{
	struct json_object *list = json_object_new_array();

	for (char *item; (item = next_item(&text)); free(item))
		assert_int_equal(json_append_string(list, item), 0);
	return list;
}

static struct json_object *mount_list(const char *text)
{
	struct json_object *list = json_object_new_array();

	for (char *item; (item = next_item(&text)); free(item)) {
		struct json_object *mount = json_object_new_object();
		char *middle = strchr(item, '>');

		*middle = '\0';
		assert_int_equal(json_add_string(mount, "source", item), 0);
		assert_int_equal(json_add_string(mount, "destination", middle + 1), 0);
		assert_int_equal(json_append(list, mount), 0);
	}
	return list;
}

static struct json_object *annotation_object(const char *text)
{
	struct json_object *object = json_object_new_object();

	for (char *item; (item = next_item(&text)); free(item)) {
		char *middle = strchr(item, ' ');

		*middle = '\0';
		assert_int_equal(json_add_string(object, item, middle + 1), 0);
	}
	return object;
}

static struct json_object *spec_of(const struct asked *asked)
{
	struct json_object *spec = json_object_new_object(), *process = json_object_new_object();

	assert_int_equal(json_add(process, "env", strings(asked->environment)), 0);
	if (asked->privileged) {
		struct json_object *capabilities = json_object_new_object();

		assert_int_equal(json_add(capabilities, "bounding", strings("CAP_SYS_ADMIN")), 0);
		assert_int_equal(json_add(process, "capabilities", capabilities), 0);
	}
	assert_int_equal(json_add(spec, "process", process), 0);
	assert_int_equal(json_add(spec, "mounts", mount_list(asked->mounts)), 0);
	assert_int_equal(json_add(spec, "annotations", annotation_object(asked->annotations)), 0);
	return spec;
}

static void add_list(struct strbuf *out, const char *what, const struct string_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		strbuf_addf(out, "%s%s", i ? "," : what, list->items[i]);
}

/* One line that says all of REQUEST but its notes. */
static void describe(const struct device_request *request, struct strbuf *out)
{
	static const char *const gated[] = { "gds",     "mofed",      "nvswitch",
					     "gdrcopy", "mig-config", "mig-monitor" };

	strbuf_adds(out, request_source_to_string(request->source));
	if (request->all)
		strbuf_adds(out, ": all");
	if (request->none)
		strbuf_adds(out, ": none");
	add_list(out, ": ", &request->devices);
	add_list(out, "; other ", &request->foreign);
	if (request->source != SOURCE_NONE && request->capabilities != CAPABILITY_DEFAULT) {
		strbuf_adds(out, "; for ");
		if (request->capabilities == CAPABILITY_ALL)
			strbuf_adds(out, "all");
		else
			capabilities_describe(request->capabilities, out);
	}
	for (size_t i = 0; i < ARRAY_SIZE(gated); i++)
		if (request->gated & 1u << i)
			strbuf_addf(out, "; %s", gated[i]);
	add_list(out, "; imex ", &request->imex);
	add_list(out, "; needs ", &request->requirements);
}

#define VISIBLE    "NVIDIA_VISIBLE_DEVICES="
#define LIST       "/var/run/nvidia-container-devices"
#define IN_LIST    "/dev/null>" LIST "/"
#define CONTAINERD "io.kubernetes.cri.container-type container"
#define CRIO       "io.kubernetes.cri-o.ContainerType container"
#define SANDBOX    "io.kubernetes.cri.container-type sandbox"
#define CDI        "cdi.k8s.io/nvidia-device-plugin_1 "
#define UUID       "GPU-8dcd427f-483b-b48f-d7e5-75fb19a52b76"
#define MIG_UUID   "MIG-4d806f22-346a-5a1d-ba01-86b505cdf485"
#define FROM_ENV   "the environment: "
#define FROM_LIST  "the kubelet's volume list: "
#define FROM_CDI   "CDI annotations: "

static const struct {
	struct asked asked;
	unsigned config;
	const char *answer;
	const char *note; /* NULL: none */
} request_rows[] = {
	/* nothing is asked for */
	{ { .environment = "PATH=/bin" }, 0, "nothing", NULL },
	{ { .environment = VISIBLE }, 0, "nothing", NULL },
	{ { .environment = VISIBLE "," }, 0, "nothing", NULL },
	{ { .environment = VISIBLE " , ,\t" }, 0, "nothing", NULL },
	{ { .environment = VISIBLE "void" }, 0, "nothing", NULL },
	{ { .environment = VISIBLE "0,void,1" }, 0, "nothing", NULL },
	{ { .environment = VISIBLE "all,void" }, 0, "nothing", NULL },
	{ { .environment = VISIBLE "void|CUDA_VERSION=11.6" }, 0, "nothing", NULL },
	{ { .environment = VISIBLE "|CUDA_VERSION=11.6" }, 0, "nothing", NULL },
	{ { .environment = VISIBLE "|CUDA_VERSION=nonsense" }, 0, "nothing", NULL },
	{ { .environment = VISIBLE "all|" VISIBLE "void" }, 0, "nothing", NULL },
	{ { .environment = "XNVIDIA_VISIBLE_DEVICES=all" }, 0, "nothing", NULL },
	/* names of cards */
	{ { .environment = VISIBLE "all" }, 0, FROM_ENV "all", NULL },
	{ { .environment = VISIBLE "none" }, 0, FROM_ENV "none", NULL },
	{ { .environment = VISIBLE "all,none" }, 0, FROM_ENV "none", NULL },
	{ { .environment = VISIBLE "0,none" }, 0, FROM_ENV "none", NULL },
	{ { .environment = VISIBLE "0" }, 0, FROM_ENV "0", NULL },
	{ { .environment = VISIBLE "void|" VISIBLE "1" }, 0, FROM_ENV "1", NULL },
	{ { .environment = VISIBLE " 0 , 1,0,,2 " }, 0, FROM_ENV "0,1,2", NULL },
	{ { .environment = VISIBLE "0:1,1:0" }, 0, FROM_ENV "0:1,1:0", NULL },
	{ { .environment = VISIBLE UUID "," MIG_UUID }, 0, FROM_ENV UUID "," MIG_UUID, NULL },
	{ { .environment = VISIBLE "0000:0f:00.0" }, 0, FROM_ENV "0000:0f:00.0", NULL },
	{ { .environment = VISIBLE "all,0" }, 0, "the environment: all: 0", NULL },
	/* names of CDI devices */
	{ { .environment = VISIBLE "nvidia.com/gpu=0" }, 0, FROM_ENV "0", NULL },
	{ { .environment = VISIBLE "nvidia.com/gpu=all" }, 0, FROM_ENV "all", NULL },
	{ { .environment = VISIBLE "nvidia.com/gpu=gpu1,nvidia.com/gpu=mig0:2" },
	  0,
	  FROM_ENV "1,0:2",
	  NULL },
	{ { .environment = VISIBLE "nvidia.com/gpu=" UUID }, 0, FROM_ENV UUID, NULL },
	{ { .environment = VISIBLE "k8s.device-plugin.nvidia.com/gpu=" UUID
				   ",runtime.nvidia.com/gpu=0,management.nvidia.com/gpu=all" },
	  0,
	  "the environment: all: " UUID ",0",
	  NULL },
	{ { .environment = VISIBLE "nvidia.com/gds=all,0" },
	  0,
	  "the environment: 0; other nvidia.com/gds=all",
	  NULL },
	{ { .environment = VISIBLE "example.org/accelerator=0" },
	  0,
	  "the environment; other example.org/accelerator=0",
	  NULL },
	{ { .environment = VISIBLE "example.org/accelerator=0" },
	  CONFIG_OWN_KIND,
	  FROM_ENV "0",
	  NULL },
	{ { .annotations = CDI "nvidia.com/gpu=0,nvidia.com/gpu=1" }, 0, FROM_CDI "0,1", NULL },
	{ { .annotations = CDI "nvidia.com/gpu=0|cdi.k8s.io/other example.org/nic=eth0" },
	  0,
	  "CDI annotations: 0; other example.org/nic=eth0",
	  NULL },
	{ { .annotations = "other.io/x nvidia.com/gpu=0" }, 0, "nothing", NULL },
	/* the first source that names something decides */
	{ { .annotations = CDI "nvidia.com/gpu=0",
	    .mounts = IN_LIST "1",
	    .environment = VISIBLE "2" },
	  CONFIG_VOLUMES,
	  FROM_CDI "0",
	  NULL },
	{ { .mounts = IN_LIST "1", .environment = VISIBLE "2" },
	  CONFIG_VOLUMES,
	  FROM_LIST "1",
	  NULL },
	{ { .mounts = IN_LIST "1", .environment = VISIBLE "2" }, 0, FROM_ENV "2", NULL },
	{ { .mounts = IN_LIST "1", .environment = VISIBLE "void" },
	  CONFIG_VOLUMES,
	  FROM_LIST "1",
	  NULL },
	{ { .annotations = CDI "nvidia.com/gpu=0", .environment = VISIBLE "void" },
	  0,
	  FROM_CDI "0",
	  NULL },
	/* the kubelet's volume list */
	{ { .mounts = IN_LIST UUID "|" IN_LIST "0:1" },
	  CONFIG_VOLUMES,
	  FROM_LIST UUID ",0:1",
	  NULL },
	{ { .mounts = IN_LIST "all" }, CONFIG_VOLUMES, FROM_LIST "all", NULL },
	{ { .mounts = "/home/x>" LIST "/0" }, CONFIG_VOLUMES, "nothing", NULL },
	{ { .mounts = "/dev/null>" LIST }, CONFIG_VOLUMES, "nothing", NULL },
	{ { .mounts = "/dev/null>" LIST "x/0" }, CONFIG_VOLUMES, "nothing", NULL },
	{ { .mounts = "/dev/null>" LIST "//" }, CONFIG_VOLUMES, "nothing", NULL },
	{ { .mounts = IN_LIST "cdi/nvidia.com/gpu/0|" IN_LIST "cdi/example.org/nic/eth0" },
	  CONFIG_VOLUMES,
	  "the kubelet's volume list: 0; other example.org/nic=eth0",
	  NULL },
	{ { .mounts = IN_LIST "0|" IN_LIST "imex/5|" IN_LIST "imex/0" },
	  CONFIG_VOLUMES,
	  FROM_LIST "0; imex 5,0",
	  NULL },
	{ { .mounts = IN_LIST "0|" IN_LIST "imex/5", .environment = "NVIDIA_IMEX_CHANNELS=7" },
	  CONFIG_VOLUMES,
	  FROM_LIST "0; imex 5",
	  NULL },
	{ { .mounts = IN_LIST "imex/5" }, CONFIG_VOLUMES, "nothing", NULL },
	{ { .environment = VISIBLE LIST, .mounts = IN_LIST "0" },
	  CONFIG_VOLUMES,
	  FROM_LIST "0",
	  NULL },
	{ { .environment = VISIBLE LIST, .mounts = IN_LIST "0" },
	  0,
	  "nothing",
	  "refers to the volume list " LIST ", which does not count. To use it set "
	  "runtime.accept-volume-list to true" },
	{ { .environment = VISIBLE LIST }, CONFIG_VOLUMES, "nothing", "which is empty." },
	/* whether the environment counts */
	{ { .environment = VISIBLE "all" }, CONFIG_NO_ENV, "nothing", "is not privileged and" },
	{ { .environment = VISIBLE "all", .privileged = true },
	  CONFIG_NO_ENV,
	  FROM_ENV "all",
	  NULL },
	{ { .environment = VISIBLE "void" }, CONFIG_NO_ENV, "nothing", NULL },
	{ { .environment = VISIBLE "all", .annotations = CONTAINERD },
	  0,
	  "nothing",
	  "NVIDIA_VISIBLE_DEVICES (\"all\") does not count in Kubernetes" },
	{ { .environment = VISIBLE "all", .annotations = CRIO },
	  0,
	  "nothing",
	  "does not count in Kubernetes" },
	{ { .environment = VISIBLE "all", .annotations = CONTAINERD, .privileged = true },
	  0,
	  "nothing",
	  "does not count in Kubernetes" },
	{ { .environment = VISIBLE "all", .annotations = CONTAINERD },
	  CONFIG_ENV_IN_KUBERNETES,
	  FROM_ENV "all",
	  NULL },
	{ { .environment = VISIBLE "all", .annotations = CONTAINERD },
	  CONFIG_ENV_IN_KUBERNETES | CONFIG_NO_ENV,
	  "nothing",
	  "is not privileged and" },
	{ { .environment = VISIBLE "all", .annotations = SANDBOX },
	  CONFIG_ENV_IN_KUBERNETES,
	  "nothing",
	  NULL },
	{ { .annotations = SANDBOX "|" CDI "nvidia.com/gpu=0" }, 0, "nothing", NULL },
	{ { .annotations = CONTAINERD "|" CDI "nvidia.com/gpu=0" }, 0, FROM_CDI "0", NULL },
	{ { .annotations = CONTAINERD, .mounts = IN_LIST UUID },
	  CONFIG_VOLUMES,
	  FROM_LIST UUID,
	  NULL },
	{ { .environment = "CUDA_VERSION=11.6", .annotations = CONTAINERD },
	  0,
	  "nothing",
	  "does not count in Kubernetes" },
	/* a swarm */
	{ { .environment = VISIBLE "0|DOCKER_RESOURCE_GPU=1" }, CONFIG_SWARM, FROM_ENV "1", NULL },
	{ { .environment = VISIBLE "0" }, CONFIG_SWARM, FROM_ENV "0", NULL },
	{ { .environment = VISIBLE "0|DOCKER_RESOURCE_GPU=" }, CONFIG_SWARM, "nothing", NULL },
	{ { .environment = VISIBLE "0|DOCKER_RESOURCE_GPU=1" }, 0, FROM_ENV "0", NULL },
	/* legacy images */
	{ { .environment = "CUDA_VERSION=11.6.2" },
	  0,
	  FROM_ENV "all; for all; needs "
		   "CUDA_VERSION=cuda>=11.6",
	  NULL },
	{ { .environment = "CUDA_VERSION=11.6|NVIDIA_REQUIRE_CUDA=cuda>=11.6" },
	  0,
	  "nothing",
	  NULL },
	{ { .environment = "CUDA_VERSION=11.6|NVIDIA_REQUIRE_CUDA=" },
	  0,
	  FROM_ENV "all; for all; needs CUDA_VERSION=cuda>=11.6",
	  NULL },
	{ { .environment = VISIBLE "0|CUDA_VERSION=11|NVIDIA_DRIVER_CAPABILITIES=video" },
	  0,
	  FROM_ENV "0; for video; needs CUDA_VERSION=cuda>=11.0",
	  NULL },
	{ { .environment = "CUDA_VERSION=" }, 0, "nothing", NULL },
	/* capabilities */
	{ { .environment = VISIBLE "0|NVIDIA_DRIVER_CAPABILITIES=" }, 0, FROM_ENV "0", NULL },
	{ { .environment = VISIBLE "0|NVIDIA_DRIVER_CAPABILITIES=all" },
	  0,
	  FROM_ENV "0; for all",
	  NULL },
	{ { .environment = VISIBLE "0|NVIDIA_DRIVER_CAPABILITIES=utility" },
	  0,
	  FROM_ENV "0; for utility",
	  NULL },
	{ { .environment = VISIBLE "0|NVIDIA_DRIVER_CAPABILITIES=utility" },
	  CONFIG_ALL_CAPABILITIES,
	  FROM_ENV "0; for all",
	  NULL },
	{ { .environment = VISIBLE "0|NVIDIA_DRIVER_CAPABILITIES=nonsense" },
	  CONFIG_ALL_CAPABILITIES,
	  FROM_ENV "0; for all",
	  NULL },
	{ { .environment = "NVIDIA_DRIVER_CAPABILITIES=nonsense" }, 0, "nothing", NULL },
	/* requirements: the peer's TestGetRequirements (internal/config/image) */
	{ { .environment = VISIBLE "0|NVIDIA_REQUIRE_JETPACK=csv-mounts=all" },
	  0,
	  FROM_ENV "0",
	  NULL },
	{ { .environment = VISIBLE "0|NVIDIA_REQUIRE_JETPACK_HOST_MOUNTS=base-only" },
	  0,
	  FROM_ENV "0",
	  NULL },
	{ { .environment = VISIBLE "0|NVIDIA_REQUIRE_CUDA=cuda>=11.6" },
	  0,
	  FROM_ENV "0; needs NVIDIA_REQUIRE_CUDA=cuda>=11.6",
	  NULL },
	{ { .environment =
		    VISIBLE "0|NVIDIA_REQUIRE_CUDA=cuda>=11.6|NVIDIA_REQUIRE_BRAND=brand=tesla" },
	  0,
	  FROM_ENV "0; needs NVIDIA_REQUIRE_CUDA=cuda>=11.6,NVIDIA_REQUIRE_BRAND=brand=tesla",
	  NULL },
	{ { .environment = VISIBLE "0|CUDA_VERSION=11.6|NVIDIA_REQUIRE_BRAND=brand=tesla" },
	  0,
	  FROM_ENV "0; for all; needs NVIDIA_REQUIRE_BRAND=brand=tesla,CUDA_VERSION=cuda>=11.6",
	  NULL },
	{ { .environment = VISIBLE "0|NVIDIA_REQUIRE_CUDA=cuda>=11|NVIDIA_DISABLE_REQUIRE=true" },
	  0,
	  FROM_ENV "0",
	  NULL },
	{ { .environment = VISIBLE "0|CUDA_VERSION=11.6|NVIDIA_DISABLE_REQUIRE=1" },
	  0,
	  FROM_ENV "0; for all",
	  NULL },
	{ { .environment = VISIBLE "0|NVIDIA_REQUIRE_CUDA=cuda>=11|NVIDIA_DISABLE_REQUIRE=yes" },
	  0,
	  FROM_ENV "0; needs NVIDIA_REQUIRE_CUDA=cuda>=11",
	  NULL },
	{ { .environment = VISIBLE "0|NVIDIA_REQUIRE_CUDA=cuda>=11" },
	  CONFIG_NO_REQUIRE,
	  FROM_ENV "0",
	  NULL },
	{ { .environment = VISIBLE "0|NVIDIA_REQUIRE_X=cuda>=11|NVIDIA_REQUIRE_X=cuda>=12" },
	  0,
	  FROM_ENV "0; needs NVIDIA_REQUIRE_X=cuda>=12",
	  NULL },
	{ { .environment = VISIBLE "0|NVIDIA_REQUIRE_X=cuda>=11|NVIDIA_REQUIRE_X=" },
	  0,
	  FROM_ENV "0",
	  NULL },
	/* devices beside the cards */
	{ { .environment = VISIBLE "0|NVIDIA_GDS=enabled|NVIDIA_MOFED=enabled|"
				   "NVIDIA_NVSWITCH=enabled|NVIDIA_GDRCOPY=enabled" },
	  0,
	  FROM_ENV "0; gds; mofed; nvswitch; gdrcopy",
	  NULL },
	{ { .environment = "NVIDIA_GDS=enabled" }, 0, "nothing", NULL },
	{ { .environment = VISIBLE "0|NVIDIA_GDS=true" },
	  0,
	  FROM_ENV "0",
	  "NVIDIA_GDS is \"true\" and not \"enabled\"" },
	{ { .environment = VISIBLE "0|NVIDIA_GDS=" }, 0, FROM_ENV "0", NULL },
	{ { .environment = "NVIDIA_MOFED=enabled",
	    .annotations = CONTAINERD "|" CDI "nvidia.com/gpu=0" },
	  0,
	  FROM_CDI "0",
	  "NVIDIA_MOFED (\"enabled\") does not count in Kubernetes" },
	{ { .environment =
		    VISIBLE "all|NVIDIA_MIG_CONFIG_DEVICES=all|NVIDIA_MIG_MONITOR_DEVICES=all",
	    .privileged = true },
	  0,
	  FROM_ENV "all; mig-config; mig-monitor",
	  NULL },
	{ { .environment = VISIBLE "all|NVIDIA_MIG_CONFIG_DEVICES=all" },
	  0,
	  FROM_ENV "all",
	  "NVIDIA_MIG_CONFIG_DEVICES does not count: the container is not privileged" },
	{ { .environment = VISIBLE "0:1|NVIDIA_MIG_MONITOR_DEVICES=all", .privileged = true },
	  0,
	  FROM_ENV "0:1",
	  "asks for single MIG instances" },
	{ { .environment = VISIBLE MIG_UUID "|NVIDIA_MIG_MONITOR_DEVICES=all", .privileged = true },
	  0,
	  FROM_ENV MIG_UUID,
	  "asks for single MIG instances" },
	{ { .environment = VISIBLE "0|NVIDIA_MIG_CONFIG_DEVICES=0", .privileged = true },
	  0,
	  FROM_ENV "0",
	  "is \"0\" and not \"all\"" },
	/* IMEX channels */
	{ { .environment = VISIBLE "0|NVIDIA_IMEX_CHANNELS=0, 2047,0,1048575" },
	  0,
	  FROM_ENV "0; imex 0,2047,1048575",
	  NULL },
	{ { .environment = VISIBLE "0|NVIDIA_IMEX_CHANNELS=all" },
	  0,
	  FROM_ENV "0; imex all",
	  NULL },
	{ { .mounts = IN_LIST "0|" IN_LIST "imex/all" },
	  CONFIG_VOLUMES,
	  FROM_LIST "0; imex all",
	  NULL },
	{ { .environment = VISIBLE "0|NVIDIA_IMEX_CHANNELS=0" },
	  CONFIG_NO_IMEX,
	  FROM_ENV "0",
	  NULL },
	{ { .environment = VISIBLE "0|NVIDIA_IMEX_CHANNELS=x" },
	  CONFIG_NO_IMEX,
	  FROM_ENV "0",
	  NULL },
	{ { .environment = VISIBLE "0|NVIDIA_IMEX_CHANNELS=" }, 0, FROM_ENV "0", NULL },
	{ { .environment = "NVIDIA_IMEX_CHANNELS=0" }, 0, "nothing", NULL },
	{ { .environment = "NVIDIA_IMEX_CHANNELS=0",
	    .annotations = CONTAINERD "|" CDI "nvidia.com/gpu=0" },
	  0,
	  FROM_CDI "0",
	  "NVIDIA_IMEX_CHANNELS (\"0\") does not count in Kubernetes" },
};

static void check_row(size_t i)
{
	autojson *spec = spec_of(&request_rows[i].asked);
	cleanup(device_request_release) struct device_request request = { 0 };
	cleanup(config_clear) struct toolkit_config config;
	autostrbuf text = STRBUF_INIT(4096);
	struct error error = ERROR_INIT;

	config_init(&config, request_rows[i].config);
	if (device_request_read(spec, &config, &request, &error) < 0)
		fail_msg("row %zu (%s): %s", i, request_rows[i].answer, error.message);
	describe(&request, &text);
	if (strcmp(text.data, request_rows[i].answer) != 0)
		fail_msg("row %zu: \"%s\", not \"%s\"", i, text.data, request_rows[i].answer);
	assert_int_equal(request.notes.count, request_rows[i].note ? 1 : 0);
	if (request_rows[i].note && !strstr(request.notes.items[0], request_rows[i].note))
		fail_msg("row %zu: %s", i, request.notes.items[0]);
}

TEST(requests_are_read)
{
	for (size_t i = 0; i < ARRAY_SIZE(request_rows); i++)
		check_row(i);
}

static const struct {
	struct asked asked;
	unsigned config;
	const char *message;
} bad_rows[] = {
	{ { .environment = VISIBLE "nvidia.com/gpu=" },
	  0,
	  "NVIDIA_VISIBLE_DEVICES: \"nvidia.com/gpu=\" is no name of a CDI device" },
	{ { .environment = VISIBLE "gpu=0" }, 0, "\"gpu=0\" is no name of a CDI device" },
	{ { .annotations = CDI "0" },
	  0,
	  "annotation cdi.k8s.io/nvidia-device-plugin_1: \"0\" is no name of a CDI device" },
	{ { .annotations = CDI "all" }, 0, "write vendor/class=device" },
	{ { .annotations = CDI "nvidia.com/gpu=0,void" }, 0, "\"void\" is no name" },
	{ { .mounts = IN_LIST "cdi/a//b" }, CONFIG_VOLUMES, LIST ": \"a/=b\" is no name" },
	{ { .mounts = IN_LIST "0|" IN_LIST "imex/x" }, CONFIG_VOLUMES, "\"x\" is no IMEX channel" },
	{ { .environment = VISIBLE "0|NVIDIA_IMEX_CHANNELS=1048576" },
	  0,
	  "NVIDIA_IMEX_CHANNELS: \"1048576\" is no IMEX channel; write numbers from 0 to 1048575" },
	{ { .environment = VISIBLE "0|NVIDIA_IMEX_CHANNELS=-1" }, 0, "\"-1\" is no IMEX channel" },
	{ { .environment = VISIBLE "0|NVIDIA_DRIVER_CAPABILITIES=compute,nonsense" },
	  0,
	  "NVIDIA_DRIVER_CAPABILITIES: the unknown word \"nonsense\"" },
	{ { .environment = "CUDA_VERSION=foo" }, 0, "CUDA_VERSION is \"foo\" and no version" },
};

TEST(bad_requests_are_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad_rows); i++) {
		autojson *spec = spec_of(&bad_rows[i].asked);
		struct device_request request = { 0 };
		cleanup(config_clear) struct toolkit_config config;
		struct error error = ERROR_INIT;

		config_init(&config, bad_rows[i].config);
		assert_int_equal(device_request_read(spec, &config, &request, &error), -EINVAL);
		if (!strstr(error.message, bad_rows[i].message))
			fail_msg("row %zu: %s", i, error.message);
		assert_null(request.devices.items);
	}
}

/* The peer's TestParseMajorMinorVersion (internal/config/image/cuda_image_test.go). */
static const struct {
	const char *version, *requirement; /* NULL: refused */
} version_rows[] = {
	{ "0", "cuda>=0.0" },
	{ "8", "cuda>=8.0" },
	{ "7.5", "cuda>=7.5" },
	{ "9.0.116", "cuda>=9.0" },
	{ "4294967295.4294967295.4294967295", "cuda>=4294967295.4294967295" },
	{ "v11.6", "cuda>=11.6" },
	{ "foo", NULL },
	{ "foo.5.10", NULL },
	{ "9.0.116.50", NULL },
	{ "9.0.116foo", NULL },
	{ "7.foo", NULL },
	{ "9.0.bar", NULL },
	{ "9.4294967296", NULL },
	{ "9.0.116.", NULL },
	{ "9..0", NULL },
	{ "9.", NULL },
	{ ".5.10", NULL },
	{ "-9", NULL },
	{ "+9", NULL },
	{ "-9.1.116", NULL },
	{ "-9.-1.-116", NULL },
	{ "12345678901234567890123456789.0", NULL },
};

TEST(versions_of_legacy_images)
{
	for (size_t i = 0; i < ARRAY_SIZE(version_rows); i++) {
		char environment[128];
		const struct asked asked = { .environment = environment };
		cleanup(device_request_release) struct device_request request = { 0 };
		cleanup(config_clear) struct toolkit_config config;

		snprintf(environment, sizeof(environment), "CUDA_VERSION=%s",
			 version_rows[i].version);
		autojson *spec = spec_of(&asked);
		config_init(&config, 0);
		int r = device_request_read(spec, &config, &request, NULL);
		assert_int_equal(r, version_rows[i].requirement ? 0 : -EINVAL);
		if (r < 0)
			continue;
		assert_int_equal(request.requirements.count, 1);
		assert_string_equal(request.requirements.items[0] + strlen("CUDA_VERSION="),
				    version_rows[i].requirement);
	}
}

/* What the administrator supports is all that an image can get. */
TEST(capabilities_are_cut)
{
	static const struct {
		const char *supported, *environment;
		unsigned flags;
		bool noted;
	} rows[] = {
		{ "compute", VISIBLE "0", CAPABILITY_COMPUTE, false },
		{ "compute,utility", VISIBLE "0|NVIDIA_DRIVER_CAPABILITIES=all", CAPABILITY_DEFAULT,
		  false },
		{ "compute,utility", VISIBLE "0|NVIDIA_DRIVER_CAPABILITIES=compute,video",
		  CAPABILITY_COMPUTE, true },
		{ "compute,utility", "CUDA_VERSION=11", CAPABILITY_DEFAULT, false },
		{ "graphics", VISIBLE "0", 0, false },
		{ "", VISIBLE "0|NVIDIA_DRIVER_CAPABILITIES=all", CAPABILITY_ALL, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct asked asked = { .environment = rows[i].environment };
		autojson *spec = spec_of(&asked);
		cleanup(device_request_release) struct device_request request = { 0 };
		cleanup(config_clear) struct toolkit_config config;

		config_init(&config, 0);
		free(config.supported_capabilities);
		config.supported_capabilities = strdup(rows[i].supported);
		assert_int_equal(device_request_read(spec, &config, &request, NULL), 0);
		assert_int_equal(request.capabilities, rows[i].flags);
		assert_int_equal(request.notes.count, rows[i].noted);
	}
}

TEST(a_policy_that_names_nonsense)
{
	const struct asked asked = { .environment = VISIBLE "0" };
	autojson *spec = spec_of(&asked);
	struct device_request request = { 0 };
	cleanup(config_clear) struct toolkit_config config;
	struct error error = ERROR_INIT;

	config_init(&config, 0);
	config.supported_capabilities[0] = 'X';
	assert_int_equal(device_request_read(spec, &config, &request, &error), -EINVAL);
	assert_non_null(strstr(error.message, "supported-driver-capabilities: "));
}

TEST(lists_have_an_end)
{
	for (unsigned items = 1024; items <= 1025; items++) {
		autostrbuf text = STRBUF_INIT(65536);
		struct device_request request = { 0 };
		cleanup(config_clear) struct toolkit_config config;
		struct error error = ERROR_INIT;

		strbuf_adds(&text, VISIBLE);
		for (unsigned i = 0; i < items; i++)
			strbuf_addf(&text, "%u,", i);
		const struct asked asked = { .environment = text.data };
		autojson *spec = spec_of(&asked);
		config_init(&config, 0);
		assert_int_equal(device_request_read(spec, &config, &request, &error),
				 items <= 1024 ? 0 : -EINVAL);
		if (items > 1024)
			assert_non_null(strstr(error.message, "names more than 1024 devices"));
		device_request_release(&request);
	}
}

/* Other types where texts and lists belong ask for nothing, and break nothing. */
TEST(odd_specs_ask_for_nothing)
{
	static const char *const texts[] = {
		"{}",
		"[]",
		"7",
		"{\"process\":7}",
		"{\"process\":{\"env\":{\"NVIDIA_VISIBLE_DEVICES\":\"all\"}}}",
		"{\"process\":{\"env\":[7,null,\"NVIDIA_VISIBLE_DEVICES\"]}}",
		"{\"annotations\":[\"cdi.k8s.io/x\"]}",
		"{\"annotations\":{\"cdi.k8s.io/x\":7}}",
		"{\"mounts\":{\"source\":\"/dev/null\"}}",
		"{\"mounts\":[null,7,{\"destination\":7}]}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		autojson *spec = NULL;
		struct device_request request = { 0 };
		cleanup(config_clear) struct toolkit_config config;

		assert_int_equal(
			json_parse(texts[i], strlen(texts[i]), "spec", &oci_limits, &spec, NULL),
			0);
		config_init(&config, CONFIG_VOLUMES);
		assert_int_equal(device_request_read(spec, &config, &request, NULL), 0);
		assert_int_equal(request.source, SOURCE_NONE);
		device_request_release(&request);
	}
}

TEST(requests_without_memory)
{
	const struct asked asked = {
		.environment = "DOCKER_RESOURCE_GPU=0|CUDA_VERSION=11|NVIDIA_REQUIRE_X=cuda>=1|"
			       "NVIDIA_GDS=no|NVIDIA_DRIVER_CAPABILITIES=video|"
			       "NVIDIA_IMEX_CHANNELS=1",
		.mounts = IN_LIST "cdi/nvidia.com/gpu/0|" IN_LIST "1|" IN_LIST "imex/5",
		.annotations = CDI "example.org/nic=eth0",
	};

	for (unsigned source = 0; source < 3; source++) {
		const struct asked part = { .environment = asked.environment,
					    .mounts = source < 2 ? asked.mounts : NULL,
					    .annotations = source < 1 ? asked.annotations : NULL };
		autojson *spec = spec_of(&part);
		cleanup(config_clear) struct toolkit_config config;

		config_init(&config, CONFIG_VOLUMES | CONFIG_SWARM);
		for (unsigned n = 0;; n++) {
			struct device_request request = { 0 };

			fault_arm(n);
			int r = device_request_read(spec, &config, &request, NULL);
			if (!fault_disarm()) {
				assert_int_equal(r, 0);
				assert_int_equal(request.source, source + 1);
				device_request_release(&request);
				break;
			}
			assert_int_equal(r, -ENOMEM);
		}
	}
}

TEST(sources_have_names)
{
	for (int i = 0; i < SOURCE_MAX; i++)
		assert_int_equal(request_source_from_string(
					 request_source_to_string((enum request_source)i)),
				 i);
}

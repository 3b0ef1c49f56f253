/* SPDX-License-Identifier: Apache-2.0 */
/* What deploy/ says of gpupoold and what gpupoold itself says are the same: paths, port, keys. */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/model.h"

#define MANIFEST SOURCE_ROOT "/deploy/gpupoold.yaml"
#define UNIT     SOURCE_ROOT "/deploy/gpupoold.service"

/* The document of that kind, or NULL. */
static struct json_object *find_kind(const struct yaml_stream *stream, const char *kind)
{
	for (size_t i = 0; i < stream->count; i++)
		if (strcmp(json_get_string(stream->documents[i], "kind", ""), kind) == 0)
			return stream->documents[i];
	return NULL;
}

static struct json_object *find_named(struct json_object *list, const char *key, const char *value)
{
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);

		if (strcmp(json_get_string(item, key, ""), value) == 0)
			return item;
	}
	return NULL;
}

static struct json_object *template_of(struct json_object *daemon_set)
{
	return json_get(daemon_set, "spec.template.spec");
}

static struct json_object *container_of(struct json_object *daemon_set)
{
	return json_object_array_get_idx(json_get(template_of(daemon_set), "containers"), 0);
}

/* What a mount is in the container, and on the host ("configMap": no folder of the host). */
struct place {
	const char *inside, *host, *type;
	bool read_only;
};

/* 0, or a sentence in WRONG. A path without a slash after it is a folder, else the folder of a file. */
static int check_mount(struct json_object *daemon_set, const struct place *place,
		       struct strbuf *wrong)
{
	struct json_object *mount = find_named(json_get(container_of(daemon_set), "volumeMounts"),
					       "mountPath", place->inside);
	struct json_object *volume = find_named(json_get(template_of(daemon_set), "volumes"),
						"name", json_get_string(mount, "name", "-"));
	struct json_object *only = mount ? json_object_object_get(mount, "readOnly") : NULL;

	if (!mount || !volume)
		strbuf_addf(wrong, "%s: no mount or no volume", place->inside);
	else if (json_object_get_boolean(only) != place->read_only)
		strbuf_addf(wrong, "%s: readOnly", place->inside);
	else if (place->host &&
		 (strcmp(json_get_string(volume, "hostPath.path", ""), place->host) != 0 ||
		  strcmp(json_get_string(volume, "hostPath.type", ""), place->type) != 0))
		strbuf_addf(wrong, "%s: host path or type", place->inside);
	else if (!place->host && !json_get(volume, "configMap"))
		strbuf_addf(wrong, "%s: no configMap", place->inside);
	return wrong->length ? -1 : 0;
}

/* The folder of a file. */
static const char *folder_of(const char *path, char *ret, size_t size)
{
	snprintf(ret, size, "%.*s", (int)(strrchr(path, '/') - path), path);
	return ret;
}

static int check_mounts(struct json_object *daemon_set, struct strbuf *wrong)
{
	cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
	const struct plugin_inputs none = { .flags = NULL };
	char plugins[128], resources[128], own[128];
	struct error error = ERROR_INIT;

	assert_int_equal(plugin_config_read(&none, &config, &error), 0);
	const struct place places[] = {
		{ folder_of(config.kubelet_socket, plugins, sizeof(plugins)), plugins, "Directory",
		  false },
		{ folder_of(config.pod_resources_socket, resources, sizeof(resources)), resources,
		  "DirectoryOrCreate", true },
		{ config.cdi_directory, PATH_CDI_RUN, "DirectoryOrCreate", false },
		{ config.state_directory, PATH_STATE, "DirectoryOrCreate", false },
		{ config.run_directory, PATH_RUN, "DirectoryOrCreate", false },
		{ config.container_driver_root, "/", "Directory", true },
		{ folder_of(PATH_CONFIG, own, sizeof(own)), NULL, NULL, true },
	};
	struct json_object *mounts = json_get(container_of(daemon_set), "volumeMounts");
	struct json_object *volumes = json_get(template_of(daemon_set), "volumes");

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (check_mount(daemon_set, &places[i], wrong) < 0)
			return -1;
	/* And nothing that nobody asked for. */
	if (json_object_array_length(mounts) == ARRAY_SIZE(places) &&
	    json_object_array_length(volumes) == ARRAY_SIZE(places))
		return 0;
	strbuf_adds(wrong, "a mount that no key names");
	return -1;
}

static void read_manifest(struct yaml_stream *stream)
{
	struct error error = ERROR_INIT;

	if (yaml_read_file(MANIFEST, stream, &error) < 0)
		fail_msg("%s", error.message);
}

TEST(the_daemon_set_mounts_what_the_keys_name)
{
	autoyaml stream = { 0 };
	autostrbuf wrong = STRBUF_INIT(256);

	read_manifest(&stream);
	if (check_mounts(find_kind(&stream, "DaemonSet"), &wrong) < 0)
		fail_msg("%s", wrong.data);
}

/* Controls: each of these is noticed. */
TEST(control_a_mount_that_is_not_as_it_should_be)
{
	static const struct {
		const char *path, *key, *value;
	} changes[] = {
		{ "/var/lib/gpupool", "mountPath", "/var/lib/other" },
		{ "/var/lib/gpupool", "name", "run" },
		{ "/run/gpupool", "name", "nobody" },
		{ "/driver-root", "readOnly", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		autoyaml stream = { 0 };
		autojson *copy = NULL;
		autostrbuf wrong = STRBUF_INIT(256);
		struct error error = ERROR_INIT;

		read_manifest(&stream);
		assert_int_equal(json_copy(find_kind(&stream, "DaemonSet"), &copy, &error), 0);
		struct json_object *mount = find_named(json_get(container_of(copy), "volumeMounts"),
						       "mountPath", changes[i].path);
		assert_non_null(mount);
		json_object_object_del(mount, changes[i].key);
		if (changes[i].value)
			json_add_string(mount, changes[i].key, changes[i].value);
		if (check_mounts(copy, &wrong) == 0)
			fail_msg("change %zu is not noticed", i);
	}
}

TEST(the_daemon_set_has_what_registration_needs)
{
	autoyaml stream = { 0 };
	char image[64];

	read_manifest(&stream);
	struct json_object *set = find_kind(&stream, "DaemonSet");
	struct json_object *roll = json_get(set, "spec.updateStrategy.rollingUpdate");
	struct json_object *pod = template_of(set);
	struct json_object *tolerations = json_get(pod, "tolerations");

	assert_int_equal(json_get_uint(roll, "maxSurge", 7), 0);
	assert_int_equal(json_get_uint(roll, "maxUnavailable", 7), 1);
	assert_string_equal(json_get_string(pod, "priorityClassName", ""), "system-node-critical");
	assert_int_equal(json_object_array_length(tolerations), 1);
	struct json_object *all = json_object_array_get_idx(tolerations, 0);
	assert_string_equal(json_get_string(all, "operator", ""), "Exists");
	assert_int_equal(json_object_object_length(all), 1);
	snprintf(image, sizeof(image), "localhost/gpupoold:%s", GPUPOOL_VERSION);
	assert_string_equal(json_get_string(container_of(set), "image", ""), image);
	assert_non_null(find_kind(&stream, "ServiceAccount"));
	assert_false(json_object_get_boolean(json_get(pod, "automountServiceAccountToken")));
}

TEST(the_daemon_set_selects_its_own_pods_in_its_own_namespace)
{
	autoyaml stream = { 0 };

	read_manifest(&stream);
	struct json_object *set = find_kind(&stream, "DaemonSet");
	struct json_object *selected = json_get(set, "spec.selector.matchLabels");
	struct json_object *labels = json_get(set, "spec.template.metadata.labels");

	assert_true(json_object_equal(selected, labels));
	const char *namespace =
		json_get_string(find_kind(&stream, "Namespace"), "metadata.name", "");
	for (size_t i = 0; i < stream.count; i++)
		if (strcmp(json_get_string(stream.documents[i], "kind", ""), "Namespace") != 0)
			assert_string_equal(
				json_get_string(stream.documents[i], "metadata.namespace", ""),
				namespace);
	assert_string_equal(
		json_get_string(template_of(set), "serviceAccountName", "-"),
		json_get_string(find_kind(&stream, "ServiceAccount"), "metadata.name", ""));
	struct json_object *config =
		find_named(json_get(template_of(set), "volumes"), "name", "config");
	assert_string_equal(json_get_string(config, "configMap.name", "-"),
			    json_get_string(find_kind(&stream, "ConfigMap"), "metadata.name", ""));
}

TEST(the_config_map_is_a_configuration_that_runs)
{
	cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
	char path[] = "/tmp/gpupool-test-XXXXXX";
	const struct plugin_inputs inputs = { .usual_file = path };
	struct error error = ERROR_INIT;
	autoyaml stream = { 0 };

	read_manifest(&stream);
	struct json_object *data = json_get(find_kind(&stream, "ConfigMap"), "data");
	const char *text =
		json_object_get_string(json_object_object_get(data, strrchr(PATH_CONFIG, '/') + 1));
	assert_non_null(text);
	int fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	int r = plugin_config_read(&inputs, &config, &error);
	unlink(path);
	if (r < 0 || plugin_config_supported(&config, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(config.notes.count, 0);
	/* The port of the probes is that of the metrics. */
	struct json_object *port = json_object_array_get_idx(
		json_get(container_of(find_kind(&stream, "DaemonSet")), "ports"), 0);
	assert_int_equal(json_get_uint(port, "containerPort", 0),
			 strtoul(strrchr(config.metrics_address, ':') + 1, NULL, 10));
}

/* The value of KEY in the unit file, or NULL; in BUFFER. */
static const char *unit_value(const char *text, const char *key, char *buffer, size_t size)
{
	size_t length = strlen(key);

	for (const char *at = text; *at;
	     at += strcspn(at, "\n") + (at[strcspn(at, "\n")] != '\0')) {
		if (strncmp(at, key, length) != 0 || at[length] != '=')
			continue;
		at += length + 1;
		snprintf(buffer, size, "%.*s", (int)strcspn(at, "\n"), at);
		return buffer;
	}
	return NULL;
}

TEST(the_unit_has_the_folders_of_the_keys)
{
	static const struct {
		const char *key, *value;
	} rows[] = {
		{ "StateDirectory", &PATH_STATE[sizeof("/var/lib/") - 1] },
		{ "RuntimeDirectory", &PATH_RUN[sizeof("/run/") - 1] },
		/* The inventory is read while the daemon is away. */
		{ "RuntimeDirectoryPreserve", "yes" },
		{ "ExecStart", "/usr/bin/gpupoold" },
		{ "KillMode", "mixed" },
		/* A driver may lie below /home/kubernetes. */
		{ "ProtectHome", "read-only" },
	};
	/* Each of them would keep the driver's nodes, files or /tmp/nvidia-mps from the daemon. */
	static const char *const forbidden[] = { "PrivateDevices", "DeviceAllow",
						 "DevicePolicy",   "ProtectClock",
						 "DynamicUser",    "ProtectKernelLogs",
						 "PrivateTmp" };
	autofree char *text = NULL;
	struct error error = ERROR_INIT;
	char buffer[256];
	size_t length;

	if (file_read(UNIT, 1 << 16, &text, &length, &error) < 0)
		fail_msg("%s", error.message);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *value = unit_value(text, rows[i].key, buffer, sizeof(buffer));

		assert_non_null(value);
		assert_string_equal(value, rows[i].value);
	}
	for (size_t i = 0; i < ARRAY_SIZE(forbidden); i++)
		if (unit_value(text, forbidden[i], buffer, sizeof(buffer)))
			fail_msg("%s stands in the unit", forbidden[i]);
	assert_non_null(unit_value(text, "CapabilityBoundingSet", buffer, sizeof(buffer)));
	assert_null(strstr(buffer, "MKNOD"));
}

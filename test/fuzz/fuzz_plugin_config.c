/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as the file of gpupoold: an error with a message, or a configuration whose print says the same. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/model.h"

static void must(bool truth)
{
	if (!truth)
		abort();
}

static int read_text(const void *text, size_t size, struct plugin_config *ret, struct error *error)
{
	char path[64];
	const struct plugin_inputs inputs = { .usual_file = path };
	int fd = memfd_create("config", MFD_CLOEXEC);

	must(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	must(write(fd, text, size) == (ssize_t)size);
	int r = plugin_config_read(&inputs, ret, error);
	close(fd);
	return r;
}

static void to_text(const struct plugin_config *config, struct strbuf *out)
{
	autojson *tree = NULL;
	struct error error = ERROR_INIT;

	must(plugin_config_to_json(config, &tree, &error) == 0);
	must(json_to_text(tree, false, out, &error) == 0);
}

static void check_parts(const struct plugin_config *config)
{
	struct error error = ERROR_INIT;
	struct card card = { .index = 0, .uuid = "GPU-a", .model = "NVIDIA A100" };
	const struct card_choice *choice = plugin_config_find_card(config, &card);

	must(!choice || choice->excluded || (int)choice->mode >= 0);
	must(config->device_lists != 0 && config->probe_period_ms >= 1000);
	must(config->imex_channels.count <= 1);
	for (size_t i = 0; i < config->time_slicing.count; i++)
		must(config->time_slicing.resources[i].replicas >= 2 &&
		     strlen(config->time_slicing.resources[i].rename) <= 63);
	int r = plugin_config_supported(config, &error);
	must(r == 0 || (r == -ENOTSUP && error.message[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(plugin_config_release) struct plugin_config config = { .notes = { 0 } };
	cleanup(plugin_config_release) struct plugin_config again = { .notes = { 0 } };
	autostrbuf yaml = STRBUF_INIT(1u << 24), one = STRBUF_INIT(1u << 24),
		   other = STRBUF_INIT(1u << 24);
	struct error error = ERROR_INIT;

	int r = read_text(data, size, &config, &error);
	if (r < 0) {
		must(r == -EBADMSG && error.number == EBADMSG && error.message[0]);
		must(!config.config_file && !config.notes.count);
		return 0;
	}
	check_parts(&config);
	must(plugin_config_to_yaml(&config, &yaml, &error) == 0);
	must(read_text(yaml.data, yaml.length, &again, &error) == 0);
	to_text(&config, &one);
	to_text(&again, &other);
	must(strcmp(one.data, other.data) == 0);
	return 0;
}

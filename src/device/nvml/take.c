/* SPDX-License-Identifier: Apache-2.0 */
/* From the helper's records to facts. Nothing in a record is believed. */
#include "device/nvml/query.h"

#include <errno.h>
#include <string.h>

#include "abi/nvml.h"
#include "device/sysfs/sysfs.h"

#define CARD_BYTES_MAX (UINT64_C(1) << 50)
#define MIB            (UINT64_C(1) << 20)

static void condition_worsen(struct nvml_card *card, enum card_health health, const char *format,
			     ...) __attribute__((format(printf, 3, 4)));

/* Only to the worse; of equals the first stays. */
static void condition_worsen(struct nvml_card *card, enum card_health health, const char *format,
			     ...)
{
	va_list arguments;

	if (health <= card->condition.health)
		return;
	va_start(arguments, format);
	reason_vtext(card->condition.cause, sizeof(card->condition.cause), format, arguments);
	va_end(arguments);
	card->condition.health = health;
}

/* False when the text has no end; what is not printable becomes '?'. */
static bool text_take(char *to, size_t size, const char *from, size_t from_size)
{
	size_t length = strnlen(from, from_size);
	bool whole = length < from_size;
	bool is_utf8 = parse_utf8_valid(from, length);

	if (length >= size) {
		length = size - 1;
		is_utf8 = false; /* the cut may be within a character */
	}
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)from[i];
		bool good = byte >= ' ' && byte != 0x7f && (byte < 0x80 || is_utf8);

		to[i] = good ? from[i] : '?';
	}
	to[length] = '\0';
	return whole;
}

static void take_identity(const struct record_card *record, struct nvml_card *card)
{
	char bus_id[RECORD_TEXT_MAX];

	if (!text_take(card->uuid, sizeof(card->uuid), record->uuid, sizeof(record->uuid)) ||
	    (card->uuid[0] && !card_uuid_is_valid(card->uuid))) {
		condition_worsen(card, CARD_SUSPECT, "the driver gives it an unusable UUID");
		card->uuid[0] = '\0';
	}
	if (!text_take(card->model, sizeof(card->model), record->name, sizeof(record->name)))
		condition_worsen(card, CARD_SUSPECT, "the driver gives it a name without an end");
	(void)text_take(card->serial, sizeof(card->serial), record->serial, sizeof(record->serial));
	if (!text_take(bus_id, sizeof(bus_id), record->bus_id, sizeof(record->bus_id)) ||
	    (bus_id[0] && bus_id_normalise(bus_id, card->bus_id) < 0))
		condition_worsen(card, CARD_SUSPECT, "the driver gives it an unusable PCI address");
	card->has_minor = (record->has & RECORD_HAS_MINOR) && record->minor < 255;
	card->minor = card->has_minor ? record->minor : CARD_MINOR_NONE;
}

/*
 * NVML's brands by the words that NVIDIA_REQUIRE_* uses (libnvidia-container's names, in small
 * letters).
 *
 * How to add one: a row.
 */
static const char *const brand_names[] = {
	[NVML_BRAND_UNKNOWN] = "unknown",
	[NVML_BRAND_QUADRO] = "quadro",
	[NVML_BRAND_TESLA] = "tesla",
	[NVML_BRAND_NVS] = "nvs",
	[NVML_BRAND_GRID] = "grid",
	[NVML_BRAND_GEFORCE] = "geforce",
	[NVML_BRAND_TITAN] = "titan",
	[NVML_BRAND_NVIDIA_VAPPS] = "vapps",
	[NVML_BRAND_NVIDIA_VPC] = "vpc",
	[NVML_BRAND_NVIDIA_VCS] = "vcs",
	[NVML_BRAND_NVIDIA_VWS] = "vws",
	[NVML_BRAND_NVIDIA_CLOUD_GAMING] = "cloudgaming",
	[NVML_BRAND_QUADRO_RTX] = "quadrortx",
	[NVML_BRAND_NVIDIA_RTX] = "nvidiartx",
	[NVML_BRAND_NVIDIA] = "nvidia",
	[NVML_BRAND_GEFORCE_RTX] = "geforcertx",
	[NVML_BRAND_TITAN_RTX] = "titanrtx",
};

static void take_brand(const struct record_card *record, struct nvml_card *card)
{
	card->brand[0] = '\0';
	if (record->has & RECORD_HAS_BRAND && record->brand < ARRAY_SIZE(brand_names))
		reason_text(card->brand, sizeof(card->brand), "%s", brand_names[record->brand]);
}

static bool instance_is_known(const struct nvml_card *card, const struct card_instance *instance)
{
	for (size_t i = 0; i < card->instance_count; i++)
		if (strcmp(card->instances[i].uuid, instance->uuid) == 0 ||
		    (card->instances[i].gpu_instance == instance->gpu_instance &&
		     card->instances[i].compute_instance == instance->compute_instance))
			return true;
	return false;
}

/* The profile is the end of the name: "NVIDIA A100-SXM4-80GB MIG 1g.10gb". */
static void take_profile(const struct record_instance *record, struct card_instance *instance)
{
	char name[RECORD_TEXT_MAX];
	bool whole = text_take(name, sizeof(name), record->name, sizeof(record->name));
	const char *mark = whole ? strstr(name, " MIG ") : NULL;

	if (mark && strlen(mark + 5) < sizeof(instance->profile) && !strchr(mark + 5, ' '))
		memcpy(instance->profile, mark + 5, strlen(mark + 5) + 1);
}

static int take_instances(const struct record_answer *answer, struct nvml_card *card)
{
	const struct record_instances *record = &answer->instances;

	for (uint32_t i = 0; i < record->count && i < RECORD_INSTANCES_MAX; i++) {
		const struct record_instance *from = &record->instances[i];
		struct card_instance instance = { .index = from->index,
						  .gpu_instance = from->gpu_instance,
						  .compute_instance = from->compute_instance,
						  .gpu_minor = CARD_MINOR_NONE,
						  .compute_minor = CARD_MINOR_NONE };

		if (!text_take(instance.uuid, sizeof(instance.uuid), from->uuid,
			       sizeof(from->uuid)) ||
		    !mig_uuid_is_valid(instance.uuid) || from->gpu_instance > 255 ||
		    from->compute_instance > 255 || instance_is_known(card, &instance) ||
		    card->instance_count == CARD_INSTANCES_MAX) {
			condition_worsen(card, CARD_SUSPECT,
					 "the driver gives it an unusable MIG device");
			continue;
		}
		take_profile(from, &instance);
		struct card_instance *added =
			VEC_ADD(&card->instances, &card->instance_count, &card->instance_capacity);
		if (!added)
			return -ENOMEM;
		*added = instance;
	}
	return 0;
}

static int take_card(const struct record_answer *answer, struct nvml_card *card)
{
	const struct record_card *record = &answer->card;

	take_identity(record, card);
	if (record->total_bytes > CARD_BYTES_MAX) {
		condition_worsen(card, CARD_SUSPECT,
				 "the driver says that it has %llu bytes of memory",
				 (unsigned long long)record->total_bytes);
	} else {
		card->total_bytes = record->total_bytes;
		card->used_bytes = record->used_bytes < record->total_bytes ? record->used_bytes
									    : record->total_bytes;
	}
	if ((record->has & RECORD_HAS_COMPUTE) && record->compute_major < 1000 &&
	    record->compute_minor < 1000) {
		card->compute_major = record->compute_major;
		card->compute_minor = record->compute_minor;
	}
	take_brand(record, card);
	card->mig_capable = record->has & RECORD_HAS_MIG;
	card->mig_enabled = card->mig_capable && record->mig_enabled == 1;
	if (answer->status == RECORD_OK && !card->uuid[0])
		condition_worsen(card, CARD_SUSPECT, "the driver gives it no UUID");
	return 0;
}

static int take_health(const struct record_answer *answer, struct nvml_card *card)
{
	const struct record_health *health = &answer->health;

	if (health->double_bit)
		condition_worsen(card, CARD_SUSPECT,
				 "%llu uncorrected memory errors since the driver was loaded",
				 (unsigned long long)health->double_bit);
	if (health->remap_failed)
		condition_worsen(card, CARD_SUSPECT, "a failed memory row could not be replaced");
	if (health->remap_pending)
		condition_worsen(card, CARD_SUSPECT,
				 "failed memory rows are replaced at the next reset");
	if (health->retire_pending)
		condition_worsen(card, CARD_SUSPECT,
				 "failed memory pages are retired at the next reset");
	return 0;
}

static int take_processes(const struct record_answer *answer, struct nvml_card *card)
{
	const struct record_processes *record = &answer->processes;

	for (uint32_t i = 0; i < record->count && i < RECORD_CHUNK; i++) {
		const struct record_process *from = &record->processes[i];

		if (from->pid == 0 || from->pid > INT32_MAX)
			continue;
		struct card_process *process =
			VEC_ADD(&card->processes, &card->process_count, &card->process_capacity);
		if (!process)
			return -ENOMEM;
		process->pid = (pid_t)from->pid;
		process->uid = UINT32_MAX;
		process->used_mib = from->used_bytes > CARD_BYTES_MAX ? 0 : from->used_bytes / MIB;
		(void)text_take(process->name, sizeof(process->name), from->name,
				sizeof(from->name));
	}
	return 0;
}

static int take_links(const struct record_answer *answer, struct nvml_card *card)
{
	card->links = answer->links;
	if (card->links.lane_count > RECORD_LANES_MAX)
		card->links.lane_count = 0;
	for (uint32_t i = 0; i < card->links.lane_count; i++) {
		char bus_id[CARD_BUS_ID_MAX] = "", text[CARD_BUS_ID_MAX];
		struct record_lane *lane = &card->links.lanes[i];

		if (text_take(text, sizeof(text), lane->bus_id, sizeof(lane->bus_id)))
			(void)bus_id_normalise(text, bus_id);
		memcpy(lane->bus_id, bus_id, sizeof(lane->bus_id));
	}
	card->has_links = true;
	return 0;
}

/* Both sides have the same list. */
#define CARD_VALUE(name) [CARD_VALUE_##name] = RECORD_VALUE_##name,
static const unsigned char value_numbers[CARD_VALUE_MAX] = {
#include "abi/card_values.def"
};
#undef CARD_VALUE
_Static_assert((int)CARD_VALUE_MAX == (int)RECORD_VALUE_MAX, "model/card_sample.h has other rows");

static int take_sample(const struct record_answer *answer, struct nvml_card *card)
{
	const struct record_sample *from = &answer->sample;

	card->sample = (struct card_sample){ 0 };
	for (unsigned i = 0; i < CARD_VALUE_MAX; i++) {
		if (!(from->has >> value_numbers[i] & 1))
			continue;
		card->sample.has |= UINT64_C(1) << i;
		card->sample.values[i] = from->values[value_numbers[i]];
	}
	return 0;
}

_Static_assert(RECORD_BUS_ID_MAX == CARD_BUS_ID_MAX, "lanes are normalised in place");

/* What NVML's numbers say about a card; all others make it suspect. */
static enum card_health health_of(int32_t code)
{
	return code == NVML_ERROR_GPU_IS_LOST || code == NVML_ERROR_GPU_NOT_FOUND ? CARD_LOST
										  : CARD_SUSPECT;
}

/* How to add a question about a card: one row. */
static int (*const takers[RECORD_KIND_MAX])(const struct record_answer *answer,
					    struct nvml_card *card) = {
	[RECORD_CARD] = take_card,           [RECORD_HEALTH] = take_health,
	[RECORD_PROCESSES] = take_processes, [RECORD_LINKS] = take_links,
	[RECORD_INSTANCES] = take_instances, [RECORD_SAMPLE] = take_sample,
};

int nvml_take_answer(const struct record_answer *answer, struct nvml_card *card)
{
	char message[128];

	if (answer->kind >= RECORD_KIND_MAX || !takers[answer->kind])
		return 0;
	if (answer->status != RECORD_OK) {
		(void)text_take(message, sizeof(message), answer->message, sizeof(answer->message));
		condition_worsen(card, health_of(answer->nvml), "the driver says: %s (NVML %d)",
				 message[0] ? message : "no text", answer->nvml);
	}
	/* With an error only the identity may have been filled. */
	if (answer->status == RECORD_OK || answer->kind == RECORD_CARD)
		return takers[answer->kind](answer, card);
	return 0;
}

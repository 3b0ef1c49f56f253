/* SPDX-License-Identifier: Apache-2.0 */
#include "device/probe.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "device/events.h"
#include "device/links.h"
#include "device/nvml/helper.h"
#include "device/nvml/information.h"
#include "device/nvml/library.h"
#include "device/root.h"

#define DEADLINE_MS 5000u

void probe_fail(struct probe *probe, enum reason_code code, const char *text)
{
	probe->code = code;
	reason_text(probe->inventory->problem, sizeof(probe->inventory->problem), "%s", text);
}

void probe_fail_no_driver(struct probe *probe, const char *text)
{
	autostrbuf detail = STRBUF_INIT(1024);

	if (probe->pci.count)
		strbuf_addf(&detail, "%zu NVIDIA device%s on the PCI bus", probe->pci.count,
			    probe->pci.count == 1 ? "" : "s");
	else
		strbuf_adds(&detail, "no NVIDIA device on the PCI bus");
	if (!probe->procfs.present)
		strbuf_adds(&detail, ", no kernel module loaded");
	else
		strbuf_addf(&detail, ", kernel module %s loaded",
			    probe->procfs.version[0] ? probe->procfs.version
						     : "of unknown version");
	if (text)
		strbuf_addf(&detail, "; %s", text);
	probe_fail(probe, REASON_NO_DRIVER, detail.data);
}

bool probe_versions_differ(struct probe *probe, const char *library_version)
{
	autostrbuf detail = STRBUF_INIT(512);

	if (!library_version[0] || !probe->procfs.version[0] ||
	    strcmp(library_version, probe->procfs.version) == 0)
		return false;
	strbuf_addf(&detail, "module %s, libraries %s", probe->procfs.version, library_version);
	probe_fail(probe, REASON_DRIVER_MISMATCH, detail.data);
	return true;
}

static void probe_take_nvml(struct probe *probe)
{
	struct inventory *inventory = probe->inventory;

	memcpy(inventory->driver_version, probe->nvml.driver_version,
	       sizeof(inventory->driver_version));
	memcpy(inventory->nvml_version, probe->nvml.nvml_version, sizeof(inventory->nvml_version));
	inventory->cuda_major = probe->nvml.cuda_major;
	inventory->cuda_minor = probe->nvml.cuda_minor;
	probe->nvml_asked = true;
	if (probe->nvml.code == REASON_NO_DRIVER)
		probe_fail_no_driver(probe, probe->nvml.detail);
	else if (probe->nvml.code)
		probe_fail(probe, probe->nvml.code, probe->nvml.detail);
}

static unsigned probe_deadline(const struct probe *probe)
{
	return probe->options->deadline_ms ? probe->options->deadline_ms : DEADLINE_MS;
}

/* The library, or NULL with the reason why there is none that can be asked. */
static int probe_find_library(struct probe *probe, char **ret, struct error *error)
{
	autofree char *library = NULL, *version = NULL;
	struct inventory *inventory = probe->inventory;
	struct error own = ERROR_INIT;
	int r = library_find(inventory->driver_root, NVML_LIBRARY, &library, &version, &own);

	if (r == -ENOMEM)
		return error_no_memory(error);
	if (r == -ENOENT) /* the reason's own sentence says what to do */
		error_set(&own, ENOENT, "no %s under %s", NVML_LIBRARY, inventory->driver_root);
	if (r < 0) {
		probe_fail_no_driver(probe, own.message);
	} else if (probe_versions_differ(probe, version)) {
		reason_text(inventory->driver_version, sizeof(inventory->driver_version), "%s",
			    version);
	} else {
		*ret = TAKE_PTR(library);
	}
	return 0;
}

void device_stuck_add(struct device_stuck *stuck, pid_t pid)
{
	if (pid > 0 && stuck->count < DEVICE_STUCK_MAX)
		stuck->pids[stuck->count++] = pid;
}

void device_stuck_reap(struct device_stuck *stuck)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < stuck->count; i++)
		if (!device_child_reap(stuck->pids[i]))
			stuck->pids[kept++] = stuck->pids[i];
	stuck->count = kept;
}

/* With two helpers caught it is known what the next one would meet. */
static bool probe_is_stuck(struct probe *probe, const struct device_stuck *stuck)
{
	autostrbuf text = STRBUF_INIT(256);

	if (stuck->count < DEVICE_STUCK_MAX)
		return false;
	strbuf_addf(&text, "%u helpers are caught in the driver (processes %d and %d)",
		    stuck->count, (int)stuck->pids[0], (int)stuck->pids[1]);
	probe_fail(probe, REASON_DRIVER_HUNG, text.data);
	return true;
}

/* Everything that touches the driver, in helpers. */
static int probe_ask(struct probe *probe, struct error *error)
{
	struct device_stuck own = { .count = 0 };
	struct device_stuck *stuck = probe->options->stuck ? probe->options->stuck : &own;
	pid_t caught = 0;

	device_stuck_reap(stuck);
	if (probe_is_stuck(probe, stuck))
		return 0;
	autofree char *library = NULL, *program = NULL;
	struct nvml_options options = { .deadline_ms = probe_deadline(probe),
					.stuck = stuck,
					.samples = probe->options->samples };
	int r = probe_find_library(probe, &library, error);

	if (r < 0 || (!library && !probe->procfs.count))
		return r;
	r = helper_find(probe->options->helper, &program, error);
	if (r == 0 && probe->procfs.count)
		r = information_query(program, options.deadline_ms, &probe->procfs, &caught, error);
	device_stuck_add(stuck, caught);
	if (r < 0 || !library)
		return r;
	options.program = program;
	options.library = library;
	r = nvml_query(&options, &probe->nvml, error);
	if (r == 0)
		probe_take_nvml(probe);
	return r;
}

struct card *probe_new_card(struct probe *probe)
{
	struct inventory *inventory = probe->inventory;

	if (inventory->card_count == CARDS_MAX)
		return NULL;
	struct card *card =
		VEC_ADD(&inventory->cards, &inventory->card_count, &inventory->card_capacity);
	if (card) {
		card->index = CARD_INDEX_NONE;
		card->minor = CARD_MINOR_NONE;
		card->numa = -1;
		card->mode = CARD_MODE_AUTO;
	}
	return card;
}

void card_worsen(struct card *card, enum card_health health, const char *cause)
{
	if (health <= card->condition.health)
		return;
	card->condition.health = health;
	reason_text(card->condition.cause, sizeof(card->condition.cause), "%s", cause);
}

void card_from_kernel(struct probe *probe, struct card *card)
{
	const struct pci_device *pci = pci_find(&probe->pci, card->bus_id);
	const struct procfs_card *known = procfs_find(&probe->procfs, card->bus_id);

	if (pci) {
		card->numa = pci->numa;
		if (pci->link_down)
			card_worsen(card, CARD_LOST,
				    "the PCI bus reads all ones: the card fell off the bus");
	}
	if (!known)
		return;
	probe->taken[known - probe->procfs.cards] = true;
	if (!card->uuid[0])
		memcpy(card->uuid, known->uuid, sizeof(card->uuid));
	if (!card->model[0])
		memcpy(card->model, known->model, sizeof(card->model));
	if (known->has_minor)
		card->minor = known->minor;
}

static void card_from_nvml(struct card *card, unsigned index, struct nvml_card *from)
{
	card->index = index;
	card->minor = from->minor;
	memcpy(card->uuid, from->uuid, sizeof(card->uuid));
	memcpy(card->model, from->model, sizeof(card->model));
	memcpy(card->bus_id, from->bus_id, sizeof(card->bus_id));
	memcpy(card->serial, from->serial, sizeof(card->serial));
	card->memory_bytes = from->total_bytes;
	card->used_bytes = from->used_bytes;
	card->compute_major = from->compute_major;
	card->compute_minor = from->compute_minor;
	card->mig_capable = from->mig_capable;
	card->mig_enabled = from->mig_enabled;
	card->mode = from->mig_enabled ? CARD_MODE_MIG : CARD_MODE_AUTO;
	card->condition = from->condition;
	card->processes = TAKE_PTR(from->processes);
	card->process_count = from->process_count;
	card->process_capacity = from->process_capacity;
	memcpy(card->brand, from->brand, sizeof(card->brand));
	card->instances = TAKE_PTR(from->instances);
	card->instance_count = from->instance_count;
	card->instance_capacity = from->instance_capacity;
}

static int probe_add_nvml_cards(struct probe *probe, struct error *error)
{
	/* The module counts in the host's namespace, a simulated one in its own, which is ours. */
	bool owners = !probe->inventory->real || process_ids_are_of_host();

	for (unsigned i = 0; i < probe->nvml.count; i++) {
		struct card *card = probe_new_card(probe);

		if (!card)
			return error_no_memory(error);
		card_from_nvml(card, i, &probe->nvml.cards[i]);
		for (size_t k = 0; owners && k < card->process_count; k++)
			process_describe(&card->processes[k]);
		card_from_kernel(probe, card);
	}
	return 0;
}

/*
 * A card that gave no answer has an index and no address. The kernel's cards that nobody claimed
 * are those, in the same order: both lists are in order of the address.
 */
static void probe_identify(struct probe *probe)
{
	size_t at = 0;

	for (size_t i = 0; i < probe->inventory->card_count; i++) {
		struct card *card = &probe->inventory->cards[i];

		if (card->bus_id[0])
			continue;
		while (at < probe->procfs.count &&
		       (probe->taken[at] || probe->procfs.cards[at].excluded))
			at++;
		if (at == probe->procfs.count)
			return;
		memcpy(card->bus_id, probe->procfs.cards[at].bus_id, sizeof(card->bus_id));
		card_from_kernel(probe, card);
	}
}

/* Cards that the module has and NVML does not count. */
static int probe_add_kernel_cards(struct probe *probe, struct error *error)
{
	static const char missing[] = "the kernel module lists it, NVML does not";

	for (size_t i = 0; i < probe->procfs.count; i++) {
		if (probe->taken[i] || probe->procfs.cards[i].excluded)
			continue;
		if (probe->inventory->card_count == CARDS_MAX)
			return 0;
		struct card *card = probe_new_card(probe);
		if (!card)
			return error_no_memory(error);
		memcpy(card->bus_id, probe->procfs.cards[i].bus_id, sizeof(card->bus_id));
		card_from_kernel(probe, card);
		if (probe->nvml_asked && !probe->code)
			card_worsen(card, CARD_LOST, missing);
		else
			card_worsen(card,
				    probe->code == REASON_DRIVER_HUNG ? CARD_LOST : CARD_SUSPECT,
				    probe->code ? probe->inventory->problem : "NVML was not asked");
	}
	return 0;
}

void probe_name_cards(struct inventory *inventory)
{
	for (size_t i = 0; i < inventory->card_count; i++) {
		struct card *card = &inventory->cards[i];
		struct card *first = card->uuid[0] ? inventory_find(inventory, card->uuid) : card;

		if (first != card) {
			card_worsen(first, CARD_SUSPECT, "another card has the same UUID");
			card_worsen(card, CARD_SUSPECT, "another card has the same UUID");
		} else if (card->uuid[0]) {
			continue;
		}
		/* Procfs has none before the first use of the card: no sign of a sickness. */
		if (!inventory->kernel_only)
			card_worsen(card, CARD_SUSPECT, "its UUID is unknown");
		if (card->bus_id[0])
			reason_text(card->uuid, sizeof(card->uuid), "unknown-%s", card->bus_id);
		else
			reason_text(card->uuid, sizeof(card->uuid), "unknown-card-%zu", i);
	}
}

/* NVML names MIG devices, the module tells their nodes. */
static void probe_find_nodes(struct probe *probe)
{
	procfs_read_instances(&probe->procfs);
	for (size_t i = 0; i < probe->inventory->card_count; i++) {
		struct card *card = &probe->inventory->cards[i];

		for (size_t k = 0; k < card->instance_count; k++) {
			struct card_instance *instance = &card->instances[k];
			const struct procfs_instance *known = procfs_find_instance(
				&probe->procfs, card->minor, instance->gpu_instance,
				instance->compute_instance);

			if (!known)
				continue;
			instance->gpu_minor = known->gpu_minor;
			instance->compute_minor = known->compute_minor;
		}
	}
}

/* A card that NVML does not list has none. */
static int probe_take_samples(struct probe *probe, struct error *error)
{
	struct inventory *inventory = probe->inventory;

	if (!probe->options->samples)
		return 0;
	inventory->samples = calloc(inventory->card_count + 1, sizeof(*inventory->samples));
	if (!inventory->samples)
		return error_no_memory(error);
	for (unsigned i = 0; i < probe->nvml.count && i < inventory->card_count; i++)
		inventory->samples[i] = probe->nvml.cards[i].sample;
	return 0;
}

static int probe_cards(struct probe *probe, struct error *error)
{
	struct inventory *inventory = probe->inventory;
	int r = probe_add_nvml_cards(probe, error);

	if (r < 0)
		return r;
	probe_identify(probe);
	r = probe_add_kernel_cards(probe, error);
	if (r == 0)
		r = probe_take_samples(probe, error);
	if (r < 0)
		return r;
	probe_name_cards(inventory);
	probe_find_nodes(probe);
	for (size_t i = 0; i < inventory->card_count; i++)
		if (inventory->cards[i].condition.health != CARD_HEALTHY)
			inventory->cards[i].condition.since = inventory->taken;
	return links_build(inventory, probe->nvml.cards, probe->nvml.count, error);
}

int probe_root(struct probe *probe, struct error *error)
{
	struct inventory *inventory = probe->inventory;
	int r = device_find_driver_root(probe->options->driver_root, inventory->driver_root,
					sizeof(inventory->driver_root), error);

	/* No driver anywhere is an answer, not a failure; a root that was named is no guess. */
	if (r == -ENOENT && !probe->options->driver_root && !secure_getenv(ENV_DRIVER_ROOT)) {
		reason_text(inventory->driver_root, sizeof(inventory->driver_root), "/");
		return 0;
	}
	return r;
}

static int probe_run(struct probe *probe, struct error *error)
{
	struct inventory *inventory = probe->inventory;
	int r = probe_root(probe, error);

	if (r == 0)
		r = procfs_boot_id(inventory->boot_id, sizeof(inventory->boot_id), error);
	if (r == 0)
		r = procfs_read(inventory->driver_root, &probe->procfs, error);
	if (r == 0)
		r = pci_read(inventory->driver_root, &probe->pci, error);
	if (r < 0)
		return r;
	memcpy(inventory->module_version, probe->procfs.version, sizeof(probe->procfs.version));
	inventory->mig_generation = probe->procfs.mig_generation;
	inventory->taken = time(NULL);
	if (probe->options->no_nvml)
		procfs_read_information(&probe->procfs);
	else
		r = probe_ask(probe, error);
	if (r < 0)
		return r;
	inventory->real =
		inventory->driver_version[0] && procfs_kernel_agrees(inventory->driver_version);
	return probe_cards(probe, error);
}

static void probe_reason(const struct probe *probe, struct reason *ret)
{
	struct utsname host;

	memset(ret, 0, sizeof(*ret));
	ret->code = probe->code;
	if (!probe->code)
		return;
	reason_text(ret->node, sizeof(ret->node), "%s",
		    uname(&host) == 0 ? host.nodename : "this machine");
	reason_text(ret->detail, sizeof(ret->detail), "%s", probe->inventory->problem);
}

int device_probe(const struct device_options *options, struct inventory *ret,
		 struct reason *ret_reason, struct error *error)
{
	cleanup(inventory_release) struct inventory inventory;
	struct probe probe = { .options = options, .inventory = &inventory };

	inventory_init(&inventory);
	int r = probe_run(&probe, error);
	nvml_result_release(&probe.nvml);
	if (r < 0)
		return r;
	if (ret_reason)
		probe_reason(&probe, ret_reason);
	*ret = inventory;
	inventory_init(&inventory);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one reason model. A code has exactly two texts: a class (constant, at most 60 characters,
 * countable, for events and extender answers) and a sentence (object, numbers, cure).
 *
 * How to add a reason: one row in REASONS below. The sentence is a template whose placeholders are
 * fields of struct reason: {object} {node} {card} {model} {unit} {wanted} {have} {total} {detail};
 * and {s} is "s" unless {wanted} is 1. [a|b|c] is a in a reason about the whole pool, b in one about
 * a node, c in one about a card; [a|c] is a for pool and node.
 * test/unit/test_reason.c complains about a class that is too long, a placeholder that does not
 * exist, and a sentence without a cure.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "model/card.h"

enum reason_link {
	REASON_LINK_DRIVER,
	REASON_LINK_RUNTIME,
	REASON_LINK_PLUGIN,
	REASON_LINK_SCHEDULER,
	REASON_LINK_INJECTION,
	REASON_LINK_CUDA,
	REASON_LINK_SHARING,
	REASON_LINK_DRA,
	REASON_LINK_MAX,
	REASON_LINK_INVALID = -22,
};

/* M(code, name, link, for_ever, class, sentence): for_ever = this pool can never satisfy it. */
#define REASONS(M)                                                                                 \
	M(REASON_NO_DRIVER, "no_driver", DRIVER, 0, "no NVIDIA driver found",                      \
	  "{node} offers no cards: {detail}. Install the driver or name its place with "           \
	  "--driver-root.")                                                                        \
	M(REASON_DRIVER_MISMATCH, "driver_mismatch", DRIVER, 0, "driver and library differ",       \
	  "{node} offers no cards: {detail}. Reload the kernel module or reboot.")                 \
	M(REASON_DRIVER_HUNG, "driver_hung", DRIVER, 0, "driver gives no answer",                  \
	  "{node} offers no cards: {detail}. See the kernel log for Xid lines, then reset or "     \
	  "reboot.")                                                                               \
	M(REASON_NODE_CARDS, "node_cards", SCHEDULER, 1, "fewer such cards than asked for",        \
	  "{object} wants {wanted} card{s}{detail}, and {node} has [the most of them where "       \
	  "it may run, {total}|{total} of them|]. Ask for at most {total}.")                       \
	M(REASON_NO_CARDS, "no_cards", SCHEDULER, 1, "node without cards",                         \
	  "{object} wants {wanted} {unit}{s}, and [the pool|{node}|] has no cards. Add a "         \
	  "node with cards.")                                                                      \
	M(REASON_CARDS_BUSY, "cards_busy", SCHEDULER, 0, "not enough free cards",                  \
	  "{object} [wants {wanted} free card{s}, {node} has {have} of {total}|cannot use "        \
	  "{card} of {node}: {detail}]. Wait for a holder to end, or ask for no more than "        \
	  "are free.")                                                                             \
	M(REASON_CARD_MEMORY, "card_memory", SCHEDULER, 1, "slice larger than the cards",          \
	  "{object} wants {wanted} GiB on {detail}; [with nothing else running there are "         \
	  "{total} GiB at most where it may run: {card} of {node} has no more|with nothing "       \
	  "else running {node} has {total} GiB there at most: {card} has no more|{card} of "       \
	  "{node} has {total} GiB]. Ask for at most {total} GiB on a card, or spread it "          \
	  "over more cards with gpupool.io/slice-cards.")                                          \
	M(REASON_MEMORY_BUSY, "memory_busy", SCHEDULER, 0, "not enough free card memory",          \
	  "{object} wants {wanted} GiB on {detail}; [free there are {have} GiB at most "           \
	  "where it may run: {card} of {node} has no more|{node} has {have} GiB free there "       \
	  "at most: {card} has no more|{card} of {node} has {have} of {total} GiB free]. "         \
	  "Wait for a holder to end, or ask for no more than is free.")                            \
	M(REASON_COMPUTE_BUSY, "compute_busy", SCHEDULER, 0, "not enough free compute",            \
	  "{object} wants {wanted} % of compute on {detail}; [free there are {have} % at "         \
	  "most where it may run: {card} of {node} has no more|{node} has {have} % free "          \
	  "there at most: {card} has no more|{card} of {node} has {have} % free]. Wait for "       \
	  "a holder to end, or ask for no more than is free.")                                     \
	M(REASON_NO_MODEL, "no_model", SCHEDULER, 1, "no card of the wanted model",                \
	  "{object} wants a card of model {detail}, [the pool|{node}|{card} of {node}] has "       \
	  "{model}. [A pattern must fit a whole name, as *A100* does: correct it|Let the "         \
	  "Pod take that model, or choose another node|Let the Pod take that model, or "           \
	  "choose another card].")                                                                 \
	M(REASON_NO_UUID, "no_uuid", SCHEDULER, 1, "no card with the wanted UUID",                 \
	  "{object} wants card {detail}, which [is not among the {total} cards of the "            \
	  "pool|is not on {node}|{card} of {node} is not]. [See gpupool inventory for "            \
	  "their UUIDs|Choose another node, or correct the UUIDs of the Pod|Choose another "       \
	  "card, or correct the UUIDs of the Pod].")                                               \
	M(REASON_CARD_LOST, "card_lost", DRIVER, 0, "card lost",                                   \
	  "{object} [wants {wanted} {unit}{s}, {node} has {have} usable of {total}: "              \
	  "{card}|cannot use {card} of {node}: it] is lost, {detail}. Reset the card or "          \
	  "reboot {node}.")                                                                        \
	M(REASON_CARD_SUSPECT, "card_suspect", DRIVER, 0, "card unhealthy",                        \
	  "{object} [wants {wanted} {unit}{s}, {node} has {have} usable of {total}: "              \
	  "{card}|cannot use {card} of {node}: it] is suspect, {detail}. See gpupool "             \
	  "inventory; it returns when its probe passes.")                                          \
	M(REASON_WRONG_MODE, "wrong_mode", SHARING, 0, "card is in another mode",                  \
	  "{object} wants {detail}, [{node} has {have} of {total} cards in a mode for "            \
	  "that: {card} is in another|and {card} of {node} is in another mode]. Change its "       \
	  "mode; out of MIG, that is nvidia-smi -mig 0.")                                          \
	M(REASON_FOREIGN_USE, "foreign_use", SHARING, 0, "card used by a process without a grant", \
	  "{object} [wants {wanted} {unit}{s}, {node} has {have} usable of {total}: "              \
	  "{card}|cannot use {card} of {node}: it] is used without a grant, {detail}. Stop "       \
	  "that process or wait for it to end.")                                                   \
	M(REASON_TAINT, "taint", SCHEDULER, 0, "taint that the Pod does not tolerate",             \
	  "{object} may not run on {node}: it has the taint {detail}. Add a toleration of "        \
	  "it to the Pod, or remove the taint.")                                                   \
	M(REASON_AFFINITY, "affinity", SCHEDULER, 1, "node without the wanted labels",             \
	  "{object} wants a node with {detail}, and [none of the {total} nodes is "                \
	  "one|{node} is none|]. Correct the nodeSelector or the node affinity, or label a "       \
	  "node.")                                                                                 \
	M(REASON_NODE_CPU, "node_cpu", SCHEDULER, 1, "less CPU than asked for",                    \
	  "{object} wants {wanted} m of CPU, and {node} has [the most to give where it may "       \
	  "run, ||]{total} m. Ask for at most {total} m.")                                         \
	M(REASON_NODE_MEMORY, "node_memory", SCHEDULER, 1, "less memory than asked for",           \
	  "{object} wants {wanted} MiB of memory, and {node} has [the most to give where "         \
	  "it may run, ||]{total} MiB. Ask for at most {total} MiB.")                              \
	M(REASON_CPU_BUSY, "cpu_busy", SCHEDULER, 0, "not enough free CPU",                        \
	  "{object} wants {wanted} m of CPU, {node} has {have} m free of {total} m. "              \
	  "Wait for a Pod to end, or ask for no more than is free.")                               \
	M(REASON_HOST_MEMORY_BUSY, "host_memory_busy", SCHEDULER, 0, "not enough free memory",     \
	  "{object} wants {wanted} MiB of memory, {node} has {have} MiB free of "                  \
	  "{total} MiB. Wait for a Pod to end, or ask for no more than is free.")                  \
	M(REASON_PODS_BUSY, "pods_busy", SCHEDULER, 0, "too many Pods",                            \
	  "{object} wants room for {wanted} Pod{s}, {node} has room for {have} more "              \
	  "of {total}. Wait for a Pod to end, or raise the limit of Pods of {node}.")              \
	M(REASON_POD_BUSY, "pod_busy", SCHEDULER, 0,                                               \
	  "not enough room for all containers of the Pod",                                         \
	  "{object} finds no room for {detail} beside the other containers of its Pod: {node} "    \
	  "has "                                                                                   \
	  "room for {have} of the {total} that ask for cards[, the most of all nodes|]. Wait for " \
	  "a holder to end, or ask for less.")                                                     \
	M(REASON_POD_SIZE, "pod_size", SCHEDULER, 1, "containers that fit on no node together",    \
	  "{object} finds no room for {detail} beside the other containers of its Pod: with "      \
	  "nothing else running {node} has room for {have} of the {total} that ask for cards"      \
	  "[, the most of all nodes|]. Ask for less, or split the Pod.")                           \
	M(REASON_GANG_BUSY, "gang_busy", SCHEDULER, 0, "not enough room for the whole gang",       \
	  "{object} is one of a gang of {total} Pods, of which {have} found a place{detail}. "     \
	  "Wait for holders to end, or ask for a smaller gang.")                                   \
	M(REASON_GANG_SIZE, "gang_size", SCHEDULER, 1, "gang larger than all that may share it",   \
	  "{object} is one of a gang of {total} Pods, which takes {wanted} card{s} at least, and " \
	  "the most{detail} are {have}. Ask for a smaller gang.")                                  \
	M(REASON_MIG_PROFILE, "mig_profile", SHARING, 1, "no card with that MIG profile",          \
	  "{object} wants {detail}[ has that profile; the pool has {model}|, and no card "         \
	  "of {node} has that profile: it has {model}|, and {card} of {node} has no such "         \
	  "profile: it is a {model}]. See nvidia-smi mig -lgip for the profiles of a card.")       \
	M(REASON_MIG_COUNT, "mig_count", SHARING, 1,                                               \
	  "fewer MIG instances possible than asked for",                                           \
	  "{object} wants {detail}; [with nothing else running there is room for {have} at "       \
	  "most where it may run, on {node}|with nothing else running {node} has room for "        \
	  "{have}|{card} of {node} has no room for one even when it is empty]. Ask for "           \
	  "fewer or for a smaller profile, or change a fixed layout.")                             \
	M(REASON_NOT_MIG, "not_mig", SHARING, 0, "card is not in MIG mode",                        \
	  "{object} wants {detail}, and [the cards of {node} in MIG mode have room for "           \
	  "{have}: {card}|{card} of {node}] is in another mode. Turn MIG on there with "           \
	  "nvidia-smi -mig 1.")                                                                    \
	M(REASON_MIG_BUSY, "mig_busy", SHARING, 0, "no free place for the MIG instance",           \
	  "{object} wants {detail}, [{node} has room for {have} now: of the memory slices "        \
	  "of {card} {total} are free|and {card} of {node} has no room for one: of its "           \
	  "memory slices {total} are free]. Wait for a holder to end, or ask for a smaller "       \
	  "profile.")                                                                              \
	M(REASON_NOT_OFFERED, "not_offered", SHARING, 1, "kind of sharing not offered yet",        \
	  "{object} wants {detail}, which this version of gpupool does not place. Ask for whole "  \
	  "cards with nvidia.com/gpu or for a slice with gpupool.io/gpu-memory.")                  \
	M(REASON_NOT_INTEGER, "not_integer", SCHEDULER, 1, "not a whole number",                   \
	  "{object} asks for {detail}, and Kubernetes counts it in whole numbers. For a part of "  \
	  "a card write gpupool.io/gpu-memory (GiB, or 1536Mi for 1.5 GiB).")                      \
	M(REASON_NO_LIMIT, "no_limit", SCHEDULER, 1, "requests without limits",                    \
	  "{object} sets requests of {detail} and no limit. Put the same number under "            \
	  "resources.limits.")                                                                     \
	M(REASON_NOT_EQUAL, "not_equal", SCHEDULER, 1, "requests differ from limits",              \
	  "{object} requests {have} and limits {wanted} of {detail}. Make them the same number.")  \
	M(REASON_BAD_REQUEST, "bad_request", SCHEDULER, 1, "request not understood",               \
	  "{object}: {detail}. Correct the Pod.")                                                  \
	M(REASON_NO_RESOURCE, "no_resource", SCHEDULER, 1, "resource that no node offers",         \
	  "{object} wants {detail}, which {node} does not offer. Remove it from the Pod, or run "  \
	  "the Pod where it is offered.")                                                          \
	M(REASON_BAD_ROOT, "bad_root", INJECTION, 1, "image root is not safe",                     \
	  "{object} has an image root in which {detail}. Use an image with real /dev, /proc and "  \
	  "/sys directories.")                                                                     \
	M(REASON_BAD_MOUNT, "bad_mount", INJECTION, 1, "a volume lies over the driver's place",    \
	  "{object} mounts a volume at {detail}. Mount it elsewhere in the container.")            \
	M(REASON_UNKNOWN_DEVICE, "unknown_device", INJECTION, 1, "no such device on this machine", \
	  "{object} asks for {detail}, which is none of the {total} cards of {node} and none "     \
	  "of the {have} MIG instances on them. Use an index, a UUID or a bus address that "       \
	  "gpupool inventory shows.")                                                              \
	M(REASON_NO_INVENTORY, "no_inventory", INJECTION, 0, "inventory does not know the device", \
	  "{object} asks for {detail}, and what the kernel says of the {total} cards of {node} "   \
	  "does not tell UUIDs of MIG instances, nor those of cards that were never opened. "      \
	  "Run gpupool inventory as root once, which asks the driver.")                            \
	M(REASON_CDI_UNRESOLVED, "cdi_unresolved", INJECTION, 0,                                   \
	  "CDI device that no spec file has",                                                      \
	  "{object} asks for the CDI device {detail}. Have its vendor's tool write the spec, or "  \
	  "correct the name; gpupool cdi list shows what is there.")                               \
	M(REASON_REQUIREMENT, "requirement", INJECTION, 1, "image needs another driver or card",   \
	  "{object}: image needs {detail}. Set NVIDIA_DISABLE_REQUIRE=1 in the container to "      \
	  "start it all the same.")                                                                \
	M(REASON_NO_RUNTIME, "no_runtime", RUNTIME, 0, "no container runtime found",               \
	  "{node} lacks a container runtime: {detail}. Install runc or crun.")                     \
	M(REASON_OFFERED_HELD, "offered_held", PLUGIN, 0, "kubelet offered a held unit",           \
	  "{object} gets nothing on {node}: kubelet offered a held unit, {detail}. Delete the "    \
	  "Pod "                                                                                   \
	  "so that it is made anew; restart the kubelet if this comes again.")                     \
	M(REASON_NO_GRANT, "no_grant", PLUGIN, 0, "devices that make no grant",                    \
	  "{object} gets nothing on {node}: {detail}. Delete the Pod so that it is made anew.")    \
	M(REASON_DEVICES_BUSY, "devices_busy", PLUGIN, 0, "not enough free devices",               \
	  "{object} wants {wanted} {unit}{s}, {node} has {have} of {total} to give. Wait for a "   \
	  "holder to end, or ask for no more than is free.")                                       \
	M(REASON_SINGLE_ONLY, "single_only", PLUGIN, 1, "more than one replica in a container",    \
	  "{object} gets nothing on {node}: maximum request size for shared resources is 1; "      \
	  "found {wanted}. Ask for 1: more of them are no larger share of a card.")                \
	M(REASON_HELD_TWICE, "held_twice", PLUGIN, 0, "two Pods hold one device",                  \
	  "{object} and {detail} on {node}, by the kubelet's checkpoint. Delete one of the Pods.") \
	M(REASON_LEDGER_DIFFERS, "ledger_differs", PLUGIN, 0, "ledger and kubelet disagree",       \
	  "{object} holds {detail} on {node} by the kubelet's checkpoint, and the ledger knew "    \
	  "nothing of it. It is held from now on; see whether another device plugin ran here.")    \
	M(REASON_LINGERING, "lingering", PLUGIN, 0, "Pod is gone, its processes are not",          \
	  "{object} is gone for the kubelet of {node}, and its processes still run on {detail}. "  \
	  "Wait until they end, or kill them.")

enum reason_code {
	REASON_NONE,
#define M(code, name, link, for_ever, class, sentence) code,
	REASONS(M)
#undef M
		REASON_CODE_MAX,
	REASON_CODE_INVALID = -22,
};

/* Whom the numbers are about: the best that the pool has to offer, one node, or one card. */
enum reason_scope { REASON_SCOPE_POOL, REASON_SCOPE_NODE, REASON_SCOPE_CARD };

#define REASON_TEXT_MAX 256

struct reason {
	enum reason_code code;
	enum reason_scope scope;
	char object[REASON_TEXT_MAX]; /* "container main of Pod default/train" */
	char node[REASON_TEXT_MAX];
	char card[CARD_DESCRIPTION_MAX]; /* "card 3 (GPU-...)" */
	char model[REASON_TEXT_MAX];     /* models of the pool, comma separated */
	int64_t wanted, have, total;     /* unit: see the sentence */
	const char *unit;                /* where it may differ; static; NULL: "card" */
	char detail[REASON_TEXT_MAX];
	char kubernetes[1024]; /* Kubernetes' own sentence, or "" */
};

/* A copy that fits; a text that does not is cut with "...". */
void reason_text(char *to, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void reason_vtext(char *to, size_t size, const char *format, va_list arguments)
	__attribute__((format(printf, 3, 0)));

const char *reason_name(enum reason_code code);  /* "cards_busy" */
const char *reason_class(enum reason_code code); /* "not enough free cards" */
enum reason_link reason_link_of(enum reason_code code);
const char *reason_link_to_string(enum reason_link link);
enum reason_link reason_link_from_string(const char *text);
bool reason_is_for_ever(enum reason_code code);
/* Adds the sentence with its placeholders filled. -EINVAL for one that does not exist, or no end. */
int reason_sentence(const struct reason *reason, struct strbuf *out);
int reason_to_json(const struct reason *reason, struct json_object **ret, struct error *error);

/*
 * What kube-scheduler says when none of NODES fits (FitError.Error and the default preemption's
 * tail, 1.34 to 1.37), for the case that all nodes give the one reason WHY ("Insufficient
 * nvidia.com/gpu", or an extender's class). RESOLVABLE: some Pod's end could make room; false when
 * more is wanted than the node's allocatable. 0 or -ENAMETOOLONG.
 */
int kubernetes_refusal(char *ret, size_t size, unsigned nodes, const char *why, bool resolvable);
int kubernetes_unschedulable(char *ret, size_t size, unsigned nodes, const char *resource,
			     bool resolvable);

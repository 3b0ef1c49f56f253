/* SPDX-License-Identifier: Apache-2.0 */
#include "model/card_name.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"

/*
 * Names as NVML gives them. A label has '-' where they have blanks, which cannot be undone by rule.
 * How to add one: a row, anywhere.
 */
static const char *const names[] = {
	"NVIDIA A10",
	"NVIDIA A100 80GB PCIe",
	"NVIDIA A100-PCIE-40GB",
	"NVIDIA A100-SXM4-40GB",
	"NVIDIA A100-SXM4-80GB",
	"NVIDIA A10G",
	"NVIDIA A16",
	"NVIDIA A2",
	"NVIDIA A30",
	"NVIDIA A40",
	"NVIDIA A800 80GB PCIe",
	"NVIDIA A800-SXM4-80GB",
	"NVIDIA B200",
	"NVIDIA GB200",
	"NVIDIA GH200 480GB",
	"NVIDIA GeForce RTX 3090",
	"NVIDIA GeForce RTX 4090",
	"NVIDIA GeForce RTX 5090",
	"NVIDIA H100 80GB HBM3",
	"NVIDIA H100 NVL",
	"NVIDIA H100 PCIe",
	"NVIDIA H20",
	"NVIDIA H200",
	"NVIDIA H200 NVL",
	"NVIDIA H800",
	"NVIDIA L20",
	"NVIDIA L4",
	"NVIDIA L40",
	"NVIDIA L40S",
	"NVIDIA RTX 6000 Ada Generation",
	"NVIDIA RTX A6000",
	"NVIDIA RTX PRO 6000 Blackwell Server Edition",
	"Quadro RTX 6000",
	"Quadro RTX 8000",
	"Tesla P4",
	"Tesla P40",
	"Tesla P100-PCIE-16GB",
	"Tesla P100-SXM2-16GB",
	"Tesla T4",
	"Tesla V100-PCIE-16GB",
	"Tesla V100-PCIE-32GB",
	"Tesla V100-SXM2-16GB",
	"Tesla V100-SXM2-32GB",
	"Tesla V100-SXM3-32GB",
};

static bool is_label_of(const char *name, const char *label, size_t length)
{
	if (strlen(name) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if ((name[i] == ' ' ? '-' : name[i]) != label[i])
			return false;
	return true;
}

void card_name_from_label(const char *label, size_t length, char ret[static CARD_MODEL_MAX])
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (is_label_of(names[i], label, length)) {
			snprintf(ret, CARD_MODEL_MAX, "%s", names[i]);
			return;
		}
	snprintf(ret, CARD_MODEL_MAX, "%.*s", (int)length, label);
}

void card_name_from_hami(const char *type, size_t length, char ret[static CARD_MODEL_MAX])
{
	static const char vendor[] = "NVIDIA-";
	size_t skip = sizeof(vendor) - 1;

	if (length > skip && strncmp(type, vendor, skip) == 0) {
		type += skip;
		length -= skip;
	}
	card_name_from_label(type, length, ret);
}

static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			      "0123456789-._:";

bool card_uuid_is_plain(const char *text)
{
	size_t length = strlen(text);

	return length && length < CARD_UUID_MAX && strspn(text, allowed) == length;
}

void card_make_uuid(struct card *card, const char *node)
{
	char name[92];
	size_t length = 0;

	for (; *node && length < 88; node++) { /* the index fits in behind it */
		if (strchr(allowed, *node))
			name[length++] = *node;
		else
			length += (size_t)snprintf(name + length, 4, "_%02x",
						   (unsigned)(unsigned char)*node);
	}
	snprintf(card->uuid, sizeof(card->uuid), "%.*s:%u", (int)length, name, card->index);
}

uint32_t capability_parse_minor(const char *text)
{
	static const char key[] = "DeviceFileMinor:";

	while (*text) {
		size_t line = strcspn(text, "\n");

		if (strncmp(text, key, strlen(key)) == 0) {
			const char *value = text + strlen(key);
			char digits[16] = "";
			uint64_t minor;

			value += strspn(value, " \t");
			size_t length = strspn(value, "0123456789");
			if (!length || length >= sizeof(digits))
				return CARD_MINOR_NONE;
			memcpy(digits, value, length);
			if (parse_uint(digits, 0, CARD_MINOR_NONE - 1, &minor) < 0)
				return CARD_MINOR_NONE;
			return (uint32_t)minor;
		}
		text += line + (text[line] == '\n');
	}
	return CARD_MINOR_NONE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* nvidia-smi mig -cgi, -cci, -dgi, -dci and nvidia-smi -mig. Texts are those of the real one. */
#include "smi.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_ 64

/* WORD: an ID, or a name with or without "MIG "; "" is the one of the whole GPU instance. */
static bool find_compute_profile(const struct smi *smi, const struct smi_gpu_instance *gpu,
				 const char *word, struct nvml_compute_instance_profile_v2 *ret)
{
	char *end;
	unsigned long id = strtoul(word, &end, 10);
	bool number = word[0] != '\0' && *end == '\0';

	for (unsigned i = 0; i < SMI_COMPUTE_PROFILES; i++) {
		if (!smi_compute_profile(smi, gpu->handle, i, ret))
			continue;
		if (word[0] == '\0' ? ret->sliceCount == gpu->profile.sliceCount
		    : number        ? ret->id == id
				    : strcmp(ret->name, word) == 0 ||
				       strcmp(ret->name + strlen("MIG "), word) == 0)
			return true;
	}
	return false;
}

static enum nvml_return create_compute(const struct smi *smi, const struct smi_card *card,
				       const struct smi_gpu_instance *gpu, const char *word)
{
	struct nvml_compute_instance_profile_v2 profile;
	struct nvmlComputeInstance_st *compute;
	struct nvml_compute_instance_info info = { 0 };
	enum nvml_return result = NVML_ERROR_INVALID_ARGUMENT;

	if (find_compute_profile(smi, gpu, word, &profile))
		result = smi->nvml.nvmlGpuInstanceCreateComputeInstance(gpu->handle, profile.id,
									&compute);
	if (result != NVML_SUCCESS) {
		printf("Unable to create a compute instance on GPU %2u GPU instance ID %2u using "
		       "profile %s: %s\n",
		       card->index, gpu->info.id, word, smi->nvml.nvmlErrorString(result));
		return result;
	}
	smi->nvml.nvmlComputeInstanceGetInfo_v2(compute, &info);
	printf("Successfully created compute instance ID %2u on GPU %2u GPU instance ID %2u using "
	       "profile %s (ID %2u)\n",
	       info.id, card->index, gpu->info.id, profile.name, profile.id);
	return NVML_SUCCESS;
}

static bool find_gpu_profile(const struct smi *smi, const struct smi_card *card, const char *word,
			     struct nvml_gpu_instance_profile_v2 *ret)
{
	char *end;
	unsigned long id = strtoul(word, &end, 10);
	bool number = *end == '\0';

	for (unsigned i = 0; i < SMI_GPU_PROFILES; i++) {
		if (!smi_gpu_profile(smi, card, i, ret))
			continue;
		if (number ? ret->id == id
			   : strcmp(ret->name, word) == 0 ||
				     strcmp(ret->name + strlen("MIG "), word) == 0)
			return true;
	}
	return false;
}

/* WORD: "19", "1g.10gb", "MIG 1g.10gb", each with ":START" or not. */
static enum nvml_return create_gpu(const struct smi *smi, const struct smi_card *card, char *word,
				   bool with_compute)
{
	struct smi_gpu_instance gpu = { 0 };
	struct nvml_gpu_instance_placement place = { 0 };
	char *start = strchr(word, ':');
	enum nvml_return result = NVML_ERROR_INVALID_ARGUMENT;

	if (start != NULL)
		*start++ = '\0';
	if (find_gpu_profile(smi, card, word, &gpu.profile)) {
		if (start != NULL) {
			struct nvml_gpu_instance_placement places[16];
			unsigned count = 0;

			smi->nvml.nvmlDeviceGetGpuInstancePossiblePlacements_v2(
				card->device, gpu.profile.id, places, &count);
			place.start = (unsigned)strtoul(start, NULL, 10);
			place.size = count > 0 ? places[0].size : 0;
			result = smi->nvml.nvmlDeviceCreateGpuInstanceWithPlacement(
				card->device, gpu.profile.id, &place, &gpu.handle);
		} else {
			result = smi->nvml.nvmlDeviceCreateGpuInstance(card->device, gpu.profile.id,
								       &gpu.handle);
		}
	}
	if (result != NVML_SUCCESS) {
		printf("Unable to create a GPU instance on GPU %2u using profile %s: %s\n",
		       card->index, word, smi->nvml.nvmlErrorString(result));
		return result;
	}
	smi->nvml.nvmlGpuInstanceGetInfo(gpu.handle, &gpu.info);
	printf("Successfully created GPU instance ID %2u on GPU %2u using profile %s (ID %2u)\n",
	       gpu.info.id, card->index, gpu.profile.name, gpu.profile.id);
	return with_compute ? create_compute(smi, card, &gpu, "") : NVML_SUCCESS;
}

static int say_failed(const struct smi *smi, const char *what, enum nvml_return result)
{
	if (result != NVML_SUCCESS)
		printf("Failed to %s: %s\n", what, smi->nvml.nvmlErrorString(result));
	return (int)result;
}

/* Each word of a list with commas, until one fails. */
static enum nvml_return create_gpus(const struct smi *smi, const struct smi_card *card,
				    const struct smi_mig_command *command)
{
	char word[NAME_MAX_];
	const char *list = command->create_gpu;

	for (;;) {
		size_t length = strcspn(list, ",");
		enum nvml_return result;

		snprintf(word, sizeof(word), "%.*s", (int)length, list);
		result = create_gpu(smi, card, word, command->with_compute);
		if (result != NVML_SUCCESS || list[length] == '\0')
			return result;
		list += length + 1;
	}
}

static enum nvml_return create_computes(const struct smi *smi, const struct smi_card *card,
					const struct smi_mig_command *command)
{
	struct smi_gpu_instance gpus[SMI_GPU_INSTANCES];
	unsigned count = smi_gpu_instances(smi, card, command, gpus);
	char word[NAME_MAX_];

	if (count == 0)
		return NVML_ERROR_NOT_FOUND;
	for (unsigned i = 0; i < count; i++) {
		const char *list = command->create_compute;

		for (;;) {
			size_t length = strcspn(list, ",");
			enum nvml_return result;

			snprintf(word, sizeof(word), "%.*s", (int)length, list);
			result = create_compute(smi, card, &gpus[i], word);
			if (result != NVML_SUCCESS)
				return result;
			if (list[length] == '\0')
				break;
			list += length + 1;
		}
	}
	return NVML_SUCCESS;
}

static enum nvml_return destroy_computes_of(const struct smi *smi, const struct smi_card *card,
					    const struct smi_gpu_instance *gpu,
					    const struct smi_mig_command *command, unsigned *done)
{
	enum nvml_return worst = NVML_SUCCESS;

	for (unsigned id = 0; id < SMI_GPU_INSTANCES; id++) {
		struct nvmlComputeInstance_st *compute;
		enum nvml_return result;

		if (!smi_is_named(command->computes, command->compute_count, id) ||
		    smi->nvml.nvmlGpuInstanceGetComputeInstanceById(gpu->handle, id, &compute) !=
			    NVML_SUCCESS)
			continue;
		(*done)++;
		result = smi->nvml.nvmlComputeInstanceDestroy(compute);
		if (result == NVML_SUCCESS)
			printf("Successfully destroyed compute instance ID %2u from GPU %2u GPU "
			       "instance ID %2u\n",
			       id, card->index, gpu->info.id);
		else
			printf("Unable to destroy compute instance ID %2u from GPU %2u GPU "
			       "instance ID %2u: %s\n",
			       id, card->index, gpu->info.id, smi->nvml.nvmlErrorString(result));
		if (result != NVML_SUCCESS)
			worst = result;
	}
	return worst;
}

static enum nvml_return destroy_computes(const struct smi *smi, const struct smi_card *card,
					 const struct smi_mig_command *command)
{
	struct smi_gpu_instance gpus[SMI_GPU_INSTANCES];
	unsigned count = smi_gpu_instances(smi, card, command, gpus), done = 0;
	enum nvml_return worst = NVML_SUCCESS;

	for (unsigned i = 0; i < count; i++) {
		enum nvml_return result = destroy_computes_of(smi, card, &gpus[i], command, &done);

		if (result != NVML_SUCCESS)
			worst = result;
	}
	return done == 0 ? NVML_ERROR_NOT_FOUND : worst;
}

static enum nvml_return destroy_gpus(const struct smi *smi, const struct smi_card *card,
				     const struct smi_mig_command *command)
{
	struct smi_gpu_instance gpus[SMI_GPU_INSTANCES];
	unsigned count = smi_gpu_instances(smi, card, command, gpus);
	enum nvml_return worst = NVML_SUCCESS;

	for (unsigned i = 0; i < count; i++) {
		enum nvml_return result = smi->nvml.nvmlGpuInstanceDestroy(gpus[i].handle);

		if (result == NVML_SUCCESS)
			printf("Successfully destroyed GPU instance ID %2u from GPU %2u\n",
			       gpus[i].info.id, card->index);
		else
			printf("Unable to destroy GPU instance ID %2u from GPU %2u: %s\n",
			       gpus[i].info.id, card->index, smi->nvml.nvmlErrorString(result));
		if (result != NVML_SUCCESS)
			worst = result;
	}
	return count == 0 ? NVML_ERROR_NOT_FOUND : worst;
}

/* How to add a command: a row. */
static const struct {
	const char *what;
	enum nvml_return (*run)(const struct smi *smi, const struct smi_card *card,
				const struct smi_mig_command *command);
} changes[] = {
	{ "create GPU instances", create_gpus },
	{ "create compute instances", create_computes },
	{ "destroy compute instances", destroy_computes },
	{ "destroy GPU instances", destroy_gpus },
};

int smi_mig_change(const struct smi *smi, const struct smi_mig_command *command)
{
	size_t which = command->create_gpu != NULL       ? 0
		       : command->create_compute != NULL ? 1
		       : command->destroy_compute        ? 2
							 : 3;
	enum nvml_return worst = NVML_SUCCESS;
	bool any = false;

	for (unsigned i = 0; i < smi->count; i++) {
		enum nvml_return result;

		if (!smi_is_mig(smi, &smi->cards[i]))
			continue;
		any = true;
		result = changes[which].run(smi, &smi->cards[i], command);
		if (result != NVML_SUCCESS)
			worst = result;
	}
	if (!any) {
		puts("No MIG-enabled devices found.");
		return NVML_ERROR_NOT_FOUND;
	}
	return say_failed(smi, changes[which].what, worst);
}

int smi_mig_mode(const struct smi *smi, unsigned mode)
{
	const char *verb = mode ? "enable" : "disable";

	for (unsigned i = 0; i < smi->count; i++) {
		enum nvml_return activation = NVML_SUCCESS, result;
		char bus[SMI_TEXT_MAX];

		smi_get(smi, &smi->cards[i], "pci.bus_id", false, bus);
		result = smi->nvml.nvmlDeviceSetMigMode(smi->cards[i].device, mode, &activation);
		if (result == NVML_ERROR_NOT_SUPPORTED) {
			printf("Unable to %s MIG Mode for GPU %s: %s\nTreating as warning and "
			       "moving on.\n",
			       verb, bus, smi->nvml.nvmlErrorString(result));
		} else if (result != NVML_SUCCESS) {
			printf("Unable to %s MIG Mode for GPU %s: %s\nTerminating early due to "
			       "previous errors.\n",
			       verb, bus, smi->nvml.nvmlErrorString(result));
			return (int)result;
		} else if (activation != NVML_SUCCESS) {
			printf("Warning: MIG mode is in pending %s state for GPU %s:%s\n%s is "
			       "currently being used by one or more other processes (e.g. CUDA "
			       "application or a monitoring application such as another instance "
			       "of nvidia-smi). Please first kill all processes using the device "
			       "and retry the command or reboot the system to make MIG mode "
			       "effective.\n",
			       verb, bus, smi->nvml.nvmlErrorString(activation), bus);
		} else {
			printf("%s MIG Mode for GPU %s\n", mode ? "Enabled" : "Disabled", bus);
		}
	}
	puts("All done.");
	return 0;
}

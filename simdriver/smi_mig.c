/* SPDX-License-Identifier: Apache-2.0 */
/* MIG devices for every view, and the lists of nvidia-smi mig. */
#include "smi.h"

#include <stdlib.h>
#include <string.h>

bool smi_is_mig(const struct smi *smi, const struct smi_card *card)
{
	unsigned current = 0, pending = 0;

	return smi->nvml.nvmlDeviceGetMigMode(card->device, &current, &pending) == NVML_SUCCESS &&
	       current == NVML_DEVICE_MIG_ENABLE;
}

static bool fill_mig(const struct smi *smi, struct smi_mig *mig)
{
	char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE] = "";
	const char *profile;

	mig->memory.version = nvmlMemory_v2;
	if (smi->nvml.nvmlDeviceGetName(mig->device, name, sizeof(name)) != NVML_SUCCESS ||
	    smi->nvml.nvmlDeviceGetUUID(mig->device, mig->uuid, sizeof(mig->uuid)) !=
		    NVML_SUCCESS ||
	    smi->nvml.nvmlDeviceGetGpuInstanceId(mig->device, &mig->gpu_instance) != NVML_SUCCESS ||
	    smi->nvml.nvmlDeviceGetComputeInstanceId(mig->device, &mig->compute_instance) !=
		    NVML_SUCCESS)
		return false;
	profile = strstr(name, " MIG ");
	snprintf(mig->profile, sizeof(mig->profile), "%s", profile != NULL ? profile + 5 : name);
	return smi->nvml.nvmlDeviceGetAttributes_v2(mig->device, &mig->attributes) ==
		       NVML_SUCCESS &&
	       smi->nvml.nvmlDeviceGetMemoryInfo_v2(mig->device, &mig->memory) == NVML_SUCCESS;
}

int smi_migs(const struct smi *smi, const struct smi_card *card, struct smi_mig ret[SMI_MIGS_MAX])
{
	unsigned most = 0;
	int count = 0;

	if (!smi_is_mig(smi, card))
		return -1;
	smi->nvml.nvmlDeviceGetMaxMigDeviceCount(card->device, &most);
	for (unsigned i = 0; i < most && count < SMI_MIGS_MAX; i++) {
		struct smi_mig *mig = &ret[count];

		memset(mig, 0, sizeof(*mig));
		mig->index = i;
		if (smi->nvml.nvmlDeviceGetMigDeviceHandleByIndex(card->device, i, &mig->device) ==
			    NVML_SUCCESS &&
		    fill_mig(smi, mig))
			count++;
	}
	return count;
}

bool smi_is_named(const int *numbers, unsigned count, unsigned number)
{
	for (unsigned i = 0; i < count; i++) {
		if ((unsigned)numbers[i] == number)
			return true;
	}
	return count == 0;
}

bool smi_gpu_profile(const struct smi *smi, const struct smi_card *card, unsigned number,
		     struct nvml_gpu_instance_profile_v2 *ret)
{
	*ret = (struct nvml_gpu_instance_profile_v2){ .version = nvmlGpuInstanceProfileInfo_v2 };
	return smi->nvml.nvmlDeviceGetGpuInstanceProfileInfoV(card->device, number, ret) ==
	       NVML_SUCCESS;
}

bool smi_compute_profile(const struct smi *smi, struct nvmlGpuInstance_st *gpu, unsigned number,
			 struct nvml_compute_instance_profile_v2 *ret)
{
	*ret = (struct nvml_compute_instance_profile_v2){
		.version = nvmlComputeInstanceProfileInfo_v2
	};
	return smi->nvml.nvmlGpuInstanceGetComputeInstanceProfileInfoV(
		       gpu, number, NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED, ret) ==
	       NVML_SUCCESS;
}

static int compare(const void *left, const void *right)
{
	const struct smi_gpu_instance *a = left, *b = right;

	return a->info.id < b->info.id ? -1 : a->info.id > b->info.id;
}

unsigned smi_gpu_instances(const struct smi *smi, const struct smi_card *card,
			   const struct smi_mig_command *command,
			   struct smi_gpu_instance ret[SMI_GPU_INSTANCES])
{
	unsigned count = 0;

	for (unsigned number = 0; number < SMI_GPU_PROFILES; number++) {
		struct nvmlGpuInstance_st *handles[SMI_GPU_INSTANCES];
		struct nvml_gpu_instance_profile_v2 profile;
		unsigned found = 0;

		if (!smi_gpu_profile(smi, card, number, &profile) ||
		    smi->nvml.nvmlDeviceGetGpuInstances(card->device, profile.id, handles,
							&found) != NVML_SUCCESS)
			continue;
		for (unsigned i = 0; i < found && count < SMI_GPU_INSTANCES; i++) {
			struct smi_gpu_instance *gpu = &ret[count];

			gpu->handle = handles[i];
			gpu->profile = profile;
			if (smi->nvml.nvmlGpuInstanceGetInfo(handles[i], &gpu->info) ==
				    NVML_SUCCESS &&
			    smi_is_named(command->gpus, command->gpu_count, gpu->info.id))
				count++;
		}
	}
	qsort(ret, count, sizeof(*ret), compare);
	return count;
}

static void print_rule(char end, char line, int width)
{
	putchar(end);
	while (width-- > 0)
		putchar(line);
	putchar(end);
	putchar('\n');
}

static void print_profile(const struct smi *smi, const struct smi_card *card,
			  const struct nvml_gpu_instance_profile_v2 *profile)
{
	unsigned room = 0;

	smi->nvml.nvmlDeviceGetGpuInstanceRemainingCapacity(card->device, profile->id, &room);
	printf("|%4u  %-17s%3u%6u/%u%12.2f%9s%7u%6u%6u   |\n", card->index, profile->name,
	       profile->id, room, profile->instanceCount, (double)profile->memorySizeMB / 1024,
	       profile->isP2pSupported ? "Yes" : "No", profile->multiprocessorCount,
	       profile->decoderCount, profile->encoderCount);
	printf("|%62u%6u%6u   |\n", profile->copyEngineCount, profile->jpegCount,
	       profile->ofaCount);
	print_rule('+', '-', 77);
}

static void list_profiles(const struct smi *smi, const struct smi_card *card)
{
	/* As the real one: by falling ID, which is by rising size. */
	for (int id = 255; id >= 0; id--) {
		for (unsigned number = 0; number < SMI_GPU_PROFILES; number++) {
			struct nvml_gpu_instance_profile_v2 profile;

			if (smi_gpu_profile(smi, card, number, &profile) &&
			    profile.id == (unsigned)id)
				print_profile(smi, card, &profile);
		}
	}
}

static void list_places(const struct smi *smi, const struct smi_card *card)
{
	for (unsigned number = 0; number < SMI_GPU_PROFILES; number++) {
		struct nvml_gpu_instance_placement places[16];
		struct nvml_gpu_instance_profile_v2 profile;
		unsigned count = 0;

		if (!smi_gpu_profile(smi, card, number, &profile) ||
		    smi->nvml.nvmlDeviceGetGpuInstancePossiblePlacements_v2(
			    card->device, profile.id, places, &count) != NVML_SUCCESS)
			continue;
		printf("GPU %2u Profile ID %2u Placement%s: {", card->index, profile.id,
		       count == 1 ? " " : "s");
		for (unsigned i = 0; i < count; i++)
			printf("%s%u", i > 0 ? "," : "", places[i].start);
		printf("}:%u\n", places[0].size);
	}
}

static unsigned list_gpus(const struct smi *smi, const struct smi_card *card,
			  const struct smi_mig_command *command)
{
	struct smi_gpu_instance gpus[SMI_GPU_INSTANCES];
	unsigned count = smi_gpu_instances(smi, card, command, gpus);

	for (unsigned i = 0; i < count; i++) {
		printf("|%4u  %-19s%3u%9u%11u:%u     |\n", card->index, gpus[i].profile.name,
		       gpus[i].info.profileId, gpus[i].info.id, gpus[i].info.placement.start,
		       gpus[i].info.placement.size);
		print_rule('+', '-', 55);
	}
	return count;
}

static unsigned list_computes_of(const struct smi *smi, const struct smi_card *card,
				 const struct smi_gpu_instance *gpu)
{
	unsigned total = 0;

	for (unsigned number = 0; number < SMI_COMPUTE_PROFILES; number++) {
		struct nvml_compute_instance_profile_v2 profile;
		struct nvmlComputeInstance_st *computes[SMI_GPU_INSTANCES];
		struct nvml_compute_instance_info info;
		unsigned count = 0;

		if (!smi_compute_profile(smi, gpu->handle, number, &profile) ||
		    smi->nvml.nvmlGpuInstanceGetComputeInstances(gpu->handle, profile.id, computes,
								 &count) != NVML_SUCCESS)
			continue;
		for (unsigned i = 0; i < count; i++, total++) {
			if (smi->nvml.nvmlComputeInstanceGetInfo_v2(computes[i], &info) !=
			    NVML_SUCCESS)
				continue;
			printf("|%4u%7u       %-20s%2u%10u%11u:%u     |\n", card->index,
			       gpu->info.id, profile.name, info.profileId, info.id,
			       info.placement.start, info.placement.size);
			print_rule('+', '-', 68);
		}
	}
	return total;
}

static void list_compute_profiles_of(const struct smi *smi, const struct smi_card *card,
				     const struct smi_gpu_instance *gpu)
{
	for (unsigned number = 0; number < SMI_COMPUTE_PROFILES; number++) {
		struct nvml_compute_instance_profile_v2 profile;
		unsigned room = 0;

		if (!smi_compute_profile(smi, gpu->handle, number, &profile))
			continue;
		smi->nvml.nvmlGpuInstanceGetComputeInstanceRemainingCapacity(gpu->handle,
									     profile.id, &room);
		/* The star: what is created by default. */
		printf("|%4u%7u       %-20s%2u%c%7u/%u%14u%9u%6u%6u   |\n", card->index,
		       gpu->info.id, profile.name, profile.id,
		       profile.sliceCount == gpu->profile.sliceCount ? '*' : ' ', room,
		       profile.instanceCount, profile.multiprocessorCount,
		       profile.sharedDecoderCount, profile.sharedEncoderCount,
		       profile.sharedOfaCount);
		printf("|%71u%6u         |\n", profile.sharedCopyEngineCount,
		       profile.sharedJpegCount);
		print_rule('+', '-', 86);
	}
}

static unsigned list_computes(const struct smi *smi, const struct smi_card *card,
			      const struct smi_mig_command *command)
{
	struct smi_gpu_instance gpus[SMI_GPU_INSTANCES];
	unsigned count = smi_gpu_instances(smi, card, command, gpus), total = 0;

	for (unsigned i = 0; i < count; i++) {
		if (command->list_computes)
			total += list_computes_of(smi, card, &gpus[i]);
		else
			list_compute_profiles_of(smi, card, &gpus[i]);
	}
	return command->list_computes ? total : count;
}

struct heading {
	int width;
	const char *lines[4];
	const char *none;
};

static const struct heading headings[] = {
	{ 77,
	  { " GPU instance profiles:",
	    " GPU   Name             ID    Instances   Memory     P2P    SM    DEC   ENC  ",
	    "                              Free/Total   GiB              CE    JPEG  OFA  " },
	  NULL },
	{ 55,
	  { " GPU instances:", " GPU   Name             Profile  Instance   Placement  ",
	    "                          ID       ID       Start:Size " },
	  "No GPU instances found: Not Found" },
	{ 68,
	  { " Compute instances:",
	    " GPU     GPU       Name             Profile   Instance   Placement  ",
	    "       Instance                       ID        ID       Start:Size ",
	    "         ID                                                         " },
	  "No compute instances found: Not Found" },
	{ 86,
	  { " Compute instance profiles:",
	    " GPU     GPU       Name             Profile  Instances   Exclusive       Shared      "
	    " ",
	    "       Instance                       ID     Free/Total     SM       DEC   ENC   OFA "
	    " ",
	    "         ID                                                          CE    JPEG      "
	    " " },
	  "No GPU instances found: Not Found" },
};

static void print_heading(const struct heading *heading)
{
	print_rule('+', '-', heading->width);
	for (size_t i = 0; i < 4 && heading->lines[i] != NULL; i++)
		printf("|%-*s|\n", heading->width, heading->lines[i]);
	print_rule('|', '=', heading->width);
}

static unsigned list_card(const struct smi *smi, const struct smi_card *card,
			  const struct smi_mig_command *command)
{
	if (command->list_gpus)
		return list_gpus(smi, card, command);
	if (command->list_computes || command->list_compute_profiles)
		return list_computes(smi, card, command);
	if (command->list_profiles)
		list_profiles(smi, card);
	else
		list_places(smi, card);
	return 1;
}

static unsigned count_of(const struct smi *smi, const struct smi_card *card,
			 const struct smi_mig_command *command)
{
	struct smi_gpu_instance gpus[SMI_GPU_INSTANCES];

	return smi_gpu_instances(smi, card, command, gpus);
}

int smi_mig_list(const struct smi *smi, const struct smi_mig_command *command)
{
	const struct heading *heading = &headings[command->list_gpus               ? 1
						  : command->list_computes         ? 2
						  : command->list_compute_profiles ? 3
										   : 0];
	unsigned enabled = 0, there = 0;

	for (unsigned i = 0; i < smi->count; i++) {
		enabled += smi_is_mig(smi, &smi->cards[i]);
		there += smi_is_mig(smi, &smi->cards[i]) ? count_of(smi, &smi->cards[i], command)
							 : 0;
	}
	if (enabled == 0) {
		puts("No MIG-enabled devices found.");
		return NVML_ERROR_NOT_FOUND;
	}
	if (heading->none != NULL && there == 0) {
		puts(heading->none);
		return NVML_ERROR_NOT_FOUND;
	}
	if (!command->list_places)
		print_heading(heading);
	for (unsigned i = 0; i < smi->count; i++) {
		if (smi_is_mig(smi, &smi->cards[i]))
			list_card(smi, &smi->cards[i], command);
	}
	return 0;
}

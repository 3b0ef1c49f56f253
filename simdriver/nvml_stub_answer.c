/* SPDX-License-Identifier: Apache-2.0 */
#include "nvml_library.h"

int nvml_stub(void);

int nvml_stub(void)
{
	enum nvml_return result = nvml_begin();

	if (result != NVML_SUCCESS)
		return (int)result;
	nvml_end();
	return NVML_ERROR_NOT_SUPPORTED;
}

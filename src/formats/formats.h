/* SPDX-License-Identifier: Apache-2.0 */
/* The face of src/formats: file formats of others, read and written. Today the OCI config.json. */
#pragma once

#include "formats/oci.h"

/* SPDX-License-Identifier: Apache-2.0 */
/* The face of src/formats: file formats of others, read and written: the OCI config.json, CDI
 * specs, and the configuration of NVIDIA's container toolkit. */
#pragma once

#include "formats/cdi.h"
#include "formats/containerd.h"
#include "formats/crio.h"
#include "formats/docker.h"
#include "formats/oci.h"
#include "formats/runtime_entry.h"
#include "formats/runtime_version.h"
#include "formats/toolkit.h"
#include "formats/unpack.h"

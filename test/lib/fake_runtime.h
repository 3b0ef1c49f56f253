/* SPDX-License-Identifier: Apache-2.0 */
/* The Status call of a container runtime, as containerd answers it: with CDI on, off, or not said. */
#pragma once

#include "kubelet/kubelet.h"
#include "wire/wire.h"

/* CDI is looked at on each call. */
int fake_runtime_listen(struct loop *loop, const char *path, const enum kubelet_cdi *cdi,
			struct grpc_server **ret, struct error *error);

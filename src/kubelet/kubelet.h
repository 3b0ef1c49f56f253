/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face of src/kubelet: what is said to the kubelet and heard from it. One file a service; the
 * messages, the state table of registration and the reader of the checkpoint are pure.
 */
#pragma once

#include "kubelet/checkpoint.h"
#include "kubelet/device_plugin.h"
#include "kubelet/message.h"
#include "kubelet/pod_resources.h"

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to the kubelet's pod-resources socket, and Status to a container runtime. List makes the
 * kubelet collect dead Pods, and during an Allocate of ours that can make it hand one ID out twice
 * (kubernetes/kubernetes#137534 describes it): the caller keeps it a second away from any Allocate.
 * Get has no such effect (1.34 on).
 */
#pragma once

#include <stdbool.h>

#include "base/base.h"
#include "kubelet/message.h"

#define KUBELET_POD_RESOURCES_SOCKET "/var/lib/kubelet/pod-resources/kubelet.sock"

struct loop;
struct pod_resources;

/* ERROR is NULL on success. -ENOENT: no such Pod. -ENOSYS: the kubelet is too old for Get. -EBUSY:
 * its rate limit (100 a second, for all clients together). -ETIMEDOUT: no answer within a second. */
typedef void pod_resources_fn(const struct kubelet_holdings *holdings, const struct error *error,
			      void *user);

/* Connects when first asked, and again whenever the connection was lost. */
int pod_resources_new(struct loop *loop, const char *socket_path, struct pod_resources **ret,
		      struct error *error);
void pod_resources_free(struct pod_resources *client); /* drops what was asked, without answers */
/* FN is called once, later, unless this fails. */
int pod_resources_list(struct pod_resources *client, pod_resources_fn *fn, void *user,
		       struct error *error);
int pod_resources_get(struct pod_resources *client, const char *pod_namespace, const char *pod,
		      pod_resources_fn *fn, void *user, struct error *error);

/* Asks the container runtime at SOCKET_PATH for its verbose status, once: 2 s deadline. */
typedef void kubelet_status_fn(const struct kubelet_runtime_status *status,
			       const struct error *error, void *user);
int kubelet_ask_runtime(struct loop *loop, const char *socket_path, kubelet_status_fn *fn,
			void *user, struct error *error);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kubelet's pod-resources socket, and Status of a container runtime. List makes the kubelet collect
 * dead Pods, and while it runs an Allocate that can make it offer one ID twice (kubernetes/kubernetes#137534
 * describes it): the caller asks at other times, but for an Allocate that nothing else can decide. Get would have no
 * such effect, but wants a Pod's name, which neither the ledger nor the checkpoint has.
 */
#pragma once

#include "base/base.h"
#include "kubelet/message.h"

struct loop;
struct pod_resources;

/*
 * ERROR is NULL on success; what HOLDINGS has may be taken. -EBUSY: the kubelet's rate limit (100 a
 * second, for all clients together). -ETIMEDOUT: no answer within a second.
 */
typedef void pod_resources_fn(struct kubelet_holdings *holdings, const struct error *error,
			      void *user);

/* Connects when first asked, and again whenever the connection was lost. */
int pod_resources_new(struct loop *loop, const char *socket_path, struct pod_resources **ret,
		      struct error *error);
void pod_resources_free(struct pod_resources *client); /* drops what was asked, without answers */
/* FN is called once, later, unless this fails. */
int pod_resources_list(struct pod_resources *client, pod_resources_fn *fn, void *user,
		       struct error *error);

/* Asks the container runtime at SOCKET_PATH for its verbose status, once: 2 s deadline. */
typedef void kubelet_status_fn(const struct kubelet_runtime_status *status,
			       const struct error *error, void *user);
int kubelet_ask_runtime(struct loop *loop, const char *socket_path, kubelet_status_fn *fn,
			void *user, struct error *error);

/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_runtime.h"

#include <stdlib.h>

static void handle_status(struct grpc_call *call, const void *message, size_t size, void *user)
{
	static const char *const configs[] = {
		[KUBELET_CDI_UNKNOWN] = "{\"sandboxImage\":\"pause\"}",
		[KUBELET_CDI_OFF] = "{\"enableCDI\":false,\"cdiSpecDirs\":[\"/etc/cdi\"]}",
		[KUBELET_CDI_ON] = "{\"enableCDI\":true,\"cdiSpecDirs\":[\"/etc/cdi\"]}",
	};
	cleanup(kubelet_bytes_release) struct kubelet_bytes bytes = { .data = NULL };
	const enum kubelet_cdi *cdi = user;
	struct error error = ERROR_INIT;
	bool verbose = false;
	char key[] = "config";
	char *config = strdup(configs[*cdi]);
	struct kubelet_pair info = { .key = key, .value = config };
	struct kubelet_runtime_status status = { .info = &info };

	int r = kubelet_unpack_status_request(message, size, &verbose, &error);
	/* The configuration comes with a verbose answer only. */
	status.info_count = verbose;
	r = r < 0 ? r : kubelet_pack_runtime_status(&status, &bytes, &error);
	free(config);
	if (r == 0)
		grpc_call_send(call, bytes.data, bytes.size, NULL);
	grpc_call_finish(call, r < 0 ? GRPC_INTERNAL : GRPC_OK, r < 0 ? error.message : NULL);
}

static const struct grpc_method methods[] = {
	{ "/runtime.v1.RuntimeService/Status", handle_status, NULL },
	{ NULL, NULL, NULL },
};

int fake_runtime_listen(struct loop *loop, const char *path, const enum kubelet_cdi *cdi,
			struct grpc_server **ret, struct error *error)
{
	const struct grpc_server_options options = { .socket_path = path,
						     .methods = methods,
						     .user = (void *)(uintptr_t)cdi };

	return grpc_server_listen(loop, &options, ret, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"

#define SOURCE "pod.yaml"

static struct json_object *parse(const char *text, struct yaml_stream *stream)
{
	struct error error = ERROR_INIT;

	if (yaml_parse(text, strlen(text), SOURCE, stream, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(stream->count, 1);
	return stream->documents[0];
}

#define HEAD "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\nspec:\n"
/* One container; what follows begins at line 9. */
#define CONTAINER HEAD "  containers:\n  - name: main\n    image: host\n"

static const struct {
	const char *name, *text;
	int r;
	const char *message, *kubernetes;
} refused[] = {
	/* no Pod at all */
	{ "scalar", "just text", -EINVAL,
	  "pod.yaml:1: this is no Pod; a Pod starts with apiVersion: v1 and kind: Pod", "" },
	{ "list", "[1, 2]", -EINVAL,
	  "pod.yaml:1: this is no Pod; a Pod starts with apiVersion: v1 and kind: Pod", "" },
	{ "no kind", "apiVersion: v1", -EINVAL,
	  "pod.yaml:1: kind is '', and only Pods can be applied here; write kind: Pod", "" },
	{ "service", "apiVersion: v1\nkind: Service", -EINVAL,
	  "pod.yaml:2: kind is 'Service', and only Pods can be applied here; write kind: Pod", "" },
	{ "kind List", "apiVersion: v1\nkind: List\nitems: []", -EINVAL,
	  "pod.yaml:2: kind List is not read; write its Pods one after the other with a line --- "
	  "between them",
	  "" },
	{ "deployment", "apiVersion: apps/v1\nkind: Deployment", -EINVAL,
	  "pod.yaml:2: a Deployment makes its Pods in a cluster; apply its Pod here: spec.template "
	  "with apiVersion: v1 and kind: Pod",
	  "" },
	{ "cron job", "kind: CronJob", -EINVAL,
	  "pod.yaml:1: a CronJob makes its Pods in a cluster; apply its Pod here: "
	  "spec.jobTemplate.spec.template with apiVersion: v1 and kind: Pod",
	  "" },
	{ "other version", "apiVersion: v2\nkind: Pod", -EINVAL,
	  "pod.yaml:1: apiVersion is 'v2', and a Pod has v1; write apiVersion: v1", "" },
	{ "no version", "kind: Pod\nspec: {}\n", -EINVAL,
	  "pod.yaml:1: apiVersion is missing; write apiVersion: v1 above kind: Pod", "" },
	/* names */
	{ "no name", "apiVersion: v1\nkind: Pod\nmetadata: {}\n", -EPERM,
	  "pod.yaml:3: the Pod: metadata.name is missing. Correct the Pod.",
	  "Pod \"\" is invalid: metadata.name: Required value: name or generateName is required" },
	{ "no metadata", "apiVersion: v1\nkind: Pod\n", -EPERM,
	  "pod.yaml:1: the Pod: metadata.name is missing. Correct the Pod.",
	  "Pod \"\" is invalid: metadata.name: Required value: name or generateName is required" },
	{ "generateName", "apiVersion: v1\nkind: Pod\nmetadata: {generateName: x-}\n", -EPERM,
	  "pod.yaml:3: the Pod: metadata.generateName needs a server that makes names; write "
	  "metadata.name. Correct the Pod.",
	  "" },
	{ "upper case", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: Train\n", -EPERM,
	  "pod.yaml:4: the Pod: metadata.name is 'Train'; use lower case letters, digits and '-' "
	  "and "
	  "'.', with a letter or digit at both ends. Correct the Pod.",
	  "Pod \"Train\" is invalid: metadata.name: Invalid value: \"Train\": a lowercase RFC 1123 "
	  "subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
	  "start "
	  "and end with an alphanumeric character (e.g. 'example.com', regex used for validation "
	  "is "
	  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')" },
	{ "name is a number", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: 1\n", -EPERM,
	  "pod.yaml:4: the Pod: metadata.name is 1, and it must be a string; put it in quotes. "
	  "Correct the Pod.",
	  "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number into Go "
	  "struct field ObjectMeta.metadata.name of type string" },
	{ "namespace with a dot",
	  "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n  namespace: a.b\n", -EPERM,
	  "pod.yaml:5: the Pod: metadata.namespace is 'a.b'; use lower case letters, digits and "
	  "'-', "
	  "with a letter or digit at both ends. Correct the Pod.",
	  "Pod \"x\" is invalid: metadata.namespace: Invalid value: \"a.b\": a lowercase RFC 1123 "
	  "label must consist of lower case alphanumeric characters or '-', and must start and end "
	  "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
	  "validation "
	  "is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')" },
	{ "annotation is a number",
	  "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n  annotations:\n    a/b: 1\n", -EPERM,
	  "pod.yaml:6: Pod default/x: metadata.annotations[a/b] is 1, and it must be a string; put "
	  "it in quotes. Correct the Pod.",
	  "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number into Go "
	  "struct field ObjectMeta.metadata.annotations of type string" },
	{ "labels are a list", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n  labels: [a]\n",
	  -EPERM,
	  "pod.yaml:5: Pod default/x: metadata.labels is [ \"a\" ], and it must be a map. Correct "
	  "the Pod.",
	  "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal array into Go "
	  "struct field ObjectMeta.metadata.labels of type map[string]string" },
	/* containers */
	{ "no spec", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n", -EPERM,
	  "pod.yaml:1: Pod default/x: spec.containers is missing. Correct the Pod.",
	  "Pod \"x\" is invalid: spec.containers: Required value" },
	{ "no containers", HEAD "  containers: []\n", -EPERM,
	  "pod.yaml:6: Pod default/x: spec.containers is missing. Correct the Pod.",
	  "Pod \"x\" is invalid: spec.containers: Required value" },
	{ "containers are a map", HEAD "  containers: {name: main}\n", -EPERM,
	  "pod.yaml:6: Pod default/x: spec.containers is { \"name\": \"main\" }, and it must be a "
	  "list. Correct the Pod.",
	  "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal object into Go "
	  "struct field PodSpec.spec.containers of type []v1.Container" },
	{ "container is a string", HEAD "  containers: [main]\n", -EPERM,
	  "pod.yaml:6: Pod default/x: spec.containers[0] is \"main\", and it must be a map. "
	  "Correct "
	  "the Pod.",
	  "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal string into Go "
	  "struct field PodSpec.spec.containers of type v1.Container" },
	{ "container without a name", HEAD "  containers:\n  - image: host\n", -EPERM,
	  "pod.yaml:7: Pod default/x: spec.containers[0].name is missing. Correct the Pod.",
	  "Pod \"x\" is invalid: spec.containers[0].name: Required value" },
	{ "container without an image", HEAD "  containers:\n  - name: main\n", -EPERM,
	  "pod.yaml:7: container main of Pod default/x: spec.containers[0].image is missing. "
	  "Correct "
	  "the Pod.",
	  "Pod \"x\" is invalid: spec.containers[0].image: Required value" },
	{ "container's name with a dot", HEAD "  containers:\n  - name: a.b\n    image: host\n",
	  -EPERM,
	  "pod.yaml:7: Pod default/x: spec.containers[0].name is 'a.b'; use lower case letters, "
	  "digits and '-', with a letter or digit at both ends. Correct the Pod.",
	  "Pod \"x\" is invalid: spec.containers[0].name: Invalid value: \"a.b\": a lowercase RFC "
	  "1123 label must consist of lower case alphanumeric characters or '-', and must start "
	  "and "
	  "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
	  "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')" },
	{ "long name",
	  HEAD "  containers:\n  - name: "
	       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
	  -EPERM,
	  "pod.yaml:7: Pod default/x: spec.containers[0].name has 64 characters, and at most 63 "
	  "are "
	  "possible. Correct the Pod.",
	  "Pod \"x\" is invalid: spec.containers[0].name: Invalid value: "
	  "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\": must be no more "
	  "than 63 characters" },
	{ "two of one name", CONTAINER "  - name: main\n    image: host\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x: spec.containers[1].name main is there "
	  "twice; "
	  "each container has a name of its own. Correct the Pod.",
	  "Pod \"x\" is invalid: spec.containers[1].name: Duplicate value: \"main\"" },
	{ "arguments with a number", CONTAINER "    args: [a,\n      1]\n", -EPERM,
	  "pod.yaml:10: container main of Pod default/x: spec.containers[0].args[1] is 1, and it "
	  "must be a string; put it in quotes. Correct the Pod.",
	  "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number into Go "
	  "struct field Container.spec.containers.args of type string" },
	{ "command is a string", CONTAINER "    command: nvidia-smi\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x: spec.containers[0].command is "
	  "\"nvidia-smi\", and it must be a list. Correct the Pod.",
	  "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal string into Go "
	  "struct field Container.spec.containers.command of type []string" },
	{ "working directory is true", CONTAINER "    workingDir: true\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x: spec.containers[0].workingDir is true, and "
	  "it must be a string; put it in quotes. Correct the Pod.",
	  "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal bool into Go "
	  "struct field Container.spec.containers.workingDir of type string" },
	{ "value is a number", CONTAINER "    env:\n    - name: A\n      value: 1\n", -EPERM,
	  "pod.yaml:11: container main of Pod default/x: spec.containers[0].env[0].value is 1, and "
	  "it must be a string; put it in quotes. Correct the Pod.",
	  "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number into Go "
	  "struct field EnvVar.spec.containers.env.value of type string" },
	{ "environment is a map", CONTAINER "    env: {A: b}\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x: spec.containers[0].env is { \"A\": \"b\" "
	  "}, "
	  "and it must be a list. Correct the Pod.",
	  "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal object into Go "
	  "struct field Container.spec.containers.env of type []v1.EnvVar" },
	{ "variable without a name", CONTAINER "    env: [{value: a}]\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x: spec.containers[0].env[0].name is missing. "
	  "Correct the Pod.",
	  "Pod \"x\" is invalid: spec.containers[0].env[0].name: Required value" },
	{ "variable with =", CONTAINER "    env: [{name: 'A=B', value: a}]\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x: spec.containers[0].env[0].name may hold "
	  "printable ASCII characters only, and no '='. Correct the Pod.",
	  "Pod \"x\" is invalid: spec.containers[0].env[0].name: Invalid value: \"A=B\": a valid "
	  "environment variable name must consist only of printable ASCII characters other than "
	  "'='" },
	{ "value from elsewhere",
	  CONTAINER "    env:\n    - name: A\n      valueFrom: {fieldRef: {fieldPath: a}}\n",
	  -EPERM,
	  "pod.yaml:11: container main of Pod default/x: spec.containers[0].env[0].valueFrom "
	  "(variable A) needs a cluster; write the value itself as value. Correct the Pod.",
	  "" },
	{ "values from elsewhere", CONTAINER "    envFrom: [{secretRef: {name: a}}]\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x: spec.containers[0].envFrom needs a "
	  "cluster; "
	  "write the variables under env. Correct the Pod.",
	  "" },
	{ "initContainers", CONTAINER "  initContainers: [{name: a, image: b}]\n", -EPERM,
	  "pod.yaml:9: Pod default/x: spec.initContainers are not run on one machine yet; remove "
	  "them and prepare what they do beforehand. Correct the Pod.",
	  "" },
	/* resources */
	{ "resources are a list", CONTAINER "    resources: []\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x: spec.containers[0].resources is [ ], and "
	  "it "
	  "must be a map. Correct the Pod.",
	  "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal array into Go "
	  "struct field Container.spec.containers.resources of type v1.ResourceRequirements" },
	{ "no such resource", CONTAINER "    resources: {limits: {gpu: 1}}\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x: spec.containers[0].resources.limits names "
	  "the resource 'gpu', which is none; cards are nvidia.com/gpu or gpupool.io/gpu-memory. "
	  "Correct the Pod.",
	  "Pod \"x\" is invalid: [spec.containers[0].resources.limits[gpu]: Invalid value: "
	  "\"gpu\": "
	  "must be a standard resource type or fully qualified, "
	  "spec.containers[0].resources.limits[gpu]: Invalid value: \"gpu\": must be a standard "
	  "resource for containers, spec.containers[0].resources.requests[gpu]: Invalid value: "
	  "\"gpu\": must be a standard resource type or fully qualified, "
	  "spec.containers[0].resources.requests[gpu]: Invalid value: \"gpu\": must be a standard "
	  "resource for containers]" },
	{ "resource of nobody", CONTAINER "    resources: {limits: {example.com/dpu: 2}}\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x wants 2 of example.com/dpu, which this "
	  "machine does not offer. Remove it from the Pod, or run the Pod where it is offered.",
	  "0/1 nodes are available: 1 Insufficient example.com/dpu. preemption: 0/1 nodes are "
	  "available: 1 Preemption is not helpful for scheduling." },
	{ "slip in a resource", CONTAINER "    resources: {limits: {nvidia.com/gpus: 1}}\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x wants 1 of nvidia.com/gpus (did you mean "
	  "nvidia.com/gpu?), which this machine does not offer. Remove it from the Pod, or run the "
	  "Pod where it is offered.",
	  "0/1 nodes are available: 1 Insufficient nvidia.com/gpus. preemption: 0/1 nodes are "
	  "available: 1 Preemption is not helpful for scheduling." },
	{ "annotation as a resource",
	  CONTAINER "    resources: {limits: {gpupool.io/gpu-compute: 25}}\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x: gpupool.io/gpu-compute is an annotation, "
	  "no "
	  "resource; write it below metadata.annotations, its value in quotes. Correct the Pod.",
	  "0/1 nodes are available: 1 Insufficient gpupool.io/gpu-compute. preemption: 0/1 nodes "
	  "are available: 1 Preemption is not helpful for scheduling." },
	{ "slip in limits", CONTAINER "    resources: {limit: {nvidia.com/gpu: 1}}\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x: field "
	  "spec.containers[0].resources.limit does not exist, but limits does. Correct the Pod.",
	  "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown field "
	  "\"spec.containers[0].resources.limit\"" },
	{ "slip in resources", CONTAINER "    resource: {limits: {nvidia.com/gpu: 1}}\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x: field "
	  "spec.containers[0].resource does not exist, but resources does. Correct the Pod.",
	  "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown field "
	  "\"spec.containers[0].resource\"" },
	{ "slip in annotations",
	  "apiVersion: v1\nkind: Pod\nmetadata: {name: x, annotation: {a: b}}\nspec: {}\n", -EPERM,
	  "pod.yaml:3: Pod default/x: field metadata.annotation does not exist, but "
	  "annotations does. Correct the Pod.",
	  "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown field "
	  "\"metadata.annotation\"" },
	{ "memory that is none", CONTAINER "    resources: {limits: {memory: 1GB}}\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x: "
	  "spec.containers[0].resources.limits[memory]: "
	  "'1GB' is no quantity; write a number such as 2, 500m or 12Gi. Correct the Pod.",
	  "Pod in version \"v1\" cannot be handled as a Pod: quantities must match the regular "
	  "expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" },
	{ "half a card", CONTAINER "    resources:\n      limits:\n        nvidia.com/gpu: 0.5\n",
	  -EPERM,
	  "pod.yaml:11: container main of Pod default/x asks for nvidia.com/gpu: 0.5, and "
	  "Kubernetes counts it in whole numbers. For a part of a card write gpupool.io/gpu-memory "
	  "(GiB, or 1536Mi for 1.5 GiB).",
	  "Pod \"x\" is invalid: [spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid "
	  "value: \"500m\": must be an integer, spec.containers[0].resources.requests"
	  "[nvidia.com/gpu]: Invalid value: \"500m\": must be an integer]" },
	{ "resource claims", CONTAINER "    resources: {claims: [{name: a}]}\n", -EPERM,
	  "pod.yaml:9: container main of Pod default/x: spec.containers[0].resources.claims needs "
	  "a "
	  "cluster; ask with limits. Correct the Pod.",
	  "" },
};

TEST(pods_that_are_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		cleanup(yaml_stream_release) struct yaml_stream stream = { 0 };
		struct json_object *document = parse(refused[i].text, &stream);
		struct error error = ERROR_INIT;
		struct reason reason = { 0 };
		struct pod pod = { .uid = NULL };

		print_message("# %s\n", refused[i].name);
		assert_int_equal(pod_from_json(document, SOURCE, &pod, &reason, &error),
				 refused[i].r);
		assert_string_equal(error.message, refused[i].message);
		assert_string_equal(reason.kubernetes, refused[i].kubernetes);
		assert_int_equal(reason.code != REASON_NONE, refused[i].r == -EPERM);
		assert_null(pod.name);
	}
}

static const struct {
	const char *name, *text;
	const char *notes[4];
} noted[] = {
	{ "nothing", CONTAINER, { NULL } },
	{ "what everybody has",
	  "apiVersion: v1\nkind: Pod\nmetadata: {name: x, labels: {app: a}}\nstatus: {}\nspec:\n"
	  "  restartPolicy: OnFailure\n  initContainers: []\n  containers:\n"
	  "  - {name: main, image: host, imagePullPolicy: Always, terminationMessagePath: /a}\n",
	  { NULL } },
	{ "restartPolicy",
	  CONTAINER "  restartPolicy: Always\n",
	  { "pod.yaml:9: spec.restartPolicy Always is ignored on one machine: each container is "
	    "run "
	    "once" } },
	{ "scheduling",
	  CONTAINER "  nodeSelector: {a: b}\n  tolerations: []\n",
	  { "pod.yaml:9: spec.nodeSelector is ignored on one machine",
	    "pod.yaml:10: spec.tolerations is ignored on one machine" } },
	{ "rights",
	  CONTAINER "    securityContext:\n      privileged: true\n      runAsUser: 0\n",
	  { "pod.yaml:10: spec.containers[0].securityContext.privileged is ignored on one machine: "
	    "no container gets rights that its caller has not",
	    "pod.yaml:11: spec.containers[0].securityContext.runAsUser is ignored on one "
	    "machine" } },
	{ "volumes and ports",
	  CONTAINER "    volumeMounts: []\n    ports: []\n  volumes: []\n",
	  { "pod.yaml:9: spec.containers[0].volumeMounts is ignored on one machine: nothing of it "
	    "is "
	    "mounted",
	    "pod.yaml:10: spec.containers[0].ports is ignored on one machine: no port is opened or "
	    "mapped",
	    "pod.yaml:11: spec.volumes is ignored on one machine: nothing of it is mounted" } },
	{ "a field of nobody",
	  CONTAINER "  colour: red\nshape: round\n",
	  { "pod.yaml:10: shape is ignored on one machine",
	    "pod.yaml:9: spec.colour is ignored on one machine" } },
	{ "standard resources, once",
	  CONTAINER "    resources:\n      limits: {cpu: 1, nvidia.com/gpu: 1}\n"
		    "      requests: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}\n",
	  { "pod.yaml:10: spec.containers[0].resources.limits.cpu is not enforced on one machine",
	    "pod.yaml:11: spec.containers[0].resources.requests.memory is not enforced on one "
	    "machine" } },
	{ "bytes",
	  CONTAINER "    resources:\n      limits:\n        gpupool.io/gpu-memory: 12Gi\n",
	  { "pod.yaml:11: gpupool.io/gpu-memory 12884901888 is read as bytes: 12 GiB; write 12" } },
	{ "own names",
	  "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n  labels:\n    gpupool.io/queue: a\n"
	  "  annotations:\n    gpupool.io/gpu-modell: a\nspec:\n"
	  "  containers: [{name: main, image: host}]\n",
	  { "pod.yaml:6: label gpupool.io/queue has no effect on one machine",
	    "pod.yaml:8: annotation gpupool.io/gpu-modell has no effect on one machine" } },
};

TEST(fields_that_are_ignored)
{
	for (size_t i = 0; i < ARRAY_SIZE(noted); i++) {
		cleanup(yaml_stream_release) struct yaml_stream stream = { 0 };
		struct json_object *document = parse(noted[i].text, &stream);
		cleanup(pod_release) struct pod pod = { 0 };
		struct error error = ERROR_INIT;
		size_t count = 0;

		print_message("# %s\n", noted[i].name);
		if (pod_from_json(document, SOURCE, &pod, NULL, &error) < 0)
			fail_msg("%s", error.message);
		for (; count < ARRAY_SIZE(noted[i].notes) && noted[i].notes[count]; count++) {
			assert_true(count < pod.notes.count);
			assert_string_equal(pod.notes.items[count], noted[i].notes[count]);
		}
		assert_int_equal(pod.notes.count, count);
	}
}

TEST(notes_are_bounded)
{
	cleanup(yaml_stream_release) struct yaml_stream stream = { 0 };
	cleanup(pod_release) struct pod pod = { 0 };
	autostrbuf text = STRBUF_INIT(65536);

	strbuf_adds(&text, CONTAINER);
	for (int i = 0; i < 300; i++)
		strbuf_addf(&text, "  field%d: 1\n", i);
	struct json_object *document = parse(text.data, &stream);
	assert_int_equal(pod_from_json(document, SOURCE, &pod, NULL, NULL), 0);
	assert_int_equal(pod.notes.count, 100);
	assert_string_equal(pod.notes.items[98],
			    "pod.yaml:107: spec.field98 is ignored on one machine");
	assert_string_equal(pod.notes.items[99],
			    "pod.yaml: more fields are ignored than are named here");
}

static void check_list(const struct string_list *list, const char *expected)
{
	autostrbuf text = STRBUF_INIT(4096);

	for (size_t i = 0; i < list->count; i++)
		strbuf_addf(&text, "%s%s", i ? "|" : "", list->items[i]);
	assert_string_equal(text.data, expected);
}

TEST(a_whole_container)
{
	static const char text[] =
		"apiVersion: v1\nkind: Pod\nmetadata: {name: train.a, namespace: ml, uid: '77'}\n"
		"spec:\n  containers:\n  - name: main\n    image: repository/image:1\n"
		"    command: [sh, -c, 'echo $(A) $(NOT) $$(A) $ $(A']\n    args: ['$(C)', null]\n"
		"    workingDir: /work\n    env:\n    - {name: A, value: one}\n"
		"    - {name: B, value: $(A)-$(C)}\n    - {name: C, value: $(B)!}\n"
		"    - {name: D}\n    - {name: A, value: two}\n"
		"    resources: {limits: {nvidia.com/gpu: 2}}\n"
		"  - {name: side, image: host}\n";
	cleanup(yaml_stream_release) struct yaml_stream stream = { 0 };
	struct json_object *document = parse(text, &stream);
	cleanup(pod_release) struct pod pod = { 0 };
	char object[256];

	assert_int_equal(pod_from_json(document, SOURCE, &pod, NULL, NULL), 0);
	assert_string_equal(pod.name, "train.a");
	assert_string_equal(pod.namespace, "ml");
	assert_string_equal(pod.uid, "77");
	assert_int_equal(pod.container_count, 2);
	const struct container *container = &pod.containers[0];
	assert_string_equal(container->image, "repository/image:1");
	assert_string_equal(container->working_directory, "/work");
	assert_int_equal(container->line, 6);
	/* as the kubelet: later variables see earlier ones, unknown ones stay, $$ is a dollar */
	check_list(&container->command, "sh|-c|echo two $(NOT) $(A) $ $(A");
	check_list(&container->arguments, "one-$(C)!|");
	assert_int_equal(container->environment_count, 5);
	assert_string_equal(container->environment[1].value, "one-$(C)");
	assert_string_equal(container->environment[2].value, "one-$(C)!");
	assert_string_equal(container->environment[3].value, "");
	assert_int_equal(container->request.kind, REQUEST_WHOLE);
	assert_int_equal(container->request.cards, 2);
	assert_int_equal(pod.containers[1].request.kind, REQUEST_NONE);
	assert_null(pod.containers[1].working_directory);
	container_object(&pod, container, object, sizeof(object));
	assert_string_equal(object, "container main of Pod ml/train.a");
}

/* Each variable doubles the one before: 2^40 bytes without a bound. */
TEST(variables_that_grow)
{
	cleanup(yaml_stream_release) struct yaml_stream stream = { 0 };
	cleanup(pod_release) struct pod pod = { 0 };
	struct error error = ERROR_INIT;
	autostrbuf text = STRBUF_INIT(65536);

	strbuf_adds(&text, CONTAINER "    env:\n    - {name: V0, value: '0123456789abcdef'}\n");
	for (int i = 1; i < 40; i++)
		strbuf_addf(&text, "    - {name: V%d, value: $(V%d)$(V%d)}\n", i, i - 1, i - 1);
	struct json_object *document = parse(text.data, &stream);
	assert_int_equal(pod_from_json(document, SOURCE, &pod, NULL, &error), -EPERM);
	assert_string_equal(error.message,
			    "pod.yaml:1: container main of Pod default/x: main makes arguments and "
			    "environment too long: at most 131071 bytes in one and 2097152 in all. "
			    "Correct the Pod.");
}

/* A sentence that is too long is cut, never lost. */
TEST(kubernetes_sentence_of_a_long_name)
{
	cleanup(yaml_stream_release) struct yaml_stream stream = { 0 };
	cleanup(pod_release) struct pod pod = { 0 };
	struct reason reason = { 0 };
	struct error error = ERROR_INIT;
	autostrbuf text = STRBUF_INIT(65536);
	static const char begin[] = "Pod \"x\" is invalid: metadata.namespace: Invalid value: \"nn";

	strbuf_adds(&text, "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n  namespace: ");
	for (int i = 0; i < 5000; i++)
		strbuf_addc(&text, 'n');
	struct json_object *document = parse(text.data, &stream);
	assert_int_equal(pod_from_json(document, SOURCE, &pod, &reason, &error), -EPERM);
	assert_memory_equal(reason.kubernetes, begin, strlen(begin));
	assert_string_equal(reason.kubernetes + strlen(reason.kubernetes) - 5, "nn...");
}

TEST(every_allocation_fails_once)
{
	static const char text[] =
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {b: c}}\nspec:\n"
		"  nodeName: a\n  containers:\n  - name: main\n    image: b\n    workingDir: /\n"
		"    command: [sh, $(A)]\n    env: [{name: A, value: one}]\n"
		"    resources: {limits: {gpupool.io/gpu-memory: 12Gi, cpu: 1}}\n";
	cleanup(yaml_stream_release) struct yaml_stream stream = { 0 };
	struct json_object *document = parse(text, &stream);

	for (unsigned n = 0;; n++) {
		cleanup(pod_release) struct pod pod = { 0 };
		struct error error = ERROR_INIT;

		fault_arm(n);
		int r = pod_from_json(document, SOURCE, &pod, NULL, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n > 20);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_string_equal(error.message, "out of memory");
	}
}

static void check_file(const char *name, const char *const *expected)
{
	cleanup(yaml_stream_release) struct yaml_stream stream = { 0 };
	struct error error = ERROR_INIT;
	char path[512];

	snprintf(path, sizeof(path), "test/data/pods/%s", name);
	if (yaml_read_file(path, &stream, &error) < 0)
		fail_msg("%s", error.message);
	for (size_t i = 0; i < stream.count; i++) {
		cleanup(pod_release) struct pod pod = { 0 };
		autostrbuf text = STRBUF_INIT(512);

		assert_non_null(expected[i]);
		if (pod_from_json(stream.documents[i], path, &pod, NULL, &error) < 0)
			fail_msg("%s", error.message);
		assert_int_equal(pod.notes.count, 0);
		strbuf_addf(&text, "%s %s [%s]: ", pod.name, pod.containers[0].image,
			    pod.containers[0].command.items[0]);
		request_describe(&pod.containers[0].request, &text);
		assert_string_equal(text.data, expected[i]);
	}
	assert_null(expected[stream.count]);
}

TEST(files_of_the_field)
{
	check_file("cuda-two-cards.yaml",
		   (const char *const[]){ "cuda-two-cards nvidia/cuda:12.3.1-base-ubuntu22.04 "
					  "[nvidia-smi]: 2 whole cards",
					  NULL });
	check_file("cuda-one-card.yaml",
		   (const char *const[]){ "cuda-one-card nvidia/cuda:12.2.0-base-ubuntu22.04 "
					  "[nvidia-smi]: 1 whole card",
					  NULL });
	check_file("two-slices.yaml",
		   (const char *const[]){ "slice-12 host [nvidia-smi]: a slice of 12 GiB",
					  "slice-20 host [nvidia-smi]: a slice of 20 GiB", NULL });
	check_file("hami-slice.yaml",
		   (const char *const[]){ "hami-slice host [nvidia-smi]: a slice of 3000 MiB and "
					  "30 % compute on each of 2 cards",
					  NULL });
	check_file(
		"sixteen-cards.yaml",
		(const char *const[]){ "sixteen-cards host [nvidia-smi]: 16 whole cards", NULL });
}

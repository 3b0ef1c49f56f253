/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "model/model.h"

#define POD(spec)      "{\"metadata\":{\"name\":\"p\"},\"spec\":{" spec "}}"
#define BOXES(what)    POD("\"containers\":[{\"name\":\"c\"" what "}]")
#define SPEC(what)     POD("\"containers\":[{\"name\":\"c\"}]," what)
#define REQUESTS(what) ",\"resources\":{\"requests\":{" what "}}"

static int read_text(const char *text, struct demand *demand, struct error *error)
{
	cleanup(string_list_release) struct string_list notes = { .count = 0 };
	autojson *pod = NULL;
	int r = json_parse(text, strlen(text), "f", NULL, &pod, error);

	demand_init(demand);
	return r < 0 ? r : demand_read(pod, "f", 7, &notes, demand, error);
}

static const struct {
	const char *text, *message;
	int r;
} cases[] = {
	{ BOXES(""), "", 0 },
	{ "7", "f:7: Pod: metadata.name is missing; write one", -EINVAL },
	{ "{\"status\":{\"phase\":\"Succeeded\"}}", "f:7: the Pod has ended", -ESTALE },
	{ POD("\"containers\":7"), "f:7: Pod default/p: spec.containers is missing; is this a Pod?",
	  -EINVAL },
	{ POD("\"containers\":[7]"), "f:7: Pod default/p: a container is no map; write one",
	  -EINVAL },
	{ BOXES(REQUESTS("\"cpu\":\"-1\"")),
	  "f:7: Pod default/p: cpu or memory is no quantity of 0 or more; write one", -EINVAL },
	{ BOXES(REQUESTS("\"cpu\":\"9E\"")),
	  "f:7: Pod default/p: cpu is more than any machine has; write less", -EINVAL },
	{ SPEC("\"nodeSelector\":{\"a\":1}"),
	  "f:7: Pod default/p: a value of spec.nodeSelector is no text; quote it", -EINVAL },
	{ SPEC("\"nodeSelector\":{\"a\":\"x\\u007f\"}"),
	  "f:7: Pod default/p: a name, label or value has a control character; remove it",
	  -EINVAL },
	{ SPEC("\"tolerations\":[{\"effect\":\"Never\"}]"),
	  "f:7: Pod default/p: a toleration has an unknown effect; write NoSchedule, "
	  "PreferNoSchedule or NoExecute",
	  -EINVAL },
	{ SPEC("\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\""
	       ":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"a\"}]}]}}}"),
	  "f:7: Pod default/p: node affinity has no key or an unknown operator; write In, NotIn, "
	  "Exists, DoesNotExist, Gt or Lt",
	  -EINVAL },
};

TEST(demand_read_cases)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error error = ERROR_INIT;
		cleanup(demand_release) struct demand demand;

		assert_int_equal(read_text(cases[i].text, &demand, &error), cases[i].r);
		assert_string_equal(error.message, cases[i].message);
	}
}

static const char full[] =
	"{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\"},\"spec\":{"
	"\"nodeName\":\"w1\","
	"\"priority\":5,\"nodeSelector\":{\"zone\":\"a\"},\"tolerations\":[{"
	"\"operator\":"
	"\"Exists\"},{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoExecute\"}],"
	"\"affinity\":{\"nodeAffinity\":{"
	"\"requiredDuringSchedulingIgnoredDuringExecution\":"
	"{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"a\","
	"\"operator\":\"In\","
	"\"values\":[\"x\",\"y\"]}],\"matchFields\":[{\"key\":\"metadata.name\","
	"\"operator\":"
	"\"NotIn\",\"values\":[\"z\"]}]}]}}},"
	"\"initContainers\":[{\"name\":\"s\",\"restartPolicy\":"
	"\"Always\"" REQUESTS("\"cpu\":\"100m\"") "},{\"name\":\"i\"" REQUESTS(
		"\"cpu\":3,\"memory\":\"1Gi\"") "}],"
						"\"containers\":[{\"name\":"
						"\"c\",\"resources\":{"
						"\"limits\":{\"cpu\":1,"
						"\"memory\":\"2Gi\","
						"\"nvidia.com/"
						"gpu\":2}}},{\"name\":"
						"\"d\"" REQUESTS("\"cpu\":\"500m\"") "}]}"
										     "}";

TEST(demand_read_reads_a_pod)
{
	struct error error = ERROR_INIT;
	cleanup(demand_release) struct demand demand;

	assert_int_equal(read_text(full, &demand, &error), 0);
	assert_string_equal(demand.object, "Pod n/p");
	assert_string_equal(demand.node, "w1");
	assert_int_equal(demand.priority, 5);
	assert_int_equal(demand.needs.cpu_milli, 3100);
	assert_int_equal(demand.needs.memory_mib, 2048);
	assert_int_equal(demand.request_count, 1);
	assert_int_equal(demand.requests[0].kind, REQUEST_WHOLE);
	assert_int_equal(demand.requests[0].cards, 2);
	assert_string_equal(demand.containers[0], "c");
	assert_string_equal(demand.selector[0].key, "zone");
	assert_int_equal(demand.toleration_count, 2);
	assert_null(demand.tolerations[0].key);
	assert_null(demand.tolerations[0].value);
	assert_int_equal(demand.tolerations[1].effect, TAINT_NO_EXECUTE);
	assert_int_equal(demand.term_count, 1);
	assert_int_equal(demand.terms[0].count, 2);
	assert_null(demand.terms[0].items[1].key);
	assert_int_equal(demand.terms[0].items[1].operator, MATCH_NOT_IN);
}

TEST(demand_read_short_of_memory)
{
	for (unsigned n = 0;; n++) {
		struct error error = ERROR_INIT;
		cleanup(demand_release) struct demand demand;

		fault_arm(n);
		int r = read_text(full, &demand, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

#define NOTED(labels, annotations)                                                            \
	"{\"metadata\":{\"name\":\"p\",\"labels\":{" labels "},\"annotations\":{" annotations \
	"}},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}"

static const struct {
	const char *text;
	int r;
	const char *gang, *domain; /* or the key that the message names */
	unsigned size;
} gangs[] = {
	{ NOTED("", ""), 0, NULL, NULL, 0 },
	{ NOTED("", "\"gpupool.io/gang\":\"g\""), 0, "g", NULL, 0 },
	{ NOTED("", "\"gpupool.io/gang\":\"g\",\"gpupool.io/gang-size\":\"8\","
		    "\"gpupool.io/gang-domain\":\"rack\""),
	  0, "g", "rack", 8 },
	{ NOTED("", "\"gpupool.io/gang-size\":\"8\""), 0, NULL, NULL, 0 }, /* of no gang */
	{ NOTED("", "\"scheduling.k8s.io/group-name\":\"v\""), 0, "v", NULL, 0 },
	{ NOTED("\"scheduling.x-k8s.io/pod-group\":\"s\"", ""), 0, "s", NULL, 0 },
	{ NOTED("", "\"pod-group-name\":\"k\","
		    "\"kai.scheduler/topology-required-placement\":\"block\""),
	  0, "k", "block", 0 },
	{ NOTED("\"kueue.x-k8s.io/pod-group-name\":\"q\"",
		"\"kueue.x-k8s.io/pod-group-total-count\":\"3\","
		"\"kueue.x-k8s.io/podset-required-topology\":\"zone\""),
	  0, "q", "zone", 3 },
	{ NOTED("", "\"gang.scheduling.koordinator.sh/name\":\"o\","
		    "\"gang.scheduling.koordinator.sh/min-available\":\"2\""),
	  0, "o", NULL, 2 },
	{ NOTED("", "\"gpupool.io/gang\":\"\""), -EINVAL, NULL, "gpupool.io/gang is no", 0 },
	{ NOTED("", "\"gpupool.io/gang\":\"a\\n\""), -EINVAL, NULL, "gpupool.io/gang is no", 0 },
	{ NOTED("", "\"gpupool.io/gang\":\"g\",\"gpupool.io/gang-size\":\"0\""), -EINVAL, NULL,
	  "gpupool.io/gang-size is no", 0 },
	{ NOTED("", "\"gpupool.io/gang\":\"g\",\"gpupool.io/gang-size\":\"eight\""), -EINVAL, NULL,
	  "gpupool.io/gang-size is no", 0 },
	{ NOTED("", "\"gpupool.io/gang\":\"g\",\"gpupool.io/gang-domain\":\"\""), -EINVAL, NULL,
	  "gpupool.io/gang-domain is no", 0 },
};

static void assert_text(const char *text, const char *wanted)
{
	if (wanted)
		assert_string_equal(text, wanted);
	else
		assert_null(text);
}

TEST(gangs_of_all_dialects)
{
	for (size_t i = 0; i < ARRAY_SIZE(gangs); i++) {
		cleanup(demand_release) struct demand demand;
		struct error error = ERROR_INIT;

		assert_int_equal(read_text(gangs[i].text, &demand, &error), gangs[i].r);
		if (gangs[i].r < 0) {
			assert_non_null(strstr(error.message, gangs[i].domain));
			continue;
		}
		assert_text(demand.gang, gangs[i].gang);
		assert_text(demand.gang_domain, gangs[i].domain);
		assert_int_equal(demand.gang_size, gangs[i].size);
	}
}

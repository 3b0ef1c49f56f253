/* SPDX-License-Identifier: Apache-2.0 */
/* Pods by the cgroups of their processes. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "fixture.h"
#include "node/pods.h"

#define UID1 "0a1b2c3d-1111-2222-3333-444455556666"
#define UID2 "f0000000-aaaa-bbbb-cccc-ddddeeeeffff"
#define UID3 "5f8c3d1e9b7a4f6d8c2e1a0b9f8e7d6c" /* a static Pod's: a hash without dashes */

static const struct {
	const char *path, *uid; /* NULL: none */
} rows[] = {
	{ "/kubepods/besteffort/pod" UID1 "/abc", UID1 },
	{ "/kubepods/pod" UID1, UID1 },
	{ "0::/kubepods.slice/kubepods-burstable.slice/"
	  "kubepods-burstable-podf0000000_aaaa_bbbb_cccc_ddddeeeeffff.slice/cri-containerd-1.scope",
	  UID2 },
	{ "12:pids:/kubepods.slice/kubepods-pod0a1b2c3d_1111_2222_3333_444455556666.slice/x",
	  UID1 },
	{ "0::/kubelet.slice/kubelet-kubepods.slice/"
	  "kubelet-kubepods-pod0a1b2c3d_1111_2222_3333_444455556666.slice",
	  UID1 },
	{ "/kubepods/pod" UID3 "/x", UID3 },
	{ "0::/../../kubepods/burstable/pod" UID1 "/x", UID1 },
	{ "/system.slice/podman.service", NULL },
	{ "/user.slice/podcast", NULL },
	{ "/kubepods/pod", NULL },
	{ "/kubepods/podxyz-not-a-uid/abc", NULL },
	{ "/kubepods.slice/kubepods-pod.slice", NULL },
	{ "/kubepods/pod" UID1 UID1 UID1, NULL }, /* longer than any */
	{ "/", NULL },
	{ "", NULL },
};

TEST(a_pods_uid_is_read_from_either_form)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char uid[64] = "";
		bool found = pod_uid_of_cgroup(rows[i].path, uid, sizeof(uid));

		if (found != (rows[i].uid != NULL) || (found && strcmp(uid, rows[i].uid) != 0))
			fail_msg("%s: %s", rows[i].path, found ? uid : "none");
	}
}

static const struct fixture_file processes[] = {
	{ "1/comm", "systemd\n" },
	{ "1/cgroup", "0::/init.scope\n" },
	{ "77/comm", "python\n" },
	{ "77/cgroup", "3:cpu:/\n1:name=systemd:/kubepods/pod" UID1 "/abc\n" },
	{ "78/comm", "sh\n" },
	{ "78/cgroup",
	  "0::/kubepods.slice/kubepods-podf0000000_aaaa_bbbb_cccc_ddddeeeeffff.slice/y\n" },
	{ "79/comm", "gone\n" }, /* it ended between two looks */
	{ "80/cgroup", "0::/podcafebabe-not/y\n" },
	{ "self/comm", "x\n" },
};

static void look(struct pod_signs *signs, const char *kubelet)
{
	struct fixture fixture;
	struct error error = ERROR_INIT;

	fixture_make(&fixture, processes, ARRAY_SIZE(processes));
	if (kubelet)
		fixture_write(&fixture, "99/comm", kubelet);
	assert_int_equal(pod_signs_take(signs, fixture.root, &error), 0);
	fixture_remove(&fixture);
}

/* Whoever does not see the kubelet sees another namespace, in which Pods have no processes. */
TEST(who_has_no_process_is_idle_only_where_the_hosts_are_seen)
{
	static const struct {
		const char *kubelet;
		enum pod_sign other;
	} cases[] = { { "kubelet\n", POD_IDLE },
		      { "k3s-server\n", POD_IDLE },
		      { "kubelite\n", POD_IDLE },
		      { "kubelet-shim\n", POD_UNKNOWN },
		      { NULL, POD_UNKNOWN } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pod_signs signs = { .running = NULL };

		assert_int_equal(pod_signs_of(&signs, UID1), POD_UNKNOWN);
		look(&signs, cases[i].kubelet);
		assert_int_equal(pod_signs_of(&signs, UID1), POD_RUNS);
		assert_int_equal(pod_signs_of(&signs, UID2), POD_RUNS);
		assert_int_equal(pod_signs_of(&signs, UID3), cases[i].other);
		pod_signs_release(&signs);
	}
}

TEST(a_process_is_of_its_pod_of_none_or_has_ended)
{
	struct fixture fixture;
	char uid[POD_UID_MAX];

	fixture_make(&fixture, processes, ARRAY_SIZE(processes));
	assert_int_equal(pod_uid_of_process(fixture.root, 78, uid), 1);
	assert_string_equal(uid, UID2);
	assert_int_equal(pod_uid_of_process(fixture.root, 1, uid), 0);
	assert_int_equal(pod_uid_of_process(fixture.root, 80, uid), 0);
	assert_string_equal(uid, "");
	assert_int_equal(pod_uid_of_process(fixture.root, 79, uid), -ENOENT);
	/* Nobody says that these are the numbers that the driver tells. */
	assert_false(pods_know_pids(fixture.root));
	fixture_remove(&fixture);
}

TEST(a_place_that_is_not_there_tells_nothing)
{
	struct pod_signs signs = { .running = NULL };
	struct error error = ERROR_INIT;

	assert_int_equal(pod_signs_take(&signs, "/nonexistent", &error), 0);
	assert_int_equal(pod_signs_of(&signs, UID1), POD_UNKNOWN);
	pod_signs_release(&signs);
}

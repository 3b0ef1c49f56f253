/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "formats/formats.h"

static const struct {
	const char *output;
	enum version_verdict verdict;
	const char *sentence; /* part of it; NULL: none */
} rows[] = {
	/* Debian 12 and 13, Ubuntu 22.04, as they print it. */
	{ "runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1+deb12u1\nspec: 1.0.2-dev\n", VERSION_OLD,
	  "runc 1.1.5+ds1 may create files or devices on the host for a hostile image or volume, "
	  "unless your distribution has the fixes" },
	{ "runc version 1.1.12-0ubuntu2~22.04.1\n", VERSION_OLD, "install 1.2.8 or later" },
	{ "crun version 1.8.1\ncommit: f8a0\n", VERSION_OLD, "install 1.28.0 or later" },
	{ "crun version 1.21\n", VERSION_OLD, "volume; gpupool-runtime refuses" },
	{ "crun version 1.28\n", VERSION_FINE, NULL },
	{ "crun version 1.30.2\n", VERSION_FINE, NULL },
	{ "crun version 2.0\n", VERSION_FINE, NULL },
	/* Upstream's lines. */
	{ "runc version 1.0.0-rc93\n", VERSION_UNSAFE, "CVE-2024-21626" },
	{ "runc version 1.1.11\n", VERSION_UNSAFE, "install 1.1.12 or later" },
	{ "runc version 1.1.11+dev\n", VERSION_UNSAFE, "CVE-2024-21626" },
	{ "runc version 1.1.12\n", VERSION_OLD, "install 1.2.8 or later" },
	{ "runc version 1.2.7\n", VERSION_OLD, "install 1.2.8 or later" },
	{ "runc version 1.2.8\n", VERSION_FINE, NULL },
	{ "runc version 1.3.5\n", VERSION_OLD, "install 1.3.6 or later" },
	{ "runc version 1.3.6\n", VERSION_FINE, NULL },
	{ "runc version 1.4.0-rc.2\n", VERSION_OLD, "install 1.4.3 or later" },
	{ "runc version 1.4.3\n", VERSION_FINE, NULL },
	{ "runc version 1.5.0-rc.2\n", VERSION_OLD, "install 1.5.0-rc.3 or later" },
	{ "runc version 1.5.0-rc.3\n", VERSION_FINE, NULL },
	{ "runc version 1.5.0\n", VERSION_FINE, NULL },
	{ "runc version 1.6.0\n", VERSION_FINE, NULL },
};

TEST(runtime_versions_are_judged)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct runtime_version version;
		enum version_verdict verdict = VERSION_FINE;
		struct string_list sentences = { 0 };
		struct error error = ERROR_INIT;

		if (runtime_version_parse(rows[i].output, &version, &error) < 0 ||
		    runtime_version_judge(&version, &verdict, &sentences, &error) < 0)
			fail_msg("row %zu: %s", i, error.message);
		const char *said = sentences.count ? sentences.items[0] : NULL;
		if (verdict != rows[i].verdict || !said != !rows[i].sentence ||
		    (said && !strstr(said, rows[i].sentence)))
			fail_msg("row %zu: %d \"%s\"", i, (int)verdict, said ? said : "");
		assert_true(sentences.count < 2);
		string_list_release(&sentences);
	}
}

TEST(runtime_versions_of_other_programs_are_refused)
{
	static const char *const outputs[] = { "",
					       "runc",
					       "runc version ",
					       "runc version x",
					       "youki version 0.3\n",
					       "crunch version 1.2" };

	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++) {
		struct runtime_version version;
		struct error error = ERROR_INIT;

		assert_int_equal(runtime_version_parse(outputs[i], &version, &error), -EINVAL);
		assert_non_null(strstr(error.message, "no version of runc or crun"));
	}
}

TEST(kernel_releases_are_judged)
{
	static const struct {
		const char *release;
		size_t count;
	} kernels[] = { { "4.18.0-553.el8_10.x86_64", 3 },
			{ "5.4.0-190-generic", 3 },
			{ "5.6.0", 2 },
			{ "5.10.0-30-amd64", 2 },
			{ "5.11.1", 1 },
			{ "5.12.0", 0 },
			{ "5.14.0-427.el9", 0 },
			{ "6.18.44-fc-v669", 0 },
			{ "10.0", 0 },
			{ "", 3 } };

	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		struct string_list sentences = { 0 };
		struct error error = ERROR_INIT;

		assert_int_equal(kernel_release_judge(kernels[i].release, &sentences, &error), 0);
		if (sentences.count != kernels[i].count)
			fail_msg("%s: %zu sentences", kernels[i].release, sentences.count);
		string_list_release(&sentences);
	}
}

/* Found by a fuzzer: it was said to be out of memory. */
TEST(kernel_releases_without_end_are_cut)
{
	char release[4096];
	struct string_list sentences = { 0 };
	struct error error = ERROR_INIT;

	memset(release, '1', sizeof(release));
	memcpy(release, "4.1", 3);
	release[sizeof(release) - 1] = '\0';
	assert_int_equal(kernel_release_judge(release, &sentences, &error), 0);
	assert_int_equal(sentences.count, 3);
	string_list_release(&sentences);
}

TEST(runtime_versions_survive_every_failed_allocation)
{
	for (unsigned n = 0;; n++) {
		struct runtime_version version;
		enum version_verdict verdict = VERSION_FINE;
		struct string_list sentences = { 0 };
		struct error error = ERROR_INIT;

		assert_int_equal(runtime_version_parse(rows[0].output, &version, &error), 0);
		fault_arm(n);
		int r = runtime_version_judge(&version, &verdict, &sentences, &error);
		if (r == 0)
			r = kernel_release_judge("4.18", &sentences, &error);
		string_list_release(&sentences);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n > 5);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

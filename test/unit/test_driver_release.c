/* SPDX-License-Identifier: Apache-2.0 */
#include "model/driver_release.h"

#include "base/base.h"
#include "test.h"

TEST(driver_release_of_versions)
{
	static const struct {
		const char *version;
		unsigned branch, major, minor; /* branch 0: unknown */
	} rows[] = {
		{ "535.129.03", 535, 12, 2 }, { "550.54.14", 550, 12, 4 },
		{ "470.223.02", 470, 11, 4 }, { "450.51.06", 450, 11, 0 },
		{ "384.81", 384, 9, 0 },      { "565.57.01", 565, 12, 7 },
		{ "610.43.02", 610, 13, 3 },  { "615.71.09", 615, 13, 4 },
		{ "537.13", 0, 0, 0 },        { "535", 0, 0, 0 },
		{ "5350.1", 0, 0, 0 },        { "", 0, 0, 0 },
		{ "x535.1", 0, 0, 0 },        { "99999999999999999999.1", 0, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct driver_release *release = driver_release_of(rows[i].version);

		if (!rows[i].branch) {
			assert_null(release);
			continue;
		}
		assert_non_null(release);
		assert_int_equal(release->branch, rows[i].branch);
		assert_int_equal(release->cuda_major, rows[i].major);
		assert_int_equal(release->cuda_minor, rows[i].minor);
	}
	assert_null(driver_release_of(NULL));
}

/* A newer branch offers no older CUDA, and each row is found by its own branch. */
TEST(driver_releases_are_in_order)
{
	size_t count;
	const struct driver_release *all = driver_releases(&count);

	assert_true(count > 30);
	for (size_t i = 0; i < count; i++) {
		char version[32];

		snprintf(version, sizeof(version), "%u.0", all[i].branch);
		assert_ptr_equal(driver_release_of(version), &all[i]);
		if (i == 0)
			continue;
		assert_true(all[i].branch > all[i - 1].branch);
		assert_true(all[i].cuda_major * 100 + all[i].cuda_minor >=
			    all[i - 1].cuda_major * 100 + all[i - 1].cuda_minor);
	}
}

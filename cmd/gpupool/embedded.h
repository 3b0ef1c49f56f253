/* SPDX-License-Identifier: Apache-2.0 */
/* The manifests of docs/examples, inside the program: `gpupool demo` needs no file of ours. */
#pragma once

struct embedded_file {
	const char *name, *text;
};

extern const struct embedded_file embedded_files[]; /* ends with a row without a name */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One build serves every driver version: a library holds a slot, a mark and room behind it, and
 * the tool writes the version there when it copies the file into a driver root. An empty slot
 * (a library that was loaded from the build folder) agrees with any module.
 */
#pragma once

#define VERSION_SLOT_MARK "simdriver-library-version="
#define VERSION_SLOT_SIZE 64

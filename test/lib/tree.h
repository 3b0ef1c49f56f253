/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small trees on disk for tests: driver roots and container roots. Paths are relative to the tree;
 * directories on the way are made. What cannot be made fails the test, device nodes excepted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define TREE_PATH_MAX 64

void tree_make(char path[TREE_PATH_MAX]); /* a new directory below /tmp */
void tree_remove(const char *path);

void tree_directory(const char *tree, const char *path);
void tree_file(const char *tree, const char *path, const char *text);
void tree_program(const char *tree, const char *path);
void tree_link(const char *tree, const char *path, const char *target);
void tree_socket(const char *tree, const char *path);
void tree_fifo(const char *tree, const char *path);
/* false where this process may not make device nodes. */
bool tree_node(const char *tree, const char *path, unsigned major, unsigned minor);
/* A shared library without code. SONAME NULL: it has none. */
void tree_library(const char *tree, const char *path, const char *soname, int bits);
/* The bytes of such a library; the length. */
size_t tree_library_bytes(unsigned char bytes[1024], const char *soname, int bits);
/* All names below TREE, with types and sizes, as one text; caller frees. */
char *tree_describe(const char *tree);

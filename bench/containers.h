/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmarks of container starts share: the simulated driver, an image, programs and clocks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

#define BENCH_PATH_MAX 4096
#define WORK           "/run/bench"
#define DRIVER         "/run/driver"
#define IMAGE          WORK "/image"
#define INVENTORY      WORK "/" NAME_INVENTORY
#define KEPT           WORK "/" NAME_DRIVER_FILES
#define CONFIG_BASE    WORK "/base.json"

/* Prints and ends the program. ERROR may be NULL. */
__attribute__((noreturn)) void die(const char *what, const struct error *error);
double now_us(void);
/* Runs ARGV with no input and its output thrown away; the exit status, and its processor time. */
int run_program(const char *const *argv, double *ret_cpu_us);
/* Wall time in us; ends the program when ARGV does not end with 0. */
double time_program(const char *const *argv, double *ret_cpu_us);
void copy_file(const char *from, const char *to);
/* A spec of /bin/true in IMAGE at PATH. */
void make_spec(const char *path, const char *const *environment);
void sort_values(double *values, size_t count);
/* By GPUPOOL_TEST_SCALE. */
size_t rounds_to_run(void);
/* Prints a result of TAP. A budget is judged in full length only: a short run is told, and decides
 * nothing. */
bool judge(unsigned number, const char *what, double measured, double budget, const char *unit);
/* NULL: there is none. */
const char *find_runtime(const char *name);
/* The path of NAME below the build folder. */
void beside(const char *name, char *ret, size_t size);
/*
 * Runs BENCH on the simulated driver with eight cards, in a mount namespace of its own with IMAGE,
 * CONFIG_BASE, INVENTORY and KEPT in place; CARDS of them are needed at least. The exit code of the
 * program; prints a skipped plan where containers cannot be made.
 */
int bench_with_driver(bool (*bench)(void), size_t cards);

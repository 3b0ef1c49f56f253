/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ownership in the declaration: a local variable that owns something says so where it is
 * declared, and the matching function runs when it goes out of scope.
 */
#pragma once

#include <stdlib.h>
#include <unistd.h>

#define cleanup(function) __attribute__((cleanup(function)))

/* Declares FUNCTION##p for use with cleanup(); FUNCTION must accept NULL. */
#define DEFINE_CLEANUP(type, function)                \
	static inline void function##p(type **object) \
	{                                             \
		if (*object)                          \
			function(*object);            \
	}

static inline void cleanup_free(void *object)
{
	free(*(void **)object);
}

static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define autofree  cleanup(cleanup_free)
#define autoclose cleanup(cleanup_close)

/* Handing over is a visible act: the local owns nothing from here on. */
#define TAKE_PTR(pointer)                               \
	({                                              \
		__typeof__(pointer) taken_ = (pointer); \
		(pointer) = NULL;                       \
		taken_;                                 \
	})

#define TAKE_FD(fd)                \
	({                         \
		int taken_ = (fd); \
		(fd) = -1;         \
		taken_;            \
	})

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

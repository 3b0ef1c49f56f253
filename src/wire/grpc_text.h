/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of gRPC in HTTP/2 headers (grpc's doc/PROTOCOL-HTTP2.md): status, message, timeout. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

#define GRPC_TEXT_MAX 1024 /* bytes of a status message; what is longer is cut */

/* Whether a header's name or value is TEXT. */
bool grpc_header_is(const char *value, size_t length, const char *text);

/* Percent-encodes what is not printable ASCII, and '%'. Cuts between characters. */
void grpc_text_encode(struct strbuf *buffer, const char *text);

/*
 * The text that was encoded, with a NUL; a '%' that begins no number stays. Bytes that are no UTF-8 become
 * '?', and so does a NUL.
 */
void grpc_text_decode(const char *value, size_t length, char ret[GRPC_TEXT_MAX + 1]);

/* The status that a header names; GRPC_UNKNOWN for what is none. */
enum grpc_status grpc_status_parse(const char *value, size_t length);

/* "100m": milliseconds, rounded up. False: malformed. */
bool grpc_timeout_parse(const char *value, size_t length, uint64_t *ret_ms);

/* grpc's doc/http-grpc-status-mapping.md: an answer without grpc-status. */
enum grpc_status grpc_status_of_http(unsigned status);

/* grpc's doc/PROTOCOL-HTTP2.md, "Errors": a stream that was reset. */
enum grpc_status grpc_status_of_reset(uint32_t code);

/* "application/grpc", alone or followed by '+' or ';'. */
bool grpc_is_content_type(const char *value, size_t length);

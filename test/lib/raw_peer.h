/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP/2 peer that sends what it is told, right or wrong, and writes down what comes back. A script is lines,
 * numbers are hexadecimal but those of streams and repetitions:
 *
 *	P				the client's preface
 *	S HEX				SETTINGS with this payload
 *	A				SETTINGS, acknowledged
 *	H FLAGS STREAM NAME VALUE|...	HEADERS (flags 1: the stream's end, 4: the list's end)
 *	C FLAGS STREAM NAME VALUE|...	CONTINUATION
 *	D FLAGS STREAM HEX		DATA
 *	F TYPE FLAGS STREAM HEX		any frame
 *	X HEX				bytes
 *	Z COUNT				so many bytes of 0
 *	N COUNT LINE&LINE...		the lines so many times; '+' in the place of a stream's number counts it up by
 *					2, '=' is the same once more
 *
 * What came is one frame a line, SETTINGS and WINDOW_UPDATE left out:
 *
 *	HEADERS 1 end :status 200|grpc-status 12
 *	DATA 1 0000000001ff		(long ones: DATA 1 70000 bytes)
 *	RST 1 8
 *	GOAWAY 1			(the error code)
 *	closed
 */
#pragma once

#include "wire_world.h"

struct raw_peer {
	struct wire_world *world;
	int fd;
	struct strbuf said;
	size_t data; /* bytes of DATA that came */
	bool closed, pinged;
	bool deaf; /* does not read while it sends, and gives up soon when nobody takes more */
	uint32_t next_stream;
	unsigned char *bytes; /* that are no whole frame yet */
	size_t length, capacity;
	void *inflater;
};

void raw_peer_start(struct raw_peer *peer, struct wire_world *world, int fd); /* fd is taken */

/* A connection to the server of the world. */
void raw_peer_connect(struct raw_peer *peer, struct wire_world *world);

/* Sends the script and then a PING, and runs the loop until that is answered or the connection ends. */
void raw_peer_play(struct raw_peer *peer, const char *script);

/* Sends the script only; false when the other end does not take all of it any more. */
bool raw_peer_send(struct raw_peer *peer, const char *script);

/* Runs the loop until TEXT was said. */
void raw_peer_wait(struct raw_peer *peer, const char *text);

/* Reads what is there now. */
void raw_peer_read(struct raw_peer *peer);

void raw_peer_end(struct raw_peer *peer);

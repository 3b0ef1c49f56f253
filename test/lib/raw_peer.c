/* SPDX-License-Identifier: Apache-2.0 */
#include "raw_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define FRAME_HEAD 9
#define DEAF_MS    300
#define SCRIPT_MAX (64U << 20)

static void demand(bool right, const char *what)
{
	if (!right) {
		fprintf(stderr, "raw peer: %s\n", what);
		abort();
	}
}

/* What is sent */

static void add_number(struct strbuf *bytes, uint32_t number, int size)
{
	while (size-- > 0)
		strbuf_addc(bytes, (char)(number >> (8 * size)));
}

static void add_frame(struct strbuf *bytes, unsigned type, unsigned flags, uint32_t stream,
		      const struct strbuf *payload)
{
	add_number(bytes, (uint32_t)payload->length, 3);
	add_number(bytes, type, 1);
	add_number(bytes, flags, 1);
	add_number(bytes, stream, 4);
	strbuf_add(bytes, payload->data, payload->length);
}

static void add_hex(struct strbuf *bytes, const char *text)
{
	for (; text[0] && text[1]; text += text[2] == ' ' ? 3 : 2) {
		char pair[] = { text[0], text[1], '\0' };

		strbuf_addc(bytes, (char)strtoul(pair, NULL, 16));
	}
}

static void add_string(struct strbuf *bytes, const char *text, size_t length)
{
	if (length < 127) {
		add_number(bytes, (uint32_t)length, 1);
	} else {
		add_number(bytes, 127, 1);
		for (length -= 127; length >= 128; length /= 128)
			add_number(bytes, (uint32_t)(length % 128 + 128), 1);
		add_number(bytes, (uint32_t)length, 1);
	}
	strbuf_add(bytes, text, text[0] ? strlen(text) : 0);
}

/* "NAME VALUE|NAME VALUE": literals without indexing. VALUE may be *COUNT: so many letters. */
static void add_headers(struct strbuf *bytes, char *text)
{
	for (char *one; (one = strsep(&text, "|"));) {
		char *value = one, *name = strsep(&value, " ");
		autostrbuf longer = STRBUF_INIT(SCRIPT_MAX);

		if (!value)
			value = name + strlen(name);
		if (value[0] == '*' && value[1])
			for (unsigned long i = strtoul(value + 1, NULL, 10); i > 0; i--)
				strbuf_addc(&longer, 'a');
		else
			strbuf_adds(&longer, value);
		add_number(bytes, 0, 1);
		add_string(bytes, name, strlen(name));
		add_string(bytes, longer.data, longer.length);
	}
}

static char *word(char **line)
{
	char *found = strsep(line, " ");

	return found ? found : (char[]){ "" };
}

static uint32_t stream_number(struct raw_peer *peer, const char *text)
{
	if (strcmp(text, "=") == 0)
		return peer->next_stream;
	if (strcmp(text, "+") != 0)
		return (uint32_t)strtoul(text, NULL, 10);
	peer->next_stream += 2;
	return peer->next_stream;
}

static void add_line(struct raw_peer *peer, struct strbuf *bytes, char *line)
{
	static const char letters[] = "DHSC", types[] = { 0, 1, 4, 9 };
	autostrbuf payload = STRBUF_INIT(SCRIPT_MAX);
	char command = word(&line)[0];
	const char *known = strchr(letters, command);
	unsigned type = known ? (unsigned)types[known - letters] : 0, flags = 0;
	uint32_t stream = 0;

	if (command == 'P') {
		strbuf_adds(bytes, NGHTTP2_CLIENT_MAGIC);
		return;
	}
	if (command == 'X') {
		add_hex(bytes, line);
		return;
	}
	if (command == 'Z') {
		for (unsigned long i = strtoul(line, NULL, 10); i > 0; i--)
			strbuf_addc(bytes, '\0');
		return;
	}
	if (command == 'A') {
		type = NGHTTP2_SETTINGS;
		flags = NGHTTP2_FLAG_ACK;
	}
	if (command == 'F')
		type = (unsigned)strtoul(word(&line), NULL, 16);
	if (command != 'S' && command != 'A') {
		flags = (unsigned)strtoul(word(&line), NULL, 16);
		stream = stream_number(peer, word(&line));
	}
	if (command == 'H' || command == 'C')
		add_headers(&payload, line);
	else if (line)
		add_hex(&payload, line);
	add_frame(bytes, type, flags, stream, &payload);
}

static void add_script(struct raw_peer *peer, struct strbuf *bytes, const char *script)
{
	autofree char *copy = strdup(script);
	char *rest = copy, *line;

	demand(copy, "out of memory");
	while ((line = strsep(&rest, "\n"))) {
		unsigned long count = 1;

		if (line[0] == 'N') {
			word(&line);
			count = strtoul(word(&line), NULL, 10);
		}
		for (; line[0] && count > 0; count--) {
			autofree char *once = strdup(line);
			char *both = once;

			demand(once, "out of memory");
			for (char *part; (part = strsep(&both, "&"));)
				add_line(peer, bytes, part);
		}
	}
	demand(strbuf_failed(bytes) == 0, "the script is too long");
}

/* What comes back */

static void say_headers(struct raw_peer *peer, const unsigned char *bytes, size_t size)
{
	const char *between = " ";
	int last = 0;

	while (!(last & NGHTTP2_HD_INFLATE_FINAL)) {
		nghttp2_nv header;
		ssize_t taken =
			nghttp2_hd_inflate_hd2(peer->inflater, &header, &last, bytes, size, 1);

		demand(taken >= 0, "a header list that cannot be read");
		bytes += taken;
		size -= (size_t)taken;
		if (last & NGHTTP2_HD_INFLATE_EMIT) {
			strbuf_addf(&peer->said, "%s%.*s %.*s", between, (int)header.namelen,
				    (const char *)header.name, (int)header.valuelen,
				    (const char *)header.value);
			between = "|";
		}
	}
	nghttp2_hd_inflate_end_headers(peer->inflater);
}

static uint32_t number_of(const unsigned char *bytes, int size)
{
	uint32_t number = 0;

	while (size-- > 0)
		number = number << 8 | *bytes++;
	return number;
}

static void say_frame(struct raw_peer *peer, const unsigned char *frame, size_t size)
{
	unsigned type = frame[3], flags = frame[4];
	uint32_t stream = number_of(frame + 5, 4);
	const unsigned char *payload = frame + FRAME_HEAD;
	const char *end = flags & NGHTTP2_FLAG_END_STREAM ? " end" : "";

	if (type == NGHTTP2_PING && flags) {
		peer->pinged = true;
	} else if (type == NGHTTP2_HEADERS) {
		strbuf_addf(&peer->said, "HEADERS %u%s", stream, end);
		say_headers(peer, payload, size);
		strbuf_addc(&peer->said, '\n');
	} else if (type == NGHTTP2_DATA) {
		peer->data += size;
		strbuf_addf(&peer->said, "DATA %u%s ", stream, end);
		for (size_t i = 0; size <= 64 && i < size; i++)
			strbuf_addf(&peer->said, "%02x", payload[i]);
		if (size > 64)
			strbuf_addf(&peer->said, "%zu bytes", size);
		strbuf_addc(&peer->said, '\n');
	} else if (type == NGHTTP2_RST_STREAM) {
		strbuf_addf(&peer->said, "RST %u %u\n", stream, number_of(payload, 4));
	} else if (type == NGHTTP2_GOAWAY) {
		strbuf_addf(&peer->said, "GOAWAY %u\n", number_of(payload + 4, 4));
	}
}

static void take_frames(struct raw_peer *peer)
{
	size_t at = 0;

	while (peer->length - at >= FRAME_HEAD) {
		size_t size = number_of(peer->bytes + at, 3);

		if (peer->length - at < FRAME_HEAD + size)
			break;
		say_frame(peer, peer->bytes + at, size);
		at += FRAME_HEAD + size;
	}
	peer->length -= at;
	if (peer->length)
		memmove(peer->bytes, peer->bytes + at, peer->length);
}

void raw_peer_read(struct raw_peer *peer)
{
	while (!peer->closed) {
		demand(vec_reserve(&peer->bytes, &peer->capacity, peer->length + 65536, 1) == 0,
		       "out of memory");
		ssize_t length = recv(peer->fd, peer->bytes + peer->length, 65536, MSG_DONTWAIT);

		if (length < 0 && errno == EAGAIN)
			return;
		if (length <= 0) {
			peer->closed = true;
			strbuf_adds(&peer->said, "closed\n");
			return;
		}
		peer->length += (size_t)length;
		take_frames(peer);
	}
}

static void turn(struct raw_peer *peer)
{
	loop_turn(peer->world->loop);
	raw_peer_read(peer);
}

static bool send_all(struct raw_peer *peer, const struct strbuf *bytes)
{
	uint64_t start = loop_now_ms(peer->world->loop), moved = start;

	for (size_t at = 0; at < bytes->length;) {
		ssize_t sent = send(peer->fd, bytes->data + at, bytes->length - at,
				    MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent > 0)
			at += (size_t)sent;
		else if (errno != EAGAIN ||
			 (peer->deaf && loop_now_ms(peer->world->loop) - moved > DEAF_MS))
			return false;
		if (sent > 0)
			moved = loop_now_ms(peer->world->loop);
		else if (peer->deaf)
			loop_turn(peer->world->loop);
		else
			turn(peer);
		demand(loop_now_ms(peer->world->loop) - start < WIRE_PATIENCE_MS,
		       "the other end takes no more");
	}
	return true;
}

bool raw_peer_send(struct raw_peer *peer, const char *script)
{
	autostrbuf bytes = STRBUF_INIT(SCRIPT_MAX);

	add_script(peer, &bytes, script);
	return send_all(peer, &bytes);
}

void raw_peer_play(struct raw_peer *peer, const char *script)
{
	uint64_t start = loop_now_ms(peer->world->loop);

	peer->pinged = false;
	if (raw_peer_send(peer, script))
		raw_peer_send(peer, "F 6 0 0 0000000000000000");
	while (!peer->pinged && !peer->closed) {
		turn(peer);
		demand(loop_now_ms(peer->world->loop) - start < WIRE_PATIENCE_MS,
		       "no answer to a PING");
	}
	/* It overtakes other frames. */
	for (int i = 0; i < 4; i++)
		turn(peer);
}

void raw_peer_wait(struct raw_peer *peer, const char *text)
{
	uint64_t start = loop_now_ms(peer->world->loop);

	while (!strstr(peer->said.data, text)) {
		turn(peer);
		if (loop_now_ms(peer->world->loop) - start >= WIRE_PATIENCE_MS) {
			fprintf(stderr, "waited for '%s', and heard '%s'\n", text, peer->said.data);
			abort();
		}
	}
}

void raw_peer_start(struct raw_peer *peer, struct wire_world *world, int fd)
{
	nghttp2_hd_inflater *inflater;

	*peer = (struct raw_peer){
		.world = world, .fd = fd, .said = STRBUF_INIT(1U << 20), .next_stream = UINT32_MAX
	};
	demand(nghttp2_hd_inflate_new(&inflater) == 0, "out of memory");
	peer->inflater = inflater;
}

void raw_peer_connect(struct raw_peer *peer, struct wire_world *world)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, world->socket, strlen(world->socket));
	demand(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0,
	       "cannot connect");
	raw_peer_start(peer, world, fd);
}

void raw_peer_end(struct raw_peer *peer)
{
	close(peer->fd);
	free(peer->bytes);
	strbuf_release(&peer->said);
	nghttp2_hd_inflate_del(peer->inflater);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

static int parse(const char *text, struct yaml_stream *stream, struct error *error)
{
	return yaml_parse(text, strlen(text), "t", stream, error);
}

/* All documents on one line each. */
static void stream_text(const struct yaml_stream *stream, struct strbuf *text)
{
	for (size_t i = 0; i < stream->count; i++) {
		if (i)
			strbuf_addc(text, '\n');
		assert_int_equal(json_to_text(stream->documents[i], false, text, NULL), 0);
	}
}

/*
 * The JSON was printed by sigs.k8s.io/yaml v1.6.0 (YAMLToJSON), which kubectl uses. Where we keep
 * the digits of a fraction the comment has what it prints.
 */
static const struct {
	const char *text, *json;
} good[] = {
	{ "a: [y, n, on, Off, yes, YES, ~, null, Y, N, NO, oN, nULL, tRue]",
	  "{\"a\":[true,false,true,false,true,true,null,null,true,false,false,\"oN\",\"nULL\","
	  "\"tRue\"]}" },
	{ "a: [010, 08, 0o10, 0x1F, 1_000, +5, -0, -0x10, 0b11, .5, 1., -.5]",
	  "{\"a\":[8,8,8,31,1000,5,0,-16,3,0.5,1,-0.5]}" },
	{ "a: [0b, 0x, -0b11, +0x1f, 0_8, 1_, -_, ., .e5, 1e, 1e+, 0.5.5, ._5]",
	  "{\"a\":[\"0b\",\"0x\",-3,31,8,1,\"-_\",\".\",\".e5\",\"1e\",\"1e+\",\"0.5.5\","
	  "\"._5\"]}" },
	{ "a: [1_0.5, 00, -08, 1:30:00, 0o8, 0O17, 0B1, 0XFf, e5, 1e3x, +, -, 1 2]",
	  "{\"a\":[10.5,0,-8,\"1:30:00\",\"0o8\",15,1,255,\"e5\",\"1e3x\",\"+\",\"-\","
	  "\"1 2\"]}" },
	{ "a: [2001-01-01, 2001-01-01T00:00:00Z, 1:30]",
	  "{\"a\":[\"2001-01-01\",\"2001-01-01T00:00:00Z\",\"1:30\"]}" },
	{ "a: [18446744073709551615, -9223372036854775808, 9223372036854775808]",
	  "{\"a\":[18446744073709551615,-9223372036854775808,9223372036854775808]}" },
	{ "a: [1e999, -7e4925, 0x1ffffffffffffffff, .2_20, ._2, .2_, .2__0, 1.7e308]",
	  "{\"a\":[\"1e999\",\"-7e4925\",\"0x1ffffffffffffffff\",0.220,\"._2\",\".2_\","
	  "\".2__0\",1.7e308]}" },                                        /* 0.22, 1.7e+308 */
	{ "a: [1.0, 1.50, 1e3, +.5e3]", "{\"a\":[1.0,1.50,1e3,0.5e3]}" }, /* 1, 1.5, 1000, 500 */
	{ "- \"1\"\n- 'true'\n- |\n  5\n- >\n  on\n- \"\"\n",
	  "[\"1\",\"true\",\"5\\n\",\"on\\n\",\"\"]" },
	{ "b: !!str 5\nc: !!int \"5\"\ne: ! 5\nf: !!timestamp 2001-01-01",
	  "{\"b\":\"5\",\"c\":5,\"e\":\"5\",\"f\":\"2001-01-01\"}" },
	{ "- !!null \"\"\n- !!str\n- !!bool yes\n- !!float 5\n", "[null,\"\",true,5]" },
	{ "- !!seq [!!map {}]", "[[{}]]" },
	{ "on: 1\n1.50: 2\n010: 3\n1e6: 4\nno: 5",
	  "{\"true\":1,\"1.5\":2,\"8\":3,\"1e+06\":4,\"false\":5}" },
	{ "a: [-0, -0., -0.0, 0., -00]\n-0.: 1\n-0: 2", /* -0.0 is -0 there */
	  "{\"a\":[0,-0,-0.0,0,0],\"-0\":1,\"0\":2}" },
	{ "3e0813: 1\n6E237: 2\n-.Inf: 3\n.nan: 4\n9E-79: 5\n1.2345678: 6\n-1.50: 7\n!!str 1.50: 8",
	  "{\"3e0813\":1,\".inf\":2,\"-.inf\":3,\".nan\":4,\"0\":5,\"1.2345678\":6,\"-1.5\":7,"
	  "\"1.50\":8}" },
	/* As floats of 32 bits, with the fewest digits: strconv.FormatFloat(key, 'g', -1, 32). */
	{ "06E-44: 1\n0.0001: 2\n0.00001: 3\n123456.5: 4\n999999.5: 5\n1e5: 6\n0.1: 7\n3.4e38: 8",
	  "{\"6e-44\":1,\"0.0001\":2,\"1e-05\":3,\"123456.5\":4,\"999999.5\":5,\"100000\":6,"
	  "\"0.1\":7,\"3.4e+38\":8}" },
	{ "? a\n: 1\n? \"b\"\n: 2\n", "{\"a\":1,\"b\":2}" },
	{ "\"010\": 1\n'on': 2\n\"<<\": {a: 1}", "{\"010\":1,\"on\":2,\"<<\":{\"a\":1}}" },
	{ "a: &x 5\nb: *x\nc: [*x, *x]", "{\"a\":5,\"b\":5,\"c\":[5,5]}" },
	{ "&k a: 1\nb: *k", "{\"a\":1,\"b\":\"a\"}" },
	{ "&a yes : *a", "{\"true\":true}" },
	{ "&a 010: *a\n&b \"010\": *b\nc: [*a, *b]",
	  "{\"8\":8,\"010\":\"010\",\"c\":[8,\"010\"]}" },
	{ "- &x 1\n- &x 2\n- *x", "[1,2,2]" },
	{ "x: &x {a: 1, b: 2}\nu: {<<: *x, b: 3}\nz: {b: 3, <<: *x}\nw: {<<: [*x, {b: 9, c: 4}]}",
	  "{\"x\":{\"a\":1,\"b\":2},\"u\":{\"a\":1,\"b\":3},\"z\":{\"b\":2,\"a\":1},"
	  "\"w\":{\"b\":2,\"c\":4,\"a\":1}}" },
	{ "!!merge <<: {a: 1}", "{\"a\":1}" },
	{ "a: {b: 1}\na.b: 1", "{\"a\":{\"b\":1},\"a.b\":1}" },
	{ "\xef\xbb\xbf"
	  "a: 1",
	  "{\"a\":1}" },
	{ "- a: 1\n  b:\n  - 1\n", "[{\"a\":1,\"b\":[1]}]" },
	{ "{\"kind\": \"Pod\", \"n\": [1, null, \"\\u00e9\\/\"]}",
	  "{\"kind\":\"Pod\",\"n\":[1,null,\"\xc3\xa9/\"]}" },
	{ "%YAML 1.1\n---\na: 1\n", "{\"a\":1}" },
	{ "", "" },
	{ "# nothing\n", "" },
	{ "---\n...\n---\n# nothing\n---\nnull\n", "" },
	{ "a: 1\n---\n---\n- b\n...\n---\nc\n", "{\"a\":1}\n[\"b\"]\n\"c\"" },
};

TEST(yaml_reads_what_kubectl_reads)
{
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		autostrbuf text = STRBUF_INIT(4096);
		struct error error = ERROR_INIT;
		autoyaml stream = { 0 };

		int r = parse(good[i].text, &stream, &error);
		if (r < 0)
			print_error("%s: %s\n", good[i].text, error.message);
		assert_int_equal(r, 0);
		stream_text(&stream, &text);
		assert_string_equal(text.data, good[i].json);
		assert_string_equal(stream.name, "t");
	}
}

static const struct {
	const char *text;
	int number;
	const char *message; /* the start of it */
} bad[] = {
	{ "a: 99999999999999999999", ERANGE, "t:1: the number 99999999999999999999 is out of" },
	{ "a: -9223372036854775809", ERANGE, "t:1: the number -9223372036854775809 is out of" },
	{ "99999999999999999999: 1", ERANGE, "t:1: the number 99999999999999999999 is out of" },
	{ "a:\n- .inf", ERANGE, "t:2: .inf has no form in JSON" },
	{ "~: 1", EINVAL, "t:1: a key that is null; " },
	{ "? [a]\n: 1", EINVAL, "t:1: a key that is no plain text; " },
	{ "{a: 1}: 2", EINVAL, "t:1: a key that is no plain text; " },
	{ "a: 1\nb: 2\na: 3", EINVAL, "t:3: key 'a' stands here and in line 1; " },
	{ "x:\n  8: 1\n  010: 2", EINVAL, "t:3: key '8' stands here and in line 2; " },
	{ "a: &a\n  b: *a", ELOOP, "t:2: alias *a stands inside its own anchor; " },
	{ "a: *a", EINVAL, "t:1: alias *a has no anchor before it; " },
	{ "- &a 1\n---\n- *a", EINVAL, "t:3: alias *a has no anchor before it; " },
	{ "<<: 5", EINVAL, "t:1: << wants a mapping or a list of mappings; " },
	{ "<<: [{a: 1}, 5]", EINVAL, "t:1: << wants a mapping or a list of mappings; " },
	{ "<<: []", EINVAL, "t:1: << wants a mapping or a list of mappings; " },
	{ "<<: {a: 1}\n<<: {b: 1}", EINVAL, "t:2: key '<<' stands here and in line 1; " },
	{ "a: !foo x", EINVAL, "t:1: tag !foo is not supported; " },
	{ "a: !!binary aGk=", EINVAL, "t:1: tag tag:yaml.org,2002:binary is not supported; " },
	{ "a: !!set {b}", EINVAL, "t:1: tag tag:yaml.org,2002:set is not supported; " },
	{ "a: !!bool x", EINVAL, "t:1: 'x' is not true or false, as its tag says; " },
	{ "a: !!int 1.5", EINVAL, "t:1: '1.5' is not a whole number, as its tag says; " },
	{ "a: \"x\\0y\"", EINVAL, "t:1: a NUL character" },
	{ "\"x\\0y\": 1", EINVAL, "t:1: a NUL character" },
	{ "a: 1\nb: \xff", EILSEQ, "t:2: byte 0xff is not valid UTF-8; " },
	{ "a: 1\nb: \x01", EINVAL, "t:2: control characters are not allowed; " },
	{ "a: [", EINVAL, "t:2:1: no valid YAML: while parsing a flow node" },
	{ "a: \tb\n c: d", EINVAL, "t:2:3: no valid YAML: mapping values are not allowed" },
	{ "a:\n\t- 1\n", EINVAL,
	  "t:2: no valid YAML: the line is indented with a tab; use spaces" },
	{ "a: @x", EINVAL, "t:1:4: no valid YAML: while scanning for the next token" },
	{ "a: \"x", EINVAL, "t:1:6: no valid YAML: while scanning a quoted scalar" },
	{ "%YAML 3.0\n---\na: 1", EINVAL, "t:1:1: no valid YAML: found incompatible YAML" },
};

TEST(yaml_refuses)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error error = ERROR_INIT;
		struct yaml_stream stream = { .count = 77 };

		int r = parse(bad[i].text, &stream, &error);
		if (r >= 0 || strncmp(error.message, bad[i].message, strlen(bad[i].message)) != 0)
			print_error("%s: %d %s\n", bad[i].text, r, error.message);
		assert_int_equal(r, -bad[i].number);
		assert_true(strncmp(error.message, bad[i].message, strlen(bad[i].message)) == 0);
		assert_non_null(strchr(error.message, ';'));
		assert_int_equal(stream.count, 77); /* results on success only */
	}
}

TEST(yaml_lines)
{
	static const char text[] = "# a\nkind: Pod\nspec:\n  list:\n  - 0.5\n  - x\n  - on\n  - ~\n"
				   "---\n\n- 7\n";
	autoyaml stream = { 0 };

	assert_int_equal(parse(text, &stream, NULL), 0);
	assert_int_equal(stream.count, 2);
	assert_int_equal(stream.lines[0], 2);
	assert_int_equal(stream.lines[1], 11);
	struct json_object *pod = stream.documents[0], *list = json_get(pod, "spec.list");
	assert_int_equal(yaml_line(pod), 2);
	assert_int_equal(yaml_line(json_get(pod, "kind")), 2);
	assert_int_equal(yaml_line(json_get(pod, "spec")), 4);
	assert_int_equal(yaml_line(list), 5);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(yaml_line(json_object_array_get_idx(list, i)), 5 + i);
	assert_int_equal(yaml_line(NULL), 0);
	/* json-c prints a fraction with a line as it was written. */
	assert_string_equal(json_object_to_json_string(json_object_array_get_idx(list, 0)), "0.5");
	autojson *foreign = json_object_new_double_s(1.5, "1.50");
	assert_int_equal(yaml_line(foreign), 0);
}

/* Text made of COUNT times PART, between HEAD and TAIL. */
static char *repeat(const char *head, const char *part, size_t count, const char *tail)
{
	struct strbuf text = STRBUF_INIT((size_t)64 << 20);

	strbuf_adds(&text, head);
	for (size_t i = 0; i < count; i++)
		strbuf_adds(&text, part);
	strbuf_adds(&text, tail);
	return strbuf_detach(&text);
}

static char *bomb(void)
{
	struct strbuf text = STRBUF_INIT(65536);

	strbuf_adds(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 20; i++) {
		strbuf_addf(&text, "a%d: &a%d [", i, i);
		for (int j = 0; j < 10; j++)
			strbuf_addf(&text, "*a%d, ", i - 1);
		strbuf_adds(&text, "]\n");
	}
	return strbuf_detach(&text);
}

static char *merge_bomb(void)
{
	struct strbuf text = STRBUF_INIT((size_t)8 << 20);

	strbuf_adds(&text, "a: &a {");
	for (int i = 0; i < 10000; i++)
		strbuf_addf(&text, "k%d: 1, ", i);
	strbuf_adds(&text, "}\nb:\n");
	for (int i = 0; i < 10000; i++)
		strbuf_adds(&text, "- {<<: *a}\n");
	return strbuf_detach(&text);
}

/* A short text that stands for much more text than anybody should print. */
static char *wide_bomb(void)
{
	struct strbuf text = STRBUF_INIT((size_t)8 << 20);

	strbuf_adds(&text, "a: &a x");
	for (int i = 0; i < 100000; i++)
		strbuf_adds(&text, "0123456789");
	strbuf_adds(&text, "\nb: [");
	for (int i = 0; i < 1000; i++)
		strbuf_adds(&text, "*a, ");
	strbuf_adds(&text, "]\n");
	return strbuf_detach(&text);
}

/* Depth that is only reached through aliases. */
static char *deep_bomb(void)
{
	struct strbuf text = STRBUF_INIT(65536);

	strbuf_adds(&text, "- &a0 [x]\n");
	for (int i = 1; i < 80; i++)
		strbuf_addf(&text, "- &a%d [*a%d]\n", i, i - 1);
	return strbuf_detach(&text);
}

static char *deep_flow(void)
{
	return repeat("", "[", 100000, "");
}

static char *deep_block(void)
{
	return repeat("", "- ", 1000, "x");
}

static char *many_nodes(void)
{
	return repeat("", "- \n", 1000001, "");
}

static char *many_documents(void)
{
	return repeat("", "---\n", 1100000, "");
}

static char *too_long(void)
{
	return repeat("# ", "0123456789abcdef", (1 << 20) + 1, "");
}

/* As the file begins, and again in a later document. */
static char *many_tags(void)
{
	return repeat("a: 1\n---\nb\n...\n", "%TAG !a! x\n", 1000000, "---\n");
}

static const struct {
	const char *name;
	char *(*make)(void);
	int number;
	const char *message;
} hostile[] = {
	{ "bomb", bomb, E2BIG, "t:6: more than 200000 values or 64 MiB of text once aliases" },
	{ "merge bomb", merge_bomb, E2BIG, "t:21: more than 200000 values or 64 MiB of text" },
	{ "wide bomb", wide_bomb, E2BIG, "t:2: more than 200000 values or 64 MiB of text" },
	{ "deep bomb", deep_bomb, E2BIG, "t:64: nested deeper than 64 levels; make it flatter" },
	{ "deep flow", deep_flow, E2BIG, "t:1: nested deeper than 64 levels; make it flatter" },
	{ "deep block", deep_block, E2BIG, "t:1: nested deeper than 64 levels; make it flatter" },
	{ "nodes", many_nodes, E2BIG, "t:200000: more than 200000 values" },
	{ "documents", many_documents, E2BIG, "t:20000" },
	{ "tags", many_tags, E2BIG, "t: more than 100 %TAG lines; " },
	{ "too long", too_long, EFBIG,
	  "t: 16777234 bytes are more than the 16777216 that are read" },
};

TEST(yaml_refuses_hostile_input_soon)
{
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		autofree char *text = hostile[i].make();
		struct error error = ERROR_INIT;
		struct yaml_stream stream = { 0 };
		struct timespec from, to;

		assert_non_null(text);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
		int r = parse(text, &stream, &error);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
		if (r >= 0 || !strstr(error.message, hostile[i].message))
			print_error("%s: %d %s\n", hostile[i].name, r, error.message);
		assert_int_equal(r, -hostile[i].number);
		assert_non_null(strstr(error.message, hostile[i].message));
		assert_true(to.tv_sec - from.tv_sec <
			    20); /* with sanitizers; 100 times less without */
	}
}

TEST(yaml_files)
{
	char path[] = "/tmp/gpupool-test-XXXXXX";
	struct error error = ERROR_INIT;
	autoyaml stream = { 0 };

	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "a: 1\n", 5), 5);
	assert_int_equal(yaml_read_file(path, &stream, &error), 0);
	assert_string_equal(stream.name, path);
	yaml_stream_release(&stream);
	/* A hole of 1 GiB: refused by its size, not by reading it. */
	assert_int_equal(ftruncate(fd, 1 << 30), 0);
	fault_arm_call(FAULT_READ, 0, EIO);
	assert_int_equal(yaml_read_file(path, &stream, &error), -EFBIG);
	assert_false(fault_disarm());
	assert_non_null(strstr(error.message, "is larger than 16777216 bytes"));
	close(fd);
	unlink(path);
	assert_int_equal(yaml_read_file(path, &stream, &error), -ENOENT);
	assert_int_equal(yaml_read_file("/tmp", &stream, &error), -EISDIR);
	assert_int_equal(yaml_read_file("/dev/zero", &stream, &error), -EINVAL);
}

TEST(yaml_reads_standard_input)
{
	autoyaml stream = { 0 };
	struct error error = ERROR_INIT;
	int pipe_ends[2];

	assert_int_equal(pipe(pipe_ends), 0);
	int kept = dup(STDIN_FILENO);
	assert_int_equal(dup2(pipe_ends[0], STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(write(pipe_ends[1], "a: [\n", 5), 5);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	assert_int_equal(yaml_read_file("-", &stream, &error), -EINVAL);
	assert_true(strncmp(error.message, "standard input:2:1: ", 20) == 0);
	dup2(kept, STDIN_FILENO);
	close(kept);
}

TEST(yaml_survives_every_failed_allocation)
{
	autostrbuf text = STRBUF_INIT(65536);
	unsigned n = 0;

	strbuf_adds(&text, "a: &a {b: [1, 2.5, on, ~, \"x\"], c: 0x10}\nd: {<<: *a, e: !!str 5}\n"
			   "1.5: |\n  a text that is so long that it has to be kept apart\n");
	for (int i = 0; i < 40; i++)
		strbuf_addf(&text, "key%d: %d\n", i, i);
	for (int i = 0; i < 10; i++)
		strbuf_addf(&text, "---\n- &a%d %d\n", i, i);
	for (;; n++) {
		struct error error = ERROR_INIT;
		autoyaml stream = { 0 };

		fault_arm(n);
		int r = parse(text.data, &stream, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_int_equal(stream.count, 11);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_string_equal(error.message, "out of memory");
	}
	assert_true(n > 500);
}

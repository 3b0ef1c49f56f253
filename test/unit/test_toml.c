/* SPDX-License-Identifier: Apache-2.0 */
#include "base/toml.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

/* The tree in short: {a:i1,b:[s"x",f1.5]}; i, f, s, b as in integer, float, string, boolean, t times. */
static void dump(const struct toml_value *value, struct strbuf *out)
{
	static const char marks[] = "{[sifbtttt";
	enum toml_kind kind = toml_kind(value);
	size_t length;

	assert_true(kind < TOML_KIND_MAX);
	strbuf_addc(out, marks[kind]);
	if (kind > TOML_ARRAY) {
		const char *text = toml_text(value, &length);

		if (kind == TOML_STRING)
			strbuf_addc(out, '"');
		strbuf_add(out, text, length);
		if (kind == TOML_STRING)
			strbuf_addc(out, '"');
		return;
	}
	for (size_t i = 0; i < toml_count(value); i++) {
		const char *key = NULL;
		const struct toml_value *child = toml_at(value, i, &key);

		if (i)
			strbuf_addc(out, ',');
		if (kind == TOML_TABLE)
			strbuf_addf(out, "%s:", key);
		dump(child, out);
	}
	strbuf_addc(out, kind == TOML_TABLE ? '}' : ']');
}

static const struct {
	const char *text, *tree;
} good[] = {
	{ "", "{}" },
	{ "\xef\xbb\xbf# mark\n", "{}" },
	{ "a=1", "{a:i1}" },
	{ "\ta = 1 # one\r\n\r\nb = 2\r\n", "{a:i1,b:i2}" },
	{ "1 = 1\n-_-=2\n\"\" = 3\n'a.b' = 4", "{1:i1,-_-:i2,:i3,a.b:i4}" },
	{ "a . b . \"c d\" = 1\na.x = 2", "{a:{b:{c d:i1},x:i2}}" },
	{ "3.14 = 1", "{3:{14:i1}}" },
	{ "a = +99\nb=-0\nc=1_000\nd=0xDead_beef\ne=0o17\nf=0b1_01",
	  "{a:i99,b:i0,c:i1000,d:i3735928559,e:i15,f:i5}" },
	{ "a=9223372036854775807\nb=-9223372036854775808\nc=0x7fffffffffffffff",
	  "{a:i9223372036854775807,b:i-9223372036854775808,c:i9223372036854775807}" },
	{ "a=1.0\nb=-3.1_4\nc=5e+22\nd=1E0_6\ne=-2.5E-2\nf=inf\ng=-nan\nh=+inf",
	  "{a:f1.0,b:f-3.14,c:f5e+22,d:f1e06,e:f-2.5e-2,f:finf,g:f-nan,h:f+inf}" },
	{ "a=true\nb=false", "{a:btrue,b:bfalse}" },
	{ "a=1979-05-27T07:32:00Z\nb=1979-05-27 00:32:00.5-07:00\nc=1979-05-27t07:32:00z",
	  "{a:t1979-05-27T07:32:00Z,b:t1979-05-27T00:32:00.5-07:00,c:t1979-05-27T07:32:00Z}" },
	{ "a=1979-05-27 07:32:00\nb=1979-05-27 # x\nc=23:59:60.001\nd=2000-02-29",
	  "{a:t1979-05-27T07:32:00,b:t1979-05-27,c:t23:59:60.001,d:t2000-02-29}" },
	{ "a=\"x\\t\\\"\\\\\\u00e9\\U0001F600\"\nb='\\n\"'\nc=\"\"",
	  "{a:s\"x\t\"\\\xc3\xa9\xf0\x9f\x98\x80\",b:s\"\\n\"\",c:s\"\"}" },
	{ "a=\"\"\"\nx\ny\"\"\"\nb=\"\"\"x \\\n   \n "
	  "y\"\"\"\nc='''\r\n\\x''''\nd=\"\"\"\"\"x\"\"\"\"\"",
	  "{a:s\"x\ny\",b:s\"x y\",c:s\"\\x'\",d:s\"\"\"x\"\"\"}" },
	{ "a=\"\"\"x\r\n\"\"\"", "{a:s\"x\r\n\"}" },
	{ "a=[]\nb=[ 1, # one\n 2.0,\n 'x', ]\nc=[[1],[],{d=1}]",
	  "{a:[],b:[i1,f2.0,s\"x\"],c:[[i1],[],{d:i1}]}" },
	{ "a={}\nb={ c.d = 1, c.e = [\n], f={g=2} }", "{a:{},b:{c:{d:i1,e:[]},f:{g:i2}}}" },
	{ "[a]\nb=1\n [ c . \"d\" ] # x\ne=2\n[c]\nf=3", "{a:{b:i1},c:{d:{e:i2},f:i3}}" },
	{ "[a.b.c]\nx=1\n[a]\nb.y=2", "{a:{b:{c:{x:i1},y:i2}}}" },
	{ "[f]\na.c=1\na.t.s=true\n[f.a.x]\ny=2", "{f:{a:{c:i1,t:{s:btrue},x:{y:i2}}}}" },
	{ "[[a]]\nb=1\n[a.c]\nd=2\n[[a]]\n[[a.e]]\n[[a.e]]\nf=3",
	  "{a:[{b:i1,c:{d:i2}},{e:[{},{f:i3}]}]}" },
};

TEST(toml_reads)
{
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		autostrbuf tree = STRBUF_INIT(4096);
		struct error error = ERROR_INIT;
		autotoml *toml = NULL;

		if (toml_parse(good[i].text, strlen(good[i].text), "t", &toml, &error) < 0)
			fail_msg("%s: %s", good[i].text, error.message);
		dump(toml_root(toml), &tree);
		assert_string_equal(tree.data, good[i].tree);
	}
}

static const struct {
	const char *text;
	int number;
	const char *message; /* the start of it */
} bad[] = {
	{ "a", EINVAL, "t:1:2: the text ends where '=' after a key should be; " },
	{ "a =", EINVAL, "t:1:4: the text ends where a value should be; " },
	{ "a =\n1", EINVAL, "t:1:4: the line ends where a value should be; " },
	{ "= 1", EINVAL, "t:1:1: '=' where a key should be; " },
	{ "a. = 1", EINVAL, "t:1:4: '=' where a key should be; " },
	{ "\xc3\xa4 = 1", EINVAL, "t:1:1: byte 0xc3 where a key should be; " },
	{ "a=1 b=2", EINVAL, "t:1:5: 'b' where the end of the line should be; " },
	{ "a=1\rb=2", EINVAL, "t:1:4: the line ends where the end of the line should be; " },
	{ "\"\"\"a\"\"\"=1", EINVAL, "t:1:3: '\"' where '=' after a key" },
	{ "\n\na=1\na=2", EINVAL, "t:4:1: 'a' stands here and in line 3; remove one of the two" },
	{ "a.b=1\na.b.c=2", EINVAL, "t:2:1: 'b' is an integer of line 1 that a dotted key" },
	{ "[a]\n[a]", EINVAL, "t:2:1: 'a' stands here and in line 1; " },
	{ "[a.b]\n[a]\nb.c=1", EINVAL, "t:3:1: 'b' is a table of line 1 that a dotted key" },
	{ "a.b=1\n[a]", EINVAL, "t:2:1: 'a' stands here and in line 1; " },
	{ "a={}\na.b=1", EINVAL, "t:2:1: 'a' is a table of line 1 that a dotted key" },
	{ "a={}\n[a.b]", EINVAL, "t:2:1: 'a' is a table of line 1 that a header" },
	{ "a={b={}, b.c=1}", EINVAL, "t:1:10: 'b' is a table of line 1 that a dotted key" },
	{ "a=[]\n[[a]]", EINVAL, "t:2:1: 'a' stands here and in line 1; " },
	{ "[[a]]\n[a]", EINVAL, "t:2:1: 'a' stands here and in line 1; " },
	{ "[a.b]\n[[a]]", EINVAL, "t:2:1: 'a' stands here and in line 1; " },
	{ "[[a]]\n[b]\na=1\n[a.c]\n[a.c]", EINVAL, "t:5:1: 'c' stands here and in line 4; " },
	{ "[a", EINVAL, "t:1:3: the text ends where ']' after a table's name should be; " },
	{ "[[a]", EINVAL, "t:1:5: the text ends where ']]' after a table's name" },
	{ "[a] b=1", EINVAL, "t:1:5: 'b' where the end of the line" },
	{ "[]", EINVAL, "t:1:2: ']' where a key" },
	{ "a=[1 2]", EINVAL, "t:1:6: '2' where ',' or ']'" },
	{ "a=[,]", EINVAL, "t:1:4: ',' where a value" },
	{ "a=[1", EINVAL, "t:1:5: the text ends where ',' or ']'" },
	{ "a={b=1,}", EINVAL, "t:1:8: '}' where a key" },
	{ "a={b=1\n}", EINVAL, "t:1:7: the line ends where ',' or '}'" },
	{ "a=01", EINVAL, "t:1:3: 01 is no number, date, time, true or false; " },
	{ "a=1__0", EINVAL, "t:1:3: 1__0 is no number" },
	{ "a=_1", EINVAL, "t:1:3: _1 is no number" },
	{ "a=1_", EINVAL, "t:1:3: 1_ is no number" },
	{ "a=+0x1", EINVAL, "t:1:3: +0x1 is no number" },
	{ "a=0b2", EINVAL, "t:1:3: 0b2 is no number" },
	{ "a=1.", EINVAL, "t:1:3: 1. is no number" },
	{ "a=.5", EINVAL, "t:1:3: .5 is no number" },
	{ "a=1e", EINVAL, "t:1:3: 1e is no number" },
	{ "a=00.5", EINVAL, "t:1:3: 00.5 is no number" },
	{ "a=Inf", EINVAL, "t:1:3: Inf is no number" },
	{ "a=yes", EINVAL,
	  "t:1:3: yes is no number, date, time, true or false; put a text in quotes" },
	{ "a=9223372036854775808", ERANGE, "t:1:3: 9223372036854775808 is out of range; " },
	{ "a=-9223372036854775809", ERANGE, "t:1:3: -9223372036854775809 is out of range; " },
	{ "a=0xffffffffffffffff", ERANGE, "t:1:3: 0xffffffffffffffff is out of range; " },
	{ "a=2021-02-29", ERANGE, "t:1:3: 2021-02-29 is out of range; " },
	{ "a=2021-13-01", ERANGE, "t:1:3: 2021-13-01 is out" },
	{ "a=24:00:00", ERANGE, "t:1:3: 24:00:00 is out" },
	{ "a=12:00", EINVAL, "t:1:3: 12:00 is no" },
	{ "a=2021-01-01T00:00:00.Z", EINVAL, "t:1:3: 2021-01-01T00:00:00.Z is no" },
	{ "a=2021-01-01T00:00:00+24:00", ERANGE, "t:1:3: 2021-01-01T00:00:00+24:00 is out" },
	{ "a=2021-1-1", EINVAL, "t:1:3: 2021-1-1 is no" },
	{ "a='x", EINVAL,
	  "t:1:5: the text ends where a character of a string or its closing \"'\"" },
	{ "a=\"x\ny\"", EINVAL, "t:1:5: the line ends where a character of a string" },
	{ "a=\"\"\"x\n\"\"", EINVAL, "t:2:3: the text ends where a character of a string or its" },
	{ "a=\"\"\"\"\"\"\"\"\"", EINVAL, "t:1:11: '\"' where the end of the line" },
	{ "a=\"\\x41\"", EINVAL, "t:1:5: 'x' where an escape" },
	{ "a=\"\\u12g4\"", EINVAL, "t:1:8: 'g' where one of four" },
	{ "a=\"\\U0000\"", EINVAL, "t:1:10: '\"' where one of eight" },
	{ "a=\"\\ud800\"", EINVAL, "t:1:4: U+D800 is no character; " },
	{ "a=\"\\U00110000\"", EINVAL, "t:1:4: U+110000 is no character; " },
	{ "a='\x01'", EINVAL, "t:1:4: byte 0x01 where a character of a string" },
	{ "# \x7f", EINVAL, "t:1:3: the control character 0x7f in a comment; " },
	{ "# \r", EINVAL, "t:1:3: the control character 0x0d in a comment; " },
	{ "\n# \xff", EILSEQ, "t:2:3: byte 0xff is not valid UTF-8; " },
	{ "a=1\n\xef\xbb\xbf"
	  "b=2",
	  EINVAL, "t:2:1: byte 0xef where a key" },
};

TEST(toml_refuses)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error error = ERROR_INIT;
		struct toml *toml = (void *)&error;

		int r = toml_parse(bad[i].text, strlen(bad[i].text), "t", &toml, &error);
		if (r >= 0 || strncmp(error.message, bad[i].message, strlen(bad[i].message)) != 0)
			print_error("%s: %d %s\n", bad[i].text, r, error.message);
		assert_int_equal(r, -bad[i].number);
		assert_true(strncmp(error.message, bad[i].message, strlen(bad[i].message)) == 0);
		assert_non_null(strchr(error.message, ';'));
		assert_ptr_equal(toml, &error); /* results on success only */
	}
	struct error error = ERROR_INIT;
	struct toml *toml = NULL;
	assert_int_equal(toml_parse("a=1\0", 4, "t", &toml, &error), -EINVAL);
	assert_non_null(strstr(error.message, "byte 0x00"));
}

static const char sample[] = "title = \"x\"\n"
			     "[plugins.\"io.containerd.grpc.v1.cri\".containerd]\n"
			     "  default_runtime_name = \"runc\"\n"
			     "  enabled = true\n"
			     "  size = 7\n"
			     "  nul = \"a\\u0000b\"\n"
			     "  \"k\\u0000x\" = 1\n"
			     "[[list]]\n";

TEST(toml_answers)
{
	static const char *const containerd[] = { "plugins", "io.containerd.grpc.v1.cri",
						  "containerd", NULL };
	static const char *const name[] = { "default_runtime_name", NULL };
	static const char *const beyond[] = { "title", "x", NULL };
	const char *key = NULL;
	autotoml *toml = NULL;
	size_t length;

	assert_int_equal(toml_parse(sample, strlen(sample), "t", &toml, NULL), 0);
	const struct toml_value *table = toml_get(toml_root(toml), containerd);
	assert_int_equal(toml_kind(table), TOML_TABLE);
	assert_int_equal(toml_line(table), 2);
	assert_int_equal(toml_count(table), 5);
	assert_string_equal(toml_string(toml_get(table, name), ""), "runc");
	assert_int_equal(toml_line(toml_get(table, name)), 3);
	assert_true(toml_boolean(toml_at(table, 1, &key), false));
	assert_string_equal(key, "enabled");
	assert_int_equal(toml_integer(toml_at(table, 2, NULL), 0), 7);
	assert_string_equal(toml_string(toml_at(table, 3, NULL), "cut"), "cut");
	assert_memory_equal(toml_text(toml_at(table, 3, NULL), &length), "a\0b", 3);
	assert_int_equal(length, 3);
	assert_memory_equal(toml_key(toml_at(table, 4, NULL), &length), "k\0x", 3);
	assert_int_equal(length, 3);
	assert_null(toml_at(table, 5, NULL));
	assert_null(toml_get(toml_root(toml), beyond));
	assert_null(toml_text(table, NULL));
	assert_string_equal(toml_kind_name(toml_kind(table)), "a table");
}

TEST(toml_absent_is_answered)
{
	static const char *const keys[] = { "a", NULL };

	assert_null(toml_root(NULL));
	assert_null(toml_get(NULL, keys));
	assert_int_equal(toml_kind(NULL), TOML_KIND_MAX);
	assert_string_equal(toml_string(NULL, "x"), "x");
	assert_true(toml_boolean(NULL, true));
	assert_int_equal(toml_integer(NULL, -3), -3);
	assert_null(toml_text(NULL, NULL));
	assert_null(toml_key(NULL, NULL));
	assert_int_equal(toml_count(NULL), 0);
	assert_null(toml_at(NULL, 0, NULL));
	assert_int_equal(toml_line(NULL), 0);
	assert_true(toml_equal(NULL, NULL));
	toml_free(NULL);
}

TEST(toml_compares)
{
	static const struct {
		const char *left, *right;
		bool equal;
	} rows[] = {
		{ "a=1\nb={c=[1]}", "[b]\nc=[ 0x1 ]", false },
		{ "a=1\nb={c=[1]}", "a=1\n[b]\nc=[ 0x1 ]", true },
		{ "b=2\na=1", "a=1\nb=2", true },
		{ "a=1", "a=1.0", false },
		{ "a='1'", "a=1", false },
		{ "a=[1,2]", "a=[2,1]", false },
		{ "a=[1]", "a=[1,2]", false },
		{ "a=1\nb=2", "a=1\nc=2", false },
		{ "a='x'", "a='y'", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autotoml *left = NULL, *right = NULL;

		assert_int_equal(toml_parse(rows[i].left, strlen(rows[i].left), "l", &left, NULL),
				 0);
		assert_int_equal(
			toml_parse(rows[i].right, strlen(rows[i].right), "r", &right, NULL), 0);
		assert_int_equal(toml_equal(toml_root(left), toml_root(right)), rows[i].equal);
	}
}

/* START, MIDDLE count times, END. */
static int parse_many(const char *start, const char *middle, size_t count, const char *end,
		      struct error *error)
{
	autostrbuf text = STRBUF_INIT((size_t)8 << 20);
	autotoml *toml = NULL;

	strbuf_adds(&text, start);
	for (size_t i = 0; i < count; i++)
		strbuf_adds(&text, middle);
	strbuf_adds(&text, end);
	return toml_parse(text.data, text.length, "t", &toml, error);
}

TEST(toml_limits_hold)
{
	static const struct {
		const char *start, *middle, *end;
		size_t count;
		int r;
	} rows[] = {
		{ "a=", "[", "", 1u << 20, -E2BIG },  { "a=", "{a=", "", 1u << 20, -E2BIG },
		{ "a", ".a", "=1", 63, 0 },           { "a", ".a", "=1", 64, -E2BIG },
		{ "[a", ".a", "]", 63, 0 },           { "[a", ".a", "]\nb=1", 63, -E2BIG },
		{ "[a", ".a", "]", 64, -E2BIG },      { "a=[", "1,", "]", 99999, 0 },
		{ "a=[", "1,", "]", 100000, -E2BIG }, { "#", "x", "", (4u << 20) - 1, 0 },
		{ "#", "x", "", 4u << 20, -EFBIG },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error error = ERROR_INIT;

		int r = parse_many(rows[i].start, rows[i].middle, rows[i].count, rows[i].end,
				   &error);
		if (r != rows[i].r)
			print_error("row %zu: %d %s\n", i, r, error.message);
		assert_int_equal(r, rows[i].r);
		assert_true(r == 0 || strncmp(error.message, "t:", 2) == 0);
	}
}

/* 90,000 keys of one table, each looked up among the others. */
TEST(toml_many_keys)
{
	autostrbuf text = STRBUF_INIT((size_t)4 << 20);
	autotoml *toml = NULL;

	for (unsigned i = 0; i < 90000; i++)
		strbuf_addf(&text, "k%u=%u\n", i, i);
	assert_int_equal(toml_parse(text.data, text.length, "t", &toml, NULL), 0);
	assert_int_equal(toml_count(toml_root(toml)), 90000);
	assert_int_equal(toml_integer(toml_at(toml_root(toml), 89999, NULL), 0), 89999);
	strbuf_adds(&text, "k7=0\n");
	struct error error = ERROR_INIT;
	struct toml *other = NULL;
	assert_int_equal(toml_parse(text.data, text.length, "t", &other, &error), -EINVAL);
	assert_string_equal(error.message,
			    "t:90001:1: 'k7' stands here and in line 8; remove one of the two");
}

TEST(toml_short_of_memory)
{
	static const char text[] = "a.b=\"x\\ty\"\nc=[1,2]\n[d.e]\nf={g=1.5}\n[[h]]\n";

	for (unsigned n = 0;; n++) {
		struct error error = ERROR_INIT;
		autotoml *toml = NULL;

		fault_arm(n);
		int r = toml_parse(text, strlen(text), "t", &toml, &error);
		if (!fault_disarm()) {
			assert_int_equal(r, 0);
			assert_true(n > 8);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_null(toml);
	}
}

TEST(toml_reads_files)
{
	char path[] = "/tmp/gpupool-toml-XXXXXX";
	struct error error = ERROR_INIT;
	autotoml *toml = NULL;
	autoclose int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "a=1\nb", 5), 5);
	assert_int_equal(toml_read_file(path, &toml, &error), -EINVAL);
	assert_true(strncmp(error.message, path, strlen(path)) == 0);
	assert_int_equal(pwrite(fd, "=2", 2, 5), 2);
	assert_int_equal(toml_read_file(path, &toml, &error), 0);
	assert_int_equal(toml_count(toml_root(toml)), 2);
	unlink(path);
	assert_int_equal(toml_read_file(path, &toml, &error), -ENOENT);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "doctor/quote.h"

/* SECRET must be gone, KEPT must stand in the quote. */
static const struct {
	const char *text, *secret, *kept;
} secrets[] = {
	{ "password: hunter2", "hunter2", "password: ***" },
	{ "  \"password\": \"two words\",", "two words", "\"password\": \"***\"" },
	{ "DB_PASSWORD=s3cr3t next", "s3cr3t", "DB_PASSWORD=*** next" },
	{ "kubeadm join --token abcdef.0123456789abcdef --discovery", "0123456789abcdef",
	  "--token *** --discovery" },
	{ "docker login --password=abc nvcr.io", "abc", "--password=*** nvcr.io" },
	{ "Authorization: Bearer abcdefghijkl", "abcdefghijkl", "Authorization: Bearer ***" },
	{ "got 401 with bearer abcdefghijkl", "abcdefghijkl", "got 401 with bearer ***" },
	{ "id eyJhbGciOiJSUzI1NiIsImtpZCI6IiJ9.eyJpc3MiOiJrdWJlcm5ldGVzL3NlcnZpY2UifQ.c2ln", "c2ln",
	  "id ***" },
	{ "value: hf_abcdefghijklmnop", "abcdefghijklmnop", "value: ***" },
	{ "export NGC_API_KEY='nvapi-x y'", "nvapi-x y", "NGC_API_KEY='***'" },
	{ "aws AKIAIOSFODNN7EXAMPLE used", "IOSFODNN7", "aws *** used" },
	{ "client-key-data: LS0tLS1CRUdJTiBSU0E=", "LS0tLS1", "client-key-data: ***" },
	{ "-----BEGIN RSA PRIVATE KEY----- MIIEow -----END RSA PRIVATE KEY-----", "MIIEow",
	  "-----BEGIN***-----END" },
	{ "MIIEowIBAAKCAQEAvYz1p2kG8n3bq5cN5dWZb0m8Tt4Yk9oQvA7xJ2s1dEfGhIjK", "MIIEow", "***" },
	{ "pull https:/"
	  "/me:pa55"
	  "@host.example/x",
	  "pa55",
	  "/me:***"
	  "@host.example/x" },
	{ "curl -u me:pa55 https://x", "pa55", "curl -u me:*** https://x" },
	{ "docker login -u me -p pa55word registry.example", "pa55", "-u me -p *** registry" },
	{ "sshpass -p pa55word ssh node", "pa55", "sshpass -p *** ssh node" },
	{ "{\"env\":[{\"name\":\"API_TOKEN\",\"value\":\"pa55word\"},{\"name\":\"B\"}]}", "pa55",
	  "\"value\":\"***\"},{\"name\":\"B\"}" },
	{ "- name: DB_PASSWORD, value: pa55word", "pa55", "value: ***" },
	{ "{\\\"name\\\":\\\"NGC_API_KEY\\\",\\\"value\\\":\\\"pa55word\\\"}", "pa55", "***" },
	{ "{\"auths\":{\"nvcr.io\":{\"auth\":\"JG9hdXRodG9rZW4=\"}}}", "JG9hdXRo",
	  "\"auth\":\"***\"" },
	{ "secretAccessKey: [abc]", "abc", "secretAccessKey: [***]" },
	{ "password: a", ": a", "password: ***" },
};

static const char *const plain[] = {
	"Failed to initialize NVML: Driver/library version mismatch",
	"BinaryName = \"/usr/bin/nvidia-container-runtime\"",
	"UUID: GPU-5d8f2a1c-9b7e-4c36-8f10-2d4b6a8c0e12",
	"unable to open /var/lib/rancher/k3s/agent/etc/containerd/config.toml",
	"nvidia.com/gpu: 1",
	"0/4 nodes are available: 4 Insufficient nvidia.com/gpu.",
	"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1: file exists: unknown",
};

TEST(quotes_hold_no_secret)
{
	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++) {
		autofree char *quote = quote_make(secrets[i].text, strlen(secrets[i].text));

		assert_non_null(quote);
		if (strstr(quote, secrets[i].secret) || !strstr(quote, secrets[i].kept))
			fail_msg("'%s' became '%s'", secrets[i].text, quote);
	}
}

TEST(quotes_keep_what_is_no_secret)
{
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		autofree char *quote = quote_make(plain[i], strlen(plain[i]));

		assert_non_null(quote);
		assert_string_equal(quote, plain[i]);
	}
}

TEST(quotes_are_short_and_safe)
{
	char text[2000];
	autofree char *controls = quote_make("a\x1b[31m\0b\xff", 9);

	assert_string_equal(controls, "a?[31m?b?");
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = "\xc3\xa9"[i % 2];
	autofree char *cut = quote_make(text, sizeof(text));
	assert_int_equal(strlen(cut), QUOTE_MAX - 1);
	assert_string_equal(cut + strlen(cut) - 5, "\xc3\xa9...");
	/* A secret at the cut is masked before it is cut. */
	memset(text, 'x', sizeof(text));
	memcpy(text + 280, " password=abcdefghijklmnopqrstuvwxyz ", 37);
	autofree char *late = quote_make(text, sizeof(text));
	assert_null(strstr(late, "abc"));
	assert_int_equal(strlen(late), QUOTE_MAX);
}

TEST(names_of_sources_are_safe)
{
	char name[1001];
	autofree char *bad = quote_source("../../etc/\x1b]0;x\a.log");

	assert_string_equal(bad, "../../etc/?]0;x?.log");
	memset(name, 'a', 1000);
	memcpy(name + 990, "/last.log", 10);
	autofree char *last = quote_source(name);
	assert_non_null(strstr(last, "/last.log"));
	assert_true(strlen(last) <= QUOTE_MAX);
}

TEST(quotes_survive_no_memory)
{
	fault_arm(0);
	assert_null(quote_make("a", 1));
	assert_true(fault_disarm());
}

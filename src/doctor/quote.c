/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/quote.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

#define QUOTE_LOOK \
	4096 /* bytes that are looked at; a secret never reaches over what is cut there */
#define MASK "***"

/*
 * How to add a kind of secret. Names: the end of a word before '=' or ':' (or of an option before
 * its value). Starts: what tokens of a service begin with. Words: what follows them is secret.
 */
static const char *const secret_names[] = {
	"password",
	"passwd",
	"passphrase",
	"pwd",
	"secret",
	"secrets",
	"token",
	"tokens",
	"apikey",
	"api_key",
	"api-key",
	"accesskey",
	"access_key",
	"access-key",
	"access_key_id",
	"accesskeyid",
	"secretkey",
	"secret_key",
	"secret-key",
	"privatekey",
	"private_key",
	"private-key",
	"credential",
	"credentials",
	"auth",
	"authorization",
	"key-data",
	"certificate-data",
	"authority-data",
	"dockerconfigjson",
	"dockercfg",
	"accountkey",
	"signature",
	"cookie",
	"sessionid",
	"encryption-key",
	"encryption_key",
	"license_key",
	"licensekey",
	"_pat",
	"_pass",
	"userpass",
	"identitytoken",
	"registrytoken",
	"clientsecret",
	"storage_key",
	"refresh_token",
	"ssh_key",
	"pgpassword",
	"connectionstring",
	"connection_string",
	"webhook_url",
	"pull-secret",
	"bearer_token",
};

static const char *const secret_starts[] = {
	"eyJ",       "hf_",
	"ghp_",      "gho_",
	"ghu_",      "ghs_",
	"ghr_",      "github_pat_",
	"glpat-",    "xoxb-",
	"xoxp-",     "xapp-",
	"sk-",       "AKIA",
	"ASIA",      "nvapi-",
	"AIza",      "ya29.",
	"dckr_pat_", "npm_",
	"pypi-",     "dop_",
	"hvs.",      "K10",
	"wandb_v",   "SharedAccessSignature",
	"tskey-",    "dckr_oat_",
	"glrt-",     "r8_",
	"lin_api_",  "rk_live_",
};

static const char *const secret_words[] = { "bearer", "basic",  "negotiate",
					    "apikey", "passwd", "sshpass" };

struct span {
	size_t start, end;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static bool is_secret_byte(char c)
{
	return c && !isspace((unsigned char)c) && !strchr("\"'`,;<>(){}[]&|", c);
}

static bool ends_with_name(const char *text, size_t start, size_t end)
{
	for (size_t i = 0; i < ARRAY_SIZE(secret_names); i++) {
		size_t length = strlen(secret_names[i]);

		if (end - start >= length &&
		    strncasecmp(text + end - length, secret_names[i], length) == 0)
			return true;
	}
	return false;
}

static bool is_one_of(const char *text, size_t length, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i]) == length && strncasecmp(text, words[i], length) == 0)
			return true;
	return false;
}

static size_t skip(const char *text, size_t at, const char *set)
{
	return at + strspn(text + at, set);
}

static size_t value_end(const char *text, size_t at)
{
	while (is_secret_byte(text[at]))
		at++;
	return at;
}

/* A quoted value is secret up to its closing quote, blanks too. */
static struct span value_span(const char *text, size_t at)
{
	at = skip(text, at, " \t\\");
	if (text[at] == '"' || text[at] == '\'') {
		char quote = text[at];
		size_t end = ++at;

		while (text[end] && text[end] != quote)
			end++;
		return (struct span){ at, end };
	}
	at = skip(text, at, "[({");
	at = skip(text, at, "\"'\\");
	return (struct span){ at, value_end(text, at) };
}

/* "name": "NAME", "value": ...: where the colon of a value stands that follows a name, or 0. */
static size_t value_beside(const char *text, size_t at)
{
	at = skip(text, at, "\"'\\, \t");
	if (strncmp(text + at, "value", strlen("value")) != 0)
		return 0;
	at = skip(text, at + strlen("value"), "\"'\\ \t");
	return text[at] == ':' ? at : 0;
}

/* The password of "docker login -p" and "sshpass -p"; -p of others is a port or a path. */
static bool is_password_option(const char *text, size_t start, size_t end)
{
	const char *login = strstr(text, "login ");
	const char *pass = strstr(text, "sshpass ");

	return end - start == 2 && strncmp(text + start, "-p", 2) == 0 && isblank(text[end]) &&
	       ((login && login < text + start) || (pass && pass < text + start));
}

/* name=value, "name": "value", --name value; what stands after the word at START..END. */
static struct span named_secret(const char *text, size_t start, size_t end)
{
	struct span none = { 0, 0 };
	size_t at = skip(text, end, "\"'\\ \t");

	if (is_password_option(text, start, end))
		return value_span(text, end);
	if (!ends_with_name(text, start, end))
		return none;
	if (value_beside(text, at))
		return value_span(text, value_beside(text, at) + 1);
	if (text[at] == '=' || text[at] == ':') {
		struct span value = value_span(text, at + 1);

		if (is_one_of(text + value.start, value.end - value.start, secret_words,
			      ARRAY_SIZE(secret_words)))
			return value_span(text, value.end);
		return value;
	}
	if (text[start] == '-' && at > end)
		return value_span(text, at);
	return none;
}

static bool starts_like_token(const char *text, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(secret_starts); i++) {
		size_t start = strlen(secret_starts[i]);

		if (length >= start + 12 && strncmp(text, secret_starts[i], start) == 0)
			return true;
	}
	return false;
}

/* 40 characters or more of base64; a path has its slashes closer together. */
static bool looks_encoded(const char *text, size_t length)
{
	size_t upper = 0, lower = 0, digits = 0, slashes = 0;

	if (length < 40)
		return false;
	for (size_t i = 0; i < length; i++) {
		upper += isupper((unsigned char)text[i]) != 0;
		lower += islower((unsigned char)text[i]) != 0;
		digits += isdigit((unsigned char)text[i]) != 0;
		slashes += text[i] == '/';
	}
	return upper >= 3 && lower >= 3 && digits >= 2 && length / (slashes + 1) >= 16;
}

static size_t encoded_length(const char *text)
{
	size_t length = 0;

	while (isalnum((unsigned char)text[length]) ||
	       (text[length] && strchr("+/=", text[length])))
		length++;
	return length;
}

/* The secret that begins with or after the word at START..END; empty when there is none. */
static struct span secret_at(const char *text, size_t start, size_t end)
{
	struct span named = named_secret(text, start, end);
	size_t encoded = encoded_length(text + start);

	if (named.end > named.start)
		return named;
	if (starts_like_token(text + start, end - start))
		return (struct span){ start, value_end(text, end) };
	if (looks_encoded(text + start, encoded))
		return (struct span){ start, start + encoded };
	if (isblank((unsigned char)text[end]) &&
	    is_one_of(text + start, end - start, secret_words, ARRAY_SIZE(secret_words)) &&
	    value_end(text, end + 1) > end + 8)
		return value_span(text, end);
	return (struct span){ 0, 0 };
}

static size_t replace(char *text, struct span span)
{
	size_t length = strlen(MASK);

	/* A secret that is shorter than the mask makes the text longer: make_room() left space. */
	memmove(text + span.start + length, text + span.end, strlen(text + span.end) + 1);
	memcpy(text + span.start, MASK, length);
	return span.start + length;
}

/* user:password@ of an address, and -u user:password. */
static void mask_users(char *text)
{
	for (char *at = text; (at = strstr(at, "://"));) {
		char *colon, *end;

		at += 3;
		end = at + strcspn(at, "/ \t\"'@");
		colon = memchr(at, ':', (size_t)(end - at));
		if (*end == '@' && colon)
			at = text + replace(text, (struct span){ (size_t)(colon + 1 - text),
								 (size_t)(end - text) });
	}
	for (char *at = text; (at = strstr(at, " -u "));) {
		size_t start = (size_t)(at + 4 - text), end = value_end(text, start);
		char *colon = memchr(text + start, ':', end - start);

		at += 4;
		if (colon)
			at = text + replace(text, (struct span){ (size_t)(colon + 1 - text), end });
	}
}

static void mask_keys(char *text)
{
	char *begin = strstr(text, "-----BEGIN");
	char *end;

	if (!begin || !strstr(begin, "PRIVATE"))
		return;
	begin = begin + strlen("-----BEGIN");
	end = strstr(begin, "-----END");
	replace(text, (struct span){ (size_t)(begin - text),
				     (size_t)(end ? end - text : (ssize_t)strlen(text)) });
}

static void mask_words(char *text)
{
	for (size_t start = 0; text[start];) {
		size_t end = start;
		struct span secret;

		if (!is_word(text[start])) {
			start++;
			continue;
		}
		while (is_word(text[end]))
			end++;
		secret = secret_at(text, start, end);
		start = secret.end > secret.start ? replace(text, secret) : end;
	}
}

/* Cuts at LIMIT bytes, at a whole character. */
static void cut(char *text, size_t limit)
{
	size_t at = limit - 3;

	if (strlen(text) <= limit)
		return;
	while (at && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	memcpy(text + at, "...", 4);
}

/* Each mask is longer than its secret by two bytes at most, and a secret needs its name before it. */
static char *make_room(const char *bytes, size_t length)
{
	char *text = malloc(3 * length + 8);

	if (!text)
		return NULL;
	for (size_t i = 0; i < length; i++)
		text[i] = bytes[i] ? bytes[i] : '?';
	text[length] = '\0';
	return text;
}

char *quote_make(const char *text, size_t length)
{
	char *made = make_room(text, length < QUOTE_LOOK ? length : QUOTE_LOOK);
	size_t lead;

	if (!made)
		return NULL;
	text_make_visible(made, false);
	mask_keys(made);
	mask_users(made);
	mask_words(made);
	lead = strspn(made, " ?");
	/* Leading blanks say nothing in a quote; a '?' was a byte. */
	lead = strspn(made, " ") < lead ? strspn(made, " ") : lead;
	memmove(made, made + lead, strlen(made + lead) + 1);
	cut(made, QUOTE_MAX);
	return made;
}

char *quote_source(const char *name)
{
	size_t length = strlen(name);

	return quote_make(length > QUOTE_MAX ? name + length - QUOTE_MAX : name,
			  length > QUOTE_MAX ? QUOTE_MAX : length);
}

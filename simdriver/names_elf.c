/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest shared object and program that a loader accepts, written byte by byte so that one
 * writer serves both word sizes. Formats: System V gABI chapters 4 and 5, x86-64 and i386 psABI.
 */
#include "names.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

struct writer {
	unsigned char *bytes;
	size_t size;
	int bits;
};

/* Offsets of the parts of a shared object; the address of a byte is its offset. */
struct parts {
	size_t symbols, hash, strings, relocations, dynamic, slot, end;
	size_t strings_size, soname_at;
};

#define PROGRAM_BASE     0x400000
#define LIBRARY_SEGMENTS 3
#define DYNAMIC_ENTRIES  12
#define STRINGS_LIBC     1
#define STRINGS_SYMBOL   (STRINGS_LIBC + sizeof("libc.so.6"))
#define STRINGS_SONAME   (STRINGS_SYMBOL + sizeof("gnu_get_libc_version"))
#define HASH_WORDS       5 /* one bucket, a chain for the null and the one symbol */

static void put(struct writer *w, uint64_t value, int width)
{
	for (int i = 0; i < width; i++)
		w->bytes[w->size++] = (unsigned char)(value >> (8 * i));
}

static void put_word(struct writer *w, uint64_t value)
{
	put(w, value, w->bits / 8);
}

static void put_string(struct writer *w, const char *text)
{
	size_t length = strlen(text) + 1;

	memcpy(w->bytes + w->size, text, length);
	w->size += length;
}

static void put_header(struct writer *w, int type, uint64_t entry, int segments)
{
	bool wide = w->bits == 64;
	const unsigned char ident[EI_NIDENT] = {
		ELFMAG0,     ELFMAG1,   ELFMAG2, ELFMAG3, wide ? ELFCLASS64 : ELFCLASS32,
		ELFDATA2LSB, EV_CURRENT
	};

	memcpy(w->bytes, ident, sizeof(ident));
	w->size = sizeof(ident);
	put(w, (uint64_t)type, 2);
	put(w, wide ? EM_X86_64 : EM_386, 2);
	put(w, EV_CURRENT, 4);
	put_word(w, entry);
	put_word(w, wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
	put_word(w, 0);
	put(w, 0, 4);
	put(w, wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), 2);
	put(w, wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), 2);
	put(w, (uint64_t)segments, 2);
	put(w, wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), 2);
	put(w, 0, 2);
	put(w, 0, 2);
}

static void put_segment(struct writer *w, uint32_t type, uint32_t flags, size_t offset, size_t size)
{
	uint64_t align = type == PT_LOAD ? 0x1000 : (uint64_t)w->bits / 8;

	put(w, type, 4);
	if (w->bits == 64)
		put(w, flags, 4);
	put_word(w, offset);
	put_word(w, offset);
	put_word(w, offset);
	put_word(w, size);
	put_word(w, size);
	if (w->bits == 32)
		put(w, flags, 4);
	put_word(w, align);
}

static void put_dynamic(struct writer *w, uint64_t tag, uint64_t value)
{
	put_word(w, tag);
	put_word(w, value);
}

static size_t align_word(size_t offset)
{
	return (offset + 7) & ~(size_t)7;
}

static struct parts lay_out(const char *soname, int bits)
{
	bool wide = bits == 64;
	size_t headers = wide ? sizeof(Elf64_Ehdr) + LIBRARY_SEGMENTS * sizeof(Elf64_Phdr)
			      : sizeof(Elf32_Ehdr) + LIBRARY_SEGMENTS * sizeof(Elf32_Phdr);
	struct parts p = { .symbols = align_word(headers) };

	p.hash = p.symbols + 2 * (wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	p.strings = p.hash + HASH_WORDS * 4;
	p.soname_at = STRINGS_SONAME;
	p.strings_size = STRINGS_SONAME + (soname ? strlen(soname) + 1 : 0);
	p.relocations = align_word(p.strings + p.strings_size);
	p.dynamic = align_word(p.relocations + (wide ? sizeof(Elf64_Rela) : sizeof(Elf32_Rel)));
	p.slot = p.dynamic + DYNAMIC_ENTRIES * (wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn));
	p.end = p.slot + (size_t)bits / 8;
	return p;
}

static void put_symbols(struct writer *w, const struct parts *p)
{
	int info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);

	w->size = p->symbols + (w->bits == 64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	put(w, STRINGS_SYMBOL, 4);
	if (w->bits == 64) {
		put(w, (uint64_t)info, 2);
		put(w, SHN_UNDEF, 2);
	} else {
		put(w, 0, 8);
		put(w, (uint64_t)info, 2);
	}

	w->size = p->hash;
	put(w, 1, 4);
	put(w, 2, 4);
	put(w, 1, 4);
}

static void put_dynamic_section(struct writer *w, const struct parts *p, bool has_soname)
{
	bool wide = w->bits == 64;

	w->size = p->dynamic;
	put_dynamic(w, DT_NEEDED, STRINGS_LIBC);
	put_dynamic(w, DT_HASH, p->hash);
	put_dynamic(w, DT_STRTAB, p->strings);
	put_dynamic(w, DT_STRSZ, p->strings_size);
	put_dynamic(w, DT_SYMTAB, p->symbols);
	put_dynamic(w, DT_SYMENT, wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	put_dynamic(w, wide ? DT_RELA : DT_REL, p->relocations);
	put_dynamic(w, wide ? DT_RELASZ : DT_RELSZ, wide ? sizeof(Elf64_Rela) : sizeof(Elf32_Rel));
	put_dynamic(w, wide ? DT_RELAENT : DT_RELENT,
		    wide ? sizeof(Elf64_Rela) : sizeof(Elf32_Rel));
	if (has_soname)
		put_dynamic(w, DT_SONAME, p->soname_at);
}

size_t names_elf_library(unsigned char image[NAMES_ELF_MAX], const char *soname, int bits)
{
	struct writer w = { .bytes = image, .bits = bits };
	struct parts p = lay_out(soname, bits);

	if (p.end > NAMES_ELF_MAX)
		return 0;
	memset(image, 0, NAMES_ELF_MAX);
	put_header(&w, ET_DYN, 0, LIBRARY_SEGMENTS);
	put_segment(&w, PT_LOAD, PF_R | PF_W, 0, p.end);
	put_segment(&w, PT_DYNAMIC, PF_R | PF_W, p.dynamic, p.slot - p.dynamic);
	put_segment(&w, PT_GNU_STACK, PF_R | PF_W, 0, 0);
	put_symbols(&w, &p);

	w.size = p.strings;
	put_string(&w, "");
	put_string(&w, "libc.so.6");
	put_string(&w, "gnu_get_libc_version");
	if (soname)
		put_string(&w, soname);

	w.size = p.relocations;
	put_word(&w, p.slot);
	put_word(&w, bits == 64 ? ELF64_R_INFO(1UL, R_X86_64_GLOB_DAT)
				: (uint64_t)ELF32_R_INFO(1, R_386_GLOB_DAT));
	put_dynamic_section(&w, &p, soname != NULL);
	return p.end;
}

size_t names_elf_program(unsigned char image[NAMES_ELF_MAX])
{
	/* xor %edi,%edi; mov $60,%eax; syscall: exit(0) */
	static const unsigned char code[] = { 0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05 };
	struct writer w = { .bytes = image, .bits = 64 };
	size_t start = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);

	memset(image, 0, NAMES_ELF_MAX);
	put_header(&w, ET_EXEC, PROGRAM_BASE + start, 1);
	put(&w, PT_LOAD, 4);
	put(&w, PF_R | PF_X, 4);
	put(&w, 0, 8);
	put(&w, PROGRAM_BASE, 8);
	put(&w, PROGRAM_BASE, 8);
	put(&w, start + sizeof(code), 8);
	put(&w, start + sizeof(code), 8);
	put(&w, 0x1000, 8);
	memcpy(image + start, code, sizeof(code));
	return start + sizeof(code);
}

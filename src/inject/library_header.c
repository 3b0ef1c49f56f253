/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/library_header.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { HEADERS_MAX = 128, DYNAMIC_MAX = 4096, WINDOW = 4096 };

struct elf_file {
	int fd;
	uint64_t size;
	unsigned bits;
	uint64_t header_offset; /* of the program headers */
	unsigned header_count;
	uint64_t window_at; /* place of the bytes below in the file */
	size_t window_length;
	unsigned char window[WINDOW];
};

struct segment {
	uint32_t type;
	uint64_t offset, address, size;
};

/* All of LENGTH bytes at OFFSET, or false. Small reads close together cost one system call. */
static bool read_at(struct elf_file *file, uint64_t offset, void *to, size_t length)
{
	if (offset > file->size || length > file->size - offset || length > WINDOW)
		return false;
	if (offset < file->window_at || offset + length > file->window_at + file->window_length) {
		ssize_t got = pread(file->fd, file->window, WINDOW, (off_t)offset);

		file->window_at = offset;
		file->window_length = got > 0 ? (size_t)got : 0;
		if (file->window_length < length)
			return false;
	}
	memcpy(to, file->window + (offset - file->window_at), length);
	return true;
}

static bool read_segment(struct elf_file *file, unsigned number, struct segment *ret)
{
	if (file->bits == 64) {
		Elf64_Phdr header;

		if (!read_at(file, file->header_offset + number * sizeof(header), &header,
			     sizeof(header)))
			return false;
		*ret = (struct segment){ header.p_type, header.p_offset, header.p_vaddr,
					 header.p_filesz };
		return true;
	}
	Elf32_Phdr header;
	if (!read_at(file, file->header_offset + number * sizeof(header), &header, sizeof(header)))
		return false;
	*ret = (struct segment){ header.p_type, header.p_offset, header.p_vaddr, header.p_filesz };
	return true;
}

static bool read_dynamic(struct elf_file *file, const struct segment *dynamic, unsigned number,
			 int64_t *ret_tag, uint64_t *ret_value)
{
	if (file->bits == 64) {
		Elf64_Dyn entry;

		if (!read_at(file, dynamic->offset + number * sizeof(entry), &entry, sizeof(entry)))
			return false;
		*ret_tag = entry.d_tag;
		*ret_value = entry.d_un.d_val;
		return true;
	}
	Elf32_Dyn entry;
	if (!read_at(file, dynamic->offset + number * sizeof(entry), &entry, sizeof(entry)))
		return false;
	*ret_tag = entry.d_tag;
	*ret_value = entry.d_un.d_val;
	return true;
}

/* The place in the file of ADDRESS in memory. */
static bool find_offset(struct elf_file *file, uint64_t address, uint64_t *ret)
{
	struct segment segment;

	for (unsigned i = 0; i < file->header_count; i++) {
		if (!read_segment(file, i, &segment))
			return false;
		if (segment.type != PT_LOAD || address < segment.address ||
		    address - segment.address >= segment.size)
			continue;
		*ret = segment.offset + (address - segment.address);
		return *ret >= segment.offset;
	}
	return false;
}

static const char *open_header(struct elf_file *file, struct elf_facts *facts)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr wide;
		Elf32_Ehdr narrow;
	} header = { 0 };
	unsigned own_order = BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;

	if (!read_at(file, 0, &header.narrow, sizeof(header.narrow)))
		return "it is too short";
	if (memcmp(header.ident, ELFMAG, SELFMAG) != 0)
		return "it does not start as one";
	if (header.ident[EI_DATA] != own_order)
		return "it is for another byte order";
	if (header.ident[EI_CLASS] == ELFCLASS32) {
		file->bits = 32;
		file->header_offset = header.narrow.e_phoff;
		file->header_count = header.narrow.e_phnum;
	} else if (header.ident[EI_CLASS] == ELFCLASS64) {
		if (!read_at(file, 0, &header.wide, sizeof(header.wide)))
			return "it is too short";
		file->bits = 64;
		file->header_offset = header.wide.e_phoff;
		file->header_count = header.wide.e_phnum;
	} else {
		return "its class is unknown";
	}
	/* Type and machine stand at the same place in both. */
	if (header.narrow.e_type != ET_DYN)
		return "it is no shared library";
	if (file->header_count == 0 || file->header_count > HEADERS_MAX)
		return "it has no usable program headers";
	facts->bits = file->bits;
	facts->machine = header.narrow.e_machine;
	return NULL;
}

static const char *read_name(struct elf_file *file, uint64_t strings, uint64_t at,
			     struct elf_facts *facts)
{
	uint64_t offset;
	size_t length = sizeof(facts->soname);

	if (strings + at < strings || !find_offset(file, strings + at, &offset))
		return "its name lies outside the file";
	if (file->size - offset < length && offset <= file->size)
		length = file->size - offset;
	if (!read_at(file, offset, facts->soname, length))
		return "its name lies outside the file";
	if (!memchr(facts->soname, '\0', length))
		return "its name is too long";
	if (strchr(facts->soname, '/') || facts->soname[0] == '.')
		return "its name is no file name";
	for (const char *c = facts->soname; *c; c++)
		if (*c <= ' ' || *c > '~')
			return "its name is no file name";
	return NULL;
}

static const char *read_soname(struct elf_file *file, const struct segment *dynamic,
			       struct elf_facts *facts)
{
	bool has_strings = false, has_name = false;
	uint64_t strings = 0, at = 0;
	size_t entry = file->bits == 64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);

	for (unsigned i = 0; i < DYNAMIC_MAX && (i + 1) * entry <= dynamic->size; i++) {
		int64_t tag;
		uint64_t value;

		if (!read_dynamic(file, dynamic, i, &tag, &value))
			return "its dynamic section lies outside the file";
		if (tag == DT_NULL)
			break;
		if (tag == DT_STRTAB) {
			strings = value;
			has_strings = true;
		} else if (tag == DT_SONAME) {
			at = value;
			has_name = true;
		}
	}
	if (!has_name)
		return NULL;
	return has_strings ? read_name(file, strings, at, facts)
			   : "its dynamic section has no strings";
}

static const char *read_facts(struct elf_file *file, struct elf_facts *facts)
{
	struct segment segment;
	const char *problem = open_header(file, facts);

	for (unsigned i = 0; !problem && i < file->header_count; i++) {
		if (!read_segment(file, i, &segment))
			return "its program headers lie outside the file";
		if (segment.type == PT_DYNAMIC)
			return read_soname(file, &segment, facts);
	}
	return problem ? problem : "it has no dynamic section";
}

int elf_read(int fd, const char *name, struct elf_facts *ret, struct error *error)
{
	struct elf_file file = { .fd = fd };
	struct elf_facts facts = { 0 };
	struct stat status;

	if (fstat(fd, &status) < 0)
		return error_set_errno(error, errno, "cannot look at %s", name);
	file.size = (uint64_t)status.st_size;
	const char *problem = read_facts(&file, &facts);
	if (problem)
		return error_set(error, ENOEXEC,
				 "%s is not a usable library: %s; install the "
				 "driver again",
				 name, problem);
	*ret = facts;
	return 0;
}

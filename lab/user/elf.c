/* Loads static ELF programs of both classes (System V ABI, ch. 4 and 5). Everything in a file is checked. */
#include "mm/mm.h"
#include "serial/serial.h"
#include "user/user.h"

#include <linux/elf.h>

/* The address of position-independent programs, as on Linux without the random part. */
#define BASE_64		  0x555555554000ul
#define BASE_32		  0x56555000ul
#define BASE_BLOCK	  0x08000000ul /* without page tables, where the others are beyond the end */
#define BASE_RANDOM_PAGES 0x400

/* mmap begins so far below the end; the stack is above. */
#define STACK_ROOM (64ul << 20)

/* A segment, of either class. */
struct segment {
	uint64_t type, flags, offset, address, file_bytes, memory_bytes;
};

/* The header, of either class. */
struct header {
	int bits;
	uint64_t type, entry, segments_at, segment_bytes, segments;
};

static int read_header(struct text file, struct header *out)
{
	const uint8_t *bytes = file.bytes;

	if (file.count < sizeof(Elf64_Ehdr) || bytes[0] != 0x7f || bytes[1] != 'E' || bytes[2] != 'L' ||
	    bytes[3] != 'F')
		return 0;
	if (bytes[EI_DATA] != ELFDATA2LSB)
		return 0;
	if (bytes[EI_CLASS] == ELFCLASS64) {
		Elf64_Ehdr header;
		__builtin_memcpy(&header, bytes, sizeof(header));
		*out = (struct header){
		    64, header.e_type, header.e_entry, header.e_phoff, header.e_phentsize, header.e_phnum};
		return header.e_machine == EM_X86_64 && header.e_phentsize == sizeof(Elf64_Phdr);
	}
	if (bytes[EI_CLASS] == ELFCLASS32) {
		Elf32_Ehdr header;
		__builtin_memcpy(&header, bytes, sizeof(header));
		*out = (struct header){
		    32, header.e_type, header.e_entry, header.e_phoff, header.e_phentsize, header.e_phnum};
		return header.e_machine == EM_386 && header.e_phentsize == sizeof(Elf32_Phdr);
	}
	return 0;
}

static struct segment read_segment(struct text file, const struct header *header, uint64_t index)
{
	const uint8_t *at = file.bytes + header->segments_at + index * header->segment_bytes;

	if (header->bits == 64) {
		Elf64_Phdr s;
		__builtin_memcpy(&s, at, sizeof(s));
		return (struct segment){s.p_type, s.p_flags, s.p_offset, s.p_vaddr, s.p_filesz, s.p_memsz};
	}
	Elf32_Phdr s;
	__builtin_memcpy(&s, at, sizeof(s));
	return (struct segment){s.p_type, s.p_flags, s.p_offset, s.p_vaddr, s.p_filesz, s.p_memsz};
}

static int are_segments_inside(struct text file, const struct header *header)
{
	const uint64_t bytes = header->segments * header->segment_bytes;

	return header->segments && header->segments_at <= file.count &&
	       bytes <= file.count - header->segments_at;
}

static int is_sound(struct text file, const struct segment *segment, uint64_t base)
{
	return segment->file_bytes <= segment->memory_bytes && segment->offset <= file.count &&
	       segment->file_bytes <= file.count - segment->offset && segment->address < space->end &&
	       segment->memory_bytes <= space->end &&
	       base + segment->address <= space->end - segment->memory_bytes;
}

static unsigned protection_of(uint64_t flags)
{
	const int executes = flags & PF_X || (flags & PF_R && space->read_implies_execute);

	return (flags & PF_R ? PROTECT_READ : 0) | (flags & PF_W ? PROTECT_WRITE : 0) |
	       (executes ? PROTECT_EXECUTE : 0);
}

static long map_segment(struct text file, const struct segment *segment, uint64_t base)
{
	const uint64_t start = base + segment->address, page = start & ~(PAGE - 1);
	const uint64_t end = align_up(start + segment->memory_bytes, PAGE);
	const struct source source = {file.bytes + segment->offset, segment->file_bytes, start - page};

	if (!is_sound(file, segment, base))
		return -ENOEXEC;
	if (end > space->break_start)
		space->break_start = end;
	return segment->memory_bytes ? space_add(page, end - page, protection_of(segment->flags), source) : 0;
}

/* The program headers, where the program sees them (AT_PHDR). */
static void note_headers(const struct header *header, const struct segment *segment, struct loaded *out)
{
	if (segment->offset <= header->segments_at &&
	    header->segments_at < segment->offset + segment->file_bytes)
		out->headers = out->base + segment->address + (header->segments_at - segment->offset);
}

/*
 * What the file says of its stack, as arch/x86/include/asm/elf.h reads it: without a word of it, a 32-bit program may
 * execute whatever it may read.
 */
static void note_stack(struct text file, const struct header *header, struct loaded *out)
{
	out->is_stack_executable = space->read_implies_execute = header->bits == 32;
	for (uint64_t i = 0; i < header->segments; i++) {
		const struct segment segment = read_segment(file, header, i);
		if (segment.type != PT_GNU_STACK)
			continue;
		space->read_implies_execute = 0;
		out->is_stack_executable = (segment.flags & PF_X) != 0;
	}
}

static uint64_t base_of(const struct header *header)
{
	const uint64_t random = (random_next() % BASE_RANDOM_PAGES) * PAGE;

	if (header->type != ET_DYN)
		return 0;
	if (space->block)
		return BASE_BLOCK + random;
	return (header->bits == 64 ? BASE_64 : BASE_32) + random;
}

long elf_load(struct text file, struct loaded *out)
{
	struct header header;

	if (!read_header(file, &header) || !are_segments_inside(file, &header) ||
	    (header.type != ET_EXEC && header.type != ET_DYN)) {
		log_line("not a whole ELF program for x86-64 or i386");
		return -ENOEXEC;
	}
	if (header.bits > WORD_BITS) {
		log_line("a 64-bit program: this kernel runs 32-bit ones alone");
		return -ENOEXEC;
	}
	const long problem = space_new(header.bits, end_of_programs(header.bits) - STACK_ROOM -
							(random_next() % BASE_RANDOM_PAGES) * PAGE);
	if (problem)
		return problem;
	*out = (struct loaded){
	    .bits = header.bits,
	    .base = base_of(&header),
	    .header_bytes = header.segment_bytes,
	    .header_count = header.segments,
	};
	out->entry = out->base + header.entry;
	note_stack(file, &header, out);
	for (uint64_t i = 0; i < header.segments; i++) {
		const struct segment segment = read_segment(file, &header, i);
		if (segment.type == PT_INTERP) {
			log_line(
			    "a dynamically linked program: only static ones run here (link it with -static)");
			return -ENOEXEC;
		}
		if (segment.type != PT_LOAD)
			continue;
		const long result = map_segment(file, &segment, out->base);
		if (result)
			return result;
		note_headers(&header, &segment, out);
	}
	if (!space->break_start || out->entry >= space->end)
		return -ENOEXEC;
	space->break_start += (random_next() % BASE_RANDOM_PAGES) * PAGE;
	space->break_now = space->break_start;
	return 0;
}

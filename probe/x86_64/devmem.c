/*
 * The page of the kernel's time variable, mapped through /dev/mem. Its physical address is that of the kernel's
 * code (/proc/iomem) plus the distance of the variable from _text (/proc/kallsyms).
 */
#include "probe.h"

#define O_RDONLY 0
#define EPERM	 1

/* A text file, line by line; lines are cut at the buffer's length. */
struct lines {
	int file;
	unsigned filled, at;
	char line[160], buffer[4096];
};

static int next_byte(struct lines *lines)
{
	if (lines->at == lines->filled) {
		const long got =
		    system_call(NR_READ, lines->file, (long)lines->buffer, sizeof(lines->buffer), 0, 0, 0);

		if (got <= 0)
			return -1;
		lines->filled = (unsigned)got;
		lines->at = 0;
	}
	return lines->buffer[lines->at++];
}

static int next_line(struct lines *lines)
{
	unsigned length = 0;
	int byte;

	while ((byte = next_byte(lines)) >= 0 && byte != '\n')
		if (length + 1 < sizeof(lines->line))
			lines->line[length++] = (char)byte;
	lines->line[length] = 0;
	return byte >= 0;
}

static const char *parse_hex(const char *text, uint64_t *value)
{
	*value = 0;
	for (;; text++) {
		const unsigned letter = (unsigned char)*text;

		if (letter >= '0' && letter <= '9')
			*value = *value << 4 | (letter - '0');
		else if (letter >= 'a' && letter <= 'f')
			*value = *value << 4 | (letter - 'a' + 10);
		else
			return text;
	}
}

static int open_lines(struct lines *lines, const char *path)
{
	lines->filled = lines->at = 0;
	lines->file = (int)system_call(NR_OPEN, (long)path, O_RDONLY, 0, 0, 0, 0);
	return lines->file >= 0;
}

/* Virtual addresses of _text and of the variable, under whichever name this kernel keeps it. */
static int find_symbols(struct lines *lines, uint64_t *text, uint64_t *variable)
{
	static const char *const names[] = {"vdso_time_data_store", "vdso_data_store", "_vdso_data",
					    "__vvar_page"};

	*text = *variable = 0;
	if (!open_lines(lines, "/proc/kallsyms"))
		return 0;
	while (!(*text && *variable) && next_line(lines)) {
		uint64_t address;
		const char *name = parse_hex(lines->line, &address) + 3; /* " d " */

		if (same_text(name, "_text"))
			*text = address;
		for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (same_text(name, names[i]))
				*variable = address;
	}
	system_call(NR_CLOSE, lines->file, 0, 0, 0, 0, 0);
	return *text && *variable;
}

/* Physical address of _text: "  01000000-01e00eb0 : Kernel code". 0 when hidden. */
static uint64_t find_kernel_code(struct lines *lines)
{
	uint64_t start = 0, end;

	if (!open_lines(lines, "/proc/iomem"))
		return 0;
	while (!start && next_line(lines)) {
		const char *text = lines->line;

		while (*text == ' ')
			text++;
		text = parse_hex(text, &start);
		text = *text == '-' ? parse_hex(text + 1, &end) : text;
		if (!same_text(text, " : Kernel code"))
			start = 0;
	}
	system_call(NR_CLOSE, lines->file, 0, 0, 0, 0, 0);
	return start;
}

/* Ends the row where the answer is no page. */
static const uint8_t *map_page(long file, uint64_t physical)
{
	const long page =
	    system_call(NR_MMAP, 0, PAGE, PROTECT_READ, MAP_SHARED, file, (long)(physical & ~(PAGE - 1)));

	if (page == -EPERM)
		emit_refusal(OUTCOME_REFUSED, CAUSE_STRICT_DEVMEM, 0, 0, 0, 0);
	if (page < 0 && page >= -4095)
		emit_refusal(OUTCOME_REFUSED, CAUSE_ERRNO, (uint64_t)-page, 0, 0, 0);
	return (const uint8_t *)page;
}

const uint8_t *devmem_time_page(void)
{
	static struct lines lines;
	uint64_t text, variable;
	const long file = system_call(NR_OPEN, (long)"/dev/mem", O_RDONLY, 0, 0, 0, 0);

	if (file < 0)
		emit_refusal(OUTCOME_REFUSED, CAUSE_ERRNO, (uint64_t)-file, 0, 0, 0);
	const uint64_t code = find_kernel_code(&lines);
	/* What holds the code is memory as what holds the variable is. Who may map neither learns it before 200,000 symbols
	   are read, which takes an emulator seconds. */
	if (code)
		map_page(file, code);
	if (!code || !find_symbols(&lines, &text, &variable))
		emit_refusal(OUTCOME_REFUSED, CAUSE_NO_KALLSYMS, 0, 0, 0, 0);
	return map_page(file, code + variable - text);
}

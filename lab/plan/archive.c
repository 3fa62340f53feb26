/* POSIX ustar: for each file a header of 512 bytes, then its content, padded to 512. */
#include "plan/plan.h"

#define BLOCK	    ARCHIVE_BLOCK
#define NAME_BYTES  100
#define SIZE_AT	    124
#define SIZE_DIGITS 11

static uint64_t octal(const uint8_t *digits, unsigned count)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < count && digits[i] >= '0' && digits[i] <= '7'; i++)
		value = value << 3 | (uint64_t)(digits[i] - '0');
	return value;
}

static int is_named(const uint8_t *header, const char *name)
{
	unsigned i = 0;

	while (i < NAME_BYTES && name[i] && header[i] == (uint8_t)name[i])
		i++;
	return !name[i] && (i == NAME_BYTES || !header[i]);
}

struct text archive_find(struct text archive, const char *name)
{
	uint64_t at = 0;

	while (archive.count - at >= BLOCK && archive.bytes[at]) {
		const uint8_t *header = archive.bytes + at;
		const uint64_t size = octal(header + SIZE_AT, SIZE_DIGITS), rest = archive.count - at - BLOCK;
		const uint64_t padded = (size + BLOCK - 1) & ~(uint64_t)(BLOCK - 1);

		if (size > rest)
			break;
		if (is_named(header, name))
			return (struct text){header + BLOCK, size};
		if (padded > rest)
			break;
		at += BLOCK + padded;
	}
	return (struct text){0, 0};
}

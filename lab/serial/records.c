/* Records: a header, a payload, and a checksum over both (abi/record.h). */
#include "crc32.h"
#include "record.h"
#include "serial/console.h"
#include "serial/serial.h"

static struct record_header header = {.magic = RECORD_MAGIC, .version = RECORD_VERSION};
static uint32_t crc_table[256], next;

#define WORD sizeof(uint64_t)

/* A payload that is being packed. */
static struct {
	uint8_t bytes[16 << 10];
	uint32_t count;
	uint64_t before; /* the word before the next one */
} packed;

void records_init(void)
{
	crc32_prepare(crc_table);
}

int records_are_ready(void)
{
	return crc_table[1] != 0;
}

/* Whether it takes less than so many bytes with these words, too. */
static int pack(const uint8_t *words, uint32_t bytes, uint32_t limit)
{
	for (; bytes; words += WORD, bytes -= WORD) {
		uint64_t word, difference;

		__builtin_memcpy(&word, words, WORD);
		difference = word - packed.before;
		packed.before = word;
		difference = difference << 1 ^ (0 - (difference >> 63));
		do {
			if (packed.count + 1 >= limit)
				return 0;
			packed.bytes[packed.count++] = (uint8_t)(difference | (difference > 0x7f ? 0x80 : 0));
		} while (difference >>= 7);
	}
	return 1;
}

/* Whether the payload has the length of whole words, and has become shorter. */
static int packs(const void *first, uint32_t first_bytes, const void *second, uint32_t second_bytes)
{
	uint32_t whole = first_bytes + second_bytes;
	uint32_t limit = whole < sizeof(packed.bytes) ? whole : sizeof(packed.bytes);

	packed.count = 0;
	packed.before = 0;
	return whole && first_bytes % WORD == 0 && second_bytes % WORD == 0 &&
	       pack(first, first_bytes, limit) && pack(second, second_bytes, limit);
}

void record_parts(uint16_t kind, const void *first, uint32_t first_bytes, const void *second,
		  uint32_t second_bytes)
{
	if (console_is_open())
		return;
	if (packs(first, first_bytes, second, second_bytes)) {
		kind |= RECORD_PACKED;
		first = packed.bytes;
		first_bytes = packed.count;
		second_bytes = 0;
	}
	/* Counted before it is sent: a machine check at its last byte still reports in order. */
	header.sequence = next++;
	header.kind = kind;
	header.length = first_bytes + second_bytes;
	header.crc = 0;
	uint32_t crc = crc32_add(crc_table, CRC32_START, &header, sizeof(header));
	crc = crc32_add(crc_table, crc, first, first_bytes);
	header.crc = ~crc32_add(crc_table, crc, second, second_bytes);
	uart_write(&header, sizeof(header));
	uart_write(first, first_bytes);
	uart_write(second, second_bytes);
}

void record(uint16_t kind, const void *payload, uint32_t bytes)
{
	record_parts(kind, payload, bytes, 0, 0);
}

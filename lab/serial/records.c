/* Records: a header, a payload, and a checksum over both (abi/record.h). */
#include "crc32.h"
#include "record.h"
#include "serial/console.h"
#include "serial/serial.h"

static struct record_header header = {.magic = RECORD_MAGIC, .version = RECORD_VERSION};
static uint32_t crc_table[256], next;

void records_init(void)
{
	crc32_prepare(crc_table);
}

int records_are_ready(void)
{
	return crc_table[1] != 0;
}

void record_parts(uint16_t kind, const void *first, uint32_t first_bytes, const void *second,
		  uint32_t second_bytes)
{
	if (console_is_open())
		return;
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

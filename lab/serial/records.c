/* Records: a header, a payload, and a checksum over both (abi/record.h). */
#include "record.h"
#include "serial/console.h"
#include "serial/serial.h"

static struct record_header header = {.magic = RECORD_MAGIC, .version = RECORD_VERSION};
static uint32_t crc_table[256];

void records_init(void)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
		crc_table[byte] = crc;
	}
}

static uint32_t crc_of(uint32_t crc, const void *bytes, uint32_t count)
{
	const uint8_t *byte = bytes;

	while (count--)
		crc = crc >> 8 ^ crc_table[(crc ^ *byte++) & 0xff];
	return crc;
}

void record_parts(uint16_t kind, const void *first, uint32_t first_bytes, const void *second,
		  uint32_t second_bytes)
{
	if (console_is_open())
		return;
	header.kind = kind;
	header.length = first_bytes + second_bytes;
	header.crc = 0;
	header.crc =
	    ~crc_of(crc_of(crc_of(~0u, &header, sizeof(header)), first, first_bytes), second, second_bytes);
	uart_write(&header, sizeof(header));
	uart_write(first, first_bytes);
	uart_write(second, second_bytes);
	header.sequence++;
}

void record(uint16_t kind, const void *payload, uint32_t bytes)
{
	record_parts(kind, payload, bytes, 0, 0);
}

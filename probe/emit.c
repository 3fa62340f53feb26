/* Writes records to standard output, through a buffer. Called only before and after what is timed. */
#include "crc32.h"
#include "probe.h"

static uint8_t buffer[1 << 16];
static size_t filled;
static struct record_header header = {.magic = RECORD_MAGIC, .version = RECORD_VERSION};
static uint32_t crc_table[256];
static int is_silent;

static void flush(void)
{
	size_t written = 0;

	while (!is_silent && written < filled) {
		long result =
		    system_call(NR_WRITE, 1, (long)(buffer + written), (long)(filled - written), 0, 0, 0);
		if (result <= 0) /* nobody reads any more */
			system_call(NR_EXIT_GROUP, 1, 0, 0, 0, 0, 0);
		written += (size_t)result;
	}
	filled = 0;
}

static void put(const void *bytes, size_t count)
{
	const uint8_t *byte = bytes;

	while (count--) {
		if (filled == sizeof(buffer))
			flush();
		buffer[filled++] = *byte++;
	}
}

void emit_nothing(void)
{
	is_silent = 1;
}

void emit_identity(uint16_t entry, uint16_t operation)
{
	if (!crc_table[1])
		crc32_prepare(crc_table);
	header.entry = entry;
	header.operation = operation;
}

void emit(uint16_t kind, const void *payload, uint32_t bytes)
{
	header.kind = kind;
	header.length = bytes;
	header.crc = 0;
	header.crc =
	    ~crc32_add(crc_table, crc32_add(crc_table, CRC32_START, &header, sizeof(header)), payload, bytes);
	put(&header, sizeof(header));
	put(payload, bytes);
	header.sequence++;
}

void emit_fact(uint64_t fact, uint64_t value)
{
	const uint64_t payload[] = {fact, value};

	emit(RECORD_FACT, payload, sizeof(payload));
}

_Noreturn void emit_refusal(uint64_t outcome, uint64_t cause, uint64_t d0, uint64_t d1, uint64_t d2,
			    uint64_t d3)
{
	const uint64_t payload[] = {outcome, cause, d0, d1, d2, d3};

	emit(RECORD_OUTCOME, payload, sizeof(payload));
	emit_end((struct usage){0});
}

_Noreturn void emit_end(struct usage usage)
{
	const uint64_t payload[] = {usage.preemptions, usage.minor_faults};

	emit(RECORD_END, payload, sizeof(payload));
	flush();
	mach_end_server();
	for (;;)
		system_call(NR_EXIT_GROUP, 0, 0, 0, 0, 0, 0);
}

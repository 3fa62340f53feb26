/*
 * The power management timer, which the FADT names, and the I/O APICs, which the MADT lists, by way of the root table (ACPI
 * Specification 6.5, 5.2.5 to 5.2.12, 4.8.3.3). Nothing in a table is trusted before its checksum is right, and no length is
 * believed that leaves the table.
 */
#include "boot/acpi.h"
#include "boot/window.h"

struct table {
	char signature[4];
	uint32_t bytes;
	uint8_t rest[28];
};
_Static_assert(sizeof(struct table) == 36, "ACPI 6.5, table 5.4");

/* Offsets in the FADT. */
#define FADT_PM_TIMER	     76
#define FADT_PM_TIMER_LENGTH 91
#define FADT_FLAGS	     112
#define FADT_LEAST	     116

#define FLAG_HARDWARE_REDUCED (1u << 20) /* there is no such timer */
#define PM_TIMER_LENGTH	      4
#define LAST_PORT	      0xfffcul

/* The MADT: its entries begin behind two more words. */
#define MADT_ENTRIES 44
#define MADT_IO_APIC 1
#define ENTRY_TYPE   0
#define ENTRY_BYTES  1
#define IO_BYTES     12
#define IO_ADDRESS   4

/* Processors: by an identifier of 8 bits, or of 32; flags at their offset. */
#define MADT_LOCAL_APIC	  0
#define LOCAL_BYTES	  8
#define LOCAL_FLAGS	  4
#define MADT_LOCAL_X2APIC 9
#define X2_BYTES	  16
#define X2_FLAGS	  8
#define FLAG_ENABLED	  1u

static int is_named(const char *signature, const char *name, unsigned length)
{
	for (unsigned i = 0; i < length; i++)
		if (signature[i] != name[i])
			return 0;
	return 1;
}

/* All bytes of a table add up to 0. */
static int is_sound(const void *bytes, uint64_t count)
{
	const uint8_t *at = bytes;
	uint8_t sum = 0;

	while (count--)
		sum = (uint8_t)(sum + *at++);
	return !sum;
}

/* A whole table of this name, in the window until the next call; null when it is another, damaged, or out of reach. */
static const struct table *table_at(uint64_t physical, const char *name)
{
	const struct table *table = physical ? window_to(physical, sizeof(*table)) : 0;
	const uint64_t bytes = table && is_named(table->signature, name, 4) ? table->bytes : 0;

	table = bytes >= sizeof(*table) ? window_to(physical, bytes) : 0;
	return table && is_sound(table, bytes) ? table : 0;
}

static uint32_t u32_at(const struct table *table, uint64_t offset)
{
	uint32_t value;

	__builtin_memcpy(&value, (const uint8_t *)table + offset, sizeof(value));
	return value;
}

/*
 * The root table is a list of addresses, of 4 bytes in the RSDT and of 8 in the XSDT, none of them aligned. Each look at one
 * of the tables takes the window from the list.
 */
static const struct table *search(uint64_t list, const char *list_name, unsigned width, const char *name)
{
	const struct table *root = table_at(list, list_name);
	const uint32_t bytes = root ? root->bytes : 0;

	for (uint32_t at = sizeof(*root); bytes >= width && at <= bytes - width; at += width) {
		uint64_t address = 0;
		root = table_at(list, list_name);
		if (!root || root->bytes != bytes)
			return 0;
		__builtin_memcpy(&address, (const uint8_t *)root + at, width);
		const struct table *table = table_at(address, name);
		if (table)
			return table;
	}
	return 0;
}

static const struct table *find(const struct acpi_root *root, const char *name)
{
	const struct table *table = 0;

	if (!is_named(root->signature, "RSD PTR ", sizeof(root->signature)) || !is_sound(root, ACPI_ROOT_1))
		return 0;
	if (root->revision >= 2)
		table = search(root->xsdt, "XSDT", sizeof(uint64_t), name);
	return table ? table : search(root->rsdt, "RSDT", sizeof(uint32_t), name);
}

uint16_t acpi_pm_timer(const struct acpi_root *root)
{
	const struct table *fadt = find(root, "FACP");

	if (!fadt || fadt->bytes < FADT_LEAST || u32_at(fadt, FADT_FLAGS) & FLAG_HARDWARE_REDUCED)
		return 0;
	const uint32_t port = u32_at(fadt, FADT_PM_TIMER);
	const uint8_t length = ((const uint8_t *)fadt)[FADT_PM_TIMER_LENGTH];
	return length == PM_TIMER_LENGTH && port <= LAST_PORT ? (uint16_t)port : 0;
}

unsigned acpi_io_apics(const struct acpi_root *root, uint32_t *addresses, unsigned room)
{
	const struct table *madt = find(root, "APIC");
	const uint8_t *bytes = (const uint8_t *)madt;
	unsigned count = 0;

	if (!madt)
		return 0;
	for (uint64_t at = MADT_ENTRIES; at + IO_BYTES <= madt->bytes && bytes[at + ENTRY_BYTES];
	     at += bytes[at + ENTRY_BYTES]) {
		if (bytes[at + ENTRY_TYPE] != MADT_IO_APIC || bytes[at + ENTRY_BYTES] < IO_BYTES)
			continue;
		const uint32_t address = u32_at(madt, at + IO_ADDRESS);
		if (address && count < room)
			addresses[count] = address;
		count += address != 0;
	}
	return count;
}

static int is_processor(const struct table *madt, uint64_t at, unsigned type, unsigned bytes, unsigned flags)
{
	const uint8_t *entry = (const uint8_t *)madt + at;

	return at + bytes <= madt->bytes && entry[ENTRY_TYPE] == type && entry[ENTRY_BYTES] >= bytes &&
	       u32_at(madt, at + flags) & FLAG_ENABLED;
}

unsigned acpi_processors(const struct acpi_root *root)
{
	const struct table *madt = find(root, "APIC");
	const uint8_t *bytes = (const uint8_t *)madt;
	unsigned count = 0;

	if (!madt)
		return 0;
	for (uint64_t at = MADT_ENTRIES; at + ENTRY_BYTES < madt->bytes && bytes[at + ENTRY_BYTES];
	     at += bytes[at + ENTRY_BYTES])
		count += is_processor(madt, at, MADT_LOCAL_APIC, LOCAL_BYTES, LOCAL_FLAGS) ||
			 is_processor(madt, at, MADT_LOCAL_X2APIC, X2_BYTES, X2_FLAGS);
	return count;
}

/*
 * ACPI's tables, as far as the list of I/O APICs (ACPI 6.5, 5.2.5 to 5.2.12). Nothing in them is trusted before its checksum
 * is right, and no length is believed that leaves the table.
 */
#include "boot/acpi.h"
#include "mm/mm.h"

#define MAPPED	   (4ul << 30)
#define MOST_BYTES (1ul << 20) /* of a table */

struct rsdp {
	char signature[8];
	uint8_t checksum, oem[6], revision;
	uint32_t rsdt;
	/* from revision 2 on */
	uint32_t bytes;
	uint64_t xsdt;
	uint32_t reserved;
} __attribute__((packed));
#define RSDP_BYTES_1 20 /* of revision 0 */
_Static_assert(sizeof(struct rsdp) == 36, "ACPI 6.5, table 5.3");

struct table {
	char signature[4];
	uint32_t bytes;
	uint8_t rest[28];
};
_Static_assert(sizeof(struct table) == 36, "ACPI 6.5, table 5.4");

/* The multiple APIC description table: its entries begin behind two more words. */
#define MADT_ENTRIES 44
#define MADT_IO_APIC 1
#define ENTRY_TYPE   0
#define ENTRY_BYTES  1
#define IO_BYTES     12
#define IO_ADDRESS   4

static int adds_up(const void *bytes, uint64_t count)
{
	const uint8_t *at = bytes;
	uint8_t sum = 0;

	while (count--)
		sum = (uint8_t)(sum + *at++);
	return !sum;
}

/* The table at a physical address if it has this signature and is sound; null otherwise. */
static const struct table *table_at(uint64_t address, const char *signature)
{
	const struct table *table = physical_to_virtual(address);

	if (!address || address > MAPPED - sizeof(*table) ||
	    __builtin_memcmp(table->signature, signature, sizeof(table->signature)))
		return 0;
	if (table->bytes < sizeof(*table) || table->bytes > MOST_BYTES || table->bytes > MAPPED - address)
		return 0;
	return adds_up(table, table->bytes) ? table : 0;
}

/* Finds a table in the list of all: addresses of 4 bytes (RSDT) or of 8 (XSDT), none of them aligned. */
static const struct table *find(const struct table *list, unsigned width, const char *signature)
{
	const uint8_t *bytes = (const uint8_t *)list;

	for (uint64_t at = sizeof(*list); list && at + width <= list->bytes; at += width) {
		uint64_t address = 0;
		__builtin_memcpy(&address, bytes + at, width);
		const struct table *table = table_at(address, signature);
		if (table)
			return table;
	}
	return 0;
}

static const struct table *find_madt(const struct rsdp *rsdp)
{
	const struct table *madt = 0;

	if (!rsdp || __builtin_memcmp(rsdp->signature, "RSD PTR ", sizeof(rsdp->signature)) ||
	    !adds_up(rsdp, RSDP_BYTES_1))
		return 0;
	if (rsdp->revision >= 2)
		madt = find(table_at(rsdp->xsdt, "XSDT"), sizeof(uint64_t), "APIC");
	return madt ? madt : find(table_at(rsdp->rsdt, "RSDT"), sizeof(uint32_t), "APIC");
}

void acpi_io_apics(const void *rsdp, void (*each)(uint32_t address))
{
	const struct table *madt = find_madt(rsdp);
	const uint8_t *bytes = (const uint8_t *)madt;

	if (!madt)
		return;
	for (uint64_t at = MADT_ENTRIES; at + IO_BYTES <= madt->bytes && bytes[at + ENTRY_BYTES];
	     at += bytes[at + ENTRY_BYTES]) {
		uint32_t address;
		if (bytes[at + ENTRY_TYPE] != MADT_IO_APIC || bytes[at + ENTRY_BYTES] < IO_BYTES)
			continue;
		__builtin_memcpy(&address, bytes + at + IO_ADDRESS, sizeof(address));
		if (address)
			each(address);
	}
}

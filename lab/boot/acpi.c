/* The power management timer, by way of the root table and the FADT (ACPI Specification 6.5, 5.2.5 to 5.2.9, 4.8.3.3). */
#include "boot/acpi.h"
#include "boot/window.h"

struct table {
	char signature[4];
	uint32_t bytes;
	uint8_t rest[28];
};
_Static_assert(sizeof(struct table) == 36, "the header of every table");

/* Offsets in the FADT. */
#define FADT_PM_TIMER	     76
#define FADT_PM_TIMER_LENGTH 91
#define FADT_FLAGS	     112
#define FADT_LEAST	     116

#define FLAG_HARDWARE_REDUCED (1u << 20) /* there is no such timer */
#define PM_TIMER_LENGTH	      4
#define LAST_PORT	      0xfffcul

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

/* A whole table, until the next call; null when it is damaged or out of reach. */
static const struct table *table_at(uint64_t physical)
{
	const struct table *table = window_to(physical, sizeof(*table));
	const uint64_t bytes = table ? table->bytes : 0;

	table = bytes >= sizeof(*table) ? window_to(physical, bytes) : 0;
	return table && is_sound(table, bytes) ? table : 0;
}

static uint32_t u32_at(const struct table *table, unsigned offset)
{
	uint32_t value;

	__builtin_memcpy(&value, (const uint8_t *)table + offset, sizeof(value));
	return value;
}

static uint16_t port_of(const struct table *fadt)
{
	if (fadt->bytes < FADT_LEAST || u32_at(fadt, FADT_FLAGS) & FLAG_HARDWARE_REDUCED)
		return 0;
	const uint32_t port = u32_at(fadt, FADT_PM_TIMER);
	const uint8_t length = ((const uint8_t *)fadt)[FADT_PM_TIMER_LENGTH];
	return length == PM_TIMER_LENGTH && port <= LAST_PORT ? (uint16_t)port : 0;
}

/* The root table is a list of addresses, of 4 bytes in the RSDT and of 8 in the XSDT. */
static uint16_t search(uint64_t list, unsigned width)
{
	const struct table *root = table_at(list);
	const uint32_t bytes = root ? root->bytes : 0;

	for (uint32_t at = sizeof(*root); bytes >= width && at <= bytes - width; at += width) {
		uint64_t address = 0;
		root = table_at(list);
		if (!root || root->bytes != bytes)
			return 0;
		__builtin_memcpy(&address, (const uint8_t *)root + at, width);
		const struct table *table = table_at(address);
		if (table && is_named(table->signature, "FACP", 4))
			return port_of(table);
	}
	return 0;
}

uint16_t acpi_pm_timer(const struct acpi_root *root)
{
	const int has_xsdt = root->revision >= 2 && root->xsdt;

	if (!is_named(root->signature, "RSD PTR ", 8) || !is_sound(root, ACPI_ROOT_1))
		return 0;
	return has_xsdt ? search(root->xsdt, 8) : search(root->rsdt, 4);
}

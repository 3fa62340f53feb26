/* Devices: what device_open finds by name, and the pages that device_map gives of one. A device is a line of the table. */
#include "mach/task.h"

static const struct device {
	const char *name;
	const void *wide, *narrow; /* its page, for tasks of 64 and of 32 bits; null: entry_page knows it */
} devices[] = {
    {"time", mapped_time_64, mapped_time_32},
    {"entry", 0, 0},
};

#define DEVICES (sizeof(devices) / sizeof(devices[0]))

/*
 * What is charged to no task: the machine's three ports, the port of each program's task and thread, which are made before any runs, and a
 * pager of each device. There is room for them beside what all tasks may have.
 */
#define UNCHARGED_PORTS (3 + 2 * MOST_TASKS + DEVICES)
_Static_assert(UNCHARGED_PORTS + MOST_TASKS * MOST_PORTS_OF_TASK <= MOST_PORTS, "each task has its share");

/* One of each for a device, made when it is asked for: the port as long as it is open, the pager for ever. */
static struct port *ports[DEVICES], *pagers[DEVICES];
static unsigned opened[DEVICES]; /* how often */

void devices_reset(void)
{
	__builtin_memset(opened, 0, sizeof(opened));
	__builtin_memset(ports, 0, sizeof(ports));
	__builtin_memset(pagers, 0, sizeof(pagers));
}

uint32_t device_find(const uint8_t *name, uint32_t bytes, uint32_t *device)
{
	for (uint32_t i = 0; i < DEVICES; i++) {
		const uint64_t letters = __builtin_strlen(devices[i].name) + 1;
		if (letters <= bytes && !__builtin_memcmp(devices[i].name, name, letters)) {
			*device = i;
			return KERN_SUCCESS;
		}
	}
	return DEVICE_NO_SUCH_DEVICE;
}

struct port *device_port(uint32_t device, struct task *charged)
{
	if (!ports[device])
		ports[device] = port_new(OBJECT_DEVICE, device, charged);
	return ports[device];
}

void device_opened(uint32_t device)
{
	opened[device]++;
}

/* Mappings stay, and so does the pager. */
void device_closed(uint32_t device)
{
	struct port *const port = ports[device];

	if (--opened[device])
		return;
	ports[device] = 0;
	port_dies(port);
	port_forget(port);
}

struct port *device_pager(uint32_t device)
{
	if (!pagers[device])
		pagers[device] = port_new(OBJECT_PAGER, device, 0);
	return pagers[device];
}

const void *device_page(uint32_t device, unsigned width)
{
	if (!devices[device].wide)
		return entry_page(width);
	return width == 64 ? devices[device].wide : devices[device].narrow;
}

unsigned device_protection(uint32_t device)
{
	return devices[device].wide ? PROTECT_READ : PROTECT_READ | PROTECT_EXECUTE;
}

/* Memory of a task: of its own, or of another, whose page tables are the current ones meanwhile. */
#include "mach/task.h"
#include "cpu/cpu.h"
#include "user/user.h"

#define MOST_DEVICE_PAGES 16 /* of one mapping */

/* Traps through a trap gate or a call gate come with interrupts on, and one in the midst of a change would see half of it. */
static void go_to(struct address_space *to)
{
	const word flags = interrupts_off();
	space_enter(to);
	interrupts_restore(flags);
}

static struct address_space *enter(struct task *task)
{
	struct address_space *const before = space;

	go_to(task->space);
	return before;
}

static uint32_t result_of(long problem)
{
	return problem == -EINVAL ? KERN_INVALID_ADDRESS : problem ? KERN_RESOURCE_SHORTAGE : KERN_SUCCESS;
}

/* Where a range is to be, in the current space: KERN_*. The first page stays unmapped, so that a null pointer is none. */
static uint32_t choose(uint64_t *address, uint64_t *bytes, int anywhere)
{
	if (*bytes >= space->end)
		return anywhere ? KERN_NO_SPACE : KERN_INVALID_ADDRESS;
	if (anywhere) {
		*bytes = align_up(*bytes, PAGE);
		*address = space_find(*bytes);
		return *address ? KERN_SUCCESS : KERN_NO_SPACE;
	}
	if (*address >= space->end || *bytes > space->end - *address)
		return KERN_INVALID_ADDRESS;
	const uint64_t end = align_up(*address + *bytes, PAGE);
	*address &= ~(PAGE - 1);
	*bytes = end - *address;
	if (*address < PAGE)
		return KERN_INVALID_ADDRESS;
	return space_is_free(*address, *bytes) ? KERN_SUCCESS : KERN_NO_SPACE;
}

uint32_t task_vm_allocate(struct task *task, uint64_t *address, uint64_t bytes, int anywhere)
{
	if (!bytes) {
		*address = 0;
		return KERN_SUCCESS;
	}
	struct address_space *const before = enter(task);
	uint32_t result = choose(address, &bytes, anywhere);
	if (!result)
		result =
		    result_of(space_add(*address, bytes, PROTECT_READ | PROTECT_WRITE, (struct source){0}));
	go_to(before);
	return result;
}

uint32_t task_vm_deallocate(struct task *task, uint64_t address, uint64_t bytes)
{
	struct address_space *const before = enter(task);
	const uint64_t start = address & ~(PAGE - 1);
	uint32_t result = KERN_SUCCESS;

	if (bytes && start < space->end) {
		const uint64_t most = space->end - start;
		const uint64_t wanted = bytes < most ? align_up(address - start + bytes, PAGE) : most;
		result = result_of(space_remove(start, wanted < most ? wanted : most));
	}
	go_to(before);
	return result;
}

uint32_t task_make_shadow_stack(struct task *task, uint64_t *top)
{
	struct address_space *const before = enter(task);
	const uint32_t result = result_of(shadow_stack_make((int)task->width, top));

	go_to(before);
	return result;
}

void task_drop_shadow_stack(struct task *task, uint64_t top)
{
	struct address_space *const before = enter(task);

	shadow_stack_drop(top);
	go_to(before);
}

static unsigned protection_of(uint32_t protection)
{
	return (protection & 1 ? PROTECT_READ : 0) | (protection & 2 ? PROTECT_WRITE : 0) |
	       (protection & 4 ? PROTECT_EXECUTE : 0);
}

/* The pages of a pager, each of which is the same page of the device, and can be read. */
static uint32_t map_device(const struct map *map, unsigned width)
{
	const uint32_t device = map->object->number;
	const void *const page = device_page(device, width);
	const unsigned protection =
	    (PROTECT_READ | protection_of(map->protection)) & device_protection(device);

	if (map->bytes > MOST_DEVICE_PAGES * PAGE)
		return KERN_RESOURCE_SHORTAGE;
	for (uint64_t done = 0; done < map->bytes; done += PAGE) {
		const long problem = space_add_pages(map->address + done, page, PAGE, protection);
		if (problem) {
			if (done)
				space_remove(map->address, done);
			return result_of(problem);
		}
	}
	return KERN_SUCCESS;
}

static uint32_t check(const struct map *map)
{
	if (!map->bytes || (map->protection | map->most_protection) & ~PROTECTION_ALL || map->inheritance > 2)
		return KERN_INVALID_ARGUMENT;
	if (map->object == PORT_NULL)
		return KERN_SUCCESS;
	if (!port_is_real(map->object) || !map->object->is_alive || map->object->object != OBJECT_PAGER)
		return KERN_INVALID_ARGUMENT;
	return map->protection & PROTECTION_WRITE ? KERN_PROTECTION_FAILURE : KERN_SUCCESS;
}

uint32_t task_vm_map(struct task *task, struct map *map)
{
	uint32_t result = check(map);

	if (result)
		return result;
	struct address_space *const before = enter(task);
	result = choose(&map->address, &map->bytes, map->anywhere != 0);
	if (!result && map->object != PORT_NULL)
		result = map_device(map, task->width);
	else if (!result)
		result = result_of(
		    space_add(map->address, map->bytes, protection_of(map->protection), (struct source){0}));
	go_to(before);
	return result;
}

/* The page of the device `entry`: which instruction enters, and what the page can be mapped for. A letter for each. */
#include "mach.h"
#include "../../mach/stub/image.h"

#define OTHER_TASK 3u
#define MPROTECT   CHOOSE(125, 10)
#define LONGEST	   24u /* bytes of entry_call, at most */

typedef uint32_t trap(void);

static uintptr_t mapped(name task, uintptr_t at, uint32_t protection, uint32_t *result)
{
	name device, pager = 0;

	*result = device_open(2, "entry", &device);
	if (!*result)
		*result = device_pager(device, &pager);
	if (!*result)
		*result = vm_map(task, &at, PAGE, 0, !at, pager, 0, 0, protection, 7, 1);
	return at;
}

static uint32_t half_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 8 | bytes[1];
}

/* The first instruction that enters: 0f05 syscall, 0f34 sysenter, cd80 int $0x80, 9a lcall. */
static void say_how(void)
{
	uint32_t result;
	const uint8_t *code =
	    image_find((const void *)mapped(self, 0, READ_AND_EXECUTE, &result), PAGE, "entry_call");

	print_number("mapped", result);
	for (unsigned i = 0; i < LONGEST; i++, code++) {
		const uint32_t half = half_at(code);
		if (half == 0x0f05 || half == 0x0f34 || half == 0xcd80 || *code == 0x9a) {
			print_number("enters by", *code == 0x9a ? 0x9a : half);
			return;
		}
	}
}

static void write_to_it(void)
{
	uint32_t result;

	mapped(self, 0, 3, &result);
	print_number("to write", result);
	mapped(self, 0, 7, &result);
	print_number("to write and execute", result);
	const uintptr_t at = mapped(self, 0, READ_AND_EXECUTE, &result);
	print_number("to execute", result);
	linux_call(MPROTECT, (long)at, PAGE, 7);
	print_number("the page is at", at);
	*(volatile uint8_t *)at = 0;
	mach_print("written\n");
}

static void execute_what_is_to_be_read(void)
{
	uint32_t result;
	void *const image = (void *)mapped(self, 0, 1, &result);
	trap *const call = (trap *)image_find(image, PAGE, "entry_call");

	print_number("to read", result);
	call();
	mach_print("executed\n");
}

static void give(void)
{
	uint32_t result;

	mapped(OTHER_TASK, ENTRY_PAGE, READ_AND_EXECUTE, &result);
	print_number("given", result);
}

void run(int count, char **words)
{
	(void)count;
	switch (words[0][0]) {
	case 'h':
		say_how();
		break;
	case 'w':
		write_to_it();
		break;
	case 'x':
		execute_what_is_to_be_read();
		break;
	case 'g':
		give();
		break;
	}
}

/* The kernel: boots, tests the machine, does what the plan says. */
#include "boot/boot.h"
#include "cpu/counters.h"
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "lab.h"
#include "mm/mm.h"
#include "plan/plan.h"
#include "ring.h"
#include "serial/console.h"
#include "serial/serial.h"
#include "time/clock.h"
#include "time/tick.h"
#include "plan/table.h"
#include "user/user.h"

static void report_boot(const struct boot *boot, uint64_t hertz, unsigned gateway)
{
	uint64_t payload[LAB_BOOT_WORDS] = {
	    [LAB_BOOT_KERNEL_VERSION] = LAB_VERSION, [LAB_BOOT_TSC_HZ] = hertz,
	    [LAB_BOOT_FEATURES] = cpu.features,	     [LAB_BOOT_GATEWAY] = gateway,
	    [LAB_BOOT_LOADER] = boot->loader,	     [LAB_BOOT_MEMORY] = pages_left(),
	    [LAB_BOOT_VENDOR] = cpu.vendor,	     [LAB_BOOT_MICROCODE] = microcode_revision(),
	};

	ring_test(payload);
	if (console_is_open()) {
		ring_say(payload);
		table_begin(payload[LAB_BOOT_RING0_TICKS], payload[LAB_BOOT_RING3_TICKS],
			    (int)payload[LAB_BOOT_SYSCALL_WORKS], hertz);
	}
	record(RECORD_LAB_BOOT, payload, sizeof(payload));
}

_Noreturn void kernel_main(uint32_t loader, uint32_t information);

_Noreturn void kernel_main(uint32_t loader, uint32_t information)
{
	uart_init();
	records_init();
	const struct boot boot = boot_read(loader, information);
	cpu_find_features();
	tables_load();
	pages_init(boot.memory_start, boot.memory_end);
	tables_init(boot.memory_top);
	guard_pages_unmap();
	const struct plan_header header = plan_open((struct text){boot.module, boot.module_bytes});
	if (header.screen)
		console_open();
	const uint64_t hertz = header.hertz ? header.hertz : find_tsc_frequency();
	vsyscall_init();
	/* All steps are off until the plan begins: virtual machines that emulate ring 0 lack some instructions. */
	paths_configure((const configuration){0});
	counters_find();
	clock_init(header.seconds, hertz);
	tick_init();
	calls_init();
	space_init();
	const unsigned gateway = gateway_choose();
	report_boot(&boot, hertz, gateway);
	plan_run();
	record(RECORD_LAB_DONE, 0, 0);
	if (console_is_open())
		log_line("done; the machine can be switched off");
	power_off();
}

/* The kernel: boots, tests the machine, does what the plan says. */
#include "boot/boot.h"
#include "cpu/counters.h"
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "entry/rings.h"
#include "entry/v86.h"
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

static void report_boot(const struct boot *boot, const struct tsc *tsc, unsigned gateway)
{
	uint64_t payload[LAB_BOOT_WORDS] = {
	    [LAB_BOOT_KERNEL_VERSION] = LAB_VERSION,
	    [LAB_BOOT_TSC_HZ] = tsc->hertz,
	    [LAB_BOOT_FEATURES] = cpu.features,
	    [LAB_BOOT_GATEWAY] = gateway,
	    [LAB_BOOT_LOADER] = boot->loader,
	    [LAB_BOOT_MEMORY] = pages_left(),
	    [LAB_BOOT_VENDOR] = cpu.vendor,
	    [LAB_BOOT_TSC_SOURCE] = tsc->source,
	    [LAB_BOOT_TSC_OTHER_HZ] = tsc->other_hertz,
	    [LAB_BOOT_TSC_OTHER] = tsc->other,
	    [LAB_BOOT_TSC_INVARIANT] = (uint64_t)tsc_is_invariant(),
	    [LAB_BOOT_MICROCODE] = microcode_revision(),
	    [LAB_BOOT_PROCESSORS] = boot->processors,
	};

	ring_test(payload);
	if (console_is_open()) {
		ring_say(payload);
		table_begin(payload);
	}
	record(RECORD_LAB_BOOT, payload, sizeof(payload));
	strays_report();
}

_Noreturn void kernel_main(uint32_t loader, uint32_t information);

_Noreturn void kernel_main(uint32_t loader, uint32_t information)
{
	uart_init();
	records_init();
	tables_load();
	console_prepare(loader == LOADER_PVH, 0);
	const struct listener listener = boot_listener(loader, information);
	console_prepare(listener.is_command, &listener.screen);
	const struct boot boot = boot_read(loader, information);
	cpu_find_features();
	const struct range memory[] = {boot.kernel, boot.module_pages, boot.free};
	tables_init(memory, sizeof(memory) / sizeof(memory[0]));
	guard_pages_unmap();
	pages_init(boot.free.start, boot.free.end);
	strays_silence(boot.io_apics, boot.io_apic_count);
	const struct plan_header header = plan_open((struct text){boot.module, boot.module_bytes});
	if (header.screen) {
		console_open();
		table_title();
	} else {
		console_close();
	}
	const struct tsc tsc = find_tsc_frequency(header.hertz, boot.pm_timer);
	vsyscall_init();
	speculation_find();
	/* All steps are off until the plan begins: virtual machines that emulate ring 0 lack some instructions. */
	paths_configure((const configuration){0});
	counters_find();
	clock_init(header.seconds, tsc.hertz);
	tick_init();
	calls_init();
	space_init();
	const unsigned gateway = gateway_choose();
	report_boot(&boot, &tsc, gateway);
	rings_find();
	v86_find();
	fpu_save_all();
	plan_run();
	record(RECORD_LAB_DONE, 0, 0);
	if (console_is_open())
		console_end(tsc.hertz);
	power_off();
}

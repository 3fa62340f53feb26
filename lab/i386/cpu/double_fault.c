/* The task of a double fault: where gate 8 leads, with a stack of its own (entry/double-fault.S). */
#include "cpu/double_fault.h"
#include "cpu/cpu.h"
#include "cpu/tss.h"
#include "entry/entry.h"
#include "serial/serial.h"

extern const uint8_t double_fault_stack_top[], double_fault_task[];

/* As double-fault.S has them: their link is their first word. */
struct tss double_fault_tss CPU_AREA;

/* The processor has stored what was interrupted in the TSS that the link names; not CR3. */
_Noreturn void double_fault_is_fatal(void)
{
	const struct tss *const interrupted = tss_named(double_fault_tss.link);

	log_line("panic: a double fault at %x:%x, stack %x, CR2 %lx", interrupted->cs, interrupted->eip,
		 interrupted->esp, read_cr2());
	power_off();
}

void double_fault_prepare(void)
{
	double_fault_tss = tss_of_kernel((word)double_fault_task, (word)double_fault_stack_top);
	tables_set_task(SELECTOR_DOUBLE_FAULT, &double_fault_tss);
}

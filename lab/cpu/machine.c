/*
 * Machine checks (SDM vol. 3, 16.3): the processor has found an error of its own, of memory or of a bus. One that comes while
 * a record is written leaves that record incomplete, and the reader reports a damaged record instead of these lines.
 */
#include "cpu/cpu.h"
#include "serial/serial.h"

#define MOST_BANKS    32 /* behind these are other MSRs */
#define BANK_MSRS     4
#define STATUS_VALID  (1ull << 63)
#define STATUS_MISC   (1ull << 59) /* the bank has more to say in MISC */
#define STATUS_ADDR   (1ull << 58) /* and an address in ADDR */
#define MCG_CAP_BANKS 0xff

static uint64_t read_or_0(uint32_t msr)
{
	uint64_t value;

	return rdmsr_safe(msr, &value) ? value : 0;
}

_Noreturn void machine_check(const struct frame *frame)
{
	const uint64_t cap = cpu.has_machine_checks ? read_or_0(MSR_MCG_CAP) & MCG_CAP_BANKS : 0;
	const uint64_t banks = cap < MOST_BANKS ? cap : MOST_BANKS;

	log_line("machine check in ring %lu at %lx, MCG_STATUS %" X64 ", %" U64 " banks",
		 frame->flags & RFLAGS_VM ? 3 : frame->cs & SELECTOR_RING, frame->ip,
		 cpu.has_machine_checks ? read_or_0(MSR_MCG_STATUS) : 0, banks);
	for (uint32_t bank = 0; bank < banks; bank++) {
		const uint64_t status = read_or_0(MSR_MC0_STATUS + BANK_MSRS * bank);
		if (!(status & STATUS_VALID))
			continue;
		log_line("machine check: bank %" U64 ", status %" X64 ", address %" X64 ", misc %" X64,
			 (uint64_t)bank, status,
			 status & STATUS_ADDR ? read_or_0(MSR_MC0_ADDR + BANK_MSRS * bank) : 0,
			 status & STATUS_MISC ? read_or_0(MSR_MC0_MISC + BANK_MSRS * bank) : 0);
	}
	power_off();
}

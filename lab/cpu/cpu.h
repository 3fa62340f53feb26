/* Instructions that C cannot express, and the CPU's tables. */
#pragma once

#include "cpu/frame.h"
#include "cpu/registers.h"
#include "lab.h"
#include "word.h"

#include <stddef.h>
#include <stdint.h>

/*
 * As TEST_RING of entry/path.inc: whatever is not the kernel's ring is a program, in ring 1 and 2, too; and whatever is in virtual-8086
 * mode, where CS is no selector.
 */
static inline int is_from_program(const struct frame *frame)
{
	return frame->flags & RFLAGS_VM || frame->cs & SELECTOR_RING;
}

#define VECTOR_DIVIDE	  0
#define VECTOR_DEBUG	  1
#define VECTOR_NMI	  2
#define VECTOR_BREAKPOINT 3
#define VECTOR_OVERFLOW	  4
#define VECTOR_BOUND	  5
#define VECTOR_INVALID	  6
#define VECTOR_NO_FPU	  7 /* #NM */
#define VECTOR_DOUBLE	  8
#define VECTOR_ABSENT	  11 /* #NP */
#define VECTOR_STACK	  12 /* #SS */
#define VECTOR_PROTECTION 13
#define VECTOR_PAGE_FAULT 14
#define VECTOR_MACHINE	  18
#define VECTOR_CONTROL	  21   /* #CP */
#define VECTOR_INTERRUPTS 32   /* from here on none is an exception */
#define VECTOR_PIC	  0x30 /* and the 15 that follow */
#define VECTOR_INT80	  0x80
#define VECTOR_TICK	  0xfe /* above all others: a device that interrupts without end does not hold it off */
#define VECTOR_SPURIOUS	  0xff

/* features.c */
struct cpu {
	uint32_t vendor;   /* VENDOR_* of abi/lab.h */
	uint32_t features; /* bit per FEATURE_* of abi/lab.h */
	uint32_t has_sysenter, has_apic, has_machine_checks, hwcap, hwcap2;
	uint32_t has_automatic_ibrs; /* AMD's, in EFER; then SPEC_CTRL.IBRS need not be set */
	uint64_t xcr0;
};
extern struct cpu cpu;
void cpu_find_features(void);
int cpu_has(unsigned feature);
unsigned cpu_family(void);
/*
 * What programs have of x87 and vectors. Until fpu_save_all, that is x87 and SSE: KVM emulates fxrstor, but not xrstor, and the
 * test of ring 0 is to work where it is emulated.
 */
void fpu_save_all(void);
/* Resets these registers and their control to the state of a new program. */
void fpu_reset(void);
/* The same registers, to and from memory that was zero when it was first saved to; aligned to 64 bytes. */
#define FPU_BYTES 4096
void fpu_save(uint8_t *to);
void fpu_load(const uint8_t *from);

/* smep.c: 1 if the kernel cannot execute a program's memory. No program may be alive. */
int smep_refuses(void);

/* amd.c: what leaves 80000008h (ebx) and 80000021h (eax) of AMD's processors say of speculation. */
struct amd_speculation {
	uint32_t features; /* bit per FEATURE_*, but for FEATURE_IBPB, which is to be tried */
	int has_automatic_ibrs, announces_ibpb;
};
struct amd_speculation amd_speculation(uint32_t ebx, uint32_t eax);

/* errata.c: whether INVLPG may leave global translations while there are identifiers, by leaf 1's eax and microcode. */
int errata_invlpg_misses_globals(uint32_t signature, uint64_t microcode);

/* firmware.c: takes back what firmware has switched on or off, once the vendor is known; gives it back. */
void firmware_undo(void);
void firmware_redo(void);

/* tables.c: GDT, LDT, TSS, IDT. */
void tables_load(void);
void tables_set_tls(unsigned index, uint64_t descriptor);
uint64_t tables_tls(unsigned index); /* 0: free */
/* In protected mode: CR3 of the kernel's tasks, and of programs behind them. */
void tss_set_tables(word kernel, word program);
/* Points a vector at its stub, or at a path of its own. */
void gate_to_stub(unsigned vector);
/* With ibt=on, stubs are those that begin with endbr64: points all gates that lead to a stub at it. */
void gates_land(void);
void gate_to_path(unsigned vector, word path, int is_trap_gate);
/* Whether programs may raise VECTOR_SOFTWARE by int. */
void gate_opens(int to_programs);
/* In protected mode, the same of vectors that need page tables; they lead to their stubs then. */
void gates_open_paged(int to_programs);
/* Points the call gates and the LDT's at their paths. */
void gates_to_paths(word x86_64, word i386);
/* The same of the gates into rings 1 and 2, and of the one from ring 1 to the kernel. */
void gates_to_rings(word ring1, word ring2, word from_ring1);
void gates_to_rings_close(void);

/*
 * apic.c: the local APIC, as memory or as MSRs (x2APIC). Offsets are those in memory (SDM vol. 3, table 11-1).
 */
#define APIC_EOI     0xb0
#define APIC_TIMER   0x320
#define APIC_INITIAL 0x380
#define APIC_CURRENT 0x390
#define APIC_DIVIDE  0x3e0
#define APIC_MASKED  0x10000 /* in an entry of the local vector table */
int apic_init(void);	     /* 0 when there is none */
void apic_write(unsigned offset, uint32_t value);
uint32_t apic_read(unsigned offset);
void apic_restore(void);	  /* as apic_init has found it */
int apic_serves(unsigned vector); /* whether it waits for the end of this interrupt */

/* stray.c: interrupts that nobody asked for. */
/* Masks what firmware has left of the PICs and of the I/O APICs at these physical addresses. */
void strays_silence(const uint32_t *io_apics, unsigned count);
void strays_restore(void); /* for UEFI, what strays_silence has masked */
void stray_came(unsigned vector);
void strays_report(void); /* a record for each vector that came since the last time */

/* machine.c: says what the processor found wrong with the machine, and stops. */
_Noreturn void machine_check(const struct frame *frame);

static inline uint64_t rdtsc(void)
{
	uint32_t low, high;
	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

static inline void wrmsr(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

static inline uint64_t rdmsr(uint32_t msr)
{
	uint32_t low, high;
	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (uint64_t)high << 32 | low;
}

/* msr.S: for registers that a processor may lack. 1, or 0 where it raises #GP; then nothing is stored. */
int rdmsr_safe(uint32_t msr, uint64_t *value);
int wrmsr_safe(uint32_t msr, uint64_t value);
/* Where to go on after a fault at an address outside of the paths; 0: no fault is expected there. */
word fixup(word address);

struct cpuid {
	uint32_t eax, ebx, ecx, edx;
};

static inline struct cpuid cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct cpuid out;
	__asm__ volatile("cpuid"
			 : "=a"(out.eax), "=b"(out.ebx), "=c"(out.ecx), "=d"(out.edx)
			 : "a"(leaf), "c"(subleaf)
			 : "memory"); /* it serializes, too: stores before it are not to move behind it */
	return out;
}

/* hypervisor.c: its leaves of CPUID; all 0 where there is no hypervisor, or it does not have the leaf. */
#define LEAF_HYPERVISOR 0x40000000 /* eax: the last of them; ebx, ecx, edx: its signature */
struct cpuid hypervisor_leaf(uint32_t leaf);
int hypervisor_is_there(void);
int hypervisor_is_tcg(
    void); /* QEMU's emulator, which forgives much, and hangs where a processor raises #GP */

/* Switches interrupts off, and restores them: calls through a trap gate or a call gate run with interrupts on. */
static inline word interrupts_off(void)
{
	word flags;
	__asm__ volatile("pushf; pop %0; cli" : "=r"(flags) : : "memory");
	return flags;
}

static inline void interrupts_restore(word flags)
{
	__asm__ volatile("push %0; popf" : : "r"(flags) : "memory", "cc");
}

static inline word read_cr0(void)
{
	word value;
	__asm__ volatile("mov %%cr0, %0" : "=r"(value));
	return value;
}

static inline word read_cr2(void)
{
	word value;
	__asm__ volatile("mov %%cr2, %0" : "=r"(value));
	return value;
}

static inline word read_cr4(void)
{
	word value;
	__asm__ volatile("mov %%cr4, %0" : "=r"(value));
	return value;
}

/* Instructions that flush translations. With TLB_LOG they are functions that log what they do (mm/tlb.h). */
#ifdef TLB_LOG
void write_cr3(word value);
void write_cr4(word value);
void invlpg(word address);
void invpcid(word type, uint64_t identifier, uint64_t address);
#else
static inline void write_cr3(word value)
{
	__asm__ volatile("mov %0, %%cr3" : : "r"(value) : "memory");
}

static inline void write_cr4(word value)
{
	__asm__ volatile("mov %0, %%cr4" : : "r"(value) : "memory");
}

static inline void invlpg(word address)
{
	__asm__ volatile("invlpg (%0)" : : "r"(address) : "memory");
}

static inline void invpcid(word type, uint64_t identifier, uint64_t address)
{
	const uint64_t descriptor[2] = {identifier, address};

	__asm__ volatile("invpcid %0, %1" : : "m"(descriptor), "r"(type) : "memory");
}
#endif

static inline void out8(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static inline uint8_t in8(uint16_t port)
{
	uint8_t value;
	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

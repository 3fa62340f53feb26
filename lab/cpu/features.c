/* Finds out what this processor has, and enables what every program may rely on. */
#include "cpu/cpu.h"
#include "cpu/mode.h"
#include "lab.h"
#include "serial/serial.h"

struct cpu cpu;

#define LEAF1_EDX_MCE	  (1u << 7)
#define LEAF1_EDX_APIC	  (1u << 9)
#define LEAF1_EDX_SEP	  (1u << 11)
#define LEAF1_EDX_PGE	  (1u << 13)
#define LEAF1_EDX_MCA	  (1u << 14)
#define LEAF1_ECX_PCID	  (1u << 17)
#define LEAF1_ECX_XSAVE	  (1u << 26)
#define LEAF7_EBX_BASES	  (1u << 0) /* FSGSBASE */
#define LEAF7_EBX_SMEP	  (1u << 7)
#define LEAF7_EBX_INVPCID (1u << 10)
#define LEAF7_EBX_SMAP	  (1u << 20)
#define LEAF7_ECX_UMIP	  (1u << 2)
#define LEAF7_ECX_RDPID	  (1u << 22)
#define LEAF7_ECX_SHSTK	  (1u << 7)
#define LEAF7_EDX_IBT	  (1u << 20)

/* Intel's (SDM vol. 2A, CPUID; vol. 4, IA32_ARCH_CAPABILITIES). */
#define LEAF7_EDX_MD_CLEAR     (1u << 10)
#define LEAF7_EDX_IBRS	       (1u << 26) /* and IBPB */
#define LEAF7_EDX_STIBP	       (1u << 27)
#define LEAF7_EDX_L1D_FLUSH    (1u << 28)
#define LEAF7_EDX_CAPABILITIES (1u << 29)
#define LEAF7_EDX_SSBD	       (1u << 31)
#define LEAF7_2_EDX_BHI_CTRL   (1u << 4)
#define CAPABILITIES_IBRS_ALL  0x2
#define CAPABILITIES_CLEARS    (1ul << 17 | 1ul << 28) /* VERW clears as well: FB_CLEAR, RFDS_CLEAR */

#define LEAF_XSAVE	 13
#define LEAF_EXTENDED	 0x80000000
#define LEAF_EXTENDED_1	 0x80000001
#define LEAF_EXTENDED_8	 0x80000008
#define LEAF_EXTENDED_21 0x80000021
#define EXT1_EDX_SYSCALL (1u << 11)
#define EXT1_EDX_NX	 (1u << 20)
#define EXT1_EDX_RDTSCP	 (1u << 27)
#define EXT21_EAX_LFENCE (1u << 2) /* always serializing */

/* arch/x86/include/uapi/asm/hwcap2.h */
#define HWCAP2_FSGSBASE 2

/* x87, SSE, AVX, and the three parts of AVX-512: libraries choose their functions by these. */
#define XCR0_USED   0xe7
#define XCR0_ALWAYS 0x03 /* x87 and SSE: bit 0 cannot be cleared, bit 1 is there with XSAVE */
#define XCR0_AVX    0x04
#define XCR0_AVX512 0xe0

#define MXCSR_DEFAULT 0x1f80

static uint32_t vendor_of(uint32_t ebx)
{
	switch (ebx) {
	case 0x756e6547: /* "Genu"ineIntel */
		return VENDOR_INTEL;
	case 0x68747541: /* "Auth"enticAMD */
	case 0x6f677948: /* "Hygo"nGenuine */
		return VENDOR_AMD;
	default:
		return VENDOR_OTHER;
	}
}

int cpu_has(unsigned feature)
{
	return cpu.features >> feature & 1;
}

static void add(unsigned feature, int is_there)
{
	cpu.features |= (uint32_t)(is_there != 0) << feature;
}

/* The bits of XCR0 that CPUID allows; those of AVX-512 only together, and with AVX's (SDM vol. 1, 13.3). */
static void enable_xsave(void)
{
	cpu.xcr0 = (cpuid(LEAF_XSAVE, 0).eax & XCR0_USED) | XCR0_ALWAYS;
	if ((cpu.xcr0 & (XCR0_AVX512 | XCR0_AVX)) != (XCR0_AVX512 | XCR0_AVX))
		cpu.xcr0 &= ~(uint64_t)XCR0_AVX512;
	__asm__ volatile("xsetbv" : : "c"(0), "a"((uint32_t)cpu.xcr0), "d"(0));
	if (cpuid(LEAF_XSAVE, 0).ebx > FPU_BYTES) /* for what is enabled now */
		panic("the vector registers need more room than there is for them");
}

/*
 * QEMU's emulator, and no processor, takes CR4.OSXSAVE for a reserved bit where leaf 0Dh.1 is empty, and hangs (7.2, cr4_reserved_bits). Processors
 * that have XSAVE and none of its later forms are Penryn and Bulldozer: Opteron_G4 and _G5 of QEMU.
 */
static int hangs_at_xsave(void)
{
	return hypervisor_is_tcg() && !cpuid(LEAF_XSAVE, 1).eax;
}

static struct cpuid extended(uint32_t leaf)
{
	return cpuid(LEAF_EXTENDED, 0).eax >= leaf ? cpuid(leaf, 0) : (struct cpuid){0};
}

/* APM vol. 3, CPUID Fn0000_0001_EAX. */
unsigned cpu_family(void)
{
	const uint32_t eax = cpuid(1, 0).eax, base = eax >> 8 & 0xf;

	return base == 0xf ? base + (eax >> 20 & 0xff) : base;
}

/*
 * Whether lfence waits until all instructions before it have executed: only then a rdtsc behind it is in order. Intel's does
 * (SDM vol. 2, LFENCE). AMD's does if DE_CFG says so; families 0xf and 0x11 have no such register, and theirs always does
 * (AMD, "Software Techniques for Managing Speculation", G-2). A hypervisor may refuse the write, or ignore it.
 */
static int order_lfence(void)
{
	uint64_t value;

	if (cpu.vendor != VENDOR_AMD)
		return cpu.vendor == VENDOR_INTEL;
	if (extended(LEAF_EXTENDED_21).eax & EXT21_EAX_LFENCE || cpu_family() == 0xf || cpu_family() == 0x11)
		return 1;
	if (!rdmsr_safe(MSR_DE_CFG, &value))
		return 0;
	if (value & DE_CFG_LFENCE_SERIALIZES)
		return 1;
	return wrmsr_safe(MSR_DE_CFG, value | DE_CFG_LFENCE_SERIALIZES) && rdmsr_safe(MSR_DE_CFG, &value) &&
	       value & DE_CFG_LFENCE_SERIALIZES;
}

/* What is not to be executed is marked from the kernel's own page tables on. A processor without NX raises #GP here. */
static void enable_nx(void)
{
	if (!(extended(LEAF_EXTENDED_1).edx & EXT1_EDX_NX))
		return;
	wrmsr(MSR_EFER, MODE_EFER | EFER_NXE);
	add(FEATURE_NX, rdmsr(MSR_EFER) & EFER_NXE);
}

/* A hypervisor may announce PRED_CMD or FLUSH_CMD and refuse the write, which no path could survive. */
static int can_command(int is_announced, uint32_t msr, uint64_t command)
{
	return is_announced && wrmsr_safe(msr, command);
}

static int can_command_predictors(int is_announced)
{
	return can_command(is_announced, MSR_PRED_CMD, PRED_CMD_IBPB);
}

static void find_speculation_of_intel(struct cpuid leaf7)
{
	/* Subleaf 0 tells the last one in eax. */
	const uint32_t more = leaf7.eax >= 2 ? cpuid(7, 2).edx : 0;
	uint64_t capabilities = 0;

	if (leaf7.edx & LEAF7_EDX_CAPABILITIES && !rdmsr_safe(MSR_CAPABILITIES, &capabilities))
		capabilities = 0;
	add(FEATURE_IBRS, leaf7.edx & LEAF7_EDX_IBRS);
	add(FEATURE_IBPB, can_command_predictors((leaf7.edx & LEAF7_EDX_IBRS) != 0));
	add(FEATURE_EIBRS, leaf7.edx & LEAF7_EDX_IBRS && capabilities & CAPABILITIES_IBRS_ALL);
	add(FEATURE_STIBP, leaf7.edx & LEAF7_EDX_STIBP);
	add(FEATURE_SSBD, leaf7.edx & LEAF7_EDX_SSBD);
	add(FEATURE_MDCLEAR, leaf7.edx & LEAF7_EDX_MD_CLEAR || capabilities & CAPABILITIES_CLEARS);
	add(FEATURE_L1DFLUSH,
	    can_command((leaf7.edx & LEAF7_EDX_L1D_FLUSH) != 0, MSR_FLUSH_CMD, FLUSH_CMD_L1D));
	add(FEATURE_BHICTRL, more & LEAF7_2_EDX_BHI_CTRL);
}

/*
 * Hypervisors give guests on AMD's processors some of Intel's bits, too; these are not looked at. There is no command that flushes the first
 * data cache.
 */
static void find_speculation_of_amd(void)
{
	const struct amd_speculation found =
	    amd_speculation(extended(LEAF_EXTENDED_8).ebx, extended(LEAF_EXTENDED_21).eax);

	cpu.has_automatic_ibrs = found.has_automatic_ibrs;
	cpu.features |= found.features;
	add(FEATURE_IBPB, can_command_predictors(found.announces_ibpb));
}

void cpu_find_features(void)
{
	cpu.vendor = vendor_of(cpuid(0, 0).ebx);
	firmware_undo();
	const struct cpuid leaf0 = cpuid(0, 0), leaf1 = cpuid(1, 0);
	const struct cpuid leaf7 = leaf0.eax >= 7 ? cpuid(7, 0) : (struct cpuid){0};
	uint64_t cr4 = MODE_CR4 | CR4_OSFXSR | CR4_OSXMMEXCPT;

	cpu.has_sysenter = (leaf1.edx & LEAF1_EDX_SEP) != 0;
	cpu.has_apic = (leaf1.edx & LEAF1_EDX_APIC) != 0;
	cpu.has_machine_checks = (leaf1.edx & LEAF1_EDX_MCA) != 0;
	cpu.hwcap = leaf1.edx;
	add(MODE_FEATURE, 1);
	add(FEATURE_SMEP, leaf7.ebx & LEAF7_EBX_SMEP);
	add(FEATURE_SMAP, leaf7.ebx & LEAF7_EBX_SMAP);
	add(FEATURE_UMIP, leaf7.ecx & LEAF7_ECX_UMIP);
	add(FEATURE_SHSTK, leaf7.ecx & LEAF7_ECX_SHSTK);
	add(FEATURE_IBT, leaf7.edx & LEAF7_EDX_IBT);
	add(FEATURE_SYSENTER, mode_has_sysenter(cpu.vendor) && cpu.has_sysenter);
	/* Intel's processors have the bit in 64-bit mode alone, and no syscall of 32-bit code. */
	add(FEATURE_SYSCALL32, cpu.vendor == VENDOR_AMD && extended(LEAF_EXTENDED_1).edx & EXT1_EDX_SYSCALL);
	add(FEATURE_LEGACYSYSCALL, MODE_HAS_LEGACY_SYSCALL && cpu_has(FEATURE_SYSCALL32));
	add(FEATURE_LIMITS, MODE_HAS_LIMITS);
	add(FEATURE_PCID, MODE_HAS_PCID && leaf1.ecx & LEAF1_ECX_PCID);
	add(FEATURE_PGE, leaf1.edx & LEAF1_EDX_PGE);
	add(FEATURE_INVPCID, leaf7.ebx & LEAF7_EBX_INVPCID);
	/* CPUID answers a leaf beyond its last with that last one's. */
	add(FEATURE_XSAVE, leaf1.ecx & LEAF1_ECX_XSAVE && leaf0.eax >= LEAF_XSAVE && !hangs_at_xsave());

	if (cpu.vendor == VENDOR_INTEL)
		find_speculation_of_intel(leaf7);
	else if (cpu.vendor == VENDOR_AMD)
		find_speculation_of_amd();

	enable_nx();
	add(FEATURE_LFENCE, order_lfence());
	/* rdtscp and rdpid read it: the CPU's number, as Linux has it with one node. */
	if (extended(LEAF_EXTENDED_1).edx & EXT1_EDX_RDTSCP || leaf7.ecx & LEAF7_ECX_RDPID)
		wrmsr(MSR_TSC_AUX, LAB_CPU);

	/* QEMU's TCG hangs on a CR4 bit that it does not know, instead of raising #GP: CPUID is asked before any is set. */
	cr4 |= leaf1.edx & LEAF1_EDX_MCE ? CR4_MCE : 0;
	cr4 |= cpu_has(FEATURE_XSAVE) ? CR4_OSXSAVE : 0;
	/* Programs may set the bases of FS and GS themselves: this kernel uses neither. They know by AT_HWCAP2. */
	if (MODE_HAS_FSGSBASE && leaf7.ebx & LEAF7_EBX_BASES) {
		cr4 |= CR4_FSGSBASE;
		cpu.hwcap2 |= HWCAP2_FSGSBASE;
	}
	write_cr4(cr4);
	if (cpu_has(FEATURE_XSAVE))
		enable_xsave();
}

/* In long mode, the last instruction's address has 64 bits. */
#ifdef __x86_64__
#define WIDE "64"
#else
#define WIDE ""
#endif

/* Whether all that XSAVE knows is saved, or x87 and SSE alone. */
static int saves_all;

void fpu_save_all(void)
{
	saves_all = cpu_has(FEATURE_XSAVE);
}

/* An XSAVE area whose header says that it is empty: xrstor then resets every part to its initial state. */
static uint8_t empty_area[576] __attribute__((aligned(64)));

void fpu_reset(void)
{
	*(uint32_t *)(empty_area + 24) = MXCSR_DEFAULT;
	*(uint16_t *)empty_area = 0x37f;
	if (saves_all)
		__asm__ volatile("xrstor" WIDE " %0" : : "m"(empty_area), "a"(~0u), "d"(~0u) : "memory");
	else
		__asm__ volatile("fxrstor" WIDE " %0" : : "m"(empty_area) : "memory");
	/* AMD's fxrstor leaves the last instruction's address, data and opcode (APM vol. 5, FXRSTOR). */
	__asm__ volatile("fninit");
}

void fpu_save(uint8_t *to)
{
	if (saves_all)
		__asm__ volatile("xsave" WIDE " (%0)" : : "r"(to), "a"(~0u), "d"(~0u) : "memory");
	else
		__asm__ volatile("fxsave" WIDE " (%0)" : : "r"(to) : "memory");
}

void fpu_load(const uint8_t *from)
{
	if (saves_all)
		__asm__ volatile("xrstor" WIDE " (%0)" : : "r"(from), "a"(~0u), "d"(~0u) : "memory");
	else
		__asm__ volatile("fxrstor" WIDE " (%0)" : : "r"(from) : "memory");
}

/*
 * What the processor counts by itself while a program runs, where it has the counters: system management interrupts, core
 * cycles against a constant clock, retired instructions. They are programmed only while a program runs, and put back as
 * they were. SDM vol. 3, 20.2 and 20.7; AMD APM vol. 2, 13.2 and 17.
 */
#include "cpu/counters.h"
#include "cpu/cpu.h"
#include "lab.h"
#include "record.h"
#include "serial/serial.h"

#define LEAF_POWER    6
#define LEAF_FEATURES 7
#define LEAF_COUNTERS 10
#define LEAF_EXTENDED 0x80000000
#define LEAF_AMD_MORE 0x80000008
#define LEAF_AMD_V2   0x80000022

#define LEAF1_ECX_GUEST	      (1u << 31)
#define LEAF6_ECX_APERF	      (1u << 0)
#define LEAF7_EDX_SPEC_CTRL   (1u << 26 | 1u << 27 | 1u << 31) /* IBRS, STIBP, SSBD */
#define EXTENDED_ECX_COUNTERS (1u << 23)		       /* PerfCtrExtCore */
#define AMD_EBX_IRPERF	      (1u << 1)
#define AMD_EBX_SPEC_CTRL     (1u << 14 | 1u << 15 | 1u << 24) /* IBRS, STIBP, SSBD */
#define AMD_V2_EAX_GLOBAL     (1u << 0)

#define MSR_SMI_COUNT	  0x34
#define MSR_MPERF	  0xe7
#define MSR_APERF	  0xe8
#define MSR_FIXED_CTR0	  0x309 /* instructions, core cycles, reference cycles */
#define MSR_FIXED_CONTROL 0x38d
#define MSR_GLOBAL_CTRL	  0x38f
#define MSR_AMD_IRPERF	  0xc00000e9
#define MSR_AMD_GLOBAL	  0xc0000301
#define MSR_AMD_HWCR	  0xc0010015
#define MSR_AMD_CONTROL0  0xc0010200
#define MSR_AMD_COUNTER0  0xc0010201

#define FIXED_COUNTERS	 3
#define FIXED_ALL_RINGS	 3ull /* two of the four bits that a counter has: rings 0 and 3, no interrupt */
#define FIXED_FIELD	 0xfull
#define FIXED_GLOBAL	 32 /* the first one's bit in MSR_GLOBAL_CTRL */
#define HWCR_IRPERF	 (1ull << 30)
#define AMD_CYCLES	 (0x76ull | 1u << 16 | 1u << 17 | 1u << 22) /* cycles not halted; rings 3 and 0; on */
#define AMD_COUNTER_BITS 48
#define MOST_CONTROLS	 3

/* Long enough for a counter that moves on with a slow clock only. */
#define STILL_TICKS 20000

/* Of SMIs only the lower half is the count. */
#define SMI_BITS 32

/* A register that must be changed before a counter counts. */
struct control {
	uint32_t msr;
	uint64_t clear, set, before;
};

static struct {
	uint32_t present; /* bit per COUNTER_* */
	uint32_t msr[COUNTER_COUNT];
	uint64_t mask[COUNTER_COUNT];
	struct control controls[MOST_CONTROLS];
	unsigned control_count;
	int running, taken;
	uint64_t before[COUNTER_COUNT], values[COUNTER_COUNT];
} counters;

static uint64_t mask_of(unsigned bits)
{
	return bits < 64 ? (1ull << bits) - 1 : UINT64_MAX;
}

static void add(unsigned counter, uint32_t msr, unsigned bits)
{
	uint64_t value;

	if (!rdmsr_safe(msr, &value))
		return;
	counters.present |= 1u << counter;
	counters.msr[counter] = msr;
	counters.mask[counter] = mask_of(bits);
}

/* 0 when the register cannot be written: then the counter that needs it is not used. */
static int add_control(uint32_t msr, uint64_t clear, uint64_t set)
{
	uint64_t before;

	if (counters.control_count == MOST_CONTROLS || !rdmsr_safe(msr, &before) ||
	    !wrmsr_safe(msr, (before & ~clear) | set))
		return 0;
	wrmsr(msr, before);
	counters.controls[counters.control_count++] =
	    (struct control){.msr = msr, .clear = clear, .set = set};
	return 1;
}

/* CPUID answers a leaf beyond its last with that last one's: each is asked for only where it is. */
static struct cpuid leaf(uint32_t number)
{
	return cpuid(number & LEAF_EXTENDED, 0).eax >= number ? cpuid(number, 0) : (struct cpuid){0};
}

/* Family 6 from Nehalem on, and the families that follow it; 15 is NetBurst. Older ones raise #GP. */
static int may_count_smis(void)
{
	const uint32_t version = leaf(1).eax, base = version >> 8 & 0xf;
	const uint32_t family = base == 15 ? base + (version >> 20 & 0xff) : base;

	/* A hypervisor shows the guest's own, of which there are none. */
	return cpu.vendor == VENDOR_INTEL && (family == 6 || family > 15) && !(leaf(1).ecx & LEAF1_ECX_GUEST);
}

static void find_intel(void)
{
	const struct cpuid found = leaf(LEAF_COUNTERS);
	const unsigned version = found.eax & 0xff, count = found.edx & 0x1f, bits = found.edx >> 5 & 0xff;
	uint64_t fields = 0, enabled = 0, set = 0;

	/* From version 2 on there are fixed counters, from 5 on a mask of them (SDM vol. 2A, CPUID). */
	for (unsigned i = 0; version >= 2 && i < FIXED_COUNTERS; i++) {
		if (i >= count && !(version >= 5 && found.ecx >> i & 1))
			continue;
		fields |= FIXED_FIELD << i * 4;
		set |= FIXED_ALL_RINGS << i * 4;
		enabled |= 1ull << (FIXED_GLOBAL + i);
	}
	if (!fields || !add_control(MSR_FIXED_CONTROL, fields, set) ||
	    !add_control(MSR_GLOBAL_CTRL, 0, enabled))
		return;
	for (unsigned i = 0; i < FIXED_COUNTERS; i++)
		if (enabled >> (FIXED_GLOBAL + i) & 1)
			add(COUNTER_INSTRUCTIONS + i, MSR_FIXED_CTR0 + i, bits);
}

static void find_amd(void)
{
	const int has_global = (leaf(LEAF_AMD_V2).eax & AMD_V2_EAX_GLOBAL) != 0;

	if (leaf(LEAF_AMD_MORE).ebx & AMD_EBX_IRPERF && add_control(MSR_AMD_HWCR, 0, HWCR_IRPERF))
		add(COUNTER_INSTRUCTIONS, MSR_AMD_IRPERF, AMD_COUNTER_BITS);
	if (leaf(LEAF_EXTENDED + 1).ecx & EXTENDED_ECX_COUNTERS &&
	    add_control(MSR_AMD_CONTROL0, UINT64_MAX, AMD_CYCLES) &&
	    (!has_global || add_control(MSR_AMD_GLOBAL, 0, 1)))
		add(COUNTER_CYCLES, MSR_AMD_COUNTER0, AMD_COUNTER_BITS);
}

static void read_all(uint64_t *values)
{
	for (unsigned i = COUNTER_SMI; i < COUNTER_COUNT; i++)
		values[i] = counters.present >> i & 1 ? rdmsr(counters.msr[i]) : 0;
	values[COUNTER_TSC] = rdtsc();
}

void counters_start(void)
{
	if (!counters.present)
		return;
	for (unsigned i = 0; i < counters.control_count; i++) {
		struct control *control = &counters.controls[i];
		control->before = rdmsr(control->msr);
		wrmsr(control->msr, (control->before & ~control->clear) | control->set);
	}
	read_all(counters.before);
	counters.running = 1;
}

void counters_stop(void)
{
	uint64_t after[COUNTER_COUNT];

	if (!counters.running)
		return;
	counters.running = 0;
	counters.taken = 1;
	read_all(after);
	/* The last that was changed is the first that is put back. */
	for (unsigned i = counters.control_count; i > 0; i--)
		wrmsr(counters.controls[i - 1].msr, counters.controls[i - 1].before);
	for (unsigned i = COUNTER_SMI; i < COUNTER_COUNT; i++)
		counters.values[i] = (after[i] - counters.before[i]) & counters.mask[i];
	counters.values[COUNTER_TSC] = after[COUNTER_TSC] - counters.before[COUNTER_TSC];
	counters.values[COUNTER_SPEC_CTRL] = counters.before[COUNTER_SPEC_CTRL];
}

/* Some emulators have counters by CPUID, and they read 0 for ever. */
static void drop_those_that_stand_still(void)
{
	static const unsigned moving[] = {COUNTER_APERF, COUNTER_MPERF, COUNTER_INSTRUCTIONS, COUNTER_CYCLES,
					  COUNTER_REFERENCE};
	const uint64_t start = rdtsc();

	if (!counters.present)
		return;
	counters_start();
	while (rdtsc() - start < STILL_TICKS)
		;
	counters_stop();
	for (unsigned i = 0; i < sizeof(moving) / sizeof(*moving); i++)
		if (!counters.values[moving[i]])
			counters.present &= ~(1u << moving[i]);
	counters.taken = 0;
}

void counters_find(void)
{
	if (may_count_smis())
		add(COUNTER_SMI, MSR_SMI_COUNT, SMI_BITS);
	if (leaf(LEAF_POWER).ecx & LEAF6_ECX_APERF) {
		add(COUNTER_APERF, MSR_APERF, 64);
		add(COUNTER_MPERF, MSR_MPERF, 64);
	}
	if (cpu.vendor == VENDOR_INTEL)
		find_intel();
	else if (cpu.vendor == VENDOR_AMD)
		find_amd();
	if ((leaf(LEAF_FEATURES).edx & LEAF7_EDX_SPEC_CTRL) || (leaf(LEAF_AMD_MORE).ebx & AMD_EBX_SPEC_CTRL))
		add(COUNTER_SPEC_CTRL, MSR_SPEC_CTRL, 64);
	drop_those_that_stand_still();
	/* The counter that is always there says how long; alone it says nothing. */
	if (counters.present)
		counters.present |= 1u << COUNTER_TSC;
}

int counters_value(unsigned counter, uint64_t *value)
{
	*value = counters.values[counter];
	return counters.taken && counters.present >> counter & 1;
}

void counters_report(uint64_t number)
{
	uint64_t payload[LAB_COUNTERS_WORDS] = {
	    [LAB_COUNTERS_NUMBER] = number,
	    [LAB_COUNTERS_PRESENT] = counters.present,
	};

	_Static_assert(LAB_COUNTERS_WORDS == LAB_COUNTERS_FIRST + COUNTER_COUNT, "abi/lab.h");
	/* A program that could not be loaded has none. */
	if (!counters.present || !counters.taken)
		return;
	counters.taken = 0;
	__builtin_memcpy(payload + LAB_COUNTERS_FIRST, counters.values, sizeof(counters.values));
	record(RECORD_LAB_COUNTERS, payload, sizeof(payload));
}

/* Prepares what an entry needs; where the entry is closed, ends the probe with the cause. */
#include "fault.h"
#include "lab.h"

#include <linux/auxvec.h>

/* i386 has AT_SYSINFO; the kernel's header names it only there. */
#ifndef AT_SYSINFO
#define AT_SYSINFO 32
#endif

static unsigned long need_auxv(unsigned long type)
{
	const unsigned long value = auxv(type);

	if (!value)
		emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_NO_AUXV, type, 0, 0, 0);
	return value;
}

static unsigned long need_vdso(const struct operation *operation)
{
	char name[64] = "__vdso_";
	unsigned length = 7;

	need_auxv(AT_SYSINFO_EHDR);
	for (const char *letter = operation->function; *letter && length < sizeof(name) - 1; letter++)
		name[length++] = *letter;
	name[length] = 0;
	const unsigned long function = vdso_function(name, "LINUX_2.6");
	if (!function)
		emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_NO_SYMBOL, 0, 0, 0, 0);
	return function;
}

/* The first register of a CPUID leaf's name: "Genu" of GenuineIntel, "TCGT" of TCGTCGTCGTCG. */
static uint32_t cpuid_name(uint32_t leaf)
{
	uint32_t name, changed;

	__asm__ volatile("cpuid" : "=b"(name), "=a"(changed) : "a"(leaf), "c"(0) : "edx");
	return name;
}

#define CPUID_VENDOR	 0
#define CPUID_HYPERVISOR 0x40000000
#define NAME_INTEL	 0x756e6547 /* "Genu" */
#define NAME_TCG	 0x54474354 /* "TCGT" */

static int is_tcg(void)
{
	return cpuid_name(CPUID_HYPERVISOR) == NAME_TCG;
}

/*
 * Before 9.1 QEMU's TCG pushes what a far call pushes as the kernel does, whatever the ring. With SMAP that is a page fault of the kernel, which
 * ends the probe. The lab measures these rows without SMAP.
 */
static void need_real_far_call(void)
{
	if (!auxv(AT_LAB) && is_tcg())
		emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_EMULATOR, 0, 0, 0, 0);
}

#ifdef __x86_64__

static long map(unsigned long bytes, long protection, long flags)
{
	return system_call(NR_MMAP, 0, (long)bytes, protection, flags, -1, 0);
}

#define PROTECT_NONE	      0
#define MAP_PRIVATE_ANONYMOUS 0x22
#define MADV_DONTNEED	      4

/* A page for every use between two refreshes: warm-up and block, or the two halves of a burst. */
#define FRESH_PAGES ((unsigned long)(WARM_SAMPLES + BLOCK_SAMPLES))
_Static_assert(BLOCK_SAMPLES >= 2 * BURST, "a burst of controls and one of entries fit");

static unsigned long pages;

static unsigned long need_map(unsigned long bytes, long protection, long flags)
{
	const long address = map(bytes, protection, flags);

	if (address < 0 && address >= -4095)
		emit_refusal(OUTCOME_ERROR, CAUSE_ERRNO, (uint64_t)-address, 0, 0, 0);
	return (unsigned long)address;
}

/* vgetrandom's opaque state, as vDSO getrandom(2) asks for it when its length is ~0
 * (include/uapi/linux/random.h). */
static void prepare_vdso_getrandom(void)
{
	struct {
		uint32_t size, protection, flags, reserved[13];
	} parameters = {0};
	int (*function)(void *, unsigned long, unsigned, void *, unsigned long) =
	    (void *)invocations[0].target;

	if (function(0, 0, 0, &parameters, ~0ul) != 0)
		emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_NO_SYMBOL, 0, 0, 0, 0);
	invocations[0].args[3] =
	    need_map(parameters.size, (long)parameters.protection, (long)parameters.flags);
	invocations[0].args[4] = parameters.size;
}

/* Asks with a call that exists: a number that no kernel has is answered with ENOSYS with or without x32. */
static void need_x32(void)
{
	const long result = system_call(NR_GETPPID | 0x40000000, 0, 0, 0, 0, 0, 0);

	if (result < 0)
		emit_refusal(OUTCOME_REFUSED, CAUSE_ERRNO, (uint64_t)-result, 0, 0, 0);
}

static unsigned long need_process_maker(const struct request *request)
{
	const unsigned long function = process_maker(request);

	if (!function)
		emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_NO_SYMBOL, 0, 0, 0, 0);
	return function;
}

static void prepare_libc(const struct operation *operation)
{
	for (unsigned call = 0; call < operation->calls; call++) {
		invocations[call].target = libc_function(operation_function(operation, call));
		if (!invocations[call].target)
			emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_NO_SYMBOL, 0, 0, 0, 0);
	}
}

/* For any other operation the exception is a call to the lab; a signal is a failure then, which report() tells. */
static void prepare_exception(const struct operation *operation, int signal, unsigned length)
{
	if (operation->id == OPERATION_SIGNAL)
		faults_skip(signal, length);
}

static void prepare_page_fault(const struct operation *operation)
{
	if (operation->id == OPERATION_SIGNAL) {
		pages = need_map(PAGE, PROTECT_NONE, MAP_PRIVATE_ANONYMOUS);
		faults_skip(SIGSEGV, 2);
	} else {
		pages = need_map(FRESH_PAGES * PAGE, PROTECT_READ, MAP_PRIVATE_ANONYMOUS);
		/* One huge zero page would serve all reads. Without huge pages in the kernel this call fails, rightly. */
		system_call(NR_MADVISE, (long)pages, (long)(FRESH_PAGES * PAGE), MADV_NOHUGEPAGE, 0, 0, 0);
		invocations[0].stride = PAGE;
	}
	invocations[0].args[0] = pages;
}

void target_refresh(const struct request *request)
{
	if (request->operation->id != OPERATION_MINOR_FAULT)
		return;
	const long result =
	    system_call(NR_MADVISE, (long)pages, (long)(FRESH_PAGES * PAGE), MADV_DONTNEED, 0, 0, 0);
	if (result < 0)
		emit_refusal(OUTCOME_ERROR, CAUSE_ERRNO, (uint64_t)-result, 0, 0, 0);
	invocations[0].args[0] = pages;
}

#else

void target_refresh(const struct request *request)
{
	(void)request;
}

/*
 * QEMU's TCG executes a compatibility-mode syscall on Intel models, too, where real processors raise #UD. Linux relies
 * on that and sets no entry address there (5.16 on, wrmsrl_cstar): the kernel would go on at address 0 and panic. The
 * lab sets one on every model.
 */
static void need_real_syscall(void)
{
	if (auxv(AT_LAB))
		return;
	if (cpuid_name(CPUID_VENDOR) == NAME_INTEL && is_tcg())
		emit_refusal(OUTCOME_UNSUPPORTED, CAUSE_EMULATOR, 0, 0, 0, 0);
}

#endif

void target_prepare(const struct request *request)
{
	const struct operation *operation = request->operation;

	(void)operation;
	switch (request->entry->id) {
#ifdef __x86_64__
	case ENTRY_FAR_CALL_X86_64:
		need_real_far_call();
		break;
	case ENTRY_CALL:
		invocations[0].target = call_target;
		break;
	case ENTRY_SYSCALL_X86_64:
		if (operation->id == OPERATION_UNIXBENCH_EXEC)
			invocations[0].target = need_process_maker(request);
		if (operation->nops)
			invocations[0].target = ring_prepare(operation);
		break;
	case ENTRY_SYSCALL_X32:
		need_x32();
		break;
	case ENTRY_VSYSCALL:
		invocations[0].target = 0xffffffffff600000ul + operation->page_offset;
		break;
	case ENTRY_VDSO_X86_64:
		invocations[0].target = need_vdso(operation);
		if (operation->id == OPERATION_GETRANDOM)
			prepare_vdso_getrandom();
		break;
	case ENTRY_LIBC:
		if (operation->id == OPERATION_UNIXBENCH_EXEC)
			invocations[0].target = need_process_maker(request);
		else
			prepare_libc(operation);
		break;
	case ENTRY_UD:
	case ENTRY_LOCK_NOP:
		prepare_exception(operation, SIGILL, 2);
		break;
	case ENTRY_INT3:
		prepare_exception(operation, SIGTRAP, 0);
		break;
	case ENTRY_DIV0:
		prepare_exception(operation, SIGFPE, 2);
		break;
	case ENTRY_PAGE_FAULT:
		prepare_page_fault(operation);
		break;
	case ENTRY_RSEQ:
		rseq_prepare();
		break;
	case ENTRY_MAPPED_TIME_PERF:
		invocations[0].target = perf_page_prepare();
		break;
	case ENTRY_MAPPED_TIME_VVAR:
		invocations[0].target = time_page_prepare(operation, 0);
		break;
	case ENTRY_MAPPED_TIME_DEVMEM:
		invocations[0].target = time_page_prepare(operation, 1);
		break;
	case ENTRY_MAPPED_TIME_MACH:
		invocations[0].target = mach_time_prepare();
		break;
	case ENTRY_STUB_GATE_X86_64:
		invocations[0].target = mach_gate_stub(request);
		break;
	case ENTRY_ENTRY_PAGE_X86_64:
		invocations[0].target = mach_page_stub(request);
		break;
#else
	case ENTRY_SYSENTER_I386:
		need_auxv(AT_SYSINFO);
		break;
	case ENTRY_FAR_CALL_I386:
		need_real_far_call();
		break;
	case ENTRY_SYSCALL_I386:
		need_auxv(AT_SYSINFO);
		need_real_syscall();
		break;
	case ENTRY_GATEWAY_I386:
		for (unsigned call = 0; call < operation->calls; call++)
			invocations[call].target = need_auxv(AT_SYSINFO);
		break;
	case ENTRY_VDSO_I386:
		invocations[0].target = need_vdso(operation);
		break;
	case ENTRY_MAPPED_TIME_MACH_I386:
		invocations[0].target = mach_time_prepare();
		break;
	case ENTRY_STUB_GATE_I386:
		invocations[0].target = mach_gate_stub(request);
		break;
	case ENTRY_STUB_SYSENTER_I386:
		need_auxv(AT_SYSINFO);
		invocations[0].target = mach_sysenter_stub(request);
		break;
	case ENTRY_ENTRY_PAGE_I386:
		invocations[0].target = mach_page_stub(request);
		break;
	case ENTRY_V86_INT:
	case ENTRY_V86_INT_REDIRECTED:
	case ENTRY_CODE16_INT:
		sixteen_prepare(request);
		break;
#endif
	}
}

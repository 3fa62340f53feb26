/*
 * What passes between the command and the lab kernel.
 *
 * In: one boot module, a ustar archive. Its file "stdin", if there is one, is what each program can read from its standard
 * input. Its file "plan" is text, a line for each step, words separated by one space:
 *
 *	lab 4			the version, first
 *	kernel NAME		which of the lab's kernels it is for, as entries.toml names them; another ends with a panic that says so
 *	seed NUMBER		address layout and random bytes come from it
 *	time SECONDS		CLOCK_REALTIME at boot
 *	tsc HERTZ		frequency of the TSC, where it is known from outside; otherwise the kernel finds out
 *	screen			show a table on screen and serial port instead of the stream; stands before any set, run, ...
 *	limit TICKS		a program that has run for so long is ended; 0: never. Where the test of ring 0 finds a core cycle
 *				to take several ticks, or a cpuid several times what it takes to leave a guest on a processor
 *				(RING_CROSSING_UNKNOWN_EXIT), so many times as long: there, the processor is emulated
 *	set SWITCH=VALUE ...	switches of entries.toml; those that are not named stay as they are; the kernel says then what all are.
 *				VALUE default: what the switch had at boot, which is its first value where the CPU lacks what its
 *				default needs
 *	layout NUMBER		from here on, where in its slot each path begins, which physical pages are skipped, where the
 *				kernel's stacks for programs begin, and the addresses and random bytes of programs are drawn from
 *				this number; 0: at the beginning, none, at their ends, from the seed. Not between beside and run
 *	run FILE ARGUMENT ...	a probe of the archive, or a program like one: exceptions serve as system calls
 *	exec FILE ARGUMENT ...	a static program of the archive, as Linux would run it
 *	beside FILE ARGUMENT ...
 *				a program like that of run, which runs together with that of the next run or exec line. The
 *				latter begins; sched_yield lets the next go on. All end with the first end that is not an exit
 *				with status 0, and that is the line's, or when all have ended so
 *				With personality=mach, run, exec and beside start programs of GNU Mach (docs/mach.md), and ${host-port} and
 *				${device-port} among the arguments are names of ports. Programs that run together have one personality
 *	check pti		the kernel checks that programs' page tables map nothing of it but the trampoline. Detail of
 *				LAB_END_CHECKED: 1 if that holds; how many pages of the kernel's half are mapped; how many of
 *				them should not be; 1 if a read of the kernel in ring 0, with these tables, faulted
 *	check trace		shows in the log the events that the switch `trace` has written since the last such line, as far as
 *	check audit		its buffer still has them; or the records of `audit`. Detail: 1 if there were any; how many
 *	harmless		from here on, what a switch requires of the processor counts as met where the table says that its
 *				step can be executed without that, and has no effect then. Only for a machine that ignores
 *				registers it does not know, as QEMU's TCG does: any other raises #GP at the first entry
 *	check smep		the kernel tries to execute a program's memory. Detail of LAB_END_CHECKED: 1 if that is a page fault
 *	check ring1		in protected mode, a driver in ring 1 tries what it may do (lab/i386/entry/driver.c has the list). Detail of
 *				LAB_END_CHECKED: 1 if there is a ring 1; a bit for each try that goes through; that is #GP; that is #PF
 *	listing PATH		the steps of a path as it is built, a LAB_STEP each; LAB_END_CHECKED, or LAB_END_NOT_LOADED with
 *				ENOENT when there is no such path
 *
 * FILE and ARGUMENT are percent-encoded: '%' and two hexadecimal digits for every byte outside '!' to '~', and for '%'.
 *
 * Out, on the first serial port: a stream of records (record.h) with these kinds; entry and operation are 0 in the header.
 * Payloads are arrays of u64 unless said otherwise.
 */
#pragma once

#define LAB_VERSION 4

#define RECORD_LAB_BOOT	      64 /* LAB_BOOT_WORDS of u64, see below; the first */
/* Number of the plan's run, exec, check or listing line, from 0 over those alone. */
#define RECORD_LAB_BEGIN      65
#define RECORD_LAB_OUTPUT     66 /* file descriptor; then bytes: what the program wrote there */
#define RECORD_LAB_END	      67 /* number as in LAB_BEGIN, LAB_END_*, detail[4] */
#define RECORD_LAB_LOG	      68 /* bytes: a line of text for people, without its end */
#define RECORD_LAB_DONE	      69 /* nothing: the plan is done; the last */
/*
 * Anywhere between LAB_BOOT and LAB_DONE: an interrupt that nobody asked for. Its vector (2: NMI), and how often it came
 * since the last record of that vector, or since the boot.
 */
#define RECORD_LAB_STRAY      70
/* LAB_COUNTERS_WORDS of u64, see below; before LAB_END, where the processor has any. */
#define RECORD_LAB_COUNTERS   71
/*
 * What programs run with from here on: the value of every switch of entries.toml, by its id; 0 where no switch has the id. The first,
 * right after LAB_BOOT, has the defaults as this CPU can do them; then there is one for each set line. Where the CPU lacks what a value needs, it is
 * here as it was asked for, and lines that would run with it end with LAB_END_UNSUPPORTED.
 */
#define RECORD_LAB_CONFIGURED 72
/* Place among the path's steps, address, bytes of code; the code; the rest is the step's name. */
#define RECORD_LAB_STEP	      80

#define STEP_NAME     128 /* no name of a step is longer, in bytes */
#define MOST_SWITCHES 256 /* no id of a switch is greater */

/* RECORD_LAB_BOOT */
#define LAB_BOOT_KERNEL_VERSION	 0  /* LAB_VERSION */
#define LAB_BOOT_RING0_TICKS	 1  /* for a loop of RING_TURNS turns in ring 0 */
#define LAB_BOOT_RING3_TICKS	 2  /* for the same loop in ring 3 */
#define LAB_BOOT_SYSCALL_WORKS	 3  /* 1: a syscall from ring 3 reached the kernel and returned */
#define LAB_BOOT_TSC_HZ		 4  /* 0: unknown */
#define LAB_BOOT_FEATURES	 5  /* bit per FEATURE_*: what this CPU has and the kernel uses */
#define LAB_BOOT_GATEWAY	 6  /* GATEWAY_*: what __kernel_vsyscall uses */
#define LAB_BOOT_LOADER		 7  /* LOADER_* */
#define LAB_BOOT_MEMORY		 8  /* bytes that programs may have */
#define LAB_BOOT_VENDOR		 9  /* VENDOR_*: the processor's, by CPUID */
#define LAB_BOOT_TSC_SOURCE	 10 /* TSC_FROM_*: who says TSC_HZ */
#define LAB_BOOT_TSC_OTHER_HZ	 11 /* what another says who contradicts; 0: nobody does */
#define LAB_BOOT_TSC_OTHER	 12 /* TSC_FROM_*: who */
#define LAB_BOOT_TSC_INVARIANT	 13 /* 1: CPUID promises that TSC_HZ is constant */
/* How long what a hypervisor may do itself takes: ticks for RING_TIMES of them; 0: it does not work. */
#define LAB_BOOT_CR3_TICKS	 14 /* mov to cr3, of its own value, in ring 0 */
#define LAB_BOOT_CPUID_TICKS	 15 /* cpuid in ring 0 */
#define LAB_BOOT_INTERRUPT_TICKS 16 /* int from ring 3, a call number that there is not, and iretq */
#define LAB_BOOT_INVALID_TICKS	 17 /* the same by ud2 */
#define LAB_BOOT_SIGNS		 18 /* bit per SIGN_* */
/* CPUID 0x40000000: ebx, and ecx above it; 0: there is no hypervisor, or it hides. */
#define LAB_BOOT_SIGNATURE	 19
#define LAB_BOOT_SIGNATURE_END	 20 /* edx */
#define LAB_BOOT_MICROCODE	 21 /* revision; 0: unknown */
/*
 * The same of instructions that steps of switches are made of, in ring 0; 0: the processor lacks it, refuses it, or ring 0 is emulated.
 */
#define LAB_BOOT_CR4_TICKS	 22 /* mov to cr4 that changes PGE: flush-by=pge */
#define LAB_BOOT_SPEC_CTRL_TICKS 23 /* wrmsr to SPEC_CTRL that changes IBRS: ibrs=on */
#define LAB_BOOT_PRED_CMD_TICKS	 24 /* an IBPB: ibpb, entry-ibpb */
#define LAB_BOOT_FLUSH_CMD_TICKS 25 /* l1d-flush */
#define LAB_BOOT_INVPCID_TICKS	 26 /* of one page: flush-by=invpcid */
#define LAB_BOOT_INVLPG_TICKS	 27 /* flush-by=invlpg */
#define LAB_BOOT_PROCESSORS	 28 /* that ACPI lists, of which one is used; 0: unknown */
#define LAB_BOOT_WORDS		 29

/* The loop of LAB_BOOT_RING0_TICKS: each turn is a chain of two imuls, of three core cycles each. */
#define RING_TURNS	 20000
#define RING_TURN_CYCLES 6
#define RING_TIMES	 64

/*
 * Whether ring 0 runs on the processor itself is judged by these, by the kernel (lab/plan/verdict.c) and by the command alike
 * (crates/environment/src/ring0.rs). Core cycles, but for the first.
 */
/*
 * How much the time of the loop may differ between ring 0 and ring 3 where both run natively, as a factor. It was 1.00 where both
 * do, and about 800 where ring 0 is emulated instruction by instruction.
 */
#define RING_SAME_LOOP		   2
/*
 * From here on something cannot have been done without the hypervisor: leaving a guest and coming back takes 1000 and more on
 * every processor with VMX or SVM, and a write of CR3 by the processor 100 to 500, the reload of the code's translation
 * included. This lies between, at the same factor from either.
 */
#define RING_EXIT		   700
/*
 * What a crossing takes at least besides the exit, if the hypervisor passes it on: the processor's part of an interrupt and
 * iretq, of which 300 is little.
 */
#define RING_CROSSING		   300
/*
 * The same limit where nothing tells what an exit costs, because cpuid does not leave the guest. The dearest native interrupt
 * and iretq known take about 1000 (Sapphire Rapids), and two more world switches at least 1000.
 */
#define RING_CROSSING_UNKNOWN_EXIT 2000

/*
 * A write of CR4 that changes PGE, and one of SPEC_CTRL, may take nearly as long natively as an exit does: two of CR4 took 539 ns on a
 * Skylake laptop, the reloads included (Linux d8bced79af1d), which is 900 core cycles each at its highest clock. But nothing that leaves the guest
 * takes much less than a cpuid that does: only the hypervisor's work differs. So the limit is so many quarters of that; and where cpuid does not leave
 * the guest, RING_CROSSING_UNKNOWN_EXIT.
 */
#define RING_EXIT_QUARTERS 3
/*
 * PRED_CMD and FLUSH_CMD command work of thousands of core cycles, which alone takes longer than many an exit: time tells only where exits are
 * dearer than that, as in a hypervisor within another. From here on, where cpuid leaves the guest and takes no longer.
 */
#define RING_COMMAND	   20000

/* LAB_BOOT_SIGNS */
#define SIGN_HYPERVISOR	  0 /* CPUID says that there is one */
#define SIGN_DEPRIVILEGED 1 /* cs tells another ring than 0, or cli leaves IF set */
#define SIGN_NESTING	  2 /* CPUID offers VMX or SVM */

/* Who says how fast the TSC runs; lab/time/estimate.c has the order in which they are believed. */
#define TSC_FROM_NOTHING    0
#define TSC_FROM_PLAN	    1
#define TSC_FROM_HYPERVISOR 2 /* CPUID 0x40000010, or Hyper-V's register */
#define TSC_FROM_CRYSTAL    3 /* CPUID 0x15, the crystal included */
#define TSC_FROM_PM_TIMER   4 /* of ACPI */
#define TSC_FROM_PIT	    5
#define TSC_FROM_BASE	    6 /* CPUID 0x16 */
#define TSC_FROM_MODEL	    7 /* CPUID 0x15, and the crystal that the processor's model has */

#define FEATURE_SMEP	      0
#define FEATURE_SMAP	      1
#define FEATURE_UMIP	      2
#define FEATURE_PCID	      3
#define FEATURE_XSAVE	      4
#define FEATURE_NX	      5 /* pages that are not executable */
#define FEATURE_LFENCE	      6 /* lfence holds back the rdtsc behind it */
#define FEATURE_PGE	      7 /* global pages */
#define FEATURE_INVPCID	      8
#define FEATURE_IBRS	      9
#define FEATURE_EIBRS	      10 /* IBRS that may stay on: Intel's enhanced, AMD's automatic or always-on mode */
#define FEATURE_STIBP	      11
#define FEATURE_SSBD	      12
#define FEATURE_IBPB	      13
#define FEATURE_MDCLEAR	      14 /* VERW clears buffers */
#define FEATURE_L1DFLUSH      15 /* IA32_FLUSH_CMD */
#define FEATURE_BHICTRL	      16 /* BHI_DIS_S */
#define FEATURE_SHSTK	      17
#define FEATURE_IBT	      18
#define FEATURE_SYSENTER      19 /* in long mode: Intel's */
#define FEATURE_SYSCALL32     20 /* syscall of 32-bit code: AMD's */
/* What AMD's processors say of IBRS (APM vol. 3, CPUID Fn8000_0008_EBX, bits 16, 18 and 19); no switch depends on them. */
#define FEATURE_IBRSALWAYS    21 /* it is best set once, and left on */
#define FEATURE_IBRSPREFERRED 22 /* it is better than what software can do */
#define FEATURE_IBRSSAMEMODE  23 /* it also protects a mode from what ran in it before IBRS was set */
#define FEATURE_LEGACYSYSCALL 24 /* AMD's syscall in protected mode */
#define FEATURE_LIMITS	      25 /* a segment's limit is checked, which not all emulators do; in protected mode */
#define FEATURE_PROTECTED     30 /* of the kernel: it runs in protected mode of 32 bits */
#define FEATURE_LONG	      31 /* of the kernel: it runs in long mode */

#define GATEWAY_INT80	 0
#define GATEWAY_SYSENTER 1
#define GATEWAY_SYSCALL	 2

#define VENDOR_UNKNOWN 0
#define VENDOR_INTEL   1
#define VENDOR_AMD     2
#define VENDOR_OTHER   3

#define LOADER_PVH	  1
#define LOADER_MULTIBOOT2 2

/* RECORD_LAB_END: how it ended, and what detail[] holds. */
#define LAB_END_EXITED	    0 /* exit status; with observe=on LAB_IF_*: IF in the kernel behind a gate */
#define LAB_END_FAULT	    1 /* as CAUSE_SIGNAL: signal, si_code, trap << 32 | error code, address */
#define LAB_END_RUNAWAY	    2 /* ticks that it ran before it was ended */
#define LAB_END_UNSUPPORTED 3 /* SWITCH_*: this CPU lacks what the switch needs */
#define LAB_END_NOT_LOADED  4 /* errno as execve would answer: ENOENT, ENOEXEC, E2BIG, ENOMEM */
#define LAB_END_PLAN	    5 /* line of the plan, counted from 1, that is not understood */
#define LAB_END_CHECKED	    6 /* 1 if what was checked holds, figures as the check defines them [3] */

/*
 * RECORD_LAB_COUNTERS: what the processor counted, all rings together, from right before a program's first instruction to
 * its first output or, if it writes none, its end. A probe writes when all of its samples are taken.
 */
#define LAB_COUNTERS_NUMBER  0 /* as in LAB_BEGIN */
#define LAB_COUNTERS_PRESENT 1 /* bit per COUNTER_* that the processor has; the others are 0 */
#define LAB_COUNTERS_FIRST   2 /* the values, by COUNTER_* */
#define LAB_COUNTERS_WORDS   10

#define COUNTER_TSC	     0 /* ticks */
#define COUNTER_SMI	     1 /* system management interrupts */
#define COUNTER_APERF	     2 /* core cycles, and ... */
#define COUNTER_MPERF	     3 /* ... cycles of a constant clock, neither while halted */
#define COUNTER_INSTRUCTIONS 4 /* retired */
#define COUNTER_CYCLES	     5 /* core cycles, not halted */
#define COUNTER_REFERENCE    6 /* ticks, not halted */
#define COUNTER_SPEC_CTRL    7 /* no count: the value of IA32_SPEC_CTRL before the program */
#define COUNTER_COUNT	     8

#define LAB_IF_UNKNOWN 0
#define LAB_IF_CLEAR   1
#define LAB_IF_SET     2

/* A type in the auxiliary vector that says: this is the lab. Its value is LAB_VERSION. */
#define AT_LAB 0x6c6162

/* The selectors by which programs name the call gates in the GDT, one for each set of call numbers. */
#define SELECTOR_GATE_X86_64 0x53
#define SELECTOR_GATE_I386   0x63
/* And those into rings 1 and 2, behind which the call goes on to the kernel; call numbers of the kernel's mode: x86-64's, or i386's. */
#define SELECTOR_GATE_RING1  0xb3
#define SELECTOR_GATE_RING2  0xc3

/* Of the kernel for protected mode: a data segment that is not present, and one whose limit is 0. */
#define SELECTOR_ABSENT		  0xe3
#define SELECTOR_LIMIT		  0xeb
/* Its call gates that copy parameters, by their bits and how many. */
#define SELECTOR_GATE_32_1	  0xf3
#define SELECTOR_GATE_32_8	  0xfb
#define SELECTOR_GATE_16_0	  0x103
#define SELECTOR_GATE_16_1	  0x10b
#define SELECTOR_GATE_16_8	  0x113
/* A call gate that a jump may use, to CONFORMING_JUMP; and the conforming code segment, with the offsets of what is in it (lab/i386/entry/conforming.S). */
#define SELECTOR_GATE_JUMP	  0x11b
#define SELECTOR_GATE_JUMP_16	  0x1eb /* the same, of 16 bits */
#define SELECTOR_CONFORMING	  0x123
#define CONFORMING_CALL		  0x00 /* answers cs in eax, and returns */
#define CONFORMING_JUMP		  0x10 /* the same; back by the far pointer to which ebp points */
#define CONFORMING_BACK		  0x20 /* back at once */
#define CONFORMING_GATE_16_0	  0x30 /* calls that gate, and back */
#define CONFORMING_GATE_16_1	  0x40
#define CONFORMING_GATE_16_8	  0x50
/*
 * Of the kernel for protected mode: task gates in the GDT, the vectors of two in the IDT, and the vector of a path that runs off its
 * stack.
 */
#define SELECTOR_GATE_TASK	  0x13b
#define SELECTOR_GATE_TASK_JMP	  0x14b
#define SELECTOR_GATE_TASK_NESTED 0x15b
#define VECTOR_TASK		  0x41
#define VECTOR_TASK_16		  0x42
#define VECTOR_STACK_OVERFLOW	  0x43

/* The vector of the interrupt that probes may raise by int; nothing else has it. */
#define VECTOR_SOFTWARE 0x40

/*
 * In protected mode alone (lab/i386/entry/v86_thread.h): the vector into virtual-8086 mode and out of it; and the one that the processor redirects there, with
 * CR4.VME, to the 8086's own table: DOS had its calls behind it.
 */
#define VECTOR_V86	      0x44
#define VECTOR_V86_REDIRECTED 0x21

/*
 * Segments of 16 bits for programs, code and data, 64 KiB each; both begin at SIXTEEN_BASE of probe/layout.h. As in Linux, no others are in the LDT:
 * a stack segment that is there is one of 16 bits.
 */
#define SELECTOR_CODE_16 0x17
#define SELECTOR_DATA_16 0x1f

/* What the programs see. */
#define LAB_PID	   2
#define LAB_PARENT 1
#define LAB_CPU	   0

/* The port and value that end QEMU (isa-debug-exit: status 2 * value + 1). */
#define LAB_EXIT_PORT  0xf4
#define LAB_EXIT_VALUE 0x10

/* The port that ends Bochs, which the letters of "Shutdown" are written to, one after the other. */
#define BOCHS_EXIT_PORT	   0x8900
#define BOCHS_EXIT_LETTERS 8

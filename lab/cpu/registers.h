/* Registers and selectors by name; for C and assembly. Numbers: SDM vol. 3, 2.5, 3.4; vol. 4. */
#pragma once

#define RFLAGS_TF   0x100
#define RFLAGS_IF   0x200
#define RFLAGS_DF   0x400
#define RFLAGS_IOPL 0x3000
#define RFLAGS_NT   0x4000
#define RFLAGS_VM   0x20000 /* virtual-8086 mode; never in long mode */
#define RFLAGS_AC   0x40000
#define RFLAGS_VIF  0x80000  /* IF as virtual-8086 mode has it, with CR4.VME */
#define RFLAGS_ID   0x200000 /* can be changed where there is CPUID */

#define RFLAGS_PROGRAM 0x202 /* at a program's start: interrupts on */

#define CR0_MP 0x2
#define CR0_EM 0x4
#define CR0_TS 0x8
#define CR0_NE 0x20
#define CR0_WP 0x10000
#define CR0_AM 0x40000
#define CR0_NW 0x20000000
#define CR0_CD 0x40000000
#define CR0_PG 0x80000000

#define DR6_RESET 0xffff0ff0
#define DR6_STEP  0x4000 /* BS: TF was set */
#define DR7_RESET 0x400	 /* no breakpoint is on */

#define CR4_VME	       0x1
#define CR4_PSE	       0x10
#define CR4_PAE	       0x20
#define CR4_MCE	       0x40
#define CR4_PGE	       0x80
#define CR4_OSFXSR     0x200
#define CR4_OSXMMEXCPT 0x400
#define CR4_UMIP       0x800
#define CR4_LA57       0x1000
#define CR4_FSGSBASE   0x10000
#define CR4_PCIDE      0x20000
#define CR4_OSXSAVE    0x40000
#define CR4_SMEP       0x100000
#define CR4_SMAP       0x200000
#define CR4_CET	       0x800000

#define SMEP_CODE 0x10000 /* of a program: what smep.c calls */

#define MSR_APIC_BASE	 0x1b
#define MSR_SPEC_CTRL	 0x48
#define MSR_PRED_CMD	 0x49
#define MSR_CAPABILITIES 0x10a
#define MSR_FLUSH_CMD	 0x10b
#define MSR_MCG_CAP	 0x179
#define MSR_MCG_STATUS	 0x17a
#define MSR_MISC_ENABLE	 0x1a0
#define MSR_MC0_STATUS	 0x401 /* and 4 more for each bank */
#define MSR_MC0_ADDR	 0x402
#define MSR_MC0_MISC	 0x403
#define MSR_U_CET	 0x6a0
#define MSR_S_CET	 0x6a2
#define MSR_PL3_SSP	 0x6a7
#define MSR_SYSENTER_CS	 0x174
#define MSR_SYSENTER_ESP 0x175
#define MSR_SYSENTER_EIP 0x176
#define MSR_EFER	 0xc0000080
#define MSR_STAR	 0xc0000081
#define MSR_LSTAR	 0xc0000082
#define MSR_CSTAR	 0xc0000083
#define MSR_FMASK	 0xc0000084
#define MSR_FS_BASE	 0xc0000100
#define MSR_GS_BASE	 0xc0000101
#define MSR_KERNEL_GS	 0xc0000102 /* what swapgs exchanges it with */
#define MSR_TSC_AUX	 0xc0000103
#define MSR_DE_CFG	 0xc0011029 /* AMD: decoder configuration */

#define DE_CFG_LFENCE_SERIALIZES 0x2

/* Of U_CET and S_CET: SDM vol. 1, 17.2. */
#define CET_SHADOW_STACK 0x1
#define CET_ENDBRANCH	 0x4

/* SDM vol. 4, table 2-2, and "Branch History Injection"; APM vol. 2, 3.2.9. AMD's processors have no BHI_DIS_S. */
#define SPEC_CTRL_IBRS	    0x1
#define SPEC_CTRL_STIBP	    0x2
#define SPEC_CTRL_SSBD	    0x4
#define SPEC_CTRL_BHI_DIS_S 0x400
#define PRED_CMD_IBPB	    0x1
#define FLUSH_CMD_L1D	    0x1

/*
 * EFER is written whole, so that nothing of firmware's remains: with AMD's FFXSR fxsave and fxrstor leave out the XMM registers, with
 * LMSLE 64-bit segments have limits. Bits that are 0 here are reserved, or switch on what this kernel does not use (SVME, TCE, MCOMMIT,
 * INTWB, UAIE). AIBRSE (automatic IBRS) follows the switch `ibrs`. LMA follows from LME and CR0.PG, and is written as it is, so that no processor sees an attempt to change it
 * (SDM vol. 4, IA32_EFER; APM vol. 2, 3.1.7).
 */
#define EFER_SCE    0x1
#define EFER_LME    0x100
#define EFER_LMA    0x400
#define EFER_NXE    0x800
#define EFER_AIBRSE 0x200000

/*
 * One descriptor table serves both fast calls. sysret takes its selectors from STAR 63:48 (0x23): code 32 at 0x23, data
 * at 0x2b, code 64 at 0x33. Intel's processors set RPL 3 themselves; AMD's set it in CS and take SS as it is (APM vol. 3,
 * SYSRET), so that with 0x20 an iretq from that program would raise #GP. sysexit takes them from SYSENTER_CS (0x10): code 32 at 0x20, data at 0x28, code 64 at 0x30,
 * its data at 0x38.
 */
#define SELECTOR_LOCAL	      4	   /* its descriptor is in the LDT */
#define SELECTOR_RING	      3	   /* of CS: the ring that runs, 0 for the kernel alone */
#define SELECTOR_BOOT_CODE    0x08 /* 32 bits, flat; in the tables of boot and passage alone */
#define SELECTOR_KERNEL_CODE  0x10
#define SELECTOR_KERNEL_DATA  0x18
#define SELECTOR_USER_CODE_32 0x23
#define SELECTOR_USER_DATA    0x2b
#define SELECTOR_USER_CODE_64 0x33
#define SELECTOR_USER_DATA_64 0x3b /* sysexit to 64-bit code */
#define SELECTOR_TSS	      0x40
/* 0x50 and 0x60: SELECTOR_GATE_* of abi/lab.h */
#define SELECTOR_LDT	      0x70
#define SELECTOR_TLS	      0x83 /* and the two that follow */
#define SELECTOR_CPU	      0x9b /* its limit is the CPU's number, which lsl reads in ring 3 */
#ifdef __x86_64__
#define SELECTOR_USER_CODE SELECTOR_USER_CODE_64 /* of code as wide as the kernel's */
#else
#define SELECTOR_USER_CODE    SELECTOR_USER_CODE_32
#define SELECTOR_DOUBLE_FAULT 0x48
#define SELECTOR_ESPFIX	      0x190 /* the kernel's stack by another name (entry/steps/espfix.S) */
#define SELECTOR_EVENT	      0x1c0 /* and the two that follow: tasks of #DB, NMI and #MC (cpu/events.h) */
#define SELECTOR_TRIAL	      0x1d8 /* a byte, while limits are tried (cpu/limits.c) */
/* TSSs of tasks that serve calls (cpu/tasks.c), among gates to them: SELECTOR_GATE_TASK* of abi/lab.h. */
#define SELECTOR_TASK	      0x130
#define SELECTOR_TASK_JMP     0x140
#define SELECTOR_TASK_NESTED  0x150
#define SELECTOR_TASK_16      0x160
#define SELECTOR_TASK_CODE    0x168 /* of that task: its code and its stack, where they lie */
#define SELECTOR_TASK_STACK   0x170
#endif
/*
 * Of rings 1 and 2. Their data, and gates of 8 bytes instead of 16, are protected mode's. 0xb0 and 0xc0: SELECTOR_GATE_RING* of abi/lab.h.
 */
#define SELECTOR_RING1_CODE   0xa1
#define SELECTOR_RING2_CODE   0xaa
#define SELECTOR_RING1_DATA   0xb9
#define SELECTOR_RING2_DATA   0xca
#define SELECTOR_GATE_RING0   0xd1 /* from ring 1 to the kernel */
/* Protected mode's: 0xe0 to 0x120 are in abi/lab.h; and the kernel's code for call gates of 16 bits. */
#define SELECTOR_GATE_16_CODE 0x128
#define GDT_ENTRIES	      64
/* Of the LDT: the gate of System V, which long mode has twice as long; SELECTOR_CODE_16, SELECTOR_DATA_16. */
#define LDT_ENTRIES	      4
#define TLS_ENTRIES	      3

#define STAR_VALUE                                                                                           \
	((unsigned long long)SELECTOR_USER_CODE_32 << 48 | (unsigned long long)SELECTOR_KERNEL_CODE << 32)

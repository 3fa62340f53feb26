/* What is of use in long mode of what a processor has. */
#pragma once

#include "cpu/registers.h"
#include "lab.h"

#define MODE_KERNEL "lab" /* its name in entries.toml, plans and documents */

#define MODE_FILE_TAKES "UEFI" /* what a file with the results takes */

/* What the registers hold as long as the kernel runs. */
#define MODE_EFER (EFER_SCE | EFER_LME | EFER_LMA)
#define MODE_CR4  CR4_PAE

#define MODE_FEATURE FEATURE_LONG

#define MODE_HAS_64_BITS 1 /* programs of 64 bits */

#define MODE_CALL_GATE path_call_gate_x86_64 /* where a call from ring 1 goes on */

#define MODE_HAS_PCID		1
#define MODE_HAS_LEGACY_SYSCALL 0
#define MODE_HAS_LIMITS		0 /* of FS, GS and the others alike (SDM vol. 3, 5.3.1) */
#define MODE_HAS_FSGSBASE	1 /* wrfsbase and its like are instructions of 64-bit code */

/* AMD's processors have no sysenter in long mode, and Intel's no syscall of 32-bit code; CPUID reports what exists outside of it. */
static inline int mode_has_sysenter(unsigned vendor)
{
	return vendor == VENDOR_INTEL;
}

/* What is of use in protected mode of what a processor has. */
#pragma once

#include "cpu/registers.h"
#include "lab.h"

#define MODE_KERNEL "lab-i386" /* its name in entries.toml, plans and documents */

#define MODE_FILE_TAKES                                                                                      \
	"UEFI and the lab's 64-bit kernel" /* this one does not come back to UEFI (boot/efi.c) */

/* What the registers hold as long as the kernel runs. CR4.PAE is a switch's (mm/tables.c); large pages are the kernel's. */
#define MODE_EFER 0
#define MODE_CR4  CR4_PSE

#define MODE_FEATURE FEATURE_PROTECTED

#define MODE_HAS_64_BITS 0 /* programs of 64 bits */

#define MODE_CALL_GATE path_call_gate_i386 /* where a call from ring 1 goes on */

#define MODE_HAS_PCID		0 /* of long mode alone (SDM vol. 3, 4.10.1) */
#define MODE_HAS_LEGACY_SYSCALL 1 /* it changes no stack (APM vol. 3, SYSCALL; entry/syscall-i386.S) */
#define MODE_HAS_FSGSBASE	0
#define MODE_HAS_LIMITS		limits_are_checked() /* cpu/limits.c */

int limits_are_checked(void);

/* Both vendors' processors have it outside of long mode. */
static inline int mode_has_sysenter(unsigned vendor)
{
	return vendor != VENDOR_OTHER;
}

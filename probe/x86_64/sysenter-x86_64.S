/*
 * sysenter in 64-bit mode: cs, rip, rsp from the SYSENTER MSRs, IF = 0, nothing saved (SDM vol. 2, SYSENTER); AMD raises
 * #UD. sysexitq goes back to rdx with the stack pointer rcx. rdx is an argument here, so the lab's kernel takes the
 * address to return to from r11.
 * In: eax number; rdi, rsi, rdx; rcx stack pointer, r11 return address. Out: rax. Changes rcx, rdx, r11.
 * CONTROL puts the same in rcx and r11.
 */
#include "timed.inc"

.macro LOAD
	LOAD_SYSCALL
.endm
.macro ENTER
	mov	%rsp, %rcx
	lea	9f(%rip), %r11
	sysenter
9:
.endm
.macro CONTROL
	mov	%rsp, %rcx
	lea	9f(%rip), %r11
9:
.endm
.macro UNLOAD
.endm

ENTRY sysenter_x86_64
TRAPS sysenter_x86_64

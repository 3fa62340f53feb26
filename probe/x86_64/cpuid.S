/*
 * cpuid: serializing, and a virtual machine must leave the guest for it (SDM vol. 3, 26.1.2).
 * In: eax leaf 0, ecx 0. Out: eax, ebx, ecx, edx. Changes rax, rbx, rcx, rdx.
 */
#include "timed.inc"

.macro LOAD
	xor	%eax, %eax
	xor	%ecx, %ecx
.endm
.macro ENTER
	cpuid
.endm
.macro CONTROL
.endm
.macro UNLOAD
.endm

ENTRY cpuid

/* Stubs of GNU Mach's traps without an instruction that enters the kernel: all go to where the page of the device `entry` is. */
#include "mach.inc"

	.data
	.balign	8
	.globl	way, ways
way:	.quad	0			# 32-bit code takes the first half
ways:

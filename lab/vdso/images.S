/*
 * The images that the kernel maps into programs, found in the assembler's include path. Each has whole pages to itself,
 * so that a program sees nothing of the kernel after its end.
 */
	.section .rodata

.macro IMAGE name, file
	.balign	4096
	.globl	\name, \name\()_end
\name:
	.incbin	"\file"
\name\()_end:
	.balign	4096
.endm

	IMAGE	vdso64_image, vdso64.so
	IMAGE	vdso32_image, vdso32.so
	IMAGE	entry64_syscall_image, entry64-syscall.so
	IMAGE	entry64_sysenter_image, entry64-sysenter.so
	IMAGE	entry64_int80_image, entry64-int80.so
	IMAGE	entry32_gate_image, entry32-gate.so
	IMAGE	entry32_int80_image, entry32-int80.so
	IMAGE	entry32_sysenter_image, entry32-sysenter.so
	IMAGE	entry32_syscall_image, entry32-syscall.so
	IMAGE	vsyscall_native_image, vsyscall-native.bin
	IMAGE	vsyscall_original_image, vsyscall-original.bin

	.section .note.GNU-stack, "", @progbits

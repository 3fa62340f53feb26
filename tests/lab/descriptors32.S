/*
 * In place of the kernel's check of isolation (protected/random.rs): a sum of all descriptors, and one of TR and of what its TSS has for the kernel, which
 * is all but registers. Linked where it runs.
 *
 * void descriptors_sum(uint64_t *descriptors, uint64_t *task)
 */
#define TSS_KERNELS	28	/* bytes: link, and the stacks of rings 0 to 2 */
#define TSS_LDT		96

.macro MIX value:vararg
	rol	$5, %eax
	xor	\value, %eax
.endm

	.text
	.globl	_start
_start:	push	%ebx
	push	%esi
	push	%edi
	push	%ebp
	sub	$8, %esp
	xor	%ebx, %ebx
	sgdt	(%esp)
	call	table
	sidt	(%esp)
	call	table
	mov	28(%esp), %edi
	mov	%ebx, (%edi)
	movl	$0, 4(%edi)
	str	%eax
	movzwl	%ax, %esi
	sgdt	(%esp)
	add	2(%esp), %esi
	movzwl	2(%esi), %edx		# the base, in three parts
	movzbl	4(%esi), %ecx
	shl	$16, %ecx
	or	%ecx, %edx
	movzbl	7(%esi), %ecx
	shl	$24, %ecx
	or	%ecx, %edx
	movzwl	(%esi), %ebp		# the limit
	MIX	%ebp			# and TR is in eax
	mov	$TSS_KERNELS, %ecx
	mov	%edx, %esi
	call	words
	lea	TSS_LDT(%edx), %esi
	lea	1 - TSS_LDT(%ebp), %ecx
	call	words
	mov	32(%esp), %edi
	mov	%eax, (%edi)
	movl	$0, 4(%edi)
	add	$8, %esp
	pop	%ebp
	pop	%edi
	pop	%esi
	pop	%ebx
	ret

/* The table whose pointer is above the return address, added to ebx. */
table:	mov	6(%esp), %esi
	movzwl	4(%esp), %ecx
	inc	%ecx
	mov	%ebx, %eax
	xor	%edx, %edx
1:	MIX	(%esi, %edx)
	add	$4, %edx
	cmp	%ecx, %edx
	jb	1b
	mov	%eax, %ebx
	ret

/* So many bytes at esi. */
words:	cmp	$4, %ecx
	jb	1f
	MIX	(%esi)
	add	$4, %esi
	sub	$4, %ecx
	jmp	words
1:	ret

	.section .note.GNU-stack, "", @progbits

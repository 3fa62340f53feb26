// gcc -nostdlib -static -no-pie -o hello hello.S
// vdso-x86_64: time() in the shared object that the kernel maps into every process. It is found as
// a dynamic linker would: AT_SYSINFO_EHDR, program headers, dynamic section, symbols, versions.
#define SYS_write	1
#define SYS_exit	60
#define SKIPPED		77
#define AT_SYSINFO_EHDR	33
#define E_PHOFF		32		// Elf64_Ehdr
#define E_PHNUM		56
#define P_OFFSET	8		// Elf64_Phdr
#define P_VADDR		16
#define PHDR_SIZE	56
#define PT_LOAD		1
#define PT_DYNAMIC	2
#define DT_HASH		4
#define DT_STRTAB	5
#define DT_SYMTAB	6
#define DT_VERSYM	0x6ffffff0
#define DT_VERDEF	0x6ffffffc
#define DT_GNU_HASH	0x6ffffef5
#define ST_INFO		4		// Elf64_Sym
#define ST_SHNDX	6
#define ST_VALUE	8
#define SYM_SIZE	24
#define STT_FUNC	2
#define VD_NDX		4		// Elf64_Verdef
#define VD_AUX		12
#define VD_NEXT		16

	.globl	_start
	.text
_start:	lea	8(%rsp), %rsi		// rsp -> argc, argv..., 0, envp..., 0, auxv
	mov	$2, %ecx		// two lists end in 0 before the auxiliary vector begins
1:	lodsq
	test	%rax, %rax
	jnz	1b
	loop	1b
2:	lodsq				// type, value; type 0 is the end
	mov	%rax, %rdx
	lodsq
	cmp	$AT_SYSINFO_EHDR, %rdx
	je	3f
	test	%rdx, %rdx
	jnz	2b
	jmp	shut

3:	xor	%r9d, %r9d		// no hash table seen yet, of either kind
	xor	%r10d, %r10d
	mov	%rax, %rbp		// rbp: the ELF header; rbx will be what to add to its addresses
	mov	E_PHOFF(%rbp), %rsi
	add	%rbp, %rsi
	movzwl	E_PHNUM(%rbp), %ecx
4:	cmpl	$PT_LOAD, (%rsi)
	jne	5f
	mov	%rbp, %rbx
	add	P_OFFSET(%rsi), %rbx
	sub	P_VADDR(%rsi), %rbx
5:	cmpl	$PT_DYNAMIC, (%rsi)
	jne	6f
	mov	P_OFFSET(%rsi), %rdi
	add	%rbp, %rdi		// rdi: the dynamic section
6:	add	$PHDR_SIZE, %rsi
	loop	4b

7:	mov	(%rdi), %rax		// tag, value; tag 0 is the end. Keep the tables that matter.
	mov	8(%rdi), %rdx
	add	%rbx, %rdx
	add	$16, %rdi
	cmp	$DT_STRTAB, %rax
	cmove	%rdx, %r12
	cmp	$DT_SYMTAB, %rax
	cmove	%rdx, %r13
	cmp	$DT_VERSYM, %rax
	cmove	%rdx, %r14
	cmp	$DT_VERDEF, %rax
	cmove	%rdx, %r15
	cmp	$DT_HASH, %rax
	cmove	%rdx, %r9
	cmp	$DT_GNU_HASH, %rax
	cmove	%rdx, %r10
	test	%rax, %rax
	jnz	7b

	call	count			// r8d: number of symbols
	mov	$-1, %r11d		// r11d: index of the symbol
8:	inc	%r11d
	cmp	%r8d, %r11d
	jae	shut
	imul	$SYM_SIZE, %r11, %rdx
	add	%r13, %rdx		// rdx: the symbol
	mov	ST_INFO(%rdx), %al
	and	$0xf, %al
	cmp	$STT_FUNC, %al
	jne	8b
	cmpw	$0, ST_SHNDX(%rdx)	// undefined: a wish, not a function
	je	8b
	mov	(%rdx), %edi
	add	%r12, %rdi
	mov	$wanted, %esi
	mov	$wanted_end - wanted, %ecx
	repe	cmpsb
	jne	8b
	movzwl	(%r14, %r11, 2), %ecx	// the symbol's version is an index...
	and	$0x7fff, %ecx		// (bit 15 only hides it)
	mov	%r15, %rax
9:	cmp	%cx, VD_NDX(%rax)	// ...into a list of definitions
	je	10f
	mov	VD_NEXT(%rax), %esi
	add	%rsi, %rax
	test	%esi, %esi
	jnz	9b
	jmp	8b
10:	mov	VD_AUX(%rax), %esi	// whose first auxiliary entry points to the name
	mov	(%rax, %rsi), %edi
	add	%r12, %rdi
	mov	$version, %esi
	mov	$version_end - version, %ecx
	repe	cmpsb
	jne	8b

	mov	ST_VALUE(%rdx), %rax	// found
	add	%rbx, %rax
	xor	%edi, %edi		// time(NULL): the seconds come back in rax
	call	*%rax			// rsp is still a multiple of 16, as at the start
	mov	$digits, %edi		// make them decimal, from the last digit to the first
	mov	$10, %ecx
1:	xor	%edx, %edx
	div	%rcx
	add	$'0', %dl
	dec	%rdi
	mov	%dl, (%rdi)
	test	%rax, %rax
	jnz	1b
	mov	%rdi, %rbx
	mov	$text, %esi
	mov	$text_end - text, %edx
	call	write
	mov	%rbx, %rsi
	mov	$digits + 1, %edx	// the newline too
	sub	%ebx, %edx
	call	write
	xor	%edi, %edi
exit:	mov	$SYS_exit, %eax
	syscall

// r8d = number of symbols. ELF never states it: the System V hash table has one chain word for
// each; GNU's (some systems keep no other) ends its last chain with an odd word.
count:	test	%r9, %r9
	jz	1f
	mov	4(%r9), %r8d
	ret
1:	xor	%r8d, %r8d
	test	%r10, %r10
	jz	5f
	mov	(%r10), %ecx		// buckets, first hashed symbol, words of the Bloom filter
	mov	8(%r10), %eax
	lea	16(%r10, %rax, 8), %rsi
2:	mov	(%rsi), %eax		// the bucket with the highest symbol has the last chain
	cmp	%r8d, %eax
	cmova	%eax, %r8d
	add	$4, %rsi
	loop	2b
	test	%r8d, %r8d
	jz	5f
3:	mov	%r8d, %eax		// rsi: the chain words, one for each hashed symbol
	sub	4(%r10), %eax
	inc	%r8d
	testb	$1, (%rsi, %rax, 4)
	jz	3b
5:	ret

shut:	mov	$closed, %esi
	mov	$closed_end - closed, %edx
	call	write
	mov	$SKIPPED, %edi
	jmp	exit

// write(rsi: text, rdx: length) to stdout
write:	mov	$SYS_write, %eax
	mov	$1, %edi
	syscall
	ret

	.data
	.skip	20
digits:	.ascii	"\n"
text:	.ascii	"hello through vdso-x86_64: "
text_end:
wanted:	.asciz	"__vdso_time"
wanted_end:
version: .asciz	"LINUX_2.6"
version_end:
closed:	.ascii	"closed: no vDSO with __vdso_time (booted with vdso=0?)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

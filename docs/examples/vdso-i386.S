// gcc -m32 -nostdlib -static -no-pie -o hello hello.S
// vdso-i386: time() in linux-gate.so.1, the shared object that the kernel maps into every 32-bit
// process. It is found as a dynamic linker would: AT_SYSINFO_EHDR, program headers, dynamic
// section, symbols, versions.
#define SYS_exit	1
#define SYS_write	4
#define SKIPPED		77
#define AT_SYSINFO_EHDR	33
#define E_PHOFF		28		// Elf32_Ehdr
#define E_PHNUM		44
#define P_OFFSET	4		// Elf32_Phdr
#define P_VADDR		8
#define PHDR_SIZE	32
#define PT_LOAD		1
#define PT_DYNAMIC	2
#define DT_HASH		4
#define DT_STRTAB	5
#define DT_SYMTAB	6
#define DT_VERSYM	0x6ffffff0
#define DT_VERDEF	0x6ffffffc
#define DT_GNU_HASH	0x6ffffef5
#define ST_VALUE	4		// Elf32_Sym
#define ST_INFO		12
#define ST_SHNDX	14
#define SYM_SIZE	16
#define STT_FUNC	2
#define VD_NDX		4		// Elf32_Verdef
#define VD_AUX		12
#define VD_NEXT		16

	.globl	_start
	.text
_start:	lea	4(%esp), %esi		// esp -> argc, argv..., 0, envp..., 0, auxv
	mov	$2, %ecx		// two lists end in 0 before the auxiliary vector begins
1:	lodsl
	test	%eax, %eax
	jnz	1b
	loop	1b
2:	lodsl				// type, value; type 0 is the end
	mov	%eax, %edx
	lodsl
	cmp	$AT_SYSINFO_EHDR, %edx
	je	3f
	test	%edx, %edx
	jnz	2b
	jmp	shut

3:	mov	%eax, %ebp		// ebp: the ELF header; ebx will be what to add to its addresses
	mov	E_PHOFF(%ebp), %esi
	add	%ebp, %esi
	movzwl	E_PHNUM(%ebp), %ecx
4:	cmpl	$PT_LOAD, (%esi)
	jne	5f
	mov	%ebp, %ebx
	add	P_OFFSET(%esi), %ebx
	sub	P_VADDR(%esi), %ebx
5:	cmpl	$PT_DYNAMIC, (%esi)
	jne	6f
	mov	P_OFFSET(%esi), %edi
	add	%ebp, %edi		// edi: the dynamic section
6:	add	$PHDR_SIZE, %esi
	loop	4b

7:	mov	(%edi), %eax		// tag, value; tag 0 is the end. Keep the tables that matter.
	mov	4(%edi), %edx
	add	%ebx, %edx
	add	$8, %edi
	mov	$tags, %ecx		// pairs of a tag and the place for its table
8:	cmp	(%ecx), %eax
	jne	9f
	mov	%edx, 4(%ecx)
9:	add	$8, %ecx
	cmp	$tags_end, %ecx
	jb	8b
	test	%eax, %eax
	jnz	7b

	call	count
	mov	%eax, symbols
	mov	symtab, %ebp		// ebp: the symbol, and its index on the stack
	push	$0
	jmp	11f
10:	add	$SYM_SIZE, %ebp
	incl	(%esp)
11:	mov	(%esp), %eax
	cmp	symbols, %eax
	jae	shut
	mov	ST_INFO(%ebp), %al
	and	$0xf, %al
	cmp	$STT_FUNC, %al
	jne	10b
	cmpw	$0, ST_SHNDX(%ebp)	// undefined: a wish, not a function
	je	10b
	mov	(%ebp), %edi
	add	strtab, %edi
	mov	$wanted, %esi
	mov	$wanted_end - wanted, %ecx
	repe	cmpsb
	jne	10b
	mov	(%esp), %eax		// the symbol's version is an index...
	add	%eax, %eax
	add	versym, %eax
	movzwl	(%eax), %ecx
	and	$0x7fff, %ecx		// (bit 15 only hides it)
	mov	verdef, %eax
12:	cmp	%cx, VD_NDX(%eax)	// ...into a list of definitions
	je	13f
	mov	VD_NEXT(%eax), %esi
	add	%esi, %eax
	test	%esi, %esi
	jnz	12b
	jmp	10b
13:	add	VD_AUX(%eax), %eax	// whose first auxiliary entry points to the name
	mov	(%eax), %edi
	add	strtab, %edi
	mov	$version, %esi
	mov	$version_end - version, %ecx
	repe	cmpsb
	jne	10b

	add	ST_VALUE(%ebp), %ebx	// found
	and	$-16, %esp		// the ABI: a multiple of 16 before the call's own push
	sub	$16, %esp
	movl	$0, (%esp)		// time(NULL): arguments on the stack, the seconds in eax
	call	*%ebx
	mov	$digits, %edi		// make them decimal, from the last digit to the first
	mov	$10, %ecx
1:	xor	%edx, %edx
	div	%ecx
	add	$'0', %dl
	dec	%edi
	mov	%dl, (%edi)
	test	%eax, %eax
	jnz	1b
	mov	$text, %ecx
	mov	$text_end - text, %edx
	call	write
	mov	%edi, %ecx
	mov	$digits + 1, %edx	// the newline too
	sub	%edi, %edx
	call	write
	xor	%ebx, %ebx
exit:	mov	$SYS_exit, %eax
	int	$0x80

// eax = number of symbols. ELF never states it: the System V hash table has one chain word for
// each; GNU's (some systems keep no other) ends its last chain with an odd word.
count:	mov	hash, %esi
	test	%esi, %esi
	jz	1f
	mov	4(%esi), %eax
	ret
1:	xor	%eax, %eax
	mov	gnu_hash, %edx
	test	%edx, %edx
	jz	4f
	mov	(%edx), %ecx		// buckets, first hashed symbol, words of the Bloom filter
	mov	8(%edx), %esi
	lea	16(%edx, %esi, 4), %esi
2:	cmp	(%esi), %eax		// the bucket with the highest symbol has the last chain
	cmovb	(%esi), %eax
	add	$4, %esi
	loop	2b
	test	%eax, %eax
	jz	4f
3:	mov	%eax, %ecx		// esi: the chain words, one for each hashed symbol
	sub	4(%edx), %ecx
	inc	%eax
	testb	$1, (%esi, %ecx, 4)
	jz	3b
4:	ret

shut:	mov	$closed, %ecx
	mov	$closed_end - closed, %edx
	call	write
	mov	$SKIPPED, %ebx
	jmp	exit

// write(ecx: text, edx: length) to stdout
write:	mov	$SYS_write, %eax
	mov	$1, %ebx
	int	$0x80
	ret

	.data
	.balign	4
tags:	.long	DT_STRTAB
strtab:	.long	0, DT_SYMTAB
symtab:	.long	0, DT_VERSYM
versym:	.long	0, DT_VERDEF
verdef:	.long	0, DT_HASH
hash:	.long	0, DT_GNU_HASH
gnu_hash: .long	0
tags_end:
symbols: .long	0
	.skip	10
digits:	.ascii	"\n"
text:	.ascii	"hello through vdso-i386: "
text_end:
wanted:	.asciz	"__vdso_time"
wanted_end:
version: .asciz	"LINUX_2.6"
version_end:
closed:	.ascii	"closed: no 32-bit vDSO with __vdso_time (booted with vdso32=0?)\n"
closed_end:
	.section .note.GNU-stack, "", @progbits

/*
 * Returns that can be rewritten (returns.c). Every C file is compiled with this in front: `ret` is then a macro of the assembler, so that
 * each return of the compiler's has room for a jump, and a row in a table. Assembly writes RETURN where code may run in an entry.
 *
 * Behind the byte of the instruction are four of int3, at which speculation stops that goes straight on. A return that is not
 * rewritten costs what it would cost alone.
 */
#pragma once

#define RETURN_BYTES 5 /* as a jump with a displacement of 32 bits has */

#ifdef __ASSEMBLER__
/* clang-format off */
.macro RETURN
777:	.byte	0xc3, 0xcc, 0xcc, 0xcc, 0xcc
	.pushsection .return_sites, "a"
#ifdef __x86_64__
	.quad	777b
#else
	.long	777b
#endif
	.popsection
.endm
/* clang-format on */
#else
#ifdef __x86_64__
#define RETURN_SITE ".quad"
#else
#define RETURN_SITE ".long"
#endif
/*
 * The words of gcc and of clang, and the one that the macro uses for a return that drops words of the stack. In 32-bit code a function has
 * one that returns a structure; it stays what it is, for no entry comes by it.
 */
#ifdef __clang__
#define RETURN_WORDS "retl, retq"
#define RETURN_PLAIN "ret"
#else
#define RETURN_WORDS "ret"
#define RETURN_PLAIN "retl"
#endif
__asm__(".irp word, " RETURN_WORDS "\n"
	".macro \\word drops\n"
	"	.ifnb	\\drops\n"
	"	" RETURN_PLAIN "	\\drops\n"
	"	.else\n"
	"777:	.byte	0xc3, 0xcc, 0xcc, 0xcc, 0xcc\n"
	"	.pushsection .return_sites, \"a\"\n"
	"	" RETURN_SITE "	777b\n"
	"	.popsection\n"
	"	.endif\n"
	".endm\n"
	".endr");
#endif

/*
 * For assembly that is the same in long mode and in protected mode: registers as wide as an address, by the names AX to SP; and AT(place),
 * a variable of the kernel where DS is the program's, which in long mode makes no difference. AT_CODE(place) is one where SS may be the stack's other
 * name, too (lab/i386/entry/steps/espfix.S).
 */
#pragma once

#ifdef __x86_64__
#define AX	       rax
#define BX	       rbx
#define CX	       rcx
#define DX	       rdx
#define SI	       rsi
#define DI	       rdi
#define BP	       rbp
#define SP	       rsp
#define KEPT	       r15 /* in the path of exceptions, SPEC_CTRL as it was */
#define WORD_BYTES     8
#define AT(place)      place
#define AT_CODE(place) place
#else
#define AX	       eax
#define BX	       ebx
#define CX	       ecx
#define DX	       edx
#define SI	       esi
#define DI	       edi
#define BP	       ebp
#define SP	       esp
#define KEPT	       edi
#define WORD_BYTES     4
#define AT(place)      % ss : place
#define AT_CODE(place) % cs : place
#endif

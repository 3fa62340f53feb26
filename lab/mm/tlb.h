/*
 * A log of all that decides which translations a processor may use. No emulator keeps them as a processor with PCID does, so
 * that nothing else shows that a flush is missing. Only a kernel that a test compiles with TLB_LOG writes it; in any other,
 * nothing of it is left. tests/lab/tlb_log.c and tlb_log.S write it, to the parallel port, and the model of a processor in
 * tests/lab/tlb.rs reads it.
 *
 * What paths do is written together with the next event of C code: a program that has run since, and the last values that
 * paths have written. So C code that gives kernel_cr3 or user_cr3 another value notes an event before that. The NMI's path is
 * not logged: it writes CR3 only where it finds the program's tables, and puts them back.
 */
#pragma once

#include <stdint.h>

#define TLB_STORE   's' /* an entry of a page table was written: the kernel's address of it, its value */
#define TLB_CLEAR   'c' /* entries became 0: the kernel's address of the first, bytes */
#define TLB_CR3	    '3' /* the value was written to CR3; by paths, too */
#define TLB_CR4	    '4' /* likewise */
#define TLB_INVPCID 'v' /* it was executed: the type, and the identifier << 8; the address */
#define TLB_INVLPG  'i' /* it was executed with this address */
#define TLB_RUN	    'r' /* a path has left to a program */
#define TLB_PROGRAM 'p' /* the plan's next program begins: its number */
/* address, bytes: the kernel relies on no old translation of them being left in its own identifier */
#define TLB_SETTLED 'f'

#ifdef TLB_LOG
void tlb_note(char what, uint64_t first, uint64_t second);
#define TLB_NOTE(what, first, second) tlb_note(what, first, second)
#else
#define TLB_NOTE(what, first, second) ((void)0)
#endif

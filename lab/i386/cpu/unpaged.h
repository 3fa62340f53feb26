/*
 * A program without page tables (paging=off): CR0.PG is clear while it runs and while the kernel serves it. Its addresses are offsets into
 * one piece of memory, its block, where its segments begin; the kernel's segments have a base that undoes KERNEL_BASE. Their limits are all
 * that keeps a program from the rest of memory, as on an 80286, and as on an 80386 whose system leaves paging off.
 */
#pragma once

#include "word.h"

/* What an address that descriptors and descriptor-table registers have is less than the kernel's for the same place; 0 with paging. */
extern word unpaged_distance;
/* Where a program's address 0 is for the kernel, as long as paging is off (entry/user.S). */
extern word unpaged_base;

/* Turns paging off and on. Interrupts are off, and CR3 holds the kernel's own page tables. The block is at a physical address. */
void unpaged_begin(word block);
void unpaged_end(void);

/* The task of a double fault (double_fault.c). */
#pragma once

#include "cpu/tss.h"

extern struct tss double_fault_tss;

/* Its TSS, but for CR3 (tss_set_tables). */
void double_fault_prepare(void);

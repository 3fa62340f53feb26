/* The task of a double fault (double_fault.c). */
#pragma once

#include "word.h"

void double_fault_init(void);
/* In which address space it runs. */
void double_fault_set_tables(word cr3);

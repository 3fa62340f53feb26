/* The table on the screen of a machine that boots an image. */
#pragma once

#include "user/user.h"

void table_title(void); /* the first line of all */
/* What the boot test found: whether times mean anything here. */
void table_begin(uint64_t ring0, uint64_t ring3, int syscall_works, uint64_t hertz);
void table_configuration(void); /* a line for the switches, where they have changed */
void table_collect(const uint8_t *bytes, uint64_t count); /* what a probe writes */
void table_row(const char *const *arguments, unsigned count, struct end end);

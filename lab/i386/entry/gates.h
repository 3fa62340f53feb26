/* Entries that protected mode alone has: by faults, and by descriptors of their own. */
#pragma once

#include "word.h"

#include <stdint.h>

extern word path_into_i386, path_bound_i386, path_np_fault_i386, path_ss_fault_i386, path_limit_fault_i386;

extern word path_call_gate_32_1_i386, path_call_gate_32_8_i386, path_call_gate_16_0_i386,
    path_call_gate_16_1_i386, path_call_gate_16_8_i386;

/* Where a path that was entered in another code segment goes on: behind its first step. */
struct __attribute__((packed)) far_pointer {
	uint32_t offset;
	uint16_t selector;
};
extern struct far_pointer flat_call_gate_16_0_i386, flat_call_gate_16_1_i386, flat_call_gate_16_8_i386;

/* conforming.S: a page that the page tables let programs execute. */
extern const uint8_t conforming_page[];

/* Their descriptors: those that do not depend on where paths are; points the others at them. */
void gates_prepare(void);
void gates_point(void);

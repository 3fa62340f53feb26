/* What an image makes of the test of ring 0 (ring.c), as the command does (crates/environment/src/ring0.rs). */
#pragma once

#include <stdint.h>

/* What a hypervisor does itself where the rest of ring 0 runs natively. */
#define TRAPPED_CR3_WRITES 1
#define TRAPPED_INTERRUPTS 2
#define TRAPPED_INVALID	   4 /* instructions */
#define TRAPPED_CR4_WRITES 8
#define TRAPPED_SPEC_CTRL  16
#define TRAPPED_PRED_CMD   32
#define TRAPPED_FLUSH_CMD  64
#define TRAPPED_INVPCID	   128
#define TRAPPED_INVLPG	   256

struct verdict {
	int is_emulated;  /* no time means anything */
	unsigned trapped; /* TRAPPED_* */
};

/* `boot`: LAB_BOOT_*. */
struct verdict verdict_of(const uint64_t *boot);

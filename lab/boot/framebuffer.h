/* The screen that the boot loader leaves behind. */
#pragma once

#include <stdint.h>

struct colour {
	uint8_t shift, bits; /* in a pixel */
};

struct framebuffer {
	enum { SCREEN_NONE, SCREEN_PIXELS, SCREEN_LETTERS } kind;
	uint64_t address;		    /* physical */
	uint32_t line_bytes, columns, rows; /* pixels; or letters, two bytes each, as a VGA has them */
	uint32_t pixel_bytes;
	struct colour red, green, blue;
};

/* From multiboot2's tag, of at least so many bytes; SCREEN_NONE when this kernel cannot draw on it. */
#define FRAMEBUFFER_TAG_BYTES 31
struct framebuffer framebuffer_of(const void *tag);

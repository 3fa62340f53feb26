/* The framebuffer tag (Multiboot2 Specification 2.0, 3.6.12). */
#include "boot/framebuffer.h"
#include "mm/mm.h"

struct framebuffer_tag {
	uint32_t type, bytes;
	uint64_t address;
	uint32_t pitch, width, height;
	uint8_t bits, kind;
	uint16_t reserved;
	struct colour red, green, blue; /* of RGB alone */
};
/* The specification's text has one reserved byte, GRUB two. */
_Static_assert(offsetof(struct framebuffer_tag, red) - 1 == FRAMEBUFFER_TAG_BYTES, "as GRUB has it");

#define KIND_RGB 1
#define KIND_EGA 2

/* Without the padding at the end of the structure. */
#define RGB_BYTES (offsetof(struct framebuffer_tag, blue) + sizeof(struct colour))

#define BITS_A_BYTE 8
/* A colour has 8 bits at most, and lies within a pixel of 32. */
#define COLOUR_BITS 8
#define PIXEL_BITS  32

static int fits(struct colour colour)
{
	return colour.bits && colour.bits <= COLOUR_BITS && colour.shift + colour.bits <= PIXEL_BITS;
}

struct framebuffer framebuffer_of(const void *from)
{
	const struct framebuffer_tag *const tag = from;
	struct framebuffer found = {
	    .address = tag->address,
	    .line_bytes = tag->pitch,
	    .columns = tag->width,
	    .rows = tag->height,
	    .pixel_bytes = (tag->bits + BITS_A_BYTE - 1u) / BITS_A_BYTE,
	};

	if (tag->kind == KIND_EGA)
		found.kind = SCREEN_LETTERS;
	if (tag->kind == KIND_RGB && tag->bytes >= RGB_BYTES && found.pixel_bytes >= 2 &&
	    found.pixel_bytes <= 4 && fits(tag->red) && fits(tag->green) && fits(tag->blue)) {
		found.kind = SCREEN_PIXELS;
		found.red = tag->red;
		found.green = tag->green;
		found.blue = tag->blue;
	}
	return found;
}

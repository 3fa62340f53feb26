/*
 * mach/stub/image.c for the host: an image as standard input, which fills one page between two that cannot be touched. Each of its bytes is
 * changed in each way, and then pages are tried that are no image at all. Prints how often entry_call was found, and dies where anything
 * beyond the page is read.
 */
#include "../../mach/stub/image.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096ul

static uint8_t *page;
static unsigned long found, beyond;

static void look(void)
{
	const uint8_t *const at = image_find(page, PAGE, "entry_call");

	found += at != 0;
	beyond += at && (at < page || at >= page + PAGE);
}

static void change_each_byte(void)
{
	for (unsigned i = 0; i < PAGE; i++) {
		const uint8_t was = page[i];
		for (unsigned value = 0; value < 256; value++) {
			page[i] = (uint8_t)value;
			look();
		}
		page[i] = was;
	}
}

static void fill_with_anything(void)
{
	uint32_t random = 1;

	for (unsigned try = 0; try < 2000; try++) {
		/* Half of them with the beginning of an image. */
		for (unsigned i = try % 2 * 64; i < PAGE; i++)
			page[i] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
		look();
	}
	for (unsigned value = 0; value < 256; value++) {
		memset(page, (int)value, PAGE);
		look();
	}
}

int main(void)
{
	uint8_t *const pages = mmap(0, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	page = pages + PAGE;
	if (pages == MAP_FAILED || mprotect(page, PAGE, PROT_READ | PROT_WRITE))
		return 1;
	fread(page, 1, PAGE, stdin);
	look();
	printf("whole %lu\n", found);
	change_each_byte();
	printf("changed %d\n", found > PAGE * 128 && found < PAGE * 256);
	found = 0;
	fill_with_anything();
	printf("anything %lu\nbeyond %lu\n", found, beyond);
	return 0;
}

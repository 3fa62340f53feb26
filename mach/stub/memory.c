/* What a compiler may call by itself, where there is no C library. It is the library's own: hidden, and local in the archive (Makefile). */
#include <stddef.h>
#include <stdint.h>

void *memset(void *to, int value, size_t count);
void *memset(void *to, int value, size_t count)
{
	volatile uint8_t *bytes = to; /* or the loop would become a call of this very function */

	while (count--)
		*bytes++ = (uint8_t)value;
	return to;
}

void *memcpy(void *to, const void *from, size_t count);
void *memcpy(void *to, const void *from, size_t count)
{
	volatile uint8_t *bytes = to;
	const uint8_t *source = from;

	while (count--)
		*bytes++ = *source++;
	return to;
}

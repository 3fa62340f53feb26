/* Functions that a C compiler may call even in a freestanding program (GCC manual, "Standards"). */
#include <stddef.h>

void *memset(void *to, int byte, size_t count);
void *memcpy(void *to, const void *from, size_t count);

void *memset(void *to, int byte, size_t count)
{
	void *at = to;

	__asm__ volatile("rep stosb" : "+D"(at), "+c"(count) : "a"(byte) : "memory");
	return to;
}

void *memcpy(void *to, const void *from, size_t count)
{
	void *at = to;

	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(count) : : "memory");
	return to;
}

/* What compilers call by themselves. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
int memcmp(const void *a, const void *b, size_t count);
size_t strlen(const char *text);

void *memcpy(void *to, const void *from, size_t count)
{
	void *const start = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
	return start;
}

void *memmove(void *to, const void *from, size_t count)
{
	uint8_t *target = to;
	const uint8_t *source = from;

	if (target <= source || target >= source + count)
		return memcpy(to, from, count);
	while (count--) {
		target[count] = source[count];
		__asm__ volatile("" : : : "memory"); /* or this becomes a call of itself */
	}
	return to;
}

void *memset(void *to, int value, size_t count)
{
	void *const start = to;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(value) : "memory");
	return start;
}

int memcmp(const void *a, const void *b, size_t count)
{
	const uint8_t *left = a, *right = b;

	for (; count--; left++, right++)
		if (*left != *right)
			return *left - *right;
	return 0;
}

size_t strlen(const char *text)
{
	size_t length = 0;

	while (text[length]) {
		length++;
		__asm__ volatile("" : : : "memory");
	}
	return length;
}

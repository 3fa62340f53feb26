/* Functions that compilers call implicitly. */
#include <stddef.h>
#include <stdint.h>

#include "word.h"

#define WORD sizeof(word)
#ifdef __x86_64__
#define MOVE_WORDS  "rep movsq"
#define STORE_WORDS "rep stosq"
#else
#define MOVE_WORDS  "rep movsl"
#define STORE_WORDS "rep stosl"
#endif

void *memcpy(void *to, const void *from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
int memcmp(const void *a, const void *b, size_t count);
size_t strlen(const char *text);

void *memcpy(void *to, const void *from, size_t count)
{
	void *const start = to;
	size_t words = count / WORD, rest = count % WORD;

	/* An emulator counts every iteration of rep, and is slow at it. */
	__asm__ volatile(MOVE_WORDS : "+D"(to), "+S"(from), "+c"(words) : : "memory");
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(rest) : : "memory");
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
	const word repeated = (uint8_t)value * (word)0x0101010101010101ull;
	size_t words = count / WORD, rest = count % WORD;

	__asm__ volatile(STORE_WORDS : "+D"(to), "+c"(words) : "a"(repeated) : "memory");
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(rest) : "a"(repeated) : "memory");
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

/* Functions that compilers call for divisions of 64 bits where registers have 32. */
#include <stdint.h>

uint64_t __udivdi3(uint64_t dividend, uint64_t divisor);
uint64_t __umoddi3(uint64_t dividend, uint64_t divisor);
uint64_t __udivmoddi4(uint64_t dividend, uint64_t divisor, uint64_t *rest);
int64_t __divdi3(int64_t dividend, int64_t divisor);
int64_t __moddi3(int64_t dividend, int64_t divisor);

/* By a divisor of 32 bits, as on paper: two divisions of 64 by 32 bits, neither of which overflows. */
static uint64_t by_32(uint64_t dividend, uint32_t divisor, uint32_t *rest)
{
	const uint32_t high = (uint32_t)(dividend >> 32);
	uint32_t quotient, remainder = high % divisor;

	__asm__("divl %4"
		: "=a"(quotient), "=d"(remainder)
		: "a"((uint32_t)dividend), "d"(remainder), "rm"(divisor)
		: "cc");
	*rest = remainder;
	return (uint64_t)(high / divisor) << 32 | quotient;
}

static uint64_t divide(uint64_t dividend, uint64_t divisor, uint64_t *rest)
{
	uint64_t quotient = 0, remainder = 0;

	if (!(divisor >> 32)) {
		uint32_t small;
		quotient = by_32(dividend, (uint32_t)divisor, &small);
		*rest = small;
		return quotient;
	}
	for (int bit = 63; bit >= 0; bit--) {
		remainder = remainder << 1 | (dividend >> bit & 1);
		if (remainder >= divisor) {
			remainder -= divisor;
			quotient |= 1ull << bit;
		}
	}
	*rest = remainder;
	return quotient;
}

uint64_t __udivmoddi4(uint64_t dividend, uint64_t divisor, uint64_t *rest)
{
	return divide(dividend, divisor, rest);
}

uint64_t __udivdi3(uint64_t dividend, uint64_t divisor)
{
	uint64_t rest;

	return divide(dividend, divisor, &rest);
}

uint64_t __umoddi3(uint64_t dividend, uint64_t divisor)
{
	uint64_t rest;

	divide(dividend, divisor, &rest);
	return rest;
}

static uint64_t magnitude(int64_t number)
{
	return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

int64_t __divdi3(int64_t dividend, int64_t divisor)
{
	const uint64_t quotient = __udivdi3(magnitude(dividend), magnitude(divisor));

	return (int64_t)((dividend < 0) != (divisor < 0) ? -quotient : quotient);
}

int64_t __moddi3(int64_t dividend, int64_t divisor)
{
	const uint64_t rest = __umoddi3(magnitude(dividend), magnitude(divisor));

	return (int64_t)(dividend < 0 ? -rest : rest);
}

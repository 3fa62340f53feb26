/* Words of a plan. */
#include "plan/words.h"

int line_next_word(struct line *line, struct text *word)
{
	if (line->is_over)
		return 0;
	word->bytes = line->at;
	while (line->at < line->end && *line->at != ' ')
		line->at++;
	word->count = (uint64_t)(line->at - word->bytes);
	line->is_over = line->at == line->end;
	line->at += !line->is_over;
	return 1;
}

int word_is(struct text word, const char *text)
{
	return word.count == __builtin_strlen(text) && !__builtin_memcmp(word.bytes, text, word.count);
}

int word_begins(struct text *word, const char *text)
{
	const uint64_t count = __builtin_strlen(text);

	if (word->count < count || __builtin_memcmp(word->bytes, text, count))
		return 0;
	word->bytes += count;
	word->count -= count;
	return 1;
}

int word_number(struct text word, uint64_t *value)
{
	*value = 0;
	if (!word.count)
		return 0;
	for (uint64_t i = 0; i < word.count; i++) {
		const unsigned digit = word.bytes[i] - '0';
		if (digit > 9 || *value > (UINT64_MAX - digit) / 10)
			return 0;
		*value = *value * 10 + digit;
	}
	return 1;
}

int line_next_number(struct line *line, uint64_t *value)
{
	struct text word;

	*value = 0;
	return line_next_word(line, &word) && word_number(word, value);
}

static unsigned hex_digit(uint8_t letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	letter |= 0x20;
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10u : 16u;
}

uint64_t word_decode(struct text word, char *to, uint64_t room)
{
	uint64_t used = 0;

	for (uint64_t i = 0; i < word.count; i++) {
		unsigned letter = word.bytes[i];
		if (letter == '%') {
			if (word.count - i < 3)
				return WORD_BROKEN;
			const unsigned high = hex_digit(word.bytes[i + 1]),
				       low = hex_digit(word.bytes[i + 2]);
			letter = high << 4 | low;
			i += 2;
			if (high > 15 || low > 15 || !letter)
				return WORD_BROKEN;
		}
		if (used + 1 >= room)
			return 0;
		to[used++] = (char)letter;
	}
	if (used >= room)
		return 0;
	to[used++] = 0;
	return used;
}

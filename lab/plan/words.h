/* A line of the plan is words with a single space between them (abi/lab.h). */
#pragma once

#include "user/user.h"

struct line {
	const uint8_t *at, *end;
	int is_over;
};

/* The next word; 0 at the line's end. Between two adjacent spaces there is an empty word. */
int line_next_word(struct line *line, struct text *word);
/* The next word as a decimal number; 0 when it is not a number. */
int line_next_number(struct line *line, uint64_t *value);
int word_is(struct text word, const char *text);
/* Takes this text from the word's beginning; 0 if it does not begin so. */
int word_begins(struct text *word, const char *text);
/* The whole word as a decimal number; 0 when it is not one. */
int word_number(struct text word, uint64_t *value);

#define WORD_BROKEN UINT64_MAX
/* Decodes a word to text that ends in NUL. Returns the bytes used; 0: no room; WORD_BROKEN: an invalid code, or NUL's. */
uint64_t word_decode(struct text word, char *to, uint64_t room);

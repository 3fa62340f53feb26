/* Lines of text. */
#include "serial/line.h"

void line_letter(struct line_buffer *line, char letter)
{
	if (line->length < LINE_LENGTH)
		line->text[line->length++] = letter;
}

void line_text(struct line_buffer *line, const char *text)
{
	while (*text)
		line_letter(line, *text++);
}

void line_number(struct line_buffer *line, uint64_t number, unsigned base)
{
	char digits[20];
	unsigned count = 0;

	do
		digits[count++] = "0123456789abcdef"[number % base];
	while (number /= base);
	while (count)
		line_letter(line, digits[--count]);
}

void line_blank_to(struct line_buffer *line, unsigned column)
{
	while (line->length < column && line->length < LINE_LENGTH)
		line_letter(line, ' ');
}

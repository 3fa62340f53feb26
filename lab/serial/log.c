/* Lines for people, and the end. */
#include "cpu/cpu.h"
#include "lab.h"
#include "record.h"
#include "serial/serial.h"

#include <stdarg.h>

#define LINE 240

struct line {
	char text[LINE];
	unsigned length;
};

static void put(struct line *line, char letter)
{
	if (line->length < LINE)
		line->text[line->length++] = letter;
}

static void put_number(struct line *line, uint64_t number, unsigned base)
{
	char digits[20];
	unsigned count = 0;

	do
		digits[count++] = "0123456789abcdef"[number % base];
	while (number /= base);
	while (count)
		put(line, digits[--count]);
}

void log_line(const char *format, ...)
{
	struct line line = {.length = 0};
	va_list arguments;

	va_start(arguments, format);
	for (; *format; format++) {
		if (*format != '%') {
			put(&line, *format);
			continue;
		}
		if (*++format == 'l')
			format++;
		if (*format == 's')
			for (const char *text = va_arg(arguments, const char *); *text; text++)
				put(&line, *text);
		else
			put_number(&line, va_arg(arguments, uint64_t), *format == 'x' ? 16 : 10);
	}
	va_end(arguments);
	record(RECORD_LAB_LOG, line.text, line.length);
}

/* QEMU ends by its debug port, Bochs and others by the shutdown of ACPI's usual port; then there is only waiting. */
_Noreturn void power_off(void)
{
	static const char shutdown[] = "Shutdown";

	uart_drain();
	out8(LAB_EXIT_PORT, LAB_EXIT_VALUE);
	for (const char *letter = shutdown; *letter; letter++)
		out8(0x8900, (uint8_t)*letter);
	for (;;)
		__asm__ volatile("cli; hlt");
}

_Noreturn void panic(const char *why)
{
	log_line("panic: %s", why);
	power_off();
}

/* Log lines, and switching the machine off. */
#include "cpu/cpu.h"
#include "lab.h"
#include "serial/console.h"
#include "serial/line.h"
#include "serial/serial.h"

#include <stdarg.h>

void log_line(const char *format, ...)
{
	struct line_buffer line = {.length = 0};
	va_list arguments;

	va_start(arguments, format);
	for (; *format; format++) {
		if (*format != '%') {
			line_letter(&line, *format);
			continue;
		}
		unsigned longs = 0;
		for (; *++format == 'l'; longs++)
			;
		if (*format == 's')
			line_text(&line, va_arg(arguments, const char *));
		else
			line_number(&line,
				    longs > 1 ? va_arg(arguments, unsigned long long)
					      : va_arg(arguments, unsigned long),
				    *format == 'x' ? 16 : 10);
	}
	va_end(arguments);
	/* An exception may come before the serial port is set up. */
	if (!records_are_ready()) {
		uart_init();
		records_init();
	}
	if (console_is_text())
		console_line(line.text, line.length, CONSOLE_TEXT);
	else
		record(RECORD_LAB_LOG, line.text, line.length);
}

/*
 * QEMU and Bochs each end through a debug port, where a command has started them. A machine with somebody before it stops, and
 * keeps its screen: on it, nobody knows what is at these ports.
 */
_Noreturn void power_off(void)
{
	static const char shutdown[] = "Shutdown";

	uart_drain();
	if (console_is_for_command() && !console_is_open()) {
		out8(LAB_EXIT_PORT, LAB_EXIT_VALUE);
		for (const char *letter = shutdown; *letter; letter++)
			out8(BOCHS_EXIT_PORT, (uint8_t)*letter);
	}
	for (;;)
		__asm__ volatile("cli; hlt");
}

_Noreturn void panic(const char *why)
{
	log_line("panic: %s", why);
	power_off();
}

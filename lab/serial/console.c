/* The PC's text screen, 80 by 25, if the firmware has set one up; and the serial port. */
#include "serial/console.h"
#include "mm/mm.h"
#include "serial/serial.h"

#define SCREEN	0xb8000ul
#define COLUMNS 80
#define ROWS	25
#define GREY	0x0700

static volatile uint16_t *screen; /* null until it is open */
static unsigned column;

static void next_row(void)
{
	volatile uint16_t *cell = screen;

	column = 0;
	for (unsigned i = 0; i < COLUMNS * (ROWS - 1); i++)
		cell[i] = cell[i + COLUMNS];
	for (unsigned i = COLUMNS * (ROWS - 1); i < COLUMNS * ROWS; i++)
		cell[i] = GREY | ' ';
}

void console_open(void)
{
	screen = tables_map_device(SCREEN, COLUMNS * ROWS * sizeof(*screen));
	if (!screen)
		panic("no memory for the screen's page tables");
	for (unsigned row = 0; row < ROWS; row++)
		next_row();
}

int console_is_open(void)
{
	return screen != 0;
}

void console_write(const char *text, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		if (text[i] == '\n')
			uart_write("\r", 1);
		uart_write(&text[i], 1);
		if (text[i] == '\n' || column == COLUMNS)
			next_row();
		if (text[i] != '\n')
			screen[COLUMNS * (ROWS - 1) + column++] = GREY | (uint8_t)text[i];
	}
}

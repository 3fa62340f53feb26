/*
 * Letters on a VGA's text screen, or drawn on a framebuffer. The framebuffer is written and never read: reading it takes
 * microseconds a word. So what is shown is kept here as well, and what does not change is not drawn again.
 */
#include "serial/screen.h"
#include "boot/window.h"
#include "mm/mm.h"
#include "serial/font.h"

#define MOST_BYTES (256ul << 20)

#define MAX_COLUMNS 480
#define MAX_ROWS    270
/* A letter of 8 pixels is large enough on a screen of 1280 pixels, and drawn twice as large from 2560 on. */
#define WIDE	    1280
#define MAX_SCALE   8

#define GREY	     0xaau /* of 255 */
#define LETTER_BYTES 2
#define VGA_GREY     0x0700

struct screen screen;
static struct framebuffer target;
static volatile uint8_t *memory; /* of the screen */
static unsigned scale;
static uint32_t grey; /* a pixel */
static uint8_t shown[MAX_ROWS][MAX_COLUMNS];

static uint32_t part(struct colour colour)
{
	return (GREY >> (8 - colour.bits)) << colour.shift;
}

/* Draws a row of a letter's pixels: a multiple of 8 bytes. */
static void draw_row(volatile uint64_t *to, uint8_t pixels)
{
	union {
		uint8_t bytes[FONT_COLUMNS * MAX_SCALE * sizeof(uint32_t)];
		uint64_t words[FONT_COLUMNS * MAX_SCALE * sizeof(uint32_t) / sizeof(uint64_t)];
	} row;
	unsigned at = 0;

	for (unsigned column = 0; column < FONT_COLUMNS * scale; column++) {
		const uint32_t pixel = pixels << column / scale & 0x80 ? grey : 0;
		for (unsigned byte = 0; byte < target.pixel_bytes; byte++)
			row.bytes[at++] = (uint8_t)(pixel >> 8 * byte);
	}
	for (unsigned word = 0; word < at / sizeof(uint64_t); word++)
		to[word] = row.words[word];
}

static void draw(unsigned row, unsigned column, uint8_t letter)
{
	const uint64_t left = (uint64_t)column * FONT_COLUMNS * scale * target.pixel_bytes;

	for (unsigned line = 0; line < FONT_ROWS * scale; line++) {
		const uint64_t top = ((uint64_t)row * FONT_ROWS * scale + line) * target.line_bytes;
		draw_row(device_now(memory + top + left), font[letter - FONT_FIRST][line / scale]);
	}
}

void screen_put(unsigned row, unsigned column, char letter)
{
	uint8_t wanted = (uint8_t)letter;

	if (wanted < FONT_FIRST || wanted >= FONT_FIRST + FONT_LETTERS)
		wanted = '?';
	if (row >= screen.rows || column >= screen.columns || shown[row][column] == wanted)
		return;
	shown[row][column] = wanted;
	if (target.kind == SCREEN_PIXELS)
		draw(row, column, wanted);
	else
		*(volatile uint16_t *)device_now(memory + (uint64_t)row * target.line_bytes +
						 column * LETTER_BYTES) = VGA_GREY | wanted;
}

void screen_clear(void)
{
	for (unsigned row = 0; row < screen.rows; row++)
		for (unsigned column = 0; column < screen.columns; column++)
			screen_put(row, column, ' ');
}

/* 0 when it cannot be mapped. */
static int map(uint64_t bytes)
{
	if (bytes && target.address % PAGE == 0)
		memory = window_is_there() ? window_to_screen(target.address, bytes)
					   : tables_map_device(target.address, bytes, MAP_SCREEN);
	return memory != 0;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Boot loader and firmware have left something on it. */
static void wipe(uint64_t bytes)
{
	const uint64_t blank = target.kind == SCREEN_PIXELS ? 0 : 0x0001000100010001ul * (VGA_GREY | ' ');

	for (uint64_t at = 0; at + sizeof(blank) <= bytes; at += sizeof(blank))
		*(volatile uint64_t *)(memory + at) = blank;
	__builtin_memset(shown, ' ', sizeof(shown));
}

void screen_open(const struct framebuffer *framebuffer)
{
	const uint64_t room = window_is_there() ? WINDOW_SCREEN : MOST_BYTES;
	unsigned columns = framebuffer->columns, rows = framebuffer->rows;
	if ((uint64_t)framebuffer->line_bytes * rows > room)
		rows = (unsigned)(room / framebuffer->line_bytes);
	const uint64_t bytes = (uint64_t)framebuffer->line_bytes * rows;
	uint64_t line = (uint64_t)columns * LETTER_BYTES;

	target = *framebuffer;
	if (target.kind == SCREEN_PIXELS) {
		scale = least(columns < WIDE ? 1 : columns / WIDE, MAX_SCALE);
		grey = part(target.red) | part(target.green) | part(target.blue);
		line = (uint64_t)columns * target.pixel_bytes;
		columns /= FONT_COLUMNS * scale;
		rows /= FONT_ROWS * scale;
	}
	if (target.kind == SCREEN_NONE || line > target.line_bytes || !map(bytes))
		return;
	wipe(bytes);
	screen = (struct screen){least(columns, MAX_COLUMNS), least(rows, MAX_ROWS)};
}

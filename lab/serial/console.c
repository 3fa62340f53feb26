/* Keeps what was written, so that the screen can show all of it. */
#include "serial/console.h"
#include "boot/efi.h"
#include "cpu/cpu.h"
#include "cpu/mode.h"
#include "lab.h"
#include "serial/line.h"
#include "serial/pages.h"
#include "serial/screen.h"
#include "serial/serial.h"

#define TEXT_BYTES (256u << 10)
#define MAX_LINES  8192

#define PAGE_SECONDS 10
#define LIKELY_HERTZ 2000000000ul

/* start.S has it from the boot loader's protocol: what is known from the first. */
uint32_t console_loader;
static enum { NOT_PREPARED, COMMAND, PERSON } listener;
static struct framebuffer found;
static int screen_is_known, plan_is_read, is_open;
static char text[TEXT_BYTES];
static uint32_t text_bytes;
static struct {
	uint32_t start : 29, level : 3, count;
} lines[MAX_LINES];
static uint32_t line_count;
static int lost, drawing;
static uint64_t tsc_hertz;
static struct place place;

static void say(const char *words)
{
	pages_status((struct page_line){words, (uint32_t)__builtin_strlen(words)});
}

void console_prepare(int is_command, const struct framebuffer *framebuffer)
{
	listener = is_command ? COMMAND : PERSON;
	screen_is_known = framebuffer != 0;
	if (framebuffer)
		found = *framebuffer;
}

int console_is_for_command(void)
{
	return listener == NOT_PREPARED ? console_loader == LOADER_PVH : listener == COMMAND;
}

int console_is_text(void)
{
	return is_open || (!plan_is_read && !console_is_for_command());
}

/* Once: what stands there already remains. */
static void open_screen(void)
{
	if (!screen_is_known)
		return;
	screen_is_known = 0;
	screen_open(&found);
}

void console_close(void)
{
	plan_is_read = 1;
}

void console_open(void)
{
	is_open = 1;
	drawing = 1;
	open_screen();
	say("measuring ...");
	drawing = 0;
}

int console_is_open(void)
{
	return is_open;
}

void console_line(const char *line, uint32_t count, unsigned level)
{
	uart_write(line, count);
	uart_write("\r\n", 2);
	/* Of a fault while something is drawn, the serial line alone can tell. */
	if (drawing)
		return;
	if (line_count == MAX_LINES || count >= TEXT_BYTES - text_bytes) {
		lost = 1;
		return;
	}
	char *const kept = text + text_bytes;
	__builtin_memcpy(kept, line, count);
	lines[line_count].start = text_bytes;
	lines[line_count].count = count;
	lines[line_count++].level = level & 7;
	text_bytes += count;
	text[text_bytes++] = '\n';
	drawing = 1;
	open_screen();
	pages_add(&place, (struct page_line){kept, count}, level, PAGE_ALL);
	drawing = 0;
}

static void show(unsigned page)
{
	struct place at = {0};

	screen_clear();
	for (uint32_t i = 0; i < line_count; i++)
		pages_add(&at, (struct page_line){text + lines[i].start, lines[i].count}, lines[i].level,
			  page);
}

static void say_page(unsigned page, unsigned pages)
{
	struct line_buffer line = {.length = 0};

	line_text(&line, "page ");
	line_number(&line, page + 1, 10);
	line_text(&line, " of ");
	line_number(&line, pages, 10);
	if (pages > 1) {
		line_text(&line, "; the next one comes in ");
		line_number(&line, PAGE_SECONDS, 10);
		line_text(&line, " seconds");
	}
	if (lost)
		line_text(&line, "; the last lines found no room here, but the serial line has them");
	pages_status((struct page_line){line.text, line.length});
}

static void wait(uint64_t ticks)
{
	const uint64_t start = rdtsc();

	while (rdtsc() - start < ticks)
		__asm__ volatile("pause");
}

static _Noreturn void turn_pages(void)
{
	log_line("done; the machine can be switched off");
	const unsigned pages = place.page + 1;
	say_page(0, pages);
	if (pages == 1)
		power_off();
	for (unsigned page = 0;; page = (page + 1) % pages) {
		show(page);
		say_page(page, pages);
		wait((tsc_hertz ? tsc_hertz : LIKELY_HERTZ) * PAGE_SECONDS);
	}
}

/* In the firmware's state. */
static void write_file(void)
{
	char name[EFI_NAME_LENGTH + 1];

	say("writing a file ...");
	const char *const trouble = efi_write_file(text, text_bytes, name);

	if (trouble)
		log_line("no file was written: %s", trouble);
	else
		log_line("written to %s on the partition that the machine was booted from", name);
	turn_pages();
}

_Noreturn void console_end(uint64_t hertz)
{
	tsc_hertz = hertz;
	if (efi_is_there())
		efi_return(write_file);
	log_line("no file was written: this takes " MODE_FILE_TAKES "; the serial line has the text");
	turn_pages();
}

/* Lays lines out. */
#include "serial/pages.h"
#include "serial/screen.h"

#define GAP 2

static unsigned width(void)
{
	return screen.columns < CONSOLE_COLUMNS ? screen.columns : CONSOLE_COLUMNS;
}

static unsigned columns(void)
{
	return (screen.columns + GAP) / (width() + GAP);
}

/* Rows of a page: all but the last one of the screen. */
static unsigned rows(void)
{
	return screen.rows - 1;
}

static void draw(const struct place *place, const char *text, uint32_t count)
{
	const unsigned left = place->column * (width() + GAP);

	for (unsigned at = 0; at < width(); at++)
		screen_put(place->row, left + at, at < count ? text[at] : ' ');
}

/* The part of a line that a row shows: all of it, or up to a space, or, where a word is longer than a row, what fits. */
static uint32_t part_of(struct page_line line)
{
	uint32_t part = width();

	if (line.count <= part)
		return line.count;
	while (part && line.text[part] != ' ')
		part--;
	return part ? part : width();
}

/* What follows that part; spaces between two rows are on neither. */
static struct page_line after(struct page_line line, uint32_t part)
{
	while (part < line.count && line.text[part] == ' ')
		part++;
	return (struct page_line){line.text + part, line.count - part};
}

static unsigned rows_of(struct page_line line)
{
	unsigned rows = 0;

	do {
		line = after(line, part_of(line));
		rows++;
	} while (line.count);
	return rows;
}

/* One row for each part of a line that fits. */
static void put(struct place *place, struct page_line line, unsigned page)
{
	do {
		const uint32_t part = part_of(line);
		if (page == PAGE_ALL || page == place->page)
			draw(place, line.text, part);
		place->row++;
		line = after(line, part);
	} while (line.count);
}

static void next_column(struct place *place, unsigned below, unsigned page)
{
	place->row = 0;
	if (++place->column == columns()) {
		place->column = 0;
		place->page++;
		if (page == PAGE_ALL)
			screen_clear();
	}
	for (unsigned level = 0; level < below; level++)
		if (place->headings[level].text)
			put(place, place->headings[level], page);
}

void pages_add(struct place *place, struct page_line line, unsigned level, unsigned page)
{
	if (screen.rows < 2 || !screen.columns)
		return;
	/* A heading is not left alone at the end of a column. */
	const unsigned needed = rows_of(line) + (level != CONSOLE_TEXT);
	if (place->row && place->row + needed > rows())
		next_column(place, level, page);
	put(place, line, page);
	if (level == CONSOLE_TEXT)
		return;
	place->headings[level] = line;
	for (unsigned below = level + 1; below < CONSOLE_LEVELS; below++)
		place->headings[below] = (struct page_line){0};
}

void pages_status(struct page_line line)
{
	for (unsigned at = 0; screen.rows && at < screen.columns; at++)
		screen_put(screen.rows - 1, at, at < line.count ? line.text[at] : ' ');
}

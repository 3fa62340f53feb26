/*
 * Page tables of protected mode, in both forms that it has (SDM vol. 3, 4.3 and 4.4): two levels with entries of 32 bits; and three with
 * entries of 64 bits (PAE), the top one of which has four. An address space has two top tables: the kernel's and, in the next page, that
 * of programs under isolation. They share what is programs'; of the kernel's part, the second has only the trampoline and the CPU area.
 *
 * The kernel's part is the same in all address spaces: the entries of its top table are copied into each when it is made, and none is
 * added later. It is there in both forms from boot on, so that the switch `paging` needs no memory.
 */
#include "cpu/cpu.h"
#include "cpu/unpaged.h"
#include "cpu/passage.h"
#include "entry/entry.h"
#include "entry/gates.h"
#include "entry/layout.h"
#include "mm/mm.h"

#define MOST_DEVICES 16

#define PTE_PRESENT    1ull
#define PTE_WRITE      2ull
#define PTE_USER       4ull
#define PTE_UNCACHED   0x18ull /* PWT and PCD: entry 3 of the PAT (pat.c) */
#define PTE_COMBINED   0x10ull /* PCD, entry 2 */
#define PTE_DIRTY      0x40ull
#define PTE_LARGE      0x80ull
#define PTE_GLOBAL     0x100ull
#define PTE_NO_EXECUTE (1ull << 63)
#define PTE_ADDRESS    0x000ffffffffff000ull

/* The bits of CR4 that switches decide, but for PAE. */
#define CR4_SWITCHED (CR4_SMAP | CR4_SMEP | CR4_UMIP | CR4_PGE)

extern const uint8_t kernel_start[], text_end[], rodata_end[], kernel_end[];
extern const uint8_t returns_page[];				 /* entry/returns.S */
extern const uint8_t image_start[], boot_code_end[], boot_end[]; /* kernel.lds */
extern const uint8_t trampoline_start[], trampoline_end[], cpu_area_start[], cpu_area_end[];

/* A form of page tables: the number of the top level, where pages are level 0; bits of an address that a level takes; bytes of an entry. */
static const struct paging {
	unsigned top, bits, bytes;
} forms[2] = {[PAGING_CLASSIC] = {1, 10, 4}, [PAGING_WIDE] = {2, 9, 8}};
static const struct paging *paging = &forms[PAGING_CLASSIC];

static unsigned current_form(void)
{
	return (unsigned)(paging - forms);
}

/* Of the kernel's own address space in either form, and of programs'. */
static struct tops kernel_tops[2], tops[MOST_THREADS];
struct address_space kernel_space = {.tops = &kernel_tops[PAGING_CLASSIC]};
static unsigned tops_used;

#define KERNEL_TOP  space->tops->kernels
#define PROGRAM_TOP space->tops->programs

/* The first tables lie in the kernel's own memory, because no other is mapped while they are made. */
#define EARLY_PAGES 96
static uint8_t early_pages[EARLY_PAGES][PAGE] __attribute__((aligned(4096)));

/* Which of the kernel's pages have the bit that makes their translations global (lab/mm/tables.c). */
static unsigned marked;
#define MARKED_SHARED 1
#define MARKED_ALL    2

static int is_trampoline(word address)
{
	return (address >= (word)trampoline_start && address < (word)trampoline_end) ||
	       (address >= (word)cpu_area_start && address < (word)cpu_area_end);
}

static uint64_t global_bit(word address)
{
	if (address < KERNEL_BASE)
		return 0;
	return marked == MARKED_ALL || (marked == MARKED_SHARED && is_trampoline(address)) ? PTE_GLOBAL : 0;
}

/* Of a level: what an entry maps; where in a table an address has its entry. */
static word span(unsigned level)
{
	return (word)PAGE << paging->bits * level;
}

static unsigned entries(unsigned level)
{
	return level == 2 ? 4 : 1u << paging->bits;
}

static unsigned slot(word address, unsigned level)
{
	return address / span(level) & (entries(level) - 1);
}

static unsigned first_of_kernel(void)
{
	return slot(KERNEL_BASE, paging->top);
}

static uint64_t get(const void *table, unsigned index)
{
	return paging->bytes == 8 ? ((const uint64_t *)table)[index] : ((const uint32_t *)table)[index];
}

/*
 * All changes of a single entry. Whoever takes something away flushes. One of 64 bits is written in two halves: that with the present
 * bit last where it comes, and first where it goes. Where only the rights in that half change, it is present all the time: it may be
 * that of the code or the stack here, or of what an NMI needs.
 */
static void put(void *table, unsigned index, uint64_t value)
{
	if (paging->bytes == 4) {
		((volatile uint32_t *)table)[index] = (uint32_t)value;
		return;
	}
	volatile uint32_t *const halves = (volatile uint32_t *)table + 2 * index;
	if (halves[1] != value >> 32) {
		halves[0] = 0;
		halves[1] = (uint32_t)(value >> 32);
	}
	halves[0] = (uint32_t)value;
}

/* An entry of a table. `table` is null where there is none. */
struct place {
	void *table;
	unsigned index;
};

static uint64_t at(struct place place)
{
	return place.table ? get(place.table, place.index) : 0;
}

/* The entry for an address at level 0 (page) or 1; makes the tables above it. */
static struct place entry_of(void *top, word address, unsigned level, int make)
{
	void *table = top;

	for (unsigned here = paging->top; here > level; here--) {
		const unsigned index = slot(address, here);
		if (!(get(table, index) & PTE_PRESENT)) {
			const word page = make ? page_take() : 0;
			if (!page)
				return (struct place){0};
			/* The top entries of three levels have no rights (SDM vol. 3, table 4-8). */
			const uint64_t rights = here == 2 ? 0 : PTE_WRITE | PTE_USER;
			put(table, index, page | PTE_PRESENT | rights);
			if (table == KERNEL_TOP && index < first_of_kernel())
				put(PROGRAM_TOP, index, get(table, index));
			else if (table == KERNEL_TOP && tops_used)
				panic("the kernel's part of address spaces cannot grow any more");
		}
		table = physical_to_virtual((word)(get(table, index) & PTE_ADDRESS));
	}
	return (struct place){table, slot(address, level)};
}

static uint64_t bits_of(unsigned rights)
{
	if (rights & MAP_HELD)
		return 0;
	return PTE_PRESENT | (rights & MAP_WRITE ? PTE_WRITE : 0) | (rights & MAP_USER ? PTE_USER : 0) |
	       (rights & MAP_EXECUTE || !cpu_has(FEATURE_NX) || paging->bytes == 4 ? 0 : PTE_NO_EXECUTE) |
	       (rights & MAP_SHADOW ? PTE_DIRTY : 0) | (rights & MAP_DEVICE ? PTE_UNCACHED : 0) |
	       (rights & MAP_SCREEN ? PTE_COMBINED : 0);
}

static void must_map(void *top, word address, unsigned level, uint64_t bits)
{
	const struct place place = entry_of(top, address, level, 1);

	if (!place.table)
		panic("no memory for the kernel's page tables");
	put(place.table, place.index, bits);
}

/* A part of the kernel's image, from an address on. */
static void map_image(void *top, word at, const uint8_t *from, const uint8_t *to, unsigned rights)
{
	for (word done = 0; done < (word)(to - from); done += PAGE)
		must_map(top, at + done, 0, kernel_to_physical((word)from + done) | bits_of(rights));
}

static void map_kernel(void *top, const uint8_t *from, const uint8_t *to, unsigned rights)
{
	map_image(top, (word)from, from, to, rights);
}

/* Large pages only where all of them is memory, for what lies beside may be a device; and where all have the same rights. */
static void map_memory(struct range range)
{
	const word large = span(1);
	const int is_image = range.start == (word)image_start;

	for (word here = (word)range.start; here < range.end;) {
		const int is_large = !is_image && !(here & (large - 1)) && range.end - here >= large;

		must_map(KERNEL_TOP, DIRECT_MAP + here, is_large ? 1 : 0,
			 here | bits_of(MAP_WRITE) | (is_large ? PTE_LARGE : 0));
		here += is_large ? large : PAGE;
	}
}

/* Three levels have these from the start, in both top tables: the processor keeps the top's entries from when CR3 was loaded. */
static void prepare_directories(struct tops *made)
{
	if (paging->top < 2)
		return;
	__builtin_memset(made->directories, 0, sizeof(made->directories));
	for (unsigned i = 0; i < first_of_kernel(); i++) {
		const uint64_t entry = kernel_to_physical((word)made->directories[i]) | PTE_PRESENT;
		put(made->kernels, i, entry);
		put(made->programs, i, entry);
	}
}

/* What runs, and is written, at its physical address while paging is off (boot/paging.S). */
static void map_boot_code(void)
{
	for (word page = (word)image_start; page < (word)boot_end; page += PAGE)
		must_map(KERNEL_TOP, page, 0,
			 page | bits_of(page < (word)boot_code_end ? MAP_EXECUTE : MAP_WRITE));
}

static void map_all(unsigned form, const struct range *memory, unsigned count)
{
	paging = &forms[form];
	kernel_space.tops = &kernel_tops[form];
	prepare_directories(kernel_space.tops);
	for (unsigned i = 0; i < count; i++)
		map_memory(memory[i]);
	map_boot_code();
	map_kernel(KERNEL_TOP, kernel_start, text_end, MAP_EXECUTE);
	map_kernel(KERNEL_TOP, text_end, rodata_end, 0);
	map_kernel(KERNEL_TOP, rodata_end, kernel_end, MAP_WRITE);
	map_image(KERNEL_TOP, (word)to_write((word)kernel_start), kernel_start, rodata_end, MAP_WRITE);
	map_image(KERNEL_TOP, UNTRAIN_PAGE, returns_page, returns_page + PAGE, MAP_EXECUTE);
	map_image(KERNEL_TOP, SAFE_RETURN_PAGE, returns_page, returns_page + PAGE, MAP_EXECUTE);
	map_kernel(PROGRAM_TOP, trampoline_start, trampoline_end, MAP_EXECUTE);
	map_kernel(PROGRAM_TOP, cpu_area_start, cpu_area_end, MAP_WRITE);
	/* The one page of the kernel that programs may execute. */
	map_kernel(KERNEL_TOP, conforming_page, conforming_page + PAGE, MAP_EXECUTE | MAP_USER);
	map_kernel(PROGRAM_TOP, conforming_page, conforming_page + PAGE, MAP_EXECUTE | MAP_USER);
}

void tables_init(const struct range *memory, unsigned count)
{
	const word early = kernel_to_physical((word)early_pages);

	memory_types_init();
	pages_init(early, early + sizeof(early_pages));
	map_all(PAGING_WIDE, memory, count);
	map_all(PAGING_CLASSIC, memory, count);
	kernel_cr3 = kernel_to_physical((word)KERNEL_TOP);
	tss_set_tables(kernel_cr3, kernel_cr3);
	write_cr3(kernel_cr3);
}

void tables_new_space(struct address_space *made)
{
	if (!made->tops)
		made->tops = &tops[tops_used++];
	__builtin_memset(made->tops, 0, sizeof(made->tops->kernels) + sizeof(made->tops->programs));
	prepare_directories(made->tops);
	for (unsigned i = first_of_kernel(); i < entries(paging->top); i++) {
		put(made->tops->kernels, i, get(kernel_space.tops->kernels, i));
		put(made->tops->programs, i, get(kernel_space.tops->programs, i));
	}
}

/* A page that nobody may access is still there, though its entry is not present. */
static void give_back(const void *table, unsigned count, unsigned level, int has_pages)
{
	for (unsigned i = 0; i < count; i++) {
		const word physical = (word)(get(table, i) & PTE_ADDRESS);

		if (!get(table, i))
			continue;
		if (level > !has_pages)
			give_back(physical_to_virtual(physical), entries(level - 1), level - 1, has_pages);
		/* The directories of three levels are not taken from the pages. */
		if (level < 2 && !page_is_for_good(physical))
			page_free(physical);
	}
}

void tables_end_space(struct address_space *ended)
{
	give_back(ended->tops->kernels, first_of_kernel(), paging->top, !ended->is_copy);
}

/* The entries of pages from an address on: what could be written is shared from here on, and nobody writes it. */
static void copy_pages(void *from, void *to, word address)
{
	for (unsigned i = 0; i < entries(0); i++, address += PAGE) {
		if (get(from, i) & PTE_WRITE) {
			put(from, i, get(from, i) & ~(PTE_WRITE | PTE_DIRTY));
			flush_page(address);
		}
		if (get(from, i))
			put(to, i, get(from, i));
	}
}

/* The entries of tables from an address on, each of which gets a copy; 0 when there is no memory. */
static int copy_tables(void *from, void *to, word address, unsigned level)
{
	const unsigned count = level == paging->top ? first_of_kernel() : entries(level);

	for (unsigned i = 0; i < count; i++, address += span(level)) {
		if (!get(from, i))
			continue;
		void *const below = physical_to_virtual((word)(get(from, i) & PTE_ADDRESS));
		if (level == 2) {
			if (!copy_tables(below, physical_to_virtual((word)(get(to, i) & PTE_ADDRESS)),
					 address, 1))
				return 0;
			continue;
		}
		const word page = page_take();
		if (!page)
			return 0;
		put(to, i, page | PTE_PRESENT | PTE_WRITE | PTE_USER);
		copy_pages(below, physical_to_virtual(page), address);
	}
	return 1;
}

int tables_copy(struct address_space *to)
{
	const int is_whole = copy_tables(KERNEL_TOP, to->tops->kernels, 0, paging->top);

	for (unsigned i = 0; i < first_of_kernel(); i++)
		put(to->tops->programs, i, get(to->tops->kernels, i));
	return is_whole ? 0 : -ENOMEM;
}

int tables_prepare(word address)
{
	return entry_of(KERNEL_TOP, address, 0, 1).table ? 0 : -ENOMEM;
}

static int map_in_form(word address, word physical, unsigned rights)
{
	const struct place place = entry_of(KERNEL_TOP, address, 0, 1);

	if (!place.table)
		return -ENOMEM;
	const uint64_t old = at(place);
	put(place.table, place.index, physical | bits_of(rights) | global_bit(address));
	/* No processor keeps a translation of an entry that was not present (SDM vol. 3, 4.10.2.3; APM vol. 2, 5.5). */
	if (old & PTE_PRESENT)
		flush_page(address);
	return 0;
}

/* Whatever is the kernel's is there in both forms. */
static void in_form(unsigned form)
{
	paging = &forms[form];
	kernel_space.tops = &kernel_tops[form];
}

int tables_map(word address, word physical, unsigned rights)
{
	const unsigned form = current_form();

	if (address < KERNEL_BASE)
		return map_in_form(address, physical, rights);
	in_form(!form);
	const int problem = map_in_form(address, physical, rights);
	in_form(form);
	return problem ? problem : map_in_form(address, physical, rights);
}

/* What is mapped there, in the order of its addresses. */
static struct {
	word end, distance;
} devices[MOST_DEVICES];
static unsigned device_count;

volatile void *device_now(volatile void *mapped)
{
	unsigned i = 0;

	if (!unpaged_distance)
		return mapped;
	while (i < device_count && (word)mapped >= devices[i].end)
		i++;
	if (i == device_count)
		panic("a device that is not mapped");
	return (volatile uint8_t *)mapped - devices[i].distance + unpaged_distance;
}

volatile void *tables_map_device(word physical, word bytes, unsigned kind)
{
	static word next = DEVICE_MAP;
	const word first = physical & ~(PAGE - 1), offset = physical - first;
	const word start = next, room = align_up(offset + bytes, PAGE);

	if (device_count == MOST_DEVICES || bytes > DEVICE_END - DEVICE_MAP || room > DEVICE_END - next ||
	    first + room - 1 < first)
		return 0;
	for (word done = 0; done < room; done += PAGE)
		if (tables_map(start + done, first + done, MAP_WRITE | kind))
			return 0;
	next += room;
	devices[device_count].end = next;
	devices[device_count++].distance = start - first;
	return (volatile void *)(start + offset);
}

static uint64_t clear_entry(void *top, word address)
{
	const struct place place = entry_of(top, address, 0, 0);
	const uint64_t old = at(place);

	if (place.table)
		put(place.table, place.index, 0);
	return old;
}

static word unmap_in_form(word address)
{
	const uint64_t old = clear_entry(KERNEL_TOP, address);
	const uint64_t of_program = address < KERNEL_BASE ? 0 : clear_entry(PROGRAM_TOP, address);

	if ((old | of_program) & PTE_PRESENT)
		flush_page(address);
	return (word)(old & PTE_ADDRESS);
}

word tables_unmap(word address)
{
	const unsigned form = current_form();

	if (address >= KERNEL_BASE) {
		in_form(!form);
		unmap_in_form(address);
		in_form(form);
	}
	return unmap_in_form(address);
}

int tables_find(word address, word *physical, unsigned *rights)
{
	const uint64_t entry = at(entry_of(KERNEL_TOP, address, 0, 0));

	if (!entry)
		return 0;
	*physical = (word)(entry & PTE_ADDRESS);
	*rights = (entry & PTE_PRESENT ? 0 : MAP_HELD) | (entry & PTE_WRITE ? MAP_WRITE : 0) |
		  (entry & PTE_USER ? MAP_USER : 0) | (entry & PTE_NO_EXECUTE ? 0 : MAP_EXECUTE);
	return 1;
}

/* Skips what a missing table would map: programs reserve too many addresses to look at each. */
word tables_next(word address, word end)
{
	while (address < end) {
		const void *table = KERNEL_TOP;
		unsigned level = paging->top;

		while (level && get(table, slot(address, level)) & PTE_PRESENT) {
			table = physical_to_virtual((word)(get(table, slot(address, level)) & PTE_ADDRESS));
			level--;
		}
		if (!level && get(table, slot(address, 0)))
			return address;
		address = (address & ~(span(level) - 1)) + span(level);
	}
	return end;
}

/* All pages of the kernel's part, or of a table below. */
static void mark_pages(void *table, unsigned level, word base)
{
	for (unsigned i = level == paging->top ? first_of_kernel() : 0; i < entries(level); i++) {
		const word address = base + i * span(level);
		const uint64_t entry = get(table, i), new = (entry & ~PTE_GLOBAL) | global_bit(address);

		if (!(entry & PTE_PRESENT))
			continue;
		if (level && !(entry & PTE_LARGE))
			mark_pages(physical_to_virtual((word)(entry & PTE_ADDRESS)), level - 1, address);
		else if (entry != new)
			put(table, i, new);
	}
}

/* The tables below the tops are those of all address spaces. There are no global translations now. */
static void mark_globals(void)
{
	static unsigned marked_form;
	const unsigned wanted = configured[SWITCH_PTI] == PTI_ON ? MARKED_SHARED : MARKED_ALL;

	if (configured[SWITCH_GLOBAL] == GLOBAL_OFF || (marked == wanted && marked_form == current_form()))
		return;
	marked = wanted;
	marked_form = current_form();
	mark_pages(kernel_space.tops->kernels, paging->top, 0);
	mark_pages(kernel_space.tops->programs, paging->top, 0);
}

/* No program is alive: all address spaces but the kernel's are made anew. */
static void change_form(void)
{
	const unsigned wanted = configured[SWITCH_PAGING] == PAGING_WIDE ? PAGING_WIDE : PAGING_CLASSIC;

	if (wanted == current_form())
		return;
	in_form(wanted);
	const word top = kernel_to_physical((word)KERNEL_TOP);
	const word flags = interrupts_off();
	const struct table_pointers pointers = passage_begin();
	tss_set_tables(top, top);
	paging_change(&pointers, top, read_cr4() ^ CR4_PAE);
	passage_end();
	interrupts_restore(flags);
}

word end_of_programs(int bits)
{
	(void)bits;
	return programs_have_blocks() ? BLOCK_BYTES : USER_END;
}

int programs_have_blocks(void)
{
	return configured[SWITCH_PAGING] == PAGING_OFF;
}

/* No bit that the processor lacks: paths_configure has asked for the features of these switches. */
static word wanted_cr4(void)
{
	return (configured[SWITCH_SMAP] == SMAP_ON ? CR4_SMAP : 0) |
	       (configured[SWITCH_SMEP] == SMEP_ON ? CR4_SMEP : 0) |
	       (configured[SWITCH_UMIP] == UMIP_ON ? CR4_UMIP : 0) |
	       (configured[SWITCH_GLOBAL] == GLOBAL_ON ? CR4_PGE : 0);
}

void tables_configure(void)
{
	if (read_cr4() & CR4_PGE)
		write_cr4(read_cr4() & ~(word)CR4_PGE);
	change_form();
	mark_globals();
	const word wanted = (read_cr4() & ~(word)CR4_SWITCHED) | wanted_cr4();
	if (wanted != read_cr4())
		write_cr4(wanted);
	flush_configure();
	tables_enter();
}

static void count_pages(const void *table, unsigned level, word base, uint64_t *pages, uint64_t *foreign)
{
	for (unsigned i = level == paging->top ? first_of_kernel() : 0; i < entries(level); i++) {
		const word address = base + i * span(level);
		const uint64_t entry = get(table, i);

		if (!(entry & PTE_PRESENT))
			continue;
		if (level && !(entry & PTE_LARGE)) {
			count_pages(physical_to_virtual((word)(entry & PTE_ADDRESS)), level - 1, address,
				    pages, foreign);
			continue;
		}
		*pages += 1;
		*foreign += level != 0 || !is_trampoline(address);
	}
}

void tables_check_isolation(uint64_t *pages, uint64_t *foreign)
{
	*pages = *foreign = 0;
	count_pages(PROGRAM_TOP, paging->top, 0, pages, foreign);
}

int tables_are_blind(void)
{
	/* Kernel data, kernel code, and the same code where it may be written. */
	const word places[] = {(word)KERNEL_TOP, (word)kernel_start, (word)to_write((word)kernel_start)};
	long (*const peek)(word) = (void *)path_peek_as_program;
	const int isolated = configured[SWITCH_PTI] == PTI_ON;
	int blind = isolated;

	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]) && isolated; i++)
		blind &= peek(places[i]) == 1;
	/* Mapped memory can be read the same way, so the method does distinguish the two. */
	return blind && peek((word)cpu_area_start) == 0;
}

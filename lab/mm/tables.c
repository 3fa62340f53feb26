/*
 * Page tables (SDM vol. 3, 4.5). An address space has two top tables: the kernel's and, in the next page, that of programs
 * under isolation. They share the lower half; of the upper half, the second has only the trampoline, the CPU area, and the
 * vsyscall page.
 *
 * The kernel's half is the same in all address spaces: the entries of its top table are copied into each when it is made, and
 * none is added later, so that all have the tables below in common. Devices are mapped at boot, before there are programs.
 */
#include "cpu/cpu.h"
#include "entry/entry.h"
#include "entry/layout.h"
#include "mm/mm.h"
#include "mm/tlb.h"
#include "vdso/vsyscall.h"

#define PTE_PRESENT  1ul
#define PTE_WRITE    2ul
#define PTE_USER     4ul
#define PTE_UNCACHED 0x18ul /* PWT and PCD: entry 3 of the PAT (pat.c) */
#define PTE_COMBINED                                                                                         \
	0x10ul /* PCD, entry 2: UC-, which an MTRR may make write-combining (SDM vol. 3, 12.5.2.2) */
#define PTE_DIRTY      0x40ul
#define PTE_LARGE      0x80ul
#define PTE_GLOBAL     0x100ul
#define PTE_NO_EXECUTE (1ul << 63)
#define PTE_ADDRESS    0x000ffffffffff000ul

#define ENTRIES		512
#define FIRST_OF_KERNEL 256
#define KERNEL_HALF	0xffff000000000000ul

/* The bits of CR4 that switches decide. */
#define CR4_SWITCHED (CR4_SMAP | CR4_SMEP | CR4_UMIP | CR4_PCIDE | CR4_PGE)

extern const uint8_t kernel_start[], text_end[], rodata_end[], kernel_end[];
extern const uint8_t returns_page[];   /* entry/returns.S */
extern const uint8_t exit_stack_top[]; /* entry/stacks.S */
extern const uint8_t trampoline_start[], trampoline_end[], cpu_area_start[], cpu_area_end[];

/* Of the kernel's own address space, and of programs'. */
static struct tops tops[1 + MOST_THREADS];
struct address_space kernel_space = {.tops = &tops[0]};
static unsigned tops_used = 1;

/* Of the current address space. */
#define KERNEL_TOP  space->tops->kernels
#define PROGRAM_TOP space->tops->programs

/* The first tables lie in the kernel's own memory, because no other is mapped while they are made. */
#define EARLY_PAGES 36
static uint8_t early_pages[EARLY_PAGES][PAGE] __attribute__((aligned(4096)));

/*
 * Which of the kernel's pages have the bit that makes their translations global, which only counts while CR4.PGE is set. Under isolation
 * these are the pages that programs' tables have, too, with the same rights: translations of any other would be there for
 * programs as well, which is what isolation is to prevent. Linux makes the same choice (arch/x86/mm/pti.c; cpu_entry_area.c, cea_set_pte).
 */
static unsigned marked;
#define MARKED_SHARED 1
#define MARKED_ALL    2

static unsigned slot(uint64_t address, unsigned level)
{
	return address >> (12 + 9 * level) & (ENTRIES - 1);
}

static int is_espfix(uint64_t address)
{
	return slot(address, 3) == slot(ESPFIX_AREA, 3);
}

static int is_trampoline(uint64_t address)
{
	return (address >= (uint64_t)trampoline_start && address < (uint64_t)trampoline_end) ||
	       (address >= (uint64_t)cpu_area_start && address < (uint64_t)cpu_area_end) ||
	       (address & ~(PAGE - 1)) == VSYSCALL_ADDRESS;
}

static uint64_t global_bit(uint64_t address)
{
	/* First: what a program's page takes must not depend on which configuration has marked the kernel's. */
	if (address < KERNEL_HALF)
		return 0;
	return marked == MARKED_ALL || (marked == MARKED_SHARED && is_trampoline(address)) ? PTE_GLOBAL : 0;
}

/* All changes of a single entry. Whoever takes something away flushes. */
static void set_entry(uint64_t *entry, uint64_t value)
{
	*entry = value;
	TLB_NOTE(TLB_STORE, (uint64_t)entry, value);
}

/*
 * The lower half is the same in both top tables; it is only ever the kernel's in which tables are made. The upper half is complete
 * once other address spaces have it.
 */
static void new_top_entry(unsigned which, uint64_t entry)
{
	if (which < FIRST_OF_KERNEL)
		set_entry(&PROGRAM_TOP[which], entry);
	else if (tops_used > 1)
		panic("the kernel's half of address spaces cannot grow any more");
}

/* The entry for an address at level 0 (page) or 1 (2 MiB); makes the tables above it. 0 when there is no memory. */
static uint64_t *entry_of(uint64_t *top, uint64_t address, unsigned level, int make)
{
	uint64_t *table = top;

	for (unsigned at = 3; at > level; at--) {
		uint64_t *entry = &table[slot(address, at)];
		if (!(*entry & PTE_PRESENT)) {
			const uint64_t page = make ? page_take() : 0;
			if (!page)
				return 0;
			TLB_NOTE(TLB_CLEAR, (uint64_t)physical_to_virtual(page), PAGE);
			set_entry(entry, page | PTE_PRESENT | PTE_WRITE | PTE_USER);
			if (at == 3)
				new_top_entry(slot(address, 3), *entry);
		}
		table = physical_to_virtual(*entry & PTE_ADDRESS);
	}
	return &table[slot(address, level)];
}

static uint64_t bits_of(unsigned rights)
{
	if (rights & MAP_HELD)
		return 0;
	return PTE_PRESENT | (rights & MAP_WRITE ? PTE_WRITE : 0) | (rights & MAP_USER ? PTE_USER : 0) |
	       (rights & MAP_EXECUTE || !cpu_has(FEATURE_NX) ? 0 : PTE_NO_EXECUTE) |
	       /* Dirty and not writable: SDM vol. 3, 4.6; no other entry of this kernel is both. */
	       (rights & MAP_SHADOW ? PTE_DIRTY : 0) | (rights & MAP_DEVICE ? PTE_UNCACHED : 0) |
	       (rights & MAP_SCREEN ? PTE_COMBINED : 0);
}

static void must_map(uint64_t *top, uint64_t address, unsigned level, uint64_t bits)
{
	uint64_t *entry = entry_of(top, address, level, 1);

	if (!entry)
		panic("no memory for the kernel's page tables");
	set_entry(entry, bits);
}

static void map_kernel(uint64_t *top, const uint8_t *from, const uint8_t *to, unsigned rights)
{
	for (uint64_t at = (uint64_t)from; at < (uint64_t)to; at += PAGE)
		must_map(top, at, 0, kernel_to_physical(at) | bits_of(rights));
}

/* Large pages only where all of them is memory: what lies beside may be a device. */
static void map_memory(struct range range)
{
	for (uint64_t at = range.start; at < range.end;) {
		const int is_large = !(at & (LARGE_PAGE - 1)) && range.end - at >= LARGE_PAGE;

		must_map(KERNEL_TOP, DIRECT_MAP + at, is_large ? 1 : 0,
			 at | bits_of(MAP_WRITE) | (is_large ? PTE_LARGE : 0));
		at += is_large ? LARGE_PAGE : PAGE;
	}
}

#define ESPFIX_STEP 0x10000
#define ESPFIX_GIBS 8 /* from ESPFIX_MAP on there are 4; a stack may begin below the first of these */

static uint64_t espfix_places; /* what the tables' top has of them with espfix=on */

/*
 * The exit stack, at each distance of 64 KiB from ESPFIX_AREA on: one page table for all 2 MiB, one directory for all GiB. Whatever the
 * address of the stack is, its pages lie one behind the other there, too: what would be above the end of 64 KiB is where the next place has it.
 */
static void map_espfix(void)
{
	const uint64_t end = (uint64_t)exit_stack_top, start = end - EXIT_STACK_BYTES;

	for (uint64_t at = start; at < end; at += PAGE)
		for (uint64_t place = 0; place < LARGE_PAGE; place += ESPFIX_STEP)
			must_map(KERNEL_TOP, ESPFIX_AREA + place + at % ESPFIX_STEP, 0,
				 kernel_to_physical(at) | bits_of(MAP_WRITE));
	uint64_t *const directory = entry_of(KERNEL_TOP, ESPFIX_AREA, 1, 0);
	uint64_t *const above = physical_to_virtual(KERNEL_TOP[slot(ESPFIX_AREA, 3)] & PTE_ADDRESS);
	for (unsigned i = 1; i < ENTRIES; i++)
		set_entry(&directory[i], directory[0]);
	for (unsigned i = 1; i < ESPFIX_GIBS; i++)
		set_entry(&above[i], above[0]);
	espfix_places = KERNEL_TOP[slot(ESPFIX_AREA, 3)];
	set_entry(&KERNEL_TOP[slot(ESPFIX_AREA, 3)], 0);
}

/* No program is alive: all address spaces are made with what these have. */
static void configure_espfix(void)
{
	const uint64_t places = configured[SWITCH_ESPFIX] == ESPFIX_ON ? espfix_places : 0;

	set_entry(&KERNEL_TOP[slot(ESPFIX_AREA, 3)], places);
	set_entry(&PROGRAM_TOP[slot(ESPFIX_AREA, 3)], places);
}

void tables_init(const struct range *memory, unsigned count)
{
	const uint64_t early = kernel_to_physical((word)early_pages);

	memory_types_init();
	pages_init(early, early + sizeof(early_pages));
	for (unsigned i = 0; i < count; i++)
		map_memory(memory[i]);
	map_kernel(KERNEL_TOP, kernel_start, text_end, MAP_EXECUTE);
	map_kernel(KERNEL_TOP, text_end, rodata_end, 0);
	map_kernel(KERNEL_TOP, rodata_end, kernel_end, MAP_WRITE);
	must_map(KERNEL_TOP, UNTRAIN_PAGE, 0, kernel_to_physical((word)returns_page) | bits_of(MAP_EXECUTE));
	must_map(KERNEL_TOP, SAFE_RETURN_PAGE, 0,
		 kernel_to_physical((word)returns_page) | bits_of(MAP_EXECUTE));
	map_kernel(PROGRAM_TOP, trampoline_start, trampoline_end, MAP_EXECUTE);
	map_kernel(PROGRAM_TOP, cpu_area_start, cpu_area_end, MAP_WRITE);
	map_espfix();
	kernel_cr3 = kernel_to_physical((word)KERNEL_TOP);
	write_cr3(kernel_cr3);
}

void tables_new_space(struct address_space *made)
{
	const uint64_t half = FIRST_OF_KERNEL * sizeof(uint64_t);

	if (!made->tops)
		made->tops = &tops[tops_used++];
	for (unsigned i = 0; i < 2; i++) {
		uint64_t *const top = i ? made->tops->programs : made->tops->kernels;
		const uint64_t *const kernel = i ? kernel_space.tops->programs : kernel_space.tops->kernels;

		__builtin_memset(top, 0, half);
		TLB_NOTE(TLB_CLEAR, (uint64_t)top, half);
		for (unsigned at = FIRST_OF_KERNEL; at < ENTRIES; at++)
			if (top[at] != kernel[at])
				set_entry(&top[at], kernel[at]);
	}
}

/* A page that nobody may access is still there, though its entry is not present. */
static void give_back(const uint64_t *table, unsigned entries, unsigned level, int has_pages)
{
	for (unsigned i = 0; i < entries; i++) {
		const uint64_t physical = table[i] & PTE_ADDRESS;

		if (!table[i])
			continue;
		if (level > !has_pages)
			give_back(physical_to_virtual(physical), ENTRIES, level - 1, has_pages);
		if (!page_is_for_good(physical))
			page_free(physical);
	}
}

void tables_end_space(struct address_space *ended)
{
	give_back(ended->tops->kernels, FIRST_OF_KERNEL, 3, !ended->is_copy);
}

/*
 * The entries of pages from an address on: what could be written is shared from here on, and nobody writes it. It is not dirty either:
 * what is dirty and not to be written is a shadow stack (SDM vol. 1, 17.3.1), which stays what it is.
 */
static void copy_pages(uint64_t *from, uint64_t *to, uint64_t address)
{
	for (unsigned i = 0; i < ENTRIES; i++, address += PAGE) {
		if (from[i] & PTE_WRITE) {
			set_entry(&from[i], from[i] & ~(PTE_WRITE | PTE_DIRTY));
			flush_page(address);
		}
		if (from[i])
			set_entry(&to[i], from[i]);
	}
}

/* The entries of tables from an address on, each of which gets a copy; 0 when there is no memory. */
static int copy_tables(uint64_t *from, uint64_t *to, uint64_t address, unsigned level)
{
	const uint64_t span = 1ul << (12 + 9 * level);

	for (unsigned i = 0; i < (level == 3 ? FIRST_OF_KERNEL : ENTRIES); i++, address += span) {
		if (!from[i])
			continue;
		const uint64_t page = page_take();
		if (!page)
			return 0;
		uint64_t *const below = physical_to_virtual(from[i] & PTE_ADDRESS);
		uint64_t *const copy = physical_to_virtual(page);
		TLB_NOTE(TLB_CLEAR, (uint64_t)copy, PAGE);
		set_entry(&to[i], page | PTE_PRESENT | PTE_WRITE | PTE_USER);
		if (level == 1)
			copy_pages(below, copy, address);
		else if (!copy_tables(below, copy, address, level - 1))
			return 0;
	}
	return 1;
}

int tables_copy(struct address_space *to)
{
	const int is_whole = copy_tables(KERNEL_TOP, to->tops->kernels, 0, 3);

	for (unsigned i = 0; i < FIRST_OF_KERNEL; i++)
		if (to->tops->kernels[i])
			set_entry(&to->tops->programs[i], to->tops->kernels[i]);
	return is_whole ? 0 : -ENOMEM;
}

int tables_prepare(uint64_t address)
{
	return entry_of(KERNEL_TOP, address, 0, 1) ? 0 : -ENOMEM;
}

int tables_map(uint64_t address, uint64_t physical, unsigned rights)
{
	uint64_t *const entry = entry_of(KERNEL_TOP, address, 0, 1);
	uint64_t *const of_program = address < KERNEL_BASE ? entry : entry_of(PROGRAM_TOP, address, 0, 1);

	if (!entry || !of_program)
		return -ENOMEM;
	const uint64_t old = *entry | *of_program;
	const uint64_t new = physical | bits_of(rights) | global_bit(address);
	set_entry(entry, new);
	if (of_program != entry)
		set_entry(of_program, new);
	/* No processor keeps a translation of an entry that was not present (SDM vol. 3, 4.10.2.3; APM vol. 2, 5.5). */
	if (old & PTE_PRESENT)
		flush_page(address);
	return 0;
}

volatile void *tables_map_device(uint64_t physical, uint64_t bytes, unsigned kind)
{
	const uint64_t first = physical & ~(PAGE - 1), reach = KERNEL_BASE - DEVICE_MAP;

	if (physical >= reach || bytes > reach - physical)
		return 0;
	for (uint64_t at = first; at < physical + bytes; at += PAGE)
		if (tables_map(DEVICE_MAP + at, at, MAP_WRITE | kind))
			return 0;
	return (volatile void *)(DEVICE_MAP + physical);
}

static uint64_t clear_entry(uint64_t *top, uint64_t address)
{
	uint64_t *entry = entry_of(top, address, 0, 0);
	const uint64_t old = entry ? *entry : 0;

	if (entry)
		set_entry(entry, 0);
	return old;
}

uint64_t tables_unmap(uint64_t address)
{
	const uint64_t old = clear_entry(KERNEL_TOP, address);
	const uint64_t of_program = address < KERNEL_BASE ? 0 : clear_entry(PROGRAM_TOP, address);

	if ((old | of_program) & PTE_PRESENT)
		flush_page(address);
	return old & PTE_ADDRESS;
}

int tables_find(uint64_t address, uint64_t *physical, unsigned *rights)
{
	const uint64_t *entry = entry_of(KERNEL_TOP, address, 0, 0);

	if (!entry || !*entry)
		return 0;
	*physical = *entry & PTE_ADDRESS;
	*rights = (*entry & PTE_PRESENT ? 0 : MAP_HELD) | (*entry & PTE_WRITE ? MAP_WRITE : 0) |
		  (*entry & PTE_USER ? MAP_USER : 0) | (*entry & PTE_NO_EXECUTE ? 0 : MAP_EXECUTE);
	return 1;
}

/* Skips what a missing table would map: programs reserve too many addresses to look at each. */
uint64_t tables_next(uint64_t address, uint64_t end)
{
	while (address < end) {
		const uint64_t *table = KERNEL_TOP;
		unsigned level = 3;

		while (level && table[slot(address, level)] & PTE_PRESENT)
			table = physical_to_virtual(table[slot(address, level--)] & PTE_ADDRESS);
		if (!level && table[slot(address, 0)])
			return address;
		const uint64_t span = 1ul << (12 + 9 * level);
		address = (address & ~(span - 1)) + span;
	}
	return end;
}

/* All pages of a half, or of a table below. */
static void mark_pages(uint64_t *table, unsigned level, uint64_t base)
{
	for (unsigned i = level == 3 ? FIRST_OF_KERNEL : 0; i < ENTRIES; i++) {
		const uint64_t address = base | (uint64_t)i << (12 + 9 * level);
		const uint64_t entry = table[i], new = (entry & ~PTE_GLOBAL) | global_bit(address);

		/* Never the exit stack's other places. */
		if (!(entry & PTE_PRESENT) || is_espfix(address))
			continue;
		if (level && !(entry & PTE_LARGE))
			mark_pages(physical_to_virtual(entry & PTE_ADDRESS), level - 1, address);
		else if (entry != new)
			set_entry(&table[i], new);
	}
}

/* The tables below the tops are those of all address spaces. There are no global translations now. */
static void mark_globals(void)
{
	const unsigned wanted = configured[SWITCH_PTI] == PTI_ON ? MARKED_SHARED : MARKED_ALL;

	if (configured[SWITCH_GLOBAL] == GLOBAL_OFF || marked == wanted)
		return;
	marked = wanted;
	mark_pages(kernel_space.tops->kernels, 3, KERNEL_HALF);
	mark_pages(kernel_space.tops->programs, 3, KERNEL_HALF);
}

/* No bit that the processor lacks: paths_configure has asked for the features of these switches. */
static uint64_t wanted_cr4(void)
{
	return (configured[SWITCH_SMAP] == SMAP_ON ? CR4_SMAP : 0) |
	       (configured[SWITCH_SMEP] == SMEP_ON ? CR4_SMEP : 0) |
	       (configured[SWITCH_UMIP] == UMIP_ON ? CR4_UMIP : 0) |
	       (configured[SWITCH_PCID] == PCID_OFF ? 0 : CR4_PCIDE) |
	       (configured[SWITCH_GLOBAL] == GLOBAL_ON ? CR4_PGE : 0);
}

word end_of_programs(int bits)
{
	return bits == WORD_BITS ? USER_END : USER_END_32;
}

/* Long mode has no other protection. */
int programs_have_blocks(void)
{
	return 0;
}

void tables_configure(void)
{
	const uint64_t others = read_cr4() & ~(uint64_t)CR4_SWITCHED, wanted = others | wanted_cr4();

	write_cr3(kernel_to_physical(
	    (uint64_t)KERNEL_TOP)); /* PCIDE changes only while the identifier is 0 (SDM vol. 3, 4.10.1) */
	if (read_cr4() & CR4_PGE)
		write_cr4(read_cr4() & ~(uint64_t)CR4_PGE);
	mark_globals();
	configure_espfix();
	if (wanted != read_cr4())
		write_cr4(wanted);
	flush_configure();
	tables_enter();
}

static int is_of_exit_stack(uint64_t physical)
{
	const uint64_t end = kernel_to_physical((word)exit_stack_top);

	return physical >= end - EXIT_STACK_BYTES && physical < end;
}

static void count_pages(const uint64_t *table, unsigned level, uint64_t base, uint64_t *pages,
			uint64_t *foreign)
{
	for (unsigned i = level == 3 ? FIRST_OF_KERNEL : 0; i < ENTRIES; i++) {
		const uint64_t address = base | (uint64_t)i << (12 + 9 * level);

		/* Of the exit stack's places, all of which have the same tables, those in one table. */
		if (!(table[i] & PTE_PRESENT) || (i && level && level < 3 && is_espfix(address)))
			continue;
		if (level && !(table[i] & PTE_LARGE)) {
			count_pages(physical_to_virtual(table[i] & PTE_ADDRESS), level - 1, address, pages,
				    foreign);
			continue;
		}
		/* At another place of the exit stack, no page is one more, and every other is foreign. */
		const int is_again = is_espfix(address);
		*pages += !is_again;
		*foreign += level != 0 ||
			    !(is_again ? is_of_exit_stack(table[i] & PTE_ADDRESS) : is_trampoline(address));
	}
}

void tables_check_isolation(uint64_t *pages, uint64_t *foreign)
{
	*pages = *foreign = 0;
	count_pages(PROGRAM_TOP, 3, KERNEL_HALF, pages, foreign);
}

int tables_are_blind(void)
{
	/* Kernel data, kernel code, and the same data where all memory is mapped. */
	const uint64_t places[] = {(uint64_t)KERNEL_TOP, (uint64_t)kernel_start,
				   (uint64_t)physical_to_virtual(kernel_to_physical((word)KERNEL_TOP))};
	long (*const peek)(uint64_t) = (void *)path_peek_as_program;
	const int isolated = configured[SWITCH_PTI] == PTI_ON;
	int blind = isolated;

	hardware_point_page_faults(1);
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]) && isolated; i++)
		blind &= peek(places[i]) == 1;
	/* Mapped memory can be read the same way, so the method does distinguish the two. */
	blind = blind && peek((uint64_t)cpu_area_start) == 0;
	hardware_point_page_faults(0);
	return blind;
}

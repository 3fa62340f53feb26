/* Builds the entry paths out of the steps that a configuration has (path.inc). */
#include "entry/entry.h"
#include "entry/steps/steps.h"
#include "mm/mm.h"

/* As path.inc writes them. */
struct condition {
	uint32_t which, values; /* SWITCH_*, ENTERED_BY or NUMBERS; a bit for each value */
};

struct step {
	word start;
	const char *name; /* null behind the last */
	const struct condition *conditions;
	word hook; /* if not 0, this is no step, but HOOK_* */
};

struct path {
	word *address;
	uint8_t *slot;
	const struct step *steps;
	const char *name;
	word kind; /* BY_*, and above it NUMBERS_* */
};

struct attached {
	const struct step *steps;
	word hook;
};

struct parameter {
	word at, which;
};

struct fault {
	word at, resume;
};

extern const struct path path_list_start[], path_list_end[];
extern const struct attached path_attached_start[], path_attached_end[];
extern const word path_branches_start[], path_branches_end[];
extern const struct fault path_faults_start[], path_faults_end[];
extern const struct parameter path_parameters_start[], path_parameters_end[];
extern const uint8_t paths_start[], paths_end[];

#define MAX_PIECES    256 /* of a path: steps that are there, hooks, ends */
#define MAX_FAULTS    192
#define BRANCH_LENGTH 4
#define INT3	      0xcc

/* crates/table/src/paths reads them, and refuses a kernel whose paths could exceed one. */
extern const word path_limits[5];
const word path_limits[5] = {PATH_SLOT, PATH_ROOM, MAX_PIECES, MAX_FAULTS, STEP_NAME};

static struct fault faults[MAX_FAULTS];
static unsigned fault_count;
static uint64_t layout;

configuration configured;

/* A path is built here, and copied to its slot where it differs: an emulator must translate again what was written. */
static uint8_t draft[PATH_SLOT] __attribute__((aligned(64)));

/* How many bytes of the draft, and of each path's slot, may be something else than INT3. */
static word filled = PATH_SLOT;
extern word path_ends[];

/* A step in a path; or a hook, the beginning or the end of a block: these have no code, but branches may go there. */
struct piece {
	word from, length; /* of the template */
	word to;
	const char *name;
	unsigned block; /* 0: the path's own steps; else attached ones, which have a number for each place */
	unsigned place; /* among all steps, whether there or not */
};

static struct {
	const uint32_t *wanted;
	const struct path *path;
	word start, at; /* where it will run */
	struct piece pieces[MAX_PIECES];
	unsigned count, blocks, places;
} building;

static word value_of(uint32_t which)
{
	switch (which) {
	case ENTERED_BY:
		return building.path->kind & ((1u << KIND_BITS) - 1);
	case NUMBERS:
		return building.path->kind >> KIND_BITS;
	default:
		return building.wanted[which];
	}
}

static int holds(const struct step *step)
{
	for (const struct condition *condition = step->conditions; condition < step[1].conditions;
	     condition++) {
		const word value = value_of(condition->which);
		if (!(condition->values >> (value < 31 ? value : 31) & 1))
			return 0;
	}
	return 1;
}

static void add_piece(word from, word length, const char *name, unsigned block)
{
	if (building.count == MAX_PIECES || building.at + length > (word)building.path->slot + PATH_SLOT)
		panic("a path with more steps or code than there is room for");
	__builtin_memcpy(draft + (building.at - (word)building.path->slot), (const void *)from, length);
	building.pieces[building.count++] =
	    (struct piece){from, length, building.at, name, block, building.places};
	building.at += length;
}

static void add_block(const struct step *step, int is_on);

static void add_attached(word hook, int is_on)
{
	for (const struct attached *attached = path_attached_start; attached < path_attached_end; attached++)
		if (attached->hook == hook)
			add_block(attached->steps, is_on);
}

/* Steps of one file, one after the other; if they hang on a hook that is off, they only count. */
static void add_block(const struct step *step, int is_on)
{
	const unsigned block = building.blocks++;

	if (is_on)
		add_piece(step->start, 0, 0, block);
	for (; step->name; step++) {
		const int is_there = is_on && holds(step);
		if (is_there)
			add_piece(step->start, step->hook ? 0 : step[1].start - step->start, step->name,
				  block);
		building.places++;
		if (step->hook)
			add_attached(step->hook, is_there);
	}
	if (is_on)
		add_piece(step->start, 0, 0, block);
}

/* Where a template's address of this block went; an address outside of the block stays. */
static word moved(unsigned block, word address)
{
	int is_first = 1;

	for (unsigned i = 0; i < building.count; i++) {
		const struct piece *piece = &building.pieces[i];

		if (piece->block != block)
			continue;
		if (is_first && address < piece->from)
			return address;
		is_first = 0;
		if (address <= piece->from)
			return piece->to;
		if (address < piece->from + piece->length)
			return piece->to + (address - piece->from);
	}
	return address;
}

/* The first of a table's rows, which are sorted and begin with an address, at or behind an address. */
static const word *first_at(const word *start, const word *end, unsigned words, word address)
{
	word rows = (word)(end - start) / words;

	while (rows) {
		const word half = rows / 2;
		if (start[half * words] < address) {
			start += (half + 1) * words;
			rows -= half + 1;
		} else {
			rows = half;
		}
	}
	return start;
}

/* Rows of a table that lie in a piece. */
#define IN_PIECE(row, table, piece)                                                                          \
	(row) = (const void *)first_at((const word *)table##_start, (const word *)table##_end,               \
				       sizeof(*(row)) / sizeof(word), (piece)->from);                        \
	(row) < table##_end && ((const word *)(row))[0] < (piece)->from + (piece)->length;                   \
	(row)++

static void *in_draft(const struct piece *piece, word address)
{
	return draft + (piece->to + (address - piece->from) - (word)building.path->slot);
}

static void correct(const struct piece *piece)
{
	const word *branch;
	const struct fault *fault;
	const struct parameter *parameter;

	if (!piece->length)
		return;
	for (IN_PIECE(branch, path_branches, piece)) {
		int32_t *displacement = in_draft(piece, *branch);
		const word next = *branch + BRANCH_LENGTH, to = piece->to + (next - piece->from);
		const word target = next + (word)(int64_t)*displacement;
		const word thunk = target == (word)return_thunk ? returns_thunk() : target;
		*displacement = (int32_t)(moved(piece->block, thunk) - to);
	}
	for (IN_PIECE(parameter, path_parameters, piece))
		*(uint32_t *)in_draft(piece, parameter->at) = building.wanted[parameter->which];
	for (IN_PIECE(fault, path_faults, piece)) {
		if (fault_count == MAX_FAULTS)
			panic("more faults than MAX_FAULTS");
		faults[fault_count++] = (struct fault){
		    piece->to + (fault->at - piece->from),
		    fault->resume ? moved(piece->block, fault->resume) : FAULT_ENDS,
		};
	}
}

/* Where in its slot a path begins: drawn from the layout's number. */
static word offset_of(const struct path *path)
{
	const uint64_t drawn = random_mixed(layout + (uint64_t)(path - path_list_start + 1) * RANDOM_STEP);

	return layout ? drawn % PATH_ROOM & ~(PATH_STEP - 1ul) : 0;
}

/* Copies the steps to the draft, as they are in the template. */
static void lay_out(const struct path *path, const configuration wanted)
{
	building.wanted = wanted;
	building.path = path;
	building.start = building.at = (word)path->slot + offset_of(path);
	building.count = building.blocks = building.places = 0;
	__builtin_memset(draft, INT3, filled);
	add_block(path->steps, 1);
	filled = align_up(building.at - (word)path->slot, sizeof(uint64_t));
}

/* To its slot, over what was there. */
static void place(const struct path *path)
{
	word *end = &path_ends[path - path_list_start];
	const word both = filled > *end ? filled : *end;
	const uint64_t *from = (const uint64_t *)draft;
	uint64_t *to = to_write((word)path->slot);

	for (word i = 0; i < both / sizeof(*to); i++)
		if (to[i] != from[i])
			to[i] = from[i];
	*end = filled;
	*path->address = building.start;
}

static void build_all(const configuration wanted)
{
	fault_count = 0;
	for (const struct path *path = path_list_start; path < path_list_end; path++) {
		lay_out(path, wanted);
		for (unsigned i = 0; i < building.count; i++)
			correct(&building.pieces[i]);
		place(path);
	}
	/* Changed code may be executed only after a serializing instruction (SDM vol. 3, 9.1.3). */
	__asm__ volatile("" : : : "memory");
	cpuid(0, 0);
}

/* Steps that have no effect without their feature are executed without it. */
static int harmless_is_allowed;

void paths_allow_harmless(void)
{
	harmless_is_allowed = 1;
}

/* The SWITCH_* that this CPU cannot do as wanted; 0 when there is none. */
static unsigned impossible(const configuration wanted)
{
#define ROW(id_, values_, feature_, is_harmless_)                                                            \
	if (((values_) >> (wanted[id_] < 31 ? wanted[id_] : 31) & 1) && !cpu_has(feature_) &&                \
	    !((is_harmless_) && harmless_is_allowed))                                                        \
		return id_;
	SWITCH_NEEDS(ROW)
#undef ROW
	return 0;
}

unsigned paths_configure(const configuration wanted)
{
	const unsigned problem = impossible(wanted);

	if (problem)
		return problem;
	__builtin_memcpy(configured, wanted, sizeof(configured));
	returns_configure();
	build_all(configured);
	canary_draw();
	filter_make(configured[SWITCH_FILTER]);
	speculation_configure();
	hardware_point();
	shadow_stack_configure();
	ibt_configure();
	tables_configure();
	vsyscall_configure(configured[SWITCH_VSYSCALL]);
	return 0;
}

void paths_set_layout(uint64_t drawn_from)
{
	layout = drawn_from;
}

int path_list_steps(struct text name, path_step_sink sink)
{
	for (const struct path *path = path_list_start; path < path_list_end; path++) {
		if (__builtin_strlen(path->name) != name.count ||
		    __builtin_memcmp(path->name, name.bytes, name.count))
			continue;
		lay_out(path, configured);
		for (unsigned i = 0; i < building.count; i++) {
			const struct piece *piece = &building.pieces[i];
			if (piece->length)
				sink(piece->name, piece->place, piece->to, (const uint8_t *)piece->to,
				     piece->length);
		}
		return 1;
	}
	return 0;
}

/* They are in the order of their addresses: paths are, and the pieces of a path. */
word path_fault(word rip)
{
	const word *const end = (const word *)(faults + fault_count);
	const word *const found = first_at((const word *)faults, end, sizeof(faults[0]) / sizeof(word), rip);

	return found < end && found[0] == rip ? found[1] : FAULT_UNKNOWN;
}

int is_in_path(word rip)
{
	return rip >= (word)paths_start && rip < (word)paths_end;
}

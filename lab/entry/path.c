/* Builds the entry paths out of the steps that a configuration has (path.inc), and points the CPU at them. */
#include "entry/entry.h"
#include "mm/mm.h"

/* As path.inc writes them. */
struct step {
	uint64_t start;
	const char *name; /* null at the path's end */
	struct {
		uint8_t which, value;
	} conditions[4];
};
_Static_assert(sizeof(struct step) == 24, "STEP writes three quads");

struct path {
	uint64_t *address;
	const struct step *steps;
};

struct fault {
	uint64_t at, resume;
};

extern const struct path path_list_start[], path_list_end[];
extern const uint64_t path_branches_start[], path_branches_end[];
extern const struct fault path_faults_start[], path_faults_end[];

#define MAX_STEPS     32 /* of a path */
#define MAX_FAULTS    64
#define PATHS_SIZE    16384
#define PATH_ALIGN    64
#define BRANCH_LENGTH 4

/* Where the paths run: executable and read-only there, written through the direct map. */
static uint8_t built[PATHS_SIZE] __attribute__((section(".paths"), aligned(4096)));

static struct fault faults[MAX_FAULTS];
static unsigned fault_count;

configuration configured;

/* A path while it is built: where the steps of its template went. */
struct building {
	const struct step *steps[MAX_STEPS + 1];
	uint64_t to[MAX_STEPS + 1];
	unsigned count;
	uint64_t start, end; /* of the template */
};

static int holds(const struct step *step, const configuration wanted)
{
	for (unsigned i = 0; i < 4; i++)
		if (step->conditions[i].which &&
		    wanted[step->conditions[i].which] != step->conditions[i].value)
			return 0;
	return 1;
}

/* Translates an address of the template to one of the path; for a step that is off, to that of the next step. */
static uint64_t moved(const struct building *path, uint64_t address)
{
	if (address < path->start || address > path->end)
		return address;
	for (unsigned i = 0; i < path->count; i++) {
		const uint64_t from = path->steps[i]->start, length = path->to[i + 1] - path->to[i];

		if (address < from)
			return path->to[i];
		if (address < from + length)
			return path->to[i] + (address - from);
	}
	return path->to[path->count];
}

static void correct_branches(const struct building *path)
{
	for (const uint64_t *branch = path_branches_start; branch < path_branches_end; branch++) {
		for (unsigned i = 0; i < path->count; i++) {
			const uint64_t from = path->steps[i]->start, length = path->to[i + 1] - path->to[i];
			if (*branch < from || *branch >= from + length)
				continue;
			const uint64_t at = path->to[i] + (*branch - from);
			int32_t *displacement = physical_to_virtual(kernel_to_physical(at));
			const uint64_t target = *branch + BRANCH_LENGTH + (uint64_t)(int64_t)*displacement;
			*displacement = (int32_t)(moved(path, target) - (at + BRANCH_LENGTH));
		}
	}
}

static void take_faults(const struct building *path)
{
	for (const struct fault *fault = path_faults_start; fault < path_faults_end; fault++)
		for (unsigned i = 0; i < path->count; i++) {
			const uint64_t from = path->steps[i]->start, length = path->to[i + 1] - path->to[i];
			if (fault->at < from || fault->at >= from + length)
				continue;
			if (fault_count == MAX_FAULTS)
				panic("more faults than MAX_FAULTS");
			faults[fault_count++] = (struct fault){
			    path->to[i] + (fault->at - from),
			    fault->resume ? moved(path, fault->resume) : FAULT_ENDS,
			};
		}
}

/* Returns where the next path may begin. */
static uint64_t build(const struct path *path, const configuration wanted, uint64_t at)
{
	struct building building = {.start = path->steps->start};
	const struct step *step = path->steps;

	*path->address = at;
	for (; step->name; step++) {
		if (!holds(step, wanted))
			continue;
		const uint64_t length = step[1].start - step->start;
		if (building.count == MAX_STEPS || at + length > (uint64_t)built + PATHS_SIZE)
			panic("a path with more steps or code than there is room for");
		building.steps[building.count] = step;
		building.to[building.count++] = at;
		__builtin_memcpy(physical_to_virtual(kernel_to_physical(at)), (const void *)step->start,
				 length);
		at += length;
	}
	building.to[building.count] = at;
	building.end = step->start;
	correct_branches(&building);
	take_faults(&building);
	return (at + PATH_ALIGN - 1) & ~(uint64_t)(PATH_ALIGN - 1);
}

static void build_all(const configuration wanted)
{
	uint64_t at = (uint64_t)built;

	fault_count = 0;
	for (const struct path *path = path_list_start; path < path_list_end; path++)
		at = build(path, wanted, at);
	/* Changed code may be executed only after a serializing instruction (SDM vol. 3, 9.1.3). */
	cpuid(0, 0);
}

static void point_at_paths(void)
{
	wrmsr(MSR_STAR, STAR_VALUE);
	wrmsr(MSR_LSTAR, path_syscall_x86_64);
	wrmsr(MSR_CSTAR, path_syscall_i386);
	wrmsr(MSR_FMASK, RFLAGS_TF | RFLAGS_IF | RFLAGS_DF | RFLAGS_IOPL | RFLAGS_NT | RFLAGS_AC);
	gate_to_path(VECTOR_INT80, path_int80, configured[SWITCH_GATE] == GATE_TRAP);
	gates_to_paths(path_call_gate_x86_64, path_call_gate_i386);
}

/* The SWITCH_* that this CPU cannot do as wanted; 0 when there is none. */
static unsigned impossible(const configuration wanted)
{
	if (wanted[SWITCH_SMAP] == SMAP_ON && !cpu_has(FEATURE_SMAP))
		return SWITCH_SMAP;
	if (wanted[SWITCH_PCID] == PCID_ON && !cpu_has(FEATURE_PCID))
		return SWITCH_PCID;
	return 0;
}

unsigned paths_configure(const configuration wanted)
{
	const unsigned problem = impossible(wanted);

	if (problem)
		return problem;
	__builtin_memcpy(configured, wanted, sizeof(configured));
	build_all(configured);
	point_at_paths();
	tables_configure(configured[SWITCH_SMAP] == SMAP_ON, configured[SWITCH_PTI] == PTI_ON,
			 configured[SWITCH_PCID] == PCID_ON);
	vsyscall_configure(configured[SWITCH_VSYSCALL]);
	return 0;
}

uint64_t path_fault(uint64_t rip)
{
	for (unsigned i = 0; i < fault_count; i++)
		if (faults[i].at == rip)
			return faults[i].resume;
	return FAULT_UNKNOWN;
}

int is_in_path(uint64_t rip)
{
	return rip >= (uint64_t)built && rip < (uint64_t)built + PATHS_SIZE;
}

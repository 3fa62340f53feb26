/* Whether the gates into rings 1 and 2 may be opened, and that they are then pointed at their paths (rings.S). */
#include "entry/rings.h"
#include "cpu/cpu.h"
#include "cpu/mode.h"
#include "entry/entry.h"
#include "user/user.h"

extern const uint8_t rings_ask[], rings_ask_end[], rings_answer[];

/* A gate into ring 1 leads there with the privileges of ring 0. */
static int are_wrong;

void rings_point(void)
{
	if (are_wrong)
		gates_to_rings_close();
	else
		gates_to_rings(path_ring1, path_ring2, MODE_CALL_GATE);
}

void rings_find(void)
{
	gates_to_rings((word)rings_answer, (word)rings_answer, MODE_CALL_GATE);
	const struct frame frame = program_run_code(rings_ask, (uint64_t)(rings_ask_end - rings_ask), 0);
	are_wrong = frame.vector == VECTOR_INVALID && frame.ax == 1;
	rings_point();
}

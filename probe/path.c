/*
 * Does a function enter the kernel? A child that seccomp allows nothing but exit calls the function once. If the call
 * returns, the function was served in ring 3.
 *
 * The child shares this process's memory (CLONE_VM), because a fork would not copy some mappings (a perf event's page),
 * and would wipe others (the state of the vDSO's getrandom). This process sleeps meanwhile (CLONE_VFORK).
 *
 * It holds for every clock, those of CPU time, too, and under filters that are there already: of all filters the strictest answer counts,
 * and only those that kill are stricter than a trap, which is then seen as such. A tracer of calls sees the trap pass by. One that
 * cancels a call before filters see it hides that call; the kernel lets a debugger do that, and none that is known does.
 */
#include "fault.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

#define PR_SET_SECCOMP	    22
#define PR_SET_NO_NEW_PRIVS 38

#define CLONE_VM    0x100
#define CLONE_VFORK 0x4000
#define SIGCHLD	    17

/* The child's exit statuses. */
#define SERVED	      0
#define NOT_FORBIDDEN 1
#define FORBIDDEN     2
#define FAULTED	      3

static void leave(int signal, const void *info, void *context)
{
	(void)info;
	(void)context;
	system_call(NR_EXIT, signal == SIGSYS ? FORBIDDEN : FAULTED, 0, 0, 0, 0, 0);
}

/* From here on every call but exit is a SIGSYS. The handlers are the child's own. */
static int forbid_all_but_exit(void)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_EXIT, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	fault_handle(SIGSYS, leave);
	fault_handle(SIGSEGV, leave);
	fault_handle(SIGILL, leave);
	fault_handle(SIGBUS, leave);
	return system_call(NR_PRCTL, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0) == 0 &&
	       system_call(NR_PRCTL, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program, 0, 0, 0) == 0;
}

/* Not inlined: what the child does to the stack must lie below the frame that its parent goes on in. */
__attribute__((noinline)) static _Noreturn void use_and_exit(const struct request *request)
{
	long status = NOT_FORBIDDEN;

	if (forbid_all_but_exit()) {
		request->routines->checked();
		status = SERVED;
	}
	for (;;)
		system_call(NR_EXIT, status, 0, 0, 0, 0, 0);
}

uint64_t path_of(const struct request *request)
{
	int status = -1;

	if (request->entry->kind != KIND_FUNCTION && request->entry->kind != KIND_MEMORY)
		return request->entry->kind == KIND_INSTRUCTION ? PATH_USER : PATH_KERNEL;
	const long child = system_call(NR_CLONE, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0, 0);
	if (child == 0)
		use_and_exit(request);
	if (child < 0 || system_call(NR_WAIT4, child, (long)&status, 0, 0, 0, 0) != child)
		return PATH_UNKNOWN;
	switch (status) {
	case SERVED << 8:
		return PATH_USER;
	case FORBIDDEN << 8:
		return PATH_KERNEL;
	default:
		/* vsyscall emulation under a filter ends in a SIGSYS or SIGSEGV that cannot be handled. */
		return (status & 0x7f) == SIGSYS ? PATH_KERNEL : PATH_UNKNOWN;
	}
}

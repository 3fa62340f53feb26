/*
 * Does a function enter the kernel? Found out by forbidding it: a child that may only exit calls the function
 * once. If it lives, the function was served in ring 3.
 */
#include "fault.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

#define PR_SET_DUMPABLE	    4
#define PR_SET_SECCOMP	    22
#define PR_SET_NO_NEW_PRIVS 38

#define EXIT_NOT_FORBIDDEN 2

static void forbid_all_but_exit(void)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_EXIT, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	system_call(NR_PRCTL, PR_SET_DUMPABLE, 0, 0, 0, 0, 0); /* its death leaves no core file */
	if (system_call(NR_PRCTL, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0) < 0 ||
	    system_call(NR_PRCTL, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program, 0, 0, 0) < 0)
		system_call(NR_EXIT, EXIT_NOT_FORBIDDEN, 0, 0, 0, 0, 0);
}

uint64_t path_of(const struct request *request)
{
	int status = -1;

	if (request->entry->kind != KIND_FUNCTION && request->entry->kind != KIND_MEMORY)
		return request->entry->kind == KIND_INSTRUCTION ? PATH_USER : PATH_KERNEL;
	const long child = system_call(NR_FORK, 0, 0, 0, 0, 0, 0);
	if (child == 0) {
		request->entry
		    ->checked(); /* what only the first call after a fork needs: getrandom's state is wiped */
		forbid_all_but_exit();
		request->entry->checked();
		system_call(NR_EXIT, 0, 0, 0, 0, 0, 0);
	}
	if (child < 0 || system_call(NR_WAIT4, child, (long)&status, 0, 0, 0, 0) != child)
		return PATH_UNKNOWN;
	if (status == 0)
		return PATH_USER;
	return (status & 0x7f) == SIGSYS ? PATH_KERNEL : PATH_UNKNOWN;
}

/*
 * Runs a command inside a real seccomp filter: surround ACTION ARCH NUMBER COMMAND [ARGUMENTS]
 *
 *	ACTION	kill, trap, allow (a filter that only takes its time), or errno=N
 *	ARCH	x86_64 or i386: whose call
 *	NUMBER	the call's number
 *
 * Or takes away the time stamp counter: surround no-tsc COMMAND [ARGUMENTS]
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static unsigned action(const char *name)
{
	if (strcmp(name, "kill") == 0)
		return SECCOMP_RET_KILL_PROCESS;
	if (strcmp(name, "trap") == 0)
		return SECCOMP_RET_TRAP;
	if (strcmp(name, "allow") == 0)
		return SECCOMP_RET_ALLOW;
	if (strncmp(name, "errno=", 6) == 0)
		return SECCOMP_RET_ERRNO | (unsigned)atoi(name + 6);
	fprintf(stderr, "surround: %s?\n", name);
	exit(99);
}

static void filter(const char *what, const char *arch, const char *number)
{
	const unsigned wanted = strcmp(arch, "i386") == 0 ? AUDIT_ARCH_I386 : AUDIT_ARCH_X86_64;
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wanted, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(number), 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, action(what)),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("surround: seccomp");
		exit(99);
	}
}

int main(int argc, char **argv)
{
	char **command = argv + 2;

	if (argc >= 3 && strcmp(argv[1], "no-tsc") == 0) {
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	} else if (argc >= 5) {
		filter(argv[1], argv[2], argv[3]);
		command = argv + 4;
	} else {
		return 99;
	}
	execv(command[0], command);
	perror("surround: exec");
	return 99;
}

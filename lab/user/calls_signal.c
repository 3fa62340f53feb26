/*
 * There are no signals. Handlers, masks and stacks for them are accepted, but never used; the previous setting is always
 * reported as the default. A signal that a program sends itself does what it does by default.
 */
#include "mm/mm.h"
#include "user/calls.h"
#include "user/user.h"

#define SIGNALS	   64
#define SIGKILL	   9
#define SIGCHLD	   17
#define SIGCONT	   18
#define SIGSTOP	   19
#define SIGURG	   23
#define SIGWINCH   28
#define MASK_BYTES 8
#define SS_DISABLE 2

static long put_zeroes(word to, word bytes)
{
	static const uint8_t zeroes[32];

	return to ? user_write(to, zeroes, bytes) : 0;
}

/* struct sigaction as the kernel has it: handler, flags, restorer, mask. */
static long sigaction(word signal, word new_action, word old_action, word bytes)
{
	if (!signal || signal > SIGNALS || (new_action && (signal == SIGKILL || signal == SIGSTOP)))
		return -EINVAL;
	return put_zeroes(old_action, bytes);
}

long call_sigaction(word signal, word new_action, word old_action)
{
	return sigaction(signal, new_action, old_action, 32);
}

long call_sigaction_32(word signal, word new_action, word old_action)
{
	return sigaction(signal, new_action, old_action, 20);
}

long call_sigprocmask(word how, word new_mask, word old_mask, word bytes)
{
	(void)how;
	(void)new_mask;
	return bytes == MASK_BYTES ? put_zeroes(old_mask, bytes) : -EINVAL;
}

/* Pointer, flags, size. */
long call_sigaltstack(word new_stack, word old_stack)
{
	const uint64_t disabled[3] = {0, SS_DISABLE, 0};

	(void)new_stack;
	return old_stack ? user_write(old_stack, disabled, sizeof(disabled)) : 0;
}

long call_sigaltstack_32(word new_stack, word old_stack)
{
	const uint32_t disabled[3] = {0, SS_DISABLE, 0};

	(void)new_stack;
	return old_stack ? user_write(old_stack, disabled, sizeof(disabled)) : 0;
}

long call_kill(word process, word signal)
{
	if (process != LAB_PID)
		return -ESRCH;
	if (signal > SIGNALS)
		return -EINVAL;
	if (signal && signal != SIGCHLD && signal != SIGCONT && signal != SIGURG && signal != SIGWINCH)
		program_ends((struct end){LAB_END_FAULT, {signal}});
	return 0;
}

long call_tgkill(word group, word thread, word signal)
{
	return group == LAB_PID ? call_kill(thread, signal) : -ESRCH;
}

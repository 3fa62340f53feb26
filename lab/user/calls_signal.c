/*
 * Signals without handlers. What a program sets is kept and told, and a signal does what it does by default, or nothing
 * when it is ignored; a signal whose handler would have to run ends the program, because no handler ever runs here.
 */
#include "mm/mm.h"
#include "serial/serial.h"
#include "user/calls.h"
#include "user/thread.h"
#include "user/user.h"

#define SIGKILL	   9
#define SIGCHLD	   17
#define SIGCONT	   18
#define SIGSTOP	   19
#define SIGTTOU	   22
#define SIGURG	   23
#define SIGWINCH   28
#define MASK_BYTES 8

#define SIG_DEFAULT 0
#define SIG_IGNORE  1

#define SIG_BLOCK   0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

/* SA_*: those that this kernel and Linux 6.1 know (include/uapi/asm-generic/signal-defs.h). */
#define ACTION_FLAGS 0xdc000807u

#define SS_ONSTACK     1u
#define SS_DISABLE     2u
#define SS_AUTODISARM  (1u << 31)
#define SMALLEST_STACK 2048

static uint64_t bit(unsigned signal)
{
	return 1ull << (signal - 1);
}

static int is_ignored_by_default(unsigned signal)
{
	return signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH;
}

void signal_note_handler(uint64_t signal)
{
	if (signal && signal <= LAST_SIGNAL && current->signals.actions[signal].handler > SIG_IGNORE)
		log_line("the program has a handler for signal %" U64
			 ", and the lab runs no handlers: it ends the "
			 "program; run it on Linux instead",
			 signal);
}

/* What an unblocked signal does. */
static void act(unsigned signal)
{
	const uint64_t handler = current->signals.actions[signal].handler;

	if (handler == SIG_IGNORE || (handler == SIG_DEFAULT && is_ignored_by_default(signal)))
		return;
	if (signal >= SIGSTOP && signal <= SIGTTOU && handler == SIG_DEFAULT)
		log_line("signal %" U64 " would stop the program, and nobody could continue it: it ends",
			 (uint64_t)signal);
	program_ends((struct end){LAB_END_FAULT, {signal}});
}

static void act_on_pending(void)
{
	struct signals *const signals = &current->signals;

	for (unsigned signal = 1; signal <= LAST_SIGNAL; signal++)
		if (signals->pending & ~signals->blocked & bit(signal)) {
			signals->pending &= ~bit(signal);
			act(signal);
		}
}

void signal_send(unsigned signal)
{
	current->signals.pending |= bit(signal);
	act_on_pending();
}

static long read_action(word from, unsigned word_bytes, struct action *action)
{
	uint64_t *const fields[] = {&action->handler, &action->flags, &action->restorer};

	*action = (struct action){0};
	for (unsigned i = 0; i < 3; i++)
		if (user_read(fields[i], from + i * word_bytes, word_bytes))
			return -EFAULT;
	return user_read(&action->mask, from + 3 * word_bytes, MASK_BYTES);
}

static long write_action(word to, unsigned word_bytes, const struct action *action)
{
	const uint64_t fields[] = {action->handler, action->flags, action->restorer};

	for (unsigned i = 0; i < 3; i++)
		if (user_write(to + i * word_bytes, &fields[i], word_bytes))
			return -EFAULT;
	return user_write(to + 3 * word_bytes, &action->mask, MASK_BYTES);
}

static long sigaction(uint32_t signal, word new_action, word old_action, word bytes, unsigned word_bytes)
{
	struct action action, old;

	if (bytes != MASK_BYTES)
		return -EINVAL;
	if (new_action && read_action(new_action, word_bytes, &action))
		return -EFAULT;
	if (!signal || signal > LAST_SIGNAL || (new_action && (signal == SIGKILL || signal == SIGSTOP)))
		return -EINVAL;
	old = current->signals.actions[signal];
	if (new_action) {
		action.flags &= ACTION_FLAGS;
		action.mask &= ~(bit(SIGKILL) | bit(SIGSTOP));
		current->signals.actions[signal] = action;
		/* A signal that is ignored now is dropped. */
		if (action.handler == SIG_IGNORE ||
		    (action.handler == SIG_DEFAULT && is_ignored_by_default(signal)))
			current->signals.pending &= ~bit(signal);
	}
	return old_action ? write_action(old_action, word_bytes, &old) : 0;
}

long call_sigaction(word signal, word new_action, word old_action, word bytes)
{
	return sigaction((uint32_t)signal, new_action, old_action, bytes, 8);
}

long call_sigaction_32(word signal, word new_action, word old_action, word bytes)
{
	return sigaction((uint32_t)signal, new_action, old_action, bytes, 4);
}

long call_sigprocmask(word how, word new_mask, word old_mask, word bytes)
{
	struct signals *const signals = &current->signals;
	const uint64_t old = signals->blocked;
	uint64_t mask = 0, wanted = signals->blocked;

	if (bytes != MASK_BYTES)
		return -EINVAL;
	if (new_mask) {
		if (user_read(&mask, new_mask, sizeof(mask)))
			return -EFAULT;
		mask &= ~(bit(SIGKILL) | bit(SIGSTOP));
		switch ((uint32_t)how) {
		case SIG_BLOCK:
			wanted |= mask;
			break;
		case SIG_UNBLOCK:
			wanted &= ~mask;
			break;
		case SIG_SETMASK:
			wanted = mask;
			break;
		default:
			return -EINVAL;
		}
	}
	signals->blocked = wanted;
	const long problem = old_mask ? user_put_8(old_mask, old) : 0;
	act_on_pending();
	return problem;
}

long call_sigpending(word to, word bytes)
{
	const uint64_t waiting = current->signals.pending & current->signals.blocked;

	if (bytes > MASK_BYTES)
		return -EINVAL;
	return user_write(to, &waiting, bytes);
}

/* How sigaltstack's flags are told: no stack is ever in use, as no handler runs. */
static uint32_t stack_flags(void)
{
	return (current->signals.stack.bytes ? 0 : SS_DISABLE) | current->signals.stack.flags;
}

static long set_stack(uint64_t address, uint32_t flags, uint64_t bytes)
{
	const uint32_t mode = flags & ~SS_AUTODISARM;

	if (mode != 0 && mode != SS_DISABLE && mode != SS_ONSTACK)
		return -EINVAL;
	if (mode != SS_DISABLE && bytes < SMALLEST_STACK)
		return -ENOMEM;
	current->signals.stack.address = mode == SS_DISABLE ? 0 : address;
	current->signals.stack.bytes = mode == SS_DISABLE ? 0 : bytes;
	current->signals.stack.flags = flags & SS_AUTODISARM;
	return 0;
}

/* Pointer, flags, size. */
long call_sigaltstack(word new_stack, word old_stack)
{
	const uint64_t old[3] = {current->signals.stack.address, stack_flags(), current->signals.stack.bytes};
	uint64_t wanted[3];

	if (new_stack) {
		if (user_read(wanted, new_stack, sizeof(wanted)))
			return -EFAULT;
		const long problem = set_stack(wanted[0], (uint32_t)wanted[1], wanted[2]);
		if (problem)
			return problem;
	}
	return old_stack ? user_write(old_stack, old, sizeof(old)) : 0;
}

long call_sigaltstack_32(word new_stack, word old_stack)
{
	const uint32_t old[3] = {(uint32_t)current->signals.stack.address, stack_flags(),
				 (uint32_t)current->signals.stack.bytes};
	uint32_t wanted[3];

	if (new_stack) {
		if (user_read(wanted, new_stack, sizeof(wanted)))
			return -EFAULT;
		const long problem = set_stack(wanted[0], wanted[1], wanted[2]);
		if (problem)
			return problem;
	}
	return old_stack ? user_write(old_stack, old, sizeof(old)) : 0;
}

/* A process by its number, its group by 0 or the negative number. */
long call_kill(word process, word signal)
{
	const int32_t number = (int32_t)process;

	if (number != (int32_t)current->id && number != 0 && number != -(int32_t)current->id)
		return -ESRCH;
	if ((uint32_t)signal > LAST_SIGNAL)
		return -EINVAL;
	if ((uint32_t)signal)
		signal_send((unsigned)signal);
	return 0;
}

long call_tkill(word thread, word signal)
{
	if ((int32_t)thread <= 0)
		return -EINVAL;
	return (uint32_t)thread == current->id ? call_kill(current->id, signal) : -ESRCH;
}

long call_tgkill(word group, word thread, word signal)
{
	if ((int32_t)group <= 0 || (int32_t)thread <= 0)
		return -EINVAL;
	return (uint32_t)group == current->id ? call_tkill(thread, signal) : -ESRCH;
}

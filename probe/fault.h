/* Signals, and what a handler is given. */
#pragma once

#include "probe.h"

#include <asm/sigcontext.h>

#define SIGILL	4
#define SIGTRAP 5
#define SIGBUS	7
#define SIGFPE	8
#define SIGSEGV 11
#define SIGSYS	31

/* The beginning of the kernel's struct ucontext (include/uapi/asm-generic/ucontext.h). */
struct context {
	unsigned long flags;
	void *link;
	struct {
		void *sp;
		int flags;
		unsigned long size;
	} stack;
	struct sigcontext registers;
};

/* Handles a signal on a stack of its own, once faults_report has given one. */
void fault_handle(int signal, void (*handler)(int, const void *, void *));

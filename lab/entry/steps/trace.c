/* Shows what trace.S and audit.S have written, a line in the log for each record that the ring still has. */
#include "entry/steps/events.h"
#include "entry/steps/steps.h"
#include "serial/serial.h"

#include <stddef.h>
#include <stdint.h>

struct event {
	uint64_t time;
	uint32_t number, what;
	uint64_t arguments[6]; /* or the result, the first */
};
_Static_assert(sizeof(struct event) == EVENT_BYTES && offsetof(struct event, number) == EVENT_NUMBER &&
		   offsetof(struct event, what) == EVENT_WHAT &&
		   offsetof(struct event, arguments) == EVENT_ARGUMENTS && EVENT_RESULT == EVENT_ARGUMENTS,
	       "trace.S");

struct audited {
	uint32_t number, arch;
	uint64_t arguments[6], result;
};
_Static_assert(sizeof(struct audited) == AUDIT_BYTES && offsetof(struct audited, arch) == AUDIT_ARCH &&
		   offsetof(struct audited, arguments) == AUDIT_ARGUMENTS &&
		   offsetof(struct audited, result) == AUDIT_RESULT,
	       "audit.S");

#define TRACED	(TRACE_MASK / EVENT_BYTES + 1)
#define AUDITED (AUDIT_MASK / AUDIT_BYTES + 1)
extern struct event trace_events[TRACED];
extern struct audited audit_records[AUDITED];
extern uint32_t trace_written, audit_written;

/* The first of the records since `shown` that a ring of so many still has. */
static uint32_t first(uint32_t shown, uint32_t written, uint32_t records)
{
	return written - shown > records ? written - records : shown;
}

uint64_t trace_show(void)
{
	static uint32_t shown;
	const uint32_t written = trace_written / EVENT_BYTES, before = shown;

	for (uint32_t i = first(shown, written, TRACED); i != written; i++) {
		const struct event *event = &trace_events[i % TRACED];
		const uint64_t *words = event->arguments;

		if (event->what == TRACE_BEFORE)
			log_line("trace %" U64 ": call %" U64 " (%" X64 ", %" X64 ", %" X64 ", %" X64
				 ", %" X64 ", %" X64 ")",
				 event->time, (uint64_t)event->number, words[0], words[1], words[2], words[3],
				 words[4], words[5]);
		else
			log_line("trace %" U64 ": call %" U64 " = %" X64, event->time,
				 (uint64_t)event->number, words[0]);
	}
	shown = written;
	return written - before;
}

uint64_t audit_show(void)
{
	static uint32_t shown;
	const uint32_t written = audit_written / AUDIT_BYTES, before = shown;

	for (uint32_t i = first(shown, written, AUDITED); i != written; i++) {
		const struct audited *record = &audit_records[i % AUDITED];
		const uint64_t *words = record->arguments;

		log_line("audit %" X64 ": call %" U64 " (%" X64 ", %" X64 ", %" X64 ", %" X64 ", %" X64
			 ", %" X64 ") = %" X64,
			 (uint64_t)record->arch, (uint64_t)record->number, words[0], words[1], words[2],
			 words[3], words[4], words[5], record->result);
	}
	shown = written;
	return written - before;
}

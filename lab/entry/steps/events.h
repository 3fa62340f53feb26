/* The records of trace.S and audit.S, one cache line each; trace.c asserts them. */
#pragma once

#define EVENT_BYTES	64
#define EVENT_TIME	0 /* of the TSC */
#define EVENT_NUMBER	8
#define EVENT_WHAT	12
#define EVENT_ARGUMENTS 16     /* six words; of an event behind the service, ... */
#define EVENT_RESULT	16     /* ... this instead */
#define TRACE_MASK	0x1fc0 /* of a place in the ring, which holds 128 events */

/* EVENT_WHAT */
#define TRACE_BEFORE 0
#define TRACE_BEHIND 1

#define AUDIT_BYTES	64
#define AUDIT_NUMBER	0
#define AUDIT_ARCH	4
#define AUDIT_ARGUMENTS 8
#define AUDIT_RESULT	56
#define AUDIT_MASK	0x1fc0

/* include/uapi/linux/audit.h */
#define ARCH_X86_64 0xc000003e
#define ARCH_I386   0x40000003

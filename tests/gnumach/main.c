/*
 * The first program of a GNU Mach whose instructions are counted: makes each trap several times, keeps what they took, and has the
 * machine reset. No header of Mach's is needed; numbers and layouts are those of mach/syscall_sw.h and mach/message.h.
 */
#include "call.h"

enum { SAMPLES = 1 + 16 }; /* of the first, no cache of the kernel's knows yet */
enum { MACH_MSG = -25, MACH_REPLY_PORT = -26, MACH_TASK_SELF = -28, MACH_PRINT = -30, NULL_PORT = -10 };
enum { SEND = 1, RECEIVE = 2 };
enum { TYPE_SEND = 17, TYPE_COPY_SEND = 19, TYPE_MAKE_SEND = 20 };
enum { HOST_PRIVILEGED = 1, HOST_REBOOT = 2635, ID = 1234 };
#define ANYTHING (~0u)

/* A name of a port has 32 bits, in a place of a word. */
struct header {
	uint32_t bits, size;
	unsigned long remote, local;
	uint32_t seqno, id;
};
_Static_assert(sizeof(struct header) == (WORD == 4 ? 24 : 32), "mach_msg_header_t");

struct row {
	char name[24];
	struct {
		uint32_t ticks, is_right;
	} samples[SAMPLES];
};

/* Read from outside (count.py). */
struct row rows[6];

static struct call call;
static struct header message;
static unsigned long port;

static void prepare(long number, unsigned long a, unsigned long b, unsigned long c, unsigned long d,
		    unsigned long e)
{
	call = (struct call){number, {a, b, c, d, e, 0, 0}, 0};
}

/* The message that was sent has come back: it says so by the port that it came by, and by its number there. */
static int came_back(uint32_t seqno)
{
	return message.bits == TYPE_SEND << 8 && message.size == sizeof(message) && message.local == port &&
	       message.seqno == seqno && message.id == ID;
}

/* The next row: what is prepared, which must return this, but for the bits of `any`. */
static void measure(const char *name, uint32_t (*function)(struct call *), uint32_t expected, uint32_t any)
{
	static struct row *row = rows;

	for (int i = 0; name[i]; i++)
		row->name[i] = name[i];
	for (int i = 0; i < SAMPLES; i++) {
		message = (struct header){TYPE_MAKE_SEND, 0, port, 0, 0, ID};
		uint32_t got = function(&call);
		int receives = call.number == MACH_MSG && call.arguments[1] & RECEIVE;

		row->samples[i].ticks = call.ticks;
		row->samples[i].is_right = ((got ^ expected) & ~any) == 0 && (!receives || came_back(i));
	}
	row++;
}

static void reboot(void)
{
	static struct {
		struct header header;
		unsigned long type, options;
	} request = {
	    {TYPE_COPY_SEND, 0, HOST_PRIVILEGED, 0, 0, HOST_REBOOT},
	    WORD == 4 ? 0x10012002 : 0x120002002, /* one integer of 32 bits, in the message itself */
	    0,
	};

	prepare(MACH_MSG, (unsigned long)&request, SEND, sizeof(request), 0, 0);
	timed(&call);
}

void main(void)
{
	/* A kernel without this trap shows nothing. */
	prepare(MACH_PRINT, (unsigned long)"mach_print is there\n", 0, 0, 0, 0);
	timed(&call);
	prepare(MACH_REPLY_PORT, 0, 0, 0, 0, 0);
	port = timed(&call);
	prepare(MACH_TASK_SELF, 0, 0, 0, 0, 0);
	uint32_t self = timed(&call);

	measure_begin();
	prepare(NULL_PORT, 0, 0, 0, 0, 0);
	measure("control", control, NULL_PORT, 0);
	measure("null_port", timed, 0, 0);
	prepare(MACH_TASK_SELF, 0, 0, 0, 0, 0);
	measure("mach_task_self", timed, self, 0);
	prepare(MACH_PRINT, (unsigned long)"", 0, 0, 0, 0);
	measure("mach_print", timed, 0, ANYTHING);
	prepare(MACH_MSG, (unsigned long)&message, 0, 0, 0, port);
	measure("mach_msg-null", timed, 0, 0);
	prepare(MACH_MSG, (unsigned long)&message, SEND | RECEIVE, sizeof(message), sizeof(message), port);
	measure("mach_msg-send-receive", timed, 0, 0);
	measure_end();

	reboot();
	for (;;)
		;
}

/* A 16550 at the PC's first serial port. */
#include "cpu/cpu.h"
#include "serial/serial.h"

#include <stddef.h>

#define PORT	      0x3f8
#define DATA	      (PORT + 0)
#define INTERRUPTS    (PORT + 1)
#define FIFO	      (PORT + 2)
#define LINE	      (PORT + 3)
#define MODEM	      (PORT + 4)
#define STATUS	      (PORT + 5)
#define SCRATCH	      (PORT + 7)
#define SCRATCH_TEST  0x5a
#define LINE_DIVISOR  0x80
#define LINE_8N1      0x03
#define FIFO_CLEAR    0x07
#define MODEM_READY   0x03 /* DTR, RTS */
#define STATUS_EMPTY  0x20 /* of the transmitter's FIFO */
#define STATUS_IDLE   0x40 /* and the last bit has been sent */
#define FIFO_BYTES    16
#define BETWEEN_LOOKS 100 /* pauses; sixteen bytes take a millisecond and more */

/* Of a port that is not there, any status may be read; to wait for another would take for ever. */
static int is_there;

void uart_init(void)
{
	out8(SCRATCH, SCRATCH_TEST);
	is_there = in8(SCRATCH) == SCRATCH_TEST;
	out8(INTERRUPTS, 0);
	out8(LINE, LINE_DIVISOR);
	out8(DATA, 1); /* 115200 baud */
	out8(INTERRUPTS, 0);
	out8(LINE, LINE_8N1);
	out8(FIFO, FIFO_CLEAR);
	out8(MODEM, MODEM_READY);
}

/* A look at a port costs Bochs, and a hypervisor, as much as dozens of pauses. QEMU's port never makes it wait. */
static void await(uint8_t status)
{
	while (!(in8(STATUS) & status))
		for (int i = 0; i < BETWEEN_LOOKS; i++)
			__asm__ volatile("pause");
}

void uart_drain(void)
{
	if (is_there)
		await(STATUS_IDLE);
}

void uart_write(const void *bytes, uint64_t count)
{
	const uint8_t *at = bytes;

	while (is_there && count) {
		size_t chunk = count < FIFO_BYTES ? (size_t)count : FIFO_BYTES;

		await(STATUS_EMPTY);
		count -= chunk;
		__asm__ volatile("rep outsb" : "+S"(at), "+c"(chunk) : "d"(DATA) : "memory");
	}
}

/* The first serial port, and the records on it. */
#pragma once

#include <stdint.h>

void uart_init(void);
void uart_write(const void *bytes, uint64_t count);
void uart_drain(void); /* returns when everything has been sent */

/* records.c: a record of abi/record.h; the payload may come in two parts. */
void records_init(void);
int records_are_ready(void);
void record(uint16_t kind, const void *payload, uint32_t bytes);
void record_parts(uint16_t kind, const void *first, uint32_t first_bytes, const void *second,
		  uint32_t second_bytes);

/*
 * log.c: a line for people, as a record. %s text, %lu and %lx words, "%" U64 and "%" X64 numbers of 64 bits; a line that is too
 * long is cut.
 */
#ifdef __x86_64__
#define U64 "lu"
#define X64 "lx"
#else
#define U64 "llu"
#define X64 "llx"
#endif
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says why, and stops the machine. */
_Noreturn void panic(const char *why);
_Noreturn void power_off(void);

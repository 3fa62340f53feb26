/* Filter programs: filter.c makes them, filter.S interprets them. */
#pragma once

/* struct sock_filter */
#define INSTRUCTION_BYTES    8
#define INSTRUCTION_CODE     0
#define INSTRUCTION_IF_EQUAL 2 /* how many instructions a jump skips; the next byte if not */
#define INSTRUCTION_K	     4

/* BPF_LD | BPF_W | BPF_ABS, BPF_JMP | BPF_JEQ | BPF_K, BPF_RET | BPF_K */
#define FILTER_LOAD	  0x20
#define FILTER_JUMP_EQUAL 0x15
#define FILTER_RETURN	  0x06

/* What RETURN returns: SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS. */
#define FILTER_ALLOW 0x7fff0000
#define FILTER_KILL  0x80000000

/* struct seccomp_data */
#define FILTER_NUMBER	 0
#define FILTER_ARCH	 4
#define FILTER_ARGUMENTS 16

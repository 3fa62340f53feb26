/* The fixed page: where its functions are (arch/x86/include/uapi/asm/vsyscall.h), and its time data. */
#pragma once

#define VSYSCALL_ADDRESS 0xffffffffff600000

#define VSYSCALL_GETTIMEOFDAY 0
#define VSYSCALL_TIME	      1024
#define VSYSCALL_GETCPU	      2048
#define VSYSCALL_TIME_OFFSET  3072 /* struct time_page, in vsyscall=original alone */

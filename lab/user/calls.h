/*
 * System calls: Linux's numbers, arguments, results and errors (-errno), in both ABIs. What does not depend on the ABI has
 * one function. Arguments are words as they came; pointers among them go through user_*().
 */
#pragma once

#include "word.h"

#include <linux/errno.h>
#include <stdint.h>

/* What a thread has set with calls (thread.h). */
#define LAST_SIGNAL 64
struct signals {
	struct action {
		uint64_t handler, flags, restorer,
		    mask; /* struct sigaction as the kernel has it, of either ABI */
	} actions[LAST_SIGNAL + 1];
	uint64_t blocked, pending; /* a bit for each signal, from 1 on */
	struct {
		uint64_t address, bytes;
		uint32_t flags;
	} stack;
};

#define TIMERS 3 /* real, virtual, profiling: here time of the program is all time */
struct timers {
	struct {
		uint64_t due, interval; /* in nanoseconds of CLOCK_MONOTONIC */
	} of[TIMERS];
};

#define LIMITS 16
struct limits {
	struct limit {
		uint64_t soft, hard;
	} of[LIMITS];
};

#define NAME_BYTES 16
struct settings {
	uint64_t rseq; /* its address; 0: none */
	uint32_t rseq_bytes, rseq_signature;
	uint32_t dumpable, death_signal, no_new_privileges;
	char name[NAME_BYTES];
};

/* A service has room in front of it for endbr64, which nothing comes by unless the tables of calls point to it (entry/steps/ibt.c). */
#define SERVICE __attribute__((patchable_function_entry(4, 4)))

/* No call moves more bytes at once; Linux's MAX_RW_COUNT. */
#define MOST_BYTES 0x7ffff000ul

/* calls_time.c */
long call_gettimeofday(word to, word zone);
long call_gettimeofday_32(word to, word zone);
long call_clock_gettime(word clock, word to);
long call_clock_gettime_32(word clock, word to);
long call_clock_getres(word clock, word to);
long call_clock_getres_32(word clock, word to);
long call_time(word to);
long call_time_32(word to);
long call_nanosleep(word request, word rest);
long call_nanosleep_32(word request, word rest);
long call_clock_nanosleep(word clock, word flags, word request, word rest);
long call_clock_nanosleep_32(word clock, word flags, word request, word rest);
struct time_value;
/* Reads a struct timespec of 64-bit or 32-bit words: 0, -EFAULT, -EINVAL. */
long time_read_from(word from, int is_wide, struct time_value *time);
/* Halts until the next tick: an emulator that counts instructions then skips the time. */
void time_rest(void);
/* Waits until a clock has come so far, or has gone on for so long. */
long time_wait(uint32_t clock, struct time_value time, int is_absolute);

/* calls_timer.c */
void timers_reset(struct timers *reset);
void timers_save(struct timers *to); /* of the current thread */
void timers_load(const struct timers *from);
void timers_end(void);	 /* the current thread has ended: none of its timers runs out any more */
void timers_check(void); /* sends the signals of those that have run out */
/* A call that nothing but a signal can end: `what` it is. */
_Noreturn void waits_for_ever(const char *what);
long call_alarm(word seconds);
long call_setitimer(word which, word timer, word old_timer);
long call_setitimer_32(word which, word timer, word old_timer);
long call_getitimer(word which, word to);
long call_getitimer_32(word which, word to);
long call_pause(void);

/* calls_memory.c */
long call_brk(word to);
long call_mmap(word address, word bytes, word protection, word flags, word file);
long call_mmap_64(word address, word bytes, word protection, word flags, word file, word offset);
long call_munmap(word address, word bytes);
long call_mprotect(word address, word bytes, word protection);
long call_mremap(word address, word bytes, word new_bytes, word flags, word new_address);
long call_madvise(word address, word bytes, word advice);

/* calls_space.c: the lab's own, each a thing that a kernel does to address spaces, and nothing else. */
long call_copy_space(void);
long call_switch(void);
long call_map_unmap(void);

/* calls_file.c */
long call_read(word file, word to, word bytes);
long call_write(word file, word from, word bytes);
long call_readv(word file, word vectors, word count);
long call_readv_32(word file, word vectors, word count);
long call_writev(word file, word vectors, word count);
long call_writev_32(word file, word vectors, word count);
long call_pread(word file); /* and pwrite */

/* calls_descriptor.c */
long call_close(word file);
long call_dup(word file);
long call_dup2(word file, word to);
long call_dup3(word file, word to, word flags);
long call_pipe(word to);
long call_pipe2(word to, word flags);
long call_ioctl(word file, word command, word to);
long call_fcntl(word file, word command, word value);
/* -EINVAL for a command of a call that the lab has, and a line in the log. */
long report_unknown_command(const char *call, uint32_t command);
long call_lseek(word file, word offset, word whence);
long call_llseek(word file, word high, word low, word to, word whence);
long call_sendfile(word to, word from);

/* calls_poll.c */
long call_poll(word entries, word count, word milliseconds);
long call_ppoll(word entries, word count, word time, word mask, word mask_bytes);
long call_ppoll_32(word entries, word count, word time, word mask, word mask_bytes);

/* calls_path.c */
long call_no_file(
    word path); /* for calls whose first argument is a path, and that do nothing before they have found it */
long call_open(word path, word flags);
long call_openat(word folder, word path, word flags);
long call_access(word path, word mode);
long call_faccessat(word folder, word path, word mode);
long call_faccessat2(word folder, word path, word mode, word flags);
long call_readlink(word path, word to, word bytes);
long call_readlinkat(word folder, word path, word to, word bytes);
long call_getcwd(word to, word bytes);
long call_fstat(word file, word to);
long call_fstat_32(word file, word to);
long call_fstatat(word folder, word path, word to, word flags);
long call_fstatat_32(word folder, word path, word to, word flags);
long call_statx(word folder, word path, word flags, word mask, word to);

/* calls_signal.c */
void signal_send(unsigned signal);
/* Says so if the program would have handled the signal that ends it. */
void signal_note_handler(uint64_t signal);
long call_sigaction(word signal, word new_action, word old_action, word bytes);
long call_sigaction_32(word signal, word new_action, word old_action, word bytes);
long call_sigprocmask(word how, word new_mask, word old_mask, word bytes);
long call_sigpending(word to, word bytes);
long call_sigaltstack(word new_stack, word old_stack);
long call_sigaltstack_32(word new_stack, word old_stack);
long call_kill(word process, word signal);
long call_tkill(word thread, word signal);
long call_tgkill(word group, word thread, word signal);

/* calls_process.c */
long call_exit(word status);
long call_getpid(void);
long call_getppid(void);
long call_zero(void); /* user and group ids; what always works and does nothing here */
long call_three_zeroes(word first, word second, word third);
long call_getpgid(word process);
long call_getcpu(word cpu, word node);
long call_getrandom(word to, word bytes, word flags);
long call_getrusage(word who, word to);
long call_getrusage_32(word who, word to);
long call_uname(word to);
long call_sysinfo(word to);
long call_sysinfo_32(word to);

/* calls_limit.c */
void limits_reset(struct limits *limits);
long call_prlimit(word process, word resource, word new_limit, word old_limit);
long call_getrlimit(word resource, word to);
long call_getrlimit_32(word resource, word to);
long call_setrlimit(word resource, word from);
long call_setrlimit_32(word resource, word from);

/* calls_thread.c */
void settings_reset(struct settings *settings, const char *name);
long call_sched_yield(void);
long call_sched_getaffinity(word process, word bytes, word to);
long call_sched_setaffinity(word process, word bytes, word from);
long call_futex(word address, word operation, word value, word time, word second, word third);
long call_futex_32(word address, word operation, word value, word time, word second, word third);
long call_set_robust_list(word list, word bytes);
long call_set_robust_list_32(word list, word bytes);
long call_rseq(word area, word bytes, word flags, word signature);
long call_prctl(word option, word first, word second, word third, word fourth);

/* calls_segment.c */
long call_arch_prctl(word code, word address);
long call_arch_prctl_32(word code);
long call_set_thread_area(word descriptor);

/* What a row of calls.def has for an ABI without the call. */
long call_none(void);

#define CALL(x86_64_, i386_, function_x86_64_, function_i386_)                                               \
	extern __typeof__(function_x86_64_) function_x86_64_ SERVICE;                                        \
	extern __typeof__(function_i386_) function_i386_ SERVICE;
#include "user/calls.def"
#undef CALL

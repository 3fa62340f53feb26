/*
 * System calls: Linux's numbers, arguments, results and errors (-errno), in both ABIs. What does not depend on the ABI has
 * one function. Arguments are words as they came; pointers among them go through user_*().
 */
#pragma once

#include <linux/errno.h>
#include <stdint.h>

typedef uint64_t word;

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

/* calls_memory.c */
long call_brk(word to);
long call_mmap(word address, word bytes, word protection, word flags, word file, word offset);
long call_munmap(word address, word bytes);
long call_mprotect(word address, word bytes, word protection);
long call_mremap(word address, word bytes, word new_bytes, word flags, word new_address);
long call_madvise(word address, word bytes, word advice);

/* calls_file.c */
void files_reset(void);
long call_read(word file, word to, word bytes);
long call_write(word file, word from, word bytes);
long call_writev(word file, word vectors, word count);
long call_writev_32(word file, word vectors, word count);
long call_open(word path);
long call_close(word file);
long call_pipe2(word to, word flags);
long call_ioctl(word file);
long call_fcntl(word file, word command);
long call_lseek(word file);
long call_fstat(word file, word to);
long call_fstat_32(word file, word to);
long call_fstatat(word folder, word path, word to, word flags);
long call_fstatat_32(word folder, word path, word to, word flags);
long call_statx(word folder, word path, word flags, word mask, word to);
long call_no_file(void); /* for every call that names a path: ENOENT */

/* calls_signal.c */
long call_sigaction(word signal, word new_action, word old_action);
long call_sigaction_32(word signal, word new_action, word old_action);
long call_sigprocmask(word how, word new_mask, word old_mask, word bytes);
long call_sigaltstack(word new_stack, word old_stack);
long call_sigaltstack_32(word new_stack, word old_stack);
long call_kill(word process, word signal);
long call_tgkill(word group, word thread, word signal);

/* calls_process.c */
long call_exit(word status);
long call_getpid(void);
long call_getppid(void);
long call_zero(void); /* user and group ids; what always works and does nothing here */
long call_getcpu(word cpu, word node);
long call_getrandom(word to, word bytes, word flags);
long call_getrusage(word who, word to);
long call_getrusage_32(word who, word to);
long call_prlimit(word process, word resource, word new_limit, word old_limit);
long call_getrlimit(word resource, word to);
long call_getrlimit_32(word resource, word to);
long call_uname(word to);
long call_sysinfo(word to);
long call_sysinfo_32(word to);
long call_sched_getaffinity(word process, word bytes, word to);
long call_futex(word address, word operation, word value);
long call_rseq(word area, word bytes, word flags, word signature);
long call_arch_prctl(word code, word address);
long call_set_thread_area(word descriptor);

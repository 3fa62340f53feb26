/* Programs of Mach, as the rest of the kernel sees them. */
#pragma once

struct thread;
struct address_space;

/* start.c */
int mach_begin(struct thread *thread);	     /* of a program that is loaded; 0 when there is no memory */
void mach_begin_first(struct thread *first); /* of the one that begins, when all are loaded */
const char *mach_argument(const char *word); /* what a word of a boot script stands for */

/* task.c */
int task_has_space(const struct address_space *of); /* one that lives */
void mach_program_ends(struct thread *thread);
void tasks_reset(void); /* no program is alive */

/* wait.c */
int wait_yield(void); /* ends waits that are over, and lets another thread run, if one can: whether it did */
/* Who goes on when the current thread ends: waits for a timeout if need be. Null when none can; *is_stuck if some wait for ever. */
struct thread *wait_next(int *is_stuck);

/* time.c */
void mach_time_update(void);

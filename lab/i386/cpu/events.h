/*
 * events-by=task: #DB, NMI and #MC come by task gates, each with a task and a stack of its own, on processors of any vendor.
 *
 * They may come at any instruction. On AMD's processors that includes those behind syscall, where esp is still the program's
 * (entry/syscall-i386.S): an interrupt gate would push its frame wherever the program's esp points, as the supervisor. A task gate loads SS and
 * esp, and CR3 (SDM vol. 3, 7.3; APM vol. 2, 12.3).
 *
 * What a switch of tasks does besides, and what is done about it:
 *
 * - CR3 of the interrupted task is not stored, but loaded when it goes on. So its TSS always holds what CR3 does: with pti=on paths
 *   write both (TO_KERNEL_TABLES, TO_PROGRAM_TABLES), and so do tables_enter and tables_init.
 * - Selectors are loaded anew with all checks (#TS, #NP): one whose descriptor a program has taken away since becomes null before.
 * - LDTR is loaded from the TSS, and never stored there.
 * - CR0.TS is set, there and back: the next use of the FPU is #NM, which clears it (exception.c).
 * - A link, NT and the busy flag are the processor's, which undoes them by iret.
 * - With ibt=on, a task that a gate enters must begin with endbr32. One that is entered again goes on behind its iret, so a second stands
 *   there (events.S). Where iret goes back to a task, none is asked for (Bochs).
 */
#pragma once

/* Makes the tasks; no gate leads to them yet. */
void events_init(void);
/* Points the gates as the switch says. */
void events_configure(void);
/* Whether they lead to the tasks. */
int events_are_tasks(void);
/* In which address space they run. */
void events_set_tables(unsigned long cr3);

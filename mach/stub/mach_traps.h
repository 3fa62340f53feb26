/*
 * The traps of GNU Mach, as functions. Names of ports are 32 bits at either width; what the answers mean, GNU Mach's reference manual says.
 * libmachstub has them in three variants, which differ in how they enter the kernel, and in nothing that a program sees (docs/mach.md).
 */
#pragma once

#include <stdint.h>

uint32_t evc_wait(uint32_t counter);
uint32_t evc_wait_clear(uint32_t counter);
uint32_t mach_msg_trap(void *message, uint32_t option, uint32_t send_size, uint32_t receive_size,
		       uint32_t from, uint32_t milliseconds, uint32_t notify);
uint32_t mach_reply_port(void);
uint32_t mach_thread_self(void);
uint32_t mach_task_self(void);
uint32_t mach_host_self(void);
uint32_t mach_print(const char *text);
uint32_t swtch_pri(int priority);
uint32_t swtch(void);
uint32_t thread_switch(uint32_t thread, uint32_t option, uint32_t milliseconds);
uint32_t syscall_vm_map(uint32_t task, uintptr_t *address, uintptr_t bytes, uintptr_t mask, uint32_t anywhere,
			uint32_t object, uintptr_t offset, uint32_t copy, uint32_t protection,
			uint32_t most_protection, uint32_t inheritance);
uint32_t syscall_vm_allocate(uint32_t task, uintptr_t *address, uintptr_t bytes, uint32_t anywhere);
uint32_t syscall_vm_deallocate(uint32_t task, uintptr_t address, uintptr_t bytes);
uint32_t syscall_task_create(uint32_t parent, uint32_t inherits, uint32_t *made);
uint32_t syscall_task_terminate(uint32_t task);
uint32_t syscall_task_suspend(uint32_t task);
uint32_t syscall_task_set_special_port(uint32_t task, uint32_t which, uint32_t port);
uint32_t syscall_mach_port_allocate(uint32_t task, uint32_t right, uint32_t *name);
uint32_t syscall_mach_port_deallocate(uint32_t task, uint32_t name);
uint32_t syscall_mach_port_insert_right(uint32_t task, uint32_t name, uint32_t right, uint32_t type);
uint32_t syscall_mach_port_allocate_name(uint32_t task, uint32_t right, uint32_t name);
uint32_t syscall_thread_depress_abort(uint32_t thread);
uint32_t thread_set_self_state(int flavor, const void *state, uint32_t count);

/*
 * To be called first, with the device master port, or 0 where a program has none. The variant `entry` maps the page of the device `entry`,
 * and traps are made there from then on; with an error (KERN_*, D_*, or mach_msg's) they are made as before, which is as GNU Mach's own stubs
 * do. Called again, it changes nothing, and answers KERN_SUCCESS if the page is mapped. Threads must not call it at once. The other
 * variants do nothing, and answer KERN_SUCCESS.
 */
uint32_t mach_stub_begin(uint32_t device_master);
/* How traps are made now: "gate", "sysenter", or "page". */
const char *mach_stub_entry(void);

/*
 * Offsets in linux-gate.so.1 that the kernel has to know. i386/vdso32.lds places it there.
 * The kernel copies one of gateway_int80, gateway_sysenter and gateway_syscall (gateway.S) to VDSO32_GATEWAY.
 */
#pragma once

#define VDSO32_GATEWAY	    0x100 /* __kernel_vsyscall: AT_SYSINFO */
#define VDSO32_SIGRETURN    0x140 /* __kernel_sigreturn */
#define VDSO32_RT_SIGRETURN 0x150 /* __kernel_rt_sigreturn */

#define GATEWAY_SIZE	64 /* of each variant */
#define GATEWAY_LANDING 16 /* where sysenter and syscall return to, from the variant's start */

#define VDSO32_LANDING (VDSO32_GATEWAY + GATEWAY_LANDING)

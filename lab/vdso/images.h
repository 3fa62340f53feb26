/* What images.S and gateway.S hold. Page-aligned images; those of the vDSOs need not fill their last page. */
#pragma once

#include <stdint.h>

extern const uint8_t vdso64_image[], vdso64_image_end[];
extern const uint8_t vdso32_image[], vdso32_image_end[];
/* Of one page each: the device `entry`, by width and variant. */
extern const uint8_t entry64_syscall_image[], entry64_sysenter_image[], entry64_int80_image[];
extern const uint8_t entry32_gate_image[], entry32_int80_image[], entry32_sysenter_image[],
    entry32_syscall_image[];
extern const uint8_t vsyscall_native_image[], vsyscall_native_image_end[];
extern const uint8_t vsyscall_original_image[], vsyscall_original_image_end[];

/* GATEWAY_SIZE bytes each. */
extern const uint8_t gateway_int80[], gateway_int80_end[];
extern const uint8_t gateway_sysenter[], gateway_sysenter_end[];
extern const uint8_t gateway_syscall[], gateway_syscall_end[];

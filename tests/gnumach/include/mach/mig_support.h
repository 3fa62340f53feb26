/* What the code that MIG makes asks of a C library: GNU Mach has no such header, and program.c defines these. */
#pragma once

#include <mach/message.h>
#include <mach/port.h>

mach_port_t mig_get_reply_port(void);
void mig_put_reply_port(mach_port_t port);
void mig_dealloc_reply_port(mach_port_t port);
mach_msg_return_t mach_msg(mach_msg_header_t *header, mach_msg_option_t option, mach_msg_size_t send_size,
			   mach_msg_size_t receive_size, mach_port_name_t receive_name,
			   mach_msg_timeout_t timeout, mach_port_name_t notify);
unsigned long mig_strncpy(char *to, const char *from, unsigned long bytes);
void *memcpy(void *to, const void *from, unsigned long bytes);

//! What programs of GNU Mach must be answered. Codes, layouts and names are those that GNU Mach itself was seen to give (1.8+git20261028),
//! but for what docs/mach.md lists as different.

/// Of `mach_errors.c`: what was tried, and the code at 64 and at 32 bits.
pub const ERRORS: &[(&str, u64, u64)] = &[
    ("no bytes", 0x1000_0008, 0x1000_0008),
    ("too few bytes", 0x1000_0008, 0x1000_0008),
    ("odd bytes", 0x1000_0008, 0x1000_0008),
    ("four bytes more", 0x1000_0008, 0),
    ("all bytes", 0x1000_000d, 0x1000_000d),
    ("too many bytes", 0x1000_000d, 0x1000_000d),
    ("no memory", 0x1000_0002, 0x1000_0002),
    ("the kernel's", 0x1000_0002, 0x1000_0002),
    ("no types", 0x1000_0010, 0x1000_0010),
    ("to a receive right", 0x1000_0010, 0x1000_0010),
    ("to type 22", 0x1000_0010, 0x1000_0010),
    ("to type 255", 0x1000_0010, 0x1000_0010),
    ("answer by a receive right", 0x1000_0010, 0x1000_0010),
    ("answer of no type", 0x1000_0010, 0x1000_0010),
    ("to null", 0x1000_0003, 0x1000_0003),
    ("to dead", 0x1000_0003, 0x1000_0003),
    ("to nothing", 0x1000_0003, 0x1000_0003),
    ("to a port without a send right", 0x1000_0003, 0x1000_0003),
    ("answer to nothing", 0x1000_0009, 0x1000_0009),
    ("answer without a send right", 0x1000_0009, 0x1000_0009),
    ("both to nothing", 0x1000_0003, 0x1000_0003),
    ("both without a right", 0x1000_0009, 0x1000_0009),
    ("two moves of one right", 0x1000_0003, 0x1000_0003),
    ("no body", 0, 0),
    ("half an item", 0x1000_0008, 0x1000_0008),
    ("more than there is", 0x1000_0008, 0x1000_0008),
    ("as many as can be", 0x1000_0008, 0x1000_0008),
    ("an unused bit", 0x1000_000f, 0x1000_000f),
    ("deallocated", 0x1000_000f, 0x1000_000f),
    ("16 bits of a port", 0x1000_000f, 0x1000_000f),
    ("the other width", 0x1000_000f, 0x1000_000f),
    ("out of line", 0x1000_000f, 0x1000_000f),
    ("no such right", 0x1000_000a, 0x1000_000a),
    ("not that right", 0x1000_000a, 0x1000_000a),
    ("null", 0, 0),
    ("dead", 0, 0),
    ("queued", 0, 0),
    ("queued", 0, 0),
    ("queued", 0, 0),
    ("queued", 0, 0),
    ("queued", 0, 0),
    ("full", 0x1000_0004, 0x1000_0004),
    ("came back as", 0x11, 0x11),
    ("send-once", 0, 0),
    ("notify", 0x1000_000e, 0x1000_000e),
    ("cancel", 0x1000_000b, 0x1000_000b),
    ("too large, kept", 0x1000_4004, 0x1000_4004),
    ("needs", 0x20, 0x18),
    ("too large", 0x1000_4004, 0x1000_4004),
    ("nowhere", 0x1000_4008, 0x1000_4008),
    ("notified by nobody", 0x1000_4007, 0x1000_4007),
    ("empty", 0x1000_4003, 0x1000_4003),
    ("after a while", 0x1000_4003, 0x1000_4003),
    ("from null", 0x1000_4002, 0x1000_4002),
    ("from dead", 0x1000_4002, 0x1000_4002),
    ("from nothing", 0x1000_4002, 0x1000_4002),
    ("from a send right", 0x1000_4002, 0x1000_4002),
    ("sent, from nothing", 0x1000_4002, 0x1000_4002),
    ("was sent", 0, 0),
    ("right 0", 0x12, 0x12),
    ("right 2", 0x12, 0x12),
    ("right 5", 0x12, 0x12),
    ("of no task", 0x1000_0007, 0x1000_0007),
    ("of nothing", 0x1000_0007, 0x1000_0007),
    ("a set", 0, 0),
    ("a set has no references", 0x11, 0x11),
    ("chosen", 0, 0),
    ("chosen twice", 0xd, 0xd),
    ("chosen null", 0x12, 0x12),
    ("chosen dead", 0x12, 0x12),
    ("not to be dropped", 0x11, 0x11),
    ("nothing dropped", 0xf, 0xf),
    ("insert", 0, 0),
    ("insert elsewhere", 0x15, 0x15),
    ("insert over", 0xd, 0xd),
    ("insert once", 0, 0),
    ("insert type 15", 0x12, 0x12),
    ("insert null", 0x14, 0x14),
    ("insert nothing", 0xf, 0xf),
    ("insert what it is not", 0x11, 0x11),
    ("insert as null", 0x12, 0x12),
    ("allocate nothing", 0, 0),
    ("allocate", 0, 0),
    ("allocate there again", 3, 3),
    ("allocate beyond", 1, 1),
    ("allocate all", 3, 3),
    ("allocate nowhere", 0, 0),
    ("allocate of no task", 0x1000_0007, 0x1000_0007),
    ("deallocate", 0, 0),
    ("deallocate again", 0, 0),
    ("deallocate beyond", 0, 0),
    ("map", 0, 0),
    ("map nothing", 4, 4),
    ("map with other rights", 4, 4),
    ("map no object", 0xf, 0xf),
    ("create", 0, 0),
    ("its memory", 0, 0),
    ("its port", 0, 0),
    ("create with memory", 6, 6),
    ("create of no task", 0x1000_0007, 0x1000_0007),
    ("end", 0, 0),
    ("end again", 0x1000_0007, 0x1000_0007),
    ("its name is dead", 0, 0),
];

/// Of `mach_servers.c`, likewise; lines with a blank in front are of the answer before.
pub const SERVERS: &[(&str, u64, u64)] = &[
    ("vm_allocate", 0, 0),
    (" size", 0x40, 0x28),
    (" zero", 0, 0),
    ("vm_deallocate", 0, 0),
    ("mach_port_allocate", 0, 0),
    ("mach_port_insert_right", 0, 0),
    ("mach_port_type", 0, 0),
    (" type", 0x3_0000, 0x3_0000),
    ("mach_port_mod_refs", 0, 0),
    ("one reference too many", 0x13, 0x13),
    ("mach_port_get_refs", 0, 0),
    (" references", 0xfffe, 0xfffe),
    ("mach_port_get_receive_status", 0, 0),
    (" size", 0x60, 0x48),
    ("mach_port_deallocate", 0, 0),
    ("mach_port_destroy", 0, 0),
    ("and again", 0xf, 0xf),
    ("host_get_time", 0, 0),
    (" size", 0x48, 0x2c),
    (" seconds", 0x6553_f100, 0x6553_f100),
    ("host_get_time64", 0, 0),
    (" size", 0x48, 0x34),
    ("time of a task", 0x16, 0x16),
    ("device_open", 0x9c9, 0x9c9),
    ("device_open", 0x9c6, 0x9c6),
    ("device_open", 0, 0),
    ("device_map, rights 16", 4, 4),
    ("device_map", 0, 0),
    (" bits", 0x8000_1200, 0x8000_1200),
    ("vm_map to write", 2, 2),
    ("vm_map of a device", 4, 4),
    ("vm_map", 0, 0),
    ("both pages are one", 1, 1),
    ("device_close", 0, 0),
    ("device_close again", 0x1000_0003, 0x1000_0003),
    ("mapped seconds", 0x6553_f100, 0x6553_f100),
    ("mapped check", 0x6553_f100, 0x6553_f100),
    ("steps", 3, 3),
    ("no such id", 0xffff_fed1, 0xffff_fed1),
    (" id", 0xc1b, 0xc1b),
    ("a notification's id", 0xffff_fed1, 0xffff_fed1),
    ("too short", 0xffff_fed0, 0xffff_fed0),
    ("too long", 0xffff_fed0, 0xffff_fed0),
    ("not a boolean", 0xffff_fed0, 0xffff_fed0),
    ("not a right", 0xffff_fed0, 0xffff_fed0),
    ("ports of the host", 0x10, 0x10),
    ("reboot by the host's port", 0x16, 0x16),
];

/// Of `mach_messages.c`.
pub const MESSAGES_64: &str = "\
wrong of the loop 0
rights result 0
 bits 80001112
 size 50
 remote 6
 local 4
 sequence 14
 id 7
 body 20004011
 body 1
 body 5
 body 0
 body 20002002
 body 1
 body 12345678
 body 0
 body 20004012
 body 1
 body 7
 body 0
send-once 0
and again 10000003
by it result 0
 bits 1200
 size 20
 remote 0
 local 5
 sequence 0
 id 8
deallocate 0
moved result 0
 bits 80001100
 size 30
 remote 0
 local 4
 sequence 15
 id 9
 body 20004010
 body 1
 body 5
 body 0
get_refs 0
references 6
mod_refs 0
send-once notification result 0
 bits 1200
 size 20
 remote 0
 local 4
 sequence 16
 id 47
to the dead 10000003
dead name 0
no name f
circle 0
gone f
";

pub const MESSAGES_32: &str = "\
wrong of the loop 0
rights result 0
 bits 80001112
 size 30
 remote 6
 local 4
 sequence 14
 id 7
 body 10012011
 body 5
 body 10012002
 body 12345678
 body 10012012
 body 7
send-once 0
and again 10000003
by it result 0
 bits 1200
 size 18
 remote 0
 local 5
 sequence 0
 id 8
deallocate 0
moved result 0
 bits 80001100
 size 20
 remote 0
 local 4
 sequence 15
 id 9
 body 10012010
 body 5
get_refs 0
references 6
mod_refs 0
send-once notification result 0
 bits 1200
 size 18
 remote 0
 local 4
 sequence 16
 id 47
to the dead 10000003
dead name 0
no name f
circle 0
gone f
";

/// Of `mach_hostile.c`.
pub const HOSTILE: &str = "\
ports f0
then 6
ports ef
then 6
names run out 1
then 6
no reply port 0
no name for the answer 1000600b
chosen names run out 6
messages 40
then 1000000d
nor an answer 1000000d
all are read 0
a large one 0
another 1000000d
one of all bytes 1000000d
it is read 0
of its size 8000
links 32
the last ends 0
numbers
";

/// Of `mach_threads.c`, as GNU Mach answered, but for five lines. GNU Mach makes more threads ("at once", "then"), begins at a wild address
/// of 64 bits, and sets the state of a thread that runs; and a thread without room for a message that another takes goes on waiting there.
pub const THREADS: &[(&str, u64, u64)] = &[
    ("thread_create", 0, 0),
    ("its name is new", 1, 1),
    ("thread_set_state", 0, 0),
    (" size", 0x30, 0x20),
    ("thread_resume", 0, 0),
    ("and again", 5, 5),
    ("mach_msg", 0, 0),
    (" id", 0x8e, 0x8e),
    ("in the same memory", 0x2a, 0x2a),
    ("who has ended has a dead name", 0x1000_0003, 0x1000_0003),
    ("another", 0, 0),
    ("other registers", 4, 4),
    ("too few", 4, 4),
    ("none", 4, 4),
    ("more than there are", 0xffff_fed0, 0xffff_fed0),
    ("fewer than there are", 0xffff_fed0, 0xffff_fed0),
    ("a wild address", 4, 0),
    ("its own", 4, 4),
    ("of a task", 4, 4),
    ("a thread of a thread", 4, 4),
    ("thread_resume of itself", 5, 5),
    ("thread_terminate", 0, 0),
    ("its name is dead", 0x1000_0003, 0x1000_0003),
    ("made and ended", 0xc8, 0xc8),
    ("at once", 7, 7),
    ("then", 6, 6),
    ("task_create", 0, 0),
    ("thread_create in it", 0, 0),
    ("task_terminate", 0, 0),
    ("its thread has gone", 0x1000_0003, 0x1000_0003),
    ("a third", 0, 0),
    ("it begins", 0, 0),
    ("sent", 5, 5),
    ("ended", 0, 0),
    ("received", 5, 5),
    ("the port has moved", 0x1000_4009, 0x1000_4009),
    (" the other", 0x1000_4009, 0x1000_4009),
    ("woken, and ended before it runs", 0, 0),
    ("it was told nothing", 0xffff, 0xffff),
    (" the other", 0, 0),
    ("no room for it", 0x1000_4004, 0x1000_4004),
    (" the other", 0, 0),
    ("its time is over", 0x1000_4003, 0x1000_4003),
    ("in time", 1, 1),
    ("a last", 0, 0),
    ("it begins", 0, 0),
    ("state of one that runs", 5, 5),
];

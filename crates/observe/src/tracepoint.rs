//! The tracepoint `raw_syscalls:sys_enter`, by its number, which only tracefs tells.

use crate::error::Error;
use layers::tracefs;
use nix::errno::Errno;

/// As tracefs has it.
const EVENT: &str = "raw_syscalls/sys_enter";

/// What the parser of records relies on.
const FIELDS: [&str; 2] = ["field:long id;\toffset:8;", "field:unsigned long args[6];\toffset:16;"];

/// The tracepoint's number.
///
/// # Errors
/// [`Error::Permission`] or [`Error::System`] where nobody tells it.
pub(crate) fn number() -> Result<u64, Error> {
    let both = tracefs::read(|folder| {
        Ok((tracefs::text(folder, EVENT, "id")?, tracefs::text(folder, EVENT, "format")?))
    });
    let (number, format) = both.map_err(untold)?;
    if !FIELDS.iter().all(|field| format.contains(field)) {
        return Err(Error::System(
            "the tracepoint raw_syscalls:sys_enter has other fields in this kernel than kentry knows".into(),
        ));
    }
    let number = number.trim().parse();
    number.map_err(|_| Error::System("tracefs has no number for raw_syscalls:sys_enter".into()))
}

fn untold(errno: Errno) -> Error {
    match errno {
        Errno::EPERM | Errno::EACCES => Error::Permission(
            "only tracefs tells the number of the tracepoint raw_syscalls:sys_enter, and this process may neither read \
             /sys/kernel/tracing nor mount one (CAP_SYS_ADMIN)"
                .into(),
        ),
        Errno::ENODEV | Errno::ENOENT => {
            Error::System("this kernel has no tracepoint raw_syscalls:sys_enter (CONFIG_FTRACE_SYSCALLS)".into())
        }
        Errno::ENOSYS => Error::System(
            "tracefs is not mounted, and this kernel cannot mount it apart (Linux 5.2 can); mount it at /sys/kernel/tracing".into(),
        ),
        other => Error::system("tracefs cannot be read", other),
    }
}

//! A filter of system calls, as container runtimes give one to each process: a program that the kernel executes on every call before it
//! does what is asked. This one allows all, so that nothing but its cost is there. What this process executes has it as well.

use layers::Profile;
use layers::bpf::{X32, X86_64, answer, jump, load};
use nix::errno::Errno;
use nix::libc::{self, sock_filter};
use std::mem::offset_of;
use table::Filter;

/// Installs it, for good.
///
/// # Errors
/// In words, when this kernel has none.
pub fn install(filter: Filter) -> Result<(), String> {
    let mut program = program(filter)?;
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    let (option, mode) = (libc::PR_SET_SECCOMP, libc::c_ulong::from(libc::SECCOMP_MODE_FILTER));
    // SAFETY: the kernel reads as many instructions as it is told, which are there until it has answered.
    let answer = unsafe { libc::prctl(option, mode, &raw const program) };
    Errno::result(answer).map(drop).map_err(|errno| {
        format!(
            "this kernel takes no seccomp filter (CONFIG_SECCOMP_FILTER, since Linux 3.5): {}",
            errno.desc()
        )
    })
}

/// What is compared has no effect, because all is allowed whatever it is. One that looks at nothing but ABI and number answers each call
/// always alike, and Linux finds that out.
///
/// # Errors
/// In words; none that a test does not find.
fn program(filter: Filter) -> Result<Vec<sock_filter>, String> {
    if filter == Filter::Runtime {
        return runtime();
    }
    // Goes on with the next instruction in both cases.
    let compare = |how, value| jump(how, value, 0, 0);
    let mut program = vec![
        load(offset_of!(libc::seccomp_data, arch)),
        compare(libc::BPF_JEQ, X86_64),
        load(offset_of!(libc::seccomp_data, nr)),
        compare(libc::BPF_JGE, X32),
    ];
    if filter == Filter::Arguments {
        program.extend([load(offset_of!(libc::seccomp_data, args)), compare(libc::BPF_JEQ, 0)]);
    }
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    Ok(program)
}

/// kentry's own profile of a container, whose every answer is that the call is allowed.
fn runtime() -> Result<Vec<sock_filter>, String> {
    /// As on a kernel that has all that a profile may ask for, so that the filter is the same in each.
    const KERNEL: [u32; 2] = [u32::MAX; 2];
    const RETURNS: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let compiled =
        Profile::own().and_then(|profile| profile.compile(KERNEL)).map_err(|error| error.to_string())?;
    let allowed = |one: sock_filter| if one.code == RETURNS { answer(libc::SECCOMP_RET_ALLOW) } else { one };
    Ok(compiled.program.code().into_iter().map(allowed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::wait::{WaitStatus, waitpid};
    use nix::unistd::{ForkResult, fork};

    /// In a process of its own: a filter is for good.
    #[test]
    fn all_is_allowed_and_the_kernel_says_that_there_is_a_filter() {
        for filter in [Filter::Number, Filter::Arguments, Filter::Runtime] {
            // SAFETY: the child makes system calls alone, and ends.
            let ForkResult::Parent { child } = unsafe { fork() }.unwrap() else {
                // SAFETY: as above.
                unsafe {
                    libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                    let is_installed = install(filter).is_ok();
                    let mode = libc::prctl(libc::PR_GET_SECCOMP);
                    libc::_exit(if is_installed && mode == 2 && libc::getppid() > 0 { 0 } else { 1 })
                }
            };
            assert_eq!(waitpid(child, None).unwrap(), WaitStatus::Exited(child, 0), "{filter:?}");
        }
    }
}

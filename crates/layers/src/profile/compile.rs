//! From rules to one program. The compiler (seccompiler) makes a program of one action and a default; a profile has several actions. So
//! there is a program for each, and where one of them would answer with its default, it goes on with the next.

use super::ProfileError;
use super::rules::Rules;
use crate::bpf::Program;
use nix::libc::{BPF_JA, BPF_JMP, BPF_K, BPF_RET};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, sock_filter};

/// Stands for the next program: no profile asks for it, because its own values are less.
const NEXT: SeccompAction = SeccompAction::Trace(0xffff);

/// The most instructions that a kernel takes.
const MOST: usize = 4096;

const RETURNS: u16 = (BPF_RET | BPF_K) as u16;
const JUMPS: u16 = (BPF_JMP | BPF_JA) as u16;

pub(super) fn program(rules: Rules, default: SeccompAction) -> Result<Program, ProfileError> {
    let refused = |error: seccompiler::BackendError| ProfileError::Filter(error.to_string());
    let last = rules.len().saturating_sub(1);
    let mut all: BpfProgram = Vec::new();
    for (number, (action, of_action)) in rules.into_iter().enumerate() {
        let otherwise = if number == last { default.clone() } else { NEXT };
        let filter = SeccompFilter::new(of_action, otherwise, action, TargetArch::x86_64).map_err(refused)?;
        let part = BpfProgram::try_from(filter).map_err(refused)?;
        all.extend(if number == last { part } else { going_on(&part) });
    }
    if all.is_empty() {
        all.push(sock_filter { code: RETURNS, jt: 0, jf: 0, k: u32::from(default) });
    }
    if all.len() > MOST {
        return Err(ProfileError::Filter(format!(
            "it has {} instructions, and {MOST} are the most",
            all.len()
        )));
    }
    Ok(Program::of_parts(all.into_iter().map(|one| (one.code, one.jt, one.jf, one.k))))
}

/// A program with jumps behind its end in place of [`NEXT`].
fn going_on(part: &[sock_filter]) -> Vec<sock_filter> {
    let next = u32::from(NEXT);
    let one = |(place, one): (usize, &sock_filter)| {
        if one.code == RETURNS && one.k == next {
            let left = u32::try_from(part.len() - 1 - place).unwrap_or(u32::MAX);
            sock_filter { code: JUMPS, jt: 0, jf: 0, k: left }
        } else {
            one.clone()
        }
    };
    part.iter().enumerate().map(one).collect()
}

//! What probes find out about this Linux that no file tells: the functions of the vDSO, the vsyscall page's mode, and whether 32-bit
//! programs run.

use crate::row::fact;
use document::Export;
use environment::Environment;
use places::host::Executor;
use process::{Errno, Error, Phase};
use record::{Failure, Payload, Record, abi};
use std::collections::BTreeMap;
use table::Probe;

/// What the vDSO images export, by bitness. Into the environment, the vsyscall page's mode and whether 32-bit programs run.
pub(crate) fn describe(
    executor: &mut dyn Executor,
    cpu: usize,
    environment: &mut Environment,
) -> BTreeMap<String, Vec<Export>> {
    let mut vdso = BTreeMap::new();
    for probe in [Probe::Probe64, Probe::Probe32] {
        let described = executor.describe(probe, cpu);
        if let (Probe::Probe32, Some(runs)) = (probe, runs(&described)) {
            environment.ia32_emulation = Some(runs);
        }
        let Ok(records) = described else { continue };
        if probe == Probe::Probe64 {
            environment.vsyscall = vsyscall_mode(&records).map(str::to_string);
        }
        vdso.insert(probe.bits().to_string(), Export::all(&records));
    }
    vdso
}

/// Whether the kernel runs programs like this one; nothing where it failed for another reason.
fn runs(described: &Result<Vec<Record>, Failure>) -> Option<bool> {
    match described {
        Ok(_) => Some(true),
        Err(Failure::Process(Error::NotStarted { phase: Phase::Execute, errno: Errno::ENOEXEC })) => {
            Some(false)
        }
        Err(_) => None,
    }
}

const SIGSEGV: u64 = 11;

/// arch/x86/include/uapi/asm/vsyscall.h
const VSYSCALL_PAGE: u64 = 0xffff_ffff_ff60_0000;

/// The probe calls the page to find out; if the page is absent, the call faults on it.
fn vsyscall_mode(records: &[Record]) -> Option<&'static str> {
    let faulted = records.iter().any(|record| match record.payload {
        Payload::Outcome(verdict) => {
            (verdict.cause, verdict.detail[0], verdict.detail[3] & !0xfff)
                == (abi::CAUSE_SIGNAL, SIGSEGV, VSYSCALL_PAGE)
        }
        _ => false,
    });
    match fact(records, abi::FACT_VSYSCALL) {
        Some(abi::VSYSCALL_MODE_XONLY) => Some("xonly"),
        Some(abi::VSYSCALL_MODE_EMULATE) => Some("emulate"),
        Some(abi::VSYSCALL_MODE_NATIVE) => Some("native"),
        None if faulted => Some("none"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_kernels_refusal_to_execute_says_that_32_bit_programs_do_not_run() {
        let refused = |phase, errno| runs(&Err(Failure::Process(Error::NotStarted { phase, errno })));
        assert_eq!(runs(&Ok(Vec::new())), Some(true));
        assert_eq!(refused(Phase::Execute, Errno::ENOEXEC), Some(false));
        assert_eq!(refused(Phase::Execute, Errno::EACCES), None);
        assert_eq!(refused(Phase::Fork, Errno::EAGAIN), None);
        assert_eq!(runs(&Err(Failure::Killed(31))), None);
    }
}

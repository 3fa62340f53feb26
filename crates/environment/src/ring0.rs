//! Whether a guest's ring 0 runs on the processor itself, judged by what the lab kernel found at boot.
//!
//! Times are judged in core cycles, by a chain that the kernel ran in ring 3, which runs natively in every virtual machine:
//! so no threshold depends on a clock.

use record::abi;
use serde::{Deserialize, Serialize};

/// The thresholds, by which the kernel judges too: `abi/lab.h` says where they come from.
const SAME_LOOP: f64 = abi::RING_SAME_LOOP as f64;
const EXIT: f64 = abi::RING_EXIT as f64;
const CROSSING: f64 = abi::RING_CROSSING as f64;
const CROSSING_UNKNOWN_EXIT: f64 = abi::RING_CROSSING_UNKNOWN_EXIT as f64;
const PART_OF_EXIT: f64 = abi::RING_EXIT_QUARTERS as f64 / 4.0;
const COMMAND: f64 = abi::RING_COMMAND as f64;

/// Whether the kernel's instructions run on the processor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// All of them do.
    Natively,
    /// The hypervisor does some of them itself: see [`Ring0::trapped`].
    Partly,
    /// A program executes them.
    #[default]
    Emulated,
}

/// What a hypervisor does itself where the rest of ring 0 runs natively.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trapped {
    /// Writes of CR3: shadow page tables.
    Cr3Writes,
    /// `int` from ring 3, or `iretq`.
    Interrupts,
    /// Invalid instructions: KVM looks at each before the guest gets it.
    InvalidInstructions,
    /// Writes of CR4 that change PGE: always under SVM.
    Cr4Writes,
    /// Writes of SPEC_CTRL.
    SpecCtrlWrites,
    /// IBPBs: writes of PRED_CMD.
    PredCmdWrites,
    /// Flushes of the first data cache: writes of FLUSH_CMD.
    FlushCmdWrites,
    /// `invpcid`: shadow page tables.
    Invpcid,
    /// `invlpg`: shadow page tables.
    Invlpg,
}

impl Trapped {
    /// The settings of the lab whose steps are made of this instruction; none where more than settings decides.
    pub fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Trapped::Cr3Writes | Trapped::Interrupts | Trapped::InvalidInstructions => &[],
            Trapped::Cr4Writes => &[("flush-by", "pge")],
            Trapped::SpecCtrlWrites => &[("ibrs", "on")],
            Trapped::PredCmdWrites => &[("ibpb", "on"), ("entry-ibpb", "on")],
            Trapped::FlushCmdWrites => &[("l1d-flush", "on")],
            Trapped::Invpcid => &[("flush-by", "invpcid")],
            Trapped::Invlpg => &[("flush-by", "invlpg")],
        }
    }
}

/// What the kernel found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RingTest {
    /// Ticks for a loop in ring 0.
    pub loop_ticks: u64,
    /// Ticks for the same loop in ring 3, where it takes [`RingTest::loop_cycles`].
    pub loop_ticks_outside: u64,
    /// Core cycles that the loop takes: it is a chain.
    pub loop_cycles: f64,
    /// Whether a system call from ring 3 arrives, and comes back.
    pub syscall_works: bool,
    /// Ticks for one write of CR3.
    pub cr3_write: f64,
    /// Ticks for one cpuid in ring 0.
    pub cpuid: f64,
    /// Ticks for an interrupt from ring 3 and back; `None` where it does not work.
    pub interrupt: Option<f64>,
    /// The same by an invalid instruction.
    pub invalid_instruction: Option<f64>,
    /// Whether ring 0 finds itself in another ring, or cannot clear IF.
    pub deprivileged: bool,
    /// Whether CPUID offers VMX or SVM.
    pub nesting: bool,
    /// The hypervisor's signature.
    pub hypervisor: Option<String>,
    /// Ticks for one write of CR4 that changes PGE; `None`, as for what follows, where the processor lacks that, or it was not timed.
    pub cr4_write: Option<f64>,
    /// The same for a write of SPEC_CTRL that changes IBRS.
    pub spec_ctrl_write: Option<f64>,
    /// The same for an IBPB.
    pub pred_cmd_write: Option<f64>,
    /// The same for a flush of the first data cache.
    pub flush_cmd_write: Option<f64>,
    /// The same for an INVPCID of one page.
    pub invpcid: Option<f64>,
    /// The same for an INVLPG.
    pub invlpg: Option<f64>,
}

/// Whether ring 0 runs natively, and by what that is told.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ring0 {
    /// The verdict.
    pub verdict: Verdict,
    /// What the hypervisor does itself; empty unless the verdict is [`Verdict::Partly`].
    pub trapped: Vec<Trapped>,
    /// Core cycles for a write of CR3; null where the counter counts instructions.
    pub cr3_write_cycles: Option<f64>,
    /// Core cycles for an interrupt from ring 3 and back.
    pub interrupt_cycles: Option<f64>,
    /// Core cycles for an invalid instruction in ring 3, which the kernel takes for a system call, and back.
    pub invalid_instruction_cycles: Option<f64>,
    /// Core cycles for cpuid in ring 0, which leaves a guest under VMX, and nearly always under SVM.
    pub cpuid_cycles: Option<f64>,
    /// The hypervisor that the guest saw, by CPUID leaf 40000000h.
    pub hypervisor: Option<String>,
    /// Whether ring 0 found itself in another ring, or could not clear IF: ring compression.
    pub deprivileged: bool,
    /// Whether CPUID offered VMX or SVM to the guest.
    pub nesting: bool,
    /// Core cycles for a write of CR4 that changes PGE; null, as for what follows, where the processor lacks that, or it was not timed.
    pub cr4_write_cycles: Option<f64>,
    /// Core cycles for a write of SPEC_CTRL that changes IBRS.
    pub spec_ctrl_write_cycles: Option<f64>,
    /// Core cycles for an IBPB.
    pub pred_cmd_write_cycles: Option<f64>,
    /// Core cycles for a flush of the first data cache.
    pub flush_cmd_write_cycles: Option<f64>,
    /// Core cycles for an INVPCID of one page.
    pub invpcid_cycles: Option<f64>,
    /// Core cycles for an INVLPG.
    pub invlpg_cycles: Option<f64>,
    /// Whether this machine's KVM has its guests use page tables of their own (EPT, NPT); null where it does not say.
    pub nested_paging: Option<bool>,
}

impl Ring0 {
    /// Of a kernel that an emulator ran, whose counter counts instructions: there is nothing to judge.
    pub fn emulated(test: &RingTest) -> Ring0 {
        Ring0 {
            hypervisor: test.hypervisor.clone(),
            deprivileged: test.deprivileged,
            nesting: test.nesting,
            ..Ring0::default()
        }
    }

    /// Of a kernel in a virtual machine that is said to run on the processor.
    pub fn judge(test: &RingTest) -> Ring0 {
        let cycles = |ticks: f64| ticks * test.loop_cycles / test.loop_ticks_outside as f64;
        let known = |ticks: Option<f64>| ticks.map(cycles).filter(|cycles| cycles.is_finite());
        let mut judged = Ring0 {
            cr3_write_cycles: known(Some(test.cr3_write)),
            interrupt_cycles: known(test.interrupt),
            invalid_instruction_cycles: known(test.invalid_instruction),
            cpuid_cycles: known(Some(test.cpuid)),
            cr4_write_cycles: known(test.cr4_write),
            spec_ctrl_write_cycles: known(test.spec_ctrl_write),
            pred_cmd_write_cycles: known(test.pred_cmd_write),
            flush_cmd_write_cycles: known(test.flush_cmd_write),
            invpcid_cycles: known(test.invpcid),
            invlpg_cycles: known(test.invlpg),
            ..Ring0::emulated(test)
        };
        if why_emulated(test).is_none() {
            judged.trapped = judged.found_trapped();
            judged.verdict = if judged.trapped.is_empty() { Verdict::Natively } else { Verdict::Partly };
        }
        judged
    }

    /// Whether the hypervisor does this itself.
    pub fn traps(&self, what: Trapped) -> bool {
        self.trapped.contains(&what)
    }

    /// What one of them took, in core cycles.
    pub fn cycles(&self, what: Trapped) -> Option<f64> {
        match what {
            Trapped::Cr3Writes => self.cr3_write_cycles,
            Trapped::Interrupts => self.interrupt_cycles,
            Trapped::InvalidInstructions => self.invalid_instruction_cycles,
            Trapped::Cr4Writes => self.cr4_write_cycles,
            Trapped::SpecCtrlWrites => self.spec_ctrl_write_cycles,
            Trapped::PredCmdWrites => self.pred_cmd_write_cycles,
            Trapped::FlushCmdWrites => self.flush_cmd_write_cycles,
            Trapped::Invpcid => self.invpcid_cycles,
            Trapped::Invlpg => self.invlpg_cycles,
        }
    }

    fn found_trapped(&self) -> Vec<Trapped> {
        let exit = self.cpuid_cycles.filter(|exit| *exit >= EXIT);
        let crossing = exit.map_or(CROSSING_UNKNOWN_EXIT, |exit| exit + CROSSING);
        // What a processor may do as slowly as it leaves a guest; and more slowly, which only a dear exit tells from an exit.
        let slow = exit.map_or(CROSSING_UNKNOWN_EXIT, |exit| EXIT.max(exit * PART_OF_EXIT));
        let command = exit.map_or(f64::INFINITY, |exit| COMMAND.max(exit));
        let limits = [
            (Trapped::Cr3Writes, EXIT),
            (Trapped::Interrupts, crossing),
            (Trapped::InvalidInstructions, crossing),
            (Trapped::Cr4Writes, slow),
            (Trapped::SpecCtrlWrites, slow),
            (Trapped::PredCmdWrites, command),
            (Trapped::FlushCmdWrites, command),
            (Trapped::Invpcid, EXIT),
            (Trapped::Invlpg, EXIT),
        ];
        let is_trapped =
            |(what, limit): &(Trapped, f64)| self.cycles(*what).is_some_and(|cycles| cycles >= *limit);
        limits.into_iter().filter(is_trapped).map(|(what, _)| what).collect()
    }
}

/// Why no time means anything, in words; `None` where ring 0 runs on the processor, if not all of it.
pub fn why_emulated(test: &RingTest) -> Option<String> {
    let ratio = test.loop_ticks as f64 / test.loop_ticks_outside as f64;
    let mut why = Vec::new();
    if !(1.0 / SAME_LOOP..=SAME_LOOP).contains(&ratio) {
        why.push(format!("a loop took {ratio:.1} times as long in ring 0 as in ring 3"));
    }
    if test.deprivileged {
        why.push("its ring 0 is another ring of the processor".to_owned());
    }
    if !test.syscall_works {
        why.push("a system call from ring 3 does not work".to_owned());
    }
    if test.interrupt.is_none() {
        why.push("an interrupt from ring 3 does not work".to_owned());
    }
    match why.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        [first @ .., last] => Some(format!("{}, and {last}", first.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In ticks of a counter that is slower than the core, as measured on a Sapphire Rapids: 0.676 ticks in a cycle.
    fn test(cr3_write: f64, cpuid: f64, interrupt: f64, invalid: f64) -> RingTest {
        const TICKS: f64 = 0.6763;
        RingTest {
            loop_ticks: 81_200,
            loop_ticks_outside: (120_000.0 * TICKS) as u64,
            loop_cycles: 120_000.0,
            syscall_works: true,
            cr3_write: cr3_write * TICKS,
            cpuid: cpuid * TICKS,
            interrupt: Some(interrupt * TICKS),
            invalid_instruction: Some(invalid * TICKS),
            ..RingTest::default()
        }
    }

    /// The verdict on a machine on which these take so many core cycles.
    fn verdict(cr3: f64, cpuid: f64, interrupt: f64, invalid: f64) -> (Verdict, Vec<Trapped>) {
        let judged = Ring0::judge(&test(cr3, cpuid, interrupt, invalid));
        (judged.verdict, judged.trapped)
    }

    #[test]
    fn a_processor_does_it_all_itself_fast_or_slow() {
        let natively = (Verdict::Natively, vec![]);
        assert_eq!(verdict(100.0, 100.0, 300.0, 350.0), natively);
        assert_eq!(verdict(220.0, 120.0, 1000.0, 1100.0), natively);
        assert_eq!(verdict(500.0, 250.0, 700.0, 900.0), natively, "an old one");
    }

    #[test]
    fn under_kvm_an_invalid_instruction_comes_to_the_hypervisor_first() {
        let invalid = (Verdict::Partly, vec![Trapped::InvalidInstructions]);
        assert_eq!(verdict(220.0, 1100.0, 1000.0, 2300.0), invalid);
        assert_eq!(verdict(200.0, 1800.0, 400.0, 3000.0), invalid, "mitigations in the hypervisor");
        assert_eq!(verdict(200.0, 30_000.0, 700.0, 45_000.0), invalid, "nested");
    }

    #[test]
    fn shadow_page_tables_are_seen_by_what_a_write_of_cr3_takes() {
        let shadow = (Verdict::Partly, vec![Trapped::Cr3Writes, Trapped::InvalidInstructions]);
        assert_eq!(verdict(1500.0, 1100.0, 700.0, 2300.0), shadow);
        assert_eq!(verdict(25_000.0, 20_000.0, 700.0, 30_000.0), shadow, "nested");
    }

    #[test]
    fn interrupts_that_the_hypervisor_passes_on_take_an_exit_more() {
        let all = vec![Trapped::Cr3Writes, Trapped::Interrupts, Trapped::InvalidInstructions];
        assert_eq!(verdict(1500.0, 1100.0, 1500.0, 2300.0), (Verdict::Partly, all.clone()));
        assert_eq!(verdict(1500.0, 120.0, 2600.0, 2600.0), (Verdict::Partly, all), "cpuid does not leave it");
    }

    #[test]
    fn a_ring_0_that_is_emulated_has_no_parts() {
        let native = test(200.0, 1200.0, 700.0, 2000.0);
        let emulated = |change: fn(&mut RingTest)| {
            let mut test = native.clone();
            change(&mut test);
            let judged = Ring0::judge(&test);
            assert_eq!((judged.verdict, judged.trapped), (Verdict::Emulated, vec![]));
            why_emulated(&test).unwrap()
        };
        assert_eq!(why_emulated(&native), None);
        let slow = emulated(|test| test.loop_ticks = 64_673_050);
        assert_eq!(slow, "a loop took 796.9 times as long in ring 0 as in ring 3");
        let both = emulated(|test| (test.syscall_works, test.interrupt) = (false, None));
        assert_eq!(
            both,
            "a system call from ring 3 does not work, and an interrupt from ring 3 does not work"
        );
        assert!(emulated(|test| test.deprivileged = true).contains("another ring"));
        assert!(emulated(|test| test.loop_ticks_outside = 0).contains("inf times as long"));
        assert!(emulated(|test| (test.loop_ticks, test.loop_ticks_outside) = (0, 0)).contains("NaN times"));
    }

    /// What is trapped of CR4, SPEC_CTRL, PRED_CMD, FLUSH_CMD, INVPCID and INVLPG, where these and a cpuid take so many core cycles.
    fn trapped(cpuid: f64, steps: [f64; 6]) -> Vec<Trapped> {
        const TICKS: f64 = 0.6763;
        let [cr4, spec_ctrl, pred_cmd, flush_cmd, invpcid, invlpg] = steps.map(|cycles| Some(cycles * TICKS));
        let test = RingTest {
            cr4_write: cr4,
            spec_ctrl_write: spec_ctrl,
            pred_cmd_write: pred_cmd,
            flush_cmd_write: flush_cmd,
            invpcid,
            invlpg,
            ..test(200.0, cpuid, 500.0, 600.0)
        };
        Ring0::judge(&test).trapped
    }

    #[test]
    fn what_steps_are_made_of_is_judged_by_what_a_processor_may_take() {
        use Trapped::*;
        let natively = [900.0, 500.0, 8000.0, 3000.0, 400.0, 250.0];
        assert_eq!([120.0, 1300.0, 30_000.0].map(|cpuid| trapped(cpuid, natively)), [vec![], vec![], vec![]]);
        assert_eq!(trapped(1300.0, [1700.0, 500.0, 8000.0, 3000.0, 400.0, 250.0]), [Cr4Writes], "SVM");
        assert_eq!(trapped(1300.0, [300.0, 1100.0, 8000.0, 3000.0, 400.0, 250.0]), [SpecCtrlWrites]);
        assert_eq!(trapped(1300.0, [300.0, 300.0, 8000.0, 3000.0, 1500.0, 1400.0]), [Invpcid, Invlpg]);
        let nested = trapped(30_000.0, [33_000.0, 29_000.0, 35_000.0, 33_000.0, 31_000.0, 30_000.0]);
        assert_eq!(nested, [Cr4Writes, SpecCtrlWrites, PredCmdWrites, FlushCmdWrites, Invpcid, Invlpg]);
        assert_eq!(trapped(1300.0, [300.0, 300.0, 9000.0, 4400.0, 300.0, 200.0]), [], "who knows");
        assert_eq!(
            trapped(120.0, [2600.0, 1900.0, 90_000.0, 3000.0, 400.0, 250.0]),
            [Cr4Writes],
            "no exit is known"
        );
        let absent = Ring0::judge(&test(200.0, 1300.0, 500.0, 600.0));
        assert_eq!((absent.cr4_write_cycles, absent.trapped), (None, vec![]));
    }

    #[test]
    fn a_step_of_a_setting_is_one_that_the_lab_has() {
        assert_eq!(Trapped::Cr4Writes.settings(), [("flush-by", "pge")]);
        assert!(Trapped::Cr3Writes.settings().is_empty());
    }

    #[test]
    fn figures_are_in_core_cycles_whatever_the_counter() {
        let judged = Ring0::judge(&test(220.0, 1100.0, 1000.0, 2300.0));
        let near = |cycles: Option<f64>, truth: f64| (cycles.unwrap() / truth - 1.0).abs() < 1e-4;
        assert!(near(judged.cr3_write_cycles, 220.0) && near(judged.cpuid_cycles, 1100.0), "{judged:?}");
        assert!(near(judged.interrupt_cycles, 1000.0) && near(judged.invalid_instruction_cycles, 2300.0));
        assert_eq!(Ring0::emulated(&test(1.0, 1.0, 1.0, 1.0)), Ring0::default());
        let broken = RingTest { loop_ticks_outside: 0, ..test(1.0, 1.0, 1.0, 1.0) };
        assert_eq!(Ring0::judge(&broken).cr3_write_cycles, None);
    }
}

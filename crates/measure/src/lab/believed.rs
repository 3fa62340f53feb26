//! Which rows' times mean something where a hypervisor does part of ring 0 itself.

use super::plan::{BY_INTERRUPT, Job};
use environment::{Ring0, Trapped};
use table::Kind;

/// Files of the lab's entries whose way into the kernel is an invalid instruction.
const BY_INVALID: [&str; 1] = ["ud"];

/// Those that begin with a page fault, which is no system call.
const BY_PAGE_FAULT: [&str; 1] = ["exception"];

/// Those whose way in or out is a switch of tasks. In a guest of VMX each leaves the guest (SDM vol. 3, "Instructions That Cause VM Exits
/// Unconditionally"; task switches among "Other Causes"), in one of SVM where the hypervisor asks for it, as KVM does.
const BY_TASK: [&str; 4] = ["task-gate", "task-jmp", "task-16", "double-fault"];

/// Operations that change pages which are mapped, so that translations must be flushed.
const FLUSHING: [&str; 2] = ["copy-space", "map-unmap"];

/// What a row does that a hypervisor may do itself.
struct Does<'a>(&'a Job<'a>);

impl Does<'_> {
    fn has(&self, switch: &str, wanted: &str) -> bool {
        self.0.configuration.values().any(|(name, value)| (name, value) == (switch, wanted))
    }

    fn file(&self) -> &str {
        self.0.row.0.lab.as_deref().unwrap_or_default()
    }

    fn faults_on_vsyscall(&self) -> bool {
        self.file() == "vsyscall" && self.has("vsyscall", "emulate")
    }

    /// Whether it takes a path into the kernel.
    fn enters(&self) -> bool {
        let entry = self.0.row.0;
        let is_interrupt = entry.kind == Kind::Instruction && entry.uses_idt();
        matches!(entry.kind, Kind::Number | Kind::Exception) || is_interrupt
    }

    /// Whether the path goes on to another address space: that of a server, too.
    fn changes_spaces(&self) -> bool {
        let operation = self.0.row.1;
        operation.name == "switch" || (operation.server && !operation.thread)
    }

    /// Whether pages that were mapped are changed.
    fn flushes(&self) -> bool {
        FLUSHING.contains(&self.0.row.1.name.as_str())
    }

    fn writes_cr3(&self) -> bool {
        let isolates = self.has("pti", "on") || !self.has("cr3-writes", "0");
        // With shadow page tables the hypervisor sees page faults first, too.
        let faults = (self.0.row.0.kind == Kind::Exception && BY_PAGE_FAULT.contains(&self.file()))
            || self.faults_on_vsyscall();
        (self.enters() && isolates) || faults || self.flushes() || self.changes_spaces()
    }

    fn does(&self, what: Trapped) -> bool {
        match what {
            Trapped::Cr3Writes => self.writes_cr3(),
            Trapped::Interrupts => {
                let is_interrupt =
                    BY_INTERRUPT.contains(&self.file()) || BY_PAGE_FAULT.contains(&self.file());
                is_interrupt || self.faults_on_vsyscall() || (self.enters() && self.has("exit", "iret"))
            }
            Trapped::InvalidInstructions => BY_INVALID.contains(&self.file()),
            other => other
                .settings()
                .iter()
                .any(|(switch, value)| self.has(switch, value) && self.takes_step(switch)),
        }
    }

    /// Whether the step of a switch is on the way.
    fn takes_step(&self, switch: &str) -> bool {
        match switch {
            "flush-by" => self.flushes() || (self.changes_spaces() && !self.has("pcid", "off")),
            "ibpb" | "l1d-flush" => self.changes_spaces(),
            _ => self.enters() || self.faults_on_vsyscall(),
        }
    }
}

fn named(what: Trapped) -> &'static str {
    match what {
        Trapped::Cr3Writes => "writes of CR3 and page faults",
        Trapped::Interrupts => "interrupts, or iretq,",
        Trapped::InvalidInstructions => "invalid instructions",
        Trapped::Cr4Writes => "writes of CR4",
        Trapped::SpecCtrlWrites => "writes of SPEC_CTRL",
        Trapped::PredCmdWrites => "IBPBs",
        Trapped::FlushCmdWrites => "flushes of the first data cache",
        Trapped::Invpcid => "invpcid",
        Trapped::Invlpg => "invlpg",
    }
}

/// What is to be said at a row whose time is in part the hypervisor's.
pub fn remarks(ring0: &Ring0, job: &Job) -> Vec<String> {
    let does = Does(job);
    let task = BY_TASK.contains(&does.file()).then(|| {
        "the hypervisor handles task switches itself, always with VMX, and as KVM has it with SVM: this time may be mostly its own".to_owned()
    });
    let said = ring0.trapped.iter().filter(|what| does.does(**what)).map(|what| {
        let each =
            ring0.cycles(*what).map(|cycles| format!(" ({cycles:.0} core cycles each)")).unwrap_or_default();
        let what = named(*what);
        format!("the hypervisor handles {what} itself{each}: this time is mostly its own")
    });
    said.chain(task).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::Configuration;
    use crate::lab::plan::BY_CALL_GATE;
    use environment::Verdict;
    use std::collections::BTreeSet;
    use table::Table;

    /// A number of `lab/entry/layout.h`.
    fn number(name: &str) -> u32 {
        let header = include_str!("../../../../lab/entry/layout.h");
        let value = header.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name));
        value.unwrap().split_whitespace().next().unwrap().parse().unwrap()
    }

    #[test]
    fn files_that_are_entered_by_gates_and_interrupts_are_those_whose_paths_are() {
        let [long, protected] = [places::lab::Mode::Long, places::lab::Mode::Protected]
            .map(|mode| places::lab::kernel_paths(mode).unwrap().1);
        let [interrupt, gate, exception] = ["BY_INTERRUPT ", "BY_CALL_GATE ", "BY_EXCEPTION "].map(number);
        let files: BTreeSet<&str> =
            Table::get().entries.iter().filter_map(|entry| entry.lab.as_deref()).collect();
        for file in files {
            let name = file.replace('-', "_");
            let is_of_file = |path: &&table::paths::Path| {
                ["", "_x86_64", "_i386"].iter().any(|abi| path.name == format!("{name}{abi}"))
            };
            let mut paths = long.paths.iter().chain(&protected.paths);
            let kind = paths.find(is_of_file).map(|path| path.kind);
            let is = |kinds: &[u32]| kind.is_some_and(|kind| kinds.contains(&kind));
            assert_eq!(BY_CALL_GATE.contains(&file), is(&[gate]), "{file}");
            assert_eq!(BY_INTERRUPT.contains(&file), is(&[interrupt]), "{file}");
            assert_eq!(BY_PAGE_FAULT.contains(&file), is(&[exception]), "{file}");
        }
    }

    /// How many remarks a row has with this switch, where the hypervisor does this.
    fn remarked(entry: &str, set: Option<(&str, &str)>, trapped: Trapped) -> usize {
        remarked_for((entry, "none"), set.as_slice(), trapped)
    }

    fn remarked_for((entry, operation): (&str, &str), set: &[(&str, &str)], trapped: Trapped) -> usize {
        let table = Table::get();
        let operation = table.operation(operation).unwrap();
        let configuration = Configuration::defaults(table).with(set.iter().copied());
        let job = Job { row: (table.entry(entry).unwrap(), operation), configuration, footprint: None };
        let (verdict, trapped) = (Verdict::Partly, vec![trapped]);
        let ring0 = Ring0 { verdict, trapped, cr3_write_cycles: Some(2900.4), ..Ring0::default() };
        let remarks = remarks(&ring0, &job);
        assert!(remarks.iter().all(|remark| remark.starts_with("the hypervisor handles ")));
        remarks.len()
    }

    #[test]
    fn with_shadow_page_tables_writes_of_cr3_and_page_faults_are_the_hypervisors() {
        let isolated = Some(("pti", "on"));
        let cr3 = |entry, set| remarked(entry, set, Trapped::Cr3Writes);
        let entering = ["syscall-x86_64", "int80-i386", "gateway-i386", "lcall7-i386"];
        assert_eq!(entering.map(|entry| cr3(entry, isolated)), [1; 4]);
        assert_eq!([cr3("syscall-x86_64", None), cr3("int80-i386", None)], [0, 0]);
        assert_eq!([cr3("call", isolated), cr3("rdtsc", isolated)], [0, 0], "they enter no kernel");
        assert_eq!(cr3("page-fault", None), 1);
        assert_eq!([cr3("interrupt", None), cr3("interrupt", isolated)], [0, 1]);
        let writing = Some(("cr3-writes", "2"));
        assert_eq!(entering.map(|entry| cr3(entry, writing)), [1; 4]);
        assert_eq!([cr3("call", writing), cr3("int3", writing)], [0, 1]);
        assert_eq!(cr3("int80-i386", Some(("cr3-writes", "0"))), 0);
        let emulated =
            [("vsyscall", "emulate"), ("vsyscall", "native")].map(|set| cr3("vsyscall", Some(set)));
        assert_eq!(emulated, [1, 0]);
    }

    #[test]
    fn what_changes_address_spaces_writes_cr3_whatever_the_switches_say() {
        for (entry, name, writes) in [
            ("syscall-x86_64", "copy-space", true),
            ("syscall-x86_64", "switch", true),
            ("syscall-x86_64", "map-unmap", true),
            ("lcall7-i386", "mach_msg-rpc", true),
            ("lcall7-i386", "mach_msg-rpc-thread", false),
        ] {
            let remarks = remarked_for((entry, name), &[], Trapped::Cr3Writes);
            assert_eq!(remarks, usize::from(writes), "{entry} {name}");
        }
    }

    #[test]
    fn a_step_that_the_hypervisor_takes_part_in_marks_the_rows_that_take_it() {
        use Trapped::*;
        let call = ("syscall-x86_64", "none");
        for (row, set, what, marked) in [
            (("syscall-x86_64", "map-unmap"), ("flush-by", "pge"), Cr4Writes, true),
            (("syscall-x86_64", "copy-space"), ("flush-by", "pge"), Cr4Writes, true),
            (("syscall-x86_64", "map-unmap"), ("flush-by", "cr3"), Cr4Writes, false),
            (("syscall-x86_64", "switch"), ("flush-by", "pge"), Cr4Writes, false),
            (call, ("flush-by", "pge"), Cr4Writes, false),
            (("syscall-x86_64", "map-unmap"), ("flush-by", "invpcid"), Invpcid, true),
            (("syscall-x86_64", "map-unmap"), ("flush-by", "invpcid"), Invlpg, false),
            (("syscall-x86_64", "map-unmap"), ("flush-by", "invlpg"), Invlpg, true),
            (call, ("ibrs", "on"), SpecCtrlWrites, true),
            (("int80-i386", "none"), ("ibrs", "on"), SpecCtrlWrites, true),
            (call, ("ibrs", "enhanced"), SpecCtrlWrites, false),
            (("call", "none"), ("ibrs", "on"), SpecCtrlWrites, false),
            (call, ("entry-ibpb", "on"), PredCmdWrites, true),
            (call, ("ibpb", "on"), PredCmdWrites, false),
            (("syscall-x86_64", "switch"), ("ibpb", "on"), PredCmdWrites, true),
            (("lcall7-i386", "mach_msg-rpc"), ("ibpb", "on"), PredCmdWrites, true),
            (("syscall-x86_64", "switch"), ("l1d-flush", "on"), FlushCmdWrites, true),
            (call, ("l1d-flush", "on"), FlushCmdWrites, false),
        ] {
            assert_eq!(remarked_for(row, &[set], what), usize::from(marked), "{row:?} {set:?} {what:?}");
        }
        let identified = [("flush-by", "pge"), ("pcid", "keep"), ("pti", "on")];
        assert_eq!(remarked_for(("syscall-x86_64", "switch"), &identified, Cr4Writes), 1);
    }

    #[test]
    fn the_settings_of_what_may_be_trapped_are_settings_of_the_lab() {
        use Trapped::*;
        for what in [Cr4Writes, SpecCtrlWrites, PredCmdWrites, FlushCmdWrites, Invpcid, Invlpg] {
            assert!(!what.settings().is_empty());
            for (name, value) in what.settings() {
                let switch = Table::get().switch(name).unwrap();
                assert!(switch.value(value).is_some(), "{name}={value}");
            }
        }
    }

    #[test]
    fn interrupts_are_those_of_gates_and_of_iretq() {
        let interrupt = |entry, set| remarked(entry, set, Trapped::Interrupts);
        for entry in ["int80-x86_64", "intgate-i386", "trapgate-x86_64", "int3", "div0-i386", "ud"] {
            assert_eq!(interrupt(entry, None), 1, "{entry}");
        }
        assert_eq!([interrupt("syscall-x86_64", None), interrupt("call-gate-x86_64", None)], [0, 0]);
        assert_eq!(interrupt("syscall-x86_64", Some(("exit", "iret"))), 1);
        assert_eq!(interrupt("call", Some(("exit", "iret"))), 0);
    }

    #[test]
    fn a_task_switch_is_the_hypervisors_whatever_else_is() {
        let table = Table::get();
        let is_by_task =
            |entry: &&table::Entry| entry.lab.as_deref().is_some_and(|file| BY_TASK.contains(&file));
        let rows: Vec<&str> =
            table.entries.iter().filter(is_by_task).map(|entry| entry.name.as_str()).collect();
        assert!(
            rows.iter().all(|name| name.starts_with("task-") || *name == "double-fault-task"),
            "{rows:?}"
        );
        assert_eq!(rows.len(), 6);
        assert!(rows.iter().all(|entry| remarked(entry, None, Trapped::Invpcid) == 1));
    }

    #[test]
    fn an_invalid_instruction_is_a_row_of_its_own() {
        let invalid = |entry| remarked(entry, None, Trapped::InvalidInstructions);
        assert_eq!(["ud", "lock-nop", "ud-i386", "lock-nop-i386"].map(invalid), [1; 4]);
        assert_eq!(["int3", "div0", "syscall-x86_64", "int80-i386"].map(invalid), [0; 4]);
    }
}

//! Which rows' times mean something where a hypervisor does part of ring 0 itself.

use super::plan::Job;
use environment::{Ring0, Trapped};
use table::Kind;

/// Entries of the lab whose way into the kernel is an exception or an interrupt, by their files.
const BY_INTERRUPT: [&str; 5] = ["int80", "int3", "div0", "ud", "exception"];

/// Those whose way is an invalid instruction.
const BY_INVALID: [&str; 1] = ["ud"];

/// Those that begin with a page fault.
const BY_PAGE_FAULT: [&str; 1] = ["exception"];

/// Operations that write CR3 whatever the switches say.
const WITH_SPACES: [&str; 3] = ["copy-space", "switch", "map-unmap"];

/// What a job does that a hypervisor may do itself.
struct Uses {
    cr3_writes: bool,
    interrupts: bool,
    invalid_instructions: bool,
}

impl Uses {
    fn of(job: &Job) -> Uses {
        let file = job.row.0.lab.as_deref().unwrap_or_default();
        let is = |switch: &str, wanted: &str| {
            job.configuration.values().any(|(name, value)| (name, value) == (switch, wanted))
        };
        let faults_on_vsyscall = file == "vsyscall" && is("vsyscall", "emulate");
        let entry = job.row.0;
        let faults = (entry.kind == Kind::Exception && BY_PAGE_FAULT.contains(&file)) || faults_on_vsyscall;
        let is_interrupt = entry.kind == Kind::Instruction && entry.uses_idt();
        let enters = matches!(entry.kind, Kind::Number | Kind::Exception) || is_interrupt;
        let changes_spaces = WITH_SPACES.contains(&job.row.1.name.as_str());
        Uses {
            // With shadow page tables the hypervisor sees page faults first, too.
            cr3_writes: (enters && (is("pti", "on") || !is("cr3-writes", "0"))) || faults || changes_spaces,
            interrupts: BY_INTERRUPT.contains(&file) || faults_on_vsyscall || (enters && is("exit", "iret")),
            invalid_instructions: BY_INVALID.contains(&file),
        }
    }
}

/// What is to be said at a row whose time is in part the hypervisor's.
pub fn remarks(ring0: &Ring0, job: &Job) -> Vec<String> {
    let uses = Uses::of(job);
    let said = [
        (Trapped::Cr3Writes, uses.cr3_writes, "writes of CR3 and page faults", ring0.cr3_write_cycles),
        (Trapped::Interrupts, uses.interrupts, "interrupts, or iretq,", ring0.interrupt_cycles),
        (
            Trapped::InvalidInstructions,
            uses.invalid_instructions,
            "invalid instructions",
            ring0.invalid_instruction_cycles,
        ),
    ];
    let said = said.into_iter().filter(|(what, uses, ..)| *uses && ring0.traps(*what));
    said.map(|(_, _, what, cycles)| {
        let each = cycles.map(|cycles| format!(" ({cycles:.0} core cycles each)")).unwrap_or_default();
        format!("the hypervisor handles {what} itself{each}: this time is mostly its own")
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::Configuration;
    use crate::lab::plan::GATES;
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
        let (_, kernel) = places::lab::kernel_paths(places::lab::Mode::Long).unwrap();
        let [interrupt, gate, exception] = ["BY_INTERRUPT ", "BY_CALL_GATE ", "BY_EXCEPTION "].map(number);
        let files: BTreeSet<&str> =
            Table::get().entries.iter().filter_map(|entry| entry.lab.as_deref()).collect();
        for file in files {
            let name = file.replace('-', "_");
            let is_of_file =
                |path: &&table::paths::Path| [&name, &format!("{name}_x86_64")].contains(&&path.name);
            let kind = kernel.paths.iter().find(is_of_file).map(|path| path.kind);
            let is = |kinds: &[u32]| kind.is_some_and(|kind| kinds.contains(&kind));
            assert_eq!(GATES.contains(&file), is(&[interrupt, gate]), "{file}");
            assert_eq!(BY_INTERRUPT.contains(&file), is(&[interrupt, exception]), "{file}");
            assert_eq!(BY_PAGE_FAULT.contains(&file), is(&[exception]), "{file}");
        }
    }

    /// How many remarks a row has with this switch, where the hypervisor does this.
    fn remarked(entry: &str, set: Option<(&str, &str)>, trapped: Trapped) -> usize {
        let table = Table::get();
        let operation = table.operation("none").unwrap();
        let configuration = Configuration::defaults(table).with(set);
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
        let table = Table::get();
        for name in WITH_SPACES {
            let operation = table.operation(name).unwrap();
            let row = (table.entry("syscall-x86_64").unwrap(), operation);
            let job = Job { row, configuration: Configuration::defaults(table), footprint: None };
            assert!(Uses::of(&job).cr3_writes, "{name}");
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
    fn an_invalid_instruction_is_a_row_of_its_own() {
        let invalid = |entry| remarked(entry, None, Trapped::InvalidInstructions);
        assert_eq!(["ud", "lock-nop", "ud-i386", "lock-nop-i386"].map(invalid), [1; 4]);
        assert_eq!(["int3", "div0", "syscall-x86_64", "int80-i386"].map(invalid), [0; 4]);
    }
}

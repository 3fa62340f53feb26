//! What real kernels executed is named: by the parts that were expected there, and with next to nothing left over.

use crate::common::{Recorded, count};
use attribution::anatomy::{Anatomy, Confidence, Part};
use record::trace::Trace;

const ALL: [&str; 6] =
    ["6.1-pti-on", "6.1-pti-off", "6.12-pti-on", "6.12-pti-off", "6.1-untrain", "6.12-untrain"];

/// An anatomy of every path that was recorded.
fn anatomies() -> Vec<(String, Anatomy)> {
    let of = |name: &&str| {
        let recorded = Recorded::read(name);
        let named = recorded.traces.iter().map(|trace| {
            let anatomy = Anatomy::of(trace, &recorded.symbols, &recorded.kernel);
            (format!("{name} {} {}", anatomy.entry, anatomy.operation), anatomy)
        });
        named.collect::<Vec<_>>()
    };
    ALL.iter().flat_map(of).collect()
}

#[test]
fn next_to_nothing_is_left_over() {
    for (name, anatomy) in anatomies() {
        let other = count(&anatomy, Part::Other);
        assert!(
            other * 50 <= anatomy.instructions.len(),
            "{name}: {other} of {}",
            anatomy.instructions.len()
        );
        let unknown = |one: &&attribution::anatomy::Instruction| {
            (one.part == Part::Other) != (one.confidence == Confidence::None)
        };
        assert_eq!(anatomy.instructions.iter().find(unknown), None, "{name}");
    }
}

#[test]
fn every_path_enters_and_leaves_and_has_what_all_have() {
    for (name, anatomy) in anatomies() {
        let of = |part| count(&anatomy, part);
        let ways = 1 + usize::from(anatomy.entry == "ud");
        let goes_back =
            |one: &&attribution::anatomy::Instruction| ["iretq", "sysretq"].contains(&one.text.as_str());
        let back: Vec<_> = anatomy.instructions.iter().filter(goes_back).collect();
        assert_eq!(back.len(), ways, "{name}");
        assert!(back.iter().all(|one| one.part == Part::Leaving), "{name}");
        assert_eq!(of(Part::ClearRegisters), 13 * ways, "{name}: every register but rsp, rdi and rax");
        assert!(of(Part::Service) > 20 || anatomy.operation == "none", "{name}");
        assert_eq!(anatomy.instructions[0].part, Part::Entering, "{name}");
    }
}

#[test]
fn a_call_of_linux_6_1_is_named_to_the_last_instruction() {
    let anatomy = Recorded::read("6.1-pti-on").anatomy("syscall-x86_64", "getppid");
    let counts: Vec<(&str, usize)> = Part::ALL
        .iter()
        .map(|part| (part.name(), count(&anatomy, *part)))
        .filter(|(_, count)| *count > 0)
        .collect();
    let expected = [
        ("entering", 1),
        ("swapgs", 2),
        ("pti", 10),
        ("pcid", 2),
        ("kernel-stack", 2),
        ("stack", 35),
        ("clear-registers", 13),
        ("copy-frame", 6),
        ("ibrs", 2),
        ("returns", 12),
        ("bhb", 1),
        ("ibpb", 2),
        ("stack-offset", 16),
        ("handler", 16),
        ("index-mask", 4),
        ("dispatch", 29),
        ("work", 63),
        ("interrupts", 2),
        ("function-trace", 10),
        ("static-keys", 5),
        ("paravirt", 3),
        ("service", 79),
        ("return-checks", 17),
        ("verw", 2),
        ("divider", 6),
        ("leaving", 1),
    ];
    assert_eq!(counts, expected);
    assert_eq!(expected.iter().map(|(_, count)| count).sum::<usize>(), 341);
}

#[test]
fn isolation_differs_in_its_own_parts_alone() {
    for (on, off) in [("6.1-pti-on", "6.1-pti-off"), ("6.12-pti-on", "6.12-pti-off")] {
        let (on, off) = (Recorded::read(on), Recorded::read(off));
        for (entry, operation) in [("syscall-x86_64", "getppid"), ("int80-x86_64", "getppid")] {
            let (on, off) = (on.anatomy(entry, operation), off.anatomy(entry, operation));
            let differs = |part: &&Part| count(&on, **part) != count(&off, **part);
            let mut parts: Vec<&str> = Part::ALL.iter().filter(differs).map(|part| part.name()).collect();
            // Since 6.8, gates go back from the thread's stack where there is no isolation.
            parts.retain(|name| !(*name == "copy-frame" || *name == "stack" || *name == "return-checks"));
            assert_eq!(parts, ["pti", "pcid"], "{entry}");
        }
    }
}

#[test]
fn what_the_table_calls_isolation_is_a_jump_over_it_or_a_nop() {
    for (name, anatomy) in anatomies() {
        let is_of_table = |one: &&attribution::anatomy::Instruction| {
            one.part == Part::Pti && one.confidence == Confidence::Table
        };
        for instruction in anatomy.instructions.iter().filter(is_of_table) {
            let text = &instruction.text;
            assert!(
                text.starts_with("jmp ") || text.contains("nop") || text.starts_with("xchg"),
                "{name}: {text}"
            );
        }
        let writes = anatomy.instructions.iter().filter(|one| one.text.ends_with(", %cr3")).count();
        let expected = if name.contains("pti-on") { 2 } else { 0 };
        assert_eq!(writes, if anatomy.entry == "ud" { 2 * expected } else { expected }, "{name}");
    }
}

#[test]
fn a_jump_that_isolation_has_put_there_was_called_idle() {
    let jumps = |name: &str, idle: bool| {
        let all = anatomies().into_iter().filter(|(known, _)| known.starts_with(name));
        let all = all.flat_map(|(_, anatomy)| anatomy.instructions);
        let of_pti = all.filter(|one| one.part == Part::Pti && one.text.starts_with("jmp "));
        of_pti.filter(|one| one.idle == idle).count()
    };
    for version in ["6.1", "6.12"] {
        assert!(jumps(&format!("{version}-pti-off"), true) > 0, "{version}: jumps over what is off");
        assert_eq!(jumps(&format!("{version}-pti-on"), true), 0, "{version}: nothing of it is off");
    }
    assert!(jumps("6.12-pti-on", false) > 0, "6.12 leaves by a jump that is there only with isolation");
}

#[test]
fn a_kernel_that_was_moved_reads_the_same() {
    const MOVED: u64 = 0x1a00_0000;
    let recorded = Recorded::read("6.1-pti-on");
    let trace = recorded.trace("syscall-x86_64", "getppid");
    let mut moved = trace.clone();
    moved.steps.iter_mut().filter(|step| step.ring == 0).for_each(|step| step.address += MOVED);
    let mut symbols = recorded.symbols.clone();
    symbols.iter_mut().for_each(|symbol| symbol.address += MOVED);
    // A moved kernel has other bytes where it addresses the CPU's own data by rip: those are not moved with it.
    let text = |text: String| if text.contains("%gs:") { String::new() } else { text };
    let names = |anatomy: Anatomy| {
        let all = anatomy.instructions.into_iter();
        all.map(|one| (one.function, text(one.text), one.part, one.depth)).collect::<Vec<_>>()
    };
    let before = names(Anatomy::of(trace, &recorded.symbols, &recorded.kernel));
    let after = names(Anatomy::of(&moved, &symbols, &recorded.kernel));
    before.iter().zip(&after).for_each(|(before, after)| assert_eq!(before, after));
}

#[test]
fn nonsense_is_other_and_never_a_panic() {
    let recorded = Recorded::read("6.1-pti-off");
    let mut trace: Trace = recorded.trace("int80-x86_64", "getppid").clone();
    for (place, step) in trace.steps.iter_mut().enumerate() {
        match place % 5 {
            0 => step.bytes.clear(),
            1 => step.address = u64::MAX - place as u64,
            2 => step.ring = place as u8,
            3 => step.long = false,
            _ => step.bytes = vec![0xff; 15],
        }
    }
    let anatomy = Anatomy::of(&trace, &[], &linux::Kernel::default());
    assert_eq!(anatomy.instructions.len(), trace.steps.len());
    let anatomy = Anatomy::of(&trace, &recorded.symbols, &recorded.kernel);
    assert_eq!(anatomy.instructions.len(), trace.steps.len());
    assert!(Anatomy::of(&Trace::default(), &[], &linux::Kernel::default()).instructions.is_empty());
}

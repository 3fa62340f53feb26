//! The oldest and the newest kernel: where the work around a call is in functions of its own, and where it is inlined.

use crate::common::{Recorded, count};
use attribution::anatomy::{Anatomy, Confidence, Part};

/// The parts of a function's instructions, each once, in the order in which they come.
fn parts(anatomy: &Anatomy, function: &str) -> Vec<&'static str> {
    let all = anatomy.instructions.iter().filter(|one| one.function_name() == function);
    let mut parts: Vec<&str> = all.map(|one| one.part.name()).collect();
    parts.dedup();
    parts
}

#[test]
fn nothing_is_left_over_in_the_oldest_and_the_newest() {
    for (name, entry, operation) in [
        ("5.10", "syscall-x86_64", "getppid"),
        ("5.10", "int80-x86_64", "getppid"),
        ("7.3", "syscall-x86_64", "getppid"),
        ("7.3", "int80-x86_64", "getppid"),
        ("7.3", "page-fault", "minor-fault"),
    ] {
        let anatomy = Recorded::read(name).anatomy(entry, operation);
        let of_other = anatomy.instructions.iter().filter(|one| one.part == Part::Other);
        let of_other: Vec<&str> = of_other.map(|one| one.function_name()).collect();
        assert!(of_other.is_empty(), "{name} {entry}: {of_other:?}");
    }
}

#[test]
fn what_is_inlined_around_a_call_was_the_handler() {
    let anatomy = Recorded::read("7.3").anatomy("syscall-x86_64", "getppid");
    let expected = [
        "ibt",
        "handler",
        "work",
        "stack-offset",
        "interrupts",
        "paravirt",
        "work",
        "dispatch",
        "index-mask",
        "dispatch",
        "index-mask",
        "dispatch",
        "handler",
        "work",
        "static-keys",
        "work",
        "interrupts",
        "paravirt",
        "work",
        "ibpb",
        "work",
        "divider",
        "paravirt",
        "return-checks",
        "handler",
    ];
    let found = parts(&anatomy, "do_syscall_64");
    let without_keys = |all: &[&'static str]| {
        let mut all: Vec<&str> = all.iter().copied().filter(|part| *part != "static-keys").collect();
        all.dedup();
        all
    };
    assert_eq!(without_keys(&found), without_keys(&expected));
}

#[test]
fn what_stands_behind_x32s_key_in_the_check_of_a_number_was_work() {
    let anatomy = Recorded::read("6.12-generic").anatomy("syscall-x86_64", "none");
    let own = anatomy.instructions.iter().filter(|one| one.function_name() == "do_syscall_64");
    let check = own.skip_while(|one| one.part != Part::Dispatch);
    let check: Vec<(&str, Part)> = check.take(6).map(|one| (one.text.as_str(), one.part)).collect();
    let expected = [
        ("cmp $0x1ce, %r12d", Part::Dispatch),
        ("ja do_syscall_64+0x15d", Part::Dispatch),
        ("xchg %ax, %ax", Part::StaticKeys),
        ("cmp $-1, %r13d", Part::Dispatch),
        ("je do_syscall_64+0x8b", Part::Dispatch),
        ("movq $-0x26, 0x50(%rbx)", Part::Handler),
    ];
    assert_eq!(check, expected);
}

#[test]
fn what_was_called_outside_of_the_service_was_the_service() {
    let anatomy = Recorded::read("7.3").anatomy("syscall-x86_64", "getppid");
    assert_eq!(parts(&anatomy, "prandom_u32_state"), ["ibt", "stack-offset"]);
    assert_eq!(parts(&anatomy, "fpregs_assert_state_consistent"), ["ibt", "function-trace", "work"]);
    let first = anatomy.instructions.iter().position(|one| one.part == Part::Service).unwrap();
    let last = anatomy.instructions.iter().rposition(|one| one.part == Part::Service).unwrap();
    assert_eq!(anatomy.instructions[first].function_name(), "__x64_sys_getppid");
    assert_eq!(anatomy.instructions[last].function_name(), "__x64_sys_getppid");
}

#[test]
fn a_static_key_was_named_by_nothing() {
    let anatomy = Recorded::read("7.3").anatomy("syscall-x86_64", "getppid");
    let of_table = |part: Part| {
        let all = anatomy.instructions.iter().filter(|one| one.part == part);
        all.filter(|one| one.confidence == Confidence::Table && one.idle).count()
    };
    // On the way in and out, and one of the offset's.
    assert_eq!((of_table(Part::Work), of_table(Part::StackOffset)), (6, 1));
    // The fault's tracepoint.
    let fault = Recorded::read("7.3").anatomy("page-fault", "minor-fault");
    let trace = fault.instructions.iter().filter(|one| one.part == Part::Trace);
    assert!(trace.clone().count() > 0 && trace.clone().all(|one| one.confidence == Confidence::Table));
}

#[test]
fn nops_of_paravirt_were_static_keys() {
    let anatomy = Recorded::read("5.10").anatomy("syscall-x86_64", "getppid");
    let nops: Vec<bool> = anatomy
        .instructions
        .iter()
        .filter(|one| one.part == Part::Paravirt && one.confidence == Confidence::Table)
        .map(|one| one.idle)
        .collect();
    assert_eq!(nops, [true; 3]);
}

#[test]
fn data_of_each_cpu_has_its_name() {
    let anatomy = Recorded::read("7.3").anatomy("syscall-x86_64", "getppid");
    let texts: Vec<&str> = anatomy.instructions.iter().map(|one| one.text.as_str()).collect();
    assert!(texts.contains(&"mov %gs:cpu_current_top_of_stack, %rsp"), "{texts:?}");
    assert!(texts.contains(&"mov %gs:current_task, %rbx"), "{texts:?}");
}

#[test]
fn an_exception_switches_to_the_threads_stack() {
    for name in ["5.10", "7.3"] {
        let anatomy = Recorded::read(name).anatomy("int80-x86_64", "getppid");
        assert!(count(&anatomy, Part::KernelStack) > 0, "{name}");
    }
}

#[test]
fn a_number_beside_a_cpus_data_is_not_its_name() {
    use linux::Kernel;
    use record::trace::{Executed, Symbol, Trace};
    let symbol = |address, name: &str| Symbol { address, name: name.into() };
    let symbols = [symbol(0xffff_ffff_8100_0000, "preempt_schedule"), symbol(0x35e00, "pcpu_hot")];
    // testl $0x7fffffff, %gs:0x35e08
    let bytes = vec![0x65, 0xf7, 0x04, 0x25, 0x08, 0x5e, 0x03, 0, 0xff, 0xff, 0xff, 0x7f];
    let step = Executed { address: 0xffff_ffff_8100_0000, ring: 0, long: true, bytes };
    let trace = Trace { steps: vec![step], ..Trace::default() };
    let anatomy = Anatomy::of(&trace, &symbols, &Kernel::default());
    assert_eq!(anatomy.instructions[0].text, "testl $0x7fffffff, %gs:pcpu_hot+0x8");
}

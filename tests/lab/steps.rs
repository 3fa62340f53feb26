//! Instructions, counted by an emulator and in the kernel's file: a step that is on costs its instructions, one that is off
//! costs nothing.

use crate::guest::{Answer, Emulator, Ran, Script};
use crate::kernel::{Configuration, Kernel};
use iced_x86::{ConditionCode, Instruction};
use places::lab::{Event, Mode};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use table::{Entry, Kernel as Kernels, Table};

/// Entries whose path a call that does not exist takes from end to end, and that path: of those that Intel's model has in QEMU.
pub static PATHS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let is_there = |(name, _): &&(&str, &str)| !Emulator::TcgIntel.lacks(entry(name));
    ALL_PATHS.iter().filter(is_there).copied().collect()
});

/// The same with the kernel for this mode.
pub fn paths_in(mode: Mode) -> Vec<(&'static str, &'static str)> {
    match mode {
        Mode::Long => PATHS.clone(),
        Mode::Protected => {
            let is_there = |(name, _): &&(&str, &str)| {
                let entry = entry(name);
                let kernels = entry.kernels.contains(&Kernels::LabI386) && entry.through.is_empty();
                kernels && !["syscall-i386"].contains(name)
            };
            ALL_PATHS.iter().filter(is_there).chain(PROTECTED_PATHS).copied().collect()
        }
    }
}

/// Of entries that protected mode alone has: one of each kind.
const PROTECTED_PATHS: &[(&str, &str)] = &[
    ("into", "into_i386"),
    ("bound", "bound_i386"),
    ("np-fault", "np_fault_i386"),
    ("call-gate-16-0", "call_gate_16_0_i386"),
];

/// The same of all models.
pub const ALL_PATHS: &[(&str, &str)] = &[
    ("syscall-x86_64", "syscall_x86_64"),
    ("int80-x86_64", "int80"),
    ("intgate-x86_64", "int80"),
    ("trapgate-x86_64", "int80"),
    ("call-gate-x86_64", "call_gate_x86_64"),
    ("ring1-x86_64", "call_gate_x86_64"),
    ("ring2-x86_64", "call_gate_x86_64"),
    ("sysenter-x86_64", "sysenter_x86_64"),
    ("ud", "ud_x86_64"),
    ("lock-nop", "ud_x86_64"),
    ("int3", "int3_x86_64"),
    ("div0", "div0_x86_64"),
    ("int80-i386", "int80"),
    ("sysenter-i386", "sysenter_i386"),
    ("syscall-i386", "syscall_i386"),
    ("call-gate-i386", "call_gate_i386"),
    ("lcall7-i386", "call_gate_i386"),
    ("ud-i386", "ud_i386"),
    ("lock-nop-i386", "ud_i386"),
    ("int3-i386", "int3_i386"),
    ("div0-i386", "div0_i386"),
];

/// Every configuration that has other steps.
fn configurations() -> Vec<[(&'static str, &'static str); 4]> {
    let mut all = Vec::new();
    for smap in ["off", "on"] {
        for stack in ["minimum", "frame"] {
            for exit in ["natural", "iret"] {
                for pti in ["off", "on"] {
                    all.push([("smap", smap), ("stack", stack), ("exit", exit), ("pti", pti)]);
                }
            }
        }
    }
    all
}

fn text(configuration: &Configuration) -> String {
    configuration.iter().map(|(name, value)| format!("{name}={value} ")).collect()
}

pub fn entry(name: &str) -> &'static Entry {
    Table::get().entry(name).unwrap()
}

/// The figures of rows, in instructions.
pub fn costs(script: &Script) -> Option<Vec<u64>> {
    let session = script.boot(Emulator::TcgIntel)?;
    session.ran.iter().for_each(|ran| assert_eq!(ran.answer(), Answer::Ok, "{}", ran.label));
    Some(session.ran.iter().map(Ran::cost).collect())
}

/// The jumps that a call takes, by the step that they are in: of an operation that does not exist, from the check of the number;
/// and in the handler of #UD behind the comparison with ud2, when it was one.
pub fn taken(entry: &str, operation: &str) -> impl Fn(&str, &Instruction) -> bool {
    let (is_ud2, is_missing) = (entry.starts_with("ud"), operation == "none");
    move |step, jump| match step {
        "is there such a call" => is_missing && jump.condition_code() == ConditionCode::ae,
        "is it ours?" => is_ud2 && jump.condition_code() == ConditionCode::e && jump.is_jcc_short(),
        _ => false,
    }
}

/// What a call executes besides the path: the instruction that enters, and what rings between have. QEMU counts one that raises an
/// exception while it computes as not executed.
pub fn entering(name: &str) -> u64 {
    let between = || entry(name).through.iter().map(|path| STUBS[path.as_str()]).sum::<u64>();
    match name {
        "div0" | "div0-i386" | "bound" | "np-fault" => 0,
        // It counts what it has translated behind it, too (entries.toml).
        "into" => 3,
        _ => 1 + between(),
    }
}

/// Instructions of what rings 1 and 2 have, which no switch changes that QEMU has.
static STUBS: LazyLock<BTreeMap<&str, u64>> = LazyLock::new(|| {
    let (kernel, bare) = (Kernel::read(), [("ibt", "off")]);
    ["ring1", "ring2"].map(|name| (name, kernel.path(name).walk(&bare, |_, _| false))).into()
});

#[test]
fn a_path_costs_the_instructions_of_its_steps_in_every_configuration() {
    let (kernel, none) = (Kernel::read(), Table::get().operation("none").unwrap());
    let (mut script, mut expected) = (Script::new(), Vec::new());
    for configuration in configurations() {
        script.set(&text(&configuration));
        for (name, path) in PATHS.iter() {
            let number = script.row(entry(name), none);
            let count = kernel.path(path).walk(&configuration, taken(name, "none")) + entering(name);
            expected.push((number, format!("{name} {}", text(&configuration)), count));
        }
    }
    let Some(costs) = costs(&script) else { return };
    let wrong: Vec<String> = expected
        .iter()
        .filter(|(number, _, count)| costs[*number] != *count)
        .map(|(number, what, count)| format!("{what}: {} counted, {count} in the file", costs[*number]))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn isolation_and_access_prevention_add_the_instructions_of_their_steps() {
    // A service that writes to the program opens and closes access once.
    for (switch, other, steps, in_service) in [("pti", "smap", "PTI: ", 0), ("smap", "pti", "SMAP: ", 2)] {
        for stack in ["minimum", "frame"] {
            check_added(&[("stack", stack), (other, "off"), (switch, "on")], steps, in_service);
        }
    }
}

/// What the last switch of a configuration adds to each path.
fn check_added(on: &Configuration, steps: &str, in_service: u64) {
    let (kernel, table) = (Kernel::read(), Table::get());
    let operations = ["none", "getppid", "gettimeofday"].map(|name| table.operation(name).unwrap());
    let mut off = on.to_vec();
    off.last_mut().unwrap().1 = "off";
    let mut script = Script::new();
    for configuration in [off.as_slice(), on] {
        script.set(&text(configuration));
        for (name, _) in PATHS.iter() {
            for operation in operations {
                script.row(entry(name), operation);
            }
        }
    }
    let Some(costs) = costs(&script) else { return };
    let (without, with) = costs.split_at(costs.len() / 2);
    let rows = PATHS.iter().flat_map(|path| operations.iter().map(move |operation| (path, operation)));
    for (index, ((name, path), operation)) in rows.enumerate() {
        let service = if operation.name == "gettimeofday" { in_service } else { 0 };
        let expected = kernel.path(path).until_the_way_out(on).count(on, steps) + service;
        assert!(steps.starts_with("SMAP") || expected > 0, "{path} has no step {steps:?}");
        assert_eq!(with[index] - without[index], expected, "{name} {} {}", operation.name, text(on));
    }
}

/// Instructions that isolation adds to an entry: of the trampoline, which is the stacks; of the tables; of copies of the gate's frame. They
/// are what they were before these were switches of their own.
const ISOLATION: &[(&str, u64, u64, u64)] = &[
    ("syscall-x86_64", 0, 4, 0),
    ("sysenter-x86_64", 2, 4, 0),
    ("sysenter-i386", 2, 4, 0),
    ("int80-x86_64", 2, 8, 9 + 9 - 1),
    ("ud", 2, 8, 9 + 9 - 1),
    ("call-gate-x86_64", 2, 8, 9 + 9 - 1),
];

#[test]
fn isolation_is_the_sum_of_its_parts() {
    let getppid = Table::get().operation("getppid").unwrap();
    let mut script = Script::new();
    let parts =
        ["pti=off", "pti=trampoline", "pti=on", "pti=trampoline copy-frame=on", "pti=on copy-frame=on"];
    for switches in parts {
        script.set(&format!("stack=frame copy-frame=off {switches}"));
        ISOLATION.iter().for_each(|(name, ..)| _ = script.row(entry(name), getppid));
    }
    let Some(costs) = costs(&script) else { return };
    let costs: Vec<&[u64]> = costs.chunks(ISOLATION.len()).collect();
    for (index, (name, trampoline, tables, copies)) in ISOLATION.iter().enumerate() {
        let added = |part: usize| costs[part][index] - costs[0][index];
        assert_eq!(added(1), *trampoline, "{name}");
        assert_eq!(added(2), trampoline + tables, "{name}");
        assert_eq!(added(3), trampoline + copies, "{name}");
        assert_eq!(added(4), trampoline + tables + copies, "{name}");
    }
}

#[test]
fn a_step_that_is_named_after_a_switch_is_there_only_with_it() {
    let kernel = Kernel::read();
    let mut seen = 0;
    for path in
        ALL_PATHS.iter().map(|(_, path)| *path).chain(["enter_user", "exception", "put_user_16", "copy_user"])
    {
        for step in kernel.path(path).steps {
            for (prefix, off) in [
                ("PTI: ", [("pti", "off")]),
                ("SMAP: ", [("smap", "off")]),
                ("copy-frame: ", [("copy-frame", "off")]),
            ] {
                assert!(!(step.name.starts_with(prefix) && step.is_on(&off)), "{path}: {}", step.name);
                seen += u32::from(step.name.starts_with(prefix));
            }
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn a_number_is_written_into_the_step_that_has_it_and_every_call_pays() {
    // The number of `none` does not exist, and is answered before registers are saved with stack=minimum.
    let operations = ["none", "getppid"].map(|name| Table::get().operation(name).unwrap());
    // QEMU takes long for a write, so that the large number is for one path alone.
    let counts = [(0, &PATHS[..]), (1, &PATHS[..]), (2, &PATHS[..]), (32, &PATHS[..]), (300, &PATHS[..1])];
    let mut script = Script::new();
    for (count, paths) in counts {
        for switches in
            ["pti=off smap=on stack=minimum", "pti=on smap=off stack=frame", "pti=on stack=minimum"]
        {
            script.set(&format!("cr3-writes={count} {switches}"));
            for (name, _) in paths {
                operations.iter().for_each(|operation| _ = script.row(entry(name), operation));
            }
        }
    }
    let Some(costs) = costs(&script) else { return };
    let rows = operations.len();
    let (without, mut rest) = costs.split_at(3 * rows * PATHS.len());
    for (count, paths) in &counts[1..] {
        for without in without.chunks(rows * PATHS.len()) {
            let (with, further) = rest.split_at(rows * paths.len());
            rest = further;
            for (index, (with, without)) in with.iter().zip(without).enumerate() {
                let (name, operation) = (paths[index / rows].0, &operations[index % rows].name);
                // One or two writes have three instructions beside them. Of more, four stand before and two behind; a turn has three.
                let added = if *count <= 2 { 3 + count } else { 6 + 3 * count };
                assert_eq!(with - without, added, "{name} {operation} cr3-writes={count}");
            }
        }
    }
}

#[test]
fn two_boots_are_alike_to_the_last_byte() {
    let mut script = Script::new();
    for switches in ["pti=off smap=on", "pti=on stack=minimum"] {
        script.set(switches);
        for (entry, operation) in Table::get().rows(Kernels::Lab) {
            if ["none", "gettimeofday", "getrandom", "clock_gettime-monotonic"]
                .contains(&operation.name.as_str())
            {
                script.row(entry, operation);
            }
        }
    }
    let (Some(first), Some(second)) = (script.events(Emulator::TcgIntel), script.events(Emulator::TcgIntel))
    else {
        return;
    };
    assert_eq!(first.len(), second.len());
    for (one, other) in first.iter().zip(&second) {
        assert!(one == other, "{one:?}\n{other:?}");
    }
    let outputs = first.iter().filter(|event| matches!(event, Event::Output { .. }));
    assert!(outputs.count() > script.numbered() / 2);
}

#[test]
fn a_call_takes_a_few_instructions_in_ring_0() {
    let mut script = Script::new();
    let (call, table) = (entry("syscall-x86_64"), Table::get());
    script.set("smap=off stack=minimum exit=natural pti=off pcid=off");
    let least = script.row(call, table.operation("none").unwrap());
    script.set("smap=on stack=frame exit=natural pti=off pcid=off");
    let full =
        ["none", "getppid", "gettimeofday"].map(|name| script.row(call, table.operation(name).unwrap()));
    let Some(costs) = costs(&script) else { return };
    // The figures have the instruction that enters, which is one of ring 3.
    assert!(costs[least] - 1 <= 12, "{costs:?}");
    let full = full.map(|number| costs[number] - 1);
    assert!(full[..2].iter().all(|count| *count <= 60), "{costs:?}");
    // Linux 6.1 takes 340 for this one.
    assert!(full[2] <= 200, "{costs:?}");
}

#[test]
fn a_native_vsyscall_costs_what_a_syscall_costs_and_an_original_one_enters_nothing() {
    let table = Table::get();
    let time = table.operation("time").unwrap();
    let mut script = Script::new();
    let syscall = script.row(entry("syscall-x86_64"), time);
    let ways = ["native", "original", "emulate"].map(|way| {
        script.set(&format!("vsyscall={way}"));
        script.row(entry("vsyscall"), time)
    });
    let Some(costs) = costs(&script) else { return };
    let [native, original, emulate] = ways.map(|number| costs[number]);
    // And a call, a load of the number, a return.
    assert_eq!(native, costs[syscall] + 3);
    assert!(original < 10, "{original}");
    assert!(emulate > native, "{emulate} {native}");
}

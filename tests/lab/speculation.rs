//! Steps against speculation: each adds exactly the instructions of its listing, alone and with all others; what registers hold of it;
//! what is executed without its feature, and where.

use crate::guest::{Emulator, Script};
use crate::kernel::Kernel;
use crate::steps::{PATHS, costs, entry, taken};
use crate::together::Programs;
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, OpKind};
use lab::{End, Event};
use record::abi;
use std::collections::BTreeMap;
use table::Table;

/// Instructions of Linux's loop that clears the history of branches: 4 before it, 19 in each of five turns, six returns, four behind
/// them.
const BHB_LOOP: u64 = 4 + 5 * 19 + 6 + 4;

/// On a processor that is not Zen 3 or 4: a jump, test, lfence, a jump, a return.
const UNTRAIN: u64 = 5;

/// Bases with different steps besides.
const BASES: [&str; 3] = [
    "smap=off stack=minimum exit=natural pti=off",
    "smap=on stack=frame exit=natural pti=off",
    "smap=off stack=minimum exit=iret pti=on",
];

/// What is switched on, and what it adds to functions that a path calls: for a call that does not exist, and for getppid.
const STEPS: [(&str, u64, fn(&Kernel, &str) -> u64); 9] = [
    ("ibrs=on", 0, |_, _| 0),
    ("verw=on", 0, |_, _| 0),
    ("bhb=loop", BHB_LOOP, |_, _| BHB_LOOP),
    // The service returns once, by a jump.
    ("returns=thunk", 0, |_, _| 1),
    ("returns=untrain", UNTRAIN, |_, _| UNTRAIN + 1),
    // The call, the address to the stack, the return.
    ("dispatch=retpoline", 0, |_, _| 3),
    ("dispatch=lfence", 0, |_, _| 0),
    ("dispatch=direct", 0, compared),
    ("index-mask=on", 0, |_, _| 0),
];

fn pairs<'a>(base: &'a str, switch: &'a str) -> Vec<(&'a str, &'a str)> {
    let words = base.split_whitespace().chain(switch.split_whitespace());
    words.map(|pair| pair.split_once('=').unwrap()).collect()
}

/// The instructions of the comparisons on the way to getppid, the jump to it included.
fn compared(kernel: &Kernel, entry: &str) -> u64 {
    let (name, number) = if uses_i386(entry) { ("direct_i386", 64) } else { ("direct_x86_64", 110) };
    walk(kernel, name, number).1
}

fn uses_i386(name: &str) -> bool {
    crate::steps::entry(name).abi == Some(table::Abi::I386)
}

/// Where the tree of comparisons leads for a number, and how many instructions that takes.
fn walk(kernel: &Kernel, name: &str, number: u32) -> (u64, u64) {
    let (tree, mut at, mut count, mut compared) = (kernel.symbol(name), kernel.symbol(name), 0, 0u32);
    loop {
        let code = Decoder::with_ip(64, kernel.code(at, 16), at, DecoderOptions::NONE).decode();
        count += 1;
        let goes = match code.code() {
            Code::Je_rel8_64 | Code::Je_rel32_64 => number == compared,
            Code::Ja_rel8_64 | Code::Ja_rel32_64 => number > compared,
            Code::Jmp_rel8_64 | Code::Jmp_rel32_64 => true,
            _ => {
                assert_eq!(
                    (code.mnemonic(), code.op0_kind()),
                    (iced_x86::Mnemonic::Cmp, OpKind::Register),
                    "{at:x}"
                );
                compared = code.immediate(1) as u32;
                false
            }
        };
        at = if goes { code.near_branch_target() } else { code.next_ip() };
        if goes && !(tree..tree + 4096).contains(&at) || count > 100 {
            return (at, count);
        }
    }
}

#[test]
fn each_step_adds_the_instructions_of_its_listing() {
    let (kernel, table) = (Kernel::read(), Table::get());
    let operations = ["none", "getppid"].map(|name| table.operation(name).unwrap());
    let mut script = Script::new();
    script.harmless();
    let all = "ibrs=on verw=on bhb=loop returns=untrain dispatch=retpoline index-mask=on";
    let off = "ibrs=off verw=off bhb=off returns=plain dispatch=table index-mask=off";
    let asked: Vec<&str> = ["", all].into_iter().chain(STEPS.map(|(switch, ..)| switch)).collect();
    for base in BASES {
        for asked in &asked {
            script.set(&format!("{base} {off}"));
            script.set(asked);
            for (name, _) in PATHS {
                operations.iter().for_each(|operation| _ = script.row(entry(name), operation));
            }
        }
    }
    let Some(costs) = costs(&script) else { return };
    let mut costs = costs.chunks(2 * PATHS.len());
    let mut wrong = Vec::new();
    for base in BASES {
        let without = costs.next().unwrap();
        let mut of_all = BTreeMap::new();
        let together = costs.next().unwrap();
        for (switch, for_none, for_getppid) in STEPS {
            let with = costs.next().unwrap();
            for (index, (name, path)) in PATHS.iter().enumerate() {
                let path = kernel.path(path);
                let [added, added_to_getppid] =
                    [0, 1].map(|operation| with[2 * index + operation] - without[2 * index + operation]);
                let [before, after] = ["", switch].map(|switch| pairs(base, switch));
                let listed = path.walk(&after, taken(name)) - path.walk(&before, taken(name));
                // With every number that exists, a path is walked to its end.
                let listed_to_the_end =
                    path.walk(&after, taken_by_getppid(name)) - path.walk(&before, taken_by_getppid(name));
                let expected = (listed + for_none, listed_to_the_end + for_getppid(&kernel, name));
                if (added, added_to_getppid) != expected {
                    wrong.push(format!(
                        "{name} {base} {switch}: {added} and {added_to_getppid}, not {expected:?}"
                    ));
                }
                if all.contains(switch) {
                    let sum: &mut [u64; 2] = of_all.entry(index).or_default();
                    sum[0] += added;
                    sum[1] += added_to_getppid;
                }
            }
        }
        // Together they cost their sum, and a jump for each return more in what they call: seven in the loop, one in the retpoline.
        for (index, (name, _)) in PATHS.iter().enumerate() {
            let found =
                [0, 1].map(|operation| together[2 * index + operation] - without[2 * index + operation]);
            let expected = [of_all[&index][0] + 7, of_all[&index][1] + 7 + 1];
            if found != expected {
                wrong.push(format!("{name} {base} all: {found:?}, not {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The jumps that a call takes which exists: that of ud2's comparison.
fn taken_by_getppid(name: &str) -> impl Fn(&Instruction) -> bool {
    let taken = taken(name);
    move |jump| jump.condition_code() != iced_x86::ConditionCode::ae && taken(jump)
}

#[test]
fn comparing_leads_where_the_table_does() {
    let (kernel, mut known) = (Kernel::read(), 0);
    let text = std::fs::read_to_string(crate::build::root().join("lab/user/calls.def")).unwrap();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter_map(|line| line.strip_prefix("CALL(")?.split_once(')'))
        .map(|(row, _)| row.split(", ").collect())
        .collect();
    for (column, abi) in [(0, "x86_64"), (1, "i386")] {
        let row = |row: &Vec<&str>| Some((row[column].parse::<u32>().ok()?, row[column + 2].to_string()));
        let calls: BTreeMap<u32, String> = rows.iter().filter_map(row).collect();
        for number in 0..600 {
            let function = calls.get(&number).cloned().unwrap_or_else(|| format!("call_unknown_{abi}"));
            let (to, count) = walk(&kernel, &format!("direct_{abi}"), number);
            assert_eq!(to, kernel.symbol(&function), "{abi} {number}");
            // A tree of a hundred leaves: three instructions in each of five knots, and a leaf.
            assert!(count <= 3 * 6 + 7, "{abi} {number}: {count}");
            known += usize::from(calls.contains_key(&number));
        }
    }
    assert!(known > 150, "{known}");
}

#[test]
fn a_switch_of_address_spaces_has_what_is_attached_to_it() {
    let mut script = Script::new();
    script.harmless();
    for switches in ["", "ibpb=on", "ibpb=off l1d-flush=on", "l1d-flush=off rsb=32", "returns=thunk rsb=0"] {
        script.set(switches);
        script.list("switch_space");
    }
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    let texts: Vec<Vec<String>> = session
        .ran
        .iter()
        .map(|ran| {
            let lines = crate::every_instruction::built(ran);
            lines.iter().map(|line| line.text.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
        })
        .collect();
    assert_eq!(texts[0], ["ret"]);
    assert_eq!(texts[1], ["mov $0x49, %ecx", "mov $1, %eax", "xor %edx, %edx", "wrmsr", "ret"]);
    assert_eq!(texts[2], ["mov $0x10b, %ecx", "mov $1, %eax", "xor %edx, %edx", "wrmsr", "ret"]);
    let fill = [
        "mov $0x20, %ecx",
        "call +b",
        "int3",
        "call +11",
        "int3",
        "add $0x10, %rsp",
        "sub $2, %ecx",
        "ja +5",
        "lfence",
        "ret",
    ];
    assert_eq!(texts[3], fill);
    assert_eq!(texts[4], ["jmp return_thunk"]);
}

#[test]
fn programs_find_what_they_have_left_whatever_is_done_between_address_spaces() {
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd, Emulator::Bochs] {
        let (programs, mut script) = (Programs::on(emulator), Script::new());
        if emulator != Emulator::Bochs {
            script.harmless();
        }
        for switches in [
            "pti=on ibpb=on l1d-flush=on rsb=32 ibrs=on stibp=on verw=on bhb=loop returns=untrain dispatch=direct",
            "pti=off exit=iret stack=minimum rsb=1 returns=thunk dispatch=retpoline index-mask=on ibrs=enhanced ssbd=on",
        ] {
            script.set(switches);
            (0..2).for_each(|start| programs.run_most(&mut script, start));
        }
        let Some(session) = script.boot(emulator) else { continue };
        let wrong: Vec<_> = session.ran.iter().filter(|ran| ran.end != End::Exited(0)).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

#[test]
fn spec_ctrl_has_a_bit_for_each_switch_and_nothing_is_left_of_it() {
    let wanted = [
        ("ibrs=on", 1),
        ("ibrs=off stibp=on", 2),
        ("ssbd=on", 6),
        ("ibrs=enhanced", 7),
        ("stibp=off ibrs=on", 5),
        ("ssbd=off", 1),
        ("ibrs=off", 0),
    ];
    let (mut script, program) = (Script::new(), crate::build::freestanding(64, &["sizes.c"]));
    for (switches, _) in wanted {
        script.set(switches);
        script.exec::<&str>(&program, &[]);
    }
    let Some(events) = script.events(Emulator::Bochs) else { return };
    // In the kernel, before the program.
    let values: Vec<u64> = events
        .iter()
        .filter_map(|event| match event {
            Event::Counters { counters, .. } => counters.get(abi::COUNTER_SPEC_CTRL),
            _ => None,
        })
        .collect();
    assert_eq!(values, wanted.map(|(_, value)| value));
}

#[test]
fn what_has_no_effect_is_executed_where_the_plan_says_so() {
    let harmless = [
        "ibrs=on",
        "ibrs=enhanced",
        "stibp=on",
        "ssbd=on",
        "ibpb=on",
        "verw=on",
        "l1d-flush=on",
        "bhb=hardware",
    ];
    let getppid = Table::get().operation("getppid").unwrap();
    let off = "ibrs=off stibp=off ssbd=off ibpb=off verw=off l1d-flush=off bhb=off pcid=off";
    let mut script = Script::new();
    let run = |script: &mut Script, switches: &str| {
        script.set(off);
        script.set(switches);
        script.row(entry("syscall-x86_64"), getppid);
    };
    harmless.iter().for_each(|switches| run(&mut script, switches));
    script.harmless();
    harmless.iter().for_each(|switches| run(&mut script, switches));
    // A bit of CR3 that is reserved without it.
    run(&mut script, "pti=on pcid=keep");
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    let (before, after) = session.ran.split_at(harmless.len());
    let id = |switches: &str| u64::from(Table::get().switch(switches.split_once('=').unwrap().0).unwrap().id);
    for (ran, switches) in before.iter().zip(harmless) {
        assert_eq!(ran.end, End::Unsupported(id(switches)), "{}", ran.label);
    }
    let (last, after) = after.split_last().unwrap();
    after.iter().for_each(|ran| assert_eq!(ran.end, End::Exited(0), "{}", ran.label));
    assert_eq!(last.end, End::Unsupported(id("pcid=keep")));
}

#[test]
fn the_kernel_knows_what_a_processor_has() {
    let of = |emulator: Emulator| {
        let session = Script::new().boot(emulator)?;
        let has = |name: &&str| {
            let (bit, _) = abi::FEATURES.iter().find(|(_, known)| known == name).unwrap();
            session.boot.features >> bit & 1 == 1
        };
        let names = ["ibrs", "eibrs", "stibp", "ssbd", "ibpb", "mdclear", "l1dflush", "bhictrl"];
        Some(names.into_iter().filter(has).collect::<Vec<&str>>())
    };
    let none = Some(Vec::new());
    // QEMU's own processors have none of it, whatever the models that they are named after have.
    assert!([none.clone(), Option::None].contains(&of(Emulator::TcgIntel)));
    assert!([none.clone(), Option::None].contains(&of(Emulator::TcgAmd)));
    let tigerlake = Some(vec!["ibrs", "eibrs", "stibp", "ssbd", "ibpb", "mdclear", "l1dflush"]);
    assert!([tigerlake, Option::None].contains(&of(Emulator::Bochs)));
}

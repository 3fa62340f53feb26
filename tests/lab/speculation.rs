//! Steps against speculation: where comparing leads; what registers hold; what is executed without its feature, and where. What each adds is
//! counted in exact.rs.

use crate::build::OnHost;
use crate::guest::{Emulator, Script};
use crate::kernel::Kernel;
use crate::steps::{PATHS, entry};
use crate::together::Programs;
use iced_x86::{Code, Decoder, DecoderOptions, OpKind};
use places::lab::{End, Event};
use record::abi;
use std::collections::{BTreeMap, BTreeSet};
use table::{Requirement, Switch, Table};

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

/// No emulator has these bits: AMD's manual, volume 3, CPUID Fn8000_0008_EBX and Fn8000_0021_EAX.
#[test]
fn what_amds_processors_say_of_ibrs_is_reported() {
    use record::abi::*;
    let on_host = OnHost::new("amd.c", &["cpu/amd.c"]);
    for (ebx, eax, features, automatic, barrier) in [
        (0, 0, vec![], 0, 0),
        // Zen 2: IBPB, IBRS, STIBP; always on and preferred.
        (
            1 << 12 | 1 << 14 | 1 << 15 | 1 << 16 | 1 << 18,
            0,
            vec![FEATURE_IBRS, FEATURE_EIBRS, FEATURE_IBRSALWAYS, FEATURE_IBRSPREFERRED, FEATURE_STIBP],
            0,
            1,
        ),
        (1 << 14 | 1 << 19, 0, vec![FEATURE_IBRS, FEATURE_IBRSSAMEMODE], 0, 0),
        (1 << 14, 1 << 8 | 1 << 5, vec![FEATURE_IBRS, FEATURE_EIBRS, FEATURE_MDCLEAR], 1, 0),
        // Nothing is preferred of what is not there.
        (1 << 16 | 1 << 18 | 1 << 19 | 1 << 24, 0, vec![FEATURE_SSBD], 0, 0),
    ] {
        let bits: u64 = features.iter().map(|feature| 1 << feature).sum();
        let said = on_host.run(&format!("{ebx:x} {eax:x}"), b"");
        assert_eq!(said, format!("{bits:x} {automatic} {barrier}\n"), "{ebx:x} {eax:x}");
    }
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
fn a_barrier_on_the_way_in_comes_before_every_call_and_return() {
    let mut script = Script::new();
    script.harmless();
    script.set("entry-ibpb=on ibrs=on bhb=loop returns=untrain dispatch=retpoline");
    let paths: BTreeSet<&str> = PATHS.iter().map(|(_, path)| *path).chain(["exception"]).collect();
    paths.iter().for_each(|path| _ = script.list(path));
    let Some(session) = script.boot(Emulator::TcgIntel) else { return };
    for (ran, path) in session.ran.iter().zip(paths) {
        let texts: Vec<String> = crate::every_instruction::built(ran)
            .into_iter()
            .map(|line| line.text.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        let barrier = ["mov $0x49, %ecx", "mov $1, %eax", "xor %edx, %edx", "wrmsr"];
        let at = texts.windows(barrier.len()).position(|code| code == barrier);
        let leads_away = |text: &String| text.starts_with("call") || text.starts_with("ret");
        let first = texts.iter().position(leads_away);
        assert!(at.is_some() && at < first, "{path}: {texts:#?}");
    }
}

#[test]
fn programs_find_what_they_have_left_whatever_is_done_between_address_spaces() {
    for emulator in [Emulator::TcgIntel, Emulator::TcgAmd, Emulator::Bochs] {
        let (programs, mut script) = (Programs::on(emulator), Script::new());
        if emulator != Emulator::Bochs {
            script.harmless();
        }
        for switches in [
            "pti=on ibpb=on entry-ibpb=on l1d-flush=on rsb=32 ibrs=on stibp=on verw=on bhb=loop returns=untrain dispatch=direct",
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

/// Settings that can be executed without their feature, and have no effect then.
fn harmless() -> Vec<String> {
    let of_switch = |switch: &'static Switch| {
        let is_harmless = |value: &&String| {
            let needs = |one: &&Requirement| match one.values.as_slice() {
                [] => **value != switch.first(),
                some => some.contains(value),
            };
            switch.requires.iter().any(|one| one.harmless && needs(&one))
        };
        switch.values.iter().filter(is_harmless).map(|value| format!("{}={value}", switch.name))
    };
    Table::get().switches.iter().flat_map(of_switch).collect()
}

#[test]
fn what_has_no_effect_is_executed_where_the_plan_says_so() {
    let harmless = harmless();
    assert!(harmless.contains(&"ibrs=enhanced".into()) && !harmless.contains(&"bhb=loop".into()));
    let getppid = Table::get().operation("getppid").unwrap();
    let first = |setting: &String| {
        let (name, _) = setting.split_once('=').unwrap();
        format!("{name}={} ", Table::get().switch(name).unwrap().first())
    };
    let off: String = harmless.iter().map(first).chain(["pcid=off".into()]).collect();
    let mut script = Script::new();
    let run = |script: &mut Script, switches: &str| {
        script.set(&off);
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
    for (ran, switches) in before.iter().zip(&harmless) {
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

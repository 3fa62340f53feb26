//! Counts, differences and documents of paths that real kernels executed.

use crate::common::{Recorded, count};
use attribution::anatomy::{
    Anatomy, Beside, BootedConfiguration, Difference, Document, Followed, Function, Part, SCHEMA, Verdict,
    load,
};
use attribution::bill::{Bill, Figure, Line, State, Step};
use document::{Machine, Name, Place};

fn call(name: &str) -> Anatomy {
    Recorded::read(name).anatomy("syscall-x86_64", "getppid")
}

fn total(function: &Function) -> usize {
    function.own + function.called.iter().map(total).sum::<usize>()
}

fn find<'a>(function: &'a Function, name: &str) -> Option<&'a Function> {
    let mut below = function.called.iter().filter_map(|called| find(called, name));
    (function.name == name).then_some(function).or_else(|| below.next())
}

#[test]
fn every_instruction_is_counted_once() {
    for name in ["6.1-pti-on", "6.12-untrain"] {
        let recorded = Recorded::read(name);
        for trace in &recorded.traces {
            let anatomy = Anatomy::of(trace, &recorded.symbols, &recorded.kernel);
            let all = anatomy.instructions.len();
            assert_eq!(anatomy.parts().iter().map(|part| part.count).sum::<usize>(), all);
            assert_eq!(anatomy.in_ring(0) + anatomy.in_ring(3), all);
            let tree = anatomy.functions();
            assert_eq!((tree.total, total(&tree)), (all, all));
            assert_eq!(anatomy.folded().iter().map(|(_, count)| count).sum::<usize>(), all);
        }
    }
}

#[test]
fn functions_stand_below_those_that_call_them_or_jump_to_them() {
    let tree = call("6.1-pti-on").functions();
    let handler = find(&tree, "do_syscall_64").unwrap();
    assert_eq!(handler.calls, 1);
    let service = find(handler, "x64_sys_call").and_then(|one| find(one, "__x64_sys_getppid")).unwrap();
    assert_eq!(find(service, "__rcu_read_unlock").unwrap().calls, 1);
    assert!(
        find(service, "__task_pid_nr_ns").unwrap().total > find(service, "__task_pid_nr_ns").unwrap().own
    );
    let top: Vec<&str> = tree.called.iter().map(|function| function.name.as_str()).collect();
    let labels = [
        "program",
        "entry_SYSCALL_64",
        "entry_SYSCALL_64_safe_stack",
        "entry_SYSCALL_64_after_hwframe",
        "syscall_return_via_sysret",
        "entry_SYSRETQ_unsafe_stack",
    ];
    assert_eq!(top, labels);
}

#[test]
fn isolation_is_ten_instructions_in_the_place_of_two_jumps() {
    let (off, on) = (call("6.1-pti-off"), call("6.1-pti-on"));
    let difference = Difference::of(&off, &on);
    let parts = difference.parts(&off, &on);
    let parts: Vec<_> = parts.iter().map(|(part, one)| (part.name(), one.less, one.more)).collect();
    assert_eq!(parts, [("pti", 2, 8), ("pcid", 0, 2)]);
    let functions = difference.functions(&off, &on);
    let functions: Vec<_> = functions.iter().map(|(name, one)| (name.as_str(), one.less, one.more)).collect();
    assert_eq!(functions, [("entry_SYSCALL_64", 1, 5), ("syscall_return_via_sysret", 1, 5)]);
    let whole = difference.total(&off, &on);
    assert_eq!((whole.first, whole.second), (off.instructions.len(), on.instructions.len()));
    assert_eq!((whole.less, whole.more), (2, 10));
    assert_eq!(on.instructions.len() - off.instructions.len(), 8);
    let same: usize =
        difference.pieces.iter().filter(|piece| piece.same).map(|piece| piece.first.len()).sum();
    assert_eq!(same, off.instructions.len() - 2);
    assert!(Difference::of(&on, &on.clone()).is_none());
    assert!(!difference.is_none());
}

/// A renamed function is the same one, and an offset of a field or of a CPU's data is nothing that a path executes more.
#[test]
fn across_kernels_names_and_offsets_are_no_difference() {
    let (old, new) = (call("6.1-pti-on"), call("6.12-pti-on"));
    let (strict, across) = (Difference::of(&old, &new), Difference::across(&old, &new));
    let count = |one: &Difference| one.total(&old, &new);
    assert!(count(&across).more < count(&strict).more, "{:?} {:?}", count(&across), count(&strict));
    let whole = count(&across);
    assert_eq!(whole.second + whole.less, whole.first + whole.more);
    assert_eq!((whole.first, whole.second), (old.instructions.len(), new.instructions.len()));
    // What was exit_to_user_mode_prepare is for the most part arch_exit_to_user_mode_prepare.
    let functions = across.functions(&old, &new);
    let of = |name: &str| functions.iter().find(|(known, _)| known == name).map(|(_, one)| *one).unwrap();
    let (before, now) = (of("exit_to_user_mode_prepare"), of("arch_exit_to_user_mode_prepare.constprop.0"));
    assert_eq!((before.second, now.first), (0, 0));
    assert!(2 * now.more < now.second && before.less < before.first, "{before:?} {now:?}");
    // Every instruction of both paths is in one piece, in its order.
    let (mut first, mut second) = (0, 0);
    for piece in &across.pieces {
        assert_eq!((piece.first.start, piece.second.start), (first, second));
        assert!(!piece.same || piece.first.len() == piece.second.len());
        (first, second) = (piece.first.end, piece.second.end);
    }
    assert_eq!((first, second), (old.instructions.len(), new.instructions.len()));
    // Of one kernel, the two say the same.
    let off = call("6.1-pti-off");
    let both = [Difference::of(&off, &old), Difference::across(&off, &old)];
    let [exact, loose] = both.map(|one| one.total(&off, &old));
    assert_eq!((exact.less, exact.more), (loose.less, loose.more));
}

fn document() -> Document {
    let configuration = BootedConfiguration {
        release: "6.1.0-56-cloud-amd64".into(),
        file: "vmlinuz".into(),
        parameters: "pti=on quiet".into(),
        settings: [("pti".to_string(), "on".to_string())].into(),
        machine: Name::Known(Machine::QemuTcg),
        cpu: "max,vendor=GenuineIntel".into(),
        seed: 0,
    };
    let followed = Followed::new(configuration, Some(340), 1, call("6.1-pti-on"));
    Document {
        schema: SCHEMA.into(),
        kentry: "0.1.0".into(),
        started: "2026-11-22T23:30:00Z".into(),
        paths: vec![followed],
        beside: None,
        is_history: false,
        left_out: Vec::new(),
        timed: None,
    }
}

#[test]
fn a_document_comes_back_as_it_was_saved_and_is_not_believed() {
    let document = document();
    assert_eq!((document.paths[0].agrees, document.paths[0].cost()), (Some(true), 340));
    assert_eq!(document.paths[0].configuration.name(), "pti=on quiet");
    let text = serde_json::to_string(&document).unwrap();
    assert_eq!(load(&text).unwrap(), document);
    let lies = text.replace("\"counted\":340", "\"counted\":341");
    assert_eq!(load(&lies).unwrap().paths[0].agrees, Some(false));
    let refused = |from: &str, to: &str| load(&text.replacen(from, to, 1)).unwrap_err().to_string();
    assert!(refused("kentry.anatomy/1", "kentry.anatomy/2").contains("this version of kentry reads"));
    assert!(refused("\"ring\":3", "\"ring\":4").contains("a ring is 0 to 3"));
    assert!(refused("\"ring\":3", "\"ring\":4").contains("not an anatomy of kentry: "));
    assert!(refused("\"part\":\"entering\"", "\"part\":\"magic\"").contains("instructions[0].part"));
    assert!(refused("\"control\":1", "\"control\":-1").contains("control"));
    assert!(refused("\"control\":1", "\"controls\":1").contains("control"));
    assert!(refused("\"control\":1", "\"control\":342").contains("paths[0].control "));
    assert!(load(&text.replacen("\"control\":1", "\"control\":341", 1)).is_ok());
    let mut none = document.clone();
    none.paths.clear();
    assert!(load(&serde_json::to_string(&none).unwrap()).unwrap_err().to_string().contains("there is none"));
    let mut two = document.clone();
    two.paths.push(document.paths[0].clone());
    two.paths[1].anatomy.operation = "none".into();
    assert!(load(&serde_json::to_string(&two).unwrap()).unwrap_err().to_string().contains("another entry"));
}

#[test]
fn bytes_that_are_none_were_read_as_bytes() {
    let text = serde_json::to_string(&document()).unwrap();
    let first = "\"bytes\":\"0f05\"";
    assert!(text.contains(first));
    for wrong in ["0f0", "0f0g", "0F05", "é", &"90".repeat(16)] {
        let refused = load(&text.replacen(first, &format!("\"bytes\":\"{wrong}\""), 1)).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("paths[0].anatomy.instructions[0].bytes (line 1, column 1): bytes are pairs"),
            "{refused}"
        );
    }
    // What could not be fetched has none.
    assert!(load(&text.replacen(first, "\"bytes\":\"\"", 1)).is_ok());
}

#[test]
fn the_word_that_a_setting_stands_for_was_said_beside_it() {
    let name = |settings: &[(&str, &str)], parameters: &str| {
        let settings = settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        BootedConfiguration { settings, parameters: parameters.into(), ..BootedConfiguration::default() }
            .name()
    };
    assert_eq!(name(&[("audit", "on")], "audit=1"), "audit=on");
    assert_eq!(
        name(&[("clocksource", "tsc")], "clocksource=tsc tsc=reliable quiet"),
        "clocksource=tsc quiet"
    );
    // Words of another value, and of settings that no table has, are the user's.
    assert_eq!(name(&[("audit", "on")], "audit=0"), "audit=on audit=0");
    assert_eq!(name(&[("audit", "maybe"), ("magic", "on")], "audit=1"), "audit=maybe magic=on audit=1");
    assert_eq!(name(&[], ""), "as it boots");
}

#[test]
fn a_name_with_a_semicolon_was_two_frames() {
    let mut anatomy = call("6.1-pti-on");
    let whole = anatomy.folded();
    let place = anatomy.instructions.iter_mut().filter_map(|one| one.function.as_mut());
    place.filter(|place| place.name == "do_syscall_64").for_each(|place| place.name = "do;syscall".into());
    let folded = anatomy.folded();
    let renamed = |(stack, count): &(String, usize)| (stack.replace("do_syscall_64", "do,syscall"), *count);
    assert_eq!(folded, whole.iter().map(renamed).collect::<Vec<_>>());
}

#[test]
fn depths_that_no_kernel_has_are_cut() {
    let mut anatomy = call("6.1-pti-on");
    for (place, instruction) in anatomy.instructions.iter_mut().enumerate() {
        instruction.depth = u32::MAX - place as u32 % 7;
        instruction.text = "jmp".into();
    }
    let tree = anatomy.functions();
    assert_eq!(total(&tree), anatomy.instructions.len());
}

fn line(switch: &str, value: &str, alone: Option<f64>) -> Line {
    in_state(switch, value, State::Measured, alone)
}

fn in_state(switch: &str, value: &str, state: State, alone: Option<f64>) -> Line {
    let step = Step {
        switch: switch.into(),
        value: value.into(),
        base: "off".into(),
        needs: Vec::new(),
        requires: Vec::new(),
        guess: None,
    };
    let alone = alone.map(Figure::count);
    Line { step, state, alone, in_company: alone, in_orders: None, share: None }
}

/// A made-up bill of a system call.
fn bill() -> Bill {
    Bill {
        no_times: None,
        schema: attribution::bill::SCHEMA.into(),
        kentry: "0.1.0".into(),
        started: String::new(),
        place: Place { machine: Name::Known(Machine::QemuTcg), kernel: Name::Known(table::Kernel::Lab) },
        cpu: None,
        partial: false,
        run: None,
        entry: "syscall-x86_64".into(),
        operation: "getppid".into(),
        profile: "test".into(),
        not_in_lab: Vec::new(),
        unit: Some(attribution::bill::Unit::Instructions),
        features: Vec::new(),
        bare: Some(Figure::count(28.0)),
        whole: None,
        added: None,
        lines: vec![
            line("smep", "on", None),
            line("pti", "trampoline", Some(0.0)),
            line("pti", "on", Some(4.0)),
            line("ibrs", "on", Some(9.0)),
            line("audit", "on", Some(30.0)),
        ],
        sum: None,
        interactions: None,
        orders: 0,
        there: None,
        ring3: None,
        configurations: Vec::new(),
    }
}

#[test]
fn a_call_through_the_table_and_thunks_of_other_calls_are_no_step_of_dispatch() {
    let recorded = Recorded::read("6.1-pti-on");
    let dispatch = |entry: &str, operation: &str| {
        let beside = Beside::of(&bill(), &recorded.anatomy(entry, operation));
        beside.lines.iter().find(|line| line.switch == "dispatch").map(|line| line.linux)
    };
    let anatomy = recorded.anatomy("int80-x86_64", "getppid");
    assert!(count(&anatomy, Part::Retpoline) > 0, "the interrupt controller is read through a pointer");
    assert_eq!(dispatch("int80-x86_64", "getppid"), Some(count(&anatomy, Part::Dispatch)));
    // A number that no call has is compared with the bound alone.
    assert!(count(&recorded.anatomy("syscall-x86_64", "none"), Part::Dispatch) > 0);
    assert_eq!(dispatch("syscall-x86_64", "none"), None);
}

#[test]
fn a_step_that_adds_no_instruction_was_no_finding() {
    let lacks = || State::LeftOut("the lab's CPU has none".into());
    let lines = vec![
        in_state("copy-frame", "on", State::Unseen, None),
        in_state("returns", "on", State::WithoutEffect("it has none".into()), None),
        in_state("stack-offset", "on", lacks(), None),
        in_state("work", "on", State::Failed("few".into()), None),
        // Of several steps one that was not counted may be what costs.
        in_state("dispatch", "table", State::Unseen, None),
        in_state("dispatch", "retpoline", lacks(), None),
        in_state("index-mask", "first", State::Unseen, None),
        line("index-mask", "on", Some(3.0)),
        in_state("smep", "on", State::Unseen, None),
        in_state("rsb", "32", lacks(), None),
        in_state("ibrs", "on", State::Unseen, None),
    ];
    let beside = Beside::of(&Bill { lines, ..bill() }, &call("6.1-pti-on"));
    let of = |switch: &str| {
        let line = beside.lines.iter().find(|line| line.switch == switch).unwrap();
        (line.lab, line.verdict())
    };
    for switch in ["copy-frame", "returns"] {
        assert_eq!(of(switch), (Some(0.0), Verdict::LabLacks), "{switch}");
    }
    for switch in ["stack-offset", "work", "dispatch"] {
        assert_eq!(of(switch), (None, Verdict::NotCounted), "{switch}");
    }
    assert_eq!(of("index-mask"), (Some(3.0), Verdict::Agrees));
    assert_eq!(of("smep"), (Some(0.0), Verdict::Agrees), "Linux executes nothing for it, either");
    assert_eq!(of("rsb"), (None, Verdict::Agrees));
    assert_eq!(of("ibrs"), (Some(0.0), Verdict::OffInLinux));
}

#[test]
fn a_profile_stands_beside_a_path() {
    let beside = Beside::of(&bill(), &call("6.1-pti-on"));
    let of = |switch: &str| beside.lines.iter().find(|line| line.switch == switch).unwrap();
    assert_eq!((of("pti").lab, of("pti").linux, of("pti").verdict()), (Some(4.0), 10, Verdict::Agrees));
    assert_eq!(of("smep").verdict(), Verdict::Agrees, "it has no instruction");
    assert_eq!((of("ibrs").linux, of("ibrs").verdict()), (2, Verdict::OffInLinux));
    assert_eq!(of("audit").verdict(), Verdict::LinuxLacks);
    assert_eq!((of("index-mask").linux, of("index-mask").verdict()), (4, Verdict::ProfileLacks));
    assert_eq!(of("bhb").verdict(), Verdict::Agrees, "a nop stands in its place, and the profile has none");
    let linux: usize = beside.lines.iter().map(|line| line.linux).sum();
    let with_switch = call("6.1-pti-on").parts().into_iter().filter(|part| !part.part.switches().is_empty());
    assert_eq!(linux, with_switch.map(|part| part.count).sum::<usize>());
    assert_eq!(Part::ALL.iter().filter(|part| part.name() == "other").count(), 1);
}

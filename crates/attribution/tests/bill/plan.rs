//! Which configurations a bill is made of.

use crate::common::{processor, question};
use attribution::bill::{Error, Plan, Processor, Question};
use std::collections::BTreeSet;
use table::{Kernel, Table};

fn planned(steps: &[&str], orders: usize, processor: Processor) -> Plan {
    Plan::new(Table::get(), question(steps, orders), processor).unwrap()
}

/// The steps of each configuration of the operation that is asked for.
fn sets(plan: &Plan) -> Vec<Vec<usize>> {
    let of_operation = plan.configurations.iter().filter(|one| one.operation == plan.question.operation);
    of_operation.map(|one| one.steps.iter().copied().collect()).collect()
}

#[test]
fn each_step_is_measured_with_what_it_requires_and_the_whole_without_what_requires_it() {
    // 0 smap, 1 trampoline, 2 isolation, 3 copies frames, which needs 1, 4 a frame, 5 cleared registers, which need 4.
    let steps = ["smap=on", "pti=trampoline", "pti=on", "copy-frame=on", "stack=frame", "clear-registers=on"];
    let plan = planned(&steps, 0, processor(true));
    let requires: Vec<&[usize]> = plan.steps().iter().map(|step| step.requires.as_slice()).collect();
    assert_eq!(requires, [&[][..], &[], &[1], &[1], &[], &[4]]);
    let bases: Vec<&str> = plan.steps().iter().map(|step| step.base.as_str()).collect();
    assert_eq!(bases, ["off", "off", "trampoline", "off", "minimum", "off"]);
    let expected: Vec<Vec<usize>> = vec![
        vec![],
        vec![0, 1, 2, 3, 4, 5],
        // Alone.
        vec![0],
        vec![1],
        vec![1, 2],
        vec![1, 3],
        vec![4],
        vec![4, 5],
        // In company.
        vec![1, 2, 3, 4, 5],
        vec![0, 1, 4, 5],
        vec![0, 4, 5],
        vec![0, 1, 3, 4, 5],
        vec![0, 1, 2, 4, 5],
        vec![0, 1, 2, 3, 4],
        vec![0, 1, 2, 3],
    ];
    let found = sets(&plan);
    assert_eq!(found.iter().collect::<BTreeSet<_>>(), expected.iter().collect());
    assert_eq!(
        (found.len(), found.first().map(Vec::len)),
        (expected.len(), Some(0)),
        "each once, bare first"
    );
}

#[test]
fn every_configuration_of_every_profile_can_be_and_is_measured_once() {
    let table = Table::get();
    for profile in &table.profiles {
        let steps: Vec<String> = profile.steps.iter().map(|step| step.to_string()).collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let plan = planned(&steps, 5, processor(true));
        for (place, one) in plan.configurations.iter().enumerate() {
            assert_eq!(table.check_requirements(&one.values), Ok(()), "{}", profile.name);
            assert_eq!(one.values.len(), table.switches.len());
            let is_new = |other: &attribution::bill::Configuration| {
                (&other.operation, &other.values) != (&one.operation, &one.values)
            };
            assert!(plan.configurations[..place].iter().all(is_new), "{}", profile.name);
            for step in &one.steps {
                let required: BTreeSet<usize> = plan.steps()[*step].requires.iter().copied().collect();
                assert!(required.is_subset(&one.steps), "{}: {one:?}", profile.name);
            }
        }
    }
}

#[test]
fn orders_differ_by_their_seed_and_are_the_same_for_the_same() {
    let steps = ["smap=on", "pti=trampoline", "pti=on", "copy-frame=on", "stack=frame", "canary=on"];
    let drawn = |seed: u64, orders: usize| {
        let question = Question { seed, ..question(&steps, orders) };
        sets(&Plan::new(Table::get(), question, processor(true)).unwrap())
    };
    assert_eq!(drawn(1, 4), drawn(1, 4));
    assert_ne!(drawn(1, 4), drawn(2, 4));
    let without = drawn(1, 0);
    assert_eq!(drawn(1, 4)[..without.len()], without, "orders come on top");
    // So many orders that every set that can be a beginning of one is there: 3 steps by themselves, and a chain of 4 places.
    let all: BTreeSet<Vec<usize>> = drawn(1, 500).into_iter().collect();
    assert_eq!(all.len(), 8 * 5);
}

#[test]
fn what_requires_a_step_that_is_left_out_is_left_out_too() {
    let steps = ["pti=trampoline", "pcid=keep", "pcid=lazy", "flush-by=invpcid", "swapgs=on", "verw=on"];
    let none = Processor { features: vec!["pge".into()], counts: true, forgives: true };
    let plan = planned(&steps, 0, none.clone());
    let why: Vec<Option<&str>> = (0..steps.len()).map(|step| plan.left_out(step)).collect();
    let pcid = Some("the lab's CPU has no PCID");
    assert_eq!(why, [None, pcid, pcid, Some("the lab's CPU has no INVPCID"), None, None]);
    assert_eq!((&*plan.steps()[4].base, &*plan.steps()[5].lacks()), ("off", "MDCLEAR"));
    assert!(sets(&plan).contains(&vec![0, 4, 5]), "the whole");
    // Bochs raises an exception.
    let strict = planned(&steps, 0, Processor { forgives: false, ..none });
    assert_eq!(strict.left_out(5), Some("the lab's CPU has no MDCLEAR"));
    let table = Table::parse(&table::SOURCE.replacen(
        "name = \"canary\"",
        "requires = [{ switches = { pcid = [\"keep\"] } }]\nname = \"canary\"",
        1,
    ));
    let all = Plan::new(&table.unwrap(), question(&["pcid=keep", "canary=on"], 0), strict.processor).unwrap();
    assert_eq!(all.left_out(1), Some("it requires pcid=keep, which is left out"));
}

#[test]
fn a_trap_of_gnu_mach_is_billed_with_its_personality_and_with_no_call_of_linux() {
    let bill = |operation: &str| {
        let question = question(&["stack=frame", "work=on"], 0);
        let question = Question { entry: "lcall7-i386".into(), operation: operation.into(), ..question };
        Plan::new(Table::get(), question, processor(true)).unwrap().configurations
    };
    let (mach, linux) = (bill("mach_print"), bill("getppid"));
    assert!(mach.iter().all(|one| one.operation == "mach_print" && one.values["personality"] == "mach"));
    assert!(linux.iter().all(|one| one.values["personality"] == "linux"));
    // The same steps, but without a number that no kernel has.
    assert_eq!(mach.len() + 1, linux.len());
}

#[test]
fn a_row_that_the_lab_does_not_have_is_refused_in_words() {
    let why = |entry: &str, operation: &str| {
        let question =
            Question { entry: entry.into(), operation: operation.into(), ..question(&["stack=frame"], 0) };
        let checked = Plan::check(Table::get(), &question);
        let planned = Plan::new(Table::get(), question, processor(true));
        let (Err(Error::NoRow(why)), Err(Error::NoRow(checked))) = (planned, checked) else {
            panic!("{entry}")
        };
        assert_eq!(why, checked);
        why
    };
    let elsewhere = Table::get().entries.iter().find(|entry| !entry.kernels.contains(&Kernel::Lab)).unwrap();
    assert_eq!(why(&elsewhere.name, "getppid"), format!("the lab has no entry \"{}\"", elsewhere.name));
    let served = why("syscall-x86_64", "nonsense");
    assert!(served.starts_with("syscall-x86_64 serves no nonsense in the lab; it serves "), "{served}");
}

#[test]
fn a_profile_that_the_lab_cannot_have_is_refused_before_the_processor_is_known() {
    for steps in [&["smap=on", "clear-registers=on"][..], &["copy-frame=on"]] {
        let question = question(steps, 0);
        let checked = Plan::check(Table::get(), &question).unwrap_err().to_string();
        assert_eq!(checked, Plan::new(Table::get(), question, processor(true)).unwrap_err().to_string());
    }
    assert!(Plan::check(Table::get(), &question(&["smap=on"], 0)).is_ok());
}

#[test]
fn a_profile_of_what_does_not_exist_is_refused() {
    for (step, why) in [
        ("canary=nonsense", "\"nonsense\" is no value of canary"),
        ("nonsense=on", "there is no switch \"nonsense\""),
    ] {
        let question = question(&[step], 0);
        let checked = Plan::check(Table::get(), &question).unwrap_err().to_string();
        assert!(checked.starts_with(why), "{checked}");
        assert_eq!(checked, Plan::new(Table::get(), question, processor(true)).unwrap_err().to_string());
    }
}

#[test]
fn every_configuration_is_of_a_row_that_the_lab_has() {
    let table = Table::get();
    // Also of an entry that takes a call's number and does not serve the calls that others are compared with.
    let served = "\"io_uring\"]\nlab_operations = [\"calls\", \"spaces\", \"mach\", \"mach-parts\"]";
    let text = table::SOURCE.replacen(served, "\"io_uring\"]\nlab_operations = [\"time\"]", 1);
    assert_ne!(text, table::SOURCE);
    let fewer = Table::parse(&text).unwrap();
    let mut bare = BTreeSet::new();
    for table in [table, &fewer] {
        for (entry, operation) in table.rows(Kernel::Lab) {
            let asked = question(&["stack=frame"], 0);
            let asked = Question { entry: entry.name.clone(), operation: operation.name.clone(), ..asked };
            let Ok(plan) = Plan::new(table, asked, processor(true)) else { continue };
            for one in &plan.configurations {
                assert!(
                    entry.all_on(Kernel::Lab).any(|known| *known == one.operation),
                    "{} {one:?}",
                    entry.name
                );
                bare.extend((one.operation != operation.name).then(|| one.operation.clone()));
            }
        }
    }
    assert_eq!(Vec::from_iter(bare), ["getppid", "none"]);
}

#[test]
fn what_the_entry_decides_is_no_step() {
    let text = table::SOURCE.replacen("gate = \"trap\"", "gate = \"trap\", stack = \"frame\"", 1);
    let table = Table::parse(&text).unwrap();
    let entry = table.entries.iter().find(|entry| entry.fixes("stack")).unwrap();
    let question = question(&["stack=frame", "clear-registers=on"], 0);
    let question = Question { entry: entry.name.clone(), ..question };
    let plan = Plan::new(&table, question, processor(true)).unwrap();
    assert_eq!(plan.left_out(0), Some(&*format!("{} always runs with stack=frame", entry.name)));
    // It is there all the same.
    assert_eq!((plan.left_out(1), plan.steps()[1].requires.len()), (None, 0));
    assert!(plan.configurations.iter().all(|one| one.values["stack"] == "frame"));
}

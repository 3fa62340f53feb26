//! The arms of a bill in ring 3, and what it says of costs that are known.

use attribution::bill::{
    Error, Program, Published, Question, Ring3, Ring3Arms, Where, all_published, is_protection, published,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table::{SwitchValues, Table};

/// What each setting costs in this world, and how many instructions of it are left out.
const COSTS: [(&str, &str, f64, usize); 5] = [
    ("stack", "frame", 12.0, 0),
    ("verw", "on", 40.0, 0),
    ("ibrs", "on", 7.0, 2),
    ("swapgs", "on", 0.0, 2),
    ("clear-registers", "on", 2.0, 0),
];

const BARE: f64 = 15.0;

fn on(values: &SwitchValues) -> impl Iterator<Item = &'static (&'static str, &'static str, f64, usize)> {
    COSTS.iter().filter(|(name, value, ..)| values.get(*name).is_some_and(|known| known == value))
}

/// The bytes of a program in this world are what it costs: swapgs changes none.
fn program(values: &SwitchValues) -> Result<Program, Error> {
    let identity = on(values).filter(|(_, _, cost, _)| *cost > 0.0);
    let identity = identity.flat_map(|(name, ..)| name.bytes()).collect();
    let left_out = on(values).flat_map(|(name, _, _, count)| {
        std::iter::repeat_n((format!("privileged of {name}"), format!("step of {name}")), *count)
    });
    Ok(Program { identity, left_out: left_out.collect() })
}

fn question(profile: &str) -> Question {
    let table = Table::get();
    Question {
        entry: "syscall-x86_64".into(),
        operation: "getppid".into(),
        profile: table.profile(profile).unwrap().clone(),
        orders: 3,
        seed: 0,
    }
}

/// So many turns; a tenth of the rounds is struck by something, and another tenth is lost.
fn measured(turns: usize) -> Ring3 {
    let arms = Ring3Arms::new(Table::get(), &question("linux-6.1"), &program).unwrap();
    let mut random = StdRng::seed_from_u64(1);
    let cost = |values: &SwitchValues| BARE + on(values).map(|(_, _, cost, _)| cost).sum::<f64>();
    let costs = arms.values.iter().map(|values| {
        let round = |_| match random.random_range(0..10) {
            0 => None,
            1 => Some(cost(values) + random.random_range(5.0..40.0)),
            _ => Some(cost(values) + random.random_range(-0.5..0.5)),
        };
        Ok((0..turns).map(round).collect())
    });
    let costs = costs.collect();
    arms.ring3(costs, Where { path: "path".into(), ..Where::default() })
}

fn line<'a>(ring3: &'a Ring3, setting: &str) -> &'a attribution::bill::Ring3Line {
    let steps = Table::get().profile("linux-6.1").unwrap().settled(Table::get()).unwrap();
    let place = steps.iter().position(|known| known.to_string() == setting).unwrap();
    &ring3.lines[place]
}

#[test]
fn known_costs_lie_in_their_intervals() {
    let ring3 = measured(100);
    let holds = |figure: Option<attribution::bill::Figure>, truth: f64| {
        let figure = figure.unwrap();
        assert!(figure.low.unwrap() <= truth && truth <= figure.high.unwrap(), "{truth}: {figure:?}");
        assert!(figure.high.unwrap() - figure.low.unwrap() < 8.0, "{truth}: {figure:?}");
    };
    for (name, value, cost, count) in COSTS {
        let found = line(&ring3, &format!("{name}={value}"));
        if cost > 0.0 {
            holds(found.in_company, cost);
        }
        assert_eq!(found.left_out.len(), count, "{name}");
    }
    holds(ring3.bare, BARE);
    holds(ring3.whole, 76.0);
    // verw, ibrs and clear-registers; stack=frame is none.
    holds(ring3.protections, 49.0);
    assert_eq!(ring3.turns, 100);
}

/// In a quarter of the layouts `verw` costs six cycles more: the interval is of the middle, and the range tells that there are others.
#[test]
fn what_varies_with_the_layout_is_in_the_range_and_a_second_arm_of_the_same_bytes_costs_nothing() {
    let arms = Ring3Arms::new(Table::get(), &question("linux-6.1"), &program).unwrap();
    let mut random = StdRng::seed_from_u64(2);
    let costs = arms.values.iter().map(|values| {
        let has_verw = on(values).any(|(name, ..)| *name == "verw");
        let cost = BARE + on(values).map(|(_, _, cost, _)| cost).sum::<f64>();
        let of_turn = |turn: usize| if has_verw && turn.is_multiple_of(4) { 6.0 } else { 0.0 };
        Ok((0..120).map(|turn| Some(cost + of_turn(turn) + random.random_range(-0.3..0.3))).collect())
    });
    let costs = costs.collect();
    let ring3 = arms.ring3(costs, Where { path: "path".into(), ..Where::default() });
    let [low, high] = line(&ring3, "verw=on").range.unwrap();
    assert!((39.0..41.0).contains(&low) && (45.0..47.0).contains(&high), "{low} {high}");
    let [low, high] = line(&ring3, "ibrs=on").range.unwrap();
    assert!(6.0 < low && high < 8.0, "{low} {high}");
    let control = ring3.control.unwrap();
    assert!(control.low.unwrap() <= 0.0 && 0.0 <= control.high.unwrap(), "{control:?}");
    assert!(control.estimate.abs() < 0.3, "{control:?}");
    assert_eq!(ring3.undisturbed, Some(120));
    assert!(ring3.lines.iter().all(|line| line.in_company.is_none_or(|figure| figure.p.is_none())));
}

#[test]
fn a_path_that_faults_says_so_and_blames_no_noise() {
    let arms = Ring3Arms::new(Table::get(), &question("linux-6.1"), &program).unwrap();
    let is_struck = |values: &SwitchValues| values.get("verw").is_some_and(|value| value == "on");
    let cost = |values: &SwitchValues| match is_struck(values) {
        true => Err("fault: SIGSEGV".to_owned()),
        false => Ok(vec![Some(BARE); 40]),
    };
    let costs = arms.values.iter().map(cost).collect();
    let ring3 = arms.ring3(costs, Where { path: "path".into(), ..Where::default() });
    assert_eq!((ring3.whole, ring3.why.as_deref()), (None, Some("fault: SIGSEGV")));
    assert_eq!(line(&ring3, "verw=on").why.as_deref(), Some("fault: SIGSEGV"));
    // What another step costs in company is not known then.
    let other = line(&ring3, "ibrs=on");
    assert_eq!((other.in_company, other.why.as_deref()), (None, Some("fault: SIGSEGV")));
}

#[test]
fn what_changes_no_byte_has_no_figure_but_is_left_out_by_name() {
    let ring3 = measured(40);
    let swapgs = line(&ring3, "swapgs=on");
    assert_eq!(swapgs.in_company, None);
    assert_eq!(swapgs.why.as_deref(), Some("nothing of it is executed in ring 3"));
    let left: Vec<_> = ring3
        .left_out
        .iter()
        .map(|left| (left.instruction.as_str(), left.count, left.of_protections))
        .collect();
    assert_eq!(left, [("privileged of ibrs", 2, 2), ("privileged of swapgs", 2, 0)]);
}

#[test]
fn what_is_published_stands_beside_a_step_and_in_no_figure() {
    let ring3 = measured(40);
    assert_eq!(line(&ring3, "verw=on").published, published("verw=on"));
    assert_eq!(line(&ring3, "ibrs=on").published, []);
    for setting in all_published().filter(|name| name.contains('=')) {
        let (switch, value) = setting.split_once('=').unwrap();
        assert!(Table::get().switch(switch).unwrap().values.iter().any(|known| known == value), "{setting}");
    }
    for Published { cost, processor, source } in all_published().flat_map(published) {
        assert!(!cost.is_empty() && source.len() > 20, "{cost} {source}");
        assert!(processor.is_none_or(|name| !name.is_empty()), "{source}");
    }
}

#[test]
fn too_few_turns_are_no_figure_and_an_arm_that_failed_says_why() {
    let few = measured(4);
    assert_eq!((few.whole, few.protections, few.undisturbed), (None, None, None));
    assert!(few.why.unwrap().contains("undisturbed"));
    let arms = Ring3Arms::new(Table::get(), &question("linux-6.1"), &program).unwrap();
    let failed = arms.values.iter().map(|_| Err("mismatch: it answers 2".to_owned())).collect();
    let failed = arms.ring3(failed, Where::default());
    assert_eq!(failed.why.as_deref(), Some("mismatch: it answers 2"));
    assert!(failed.lines.iter().all(|line| line.in_company.is_none()));
}

#[test]
fn a_profile_without_steps_has_bare_alone() {
    let arms = Ring3Arms::new(Table::get(), &question("bare"), &program).unwrap();
    // And the same once more, as the control.
    assert_eq!(arms.values.len(), 2);
    let ring3 = arms.ring3(vec![Ok(vec![Some(15.0); 8]); 2], Where::default());
    assert_eq!((ring3.whole.unwrap().estimate, ring3.protections), (15.0, None));
    assert_eq!(ring3.control.unwrap().estimate, 0.0);
}

#[test]
fn work_on_every_call_and_what_makes_isolation_cheaper_is_no_protection() {
    let is = |setting: &str| {
        let (name, value) = setting.split_once('=').unwrap();
        is_protection(Table::get(), name, value)
    };
    for setting in ["pti=on", "verw=on", "clear-registers=on", "smap=on", "swapgs=fence", "copy-frame=on"] {
        assert!(is(setting), "{setting}");
    }
    for setting in ["stack=frame", "swapgs=on", "work=on", "pcid=keep", "trace=on", "exit=iret"] {
        assert!(!is(setting), "{setting}");
    }
}

//! What any run of the lab tells of a setting.

use crate::common::{counted, processor, question};
use attribution::bill::{Bill, Configuration, Plan, Price, Unit};
use std::collections::BTreeSet;
use table::{Setting, Table};

const STEPS: [&str; 6] =
    ["smap=on", "pti=trampoline", "pti=on", "copy-frame=on", "stack=frame", "clear-registers=on"];

/// More with each step, and one less for each two of them that are there together.
fn cost(configuration: &Configuration) -> f64 {
    let steps = configuration.steps.iter().map(|place| (4 << place) as f64).sum::<f64>();
    let count = configuration.steps.len();
    20.0 + steps - (count * count.saturating_sub(1) / 2) as f64
}

/// Of bare, of each step alone and of the interactions.
fn shares_add_up(bill: &Bill) {
    let [whole, bare, interactions] =
        [bill.whole, bill.bare, bill.interactions].map(|figure| figure.unwrap().estimate);
    assert_ne!(interactions, 0.0);
    for line in &bill.lines {
        assert_ne!(line.alone, line.in_company, "{}", line.step.name());
        let part = line.alone.unwrap().estimate / whole;
        assert_eq!(line.share, Some(part), "{}", line.step.name());
    }
    let shares: f64 = bill.lines.iter().filter_map(|line| line.share).sum();
    assert!((shares + (bare + interactions) / whole - 1.0).abs() < 1e-9, "{shares}");
}

#[test]
fn of_the_run_of_a_bill_it_is_what_the_bill_says_of_the_step() {
    let table = Table::get();
    let plan = Plan::new(table, question(&STEPS, 0), processor(true)).unwrap();
    let rows: Vec<_> = plan.configurations.iter().map(|one| (one, cost(one))).collect();
    let document = counted(&plan.question, &rows);
    let bill = plan.bill(&document, None);
    assert_eq!(bill.lines.len(), STEPS.len());
    shares_add_up(&bill);
    for line in &bill.lines {
        let setting = Setting::new(&line.step.switch, &line.step.value);
        let price = Price::of(table, &document, &setting).unwrap();
        assert_eq!(price.alone, line.alone, "{setting}");
        assert_eq!(price.in_company.map(|(figure, _)| figure), line.in_company, "{setting}");
        assert_eq!(
            price.base,
            (line.step.base == "trampoline").then(|| "trampoline".to_owned()),
            "{setting}"
        );
        assert_eq!((price.unit, price.entry.as_str()), (Unit::Instructions, "syscall-x86_64"));
    }
}

#[test]
fn a_run_that_is_no_bill_tells_it_beside_what_it_has() {
    let table = Table::get();
    let question = question(&["pti=on"], 0);
    let with = |settings: &[Setting]| Configuration {
        operation: question.operation.clone(),
        steps: BTreeSet::new(),
        values: table.with(settings),
    };
    let [smap, frame, pti] =
        [("smap", "on"), ("stack", "frame"), ("pti", "on")].map(|(name, value)| Setting::new(name, value));
    let base = with(&[smap.clone(), frame.clone()]);
    let more = with(&[smap.clone(), frame, pti.clone()]);
    let document = counted(&question, &[(&base, 30.0), (&more, 34.0)]);
    let price = Price::of(table, &document, &pti).unwrap();
    let (figure, others) = price.in_company.unwrap();
    assert_eq!((figure.estimate, others, price.alone, price.base), (4.0, 2, None, None));
    assert_eq!(Price::of(table, &document, &smap), None, "nothing differs in it alone");
}

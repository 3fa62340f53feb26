//! Each step of a bill adds exactly what its listing says: alone, in company, for every path, and for every pair of steps that do
//! not exclude each other; and in each emulator that has what it needs, with as many others as fit together. It knows no step by name, but for
//! `ibt`, of which the service has a part: the table has the settings, and the kernel's file the instructions.
//!
//! Pairs are drawn by `KENTRY_PAIRS_SEED` (0), as many as `KENTRY_PAIRS` says (48); `KENTRY_PAIRS=all` takes all of them, with
//! both operations.

use crate::guest::{Answer, Emulator, Ran, Script};
use crate::kernel::{Kernel, Path};
use crate::steps::{ALL_PATHS, entering, paths_in, taken};
use crate::whole::is_whole;
use places::lab::{End, Mode};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use std::collections::{BTreeMap, BTreeSet};
use table::{Setting, SwitchValues, Table};

/// A number that no call has, and the least service; that is the same code in every configuration.
const OPERATIONS: [&str; 2] = ["none", "getppid"];

/// In one boot; more take turns.
const ROWS: usize = 3000;

/// The number of a switch beyond which conditions do not tell numbers apart (path.inc).
const BEYOND: u32 = 40;

/// Paths by the entries that take them.
type Paths = BTreeMap<&'static str, Path>;

/// Values to try of each switch that is a step.
fn settings() -> Vec<Setting> {
    let steps = Table::get().switches.iter().filter(|switch| switch.is_step());
    let of_switch = |switch: &'static table::Switch| {
        let values = match switch.range {
            Some((least, most)) => vec![(least + 1).to_string(), most.min(BEYOND).to_string()],
            None => switch.values.clone(),
        };
        let first = switch.first();
        values.into_iter().filter(move |value| *value != first).map(|value| Setting::new(&switch.name, value))
    };
    steps.flat_map(of_switch).collect()
}

/// Bare with these, and with what they require; none if they exclude each other.
fn together(settings: &[&Setting]) -> Option<SwitchValues> {
    let table = Table::get();
    let asked: Vec<Setting> = settings.iter().map(|set| (*set).clone()).collect();
    let preferred = table.with(&asked);
    let mut all = Vec::new();
    for set in settings {
        all.extend(table.required(set, &preferred).ok()?);
    }
    all.extend(asked.iter().cloned());
    let whole = table.with(&all);
    let is_kept = |set: &Setting| whole.get(&set.name) == Some(&set.value);
    (asked.iter().all(is_kept) && table.check_requirements(&whole).is_ok()).then_some(whole)
}

/// A row that a boot measures: which configuration, entry, operation.
struct Asked {
    whole: usize,
    entry: &'static str,
    operation: &'static str,
}

/// Configurations, and what to measure in each, with one of the lab's kernels in one of the emulators.
struct Plan {
    mode: Mode,
    emulator: Emulator,
    wholes: Vec<SwitchValues>,
    rows: Vec<Asked>,
    added: BTreeSet<(SwitchValues, Vec<&'static str>)>,
}

impl Plan {
    fn new(mode: Mode, emulator: Emulator) -> Plan {
        Plan { mode, emulator, wholes: Vec::new(), rows: Vec::new(), added: BTreeSet::new() }
    }

    /// Entries that the emulator has, and their paths; rings 1 and 2, which are several paths, are held against a log (counts.rs).
    fn paths(&self) -> Vec<(&'static str, &'static str)> {
        let all = match self.mode {
            Mode::Long => ALL_PATHS.to_vec(),
            Mode::Protected => paths_in(Mode::Protected),
        };
        let is_there = |name: &str| {
            entry(name).through.is_empty() && !self.emulator.lacks_on(self.mode.kernel(), entry(name))
        };
        all.into_iter().filter(|(name, _)| is_there(name)).collect()
    }

    /// Whether what a processor lacks is executed all the same, where that is harmless in QEMU.
    fn forgives(&self) -> bool {
        self.emulator.is_tcg()
    }

    /// All paths of one more configuration; of one that is there already, with these operations, none.
    fn add(&mut self, whole: SwitchValues, operations: &[&'static str]) {
        if !self.added.insert((whole.clone(), operations.to_vec())) {
            return;
        }
        let number = self.wholes.len();
        self.wholes.push(whole);
        for (name, _) in self.paths() {
            self.rows.extend(operations.iter().map(|operation| Asked {
                whole: number,
                entry: name,
                operation,
            }));
        }
    }

    /// What became of each row; none where the emulator is not here.
    fn counts(&self) -> Option<Vec<Counted>> {
        let mut counts = Vec::new();
        for rows in self.rows.chunks(ROWS) {
            counts.extend(self.boot(rows)?);
        }
        Some(counts)
    }

    fn boot(&self, rows: &[Asked]) -> Option<Vec<Counted>> {
        let (mut script, mut last) = (Script::in_mode(self.mode), None);
        if self.forgives() {
            script.harmless();
        }
        for row in rows {
            if last != Some(row.whole) {
                script.set(&changes(last.map(|last| &self.wholes[last]), &self.wholes[row.whole]));
                last = Some(row.whole);
            }
            script.row(entry(row.entry), operation(row.operation));
        }
        let session = script.boot(self.emulator)?;
        assert_eq!(session.ran.len(), rows.len());
        Some(session.ran.iter().map(count).collect())
    }

    /// The configuration in words: what is not as in bare.
    fn words(&self, row: &Asked) -> String {
        changes(Some(&Table::get().bare()), &self.wholes[row.whole])
    }
}

/// The switches that have other values than before; those of a gate are the entries' own.
fn changes(before: Option<&SwitchValues>, whole: &SwitchValues) -> String {
    let is_step = |name: &String| Table::get().switch(name).is_some_and(|switch| switch.is_step());
    let is_new = |name: &String, value: &String| before.is_none_or(|before| before.get(name) != Some(value));
    let changed = whole.iter().filter(|(name, value)| is_step(name) && is_new(name, value));
    changed.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

fn entry(name: &str) -> &'static table::Entry {
    Table::get().entry(name).unwrap()
}

fn operation(name: &str) -> &'static table::Operation {
    Table::get().operation(name).unwrap()
}

/// What became of a row.
enum Counted {
    Instructions(u64),
    /// The processor lacks what the configuration needs.
    Lacking,
    Wrong(Answer),
}

fn count(ran: &Ran) -> Counted {
    match (ran.end, ran.answer()) {
        (End::Unsupported(_), _) => Counted::Lacking,
        (_, Answer::Ok) => Counted::Instructions(ran.cost()),
        (_, answer) => Counted::Wrong(answer),
    }
}

/// What was compared of a plan.
struct Checked {
    rows: usize,
    /// Features whose lack an emulator has refused a configuration for, those of one configuration with + between.
    refused: BTreeSet<String>,
}

/// What the steps say that a row executes, but for the service.
fn listed(paths: &Paths, whole: &SwitchValues, row: &Asked) -> u64 {
    let configuration: Vec<(&str, &str)> =
        whole.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    paths[row.entry].walk(&configuration, taken(row.entry, row.operation)) + entering(row.entry)
}

/// Measures a plan, whose first configuration is bare, and compares every count with the listing. What a service takes is known from
/// bare, and the same everywhere. None where the emulator is not here.
fn check(plan: &Plan) -> Option<Checked> {
    let counts = plan.counts()?;
    let kernel = Kernel::in_mode(plan.mode);
    let paths: Paths = plan.paths().into_iter().map(|(entry, path)| (entry, kernel.path(path))).collect();
    let (mut services, mut wrong) = (BTreeMap::new(), Vec::new());
    let mut checked = Checked { rows: 0, refused: BTreeSet::new() };
    for (row, counted) in plan.rows.iter().zip(counts) {
        let (entry, operation, words) = (row.entry, row.operation, plan.words(row));
        let counted = match counted {
            Counted::Instructions(counted) => counted,
            Counted::Lacking => {
                let needed = features(&plan.wholes[row.whole], plan.forgives());
                if !needed.is_empty() {
                    checked.refused.insert(needed.into_iter().collect::<Vec<_>>().join("+"));
                    continue;
                }
                wrong.push(format!("{entry} {operation} [{words}]: refused"));
                continue;
            }
            Counted::Wrong(answer) => {
                wrong.push(format!("{entry} {operation} [{words}]: {answer:x?}"));
                continue;
            }
        };
        checked.rows += 1;
        let listed = listed(&paths, &plan.wholes[row.whole], row);
        let service = *services.entry((row.entry, row.operation)).or_insert_with(|| {
            assert_eq!(row.whole, 0, "bare comes first");
            counted.checked_sub(listed).unwrap_or_else(|| panic!("{}: {counted} is too little", row.entry))
        });
        // A service is called by a pointer, and begins with endbr64 then (endbr32).
        let is_watched = plan.wholes[row.whole].get("ibt").is_some_and(|ibt| ibt == "on");
        let service = service + u64::from(is_watched && operation != "none");
        if service + listed != counted {
            wrong.push(format!(
                "{entry} {operation} [{words}]: {counted} counted, {listed} listed, {service} of the service"
            ));
        }
    }
    let none = services.iter().filter(|((_, operation), service)| *operation == "none" && **service != 0);
    assert_eq!(none.count(), 0, "a number that no call has is served: {services:?}");
    assert!(wrong.is_empty(), "{} of {}: {:#?}", wrong.len(), plan.rows.len(), &wrong[..wrong.len().min(40)]);
    Some(checked)
}

fn with_bare(mode: Mode) -> Plan {
    let mut plan = Plan::new(mode, Emulator::TcgIntel);
    plan.add(Table::get().bare(), &OPERATIONS);
    plan
}

/// Features without which these are refused.
fn features(whole: &SwitchValues, forgives: bool) -> BTreeSet<&str> {
    let needs = whole.iter().flat_map(|(name, value)| Table::get().switch(name).unwrap().requirements(value));
    needs.filter(|need| !(forgives && need.harmless)).filter_map(|need| need.feature.as_deref()).collect()
}

/// Few configurations in which every setting is: each takes as many as get along, and need the same features.
fn covering(forgives: bool) -> Vec<SwitchValues> {
    let needed_by = |setting: &Setting| {
        let whole = together(&[setting]).unwrap();
        features(&whole, forgives).into_iter().map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let (mut left, mut all) = (settings(), Vec::new());
    while let Some(first) = left.first() {
        let (needed, mut taken) = (needed_by(first), Vec::<Setting>::new());
        left.retain(|setting| {
            let fits = needed_by(setting) == needed
                && together(&taken.iter().chain([setting]).collect::<Vec<_>>()).is_some();
            taken.extend(fits.then(|| setting.clone()));
            !fits
        });
        all.push(together(&taken.iter().collect::<Vec<_>>()).unwrap());
    }
    all
}

#[test]
fn each_step_alone_adds_what_its_listing_says() {
    check_each_alone(Mode::Long);
}

pub fn check_each_alone(mode: Mode) {
    let (mut plan, all) = (with_bare(mode), settings());
    let operations = if is_whole() { &OPERATIONS } else { &OPERATIONS[1..] };
    for setting in &all {
        let whole = together(&[setting]).unwrap_or_else(|| panic!("{setting} contradicts itself"));
        plan.add(whole, operations);
    }
    // Some paths of half of the settings, whatever the processor lacks.
    let most = all.len() * paths_in(mode).len() * operations.len() / 2;
    assert!(check(&plan).is_none_or(|checked| checked.rows > most), "hardly anything was measured");
    assert!(all.len() > 40, "{all:?}");
}

#[test]
fn steps_in_company_add_what_their_listings_say_in_every_emulator() {
    check_in_company(Mode::Long);
}

/// The features that an emulator's processor, or a kernel, lacks: with all others, every step is counted.
fn lacking(mode: Mode, emulator: Emulator) -> Vec<&'static str> {
    let of_model: &[&str] = match emulator {
        Emulator::TcgIntel => &["ibt", "invpcid", "pcid", "shstk"],
        Emulator::TcgAmd => &["ibt", "invpcid", "pcid", "shstk", "umip"],
        Emulator::Bochs => &["bhictrl"],
        Emulator::BochsAmd => &[
            "bhictrl", "eibrs", "ibpb", "ibrs", "ibt", "invpcid", "l1dflush", "mdclear", "pcid", "shstk",
            "ssbd", "stibp", "umip",
        ],
    };
    let of_kernel = if mode == Mode::Protected { &["pcid"][..] } else { &[] };
    [of_model, of_kernel].concat()
}

/// What an emulator counts besides is in bare, too, and so in what is taken for the service.
pub fn check_in_company(mode: Mode) {
    for emulator in Emulator::ALL {
        let mut plan = Plan::new(mode, emulator);
        plan.add(Table::get().bare(), &OPERATIONS[1..]);
        covering(plan.forgives()).into_iter().for_each(|whole| plan.add(whole, &OPERATIONS[1..]));
        let Some(checked) = check(&plan) else { continue };
        let lacking: BTreeSet<String> = lacking(mode, emulator).into_iter().map(str::to_owned).collect();
        assert_eq!(checked.refused, lacking, "{} {mode:?}", emulator.name());
    }
}

#[test]
fn each_pair_of_steps_adds_what_their_listings_say() {
    check_pairs(Mode::Long);
}

pub fn check_pairs(mode: Mode) {
    let (mut plan, all) = (with_bare(mode), settings());
    let mut pairs: Vec<SwitchValues> = Vec::new();
    for (place, one) in all.iter().enumerate() {
        pairs.extend(all[place + 1..].iter().filter_map(|other| together(&[one, other])));
    }
    let asked = std::env::var("KENTRY_PAIRS").unwrap_or_else(|_| "48".into());
    let operations = match asked.parse() {
        Ok(some) => {
            let seed =
                std::env::var("KENTRY_PAIRS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
            pairs.shuffle(&mut StdRng::seed_from_u64(seed));
            pairs.truncate(some);
            &OPERATIONS[1..]
        }
        Err(_) if asked == "all" => &OPERATIONS[..],
        Err(error) => panic!("KENTRY_PAIRS={asked}: {error}"),
    };
    pairs.into_iter().for_each(|pair| plan.add(pair, operations));
    check(&plan);
}

#[test]
fn each_profile_is_the_sum_of_its_steps() {
    let (mut plan, table) = (with_bare(Mode::Long), Table::get());
    // Each step's addition to the whole tells as much as that to those before it.
    let grown = table.profiles.iter().filter(|_| is_whole()).flat_map(|profile| in_order(&profile.steps));
    grown.collect::<Vec<_>>().into_iter().for_each(|whole| plan.add(whole, &OPERATIONS[1..]));
    // Each setting in the last profile that has it, or with `KENTRY_WHOLE=1` in all.
    let mut done = BTreeSet::new();
    for profile in table.profiles.iter().rev() {
        let without = |left_out: usize| {
            let kept =
                profile.steps.iter().enumerate().filter(|(place, step)| *place != left_out && can_do(step));
            let whole = table.with(&kept.map(|(_, step)| step.clone()).collect::<Vec<_>>());
            table.check_requirements(&whole).is_ok().then_some(whole)
        };
        for (place, step) in profile.steps.iter().enumerate().filter(|(_, step)| can_do(step)) {
            let Some(whole) = without(place) else { continue };
            if done.insert(step.to_string()) || is_whole() {
                plan.add(whole, &OPERATIONS[..1]);
            }
        }
    }
    assert!(
        check(&plan).is_none_or(|checked| checked.rows > paths_in(Mode::Long).len() * 20),
        "hardly anything was measured"
    );
}

/// A profile that grows step by step, without what the emulator cannot do.
fn in_order(steps: &[Setting]) -> Vec<SwitchValues> {
    let steps: Vec<Setting> = steps.iter().filter(|step| can_do(step)).cloned().collect();
    (1..=steps.len()).map(|count| Table::get().with(&steps[..count])).collect()
}

/// Whether QEMU's emulation has what a setting needs, or can execute it without.
fn can_do(setting: &Setting) -> bool {
    const LACKING: [&str; 4] = ["pcid", "invpcid", "shstk", "ibt"];
    let needs = Table::get().switch(&setting.name).unwrap().requirements(&setting.value);
    needs.iter().all(|need| match need.feature.as_deref() {
        Some(_) if need.harmless => true,
        Some(feature) => !LACKING.contains(&feature),
        None => true,
    })
}

#[test]
#[should_panic(expected = "step \"CR3: write it again and again\" has a loop")]
fn a_loop_that_is_not_declared_is_named() {
    let path = Kernel::read().path("int80").undeclared("");
    path.walk(&[("cr3-writes", "3")], taken("int80-x86_64", "none"));
}

//! What of a followed path the lab explains, instruction by instruction: the assembler's part by the settings of the profile that bring
//! it, and Linux's C code by the parts of the anatomy.

use crate::anatomy::{Followed, Part, PartCount, part_protects};
use crate::assembly::Assembly;
use crate::bill::{ExplainedKind, ExplainedPart, Figure, There, is_protection};
use std::collections::BTreeMap;
use table::{Setting, Table};

/// Which setting of a profile brings each instruction of the lab's column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Brought {
    /// The settings, in the profile's order.
    pub settings: Vec<Setting>,
    /// Of each instruction, the place of its setting; none of what bare has.
    pub by: Vec<Option<usize>>,
}

/// A path of Linux, explained: of its assembler's part, what the lab has in the same place. All else of that part is the rest, and so is what
/// no part of the anatomy names. The table says which settings are protections; `unprotected` is the same path in a boot without those that
/// parameters switch off.
pub fn explained(
    table: &Table,
    assembly: &Assembly,
    brought: &Brought,
    followed: &Followed,
    unprotected: Option<&Followed>,
) -> There {
    let (named, other): (Vec<&PartCount>, Vec<&PartCount>) =
        assembly.c.iter().partition(|count| count.part != Part::Other);
    let parts: Vec<ExplainedPart> = program(assembly, followed)
        .into_iter()
        .chain(by_setting(table, assembly, brought))
        .chain(named.iter().map(|count| of_c(table, count)))
        .collect();
    let explained = parts.iter().filter_map(|part| part.figure).map(|figure| figure.estimate).sum::<f64>();
    let protections = protections(table, &parts, &named);
    let measured = followed.counted.map(|count| count as f64);
    let rest = measured.map(|measured| measured - explained);
    let configuration = &followed.configuration;
    There {
        what: format!(
            "Linux {}, booted for this in QEMU's emulation, CPU {}; {}",
            configuration.release,
            configuration.cpu,
            configuration.name()
        ),
        run: None,
        measured: measured.map(Figure::count),
        why: measured.is_none().then(|| "the row was followed and not counted".to_owned()),
        parts,
        protections: Some(Figure::count(protections)),
        unprotected: unprotected.and_then(|path| path.counted).map(|count| Figure::count(count as f64)),
        unprotected_by: unprotected.map(|path| path.configuration.name()),
        explained: Some(Figure::count(explained)),
        rest: rest.map(Figure::count),
        rest_share: rest
            .zip(measured)
            .map(|(rest, measured)| rest / measured)
            .filter(|share| share.is_finite()),
        remarks: remarks(assembly, other.iter().map(|count| count.count).sum()),
    }
}

/// The instructions of all protections. Idle ones stand in the place of one that is switched off.
fn protections(table: &Table, parts: &[ExplainedPart], c: &[&PartCount]) -> f64 {
    let all = parts.iter().filter(|part| part.protects).filter_map(|part| part.figure);
    let idle = c.iter().filter(|count| protects(table, count)).map(|count| count.idle).sum::<usize>();
    all.map(|figure| figure.estimate).sum::<f64>() - idle as f64
}

/// What both columns have in the same place, by the setting that brings it: bare, then in the profile's order.
fn by_setting(table: &Table, assembly: &Assembly, brought: &Brought) -> Vec<ExplainedPart> {
    let mut counts: BTreeMap<Option<usize>, usize> = BTreeMap::new();
    for pair in assembly.columns.pairs() {
        if let (Some(lab), Some(_)) = pair {
            *counts.entry(brought.by.get(lab).copied().flatten()).or_default() += 1;
        }
    }
    let part = |(setting, count): (Option<usize>, usize)| {
        let setting = setting.and_then(|at| brought.settings.get(at));
        let (what, note) = match setting {
            Some(setting) => (setting.to_string(), None),
            None => (
                "bare".into(),
                Some("what stays of the assembler's part when every switch is at its first value"),
            ),
        };
        ExplainedPart {
            kind: ExplainedKind::Brought,
            what,
            figure: Some(Figure::count(count as f64)),
            note: note.map(str::to_owned),
            protects: setting.is_some_and(|set| protects_here(table, set)),
        }
    };
    counts.into_iter().map(part).collect()
}

/// Whether all that a setting brings protects: swapgs=fence brings swapgs, too, which every kernel has.
fn protects_here(table: &Table, setting: &Setting) -> bool {
    setting.name != "swapgs" && is_protection(table, &setting.name, &setting.value)
}

/// What is executed in ring 3, less what the row does not count: the same probe does that in the lab.
fn program(assembly: &Assembly, followed: &Followed) -> Option<ExplainedPart> {
    let of_c: usize = assembly.c.iter().map(|count| count.count).sum();
    let in_kernel = (assembly.columns.linux.len() + of_c) as u64;
    let own = (followed.anatomy.instructions.len() as u64).checked_sub(in_kernel + followed.control)?;
    (own > 0).then(|| ExplainedPart {
        kind: ExplainedKind::Program,
        what: "in the program".into(),
        figure: Some(Figure::count(own as f64)),
        note: Some("the instruction that enters, and what else the row counts of ring 3".into()),
        protects: false,
    })
}

fn of_c(table: &Table, count: &PartCount) -> ExplainedPart {
    ExplainedPart {
        kind: ExplainedKind::C,
        what: format!("C code: {}", count.part.name()),
        figure: Some(Figure::count(count.count as f64)),
        note: (count.idle > 0).then(|| format!("{} of them idle", count.idle)),
        protects: protects(table, count),
    }
}

/// Whether there is more than what stands idle in the place of a protection.
fn protects(table: &Table, count: &PartCount) -> bool {
    part_protects(table, count.part) && count.idle < count.count
}

fn remarks(assembly: &Assembly, other: usize) -> Vec<String> {
    let steps =
        |what: &str, steps: &[String]| (!steps.is_empty()).then(|| format!("{what}: {}", steps.join(" ")));
    let differ = assembly.columns.counted();
    let same = match differ.is_none() {
        true => "the assembler's part is the lab's, instruction by instruction in kind".to_owned(),
        false => format!(
            "of the assembler's part, the lab has {} instructions not at all, and {} in another place: they are in the rest",
            differ.only_linux, differ.elsewhere
        ),
    };
    let unnamed =
        format!("{other} instructions of C code are in the rest, for nothing names what they are for");
    let c = "C code: Linux's, by the parts of its anatomy, and functions that both kernels call; what stands for it in the lab is not in these \
             figures";
    [
        Some(same),
        (other > 0).then_some(unnamed),
        assembly.own_order(),
        steps("this boot of Linux has these switched off, and the lab is without them", &assembly.off),
        steps("this boot of Linux has these besides", &assembly.on),
        steps("the lab is without these", &assembly.lacking),
        Some(c.to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anatomy::{Anatomy, BootedConfiguration, Confidence, Instruction};
    use crate::assembly::{Columns, One};

    fn one(kind: &str) -> One {
        One { text: kind.into(), place: "place".into(), kind: kind.into() }
    }

    /// A path of three instructions in the assembler's part, four of C, one in the program, and two more in it, of which the row counts one.
    fn sample(lab: &[&str]) -> (Assembly, Followed) {
        let columns = Columns {
            lab: lab.iter().map(|kind| one(kind)).collect(),
            linux: ["swapgs", "push %rax", "sysretq"].map(one).into(),
        };
        let c = vec![PartCount { part: Part::Work, count: 4, by_confidence: [0; 4], idle: 1 }];
        let assembly = Assembly { columns, c, ..Assembly::default() };
        let instruction = Instruction {
            address: 0x1000,
            ring: 0,
            bytes: "90".into(),
            text: "nop".into(),
            function: None,
            depth: 0,
            part: Part::Work,
            confidence: Confidence::ALL[0],
            idle: false,
        };
        let (entry, operation) = (String::from("syscall-x86_64"), String::from("getppid"));
        let anatomy = Anatomy { entry, operation, instructions: vec![instruction; 10] };
        let configuration = BootedConfiguration { release: "6.1".into(), ..BootedConfiguration::default() };
        let (counted, agrees) = (Some(9), Some(true));
        let followed = Followed { configuration, counted, control: 1, agrees, cycles: None, anatomy };
        (assembly, followed)
    }

    fn brought(by: &[Option<usize>]) -> Brought {
        let settings = [("swapgs", "on"), ("pti", "on"), ("stack", "frame")];
        let settings = settings.map(|(switch, value)| Setting::new(switch, value)).into();
        Brought { settings, by: by.into() }
    }

    fn figures(there: &There) -> Vec<(ExplainedKind, &str, f64)> {
        let figure = |part: &ExplainedPart| part.figure.map_or(f64::NAN, |figure| figure.estimate);
        let of_parts = there.parts.iter().map(|part| (part.kind, part.what.as_str(), figure(part)));
        of_parts.collect()
    }

    #[test]
    fn what_is_equal_leaves_no_rest() {
        let (assembly, followed) = sample(&["swapgs", "push %rax", "sysretq"]);
        let there = explained(Table::get(), &assembly, &brought(&[Some(0), Some(2), None]), &followed, None);
        let expected = [
            (ExplainedKind::Program, "in the program", 2.0),
            (ExplainedKind::Brought, "bare", 1.0),
            (ExplainedKind::Brought, "swapgs=on", 1.0),
            (ExplainedKind::Brought, "stack=frame", 1.0),
            (ExplainedKind::C, "C code: work", 4.0),
        ];
        assert_eq!(figures(&there), expected);
        let estimates = [there.measured, there.explained, there.rest].map(|figure| figure.unwrap().estimate);
        assert_eq!((estimates, there.rest_share), ([9.0, 9.0, 0.0], Some(0.0)));
    }

    #[test]
    fn what_the_lab_alone_has_makes_up_for_nothing_that_it_lacks() {
        let (mut assembly, followed) = sample(&["swapgs", "cld", "sysretq"]);
        let there = explained(Table::get(), &assembly, &brought(&[Some(0), Some(1), None]), &followed, None);
        assert_eq!(there.rest.unwrap().estimate, 1.0);
        assert!(there.remarks[0].contains("1 instructions not at all, and 0"), "{:?}", there.remarks);
        assert!(figures(&there).iter().all(|(_, what, _)| *what != "pti=on"), "{there:?}");
        // What nothing names is not explained.
        assembly.c[0].part = Part::Other;
        let there = explained(Table::get(), &assembly, &brought(&[Some(0), Some(1), None]), &followed, None);
        assert_eq!(there.rest.unwrap().estimate, 5.0);
    }

    #[test]
    fn a_nop_in_the_place_of_a_protection_protected() {
        let (mut assembly, followed) = sample(&["swapgs", "push %rax", "sysretq"]);
        let protections = |assembly: &Assembly| {
            let there =
                explained(Table::get(), assembly, &brought(&[Some(0), Some(1), Some(2)]), &followed, None);
            let marked: Vec<&str> =
                there.parts.iter().filter(|part| part.protects).map(|part| part.what.as_str()).collect();
            (there.protections.unwrap().estimate, marked.join(" "))
        };
        assert_eq!(protections(&assembly), (1.0, "pti=on".into()));
        let fenced =
            Brought { settings: vec![Setting::new("swapgs", "fence")], by: vec![Some(0), None, None] };
        let there = explained(Table::get(), &assembly, &fenced, &followed, None);
        assert_eq!(there.protections.unwrap().estimate, 0.0, "swapgs itself");
        // Four instructions of C code, one of them idle.
        assembly.c[0].part = Part::IndexMask;
        assert_eq!(protections(&assembly), (4.0, "pti=on C code: index-mask".into()));
    }

    #[test]
    fn another_boot_tells_what_is_left_without_protections() {
        let (assembly, followed) = sample(&["swapgs", "push %rax", "sysretq"]);
        let settings = [("mitigations".to_owned(), "off".to_owned())].into();
        let configuration = BootedConfiguration { settings, ..BootedConfiguration::default() };
        let other = Followed { configuration, counted: Some(7), ..followed.clone() };
        let brought = brought(&[Some(0), Some(2), None]);
        let there = explained(Table::get(), &assembly, &brought, &followed, Some(&other));
        assert_eq!((there.unprotected.unwrap().estimate, there.measured.unwrap().estimate), (7.0, 9.0));
        assert_eq!(there.unprotected_by.as_deref(), Some("mitigations=off"));
        let uncounted = Followed { counted: None, ..other };
        let there = explained(Table::get(), &assembly, &brought, &followed, Some(&uncounted));
        assert!(there.unprotected.is_none());
    }

    #[test]
    fn what_was_not_counted_has_no_rest() {
        let (assembly, followed) = sample(&["swapgs", "sysretq"]);
        let uncounted = Followed { counted: None, agrees: None, ..followed };
        let there = explained(Table::get(), &assembly, &brought(&[None; 2]), &uncounted, None);
        assert_eq!((there.measured, there.rest, there.rest_share), (None, None, None));
        assert!(there.why.is_some());
    }
}

//! What of a followed path the lab explains, instruction by instruction: the assembler's part by the settings of the profile that bring
//! it, and Linux's C code by the parts of the anatomy.

use crate::anatomy::{Followed, PartCount};
use crate::assembly::Assembly;
use crate::bill::{ExplainedKind, ExplainedPart, Figure, There};

/// How many instructions of the assembler's part of the lab's path a setting brings; `None` are those that bare has.
pub type BySetting = (Option<String>, usize);

/// A path of Linux, explained. `settings` are those of the profile in its order, and add up to the lab's column.
pub fn explained(assembly: &Assembly, settings: &[BySetting], followed: &Followed) -> There {
    let parts: Vec<ExplainedPart> = program(assembly, followed)
        .into_iter()
        .chain(settings.iter().filter(|(_, count)| *count > 0).map(of_setting))
        .chain(assembly.c.iter().map(of_c))
        .collect();
    let explained = parts.iter().filter_map(|part| part.figure).map(|figure| figure.estimate).sum::<f64>();
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
        explained: Some(Figure::count(explained)),
        rest: rest.map(Figure::count),
        rest_share: rest
            .zip(measured)
            .map(|(rest, measured)| rest / measured)
            .filter(|share| share.is_finite()),
        remarks: remarks(assembly),
    }
}

/// What is executed in ring 3, less what the row does not count: the same probe does that in the lab.
fn program(assembly: &Assembly, followed: &Followed) -> Option<ExplainedPart> {
    let of_c: usize = assembly.c.iter().map(|count| count.count).sum();
    let in_kernel = (assembly.columns.linux.len() + of_c) as u64;
    let own = (followed.anatomy.instructions.len() as u64).checked_sub(in_kernel + followed.control)?;
    (own > 0).then(|| ExplainedPart {
        kind: ExplainedKind::Crossing,
        what: "in the program".into(),
        figure: Some(Figure::count(own as f64)),
        note: Some("the instruction that enters, and what else the row counts of ring 3".into()),
    })
}

fn of_setting((setting, count): &BySetting) -> ExplainedPart {
    let (kind, what, note) = match setting {
        Some(setting) => (ExplainedKind::Step, setting.clone(), None),
        None => {
            let note = "what stays of the assembler's part when every switch is at its first value";
            (ExplainedKind::Crossing, "bare".into(), Some(note.to_owned()))
        }
    };
    ExplainedPart { kind, what, figure: Some(Figure::count(*count as f64)), note }
}

fn of_c(count: &PartCount) -> ExplainedPart {
    ExplainedPart {
        kind: ExplainedKind::C,
        what: format!("C code: {}", count.part.name()),
        figure: Some(Figure::count(count.count as f64)),
        note: (count.idle > 0).then(|| format!("{} of them idle", count.idle)),
    }
}

fn remarks(assembly: &Assembly) -> Vec<String> {
    let steps =
        |what: &str, steps: &[String]| (!steps.is_empty()).then(|| format!("{what}: {}", steps.join(" ")));
    let differ = assembly.columns.counted();
    let same = match differ.is_none() {
        true => "the assembler's part is the lab's, instruction by instruction in kind".to_owned(),
        false => format!(
            "of the assembler's part, Linux alone has {} instructions and the lab alone has {}, which is the rest; {} stand in another place",
            differ.only_linux, differ.only_lab, differ.elsewhere
        ),
    };
    [
        Some(same),
        assembly.own_order(),
        steps("this boot of Linux has these switched off, and the lab is without them", &assembly.off),
        steps("this boot of Linux has these besides", &assembly.on),
        steps("the emulated processor lacks what these need", &assembly.lacking),
        Some("C code: Linux's, by the parts of its anatomy, and functions that both kernels call; what stands for it in the lab is not in these figures".into()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anatomy::{Anatomy, BootedConfiguration, Confidence, Instruction, Part};
    use crate::assembly::{Columns, One};

    fn one(kind: &str) -> One {
        One { text: kind.into(), place: "place".into(), kind: kind.into() }
    }

    /// A path of three instructions in the assembler's part, four of C and one in the program; one more than the row counts.
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
        let anatomy = Anatomy { entry, operation, instructions: vec![instruction; 9] };
        let configuration = BootedConfiguration { release: "6.1".into(), ..BootedConfiguration::default() };
        let followed = Followed { configuration, counted: Some(8), control: 1, agrees: Some(true), anatomy };
        (assembly, followed)
    }

    fn figures(there: &There) -> Vec<(ExplainedKind, &str, f64)> {
        let figure = |part: &ExplainedPart| part.figure.map_or(f64::NAN, |figure| figure.estimate);
        let of_parts = there.parts.iter().map(|part| (part.kind, part.what.as_str(), figure(part)));
        of_parts.collect()
    }

    #[test]
    fn what_is_equal_leaves_no_rest() {
        let (assembly, followed) = sample(&["swapgs", "push %rax", "sysretq"]);
        let settings = [
            (None, 1),
            (Some("swapgs=on".to_owned()), 1),
            (Some("pti=on".into()), 0),
            (Some("stack=frame".into()), 1),
        ];
        let there = explained(&assembly, &settings, &followed);
        let expected = [
            (ExplainedKind::Crossing, "in the program", 1.0),
            (ExplainedKind::Crossing, "bare", 1.0),
            (ExplainedKind::Step, "swapgs=on", 1.0),
            (ExplainedKind::Step, "stack=frame", 1.0),
            (ExplainedKind::C, "C code: work", 4.0),
        ];
        assert_eq!(figures(&there), expected);
        let estimates = [there.measured, there.explained, there.rest].map(|figure| figure.unwrap().estimate);
        assert_eq!((estimates, there.rest_share), ([8.0, 8.0, 0.0], Some(0.0)));
    }

    #[test]
    fn what_the_lab_lacks_is_the_rest() {
        let (assembly, followed) = sample(&["swapgs", "sysretq"]);
        let there = explained(&assembly, &[(None, 2)], &followed);
        assert_eq!(there.rest.unwrap().estimate, 1.0);
        assert!(there.remarks[0].contains("Linux alone has 1"), "{:?}", there.remarks);
        let uncounted = Followed { counted: None, agrees: None, ..followed };
        let there = explained(&assembly, &[(None, 2)], &uncounted);
        assert_eq!((there.measured, there.rest, there.rest_share), (None, None, None));
        assert!(there.why.is_some());
    }
}

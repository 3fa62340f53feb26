//! What followed paths say in words that every format shares. Not yet made harmless: whoever shows them does that.

use super::several;
use crate::figure::{ABSENT, number};
use attribution::anatomy::{
    Anatomy, BootedConfiguration, Confidence, Document, Event, Followed, Instruction, Part, PartCount, Timed,
};

/// What a count is, and is not.
pub(super) const COUNTED: &str = "instructions executed in an emulator, not times; a count ranks no cost (iretq, wrmsr and mov to CR3 count one \
                                  each, as mov does; an instruction with rep counts once for each iteration and once more)";

/// What the columns of the parts mean.
const LEGEND: &str = "idle: of these, how many do nothing or jump over code that is switched off. known by: the kernel's table of \
                      alternatives, symbols (the function or its caller), or the pattern of the instructions";

/// The same, with what of a table is of several paths.
pub(super) fn legend(document: &Document) -> String {
    let several = if document.paths.len() > 1 { ", counts of all paths added" } else { "" };
    format!("{LEGEND}{several}.")
}

/// `getppid through syscall-x86_64`; of what is no entry, its name.
pub(super) fn title(document: &Document) -> String {
    let Some(anatomy) = document.first().map(|path| &path.anatomy) else { return ABSENT.to_owned() };
    match Event::named(&anatomy.entry) {
        Some(event) => event.name().to_owned(),
        None => format!("{} through {}", anatomy.operation, anatomy.entry),
    }
}

/// `1 instruction`, `12 instructions`
pub(super) fn instructions(count: usize) -> String {
    if count == 1 { "1 instruction".to_owned() } else { format!("{count} instructions") }
}

/// What stands above the tables: label and text.
pub(super) fn head(document: &Document) -> Vec<(&'static str, String)> {
    let mut facts = vec![("anatomy", title(document))];
    if several::are(document) {
        facts.extend(of_several(document));
    } else {
        for path in &document.paths {
            facts.push(("kernel", kernel(path)));
            facts.push(("path", path_in_words(path)));
        }
    }
    facts.extend(document.timed.as_ref().map(timed));
    facts.extend(document.left_out.iter().map(|one| ("left out", format!("{}: {}", one.boot, one.why))));
    facts.push(("figures", COUNTED.to_owned()));
    facts
}

/// Where the boots were timed, or why they were not.
fn timed(timed: &Timed) -> (&'static str, String) {
    let cpu = timed.cpu.as_deref().unwrap_or("this machine's processor");
    let of_guests = || format!("of guests like these under KVM, whose ring 0 {cpu} executes itself");
    match &timed.why {
        Some(why) => ("no cycles", format!("the guests cannot be timed, because {why}")),
        None => ("cycles", of_guests()),
    }
}

fn kernel(path: &Followed) -> String {
    let configuration = &path.configuration;
    format!("Linux {}, {}; {}", configuration.release, configuration.name(), guest(configuration))
}

/// `in QEMU's emulation, CPU max, seed 0`
fn guest(configuration: &BootedConfiguration) -> String {
    let BootedConfiguration { machine, cpu, seed, .. } = configuration;
    format!("{}, CPU {cpu}, seed {seed}", crate::machine::place(machine))
}

/// Paths of which each is a line: what they have in common, and where one is not as long as its row's count.
fn of_several(document: &Document) -> Vec<(&'static str, String)> {
    let (names, paths) = (several::called(document), &document.paths);
    let Some(first) = document.first().map(|path| &path.configuration) else { return Vec::new() };
    let mut facts = Vec::new();
    if paths.iter().all(|path| path.configuration.has_kernel_of(first)) {
        facts.push(("kernel", format!("Linux {}", first.release)));
        facts.extend(
            names.first().filter(|name| **name != first.name()).map(|_| (several::WITHOUT, first.name())),
        );
        facts.extend(several::together(document).map(|(_, settings)| (several::TOGETHER, settings)));
    }
    if paths.iter().all(|path| guest(&path.configuration) == guest(first)) {
        facts.push(("guests", guest(first)));
    }
    let of = |agrees| paths.iter().filter(|path| path.agrees == agrees).count();
    let said = match (of(Some(true)), of(None)) {
        (agreeing, _) if agreeing == paths.len() => "; each as long as its row's count".to_owned(),
        (_, without) if without == paths.len() => String::new(),
        (agreeing, 0) => format!("; {agreeing} as long as its row's count"),
        (agreeing, without) => {
            format!("; {agreeing} as long as its row's count, {without} without a count to compare with")
        }
    };
    facts.push(("paths", format!("{}{said}", paths.len())));
    let others = paths.iter().zip(&names).filter(|(path, _)| path.agrees == Some(false));
    facts.extend(others.map(|(path, name)| ("", format!("{name}: {}", path_in_words(path)))));
    facts
}

/// What was executed, and whether the counter says the same.
fn path_in_words(path: &Followed) -> String {
    let all = path.anatomy.instructions.len();
    let (kernel, program) = (path.anatomy.in_ring(0), path.anatomy.in_ring(3));
    let followed = format!("{} ({kernel} in ring 0, {program} in ring 3)", instructions(all));
    match Event::named(&path.anatomy.entry) {
        Some(Event::TimerInterrupt) => return followed + &beside_the_tick(&path.anatomy),
        Some(Event::Execve) => return followed,
        None => (),
    }
    let left_out = match path.control {
        0 => String::new(),
        count => format!(", less {count} that the row does not count: {}", path.cost()),
    };
    match (path.counted, path.agrees) {
        (Some(_), Some(true)) => format!("{followed}{left_out}; the row's count is the same"),
        (Some(counted), _) => {
            format!("{followed}{left_out}; this disagrees with the row's count, {counted}")
        }
        (None, _) => format!("{followed}{left_out}; the row has no count to compare with"),
    }
}

/// What else is on the path of a timer's interrupt: other interrupts, and other tasks that were due.
fn beside_the_tick(anatomy: &Anatomy) -> String {
    let begins = |one: &&Instruction| {
        one.function.as_ref().is_some_and(|place| place.name.starts_with("asm_sysvec_") && place.offset == 0)
    };
    let interrupts = match anatomy.instructions.iter().filter(begins).count() {
        0 | 1 => String::new(),
        several => format!("; it contains {several} interrupts"),
    };
    match anatomy.parts().iter().any(|part| part.part == Part::Schedule) {
        true if interrupts.is_empty() => "; it contains a switch to other tasks".to_owned(),
        true => format!("{interrupts}, and a switch to other tasks"),
        false => interrupts,
    }
}

/// `3.2 %`
pub(super) fn share(count: usize, of: usize) -> String {
    if of == 0 {
        return ABSENT.to_owned();
    }
    format!("{} %", number(100.0 * count as f64 / of as f64))
}

/// By what a part's instructions are known: `table 2, pattern 8`; the word alone where all are known alike.
pub(super) fn known_by(part: &PartCount) -> String {
    let counts = Confidence::ALL.iter().zip(part.by_confidence).filter(|(_, count)| *count > 0);
    let counts: Vec<_> = counts.collect();
    match counts.as_slice() {
        [(Confidence::None, _)] => ABSENT.to_owned(),
        [(one, _)] => one.name().to_owned(),
        several => {
            let each = several.iter().map(|(one, count)| format!("{} {count}", one.name()));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

/// A number of the lab, or what stands where there is none.
pub(super) fn of_lab(value: Option<f64>) -> String {
    value.map_or_else(
        || ABSENT.to_owned(),
        |value| if value.fract() == 0.0 && value.abs() < 1e7 { format!("{value:.0}") } else { number(value) },
    )
}

/// `__x64_sys_getppid+0x5`
pub(super) fn place(instruction: &attribution::anatomy::Instruction) -> String {
    match &instruction.function {
        Some(place) => format!("{}+{:#x}", place.name, place.offset),
        None => instruction.function_name().to_owned(),
    }
}

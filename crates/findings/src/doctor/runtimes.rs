//! What the C library and other runtimes use of what the kernel offers: by the rows of a run, whether each function is served in user
//! space, and what the number of the CPU costs; by examination, who registered rseq.

use crate::doctor::CheckupFacts;
use crate::facts::{list, price};
use crate::id::Id;
use document::{Confidence, Figure, Finding, Level, Path, Row, Unit};
use environment::{Version, version};
use examine::{ProgramRseq, Rseq};
use std::collections::BTreeMap;
use table::special::{LIBC, SYSCALL, VDSO};
use table::{Kernel, Table};

/// The findings that are made here; `libc` and `random-path` are made of every run, too.
#[cfg(test)]
pub(crate) const IDS: [Id; 2] = [Id::Rseq, Id::Getcpu];

const GETRANDOM: &str = "getrandom";
const GETCPU: &str = "getcpu";
/// The row of a load from the area of rseq.
const RSEQ: &str = "rseq";
const NONE: &str = "none";

/// The first versions whose getrandom is the vDSO's: of Linux on x86-64, and of glibc.
const RANDOM_IN_LINUX: Version = (6, 11);
const RANDOM_IN_GLIBC: Version = (2, 41);
/// The first version of glibc that registers rseq.
const RSEQ_IN_GLIBC: Version = (2, 35);

/// The rows that tell: each function through the C library and the vDSO, random bytes and the CPU's number by a call, and that by a load.
pub(super) fn rows(table: &Table) -> Vec<(String, String)> {
    let functions = table.entry(LIBC).map(|libc| libc.operations.clone()).unwrap_or_default();
    let serves = |entry: &str, operation: &str| {
        table.rows(Kernel::Linux).any(|(known, served)| known.name == entry && served.name == operation)
    };
    let both = functions.iter().filter(|function| serves(VDSO, function));
    let pairs = both.flat_map(|function| [LIBC, VDSO].map(|entry| (entry.to_owned(), function.clone())));
    let others = [(SYSCALL, GETRANDOM), (SYSCALL, GETCPU), (RSEQ, NONE)];
    pairs.chain(others.map(|(entry, operation)| (entry.to_owned(), operation.to_owned()))).collect()
}

pub(crate) fn findings(facts: &CheckupFacts) -> Vec<Finding> {
    let rseq = facts.runtimes().and_then(|runtimes| rseq(facts, &runtimes.rseq));
    if !facts.run.are_of_one_linux() {
        return rseq.into_iter().collect();
    }
    let random = crate::random::findings(&facts.run);
    library(facts).into_iter().chain(random).chain(getcpu(facts)).chain(rseq).collect()
}

/// The C library, for a sentence: `glibc 2.36`.
fn library_name(facts: &CheckupFacts) -> String {
    let Some(libc) = &facts.run.document.environment.libc else { return "the C library".into() };
    let version = libc.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    format!("{}{version}", libc.name)
}

/// Its version, if it is glibc.
fn glibc(facts: &CheckupFacts) -> Option<Version> {
    let libc = facts.run.document.environment.libc.as_ref().filter(|libc| libc.name == "glibc")?;
    version(libc.version.as_deref()?)
}

/// Functions that enter the kernel through the C library, and do not through the vDSO.
pub(crate) fn library(facts: &CheckupFacts) -> Option<Finding> {
    let operations = &facts.run.table.entry(LIBC)?.operations;
    let both = operations.iter().filter_map(|operation| {
        let (libc, vdso) = (facts.run.works(LIBC, operation)?, facts.run.works(VDSO, operation)?);
        let in_user_space = vdso.path == Some(Path::User);
        (in_user_space && libc.path.is_some()).then_some((libc, vdso))
    });
    let both: Vec<(&Row, &Row)> = both.collect();
    let missed: Vec<(&Row, &Row)> =
        both.iter().copied().filter(|(libc, _)| libc.path == Some(Path::Kernel)).collect();
    let name = library_name(facts);
    let next = Some("kentry explain libc".to_owned());
    if both.is_empty() {
        return None;
    }
    if missed.is_empty() {
        let functions: Vec<String> = both.iter().map(|(libc, _)| libc.operation.clone()).collect();
        let verdict = format!("{} takes the vDSO for all that it has: {}.", capital(&name), list(&functions));
        return Some(Finding { next, ..Id::Libc.finding(Level::Ok, verdict) });
    }
    let names: Vec<String> = missed.iter().map(|(libc, _)| libc.operation.clone()).collect();
    let verdict = format!(
        "{} makes a system call for {}, which the vDSO answers in user space.",
        capital(&name),
        list(&names)
    );
    let compared: Vec<String> = missed.iter().filter_map(|(libc, vdso)| compared(libc, vdso)).collect();
    let costs = (!compared.is_empty()).then(|| format!("Through {name}, {}.", list(&compared)));
    Some(Finding {
        costs,
        cause: Some(cause(facts, &names)),
        remedy: Some(remedy(facts, &names)),
        next,
        figures: missed.iter().flat_map(|(libc, vdso)| figures(libc, vdso)).collect(),
        ..Id::Libc.finding(Level::Note, verdict)
    })
}

/// `getrandom takes 330 ns instead of 47`; none without both figures.
fn compared(libc: &Row, vdso: &Row) -> Option<String> {
    let (slow, fast) = (nanoseconds(libc)?, nanoseconds(vdso)?);
    Some(format!("{} takes {slow:.0} ns instead of {fast:.0}", libc.operation))
}

/// A figure that may be quoted.
fn nanoseconds(row: &Row) -> Option<f64> {
    row.figure()?;
    Some(row.ns?.estimate.0).filter(|ns| ns.is_finite() && *ns > 0.0)
}

fn figures(libc: &Row, vdso: &Row) -> Vec<Figure> {
    let figure = |row: &Row, by: &str| {
        let labels = [("function", row.operation.as_str()), ("by", by)];
        let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Some(Figure { name: "libc_call".into(), labels, unit: Unit::Seconds, value: nanoseconds(row)? / 1e9 })
    };
    [figure(libc, "libc"), figure(vdso, "vdso")].into_iter().flatten().collect()
}

/// Why it does not take the vDSO's.
fn cause(facts: &CheckupFacts, missed: &[String]) -> String {
    let name = library_name(facts);
    let only_random = missed == [GETRANDOM];
    match glibc(facts) {
        Some(known) if only_random && known < RANDOM_IN_GLIBC => {
            format!("glibc uses the vDSO's getrandom from 2.41 on; {name} is older.")
        }
        _ => format!("{} does not look for {} in the vDSO.", capital(&name), list(missed)),
    }
}

/// What to do with this library on this kernel.
fn remedy(facts: &CheckupFacts, missed: &[String]) -> String {
    let release = facts.run.document.environment.kernel.release.as_deref();
    let kernel = release.and_then(version).filter(|known| *known >= RANDOM_IN_LINUX);
    let direct = "call the vDSO's function directly (kentry explain vdso-x86_64 has a program)";
    match (glibc(facts), kernel) {
        (Some(known), Some((major, minor))) if missed == [GETRANDOM] && known < RANDOM_IN_GLIBC => format!(
            "Programs need glibc 2.41 or newer here, as in a newer container image; this kernel, {major}.{minor}, has the function \
             already. Or read many random bytes with one getrandom call."
        ),
        _ => format!("Where these calls are frequent, {direct}."),
    }
}

/// What it costs to learn the number of the CPU, by each way that was measured.
fn getcpu(facts: &CheckupFacts) -> Option<Finding> {
    let ways = [
        (RSEQ, "rseq", "a load from an rseq area"),
        (VDSO, "vdso", "the vDSO"),
        (LIBC, "libc", "the C library"),
        (SYSCALL, "call", "a system call"),
    ];
    let measured = ways.iter().filter_map(|(entry, by, words)| {
        let operation = if *entry == RSEQ { NONE } else { GETCPU };
        let row = facts.run.timed(entry, operation)?;
        Some((*by, format!("{} by {words}", price(row)?), nanoseconds(row)))
    });
    let measured: Vec<(&str, String, Option<f64>)> = measured.collect();
    if measured.len() < 2 {
        return None;
    }
    let prices: Vec<String> = measured.iter().map(|(_, price, _)| price.clone()).collect();
    let figure = |(by, _, ns): &(&str, String, Option<f64>)| {
        let labels = [("by".to_owned(), (*by).to_owned())].into();
        Some(Figure { name: "getcpu".into(), labels, unit: Unit::Seconds, value: (*ns)? / 1e9 })
    };
    let verdict = format!("The number of the CPU costs {}.", list(&prices));
    Some(Finding {
        next: Some("kentry explain rseq".into()),
        figures: measured.iter().filter_map(figure).collect(),
        ..Id::Getcpu.finding(Level::Ok, verdict)
    })
}

/// Who registered an area for restartable sequences.
fn rseq(facts: &CheckupFacts, rseq: &Rseq) -> Option<Finding> {
    let name = library_name(facts);
    if rseq.in_kernel == Some(false) {
        let verdict = "This kernel has no restartable sequences (rseq).";
        return Some(Id::Rseq.finding(Level::Note, verdict));
    }
    let program = rseq.in_program.as_ref()?;
    let size = rseq.feature_size.map(|size| format!("; this kernel uses {size} bytes of an area"));
    let evidence = Some(format!("{}{}", seen(program), size.unwrap_or_default()));
    let figure = |on| Figure {
        name: "rseq_registered".into(),
        labels: BTreeMap::new(),
        unit: Unit::Count,
        value: if on { 1.0 } else { 0.0 },
    };
    let figures = vec![figure(program.registered)];
    if program.registered {
        let by = if rseq.in_loader == Some(true) {
            format!("{name} (it exports __rseq_offset)")
        } else {
            "the C library".into()
        };
        let verdict =
            format!("rseq is registered by {by} in each thread of a program that is linked dynamically.");
        let remedy = "An allocator that registers an area itself, as older tcmalloc does, cannot have one of its own then: build it so \
                      that it uses the C library's, or start the program with GLIBC_TUNABLES=glibc.pthread.rseq=0.";
        return Some(Finding {
            evidence,
            remedy: Some(remedy.into()),
            figures,
            ..Id::Rseq.finding(Level::Ok, verdict)
        });
    }
    let verdict = "No C library registers rseq here: each library that wants it, such as tcmalloc, must register it itself.";
    let (cause, confidence) = match glibc(facts) {
        Some(known) if known < RSEQ_IN_GLIBC => {
            (Some(format!("glibc registers it from 2.35 on; this is {name}.")), Confidence::Seen)
        }
        Some(_) => {
            let why =
                "glibc was told not to (GLIBC_TUNABLES=glibc.pthread.rseq=0), or a filter refuses rseq(2).";
            (Some(why.to_owned()), Confidence::Likely)
        }
        None => (Some(format!("{} has no part in it.", capital(&name))), Confidence::Inferred),
    };
    Some(Finding { evidence, cause, confidence, figures, ..Id::Rseq.finding(Level::Note, verdict) })
}

fn seen(program: &ProgramRseq) -> String {
    match program.registered {
        true => format!("{} had an area of {} bytes when it ended", program.program, program.size),
        false => format!("{} had none when it ended", program.program),
    }
}

fn capital(text: &str) -> String {
    text.strip_prefix("the ").map_or(text.to_owned(), |rest| format!("The {rest}"))
}

#[cfg(test)]
mod tests;

//! Writes the documents, bills and anatomies that `tests/page.sh` makes pages and pictures of, and pictures of reproductions and pages of fleets, to a folder: `cargo run -p report --example samples FOLDER [HOSTS]`, where the large fleet has so many hosts.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../tests/bills/mod.rs"]
mod bills;
#[path = "../tests/fleets/mod.rs"]
mod fleets;
#[path = "../tests/followed/mod.rs"]
mod followed;
#[allow(dead_code, reason = "what other tests need")]
#[path = "../../attribution/tests/anatomy/common/mod.rs"]
mod recorded;
#[allow(dead_code, reason = "what other tests need")]
#[path = "../../compare/src/published/reproduction/sample.rs"]
mod reproduced;
#[path = "../tests/sample/mod.rs"]
mod sample;

use compare::published::{Loop, Parts, Publications, Reproduction, Timed, Took};
use document::{Document, Machine, Outcome, Place, Row, Timing};
use table::{Kernel, Table};

use std::path::PathBuf;

/// A picture is the same in every style.
fn picture_style() -> report::Style {
    report::Style { color: false, width: 100, verbose: false, selection: report::Selection::All }
}

/// Of a large fleet, unless the command line says.
fn hosts() -> usize {
    std::env::args().nth(2).map_or(500, |hosts| hosts.parse().unwrap())
}

fn main() {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap());
    let ordinary = sample::with_rounds(sample::ordinary());
    let documents = [
        ("later", sample::later(ordinary.clone())),
        ("gaps", with_gaps(sample::later(ordinary.clone()))),
        ("ordinary", ordinary),
        ("noisy", sample::with_rounds(sample::noisy())),
        ("hybrid", sample::with_rounds(sample::hybrid())),
        ("lab", sample::lab()),
        ("hostile", sample::filled(sample::HOSTILE)),
        ("harmless", sample::filled("harmless")),
        ("kernels-made-up", sample::kernels()),
        ("kernels-hostile", sample::kernels_called(sample::HOSTILE)),
    ];
    for (name, document) in documents {
        let bytes = serde_json::to_vec(&document).unwrap();
        std::fs::write(folder.join(format!("{name}.json")), bytes).unwrap();
    }
    let anatomies = [
        ("anatomy-one", followed::one()),
        ("anatomy-two", followed::two()),
        ("anatomy-hostile", hostile_anatomy()),
    ];
    for (name, anatomy) in anatomies {
        std::fs::write(folder.join(format!("{name}.json")), serde_json::to_vec(&anatomy).unwrap()).unwrap();
    }
    for name in ["gettimeofday-4.14", "l4re-null", "pti-costs"] {
        let picture =
            report::reproduction(&reproduction(name), report::Format::Svg, &picture_style()).unwrap();
        std::fs::write(folder.join(format!("reproduce-{name}.svg")), picture).unwrap();
    }
    let fleets = [
        ("fleet", report::fleet(&fleets::judgement(60, 12, ""), report::Format::Html, &picture_style())),
        (
            "fleet-hostile",
            report::fleet(
                &fleets::judgement(60, 12, fleets::HOSTILE),
                report::Format::Html,
                &picture_style(),
            ),
        ),
        (
            "fleet-large",
            report::fleet(&fleets::judgement(hosts(), 165, ""), report::Format::Html, &picture_style()),
        ),
        ("rollout", report::roll_out(&fleets::rollout(""), report::Format::Html, &picture_style())),
        (
            "rollout-hostile",
            report::roll_out(&fleets::rollout(fleets::HOSTILE), report::Format::Html, &picture_style()),
        ),
    ];
    for (name, page) in fleets {
        std::fs::write(folder.join(format!("{name}.html")), page.unwrap()).unwrap();
    }
    let bills = [
        ("bill-counted", bills::counted()),
        ("bill-followed", bills::followed()),
        ("bill-cycles", bills::in_cycles()),
        ("bill-shrinking", bills::shrinking()),
        ("bill-nothing", bills::nothing()),
        ("bill-many", bills::many()),
        ("bill-hostile", bills::filled(bills::HOSTILE)),
    ];
    for (name, bill) in bills {
        std::fs::write(folder.join(format!("{name}.json")), serde_json::to_vec(&bill).unwrap()).unwrap();
    }
}

/// With hostile texts, but for what is checked when it is read.
fn hostile_anatomy() -> attribution::anatomy::Document {
    let mut anatomy = followed::filled(sample::HOSTILE);
    anatomy
        .paths
        .iter_mut()
        .flat_map(|path| &mut path.anatomy.instructions)
        .for_each(|one| one.bytes = "90".into());
    anatomy
}

/// Without a figure in some rows, and with one that is hardly known.
fn with_gaps(mut document: Document) -> Document {
    let noisy = sample::noisy().results.into_iter().find(|row| row.noise.is_some()).unwrap().noise;
    for row in document.results.iter_mut().filter(|row| row.core_cycles.is_some()).step_by(17) {
        (row.noise, row.core_cycles, row.ticks, row.ns) = (noisy, None, None, None);
    }
    let wide = document.results.iter_mut().filter_map(|row| row.core_cycles.as_mut()).nth(7).unwrap();
    wide.ci_high = Some(stats::Cycles(wide.estimate.0 * 1.9));
    document
}

/// A table of those that are built in, beside made-up figures of here: times of a few entries, and counts of the lab.
fn reproduction(name: &str) -> Reproduction {
    const REACH: [f64; 2] = [3.0, 4.0];
    let row = |(entry, ns, operation): (&str, f64, &str)| Row {
        operation: operation.into(),
        ..reproduced::row(entry, ns, REACH)
    };
    let costs = [("int80-i386", 998.5), ("syscall-x86_64", 51.4), ("vdso-x86_64", 21.3), ("vdso-i386", 23.8)];
    let mut rows: Vec<Row> = costs
        .iter()
        .flat_map(|(entry, ns)| ["gettimeofday", "none"].map(|operation| row((entry, *ns, operation))))
        .collect();
    let closed = Row { outcome: Outcome::Unsupported, reason: Some("SIGILL: #UD".into()), ..rows[0].clone() };
    rows.push(Row { entry: "sysenter-i386".into(), ns: None, core_cycles: None, ticks: None, ..closed });
    let timed = costs.map(|(entry, ns)| {
        let took = reproduced::timed(entry, Loop::PLAIN, vec![(ns * 1040.0) as u64]);
        Timed { operation: "gettimeofday".into(), ..took }
    });
    let counted = |(operation, pti, writes, count): (&str, &str, &str, f64)| {
        let row = Row::unmeasured("syscall-x86_64", operation, 64);
        let set =
            [("pti", pti), ("cr3-writes", writes), ("pcid", "keep"), ("stack", "frame"), ("exit", "iret")];
        let configuration = set.map(|(switch, value)| (switch.to_owned(), value.to_owned())).into();
        Row {
            configuration,
            instructions: reproduced::cost(count, [0.0, 0.0]),
            timing: Timing::Emulated,
            ..row
        }
    };
    let counts = [("getppid", "off", "0", 80.0), ("getppid", "on", "0", 93.0), ("getppid", "on", "1", 95.0)];
    let mut lab = reproduced::document(counts.map(counted).into());
    lab.measurement.place = Place::new(Machine::QemuTcg, Kernel::Lab);
    let run = reproduced::document(rows);
    let parts =
        Parts { here: &run.environment, run: Some(&run), timed: &timed, lab: Some(&lab), guests: None };
    Reproduction::of(Publications::get().find(name).unwrap(), &parts, Table::get())
}

//! Documents of paths that Debian's Linux 6.1 executed.

use crate::recorded::Recorded;
use attribution::anatomy::{
    Beside, BesideLine, BootedConfiguration, Cycles, Document, Followed, LeftOut, SCHEMA, Timed,
};
use document::{Machine, Name};

fn followed(name: &str, parameters: &str, row: (&str, &str), counted: Option<u64>) -> Followed {
    let recorded = Recorded::read(name);
    let configuration = BootedConfiguration {
        release: recorded.kernel.release.clone(),
        file: "vmlinuz".into(),
        parameters: parameters.into(),
        settings: [("pti".to_owned(), parameters.replace("pti=", ""))].into(),
        machine: Name::Known(Machine::QemuTcg),
        cpu: "max,vendor=GenuineIntel".into(),
        seed: 0,
    };
    Followed::new(configuration, counted, 1, recorded.anatomy(row.0, row.1))
}

fn document(paths: Vec<Followed>, beside: Option<Beside>) -> Document {
    Document {
        schema: SCHEMA.into(),
        kentry: "0.1.0".into(),
        started: "2026-11-22T23:30:00Z".into(),
        paths,
        beside,
        is_history: false,
        left_out: Vec::new(),
        timed: None,
    }
}

fn line(switch: &str, steps: &[&str], lab: Option<f64>, linux: usize, idle: usize) -> BesideLine {
    let steps = steps.iter().map(|step| step.to_string()).collect();
    BesideLine { switch: switch.into(), steps, lab, linux, idle }
}

/// With isolation and without, and a profile beside the first.
pub fn two() -> Document {
    let row = ("syscall-x86_64", "getppid");
    let beside = Beside {
        profile: "linux-6.1".into(),
        cpu: Some("max,vendor=GenuineIntel".into()),
        bare: Some(28.0),
        whole: Some(110.0),
        lines: vec![
            line("smep", &["smep=on"], None, 0, 0),
            line("pti", &["pti=trampoline", "pti=on"], Some(4.0), 10, 2),
            line("ibrs", &["ibrs=on"], Some(9.0), 2, 2),
            line("rsb", &["rsb=32"], Some(3.0), 0, 0),
            line("returns", &[], None, 12, 1),
        ],
    };
    let paths = vec![
        followed("6.1-pti-on", "pti=on", row, Some(340)),
        followed("6.1-pti-off", "pti=off", row, Some(333)),
    ];
    document(paths, Some(beside))
}

/// The same call in two kernels.
#[allow(dead_code, reason = "not every test needs it")]
pub fn kernels() -> Document {
    let row = ("syscall-x86_64", "getppid");
    let mut paths = vec![
        followed("6.1-pti-on", "pti=on", row, Some(340)),
        followed("6.12-pti-on", "pti=on", row, Some(335)),
    ];
    paths[1].configuration.file = "vmlinuz-6.12".into();
    document(paths, None)
}

/// Over kernels, of which one could not be followed.
#[allow(dead_code, reason = "not every test needs it")]
pub fn history() -> Document {
    let row = ("syscall-x86_64", "getppid");
    let mut paths =
        ["6.1-pti-on", "6.12-pti-on", "6.12-untrain"].map(|name| followed(name, "", row, None)).to_vec();
    for (path, file) in paths.iter_mut().zip(["a", "b", "c"]) {
        path.configuration.settings.clear();
        path.configuration.file = file.into();
    }
    paths[2].configuration.release = "6.13-made-up".into();
    let left_out =
        vec![LeftOut { boot: "6.14-made-up".into(), why: "the guest did not finish within 120 s".into() }];
    Document { is_history: true, left_out, ..document(paths, None) }
}

/// One kernel without features, with each of two, and with both.
#[allow(dead_code, reason = "not every test needs it")]
pub fn each() -> Document {
    let row = ("syscall-x86_64", "getppid");
    let mut paths = ["6.1-pti-on", "6.1-pti-off", "6.1-untrain", "6.1-untrain"]
        .map(|name| followed(name, "", row, Some(340)))
        .to_vec();
    let settings = [["off", "off"], ["on", "off"], ["off", "on"], ["on", "on"]];
    for (path, [audit, trace]) in paths.iter_mut().zip(settings) {
        let settings = [("audit".to_owned(), audit.to_owned()), ("trace".to_owned(), trace.to_owned())];
        path.configuration.settings = settings.into();
    }
    Document {
        timed: Some(Timed { cpu: None, why: Some("there is no KVM".into()) }),
        ..document(paths, None)
    }
}

/// The same where the boots were timed, all but one.
#[allow(dead_code, reason = "not every test needs it")]
pub fn each_timed() -> Document {
    let mut document = each();
    document.timed = Some(Timed { cpu: Some("AMD EPYC".into()), why: None });
    let cycles = [Some((311.0, 0.8)), Some((402.5, 1.2)), None, Some((640.0, 2.0))];
    for (path, cycles) in document.paths.iter_mut().zip(cycles) {
        path.cycles = cycles.map(|(estimate, error)| Cycles {
            estimate,
            low: Some(estimate - error),
            high: Some(estimate + error),
        });
    }
    document
}

/// A call number that no kernel has, which was not counted.
pub fn one() -> Document {
    document(vec![followed("6.1-pti-on", "pti=on", ("syscall-x86_64", "none"), None)], None)
}

/// With a text in every place that has one.
#[allow(dead_code, reason = "not every test needs it")]
pub fn filled(text: &str) -> Document {
    let mut document = two();
    document.paths.truncate(1);
    for path in &mut document.paths {
        path.configuration.release = text.into();
        path.configuration.parameters = text.into();
        path.configuration.cpu = text.into();
        path.configuration.machine = Name::Other(text.into());
        path.anatomy.entry = text.into();
        path.anatomy.operation = text.into();
        for (place, one) in path.anatomy.instructions.iter_mut().enumerate() {
            one.text = text.into();
            one.bytes = text.into();
            one.depth = place as u32;
            one.function.iter_mut().for_each(|place| place.name = text.into());
        }
    }
    if let Some(beside) = &mut document.beside {
        beside.profile = text.into();
        beside.cpu = Some(text.into());
        beside.lines.iter_mut().for_each(|line| line.switch = text.into());
    }
    document
}

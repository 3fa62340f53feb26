//! Bills that show everything a bill can have.

use attribution::bill::{
    Bill, ExplainedKind, ExplainedPart, Figure, LeftOut, Line, MeasuredConfiguration, Need, Published, Ring3,
    Ring3Line, SCHEMA, State, Step, There, Unit,
};
use document::{Machine, Place};
use table::Kernel;

/// Text from outside that tries to become markup, to steer a terminal, and to break XML.
pub const HOSTILE: &str = "</title><script>injected()</script><img src=x onerror=\"injected()\">|`*[x](http://x)@who \u{1b}[2J\u{9b}31m\u{202e}\u{0}\u{fffe}\u{ffff}&amp;]]>-->";

fn need(feature: &str, present: bool, harmless: bool) -> Need {
    Need { feature: feature.into(), present, harmless }
}

fn step(name: &str, base: &str, needs: Vec<Need>, requires: Vec<usize>) -> Step {
    let (switch, value) = name.split_once('=').unwrap();
    let (switch, value, base) = (switch.into(), value.into(), base.into());
    Step { switch, value, base, needs, requires, guess: None }
}

fn line(step: Step, state: State, figures: Option<(f64, f64)>) -> Line {
    let (alone, in_company) = figures.map(|(a, b)| (Figure::count(a), Figure::count(b))).unzip();
    Line { step, state, alone, in_company, in_orders: None, share: None }
}

fn lines() -> Vec<Line> {
    let lacks = |feature: &str| format!("the lab's CPU has no {feature}");
    let of = |name, base, needs, requires| step(name, base, needs, requires);
    let measured = State::Measured;
    let mut lines = vec![
        line(of("swapgs=fence", "off", vec![], vec![]), measured.clone(), Some((6.0, 6.0))),
        line(of("pti=trampoline", "off", vec![], vec![]), measured.clone(), Some((2.0, 2.0))),
        line(of("pti=on", "trampoline", vec![], vec![1]), measured.clone(), Some((4.0, 4.0))),
        line(
            of("pcid=keep", "off", vec![need("pcid", false, false)], vec![]),
            State::LeftOut(lacks("PCID")),
            None,
        ),
        line(of("stack=frame", "minimum", vec![], vec![]), measured.clone(), Some((23.0, 21.0))),
        line(of("smap=on", "off", vec![need("smap", true, false)], vec![]), State::Unseen, None),
        line(
            of("ibrs=on", "off", vec![need("ibrs", false, true)], vec![]),
            State::WithoutEffect(lacks("IBRS")),
            Some((8.0, 8.0)),
        ),
        line(of("bhb=loop", "off", vec![], vec![]), measured.clone(), Some((139.0, 139.0))),
        line(of("clear-registers=on", "off", vec![], vec![4]), measured.clone(), Some((15.0, 15.0))),
        line(of("exit=iret", "natural", vec![], vec![]), measured.clone(), Some((-2.0, 1.0))),
        line(of("audit=on", "off", vec![], vec![]), State::Failed("the guest ended".into()), None),
    ];
    lines[8].step.guess = Some("6.1 has it, and this kernel's configuration is not readable".into());
    lines
}

fn part(kind: ExplainedKind, what: &str, figure: Option<f64>, note: Option<&str>) -> ExplainedPart {
    ExplainedPart {
        kind,
        what: what.into(),
        figure: figure.map(Figure::count),
        note: note.map(str::to_owned),
        protects: false,
    }
}

fn protection(kind: ExplainedKind, what: &str, figure: f64, note: Option<&str>) -> ExplainedPart {
    ExplainedPart { protects: true, ..part(kind, what, Some(figure), note) }
}

fn configured(steps: &[usize], values: &[(&str, &str)], figure: Option<f64>) -> MeasuredConfiguration {
    MeasuredConfiguration {
        operation: "getppid".into(),
        steps: steps.into(),
        values: values.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        figure: figure.map(Figure::count),
        why: figure.is_none().then(|| "the guest ended".to_owned()),
    }
}

/// Shares, by the figures that the path is made of.
fn shared(mut bill: Bill) -> Bill {
    let whole = bill.whole.unwrap().estimate;
    for line in &mut bill.lines {
        let part = if bill.orders > 0 { line.in_orders } else { line.alone };
        line.share = part.map(|part| part.estimate / whole);
    }
    bill
}

/// Instructions, with a Linux that was followed.
pub fn followed() -> Bill {
    let bill = counted();
    let there = There {
        run: None,
        parts: vec![
            part(ExplainedKind::Program, "in the program", Some(1.0), None),
            part(ExplainedKind::Brought, "stack=frame", Some(75.0), None),
            protection(ExplainedKind::Brought, "pti=on", 6.0, None),
            part(ExplainedKind::C, "C code: work", Some(63.0), Some("5 of them idle")),
            protection(ExplainedKind::C, "C code: returns", 4.0, Some("1 of them idle")),
            part(ExplainedKind::C, "C code: service", Some(173.0), None),
        ],
        protections: Some(Figure::count(9.0)),
        unprotected: Some(Figure::count(316.0)),
        unprotected_by: Some("mitigations=off".into()),
        explained: Some(Figure::count(322.0)),
        rest: Some(Figure::count(0.0)),
        rest_share: Some(0.0),
        remarks: vec!["the assembler's part is the lab's, instruction by instruction in kind".into()],
        ..bill.there.clone().unwrap()
    };
    Bill { there: Some(there), ..bill }
}

/// Instructions, with a Linux.
pub fn counted() -> Bill {
    let there = There {
        what: "Linux 6.1.0-44-amd64 on an emulated processor".into(),
        run: Some("aabbccddeeff00112233445566778899".into()),
        measured: Some(Figure::count(322.0)),
        why: None,
        parts: vec![
            part(
                ExplainedKind::Crossing,
                "crossing by the hardware",
                Some(9.0),
                Some("bare, with a call number that no kernel has"),
            ),
            part(ExplainedKind::Step, "pti=on", Some(6.0), None),
            part(
                ExplainedKind::Interactions,
                "steps together",
                Some(3.0),
                Some("the whole less the sum of the steps"),
            ),
            part(
                ExplainedKind::Dispatch,
                "dispatch",
                Some(17.0),
                Some("registers saved, the call through the table"),
            ),
            part(ExplainedKind::Service, "the service itself", None, Some("within dispatch")),
            part(
                ExplainedKind::Exits,
                "exits of the virtual machine",
                None,
                Some("QEMU's emulation is below this Linux"),
            ),
        ],
        protections: None,
        unprotected: None,
        unprotected_by: None,
        explained: Some(Figure::count(226.0)),
        rest: Some(Figure::count(96.0)),
        rest_share: Some(96.0 / 322.0),
        remarks: vec!["not explained, because left out: pcid=keep".into()],
    };
    shared(Bill {
        schema: SCHEMA.into(),
        kentry: "0.1.0".into(),
        started: "2026-11-22T19:00:00.000Z".into(),
        place: Place::new(Machine::QemuTcg, Kernel::Lab),
        cpu: Some("max,vendor=GenuineIntel".into()),
        partial: false,
        run: Some("00112233445566778899aabbccddeeff".into()),
        entry: "syscall-x86_64".into(),
        operation: "getppid".into(),
        profile: "linux-6.1".into(),
        unit: Some(Unit::Instructions),
        ring3: None,
        no_times: Some("no times can be measured in the lab on this machine, because its CPUID offers neither VMX nor SVM".into()),
        not_in_lab: vec!["a filter of seccomp".into()],
        features: vec!["smap".into(), "smep".into()],
        bare: Some(Figure::count(28.0)),
        whole: Some(Figure::count(226.0)),
        added: Some(Figure::count(198.0)),
        lines: lines(),
        sum: Some(Figure::count(195.0)),
        interactions: Some(Figure::count(3.0)),
        orders: 0,
        there: Some(there),
        configurations: vec![
            configured(&[], &[], Some(28.0)),
            configured(&[1], &[("pti", "trampoline")], Some(30.0)),
            configured(&[10], &[("audit", "on")], None),
        ],
    })
}

/// A figure of time.
fn timed(estimate: f64, half: f64, p: Option<f64>) -> Option<Figure> {
    let (low, high) = (Some(estimate - half), Some(estimate + half * 0.9));
    Some(Figure { estimate, low, high, p, rounds: 16 })
}

/// Core cycles, with orders; a step of which nothing can be told, and a Linux that cannot be compared.
pub fn in_cycles() -> Bill {
    let mut bill = counted();
    bill.place = Place::new(Machine::QemuKvm, Kernel::Lab);
    bill.cpu = Some("Example(R) 9000 CPU @ 2.00GHz".into());
    (bill.unit, bill.orders) = (Some(Unit::Cycles), 12);
    bill.no_times = None;
    (bill.bare, bill.whole) = (timed(141.26, 0.9, None), timed(482.9, 2.4, None));
    let costs = [9.1, 14.8, 121.4, 7.25, 22.04, 0.34, 31.9, 96.21, 3.2, 35.4, 0.0];
    for (line, cost) in bill.lines.iter_mut().zip(costs) {
        line.step.needs.iter_mut().for_each(|need| need.present = true);
        if matches!(line.state, State::Failed(_)) {
            continue;
        }
        line.state = State::Measured;
        let p = if cost < 1.0 { 0.83 } else { 0.0004 };
        line.alone = timed(cost, 0.6, Some(p));
        line.in_company = timed(cost + 1.1, 0.8, Some(p));
        line.in_orders = timed(cost, 0.7, Some(p));
    }
    let sum = costs.iter().sum::<f64>();
    (bill.sum, bill.added) = (timed(sum, 3.0, None), timed(341.64, 2.2, None));
    bill.interactions = timed(341.64 - sum, 3.1, None);
    if let Some(there) = &mut bill.there {
        there.why = Some("getppid through syscall-x86_64 was not measured there".into());
        (there.measured, there.rest, there.rest_share) = (None, None, None);
        there.explained = bill.whole;
        there
            .parts
            .iter_mut()
            .for_each(|part| part.figure = timed(12.5, 0.4, None).filter(|_| part.figure.is_some()));
    }
    bill.configurations
        .iter_mut()
        .for_each(|one| one.figure = one.figure.and_then(|one| timed(one.estimate, 0.5, None)));
    shared(bill)
}

/// In which more makes the path shorter than longer.
pub fn shrinking() -> Bill {
    let mut bill = counted();
    bill.lines[7].alone = Some(Figure::count(-20.0));
    (bill.interactions, bill.whole) = (Some(Figure::count(-9.0)), Some(Figure::count(55.0)));
    if let Some(there) = &mut bill.there {
        (there.measured, there.explained) = (Some(Figure::count(40.0)), Some(Figure::count(55.0)));
        (there.rest, there.rest_share) = (Some(Figure::count(-15.0)), Some(-15.0 / 40.0));
    }
    shared(bill)
}

/// Of which nothing was measured.
pub fn nothing() -> Bill {
    let mut bill = counted();
    for line in &mut bill.lines {
        (line.alone, line.in_company, line.share) = (None, None, None);
        line.state = State::Failed("the guest did not boot".into());
    }
    (bill.unit, bill.bare, bill.whole, bill.added, bill.sum, bill.interactions) =
        (None, None, None, None, None, None);
    (bill.there, bill.partial, bill.run) = (None, true, None);
    bill.configurations
        .iter_mut()
        .for_each(|one| (one.figure, one.why) = (None, Some("the guest did not boot".into())));
    bill
}

fn published(cost: &str, processor: Option<&str>) -> Published {
    let source = "A. Uthor, \"A Paper\", 2019".into();
    Published { cost: cost.into(), processor: processor.map(str::to_owned), source }
}

/// Counted, with the path's bytes timed in ring 3.
pub fn in_ring3() -> Bill {
    let timed = |estimate: f64, error: f64| {
        let (low, high) = (Some(estimate - error), Some(estimate + error));
        Some(Figure { estimate, low, high, p: None, rounds: 30 })
    };
    let mut bill = counted();
    let line = |number: usize| match number % 4 {
        0 => Ring3Line { in_company: timed(2.9, 0.4), range: Some([1.4, 3.6]), ..Ring3Line::default() },
        1 => Ring3Line {
            left_out: vec!["swapgs".into(), "swapgs".into()],
            why: Some("nothing of it is executed in ring 3".into()),
            ..Ring3Line::default()
        },
        2 => Ring3Line { in_company: timed(-3.1, 0.4), range: Some([-4.0, -2.2]), ..Ring3Line::default() },
        _ => Ring3Line {
            in_company: timed(-0.9, 0.3),
            range: Some([-2.7, 0.5]),
            published: vec![published("4.88 cycles", Some("Intel Skylake"))],
            ..Ring3Line::default()
        },
    };
    let left = |instruction: &str, count, of_protections, published| LeftOut {
        instruction: instruction.into(),
        count,
        of_protections,
        steps: vec!["PTI: switch to the kernel's page tables".into()],
        published,
    };
    bill.ring3 = Some(Ring3 {
        path: "syscall_x86_64".into(),
        cpu: Some("AMD EPYC".into()),
        kernel: Some("6.1.0".into()),
        turns: 31,
        why: None,
        bare: timed(14.9, 0.2),
        whole: timed(61.4, 0.9),
        added: timed(46.5, 0.8),
        lines: (0..bill.lines.len()).map(line).collect(),
        protections: timed(30.3, 0.7),
        protections_range: Some([28.1, 33.0]),
        control: timed(0.0, 0.2),
        undisturbed: Some(24),
        here: timed(438.1, 1.5),
        left_out: vec![
            left(
                "mov to CR3",
                2,
                2,
                vec![published("186 ±10 cycles", None), published("96 cycles", Some("a laptop"))],
            ),
            left("sysret", 1, 0, Vec::new()),
        ],
    });
    bill
}

/// So many steps that there are more than letters.
pub fn many() -> Bill {
    let mut bill = counted();
    let step_of = |number: usize| {
        let name = format!("switch-{number}=on");
        line(step(&name, "off", vec![], vec![]), State::Measured, Some((1.0 + (number % 7) as f64, 1.0)))
    };
    bill.lines = (0..60).map(step_of).collect();
    let sum: f64 = bill.lines.iter().filter_map(|line| line.alone).map(|figure| figure.estimate).sum();
    (bill.sum, bill.added) = (Some(Figure::count(sum)), Some(Figure::count(sum)));
    (bill.interactions, bill.whole) = (Some(Figure::count(0.0)), Some(Figure::count(28.0 + sum)));
    bill.there = None;
    shared(bill)
}

/// With this text wherever a document may have any.
pub fn filled(text: &str) -> Bill {
    let mut bill = in_cycles();
    let word = || text.to_owned();
    for field in
        [&mut bill.kentry, &mut bill.started, &mut bill.entry, &mut bill.operation, &mut bill.profile]
    {
        *field = word();
    }
    (bill.cpu, bill.run) = (Some(word()), Some(word()));
    bill.place.machine = document::Name::Other(word());
    bill.features = vec![word()];
    let states = [State::LeftOut(word()), State::WithoutEffect(word()), State::Failed(word())];
    for (number, line) in bill.lines.iter_mut().enumerate() {
        (line.step.switch, line.step.value, line.step.base) = (word(), word(), word());
        line.step.guess = Some(word());
        line.step.needs = vec![need(text, true, false)];
        line.state = states[number % states.len()].clone();
    }
    if let Some(there) = &mut bill.there {
        (there.what, there.run, there.why) = (word(), Some(word()), Some(word()));
        there.remarks = vec![word()];
        there.parts.iter_mut().for_each(|part| (part.what, part.note) = (word(), Some(word())));
    }
    bill.ring3 = in_ring3().ring3;
    if let Some(ring3) = &mut bill.ring3 {
        (ring3.path, ring3.cpu, ring3.kernel, ring3.why) = (word(), Some(word()), Some(word()), Some(word()));
        for line in &mut ring3.lines {
            (line.left_out, line.why) = (vec![word()], Some(word()));
            line.published = vec![published(text, Some(text))];
        }
        for left in &mut ring3.left_out {
            (left.instruction, left.steps) = (word(), vec![word()]);
            left.published = vec![Published { source: word(), ..published(text, Some(text)) }];
        }
    }
    for configured in &mut bill.configurations {
        (configured.operation, configured.why) = (word(), Some(word()));
        configured.values = [(word(), word())].into();
    }
    bill
}

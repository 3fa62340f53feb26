//! Boots every configuration, and makes one document of what the guests wrote.

use super::GuestPlan;
use super::configuration::Configuration;
use super::machine::{Kernel, Machine, Request};
use super::outcomes::BootOutcomes;
use super::turn::Turn;
use crate::conclude::{id, milliseconds, with_findings};
use crate::{Error, Probes};
use document::{Counter, Document, Measurement, Outcome, Place, Row};
use environment::{Environment, Guest, GuestBoot, GuestKernel};
use places::guest::{Kind, Trouble};
use places::host::Interrupt;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::Builder;
use std::time::{Instant, SystemTime};

/// What a measurement needs besides its plan.
pub struct Setup<'s> {
    /// Boots the guests.
    pub machine: &'s dyn Machine,
    /// Which machine that makes.
    pub place: document::Machine,
    /// The emulator's name and version.
    pub version: String,
    /// The processor's model where the command line names none.
    pub cpu_model: String,
    /// The kernels, in the order of the plan.
    pub kernels: Vec<Kernel>,
    /// How many guests may run at once, where instructions are counted.
    pub at_once: usize,
    /// Ends the measurement when set.
    pub interrupt: Interrupt,
}

/// Measures what the plan asks for. `progress` gets the share of the boots that are over, and what was booted last.
///
/// # Errors
/// [`Error::Interrupted`] when the user interrupted it before a guest came up, [`Error::Environment`] when this machine refused every
/// guest what it needs.
pub fn measure(
    plan: &GuestPlan,
    setup: &Setup,
    progress: &mut dyn FnMut(f64, &str),
) -> Result<Document, Error> {
    let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let begin = Instant::now();
    let boots = boot_all(plan, setup, begin, progress);
    let interrupted = setup.interrupt.load(Ordering::Relaxed);
    let names = names(&setup.kernels, plan);
    let numbered = plan.configurations.iter().zip(boots.chunks(plan.boots.max(1) as usize));
    let all = numbered.map(|(configuration, boots)| Part::new(plan, setup, &names, configuration, boots));
    let all: Vec<Part> = all.collect();
    if interrupted && all.iter().all(|one| one.rows.is_empty()) {
        return Err(Error::Interrupted);
    }
    let ended = all.iter().find_map(|one| one.trouble.as_ref());
    if let Some(refused) = ended.filter(|_| all.iter().all(Part::was_refused)) {
        return Err(Error::Environment(refused.to_string()));
    }
    let measurement = Measurement {
        started,
        seconds: begin.elapsed().as_secs_f64(),
        seed: plan.seed,
        partial: interrupted || ended.is_some(),
        ended: ended.map(|trouble| in_words(trouble, &all)),
        out_of_time: ended.is_some_and(|trouble| trouble.kind() == Kind::Timeout),
        place: Place::new(setup.place, table::Kernel::Linux),
        ..of_guests(&all)
    };
    Ok(document(plan, setup, measurement, all))
}

/// What went wrong first, and in how many configurations something did.
fn in_words(first: &Trouble, all: &[Part]) -> String {
    let troubled: Vec<&Part> = all.iter().filter(|one| one.trouble.is_some()).collect();
    let Some(one) = troubled.first().filter(|_| all.len() > 1) else { return first.to_string() };
    let settings = one.kernel.settings.iter().map(|(name, value)| format!("{name}={value}"));
    let settings = settings.collect::<Vec<_>>().join(" ");
    let all = all.len();
    let with_figures = troubled.iter().filter(|one| one.first.is_some()).count();
    let what = match (troubled.len() - with_figures, with_figures) {
        (failed, 0) => format!("{failed} of {all} configurations failed"),
        (0, some) => format!(
            "{some} of {all} configurations did not come to their end in every boot, but have figures"
        ),
        (failed, some) => {
            format!(
                "of {all} configurations {failed} failed, and {some} did not come to their end in every boot"
            )
        }
    };
    format!("{what}; {settings}: {first}")
}

/// What the guests found out about their own measurement, such as the budget that they kept to; of several the first that was measured.
fn of_guests(all: &[Part]) -> Measurement {
    let first = all.iter().find_map(|one| one.first.as_ref()).map(|document| document.measurement.clone());
    let probes = Probes::embedded();
    Measurement {
        kentry: probes.kentry,
        compiler: probes.compiler,
        probes: probes.hashes,
        command: None,
        changes: Vec::new(),
        ..first.unwrap_or_default()
    }
}

fn document(plan: &GuestPlan, setup: &Setup, measurement: Measurement, all: Vec<Part>) -> Document {
    let counter = setup.place.counter();
    let first = all.iter().find_map(|one| one.first.as_ref());
    let mut environment = first
        .map(|document| document.environment.clone())
        .unwrap_or_else(|| Environment { host: "linux".into(), ..Environment::default() });
    let vdso = first.map(|document| document.vdso.clone()).unwrap_or_default();
    let boots: Vec<GuestBoot> = all.iter().flat_map(|one| one.kernel.boots.clone()).collect();
    environment.lab = None;
    environment.guest = Some(Guest {
        emulator: setup.version.clone(),
        accelerator: setup.place.accelerator().unwrap_or_default().into(),
        cpu_model: all.first().map(|one| one.kernel.cpu_model.clone()).unwrap_or_default(),
        icount: counter == Counter::Instructions,
        boots,
        boot_to_first_record_ms: all.iter().find_map(|one| one.boot_time_ms).unwrap_or(0.0),
        kernels: all.iter().map(|one| one.kernel.clone()).collect(),
    });
    let mut document = Document {
        schema: document::SCHEMA.to_string(),
        id: Some(id()),
        measurement,
        environment,
        vdso,
        results: in_table_order(plan, all),
        findings: Vec::new(),
    };
    document.measurement.counts =
        document.results.iter().fold(stats::Counts::default(), |sum, row| sum + row.counts);
    // Samples that a guest stored and that cannot be read have been left out.
    let read = |row: &Row| {
        row.is_timed().then(|| {
            let open = |stored: &Option<stats::StoredDistribution>| {
                stored.as_ref().and_then(|stored| stored.open().ok()).unwrap_or_default()
            };
            document::Samples { cycles: open(&row.distribution_cycles), ticks: open(&row.distribution_ticks) }
        })
    };
    let Ok(()) = document.compute::<std::convert::Infallible>(|row| Ok(read(row)));
    with_findings(document)
}

/// The rows of one entry stand together: all in the first configuration, then in the next.
fn in_table_order(plan: &GuestPlan, all: Vec<Part>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut of_configurations: Vec<_> = all.into_iter().map(|one| one.rows.into_iter().peekable()).collect();
    for entry in plan.rows.chunk_by(|a, b| a.0.id == b.0.id) {
        let name = entry.first().map(|(entry, _)| entry.name.as_str()).unwrap_or_default();
        for configuration in &mut of_configurations {
            while let Some(row) = configuration.next_if(|row| row.entry == name) {
                rows.push(row);
            }
        }
    }
    rows
}

/// What kernels are called: by their release; where that is not known, or of two the same, by their file.
fn names(kernels: &[Kernel], plan: &GuestPlan) -> Vec<String> {
    let is_several = |release: &str| kernels.iter().filter(|kernel| kernel.release == release).count() > 1;
    let name = |(kernel, word): (&Kernel, &String)| match kernel.release.as_str() {
        "" => word.clone(),
        release if is_several(release) => word.clone(),
        release => release.to_string(),
    };
    kernels.iter().zip(&plan.kernels).map(name).collect()
}

/// Boots all: configuration by configuration, and of each as often as the plan says; counted ones side by side. Those that an
/// interruption left out are none.
fn boot_all(
    plan: &GuestPlan,
    setup: &Setup,
    begin: Instant,
    progress: &mut dyn FnMut(f64, &str),
) -> Vec<Option<Turn>> {
    let counter = setup.place.counter();
    let jobs: Vec<(&Configuration, Request)> = plan
        .configurations
        .iter()
        .flat_map(|configuration| (0..plan.boots).map(move |boot| (configuration, boot)))
        .map(|(one, boot)| (one, plan.request(one, boot, &setup.cpu_model, counter)))
        .collect();
    let at_once =
        if counter == Counter::Instructions { setup.at_once.clamp(1, jobs.len().max(1)) } else { 1 };
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let (say, said) = mpsc::channel::<usize>();
    let work = |say: mpsc::Sender<usize>| {
        while !setup.interrupt.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((_, request)) = jobs.get(number) else { break };
            let began = begin.elapsed();
            let booted = setup.machine.boot(request);
            let turn =
                Turn { number: number as u64 % plan.boots.max(1) + 1, seed: request.seed, began, booted };
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(number, turn);
            // The other end waits as long as anybody works.
            let _ = say.send(number);
        }
    };
    std::thread::scope(|scope| {
        let start = |say: mpsc::Sender<usize>| Builder::new().spawn_scoped(scope, || work(say)).is_ok();
        // Where there is no thread for another, those that there are do all; and this one where there is none.
        let started = (0..at_once).take_while(|_| start(say.clone())).count();
        if started == 0 {
            work(say);
        } else {
            drop(say);
        }
        for (over, number) in (1..).zip(said) {
            let what = jobs.get(number).map(|(_, request)| request.parameters.clone()).unwrap_or_default();
            progress(f64::from(over) / jobs.len() as f64, &what);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    (0..jobs.len()).map(|number| done.remove(&number)).collect()
}

/// A configuration's part of the document.
struct Part {
    kernel: GuestKernel,
    rows: Vec<Row>,
    /// The first document of a guest that has what was asked for.
    first: Option<Document>,
    boot_time_ms: Option<f64>,
    /// What went wrong with the boots.
    trouble: Option<Trouble>,
}

impl Part {
    /// Whether no guest of it came up, because this machine lacks or refuses what that needs.
    fn was_refused(&self) -> bool {
        let is_refused = |trouble: &Trouble| trouble.kind() == Kind::Environment;
        self.first.is_none() && self.trouble.as_ref().is_some_and(is_refused)
    }

    fn new(
        plan: &GuestPlan,
        setup: &Setup,
        names: &[String],
        configuration: &Configuration,
        boots: &[Option<Turn>],
    ) -> Part {
        let name = names.get(configuration.kernel).map(String::as_str).unwrap_or_default();
        let settings = configuration.named(&plan.label, name);
        let boots: Vec<&Turn> = boots.iter().flatten().collect();
        let outcomes = BootOutcomes::of(configuration, &boots);
        let rows = outcomes.rows(&plan.rows, setup.place.counter(), &settings);
        let file = setup.kernels.get(configuration.kernel).cloned().unwrap_or_default();
        let (outcome, reason) = outcomes.verdict().unzip();
        let kernel = GuestKernel {
            settings,
            file: file.file,
            release: outcomes.release().unwrap_or(file.release),
            command_line: outcomes.parameters(),
            cpu_model: configuration.cpu(&setup.cpu_model),
            boots: outcomes.measured.iter().map(|boot| boot.described()).collect(),
            outcome: outcome.unwrap_or(Outcome::Ok).name().to_string(),
            reason,
            unverified: outcomes.unverified(),
            console: outcomes.console(),
        };
        let boot_time_ms = outcomes.measured.first().map(|boot| milliseconds(boot.boot_time()));
        let (trouble, first) = (outcomes.failed.clone(), outcomes.into_document());
        Part { kernel, rows, first, boot_time_ms, trouble }
    }
}

//! This machine, and how it is not that of the publication.

use super::Parts;
use crate::published::Publication;
use environment::Environment;
use serde::Serialize;

/// What of this machine decides the figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Here {
    /// The processor.
    pub cpu: Option<String>,
    /// The kernel's name and release.
    pub kernel: Option<String>,
    /// Whether page-table isolation is on.
    pub pti: Option<bool>,
    /// How the vsyscall page is served: `none`, `emulate`, `xonly`, `native`.
    pub vsyscall: Option<String>,
    /// Frequency of the time stamp counter, hertz.
    pub tsc_hz: Option<f64>,
    /// Frequency that the core ran at, hertz: the median over the rounds.
    pub core_hz: Option<f64>,
    /// Share of the run's checks that found the core alone, 0 to 1.
    pub quiet_share: Option<f64>,
    /// Id of the kept run with kentry's figures.
    pub run: Option<String>,
}

impl Here {
    pub(super) fn of(parts: &Parts) -> Here {
        let kernel = &parts.here.kernel;
        let measurement = parts.run.map(|run| &run.measurement);
        let tsc_hz = measurement.and_then(|run| run.tsc_hz);
        let names: Vec<&str> =
            [&kernel.sysname, &kernel.release].into_iter().flatten().map(String::as_str).collect();
        Here {
            cpu: parts.here.cpu.brand.clone(),
            kernel: (!names.is_empty()).then(|| names.join(" ")),
            pti: kernel.pti,
            vsyscall: parts.here.vsyscall.clone(),
            tsc_hz,
            core_hz: measurement.and_then(|run| Some(run.tsc_hz? * run.cycles_per_tick?)),
            quiet_share: measurement.and_then(|run| run.quiet_share),
            run: parts.run.and_then(|run| run.id.clone()),
        }
    }
}

/// What is said of a measurement that was cut short.
pub(super) fn partial(parts: &Parts) -> Option<String> {
    let is_partial =
        parts.run.into_iter().chain(parts.lab).chain(parts.guests).any(|run| run.measurement.partial);
    is_partial.then(|| "PARTIAL: the measurement was cut short, and rows may lack a figure".to_owned())
}

/// What is not as it was there: the processor and the kernel, unless their names say otherwise, and what is around them.
pub(super) fn differs(publication: &Publication, here: &Environment) -> Vec<String> {
    let mut all = Vec::new();
    let brand = here.cpu.brand.as_deref().unwrap_or_default();
    let is_processor = |name: &str| brand.split(' ').any(|word| word == name);
    let release = here.kernel.release.as_deref().unwrap_or_default();
    let is_kernel = |version: &str| {
        release.strip_prefix(version).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let last_word = |text: &Option<String>| text.as_ref()?.split(' ').next_back().map(str::to_string);
    if !last_word(&publication.cpu).is_some_and(|name| is_processor(&name)) {
        all.push("the processor".to_string());
    }
    if !last_word(&publication.kernel).is_some_and(|version| is_kernel(&version)) {
        all.push("the kernel".to_string());
    }
    if here.hypervisor.present {
        all.push("a hypervisor is below this kernel".into());
    }
    let says_pti = publication.columns.iter().any(|column| column.get_ref().needs.pti.is_some());
    all.extend(match (says_pti, here.kernel.pti) {
        (_, None) => None,
        (true, Some(on)) => Some(format!("page-table isolation (PTI) is {} here", on_off(on))),
        (false, Some(on)) => {
            Some(format!("page-table isolation (PTI) is {} here; the source does not say of it", on_off(on)))
        }
    });
    all
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

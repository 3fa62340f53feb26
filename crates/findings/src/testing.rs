//! Small documents for the tests of all subjects.

use document::{Document, Finding, Machine, Measurement, Outcome, Path, Place, Row};
use environment::{Environment, Guest, Lab, Ring0};
use stats::{Cost, Noise, NoiseKind};
use table::{Kernel, Table};

const TSC_HZ: f64 = 2.6e9;
const CYCLES_PER_TICK: f64 = 1.4793;

/// Makes a document, row by row.
pub struct Maker {
    pub document: Document,
}

impl Maker {
    /// A host that has nothing to say about itself.
    pub fn host() -> Maker {
        let mut environment = Environment { host: "linux".into(), ..Environment::default() };
        environment.tsc.invariant = true;
        let place = Place::new(Machine::Host, Kernel::Linux);
        let measurement = Measurement { place, tsc_hz: Some(TSC_HZ), ..Measurement::default() };
        Maker { document: Document { measurement, environment, ..Document::empty() } }
    }

    /// The lab under KVM, whose kernel found this of its ring 0.
    pub fn lab(ring0: Ring0) -> Maker {
        let mut maker = Maker::host();
        maker.document.measurement.place = Place::new(Machine::QemuKvm, Kernel::Lab);
        let environment = &mut maker.document.environment;
        environment.guest = Some(Guest { accelerator: "kvm".into(), ..Guest::default() });
        environment.lab = Some(Lab { ring0, ..Lab::default() });
        maker
    }

    /// With a row that costs so many core cycles.
    pub fn cost(mut self, entry: &str, operation: &str, cycles: f64) -> Maker {
        let ticks = cycles / CYCLES_PER_TICK;
        self.document.results.push(Row {
            core_cycles: Some(cost(cycles)),
            ticks: Some(cost(ticks)),
            ns: Some(cost(ticks * 1e9 / TSC_HZ)),
            ..row(entry, operation)
        });
        self
    }

    /// With a function that is served there.
    pub fn served(self, entry: &str, operation: &str, cycles: f64, path: Path) -> Maker {
        let mut maker = self.cost(entry, operation, cycles);
        maker.row(entry, operation).path = Some(path);
        maker
    }

    /// With a row that has no figure.
    pub fn closed(mut self, entry: &str, operation: &str, outcome: Outcome, reason: &str) -> Maker {
        self.document.results.push(Row { outcome, reason: Some(reason.into()), ..row(entry, operation) });
        self
    }

    pub fn row(&mut self, entry: &str, operation: &str) -> &mut Row {
        let mut rows = self.document.results.iter_mut();
        rows.find(|row| row.entry == entry && row.operation == operation)
            .unwrap_or_else(|| panic!("no such row"))
    }

    pub fn findings(&self) -> Vec<Finding> {
        crate::findings(&self.document, Table::get())
    }
}

/// The finding of this id, if there is one.
pub fn found(maker: &Maker, id: &str) -> Option<Finding> {
    maker.findings().into_iter().find(|finding| finding.id == id)
}

/// Takes a row's figures away, as a shared core does.
pub fn make_noisy(row: &mut Row) {
    (row.core_cycles, row.ticks, row.ns) = (None, None, None);
    row.noise = Some(Noise { kind: NoiseKind::Shared, low: Some(347.0), high: Some(423.0) });
}

fn row(entry: &str, operation: &str) -> Row {
    Row { cpu: Some(0), ..Row::unmeasured(entry, operation, 64) }
}

fn cost<U: From<f64> + Copy>(estimate: f64) -> Cost<U> {
    Cost::single(U::from(estimate)).within((estimate * 0.999).into(), (estimate * 1.001).into())
}

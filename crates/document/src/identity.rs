//! Which rows of different documents are the same.

use crate::{Document, FOOTPRINT, Row};
use environment::CoreType;
use std::collections::BTreeMap;
use table::{Entry, Operation, Table};

/// What tells a row from the others of its document, and is the same for the same row of another document, whatever version
/// wrote it. It is made of ids, which never change; a name stands only for what this version's table lacks.
///
/// It says nothing of the place: whether figures of two machines, or of two kernels, may be compared is another question. Nothing else
/// decides which rows of two documents are the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    entry: Tag,
    operation: Tag,
    /// In the lab, a value for every switch; of a Linux in a guest, the parameters that the command line named.
    switches: BTreeMap<Tag, String>,
    /// The kind of core, where the machine has several.
    core: Option<String>,
    /// What was touched behind every use; none if nothing was.
    footprint: Option<String>,
}

/// What names something of the table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Tag {
    Id(u16),
    Name(String),
}

impl Tag {
    fn new(id: Option<u16>, name: &str) -> Tag {
        id.map_or_else(|| Tag::Name(name.into()), Tag::Id)
    }
}

impl Identity {
    /// A row of the table in no configuration.
    pub fn of((entry, operation): (&Entry, &Operation)) -> Identity {
        Identity {
            entry: Tag::Id(entry.id),
            operation: Tag::Id(operation.id),
            switches: BTreeMap::new(),
            core: None,
            footprint: None,
        }
    }

    /// The same entry and operation in no configuration: what rows have in common that are compared although, or because, their
    /// configurations differ. Another footprint is something else.
    pub fn alone(self) -> Identity {
        Identity { switches: BTreeMap::new(), core: None, ..self }
    }

    /// Whether it is of the same entry and operation, in whatever configuration.
    pub fn is_same_call(&self, other: &Identity) -> bool {
        (&self.entry, &self.operation) == (&other.entry, &other.operation)
    }

    /// What tells it from the other rows of its entry and operation, by name.
    pub fn configuration(&self, table: &Table) -> BTreeMap<String, String> {
        let name = |tag: &Tag| match tag {
            Tag::Name(name) => Some(name.clone()),
            Tag::Id(id) => table.switches.iter().find(|switch| switch.id == *id).map(|one| one.name.clone()),
        };
        let switches = self.switches.iter().filter_map(|(tag, value)| Some((name(tag)?, value.clone())));
        let others = [(CORE, &self.core), (FOOTPRINT, &self.footprint)];
        let others = others.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)));
        switches.chain(others).collect()
    }
}

/// A value as this version writes it; as it stands if this version does not know it.
fn written(table: &Table, name: &str, value: &str) -> String {
    let known = table.switch(name).and_then(|switch| switch.written(value));
    known.unwrap_or_else(|| value.to_string())
}

/// The key of a row's configuration that names the kind of core; all others but [`FOOTPRINT`] are switches.
const CORE: &str = "core";

/// The key that names the kernel of a guest.
pub const KERNEL: &str = "kernel";

/// The value of a parameter that a configuration leaves alone: what `--set` calls a configuration with nothing set.
pub use table::DEFAULT;

impl Document {
    /// What one of its rows is in every document.
    pub fn identity(&self, table: &Table, row: &Row) -> Identity {
        let of_entry = || table.entry(&row.entry).map(|entry| entry.id);
        let of_operation = || table.operation(&row.operation).map(|operation| operation.id);
        Identity {
            entry: Tag::new(row.entry_id.or_else(of_entry), &row.entry),
            operation: Tag::new(row.operation_id.or_else(of_operation), &row.operation),
            switches: self.switches(table, row),
            core: self.core(row),
            footprint: row.configuration.get(FOOTPRINT).filter(|_| row.has_footprint()).cloned(),
        }
    }

    /// The first row of this entry and operation, in whatever configuration.
    pub fn row_alone(&self, table: &Table, alone: &Identity) -> Option<&Row> {
        self.results.iter().find(|row| self.identity(table, row).alone() == *alone)
    }

    /// The switches that the row names, and those of the lab that it leaves out; of a Linux, what its guest was booted with.
    fn switches(&self, table: &Table, row: &Row) -> BTreeMap<Tag, String> {
        let named = row.configuration.iter().filter(|(name, _)| *name != CORE && *name != FOOTPRINT);
        if self.is_of_linux() {
            // A parameter of Linux may have the name of a switch, and is none. What only another configuration names was left alone.
            let named = named.filter(|(_, value)| *value != DEFAULT);
            // The kernel tells rows apart only where a document has several: one of two documents is not in the way of comparing them.
            let has = |name: &str| row.configuration.get(name);
            let several = self.results.iter().any(|other| other.configuration.get(KERNEL) != has(KERNEL));
            let named = named.filter(|(name, _)| several || *name != KERNEL);
            return named.map(|(name, value)| (Tag::Name(name.clone()), value.clone())).collect();
        }
        let tag = |name: &str| Tag::new(table.switch(name).map(|switch| switch.id), name);
        let mut switches: BTreeMap<Tag, String> =
            named.map(|(name, value)| (tag(name), written(table, name, value))).collect();
        if self.is_of_lab() {
            for switch in &table.switches {
                switches.entry(Tag::Id(switch.id)).or_insert_with(|| self.left_out(table, row, &switch.name));
            }
        }
        switches
    }

    /// The value of a switch that a row of the lab does not name: what its entry always runs with; or else what its kernel said that it had;
    /// of a switch that this kernel did not have, the first, with which kernels do what they did before.
    fn left_out(&self, table: &Table, row: &Row, name: &str) -> String {
        let lab = self.environment.lab.as_ref();
        let needed = table.entry(&row.entry).and_then(|entry| entry.needs.get(name));
        let known = needed.or_else(|| lab?.switches.get(name));
        let first = || table.switch(name).map(table::Switch::first).unwrap_or_default();
        known.map_or_else(first, |value| written(table, name, value))
    }

    /// A row names the kind of core only where several were measured. In other documents the CPU of its estimate tells; where
    /// no CPU had enough rounds, all of the CPUs, which then are of one kind.
    fn core(&self, row: &Row) -> Option<String> {
        let is_of_row = |cpu: usize| row.cpu.is_none_or(|of_row| of_row == cpu);
        let mut cores =
            self.measurement.cpus.iter().filter(|used| is_of_row(used.cpu)).map(|used| &used.core);
        let of_cpus = || cores.next().filter(|first| cores.all(|other| other == *first));
        let core = row.configuration.get(CORE).or_else(of_cpus)?;
        let are_several = !core.is_empty() && core != CoreType::Uniform.name();
        are_several.then(|| core.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CpuUse, Machine, Measurement, Place};
    use environment::{Environment, Lab};
    use table::Kernel;

    fn document(kernel: Kernel) -> Document {
        let place = Place::new(Machine::Host, kernel);
        let lab = Lab { features: vec!["smap".into()], ..Lab::default() };
        let lab = (kernel == Kernel::Lab).then_some(lab);
        Document {
            measurement: Measurement { place, ..Measurement::default() },
            environment: Environment { lab, ..Environment::default() },
            ..Document::empty()
        }
    }

    fn row(entry: &str, configuration: &[(&str, &str)]) -> Row {
        let pairs = configuration.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        Row { configuration: pairs.collect(), ..Row::unmeasured(entry, "none", 64) }
    }

    /// Of a row of the lab.
    fn in_lab(table: &Table, entry: &str, configuration: &[(&str, &str)]) -> Identity {
        document(Kernel::Lab).identity(table, &row(entry, configuration))
    }

    /// All switches as they are by default on a processor that has smap and not pcid.
    const WHOLE: [(&str, &str); 9] = [
        ("smap", "on"),
        ("stack", "frame"),
        ("exit", "natural"),
        ("pti", "off"),
        ("pcid", "off"),
        ("vsyscall", "emulate"),
        ("gate", "interrupt"),
        ("observe", "off"),
        ("cr3-writes", "0"),
    ];

    #[test]
    fn ids_decide_and_names_only_where_there_are_none() {
        let table = Table::get();
        let (syscall, none) =
            (table.entry("syscall-x86_64").unwrap().id, table.operation("none").unwrap().id);
        let with = |entry: &str, entry_id, operation_id| {
            let row = Row { entry_id, operation_id, ..row(entry, &[]) };
            document(Kernel::Linux).identity(table, &row)
        };
        let whole = with("syscall-x86_64", Some(syscall), Some(none));
        assert_eq!(with("syscall-x86_64", None, None), whole, "by name");
        assert_eq!(with("renamed since", Some(syscall), Some(none)), whole);
        assert_ne!(with("syscall-i386", None, None), whole);
        let unknown = ["of a later version", "another"].map(|entry| with(entry, None, None));
        assert_ne!(unknown[0], unknown[1]);
    }

    #[test]
    fn a_switch_that_is_new_unmatched_every_row_that_is_older() {
        let text = format!(
            "[[switch]]\nid = 900\ngroup = \"kind\"\nname = \"new\"\nwhat = \"new\"\nvalues = [\"off\", \"on\"]\n\
             default = \"on\"\n\n{}",
            table::SOURCE
        );
        let table = Table::parse(&text).unwrap();
        let newer = |value| [&WHOLE[..], &[("new", value)]].concat();
        let older = in_lab(&table, "call", &WHOLE);
        assert_eq!(older, in_lab(&table, "call", &newer("off")));
        assert_ne!(older, in_lab(&table, "call", &newer("on")));
        // What a version that is older than the switch reads of a document that has it.
        assert_ne!(in_lab(Table::get(), "call", &newer("off")), in_lab(Table::get(), "call", &newer("on")));
        assert!(document(Kernel::Linux).identity(&table, &row("call", &[])).switches.is_empty());
    }

    #[test]
    fn a_value_that_has_another_name_since_unmatched_every_row_that_had_it() {
        let in_lab = |value| in_lab(Table::get(), "call", &[("pti", "on"), ("pcid", value)]);
        assert_eq!(in_lab("on"), in_lab("keep"), "an alias");
        assert_ne!(in_lab("on"), in_lab("flush"));
        assert_ne!(in_lab("of a later version"), in_lab("keep"));
    }

    #[test]
    fn a_parameter_of_linux_is_no_switch_of_that_name() {
        let of = |kernel, value| document(kernel).identity(Table::get(), &row("call", &[("pcid", value)]));
        assert_ne!(of(Kernel::Linux, "on"), of(Kernel::Linux, "keep"), "which are one value in the lab");
        assert_eq!(of(Kernel::Linux, "on").alone(), of(Kernel::Lab, "keep").alone());
        let named =
            |configuration| document(Kernel::Linux).identity(Table::get(), &row("call", configuration));
        assert_eq!(
            named(&[("pti", "on"), ("pcid", "default")]),
            named(&[("pti", "on")]),
            "others named pcid"
        );
    }

    #[test]
    fn what_a_row_does_not_name_is_what_its_kernel_said() {
        let table = Table::get();
        let mut old = document(Kernel::Lab);
        let defaults = WHOLE.map(|(name, value)| (name.to_string(), value.to_string()));
        old.environment.lab = Some(Lab { switches: defaults.into(), ..Lab::default() });
        let isolated = WHOLE.map(|pair| if pair.0 == "pti" { ("pti", "on") } else { pair });
        let of_old = |entry, named: &[(&str, &str)]| old.identity(table, &row(entry, named));
        assert_eq!(of_old("call", &[("pti", "on")]), in_lab(table, "call", &isolated));
        let trap = WHOLE.map(|pair| if pair.0 == "gate" { ("gate", "trap") } else { pair });
        assert_eq!(
            of_old("trapgate-i386", &[]),
            in_lab(table, "trapgate-i386", &trap),
            "its entry needs that"
        );
    }

    #[test]
    fn rows_with_different_footprints_are_different_rows() {
        for kernel in Kernel::ALL {
            let of = |configuration: &[(&str, &str)]| {
                document(kernel).identity(Table::get(), &row("call", configuration))
            };
            assert_eq!(of(&[(FOOTPRINT, "0")]), of(&[]), "nothing is touched, whether it is said or not");
            let all =
                [of(&[]), of(&[(FOOTPRINT, "64")]), of(&[(FOOTPRINT, "64,1")]), of(&[(FOOTPRINT, "0,1")])];
            assert!((0..4).all(|one| (0..one).all(|other| all[one] != all[other])));
            assert_ne!(all[1].clone().alone(), all[0].clone().alone());
        }
    }

    #[test]
    fn a_row_alone_is_that_of_every_configuration() {
        let table = Table::get();
        let row_of_table = |entry| (table.entry(entry).unwrap(), table.operation("none").unwrap());
        let alone = Identity::of(row_of_table("call"));
        let mut lab = document(Kernel::Lab);
        lab.results =
            vec![row("syscall-x86_64", &[]), row("call", &[("pti", "on")]), row("call", &[("pti", "off")])];
        let identities: Vec<Identity> = lab.results.iter().map(|row| lab.identity(table, row)).collect();
        assert_ne!(identities[1], identities[2]);
        let each_alone: Vec<Identity> = identities.into_iter().map(Identity::alone).collect();
        assert_eq!(each_alone[1..], [alone.clone(), alone.clone()]);
        assert_eq!(lab.row_alone(table, &alone), Some(&lab.results[1]));
        assert_eq!(lab.row_alone(table, &Identity::of(row_of_table("ud"))), None);
    }

    #[test]
    fn a_configuration_names_what_tells_two_rows_of_one_call_apart() {
        let table = Table::get();
        let [on, off] = ["on", "off"].map(|value| in_lab(table, "call", &[("pti", value)]));
        assert!(on.is_same_call(&off) && !on.is_same_call(&in_lab(table, "ud", &[])));
        let (of_on, of_off) = (on.configuration(table), off.configuration(table));
        let differ: Vec<&String> =
            of_on.keys().filter(|name| of_on.get(*name) != of_off.get(*name)).collect();
        assert_eq!(differ, ["pti"]);
        let touched = document(Kernel::Linux).identity(table, &row("call", &[(FOOTPRINT, "64")]));
        assert_eq!(touched.configuration(table), [(FOOTPRINT.to_string(), "64".to_string())].into());
    }

    #[test]
    fn a_row_of_an_ordinary_run_is_that_of_a_run_on_every_kind_of_core() {
        let cpus = |cores: &[&str]| {
            let mut document = document(Kernel::Linux);
            let used =
                |(cpu, core): (usize, &&str)| CpuUse { cpu, core: core.to_string(), ..CpuUse::default() };
            document.measurement.cpus = cores.iter().enumerate().map(used).collect();
            document
        };
        let on = |document: &Document, cpu, configuration: &[(&str, &str)]| {
            document.identity(Table::get(), &Row { cpu, ..row("call", configuration) })
        };
        let (ordinary, every) = (cpus(&["performance", "performance"]), cpus(&["performance", "efficient"]));
        let fast = on(&every, Some(0), &[("core", "performance")]);
        assert_eq!([on(&ordinary, Some(1), &[]), on(&ordinary, None, &[])], [fast.clone(), fast.clone()]);
        assert_ne!(on(&every, Some(1), &[("core", "efficient")]), fast);
        // Of a processor with one kind nothing is said, as in documents that do not know the kind.
        let uniform = cpus(&["uniform"]);
        assert_eq!(on(&uniform, Some(0), &[]), on(&cpus(&[]), None, &[]));
        assert_ne!(on(&uniform, Some(0), &[]), fast);
        assert_eq!(on(&every, None, &[]), on(&uniform, None, &[]), "it could be either");
    }

    #[test]
    fn runs_of_two_kernels_had_no_row_in_common() {
        let with = |kernels: &[&str]| {
            let results =
                kernels.iter().map(|kernel| row("syscall-x86_64", &[("kernel", kernel), ("pti", "on")]));
            let document = Document { results: results.collect(), ..document(Kernel::Linux) };
            let identity = |row| document.identity(Table::get(), row);
            document.results.iter().map(identity).collect::<Vec<_>>()
        };
        assert_eq!(with(&["6.1"]), with(&["6.12"]), "each has one kernel");
        let both = with(&["6.1", "6.12"]);
        assert_ne!(both[0], both[1], "in one run the kernel tells them apart");
    }
}

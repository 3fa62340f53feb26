//! What to boot, and what to measure in it. Made without touching the system.

use super::configuration::{Configuration, Label};
use super::machine::Request;
use super::parameters::Parameters;
use super::words::Words;
use crate::lab::Accel;
use crate::{Error, TableRow, select};
use document::Counter;
use std::time::Duration;
use table::{Kernel, Table};

/// What a command line asks for.
#[derive(Debug, Clone)]
pub struct Options {
    /// Names and globs of entries; if empty, all.
    pub entry: Vec<String>,
    /// Names and globs of operations; if empty, all.
    pub operation: Vec<String>,
    /// Kernels: files, or `auto`; if empty, `auto`.
    pub kernels: Vec<String>,
    /// Words for the kernel's command line, a configuration each.
    pub append: Vec<String>,
    /// Processors, as QEMU names them, a configuration each.
    pub cpu_models: Vec<String>,
    /// `NAME=VALUE,...`, a configuration each.
    pub set: Vec<String>,
    /// What is to execute the kernel's instructions.
    pub accel: Accel,
    /// Boots of each configuration; none: one.
    pub boots: Option<u64>,
    /// Whether a use of each row is followed, so that its rings can be told apart.
    pub follows: bool,
    /// The seed of the order, the address layout and random bytes.
    pub seed: u64,
    /// The guest's memory, MiB.
    pub memory_mib: u64,
    /// The longest that one boot may take.
    pub time: Duration,
}

/// What to boot and measure.
#[derive(Debug, Clone)]
pub struct GuestPlan<'a> {
    /// The rows, in the table's order.
    pub rows: Vec<TableRow<'a>>,
    /// The kernels as the command line names them.
    pub kernels: Vec<String>,
    /// All that are booted: kernels × appends × processors × sets, each in the order of the command line.
    pub configurations: Vec<Configuration<'a>>,
    /// What of these a row's configuration says.
    pub label: Label<'a>,
    /// Boots of each configuration.
    pub boots: u64,
    /// Whether a use of each row is followed.
    pub follows: bool,
    /// The seed.
    pub seed: u64,
    /// The guest's memory, MiB.
    pub memory_mib: u64,
    /// The longest that one boot may take.
    pub time: Duration,
}

/// The most bytes of parameters. Linux for x86 reads 2047 of its command line (COMMAND_LINE_SIZE in arch/x86/include/asm/setup.h), and
/// every guest has some parameters before these.
const LONGEST: usize = 1900;

/// Seeds stay below this, so that every reader of JSON keeps them.
const SEEDS: u64 = 1 << 53;

impl<'a> GuestPlan<'a> {
    /// The plan for a command line.
    ///
    /// # Errors
    /// [`Error::Usage`] when it asks for rows or parameters that do not exist, or twice for the same.
    pub fn new(table: &'a Table, options: &Options) -> Result<GuestPlan<'a>, Error> {
        let rows = select::rows(table, Kernel::Linux, &options.entry, &options.operation)?;
        if options.kernels.iter().any(|word| word.trim().is_empty()) {
            return Err(Error::Usage(
                "--kernel: the name is empty; name a file, a folder, or auto, this machine's own".into(),
            ));
        }
        for (option, texts) in [
            ("--kernel", &options.kernels),
            ("--append", &options.append),
            ("--cpu-model", &options.cpu_models),
        ] {
            differ(option, texts, |text| text.trim().to_string())?;
        }
        let sets = table.sets(Kernel::Linux, &options.set)?;
        let sets: Vec<Parameters> = sets.iter().map(|settings| Parameters::of(table, settings)).collect();
        let kernels =
            if options.kernels.is_empty() { vec!["auto".to_string()] } else { options.kernels.clone() };
        options.append.iter().try_for_each(|text| is_for_the_kernel(text))?;
        let configurations = crossed(table, kernels.len(), options, &sets);
        configurations.iter().try_for_each(has_fit_words)?;
        let names = table.parameters.iter().map(|parameter| parameter.name.as_str());
        let is_named = |name: &&str| sets.iter().any(|set| set.value(name).is_some());
        Ok(GuestPlan {
            rows,
            configurations,
            label: Label {
                kernels: !options.kernels.is_empty(),
                parameters: names.filter(is_named).collect(),
            },
            kernels,
            boots: options.boots.unwrap_or(1),
            follows: options.follows,
            seed: options.seed,
            memory_mib: options.memory_mib,
            time: options.time,
        })
    }

    /// The same with another seed.
    pub fn seeded(self, seed: u64) -> GuestPlan<'a> {
        GuestPlan { seed, ..self }
    }

    /// The same with the kernels in this order, each named by its place.
    pub fn with_kernels_in(self, order: &[usize]) -> GuestPlan<'a> {
        let kernels = order.iter().filter_map(|place| self.kernels.get(*place).cloned()).collect();
        let of = |(new, old): (usize, &usize)| {
            let own = self.configurations.iter().filter(|one| one.kernel == *old).cloned();
            own.map(move |one| Configuration { kernel: new, ..one }).collect::<Vec<_>>()
        };
        let configurations = order.iter().enumerate().flat_map(of).collect();
        GuestPlan { kernels, configurations, ..self }
    }

    /// What a boot of this number draws from; the same in every configuration, so that these differ in nothing else.
    pub fn seed_of(&self, boot: u64) -> u64 {
        self.seed.wrapping_add(boot) % SEEDS
    }

    /// What a boot of a configuration is to do; `usual` is the processor where the command line names none.
    pub fn request(
        &self,
        configuration: &Configuration,
        boot: u64,
        usual: &str,
        counter: Counter,
    ) -> Request {
        let parameters = configuration.parameters.as_ref();
        Request {
            kernel: configuration.kernel,
            parameters: configuration.words().to_string(),
            cpu: configuration.cpu(usual),
            board: parameters.and_then(Parameters::board).map(str::to_string),
            compressed: parameters.is_some_and(Parameters::compressed),
            filter: parameters.and_then(Parameters::filter),
            trace: parameters.is_some_and(Parameters::trace),
            rows: self.rows.iter().map(|(entry, operation)| (entry.id, operation.id)).collect(),
            follows: self.follows && counter == Counter::Instructions,
            seed: self.seed_of(boot),
        }
    }
}

/// Whether the words leave those behind them to the kernel.
fn is_for_the_kernel(append: &str) -> Result<(), Error> {
    let refused = |why: &str| Err(Error::Usage(format!("--append {append}: {why}")));
    if !append.matches('"').count().is_multiple_of(2) {
        return refused("a quotation mark is open, and would swallow everything after it; close it");
    }
    if Words::of(append).each().any(|word| word == "--") {
        return refused("the kernel passes everything after -- to its first program; leave it out");
    }
    Ok(())
}

/// The kernel reads all words, and obeys each.
fn has_fit_words(configuration: &Configuration) -> Result<(), Error> {
    let length = configuration.words().to_string().len();
    if length > LONGEST {
        return Err(Error::Usage(format!(
            "--append: these are {length} bytes of parameters, and a guest can be given {LONGEST}: shorten them"
        )));
    }
    match configuration.overruled() {
        Some((word, behind)) => Err(Error::Usage(format!(
            "--append {word}: --set stands for {behind}, which comes last on the kernel's command line and wins; leave one of them out"
        ))),
        None => Ok(()),
    }
}

/// Each kernel with each of the rest.
fn crossed<'a>(
    table: &'a Table,
    kernels: usize,
    options: &Options,
    sets: &[Parameters<'a>],
) -> Vec<Configuration<'a>> {
    let mut all = Vec::new();
    for kernel in 0..kernels {
        for append in each(&options.append) {
            let words = append.as_deref().map(Words::of).unwrap_or_default();
            let written = Parameters::written(table, &words);
            for cpu_model in each(&options.cpu_models) {
                for parameters in each(sets) {
                    let (append, written) = (append.clone(), written.clone());
                    all.push(Configuration {
                        kernel,
                        append,
                        written,
                        cpu_model: cpu_model.clone(),
                        parameters,
                    });
                }
            }
        }
    }
    all
}

/// Each of some, or one that is none.
fn each<T: Clone>(all: &[T]) -> Vec<Option<T>> {
    if all.is_empty() { vec![None] } else { all.iter().cloned().map(Some).collect() }
}

/// Refuses two that are the same.
fn differ<T: PartialEq>(option: &str, texts: &[String], meant: impl Fn(&str) -> T) -> Result<(), Error> {
    let all: Vec<T> = texts.iter().map(|text| meant(text)).collect();
    let again = |place: &usize| all.iter().take(*place).any(|other| Some(other) == all.get(*place));
    match (0..all.len()).find(again).and_then(|place| texts.get(place)) {
        Some(text) => Err(Error::Usage(format!("{option} {text:?} is there twice: each is a configuration"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options {
            entry: vec!["syscall".into()],
            operation: vec!["none".into()],
            kernels: Vec::new(),
            append: Vec::new(),
            cpu_models: Vec::new(),
            set: Vec::new(),
            accel: Accel::Tcg,
            boots: None,
            follows: true,
            seed: 7,
            memory_mib: 512,
            time: Duration::from_secs(60),
        }
    }

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| text.to_string()).collect()
    }

    fn named(options: &Options) -> Vec<String> {
        let plan = GuestPlan::new(Table::get(), options).unwrap();
        let name = |configuration: &Configuration| {
            let named = configuration.named(&plan.label, &plan.kernels[configuration.kernel]);
            named.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
        };
        plan.configurations.iter().map(name).collect()
    }

    #[test]
    fn all_that_the_command_line_names_is_crossed_in_its_order() {
        let options = Options {
            kernels: texts(&["b", "a"]),
            append: texts(&["", "quiet"]),
            set: texts(&["pti=on", "nopcid"]),
            ..options()
        };
        let found = named(&options);
        assert_eq!(found.len(), 8);
        assert_eq!(found[0], "append= kernel=b pcid=default pti=on");
        assert_eq!(found[1], "append= kernel=b pcid=off pti=default");
        assert_eq!(found[2], "append=quiet kernel=b pcid=default pti=on");
        assert_eq!(found[7], "append=quiet kernel=a pcid=off pti=default");
    }

    #[test]
    fn what_is_not_named_is_in_no_configuration() {
        assert_eq!(named(&options()), [""]);
        let one = Options { cpu_models: texts(&["EPYC"]), ..options() };
        assert_eq!(named(&one), ["cpu-model=EPYC"]);
        let default = Options { set: texts(&["default", "pti=off"]), ..options() };
        assert_eq!(named(&default), ["pti=default", "pti=off"]);
    }

    #[test]
    fn equal_ones_are_refused() {
        let error = |options: Options| GuestPlan::new(Table::get(), &options).unwrap_err().to_string();
        let twice = error(Options { set: texts(&["pti=on,nopcid", "pcid=off,pti=on"]), ..options() });
        assert_eq!(
            twice,
            "--set pcid=off,pti=on: this is the same configuration as --set pti=on,nopcid; leave one of them out"
        );
        let twice = error(Options { append: texts(&["quiet", " quiet"]), ..options() });
        assert_eq!(twice, "--append \" quiet\" is there twice: each is a configuration");
        for kernels in [&["a", "a"][..], &["auto", "a", "auto"]] {
            assert!(error(Options { kernels: texts(kernels), ..options() }).starts_with("--kernel "));
        }
        let empty = error(Options { kernels: texts(&["a", ""]), ..options() });
        assert!(empty.starts_with("--kernel: the name is empty"), "{empty}");
        assert!(error(Options { set: texts(&["ptii=on"]), ..options() }).contains("did you mean pti?"));
    }

    #[test]
    fn a_request_has_what_its_configuration_stands_for() {
        let options = Options {
            append: texts(&["debug loglevel=7"]),
            set: texts(&["pti=on,pcid=on,clocksource=hpet"]),
            ..options()
        };
        let plan = GuestPlan::new(Table::get(), &options).unwrap();
        let request = plan.request(&plan.configurations[0], 2, "max", Counter::Instructions);
        assert_eq!(request.parameters, "debug loglevel=7 pti=on clocksource=hpet");
        assert_eq!((request.cpu.as_str(), request.board.as_deref()), ("max,+pcid", Some("pc")));
        assert_eq!((request.seed, request.follows, request.compressed), (9, true, false));
        assert_eq!(request.rows, [(2, 1)]);
        assert!(
            !plan.request(&plan.configurations[0], 0, "host", Counter::Time).follows,
            "that would take time"
        );
    }

    #[test]
    fn a_word_that_a_set_overruled_made_two_configurations_of_one() {
        let new = |append: &str, set: &str| {
            let options = Options { append: texts(&[append]), set: texts(&[set]), ..options() };
            GuestPlan::new(Table::get(), &options).map(|plan| plan.configurations.len())
        };
        let why = new("quiet pti=on", "pti=off").unwrap_err().to_string();
        assert!(why.contains("--append pti=on: --set stands for pti=off"), "{why}");
        assert_eq!(new("quiet pti=off", "pti=off").unwrap(), 1, "both say the same");
        assert_eq!(new("quiet", "pti=off").unwrap(), 1);
        let why = new("randomize-kstack-offset=off", "kstack-offset=on").unwrap_err().to_string();
        assert!(why.contains("--set stands for randomize_kstack_offset=on"), "{why}");
        let why = new("quiet nopti", "pti=on").unwrap_err().to_string();
        assert!(why.contains("--append nopti: --set stands for pti=on"), "{why}");
        assert_eq!(new("nopti", "pti=off").unwrap(), 1, "both say the same");
        let why = new("quiet -- single", "pti=off").unwrap_err().to_string();
        assert!(why.contains("everything after --"), "{why}");
        let why = new("bar=\"", "audit=on").unwrap_err().to_string();
        assert!(why.contains("a quotation mark is open"), "{why}");
        let why = new(&"x".repeat(5000), "audit=on").unwrap_err().to_string();
        assert!(why.contains("bytes of parameters"), "{why}");
    }
}

//! Paths that were followed in real kernels. `fixtures/README.md` says how they were recorded.

use attribution::anatomy::{Anatomy, Part};
use flate2::read::GzDecoder;
use linux::{Alternative, Kernel, Paravirt};
use record::trace::{Executed, Symbol, Trace};
use serde_json::Value;
use std::path::Path;
use table::Table;

#[path = "../../../../linux/tests/made/elf.rs"]
pub mod made;

/// What was recorded of one kernel.
pub struct Recorded {
    pub kernel: Kernel,
    pub symbols: Vec<Symbol>,
    pub traces: Vec<Trace>,
}

fn bytes(hexadecimal: &Value) -> Vec<u8> {
    let text = hexadecimal.as_str().unwrap();
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn alternative(value: &Value) -> Alternative {
    Alternative {
        address: value["address"].as_u64().unwrap(),
        length: value["length"].as_u64().unwrap() as usize,
        feature: value["feature"].as_u64().unwrap() as u16,
        when_absent: value["absent"].as_bool().unwrap(),
        direct_call: value["direct"].as_bool().unwrap(),
        replacement: bytes(&value["replacement"]),
    }
}

fn trace(value: &Value) -> Trace {
    let name = |key: &str| value[key].as_str().unwrap().to_string();
    let step = |step: &Value| Executed {
        address: step[0].as_u64().unwrap(),
        ring: step[1].as_u64().unwrap() as u8,
        long: true,
        bytes: bytes(&step[2]),
    };
    Trace {
        entry: Table::get().entry(&name("entry")).unwrap().id,
        operation: Table::get().operation(&name("operation")).unwrap().id,
        steps: list(&value["steps"]).iter().map(step).collect(),
        control: 0,
    }
}

/// A kernel's file with the tables of static keys and of traced functions that were recorded, and the symbols that say where they are.
fn tables(value: &Value, symbols: &mut Vec<Symbol>) -> Vec<u8> {
    const BRANCHES: u64 = 0xffff_ffff_f000_0000;
    const TRACED: u64 = 0xffff_ffff_f100_0000;
    let number = |value: &Value| value.as_u64().unwrap();
    let near = |place: u64, to: u64| (to.wrapping_sub(place) as u32).to_le_bytes();
    let branch = |(entry, place): (&Value, u64)| {
        let key = number(&entry[2]).wrapping_sub(place + 8).to_le_bytes();
        [&near(place, number(&entry[0]))[..], &near(place + 4, number(&entry[1])), &key].concat()
    };
    let branches: Vec<u8> =
        list(&value["branches"]).iter().zip((BRANCHES..).step_by(16)).flat_map(branch).collect();
    let traced: Vec<u8> =
        list(&value["traced"]).iter().flat_map(|place| number(place).to_le_bytes()).collect();
    let text = number(&value["text"]);
    let code = vec![0xcc; 24 << 20];
    let mut name = |name: &str, address: u64| {
        symbols.retain(|symbol| symbol.name != name);
        symbols.push(Symbol { address, name: name.into() });
    };
    name("__start___jump_table", BRANCHES);
    name("__stop___jump_table", BRANCHES + branches.len() as u64);
    name("__start_mcount_loc", TRACED);
    name("__stop_mcount_loc", TRACED + traced.len() as u64);
    let sections = [
        (".text", text, code, true),
        (".rodata", BRANCHES, branches, false),
        (".init.data", TRACED, traced, false),
    ];
    made::elf(&sections, true)
}

impl Recorded {
    /// `6.1-pti-on`
    pub fn read(name: &str) -> Recorded {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../attribution/tests/anatomy/fixtures")
            .join(format!("{name}.json.gz"));
        let file = std::fs::File::open(&path).unwrap();
        let value: Value = serde_json::from_reader(GzDecoder::new(file)).unwrap();
        let symbol = |symbol: &Value| Symbol {
            address: symbol[0].as_u64().unwrap(),
            name: symbol[1].as_str().unwrap().to_string(),
        };
        let paravirt =
            |site: &Value| Paravirt { address: site[0].as_u64().unwrap(), length: site[1].as_u64().unwrap() };
        let sites = value.get("paravirt").map(list).unwrap_or_default();
        let mut symbols: Vec<Symbol> = list(&value["symbols"]).iter().map(symbol).collect();
        let kernel = Kernel {
            bytes: value.get("branches").map_or_else(Vec::new, |_| tables(&value, &mut symbols)),
            paravirt: sites.iter().map(paravirt).collect(),
            release: value["release"].as_str().unwrap().to_string(),
            text: value["text"].as_u64(),
            alternatives: list(&value["alternatives"]).iter().map(alternative).collect(),
            ..Kernel::default()
        };
        Recorded { kernel, symbols, traces: list(&value["paths"]).iter().map(trace).collect() }
    }

    pub fn trace(&self, entry: &str, operation: &str) -> &Trace {
        let table = Table::get();
        let (entry, operation) = (table.entry(entry).unwrap().id, table.operation(operation).unwrap().id);
        self.traces.iter().find(|trace| (trace.entry, trace.operation) == (entry, operation)).unwrap()
    }

    pub fn anatomy(&self, entry: &str, operation: &str) -> Anatomy {
        Anatomy::of(self.trace(entry, operation), &self.symbols, &self.kernel)
    }
}

/// How many instructions belong to a part.
pub fn count(anatomy: &Anatomy, part: Part) -> usize {
    anatomy.instructions.iter().filter(|instruction| instruction.part == part).count()
}

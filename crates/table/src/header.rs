//! The C header that a probe is compiled with: ids for `#if` and assembler, rows for the dispatch table.

use crate::{Abi, Entry, Kind, Operation, Probe, REGISTERS, Switch, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Renders `entries.h` for one probe: every id, and the rows that this probe runs.
///
/// The rows are X-macros, `ENTRIES(ROW)` and `OPERATIONS(ROW)`, so that the probe decides what they expand to.
pub fn render(table: &Table, probe: Probe) -> String {
    let mut out = String::from("/* Made from entries.toml. Do not edit. */\n#pragma once\n\n");
    for (index, name) in REGISTERS.iter().enumerate() {
        define(&mut out, "REGISTER", name, index);
    }
    for operation in &table.operations {
        define(&mut out, "OPERATION", &operation.name, operation.id as usize);
    }
    for entry in &table.entries {
        define(&mut out, "ENTRY", &entry.name, entry.id as usize);
    }
    let entries = table.entries.iter().filter(|entry| entry.probe == probe).map(entry_row);
    rows(&mut out, "ENTRIES", "id, symbol, kind, abi, preserved", entries);
    let routines = table.entries.iter().filter(|entry| entry.probe == probe);
    rows(
        &mut out,
        "ROUTINES",
        "id, symbol, calls, form",
        routines.flat_map(|entry| routine_rows(table, entry)),
    );
    let servers = table.entries.iter().filter(|entry| entry.probe == probe && entry.has_traps());
    let servers = servers.map(|entry| format!("{}, {}", entry.id, trap_symbol(entry, "trap")));
    rows(&mut out, "SERVERS", "id, symbol", servers);
    let several = table.entries.iter().filter(|entry| entry.probe == probe && entry.uses > 1);
    let several = several.map(|entry| format!("{}, {}, {}", entry.id, entry.symbol(), entry.uses));
    rows(&mut out, "SEVERAL", "id, symbol, uses", several);
    let columns = "id, number_x86_64, number_i386, function, clock, page_offset, calls, form, has_server, is_thread, bytes, has_right, nops";
    rows(&mut out, "OPERATIONS", columns, table.operations.iter().map(operation_row));
    let columns = "operation, place, number_x86_64, number_i386, function";
    rows(&mut out, "CALLS", columns, table.operations.iter().flat_map(call_rows));
    rows(&mut out, "FUNCTIONS", "name", functions(table, probe).into_iter().map(str::to_owned));
    let lengths = table.sequence_lengths();
    let written: Vec<String> = lengths.iter().map(usize::to_string).collect();
    let _ = writeln!(out, "\n#define SEQUENCE_LENGTHS {}", written.join(", "));
    let _ = writeln!(out, "#define MOST_CALLS {}", lengths.last().unwrap_or(&1));
    out
}

/// Renders `names.h` for the lab: names by id.
pub fn render_names(table: &Table) -> String {
    let mut out = String::from("/* Made from entries.toml. Do not edit. */\n#pragma once\n");
    let name = |id: u16, name: &str| format!("{id}, \"{name}\"");
    rows(&mut out, "ENTRY_NAMES", "id, name", table.entries.iter().map(|entry| name(entry.id, &entry.name)));
    let operations = table.operations.iter().map(|operation| name(operation.id, &operation.name));
    rows(&mut out, "OPERATION_NAMES", "id, name", operations);
    out
}

/// Renders `switches.h` for the lab: ids, values and names of its switches.
pub fn render_switches(table: &Table) -> String {
    let mut out = String::from("/* Made from entries.toml. Do not edit. */\n#pragma once\n\n");
    for switch in &table.switches {
        define(&mut out, "SWITCH", &switch.name, switch.id as usize);
        for (index, value) in switch.values.iter().enumerate() {
            define(&mut out, &switch.name, value, index);
        }
    }
    for (switch, most) in table.switches.iter().filter_map(|switch| Some((switch, switch.range?.1))) {
        define(&mut out, &switch.name, "most", most as usize);
    }
    let highest = table.switches.iter().map(|switch| switch.id as usize).max().unwrap_or(0);
    define(&mut out, "SWITCH", "count", highest + 1);
    let values = table.switches.iter().flat_map(|switch| {
        let default = |value: &String| usize::from(*value == switch.default);
        let row = move |(index, value)| {
            format!("{}, \"{}\", {index}, \"{value}\", {}", switch.id, switch.name, default(value))
        };
        switch.values.iter().enumerate().map(row)
    });
    rows(&mut out, "SWITCH_VALUES", "id, name, index, value, is_default", values);
    let number = |switch: &Switch| {
        let (least, most) = switch.range?;
        Some(format!("{}, \"{}\", {least}, {most}, {}", switch.id, switch.name, switch.default))
    };
    let numbers = table.switches.iter().filter_map(number);
    rows(&mut out, "SWITCH_NUMBERS", "id, name, least, most, default", numbers);
    let needs = table.switches.iter().flat_map(|switch| {
        let features = switch.requires.iter().filter_map(|need| Some((need, need.feature.as_ref()?)));
        features.map(|(need, feature)| {
            let harmless = usize::from(need.harmless);
            format!(
                "{}, {:#x}u, FEATURE_{}, {harmless}",
                switch.id,
                switch.mask(need),
                feature.to_uppercase()
            )
        })
    });
    rows(&mut out, "SWITCH_NEEDS", "id, values, feature, is_harmless", needs);
    out
}

fn define(out: &mut String, family: &str, name: &str, value: usize) {
    let name = format!("{family}_{name}").replace(['-', '.'], "_").to_uppercase();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "#define {name} {value}");
}

fn rows(out: &mut String, name: &str, columns: &str, rows: impl Iterator<Item = String>) {
    let _ = write!(out, "\n/* ROW({columns}) */\n#define {name}(ROW)");
    for row in rows {
        let _ = write!(out, " \\\n\tROW({row})");
    }
    out.push('\n');
}

fn entry_row(entry: &Entry) -> String {
    let kind = match entry.kind {
        Kind::Number => "KIND_NUMBER",
        Kind::Function => "KIND_FUNCTION",
        Kind::Exception => "KIND_EXCEPTION",
        Kind::Memory => "KIND_MEMORY",
        Kind::Instruction => "KIND_INSTRUCTION",
    };
    let abi = match entry.abi {
        None => "ABI_NONE",
        Some(Abi::X86_64) => "ABI_X86_64",
        Some(Abi::I386) => "ABI_I386",
        Some(Abi::X32) => "ABI_X32",
    };
    format!("{}, {}, {kind}, {abi}, {:#x}", entry.id, entry.symbol(), entry.preserved())
}

/// The timed code of an entry: for a single call, and for each length of several.
fn routine_rows(table: &Table, entry: &Entry) -> Vec<String> {
    let (id, symbol) = (entry.id, entry.symbol());
    let lengths = table.sequence_lengths().into_iter().filter(|_| table.has_sequences(entry));
    let several = lengths.map(|calls| format!("{id}, {}, {calls}, FORM_CALL", sequence_symbol(entry, calls)));
    let forms = entry.has_traps().then(|| TRAP_FORMS.map(|form| (form, trap_symbol(entry, form))));
    let traps = forms.into_iter().flatten();
    let traps = traps.map(|(form, symbol)| format!("{id}, {symbol}, 1, FORM_{}", form.to_uppercase()));
    std::iter::once(format!("{id}, {symbol}, 1, FORM_CALL")).chain(several).chain(traps).collect()
}

/// The forms of traps of GNU Mach that the probe has timed code for: with what they are given in registers and on the stack; and with a
/// message, too, whose header is written before each.
pub const TRAP_FORMS: [&str; 2] = ["trap", "message"];

/// What the functions of an entry that make a trap are called, without their endings; `probe/timed.inc` has it, too.
pub fn trap_symbol(entry: &Entry, form: &str) -> String {
    format!("{}_{form}", entry.symbol())
}

/// What the functions of an entry that make so many calls are called, without their endings; `probe/timed.inc` has it, too.
pub fn sequence_symbol(entry: &Entry, calls: usize) -> String {
    if calls == 1 { entry.symbol() } else { format!("{}_calls{calls}", entry.symbol()) }
}

fn operation_row(operation: &Operation) -> String {
    let function = operation.function.as_deref().unwrap_or("");
    let clock = operation.clock.map_or("NO_CLOCK".into(), |clock| clock.to_string());
    let number = |abi| match operation.numbers_in(abi).as_slice() {
        [number] => *number,
        _ => 0,
    };
    format!(
        "{}, {:#x}, {:#x}, \"{function}\", {clock}, {}, {}, {}, {}, {}, {}, {}, {}",
        operation.id,
        number(Abi::X86_64),
        number(Abi::I386),
        operation.page_offset.unwrap_or(0),
        operation.length(),
        form(operation),
        u8::from(operation.server),
        u8::from(operation.thread),
        operation.bytes.unwrap_or(0),
        u8::from(operation.right),
        operation.nops.unwrap_or(0)
    )
}

/// How the timed code hands arguments over.
fn form(operation: &Operation) -> &'static str {
    match (operation.trap, operation.message) {
        (None, _) => "FORM_CALL",
        (Some(_), false) => "FORM_TRAP",
        (Some(_), true) => "FORM_MESSAGE",
    }
}

fn call_rows(operation: &Operation) -> impl Iterator<Item = String> {
    operation.calls.iter().enumerate().map(|(place, call)| {
        format!("{}, {place}, {}, \"{}\"", operation.id, numbers(&call.numbers), call.function)
    })
}

/// The C functions that a probe calls by a pointer: those of the operations that its entries of that kind serve, each once.
fn functions(table: &Table, probe: Probe) -> BTreeSet<&str> {
    let is_of_probe = |entry: &&Entry| entry.probe == probe && entry.kind == Kind::Function;
    let names = table.entries.iter().filter(is_of_probe).flat_map(|entry| &entry.operations);
    names.filter_map(|name| table.operation(name)).flat_map(Operation::functions).collect()
}

/// By x86-64 numbers, then by i386 ones; 0 where there is none.
fn numbers(numbers: &BTreeMap<String, u32>) -> String {
    let number = |abi: &str| numbers.get(abi).copied().unwrap_or(0);
    format!("{:#x}, {:#x}", number("x86_64"), number("i386"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lab_gets_its_switches() {
        let header = render_switches(Table::get());
        assert!(header.contains("#define SWITCH_PTI 4\n#define PTI_OFF 0\n#define PTI_ON 1\n"));
        assert!(header.contains("ROW(2, \"stack\", 1, \"frame\", 1)"));
        assert!(
            header.contains("#define SWITCH_CR3_WRITES 9\n")
                && header.contains("#define CR3_WRITES_MOST 1000\n")
        );
        assert!(header.contains("ROW(9, \"cr3-writes\", 0, 1000, 0)"));
        assert!(header.contains("ROW(5, 0xfffffffeu, FEATURE_PCID, 0)"));
        assert!(header.contains("ROW(14, 0x2u, FEATURE_IBRS, 1)"));
    }

    #[test]
    fn a_probe_gets_its_own_rows_and_every_id() {
        let header = render(Table::get(), Probe::Probe32);
        assert!(header.contains("ROW(8, int80_i386, KIND_NUMBER, ABI_I386, 0xfe)"));
        assert!(!header.contains("ROW(2, syscall_x86_64"));
        assert!(header.contains("#define ENTRY_SYSCALL_X86_64 2\n"));
        assert!(
            header.contains("ROW(3, 0x60, 0x4e, \"gettimeofday\", NO_CLOCK, 0, 1, FORM_CALL, 0, 0, 0, 0, 0)")
        );
        assert!(
            header.contains("ROW(5, 0xe4, 0x109, \"clock_gettime\", 0, 0, 1, FORM_CALL, 0, 0, 0, 0, 0)"),
            "CLOCK_REALTIME is 0"
        );
        assert!(
            header.contains("ROW(19, 0x0, 0x0, \"\", NO_CLOCK, 0, 5, FORM_CALL, 0, 0, 0, 0, 0)")
                && header.contains("ROW(19, 4, 0x5f, 0x3c, \"umask\")")
        );
        assert!(
            header.contains("ROW(8, int80_i386, 1, FORM_CALL)")
                && header.contains("ROW(8, int80_i386_calls5, 5, FORM_CALL)")
        );
        assert!(
            header
                .contains("ROW(24, 0xffffffe2, 0xffffffe2, \"\", NO_CLOCK, 0, 1, FORM_TRAP, 0, 0, 0, 0, 0)")
        );
        assert!(
            header.contains("1, FORM_MESSAGE, 1, 0, 128, 0, 0)")
                && header.contains("1, FORM_MESSAGE, 1, 0, 0, 1, 0)")
        );
        assert!(header.contains("ROW(13, lcall7_i386_message, 1, FORM_MESSAGE)"));
        assert!(!header.contains("int80_i386_trap"), "it serves no trap");
        assert!(!header.contains("vdso_i386_calls"), "it serves no operation of several calls");
        assert!(!header.contains("vdso_i386, 16)"), "a sample holds one use of it");
        assert!(render(Table::get(), Probe::Probe64).contains("ROW(6, vdso_x86_64, 16)"));
        let functions = |probe| functions(Table::get(), probe).into_iter().collect::<Vec<&str>>();
        let called = functions(Probe::Libc);
        assert!(
            called.contains(&"getcpu") && called.contains(&"umask") && !called.contains(&"clock_gettime64")
        );
        assert!(functions(Probe::Probe32).contains(&"clock_gettime64"));
        assert!(header.contains("#define SEQUENCE_LENGTHS 2, 5\n#define MOST_CALLS 5\n"));
    }
}

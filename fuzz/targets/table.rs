//! Any text as the table of entries: what parses can be listed, and becomes a header for every probe.
#![no_main]

use libfuzzer_sys::fuzz_target;
use report::{Format, Style};
use table::{Probe, Table, header};

fuzz_target!(|text: &str| {
    let Ok(table) = Table::parse(text) else {
        return;
    };
    let declared: usize = table.entries.iter().map(|entry| entry.operations.len()).sum();
    assert_eq!(table.rows().count(), declared, "a row that does not resolve");
    for probe in Probe::ALL {
        header::render(&table, probe);
    }
    let style = Style {
        color: false,
        width: 80,
        verbose: false,
    };
    for format in Format::ALL {
        report::list(&table, format, &style).expect("a table that parses can be listed");
    }
});

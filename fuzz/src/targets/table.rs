//! Any text as the table of entries: what parses can be listed, and becomes a header and files for every probe.

use report::{Kind, Selection, Style};
use table::{Kernel, Probe, Table, header, source};

pub fn run(text: &str) {
    let Ok(table) = Table::parse(text) else {
        return;
    };
    for kernel in Kernel::ALL {
        let declared: usize = table.entries.iter().map(|entry| entry.operations_on(kernel).len()).sum();
        assert_eq!(table.rows(kernel).count(), declared, "a row that does not resolve");
    }
    header::render_switches(&table);
    for probe in Probe::ALL {
        header::render(&table, probe);
    }
    for entry in &table.entries {
        assert_eq!(
            source::render(&table, entry).is_none(),
            entry.source_path().is_some(),
            "an entry has a file, or one is made for it"
        );
    }
    let style = Style { color: false, width: 80, verbose: false, selection: Selection::All };
    for format in Kind::LIST.formats.iter().copied() {
        for kernel in Kernel::ALL {
            report::list(&table, kernel, format, &style).expect("a table that parses can be listed");
        }
    }
}

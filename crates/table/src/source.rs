//! The assembler file of an entry that is one instruction; the build writes it from the entry's row.

use crate::{Entry, Kind, Table};
use serde::Deserialize;

/// What is loaded into registers before the timed instruction, by a macro in `probe/<bits>/machine.inc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Load {
    /// A call number and arguments as `syscall` takes them: rax; rdi, rsi, rdx. 64-bit code only.
    Syscall,
    /// A call number and arguments as `int $0x80` takes them: eax; ebx, ecx, edx.
    Int80,
    /// The arguments of a C function.
    Function,
    /// Nothing.
    None,
}

/// The most uses of a sample; `MAX_USES` of `abi/request.h`.
const MOST_USES: u64 = 64;

impl Load {
    /// The bodies of the macros LOAD and UNLOAD.
    fn macros(self) -> (&'static str, &'static str) {
        match self {
            Load::Syscall => ("\tLOAD_SYSCALL\n", ""),
            Load::Int80 => ("\tLOAD_INT80\n", ""),
            Load::Function => ("\tLOAD_FUNCTION\n", "\tUNLOAD_FUNCTION\n"),
            Load::None => ("", ""),
        }
    }
}

/// The file, for an entry whose row is complete; `None` for one that has a file of its own.
pub fn render(table: &Table, entry: &Entry) -> Option<String> {
    let (load, unload) = entry.load?.macros();
    let (enter, symbol) = (entry.enter.as_ref()?, entry.symbol());
    let several = if entry.uses > 1 { format!("SEVERAL {symbol}, {}\n", entry.uses) } else { String::new() };
    let sequences = if table.has_sequences(entry) { format!("SEQUENCES {symbol}\n") } else { String::new() };
    // A stub's call pushes its return address itself.
    let by_call = if entry.kind == Kind::Function { "\t.set\tenters_by_call, 1\n" } else { "" };
    let traps = if entry.has_traps() { format!("{by_call}TRAPS {symbol}\n") } else { String::new() };
    Some(format!(
        "/* Made from entries.toml. Do not edit. */\n#include \"lab.h\"\n#include \"timed.inc\"\n\n\
         .macro LOAD\n{load}.endm\n.macro ENTER\n\t{enter}\n.endm\n.macro CONTROL\n.endm\n\
         .macro UNLOAD\n{unload}.endm\n\nENTRY {symbol}\n{several}{sequences}{traps}"
    ))
}

/// Checks that a file can be made from `load` and `enter` of a row.
///
/// # Errors
/// What is wrong with them, in words.
pub(crate) fn check(entry: &Entry) -> Result<(), String> {
    if !(1..=MOST_USES).contains(&entry.uses) {
        return Err(format!("uses must be from 1 to {MOST_USES}"));
    }
    if entry.uses > 1 && (entry.enter.is_none() || !stays_out(entry.kind)) {
        return Err(
            "key \"uses\" is for entries with the key \"enter\" that need not enter the kernel".into()
        );
    }
    match (entry.load, entry.enter.as_deref()) {
        (None, None) => Ok(()),
        (Some(_), Some(enter)) if enter.trim().is_empty() || enter.contains(['\n', ';']) => {
            Err("enter must be one instruction".into())
        }
        (Some(Load::Syscall), Some(_)) if entry.bits() == 32 => {
            Err("load \"syscall\" fills registers that 32-bit code does not have".into())
        }
        (Some(_), Some(_)) => Ok(()),
        _ => Err("keys \"load\" and \"enter\" go together".into()),
    }
}

/// Whether such an entry may stay in user space.
fn stays_out(kind: Kind) -> bool {
    match kind {
        Kind::Function | Kind::Memory | Kind::Instruction => true,
        Kind::Number | Kind::Exception => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    #[test]
    fn a_row_that_says_its_instruction_becomes_a_file() {
        let file = render(Table::get(), Table::get().entry("vdso-i386").unwrap()).unwrap();
        assert_eq!(
            file,
            "/* Made from entries.toml. Do not edit. */\n#include \"lab.h\"\n#include \"timed.inc\"\n\n\
             .macro LOAD\n\tLOAD_FUNCTION\n.endm\n\
             .macro ENTER\n\tcall *invocation + INVOCATION_TARGET\n.endm\n\
             .macro CONTROL\n.endm\n\
             .macro UNLOAD\n\tUNLOAD_FUNCTION\n.endm\n\n\
             ENTRY vdso_i386\n"
        );
        assert_eq!(render(Table::get(), Table::get().entry("page-fault").unwrap()), None);
        let several = render(Table::get(), Table::get().entry("syscall-x86_64").unwrap()).unwrap();
        assert!(
            several.ends_with("ENTRY syscall_x86_64\nSEQUENCES syscall_x86_64\nTRAPS syscall_x86_64\n"),
            "{several}"
        );
    }

    #[test]
    fn traps_are_made_by_instructions_and_by_stubs_that_are_functions() {
        let with = |entry: &str, from: &str, to: &str| {
            let (before, row) = crate::SOURCE.split_once(&format!("name = \"{entry}\"")).unwrap();
            let text = format!("{before}name = \"{entry}\"{}", row.replacen(from, to, 1));
            let table = Table::parse(&text)?;
            Ok::<_, crate::Error>(render(&table, table.entry(entry).unwrap()).unwrap())
        };
        let stub = with("vdso-i386", "lab_operations = [", "lab_operations = [\"mach\", ").unwrap();
        assert!(stub.ends_with("ENTRY vdso_i386\n\t.set\tenters_by_call, 1\nTRAPS vdso_i386\n"), "{stub}");
        let gate = with("int80-i386", "\"spaces\"]", "\"mach\"]").unwrap();
        assert!(gate.ends_with("\nTRAPS int80_i386\n") && !gate.contains("enters_by_call"), "{gate}");
        let none = with("rdtsc", "operations = [", "lab_operations = \"mach\"\noperations = [").unwrap_err();
        assert!(none.to_string().ends_with("which takes a number or a stub of its own"), "{none}");
    }

    #[test]
    fn several_uses_are_for_what_may_stay_in_user_space() {
        let file = render(Table::get(), Table::get().entry("vdso-x86_64").unwrap()).unwrap();
        assert!(file.ends_with("ENTRY vdso_x86_64\nSEVERAL vdso_x86_64, 16\n"), "{file}");
        let refused = |from: &str, to: &str| {
            Table::parse(&crate::SOURCE.replacen(from, to, 1)).unwrap_err().to_string()
        };
        let kernel = refused("enter = \"ud2\"", "enter = \"ud2\"\nuses = 16");
        assert!(kernel.starts_with("entries.toml: entry ud: key \"uses\" is for entries"), "{kernel}");
        let own_file = refused("signal = \"SIGFPE\"", "signal = \"SIGFPE\"\nuses = 16");
        assert!(own_file.starts_with("entries.toml: entry div0: key \"uses\" is for entries"), "{own_file}");
        for uses in ["0", "65"] {
            let found = refused("uses = 16", &format!("uses = {uses}"));
            assert_eq!(found, "entries.toml: entry call: uses must be from 1 to 64");
        }
    }

    #[test]
    fn half_a_file_is_no_file() {
        let refused = |from: &str, to: &str| {
            Table::parse(&crate::SOURCE.replacen(from, to, 1)).unwrap_err().to_string()
        };
        let half = refused("load = \"int80\"\n", "");
        assert_eq!(half, "entries.toml: entry int80-x86_64: keys \"load\" and \"enter\" go together");
        for enter in ["", "nop; ud2", "nop\\nud2"] {
            let found = refused("enter = \"ud2\"", &format!("enter = \"{enter}\""));
            assert_eq!(found, "entries.toml: entry ud: enter must be one instruction");
        }
        let wide = refused("load = \"int80\"\nenter = \"ud2\"", "load = \"syscall\"\nenter = \"ud2\"");
        assert!(wide.starts_with("entries.toml: entry ud-i386: load \"syscall\" fills registers"), "{wide}");
    }
}

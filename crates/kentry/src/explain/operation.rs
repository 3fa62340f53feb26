//! An operation, explained from the table.

use document::Document;
use table::{Call, Loops, Operation, Table, Whose, X32_BIT};

/// What the operation does, its call numbers, and the entries that serve it; with its rows of a run, if one is given.
pub fn explain(table: &Table, operation: &Operation, document: Option<&Document>) -> String {
    let name = &operation.name;
    let what = super::capitalized(&operation.what);
    let mut text =
        format!("# {name}\n\n{what}. This is an operation: programs ask for it through an entry.\n");
    text.push_str("\n## How it is asked for\n\n");
    facts(operation).iter().for_each(|fact| text.push_str(&format!("- {fact}\n")));
    for (whose, heading) in [
        (Whose::Linux, "Entries on Linux"),
        (Whose::Lab, "Entries in the lab"),
        (Whose::Mach, "Entries in the lab, with `--personality mach`"),
    ] {
        let serves = table.entries.iter().filter(|entry| entry.operations_of(whose).contains(name));
        let lines: String = serves.map(|entry| format!("- `{}`: {}\n", entry.name, entry.title)).collect();
        if !lines.is_empty() {
            text.push_str(&format!("\n## {heading}\n\n{lines}"));
        }
    }
    text.push_str("\n## Measured\n\n");
    match document {
        Some(document) => {
            super::origin(document, &mut text);
            text.push_str(&rows(table, name, document));
        }
        None => text.push_str(&super::without_run(&command(table, name))),
    }
    text
}

/// The command that measures it.
fn command(table: &Table, name: &str) -> String {
    let has = |whose: Whose| table.rows(whose).any(|(_, operation)| operation.name == name);
    format!("{} --operation {name}", super::measuring(has))
}

fn facts(operation: &Operation) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(function) = &operation.function {
        facts.push(format!("C function: `{function}`"));
    }
    if let Some(clock) = operation.clock {
        facts.push(format!("Clock id: {clock}"));
    }
    for (abi, number) in &operation.numbers {
        facts.push(format!("Call number, {abi} ABI: {}", written(*number)));
        if abi == "x86_64" {
            let x32 = number | X32_BIT;
            facts.push(format!("Call number, x32 ABI: {x32:#x} (that of x86_64 with bit 30 set)"));
        }
    }
    if let Some(trap) = operation.trap {
        facts.push(format!(
            "Trap of GNU Mach: number -{trap}, the same by every entry that has it; docs/mach.md tells where its arguments are"
        ));
    }
    if operation.message {
        facts.push(
            "The header of the message is written before each use, and as well where there is none".into(),
        );
    }
    if operation.server {
        let who = if operation.thread {
            "A second thread of the probe's task"
        } else {
            "The probe runs once more, as another task, and"
        };
        facts.push(format!("{who} answers each message; what it does between its traps is in the cost"));
    }
    if let Some(bytes) = operation.bytes {
        facts.push(format!(
            "Behind the header are {bytes} bytes, both ways; of their words of four the answer has 1 added to the first and the last"
        ));
    }
    if operation.right {
        facts.push("Behind the header is a send right, which is moved to the other task and back".into());
    }
    facts.extend(operation.calls.iter().enumerate().map(|(place, call)| several(place, call)));
    if operation.process {
        facts.push(
            "The probe makes a process by `fork`, `execve` of itself (it ends at once) and `wait4`: at `libc` by the C library's \
             functions, otherwise by the entry's instruction. The timed instruction is the call of the function that does so, and \
             all that both processes do is in the cost"
                .into(),
        );
    }
    if let Some(nops) = operation.nops {
        let several = if nops == 1 { "1 NOP".to_owned() } else { format!("{nops} NOPs") };
        facts.push(format!(
            "The probe fills {several} into a ring that was set up before, submits by one `io_uring_enter` that waits for as many \
             completions, and consumes these. The timed instruction is the call of the function that does so"
        ));
    }
    facts.extend(operation.loops.iter().flat_map(|loops| unixbench(loops.baseline)));
    if let Some(offset) = operation.page_offset {
        facts.push(format!("Offset in the vsyscall page: {offset:#x}"));
    }
    if facts.is_empty() {
        facts.push("By the entry itself: there is no call number and no function for it".into());
    }
    facts
}

/// `Call 1: dup (call number 41 in the i386 ABI, 32 in the x86_64 ABI)`
fn several(place: usize, call: &Call) -> String {
    let numbers = call.numbers.iter().map(|(abi, number)| format!("{} in the {abi} ABI", written(*number)));
    let numbers = numbers.collect::<Vec<_>>().join(", ");
    format!("Call {}: `{}` (call number {numbers})", place + 1, call.function)
}

/// What UnixBench makes of its loops.
fn unixbench(baseline: Option<f64>) -> Vec<String> {
    let loops = "UnixBench counts turns in a second (`loops/s`). A turn is timed as every operation is, between two stamps, less \
                 the same code without the entry instructions: so it has no loop in it and, but at `libc`, no C library. \
                 `kentry reproduce pti-unixbench` times a loop, too";
    let index = baseline.map_or_else(
        || "UnixBench has no index for this mode".into(),
        |baseline| {
            let ten = Loops::BASELINE_INDEX;
            format!(
                "Its index is turns in a second ÷ {baseline} × {ten}: {ten} is what a SPARCstation 20-61 had"
            )
        },
    );
    vec![loops.into(), index]
}

/// In decimal as in the kernel's tables; large ones are bit patterns.
fn written(number: u32) -> String {
    if number < 0x1_0000 { number.to_string() } else { format!("{number:#x}") }
}

fn rows(table: &Table, name: &str, document: &Document) -> String {
    let rows = document.results.iter().filter(|row| row.operation == name);
    let lines: String = rows
        .map(|row| format!("- `{}`, {}\n", report::plain(&row.entry), report::summary_of_row(document, row)))
        .collect();
    if lines.is_empty() {
        format!("The run has no row of this operation; `{}` measures it.\n", command(table, name))
    } else {
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str) -> String {
        explain(Table::get(), Table::get().operation(name).unwrap(), None)
    }

    #[test]
    fn an_operation_names_its_numbers_function_and_entries() {
        let text = text("clock_gettime-monotonic");
        for fact in [
            "C function: `clock_gettime`",
            "Clock id: 1",
            "i386 ABI: 265",
            "x86_64 ABI: 228",
            "x32 ABI: 0x400000e4",
            "- `vdso-x86_64`: ",
            "## Entries in the lab",
            "kentry --operation clock_gettime-monotonic",
        ] {
            assert!(text.contains(fact), "{fact}: {text}");
        }
    }

    #[test]
    fn an_operation_of_several_calls_names_each_and_what_unixbench_makes_of_them() {
        let mix = text("unixbench-syscall");
        for fact in [
            "- Call 1: `dup` (call number 41 in the i386 ABI, 32 in the x86_64 ABI)\n",
            "- Call 5: `umask` (call number 60 in the i386 ABI, 95 in the x86_64 ABI)\n",
            "÷ 15000 × 10",
            "- `libc`: ",
        ] {
            assert!(mix.contains(fact), "{fact}: {mix}");
        }
        assert!(!mix.contains("Entries in the lab"), "the lab has no files");
        assert!(text("unixbench-close").contains("UnixBench has no index for this mode"));
        let exec = text("unixbench-exec");
        assert!(exec.contains("`execve` of itself") && exec.contains("- `libc`: "), "{exec}");
    }

    #[test]
    fn an_operation_of_gnu_mach_names_its_trap_its_entries_and_its_command() {
        let rpc = text("mach_msg-rpc");
        for fact in [
            "number -25",
            "answers each message",
            "- `lcall7-i386`: ",
            "kentry lab --personality mach --operation mach_msg-rpc",
        ] {
            assert!(rpc.contains(fact), "{fact}: {rpc}");
        }
        assert!(!rpc.contains("Behind the header"), "{rpc}");
        assert!(text("mach_msg-rpc-1024").contains("are 1024 bytes, both ways"));
        assert!(text("mach_msg-rpc-right").contains("is a send right, which is moved"));
        assert!(!rpc.contains("Entries on Linux") && !rpc.contains("`int80-i386`"), "{rpc}");
        assert!(text("mapped-time").contains("By the entry itself"));
    }

    #[test]
    fn every_operation_says_how_it_is_asked_for() {
        for operation in &Table::get().operations {
            let text = text(&operation.name);
            assert!(text.contains("asked for\n\n- "), "{text}");
            assert!(text.contains("## Entries "), "{text}");
        }
        assert!(text("signal").contains("By the entry itself"));
    }
}

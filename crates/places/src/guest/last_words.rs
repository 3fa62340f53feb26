//! The last words of a guest: which lines of its console tell how it ended.

/// Of what a console said, so many lines are told.
const LINES: usize = 4;

/// And so many letters of each.
const LETTERS: usize = 200;

/// What Linux prints before the cause of a panic.
const PANIC: &str = "Kernel panic - not syncing: ";

/// Why the kernel panicked, by its console: the first time, if it did more than once.
pub(crate) fn panic_of(console: &str) -> Option<String> {
    let (_, rest) = console.split_once(PANIC)?;
    Some(cut(rest.lines().next()?.trim()))
}

pub(crate) fn cut(line: &str) -> String {
    line.chars().take(LETTERS).collect()
}

/// The last lines of a console, without the times that kernels write before them.
pub(crate) fn ended(console: &str) -> String {
    last_lines(console).map_or_else(String::new, |last| format!("; its console ended: {last}"))
}

/// The last lines before a panic, which tell how it came to it; what is behind them is where the kernel was.
pub(crate) fn leading(console: &str) -> String {
    let before = console.split_once(PANIC).map_or("", |(before, _)| before);
    // The panic's own line has begun there.
    let whole = before.rsplit_once('\n').map_or("", |(lines, _)| lines);
    last_lines(whole).map_or_else(String::new, |last| format!("; before that, its console said: {last}"))
}

/// The last lines; but first what the kernel died of, however much it said after that.
fn last_lines(console: &str) -> Option<String> {
    let mut lines: Vec<&str> =
        console.lines().map(plain).filter(|line| !line.is_empty() && !is_dump(line)).collect();
    lines.dedup();
    let surplus = lines.len().saturating_sub(LINES);
    let death = lines.iter().position(|line| is_death(line)).filter(|at| *at < surplus);
    let last = lines.iter().skip(surplus + usize::from(death.is_some()));
    let told: Vec<String> =
        death.and_then(|at| lines.get(at)).into_iter().chain(last).map(|line| cut(line)).collect();
    (!told.is_empty()).then(|| told.join(" / "))
}

/// Whether a line begins what a kernel says when it dies: `divide error: 0000 [#1] PREEMPT SMP PTI`, with a `BUG: ` or two lines before it
/// where it can tell more (`__die_header` in arch/x86/kernel/dumpstack.c, and mm/fault.c).
fn is_death(line: &str) -> bool {
    line.contains(" [#1]") || line.starts_with("BUG: ") || line.starts_with("kernel BUG at ")
}

/// Whether a line dumps registers, code or the stack (`show_regs` in arch/x86/kernel/process_64.c, and dumpstack.c): it tells a reader
/// less than the line before it.
fn is_dump(line: &str) -> bool {
    const BEGINNINGS: [&str; 18] = [
        "CPU: ",
        "Hardware name: ",
        "RAX:",
        "RDX:",
        "RBP:",
        "RSP:",
        "R10:",
        "R13:",
        "FS:",
        "CS:",
        "CR2:",
        "DR0:",
        "DR3:",
        "PKRU:",
        "Code:",
        "Call Trace:",
        "Modules linked in:",
        "---[ end trace",
    ];
    let line = line.trim_start();
    let is_tag = line.starts_with('<') && line.ends_with('>');
    is_tag || is_frame(line) || BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
}

/// Whether a line is a frame of a stack and nothing else: `? do_idle+0x1a/0x30 [module]`.
fn is_frame(line: &str) -> bool {
    // Before 4.10 the address stood before it, too.
    let mut words = line.split_whitespace().skip_while(|word| *word == "?" || word.starts_with("[<"));
    let place = words.next().and_then(|word| word.split_once("+0x"));
    let is_module = |word: &str| word.starts_with('[') && word.ends_with(']');
    place.is_some_and(|(_, rest)| rest.contains("/0x")) && words.all(is_module)
}

/// A line of a kernel's log, `[    0.123456] text`, without its time; nor who wrote it, `[    0.123456][    T1] text`.
pub(crate) fn plain(line: &str) -> &str {
    let line = line.trim();
    let rest = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let is_time = |time: &str| {
        let time = time.split("][").next().unwrap_or_default();
        time.trim().bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    rest.filter(|(time, _)| is_time(time)).map_or(line, |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headline_that_names_a_place_was_taken_for_a_frame_of_the_stack() {
        for line in [
            "BUG: KASAN: slab-out-of-bounds in do_mount+0x12/0x340",
            "WARNING: CPU: 0 PID: 1 at arch/x86/kernel/fpu/core.c:50 fpu_init+0x1a/0x30",
            "initcall acpi_init+0x0/0x341 returned -19 after 0 usecs",
            "RIP: 0010:native_apic_mem_read+0x5/0x10",
        ] {
            assert!(!is_dump(line), "{line}");
        }
        let old = " [<ffffffff81334dd5>] ? dump_stack+0x5c/0x77";
        let with_caller = plain("[    0.123456][    T1]  start_kernel+0x5/0x10");
        for line in [
            old,
            with_caller,
            " start_kernel+0x5/0x10",
            " ? do_idle+0x1a/0x30 [module]",
            "PKRU: 55555554",
            " </TASK>",
        ] {
            assert!(is_dump(line), "{line}");
        }
    }

    #[test]
    fn times_of_a_log_are_left_out_and_nothing_else() {
        assert_eq!(plain("[    1.234567] text [1] x"), "text [1] x");
        assert_eq!(plain("[end] text"), "[end] text");
        assert_eq!(plain("[1.5]"), "[1.5]");
    }
}

//! The manual pages: the options from the command line's definition, and the sections that people look for.

use crate::cli::Cli;
use crate::compare::args::{BISECT_STATUS, COMPARE_STATUS};
use crate::error::Error;
use crate::exit::{DOCTOR_STATUS, EXEC_STATUS, EXIT_STATUS, IMPACT_STATUS, LAB_STATUS, NAGIOS, NOISY_STATUS};
use crate::output::print;
use crate::profiles;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io;
use std::process::ExitCode;
use table::Table;

/// A term and what it means.
type Item<'a> = (&'a str, &'a str);

/// The columns of the table.
const COLUMNS: &[Item] = &[
    (
        "core cycles",
        "Cost of one call in cycles of the core: the entry less the control, which is the same code without the entry. \
         Without core cycles the column is in TSC ticks; in an emulated guest it is in instructions.",
    ),
    (
        "± or 95 % interval",
        "Unit of the figure. The 95 % confidence interval for a typical round of this hour, on this CPU and in this boot. What an entry \
         into the kernel costs changes with a state of its core that lasts for seconds, and the interval contains that: usually 2 to \
         5 % after the default budget, and less after --budget 60. Kept runs of this machine since it booted tell how much it really \
         changes here, and make intervals wider or narrower. What stays in user space does not change so, and has well under 1 %. \
         Whether two runs differ, kentry compare tells. Costs that fewer than about one call in a round's samples pays \
         (1,000 of a cheap row, 100 of a dear one) hardly enter the estimate; where they are as rare as interrupts, they are \
         left out of max too. ± is the distance to its farther end; where one half is more than a fifth longer than the other, both \
         ends stand there instead.",
    ),
    (
        "served by",
        "Who answers a function: user, in user space alone, or kernel, which it enters. noisy: the row works, but with fewer \
         than six quiet rounds it has no estimate.",
    ),
    ("ns", "The same cost in nanoseconds, at the clock that the core ran at in that moment."),
    (
        "× syscall",
        "No unit. The cost divided by that of a system call that does nothing (syscall-x86_64, none).",
    ),
    ("× call", "No unit. The cost divided by that of a call and return through a pointer (call, none)."),
    ("logarithmic", "No unit. The cost as a bar on a logarithmic scale, which the legend names."),
    (
        "p99, p50, p99.9",
        "Unit of the figure. So many of 100 single samples are at most this. Most rows that stay in user space have none: \
         there, a sample is the mean of sixteen uses, because one is shorter than a step of many counters.",
    ),
    (
        "min, max",
        "Unit of the figure. The least and the greatest single sample, where a sample is of one use.",
    ),
    ("ticks", "The cost in ticks of the time stamp counter (TSC)."),
    (
        "throughput",
        "Core cycles. Cost of one call of many that are made back to back, without fences between them.",
    ),
    (
        "loops/s, index",
        "Of UnixBench's loops (unixbench-…), in a table of their own: turns in a second, 1,000,000,000 divided by the ns of one \
         turn, and UnixBench's index, turns in a second ÷ 15000 × 10, which only its mix of calls has. Each with its interval.",
    ),
    ("rounds", "Number of rounds that the estimate is made of, and of all that were taken."),
    ("CPU", "Number of the CPU that the estimate is of; - where no CPU had enough rounds of its own."),
    ("samples", "Number of single samples that the figures are made of, and of all that were taken."),
    ("disturbed", "Number of samples that were left out because something disturbed them."),
    (
        "modes",
        "The costs around which single samples gather, if there are several, each with its share of the samples. Each is the mean of \
         its samples; where the counter's steps are coarse, single samples (min, p50) are read in these steps, and a mean may lie \
         below the least of them. Two costs also stand in a line below the row: the figure is the median of the rounds, each the mean \
         of its samples, and may lie at one cost or between both.",
    ),
    ("note", "Why a row has no figures, or what there is to know about those that it has."),
];

/// The columns and lines of a bill.
const BILLED: &[Item] = &[
    ("bare", "The entry with every switch at its first value."),
    ("alone", "What the step adds to bare and to what it requires."),
    ("in company", "What the whole loses without the step; what requires the step is in neither."),
    (
        "in orders",
        "With --orders: the mean of what it added in random orders, in which each comes after what it requires.",
    ),
    ("share", "Of the whole: alone, or in orders where there are any."),
    ("needs", "What the processor must have for it."),
    (
        "-",
        "Not measured, because the processor lacks what it needs; or the step adds no instruction, and what else it costs, a \
         count cannot see.",
    ),
    ("without effect", "Its instructions were counted, but the emulated processor lacks the feature."),
    ("interactions", "The whole less bare and the sum of the steps, each alone."),
    (
        "rest",
        "With --run: what that Linux took less what the lab's whole path takes here. No step is fitted to it; it may be negative.",
    ),
];

/// The columns and verdicts of a comparison.
const COMPARED: &[Item] = &[
    ("slower, faster", "The whole interval of the change lies above zero, or below."),
    (
        "slower (within 2 %)",
        "The same, and the whole interval lies within the margin (--margin): there is a change, and it is small.",
    ),
    ("same within 2 %", "The whole interval lies within the margin, and contains zero."),
    ("inconclusive", "Neither can be told. Below the table stands how many more runs would tell."),
    ("opened, closed, cause changed", "A row works on one side alone, or on neither for different reasons."),
    (
        "base, new",
        "Core cycles, unless the line below the table says otherwise. The mean of the side's runs, weighed by how precise each \
         is.",
    ),
    ("change", "Unit of the figures. New less base."),
    (
        "±",
        "Unit of the figure before it. The distance to the farther end of the interval that the verdict rests on. It contains \
         how much rows vary from run to run, and is as wide as the number of compared rows requires.",
    ),
    ("%", "The change in percent of base."),
    (
        "log",
        "No unit. The size of the change as a bar, from 0.1 % to 100 %; the mark before the row tells its direction.",
    ),
];

const ENVIRONMENT: &[Item] = &[
    ("NO_COLOR", "If set and not empty, there is no color unless --color always asks for it."),
    ("TERM", "If it is dumb, there is no color unless --color always asks for it."),
    (
        "LC_ALL, LC_CTYPE, LANG",
        "The first that is set and not empty names the locale. If that is not a UTF-8 one (such as C), text is ASCII only: \
         +- for ±, x for ×, # for bars. JSON, CSV and Markdown are always UTF-8.",
    ),
    (
        "KENTRY_PAGER, PAGER",
        "What kentry explain shows long text with on a terminal; less, if none is set. No pager is used if it is empty or cat.",
    ),
    ("LESS, LV", "Set to FRX and to -c for the pager, unless they are set already."),
    (
        "PATH",
        "Where kentry lab, linux, anatomy and bill look for qemu-system-x86_64, kentry lab also for bochs and grub-mkrescue.",
    ),
];

const FILES: &[Item] = &[
    (
        "entries.toml",
        "The table of entries and operations that the command was built with; kentry list shows it.",
    ),
    (
        "/proc, /sys",
        "Where the facts about the machine are read from. What cannot be read is named in the JSON.",
    ),
    (
        "~/.local/share/kentry/runs",
        "The runs that are kept (XDG_DATA_HOME): documents in gzip's format, called ID.json.gz.",
    ),
    (
        "*.schema.json",
        "The schemas of JSON documents, in share/doc/kentry: run.schema.json of runs, others of what else is made.",
    ),
];

const EXAMPLES: &[Item] = &[
    ("kentry", "Measure the entries that programs use, and print what they cost on one screen."),
    ("kentry --all", "Measure every entry and operation that this machine offers."),
    ("kentry --budget 20 --output run.json", "Measure for 20 seconds and keep the result, as JSON."),
    (
        "kentry --entry 'vdso-*' --operation clock_gettime --verbose",
        "All clocks of the vDSO in 64 and 32 bit, with every column.",
    ),
    (
        "kentry --operation none --operation getppid --output table.md",
        "The bare crossing and the smallest call through each entry, as Markdown for an issue.",
    ),
    ("kentry --name before --tag kernel=old", "Measure, and keep the run under a name."),
    ("kentry runs", "List the runs that are kept, the newest first."),
    ("kentry runs prune --keep 100 --within 30d", "Remove old runs that have neither a name nor a tag."),
    ("kentry show before latest", "Show two kept runs, one after the other."),
    ("kentry compare before latest", "Did it get slower since?"),
    (
        "kentry compare --base a1 --base a2 --base a3 --new b1 --new b2 --new b3 --fail-above 3% --fail-on closed",
        "Three runs a side, as a gate: end with 1 if a row costs 3 % more for sure, or does not work any more.",
    ),
    (
        "kentry compare before latest --output - --output compare.md --output junit.xml",
        "Print it, and write it for a pull request and for a CI server.",
    ),
    (
        "git bisect run sh -c './build-and-boot || exit 125; for i in 1 2 3; do kentry --tag commit=$(git rev-parse HEAD) || exit 125; done; kentry compare --base \"good-*\" --new tag:commit=$(git rev-parse HEAD) --fail-above 5% --git-bisect'",
        "Find the commit that made an entry slower; commits for which that cannot be told are skipped.",
    ),
    (
        "kentry report latest -o report.html",
        "Write a page of HTML about the last run, with charts of its rounds and samples.",
    ),
    (
        "kentry report before latest -o report.html",
        "A page that shows two runs side by side, and compares them.",
    ),
    ("kentry show run.json --all", "Show a saved run, with every row."),
    (
        "kentry show --recompute run.json --format csv",
        "Compute the figures of a saved run again from its rounds, and print them as CSV.",
    ),
    (
        "kentry --cpu all --operation none",
        "The bare crossing on each kind of core of this machine, side by side.",
    ),
    ("kentry --strict-budget --budget 2", "Measure for two seconds, even if rows then lack quiet rounds."),
    ("kentry bill", "What each protection of this machine's kernel adds to a system call, in the lab."),
    (
        "kentry bill --profile linux-6.1 --without pti --orders 20 --output bill.svg",
        "Linux 6.1 without page-table isolation, its steps also in 20 random orders, as a picture.",
    ),
    (
        "kentry bill --run latest",
        "How much of what the last run measured on this Linux the lab explains, and what is left.",
    ),
    (
        "kentry bill --profile bare --set cr3-writes=1 --set cr3-writes=2",
        "The first and the second additional write of CR3, each by itself.",
    ),
    (
        "kentry explain pti=on",
        "A protection: the attack, the processors, the remedy, the price, the instructions, and where Linux has it.",
    ),
    (
        "kentry explain Meltdown",
        "The same by the name of the attack; of one with several remedies, such as Retbleed, all of these.",
    ),
    ("kentry explain syscall", "What the instruction does, what Linux does, which registers it needs."),
    (
        "kentry explain getppid --run run.json",
        "What an operation is, and what it cost through each entry in a saved run.",
    ),
    (
        "kentry explain syscall --example > hello.S && gcc -nostdlib -static -no-pie -o hello hello.S",
        "A complete program that uses the entry.",
    ),
    ("kentry doctor", "What is wrong with this machine, what it costs, and what to do."),
    (
        "kentry doctor --check carried -- setpriv --no-new-privs",
        "What a command puts around a program, and what that adds to its calls.",
    ),
    ("kentry doctor --fail-on never --output kentry.prom", "The same as metrics for node_exporter."),
    ("kentry tax", "What each layer between a program and the kernel would add to a call, in core cycles."),
    (
        "kentry tax --layer seccomp-profile --seccomp-profile default.json --layer ptrace",
        "What the filter of a container's profile adds, and what strace does.",
    ),
    (
        "kentry impact --pid 1234",
        "What share of a process's CPU time goes into entry and exit, by call, for five seconds.",
    ),
    (
        "kentry impact --output impact.md -- redis-benchmark -q",
        "The same of a command and its children, as an ordinary user too.",
    ),
    ("kentry reproduce --list", "List the published tables that can be measured again."),
    (
        "kentry reproduce gettimeofday-4.14",
        "What gettimeofday cost by each entry on a laptop of 2015, and what it costs here.",
    ),
    (
        "kentry lab --entry syscall --set pti=off --set pti=on",
        "What page-table isolation costs, in kentry's own kernel in a virtual machine.",
    ),
    (
        "kentry linux --entry syscall --set pti=off --set pti=on",
        "What page-table isolation costs in a Linux, booted in a virtual machine with it and without.",
    ),
    (
        "kentry linux --kernel vmlinuz-6.1 --kernel vmlinuz-6.12 --operation getppid",
        "Two kernels side by side.",
    ),
    (
        "kentry linux --history vmlinuz-6.1 vmlinuz-6.12 --operation getppid --output kernels.svg",
        "What changes from one kernel to the next, drawn.",
    ),
    (
        "kentry anatomy syscall",
        "The instructions of a getppid in this machine's kernel, counted by what they belong to; --format listing shows each.",
    ),
    (
        "kentry anatomy int80-i386 --kernel vmlinuz-6.1 --append pti=off --against pti=on",
        "What page-table isolation executes more, instruction by instruction.",
    ),
    (
        "kentry anatomy syscall --kernel vmlinuz-6.1 --against-kernel vmlinuz-6.12",
        "What the newer of two kernels executes more and less, by part, by function, and instruction by instruction.",
    ),
    ("kentry anatomy page-fault --output fault.svg", "A page fault as a flame graph."),
];

/// The page of the command, or of what these words name: a subcommand, or one of a subcommand's own. The page is called `kentry-WORD-WORD`
/// then. None if there is no such.
///
/// # Errors
/// None in practice: it writes to memory.
pub fn page(words: &[&str]) -> io::Result<Option<Vec<u8>>> {
    let without_help = |command: Command| command.disable_help_subcommand(true);
    let mut command = without_help(Cli::command()).mut_subcommands(without_help);
    command.build();
    let asked = words.iter().try_fold(&command, |command, word| {
        command.get_subcommands().find(|known| known.get_name() == *word)
    });
    asked.map(|asked| write(asked, words)).transpose()
}

fn write(command: &Command, words: &[&str]) -> io::Result<Vec<u8>> {
    let subcommand = words.first().copied();
    let title = command.get_display_name().unwrap_or("kentry").to_string();
    // The library leaves out what is said of an option that the short help does not show.
    let whole = command.clone().mut_args(|option| option.hide_short_help(false));
    let man = Man::new(whole).title(title);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut roff = Roff::new();
    let measures = matches!(subcommand, None | Some("measure" | "lab" | "linux"));
    if matches!(subcommand, Some("lab" | "bill")) {
        switches(&mut roff);
    }
    if subcommand == Some("anatomy") {
        let parts = attribution::anatomy::Part::ALL.iter().map(|part| (part.name(), part.what()));
        section(&mut roff, "PARTS", &parts.collect::<Vec<Item>>());
    }
    if matches!(subcommand, Some("linux" | "anatomy")) {
        parameters(&mut roff);
    }
    if subcommand == Some("bill") {
        section(&mut roff, "PROFILES", &profiles::all(Table::get()).collect::<Vec<Item>>());
        section(&mut roff, "COLUMNS", BILLED);
    }
    if measures {
        section(&mut roff, "COLUMNS", COLUMNS);
    }
    if subcommand == Some("reproduce") {
        let tables = compare::published::Publications::get()
            .iter()
            .map(|table| (table.name.as_str(), table.title.as_str()));
        section(&mut roff, "TABLES", &tables.collect::<Vec<Item>>());
    }
    if subcommand == Some("tax") {
        let layers = layers::LAYERS.iter().map(|layer| (layer.name, layer.what));
        section(&mut roff, "LAYERS", &layers.collect::<Vec<Item>>());
    }
    if subcommand == Some("compare") {
        section(&mut roff, "COLUMNS AND VERDICTS", COMPARED);
    }
    status(&mut roff, subcommand);
    section(&mut roff, "ENVIRONMENT", ENVIRONMENT);
    if measures {
        section(&mut roff, "FILES", FILES);
    }
    let name = subcommand.filter(|name| *name != "measure").map(|_| format!("kentry {}", words.join(" ")));
    let is_of_page = |item: &&Item| name.as_ref().is_none_or(|name| item.0.starts_with(name.as_str()));
    let examples: Vec<Item> = EXAMPLES.iter().filter(is_of_page).copied().collect();
    if !examples.is_empty() {
        section(&mut roff, "EXAMPLES", &examples);
    }
    roff.to_writer(&mut page)?;
    // The library panics where there is none.
    if command.get_version().is_some() {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}

fn section(roff: &mut Roff, heading: &str, all: &[Item]) {
    roff.control("SH", [heading]);
    items(roff, all);
}

fn items(roff: &mut Roff, all: &[Item]) {
    for (term, text) in all {
        roff.control("TP", []);
        roff.text([bold(*term)]);
        roff.text([roman(*text)]);
    }
}

fn switches(roff: &mut Roff) {
    let switch = |switch: &table::Switch| {
        let text = format!("{} (default: {})", switch.what, switch.default);
        (format!("{}={}", switch.name, switch.choices()), text)
    };
    let all: Vec<(String, String)> = Table::get().switches.iter().map(switch).collect();
    let all: Vec<Item> = all.iter().map(|(term, text)| (term.as_str(), text.as_str())).collect();
    section(roff, "SWITCHES", &all);
}

fn parameters(roff: &mut Roff) {
    let term = |parameter: &table::Parameter| format!("{}={}", parameter.name, parameter.choices());
    let all: Vec<(String, &str)> =
        Table::get().parameters.iter().map(|one| (term(one), one.what.as_str())).collect();
    let all: Vec<Item> = all.iter().map(|(term, text)| (term.as_str(), *text)).collect();
    section(roff, "PARAMETERS", &all);
}

fn status(roff: &mut Roff, subcommand: Option<&str>) {
    let paragraph = |roff: &mut Roff, text: &str| {
        roff.control("PP", []);
        roff.text([roman(text)]);
    };
    match subcommand {
        Some("compare") => {
            section(roff, "EXIT STATUS", COMPARE_STATUS);
            paragraph(roff, "With --git-bisect:");
            items(roff, BISECT_STATUS);
        }
        Some("lab" | "linux") => {
            section(roff, "EXIT STATUS", EXIT_STATUS);
            items(roff, LAB_STATUS);
            paragraph(roff, "With --exec, the exit status is the program's, or one of these:");
            items(roff, EXEC_STATUS);
        }
        Some("impact") => {
            section(roff, "EXIT STATUS", EXIT_STATUS);
            paragraph(
                roff,
                "With -- COMMAND, the exit status is the command's (0 where --seconds ended it), or one of these:",
            );
            items(roff, IMPACT_STATUS);
        }
        Some("bill" | "anatomy") => {
            section(roff, "EXIT STATUS", EXIT_STATUS);
            items(roff, LAB_STATUS);
        }
        Some("doctor") => {
            section(roff, "EXIT STATUS", DOCTOR_STATUS);
            paragraph(roff, NAGIOS);
        }
        None | Some("measure") => {
            section(roff, "EXIT STATUS", EXIT_STATUS);
            items(roff, &[NOISY_STATUS]);
        }
        _ => section(roff, "EXIT STATUS", EXIT_STATUS),
    }
}

/// Prints the page of what the words name.
pub fn run(words: &[String]) -> Result<ExitCode, Error> {
    let asked: Vec<&str> = words.iter().map(String::as_str).collect();
    let page = page(&asked)
        .map_err(|source| Error::Output { target: "manual page".into(), source })?
        .ok_or_else(|| {
            let name = report::plain(&words.join(" "));
            Error::Usage(format!("there is no manual page of a subcommand \"{name}\""))
        })?;
    print(&page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn text(words: &[&str]) -> String {
        String::from_utf8(page(words).unwrap().unwrap_or_default()).unwrap().replace("\\-", "-")
    }

    /// The words that name each page, that of the command among them.
    fn all() -> Vec<Vec<String>> {
        let own = |command: &Command| -> Vec<Vec<String>> {
            let name = command.get_name().to_owned();
            let below =
                command.get_subcommands().map(|below| vec![name.clone(), below.get_name().to_owned()]);
            below.chain([vec![name.clone()]]).collect()
        };
        Cli::command().get_subcommands().flat_map(own).chain([Vec::new()]).collect()
    }

    #[test]
    fn every_subcommand_has_a_page() {
        for words in all() {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            assert!(text(&words).contains(".SH \"EXIT STATUS\""), "{words:?}");
        }
        assert_eq!(page(&["teleport"]).unwrap(), None);
        assert_eq!(page(&["runs", "teleport"]).unwrap(), None);
    }

    #[test]
    fn every_option_of_every_page_has_a_description() {
        for words in all() {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let page = text(&words);
            let lines: Vec<&str> = page.lines().collect();
            let items = lines.windows(3).filter(|lines| lines[0] == ".TP");
            let bare: Vec<&str> = items
                .filter(|item| item[2].is_empty() || item[2].starts_with('.'))
                .map(|item| item[1])
                .collect();
            assert_eq!(bare, Vec::<&str>::new(), "{words:?}");
        }
    }

    #[test]
    fn every_page_that_a_page_names_is_there() {
        let mut named = BTreeSet::new();
        for words in all() {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let page = text(&words);
            let pages = page
                .split_whitespace()
                .filter_map(|word| word.strip_prefix("kentry-")?.strip_suffix("(1)").map(str::to_owned));
            named.extend(pages);
        }
        assert!(named.contains("lab") && named.contains("runs-prune"), "{named:?}");
        for name in named {
            let words: Vec<&str> = name.split('-').collect();
            assert!(!text(&words).is_empty(), "{name}");
        }
    }
}

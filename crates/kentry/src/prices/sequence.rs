//! The instructions that a setting brings, as the kernel in this command has them.

use table::paths::{Executed, File, Paths, Step};
use table::{Setting, SwitchValues, Table};

/// Paths to look at, in this order: what changes the first is shown there.
/// Each with an entry that goes that way.
const PATHS: [(&str, &str); 4] = [
    ("syscall_x86_64", "syscall-x86_64"),
    ("int80", "int80-x86_64"),
    ("sysenter_x86_64", "sysenter-x86_64"),
    ("exception", "ud"),
];

/// What stands in a template for a switch's number (PARAMETER_VALUE of lab/entry/layout.h), and what is shown.
const PARAMETER: (&str, &str) = ("0x5a5a5a5a", "NUMBER");

/// What a path has more, and less, with a setting.
struct Change {
    path: &'static str,
    entry: &'static str,
    added: Vec<Step>,
    removed: Vec<Step>,
}

impl Change {
    fn counted(&self, table: &Table, setting: &Setting) -> Counted {
        let count = |steps: &[Step]| steps.iter().map(|step| executed(step, setting, table)).sum();
        Counted { entry: self.entry, more: count(&self.added), fewer: count(&self.removed) }
    }
}

/// How many instructions a setting adds to a call, and how many it takes away.
pub struct Counted {
    /// An entry whose path it changes.
    pub entry: &'static str,
    /// So many are there with it alone.
    pub more: u64,
    /// So many are there without it alone.
    pub fewer: u64,
}

/// Counted on the first path that a setting changes, beside bare and what it requires; none where it changes none.
pub fn counted(table: &Table, setting: &Setting) -> Option<Counted> {
    let (_, paths) = places::lab::kernel_paths(places::lab::Mode::Long).ok()?;
    Some(change(table, &paths, setting)?.counted(table, setting))
}

/// The steps of the first path that a setting changes, instruction by instruction; the other switches are as bare has them, with what
/// the setting requires.
pub fn text(table: &Table, setting: &Setting) -> String {
    let heading = format!("\n## In the lab: {setting}\n\n");
    let Ok((kernel, paths)) = places::lab::kernel_paths(places::lab::Mode::Long) else {
        return String::new();
    };
    let Some(change) = change(table, &paths, setting) else {
        return heading
            + "Beside bare it adds no instruction to any entry; beside other settings it may (`kentry bill`, in company).\n";
    };
    let count = change.counted(table, setting).more;
    let instructions = if count == 1 { "1 instruction".into() } else { format!("{count} instructions") };
    let mut text =
        format!("{heading}On the path `{}`, a call executes {instructions} of these steps:\n\n", change.path);
    change.added.iter().for_each(|step| text.push_str(&listed(&kernel, step)));
    if !change.removed.is_empty() {
        text.push_str("\nThey stand instead of:\n\n");
        change.removed.iter().for_each(|step| text.push_str(&listed(&kernel, step)));
    }
    text
}

fn change(table: &Table, paths: &Paths, setting: &Setting) -> Option<Change> {
    let required = table.required(setting, &table.bare()).ok()?;
    let without = table.with(&required);
    let with = table.with(&[required.as_slice(), std::slice::from_ref(setting)].concat());
    PATHS.iter().find_map(|(name, entry)| {
        let steps: Vec<Step> =
            paths.steps(paths.path(name)?).into_iter().filter(|step| !step.code.is_empty()).collect();
        let is_on = |step: &Step, whole: &SwitchValues| step.is_on(&pairs(whole));
        let only = |on: &SwitchValues, off: &SwitchValues| {
            let here = steps.iter().filter(|step| is_on(step, on) && !is_on(step, off));
            here.cloned().collect::<Vec<Step>>()
        };
        let (added, removed) = (only(&with, &without), only(&without, &with));
        (!added.is_empty() || !removed.is_empty()).then_some(Change { path: name, entry, added, removed })
    })
}

fn pairs(whole: &SwitchValues) -> Vec<(&str, &str)> {
    whole.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// How many instructions of a step a call executes.
fn executed(step: &Step, setting: &Setting, table: &Table) -> u64 {
    match step.executed {
        None => step.instructions().len() as u64,
        Some(Executed { count, each, switch }) => {
            let number = table.switch(&setting.name).filter(|known| u32::from(known.id) == switch);
            let number = number.and_then(|known| known.value(&setting.value)).unwrap_or(0);
            count + each * u64::from(number)
        }
    }
}

fn listed(kernel: &File, step: &Step) -> String {
    let lines = table::paths::disassemble(kernel, step.start, &step.code, Some(step.start));
    let lines = lines.iter().map(|line| format!("        {}\n", line.text.replace(PARAMETER.0, PARAMETER.1)));
    format!("    {}\n{}", report::plain(&step.name), lines.collect::<String>())
}

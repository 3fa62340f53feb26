//! The kernel.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;

use serde::{Deserialize, Serialize};

use crate::command_line;
use crate::cpuinfo::CpuInfo;
use crate::kernel_config::{self, KernelConfig};
use crate::reader::Reader;

/// The kernel that answered, and how it was built and started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunningKernel {
    /// uname: `Linux`.
    pub sysname: Option<String>,
    /// uname: `6.1.0-18-amd64`.
    pub release: Option<String>,
    /// uname: build number, `SMP`, preemption, date.
    pub version: Option<String>,
    /// uname: `x86_64`.
    pub machine: Option<String>,
    /// `/proc/cmdline`.
    pub command_line: Option<String>,
    /// Whether the kernel moves its stack by a random amount on every system call.
    pub randomize_kstack_offset: Option<bool>,
    /// What says so.
    pub randomize_kstack_offset_source: Option<String>,
    /// Kernel page-table isolation: each entry switches page tables. Taken from the kernel's CPU flag `pti`, or else from the
    /// text of `vulnerabilities/meltdown`.
    pub pti: Option<bool>,
    /// How the kernel was built, from uname's version: `dynamic`, `rt`, `lazy`, `full`, `none or voluntary`.
    pub preemption: Option<String>,
    /// The preemption model in force, where the boot can choose it: `none`, `voluntary`, `full`, `lazy`.
    pub preemption_mode: Option<String>,
    /// What says so.
    pub preemption_mode_source: Option<String>,
    /// The file that `config` was read from.
    pub config_source: Option<String>,
    /// Options that decide about entries, without `CONFIG_`, → `y`, `m`, `n` or a value. An option that this kernel
    /// does not know is not in the map.
    pub config: Option<BTreeMap<String, String>>,
}

/// A fact and its source.
type Sourced<T> = Option<(T, String)>;

impl RunningKernel {
    /// How it preempts: as it runs now, or else as it was built.
    pub fn preemption_model(&self) -> Option<&str> {
        self.preemption_mode.as_deref().or(self.preemption.as_deref())
    }

    /// Whether it was booted with this parameter (`syscall.x32=y`), and no other value behind it.
    pub fn is_given(&self, parameter: &str) -> bool {
        let given = |line| {
            let (name, wanted) = parameter.split_once('=')?;
            let value = command_line::value(line, name)?;
            let same =
                command_line::boolean(wanted).is_some_and(|on| command_line::boolean(value) == Some(on));
            Some(value == wanted || same)
        };
        self.command_line.as_deref().and_then(given).unwrap_or(false)
    }

    /// `meltdown` is the line of that name among the mitigations.
    pub(crate) fn capture(reader: &mut Reader, info: Option<&CpuInfo>, meltdown: Option<&str>) -> Self {
        let mut kernel = Self::from_uname();
        kernel.command_line = reader.line("/proc/cmdline");
        let config = kernel_config::capture(reader, kernel.release.as_deref().unwrap_or_default());
        let line = kernel.command_line.as_deref();
        let offset = kstack_offset(line, config.as_ref());
        // For root only, and only where debugfs is mounted.
        let switch = reader.candidate_line("/sys/kernel/debug/sched/preempt");
        let mode = kernel.version.as_deref().and_then(|version| {
            preemption_mode(version, switch.as_deref(), kernel.command_line.as_deref(), config.as_ref())
        });
        if offset.is_none() {
            reader.miss_expected(
                "randomize_kstack_offset",
                "neither the command line nor a configuration tells",
            );
        }
        if mode.is_none() {
            reader.miss_expected(
                "the preemption mode",
                "neither debugfs, the command line nor a configuration tells",
            );
        }
        kernel.preemption = kernel.version.as_deref().map(|version| preemption(version).to_owned());
        (kernel.preemption_mode, kernel.preemption_mode_source) = mode.unzip();
        (kernel.randomize_kstack_offset, kernel.randomize_kstack_offset_source) = offset.unzip();
        kernel.pti = pti(info.and_then(|info| info.flags.as_deref()), meltdown);
        (kernel.config_source, kernel.config) = config.map(|config| (config.source, config.options)).unzip();
        kernel
    }

    fn from_uname() -> Self {
        let Ok(uname) = nix::sys::utsname::uname() else { return Self::default() };
        let words = |field: &std::ffi::OsStr| Some(crate::text::clean(field.as_bytes()));
        Self {
            sysname: words(uname.sysname()),
            release: words(uname.release()),
            version: words(uname.version()),
            machine: words(uname.machine()),
            ..Self::default()
        }
    }
}

/// Kernel, `init/main.c`: the parameter overrules the built-in default, if the feature is built in at all.
fn kstack_offset(line: Option<&str>, config: Option<&KernelConfig>) -> Sourced<bool> {
    const NAME: &str = "randomize_kstack_offset";
    let built_in = config.and_then(|config| config.is_set("RANDOMIZE_KSTACK_OFFSET"));
    if let (Some(false), Some(config)) = (built_in, config) {
        return Some((false, format!("{}: not built in", config.source)));
    }
    let asked = line.and_then(|line| command_line::value(line, NAME)).and_then(command_line::boolean);
    if let Some(asked) = asked {
        return Some((asked, "the command line".to_owned()));
    }
    // The default holds only if the command line was read and does not overrule it.
    line?;
    let config = config?;
    let default = config.is_set("RANDOMIZE_KSTACK_OFFSET_DEFAULT")?;
    Some((default, format!("{}: the built-in default", config.source)))
}

/// `PTI` in the text, or the kernel's flag, which is also there when isolation was forced on a safe processor.
fn pti(flags: Option<&[&str]>, meltdown: Option<&str>) -> Option<bool> {
    if flags.is_some_and(|flags| flags.contains(&"pti")) {
        return Some(true);
    }
    let meltdown = meltdown?;
    if meltdown.starts_with("Unknown") {
        return None;
    }
    Some(meltdown.starts_with("Mitigation: PTI"))
}

/// Kernel, `init/Makefile`: the word that a build puts into its version.
fn preemption(version: &str) -> &'static str {
    let words: Vec<&str> = version.split_whitespace().collect();
    let models =
        [("PREEMPT_RT", "rt"), ("PREEMPT_DYNAMIC", "dynamic"), ("PREEMPT_LAZY", "lazy"), ("PREEMPT", "full")];
    let found = models.iter().find(|(word, _)| words.contains(word));
    found.map_or("none or voluntary", |(_, model)| model)
}

/// The model in force. `switch` is debugfs's `sched/preempt`: `none voluntary (full)`.
fn preemption_mode(
    version: &str,
    switch: Option<&str>,
    line: Option<&str>,
    config: Option<&KernelConfig>,
) -> Sourced<String> {
    const MODES: [&str; 4] = ["none", "voluntary", "full", "lazy"];
    let known = |mode: &str| MODES.iter().find(|known| **known == mode).map(|known| (*known).to_owned());
    let built = preemption(version);
    if built == "full" || built == "lazy" || built == "rt" {
        let mode = if built == "rt" { "full" } else { built };
        return Some((mode.to_owned(), "uname's version".to_owned()));
    }
    let marked = switch.and_then(|switch| switch.split_once('(')?.1.split_once(')'));
    if let Some(mode) = marked.and_then(|(mode, _)| known(mode)) {
        return Some((mode, "/sys/kernel/debug/sched/preempt".to_owned()));
    }
    if built == "dynamic" {
        let asked = line.and_then(|line| command_line::value(line, "preempt"));
        if let Some(mode) = asked.and_then(known) {
            return Some((mode, "the command line".to_owned()));
        }
        line?;
    }
    let config = config?;
    let options = ["PREEMPT_NONE", "PREEMPT_VOLUNTARY", "PREEMPT", "PREEMPT_LAZY"];
    let chosen = options.iter().zip(MODES).find(|(option, _)| config.is_set(option) == Some(true));
    chosen.map(|(_, mode)| (mode.to_owned(), format!("{}: the built-in default", config.source)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::GARBAGE;

    fn config(text: &str) -> KernelConfig {
        KernelConfig { source: "config".to_owned(), options: kernel_config::parse(text) }
    }

    #[test]
    fn the_stack_offset_and_what_overrules_what() {
        let on = config("CONFIG_RANDOMIZE_KSTACK_OFFSET=y\nCONFIG_RANDOMIZE_KSTACK_OFFSET_DEFAULT=y\n");
        let off =
            config("CONFIG_RANDOMIZE_KSTACK_OFFSET=y\n# CONFIG_RANDOMIZE_KSTACK_OFFSET_DEFAULT is not set\n");
        let none = config("# CONFIG_RANDOMIZE_KSTACK_OFFSET is not set\n");
        let value = |line, config| kstack_offset(line, config).map(|found| found.0);
        assert_eq!(value(Some("quiet"), Some(&on)), Some(true));
        assert_eq!(value(Some("quiet"), Some(&off)), Some(false));
        assert_eq!(value(Some("randomize_kstack_offset=off"), Some(&on)), Some(false));
        assert_eq!(value(Some("randomize_kstack_offset=on"), Some(&off)), Some(true));
        assert_eq!(value(Some("randomize_kstack_offset=on"), Some(&none)), Some(false));
        assert_eq!(value(Some("randomize_kstack_offset=on"), None), Some(true));
        assert_eq!(value(Some("randomize_kstack_offset=?"), Some(&on)), Some(true));
        assert_eq!(value(Some("quiet"), None), None);
        assert_eq!(value(None, Some(&on)), None);
    }

    #[test]
    fn page_table_isolation() {
        assert_eq!(pti(None, Some("Mitigation: PTI")), Some(true));
        assert_eq!(pti(None, Some("Not affected")), Some(false));
        assert_eq!(pti(None, Some("Vulnerable")), Some(false));
        assert_eq!(pti(Some(&["pti"]), Some("Not affected")), Some(true));
        let xen = "Unknown (XEN PV detected, hypervisor mitigation required)";
        assert_eq!(pti(Some(&[]), Some(xen)), None);
        assert_eq!(pti(None, None), None);
    }

    #[test]
    fn preemption_as_built() {
        assert_eq!(preemption("#1 SMP PREEMPT_DYNAMIC @0"), "dynamic");
        assert_eq!(preemption("#1 SMP PREEMPT_RT Debian 6.1.76-1"), "rt");
        assert_eq!(preemption("#1 SMP PREEMPT Mon"), "full");
        assert_eq!(preemption("#101-Ubuntu SMP Tue"), "none or voluntary");
        for text in GARBAGE {
            assert_eq!(preemption(text), "none or voluntary");
        }
    }

    #[test]
    fn preemption_in_force() {
        let none = config("CONFIG_PREEMPT_NONE=y\nCONFIG_PREEMPT_DYNAMIC=y\n");
        let dynamic = "#1 SMP PREEMPT_DYNAMIC";
        let mode = |version, switch, line, config| {
            preemption_mode(version, switch, line, config).map(|found| found.0)
        };
        assert_eq!(mode(dynamic, None, Some("quiet"), Some(&none)).as_deref(), Some("none"));
        assert_eq!(mode(dynamic, None, Some("preempt=full"), Some(&none)).as_deref(), Some("full"));
        assert_eq!(mode(dynamic, Some("none voluntary (lazy)"), None, None).as_deref(), Some("lazy"));
        assert_eq!(mode(dynamic, Some("(\u{fffd})"), Some(""), None), None);
        assert_eq!(mode("#1 SMP PREEMPT_RT", None, None, None).as_deref(), Some("full"));
        assert_eq!(mode("#1 SMP", None, None, None), None);
        let voluntary = config("CONFIG_PREEMPT_VOLUNTARY=y\n");
        assert_eq!(mode("#1 SMP", None, None, Some(&voluntary)).as_deref(), Some("voluntary"));
    }
}

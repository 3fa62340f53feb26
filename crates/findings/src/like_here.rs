//! The profile that is like this machine's kernel: which steps it says that it uses, and what is guessed where it says nothing.
//!
//! What a kernel says is in `/sys/devices/system/cpu/vulnerabilities` (arch/x86/kernel/cpu/bugs.c), in the flags and bugs of
//! `/proc/cpuinfo`, on its command line and in its configuration. What it executes without a word is guessed from its version.

use environment::Environment;
use environment::{Version, version};
use std::collections::BTreeMap;
use table::{ORDER, Profile, Setting, Table};

/// The name of the profile.
pub const LIKE_HERE: &str = "like-here";

/// A step that this machine's kernel uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LikeStep {
    /// The setting of the lab that is like it.
    pub setting: Setting,
    /// What says so: `spectre_v2: Mitigation: IBRS; …`.
    pub says: String,
    /// Where that does not quite say so: why it is taken for it.
    pub guessed: Option<String>,
}

/// What a kernel is like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Likeness {
    /// In Linux's order.
    pub steps: Vec<LikeStep>,
    /// What the kernel does, and the lab cannot.
    pub left_out: Vec<String>,
    /// Kernel and processor, as far as they are known.
    pub what: String,
    /// The processor.
    pub cpu: Option<String>,
}

impl Likeness {
    /// As a profile.
    pub fn profile(&self) -> Profile {
        let guess = |step: &LikeStep| Some((step.setting.clone(), step.guessed.clone()?));
        Profile {
            name: LIKE_HERE.into(),
            what: self.what.clone(),
            cpu: self.cpu.clone(),
            steps: self.steps.iter().map(|step| step.setting.clone()).collect(),
            choices: BTreeMap::new(),
            guesses: self.steps.iter().filter_map(guess).collect(),
            not_in_lab: self.left_out.clone(),
        }
    }

    fn say(&mut self, switch: &str, value: &str, says: impl Into<String>) {
        self.steps.push(LikeStep { setting: Setting::new(switch, value), says: says.into(), guessed: None });
    }

    fn guess(&mut self, switch: &str, value: &str, says: impl Into<String>, why: &str) {
        self.say(switch, value, says);
        if let Some(step) = self.steps.last_mut() {
            step.guessed = Some(why.into());
        }
    }

    fn has(&self, switch: &str) -> bool {
        self.steps.iter().any(|step| step.setting.name == switch)
    }
}

/// The steps of the kernel that these facts are of.
pub fn like_here(environment: &Environment) -> Likeness {
    let kernel = Kernel::of(environment);
    let release = environment.kernel.release.as_deref().unwrap_or("of unknown version");
    let mut like = Likeness {
        what: format!("Linux {release} of this machine, by its own words"),
        cpu: environment.cpu.brand.clone(),
        ..Likeness::default()
    };
    kernel.settings_of_the_processor(&mut like);
    kernel.way_in(&mut like);
    kernel.around_the_service(&mut like);
    kernel.switches_of_programs(&mut like);
    kernel.page_tables(&mut like);
    kernel.way_out(&mut like);
    kernel.what_the_lab_has_not(&mut like);
    like
}

struct Kernel<'a> {
    environment: &'a Environment,
    states: &'a BTreeMap<String, String>,
    /// Of `spectre_v2`, what stands between its separators.
    clauses: Vec<&'a str>,
    version: Option<Version>,
}

const BY_FLAG: &str = "/proc/cpuinfo cannot be read; the kernel is taken to use what the processor has";

/// Since then, Linux draws the stack's offset of a generator, and of the TSC before (docs/bill.md, stack-offset).
const DRAWS_BY_GENERATOR: Version = (7, 1);

/// The bug of processors whose barrier keeps what returns are predicted by, as Linux calls it since 6.12 (X86_BUG_IBPB_NO_RET).
const BARRIER_LEAVES_RETURNS: &str = "ibpb_no_ret";

impl<'a> Kernel<'a> {
    fn of(environment: &'a Environment) -> Kernel<'a> {
        let states = &environment.mitigations;
        let text = states.get("spectre_v2").map_or("", String::as_str);
        let text = text.strip_prefix("Mitigation: ").or(text.strip_prefix("Vulnerable: ")).unwrap_or(text);
        let clauses = text.split([';', ',']).map(str::trim).filter(|clause| !clause.is_empty()).collect();
        let version = environment.kernel.release.as_deref().and_then(version);
        Kernel { environment, states, clauses, version }
    }

    /// Whether the version is known, and this one or later.
    fn is_since(&self, version: Version) -> bool {
        self.version.is_some_and(|known| known >= version)
    }

    /// What the kernel says of a fault, if it contains these words; with the fault's name.
    fn says(&self, fault: &str, words: &str) -> Option<String> {
        let state = self.states.get(fault).filter(|state| state.contains(words))?;
        Some(format!("{fault}: {state}"))
    }

    /// The clause of `spectre_v2` that begins with a word, without it.
    fn clause(&self, word: &str) -> Option<&'a str> {
        self.clauses.iter().find_map(|clause| clause.strip_prefix(word))
    }

    fn spectre_v2(&self) -> String {
        format!("spectre_v2: {}", self.states.get("spectre_v2").map_or("", String::as_str))
    }

    fn by_version(&self) -> String {
        let release = self.environment.kernel.release.as_deref();
        release.map_or("the kernel's version is not known".into(), |release| format!("Linux {release}"))
    }

    /// Whether the kernel uses a feature of the processor, and what says so.
    fn feature(&self, name: &str) -> Option<(String, Option<&'static str>)> {
        let cpu = &self.environment.cpu;
        let has = |flags: &[String]| flags.iter().any(|flag| flag == name);
        match &cpu.kernel_flags {
            Some(flags) => has(flags).then(|| (format!("/proc/cpuinfo: {name}"), None)),
            None => has(&cpu.flags).then(|| (format!("CPUID: {name}"), Some(BY_FLAG))),
        }
    }

    fn set_by_feature(&self, like: &mut Likeness, feature: &str, switch: &str, value: &str) {
        match self.feature(feature) {
            Some((says, None)) => like.say(switch, value, says),
            Some((says, Some(why))) => like.guess(switch, value, says, why),
            None => {}
        }
    }

    /// Whether the kernel says that the processor has a bug of this name.
    fn has_bug(&self, name: &str) -> bool {
        self.environment.cpu.bugs.as_ref().is_some_and(|bugs| bugs.iter().any(|bug| bug == name))
    }

    fn has_pti(&self) -> bool {
        self.environment.kernel.pti == Some(true)
    }

    /// What is set once, and executes nothing on an entry.
    fn settings_of_the_processor(&self, like: &mut Likeness) {
        for name in ["smep", "smap", "umip"] {
            self.set_by_feature(like, name, name, "on");
        }
        let built = self.environment.kernel.config.as_ref().and_then(|config| config.get("X86_KERNEL_IBT"));
        match (self.feature("ibt"), built.map(String::as_str)) {
            (Some((says, _)), Some("y")) => like.say("ibt", "on", says + ", X86_KERNEL_IBT=y"),
            (Some((says, _)), None) => {
                let why = "whether the kernel is built with X86_KERNEL_IBT cannot be read";
                like.guess("ibt", "on", says, why);
            }
            _ => {}
        }
        let mode = self.clauses.first().copied().unwrap_or_default();
        if mode.contains("Enhanced") || mode.contains("Automatic") {
            like.say("ibrs", "enhanced", self.spectre_v2());
        }
        if self.clause("BHI: ").is_some_and(|state| state.contains("BHI_DIS_S")) {
            like.say("bhb", "hardware", self.spectre_v2());
        }
        if self.clause("STIBP: ").is_some_and(|state| ["always-on", "forced"].contains(&state)) {
            like.say("stibp", "on", self.spectre_v2());
        }
        let for_all = self.states.get("spec_store_bypass").map(String::as_str);
        let own = self.environment.limits.speculation_store_bypass.as_deref();
        if for_all == Some("Mitigation: Speculative Store Bypass disabled") {
            like.say("ssbd", "on", "spec_store_bypass: Mitigation: Speculative Store Bypass disabled");
        } else if own.is_some_and(|own| own.ends_with("mitigated") && own.starts_with("thread")) {
            like.say("ssbd", "on", "/proc/self/status: this process runs with it");
        }
    }

    fn way_in(&self, like: &mut Likeness) {
        like.say("swapgs", "on", "every Linux on x86-64");
        self.fence(like);
        match self.environment.kernel.pti {
            Some(true) => {
                let says = "PTI is on (/proc/cpuinfo, meltdown)";
                like.say("pti", "trampoline", says);
                like.say("pti", "on", says);
            }
            _ if self.version.is_none_or(|version| version >= (4, 15)) => {
                let why = "Linux enters on the entry stack since 4.15, with and without isolation";
                like.guess("pti", "trampoline", self.by_version(), why);
            }
            _ => {}
        }
        let why = "Linux saves all registers since 4.16";
        if self.is_since((4, 16)) {
            like.say("stack", "frame", format!("{}: {why}", self.by_version()));
        } else {
            like.guess("stack", "frame", self.by_version(), why);
        }
        if self.is_since((4, 16)) {
            like.guess("clear-registers", "on", self.by_version(), "built in since 4.16");
        }
        if like.has("pti") {
            like.guess("copy-frame", "on", self.by_version(), "gates do so since 4.15");
        }
        self.order(like);
        let mode = self.clauses.first().copied().unwrap_or_default();
        if mode == "IBRS" {
            like.say("ibrs", "on", self.spectre_v2());
        } else if let Some(says) = self.says("retbleed", "Mitigation: IBRS") {
            like.say("ibrs", "on", says);
        }
        self.barrier(like);
        self.returns(like);
        if self.clause("BHI: ").is_some_and(|state| state.starts_with("SW loop")) {
            like.say("bhb", "loop", self.spectre_v2());
        }
    }

    fn order(&self, like: &mut Likeness) {
        let is_reached = |since: &str| version(since).is_some_and(|since| self.is_since(since));
        let order = Table::get().order_reached(&is_reached).filter(|_| like.has("copy-frame"));
        if let Some(order) = order {
            let why = "not every version was compared with the lab (docs/bill.md, Beside Linux)";
            like.guess(ORDER, &order.value, self.by_version(), why);
        }
    }

    /// As spectre_v1_select_mitigation() decides: not where the write of CR3 serializes, nor where SMAP holds in speculation.
    fn fence(&self, like: &mut Likeness) {
        let Some(says) = self.says("spectre_v1", "usercopy/swapgs barriers") else { return };
        let has_meltdown = self.has_bug("cpu_meltdown") || self.says("meltdown", "PTI").is_some();
        let smap_holds = like.has("smap") && !has_meltdown;
        if self.has_bug("swapgs") && !self.has_pti() && !smap_holds {
            like.guess("swapgs", "fence", says, "which of the barriers it has, the kernel does not say");
        }
    }

    /// The barrier on every entry, against either fault. That on the way out of guests says "on VMEXIT only".
    fn barrier(&self, like: &mut Likeness) {
        let on_entry =
            |fault: &&str| self.says(fault, "Mitigation: IBPB").filter(|says| !says.contains("VMEXIT"));
        let Some(says) = ["retbleed", "spec_rstack_overflow"].iter().find_map(on_entry) else { return };
        if self.has_bug(BARRIER_LEAVES_RETURNS) {
            let why =
                "behind the barrier, Linux fills the return stack on this processor, and the lab does not";
            like.guess("entry-ibpb", "on", says, why);
        } else {
            like.say("entry-ibpb", "on", says);
        }
    }

    fn returns(&self, like: &mut Likeness) {
        let safe_ret = self.states.get("spec_rstack_overflow").map(|state| state.to_lowercase());
        let is_safe_ret =
            safe_ret.is_some_and(|state| state.contains("safe ret") && !state.contains("no safe ret"));
        if let Some(says) = self.says("retbleed", "Mitigation: untrained return thunk") {
            self.untrained(like, says);
        } else if is_safe_ret {
            let says = self.says("spec_rstack_overflow", "").unwrap_or_default();
            let why = "safe RET has another sequence than the one against Retbleed";
            like.guess("returns", "untrain", says, why);
        } else if let Some(says) = self.says("indirect_target_selection", "return thunks") {
            like.say("returns", "thunk", says);
        }
    }

    /// Beside the barrier on every entry, Linux has left it out since 6.12, and in those stable versions that name the bug, but goes on
    /// saying that it has it.
    fn untrained(&self, like: &mut Likeness, says: String) {
        if !like.has("entry-ibpb") {
            like.say("returns", "untrain", says);
        } else if !self.is_since((6, 12)) && !self.has_bug(BARRIER_LEAVES_RETURNS) {
            let why = "beside the barrier on every entry until 6.11, if no stable patch has taken it out";
            like.guess("returns", "untrain", says, why);
        }
    }

    fn around_the_service(&self, like: &mut Likeness) {
        // 7.1 and 7.2 move the stack behind the test for work; until 7.0 and since 7.3, Linux does so before it.
        let comes_first = !self.is_since(DRAWS_BY_GENERATOR) || self.is_since((7, 3));
        if comes_first {
            self.stack_offset(like);
        }
        like.say("work", "on", "every Linux");
        if !comes_first {
            self.stack_offset(like);
        }
        if self.is_since((4, 16)) {
            like.guess("index-mask", "on", self.by_version(), "built in since 4.16");
        }
        self.dispatch(like);
        if like.has(ORDER) {
            like.say("return-checks", "on", "every Linux on x86-64");
        }
    }

    fn stack_offset(&self, like: &mut Likeness) {
        let kernel = &self.environment.kernel;
        match kernel.randomize_kstack_offset {
            Some(true) => {
                let source = kernel.randomize_kstack_offset_source.as_deref().unwrap_or("the kernel");
                let says = format!("randomize_kstack_offset: {source}");
                if self.is_since(DRAWS_BY_GENERATOR) {
                    like.guess("stack-offset", "prandom", says, "drawn of a generator since 7.1");
                } else if self.version.is_some() {
                    like.say("stack-offset", "on", says);
                } else {
                    let why = "of what it is drawn depends on the version, which is not known";
                    like.guess("stack-offset", "on", says, why);
                }
            }
            Some(false) => {}
            None => like.left_out.push("whether the stack is moved by a random offset is not known".into()),
        }
    }

    fn dispatch(&self, like: &mut Likeness) {
        let mode = self.clauses.first().copied().unwrap_or_default().to_lowercase();
        if self.is_since((6, 9)) {
            like.guess("dispatch", "direct", self.by_version(), "services are called directly since 6.9");
        } else if self.clause("BHI: ").is_some() {
            let why = "the patches that name BHI also made the calls of services direct";
            like.guess("dispatch", "direct", self.spectre_v2(), why);
        } else if mode.contains("retpoline") {
            like.say("dispatch", "retpoline", self.spectre_v2());
        } else if mode.contains("lfence") {
            like.say("dispatch", "lfence", self.spectre_v2());
        }
    }

    fn switches_of_programs(&self, like: &mut Likeness) {
        if self.clauses.contains(&"RSB filling") {
            like.guess(
                "rsb",
                "32",
                self.spectre_v2(),
                "how many entries are filled, the kernel does not say: 32 in its source",
            );
        }
        if self.clause("IBPB: ") == Some("always-on") {
            like.say("ibpb", "on", self.spectre_v2());
        }
    }

    fn page_tables(&self, like: &mut Likeness) {
        let has_pcid = self.feature("pcid").filter(|_| self.is_since((4, 14)));
        if let Some((says, _)) = has_pcid {
            like.guess("pcid", "keep", &says, "Linux uses identifiers where there are any since 4.14");
            if self.has_pti() {
                like.guess(
                    "pcid",
                    "lazy",
                    &says,
                    "with isolation, the program's are flushed on the way back",
                );
            }
            like.guess("asids", "6", says, "the number is a constant of its source");
        }
        if !self.has_pti() || self.is_since((4, 17)) {
            self.set_by_feature(like, "pge", "global", "on");
        }
        if like.has("pcid") {
            self.set_by_feature(like, "invpcid", "flush-by", "invpcid");
        }
    }

    fn way_out(&self, like: &mut Likeness) {
        if let Some(says) = crate::faults::buffers_on_exits(self.states) {
            like.say("verw", "on", says);
        }
        if like.has(ORDER) {
            let why = "boot leaves nops and jumps in the place of what is switched off";
            like.guess("idle", "on", self.by_version(), why);
        }
    }

    fn what_the_lab_has_not(&self, like: &mut Likeness) {
        let mut leave = |says: Option<String>, what: &str| {
            like.left_out.extend(says.map(|says| format!("{what} ({says})")));
        };
        leave(
            self.says("retbleed", "Mitigation: Stuffing"),
            "calls are counted, so that the return stack never runs empty",
        );
        leave(
            self.says("retbleed", "on non-AMD"),
            "returns are untrained or a barrier is executed on every entry, as the kernel was booted; it does not say which",
        );
        leave(
            self.feature("fred").map(|(says, _)| says),
            "with FRED, the processor delivers entries in another way",
        );
        let filtered = self.environment.limits.seccomp.as_deref() == Some("filter");
        leave(
            filtered.then(|| "/proc/self/status".into()),
            "this process has a seccomp filter; how many instructions it takes is not known",
        );
        if self.states.is_empty() {
            like.left_out.push("what the kernel does about the processor's faults cannot be read".into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Table;

    /// What a machine says: the version of its kernel, flags and bugs of /proc/cpuinfo, and lines of sysfs.
    fn machine(release: &str, pti: bool, flags: &str, bugs: &str, states: &[(&str, &str)]) -> Environment {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let mut environment = Environment { host: "linux".into(), ..Environment::default() };
        environment.kernel.release = Some(release.into());
        environment.kernel.pti = Some(pti);
        environment.kernel.randomize_kstack_offset = Some(false);
        environment.cpu.kernel_flags = Some(words(flags));
        environment.cpu.bugs = Some(words(bugs));
        let states = states.iter().map(|(name, state)| ((*name).to_owned(), (*state).to_owned()));
        environment.mitigations = states.collect();
        environment
    }

    /// Its steps, a question mark behind those that are guessed; the profile is one that the table accepts.
    fn steps(environment: &Environment) -> String {
        let like = like_here(environment);
        let profile = like.profile();
        assert_eq!(Table::get().accepts(&profile), Ok(()), "{profile:?}");
        let mark = |step: &LikeStep| if step.guessed.is_some() { "?" } else { "" };
        let steps = like.steps.iter().map(|step| format!("{}{}", step.setting, mark(step)));
        steps.collect::<Vec<_>>().join(" ")
    }

    /// A Core i7-6700 with Debian 12.
    fn skylake() -> Environment {
        machine(
            "6.1.0-18-amd64",
            true,
            "pge pcid invpcid smep smap pti ibrs ibpb stibp ssbd md_clear flush_l1d",
            "cpu_meltdown spectre_v1 spectre_v2 spec_store_bypass l1tf mds swapgs taa itlb_multihit srbds retbleed gds",
            &[
                ("meltdown", "Mitigation: PTI"),
                ("spectre_v1", "Mitigation: usercopy/swapgs barriers and __user pointer sanitization"),
                (
                    "spectre_v2",
                    "Mitigation: IBRS, IBPB: conditional, STIBP: conditional, RSB filling, PBRSB-eIBRS: Not affected",
                ),
                ("spec_store_bypass", "Mitigation: Speculative Store Bypass disabled via prctl"),
                ("mds", "Mitigation: Clear CPU buffers; SMT vulnerable"),
                ("retbleed", "Mitigation: IBRS"),
                ("l1tf", "Mitigation: PTE Inversion; VMX: conditional cache flushes, SMT vulnerable"),
            ],
        )
    }

    #[test]
    fn an_intel_processor_with_isolation() {
        assert_eq!(
            steps(&skylake()),
            "smep=on smap=on swapgs=on pti=trampoline pti=on stack=frame clear-registers=on? copy-frame=on? \
             order=linux-6.1? ibrs=on work=on index-mask=on? return-checks=on rsb=32? pcid=keep? pcid=lazy? asids=6? global=on \
             flush-by=invpcid verw=on idle=on?"
        );
        // The same is in the table's profile of that kernel, but for what Debian's configuration decides, and what stable releases have
        // added.
        let here: Vec<Setting> = like_here(&skylake()).profile().steps;
        let known = &Table::get().profile("linux-6.1").unwrap().steps;
        let other: Vec<_> =
            known.iter().filter(|step| !here.contains(step)).map(Setting::to_string).collect();
        let more = "stack-offset=on dispatch=direct";
        assert_eq!((other.join(" "), here.len() + 2), (more.into(), known.len()));
    }

    #[test]
    fn what_a_patched_kernel_names_tells_more_than_its_version() {
        let mut patched = skylake();
        let state = "Mitigation: IBRS; IBPB: conditional; STIBP: conditional; RSB filling; PBRSB-eIBRS: Not affected; BHI: Not affected";
        patched.mitigations.insert("spectre_v2".into(), state.into());
        assert!(steps(&patched).contains(" dispatch=direct? "), "{}", steps(&patched));
        patched.kernel.randomize_kstack_offset = Some(true);
        assert!(steps(&patched).contains(" stack-offset=on "));
    }

    #[test]
    fn what_the_stacks_offset_is_drawn_of_is_told_by_the_version() {
        let mut later = skylake();
        later.kernel.randomize_kstack_offset = Some(true);
        for (release, expected) in [
            ("6.18.15+deb13-amd64", " stack-offset=on work=on index-mask"),
            ("7.0.13+deb13-amd64", " stack-offset=on work=on index-mask"),
            ("7.1.3+deb13-amd64", " work=on stack-offset=prandom? index-mask"),
            ("7.2.13+deb14-amd64", " work=on stack-offset=prandom? index-mask"),
            ("7.3.4+deb13-amd64", " stack-offset=prandom? work=on index-mask"),
            ("a name of its own", " stack-offset=on? work=on "),
        ] {
            later.kernel.release = Some(release.into());
            assert!(steps(&later).contains(expected), "{release}: {}", steps(&later));
        }
        later.kernel.randomize_kstack_offset = Some(false);
        assert!(!steps(&later).contains("stack-offset"), "{}", steps(&later));
        later.kernel.randomize_kstack_offset = None;
        assert!(!steps(&later).contains("stack-offset"), "{}", steps(&later));
        assert!(like_here(&later).left_out.iter().any(|why| why.contains("random offset")));
    }

    #[test]
    fn an_intel_processor_with_enhanced_ibrs_and_branch_history() {
        let flags = "pge pcid invpcid smep smap umip ibrs_enhanced ibrs ibpb stibp ssbd arch_capabilities ibt user_shstk";
        let mut sapphire = machine(
            "6.12.9-amd64",
            false,
            flags,
            "spectre_v1 spectre_v2 spec_store_bypass swapgs eibrs_pbrsb bhi",
            &[
                ("meltdown", "Not affected"),
                ("mds", "Not affected"),
                ("spectre_v1", "Mitigation: usercopy/swapgs barriers and __user pointer sanitization"),
                (
                    "spectre_v2",
                    "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; RSB filling; PBRSB-eIBRS: SW sequence; BHI: BHI_DIS_S",
                ),
                ("reg_file_data_sampling", "Not affected"),
                ("mmio_stale_data", "Not affected"),
            ],
        );
        let rest = "swapgs=on pti=trampoline? stack=frame clear-registers=on? copy-frame=on? order=linux-6.12? work=on index-mask=on? \
                    dispatch=direct? return-checks=on rsb=32? pcid=keep? asids=6? global=on flush-by=invpcid idle=on?";
        assert_eq!(
            steps(&sapphire),
            format!("smep=on smap=on umip=on ibt=on? ibrs=enhanced bhb=hardware {rest}")
        );
        // Its configuration is there, and has none of it.
        sapphire.kernel.config = Some(BTreeMap::from([("X86_KERNEL_IBT".to_owned(), "n".to_owned())]));
        assert!(!steps(&sapphire).contains("ibt"));
        let state = "Mitigation: Enhanced / Automatic IBRS; IBPB: always-on; RSB filling; PBRSB-eIBRS: SW sequence; BHI: SW loop, KVM: SW loop";
        sapphire.mitigations.insert("spectre_v2".into(), state.into());
        let looped = steps(&sapphire);
        assert!(
            looped.contains("bhb=loop") && looped.contains("ibpb=on") && !looped.contains("hardware"),
            "{looped}"
        );
    }

    /// A Zen 2 with Debian 12.
    fn zen2() -> Environment {
        machine(
            "6.1.0-31-amd64",
            false,
            "pge smep smap umip ibpb stibp ssbd",
            "sysret_ss_attrs spectre_v1 spectre_v2 spec_store_bypass retbleed smt_rsb srso div0",
            &[
                ("meltdown", "Not affected"),
                ("spectre_v1", "Mitigation: usercopy/swapgs barriers and __user pointer sanitization"),
                (
                    "spectre_v2",
                    "Mitigation: Retpolines; IBPB: conditional; STIBP: always-on; RSB filling; PBRSB-eIBRS: Not affected; BHI: Not affected",
                ),
                ("retbleed", "Mitigation: untrained return thunk; SMT enabled with STIBP protection"),
                ("spec_rstack_overflow", "Mitigation: SMT disabled"),
            ],
        )
    }

    #[test]
    fn amds_first_processors_untrain_returns() {
        assert_eq!(
            steps(&zen2()),
            "smep=on smap=on umip=on stibp=on swapgs=on pti=trampoline? stack=frame clear-registers=on? copy-frame=on? \
             order=linux-6.1? returns=untrain work=on index-mask=on? dispatch=direct? return-checks=on rsb=32? global=on idle=on?"
        );
        let mut older = zen2();
        older.mitigations.insert(
            "spectre_v2".into(),
            "Mitigation: Retpolines, IBPB: conditional, STIBP: disabled, RSB filling".into(),
        );
        assert!(steps(&older).contains(" dispatch=retpoline return-checks=on rsb=32?"), "{}", steps(&older));
    }

    #[test]
    fn returns_were_untrained_beside_the_barrier_on_every_entry() {
        let with = |release: &str, bug: Option<&str>| {
            let mut machine = zen2();
            machine.kernel.release = Some(release.into());
            machine.cpu.bugs.as_mut().unwrap().extend(bug.map(str::to_owned));
            machine.mitigations.insert("spec_rstack_overflow".into(), "Mitigation: IBPB".into());
            steps(&machine)
        };
        for (release, bug, own) in [
            ("6.12.9", Some("ibpb_no_ret"), "entry-ibpb=on? work=on"),
            // Debian's, which is patched, and one that is not.
            ("6.1.0-44-amd64", Some("ibpb_no_ret"), "entry-ibpb=on? work=on"),
            ("6.1.0-18-amd64", None, "entry-ibpb=on returns=untrain? work=on"),
            ("6.12.9", None, "entry-ibpb=on work=on"),
        ] {
            let steps = with(release, bug);
            let order = release.split('.').take(2).collect::<Vec<_>>().join(".");
            assert!(
                steps.contains(&format!(" copy-frame=on? order=linux-{order}? {own} ")),
                "{release} {bug:?}: {steps}"
            );
        }
    }

    #[test]
    fn what_an_intel_kernel_does_for_amds_processors_was_taken_for_untraining() {
        let mut asked = skylake();
        let state = "Vulnerable: untrained return thunk / IBPB on non-AMD based uarch";
        asked.mitigations.insert("retbleed".into(), state.into());
        let found = steps(&asked);
        assert!(!["returns=", "entry-ibpb="].iter().any(|step| found.contains(step)), "{found}");
        let left_out = like_here(&asked).left_out.join("\n");
        assert!(left_out.contains("does not say which (retbleed: Vulnerable"), "{left_out}");
    }

    #[test]
    fn safe_ret_is_taken_for_untraining_and_marked() {
        let states = |srso| {
            [
                ("retbleed", "Not affected"),
                ("spec_rstack_overflow", srso),
                ("tsa", "Mitigation: Clear CPU buffers"),
                (
                    "spectre_v2",
                    "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; STIBP: always-on; PBRSB-eIBRS: Not affected; BHI: Not affected",
                ),
            ]
        };
        let zen4 =
            |srso| steps(&machine("6.16.3", false, "pge pcid invpcid smep smap umip", "srso", &states(srso)));
        let with = zen4("Mitigation: Safe RET");
        assert!(with.contains("ibrs=enhanced stibp=on") && with.contains(" returns=untrain? "), "{with}");
        assert!(with.ends_with("pcid=keep? asids=6? global=on flush-by=invpcid verw=on idle=on?"), "{with}");
        assert!(zen4("Mitigation: safe RET, no microcode").contains("returns=untrain?"));
        let barrier = zen4("Mitigation: IBPB");
        assert!(barrier.contains(" entry-ibpb=on ") && !barrier.contains("returns="), "{barrier}");
        for none in ["Vulnerable: Microcode, no safe RET", "Mitigation: IBPB on VMEXIT only", "Not affected"]
        {
            assert!(!["returns=", "entry-ibpb="].iter().any(|step| zen4(none).contains(step)), "{none}");
        }
    }

    #[test]
    fn buffers_are_cleared_on_exits_or_before_guests_alone() {
        let clears = |states: &[(&str, &str)]| {
            steps(&machine("6.18.0", false, "pge", "", states)).split(' ').any(|step| step == "verw=on")
        };
        let mmio = ("mmio_stale_data", "Mitigation: Clear CPU buffers; SMT vulnerable");
        assert!(!clears(&[mmio]), "before guests alone");
        assert!(clears(&[mmio, ("mds", "Mitigation: Clear CPU buffers; SMT vulnerable")]));
        assert!(clears(&[("mds", "Vulnerable: Clear CPU buffers attempted, no microcode")]));
        assert!(clears(&[("reg_file_data_sampling", "Mitigation: Clear Register File")]));
        assert!(clears(&[("tsa", "Mitigation: Clear CPU buffers: user/kernel boundary")]));
        for none in ["Mitigation: Clear CPU buffers: VM", "Vulnerable: No microcode", "Not affected"] {
            assert!(!clears(&[("tsa", none)]), "{none}");
        }
    }

    #[test]
    fn a_guest_of_which_nothing_can_be_read_is_guessed_from_its_version() {
        let mut bare = Environment { host: "linux".into(), ..Environment::default() };
        bare.kernel.release = Some("5.10.0-28-cloud-amd64".into());
        bare.cpu.flags = vec!["smep".into(), "smap".into()];
        assert_eq!(
            steps(&bare),
            "smep=on? smap=on? swapgs=on pti=trampoline? stack=frame clear-registers=on? copy-frame=on? \
             order=linux-5.10? work=on index-mask=on? return-checks=on idle=on?"
        );
        let like = like_here(&bare);
        assert!(
            like.left_out.iter().any(|what| what.contains("faults cannot be read")),
            "{:?}",
            like.left_out
        );
        assert!(like.profile().guesses[&Setting::new("smep", "on")].contains("cannot be read"));
        // Not even a version.
        assert_eq!(
            steps(&Environment::default()),
            "swapgs=on pti=trampoline? stack=frame? copy-frame=on? work=on"
        );
    }

    #[test]
    fn mitigations_off_leaves_what_is_built_in() {
        let mut off = skylake();
        off.kernel.pti = Some(false);
        off.cpu.kernel_flags.as_mut().unwrap().retain(|flag| flag != "pti");
        for (name, state) in [
            ("meltdown", "Vulnerable"),
            (
                "spectre_v1",
                "Vulnerable: __user pointer sanitization and usercopy barriers only; no swapgs barriers",
            ),
            ("spectre_v2", "Vulnerable, IBPB: disabled, STIBP: disabled, PBRSB-eIBRS: Not affected"),
            ("mds", "Vulnerable; SMT vulnerable"),
            ("retbleed", "Vulnerable"),
        ] {
            off.mitigations.insert(name.into(), state.into());
        }
        assert_eq!(
            steps(&off),
            "smep=on smap=on swapgs=on pti=trampoline? stack=frame clear-registers=on? copy-frame=on? order=linux-6.1? work=on \
             index-mask=on? return-checks=on pcid=keep? asids=6? global=on flush-by=invpcid idle=on?"
        );
    }

    #[test]
    fn what_the_lab_has_not_is_named() {
        let mut odd = skylake();
        odd.mitigations.insert("retbleed".into(), "Mitigation: Stuffing".into());
        odd.cpu.kernel_flags.as_mut().unwrap().push("fred".into());
        odd.limits.seccomp = Some("filter".into());
        let left_out = like_here(&odd).left_out.join("\n");
        for words in ["calls are counted", "FRED", "seccomp filter"] {
            assert!(left_out.contains(words), "{words}: {left_out}");
        }
    }

    #[test]
    fn texts_that_no_kernel_writes_are_no_steps() {
        for odd in ["", ";", ",,;", "BHI: ", "Mitigation: ", "Mitigation: \u{1f600}; RSB", "IBRSx"] {
            let mut machine = skylake();
            machine.mitigations.clear();
            for name in ["spectre_v2", "retbleed", "spec_rstack_overflow", "mds", "spectre_v1"] {
                machine.mitigations.insert(name.into(), odd.into());
            }
            let steps = steps(&machine);
            assert!(
                !["ibrs", "bhb=", "returns", "rsb", "verw"].iter().any(|step| steps.contains(step)),
                "{odd:?}: {steps}"
            );
        }
        assert_eq!(
            ["6.1.0-18-amd64", "7", "", "x.y", "4294967296.1"].map(version),
            [Some((6, 1)), None, None, None, None]
        );
    }
}

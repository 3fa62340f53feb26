//! What a kernel says of a fault, clause by clause: arch/x86/kernel/cpu/bugs.c.

/// How a fault stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// The processor does not have it.
    NotAffected,
    /// Something is done about it.
    Mitigated,
    /// It is open, whatever is done.
    Open,
    /// The kernel does not know, or says what no kernel is known to say.
    NotKnown,
}

/// A line of the kernel's, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State<'a> {
    /// How it stands.
    pub stands: Stands,
    /// What is done, or is not, each by itself.
    pub clauses: Vec<&'a str>,
}

impl<'a> State<'a> {
    /// Of a line.
    pub fn of(line: &'a str) -> State<'a> {
        let (stands, rest) = match line.trim() {
            "Not affected" => (Stands::NotAffected, ""),
            "Vulnerable" => (Stands::Open, ""),
            text => split(text),
        };
        let clauses = rest.split([';', ',']).map(str::trim).filter(|clause| !clause.is_empty());
        let clauses: Vec<&str> = clauses.collect();
        // ITS that is closed for guests alone: "Mitigation: Vulnerable, KVM: Not affected".
        let is_open = stands == Stands::Mitigated && clauses.first() == Some(&"Vulnerable");
        State { stands: if is_open { Stands::Open } else { stands }, clauses }
    }

    /// Whether one of its clauses is one of these, whole.
    pub fn says(&self, one_of: &[&str]) -> bool {
        self.clauses.iter().any(|clause| one_of.contains(clause))
    }

    /// Whether the kernel misses microcode. It writes `No microcode` and `no microcode`.
    pub fn lacks_microcode(&self) -> bool {
        self.clauses.iter().any(|clause| clause.eq_ignore_ascii_case("no microcode"))
    }
}

/// `Mitigation: PTI`: what it begins with, and the rest.
fn split(text: &str) -> (Stands, &str) {
    let begins = [
        ("Mitigation: ", Stands::Mitigated),
        ("Vulnerable: ", Stands::Open),
        ("Vulnerable, ", Stands::Open),
        ("Vulnerable; ", Stands::Open),
        ("Unknown: ", Stands::NotKnown),
    ];
    let found = begins.into_iter().find_map(|(begin, stands)| Some((stands, text.strip_prefix(begin)?)));
    match found {
        Some(found) => found,
        // "KVM: Mitigation: Split huge pages", "KVM: Vulnerable", "Processor vulnerable".
        None if text.starts_with("KVM: Mitigation: ") => (Stands::Mitigated, text),
        None if ["KVM: Vulnerable", "Processor vulnerable"].contains(&text) => (Stands::Open, text),
        None => (Stands::NotKnown, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_kernels_are_taken_apart() {
        let state =
            State::of("Mitigation: Retpolines; STIBP: disabled; RSB filling; BHI: SW loop, KVM: SW loop");
        assert_eq!(state.stands, Stands::Mitigated);
        assert_eq!(
            state.clauses,
            ["Retpolines", "STIBP: disabled", "RSB filling", "BHI: SW loop", "KVM: SW loop"]
        );
        assert!(state.says(&["Retpolines"]) && !state.says(&["Retpoline", "STIBP"]));
        assert_eq!(State::of("Vulnerable: Safe RET, no microcode").clauses, ["Safe RET", "no microcode"]);
        assert_eq!(State::of("KVM: Mitigation: Split huge pages").stands, Stands::Mitigated);
        let its = State::of("Mitigation: Vulnerable, KVM: Not affected");
        assert_eq!((its.stands, its.clauses), (Stands::Open, vec!["Vulnerable", "KVM: Not affected"]));
        for missing in ["Vulnerable: No microcode", "Vulnerable: Safe RET, no microcode"] {
            assert!(State::of(missing).lacks_microcode(), "{missing}");
        }
        assert!(!State::of("Vulnerable: Microcode, no safe RET").lacks_microcode());
        assert_eq!(State::of("Not affected\n"), State { stands: Stands::NotAffected, clauses: vec![] });
    }

    #[test]
    fn what_no_kernel_writes_says_nothing() {
        for odd in [
            "",
            ";",
            "Mitigation:",
            "mitigation: PTI",
            "\u{0}",
            "Not affected; PTI",
            "Unknown: Dependent on hypervisor status",
        ] {
            assert_eq!(State::of(odd).stands, Stands::NotKnown, "{odd:?}");
        }
        assert!(!State::of("Vulnerable: Microcode, no safe RET").says(&["Safe RET", "safe RET"]));
    }
}

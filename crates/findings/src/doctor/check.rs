//! The checks that `kentry doctor` makes.

/// Makes the enumeration, with the name of each check and what it looks at.
macro_rules! checks {
    ($($check:ident $name:literal $what:literal;)*) => {
        /// What is looked at together. Names are for ever.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Check {
            $(#[doc = $what] $check,)*
        }

        impl Check {
            /// Every check, in the order of the report.
            pub const ALL: &[Check] = &[$(Check::$check,)*];

            /// As `--check` and documents have it.
            pub fn name(self) -> &'static str {
                match self { $(Check::$check => $name,)* }
            }

            /// What it looks at, one line.
            pub fn what(self) -> &'static str {
                match self { $(Check::$check => $what,)* }
            }
        }
    };
}

checks! {
    Clocks "clocks" "whether each clock is read in user space, and what a read costs";
    ClockHealth "clock-health" "whether clocks are steady, and agree from CPU to CPU";
    Entries "entries" "which entries are open, by which setting, and which programs need them";
    Runtimes "runtimes" "what the C library uses of what the kernel offers: the vDSO, rseq";
    Carried "carried" "what this process carries into its calls: filters, SSBD, a tracer";
    Protections "protections" "what the kernel does about the processor's faults, and what that costs";
    Measurement "measurement" "how far the figures can be trusted";
}

//! The faults of the processor that Linux knows, and what it does about each, as data: a row for each file of
//! /sys/devices/system/cpu/vulnerabilities. From Documentation/admin-guide/hw-vuln, arch/x86/kernel/cpu/bugs.c (the clauses that the kernel
//! writes, word by word) and Documentation/admin-guide/kernel-parameters.txt of Linux 6.18.

/// Where the instructions of a protection lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lies {
    /// On every entry into the kernel.
    Entries,
    /// On every return to a program.
    Exits,
    /// On each return instruction of the kernel.
    Returns,
    /// On each indirect branch of the kernel.
    Branches,
    /// Where the kernel reads or writes a program's memory.
    Copies,
    /// Where the kernel goes from one program to another.
    Switches,
    /// Where a guest is entered or left.
    Guests,
    /// In programs themselves, which run slower.
    Programs,
    /// Nowhere: something is laid out or set once.
    Nowhere,
}

impl Lies {
    /// For a sentence: `every entry into the kernel`.
    pub fn words(self) -> &'static str {
        match self {
            Lies::Entries => "every entry into the kernel",
            Lies::Exits => "every return to a program",
            Lies::Returns => "each return instruction of the kernel",
            Lies::Branches => "each indirect branch of the kernel",
            Lies::Copies => "copies from and to programs",
            Lies::Switches => "switches between programs",
            Lies::Guests => "entries into virtual machines and exits from them",
            Lies::Programs => "the programs themselves",
            Lies::Nowhere => "no path: it is set once",
        }
    }
}

/// What a kernel does about a fault.
#[derive(Debug, PartialEq, Eq)]
pub struct Doing {
    /// The clauses by which the kernel says so, each whole.
    pub says: &'static [&'static str],
    /// What it does, behind "the kernel": `switches page tables`.
    pub what: &'static str,
    /// The same as a thing: `page-table isolation (PTI)`.
    pub named: &'static str,
    /// Where.
    pub lies: &'static [Lies],
    /// Settings of the lab that do the same on an entry.
    pub settings: &'static [&'static str],
    /// What must be so besides the clause.
    pub when: When,
}

/// Whether a clause tells by itself that something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// It does.
    Said,
    /// It does, and the code is there whatever is booted: no word takes it away.
    BuiltIn,
    /// It names other things besides: where the kernel is taken to be like the setting, too.
    LikeIt,
    /// The same clause is written for both places: where another fault has buffers cleared on returns to programs.
    BuffersOnExits,
    /// Where none has.
    NoBuffersOnExits,
}

/// A fault.
#[derive(Debug, PartialEq, Eq)]
pub struct ProtectedFault {
    /// Its file.
    pub name: &'static str,
    /// What people call it.
    pub called: &'static str,
    /// What an attacker does with it, one sentence.
    pub attack: &'static str,
    /// Which processors have it.
    pub processors: &'static str,
    /// What kernels do, in the order in which they prefer it.
    pub doings: &'static [Doing],
    /// The word of the command line that leaves it open; none where there is no such word.
    pub off: Option<&'static str>,
    /// What is given up with it.
    pub given_up: &'static str,
    /// What the remedy needs of microcode; none where it needs nothing.
    pub needs: Option<&'static str>,
    /// Where this is from.
    pub source: &'static str,
}

/// The file of Inception.
pub(crate) const SRSO: &str = "spec_rstack_overflow";

impl Doing {
    /// Whether each system call executes it: on its way in or out, or at each return of the kernel.
    pub fn is_in_a_call(&self) -> bool {
        self.lies.iter().any(|place| matches!(place, Lies::Entries | Lies::Exits | Lies::Returns))
    }
}

impl ProtectedFault {
    /// Its name, without numbers and others: `Inception`.
    pub fn short(&self) -> &'static str {
        self.called.split_once(" (").map_or(self.called, |(short, _)| short)
    }
}

const VERW: Doing = Doing {
    says: &["Clear CPU buffers", "Clear CPU buffers attempted"],
    what: "clears buffers of the processor (VERW)",
    named: "cleared buffers (VERW)",
    lies: &[Lies::Exits],
    settings: &["verw=on"],
    when: When::Said,
};

const VERW_FOR_GUESTS: Doing = Doing {
    what: "clears buffers of the processor before a guest runs (VERW)",
    named: "buffers cleared before guests (VERW)",
    lies: &[Lies::Guests],
    settings: &[],
    ..VERW
};

/// All of them, in the order in which people ask.
pub const PROTECTED_FAULTS: &[ProtectedFault] = &[
    ProtectedFault {
        name: "meltdown",
        called: "Meltdown (Spectre v3, CVE-2017-5754)",
        attack: "A program reads the kernel's memory, because a load that must fault gives its value to speculation first.",
        processors: "Intel's before Cascade Lake, but for its first Atoms, and none of AMD's",
        doings: &[Doing {
            says: &["PTI"],
            what: "has page tables of its own (PTI), and changes them",
            named: "page-table isolation (PTI)",
            lies: &[Lies::Entries, Lies::Exits],
            settings: &["pti=on"],
            when: When::Said,
        }],
        off: Some("pti=off"),
        given_up: "the kernel's memory, to every program that is run here",
        needs: None,
        source: "Documentation/arch/x86/pti.rst",
    },
    ProtectedFault {
        name: "spectre_v1",
        called: "Spectre v1 (bounds check bypass, CVE-2017-5753, CVE-2019-1125)",
        attack: "A program has the kernel speculate beyond a bound that it checks, and reads from the cache what it loaded.",
        processors: "all that speculate",
        doings: &[
            Doing {
                says: &[
                    "usercopy/swapgs barriers and __user pointer sanitization",
                    "__user pointer sanitization and usercopy barriers only",
                ],
                what: "masks pointers",
                named: "masks of pointers",
                lies: &[Lies::Copies],
                settings: &["index-mask=on"],
                when: When::BuiltIn,
            },
            Doing {
                says: &["usercopy/swapgs barriers and __user pointer sanitization"],
                what: "fences swapgs",
                named: "fences behind swapgs",
                lies: &[Lies::Entries],
                settings: &["swapgs=fence"],
                when: When::LikeIt,
            },
        ],
        off: Some("nospectre_v1"),
        given_up: "parts of the kernel's memory, where a swapgs is speculated over",
        needs: None,
        source: "Documentation/admin-guide/hw-vuln/spectre.rst",
    },
    ProtectedFault {
        name: "spectre_v2",
        called: "Spectre v2 (branch target injection, CVE-2017-5715; BHI, CVE-2022-0001)",
        attack: "A program trains the branch predictor so that the kernel, or another program, speculates at an address of its choice.",
        processors: "nearly all, of which newer ones do most of the remedy themselves (enhanced or automatic IBRS)",
        doings: &[
            Doing {
                says: &["Enhanced / Automatic IBRS", "Enhanced IBRS", "Automatic IBRS"],
                what: "leaves the predictor's isolation to the processor (enhanced or automatic IBRS)",
                named: "enhanced or automatic IBRS",
                lies: &[Lies::Nowhere],
                settings: &["ibrs=enhanced"],
                when: When::Said,
            },
            Doing {
                says: &["IBRS"],
                what: "writes SPEC_CTRL (IBRS)",
                named: "IBRS on every entry and exit",
                lies: &[Lies::Entries, Lies::Exits],
                settings: &["ibrs=on"],
                when: When::Said,
            },
            Doing {
                says: &["Retpolines", "Enhanced / Automatic IBRS + Retpolines"],
                what: "makes returns of indirect branches (retpolines)",
                named: "retpolines",
                lies: &[Lies::Branches],
                settings: &["dispatch=retpoline"],
                when: When::Said,
            },
            Doing {
                says: &["LFENCE", "Enhanced / Automatic IBRS + LFENCE"],
                what: "fences indirect branches (LFENCE)",
                named: "fences of indirect branches (LFENCE)",
                lies: &[Lies::Branches],
                settings: &["dispatch=lfence"],
                when: When::Said,
            },
            Doing {
                says: &[
                    "BHI: SW loop",
                    "BHI: SW loop on syscall and VM exit",
                    "BHI: SW loop on syscalls and VM exit",
                ],
                what: "clears the branch history by a loop",
                named: "a loop over the branch history",
                lies: &[Lies::Entries],
                settings: &["bhb=loop"],
                when: When::Said,
            },
            Doing {
                says: &["BHI: BHI_DIS_S"],
                what: "has the processor keep branch histories apart (BHI_DIS_S)",
                named: "BHI_DIS_S",
                lies: &[Lies::Nowhere],
                settings: &["bhb=hardware"],
                when: When::Said,
            },
            Doing {
                says: &["RSB filling"],
                what: "fills the return stack",
                named: "filling of the return stack",
                lies: &[Lies::Switches, Lies::Guests],
                settings: &["rsb=32"],
                when: When::Said,
            },
            Doing {
                says: &["IBPB: always-on"],
                what: "writes a barrier at each switch (IBPB)",
                named: "a barrier at each switch (IBPB)",
                lies: &[Lies::Switches],
                settings: &["ibpb=on"],
                when: When::Said,
            },
            Doing {
                says: &["IBPB: conditional"],
                what: "writes a barrier at switches to programs that ask for it (IBPB)",
                named: "barriers at switches to programs that ask (IBPB)",
                lies: &[Lies::Switches],
                settings: &[],
                when: When::Said,
            },
            Doing {
                says: &["STIBP: always-on", "STIBP: forced"],
                what: "keeps the threads of a core apart (STIBP)",
                named: "STIBP",
                lies: &[Lies::Programs],
                settings: &["stibp=on"],
                when: When::Said,
            },
        ],
        off: Some("nospectre_v2"),
        given_up: "the kernel's memory, to programs that train its branches, and programs' from each other",
        needs: None,
        source: "Documentation/admin-guide/hw-vuln/spectre.rst",
    },
    ProtectedFault {
        name: "spec_store_bypass",
        called: "Spectre v4 (speculative store bypass, CVE-2018-3639)",
        attack: "Code in a sandbox reads what a store was about to overwrite, because a load ran ahead of it.",
        processors: "nearly all",
        doings: &[
            Doing {
                says: &["Speculative Store Bypass disabled"],
                what: "has loads wait for earlier stores in all programs (SSBD)",
                named: "loads that wait in all programs (SSBD)",
                lies: &[Lies::Programs],
                settings: &["ssbd=on"],
                when: When::Said,
            },
            Doing {
                says: &["Speculative Store Bypass disabled via prctl"],
                what: "has loads wait in programs that ask for it (SSBD, by prctl)",
                named: "SSBD for programs that ask",
                lies: &[Lies::Switches],
                settings: &[],
                when: When::Said,
            },
            Doing {
                says: &["Speculative Store Bypass disabled via prctl and seccomp"],
                what: "has loads wait in programs that ask for it or have a filter (SSBD)",
                named: "SSBD for programs that ask or have a filter",
                lies: &[Lies::Programs],
                settings: &[],
                when: When::Said,
            },
        ],
        off: Some("spec_store_bypass_disable=off"),
        given_up: "the protection of programs that run foreign code beside secrets, and ask for it",
        needs: Some("SSBD"),
        source: "Documentation/userspace-api/spec_ctrl.rst",
    },
    ProtectedFault {
        name: "retbleed",
        called: "Retbleed (CVE-2022-29900, CVE-2022-29901)",
        attack: "A program has the kernel's returns predicted to an address of its choice.",
        processors: "AMD's families 15h to 17h (Zen 1 and 2), Hygon's, and Intel's Skylake to Rocket Lake, of Ice Lake the clients alone",
        doings: &[
            Doing {
                says: &["untrained return thunk"],
                what: "untrains the prediction of returns",
                named: "untrained returns",
                lies: &[Lies::Entries, Lies::Returns],
                settings: &["returns=untrain"],
                when: When::Said,
            },
            Doing {
                says: &["IBPB"],
                what: "writes a barrier (IBPB)",
                named: "a barrier on every entry (IBPB)",
                lies: &[Lies::Entries],
                settings: &["entry-ibpb=on"],
                when: When::Said,
            },
            Doing {
                says: &["IBRS"],
                what: "writes SPEC_CTRL (IBRS)",
                named: "IBRS on every entry and exit",
                lies: &[Lies::Entries, Lies::Exits],
                settings: &["ibrs=on"],
                when: When::Said,
            },
            Doing {
                says: &["Enhanced IBRS"],
                what: "leaves it to the processor (enhanced IBRS)",
                named: "enhanced IBRS",
                lies: &[Lies::Nowhere],
                settings: &["ibrs=enhanced"],
                when: When::Said,
            },
            Doing {
                says: &["Stuffing"],
                what: "counts calls, and stuffs the return stack before it runs empty",
                named: "counted calls (stuffing)",
                lies: &[Lies::Entries, Lies::Returns],
                settings: &[],
                when: When::Said,
            },
        ],
        off: Some("retbleed=off"),
        given_up: "the kernel's memory, to programs that train its returns",
        needs: None,
        source: "arch/x86/kernel/cpu/bugs.c",
    },
    ProtectedFault {
        name: SRSO,
        called: "Inception (SRSO, CVE-2023-20569)",
        attack: "A program plants predictions of returns that the kernel then follows, even on processors that Retbleed spares.",
        processors: "AMD's Zen 1 to 4; Zen 5 against guests alone, unless a hypervisor hides that (SRSO_USER_KERNEL_NO)",
        doings: &[
            Doing {
                says: &["Safe RET", "safe RET"],
                what: "returns through a sequence that is not predicted (safe RET)",
                named: "safe returns",
                lies: &[Lies::Entries, Lies::Returns],
                settings: &["returns=untrain"],
                when: When::Said,
            },
            Doing {
                says: &["IBPB"],
                what: "writes a barrier (IBPB)",
                named: "a barrier on every entry (IBPB)",
                lies: &[Lies::Entries],
                settings: &["entry-ibpb=on"],
                when: When::Said,
            },
            Doing {
                says: &["IBPB on VMEXIT only"],
                what: "writes a barrier behind guests (IBPB)",
                named: "a barrier behind guests (IBPB)",
                lies: &[Lies::Guests],
                settings: &[],
                when: When::Said,
            },
            Doing {
                says: &["Reduced Speculation"],
                what: "has the processor predict less while guests run (BP_SPEC_REDUCE)",
                named: "less prediction while guests run",
                lies: &[Lies::Guests],
                settings: &[],
                when: When::Said,
            },
        ],
        off: Some("spec_rstack_overflow=off"),
        given_up: "the kernel's memory, to programs that plant returns",
        needs: Some("IBPB_BRTYPE"),
        source: "Documentation/admin-guide/hw-vuln/srso.rst",
    },
    ProtectedFault {
        name: "indirect_target_selection",
        called: "ITS (indirect target selection, CVE-2024-28956)",
        attack: "A program mistrains indirect branches in the lower half of a cache line, also those of the kernel.",
        processors: "Intel's Skylake-X to Rocket Lake, in part",
        doings: &[
            Doing {
                says: &["Aligned branch/return thunks"],
                what: "makes indirect branches and returns in thunks that are aligned",
                named: "aligned thunks",
                lies: &[Lies::Branches, Lies::Returns],
                settings: &["returns=thunk"],
                when: When::Said,
            },
            Doing {
                says: &["Retpolines"],
                what: "makes returns of indirect branches (retpolines), and stuffs the return stack",
                named: "retpolines and a stuffed return stack",
                lies: &[Lies::Branches, Lies::Returns],
                settings: &["dispatch=retpoline"],
                when: When::Said,
            },
        ],
        off: Some("indirect_target_selection=off"),
        given_up: "the kernel's memory, to programs that train its branches",
        needs: None,
        source: "Documentation/admin-guide/hw-vuln/indirect-target-selection.rst",
    },
    ProtectedFault {
        name: "mds",
        called: "MDS (ZombieLoad, RIDL, Fallout, CVE-2018-12130)",
        attack: "A program reads what others left in buffers of its core.",
        processors: "Intel's before Cascade Lake's later steppings",
        doings: &[VERW],
        off: Some("mds=off"),
        given_up: "data of the kernel and of other programs that passed through the core",
        needs: Some("MD_CLEAR"),
        source: "Documentation/admin-guide/hw-vuln/mds.rst",
    },
    ProtectedFault {
        name: "tsx_async_abort",
        called: "TAA (TSX asynchronous abort, CVE-2019-11135)",
        attack: "A program reads what others left in buffers of its core, by a transaction that it aborts.",
        processors: "Intel's with TSX, to Cascade Lake",
        doings: &[
            VERW,
            Doing {
                says: &["TSX disabled"],
                what: "has switched TSX off",
                named: "TSX switched off",
                lies: &[Lies::Nowhere],
                settings: &[],
                when: When::Said,
            },
        ],
        off: Some("tsx_async_abort=off"),
        given_up: "data of the kernel and of other programs that passed through the core",
        needs: Some("MD_CLEAR"),
        source: "Documentation/admin-guide/hw-vuln/tsx_async_abort.rst",
    },
    ProtectedFault {
        name: "mmio_stale_data",
        called: "MMIO stale data (CVE-2022-21123)",
        attack: "A program or guest that may use a device reads what others left in buffers.",
        processors: "Intel's Haswell-X to Rocket Lake, and some Atoms",
        doings: &[
            Doing { when: When::BuffersOnExits, ..VERW },
            Doing { when: When::NoBuffersOnExits, ..VERW_FOR_GUESTS },
        ],
        off: Some("mmio_stale_data=off"),
        given_up: "data of the kernel and of guests that passed through the core",
        needs: Some("FB_CLEAR"),
        source: "Documentation/admin-guide/hw-vuln/processor_mmio_stale_data.rst",
    },
    ProtectedFault {
        name: "reg_file_data_sampling",
        called: "RFDS (register file data sampling, CVE-2023-28746)",
        attack: "A program reads what the kernel left in registers of the processor's own.",
        processors: "Intel's Atoms, and the efficient cores beside others",
        doings: &[Doing { says: &["Clear Register File"], ..VERW }],
        off: Some("reg_file_data_sampling=off"),
        given_up: "values that the kernel had in registers",
        needs: Some("RFDS_CLEAR"),
        source: "Documentation/admin-guide/hw-vuln/reg-file-data-sampling.rst",
    },
    ProtectedFault {
        name: "tsa",
        called: "TSA (transient scheduler attacks, CVE-2024-36350)",
        attack: "A program learns what loads and stores of others were, from how long its own take.",
        processors: "AMD's Zen 3 and 4",
        doings: &[
            Doing { lies: &[Lies::Exits, Lies::Guests], ..VERW },
            Doing { says: &["Clear CPU buffers: user/kernel boundary"], ..VERW },
            Doing { says: &["Clear CPU buffers: VM"], ..VERW_FOR_GUESTS },
        ],
        off: Some("tsa=off"),
        given_up: "data of the kernel and of other programs",
        needs: Some("VERW_CLEAR"),
        source: "arch/x86/kernel/cpu/bugs.c",
    },
    ProtectedFault {
        name: "l1tf",
        called: "L1TF (Foreshadow, CVE-2018-3620)",
        attack: "A program, or a guest, reads what is in the first cache, by page-table entries that are not present.",
        processors: "Intel's before Cascade Lake",
        doings: &[
            Doing {
                says: &["PTE Inversion"],
                what: "turns the addresses in such entries over",
                named: "inverted addresses",
                lies: &[Lies::Nowhere],
                settings: &[],
                when: When::Said,
            },
            Doing {
                says: &["VMX: conditional cache flushes", "VMX: cache flushes"],
                what: "flushes the first cache",
                named: "flushes of the first cache",
                lies: &[Lies::Guests],
                settings: &[],
                when: When::Said,
            },
        ],
        off: Some("l1tf=off"),
        given_up: "the host's memory, to its guests",
        needs: None,
        source: "Documentation/admin-guide/hw-vuln/l1tf.rst",
    },
    ProtectedFault {
        name: "gather_data_sampling",
        called: "GDS (Downfall, CVE-2022-40982)",
        attack: "A program reads by gather instructions what others left in vector registers.",
        processors: "Intel's Skylake to Tiger Lake and Rocket Lake",
        doings: &[
            Doing {
                says: &["Microcode", "Microcode (locked)"],
                what: "leaves it to microcode, by which gathers take longer",
                named: "slower gathers",
                lies: &[Lies::Programs],
                settings: &[],
                when: When::Said,
            },
            Doing {
                says: &["AVX disabled"],
                what: "has switched AVX off",
                named: "AVX switched off",
                lies: &[Lies::Programs],
                settings: &[],
                when: When::Said,
            },
        ],
        off: Some("gather_data_sampling=off"),
        given_up: "vector registers of other programs and of the kernel, keys among them",
        needs: None,
        source: "Documentation/admin-guide/hw-vuln/gather_data_sampling.rst",
    },
    ProtectedFault {
        name: "srbds",
        called: "SRBDS (CrossTalk, CVE-2020-0543)",
        attack: "A program reads random numbers that another core has drawn by rdrand.",
        processors: "Intel's clients, Ivy Bridge to Comet Lake",
        doings: &[Doing {
            says: &["Microcode"],
            what: "leaves it to microcode, by which rdrand takes longer",
            named: "slower rdrand",
            lies: &[Lies::Programs],
            settings: &[],
            when: When::Said,
        }],
        off: Some("srbds=off"),
        given_up: "random numbers that programs draw by rdrand",
        needs: None,
        source: "Documentation/admin-guide/hw-vuln/special-register-buffer-data-sampling.rst",
    },
    ProtectedFault {
        name: "itlb_multihit",
        called: "iTLB multihit (CVE-2018-12207)",
        attack: "A guest halts its host, by code that is mapped by a small and by a large page.",
        processors: "Intel's before Ice Lake",
        doings: &[Doing {
            says: &["KVM: Mitigation: Split huge pages"],
            what: "splits large pages that a guest executes",
            named: "split pages of guests",
            lies: &[Lies::Guests],
            settings: &[],
            when: When::Said,
        }],
        off: Some("kvm.nx_huge_pages=off"),
        given_up: "the host, which a guest can halt",
        needs: None,
        source: "Documentation/admin-guide/hw-vuln/multihit.rst",
    },
    ProtectedFault {
        name: "vmscape",
        called: "VMSCAPE (CVE-2025-40300)",
        attack: "A guest trains branches of the program that runs it, such as QEMU, and reads that program's memory.",
        processors: "AMD's Zen 1 to 5, and a part of Intel's Skylake to Arrow Lake",
        doings: &[Doing {
            says: &["IBPB before exit to userspace", "IBPB on VMEXIT"],
            what: "writes a barrier (IBPB) before it returns to a program whose guest ran",
            named: "a barrier behind guests (IBPB)",
            lies: &[Lies::Guests],
            settings: &[],
            when: When::Said,
        }],
        off: Some("vmscape=off"),
        given_up: "the memory of programs that run guests, to their guests",
        needs: None,
        source: "Documentation/admin-guide/hw-vuln/vmscape.rst",
    },
];

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
    /// Where.
    pub lies: &'static [Lies],
    /// Settings of the lab that do the same on an entry.
    pub settings: &'static [&'static str],
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
    /// The flags of CPUID of which the remedy needs one; none where it needs no microcode.
    pub needs: &'static [&'static str],
    /// Where this is from.
    pub source: &'static str,
}

const VERW: Doing = Doing {
    says: &["Clear CPU buffers", "Clear CPU buffers attempted", "Clear Register File"],
    what: "clears buffers of the processor (VERW)",
    lies: &[Lies::Exits],
    settings: &["verw=on"],
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
            lies: &[Lies::Entries, Lies::Exits],
            settings: &["pti=on"],
        }],
        off: Some("pti=off"),
        given_up: "the kernel's memory, to every program that is run here",
        needs: &[],
        source: "Documentation/arch/x86/pti.rst",
    },
    ProtectedFault {
        name: "spectre_v1",
        called: "Spectre v1 (bounds check bypass, CVE-2017-5753, CVE-2019-1125)",
        attack: "A program has the kernel speculate beyond a bound that it checks, and reads from the cache what it loaded.",
        processors: "all that speculate",
        doings: &[
            Doing {
                says: &["usercopy/swapgs barriers and __user pointer sanitization"],
                what: "masks pointers, and fences swapgs on entries of processors that need it",
                lies: &[Lies::Copies],
                settings: &["swapgs=fence", "index-mask=on"],
            },
            Doing {
                says: &["__user pointer sanitization and usercopy barriers only"],
                what: "masks pointers",
                lies: &[Lies::Copies],
                settings: &["index-mask=on"],
            },
        ],
        off: Some("nospectre_v1"),
        given_up: "parts of the kernel's memory, where a swapgs is speculated over",
        needs: &[],
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
                lies: &[Lies::Nowhere],
                settings: &["ibrs=enhanced"],
            },
            Doing {
                says: &["IBRS"],
                what: "writes SPEC_CTRL (IBRS)",
                lies: &[Lies::Entries, Lies::Exits],
                settings: &["ibrs=on"],
            },
            Doing {
                says: &["Retpolines", "Enhanced / Automatic IBRS + Retpolines"],
                what: "makes returns of indirect branches (retpolines)",
                lies: &[Lies::Branches],
                settings: &["dispatch=retpoline"],
            },
            Doing {
                says: &["LFENCE", "Enhanced / Automatic IBRS + LFENCE"],
                what: "fences indirect branches (LFENCE)",
                lies: &[Lies::Branches],
                settings: &["dispatch=lfence"],
            },
            Doing {
                says: &[
                    "BHI: SW loop",
                    "BHI: SW loop on syscall and VM exit",
                    "BHI: SW loop on syscalls and VM exit",
                ],
                what: "clears the branch history by a loop",
                lies: &[Lies::Entries],
                settings: &["bhb=loop"],
            },
            Doing {
                says: &["BHI: BHI_DIS_S"],
                what: "has the processor keep branch histories apart (BHI_DIS_S)",
                lies: &[Lies::Nowhere],
                settings: &["bhb=hardware"],
            },
            Doing {
                says: &["RSB filling"],
                what: "fills the return stack",
                lies: &[Lies::Switches, Lies::Guests],
                settings: &["rsb=32"],
            },
            Doing {
                says: &["IBPB: always-on"],
                what: "writes a barrier at each switch (IBPB)",
                lies: &[Lies::Switches],
                settings: &["ibpb=on"],
            },
            Doing {
                says: &["IBPB: conditional"],
                what: "writes a barrier at switches to programs that ask for it (IBPB)",
                lies: &[Lies::Switches],
                settings: &[],
            },
            Doing {
                says: &["STIBP: always-on", "STIBP: forced"],
                what: "keeps the threads of a core apart (STIBP)",
                lies: &[Lies::Programs],
                settings: &["stibp=on"],
            },
        ],
        off: Some("nospectre_v2"),
        given_up: "the kernel's memory, to programs that train its branches, and programs' from each other",
        needs: &[],
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
                lies: &[Lies::Programs],
                settings: &["ssbd=on"],
            },
            Doing {
                says: &["Speculative Store Bypass disabled via prctl"],
                what: "has loads wait in programs that ask for it (SSBD, by prctl)",
                lies: &[Lies::Switches],
                settings: &[],
            },
            Doing {
                says: &["Speculative Store Bypass disabled via prctl and seccomp"],
                what: "has loads wait in programs that ask for it or have a filter (SSBD)",
                lies: &[Lies::Programs],
                settings: &[],
            },
        ],
        off: Some("spec_store_bypass_disable=off"),
        given_up: "the protection of programs that run foreign code beside secrets, and ask for it",
        needs: &["ssbd"],
        source: "Documentation/userspace-api/spec_ctrl.rst",
    },
    ProtectedFault {
        name: "retbleed",
        called: "Retbleed (CVE-2022-29900, CVE-2022-29901)",
        attack: "A program has the kernel's returns predicted to an address of its choice.",
        processors: "AMD's Zen 1 and 2, and Intel's Skylake to Comet Lake",
        doings: &[
            Doing {
                says: &["untrained return thunk"],
                what: "untrains the prediction of returns",
                lies: &[Lies::Entries, Lies::Returns],
                settings: &["returns=untrain"],
            },
            Doing {
                says: &["IBPB"],
                what: "writes a barrier (IBPB)",
                lies: &[Lies::Entries],
                settings: &["entry-ibpb=on"],
            },
            Doing {
                says: &["IBRS"],
                what: "writes SPEC_CTRL (IBRS)",
                lies: &[Lies::Entries, Lies::Exits],
                settings: &["ibrs=on"],
            },
            Doing {
                says: &["Enhanced IBRS"],
                what: "leaves it to the processor (enhanced IBRS)",
                lies: &[Lies::Nowhere],
                settings: &["ibrs=enhanced"],
            },
            Doing {
                says: &["Stuffing"],
                what: "counts calls, and stuffs the return stack before it runs empty",
                lies: &[Lies::Entries, Lies::Returns],
                settings: &[],
            },
        ],
        off: Some("retbleed=off"),
        given_up: "the kernel's memory, to programs that train its returns",
        needs: &[],
        source: "arch/x86/kernel/cpu/bugs.c",
    },
    ProtectedFault {
        name: "spec_rstack_overflow",
        called: "Inception (SRSO, CVE-2023-20569)",
        attack: "A program plants predictions of returns that the kernel then follows, even on processors that Retbleed spares.",
        processors: "AMD's Zen 1 to 4, and Zen 5 where a hypervisor does not say that it is spared",
        doings: &[
            Doing {
                says: &["Safe RET", "safe RET"],
                what: "returns through a sequence that is not predicted (safe RET)",
                lies: &[Lies::Returns],
                settings: &["returns=untrain"],
            },
            Doing {
                says: &["IBPB"],
                what: "writes a barrier (IBPB)",
                lies: &[Lies::Entries],
                settings: &["entry-ibpb=on"],
            },
            Doing {
                says: &["IBPB on VMEXIT only"],
                what: "writes a barrier behind guests (IBPB)",
                lies: &[Lies::Guests],
                settings: &[],
            },
        ],
        off: Some("spec_rstack_overflow=off"),
        given_up: "the kernel's memory, to programs that plant returns",
        needs: &["ibpb"],
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
                lies: &[Lies::Branches, Lies::Returns],
                settings: &["returns=thunk"],
            },
            Doing {
                says: &["Retpolines"],
                what: "makes returns of indirect branches (retpolines), and stuffs the return stack",
                lies: &[Lies::Branches, Lies::Returns],
                settings: &["dispatch=retpoline"],
            },
        ],
        off: Some("indirect_target_selection=off"),
        given_up: "the kernel's memory, to programs that train its branches",
        needs: &[],
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
        needs: &["md_clear"],
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
                lies: &[Lies::Nowhere],
                settings: &[],
            },
        ],
        off: Some("tsx_async_abort=off"),
        given_up: "data of the kernel and of other programs that passed through the core",
        needs: &["md_clear"],
        source: "Documentation/admin-guide/hw-vuln/tsx_async_abort.rst",
    },
    ProtectedFault {
        name: "mmio_stale_data",
        called: "MMIO stale data (CVE-2022-21123)",
        attack: "A program or guest that may use a device reads what others left in buffers.",
        processors: "Intel's Haswell-X to Rocket Lake, and some Atoms",
        doings: &[VERW],
        off: Some("mmio_stale_data=off"),
        given_up: "data of the kernel and of guests that passed through the core",
        needs: &["md_clear"],
        source: "Documentation/admin-guide/hw-vuln/processor_mmio_stale_data.rst",
    },
    ProtectedFault {
        name: "reg_file_data_sampling",
        called: "RFDS (register file data sampling, CVE-2023-28746)",
        attack: "A program reads what the kernel left in registers of the processor's own.",
        processors: "Intel's Atoms, and the efficient cores beside others",
        doings: &[VERW],
        off: Some("reg_file_data_sampling=off"),
        given_up: "values that the kernel had in registers",
        needs: &["md_clear"],
        source: "Documentation/admin-guide/hw-vuln/reg-file-data-sampling.rst",
    },
    ProtectedFault {
        name: "tsa",
        called: "TSA (transient scheduler attacks, CVE-2024-36350)",
        attack: "A program learns what loads and stores of others were, from how long its own take.",
        processors: "AMD's Zen 3 and 4",
        doings: &[VERW],
        off: Some("tsa=off"),
        given_up: "data of the kernel and of other programs",
        needs: &[],
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
                lies: &[Lies::Nowhere],
                settings: &[],
            },
            Doing {
                says: &["VMX: conditional cache flushes", "VMX: cache flushes"],
                what: "flushes the first cache",
                lies: &[Lies::Guests],
                settings: &[],
            },
        ],
        off: Some("l1tf=off"),
        given_up: "the host's memory, to its guests",
        needs: &[],
        source: "Documentation/admin-guide/hw-vuln/l1tf.rst",
    },
    ProtectedFault {
        name: "gather_data_sampling",
        called: "GDS (Downfall, CVE-2022-40982)",
        attack: "A program reads by gather instructions what others left in vector registers.",
        processors: "Intel's Skylake to Tiger Lake",
        doings: &[
            Doing {
                says: &["Microcode", "Microcode (locked)"],
                what: "leaves it to microcode, by which gathers take longer",
                lies: &[Lies::Programs],
                settings: &[],
            },
            Doing {
                says: &["AVX disabled"],
                what: "has switched AVX off",
                lies: &[Lies::Programs],
                settings: &[],
            },
        ],
        off: Some("gather_data_sampling=off"),
        given_up: "vector registers of other programs and of the kernel, keys among them",
        needs: &[],
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
            lies: &[Lies::Programs],
            settings: &[],
        }],
        off: Some("srbds=off"),
        given_up: "random numbers that programs draw by rdrand",
        needs: &[],
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
            lies: &[Lies::Guests],
            settings: &[],
        }],
        off: Some("kvm.nx_huge_pages=off"),
        given_up: "the host, which a guest can halt",
        needs: &[],
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
            lies: &[Lies::Guests],
            settings: &[],
        }],
        off: Some("vmscape=off"),
        given_up: "the memory of programs that run guests, to their guests",
        needs: &[],
        source: "Documentation/admin-guide/hw-vuln/vmscape.rst",
    },
];

use super::*;
use crate::bpf::Looks;

/// A kernel that all rules of today's profiles are for.
const KERNEL: [u32; 2] = [6, 12];

/// Runs a program of classic BPF as far as filters are made of it: what it answers for a call.
fn answer(program: &Program, number: u32, arguments: [u64; 6]) -> u32 {
    const X86_64: u32 = 0xc000_003e;
    let code = program.code();
    let word = |offset: u32| match offset {
        0 => number,
        4 => X86_64,
        _ => {
            let place = (offset as usize - 16) / 4;
            (arguments[place / 2] >> (32 * (place % 2))) as u32
        }
    };
    let (mut at, mut accumulator) = (0, 0u32);
    loop {
        let one = &code[at];
        at += 1;
        let jump = |yes: bool| usize::from(if yes { one.jt } else { one.jf });
        match one.code {
            0x20 => accumulator = word(one.k),
            0x54 => accumulator &= one.k,
            0x05 => at += one.k as usize,
            0x15 => at += jump(accumulator == one.k),
            0x25 => at += jump(accumulator > one.k),
            0x35 => at += jump(accumulator >= one.k),
            0x06 => return one.k,
            other => panic!("{other:#x}"),
        }
    }
}

const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;

fn compiled(text: &str) -> Compiled {
    Profile::parse(text.as_bytes()).unwrap().compile(KERNEL).unwrap()
}

fn refused(text: &str) -> String {
    Profile::parse(text.as_bytes()).and_then(|profile| profile.compile(KERNEL)).unwrap_err().to_string()
}

/// A profile that forbids everything but these rules.
fn with(rules: &str) -> String {
    format!(r#"{{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{rules}]}}"#)
}

#[test]
fn the_own_profile_allows_what_programs_need_and_nothing_that_changes_the_machine() {
    let own = Profile::own().unwrap().compile(KERNEL).unwrap();
    assert_eq!(own.unknown, [""; 0]);
    assert!(own.allows_speculation && own.calls > 250, "{}", own.calls);
    let of = |number: i64| answer(&own.program, number as u32, [0; 6]);
    use nix::libc::*;
    for allowed in [SYS_read, SYS_getppid, SYS_futex, SYS_execve, SYS_clone, SYS_personality, SYS_socket] {
        assert_eq!(of(allowed), ALLOW, "{allowed}");
    }
    for forbidden in [SYS_mount, SYS_bpf, SYS_reboot, SYS_kexec_load, SYS_ptrace, 5000] {
        assert_eq!(of(forbidden), ERRNO | 1, "{forbidden}");
    }
    assert_eq!(of(SYS_clone3), ERRNO | 38);
    assert_eq!(
        answer(&own.program, SYS_clone as u32, [0x1000_0000, 0, 0, 0, 0, 0]),
        ERRNO | 1,
        "a user namespace"
    );
    assert_eq!(answer(&own.program, SYS_socket as u32, [40, 0, 0, 0, 0, 0]), ERRNO | 1);
}

/// As Docker's: conditions by capabilities, architectures and kernels, several actions, and names of other processors.
const OF_DOCKERS_SHAPE: &str = r#"{
    "defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 1,
    "archMap": [
        {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86", "SCMP_ARCH_X32"]},
        {"architecture": "SCMP_ARCH_RISCV64", "subArchitectures": null}],
    "syscalls": [
        {"names": ["read", "getppid", "chown32", "riscv_flush_icache", "_newselect"], "action": "SCMP_ACT_ALLOW"},
        {"names": ["arm_sync_file_range", "cachectl", "fstatat", "pciconfig_iobase", "s390_pci_mmio_read", "spu_run", "swapcontext",
         "sync_file_range2", "vm86old"], "action": "SCMP_ACT_ALLOW"},
        {"names": ["ptrace"], "action": "SCMP_ACT_ALLOW", "includes": {"minKernel": "4.8"}},
        {"names": ["kcmp"], "action": "SCMP_ACT_ALLOW", "includes": {"minKernel": "7.1"}},
        {"names": ["mount"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_SYS_ADMIN"]}},
        {"names": ["chroot"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_SYS_CHROOT"]}},
        {"names": ["arch_prctl"], "action": "SCMP_ACT_ALLOW", "includes": {"arches": ["amd64", "x32"]}},
        {"names": ["modify_ldt"], "action": "SCMP_ACT_ALLOW", "includes": {"arches": ["s390x"]}},
        {"names": ["clone"], "action": "SCMP_ACT_ALLOW", "comment": "no new namespaces",
         "args": [{"index": 0, "value": 2114060288, "op": "SCMP_CMP_MASKED_EQ"}],
         "excludes": {"caps": ["CAP_SYS_ADMIN"], "arches": ["s390", "s390x"]}},
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38, "excludes": {"caps": ["CAP_SYS_ADMIN"]}},
        {"names": ["sethostname"], "action": "SCMP_ACT_KILL_PROCESS", "excludes": {"caps": ["CAP_KILL"]}}
    ]}"#;

#[test]
fn a_profile_of_dockers_shape_holds_for_the_usual_capabilities() {
    let made = compiled(OF_DOCKERS_SHAPE);
    assert_eq!(made.unknown, [""; 0], "names of other processors are none");
    use nix::libc::*;
    for (call, due) in [
        (SYS_read, ALLOW),
        (SYS_getppid, ALLOW),
        (SYS_ptrace, ALLOW),
        (SYS_chroot, ALLOW),
        (SYS_arch_prctl, ALLOW),
        (SYS_clone, ALLOW),
        (SYS_kcmp, ERRNO | 1),
        (SYS_mount, ERRNO | 1),
        (SYS_modify_ldt, ERRNO | 1),
        (SYS_clone3, ERRNO | 38),
        (SYS_sethostname, ERRNO | 1),
    ] {
        assert_eq!(answer(&made.program, call as u32, [0; 6]), due, "{call}");
    }
    assert_eq!(answer(&made.program, SYS_clone as u32, [0x7e02_0000, 0, 0, 0, 0, 0]), ERRNO | 1);
}

#[test]
fn conditions_of_one_argument_are_alternatives_and_of_several_all_are_due() {
    let of = |args: &str| {
        compiled(&with(&format!(r#"{{"names": ["ioctl"], "action": "SCMP_ACT_ALLOW", "args": [{args}]}}"#)))
    };
    let ioctl = nix::libc::SYS_ioctl as u32;
    let both =
        of(r#"{"index": 0, "value": 3, "op": "SCMP_CMP_GE"}, {"index": 1, "value": 7, "op": "SCMP_CMP_LT"}"#);
    for (arguments, due) in [([3, 6], ALLOW), ([2, 6], ERRNO | 1), ([3, 7], ERRNO | 1), ([1 << 32, 0], ALLOW)]
    {
        let [first, second] = arguments;
        assert_eq!(answer(&both.program, ioctl, [first, second, 0, 0, 0, 0]), due, "{arguments:?}");
    }
    let any =
        of(r#"{"index": 0, "value": 3, "op": "SCMP_CMP_EQ"}, {"index": 0, "value": 5, "op": "SCMP_CMP_EQ"}"#);
    for (first, due) in [(3, ALLOW), (5, ALLOW), (4, ERRNO | 1)] {
        assert_eq!(answer(&any.program, ioctl, [first, 0, 0, 0, 0, 0]), due, "{first}");
    }
}

#[test]
fn a_rule_without_conditions_is_met_whatever_others_say() {
    let rule = r#"{"name": "ioctl", "action": "SCMP_ACT_ALLOW"}"#;
    let other = r#"{"names": ["ioctl"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 3, "op": "SCMP_CMP_EQ"}]}"#;
    for rules in [format!("{rule}, {other}"), format!("{other}, {rule}"), format!("{rule}, {rule}")] {
        assert_eq!(
            answer(&compiled(&with(&rules)).program, nix::libc::SYS_ioctl as u32, [9; 6]),
            ALLOW,
            "{rules}"
        );
    }
}

#[test]
fn what_a_profile_does_to_speculation_is_its_flags_or_runcs() {
    let of = |flags: &str| {
        compiled(&format!(r#"{{"defaultAction": "SCMP_ACT_ALLOW"{flags}}}"#)).allows_speculation
    };
    assert!(of("") && of(r#", "flags": ["SECCOMP_FILTER_FLAG_SPEC_ALLOW"]"#));
    assert!(!of(r#", "flags": []"#) && !of(r#", "flags": ["SECCOMP_FILTER_FLAG_LOG"]"#));
}

#[test]
fn names_that_nobody_has_are_told() {
    let made = compiled(&with(
        r#"{"names": ["read", "opennat", "cacheflush", "opennat", "\u001b[2J"], "action": "SCMP_ACT_ALLOW"}"#,
    ));
    assert_eq!(made.unknown, ["\u{1b}[2J", "opennat"]);
    assert_eq!(made.calls, 1);
}

#[test]
fn what_means_nothing_is_refused_in_one_sentence() {
    let arg =
        |text: &str| with(&format!(r#"{{"names": ["read"], "action": "SCMP_ACT_ALLOW", "args": [{text}]}}"#));
    let rule = |text: &str| with(&format!(r#"{{"names": ["read"], {text}}}"#));
    for (text, why) in [
        ("".into(), "EOF while parsing a value"),
        ("[]".into(), "invalid length 0"),
        ("{}".into(), "missing field `defaultAction`"),
        (r#"{"defaultAction": "SCMP_ACT_MAYBE"}"#.into(), "unknown variant `SCMP_ACT_MAYBE`"),
        (arg(r#"{"index": 0, "value": 1, "op": "SCMP_CMP_LIKE"}"#), "unknown variant `SCMP_CMP_LIKE`"),
        (
            arg(r#"{"index": 6, "value": 1, "op": "SCMP_CMP_EQ"}"#),
            "syscalls[0].args[0]: index 6 is no argument",
        ),
        (arg(r#"{"index": 0, "value": -1, "op": "SCMP_CMP_EQ"}"#), "invalid value: integer `-1`"),
        (
            rule(r#""action": "SCMP_ACT_NOTIFY""#),
            "syscalls[0]: SCMP_ACT_NOTIFY needs a container runtime's agent",
        ),
        (rule(r#""action": "SCMP_ACT_ERRNO", "errnoRet": 5000"#), "syscalls[0]: 5000 is no error"),
        (rule(r#""action": "SCMP_ACT_ALLOW", "includes": {"moon": "full"}"#), "unknown field `moon`"),
        (
            rule(r#""action": "SCMP_ACT_ALLOW", "includes": {"minKernel": "six"}"#),
            "minKernel \"six\" is no version",
        ),
        (
            r#"{"defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_S390X"]}"#.into(),
            "architectures: SCMP_ARCH_X86_64 is missing",
        ),
        (r#"{"defaultAction": "SCMP_ACT_ALLOW", "flags": ["FAST"]}"#.into(), "flags: FAST is no flag"),
    ] {
        let found = refused(&text);
        assert!(found.contains(why) && !found.contains('\n'), "{text}: {found}");
    }
    let deep = "[".repeat(100_000);
    assert!(refused(&deep).contains("recursion limit") || refused(&deep).contains("line 1"));
    assert_eq!(Profile::parse(&vec![b' '; MOST_BYTES as usize + 1]).unwrap_err(), ProfileError::Long);
}

#[test]
fn a_filter_that_no_kernel_takes_is_refused() {
    let rule = r#"{"names": ["read"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}]}"#;
    let many = with(&vec![rule; 1000].join(","));
    assert!(refused(&many).starts_with("its filter is not one that a kernel takes"), "{}", refused(&many));
}

#[test]
fn no_profile_that_is_damaged_makes_it_panic() {
    let whole = OF_DOCKERS_SHAPE.as_bytes();
    for place in 0..whole.len() {
        for byte in [b'"', b'{', b'9', 0xff] {
            let mut damaged = whole.to_vec();
            damaged[place] = byte;
            let _ = Profile::parse(&damaged).and_then(|profile| profile.compile(KERNEL));
        }
        let _ = Profile::parse(&whole[..place]).and_then(|profile| profile.compile(KERNEL));
    }
}

#[test]
fn the_own_filters_allow_what_is_measured_and_run_to_their_end() {
    for looks in [Looks::AtNumber, Looks::AtArguments] {
        for rules in [1, 10, 50, 300] {
            let program = Program::of_rules(rules, looks);
            for call in [nix::libc::SYS_read, nix::libc::SYS_getppid, nix::libc::SYS_futex] {
                assert_eq!(answer(&program, call as u32, [7; 6]), ALLOW);
            }
            assert_eq!(answer(&program, 999 + u32::from(rules), [0; 6]), ERRNO | 1);
        }
    }
}

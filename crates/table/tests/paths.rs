//! Templates that cannot be copied are refused when the kernel is built: each mistake, in words.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

use std::path::Path;
use std::process::Command;
use table::freestanding::{FREESTANDING, KERNEL_HEADERS};
use table::paths::{File, Paths};
use table::{Table, header};

/// What is wrong with a path of these lines of assembler.
fn wrong(kind: &str, lines: &str) -> Vec<String> {
    of_source(&format!("PATH broken, {kind}\n{lines}\nEND_PATH\n"))
}

fn of_source(source: &str) -> Vec<String> {
    table::paths::check(&read(source), Table::get())
}

fn read(source: &str) -> Paths {
    let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab");
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("path.S"), folder.path().join("kernel"));
    std::fs::write(folder.path().join("switches.h"), header::render_switches(Table::get())).unwrap();
    let limits =
        "\n.section .rodata\n.globl path_limits\npath_limits: .quad PATH_SLOT, PATH_ROOM, 128, 3, 128\n";
    std::fs::write(&file, format!("#include \"entry/path.inc\"\n{source}\n{limits}")).unwrap();
    let mut command = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
    command.args(FREESTANDING).args(["-m64", "-static", "-no-pie", "-Wl,-n"]).args(KERNEL_HEADERS);
    for include in [&lab, &lab.join("../abi"), &folder.path().to_path_buf()] {
        command.arg("-I").arg(include);
    }
    // The script takes the address of the kernel's exception stubs apart, which are not here.
    command.args(["-Wl,--defsym=exception_stubs=0", "-Wl,--defsym=early_stubs=0"]);
    let script = format!("-Wl,-T,{}", lab.join("kernel.lds").display());
    let output = command.arg(script).arg(&file).arg("-o").arg(&out).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes = std::fs::read(out).unwrap();
    Paths::read(&File::read(&bytes).unwrap()).unwrap()
}

/// One mistake, and how it is called.
fn refused(lines: &str, why: &str) {
    let wrong = wrong("BY_KERNEL", lines);
    assert!(wrong.len() == 1 && wrong[0].contains(why), "{lines}\n{wrong:#?}\ninstead of {why}");
}

#[test]
fn what_can_be_copied_is_not_refused() {
    let sound = "STEP \"one\", SWITCH_PTI, IS(PTI_ON)|IS(PTI_OFF)\n cmp %eax, %ebx\n je 1f\n nop\n1:\n BRANCH JNE, 2f\n\
                 STEP \"two\", SWITCH_SMAP, IS(SMAP_ON)\n clac\nSTEP \"label\"\n2:\nSTEP \"three\", SWITCH_SMAP, IS(SMAP_OFF)\n\
                 nop\nSTEP \"four\"\n mov $PARAMETER_VALUE, %ecx\n PARAMETER SWITCH_CR3_WRITES\n\
                 3: mov (%rdi), %eax\n FAULT 3b, 2b\n CALL_C elsewhere\n ret";
    let source = format!("PATH broken, BY_KERNEL\n{sound}\nEND_PATH\n.text\nelsewhere: ret\n");
    assert_eq!(of_source(&source), Vec::<String>::new());
}

#[test]
fn a_branch_that_the_copy_would_not_correct_is_refused() {
    refused(
        "STEP \"a\"\n jmp 1f\nSTEP \"b\"\n nop\n1: ret",
        "path broken: step \"a\": at + 0 a branch leaves the step",
    );
    refused("STEP \"a\"\n nop\n call 1f\nSTEP \"b\"\n nop\n1: ret", "at + 1 a branch leaves the step");
    refused("STEP \"a\"\n loop 1f\nSTEP \"b\"\n nop\n1: ret", "a branch leaves the step");
    refused("STEP \"a\"\n1: mov 1b(%rip), %eax\n ret", "relative to rip");
    refused("STEP \"a\"\n ret\n .byte 0x48", "no instruction that ends in the step");
}

#[test]
fn the_address_of_a_template_is_refused() {
    let why = "an operand is the address of a template";
    for instruction in [
        "mov $1f, %rdx",
        "movabs $1f, %rdx",
        "push $1f",
        "movq $1f, (%rsp)",
        "lea 1f, %rdx",
        "mov 1f, %rax",
        "movabs 1f, %rax",
        "jmp *1f(, %rax, 8)",
        "add $1f - 1, %rdx",
    ] {
        refused(&format!("STEP \"a\"\n {instruction}\nSTEP \"b\"\n1: ret"), &format!("at + 0 {why}"));
    }
    let attached = "PATH sound, BY_KERNEL\nHOOK OUT_LATE\nSTEP \"a\"\n1: ret\nEND_PATH\n\
                    ATTACH OUT_LATE, 10\nSTEP \"b\"\n push $1b\nEND_ATTACH\n";
    assert_eq!(of_source(attached).len(), 1);
    // The kernel's other addresses are the same everywhere.
    let sound = "PATH sound, BY_KERNEL\nSTEP \"a\"\n push $elsewhere\n mov elsewhere, %rdx\n mov $-1, %rax\n ret\n\
                 END_PATH\n.text\nelsewhere: ret\n";
    assert_eq!(of_source(sound), Vec::<String>::new());
}

#[test]
fn a_label_that_may_be_off_is_refused() {
    let why = "goes to step \"b\", which may be off; put the label into an empty step";
    refused(
        "STEP \"a\"\n JUMP 1f\nSTEP \"x\"\n ret\nSTEP \"b\", SWITCH_PTI, IS(PTI_ON)\n1: nop\nSTEP \"c\"\n ret",
        why,
    );
    refused(
        "STEP \"a\", SWITCH_SMAP, IS(SMAP_ON)\n JUMP 1f\nSTEP \"x\"\n ret\nSTEP \"b\", SWITCH_PTI, NOT(PTI_OFF)\n1: nop\nSTEP \"c\"\n ret",
        why,
    );
    refused(
        "STEP \"a\"\n1: mov (%rdi), %eax\n FAULT 1b, 2f\n ret\nSTEP \"b\", SWITCH_PTI, IS(PTI_ON)\n2: nop\nSTEP \"c\"\n ret",
        why,
    );
    // There whenever the branch is.
    let both = "STEP \"a\", SWITCH_PTI, IS(PTI_ON), SWITCH_SMAP, IS(SMAP_ON)\n JUMP 1f\n\
                STEP \"x\"\n ret\nSTEP \"b\", SWITCH_PTI, IS(PTI_ON)\n1: nop\nSTEP \"c\"\n ret";
    assert_eq!(wrong("BY_KERNEL", both), Vec::<String>::new());
}

#[test]
fn a_path_beyond_its_slot_is_refused() {
    refused(
        // The path's own endbr64 has four bytes.
        "STEP \"a\"\n .fill 3069, 1, 0x90",
        "with every step it has 3073 bytes, and its slot leaves it 3072",
    );
    assert_eq!(wrong("BY_KERNEL", "STEP \"a\"\n .fill 3067, 1, 0x90\n ret"), Vec::<String>::new());
    refused(
        &format!("STEP \"a\"\n ret\n{}", "STEP \"b\", SWITCH_PTI, IS(PTI_ON)\n nop\n".repeat(126)),
        "see MAX_PIECES",
    );
    refused(
        &"STEP \"a\"\n1: mov (%rdi), %eax\n FAULT 1b, 0\n".repeat(4),
        "4 faults, and path.c has room for 3",
    );
    refused(&format!("STEP \"{}\"\n ret", "a".repeat(129)), "its name is longer than 128 bytes");
}

#[test]
fn an_entry_has_its_hooks() {
    let hooks =
        "HOOK IN_EARLY\nHOOK IN_KERNEL\nHOOK IN_SAVED\nHOOK OUT_SAVED\nHOOK OUT_LATE\nSTEP \"out\"\n iretq";
    assert_eq!(wrong("BY_INTERRUPT", hooks), Vec::<String>::new());
    let missing = wrong("BY_INTERRUPT", &hooks.replace("HOOK OUT_SAVED\n", ""));
    assert_eq!(missing, ["path broken: it has the hook OUT_SAVED 0 times"]);
    let twice = wrong("BY_SYSCALL", &hooks.replace("HOOK IN_SAVED\n", "HOOK IN_SAVED\nHOOK IN_SAVED\n"));
    assert_eq!(twice, ["path broken: it has the hook IN_SAVED 2 times"]);
    let swapped =
        wrong("BY_SYSCALL", &hooks.replace("HOOK IN_SAVED\nHOOK OUT_SAVED", "HOOK OUT_SAVED\nHOOK IN_SAVED"));
    assert_eq!(swapped, ["path broken: its hooks are not in their order"]);
    refused("HOOK IN_EARLY\n nop\nSTEP \"a\"\n ret", "a hook has code");
}

#[test]
fn what_is_attached_is_checked_too() {
    let path = "PATH sound, BY_KERNEL\nHOOK OUT_LATE\nSTEP \"a\"\n1: ret\nEND_PATH\n";
    let leaves = of_source(&format!("{path}ATTACH OUT_LATE, 10\nSTEP \"b\"\n JUMP 1b\nEND_ATTACH\n"));
    let why = "attached to OUT_LATE: step \"b\": at + 0 a branch goes to the template of other steps, which never runs";
    assert_eq!(leaves, [why]);
    let long = "ATTACH OUT_LATE, 10\nSTEP \"b\"\n .fill 3072, 1, 0x90\nEND_ATTACH\n";
    assert_eq!(of_source(&format!("{path}{long}")).len(), 1, "its steps count for the slot of each path");
}

#[test]
fn attached_steps_come_in_the_order_of_their_numbers_where_they_are_meant() {
    let one = |number: &str, name: &str, kinds: &str| {
        format!("ATTACH OUT_LATE, {number}\nSTEP \"{name}\", ENTERED_BY, {kinds}\n nop\nEND_ATTACH\n")
    };
    let source = [
        "PATH sound, BY_KERNEL\nHOOK OUT_LATE, SWITCH_EXIT, IS(EXIT_IRET)\nSTEP \"a\"\n ret\nEND_PATH\n"
            .to_string(),
        one("20", "second", "IS(BY_KERNEL)"),
        one("05", "first", "NOT(BY_SYSCALL)"),
        one("10", "never", "IS(BY_SYSCALL)|IS(BY_SYSENTER)"),
    ];
    let paths = read(&source.concat());
    let steps = paths.steps(paths.path("sound").unwrap());
    let on = |exit: &str| {
        let on = steps.iter().filter(|step| step.is_on(&[("exit", exit)]));
        on.map(|step| step.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(on("iret"), ["OUT_LATE", "first", "second", "a"]);
    assert_eq!(on("natural"), ["a"], "what is attached to a hook that is off is off");
    assert_eq!(table::paths::check(&paths, Table::get()), Vec::<String>::new());
}

#[test]
fn conditions_and_parameters_name_what_there_is() {
    refused("STEP \"a\", 99, IS(1)\n ret", "it depends on 99, which is the id of no switch");
    refused("STEP \"a\", SWITCH_PTI, IS(5)\n ret", "no value of switch 4 makes it be there");
    refused(
        "STEP \"a\"\n mov $1, %ecx\n PARAMETER SWITCH_CR3_WRITES\n ret",
        "does not follow an instruction",
    );
    refused(
        "STEP \"a\"\n mov $PARAMETER_VALUE, %ecx\n PARAMETER SWITCH_PTI\n ret",
        "switch 4, which is no number",
    );
}

#[test]
fn what_a_step_executes_is_declared_in_it() {
    let lines = "STEP \"a\"\n EXECUTES 6, 3, SWITCH_CR3_WRITES\n nop\nSTEP \"b\"\nSTEP \"c\"\n ret\n EXECUTES 12\n nop";
    let source = format!("PATH odd, BY_KERNEL\n{lines}\nEND_PATH\n");
    let paths = read(&source);
    let steps = paths.steps(&paths.paths[0]);
    let own = steps.iter().filter(|step| ["a", "b", "c"].contains(&step.name.as_str()));
    let declared: Vec<_> = own.map(|step| step.executed).collect();
    let of = |count, each, switch| Some(table::paths::Executed { count, each, switch });
    assert_eq!(declared, [of(6, 3, 9), None, of(12, 0, 0)]);
    refused("STEP \"a\"\n EXECUTES 1, 2, SWITCH_PTI\n ret", "EXECUTES names switch 4, which is no number");
}

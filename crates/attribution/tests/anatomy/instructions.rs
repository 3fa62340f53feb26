//! Instructions that were in a wrong part, each by the rule that names it now.

use crate::common::{Recorded, count, made};
use attribution::anatomy::{Anatomy, Confidence, Instruction, Part};
use linux::Kernel;
use record::trace::{Executed, Symbol, Trace};

/// The instructions whose function begins so, and whose text does.
fn found<'a>(anatomy: &'a Anatomy, function: &str, text: &str) -> Vec<&'a Instruction> {
    let all = anatomy.instructions.iter();
    all.filter(|one| one.function_name().starts_with(function) && one.text.starts_with(text)).collect()
}

#[track_caller]
fn all_are(anatomy: &Anatomy, function: &str, text: &str, part: Part) {
    let found = found(anatomy, function, text);
    assert!(!found.is_empty(), "{function}: no {text}");
    found.iter().for_each(|one| assert_eq!(one.part, part, "{function}: {}", one.text));
}

fn step(address: u64, ring: u8, bytes: &[u8]) -> Executed {
    Executed { address, ring, long: true, bytes: bytes.to_vec() }
}

/// What a recorded path was, with the stack offset switched off: its code is skipped by jumps that boot has put in the place of nops,
/// which the kernel's file has.
fn switched_off(recorded: &Recorded, entry: &str) -> Anatomy {
    let trace = recorded.trace(entry, "getppid");
    let anatomy = Anatomy::of(trace, &recorded.symbols, &recorded.kernel);
    let is_offset = |at: usize| anatomy.instructions[at].part == Part::StackOffset;
    let text = recorded.symbols.iter().find(|symbol| symbol.name == "_text").map(|symbol| symbol.address);
    let moved = text.map_or(0, |text| text - recorded.kernel.text.unwrap());
    let (mut steps, mut sections) = (Vec::new(), made::sections());
    for (at, step) in trace.steps.iter().enumerate() {
        let is_first = is_offset(at) && anatomy.instructions[at].idle;
        let end = (at..).find(|at| !is_offset(*at)).unwrap();
        match is_first {
            true => {
                let run = trace.steps[at..end].iter().zip(&anatomy.instructions[at..end]);
                let code: Vec<u8> =
                    run.flat_map(|(step, one)| step.bytes[..one.bytes.len() / 2].to_vec()).collect();
                let distance = trace.steps[end].address - step.address;
                let nop = anatomy.instructions[at].bytes.len() / 2;
                let jump = match nop {
                    2 => vec![0xeb, distance as u8 - 2],
                    _ => [&[0xe9][..], &(distance as u32 - 5).to_le_bytes()].concat(),
                };
                steps.push(self::step(step.address, 0, &jump));
                sections.push((".text", step.address - moved, code, true));
            }
            false if is_offset(at) => {}
            false => steps.push(step.clone()),
        }
    }
    let kernel = Kernel { bytes: made::elf(&sections, true), ..recorded.kernel.clone() };
    Anatomy::of(&Trace { steps, ..trace.clone() }, &recorded.symbols, &kernel)
}

#[test]
fn what_is_left_of_a_stack_offset_that_is_off_was_handler_and_work() {
    for (name, entry) in
        [("6.1-pti-on", "syscall-x86_64"), ("6.1-pti-on", "int80-x86_64"), ("6.12-pti-off", "int80-x86_64")]
    {
        let recorded = Recorded::read(name);
        let on = recorded.anatomy(entry, "getppid");
        let off = switched_off(&recorded, entry);
        let of_offset = off.instructions.iter().filter(|one| one.part == Part::StackOffset);
        let texts: Vec<(bool, &str)> = of_offset.map(|one| (one.idle, &one.text[..4])).collect();
        assert_eq!(texts, [(true, "jmp "), (true, "jmp ")], "{name} {entry}");
        for part in [Part::Handler, Part::Work, Part::StaticKeys, Part::Other] {
            assert_eq!(count(&off, part), count(&on, part), "{name} {entry}: {}", part.name());
        }
    }
}

#[test]
fn the_nop_before_a_stack_offset_was_static_keys() {
    for name in ["6.1-pti-on", "6.12-pti-on"] {
        for entry in ["syscall-x86_64", "int80-x86_64"] {
            let anatomy = Recorded::read(name).anatomy(entry, "getppid");
            let of_offset = anatomy.instructions.iter().filter(|one| one.part == Part::StackOffset);
            let nops: Vec<bool> = of_offset
                .filter(|one| one.text.starts_with("nop") || one.text.starts_with("xchg"))
                .map(|one| one.idle)
                .collect();
            assert_eq!(nops, [true, true], "{name} {entry}");
        }
    }
}

#[test]
fn a_task_that_others_use_too_is_not_the_stack_offsets() {
    let anatomy = Recorded::read("6.12-pti-on").anatomy("syscall-x86_64", "getppid");
    let loads = found(&anatomy, "do_syscall_64", "mov %gs:");
    assert_eq!(loads.iter().map(|one| one.part).collect::<Vec<_>>(), [Part::Handler]);
    let anatomy = Recorded::read("6.12-pti-on").anatomy("int80-x86_64", "getppid");
    let loads = found(&anatomy, "do_int80_emulation", "mov %gs:");
    assert_eq!(loads.first().map(|one| one.part), Some(Part::StackOffset));
}

#[test]
fn entries_own_code_is_in_its_parts() {
    let anatomy = Recorded::read("6.12-pti-on").anatomy("int80-x86_64", "getppid");
    all_are(&anatomy, "error_entry", "jmp sync_regs", Part::CopyFrame);
    all_are(&anatomy, "asm_int80_emulation", "cld", Part::Flags);
    all_are(&anatomy, "asm_int80_emulation", "jmp error_return", Part::Leaving);
    all_are(&anatomy, "error_return", "jmp swapgs_restore", Part::Leaving);
    // Isolation has its own way out: the jump to it, what it saves a register with, and the jump back.
    let out = "swapgs_restore_regs_and_return_to_usermode";
    let jumps = found(&anatomy, out, "jmp swapgs_restore");
    let parts: Vec<&str> = jumps.iter().map(|one| one.part.name()).collect();
    assert_eq!(parts, ["ibrs", "pti", "pcid", "pti"]);
    all_are(&anatomy, out, "push %rax", Part::Pti);
    assert_eq!(found(&anatomy, out, "pop %rax").last().unwrap().part, Part::Pti);
    let entering = found(&anatomy, "program", "int $0x80");
    assert_eq!(entering.len(), 1, "a vector is no signed number");
}

#[test]
fn what_stands_idle_in_the_place_of_a_protection_is_marked() {
    let anatomy = Recorded::read("6.1-pti-off").anatomy("syscall-x86_64", "getppid");
    let of_pti = anatomy.instructions.iter().filter(|one| one.part == Part::Pti);
    assert!(
        of_pti.clone().count() == 4 && of_pti.clone().all(|one| one.idle),
        "{:?}",
        of_pti.collect::<Vec<_>>()
    );
    let anatomy = Recorded::read("6.12-pti-on").anatomy("int80-x86_64", "getppid");
    let first = found(&anatomy, "sync_regs", "nop");
    assert!(first.iter().all(|one| one.part == Part::Ibt && one.idle) && first.len() == 1, "{first:?}");
}

#[test]
fn c_code_of_entries_is_in_its_parts() {
    for name in ["6.1-pti-on", "6.12-pti-on"] {
        let recorded = Recorded::read(name);
        let anatomy = recorded.anatomy("int80-x86_64", "getppid");
        all_are(&anatomy, "do_int80_emulation", "test $1, %al", Part::ExternalCheck);
        // The bound is checked by the same instructions whether there is such a call or not.
        for operation in ["getppid", "none"] {
            all_are(&recorded.anatomy("syscall-x86_64", operation), "do_syscall_64", "ja ", Part::Dispatch);
        }
    }
    let anatomy = Recorded::read("6.12-pti-on").anatomy("syscall-x86_64", "getppid");
    all_are(&anatomy, "do_syscall_64", "sete", Part::ReturnChecks);
}

#[test]
fn a_jump_over_what_guests_of_xen_execute_was_a_check() {
    for (name, entry, handler) in [
        ("6.1-pti-on", "int80-x86_64", "do_int80_emulation"),
        ("6.12-pti-on", "int80-x86_64", "do_int80_emulation"),
        ("6.12-untrain", "syscall-x86_64", "do_syscall_64"),
    ] {
        let anatomy = Recorded::read(name).anatomy(entry, "getppid");
        let jumps = found(&anatomy, handler, "jmp do_");
        let told: Vec<_> = jumps.iter().map(|one| (one.part, one.confidence, one.idle)).collect();
        assert_eq!(told, [(Part::Paravirt, Confidence::Table, true)], "{name} {entry}");
    }
}

#[test]
fn the_assertion_before_iretq_was_swapgs() {
    let out = "swapgs_restore_regs_and_return_to_usermode";
    for name in ["6.12-pti-on", "6.12-pti-off"] {
        let anatomy = Recorded::read(name).anatomy("int80-x86_64", "getppid");
        all_are(&anatomy, out, "testb $3", Part::ReturnChecks);
        all_are(&anatomy, out, "jne native_irq_return_iret", Part::ReturnChecks);
        // On the way in, the same test decides about swapgs.
        all_are(&anatomy, "error_entry", "testb $3", Part::Swapgs);
    }
    let anatomy = Recorded::read("6.1-pti-on").anatomy("int80-x86_64", "getppid");
    assert_eq!(count(&anatomy, Part::ReturnChecks), 0, "6.1 checks nothing before iretq");
}

#[test]
fn a_handler_that_lets_interrupts_in_was_the_service() {
    let fault = Recorded::read("6.12-untrain").anatomy("page-fault", "minor-fault");
    let ud = Recorded::read("6.1-pti-on").anatomy("ud", "signal");
    for (anatomy, opens, closes) in
        [(&fault, "do_user_addr_fault", "exc_page_fault"), (&ud, "do_error_trap", "do_error_trap")]
    {
        all_are(anatomy, opens, "sti", Part::Interrupts);
        all_are(anatomy, closes, "cli", Part::Interrupts);
    }
    // Here the service keeps interrupts away from its own counts.
    for text in ["pushf", "cli", "sti"] {
        all_are(&fault, "count_memcg_events", text, Part::Service);
    }
}

#[test]
fn a_handler_that_saves_the_flag_was_taken_for_one_that_lets_interrupts_in() {
    let handler = "do_user_addr_fault";
    let anatomy = made_up(&[
        ("asm_exc_page_fault", 0, &[0xe8, 0xfb, 0x0f, 0, 0]), // call exc_page_fault
        ("exc_page_fault", 0, &[0xe8, 0xfb, 0x0f, 0, 0]),     // call do_user_addr_fault
        (handler, 0, &[0xfb]),                                // sti
        (handler, 1, &[0x9c]),                                // pushf
        (handler, 2, &[0xfa]),                                // cli
        (handler, 3, &[0xfb]),                                // sti
    ]);
    let parts: Vec<&str> = anatomy.instructions[3..].iter().map(|one| one.part.name()).collect();
    assert_eq!(parts, ["interrupts", "service", "service", "service"]);
}

/// What leads to the audit system, as 6.1 and 6.12 have it inlined: in the work that a call is entered by, and in that which it is left by.
#[test]
fn what_audit_has_inlined_was_work() {
    let (entry, work, audit) = ("entry_SYSCALL_64", "syscall_trace_enter", "__audit_syscall_entry");
    let anatomy = made_up(&[
        (entry, 0, &[0xe8, 0xfb, 0x0f, 0, 0]),      // call syscall_trace_enter
        (work, 0x1d, &[0xf6, 0xc3, 0x01]),          // test $1, %bl
        (work, 0x20, &[0x75, 0x72]),                // jne
        (work, 0x22, &[0x83, 0xe3, 0x02]),          // and $2, %ebx
        (work, 0x25, &[0x4d, 0x63, 0x65, 0x78]),    // movslq 0x78(%r13), %r12
        (work, 0x29, &[0x0f, 0x85, 0xba, 0, 0, 0]), // jne
        (work, 0x2f, &[0x65, 0x48, 0x8b, 0x04, 0x25, 0, 0x50, 3, 0]), // mov %gs:0x35000, %rax
        (work, 0x38, &[0x48, 0x83, 0xb8, 0x60, 0x0c, 0, 0, 0]), // cmpq $0, 0xc60(%rax)
        (work, 0x40, &[0x0f, 0x85, 0xaa, 0, 0, 0]), // jne +0xf0
        (work, 0xf0, &[0x49, 0x8b, 0x55, 0x68]),    // mov 0x68(%r13), %rdx
        (work, 0xf4, &[0xf6, 0x40, 0x10, 0x02]),    // testb $2, 0x10(%rax)
        (work, 0xf8, &[0x75, 0x47]),                // jne
        (work, 0xfa, &[0xe8, 1, 0x0f, 0, 0]),       // call __audit_syscall_entry
        (audit, 0, &[0x65, 0x48, 0x8b, 0x3c, 0x25, 0, 0x50, 3, 0]), // mov %gs:0x35000, %rdi
        (audit, 9, &[0x48, 0x8b, 0x9f, 0x60, 0x0c, 0, 0]), // mov 0xc60(%rdi), %rbx
        (audit, 16, &[0xc3]),                       // ret
        (work, 0xff, &[0xe9, 0x42, 0xff, 0xff, 0xff]), // jmp +0x46
        (work, 0x46, &[0x48, 0x85, 0xed]),          // test %rbp, %rbp
    ]);
    let parts: Vec<Part> = anatomy.instructions[2..].iter().map(|one| one.part).collect();
    let expected = [vec![Part::Work; 5], vec![Part::Audit; 11], vec![Part::Work]].concat();
    assert_eq!(parts, expected);
    assert!(anatomy.instructions[7..14].iter().all(|one| one.confidence == Confidence::Pattern));
}

#[test]
fn a_task_that_work_uses_too_is_not_audits() {
    let (entry, work, audit) =
        ("entry_SYSCALL_64", "syscall_exit_to_user_mode_prepare", "__audit_syscall_exit");
    let run = |field: u8| {
        made_up(&[
            (entry, 0, &[0xe8, 0xfb, 0x0f, 0, 0]), // call syscall_exit_to_user_mode_prepare
            (work, 0, &[0x65, 0x4c, 0x8b, 0x24, 0x25, 0, 0x50, 3, 0]), // mov %gs:0x35000, %r12
            (work, 9, &[0x49, 0x83, 0xbc, 0x24, field, 0x0c, 0, 0, 0]), // cmpq $0, 0xc60(%r12)
            (work, 18, &[0x0f, 0x85, 0xda, 0, 0, 0]), // jne
            (work, 0xf2, &[0x48, 0x8b, 0x73, 0x50]), // mov 0x50(%rbx), %rsi
            (work, 0xf6, &[0x31, 0xff]),           // xor %edi, %edi
            (work, 0xf8, &[0x48, 0x81, 0xfe, 0, 0xf0, 0xff, 0xff]), // cmp $-0x1000, %rsi
            (work, 0xff, &[0x40, 0x0f, 0x96, 0xc7]), // setbe %dil
            (work, 0x103, &[0xe8, 0xf8, 0x0e, 0, 0]), // call __audit_syscall_exit
            (audit, 0, &[0x65, 0x4c, 0x8b, 0x2c, 0x25, 0, 0x50, 3, 0]), // mov %gs:0x35000, %r13
            (audit, 9, &[0x49, 0x8b, 0x9d, 0x60, 0x0c, 0, 0]), // mov 0xc60(%r13), %rbx
            (audit, 16, &[0xc3]),                  // ret
            (work, 0x108, &[0x49, 0x8b, 0x2c, 0x24]), // mov (%r12), %rbp
        ])
    };
    let parts =
        |anatomy: &Anatomy| anatomy.instructions[2..10].iter().map(|one| one.part).collect::<Vec<_>>();
    assert_eq!(parts(&run(0x60)), [vec![Part::Work], vec![Part::Audit; 7]].concat());
    // Another field of the task says nothing of audit.
    assert_eq!(parts(&run(0x68)), vec![Part::Work; 8]);
}

#[test]
fn the_nop_that_a_compiled_filter_begins_with_was_static_keys() {
    let (entry, seccomp) = ("entry_SYSCALL_64", "__seccomp_filter");
    let call = [0xe8, 0xfb, 0x0f, 0, 0];
    let anatomy = made_up(&[
        (entry, 0, &call),                               // call __seccomp_filter
        (seccomp, 0, &[0x0f, 0x1f, 0x44, 0, 0]),         // nopl (%rax,%rax)
        (seccomp, 5, &[0x90]),                           // nop
        (seccomp, 6, &[0x0f, 0x1f, 0x44, 0, 0]),         // nopl (%rax,%rax)
        (seccomp, 11, &[0xff, 0xd0]),                    // call *%rax
        (seccomp, 0x40_0000, &[0x0f, 0x1f, 0x44, 0, 0]), // nopl (%rax,%rax)
        (seccomp, 0x40_0005, &[0x55]),                   // push %rbp
    ]);
    let told: Vec<_> =
        anatomy.instructions[2..].iter().map(|one| (one.function_name(), one.part.name())).collect();
    let expected = [
        (seccomp, "function-trace"),
        (seccomp, "filter"),
        (seccomp, "static-keys"),
        (seccomp, "filter"),
        ("unknown", "filter"),
        ("unknown", "filter"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_division_that_is_off_is_idle_with_all_that_is_there_for_it() {
    for (name, expected) in [("6.1-pti-on", 6), ("6.12-pti-on", 4)] {
        let anatomy = Recorded::read(name).anatomy("syscall-x86_64", "getppid");
        let parts = anatomy.parts();
        let divider = parts.iter().find(|part| part.part == Part::Divider).unwrap();
        assert_eq!((divider.count, divider.idle), (expected, expected), "{name}");
    }
}

/// A made-up way out by sysretl: the code of these symbols, 4 KiB apart, in the order of execution.
fn made_up(code: &[(&str, u64, &[u8])]) -> Anatomy {
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut steps = vec![step(0x40_0000, 3, &[0x0f, 0x34])];
    for (name, offset, bytes) in code {
        let address = match symbols.iter().find(|symbol| symbol.name == *name) {
            Some(symbol) => symbol.address,
            None => made::TEXT + 0x1000 * (symbols.len() as u64 + 1),
        };
        if symbols.iter().all(|symbol| symbol.name != *name) {
            symbols.push(Symbol { address, name: (*name).to_string() });
        }
        steps.push(step(address + offset, 0, bytes));
    }
    let trace = Trace { steps, ..Trace::default() };
    Anatomy::of(&trace, &symbols, &Kernel::default())
}

#[test]
fn registers_that_are_loaded_for_the_program_were_return_checks() {
    let (entry, handler) = ("entry_SYSENTER_compat", "do_SYSENTER_32");
    let anatomy = made_up(&[
        (entry, 0, &[0x48, 0x89, 0xe7]),                       // mov %rsp, %rdi
        (entry, 3, &[0xe8, 0xf8, 0x0f, 0, 0]),                 // call do_SYSENTER_32
        (handler, 0, &[0xc3]),                                 // ret
        (entry, 8, &[0x85, 0xc0]),                             // test %eax, %eax
        (entry, 10, &[0x74, 0x10]),                            // je
        (entry, 12, &[0x48, 0x8b, 0x5c, 0x24, 0x28]),          // mov 0x28(%rsp), %rbx
        (entry, 17, &[0x48, 0x8b, 0x4c, 0x24, 0x58]),          // mov 0x58(%rsp), %rcx
        (entry, 22, &[0x48, 0x39, 0x8c, 0x24, 0x80, 0, 0, 0]), // cmp %rcx, 0x80(%rsp)
        (entry, 30, &[0x75, 0x10]),                            // jne
        (entry, 32, &[0x48, 0x8b, 0x6c, 0x24, 0x20]),          // mov 0x20(%rsp), %rbp
        (entry, 37, &[0x0f, 0x07]),                            // sysretl
    ]);
    let parts: Vec<&str> = anatomy.instructions[4..].iter().map(|one| one.part.name()).collect();
    let checks = "return-checks";
    assert_eq!(parts, [checks, checks, "stack", checks, checks, checks, "stack", "leaving"]);
}

#[test]
fn an_argument_that_is_read_from_the_program_was_the_service() {
    let anatomy = made_up(&[
        ("entry_SYSENTER_compat", 0, &[0xe8, 0xfb, 0x0f, 0, 0]), // call __do_fast_syscall_32
        ("__do_fast_syscall_32", 0, &[0xe8, 0xfb, 0x0f, 0, 0]),  // call __get_user_nocheck_4
        ("__get_user_nocheck_4", 0, &[0x8b, 0x10]),              // mov (%rax), %edx
    ]);
    assert_eq!(anatomy.instructions.last().unwrap().part, Part::Handler);
}

#[test]
fn return_thunks_that_call_hid_what_stands_behind_calls() {
    let untrain = Recorded::read("6.12-untrain").anatomy("int80-x86_64", "getppid");
    all_are(&untrain, "do_int80_emulation", "call native_apic", Part::ExternalCheck);
    all_are(&untrain, "do_int80_emulation", "test $1, %al", Part::ExternalCheck);
    let untrain = Recorded::read("6.1-untrain").anatomy("int80-x86_64", "getppid");
    all_are(&untrain, "do_int80_emulation", "call __x86_indirect", Part::ExternalCheck);
    assert_eq!(found(&untrain, "native_apic_mem_read", "mov").iter().map(|one| one.depth).max(), Some(2));
    let untrain = Recorded::read("6.12-untrain").anatomy("syscall-x86_64", "getppid");
    all_are(&untrain, "do_syscall_64", "sete", Part::ReturnChecks);
}

#[test]
fn a_mask_that_is_a_number_was_an_index_mask() {
    let anatomy = made_up(&[
        ("entry_SYSCALL_64", 0, &[0xe8, 0xfb, 0x0f, 0, 0]), // call __audit_syscall_entry
        ("__audit_syscall_entry", 0, &[0x83, 0xf8, 0x01]),  // cmp $1, %eax
        ("__audit_syscall_entry", 3, &[0x19, 0xc0]),        // sbb %eax, %eax
        ("__audit_syscall_entry", 5, &[0x25, 0x3b, 0, 0, 1]), // and $0x100003b, %eax
    ]);
    assert!(anatomy.instructions[2..].iter().all(|one| one.part == Part::Audit));
}

#[test]
fn a_function_whose_name_ends_like_a_markers_had_none() {
    for name in ["audit_reset_context", "vma_start", "perf_output_end"] {
        let anatomy = made_up(&[("entry_SYSCALL_64", 0, &[0x90]), (name, 0, &[0x90])]);
        assert_eq!(anatomy.instructions.last().unwrap().function_name(), name);
    }
}

#[test]
fn a_kernel_for_one_cpu_has_its_stacks_at_fixed_addresses() {
    let anatomy = made_up(&[
        ("entry_SYSCALL_64", 0, &[0x48, 0x89, 0x25, 0, 0x10, 0, 0]), // mov %rsp, …(%rip)
        ("entry_SYSCALL_64", 7, &[0x48, 0x8b, 0x25, 0, 0x10, 0, 0]), // mov …(%rip), %rsp
        ("entry_SYSCALL_64", 14, &[0x41, 0x89, 0xe0]),               // mov %esp, %r8d
        ("entry_SYSCALL_64", 17, &[0x0f, 0x07]),                     // sysretl
    ]);
    let parts: Vec<&str> = anatomy.instructions[1..4].iter().map(|one| one.part.name()).collect();
    assert_eq!(parts, ["kernel-stack"; 3]);
}

#[test]
fn the_documentation_has_every_part_as_the_code_has_it() {
    let document = include_str!("../../../../docs/anatomy.md");
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../../docs/anatomy.schema.json")).unwrap();
    let (_, table) = document.split_once("| part | lab's switch | what |\n|---|---|---|\n").unwrap();
    let rows: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
    let expected: Vec<String> = Part::ALL
        .iter()
        .map(|part| {
            let switches: Vec<String> = part.switches().iter().map(|name| format!("`{name}`")).collect();
            let switches = if switches.is_empty() { "-".into() } else { switches.join(", ") };
            format!("| `{}` | {switches} | {} |", part.name(), part.what())
        })
        .collect();
    assert_eq!(rows, expected);
    let names = &schema["$defs"]["instruction"]["properties"]["part"]["enum"];
    assert_eq!(*names, serde_json::json!(Part::ALL.iter().map(|part| part.name()).collect::<Vec<_>>()));
}

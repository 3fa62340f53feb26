use super::*;
use crate::host::{Executor, Interrupt, Limits, Priority, allowed_cpus};
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use record::{Payload, Record, Request, Sample, Verdict};
use std::rc::Rc;
use std::sync::Mutex;
use std::time::Duration;
use table::{Profile, Table};

/// Of the row `call`.
const USES: u32 = 16;

/// Of a clock chain with its stamps, roughly.
const CHAIN: f64 = 820.0;

fn kernel() -> Rc<Kernel> {
    Rc::new(Kernel::embedded().unwrap())
}

fn asked(values: SwitchValues) -> Asked {
    Asked { path: "syscall_x86_64".into(), values, more: Vec::new() }
}

/// Bare, and every profile of the table with all of its steps.
fn configurations() -> Vec<(String, SwitchValues)> {
    let table = Table::get();
    let whole = |profile: &Profile| {
        let mut values = table.bare();
        let settled = profile.settled(table).unwrap();
        values.extend(settled.into_iter().map(|setting| (setting.name, setting.value)));
        (profile.name.clone(), values)
    };
    table.profiles.iter().map(whole).chain([("bare".to_owned(), table.bare())]).collect()
}

fn request() -> Request {
    let table = Table::get();
    Request {
        entry: table.entry("call").unwrap().id,
        operation: table.operation("none").unwrap().id,
        blocks: 4,
        ticks: 1_000_000,
        bursts: 1,
        parent: record::abi::REQUEST_ASK,
        cpu: record::abi::REQUEST_ASK,
        path: false,
        samples: 4,
        footprint: record::Footprint::NONE,
        uses: u64::from(USES),
    }
}

fn records(asked: Asked, layout: u64) -> Vec<Record> {
    static KERNEL: Mutex<()> = Mutex::new(());
    let cpu = *allowed_cpus().unwrap().last().unwrap();
    let limits = Limits {
        time: Duration::from_secs(20),
        output: record::MOST_OUTPUT,
        interrupt: Interrupt::default(),
    };
    let mut path = PathExecutor::new(kernel(), asked, layout, Priority::Inherited, limits).unwrap();
    // One at a time: they share a CPU.
    let _alone = KERNEL.lock();
    path.measure(Probe::Probe64, cpu, &request()).unwrap()
}

fn outcome(records: &[Record]) -> Verdict {
    let found = records.iter().find_map(|record| match &record.payload {
        Payload::Outcome(verdict) => Some(*verdict),
        _ => None,
    });
    found.unwrap()
}

/// Core cycles of a use, by the clock chain of the same samples; the median of all samples. For orders of magnitude.
fn cycles(records: &[Record]) -> f64 {
    let samples = records.iter().filter_map(|record| match &record.payload {
        Payload::Samples(samples) => Some(samples),
        _ => None,
    });
    let span = |from: u64, to: u64| to.wrapping_sub(from) as f64;
    let cost = |sample: &Sample| {
        let [begin, chain, control, end] = sample.stamps;
        let uses = span(control, end) - span(chain, control);
        uses / f64::from(USES) / span(begin, chain) * CHAIN
    };
    let mut costs: Vec<f64> = samples.flatten().map(cost).collect();
    costs.sort_by(f64::total_cmp);
    costs[costs.len() / 2]
}

#[test]
fn every_profile_is_called_and_answers() {
    for (name, values) in configurations() {
        let records = records(asked(values), 0);
        assert_eq!(outcome(&records).outcome, record::abi::OUTCOME_OK, "{name}");
    }
}

#[test]
fn ring_3_executes_all_of_the_generator_of_stack_offsets() {
    let kernel = kernel();
    let mut values = Table::get().bare();
    values.insert("stack-offset".into(), "prandom".into());
    let asked = asked(values);
    let function = kernel.function(&asked, 0).unwrap();
    let own: Vec<&LaidStep> =
        function.steps.iter().filter(|step| step.name.starts_with("stack offset: ")).collect();
    let instructions: usize = own.iter().map(|step| decoded(step).len()).sum();
    // Four words, ten instructions each; two registers kept, the stack moved and moved back.
    assert_eq!((own.len(), instructions), (2, 4 * 10 + 4 + 4 + 2));
    let left_out = function.left_out.iter().filter(|left| left.step.starts_with("stack offset: "));
    assert_eq!(left_out.count(), 0, "{:?}", function.left_out);
    // With words of 0 it would give nothing but 0.
    let prepared = kernel.prepared(asked).unwrap();
    let state = moved(kernel.file.symbol("stack_offset_state").unwrap());
    let segments = prepared.memory.segments().iter();
    let segment =
        segments.clone().find(|one| (one.address..one.address + one.length).contains(&state)).unwrap();
    let words = &segment.bytes[(state - segment.address) as usize..][..16];
    let least: Vec<u8> = [2_u32, 8, 16, 128].iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(words, least);
}

/// A path's steps that are there with these values, as the template has them.
fn template(kernel: &Kernel, asked: &Asked) -> Vec<table::paths::Step> {
    let pairs: Vec<(&str, &str)> =
        asked.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let steps = kernel.paths.steps(kernel.paths.path(&asked.path).unwrap());
    steps.into_iter().filter(|step| !step.code.is_empty() && step.is_on(&pairs)).collect()
}

fn decoded(step: &LaidStep) -> Vec<Instruction> {
    Decoder::with_ip(64, &step.code, step.address, DecoderOptions::NONE).into_iter().collect()
}

/// What stands for an instruction that ends the path, or that reads what only the kernel has.
fn ends(instruction: &Instruction) -> &'static [Mnemonic] {
    match instruction.mnemonic() {
        Mnemonic::Sysretq | Mnemonic::Sysret => &[Mnemonic::Ret],
        Mnemonic::Iretq => &[Mnemonic::Mov, Mnemonic::Ret],
        Mnemonic::Mov if instruction.op1_register() == Register::CR3 => &[Mnemonic::Xor],
        _ => &[],
    }
}

#[test]
fn a_function_has_exactly_the_instructions_of_its_steps_but_the_privileged() {
    let kernel = kernel();
    for (name, values) in configurations() {
        let asked = asked(values);
        let (function, template) = (kernel.function(&asked, 3).unwrap(), template(&kernel, &asked));
        assert_eq!(function.steps.len(), template.len(), "{name}");
        let mut left_out = Vec::new();
        let mut at = function.steps[0].address;
        for (step, from) in function.steps.iter().zip(&template) {
            assert_eq!((&step.name, step.address), (&from.name, at), "{name}");
            at += step.code.len() as u64;
            let mut due = Vec::new();
            for instruction in from.instructions() {
                match privileged::name(&instruction) {
                    Some(named) => {
                        left_out.push((named, step.name.clone()));
                        due.extend(ends(&instruction).iter().map(|end| (*end, 0)));
                    }
                    None => due.push((instruction.mnemonic(), instruction.op_count())),
                }
            }
            let found: Vec<_> =
                decoded(step).iter().map(|found| (found.mnemonic(), found.op_count())).collect();
            let is_end = |(mnemonic, _): &(Mnemonic, u32)| due.contains(&(*mnemonic, 0));
            let plain: Vec<_> =
                found.iter().map(|known| if is_end(known) { (known.0, 0) } else { *known }).collect();
            assert_eq!(plain, due, "{name}, {}", step.name);
        }
        let told: Vec<_> =
            function.left_out.iter().map(|left| (left.instruction, left.step.clone())).collect();
        assert_eq!(told, left_out, "{name}");
        assert!(left_out.iter().any(|(named, _)| *named == "sysret"), "{name}: {left_out:?}");
    }
}

#[test]
fn no_path_has_a_privileged_instruction_that_is_not_listed() {
    let kernel = kernel();
    for (path, _) in PATHS.iter().chain(&[(SWITCH_SPACE, "")]) {
        let steps = kernel.paths.steps(kernel.paths.path(path).unwrap());
        let missing: Vec<String> = steps
            .iter()
            .flat_map(|step| step.instructions())
            .filter(|found| found.is_privileged() || found.mnemonic() == Mnemonic::Iretq)
            .filter(|found| privileged::name(found).is_none())
            .map(|found| format!("{:?}", found.code()))
            .collect();
        assert_eq!(missing, Vec::<String>::new(), "{path}");
    }
}

#[test]
fn no_operand_of_a_function_is_an_address_of_the_kernel() {
    let kernel = kernel();
    let end = kernel.file.symbol("kernel_end").unwrap();
    for (name, values) in configurations() {
        for step in kernel.function(&asked(values), 0).unwrap().steps {
            for instruction in decoded(&step) {
                let mut numbers = (0..instruction.op_count()).map(|op| match instruction.op_kind(op) {
                    OpKind::Memory => instruction.memory_displacement64(),
                    OpKind::Immediate32to64 => instruction.immediate(op),
                    _ => 0,
                });
                assert!(!numbers.any(|number| (KERNEL..end).contains(&number)), "{name}, {}", step.name);
            }
        }
    }
}

#[test]
fn a_path_that_answers_wrongly_changes_registers_or_faults_has_no_figure() {
    use record::abi::{OUTCOME_FAULT, OUTCOME_MISMATCH};
    let answers_two = [0xb8, 2, 0, 0, 0];
    let clears_rbx = [0x31, 0xdb];
    let ud2 = [0x0f, 0x0b];
    for (more, due) in [
        (answers_two.as_slice(), OUTCOME_MISMATCH),
        (clears_rbx.as_slice(), OUTCOME_MISMATCH),
        (ud2.as_slice(), OUTCOME_FAULT),
    ] {
        let asked = Asked { more: more.to_vec(), ..asked(Table::get().bare()) };
        let records = records(asked, 0);
        assert_eq!(outcome(&records).outcome, due, "{more:x?}");
    }
}

/// The least that a bare path takes which ends with these instructions.
fn ending_with(more: Vec<u8>) -> f64 {
    let asked = Asked { more, ..asked(Table::get().bare()) };
    let costs = (0..8).map(|layout| cycles(&records(asked.clone(), layout)));
    costs.fold(f64::INFINITY, f64::min)
}

/// `imul %eax, %eax`: three core cycles behind itself.
const IMUL: [u8; 3] = [0x0f, 0xaf, 0xc0];

/// What one of many instructions takes, each behind the other; some go before and behind them.
fn of_each([before, behind]: [&[u8]; 2], instruction: &[u8]) -> f64 {
    let with = |count: usize| ending_with([before, &instruction.repeat(count), behind].concat());
    (with(300) - with(100)) / 200.0
}

/// `imul %eax, %eax` after itself takes three core cycles, and leaves 1 as it is, which is the path's answer.
#[test]
fn so_many_multiplications_more_cost_three_cycles_each() {
    let (none, each) = (ending_with(Vec::new()), of_each([&[]; 2], &IMUL));
    println!("{none:.1} cycles, and {each:.2} of each imul");
    assert!((0.8..1.25).contains(&(each / 3.0)), "{each}");
    assert!(none < 100.0, "{none}");
}

/// A load whose address is what the load before it has found, in the first level's cache. Published are 3 cycles (`MOV reg32/64, mem32/64`:
/// AMD, "Software Optimization Guide for AMD64 Processors", 25112 rev. 3.06, September 2005, table 13) to 4 to 6 (of Skylake-X: A. Arora,
/// "Syscall latency... and some uses of speculative execution", 12 September 2023).
#[test]
fn a_load_behind_a_load_costs_what_is_published() {
    // lea -8(%rsp), %rax; mov %rax, -8(%rsp); then mov (%rax), %rax; and the path's answer
    let points_to_itself = [0x48, 0x8d, 0x44, 0x24, 0xf8, 0x48, 0x89, 0x44, 0x24, 0xf8];
    let load = of_each([&points_to_itself, &[0xb8, 1, 0, 0, 0]], &[0x48, 0x8b, 0x00]);
    // By the multiplication, whose cost is known: so no clock is in it.
    let each = 3.0 * load / of_each([&[]; 2], &IMUL);
    println!("{each:.2} cycles of each load");
    assert!((3.0 * 0.8..6.0 * 1.25).contains(&each), "{each}");
}

/// Published of Skylake: 4.88 cycles (`attribution::bill::published`). On another processor it may cost anything but nothing.
#[test]
fn a_fence_behind_a_fence_waits_for_it() {
    let each = of_each([&[]; 2], &[0x0f, 0xae, 0xe8]);
    println!("{each:.2} cycles of each lfence");
    assert!(each > 0.8, "{each}");
}

/// What a sequence costs at least, whatever the processor is: no core takes more than two branches in a cycle, and fences wait.
#[test]
fn sequences_cost_no_less_than_their_branches() {
    let table = Table::get();
    let cost = |path: &str, settings: &[&str]| {
        let mut values = table.bare();
        for setting in settings {
            let (name, value) = setting.split_once('=').unwrap();
            values.insert(name.into(), value.into());
        }
        let asked = Asked { path: path.into(), values, more: Vec::new() };
        let found = (0..8).map(|layout| cycles(&records(asked.clone(), layout)));
        found.fold(f64::INFINITY, f64::min)
    };
    let added = |path: &str, settings: &[&str]| {
        let more = cost(path, settings) - cost(path, &[]);
        println!("{settings:?}: {more:.1} cycles");
        more
    };
    assert!(added(SWITCH_SPACE, &["rsb=32"]) > 16.0);
    assert!(added("syscall_x86_64", &["bhb=loop"]) > 15.0);
    added("syscall_x86_64", &["verw=on"]);
    added("syscall_x86_64", &["dispatch=retpoline"]);
    added("syscall_x86_64", &["returns=untrain"]);
    added("syscall_x86_64", &["returns=thunk"]);
}

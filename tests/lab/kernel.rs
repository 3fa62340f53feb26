//! The kernel's file: its symbols, and the templates of its entry paths (lab/entry/path.inc).

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use places::lab::Mode;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use table::paths::{File, Paths};

/// A kernel, read.
pub struct Kernel {
    whole: &'static [u8],
    file: object::File<'static>,
    symbols: BTreeMap<String, u64>,
}

const NOP: u8 = 0x90;

/// The embedded kernel's file and the templates of its paths, read once for all tests.
pub fn templates(mode: Mode) -> &'static (File<'static>, Paths) {
    static READ: [OnceLock<(File, Paths)>; 2] = [const { OnceLock::new() }; 2];
    READ[usize::from(mode == Mode::Protected)].get_or_init(|| places::lab::kernel_paths(mode).unwrap())
}

/// A step of a path's template.
#[derive(Debug, Clone)]
pub struct Step {
    pub name: String,
    step: table::paths::Step,
    instructions: Vec<Instruction>,
}

/// A path's template, with what is attached to its hooks.
#[derive(Debug, Clone)]
pub struct Path {
    pub steps: Vec<Step>,
}

impl Kernel {
    /// The embedded one.
    pub fn read() -> Kernel {
        Kernel::of(places::lab::kernel(Mode::Long))
    }

    /// The embedded one of this mode.
    pub fn in_mode(mode: Mode) -> Kernel {
        Kernel::of(places::lab::kernel(mode))
    }

    fn mode(&self) -> Mode {
        if self.file.is_64() { Mode::Long } else { Mode::Protected }
    }

    fn bits(&self) -> u32 {
        if self.file.is_64() { 64 } else { 32 }
    }

    pub fn of(whole: &'static [u8]) -> Kernel {
        let file = object::File::parse(whole).unwrap();
        let symbols = file.symbols().map(|symbol| (symbol.name().unwrap().to_string(), symbol.address()));
        Kernel { whole, symbols: symbols.collect(), file }
    }

    pub fn symbol(&self, name: &str) -> u64 {
        *self.symbols.get(name).unwrap_or_else(|| panic!("the kernel has no symbol {name}"))
    }

    /// What lies at an address, to the end of its section.
    fn bytes(&self, address: u64) -> &'static [u8] {
        let inside = |start: u64, size: u64| address >= start && address - start < size;
        let section = self.file.sections().find(|section| inside(section.address(), section.size())).unwrap();
        &section.data().unwrap()[(address - section.address()) as usize..]
    }

    /// The sections that begin in this range, each with its address, up to the end of the range.
    pub fn sections(&self, start: u64, end: u64) -> Vec<(u64, &'static [u8])> {
        let inside = self.file.sections().filter(|section| (start..end).contains(&section.address()));
        let cut = |section: object::Section<'static, '_>| {
            let (address, data) = (section.address(), section.data().unwrap());
            (address, &data[..data.len().min((end - address) as usize)])
        };
        inside.map(cut).collect()
    }

    /// Where an address is in the kernel's file.
    pub fn place(&self, address: u64) -> usize {
        self.bytes(address).as_ptr() as usize - self.whole.as_ptr() as usize
    }

    /// So many bytes at an address.
    pub fn code(&self, address: u64, bytes: usize) -> &'static [u8] {
        &self.bytes(address)[..bytes]
    }

    /// Where the first return behind a symbol is.
    pub fn until_return(&self, name: &str) -> u64 {
        let start = self.symbol(name);
        let mut code =
            Decoder::with_ip(self.bits(), self.bytes(start), start, DecoderOptions::NONE).into_iter();
        code.find(|code| code.flow_control() == FlowControl::Return).unwrap().ip()
    }

    /// The numbers between `<name>_start` and `<name>_end`.
    pub fn quads(&self, name: &str) -> Vec<u64> {
        let (start, end) = (self.symbol(&format!("{name}_start")), self.symbol(&format!("{name}_end")));
        let number = |at| match self.mode() {
            Mode::Long => u64::from_le_bytes(*self.bytes(at).first_chunk().unwrap()),
            Mode::Protected => u32::from_le_bytes(*self.bytes(at).first_chunk().unwrap()).into(),
        };
        (start..end).step_by(self.bits() as usize / 8).map(number).collect()
    }

    /// What a variable holds.
    pub fn data(&self, name: &str, bytes: usize) -> &'static [u8] {
        &self.bytes(self.symbol(name))[..bytes]
    }

    /// The kernel's file with some bytes of a function changed for others, wherever they are; they must be there.
    pub fn changed(&self, function: &str, from: &[u8], to: &[u8]) -> Vec<u8> {
        let symbol = self.file.symbols().find(|symbol| symbol.name() == Ok(function)).unwrap();
        let code = &self.bytes(symbol.address())[..symbol.size() as usize];
        let start = self.place(symbol.address());
        let found = code.windows(from.len()).enumerate().filter(|(_, bytes)| *bytes == from);
        let places: Vec<usize> = found.map(|(at, _)| start + at).collect();
        assert!(!places.is_empty(), "{function} has no {from:x?}");
        let mut file = self.whole.to_vec();
        places.iter().for_each(|at| file[*at..at + to.len()].copy_from_slice(to));
        file
    }

    /// Where a function is in the kernel's file, and its code.
    pub fn function(&self, name: &str) -> (usize, &[u8]) {
        let symbol = self.file.symbols().find(|symbol| symbol.name() == Ok(name)).unwrap();
        (self.place(symbol.address()), &self.bytes(symbol.address())[..symbol.size() as usize])
    }

    /// The kernel's file with a function that begins so.
    pub fn beginning_with(&self, function: &str, code: &[u8]) -> Vec<u8> {
        let (mut file, at) = (self.whole.to_vec(), self.place(self.symbol(function)));
        file[at..at + code.len()].copy_from_slice(code);
        file
    }

    /// The kernel's file with the first short conditional jump of all steps of a name taken always.
    pub fn with_jumps_of_steps(&self, name: &str) -> Vec<u8> {
        const SHORT_JUMP: u8 = 0xeb;
        self.with_first_jumps(name, &[SHORT_JUMP])
    }

    /// The same with it never taken.
    pub fn without_jumps_of_steps(&self, name: &str) -> Vec<u8> {
        self.with_first_jumps(name, &[NOP, NOP])
    }

    fn with_first_jumps(&self, name: &str, code: &[u8]) -> Vec<u8> {
        let paths = table::paths::Paths::read(&table::paths::File::read(self.whole).unwrap()).unwrap();
        let steps = paths.paths.iter().flat_map(|path| paths.steps(path)).filter(|step| step.name == name);
        let mut file = self.whole.to_vec();
        for step in steps {
            let jump = step.instructions().into_iter().find(|code| code.is_jcc_short()).unwrap();
            let at = self.place(jump.ip());
            file[at..at + code.len()].copy_from_slice(code);
        }
        assert!(file != self.whole, "no step {name:?} has a jump");
        file
    }

    /// Where some code is in the kernel's file, in the steps of a name.
    pub fn places_in_steps(&self, name: &str, code: &[u8]) -> Vec<usize> {
        let paths = table::paths::Paths::read(&table::paths::File::read(self.whole).unwrap()).unwrap();
        let steps = paths.paths.iter().flat_map(|path| paths.steps(path)).filter(|step| step.name == name);
        let found = steps.flat_map(|step| {
            let places = step.code.windows(code.len()).enumerate().filter(|(_, bytes)| *bytes == code);
            places.map(|(at, _)| self.place(step.start) + at).collect::<Vec<_>>()
        });
        let places: Vec<usize> = found.collect();
        assert!(!places.is_empty(), "no step {name:?} has {code:x?}");
        places
    }

    /// Calls of a function: of each, the function that calls it, the call's address and its length.
    pub fn calls(&self, callee: &str) -> Vec<(String, u64, usize)> {
        let to = self.symbol(callee);
        let is_call = |code: &Instruction| code.is_call_near() && code.near_branch_target() == to;
        let calls = self.functions().flat_map(|(name, code)| {
            let calls = code.into_iter().filter(is_call);
            calls.map(|code| (name.to_string(), code.ip(), code.len())).collect::<Vec<_>>()
        });
        calls.collect()
    }

    /// Functions whose size the file tells, and their instructions.
    fn functions(&self) -> impl Iterator<Item = (&str, Vec<Instruction>)> {
        let functions = self.file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text);
        functions.filter(|function| function.size() != 0).map(|function| {
            let (start, size) = (function.address(), function.size() as usize);
            let code = Decoder::with_ip(self.bits(), &self.bytes(start)[..size], start, DecoderOptions::NONE);
            (function.name().unwrap(), code.into_iter().collect())
        })
    }

    /// Those of these functions in which there is such an instruction.
    pub fn functions_that(&self, has: impl Fn(&Instruction) -> bool) -> BTreeSet<String> {
        let functions = self.functions().filter(|(_, code)| code.iter().any(&has));
        functions.map(|(name, _)| name.to_string()).collect()
    }

    /// All instructions of these.
    pub fn instructions(&self) -> impl Iterator<Item = Instruction> {
        self.functions().flat_map(|(_, code)| code)
    }

    /// The kernel's file without some calls: the function that calls, and the one that is called.
    pub fn without(&self, left_out: &[(&str, &str)]) -> Vec<u8> {
        let mut file = self.whole.to_vec();
        for (caller, callee) in left_out {
            let mut calls = self.calls(callee);
            calls.retain(|(name, ..)| name == caller);
            assert!(!calls.is_empty(), "{caller} does not call {callee}");
            for (_, address, length) in calls {
                let at = self.place(address);
                file[at..at + length].fill(NOP);
            }
        }
        file
    }

    /// The template of `path_<name>`.
    pub fn path(&self, name: &str) -> Path {
        let (_, paths) = templates(self.mode());
        let path = paths.path(name).unwrap_or_else(|| panic!("there is no path {name}"));
        let steps = paths.steps(path).into_iter();
        Path {
            steps: steps
                .map(|step| Step { name: step.name.clone(), instructions: step.instructions(), step })
                .collect(),
        }
    }

    pub fn path_names(&self) -> BTreeSet<String> {
        let (_, paths) = templates(self.mode());
        paths.paths.iter().map(|path| path.name.clone()).collect()
    }

    /// Pages that are not mapped, below stacks.
    pub fn guard_pages(&self) -> Vec<u64> {
        self.quads("guard_pages")
    }
}

/// Values of switches by name; those that are not named have their defaults.
pub type Configuration<'a> = [(&'a str, &'a str)];

impl Step {
    /// Whether it is there.
    pub fn is_on(&self, configuration: &Configuration) -> bool {
        self.step.is_on(configuration)
    }

    /// Whether it ends with the instruction that leaves, and no branch goes on behind that.
    pub fn is_way_out(&self) -> bool {
        let end = self.instructions.last().map(Instruction::next_ip);
        let goes_on =
            |code: &Instruction| code.is_jcc_short_or_near() && Some(code.near_branch_target()) == end;
        self.instructions.last().is_some_and(leaves) && !self.instructions.iter().any(goes_on)
    }

    pub fn length(&self) -> u64 {
        self.instructions.len() as u64
    }

    /// How many instructions it declares that a call executes.
    fn executed(&self, configuration: &Configuration) -> Option<u64> {
        let executed = self.step.executed?;
        let switch =
            table::Table::get().switches.iter().find(|switch| u32::from(switch.id) == executed.switch);
        let number = switch.and_then(|switch| {
            let set = configuration.iter().find(|(name, _)| *name == switch.name);
            switch.value(set.map_or(switch.default.as_str(), |(_, value)| value))
        });
        Some(executed.count + executed.each * u64::from(number.unwrap_or(0)))
    }

    /// How many it declares that are executed besides with these values.
    fn more(&self, configuration: &Configuration) -> u64 {
        let holds = |more: &&table::paths::More| {
            let of_id = |switch: &&table::Switch| u32::from(switch.id) == more.condition.which;
            let Some(switch) = table::Table::get().switches.iter().find(of_id) else { return false };
            let set = configuration.iter().find(|(name, _)| *name == switch.name);
            let value = switch.value(set.map_or(switch.default.as_str(), |(_, value)| value));
            value.is_some_and(|value| more.condition.allows(value))
        };
        self.step.more.iter().filter(holds).map(|more| more.count).sum()
    }

    /// Whether a branch of it goes back in it.
    fn is_loop(&self, branch: &Instruction) -> bool {
        branch.near_branch_target() <= branch.ip() && self.holds(branch.near_branch_target())
    }

    fn holds(&self, address: u64) -> bool {
        self.instructions.iter().any(|instruction| instruction.ip() == address)
    }
}

impl Path {
    /// Without what lies behind the instruction that leaves, where every call comes by.
    pub fn until_the_way_out(mut self, configuration: &Configuration) -> Path {
        let out = self.steps.iter().position(|step| step.is_on(configuration) && step.is_way_out());
        self.steps.truncate(out.unwrap() + 1);
        self
    }

    /// Instructions of the steps that are there and whose name says so.
    pub fn count(&self, configuration: &Configuration, named: &str) -> u64 {
        let steps =
            self.steps.iter().filter(|step| step.is_on(configuration) && step.name.starts_with(named));
        steps.map(Step::length).sum()
    }

    /// As if no step whose name begins so declared what it executes.
    pub fn undeclared(mut self, named: &str) -> Path {
        let steps = self.steps.iter_mut().filter(|step| step.name.starts_with(named));
        steps.for_each(|step| step.step.executed = None);
        self
    }

    /// What one call executes of it, from the first instruction to the one that leaves, both included, with what it calls in the path; of
    /// a step that declares it, what it declares (EXECUTES). `taken` decides of conditional jumps, by the step's name. The service counts nothing.
    ///
    /// # Panics
    /// Where the steps do not tell: a loop, or a call of something else than the service, that is not declared.
    pub fn walk(&self, configuration: &Configuration, taken: impl Fn(&str, &Instruction) -> bool) -> u64 {
        let on: Vec<&Step> = self.steps.iter().filter(|step| step.is_on(configuration)).collect();
        let (mut step, mut place, mut count, mut calls) = (0, 0, 0, Vec::new());
        let is_in_path =
            |address: u64| on.iter().any(|step| step.step.start == address || step.holds(address));
        loop {
            let here: &Step = on.get(step).expect("a path ends with an instruction that leaves");
            let Some(instruction) = here.instructions.get(place) else {
                (step, place) = (step + 1, 0);
                continue;
            };
            if let Some(executed) = here.executed(configuration) {
                assert_eq!(place, 0, "{}: a jump into a step that declares what it executes", here.name);
                count += executed + here.more(configuration);
                if here.is_way_out() {
                    return count;
                }
                (step, place) = (step + 1, 0);
                continue;
            }
            count += if place == 0 { 1 + here.more(configuration) } else { 1 };
            (step, place) = match instruction.flow_control() {
                _ if leaves(instruction) => return count,
                // To whatever comes next.
                FlowControl::UnconditionalBranch if instruction.near_branch_target() == here.step.end() => {
                    (step + 1, 0)
                }
                // To another ring or task, and back by what that has.
                FlowControl::Call if instruction.is_call_far() => (step, place + 1),
                FlowControl::Call if is_in_path(instruction.near_branch_target()) => {
                    calls.push((step, place + 1));
                    target(&on, here, instruction)
                }
                FlowControl::Return if !calls.is_empty() => calls.pop().unwrap(),
                // By a thunk, which has one more.
                FlowControl::UnconditionalBranch
                    if !calls.is_empty() && !is_in_path(instruction.near_branch_target()) =>
                {
                    count += 1;
                    calls.pop().unwrap()
                }
                FlowControl::UnconditionalBranch => target(&on, here, instruction),
                FlowControl::ConditionalBranch if taken(&here.name, instruction) => {
                    target(&on, here, instruction)
                }
                FlowControl::ConditionalBranch if here.is_loop(instruction) => {
                    panic!(
                        "step \"{}\" has a loop: EXECUTES (path.inc) declares what a call executes",
                        here.name
                    )
                }
                FlowControl::Call | FlowControl::Return | FlowControl::IndirectBranch => panic!(
                    "step \"{}\" leads elsewhere: EXECUTES (path.inc) declares what a call executes",
                    here.name
                ),
                _ => (step, place + 1),
            };
        }
    }
}

/// Where a jump goes, among the steps that are there and their instructions: a step that is off has become the next that is on.
fn target(on: &[&Step], from: &Step, jump: &Instruction) -> (usize, usize) {
    let address = jump.near_branch_target();
    let is_there = |step: &&&Step| step.step.start == address || step.holds(address);
    let first = on.iter().position(|step| is_there(&step));
    let first = first.unwrap_or_else(|| panic!("step \"{}\" jumps to what is not there", from.name));
    assert!(
        !from.is_loop(jump),
        "step \"{}\" has a loop: EXECUTES (path.inc) declares what a call executes",
        from.name
    );
    let place = on[first].instructions.iter().position(|instruction| instruction.ip() == address);
    (first, place.unwrap_or(0))
}

/// The decoder takes these for calls or for nothing special.
pub fn leaves(instruction: &Instruction) -> bool {
    matches!(
        instruction.code(),
        Code::Sysretq
            | Code::Sysretd
            | Code::Sysexitq
            | Code::Sysexitd
            | Code::Iretq
            | Code::Iretd
            | Code::Retfq
            | Code::Retfd
            | Code::Retfd_imm16
            | Code::Retfw
            | Code::Retfw_imm16
            // To another task.
            | Code::Jmp_ptr1632
    )
}

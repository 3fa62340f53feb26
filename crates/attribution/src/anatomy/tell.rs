//! From a trace to its anatomy.

use crate::anatomy::calls::Calls;
use crate::anatomy::code::{is_nop, jumps};
use crate::anatomy::decode::Writer;
use crate::anatomy::features;
use crate::anatomy::functions::{self, Region};
use crate::anatomy::path::{Node, Path};
use crate::anatomy::sites::Sites;
use crate::anatomy::symbols::Symbols;
use crate::anatomy::{Anatomy, Confidence, Instruction, Location, Part, entry, handler, patterns};
use iced_x86::{Decoder, DecoderOptions};
use linux::{Alternative, Kernel};
use record::trace::{Executed, Symbol, Trace};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;
use table::Table;

/// No alternative is longer.
const LONGEST_ALTERNATIVE: u64 = 256;

/// So many instructions are looked at that a jump leads past.
const MOST_SKIPPED: usize = 16;

impl Anatomy {
    /// Names what was followed: each instruction by its function and by what it belongs to.
    ///
    /// `symbols` are those of the boot that was followed, `kernel` is what it booted.
    pub fn of(trace: &Trace, symbols: &[Symbol], kernel: &Kernel) -> Anatomy {
        let symbols = Rc::new(Symbols::of(symbols, kernel.text));
        let path = Path::of(trace, &symbols, kernel).attributed();
        let mut writer = Writer::new(symbols);
        let instructions = path.0.into_iter().zip(&trace.steps).map(|(node, step)| {
            let (part, confidence) = node.part.unwrap_or((Part::Other, Confidence::None));
            Instruction {
                address: step.address,
                ring: step.ring,
                bytes: hexadecimal(step.bytes.get(..node.code.len()).unwrap_or_default()),
                text: writer.text(&node.code),
                function: node.place,
                depth: node.call.depth,
                part,
                confidence,
                idle: node.is_idle,
            }
        });
        let table = Table::get();
        let entry = table.entries.iter().find(|entry| entry.id == trace.entry);
        let operation = table.operations.iter().find(|operation| operation.id == trace.operation);
        Anatomy {
            entry: entry.map_or_else(|| format!("entry {}", trace.entry), |entry| entry.name.clone()),
            operation: operation
                .map_or_else(|| format!("operation {}", trace.operation), |operation| operation.name.clone()),
            instructions: instructions.collect(),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Path {
    /// The instructions with what the kernel's own tables say of them.
    fn of(trace: &Trace, symbols: &Symbols, kernel: &Kernel) -> Path {
        let decoded: Vec<_> = trace.steps.iter().map(Executed::decode).collect();
        let calls = Calls::of(&trace.steps, &decoded, symbols);
        let alternatives = Alternatives::of(&kernel.alternatives);
        let sites = Sites::of(kernel, symbols);
        let mut regions = Regions::default();
        let nodes = trace.steps.iter().zip(decoded).zip(calls).map(|((step, code), call)| {
            let place = symbols.place(step.address).filter(|_| step.ring != 3);
            let linked = symbols.linked(step.address);
            let found = alternatives.at(linked);
            let name = place.as_ref().map_or("", |place| place.name.as_str());
            let region = if step.ring == 3 { regions.leave() } else { Some(regions.at(call, name)) };
            let does_nothing = || is_nop(&code) || jumps_over(&code, &found, place.as_ref(), symbols);
            let of_table = found.iter().find_map(|alternative| {
                let paravirt = features::is_paravirt(alternative) && does_nothing();
                features::part(alternative).or(paravirt.then_some(Part::Paravirt))
            });
            let skips =
                if found.is_empty() && step.ring != 3 { skips(&code, symbols, kernel) } else { Vec::new() };
            let told = of_table.map(|part| (part, does_nothing()));
            let told = told.or_else(|| sites.at(linked, &code, symbols)).filter(|_| step.ring != 3);
            Node {
                ring: step.ring,
                region,
                skips,
                is_alternative: !found.is_empty(),
                is_idle: told.is_some_and(|(_, is_idle)| is_idle),
                part: told.map(|(part, _)| (part, Confidence::Table)),
                own: symbols.own(&code).filter(|_| step.ring != 3),
                place,
                code,
                call,
            }
        });
        Path(nodes.collect())
    }

    /// With all that can be told. What was told first stays: the table decides before the names of thunks and the like, these before
    /// a pattern, and last the function that an instruction stands in.
    fn attributed(mut self) -> Path {
        self.tell_program();
        patterns::beginnings(&mut self);
        for place in 0..self.0.len() {
            if let Some(part) = functions::own(self.0[place].name()) {
                self.tell(place, part, Confidence::Symbol);
            }
        }
        patterns::tell(&mut self);
        handler::tell(&mut self);
        entry::tell(&mut self);
        for place in 0..self.0.len() {
            match self.0[place].region {
                Some(Region::Of(part)) if part != Part::Other => self.tell(place, part, Confidence::Symbol),
                _ => (),
            }
        }
        self
    }

    /// Ring 3: what enters the kernel, and what the program executes between.
    fn tell_program(&mut self) {
        let first = self.0.iter().position(|node| node.ring != 3).unwrap_or(0);
        for place in 0..self.0.len() {
            if self.0[place].ring != 3 {
                continue;
            }
            let enters = place < first || self.0.get(place + 1).is_some_and(|next| next.ring != 3);
            self.tell(place, if enters { Part::Entering } else { Part::Program }, Confidence::Pattern);
        }
    }
}

/// Whether it is a jump over what is switched off: to a place of the same function, and none that boot has put there because a feature is
/// present.
fn jumps_over(
    code: &iced_x86::Instruction,
    found: &[&Alternative],
    place: Option<&Location>,
    symbols: &Symbols,
) -> bool {
    let put_there = found.iter().any(|one| features::brings_jump(one));
    let target = symbols.place(code.near_branch_target());
    jumps(code) && !put_there && target.as_ref().map(|target| &target.name) == place.map(|place| &place.name)
}

/// What the kernel's file has behind a nop in whose place boot has put this jump: the branch of a static key.
fn skips(code: &iced_x86::Instruction, symbols: &Symbols, kernel: &Kernel) -> Vec<iced_x86::Instruction> {
    if !jumps(code) || !matches!(code.len(), 2 | 5) {
        return Vec::new();
    }
    let Some(bytes) = kernel.code_at(symbols.linked(code.ip())) else { return Vec::new() };
    let mut decoder = Decoder::with_ip(64, bytes, code.ip(), DecoderOptions::NONE);
    let is_branch = |nop: &iced_x86::Instruction| is_nop(nop) && nop.len() == code.len();
    let Some(_) = Some(decoder.decode()).filter(is_branch) else { return Vec::new() };
    decoder.iter().take(MOST_SKIPPED).collect()
}

/// The kernel's table of alternatives, by address.
struct Alternatives<'a>(BTreeMap<u64, Vec<&'a Alternative>>);

impl<'a> Alternatives<'a> {
    fn of(all: &'a [Alternative]) -> Alternatives<'a> {
        let mut by_address: BTreeMap<u64, Vec<&Alternative>> = BTreeMap::new();
        all.iter()
            .for_each(|alternative| by_address.entry(alternative.address).or_default().push(alternative));
        Alternatives(by_address)
    }

    /// Those that an address, as linked, lies in.
    fn at(&self, address: u64) -> Vec<&'a Alternative> {
        let near =
            self.0.range(address.saturating_sub(LONGEST_ALTERNATIVE)..=address).flat_map(|(_, all)| all);
        near.filter(|one| address < one.address.saturating_add(one.length as u64)).copied().collect()
    }
}

/// What the calls of a path belong to.
#[derive(Default)]
struct Regions {
    /// Of each call that has not returned: which one it is, and what it belongs to.
    calls: Vec<(usize, Region)>,
    /// Whether another task may have been chosen: what that returns to was called before the path began.
    has_scheduled: bool,
}

impl Regions {
    fn leave(&mut self) -> Option<Region> {
        self.calls.clear();
        self.has_scheduled = false;
        None
    }

    /// Of an instruction of this function.
    fn at(&mut self, call: crate::anatomy::calls::InCall, name: &str) -> Region {
        let depth = usize::try_from(call.depth).unwrap_or(usize::MAX);
        self.calls.truncate(depth.saturating_add(1));
        let caller = depth.checked_sub(1).and_then(|above| self.calls.get(above)).map(|(_, region)| *region);
        let known = self.calls.get(depth).filter(|(known, _)| *known == call.call).map(|(_, region)| *region);
        let unknown = if self.has_scheduled { Part::Schedule } else { Part::Other };
        let inherited = known.or(caller.map(functions::called_by)).unwrap_or(Region::Of(unknown));
        let region = functions::region(name, caller).unwrap_or(inherited);
        self.calls.truncate(depth);
        // A thunk belongs to nobody: what it leads to is as before.
        let kept = if functions::own(name).is_some() { inherited } else { region };
        while self.calls.len() < depth {
            self.calls.push((usize::MAX, inherited));
        }
        self.calls.push((call.call, kept));
        self.has_scheduled |= region == Region::Of(Part::Schedule);
        region
    }
}

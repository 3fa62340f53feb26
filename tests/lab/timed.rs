//! The function of a probe that takes samples of an entry (probe/timed.inc).

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic};
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use table::{Entry, Probe, Table};

/// Where probes have their code of 16 bits (probe/layout.h); it is copied from a section of its own.
pub const SIXTEEN: u64 = 0x10000;

pub struct Timed {
    /// Where it begins and ends: the addresses of instructions, less `base`. The second may be waited for where the first is begun twice,
    /// because its page is not there yet.
    pub begin: u64,
    pub second: u64,
    pub end: u64,
    /// What is added to each where it runs.
    pub base: u64,
    /// Where its stamps are, in the same way.
    pub stamps: [u64; 4],
    /// What stands behind the third stamp, up to the fourth: each instruction where it runs, and its bytes.
    pub entry: Vec<(u64, Vec<u8>)>,
}

impl Timed {
    pub fn of(entry: &Entry) -> &'static Timed {
        static ALL: LazyLock<BTreeMap<&str, Timed>> =
            LazyLock::new(|| [Probe::Probe32, Probe::Probe64].into_iter().flat_map(of_probe).collect());
        &ALL[entry.name.as_str()]
    }

    fn read(code: &[Instruction], base: u64, bytes: impl Fn(&Instruction) -> Vec<u8>) -> Timed {
        // What an entry executes may be rdtsc, too, but nothing is stored behind that.
        const STAMP: [Mnemonic; 4] = [Mnemonic::Lfence, Mnemonic::Rdtsc, Mnemonic::Lfence, Mnemonic::Mov];
        let is_stamp = |code: &&[Instruction]| code.iter().map(Instruction::mnemonic).eq(STAMP);
        let stamps: Vec<u64> = code.windows(STAMP.len()).filter(is_stamp).map(|code| code[1].ip()).collect();
        let [begin, second, end] = [0, 1, code.len() - 1].map(|at| code[at].ip());
        let stamps: [u64; 4] = stamps.try_into().unwrap();
        let entry = code.iter().filter(|code| code.ip() > stamps[2] && code.ip() <= stamps[3]);
        let entry = entry.map(|code| (base + code.ip(), bytes(code))).collect();
        Timed { begin, second, end, base, stamps, entry }
    }
}

/// The handler of the 16-bit code's own interrupt, where it runs: an iret.
pub fn handler_of_sixteen() -> u64 {
    let file = object::File::parse(places::probes::image(Probe::Probe32)).unwrap();
    let address = |name: &str| file.symbols().find(|symbol| symbol.name() == Ok(name)).unwrap().address();
    SIXTEEN + address("sixteen_handler") - address("__start_sixteen")
}

/// By entry.
fn of_probe(probe: Probe) -> Vec<(&'static str, Timed)> {
    let file = object::File::parse(places::probes::image(probe)).unwrap();
    let symbols = file.symbols().filter_map(|symbol| Some((symbol.name().ok()?, symbol)));
    let symbols: BTreeMap<_, _> = symbols.filter(|(name, _)| name.ends_with("_timed")).collect();
    let timed = |entry: &'static Entry| {
        let symbol = &symbols[format!("{}_timed", entry.symbol()).as_str()];
        let section = file.section_by_index(symbol.section_index().unwrap()).unwrap();
        let code = section.data_range(symbol.address(), symbol.size()).unwrap().unwrap();
        let is_sixteen = section.name() == Ok("sixteen");
        let (bits, from, base) =
            if is_sixteen { (16, section.address(), SIXTEEN) } else { (probe.bits().into(), 0, 0) };
        let start = symbol.address() - from;
        let bytes = |one: &Instruction| code[(one.ip() - start) as usize..][..one.len()].to_vec();
        let read = Decoder::with_ip(bits, code, start, DecoderOptions::NONE);
        (entry.name.as_str(), Timed::read(&read.into_iter().collect::<Vec<_>>(), base, bytes))
    };
    Table::get().entries.iter().filter(|entry| entry.probe == probe).map(timed).collect()
}

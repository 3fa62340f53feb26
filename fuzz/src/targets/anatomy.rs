//! Any text as a saved anatomy: what loads becomes a report in every format, and JSON that loads as the same. What does not load is
//! taken as a path that was followed: any bytes at any addresses are named, and nothing panics.

use attribution::anatomy::{Anatomy, Difference};
use linux::{Alternative, Kernel};
use record::trace::{Executed, Symbol, Trace};
use report::{Format, Kind, Selection, Style};

/// Where the steps of a made-up path are: in the kernel's image.
const BASE: u64 = 0xffff_ffff_8100_0000;

/// Names that mean something to what tells parts apart.
const NAMES: [&str; 6] = [
    "entry_SYSCALL_64",
    "do_syscall_64",
    "x64_sys_call",
    "__x64_sys_getppid",
    "syscall_exit_to_user_mode",
    "__x86_return_thunk",
];

pub fn run(data: &[u8]) {
    let loaded = std::str::from_utf8(data).ok().and_then(|text| attribution::anatomy::load(text).ok());
    let Some(document) = loaded else {
        followed(data);
        return;
    };
    for format in Kind::ANATOMY.formats.iter().copied() {
        for width in [0, 80, 250] {
            let style = Style { color: width == 80, width, verbose: width == 250, selection: Selection::All };
            let bytes = report::anatomy(&document, format, &style).expect("it loaded");
            let text = String::from_utf8(bytes).expect("reports are UTF-8");
            assert!(width == 80 || !text.contains('\u{1b}'), "{format} steers a terminal");
            if format == Format::Json {
                assert_eq!(attribution::anatomy::load(&text).expect("what was written loads"), document);
            }
        }
    }
}

/// Sixteen bytes of the input are a step: where, in which ring, and what stands there.
fn followed(data: &[u8]) {
    let steps = data.chunks(16).map(|chunk| {
        let at = |place: usize| chunk.get(place).copied().unwrap_or(0);
        Executed {
            address: if at(0) & 0x80 == 0 {
                BASE + u64::from(at(0)) * 64 + u64::from(at(1))
            } else {
                u64::from(at(1))
            },
            ring: at(0) % 4,
            long: at(1) & 1 == 0,
            bytes: chunk.get(2..).unwrap_or_default().to_vec(),
        }
    });
    let trace = Trace { entry: 2, operation: 2, steps: steps.collect(), control: data.len() % 7 };
    let symbols: Vec<Symbol> = NAMES
        .iter()
        .zip((BASE..).step_by(0x200))
        .map(|(name, address)| Symbol { address, name: (*name).to_string() })
        .collect();
    let alternatives = (0..8u64).map(|number| Alternative {
        address: BASE + number * 0x100,
        length: 5,
        feature: u16::from(data.first().copied().unwrap_or(0)) * 3,
        when_absent: false,
        direct_call: number == 3,
        replacement: data.get(..4).unwrap_or_default().to_vec(),
    });
    let kernel = Kernel { text: Some(BASE), alternatives: alternatives.collect(), ..Kernel::default() };
    let anatomy = Anatomy::of(&trace, &symbols, &kernel);
    assert_eq!(anatomy.instructions.len(), trace.steps.len());
    assert_eq!(anatomy.functions().total, trace.steps.len());
    assert!(Difference::of(&anatomy, &anatomy).is_none());
}

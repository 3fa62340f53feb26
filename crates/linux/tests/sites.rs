//! Tables of places in a kernel's code: static keys, traced functions, calls of Xen's guests.
#![allow(clippy::unwrap_used)] // a failing unwrap is a failing test

#[path = "made/elf.rs"]
mod made;

use linux::{Branch, Kernel, Paravirt};
use made::{RODATA, Section, TABLE, TEXT};

fn parse(sections: &[Section]) -> Kernel {
    Kernel::parse(made::elf(sections, true), &Default::default()).unwrap()
}

/// A branch at this place of its table.
fn entry(place: u64, address: u64, target: u64, key: u64) -> Vec<u8> {
    let near = |at: u64, to: u64| (to.wrapping_sub(at) as u32).to_le_bytes();
    let key = key.wrapping_sub(place + 8).to_le_bytes();
    [&near(place, address)[..], &near(place + 4, target), &key].concat()
}

#[test]
fn branches_of_static_keys_are_read_with_their_keys() {
    let mut sections = made::sections();
    let table = [
        entry(TABLE, TEXT + 4, TEXT + 32, RODATA + 8),
        // Likely, and of a key that is set at build time.
        entry(TABLE + 16, TEXT + 9, TEXT + 40, RODATA + 8 + 3),
        // No code is there.
        entry(TABLE + 32, RODATA, TEXT, RODATA),
    ]
    .concat();
    sections.push((".data", TABLE, table, false));
    let kernel = parse(&sections);
    let branch =
        |address, target, jumps_when_off| Branch { address, target, key: RODATA + 8, jumps_when_off };
    let expected = [branch(TEXT + 4, TEXT + 32, false), branch(TEXT + 9, TEXT + 40, true)];
    assert_eq!(kernel.branches(TABLE..TABLE + 48), expected);
    // What is left over of an entry is none.
    assert_eq!(kernel.branches(TABLE..TABLE + 31), expected[..1]);
    for (start, end) in [(0, 0), (TABLE + 16, TABLE), (TABLE, TABLE + 49), (TABLE, u64::MAX), (u64::MAX, 0)] {
        assert_eq!(kernel.branches(start..end), [], "{start:x} to {end:x}");
    }
}

#[test]
fn a_table_at_the_end_of_all_addresses_is_read_without_a_panic() {
    let mut sections = made::sections();
    let start = u64::MAX - 63;
    sections.push((".data", start, vec![0xff; 63], false));
    let kernel = parse(&sections);
    assert_eq!(kernel.branches(start..u64::MAX), []);
    assert_eq!(kernel.traced(start..u64::MAX), []);
}

#[test]
fn traced_functions_are_those_with_code() {
    let mut sections = made::sections();
    let table: Vec<u8> =
        [TEXT, TEXT + 4, RODATA, 0].iter().flat_map(|address| address.to_le_bytes()).collect();
    sections.push((".init.data", TABLE, table, false));
    assert_eq!(parse(&sections).traced(TABLE..TABLE + 32), [TEXT, TEXT + 4]);
}

#[test]
fn calls_of_xens_guests_are_read() {
    let site = |address: u64, length: u8| [&address.to_le_bytes()[..], &[7, length], &[0; 6]].concat();
    let mut sections = made::sections();
    let table = [site(TEXT + 3, 6), site(RODATA, 6)].concat();
    sections.push((".parainstructions", TABLE, table, false));
    assert_eq!(parse(&sections).paravirt, [Paravirt { address: TEXT + 3, length: 6 }]);
    assert_eq!(parse(&made::sections()).paravirt, []);
}

//! A message that changes while the kernel reads it: no program of the lab can do that, for there is one processor and the kernel is not
//! preempted. So it is done from outside. QEMU's debugging interface stops the kernel behind each read of the sender's memory,
//! the test writes there what a hostile program would, and lets the kernel go on.
//!
//! What must come of it is what comes of the bytes that the kernel has read, when the same program sends those and nobody changes them:
//! the same code, the same messages, the same rights as often, to the last word that the program notes (mach_changes.c). A change of one
//! field makes that the old message's outcome or the new one's.

use crate::mach_watched::{Disturbance, Outside, Scene, WORD, with_guest};
use Scene::*;
use std::collections::HashMap;

/// Fields of a message, each with its place and length at a width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Bits,
    Size,
    Remote,
    Local,
    Id,
    Type,
    Name,
}
use Field::*;

impl Field {
    fn place(self, bits: u8) -> std::ops::Range<usize> {
        let (wide, narrow) = match self {
            Bits => (0..4, 0..4),
            Size => (4..8, 4..8),
            Remote => (8..12, 8..12),
            Local => (16..20, 12..16),
            Id => (28..32, 20..24),
            Type => (32..40, 24..28),
            Name => (40..44, 28..32),
        };
        if bits == 64 { wide } else { narrow }
    }
}

const DEAD: u64 = 0xffff_ffff;
const COMPLEX: u64 = 0x8000_0000;
const MOVE_RECEIVE: u64 = 16;
const MOVE_SEND: u64 = 17;
const COPY_SEND: u64 = 19;
const MAKE_SEND: u64 = 20;
const MAKE_SEND_ONCE: u64 = 21;

fn types(remote: u64, local: u64) -> u64 {
    remote | local << 8
}

/// A description of this many elements of a word.
fn item(bits: u8, kind: u64, number: u64) -> u64 {
    if bits == 64 { kind | 64 << 8 | 1 << 29 | number << 32 } else { kind | 32 << 8 | number << 16 | 1 << 28 }
}

/// What a hostile program would write: each a set of fields. The names are those of the program.
fn changes(scene: Scene, bits: u8, names: [u64; 5]) -> Vec<Vec<(Field, u64)>> {
    let [port, other, ended, nothing, task] = names;
    let one = |field, values: &[u64]| values.iter().map(|value| vec![(field, *value)]).collect::<Vec<_>>();
    let mut all = [
        one(Bits, &[0, types(COPY_SEND, 0), types(MAKE_SEND_ONCE, MAKE_SEND), 0xffff_ffff]),
        one(Bits, &[COMPLEX | types(COPY_SEND, MAKE_SEND), types(COPY_SEND, MAKE_SEND)]),
        one(Size, &[0, 0xffff_ffff]),
        one(Remote, &[0, DEAD, nothing, other, ended]),
        one(Local, &[0, nothing, port, ended]),
        one(Id, &[0x0bad_cafe]),
    ]
    .concat();
    if scene == Request {
        all.extend(one(Id, &[3205, 3208])); // the right to receive as well; a request with more behind it
        all.extend(one(Remote, &[port]));
    } else {
        all.extend(one(Remote, &[task]));
        all.extend(one(Bits, &[types(MOVE_SEND, MOVE_SEND)]));
    }
    if !matches!(scene, Header | Both) {
        let [move_receive, make_once, two] = [(MOVE_RECEIVE, 1), (MAKE_SEND_ONCE, 1), (MOVE_SEND, 2)]
            .map(|(kind, count)| item(bits, kind, count));
        let out_of_line = item(bits, MOVE_SEND, 1) & !(if bits == 64 { 1 << 29 } else { 1 << 28 });
        all.extend(one(Type, &[move_receive, make_once, two, item(bits, 2, 1), out_of_line, u64::MAX]));
        all.extend(one(Name, &[0, DEAD, nothing, port, ended]));
    }
    if scene != Request {
        // All of it: what is read has some words of either message.
        let moves = COMPLEX | types(MOVE_SEND, MAKE_SEND_ONCE);
        all.push(vec![
            (Bits, moves),
            (Remote, other),
            (Local, port),
            (Id, 1),
            (Type, item(bits, MOVE_RECEIVE, 1)),
            (Name, other),
        ]);
        all.push(vec![
            (Bits, types(MAKE_SEND, 0)),
            (Size, 0),
            (Remote, port),
            (Local, 0),
            (Id, 2),
            (Type, u64::MAX),
            (Name, DEAD),
        ]);
    }
    all
}

/// The message with these fields.
fn changed(message: &[u8], change: &[(Field, u64)], bits: u8) -> Vec<u8> {
    let mut new = message.to_vec();
    for (field, value) in change {
        let place = field.place(bits);
        if let Some(there) = new.get_mut(place.clone()) {
            there.copy_from_slice(&value.to_le_bytes()[..place.len()]);
        }
    }
    new
}

/// A change of each kind at each moment of what the program is about to send.
fn try_all(outside: &mut Outside) {
    let (scene, bits) = (outside.scene, outside.bits);
    let names = outside.words("names", 5).into_iter().map(u64::from).collect::<Vec<_>>().try_into().unwrap();
    let mut quiet = HashMap::new();
    let own = outside.round(&Disturbance::default());
    let words = own.message.len() / WORD;
    let mut differ = 0;
    for change in changes(scene, bits, names) {
        let new = changed(&own.message, &change, bits);
        for reads in 0..=words {
            let is_read = [&own.message[..reads * WORD], &new[reads * WORD..]].concat();
            assert!(change.len() > 1 || is_read == own.message || is_read == new);
            let expected = quiet.entry(is_read.clone()).or_insert_with(|| {
                outside.round(&Disturbance { before: Some(is_read), ..Disturbance::default() })
            });
            let during = Some((reads, new.clone()));
            let found = outside.round(&Disturbance { during, ..Disturbance::default() });
            let what = format!("{bits} bits, {scene:?}, {change:x?} behind {reads} reads");
            for (of, outcome) in [("quiet", &*expected), ("changed", &found)] {
                assert!(outcome.reads.iter().all(|reads| *reads == 1), "{what}, {of}: {:?}", outcome.reads);
                assert_eq!((&outcome.odd, outcome.looks), (&Vec::new(), 0), "{what}, {of}");
            }
            assert_eq!(found.message, own.message, "{what}");
            assert_eq!(found.notes, expected.notes, "{what}");
            assert_eq!(found.notes[0], 0, "{what}: a normal round trip");
            let is_overwritten = expected.left != expected.message;
            let left = if is_overwritten { &expected.left } else { &new };
            assert_eq!(&found.left, left, "{what}");
            differ += usize::from(reads == 0 && found.notes != own.notes);
        }
    }
    assert!(differ > 8, "{scene:?}: {differ} changes make a difference when they come first");
}

fn check(bits: u8) {
    with_guest(bits, |mut outside, room| {
        assert!(room[0] > 200 && room[2] > 60, "{room:x?}");
        for next in [Right, Full, Request, Both, Header] {
            try_all(&mut outside);
            outside.next(next);
        }
        assert_eq!(outside.end(), room, "ports, and messages that have room");
    });
}

#[test]
fn a_message_that_changes_while_it_is_read_is_sent_as_it_was_read() {
    check(64);
}

#[test]
fn a_message_of_32_bits_that_changes_while_it_is_read_is_sent_as_it_was_read() {
    check(32);
}

#[test]
fn a_second_read_is_counted() {
    for bits in [64, 32] {
        with_guest(bits, |mut outside, _| {
            outside.next(Twice);
            let twice = outside.round(&Disturbance::default());
            assert!(twice.reads.iter().all(|reads| *reads == 2), "{:?}", twice.reads);
            assert_eq!((twice.looks, &twice.odd), (twice.message.len() / 4, &Vec::new()));
            outside.end();
        });
    }
}

#[test]
fn a_kernel_that_read_a_message_again_would_be_found() {
    for bits in [64, 32] {
        with_guest(bits, |mut outside, _| {
            let own = outside.round(&Disturbance::default());
            let again = Some(outside.own());
            let harmless = Disturbance { again, ..Disturbance::default() };
            let again = outside.round(&harmless);
            assert!(again.reads.iter().all(|reads| *reads == 2), "{:?}", again.reads);
            assert_eq!(again.notes, own.notes);
            let new = changed(&own.message, &[(Id, 0x0bad_cafe)], bits);
            let last = own.message.len() / WORD;
            let late = outside.round(&Disturbance { during: Some((last, new)), ..harmless });
            assert_ne!(late.notes, own.notes, "a change behind the last read shows");
            let elsewhere = Some(outside.alias());
            let elsewhere = outside.round(&Disturbance { again: elsewhere, ..Disturbance::default() });
            assert_eq!((elsewhere.reads, elsewhere.odd.len()), (own.reads, last));
            outside.end();
        });
    }
}

//! A model of what one task can do with its ports and messages (docs/mach.md), and programs that do it at random: each of their steps must
//! be answered as the model says.

use crate::guest::{Emulator, Script};
use crate::mach::{boot, program, run};
use std::collections::{BTreeMap, VecDeque};

const SEND: u32 = 0x1_0000;
const RECEIVE: u32 = 0x2_0000;
const ONCE: u32 = 0x4_0000;
const SET: u32 = 0x8_0000;
const DEAD: u32 = 0x10_0000;
const REQUEST: u32 = 0x8000_0000;

const NULL_NAME: u32 = 0;
const DEAD_NAME: u32 = u32::MAX;
const COMPLEX: u32 = 0x8000_0000;

/// Messages that a task may have in queues, and bytes of a program's buffer.
const SHARE: usize = 64;
const BUFFER: usize = 160;
const LIMIT: usize = 5;

/// Item types, as sent; the first three as received.
const MOVE_RECEIVE: u32 = 16;
const MOVE_SEND: u32 = 17;
const MOVE_ONCE: u32 = 18;
const COPY_SEND: u32 = 19;
const MAKE_SEND: u32 = 20;
const MAKE_ONCE: u32 = 21;

type PortId = usize;

/// What travels: a port, or none, or one that was dead already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum To {
    Null,
    Dead,
    Port(PortId),
}

#[derive(Debug, Clone, Copy)]
struct Right {
    to: To,
    kind: u32,
}

#[derive(Debug, Default)]
struct Port {
    is_alive: bool,
    transit: Option<PortId>,
    /// Of its send or receive right in the task; 0: it has none.
    name: u32,
    sends: u32,
    onces: u32,
    makes: u32,
    sequence: u32,
    queue: VecDeque<Message>,
    no_senders: Option<PortId>,
}

#[derive(Debug, Default)]
struct Entry {
    kind: u32,
    references: u32,
    port: Option<PortId>,
    request: Option<PortId>,
}

/// A number, as it was written; or a right.
#[derive(Debug, Clone, Copy)]
enum Item {
    Raw { kind: u32, value: u32 },
    Right(Right),
}

#[derive(Debug)]
struct Message {
    bits: u32,
    id: u32,
    remote: Right,
    local: Right,
    items: Vec<Item>,
}

const NONE: Right = Right { to: To::Null, kind: 0 };

struct Model {
    is_wide: bool,
    ports: Vec<Port>,
    names: BTreeMap<u32, Entry>,
    freed: Vec<u32>,
    fresh: u32,
    /// Messages that are charged to the task.
    messages: usize,
    dying: Vec<PortId>,
    is_dying: bool,
    state: u32,
    digest: u32,
    buffer: [u8; BUFFER],
    /// Of each kind of operation, how often it was answered so.
    answers: BTreeMap<(u32, u32), u32>,
}

fn received_as(kind: u32) -> u32 {
    match kind {
        MOVE_RECEIVE => MOVE_RECEIVE,
        MOVE_ONCE | MAKE_ONCE => MOVE_ONCE,
        _ => MOVE_SEND,
    }
}

impl Model {
    fn new(seed: u32, is_wide: bool) -> Model {
        // The machine's ports, the task's, and the port for answers have the first names.
        Model {
            is_wide,
            ports: Vec::new(),
            names: BTreeMap::new(),
            freed: Vec::new(),
            fresh: 5,
            messages: 0,
            dying: Vec::new(),
            is_dying: false,
            state: seed,
            digest: 0,
            buffer: [0; BUFFER],
            answers: BTreeMap::new(),
        }
    }

    fn draw(&mut self, below: u32) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        self.state % below
    }

    fn pick(&mut self) -> u32 {
        match self.draw(28) {
            0 => NULL_NAME,
            1 => DEAD_NAME,
            2 => 9999,
            drawn => drawn + 2,
        }
    }

    fn mix(&mut self, word: u32) {
        word.to_le_bytes().iter().for_each(|byte| self.mix_byte(*byte));
    }

    fn mix_byte(&mut self, byte: u8) {
        self.digest = (self.digest ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }

    fn mix_buffer(&mut self) {
        let bytes = self.buffer;
        bytes.into_iter().for_each(|byte| self.mix_byte(byte));
    }

    // Names.

    fn name_new(&mut self) -> u32 {
        let name = self.freed.pop().unwrap_or_else(|| {
            while self.names.contains_key(&self.fresh) {
                self.fresh += 1;
            }
            self.fresh += 1;
            self.fresh - 1
        });
        assert!(name < 512, "the seed takes more names than there are");
        name
    }

    fn name_free(&mut self, name: u32) {
        self.names.remove(&name);
        if name < 512 {
            self.freed.push(name);
        }
    }

    /// One right less under a name.
    fn strip(&mut self, name: u32, kind: u32) {
        let entry = self.names.get_mut(&name).unwrap();
        entry.kind &= !kind;
        let (rest, port) = (entry.kind & (SEND | RECEIVE), entry.port);
        if rest != 0 && kind != SEND {
            return;
        }
        let told = entry.request.take();
        if let Some(port) = port.filter(|_| rest == 0 && kind != ONCE) {
            self.ports[port].name = 0;
        }
        if let Some(told) = told {
            self.notify(told, 65, name);
        }
        if rest == 0 {
            self.name_free(name);
        }
    }

    // Rights.

    fn may(&self, name: u32, item: u32) -> Option<bool> {
        let kind = self.names.get(&name)?.kind;
        Some(match item {
            MAKE_SEND | MAKE_ONCE | MOVE_RECEIVE => kind & RECEIVE != 0,
            COPY_SEND | MOVE_SEND => kind & (SEND | DEAD) != 0,
            MOVE_ONCE => kind & (ONCE | DEAD) != 0,
            _ => false,
        })
    }

    fn take(&mut self, name: u32, item: u32) -> Right {
        let kind = received_as(item);
        let entry = self.names.get_mut(&name).unwrap();
        let Some(port) = entry.port.filter(|_| entry.kind & DEAD == 0) else {
            if item != COPY_SEND {
                entry.references -= 1;
                if entry.references == 0 {
                    self.strip(name, DEAD);
                }
            }
            return Right { to: To::Dead, kind };
        };
        match item {
            MAKE_SEND => {
                self.ports[port].makes += 1;
                self.ports[port].sends += 1;
            }
            COPY_SEND => self.ports[port].sends += 1,
            MAKE_ONCE => self.ports[port].onces += 1,
            MOVE_SEND if entry.references > 1 => {
                entry.references -= 1;
                self.ports[port].sends += 1;
            }
            MOVE_SEND => self.strip(name, SEND),
            MOVE_ONCE => self.strip(name, ONCE),
            _ => {
                self.strip(name, RECEIVE);
                self.moves(port);
            }
        }
        Right { to: To::Port(port), kind }
    }

    fn moves(&mut self, port: PortId) {
        let port = &mut self.ports[port];
        (port.transit, port.sequence, port.makes) = (None, 0, 0);
    }

    /// The name that a right gets.
    fn give(&mut self, right: Right) -> u32 {
        let port = match right.to {
            To::Null => return NULL_NAME,
            To::Dead => return DEAD_NAME,
            To::Port(port) if !self.ports[port].is_alive => {
                self.destroy(right);
                return DEAD_NAME;
            }
            To::Port(port) => port,
        };
        let known = self.ports[port].name;
        let name = if right.kind != MOVE_ONCE && known != 0 { known } else { self.name_new() };
        self.give_to(name, port, right.kind);
        name
    }

    fn give_to(&mut self, name: u32, port: PortId, kind: u32) {
        let entry = self.names.entry(name).or_default();
        if kind == MOVE_SEND && entry.kind & SEND != 0 {
            entry.references += 1;
            self.send_ends(port);
            return;
        }
        entry.port = Some(port);
        if kind == MOVE_RECEIVE {
            entry.kind |= RECEIVE;
            entry.references = entry.references.max(1);
            self.moves(port);
        } else {
            entry.kind |= if kind == MOVE_SEND { SEND } else { ONCE };
            entry.references = 1;
        }
        if kind != MOVE_ONCE {
            self.ports[port].name = name;
        }
    }

    fn destroy(&mut self, right: Right) {
        let To::Port(port) = right.to else { return };
        match right.kind {
            MOVE_SEND => self.send_ends(port),
            MOVE_ONCE => self.notify(port, 71, 0),
            _ => {
                self.ports[port].transit = None;
                self.dies(port);
            }
        }
    }

    fn send_ends(&mut self, port: PortId) {
        let port = &mut self.ports[port];
        port.sends -= 1;
        if port.sends == 0 && port.is_alive {
            let makes = port.makes;
            if let Some(told) = port.no_senders.take() {
                self.notify(told, 70, makes);
            }
        }
    }

    fn notify(&mut self, once: PortId, id: u32, value: u32) {
        if !self.ports[once].is_alive || self.messages == SHARE {
            self.ports[once].onces -= 1;
            return;
        }
        self.messages += 1;
        let kind = if id == 70 { 2 } else { 15 };
        let items = if id == 71 { Vec::new() } else { vec![Item::Raw { kind: kind | 0x2000, value }] };
        let remote = Right { to: To::Port(once), kind: MOVE_ONCE };
        self.ports[once].queue.push_back(Message { bits: 0, id, remote, local: NONE, items });
    }

    fn dies(&mut self, port: PortId) {
        if !std::mem::take(&mut self.ports[port].is_alive) {
            return;
        }
        self.dying.push(port);
        if std::mem::replace(&mut self.is_dying, true) {
            return;
        }
        while let Some(port) = self.dying.pop() {
            self.die(port);
        }
        self.is_dying = false;
    }

    fn die(&mut self, port: PortId) {
        if let Some(told) = self.ports[port].no_senders.take() {
            self.notify(told, 71, 0);
        }
        let name = self.ports[port].name;
        if name != 0 {
            self.entry_dies(name);
        }
        let onces: Vec<u32> = self
            .names
            .iter()
            .filter(|(_, entry)| entry.kind == ONCE && entry.port == Some(port))
            .map(|(name, _)| *name)
            .collect();
        onces.into_iter().for_each(|name| self.entry_dies(name));
        while let Some(message) = self.ports[port].queue.pop_front() {
            self.destroy_message(message);
        }
    }

    fn entry_dies(&mut self, name: u32) {
        let entry = self.names.get_mut(&name).unwrap();
        let port = entry.port.take().unwrap();
        if entry.kind == ONCE {
            self.ports[port].onces -= 1;
        } else {
            self.ports[port].sends -= 1;
            self.ports[port].name = 0;
        }
        entry.kind = DEAD;
        if let Some(told) = entry.request.take() {
            entry.references += 1;
            self.notify(told, 72, name);
        }
    }

    fn destroy_message(&mut self, message: Message) {
        self.destroy(message.remote);
        self.destroy(message.local);
        for item in message.items {
            if let Item::Right(right) = item {
                self.destroy(right);
            }
        }
        self.messages -= 1;
    }

    // Calls.

    fn allocate(&mut self, right: u32) -> (u32, u32) {
        let kind = match right {
            1 => RECEIVE,
            3 => SET,
            4 => DEAD,
            _ => return (18, 0),
        };
        let name = self.name_new();
        let port = (kind == RECEIVE).then(|| {
            self.ports.push(Port { is_alive: true, name, ..Port::default() });
            self.ports.len() - 1
        });
        self.names.insert(name, Entry { kind, references: 1, port, request: None });
        (0, name)
    }

    fn change(&mut self, name: u32, right: u32, change: i32) -> u32 {
        if right > 4 {
            return 18;
        }
        let Some(entry) = self.names.get_mut(&name) else { return 15 };
        if entry.kind & (SEND << right) == 0 {
            return 17;
        }
        if right == 0 || right == 4 {
            let now = i64::from(entry.references) + i64::from(change);
            if now < 0 {
                return 18;
            }
            if now > if right == 0 { 65534 } else { 65535 } {
                return 19;
            }
            if now != 0 {
                entry.references = now as u32;
            } else {
                self.end_right(name, SEND << right);
            }
            return 0;
        }
        match change {
            0 => 0,
            -1 => {
                self.end_right(name, SEND << right);
                0
            }
            _ => 18,
        }
    }

    fn end_right(&mut self, name: u32, kind: u32) {
        let port = self.names[&name].port;
        self.strip(name, kind);
        match (kind, port) {
            (SEND, Some(port)) => self.send_ends(port),
            (RECEIVE, Some(port)) => self.dies(port),
            (ONCE, Some(port)) => self.notify(port, 71, 0),
            _ => {}
        }
    }

    fn deallocate(&mut self, name: u32) -> u32 {
        let Some(entry) = self.names.get(&name) else { return 15 };
        match entry.kind {
            kind if kind & SEND != 0 => self.change(name, 0, -1),
            ONCE => self.change(name, 2, -1),
            DEAD => self.change(name, 4, -1),
            _ => 17,
        }
    }

    fn destroy_name(&mut self, name: u32) -> u32 {
        if !self.names.contains_key(&name) {
            return 15;
        }
        for kind in [SEND, RECEIVE, ONCE, SET, DEAD] {
            if self.names.get(&name).is_some_and(|entry| entry.kind & kind != 0) {
                self.end_right(name, kind);
                if kind != SEND {
                    break;
                }
            }
        }
        0
    }

    fn insert(&mut self, name: u32, from: u32, item: u32) -> u32 {
        if !(MOVE_RECEIVE..=MAKE_ONCE).contains(&item) || name == NULL_NAME || name == DEAD_NAME {
            return 18;
        }
        if from == NULL_NAME || from == DEAD_NAME {
            return 20;
        }
        match self.may(from, item) {
            None => return 15,
            Some(false) => return 17,
            Some(true) => {}
        }
        let right = self.take(from, item);
        let To::Port(port) = right.to else { return 20 };
        let known = if right.kind == MOVE_ONCE { 0 } else { self.ports[port].name };
        let result = if known != 0 && known != name {
            21
        } else if self
            .names
            .get(&name)
            .is_some_and(|entry| right.kind == MOVE_ONCE || entry.port != Some(port))
        {
            13
        } else {
            self.freed.retain(|freed| *freed != name);
            self.give_to(name, port, right.kind);
            return 0;
        };
        self.destroy(right);
        result
    }

    /// A request to the kernel holds a message as long as it is served.
    fn ask(&mut self, serve: impl FnOnce(&mut Model) -> u32) -> u32 {
        if self.messages == SHARE {
            return 0x1000_000d;
        }
        self.messages += 1;
        let result = serve(self);
        self.messages -= 1;
        result
    }

    fn status(&self, name: u32) -> Result<[u32; 9], u32> {
        let entry = self.names.get(&name).ok_or(15u32)?;
        let port = entry.port.filter(|_| entry.kind & RECEIVE != 0).ok_or(17u32)?;
        let port = &self.ports[port];
        let (sends, told) = (u32::from(port.sends != 0), u32::from(port.no_senders.is_some()));
        let queued = port.queue.len() as u32;
        Ok([0, port.sequence, port.makes, LIMIT as u32, queued, port.onces, sends, 0, told])
    }

    /// What was requested before, with success.
    fn request(&mut self, name: u32, id: u32, sync: u32, to: To) -> Result<Option<PortId>, u32> {
        let told = if let To::Port(told) = to { Some(told) } else { None };
        let entry = self.names.get_mut(&name).ok_or(15u32)?;
        if to == To::Dead {
            return Err(20);
        }
        if id == 70 {
            let port = entry.port.filter(|_| entry.kind & RECEIVE != 0).ok_or(17u32)?;
            let before = self.ports[port].no_senders.take();
            let (sends, makes) = (self.ports[port].sends, self.ports[port].makes);
            match told {
                Some(told) if sends == 0 && sync <= makes => self.notify(told, 70, makes),
                told => self.ports[port].no_senders = told,
            }
            return Ok(before);
        }
        if entry.kind & DEAD != 0 {
            let told = told.filter(|_| sync != 0).ok_or(4u32)?;
            entry.references = (entry.references + 1).min(65535);
            self.notify(told, 72, name);
            return Ok(None);
        }
        if entry.kind & (SEND | ONCE) == 0 {
            return Err(17);
        }
        Ok(std::mem::replace(&mut entry.request, told))
    }

    // Messages.

    fn header_bytes(&self) -> usize {
        if self.is_wide { 32 } else { 24 }
    }

    fn item_bytes(&self) -> usize {
        if self.is_wide { 16 } else { 8 }
    }

    fn size(&self, message: &Message) -> usize {
        self.header_bytes() + message.items.len() * self.item_bytes()
    }

    fn put(&mut self, at: usize, value: u32) {
        self.buffer[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    fn write_header(&mut self, bits: u32, size: usize, names: [u32; 2], sequence: u32, id: u32) {
        let places = if self.is_wide { [8, 16, 24, 28] } else { [8, 12, 16, 20] };
        let bytes = self.header_bytes();
        self.buffer[..bytes].fill(0);
        self.put(0, bits);
        self.put(4, size as u32);
        for (at, value) in places.into_iter().zip([names[0], names[1], sequence, id]) {
            self.put(at, value);
        }
    }

    fn write_items(&mut self, items: &[(u32, u32)]) {
        let (mut at, word) = (self.header_bytes(), self.item_bytes() / 2);
        for (kind, value) in items {
            // Type and bits stand where the caller has them; number and flags differ by width.
            let description: u64 = if self.is_wide {
                u64::from(*kind) | 1 << 29 | 1 << 32
            } else {
                u64::from(*kind) | 1 << 16 | 1 << 28
            };
            self.buffer[at..at + word].copy_from_slice(&description.to_le_bytes()[..word]);
            self.buffer[at + word..at + 2 * word].copy_from_slice(&u64::from(*value).to_le_bytes()[..word]);
            at += 2 * word;
        }
    }

    /// Rights become names, item by item.
    fn give_items(&mut self, items: Vec<Item>) -> Vec<(u32, u32)> {
        let bits = if self.is_wide { 0x4000 } else { 0x2000 };
        let give = |item| match item {
            Item::Raw { kind, value } => (kind, value),
            Item::Right(right) => {
                if let (To::Port(port), MOVE_RECEIVE) = (right.to, right.kind) {
                    self.ports[port].transit = None;
                }
                (right.kind | bits, self.give(right))
            }
        };
        items.into_iter().map(give).collect()
    }

    fn header_rights(&mut self, bits: u32, remote: u32, local: u32) -> Result<[Right; 2], u32> {
        let (to, answer) = (bits & 0xff, bits >> 8 & 0xff);
        let is_send = |kind| (MOVE_SEND..=MAKE_ONCE).contains(&kind);
        if !is_send(to) || !(is_send(answer) || answer == 0 && local == NULL_NAME) {
            return Err(0x1000_0010);
        }
        let Some(may) = self.may(remote, to) else { return Err(0x1000_0003) };
        let has_answer = local != NULL_NAME && local != DEAD_NAME;
        if has_answer && self.may(local, answer) != Some(true) {
            return Err(0x1000_0009);
        }
        let target = &self.names[&remote];
        let (is_dead, references) = (target.kind & DEAD != 0, target.references);
        let is_move = |kind| kind == MOVE_SEND || kind == MOVE_ONCE;
        let are_one = has_answer && remote == local;
        if is_dead || !may || are_one && is_move(to) && is_move(answer) && (to == MOVE_ONCE || references < 2)
        {
            return Err(0x1000_0003);
        }
        if are_one && is_move(to) {
            let local = self.take(local, answer);
            return Ok([self.take(remote, to), local]);
        }
        let remote = self.take(remote, to);
        let local = match local {
            _ if has_answer => self.take(local, answer),
            _ if answer == 0 => NONE,
            DEAD_NAME => Right { to: To::Dead, kind: received_as(answer) },
            _ => Right { to: To::Null, kind: received_as(answer) },
        };
        Ok([remote, local])
    }

    fn is_circular(&self, moved: PortId, to: PortId) -> bool {
        let mut at = Some(to);
        while let Some(port) = at {
            if port == moved {
                return true;
            }
            at = self.ports[port].transit;
        }
        false
    }

    /// The items with rights, and whether they go round in a circle.
    fn take_items(&mut self, raw: &[(u32, u32)], to: PortId) -> Result<(Vec<Item>, bool), (u32, Vec<Item>)> {
        let (mut items, mut is_circle) = (Vec::new(), false);
        for (kind, value) in raw {
            let item = kind & 0xff;
            if item < MOVE_RECEIVE {
                items.push(Item::Raw { kind: *kind, value: *value });
                continue;
            }
            let right = match *value {
                NULL_NAME => Right { to: To::Null, kind: received_as(item) },
                DEAD_NAME => Right { to: To::Dead, kind: received_as(item) },
                name if self.may(name, item) == Some(true) => self.take(name, item),
                _ => return Err((0x1000_000a, items)),
            };
            if let (To::Port(port), MOVE_RECEIVE) = (right.to, right.kind) {
                if self.is_circular(port, to) {
                    is_circle = true;
                } else {
                    self.ports[port].transit = Some(to);
                }
            }
            items.push(Item::Right(right));
        }
        Ok((items, is_circle))
    }

    fn send(&mut self, bits: u32, names: [u32; 2], id: u32, raw: &[(u32, u32)]) -> u32 {
        if self.messages == SHARE {
            return 0x1000_000d;
        }
        let [remote, local] = match self.header_rights(bits, names[0], names[1]) {
            Ok(rights) => rights,
            Err(code) => return code,
        };
        let To::Port(to) = remote.to else { unreachable!() };
        self.messages += 1;
        let plain = || raw.iter().map(|(kind, value)| Item::Raw { kind: *kind, value: *value }).collect();
        let (items, is_circle) = if bits & COMPLEX == 0 {
            (plain(), false)
        } else {
            match self.take_items(raw, to) {
                Ok(taken) => taken,
                Err((code, taken)) => {
                    // What was taken of the body goes first.
                    for item in taken {
                        if let Item::Right(right) = item {
                            self.destroy(right);
                        }
                    }
                    self.destroy_message(Message { bits: 0, id, remote, local, items: Vec::new() });
                    return code;
                }
            }
        };
        let has_rights = items.iter().any(|item| matches!(item, Item::Right(_)));
        let message = Message { bits: if has_rights { COMPLEX } else { 0 }, id, remote, local, items };
        if is_circle {
            self.destroy_message(message);
            return 0;
        }
        if remote.kind == MOVE_SEND && self.ports[to].queue.len() >= LIMIT {
            self.give_back(message);
            return 0x1000_0004;
        }
        self.ports[to].queue.push_back(message);
        0
    }

    fn give_back(&mut self, message: Message) {
        let size = self.size(&message);
        let bits = message.bits | message.remote.kind | message.local.kind << 8;
        let remote = self.give(message.remote);
        let local = self.give(message.local);
        let items = self.give_items(message.items);
        self.write_header(bits, size, [remote, local], 0x55, message.id);
        self.write_items(&items);
        self.messages -= 1;
    }

    fn receive(&mut self, name: u32, room: usize, is_large: bool) -> u32 {
        let Some(entry) = self.names.get(&name).filter(|entry| entry.kind & (RECEIVE | SET) != 0) else {
            return 0x1000_4002;
        };
        let Some(port) = entry.port else { return 0x1000_4003 };
        let Some(first) = self.ports[port].queue.front() else { return 0x1000_4003 };
        let size = self.size(first);
        if size > room && is_large {
            self.put(4, size as u32);
            return 0x1000_4004;
        }
        let sequence = self.ports[port].sequence;
        self.ports[port].sequence += 1;
        let message = self.ports[port].queue.pop_front().unwrap();
        let bits = message.bits | message.local.kind | message.remote.kind << 8;
        if size > room {
            self.use_up(message.remote);
            self.destroy(message.local);
            message.items.iter().for_each(|item| {
                if let Item::Right(right) = item {
                    self.destroy(*right);
                }
            });
            self.write_header(bits, size, [NULL_NAME, name], sequence, message.id);
            self.messages -= 1;
            return 0x1000_4004;
        }
        let answer = self.give(message.local);
        self.use_up(message.remote);
        let items = self.give_items(message.items);
        self.write_header(bits, size, [answer, name], sequence, message.id);
        self.write_items(&items);
        self.messages -= 1;
        0
    }

    fn use_up(&mut self, right: Right) {
        let To::Port(port) = right.to else { unreachable!() };
        match right.kind {
            MOVE_SEND => self.send_ends(port),
            _ => self.ports[port].onces -= 1,
        }
    }

    // What mach_random.c does.

    fn step(&mut self, number: u32) -> u32 {
        self.digest = 0x811c_9dc5;
        let operation = self.draw(24);
        self.buffer.fill(0xee);
        let result = self.operate(operation, number);
        *self.answers.entry((operation, result)).or_default() += 1;
        self.digest
    }

    fn operate(&mut self, operation: u32, number: u32) -> u32 {
        match operation {
            0..2 => {
                let right = [1, 1, 1, 4, 3, 2][self.draw(6) as usize];
                let (result, name) = self.allocate(right);
                self.mix(result);
                self.mix(name);
                result
            }
            2..4 => {
                let name = self.pick();
                let result = self.deallocate(name);
                self.mix(result);
                result
            }
            4 => {
                let name = self.pick();
                let result = self.ask(|model| model.destroy_name(name));
                self.mix(result);
                result
            }
            5 => {
                let (name, right) = (self.pick(), self.draw(6));
                let change = self.draw(5) as i32 - 2;
                let result = self.ask(|model| model.change(name, right, change));
                self.mix(result);
                result
            }
            6..8 => {
                let (name, from) = (self.pick(), self.pick());
                let item = 15 + self.draw(8);
                let result = self.insert(name, from, item);
                self.mix(result);
                result
            }
            8 => self.step_type(),
            9 => self.step_status(),
            10 => self.step_request(),
            11..17 => self.step_send(number),
            _ => {
                let name = self.pick();
                let is_whole = self.draw(4) != 0;
                let room = if is_whole {
                    BUFFER
                } else {
                    self.header_bytes() + self.draw(2) as usize * self.item_bytes() - 8
                };
                let is_large = self.draw(4) == 0;
                let result = self.receive(name, room, is_large);
                self.mix(result);
                self.mix_buffer();
                result
            }
        }
    }

    fn step_type(&mut self) -> u32 {
        let name = self.pick();
        let result = self.ask(|model| if model.names.contains_key(&name) { 0 } else { 15 });
        self.mix(result);
        if result == 0 {
            let entry = &self.names[&name];
            let kind = entry.kind | if entry.request.is_some() { REQUEST } else { 0 };
            self.mix(kind);
        }
        result
    }

    fn step_status(&mut self) -> u32 {
        let name = self.pick();
        let result = self.ask(|model| model.status(name).err().unwrap_or(0));
        self.mix(result);
        if let (0, Ok(status)) = (result, self.status(name)) {
            status.into_iter().for_each(|number| self.mix(number));
        }
        result
    }

    fn step_request(&mut self) -> u32 {
        let name = self.pick();
        let id = if self.draw(2) != 0 { 70 } else { 72 };
        let sync = self.draw(3);
        let item = if self.draw(2) != 0 { MAKE_ONCE } else { MOVE_ONCE };
        let told = self.pick();
        let mut before = None;
        let result = self.ask(|model| {
            let to = match told {
                NULL_NAME => To::Null,
                DEAD_NAME => To::Dead,
                told if model.may(told, item) == Some(true) => model.take(told, item).to,
                _ => return 0x1000_000a,
            };
            match model.request(name, id, sync, to) {
                Ok(found) => {
                    before = found;
                    0
                }
                Err(code) => {
                    model.destroy(Right { to, kind: MOVE_ONCE });
                    code
                }
            }
        });
        self.mix(result);
        if result == 0 {
            let to = before.map_or(To::Null, To::Port);
            let name = self.give(Right { to, kind: MOVE_ONCE });
            self.mix(name);
        }
        result
    }

    fn step_send(&mut self, number: u32) -> u32 {
        let mut bits = [20, 20, 20, 20, 20, 20, 19, 19, 17, 18, 21, 16][self.draw(12) as usize];
        let (remote, mut local) = (self.pick(), NULL_NAME);
        if self.draw(2) != 0 {
            bits |= [21, 21, 20, 20, 19, 17, 18, 22][self.draw(8) as usize] << 8;
            local = self.pick();
        } else if self.draw(8) == 0 {
            local = self.pick();
        }
        let items = self.draw(4);
        bits |= if self.draw(2) != 0 { COMPLEX } else { 0 };
        let width = if self.is_wide { 0x4000 } else { 0x2000 };
        let raw: Vec<(u32, u32)> = (0..items)
            .map(|_| {
                if self.draw(3) == 0 {
                    (2 | 0x2000, self.draw(u32::MAX))
                } else {
                    ((16 + self.draw(6)) | width, self.pick())
                }
            })
            .collect();
        let result = self.send(bits, [remote, local], number, &raw);
        self.mix(result);
        if result == 0x1000_0004 {
            self.mix_buffer();
        }
        result
    }
}

/// Seeds, and steps of each.
const SEEDS: [u32; 5] = [1, 20_261_125, 3_141_592_653, 77, 4_242_424_242];
const STEPS: u32 = 2_000;

#[test]
fn random_operations_are_answered_as_the_model_says() {
    let programs = [64, 32].map(|bits| program(bits, "mach_random.c"));
    let mut script = Script::new();
    script.limit(2_000_000_000);
    let (mut wanted, steps) = (Vec::new(), STEPS.to_string());
    for (switches, is_wide) in [("pti=off", 1), ("pti=on", 0)] {
        script.set(&format!("{switches} personality=mach"));
        for seed in SEEDS {
            run(&mut script, &programs[1 - is_wide], 0, &[&seed.to_string(), &steps]);
            wanted.push((seed, is_wide == 1));
        }
    }
    let Some(session) = boot(&script, Emulator::TcgIntel) else { return };
    let mut answers: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for (ran, (seed, is_wide)) in session.ran.iter().zip(wanted) {
        let mut model = Model::new(seed, is_wide);
        let text = ran.text();
        let said: Vec<u32> = text.lines().map(|line| u32::from_str_radix(line.trim(), 16).unwrap()).collect();
        assert_eq!(said.len(), STEPS as usize, "{}", ran.label);
        for (number, said) in (0..).zip(said) {
            let before = model.state;
            let wanted = model.step(number);
            assert_eq!(said, wanted, "{}: step {number}, drawn from {before:#x}", ran.label);
        }
        model.answers.into_iter().for_each(|(answer, times)| *answers.entry(answer).or_default() += times);
    }
    // What can be answered was: by sending, and by receiving.
    let is_seen = |operations: std::ops::Range<u32>, code: u32| {
        answers.keys().any(|(operation, answer)| operations.contains(operation) && *answer == code)
    };
    for code in [0, 0x1000_0003, 0x1000_0004, 0x1000_0009, 0x1000_000a, 0x1000_0010] {
        assert!(is_seen(11..17, code), "{code:x}: {answers:x?}");
    }
    for code in [0, 0x1000_4002, 0x1000_4003, 0x1000_4004] {
        assert!(is_seen(17..24, code), "{code:x}: {answers:x?}");
    }
}

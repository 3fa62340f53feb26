//! How the guest's program and whoever follows it meet: it calls the only instruction of a page that nothing else executes, where a
//! breakpoint is. What the call is about is in its arguments.

/// Where the page is: above all that a static program, its heap or its libraries take, and below what they are given by `mmap`.
pub const PAGE: u64 = 0x1000_0000_0000;

/// What is there: `ret`.
pub const CODE: u8 = 0xc3;

/// Where whoever follows writes its answer, eight bytes in a page of its own.
pub const ANSWER: u64 = PAGE + 4096;

/// What a rendezvous is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rendezvous {
    /// The next process to execute a probe measures this row.
    Row(u16, u16),
    /// This row is not used: its use has so many instructions, which is more than are followed.
    TooLong(u16, u16, u32),
    /// The program will now loop in ring 3, so that the timer, whose entry is at this address of the kernel, interrupts it there.
    Timer(u64),
    /// The next process to execute a probe measures this row, of whose execves one is followed.
    Execve(u16, u16),
    /// The answer is to be how many instructions the last row's use was, without what its control has; 0 where it was not followed.
    Count,
    /// So many bytes at this address of the program's memory are the kernel's symbols, as [`crate::guest::packed`] packs them.
    Symbols { address: u64, length: u64 },
    /// Nothing more is to be followed.
    Over,
}

impl Rendezvous {
    const ROW: u64 = 1;
    const TIMER: u64 = 2;
    const COUNT: u64 = 3;
    const OVER: u64 = 4;
    const TOO_LONG: u64 = 5;
    const EXECVE: u64 = 6;
    const SYMBOLS: u64 = 7;

    /// The arguments of the call.
    pub fn arguments(self) -> [u64; 3] {
        match self {
            Rendezvous::Row(entry, operation) => [Rendezvous::ROW, row(entry, operation), 0],
            Rendezvous::Execve(entry, operation) => [Rendezvous::EXECVE, row(entry, operation), 0],
            Rendezvous::TooLong(entry, operation, count) => {
                [Rendezvous::TOO_LONG, row(entry, operation), count.into()]
            }
            Rendezvous::Timer(address) => [Rendezvous::TIMER, address, 0],
            Rendezvous::Count => [Rendezvous::COUNT, 0, 0],
            Rendezvous::Symbols { address, length } => [Rendezvous::SYMBOLS, address, length],
            Rendezvous::Over => [Rendezvous::OVER, 0, 0],
        }
    }

    /// Of these arguments; none where they make no sense.
    pub fn of([what, about, more]: [u64; 3]) -> Option<Rendezvous> {
        match what {
            Rendezvous::ROW => Some(Rendezvous::Row(u16::try_from(about >> 16).ok()?, about as u16)),
            Rendezvous::EXECVE => Some(Rendezvous::Execve(u16::try_from(about >> 16).ok()?, about as u16)),
            Rendezvous::TOO_LONG => {
                let (entry, count) = (u16::try_from(about >> 16).ok()?, u32::try_from(more).ok()?);
                Some(Rendezvous::TooLong(entry, about as u16, count))
            }
            Rendezvous::TIMER => Some(Rendezvous::Timer(about)),
            Rendezvous::COUNT => Some(Rendezvous::Count),
            Rendezvous::SYMBOLS => Some(Rendezvous::Symbols { address: about, length: more }),
            Rendezvous::OVER => Some(Rendezvous::Over),
            _ => None,
        }
    }
}

fn row(entry: u16, operation: u16) -> u64 {
    u64::from(entry) << 16 | u64::from(operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rendezvous_is_what_its_arguments_say() {
        for rendezvous in [
            Rendezvous::Row(0, 7),
            Rendezvous::Row(u16::MAX, 1),
            Rendezvous::TooLong(0, 7, 1),
            Rendezvous::TooLong(u16::MAX, 1, u32::MAX),
            Rendezvous::Timer(5),
            Rendezvous::Execve(0, 7),
            Rendezvous::Count,
            Rendezvous::Symbols { address: 1, length: 2 },
            Rendezvous::Over,
        ] {
            assert_eq!(Rendezvous::of(rendezvous.arguments()), Some(rendezvous));
        }
        assert_eq!(Rendezvous::of([8, 0, 0]), None);
        assert_eq!(Rendezvous::of([1, 1 << 32, 0]), None);
        assert_eq!(Rendezvous::of([5, 0, 1 << 32]), None);
    }
}

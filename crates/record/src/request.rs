use crate::{Footprint, abi};

/// What a probe is asked to measure. Becomes its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Id of the entry.
    pub entry: u16,
    /// Id of the operation.
    pub operation: u16,
    /// At most so many blocks of samples; at most [`abi::MAX_BLOCKS`].
    pub blocks: u64,
    /// Stop sampling after so many TSC ticks, but not before one block.
    pub ticks: u64,
    /// At most so many bursts; at most [`abi::MAX_BURSTS`].
    pub bursts: u64,
    /// The process id that getppid must answer, or [`abi::REQUEST_ASK`].
    pub parent: u64,
    /// The CPU number that getcpu must answer, or [`abi::REQUEST_ASK`].
    pub cpu: u64,
    /// Find out whether the call enters the kernel.
    pub path: bool,
    /// Samples in a block; from 1 to [`abi::BLOCK_SAMPLES`].
    pub samples: u64,
    /// What is touched behind every use; if it is not nothing, there must be no bursts.
    pub footprint: Footprint,
    /// Uses of the entry in a sample: 1, or as many as the table has for the entry. Only 1 with a footprint.
    pub uses: u64,
}

impl Request {
    /// The arguments after the program's name, in the order of `abi/request.h`.
    pub fn arguments(&self) -> Vec<String> {
        [
            abi::MODE_MEASURE,
            u64::from(self.entry),
            u64::from(self.operation),
            self.blocks,
            self.ticks,
            self.bursts,
            self.parent,
            self.cpu,
            u64::from(self.path),
            self.samples,
            self.footprint.pages,
            self.footprint.lines,
            self.uses,
        ]
        .iter()
        .map(u64::to_string)
        .collect()
    }

    /// The arguments that make a probe the server of this one, which sends it messages.
    pub fn server_arguments(&self) -> Vec<String> {
        [abi::MODE_SERVE, u64::from(self.entry), u64::from(self.operation)]
            .iter()
            .map(u64::to_string)
            .collect()
    }

    /// The same among a footprint. Calls back to back have nothing between them, so that there are none; and it is touched behind
    /// every use, so that a sample has one.
    pub fn among(self, footprint: Footprint) -> Request {
        let (bursts, uses) = if footprint == Footprint::NONE { (self.bursts, self.uses) } else { (0, 1) };
        Request { footprint, bursts, uses, ..self }
    }

    /// The arguments that make a probe describe the auxiliary vector and the vDSO instead.
    pub fn describe() -> Vec<String> {
        vec![abi::MODE_DESCRIBE.to_string()]
    }
}

/// Plain loops of calls, which a probe is asked to time. Becomes its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopRequest {
    /// Id of the entry.
    pub entry: u16,
    /// Id of the operation.
    pub operation: u16,
    /// Calls in a loop; from 1 to [`abi::MAX_CALLS`].
    pub calls: u64,
    /// Loops, each between two readings of the clock; from 1 to [`abi::MAX_REPETITIONS`].
    pub repetitions: u64,
    /// The clock, `LOOP_CLOCK_*`.
    pub clock: u64,
    /// The process id that getppid must answer.
    pub parent: u64,
    /// The CPU number that getcpu must answer.
    pub cpu: u64,
}

impl LoopRequest {
    /// The arguments after the program's name, in the order of `abi/request.h`.
    pub fn arguments(&self) -> Vec<String> {
        [
            abi::MODE_LOOP,
            u64::from(self.entry),
            u64::from(self.operation),
            self.calls,
            self.repetitions,
            self.clock,
            self.parent,
            self.cpu,
        ]
        .iter()
        .map(u64::to_string)
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_loops_stand_where_the_header_says() {
        let (entry, operation, calls, repetitions, clock, parent, cpu) = (2, 3, 4, 5, 6, 7, 8);
        let request = LoopRequest { entry, operation, calls, repetitions, clock, parent, cpu };
        let arguments = request.arguments();
        let at = |place: u64| arguments[place as usize - 1].parse::<u64>().unwrap();
        assert_eq!(arguments.len() as u64 + 1, abi::REQUEST_LOOP_ARGUMENTS);
        assert_eq!(at(abi::REQUEST_MODE), abi::MODE_LOOP);
        assert_eq!([at(abi::REQUEST_ENTRY), at(abi::REQUEST_OPERATION)], [2, 3]);
        assert_eq!([at(abi::REQUEST_CALLS), at(abi::REQUEST_REPETITIONS), at(abi::REQUEST_CLOCK)], [4, 5, 6]);
        assert_eq!([at(abi::REQUEST_PARENT), at(abi::REQUEST_CPU)], [7, 8]);
    }

    #[test]
    fn arguments_stand_where_the_header_says() {
        let request = Request {
            entry: 2,
            operation: 3,
            blocks: 4,
            ticks: 5,
            bursts: 6,
            parent: 7,
            cpu: 8,
            path: true,
            samples: 10,
            footprint: Footprint { pages: 11, lines: 12 },
            uses: 13,
        };
        let arguments = request.arguments();
        let at = |place: u64| arguments[place as usize - 1].as_str();
        assert_eq!(arguments.len() as u64 + 1, abi::REQUEST_ARGUMENTS);
        assert_eq!(at(abi::REQUEST_MODE), "1");
        assert_eq!(at(abi::REQUEST_ENTRY), "2");
        assert_eq!(at(abi::REQUEST_OPERATION), "3");
        assert_eq!(at(abi::REQUEST_BLOCKS), "4");
        assert_eq!(at(abi::REQUEST_TICKS), "5");
        assert_eq!(at(abi::REQUEST_BURSTS), "6");
        assert_eq!(at(abi::REQUEST_PARENT), "7");
        assert_eq!(at(abi::REQUEST_CPU), "8");
        assert_eq!(at(abi::REQUEST_PATH), "1");
        assert_eq!(at(abi::REQUEST_SAMPLES), "10");
        assert_eq!([at(abi::REQUEST_PAGES), at(abi::REQUEST_LINES)], ["11", "12"]);
        assert_eq!(at(abi::REQUEST_USES), "13");
    }
}

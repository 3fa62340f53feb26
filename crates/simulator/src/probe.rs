//! What a probe does, in the order in which `probe/main.c` does it.

use crate::cpu::Work;
use crate::machine::Machine;
use crate::pipeline::Pipeline;
use crate::subject::{Subject, Use};
use record::{Canary, Footprint, Lengths, Payload, Record, Request, Sample, Verdict, abi};

/// The fixed pieces of code of the probes (`probe/layout.h`).
pub const LENGTHS: Lengths = Lengths { bits: 64, imuls: 256, xors: 768, nots: 8400, burst: 16, chains: 8 };

/// Cycles that a dependent `imul` takes, in each of which a dependent `xor` is done too.
const IMUL_CYCLES: f64 = 3.0;

/// Tests of the order in a run.
const ORDERS: usize = 32;

/// Cycles from the last stamp of a sample to the first of the next: storing the stamps, moving on.
const BETWEEN_SAMPLES: f64 = 30.0;

/// Cycles of the system calls of the probe itself that stand before a canary.
const SYSTEM_CALLS: f64 = 600.0;

/// Cycles of a load of a footprint that is in the first cache.
const LOAD: f64 = 4.0;

/// Instructions of a stamp, and of a control.
const FEW: f64 = 5.0;

impl Machine {
    /// Runs a probe in a process of its own, pinned to a CPU, and returns what it says.
    ///
    /// # Panics
    /// When the machine has no such CPU.
    pub fn run(&mut self, cpu: u64, subject: &Subject, request: &Request) -> Vec<Record> {
        self.start(cpu);
        Probe::new(self, subject, request).run()
    }
}

/// One process.
pub(crate) struct Probe<'a> {
    machine: &'a mut Machine,
    subject: &'a Subject,
    request: &'a Request,
    pipeline: Pipeline,
    layout: f64,
    uses: u64,
    /// Cycles by which entries were faster than their controls; the stamp that follows has them to spare.
    saved: f64,
}

impl<'a> Probe<'a> {
    pub fn new(machine: &'a mut Machine, subject: &'a Subject, request: &'a Request) -> Probe<'a> {
        let layout = machine.random().uniform();
        let pipeline = Pipeline::new(machine.model().counter.ordered);
        Probe { machine, subject, request, pipeline, layout, uses: abi::CHECKS, saved: 0.0 }
    }

    pub fn run(mut self) -> Vec<Record> {
        let outcome = Verdict { outcome: abi::OUTCOME_OK, cause: abi::CAUSE_NONE, detail: [0; 4] };
        let order = (0..ORDERS).map(|_| self.order()).collect();
        let mut payloads = vec![Payload::Begin(LENGTHS)];
        if self.request.uses > 1 {
            payloads.push(Payload::Fact { fact: abi::FACT_USES, value: self.request.uses });
        }
        payloads.extend([Payload::Outcome(outcome), Payload::Order(order)]);
        let before = self.machine.preemptions();
        self.blocks(&mut payloads);
        let bursts = self.bursts();
        payloads.push(Payload::Bursts(bursts));
        payloads.push(Payload::Canary(self.canary()));
        payloads.push(Payload::End { preemptions: self.machine.preemptions() - before, minor_faults: 0 });
        let Request { entry, operation, .. } = *self.request;
        payloads.into_iter().map(|payload| Record { entry, operation, payload }).collect()
    }

    /// At least one block, then as many as the ticks allow.
    fn blocks(&mut self, payloads: &mut Vec<Payload>) {
        self.warm(self.request.samples);
        let start = self.ticks();
        let mut taken = 0;
        while taken == 0 || taken < self.request.blocks && self.ticks() - start < self.request.ticks {
            payloads.push(Payload::Canary(self.canary()));
            self.warm(abi::WARM_SAMPLES);
            payloads.push(Payload::Samples((0..self.request.samples).map(|_| self.sample()).collect()));
            taken += 1;
        }
        payloads.push(Payload::Canary(self.canary()));
    }

    /// At least one burst, then as many as a quarter of the ticks allows.
    fn bursts(&mut self) -> Vec<Sample> {
        let start = self.ticks();
        let mut bursts = Vec::new();
        while (bursts.len() as u64) < self.request.bursts
            && (bursts.is_empty() || self.ticks() - start < self.request.ticks / 4)
        {
            bursts.push(self.burst());
        }
        bursts
    }

    fn warm(&mut self, samples: u64) {
        for _ in 0..samples {
            self.sample();
        }
    }

    fn sample(&mut self) -> Sample {
        let Footprint { pages, lines } = self.request.footprint;
        let loads = (pages + lines) as f64;
        let control = self.machine.model().control + loads * LOAD;
        let first = self.stamp();
        self.chain(1);
        let second = self.stamp();
        for number in 0..self.request.uses {
            self.apart(number);
            self.dependent(FEW, control);
        }
        let third = self.stamp();
        for number in 0..self.request.uses {
            self.apart(number);
            let cycles = self.subject.draw(&self.next_use(), self.machine.random());
            self.entry(control, cycles + loads * self.subject.evicts);
        }
        let fourth = self.stamp();
        self.dependent(FEW, BETWEEN_SAMPLES);
        Sample { stamps: [first, second, third, fourth] }
    }

    /// Before each use of a sample but the first, a stamp that nobody reads.
    fn apart(&mut self, number: u64) {
        if number > 0 {
            self.stamp();
        }
    }

    fn burst(&mut self) -> Sample {
        let control = self.machine.model().control;
        let calls = LENGTHS.burst as f64;
        let first = self.stamp();
        self.dependent(FEW * calls, control * calls);
        let second = self.stamp();
        let third = self.stamp();
        for _ in 0..LENGTHS.burst {
            let cycles = self.subject.draw_in_burst(&self.next_use(), self.machine.random());
            self.entry(control, cycles);
        }
        let fourth = self.stamp();
        self.dependent(FEW, BETWEEN_SAMPLES);
        Sample { stamps: [first, second, third, fourth] }
    }

    fn order(&mut self) -> Sample {
        self.system_calls();
        let first = self.stamp();
        let second = self.stamp();
        self.chain(1);
        let third = self.stamp();
        self.chain(LENGTHS.chains);
        Sample { stamps: [first, second, third, self.stamp()] }
    }

    fn canary(&mut self) -> Canary {
        self.system_calls();
        let (cpu, preemptions) = (self.machine.cpu(), self.machine.preemptions());
        self.calibrate(); // for the caches, as the probe does
        Canary { stamps: self.calibrate(), cpu, preemptions }
    }

    fn calibrate(&mut self) -> [u64; 5] {
        let first = self.stamp();
        let second = self.stamp();
        self.chain(1);
        let third = self.stamp();
        self.dependent(LENGTHS.xors as f64, LENGTHS.xors as f64);
        let fourth = self.stamp();
        self.nots();
        [first, second, third, fourth, self.stamp()]
    }

    fn nots(&mut self) {
        let (nots, model) = (LENGTHS.nots as f64, self.machine.model());
        let (rate, deviation) = (model.nots_per_cycle, model.nots_jitter);
        let (share, longer) = model.decoded;
        let random = self.machine.random();
        let decoded = if share > 0.0 && random.uniform() < share { longer } else { 1.0 };
        let jitter = decoded * (1.0 + deviation * random.normal());
        self.execute(nots, nots / rate * jitter, Work::Independent);
    }

    /// So many clock chains in a row.
    fn chain(&mut self, count: u64) {
        let imuls = (count * LENGTHS.imuls) as f64;
        self.dependent(imuls, imuls * IMUL_CYCLES);
    }

    /// A control, and in it an entry that takes so many cycles more, or fewer.
    fn entry(&mut self, control: f64, cycles: f64) {
        self.saved -= cycles.min(0.0);
        self.dependent(FEW, control);
        self.execute(cycles.max(0.0), cycles.max(0.0), Work::Entry);
        self.pipeline.drain();
    }

    fn system_calls(&mut self) {
        self.dependent(SYSTEM_CALLS, SYSTEM_CALLS);
        self.pipeline.drain();
    }

    fn next_use(&mut self) -> Use {
        let before = self.uses;
        self.uses += 1;
        Use { cpu: self.machine.cpu(), now: self.machine.time(), before, layout: self.layout }
    }

    fn dependent(&mut self, instructions: f64, cycles: f64) {
        self.execute(instructions, cycles, Work::Dependent);
    }

    fn execute(&mut self, instructions: f64, cycles: f64, work: Work) {
        let start = self.machine.time();
        self.machine.execute(cycles, work);
        self.pipeline.enter(instructions, start, self.machine.time());
    }

    /// What lies between two stamps with nothing between them stands before the reading of the second.
    fn stamp(&mut self) -> u64 {
        let model = self.machine.model();
        let (overhead, deviation) = (model.overhead, model.overhead_jitter);
        let cycles = overhead + deviation * self.machine.random().normal();
        self.dependent(FEW, cycles - self.saved);
        self.saved = 0.0;
        let read_at = self.pipeline.read_at(self.machine.time());
        self.machine.reading(read_at)
    }

    fn ticks(&self) -> u64 {
        self.machine.reading(self.machine.time())
    }
}

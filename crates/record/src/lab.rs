//! What the lab kernel says of itself and of the programs that it runs (`abi/lab.h`).

use crate::abi;
use crate::damage::{BAD_LENGTH, Wrong};
use crate::words::words;

/// What the kernel found when it booted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Boot {
    /// Version of the protocol between command and kernel.
    pub version: u64,
    /// Ticks for a loop of `RING_TURNS` turns in ring 0.
    pub ring0_ticks: u64,
    /// Ticks for the same loop in ring 3.
    pub ring3_ticks: u64,
    /// Whether a `syscall` from ring 3 works.
    pub syscall_works: bool,
    /// Frequency of the time stamp counter, hertz; 0 when it is not known.
    pub tsc_hz: u64,
    /// A bit for each `FEATURE_*` that this CPU has and the kernel uses.
    pub features: u64,
    /// `GATEWAY_*`: what `__kernel_vsyscall` uses.
    pub gateway: u64,
    /// `LOADER_*`
    pub loader: u64,
    /// Memory for programs, in bytes.
    pub memory: u64,
    /// `VENDOR_*` of the processor.
    pub vendor: u64,
    /// `TSC_FROM_*`: where `tsc_hz` is from.
    pub tsc_source: u64,
    /// A frequency that contradicts `tsc_hz`; 0 when there is none.
    pub tsc_other_hz: u64,
    /// `TSC_FROM_*`: where that is from.
    pub tsc_other: u64,
    /// Whether the guest's CPUID promises that the frequency is constant.
    pub tsc_invariant: bool,
    /// Ticks for `RING_TIMES` writes of CR3.
    pub cr3_ticks: u64,
    /// The same for `cpuid` in ring 0.
    pub cpuid_ticks: u64,
    /// The same for `int` from ring 3 and `iretq`; 0 when they do not work.
    pub interrupt_ticks: u64,
    /// The same for `ud2` from ring 3 and `iretq`; 0 when they do not work.
    pub invalid_ticks: u64,
    /// A bit for each `SIGN_*`.
    pub signs: u64,
    /// The hypervisor's signature as CPUID answers it, with zeroes at its end; all zeroes where there is none.
    pub signature: [u8; 12],
    /// The microcode's revision; 0 when it is not known.
    pub microcode: u64,
    /// Ticks for `RING_TIMES` writes of CR4 that change PGE; 0, as what follows, where the processor lacks that, or ring 0 is emulated.
    pub cr4_ticks: u64,
    /// The same for writes of SPEC_CTRL that change IBRS.
    pub spec_ctrl_ticks: u64,
    /// The same for IBPBs.
    pub pred_cmd_ticks: u64,
    /// The same for flushes of the first data cache.
    pub flush_cmd_ticks: u64,
    /// The same for `invpcid` of one page.
    pub invpcid_ticks: u64,
    /// The same for `invlpg`.
    pub invlpg_ticks: u64,
    /// Processors that ACPI lists, of which the kernel uses one; 0 when it is not known.
    pub processors: u64,
}

/// What the processor counted while a program ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    /// A bit for each `COUNTER_*` that it has.
    pub present: u64,
    /// By `COUNTER_*`; 0 for those that it does not have.
    pub values: [u64; abi::COUNTER_COUNT as usize],
}

impl Counters {
    /// The count of a `COUNTER_*`, if the processor has that.
    pub fn get(&self, counter: u64) -> Option<u64> {
        let value = self.values.get(usize::try_from(counter).ok()?).copied()?;
        (self.present >> counter & 1 == 1).then_some(value)
    }
}

/// A step of an entry path, as the kernel has built it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its place among all steps of the path, whether they are there or not.
    pub place: u64,
    /// Where its code runs.
    pub address: u64,
    /// Its code.
    pub code: Vec<u8>,
    /// What it does.
    pub name: String,
}

/// The content of one record of the lab kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabPayload {
    /// The first record of a boot.
    Boot(Boot),
    /// A program or check of the plan begins; its number.
    Begin(u64),
    /// What the program wrote.
    Output {
        /// The file descriptor that it wrote to.
        descriptor: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// What the processor counted while the program ran.
    Counters {
        /// The program's number.
        number: u64,
        /// The counts.
        counters: Counters,
    },
    /// The program or check has ended.
    End {
        /// Its number.
        number: u64,
        /// `LAB_END_*`
        how: u64,
        /// Details, as `LAB_END_*` defines them.
        detail: [u64; 4],
    },
    /// What programs run with from here on: the value of every switch, by its id.
    Configured(Vec<u64>),
    /// A step of a path as it was built.
    Step(Step),
    /// A log line, for people.
    Log(String),
    /// The plan is done.
    Done,
    /// An interrupt that nobody asked for.
    Stray {
        /// Its vector; 2 for an NMI.
        vector: u64,
        /// How often it came since the last such record.
        count: u64,
    },
}

/// `None` for a record that is not the lab's.
pub(crate) fn parse(kind: u64, bytes: &[u8]) -> Result<Option<LabPayload>, Wrong> {
    let payload = match kind {
        abi::RECORD_LAB_BOOT => LabPayload::Boot(boot(bytes)?),
        abi::RECORD_LAB_BEGIN => LabPayload::Begin(words::<1>(bytes)?[0]),
        abi::RECORD_LAB_OUTPUT => {
            let (descriptor, rest) = bytes.split_first_chunk::<8>().ok_or(BAD_LENGTH)?;
            LabPayload::Output { descriptor: u64::from_le_bytes(*descriptor), bytes: rest.to_vec() }
        }
        abi::RECORD_LAB_END => {
            let [number, how, detail @ ..] = words::<6>(bytes)?;
            LabPayload::End { number, how, detail }
        }
        abi::RECORD_LAB_COUNTERS => {
            const WORDS: usize = abi::LAB_COUNTERS_WORDS as usize;
            let [number, present, values @ ..] = words::<WORDS>(bytes)?;
            LabPayload::Counters { number, counters: Counters { present, values } }
        }
        abi::RECORD_LAB_CONFIGURED => LabPayload::Configured(configured(bytes)?),
        abi::RECORD_LAB_STEP => LabPayload::Step(step(bytes)?),
        abi::RECORD_LAB_LOG => LabPayload::Log(String::from_utf8_lossy(bytes).into_owned()),
        abi::RECORD_LAB_DONE => {
            words::<0>(bytes)?;
            LabPayload::Done
        }
        abi::RECORD_LAB_STRAY => {
            let [vector, count] = words(bytes)?;
            LabPayload::Stray { vector, count }
        }
        _ => return Ok(None),
    };
    Ok(Some(payload))
}

fn configured(bytes: &[u8]) -> Result<Vec<u64>, Wrong> {
    let (values, rest) = bytes.as_chunks::<8>();
    let is_sound = rest.is_empty() && values.len() as u64 <= abi::MOST_SWITCHES + 1;
    let values = || values.iter().map(|value| u64::from_le_bytes(*value)).collect();
    is_sound.then(values).ok_or(BAD_LENGTH)
}

fn step(bytes: &[u8]) -> Result<Step, Wrong> {
    let (head, rest) = bytes.split_at_checked(24).ok_or(BAD_LENGTH)?;
    let [place, address, count] = words::<3>(head)?;
    let count = usize::try_from(count).map_err(|_| BAD_LENGTH)?;
    let (code, name) = rest.split_at_checked(count).ok_or(BAD_LENGTH)?;
    Ok(Step { place, address, code: code.to_vec(), name: String::from_utf8_lossy(name).into_owned() })
}

fn boot(bytes: &[u8]) -> Result<Boot, Wrong> {
    let words = words::<{ abi::LAB_BOOT_WORDS as usize }>(bytes)?;
    let word = |index: u64| words[index as usize];
    let mut signature = [0; 12];
    let (first, last) = (word(abi::LAB_BOOT_SIGNATURE), word(abi::LAB_BOOT_SIGNATURE_END));
    let named = first.to_le_bytes().into_iter().chain(last.to_le_bytes());
    signature.iter_mut().zip(named).for_each(|(slot, byte)| *slot = byte);
    Ok(Boot {
        version: word(abi::LAB_BOOT_KERNEL_VERSION),
        ring0_ticks: word(abi::LAB_BOOT_RING0_TICKS),
        ring3_ticks: word(abi::LAB_BOOT_RING3_TICKS),
        syscall_works: word(abi::LAB_BOOT_SYSCALL_WORKS) == 1,
        tsc_hz: word(abi::LAB_BOOT_TSC_HZ),
        features: word(abi::LAB_BOOT_FEATURES),
        gateway: word(abi::LAB_BOOT_GATEWAY),
        loader: word(abi::LAB_BOOT_LOADER),
        memory: word(abi::LAB_BOOT_MEMORY),
        vendor: word(abi::LAB_BOOT_VENDOR),
        tsc_source: word(abi::LAB_BOOT_TSC_SOURCE),
        tsc_other_hz: word(abi::LAB_BOOT_TSC_OTHER_HZ),
        tsc_other: word(abi::LAB_BOOT_TSC_OTHER),
        tsc_invariant: word(abi::LAB_BOOT_TSC_INVARIANT) == 1,
        cr3_ticks: word(abi::LAB_BOOT_CR3_TICKS),
        cpuid_ticks: word(abi::LAB_BOOT_CPUID_TICKS),
        interrupt_ticks: word(abi::LAB_BOOT_INTERRUPT_TICKS),
        invalid_ticks: word(abi::LAB_BOOT_INVALID_TICKS),
        signs: word(abi::LAB_BOOT_SIGNS),
        signature,
        microcode: word(abi::LAB_BOOT_MICROCODE),
        cr4_ticks: word(abi::LAB_BOOT_CR4_TICKS),
        spec_ctrl_ticks: word(abi::LAB_BOOT_SPEC_CTRL_TICKS),
        pred_cmd_ticks: word(abi::LAB_BOOT_PRED_CMD_TICKS),
        flush_cmd_ticks: word(abi::LAB_BOOT_FLUSH_CMD_TICKS),
        invpcid_ticks: word(abi::LAB_BOOT_INVPCID_TICKS),
        invlpg_ticks: word(abi::LAB_BOOT_INVLPG_TICKS),
        processors: word(abi::LAB_BOOT_PROCESSORS),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::tests::{record, u64s};
    use crate::{Damage, Payload};

    fn parsed(kind: u64, bytes: &[u8]) -> Result<Payload, Damage> {
        let records = crate::parse(&record(0, kind, bytes)).map_err(|error| error.damage)?;
        Ok(records.into_iter().next().unwrap().payload)
    }

    #[test]
    fn words_stand_where_the_header_says() {
        let words = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let (kvm, end) = (words(b"KVMKVMKV"), words(b"M\0\0\0\0\0\0\0"));
        let said = [
            1,
            2,
            3,
            1,
            5,
            6,
            7,
            8,
            9,
            10,
            11,
            12,
            13,
            1,
            14,
            15,
            16,
            17,
            5,
            kvm,
            end,
            0x2b00_0643,
            22,
            23,
            24,
            25,
            26,
            27,
            28,
        ];
        let Payload::Lab(LabPayload::Boot(boot)) = parsed(abi::RECORD_LAB_BOOT, &u64s(&said)).unwrap() else {
            panic!()
        };
        assert_eq!((boot.version, boot.ring0_ticks, boot.ring3_ticks, boot.syscall_works), (1, 2, 3, true));
        assert_eq!((boot.memory, boot.vendor), (9, 10));
        assert_eq!((boot.tsc_hz, boot.tsc_source, boot.tsc_other_hz, boot.tsc_other), (5, 11, 12, 13));
        assert!(boot.tsc_invariant);
        let ticks = (boot.cr3_ticks, boot.cpuid_ticks, boot.interrupt_ticks, boot.invalid_ticks);
        assert_eq!((ticks, boot.signs, boot.microcode), ((14, 15, 16, 17), 5, 0x2b00_0643));
        assert_eq!(&boot.signature, b"KVMKVMKVM\0\0\0");
        assert_eq!((boot.cr4_ticks, boot.spec_ctrl_ticks, boot.pred_cmd_ticks), (22, 23, 24));
        assert_eq!((boot.flush_cmd_ticks, boot.invpcid_ticks, boot.invlpg_ticks), (25, 26, 27));
        assert_eq!(boot.processors, 28);
        let counts = [4, 0b10_0011, 1000, 1, 0, 0, 0, 1500, 0, 0];
        let counters = parsed(abi::RECORD_LAB_COUNTERS, &u64s(&counts));
        let Ok(Payload::Lab(LabPayload::Counters { number: 4, counters })) = counters else { panic!() };
        let known = [abi::COUNTER_TSC, abi::COUNTER_SMI, abi::COUNTER_CYCLES].map(|at| counters.get(at));
        assert_eq!(known, [Some(1000), Some(1), Some(1500)]);
        assert_eq!([abi::COUNTER_APERF, 8, 70, u64::MAX].map(|at| counters.get(at)), [None; 4]);
        let output = parsed(abi::RECORD_LAB_OUTPUT, &[&u64s(&[2])[..], b"hello"].concat());
        let expected = LabPayload::Output { descriptor: 2, bytes: b"hello".to_vec() };
        assert_eq!(output, Ok(Payload::Lab(expected)));
        let end = parsed(abi::RECORD_LAB_END, &u64s(&[7, abi::LAB_END_EXITED, 3, 0, 0, 0]));
        let expected = LabPayload::End { number: 7, how: abi::LAB_END_EXITED, detail: [3, 0, 0, 0] };
        assert_eq!(end, Ok(Payload::Lab(expected)));
        assert_eq!(parsed(abi::RECORD_LAB_DONE, &[]), Ok(Payload::Lab(LabPayload::Done)));
        let stray = parsed(abi::RECORD_LAB_STRAY, &u64s(&[0x37, 2]));
        assert_eq!(stray, Ok(Payload::Lab(LabPayload::Stray { vector: 0x37, count: 2 })));
        let configured = parsed(abi::RECORD_LAB_CONFIGURED, &u64s(&[0, 1, 1000]));
        assert_eq!(configured, Ok(Payload::Lab(LabPayload::Configured(vec![0, 1, 1000]))));
    }

    #[test]
    fn a_step_has_code_and_a_name() {
        let bytes = |count: u64| [&u64s(&[3, 0x1000, count])[..], b"\x90\xc3return"].concat();
        let step = Step { place: 3, address: 0x1000, code: vec![0x90, 0xc3], name: "return".into() };
        assert_eq!(parsed(abi::RECORD_LAB_STEP, &bytes(2)), Ok(Payload::Lab(LabPayload::Step(step))));
        for count in [9, u64::MAX] {
            assert_eq!(parsed(abi::RECORD_LAB_STEP, &bytes(count)), Err(Damage::Length), "{count}");
        }
        assert_eq!(parsed(abi::RECORD_LAB_STEP, &[0; 23]), Err(Damage::Length));
    }

    #[test]
    fn a_payload_of_another_length_is_refused() {
        for (kind, length) in [
            (abi::RECORD_LAB_BOOT, 104),
            (abi::RECORD_LAB_BEGIN, 0),
            (abi::RECORD_LAB_OUTPUT, 7),
            (abi::RECORD_LAB_END, 40),
            (abi::RECORD_LAB_DONE, 8),
            (abi::RECORD_LAB_STRAY, 8),
            (abi::RECORD_LAB_COUNTERS, 72),
            (abi::RECORD_LAB_CONFIGURED, 12),
            (abi::RECORD_LAB_CONFIGURED, 8 * (abi::MOST_SWITCHES as usize + 2)),
        ] {
            assert_eq!(parsed(kind, &vec![0; length]), Err(Damage::Length), "kind {kind}");
        }
        // STEP has the highest number.
        assert_eq!(parsed(abi::RECORD_LAB_STEP + 1, &[]), Err(Damage::Kind(81)));
    }
}

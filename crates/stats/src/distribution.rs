//! The distribution of single samples, small enough to be kept with a run.

use crate::{Mode, SAMPLES_FOR_P99, SAMPLES_FOR_P999};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

/// Values are kept as whole sixteenths of a unit.
const PARTS: f64 = 16.0;

/// Significant decimal digits of a value, beyond the sixteenths: 0.1 %.
const DIGITS: u8 = 3;

/// The greatest magnitude that is kept, in sixteenths; greater ones count as this one.
const GREATEST: u64 = 1 << 50;

/// A mode has at least this share of the samples.
const LEAST_SHARE: f64 = 0.05;

/// Single samples in one unit. Values of either sign, to a sixteenth of a unit or 0.1 %, whichever is coarser.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// Magnitudes of the negative ones.
    below: Histogram<u32>,
    /// The others.
    above: Histogram<u32>,
}

/// A [`Distribution`] as it stands in documents: both halves in HdrHistogram's V2 encoding, zlib, base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredDistribution {
    /// Magnitudes of the negative samples, in sixteenths of a unit; null when there are none.
    below: Option<String>,
    /// The other samples, in sixteenths of a unit.
    above: String,
}

/// A text that cannot be read as a distribution.
#[derive(Debug, thiserror::Error)]
#[error("a distribution of samples cannot be read: {0}")]
pub struct NotADistribution(&'static str);

impl Default for Distribution {
    fn default() -> Self {
        Distribution { below: empty(), above: empty() }
    }
}

/// An empty histogram, which grows with the values that are recorded.
fn empty() -> Histogram<u32> {
    Histogram::new(DIGITS).unwrap_or_else(|_| unreachable!("{DIGITS} digits are within what the crate takes"))
}

impl Distribution {
    /// Adds a sample.
    pub fn record(&mut self, value: f64) {
        let parts = (value.abs() * PARTS).round().min(GREATEST as f64) as u64;
        let half = if value < 0.0 && parts > 0 { &mut self.below } else { &mut self.above };
        // It grows as needed, up to GREATEST, and so never fails.
        let _ = half.record(parts);
    }

    /// Adds the samples of another one.
    pub fn add(&mut self, other: &Distribution) {
        // Both grow as needed, up to GREATEST, and so it never fails.
        let _ = self.below.add(&other.below);
        let _ = self.above.add(&other.above);
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.below.len() + self.above.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value that a share `q` of all does not exceed; `None` if there are none.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let rank = ((q * self.len() as f64).ceil() as u64).max(1);
        let mut before = 0;
        let found = self.values().into_iter().find(|(_, count)| {
            before += count;
            before >= rank
        });
        found.map(|(value, _)| value)
    }

    /// The 99th percentile, if there are enough samples.
    pub fn p99(&self) -> Option<f64> {
        self.quantile(0.99).filter(|_| self.len() >= SAMPLES_FOR_P99)
    }

    /// The 99.9th percentile, if there are enough samples.
    pub fn p999(&self) -> Option<f64> {
        self.quantile(0.999).filter(|_| self.len() >= SAMPLES_FOR_P999)
    }

    /// Every value that was seen, ascending, and how often.
    pub fn values(&self) -> Vec<(f64, u64)> {
        let of = |half: &Histogram<u32>| -> Vec<(f64, u64)> {
            let middle = |value| half.median_equivalent(value) as f64 / PARTS;
            let seen = half.iter_recorded();
            seen.map(|step| (middle(step.value_iterated_to()), step.count_since_last_iteration())).collect()
        };
        let negative = of(&self.below).into_iter().rev().map(|(value, count)| (-value, count));
        negative.chain(of(&self.above)).collect()
    }

    /// The values around which the samples gather, if there are several, with at least 5 % of the samples each. `noise` is
    /// how far apart samples of one cost lie, in units: at least the counter's step.
    pub fn modes(&self, noise: f64) -> Vec<Mode> {
        let total = self.len() as f64;
        let modes: Vec<Mode> = crate::modes::split(&self.values(), noise)
            .into_iter()
            .map(|(count, cost)| Mode { share: count as f64 / total, cost })
            .filter(|mode| mode.share >= LEAST_SHARE)
            .collect();
        if modes.len() > 1 { modes } else { Vec::new() }
    }

    /// For a document.
    pub fn store(&self) -> StoredDistribution {
        let below = (!self.below.is_empty()).then(|| encode(&self.below));
        StoredDistribution { below, above: encode(&self.above) }
    }
}

impl StoredDistribution {
    /// The distribution.
    ///
    /// # Errors
    /// [`NotADistribution`] when the text was not written by [`Distribution::store`].
    pub fn open(&self) -> Result<Distribution, NotADistribution> {
        let below = self.below.as_deref().map(decode).transpose()?.unwrap_or_else(empty);
        Ok(Distribution { below, above: decode(&self.above)? })
    }
}

fn encode(half: &Histogram<u32>) -> String {
    let mut bytes = Vec::new();
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let _ = V2Serializer::new().serialize(half, &mut bytes);
    let _ = packed.write_all(&bytes);
    BASE64_STANDARD.encode(packed.finish().unwrap_or_default())
}

/// The greatest size of an unpacked histogram: every count of its range in the longest form, in bytes.
const LONGEST: u64 = 1 << 20;

/// The head of the V2 encoding, in bytes: cookie, length of the counts, offset, digits, lowest, highest, ratio.
const HEAD: usize = 40;

fn decode(text: &str) -> Result<Histogram<u32>, NotADistribution> {
    let packed = BASE64_STANDARD.decode(text).map_err(|_| NotADistribution("it is not base64"))?;
    let mut bytes = Vec::new();
    let unpacked = ZlibDecoder::new(packed.as_slice()).take(LONGEST + 1).read_to_end(&mut bytes);
    unpacked.map_err(|_| NotADistribution("it does not unpack"))?;
    // The head decides how much memory the crate allocates, so it must be one that we write.
    let head: &[u8; HEAD] = bytes.first_chunk().ok_or(NotADistribution("it is too short"))?;
    let word = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let highest = u64::from(word(24)) << 32 | u64::from(word(28));
    if word(4) as usize != bytes.len() - HEAD || word(12) != u32::from(DIGITS) || highest > 2 * GREATEST {
        return Err(NotADistribution("its head does not fit"));
    }
    let read = Deserializer::new().deserialize(&mut bytes.as_slice());
    read.map_err(|_| NotADistribution("it is not an HdrHistogram"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = f64>) -> Distribution {
        let mut distribution = Distribution::default();
        values.into_iter().for_each(|value| distribution.record(value));
        distribution
    }

    #[test]
    fn percentiles_are_values_that_were_seen_and_of_either_sign() {
        let distribution = of((-500..500).map(f64::from));
        for (q, value) in [(0.001, -500.0), (0.25, -251.0), (0.5, -1.0), (0.75, 249.0), (1.0, 499.0)] {
            let found = distribution.quantile(q).unwrap();
            assert!((found - value).abs() <= value.abs() * 0.002 + 0.1, "{q}: {found}, not {value}");
        }
        assert_eq!(Distribution::default().quantile(0.5), None);
        assert_eq!(of([-0.01]).quantile(0.5), Some(0.0));
    }

    #[test]
    fn a_percentile_needs_samples_enough() {
        let of_length = |length: u64| of((0..length).map(|i| i as f64));
        assert_eq!((of_length(999).p99(), of_length(9_999).p999()), (None, None));
        assert!(of_length(1_000).p99().is_some() && of_length(10_000).p999().is_some());
    }

    #[test]
    fn it_comes_back_from_a_document() {
        let before = of((0..5000).map(|i| f64::from(i * i) / 7.0 - 900.0));
        let text = serde_json::to_string(&before.store()).unwrap();
        let stored: StoredDistribution = serde_json::from_str(&text).unwrap();
        assert_eq!(stored.open().unwrap().values(), before.values());
        assert!(text.len() < 8_000, "{} bytes", text.len());
    }

    #[test]
    fn what_is_not_one_is_refused_and_takes_no_memory() {
        let good = of([1.0, 2.0]).store();
        for text in ["", "!", "AAAA", "eJwDAAAAAAE=", &good.above[..10]] {
            let stored = StoredDistribution { below: None, above: text.into() };
            assert!(stored.open().is_err(), "{text:?}");
        }
        // A head that asks for more than there is, packed well.
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&[0xff; 64]).unwrap();
        let text = BASE64_STANDARD.encode(packed.finish().unwrap());
        assert!(StoredDistribution { below: Some(text), above: good.above }.open().is_err());
    }
}

use serde::{Deserialize, Serialize};

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl From<f64> for $name {
            fn from(value: f64) -> Self {
                Self(value)
            }
        }

        impl From<$name> for f64 {
            fn from(value: $name) -> f64 {
                value.0
            }
        }
    };
}

unit!(
    /// Core clock cycles, by the imul chain.
    Cycles
);
unit!(
    /// Ticks of the time stamp counter.
    Ticks
);
unit!(
    /// Nanoseconds, by CLOCK_MONOTONIC_RAW.
    Nanos
);
unit!(
    /// Instructions executed, in an emulated guest.
    Instructions
);

/// What one use of an entry costs, in one unit. All are differences from the control, so they may be negative.
///
/// The interval covers a typical round of this hour on this CPU: the levels on which an entry's cost sits for seconds are in
/// it ([`crate::Levels`]), differences between CPUs, boots and hours are not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cost<U> {
    /// Median over rounds of a round's mean; of instructions, which are counted, the most frequent value.
    pub estimate: U,
    /// Lower end of the 95 % confidence interval of the estimate; null where instructions are counted.
    pub ci_low: Option<U>,
    /// Upper end of it.
    pub ci_high: Option<U>,
    /// Least single sample, less the least control.
    pub min: U,
    /// Median of the single samples.
    pub p50: U,
    /// 99th percentile of the single samples; null with fewer than [`crate::SAMPLES_FOR_P99`].
    pub p99: Option<U>,
    /// 99.9th percentile of the single samples; null with fewer than [`crate::SAMPLES_FOR_P999`].
    pub p999: Option<U>,
    /// Greatest single sample.
    pub max: U,
}

impl<U: Copy> Cost<U> {
    /// What is known of one figure alone: no interval, and no other samples.
    pub fn single(figure: U) -> Cost<U> {
        Cost {
            estimate: figure,
            ci_low: None,
            ci_high: None,
            min: figure,
            p50: figure,
            p99: None,
            p999: None,
            max: figure,
        }
    }

    /// The same with this interval.
    pub fn within(self, low: U, high: U) -> Cost<U> {
        Cost { ci_low: Some(low), ci_high: Some(high), ..self }
    }
}

impl<U: Copy + Into<f64>> Cost<U> {
    /// The same figures as plain numbers, for a reader who is told the unit elsewhere.
    pub fn unitless(&self) -> Cost<f64> {
        Cost {
            estimate: self.estimate.into(),
            ci_low: self.ci_low.map(Into::into),
            ci_high: self.ci_high.map(Into::into),
            min: self.min.into(),
            p50: self.p50.into(),
            p99: self.p99.map(Into::into),
            p999: self.p999.map(Into::into),
            max: self.max.into(),
        }
    }
}

/// One of several values around which single samples gather.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// Share of the samples, from 0 to 1.
    pub share: f64,
    /// Their mean, in the unit of the row's distribution.
    pub cost: f64,
}

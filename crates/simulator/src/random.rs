use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// A stream of random numbers. What must not depend on one another draws from streams of its own.
#[derive(Debug, Clone)]
pub(crate) struct Random(SmallRng);

/// 1 over the standard deviation of the number of ones among 64 random bits plus a uniform number, which fills the gaps
/// between counts: their variances are 64/4 and 1/12.
const SCALE_OF_A_COUNT: f64 = 0.249_351_490_477;

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(SmallRng::seed_from_u64(seed))
    }

    /// Another stream, which shares nothing with this one.
    pub fn split(&mut self) -> Random {
        Random::new(self.seed())
    }

    /// From which another stream can be made.
    pub fn seed(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// From 0 to below 1.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From `range.0` to below `range.1`.
    pub fn within(&mut self, range: (f64, f64)) -> f64 {
        range.0 + self.uniform() * (range.1 - range.0)
    }

    /// From 0 to below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.uniform() * bound as f64) as usize
    }

    /// Of mean 0 and standard deviation 1. The number of ones among 64 random bits is normal enough (its kurtosis is
    /// 2.97), and several times faster than a logarithm and a cosine.
    pub fn normal(&mut self) -> f64 {
        let ones = f64::from(self.0.next_u64().count_ones());
        (ones - 32.0 + self.uniform() - 0.5) * SCALE_OF_A_COUNT
    }

    /// Of mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of many draws.
    fn moments(mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let values: Vec<f64> = (0..200_000).map(|_| draw()).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64)
    }

    fn assert_near(value: (f64, f64), expected: (f64, f64)) {
        let near = (value.0 - expected.0).abs() < 0.02 && (value.1 - expected.1).abs() < 0.03;
        assert!(near, "mean and variance are {value:?}, not {expected:?}");
    }

    #[test]
    fn distributions_have_their_mean_and_variance() {
        let mut random = Random::new(1);
        assert_near(moments(|| random.uniform()), (0.5, 1.0 / 12.0));
        assert_near(moments(|| random.normal()), (0.0, 1.0));
        assert_near(moments(|| random.exponential()), (1.0, 1.0));
        assert_near(moments(|| random.within((2.0, 4.0))), (3.0, 1.0 / 3.0));
    }

    #[test]
    fn a_twentieth_of_normal_numbers_is_beyond_two_deviations() {
        let mut random = Random::new(2);
        let beyond = (0..200_000).filter(|_| random.normal().abs() > 1.96).count() as f64 / 200_000.0;
        assert!((beyond - 0.05).abs() < 0.003, "{beyond}");
    }

    #[test]
    fn streams_that_were_split_differ() {
        let mut first = Random::new(3);
        let mut second = first.split();
        assert_ne!(first.uniform(), second.uniform());
    }
}

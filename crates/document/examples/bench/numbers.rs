//! Medians, spreads, and how numbers are written.

pub fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

pub fn median(values: &[f64]) -> Option<f64> {
    stats::quantile_of(values.iter().copied(), 0.5)
}

pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation of a sample; none of a single value.
pub fn deviation(values: &[f64]) -> Option<f64> {
    let (middle, freedom) = (mean(values)?, values.len().checked_sub(1).filter(|freedom| *freedom > 0)?);
    Some((values.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / freedom as f64).sqrt())
}

/// (max − min) / median of sorted values, in percent; none of a single value.
pub fn spread(values: &[f64]) -> Option<f64> {
    let (first, last) = (values.first()?, values.last()?);
    Some(100.0 * (last - first) / median(values)?).filter(|_| values.len() > 1)
}

/// What differs most from `truth`, in percent.
pub fn worst(values: &[f64], truth: f64) -> Option<f64> {
    let off = values.iter().map(|value| 100.0 * (value / truth - 1.0));
    off.max_by(|a, b| a.abs().total_cmp(&b.abs()))
}

/// With so many digits behind the point; `-` where there is none.
pub fn show(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".into(), |value| format!("{value:.digits$}"))
}

/// Whether a bound was held.
pub fn held(value: Option<f64>, limit: f64) -> &'static str {
    match value {
        None => "-",
        Some(value) if value.abs() <= limit => "yes",
        Some(_) => "**no**",
    }
}

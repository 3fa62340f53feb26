//! Bars, on one logarithmic scale for every document: costs span five decades, and bars of two documents compare.

/// A bar beside figures has so many columns: as there is room.
pub(crate) const COLUMNS: std::ops::RangeInclusive<usize> = 6..=24;

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
pub(crate) const FULL: &str = "█";

/// The cost of a full bar.
const MOST: f64 = 100_000.0;

/// What the legend says of the scale.
pub(crate) const SCALE: &str = "logarithmic, 1 to 100,000";

/// A bar of at most `columns`, to an eighth of a column; none for costs up to 1, which include negative ones.
pub(crate) fn bar(cost: f64, columns: usize) -> String {
    blocks(cost.log10() / MOST.log10(), columns)
}

/// What the legend says of the scale of changes.
pub(crate) const CHANGES: &str = "logarithmic, 0.1 % to 100 %, up or down";

/// A bar for a change in percent, up or down; none for less than 0.1 %. Three decades.
pub(crate) fn change_bar(percent: f64, columns: usize) -> String {
    blocks((percent.abs().log10() + 1.0) / 3.0, columns)
}

/// A bar for a cost among others, of which the greatest has a full one: linear, from 0.
pub(crate) fn part_of(cost: f64, most: f64, columns: usize) -> String {
    blocks(cost / most, columns)
}

/// The same of a cost that was not measured here: no one takes it for one that was, without colors either.
pub(crate) fn part_of_published(cost: f64, most: f64, columns: usize) -> String {
    let part = cost / most;
    if part.is_nan() || part <= 0.0 {
        return String::new();
    }
    PUBLISHED.repeat((part.min(1.0) * columns as f64).round() as usize)
}

/// What a published cost is drawn with.
pub(crate) const PUBLISHED: &str = "░";

/// A part of a full bar; none of what is not above 0.
fn blocks(part: f64, columns: usize) -> String {
    if part.is_nan() || part <= 0.0 {
        return String::new();
    }
    let eighths = (part.min(1.0) * columns as f64 * 8.0).round() as usize;
    FULL.repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decade_is_a_fixed_length() {
        assert_eq!(bar(100_000.0, 10), "██████████");
        assert_eq!(bar(1_000.0, 10), "██████");
        assert_eq!(bar(10.0, 10), "██");
        assert_eq!(bar(2.0, 10), "▋");
        assert_eq!(bar(1e9, 10), "██████████");
    }

    #[test]
    fn a_change_is_as_long_up_as_down() {
        assert_eq!(change_bar(1.0, 12), "████");
        assert_eq!(change_bar(-10.0, 12), "████████");
        assert_eq!([change_bar(100.0, 12), change_bar(-900.0, 12)], ["████████████"; 2]);
        for small in [0.1, -0.05, 0.0, f64::NAN] {
            assert_eq!(change_bar(small, 12), "");
        }
    }

    #[test]
    fn a_bar_among_others_is_linear() {
        assert_eq!([0.0, 25.0, 50.0, 100.0].map(|cost| part_of(cost, 100.0, 4)), ["", "█", "██", "████"]);
        assert_eq!(
            [0.0, 25.0, 50.0, 100.0].map(|cost| part_of_published(cost, 100.0, 4)),
            ["", "░", "░░", "░░░░"]
        );
        assert_eq!([part_of(1.0, 0.0, 2), part_of(0.0, 0.0, 2), part_of(-1.0, 2.0, 2)], ["██", "", ""]);
    }

    #[test]
    fn a_cost_up_to_one_has_no_bar() {
        for cost in [1.0, 0.0, -5.0, f64::NAN] {
            assert_eq!(bar(cost, 10), "");
        }
    }
}

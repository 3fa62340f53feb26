//! A kernel's configuration, as its records have it.

use crate::lab::trouble::Disorder;
use std::sync::Arc;
use table::{SwitchValues, Table};

/// A kernel's configuration: the value of every switch. Many programs share one.
pub type Configured = Arc<SwitchValues>;

/// The values that a record has, by their names.
///
/// # Errors
/// When it is not one value for each switch that there is.
pub(crate) fn named(values: &[u64]) -> Result<Configured, Disorder> {
    let switches = &Table::get().switches;
    let highest = switches.iter().map(|switch| usize::from(switch.id)).max().unwrap_or(0);
    if values.len() != highest + 1 {
        return Err(Disorder::Values(values.len()));
    }
    let of = |(id, value): (usize, &u64)| match switches.iter().find(|switch| usize::from(switch.id) == id) {
        Some(switch) => match switch.of_number(*value) {
            Some(name) => Ok(Some((switch.name.clone(), name))),
            None => Err(Disorder::NoValue { switch: switch.name.clone(), value: *value }),
        },
        None if *value == 0 => Ok(None),
        None => Err(Disorder::NoSwitch(id)),
    };
    let all = values.iter().enumerate().map(of).filter_map(Result::transpose);
    Ok(Arc::new(all.collect::<Result<SwitchValues, Disorder>>()?))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The values of a record: the defaults, but for what is set.
    pub(crate) fn values(set: &[(&str, &str)]) -> Vec<u64> {
        let mut values = Vec::new();
        for switch in &Table::get().switches {
            let asked = set.iter().find(|(name, _)| *name == switch.name).map(|(_, value)| *value);
            let id = usize::from(switch.id);
            values.resize(values.len().max(id + 1), 0);
            values[id] = switch.value(asked.unwrap_or(&switch.default)).unwrap().into();
        }
        values
    }

    #[test]
    fn a_record_has_a_value_that_there_is_for_each_switch() {
        let good = values(&[("cr3-writes", "1000")]);
        assert_eq!(named(&good).unwrap()["cr3-writes"], "1000");
        assert_eq!(named(&good[1..]), Err(Disorder::Values(good.len() - 1)));
        assert_eq!(named(&[]), Err(Disorder::Values(0)));
        let changed = |place: usize, value: u64| {
            let mut values = good.clone();
            values[place] = value;
            named(&values).unwrap_err().to_string()
        };
        assert_eq!(changed(0, 1), "a configuration has a value of switch 0, which there is not");
        let pti = usize::from(Table::get().switch("pti").unwrap().id);
        assert_eq!(
            changed(pti, u64::MAX),
            format!("a configuration has the value {} of pti, which there is not", u64::MAX)
        );
    }
}

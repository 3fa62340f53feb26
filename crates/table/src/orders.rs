//! In which order Linux comes to what switches bring. On the way in of a system call that is the order of a profile's steps.

use crate::{ORDER, Setting, Table};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The orders that no profile has for its own: they are the same in all versions that the lab has one of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orders {
    /// Names of switches, on the way out of a system call.
    pub calls_out: Vec<String>,
    /// On the way in of an exception.
    pub exceptions_in: Vec<String>,
    /// On its way out.
    pub exceptions_out: Vec<String>,
}

/// Switches whose steps stand all over a path, so that they have no place in an order.
pub const EVERYWHERE: [&str; 2] = [ORDER, "idle"];

impl Table {
    /// The newest order of Linux that the lab has and that a kernel has reached, by the first version of each.
    pub fn order_reached(&self, is_reached: &dyn Fn(&str) -> bool) -> Option<Setting> {
        let values = self.switch(ORDER)?.values.iter().rev();
        let mut settings = values.map(|value| Setting::new(ORDER, value));
        settings.find(|setting| {
            let origins = self.origins_of(setting);
            origins.first().and_then(|origin| origin.since.as_deref()).is_some_and(is_reached)
        })
    }

    pub(crate) fn check_orders(&self) -> Result<(), String> {
        let Orders { calls_out, exceptions_in, exceptions_out } = &self.orders;
        let orders =
            [("calls_out", calls_out), ("exceptions_in", exceptions_in), ("exceptions_out", exceptions_out)];
        for (name, order) in orders {
            let mut known = BTreeSet::new();
            if let Some(wrong) =
                order.iter().find(|switch| self.switch(switch).is_none() || !known.insert(*switch))
            {
                return Err(format!("orders.{name}: {wrong} is no switch, or stands there twice"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_switch_or_stands_there_twice_is_refused() {
        let with = |order: &[&str]| {
            let calls_out = order.iter().map(|name| name.to_string()).collect();
            let orders = Orders { calls_out, ..Orders::default() };
            Table { orders, ..Table::get().clone() }.check_orders()
        };
        assert_eq!(with(&["pti", "swapgs"]), Ok(()));
        for wrong in [&["pti", "pti"][..], &["ptis"]] {
            assert!(with(wrong).unwrap_err().starts_with("orders.calls_out: pti"), "{wrong:?}");
        }
        assert_eq!(Table::get().check_orders(), Ok(()));
    }
}

//! The steps of an entry's path, as the kernel has built it.

use super::{Configuration, Configurations, Emulator, unsupported};
use crate::Error;
use places::lab::{Agreed, Collected, End, Limits, Line, Plan};
use record::Step;
use table::Entry;

/// A path in one configuration.
#[derive(Debug, Clone)]
pub struct Listed<'a> {
    /// The switches, as the kernel says that they are.
    pub configuration: Configuration<'a>,
    /// The steps that are there, in their order.
    pub steps: Vec<Step>,
}

/// Boots a guest, which builds a path for each configuration and reports its steps.
///
/// # Errors
/// [`Error::Environment`] when the guest does not boot, or its processor lacks what a switch requires.
pub fn listing<'a>(
    entry: &'a Entry,
    path: &str,
    configurations: &Configurations<'a>,
    emulator: &Emulator,
    limits: &Limits,
) -> Result<Vec<Listed<'a>>, Error> {
    let asked: Vec<Configuration> =
        configurations.all.iter().map(|configuration| configuration.for_entry(entry)).collect();
    let mut lines = vec![Line::Kernel(emulator.mode())];
    for configuration in &asked {
        let named = configuration.only(&configurations.named).into_iter();
        let needed = entry.needs.iter().map(|(name, value)| (name.clone(), value.clone()));
        lines.push(Line::Set(named.chain(needed).collect()));
        lines.push(Line::Listing(path.into()));
    }
    lines.retain(|line| *line != Line::Set(Vec::new()));
    let plan = emulator.plan(Plan { lines });
    let archive = places::lab::pack(&plan, &[]).map_err(places::lab::Trouble::from)?;
    let mut guest = emulator.boot(&archive, asked.len(), limits)?;
    let mut collected = Collected::default();
    collected.read(&mut Agreed::new(&mut guest, &plan), &mut |_| ())?;
    let steps_of = |(number, asked): (u64, Configuration<'a>)| {
        let said = collected.configured.get(&number);
        let said =
            said.iter().flat_map(|said| said.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let configuration = asked.with(said);
        let end = collected.ran.get(&number).map(|ran| ran.end);
        match (end, collected.listed.get(&number)) {
            (Some(End::Checked(true, _)), Some(steps)) => Ok(Listed { configuration, steps: steps.clone() }),
            (Some(End::Unsupported(switch)), _) => {
                Err(Error::Environment(unsupported(&configuration, switch, collected.boot.as_ref())))
            }
            _ => Err(Error::Environment(format!("the kernel did not list its path {path}"))),
        }
    };
    (0..).zip(asked).map(steps_of).collect()
}

//! Whether a kernel is configured as its plan asks. What it says of its configuration is believed, as far as it is that.

use crate::lab::{Configured, DEFAULT, Event, Events, Plan, Trouble};
use std::sync::Arc;
use table::{Switch, SwitchValues, Table};

/// The events of a guest, as long as its kernel is configured as the plan asks: a value that the plan does not set is the default or, where
/// the processor lacks what that needs, the first. Which, the kernel alone says.
pub struct Agreed<'a> {
    guest: &'a mut dyn Events,
    /// The plan's set lines: how many programs run before each, and what it sets.
    sets: Vec<(u64, &'a [(String, String)])>,
    /// How many of them the kernel has obeyed.
    obeyed: usize,
    now: Option<Configured>,
    /// What it had before anything was set.
    defaults: Option<Configured>,
}

impl<'a> Agreed<'a> {
    /// Of a guest that has this plan.
    pub fn new(guest: &'a mut dyn Events, plan: &'a Plan) -> Agreed<'a> {
        Agreed { guest, sets: plan.sets(), obeyed: 0, now: None, defaults: None }
    }

    /// Takes what the kernel says.
    fn configured(&mut self, said: &Configured) -> Result<(), String> {
        let differs = match &self.now {
            None => odd_default(said),
            Some(before) => {
                let (_, values) =
                    self.sets.get(self.obeyed).ok_or("it has another configuration than before, unasked")?;
                self.obeyed += 1;
                let mut asked = SwitchValues::clone(before);
                let default = |name: &str| self.defaults.as_ref().and_then(|all| all.get(name)).cloned();
                let wanted = |(name, value): &(String, String)| {
                    let value = if value == DEFAULT { default(name)? } else { value.clone() };
                    Some((name.clone(), value))
                };
                asked.extend(values.iter().filter_map(wanted));
                let mut other = asked.iter().filter(|(name, value)| said.get(*name) != Some(value));
                other.next().map(|(name, value)| otherwise(said, name, value))
            }
        };
        self.now = Some(Arc::clone(said));
        self.defaults.get_or_insert_with(|| Arc::clone(said));
        differs.map_or(Ok(()), Err)
    }

    /// Whether the kernel has obeyed every set line before a program.
    fn begins(&self, program: u64) -> Result<(), String> {
        let before = self.sets.iter().filter(|(programs, _)| *programs <= program).count();
        match self.obeyed == before {
            true => Ok(()),
            false => Err(format!("it has not set what the plan sets before program {program}")),
        }
    }
}

/// A switch that has neither its default nor its first value before anything was set.
fn odd_default(said: &SwitchValues) -> Option<String> {
    let is_odd = |switch: &&Switch| {
        said.get(&switch.name).is_none_or(|value| *value != switch.default && *value != switch.first())
    };
    let odd = Table::get().switches.iter().find(is_odd)?;
    Some(otherwise(said, &odd.name, &odd.default))
}

fn otherwise(said: &SwitchValues, name: &str, asked: &str) -> String {
    format!("it has {name}={}, and was asked for {asked}", said.get(name).map_or("", String::as_str))
}

impl Events for Agreed<'_> {
    fn next(&mut self) -> Result<Event, Trouble> {
        let event = self.guest.next()?;
        let agrees = match &event {
            Event::Configured(said) => self.configured(said),
            Event::Begin(program) => self.begins(*program),
            _ => Ok(()),
        };
        agrees.map(|()| event).map_err(Trouble::Configured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::Line;
    use crate::lab::configured::{named, tests::values};
    use std::collections::VecDeque;

    struct Said(VecDeque<Event>);

    impl Events for Said {
        fn next(&mut self) -> Result<Event, Trouble> {
            Ok(self.0.pop_front().unwrap_or(Event::Done))
        }
    }

    fn configured(set: &[(&str, &str)]) -> Event {
        Event::Configured(named(&values(set)).unwrap())
    }

    fn set(name: &str, value: &str) -> Line {
        Line::Set(vec![(name.into(), value.into())])
    }

    fn run() -> Line {
        Line::Run { file: "probe64".into(), arguments: Vec::new() }
    }

    /// What is wrong with a guest that says this, given a plan.
    fn wrong(lines: &[Line], said: &[Event]) -> Option<String> {
        let mut guest = Said(said.iter().cloned().collect());
        let plan = Plan { lines: lines.to_vec() };
        let mut agreed = Agreed::new(&mut guest, &plan);
        loop {
            match agreed.next() {
                Ok(Event::Done) => return None,
                Ok(_) => (),
                Err(trouble) => return Some(trouble.to_string()),
            }
        }
    }

    #[test]
    fn a_kernel_that_does_as_it_is_asked_is_believed() {
        let plan = [run(), set("pti", "on"), run(), set("smap", "off"), run(), set("smap", DEFAULT), run()];
        let no_smap = [("smap", "off")];
        for default in [&[][..], &no_smap] {
            let (isolated, off) = ([default, &[("pti", "on")]].concat(), [("smap", "off"), ("pti", "on")]);
            let said = [
                configured(default),
                Event::Begin(0),
                configured(&isolated),
                Event::Begin(1),
                configured(&off),
                Event::Begin(2),
                configured(&isolated),
                Event::Begin(3),
            ];
            assert_eq!(wrong(&plan, &said), None);
        }
    }

    #[test]
    fn a_configuration_that_nobody_asked_for_is_an_error_with_words() {
        let plan = [set("pti", "on"), run(), run()];
        let why = |said: &[Event]| {
            let why = wrong(&plan, said).unwrap();
            why.strip_prefix("the guest's kernel is not configured as it was asked: ").unwrap().to_string()
        };
        let plan_of_default = [set("smap", "off"), set("smap", DEFAULT)];
        let off = || configured(&[("smap", "off")]);
        let still = wrong(&plan_of_default, &[configured(&[]), off(), off()]).unwrap();
        assert!(still.ends_with("it has smap=off, and was asked for on"), "{still}");
        let (bare, isolated) = (configured(&[]), configured(&[("pti", "on")]));
        let begin = Event::Begin;
        assert_eq!(
            why(&[configured(&[("pti", "trampoline")])]),
            "it has pti=trampoline, and was asked for off"
        );
        assert_eq!(why(&[configured(&[("rsb", "7")])]), "it has rsb=7, and was asked for 0");
        assert_eq!(why(&[bare.clone(), bare.clone()]), "it has pti=off, and was asked for on");
        let more = configured(&[("pti", "on"), ("smap", "off")]);
        assert_eq!(why(&[bare.clone(), more]), "it has smap=off, and was asked for on");
        assert_eq!(why(&[bare.clone(), begin(0)]), "it has not set what the plan sets before program 0");
        assert_eq!(
            why(&[bare, isolated.clone(), begin(0), isolated, begin(1)]),
            "it has another configuration than before, unasked"
        );
    }
}

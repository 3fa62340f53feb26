//! `kentry anatomy --each`: the boots that tell what each feature of a kernel adds to a call.

use crate::error::Error;
use attribution::anatomy::LeftOut;
use environment::version;
use measure::guest::{in_versions, is_of};
use std::fmt::Display;
use table::{Kernel, ParameterValue, Settings, Table};

/// What to boot: the first without any of the features, the others with one of them each, and the last with all of them at once.
pub struct Each {
    /// As `--set` has it, a boot each.
    pub sets: Vec<String>,
    /// What the kernel is too old for.
    pub left_out: Vec<LeftOut>,
}

impl Each {
    /// The boots of a kernel of this release; of one that is not known yet, all that there may be. What `own`, the user's `--set`, names is
    /// the same in all of them.
    ///
    /// # Errors
    /// [`Error::Usage`] when `own` makes no sense.
    pub fn of(table: &Table, own: Option<&str>, release: Option<&str>) -> Result<Each, Error> {
        let own = own.map(|text| table.set(Kernel::Linux, text)).transpose()?.unwrap_or_default();
        // Of a release that is no version, all is asked for.
        let release = release.filter(|release| version(release).is_some());
        let knows = |value: &ParameterValue| release.is_none_or(|release| is_of(value, release));
        let (mut without, mut with, mut left_out) = (settings(&own), Vec::new(), Vec::new());
        let mut together = without.clone();
        for (parameter, off, others) in table.features().filter(|(one, ..)| own.value(&one.name).is_none()) {
            let of = |value: &ParameterValue| format!("{}={}", parameter.name, value.name);
            let (known, unknown): (Vec<_>, Vec<_>) = others.into_iter().partition(|value| knows(value));
            // A kernel that does not know the feature does not know the word that leaves it out.
            if knows(off) {
                without.push((parameter.name.as_str(), of(off)));
            }
            together.extend(known.last().map(|value| (parameter.name.as_str(), of(value))));
            with.extend(known.into_iter().map(|value| (parameter.name.as_str(), of(value))));
            left_out.extend(
                unknown
                    .into_iter()
                    .map(|value| LeftOut { boot: of(value), why: in_versions(value).unwrap_or_default() }),
            );
        }
        let base = joined(without.iter().map(|(_, set)| set));
        let one_more = |(name, set): &(&str, String)| {
            let others = without.iter().filter(|(other, _)| other != name).map(|(_, set)| set);
            joined(others.chain([set]))
        };
        let more = with.iter().map(one_more);
        // Of one feature that would be its own boot again. Of several values it is the last: a filter as containers have it.
        let all = joined(together.iter().map(|(_, set)| set));
        let all = (together.len() > own.iter().count() + 1).then_some(all);
        Ok(Each { sets: std::iter::once(base).chain(more).chain(all).collect(), left_out })
    }
}

/// Each of them, by its name and as it is written.
fn settings(own: &Settings) -> Vec<(&str, String)> {
    own.iter().map(|one| (one.name.as_str(), one.to_string())).collect()
}

fn joined(parts: impl Iterator<Item = impl Display>) -> String {
    parts.map(|part| part.to_string()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_boot_has_one_feature_more_than_the_first() {
        let Each { sets, left_out } =
            Each::of(Table::get(), Some("pti=off"), Some("6.1.0-56-amd64")).unwrap();
        assert_eq!(left_out, []);
        assert_eq!(sets[0], "pti=off,audit=off,seccomp=off,trace=off,kstack-offset=off");
        assert!(sets.contains(&"pti=off,audit=off,trace=off,kstack-offset=off,seccomp=runtime".to_string()));
        let parts =
            |set: &String| set.split(',').map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        let (last, ones) = sets[1..].split_last().unwrap();
        for set in ones {
            assert_eq!(parts(set).difference(&parts(&sets[0])).count(), 1, "{set}");
        }
        assert_eq!(last, "pti=off,audit=on,seccomp=runtime,trace=on,kstack-offset=on");
        Table::get().sets(Kernel::Linux, &sets).unwrap();
    }

    #[test]
    fn an_old_kernel_is_asked_for_nothing_that_it_does_not_know() {
        let Each { sets, left_out } = Each::of(Table::get(), None, Some("5.10.0-32-amd64")).unwrap();
        assert!(sets.iter().all(|set| !set.contains("kstack-offset")), "{sets:?}");
        assert_eq!(left_out[0].boot, "kstack-offset=on");
        assert_eq!(left_out[0].why, "Linux has it since 5.13");
    }

    #[test]
    fn what_the_user_sets_is_the_same_in_all() {
        let Each { sets, .. } = Each::of(Table::get(), Some("seccomp=on"), None).unwrap();
        assert!(sets.iter().all(|set| set.contains("seccomp=on")), "{sets:?}");
        assert!(Each::of(Table::get(), Some("pti=purple"), None).is_err());
    }
}

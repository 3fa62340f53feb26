//! Which runs may go.

use crate::head::Head;
use std::time::{Duration, SystemTime};

/// What `prune` keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Keep {
    /// So many of the newest.
    pub newest: Option<usize>,
    /// Those that began within this time.
    pub within: Option<Duration>,
}

impl Keep {
    /// Those of these runs, the newest first, that neither rule keeps. A run that has a name or a tag stays: somebody wants it. So
    /// does one whose time cannot be believed, beside the newest: if it is the clock that is wrong now, all runs may look so.
    pub fn leaves<'a>(&self, heads: &'a [Head], now: SystemTime) -> Vec<&'a Head> {
        let is_new = |number: usize| self.newest.is_some_and(|newest| number < newest);
        let is_recent = |began: SystemTime| {
            self.within.is_some_and(|within| now.duration_since(began).map_or(true, |age| age <= within))
        };
        let is_wanted = |head: &Head| head.name.is_some() || !head.tags.is_empty();
        let dated = heads.iter().filter_map(|head| Some((head, head.began(now)?)));
        let goes = dated
            .enumerate()
            .filter(|(number, (head, began))| !is_new(*number) && !is_recent(*began) && !is_wanted(head));
        goes.map(|(_, (head, _))| head).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::tests::some_head;
    use std::collections::BTreeMap;

    fn begun(started: &str) -> Head {
        Head { name: None, tags: BTreeMap::new(), started: started.into(), ..some_head() }
    }

    #[test]
    fn what_a_rule_keeps_stays_and_so_does_what_has_a_name() {
        let now = humantime::parse_rfc3339("2026-11-22T00:00:00Z").unwrap();
        let mut heads: Vec<Head> =
            ["2027-01-01", "2026-11-21", "2026-11-01", "2026-10-01", "2026-09-01", "?"]
                .map(|day| begun(&format!("{day}T00:00:00Z")))
                .into();
        heads[4].name = Some("before".into());
        let left = |keep: Keep| -> Vec<usize> {
            let goes = keep.leaves(&heads, now);
            (0..heads.len()).filter(|at| goes.iter().any(|head| std::ptr::eq(*head, &heads[*at]))).collect()
        };
        let days = |days: u64| Some(Duration::from_secs(days * 86_400));
        // A run of the future took the place of a real one, which went.
        assert_eq!(left(Keep { newest: Some(2), within: None }), [3]);
        assert_eq!(left(Keep { newest: None, within: days(30) }), [3]);
        assert_eq!(left(Keep { newest: Some(4), within: days(1) }), [] as [usize; 0]);
    }
}

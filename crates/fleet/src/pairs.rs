//! From the runs of two sides to what a roll-out changed: the same hosts, in pairs, by generation and row.

use crate::columns::{Column, Columns};
use crate::corrected::benjamini_hochberg;
use crate::difference::rounded;
use crate::fleet::{Figure, Fleet};
use crate::gate::{answer, gate, has_a_slower_part};
use crate::hosts::{GENERATION, Host, remark};
use crate::judgement::{FactValue, Named, Remark, RowName, SCHEMA, Unit};
use crate::lost::Both;
use crate::median::{finest_of_logarithms, median};
use crate::otherwise::otherwise;
use crate::rollout::{Answer, FactChange, Rollout, RolloutRow, Stratum, Verdict};
use crate::sample::{OTHER_UNIT, OfHost, Sample, boots_add, known, rows_of_hosts};
use crate::shift::Shift;
use crate::tested::{Tested, percent};
use crate::{LEAST_HOSTS, Settings, UnknownFact};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Of the changes that are told, this part is none, in the mean over roll-outs.
const FALSE_CHANGES: f64 = 0.01;

/// Of the rows that are called the same, so many are not, on either end of the limit.
const FALSE_SAMES: f64 = 0.025;

/// What an interval misses where the correction asks for no more.
const MISSES: f64 = 0.05;

/// No more changes of facts are told.
const MOST_CHANGES: usize = 50;

/// A fact's id, its value before and after.
type Changed<'a> = (&'a str, Option<String>, Option<String>);

/// A host on both sides: its places among the hosts of each.
type Pair = (u32, u32);

impl Fleet {
    /// What changed since this fleet, on the same hosts.
    pub fn roll_out(&self, after: &Fleet, settings: &Settings) -> Result<Rollout, UnknownFact> {
        after.check(settings)?;
        let mut remarks = Vec::new();
        let mut shared = BTreeSet::new();
        let ids = [self, after].map(Fleet::run_ids);
        let on_both: BTreeSet<&str> = ids[0].intersection(&ids[1]).copied().collect();
        let rest = [self, after].map(|side| match on_both.is_empty() {
            true => Cow::Borrowed(side),
            false => Cow::Owned(side.without(&on_both)),
        });
        remarks.extend(remark(
            "run-on-both-sides",
            "Runs of these stand on both sides, by their ids, and show no change: they are left out. Give each side its own runs.",
            after.labels_of(&on_both),
        ));
        for side in &rest {
            let of_side = side.shared_ids();
            shared.extend(of_side.ids);
            remarks.extend(of_side.remarks);
        }
        let sides = Sides::of(&rest[0], &rest[1], &shared);
        remarks.extend(sides.remarks());
        let mut strata = sides.strata(&settings.by);
        strata.sort_by_key(|stratum| std::cmp::Reverse(stratum.told.hosts.len()));
        let mut changed = sides.changed();
        let more = changed.split_off(changed.len().min(MOST_CHANGES));
        remarks.extend(remark(
            "more-changes",
            &format!("{} more changes of facts are not told, on these hosts: only the {MOST_CHANGES} most frequent ones are.", more.len()),
            more.iter().flat_map(|change| change.hosts.first.iter().cloned()),
        ));
        (1..).zip(&mut strata).for_each(|(number, stratum)| stratum.told.id = format!("s{number}"));
        judge(&mut strata, settings.fail_above_percent);
        remarks.extend(left_out(&strata));
        let mut rollout = Rollout {
            schema: SCHEMA.to_owned(),
            kind: "rollout".to_owned(),
            false_changes: FALSE_CHANGES,
            fail_above_percent: settings.fail_above_percent,
            pairs: sides.pairs.len(),
            only_before: sides.only(0),
            only_after: sides.only(1),
            runs: [self.runs.len(), after.runs.len()],
            changed,
            otherwise: otherwise(&strata),
            strata: strata.into_iter().map(|stratum| stratum.told).collect(),
            gate: None,
            remarks,
        };
        rollout.gate = settings.fail_above_percent.map(|limit| gate(&rollout, limit));
        Ok(rollout)
    }
}

/// Both sides, before and after.
struct Sides<'a> {
    fleets: [&'a Fleet; 2],
    hosts: [Vec<Host>; 2],
    columns: [Columns; 2],
    pairs: Vec<Pair>,
}

impl<'a> Sides<'a> {
    fn of(before: &'a Fleet, after: &'a Fleet, shared: &BTreeSet<String>) -> Sides<'a> {
        let fleets = [before, after];
        let hosts = fleets.map(|fleet| fleet.hosts(shared, &GENERATION));
        let columns = [0, 1].map(|side| Columns::of(fleets[side], &hosts[side]));
        let mut sides = Sides { fleets, hosts, columns, pairs: Vec::new() };
        let places: HashMap<_, u32> =
            (0_u32..).zip(&sides.hosts[0]).map(|(place, host)| (sides.key(0, place, host), place)).collect();
        let of_after = (0_u32..).zip(&sides.hosts[1]);
        sides.pairs = of_after
            .filter_map(|(place, host)| Some((*places.get(&sides.key(1, place, host))?, place)))
            .collect();
        sides
    }

    /// What is the same on both sides of a pair.
    fn key(&self, side: usize, place: u32, host: &Host) -> (String, Vec<Option<String>>) {
        let kind = GENERATION.map(|id| self.value(side, self.columns[side].find(id), place));
        (host.identity.clone(), kind.to_vec())
    }

    fn value(&self, side: usize, column: Option<&Column>, place: u32) -> Option<String> {
        self.columns[side].text(column.and_then(|column| column.values[place as usize]))
    }

    /// Hosts of one side without a partner on the other.
    fn only(&self, side: usize) -> Named {
        Named::of(self.alone(side).map(|host| host.name.clone()))
    }

    fn alone(&self, side: usize) -> impl Iterator<Item = &Host> {
        let paired: BTreeSet<u32> =
            self.pairs.iter().map(|pair| if side == 0 { pair.0 } else { pair.1 }).collect();
        let hosts = (0_u32..).zip(&self.hosts[side]);
        hosts.filter(move |(place, _)| !paired.contains(place)).map(|(_, host)| host)
    }

    fn boots(&self, side: usize, place: u32) -> usize {
        let fleet = self.fleets[side];
        let runs = self.hosts[side][place as usize].runs.iter().map(|run| (*run, &fleet.runs[*run as usize]));
        runs.map(|(number, run)| (run.boot, run.boot.is_none().then_some(number)))
            .collect::<BTreeSet<_>>()
            .len()
    }

    fn remarks(&self) -> Vec<Remark> {
        let name = |pair: &Pair| self.hosts[1][pair.1 as usize].name.clone();
        let (once, several): (Vec<Pair>, Vec<Pair>) =
            self.pairs.iter().partition(|pair| self.boots(0, pair.0) < 2 || self.boots(1, pair.1) < 2);
        let of_other_code = self.pairs.iter().filter(|pair| {
            ["probe", "kentry"].into_iter().any(|id| {
                self.value(0, self.columns[0].find(id), pair.0)
                    != self.value(1, self.columns[1].find(id), pair.1)
            })
        });
        let alone = [0, 1].map(|side| {
            let alone = self.alone(side).map(|host| (host.identity.as_str(), host.name.as_str()));
            alone.collect::<BTreeMap<&str, &str>>()
        });
        let of_other_kind = alone[1].iter().filter(|(identity, _)| alone[0].contains_key(*identity));
        let again = self
            .fleets
            .iter()
            .flat_map(|fleet| fleet.again.iter().map(|label| fleet.words.text(*label).to_owned()));
        let found = [
            remark(
                "one-boot",
                "A side of these hosts has runs of one boot only. Where a kernel lies in memory differs from boot to boot, which moves costs by \
                 some percent: here it is a part of what hosts' changes differ by, and so of the intervals, since hosts boot independently.",
                once.iter().map(name),
            ),
            remark(
                "several-boots",
                "These hosts have runs of two boots or more on each side. Their boots' mean is compared, and what boots differ by, with \
                 the error of each, is estimated within hosts.",
                several.iter().map(name),
            ),
            remark(
                "other-probes",
                "The two sides were measured by different versions of kentry or of its timed code: measure both by one.",
                of_other_code.map(name),
            ),
            remark(
                "generation-changed",
                "Processor, hypervisor or kind of machine of these hosts is another on the side after: they are in no pair.",
                of_other_kind.map(|(_, name)| (*name).to_owned()),
            ),
            remark(
                "same-run",
                "These were given more than once, and count once: the run's id is the same.",
                again,
            ),
        ];
        found.into_iter().flatten().collect()
    }

    /// Facts that are not the same on both sides of pairs.
    fn changed(&self) -> Vec<FactChange> {
        let ids: BTreeSet<&str> = self
            .columns
            .iter()
            .flat_map(|columns| columns.columns.iter().map(|column| column.id.as_str()))
            .collect();
        let mut changes: BTreeMap<Changed, Vec<String>> = BTreeMap::new();
        for id in ids {
            let columns = [0, 1].map(|side| self.columns[side].find(id));
            // A finding that no run of a side has is absent on all of its hosts.
            let lacking = id.starts_with("finding:").then(|| "absent".to_owned());
            for pair in &self.pairs {
                let value = |side: usize, place: u32| match columns[side] {
                    Some(column) => self.value(side, Some(column), place),
                    None => lacking.clone(),
                };
                let (before, after) = (value(0, pair.0), value(1, pair.1));
                if before != after {
                    let name = self.hosts[1][pair.1 as usize].name.clone();
                    changes.entry((id, before, after)).or_default().push(name);
                }
            }
        }
        let what = |id: &str| {
            let column = self.columns.iter().find_map(|columns| columns.find(id));
            column.map(|column| column.what.clone()).unwrap_or_default()
        };
        let told = changes.into_iter().map(|((id, before, after), hosts)| FactChange {
            id: id.to_owned(),
            what: what(id),
            before,
            after,
            hosts: Named::of(hosts),
        });
        let mut told: Vec<FactChange> = told.collect();
        told.sort_by_key(|change| std::cmp::Reverse(change.hosts.count));
        told
    }

    fn strata(&self, by: &[String]) -> Vec<Tested> {
        let wanted = |column: &&Column| GENERATION.contains(&column.id.as_str()) || by.contains(&column.id);
        let columns: Vec<&Column> = self.columns[1].columns.iter().filter(wanted).collect();
        let mut strata: BTreeMap<Vec<Option<String>>, Vec<Pair>> = BTreeMap::new();
        for pair in &self.pairs {
            let key = columns.iter().map(|column| self.value(1, Some(column), pair.1)).collect();
            strata.entry(key).or_default().push(*pair);
        }
        let told = |(key, pairs): (Vec<Option<String>>, Vec<Pair>)| {
            let fact = |(column, value): (&&Column, Option<String>)| FactValue {
                id: column.id.clone(),
                what: column.what.clone(),
                value,
            };
            self.stratum(columns.iter().zip(key).map(fact).collect(), &pairs)
        };
        strata.into_iter().map(told).collect()
    }

    fn stratum(&self, facts: Vec<FactValue>, pairs: &[Pair]) -> Tested {
        let hosts = [0, 1].map(|side: usize| {
            let of_side = pairs.iter().map(|pair| if side == 0 { pair.0 } else { pair.1 });
            of_side.map(|place| &self.hosts[side][place as usize]).collect::<Vec<&Host>>()
        });
        let both = Both { fleets: self.fleets, hosts: &hosts };
        let units = self.units(&hosts);
        let rows = [0, 1].map(|side| {
            let names = &self.fleets[side].rows;
            let unit_of = |row: u32| units.get(&names[row as usize]).copied().unwrap_or(Unit::Nanoseconds);
            let rows = rows_of_hosts(self.fleets[side], &hosts[side], unit_of);
            let named = rows.into_iter().map(|(row, hosts)| (&names[row as usize], hosts));
            named.collect::<HashMap<&RowName, Vec<(u32, OfHost)>>>()
        });
        let told = Stratum {
            id: String::new(),
            facts,
            hosts: hosts[1].iter().map(|host| host.name.clone()).collect(),
            rows: Vec::new(),
            lost: Vec::new(),
        };
        let mut tested = Tested { told, shifts: Vec::new(), samples: Vec::new(), left_out: Vec::new() };
        for name in self.row_names() {
            let [before, after] = [0, 1].map(|side| rows[side].get(name).map_or(&[][..], Vec::as_slice));
            let logs = Logs::of(before, after);
            let had = before.iter().filter(|(_, host)| host.logarithms().is_some());
            let had: Vec<u32> = had.map(|(place, _)| *place).collect();
            tested.told.lost.extend(both.lost(name, &had, &logs.hosts));
            let unit = units.get(name).copied().unwrap_or(Unit::Nanoseconds);
            let place = u32::try_from(tested.told.rows.len()).unwrap_or(u32::MAX);
            let Some((row, shift, sample)) = logs.row(name, unit, place) else { continue };
            tested.told.rows.push(row);
            tested.shifts.push(shift);
            tested.samples.push(sample);
        }
        tested.left_out = self.left_out(&hosts, &units);
        tested
    }

    /// Rows in the order of the side after, then those that only the side before has.
    fn row_names(&self) -> impl Iterator<Item = &'a RowName> {
        let [before, after] = self.fleets;
        let gone = before.rows.iter().filter(|name| after.place_of_row(name).is_none());
        after.rows.iter().chain(gone)
    }

    /// The unit of each row: core cycles where most of the pairs with figures in any unit know them on both sides.
    fn units(&self, hosts: &[Vec<&Host>; 2]) -> BTreeMap<&'a RowName, Unit> {
        let known = [0, 1].map(|side| known(self.fleets[side], &hosts[side]));
        let of = |name| {
            let [before, after] = [0, 1].map(|side| {
                self.fleets[side]
                    .place_of_row(name)
                    .and_then(|row| known[side].get(&row))
                    .cloned()
                    .unwrap_or_default()
            });
            // A row that is lost keeps the unit that it had.
            let both = before.on_both(&after);
            if both.hosts().is_empty() { before.unit() } else { both.unit() }
        };
        self.row_names().map(|name| (name, of(name))).collect()
    }

    /// Hosts with rows whose figures on both sides are in the other unit.
    fn left_out(&self, hosts: &[Vec<&Host>; 2], units: &BTreeMap<&RowName, Unit>) -> Vec<String> {
        let known = [0, 1].map(|side| known(self.fleets[side], &hosts[side]));
        let of_row = |(name, unit): (&&RowName, &Unit)| {
            let [before, after] =
                [0, 1].map(|side| known[side].get(&self.fleets[side].place_of_row(name)?).cloned());
            let both = before.zip(after).map(|(before, after)| before.on_both(&after)).unwrap_or_default();
            both.left_out(*unit)
        };
        let places: BTreeSet<u32> = units.iter().flat_map(of_row).collect();
        places.into_iter().map(|place| hosts[1][place as usize].name.clone()).collect()
    }
}

fn left_out(strata: &[Tested]) -> Option<Remark> {
    remark("other-unit", OTHER_UNIT, strata.iter().flat_map(|stratum| stratum.left_out.iter().cloned()))
}

/// The logarithms of a row's costs on hosts of both sides, boot by boot.
struct Logs {
    /// Places of the pairs, in order.
    hosts: Vec<u32>,
    pairs: Vec<[OfHost; 2]>,
}

impl Logs {
    fn of(before: &[(u32, OfHost)], after: &[(u32, OfHost)]) -> Logs {
        let before: HashMap<u32, &OfHost> = before.iter().map(|(place, host)| (*place, host)).collect();
        let (hosts, pairs) = after
            .iter()
            .filter_map(|(place, after)| {
                Some((*place, [before.get(place)?.logarithms()?, after.logarithms()?]))
            })
            .unzip();
        Logs { hosts, pairs }
    }

    fn means(&self, side: usize) -> Vec<f64> {
        self.pairs.iter().filter_map(|pair| pair[side].mean()).collect()
    }

    /// How much each host changed.
    fn sample(&self, row: u32, unit: Unit, boots: Option<f64>, finest: f64) -> Sample {
        let change = |pair: &[OfHost; 2]| {
            let (before, after) = (pair[0].figure(boots)?, pair[1].figure(boots)?);
            Some(Figure {
                estimate: after.estimate - before.estimate,
                variance: before.variance.zip(after.variance).map(|(before, after)| before + after),
            })
        };
        let hosts = self.hosts.iter().zip(&self.pairs);
        let figures: Vec<(u32, Figure)> =
            hosts.filter_map(|(place, pair)| Some((*place, change(pair)?))).collect();
        Sample::of(row, unit, &figures, Some(finest))
    }

    fn row(&self, name: &RowName, unit: Unit, place: u32) -> Option<(RolloutRow, Option<Shift>, Sample)> {
        let [before, after] = [0, 1].map(|side| self.means(side));
        let differences: Vec<f64> = before.iter().zip(&after).map(|(before, after)| after - before).collect();
        let middle = |values: Vec<f64>| median(&mut values.into_iter().map(f64::exp).collect::<Vec<f64>>());
        let shift = (differences.len() >= LEAST_HOSTS).then(|| Shift::of(&differences)).flatten();
        let boots = boots_add(self.pairs.iter().flatten());
        let (before, after) = (middle(before)?, middle(after)?);
        let sample = self.sample(place, unit, boots, finest_of_logarithms(before));
        let row = RolloutRow {
            name: name.clone(),
            unit,
            pairs: differences.len(),
            before: rounded(before),
            after: rounded(after),
            percent: shift.as_ref().map(|shift| percent(shift.middle)),
            percent_low: None,
            percent_high: None,
            p: shift.as_ref().map(|shift| shift.p(0.0)),
            q: None,
            spread_percent: shift.as_ref().map(|shift| percent(shift.spread)),
            boot_percent: boots.map(|variance| percent(variance.sqrt())),
            above_limit: None,
            verdict: Verdict::Unknown,
            gate: None,
        };
        Some((row, shift, sample))
    }
}

/// Verdicts over all rows of all strata together.
fn judge(strata: &mut [Tested], limit: Option<f64>) {
    let rows = strata.iter_mut().flat_map(|stratum| stratum.told.rows.iter_mut().zip(&stratum.shifts));
    let mut rows: Vec<(&mut RolloutRow, &Shift)> =
        rows.filter_map(|(row, shift)| Some((row, shift.as_ref()?))).collect();
    let changes = benjamini_hochberg(&rows.iter().map(|(_, shift)| shift.p(0.0)).collect::<Vec<f64>>());
    let told = changes.iter().filter(|q| **q <= FALSE_CHANGES).count();
    let least_p = FALSE_CHANGES * told.max(1) as f64 / rows.len().max(1) as f64;
    let bounds = limit.map(|limit| [(1.0 + limit / 100.0).ln(), -(1.0 + limit / 100.0).ln()]);
    let sames = bounds.map(|bounds| {
        let p = |shift: &Shift| bounds.map(|bound| shift.p_beyond(bound)).into_iter().fold(0.0, f64::max);
        benjamini_hochberg(&rows.iter().map(|(_, shift)| p(shift)).collect::<Vec<f64>>())
    });
    for (place, (row, shift)) in rows.iter_mut().enumerate() {
        let q = changes[place];
        let is_told = q <= FALSE_CHANGES;
        // The interval leaves out 0 exactly where a change is told.
        let usual = shift.interval(MISSES);
        let holds_zero = usual.0 <= 0.0 && usual.1 >= 0.0;
        let (low, high) = if is_told || !holds_zero { shift.interval(least_p.min(MISSES)) } else { usual };
        (row.q, row.percent_low, row.percent_high) = (Some(q), Some(percent(low)), Some(percent(high)));
        let is_same = sames.as_ref().is_some_and(|sames| sames[place] <= FALSE_SAMES);
        row.verdict = match () {
            () if is_told && shift.middle > 0.0 => Verdict::Slower,
            () if is_told => Verdict::Faster,
            () if is_same => Verdict::Same,
            () => Verdict::Unknown,
        };
    }
    if let Some(limit) = limit {
        let all = strata.iter().map(|stratum| stratum.told.rows.len()).sum();
        let bound = (limit / 100.0).ln_1p();
        let rows = strata.iter_mut().flat_map(|stratum| stratum.told.rows.iter_mut().zip(&stratum.samples));
        for (row, sample) in rows {
            let is_held = has_a_slower_part(&sample.values, bound, all);
            let least = if is_held { Answer::Inconclusive } else { Answer::Pass };
            row.gate = Some(answer(row, limit).max(least));
            row.above_limit = Some(sample.values.iter().filter(|change| **change > bound).count());
        }
    }
}

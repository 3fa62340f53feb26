//! A fleet as one page of HTML that holds all of it. Tables stand in the markup; charts of rows and the pages of hosts are made by the script
//! when somebody looks at them, of figures that are packed: a fleet of 10,000 hosts has two million.

use super::judged;
use super::rolled;
use super::section::Section;
use super::words::{count, difference, differs, row, unit, values};
use crate::Error;
use crate::frame::{COMMON, Frame, STYLE};
use crate::plain::plain;
use ::fleet::{Cohort, CohortRow, Judgement, OddHost, Rollout};
use askama::Template;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use std::collections::HashMap;

const OWN_STYLE: &str = include_str!("../../assets/fleet.css");
const SCRIPT: &str = include_str!("../../assets/fleet.js");

/// What the template is filled with.
#[derive(Template)]
#[template(path = "fleet/page.html")]
struct Page {
    frame: Frame,
    sections: Vec<Part>,
    /// Of a roll-out there is none.
    data: Option<Data>,
}

/// A section, and where the first cell of each row leads.
struct Part {
    section: Section,
    links: Vec<Option<String>>,
}

impl Part {
    fn link(&self, row: &usize) -> Option<String> {
        self.links.get(*row).cloned().flatten()
    }
}

/// What the script draws of.
#[derive(Serialize)]
struct Data {
    cohorts: Vec<CohortData>,
    odd: Vec<OddData>,
}

#[derive(Serialize)]
struct CohortData {
    id: String,
    name: String,
    hosts: Vec<String>,
    rows: Vec<RowData>,
}

#[derive(Serialize)]
struct RowData {
    name: String,
    unit: &'static str,
    median: f64,
    spread: f64,
    detectable_percent: Option<f64>,
    /// Places of odd hosts.
    odd: Vec<u32>,
    /// In base64, little endian, for each host with a figure: its place, 32 bits; and as 32-bit floating-point numbers its estimate and the
    /// ends of its interval, which are NaN where they are unknown. All places stand first, then all estimates, and so on.
    packed: String,
}

#[derive(Serialize)]
struct OddData {
    /// Numbers of the cohort and of the host there.
    cohort: usize,
    host: usize,
    q: f64,
    runs: usize,
    /// Rows by which it is odd, each with its difference in words, and whether it is told by itself.
    rows: Vec<(String, String, bool)>,
    differs: Vec<String>,
    common_percent: Option<f64>,
    moves_together: bool,
}

pub(super) fn of_judgement(judgement: &Judgement) -> Result<Vec<u8>, Error> {
    let places = places(&judgement.cohorts);
    let link = |odd: &OddHost| {
        let (cohort, host) = places.get(&(odd.cohort.as_str(), odd.host.as_str()))?;
        Some(format!("#host-{cohort}.{host}"))
    };
    let part = |section: Section| {
        let links =
            if section.id == judged::ODD { judgement.odd.iter().map(link).collect() } else { Vec::new() };
        Part { links, section }
    };
    let sections = judged::whole(judgement).into_iter().map(part).collect();
    let data = Data {
        cohorts: judgement.cohorts.iter().map(cohort).collect(),
        odd: judgement
            .odd
            .iter()
            .filter_map(|odd| Some(odd_host(odd, *places.get(&(&*odd.cohort, &*odd.host))?)))
            .collect(),
    };
    let title = format!("Fleet: {}, {} odd", count(judgement.hosts, "host"), judgement.odd.len());
    rendered(Frame::new(title, &[STYLE, OWN_STYLE], &[COMMON, SCRIPT]), sections, Some(data))
}

pub(super) fn of_rollout(rollout: &Rollout) -> Result<Vec<u8>, Error> {
    let sections = rolled::sections(rollout, true).into_iter();
    let sections = sections.map(|section| Part { section, links: Vec::new() }).collect();
    let title = format!("Roll-out: {}, before and after", count(rollout.pairs, "host"));
    rendered(Frame::new(title, &[STYLE, OWN_STYLE], &[COMMON]), sections, None)
}

fn rendered(frame: Frame, mut sections: Vec<Part>, data: Option<Data>) -> Result<Vec<u8>, Error> {
    for Part { section, .. } in &mut sections {
        let texts = section
            .table
            .rows
            .iter_mut()
            .flatten()
            .chain(&mut section.sentences)
            .chain([&mut section.heading]);
        texts.for_each(|text| *text = plain(text));
    }
    let mut text = Page { frame, sections, data }.render()?;
    text.push('\n');
    Ok(text.into_bytes())
}

/// The numbers of each host's cohort and of the host there.
fn places(cohorts: &[Cohort]) -> HashMap<(&str, &str), (usize, usize)> {
    let mut all = HashMap::new();
    for (number, cohort) in cohorts.iter().enumerate() {
        for (place, host) in cohort.hosts.iter().enumerate() {
            all.insert((cohort.id.as_str(), host.as_str()), (number, place));
        }
    }
    all
}

fn cohort(cohort: &Cohort) -> CohortData {
    CohortData {
        id: plain(&cohort.id),
        name: plain(&values(&cohort.facts)),
        hosts: cohort.hosts.iter().map(|host| plain(host)).collect(),
        rows: cohort.rows.iter().map(row_data).collect(),
    }
}

fn row_data(of: &CohortRow) -> RowData {
    RowData {
        name: plain(&row(&of.name)),
        unit: unit(of.unit),
        median: of.median,
        spread: of.spread,
        detectable_percent: of.detectable_percent,
        odd: of.odd.clone(),
        packed: packed(&of.host, [&known(&of.estimate), &known(&of.low), &known(&of.high)]),
    }
}

/// Of figures that are known or of ends that may be unknown.
fn known<T: Copy + Into<Option<f64>>>(values: &[T]) -> Vec<f32> {
    values.iter().map(|value| (*value).into().map_or(f32::NAN, |value| value as f32)).collect()
}

fn packed(hosts: &[u32], columns: [&[f32]; 3]) -> String {
    let mut bytes = Vec::with_capacity(hosts.len() * 4 * (1 + columns.len()));
    bytes.extend(hosts.iter().flat_map(|host| host.to_le_bytes()));
    bytes.extend(columns.into_iter().flatten().flat_map(|value| value.to_le_bytes()));
    BASE64_STANDARD.encode(bytes)
}

fn odd_host(odd: &OddHost, (cohort, host): (usize, usize)) -> OddData {
    let rows = odd.rows.iter().map(|of| (plain(&row(&of.name)), difference(of), of.is_clear));
    OddData {
        cohort,
        host,
        q: odd.q,
        runs: odd.runs,
        rows: rows.collect(),
        differs: odd.differs.iter().map(|of| plain(&differs(of))).collect(),
        common_percent: odd.common_percent,
        moves_together: odd.moves_together,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::stays;

    #[test]
    fn no_asset_ends_its_own_element() {
        assert!([OWN_STYLE, SCRIPT].into_iter().all(stays));
    }

    #[test]
    fn what_is_packed_is_read_as_the_script_reads_it() {
        let text = packed(
            &[7, 1 << 20],
            [&known(&[1.5, 2.5]), &known(&[Some(1.0), None]), &known(&[Some(2.0), Some(3.0)])],
        );
        let bytes = BASE64_STANDARD.decode(text).unwrap();
        assert_eq!(bytes.len(), 2 * 16);
        assert_eq!(bytes[..8], [7, 0, 0, 0, 0, 0, 16, 0]);
        let floats: Vec<f32> =
            bytes[8..].chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
        assert_eq!((floats[..3].to_vec(), floats[4..].to_vec()), (vec![1.5, 2.5, 1.0], vec![2.0, 3.0]));
        assert!(floats[3].is_nan());
    }
}

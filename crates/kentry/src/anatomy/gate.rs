//! `kentry anatomy --fail-above`: how long a path may be. `docs/bisect.sh` asks by it which commit made one longer.

use attribution::anatomy::{Document, Followed, Part};
use std::str::FromStr;

/// The most instructions of a path, and of parts of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate(Vec<(Option<Part>, usize)>);

impl FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Gate, String> {
        let bounds = text.split(',').map(|bound| bound_of(bound.trim())).collect::<Result<Vec<_>, _>>()?;
        let twice = bounds
            .iter()
            .enumerate()
            .find(|(place, (part, _))| bounds[..*place].iter().any(|(known, _)| known == part));
        match twice {
            None => Ok(Gate(bounds)),
            Some((_, (Some(part), _))) => Err(format!("{0} has two bounds; write one: {0}=60", part.name())),
            Some((_, (None, _))) => Err("the path has two bounds; write one: 340".into()),
        }
    }
}

/// `340`, `work=60`
fn bound_of(text: &str) -> Result<(Option<Part>, usize), String> {
    let (part, count) = text.split_once('=').map_or((None, text), |(part, count)| (Some(part), count));
    let count = count
        .parse()
        .map_err(|_| format!("{count:?} is no number of instructions; write 340, or work=60"))?;
    let named = |name: &str| {
        Part::named(name)
            .ok_or_else(|| format!("there is no part {name:?}; `kentry anatomy --help` lists them"))
    };
    Ok((part.map(named).transpose()?, count))
}

impl Gate {
    /// What is longer than it may be, a sentence each.
    pub fn exceeded(&self, document: &Document) -> Vec<String> {
        document
            .paths
            .iter()
            .flat_map(|path| self.0.iter().filter_map(|bound| of_path(path, *bound)))
            .collect()
    }
}

fn of_path(path: &Followed, (part, most): (Option<Part>, usize)) -> Option<String> {
    let counted = |one: &&attribution::anatomy::Instruction| part.is_none_or(|part| one.part == part);
    let count = path.anatomy.instructions.iter().filter(counted).count();
    let what = part.map(|part| format!(" of {}", part.name())).unwrap_or_default();
    (count > most).then(|| {
        let configuration = &path.configuration;
        let boot = report::plain(&format!("Linux {}, {}", configuration.release, configuration.name()));
        format!("{boot}: the path has {count} instructions{what}, and --fail-above allows {most}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_of_the_path_and_of_parts() {
        let gate: Gate = "340, work=60".parse().unwrap();
        assert_eq!(gate, Gate(vec![(None, 340), (Some(Part::Work), 60)]));
        for (wrong, why) in [
            ("", "no number"),
            ("x=1", "no part \"x\""),
            ("work=", "no number"),
            ("-1", "no number"),
            ("work=60,340,work=50", "work has two bounds"),
            ("340,340", "the path has two bounds"),
        ] {
            assert!(wrong.parse::<Gate>().unwrap_err().contains(why), "{wrong}");
        }
    }
}

//! What the paths of a document are called beside each other.

use attribution::anatomy::{BootedConfiguration, Document};

/// Of each path what sets it apart from the others: its kernel, its parameters, its processor.
pub(super) fn names(document: &Document) -> Vec<String> {
    let all: Vec<&BootedConfiguration> = document.paths.iter().map(|path| &path.configuration).collect();
    let differ = |of: &dyn Fn(&BootedConfiguration) -> String| {
        let words: Vec<String> = all.iter().map(|one| of(one)).collect();
        let is_one = words.windows(2).all(|two| two[0] == two[1]);
        (!is_one).then_some(words)
    };
    let cpus = differ(&|one| one.cpu.clone());
    let kernels = kernels(&all);
    let parameters = differ(&BootedConfiguration::name).or_else(|| {
        // Something has to be said of each.
        let is_said = cpus.is_some() || kernels.is_some();
        (!is_said).then(|| all.iter().map(|one| one.name()).collect())
    });
    let said: Vec<Vec<String>> = [kernels, parameters, cpus].into_iter().flatten().collect();
    (0..all.len())
        .map(|place| {
            let words: Vec<&str> =
                said.iter().filter_map(|words| words.get(place)).map(String::as_str).collect();
            words.join(" ")
        })
        .collect()
}

/// What the kernels are called where there are several: by their releases, or their files where those are not enough.
fn kernels(all: &[&BootedConfiguration]) -> Option<Vec<String>> {
    let is_one = all.windows(2).all(|two| (&two[0].release, &two[0].file) == (&two[1].release, &two[1].file));
    if is_one {
        return None;
    }
    let tells_apart = |one: &&BootedConfiguration, other: &&BootedConfiguration| {
        one.file == other.file || one.release != other.release
    };
    let is_told = all.iter().all(|one| all.iter().all(|other| tells_apart(one, other)));
    let of = |one: &&BootedConfiguration| if is_told { one.release.clone() } else { one.file.clone() };
    let words: Vec<String> = all.iter().map(of).collect();
    Some(if is_told { shortened(&words) } else { words })
}

/// Without what all releases end with: `6.1.0-56` and `6.12.117+deb12` of two that end with `-cloud-amd64`.
fn shortened(releases: &[String]) -> Vec<String> {
    let Some(first) = releases.first() else { return Vec::new() };
    let is_end = |place: &usize| {
        let (before, end) = first.split_at(*place);
        let of = |release: &String| {
            release.strip_suffix(end).is_some_and(|short| short.contains(|c: char| c.is_ascii_digit()))
        };
        !before.is_empty() && end.starts_with(['-', '+']) && releases.iter().all(of)
    };
    let place = (0..first.len()).filter(|place| first.is_char_boundary(*place)).find(is_end);
    let end = place.map_or("", |place| &first[place..]);
    releases.iter().map(|release| release.strip_suffix(end).unwrap_or(release).to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_lose_the_end_that_all_have() {
        let short = |releases: &[&str]| {
            let releases: Vec<String> = releases.iter().map(|one| one.to_string()).collect();
            shortened(&releases).join(" ")
        };
        assert_eq!(short(&["6.1.0-56-cloud-amd64", "6.12.117+deb12-cloud-amd64"]), "6.1.0-56 6.12.117+deb12");
        assert_eq!(short(&["6.12.100+deb12-cloud-amd64", "6.12.111+deb12-cloud-amd64"]), "6.12.100 6.12.111");
        assert_eq!(short(&["6.1.0-56-amd64", "6.1.0-56-cloud-amd64"]), "6.1.0-56 6.1.0-56-cloud");
        assert_eq!(short(&["6.1.0", "6.1.1"]), "6.1.0 6.1.1");
        assert_eq!(short(&["-a", "-a"]), "-a -a");
        assert_eq!(short(&["é-x", ""]), "é-x ");
    }
}

//! The nearest of some names to one that does not exist.

/// Names that are less like it than this, from 0 to 1, are other names.
const LIKE: f64 = 0.8;

/// `; did you mean …?`, if a name is similar to the one that was asked for.
pub fn nearest<'a>(asked: &str, names: impl Iterator<Item = &'a str>) -> String {
    let nearest =
        names.map(|name| (strsim::jaro_winkler(asked, name), name)).max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((likeness, name)) if likeness > LIKE => format!("; did you mean {name}?"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn what_is_not_near_is_not_suggested() {
        let names = || ["gnu-mach", "getppid", "json", "off"].into_iter();
        assert_eq!(nearest("nosuch", names()), "");
        assert_eq!(nearest("pdf", names()), "");
        for (word, near) in [("getpid", "getppid"), ("jsn", "json"), ("of", "off"), ("gnumach", "gnu-mach")] {
            assert_eq!(nearest(word, names()), format!("; did you mean {near}?"));
        }
    }
}

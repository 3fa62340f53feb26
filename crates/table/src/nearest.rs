//! The nearest of some names to one that does not exist.

/// `; did you mean …?`, if a name is similar to the one that was asked for.
pub fn nearest<'a>(asked: &str, names: impl Iterator<Item = &'a str>) -> String {
    let nearest =
        names.map(|name| (strsim::jaro_winkler(asked, name), name)).max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((likeness, name)) if likeness > 0.7 => format!("; did you mean {name}?"),
        _ => String::new(),
    }
}

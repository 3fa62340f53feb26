//! What messages say of the features that switches require.

/// What messages call a feature: by CPUID's name for it, unless the lab's kernel or the emulator decides as well.
pub fn name(feature: &str) -> String {
    match feature {
        "protected" => "protected mode".to_owned(),
        "limits" => "checks of segment limits, which QEMU's TCG does not make".to_owned(),
        other => other.to_uppercase(),
    }
}

/// The options of `kentry lab` that bring all of some features, as far as options do; of others the CPU decides alone.
pub fn options<'a>(features: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut all: Vec<&str> = Vec::new();
    for option in features.into_iter().flat_map(options_of) {
        if !all.contains(option) {
            all.push(option);
        }
    }
    (!all.is_empty()).then(|| all.join(" "))
}

fn options_of(feature: &str) -> &'static [&'static str] {
    match feature {
        "protected" => &["--lab-kernel i386"],
        "limits" => &["--lab-kernel i386", "--bochs"],
        _ => &[],
    }
}

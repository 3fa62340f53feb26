//! What messages say of the features that switches require.

/// What messages call a feature: by CPUID's name for it, unless the lab's kernel or the emulator decides as well.
pub fn name(feature: &str) -> String {
    match feature {
        "protected" => "protected mode".to_owned(),
        "limits" => "limits of segments".to_owned(),
        "legacysyscall" => "AMD's syscall in protected mode".to_owned(),
        other => other.to_uppercase(),
    }
}

/// The options of `kentry lab` that bring a feature; `None` where only the CPU decides.
pub fn options(feature: &str) -> Option<&'static str> {
    match feature {
        "protected" => Some("--lab-kernel i386"),
        "limits" => Some("--lab-kernel i386 --bochs"),
        "legacysyscall" => Some("--lab-kernel i386 --cpu-model EPYC"),
        _ => None,
    }
}

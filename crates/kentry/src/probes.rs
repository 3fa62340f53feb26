//! How the probes of one kentry come to another one: `kentry probes FOLDER` writes them, with what must be known of them on standard
//! output. What comes from another program is checked before it is used.

use crate::error::Error;
use measure::Probes;
use nix::fcntl::OFlag;
use places::host::Scratch;
use process::{Command, Isolation, Limits, Program};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use table::Probe;

/// The most that another kentry writes of its probes, in bytes.
const MOST: usize = 1 << 16;

/// The largest probe, in bytes.
const LARGEST: u64 = 64 << 20;

/// What is known of probes.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    kentry: String,
    compiler: Option<String>,
    /// SHA-256 of each, by its name, which is its file's.
    probes: BTreeMap<String, String>,
}

/// Writes the probes of this kentry to a folder that is there, and returns what is known of them, as JSON.
///
/// # Errors
/// [`Error::Output`] for a file that cannot be written.
pub fn write(folder: &Path) -> Result<Vec<u8>, Error> {
    for probe in Probe::ALL {
        let target = folder.join(probe.name());
        std::fs::write(&target, places::host::image(probe))
            .and_then(|()| std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o755)))
            .map_err(|source| Error::Output { target, source })?;
    }
    let Probes { kentry, compiler, hashes } = Probes::embedded();
    let manifest = Manifest { kentry, compiler, probes: hashes };
    let mut text = serde_json::to_vec(&manifest).unwrap_or_default();
    text.push(b'\n');
    Ok(text)
}

/// The probes of another kentry.
#[derive(Debug)]
pub struct Foreign {
    /// What is known of them.
    pub probes: Probes,
    /// The programs.
    pub images: BTreeMap<Probe, Vec<u8>>,
}

/// Has another kentry write its probes, and reads them.
///
/// # Errors
/// [`Error::Environment`] when it is no kentry that can do that.
pub fn of_other(program: &Path, limits: &Limits) -> Result<Foreign, Error> {
    let failed = |why: String| {
        let program = report::plain_os(program.as_os_str());
        Error::Environment(format!(
            "{program} is taken for another kentry, by its name, but its probes cannot be had: {why}"
        ))
    };
    let folder =
        Scratch::in_folder(&std::env::temp_dir(), 0o700).map_err(|error| failed(error.to_string()))?;
    let command = Command {
        arguments: vec!["probes".into(), folder.path().into()],
        ..Command::new(Program::Named(program.into()), Isolation::Session)
    };
    let limits = Limits { output: MOST, ..limits.clone() };
    let ended = process::run(&command, &limits).map_err(|error| match error {
        process::Error::Interrupted => Error::Interrupted,
        error => failed(format!("it {error}")),
    })?;
    if !ended.status.success() {
        let said = ended.messages.lines().next().unwrap_or("it said nothing").to_string();
        return Err(failed(format!(
            "`kentry probes` ended with {}: {said} (a kentry without that command can be compared by its runs: \
             kentry compare RUN RUN)",
            ended.status
        )));
    }
    let manifest: Manifest = serde_json::from_slice(&ended.output)
        .map_err(|error| failed(format!("what it says of them is no manifest: {error}")))?;
    let mut images = BTreeMap::new();
    for probe in Probe::ALL {
        images.insert(probe, image(&folder.path().join(probe.name()), probe, &manifest).map_err(failed)?);
    }
    let Manifest { kentry, compiler, probes } = manifest;
    Ok(Foreign { probes: Probes { kentry, compiler, hashes: probes }, images })
}

/// Reads a probe that is the one that the manifest names.
fn image(file: &Path, probe: Probe, manifest: &Manifest) -> Result<Vec<u8>, String> {
    let name = probe.name();
    let bytes = read(file).map_err(|error| format!("{name}: {error}"))?;
    match manifest.probes.get(name) {
        Some(hash) if *hash == Probes::hash(&bytes) => Ok(bytes),
        _ => Err(format!("{name} is not the one that it describes")),
    }
}

/// Reads a regular file that another program wrote. No link is followed, and nothing is waited for.
fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let opened = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(file)?;
    if !opened.metadata()?.is_file() {
        return Err(std::io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    opened.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(std::io::Error::other(format!("it is longer than {LARGEST} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use places::host::Interrupt;
    use std::time::Duration;

    fn limits() -> Limits {
        Limits { time: Duration::from_secs(60), output: 0, interrupt: Interrupt::default() }
    }

    /// What becomes of a program that is such a script.
    fn of_script(script: &str) -> Result<Foreign, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kentry-other");
        std::fs::write(&file, format!("#!/bin/sh\n{script}")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        of_other(&file, &limits()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_one_writes_another_reads() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = write(folder.path()).unwrap();
        std::fs::write(folder.path().join("manifest"), manifest).unwrap();
        let from = folder.path().display();
        let copy = format!("cp {from}/probe* $2/ && cat {from}/manifest");
        let foreign = of_script(&copy).unwrap();
        assert_eq!(foreign.probes, Probes::embedded());
        assert_eq!(foreign.images[&Probe::Probe32], places::host::image(Probe::Probe32));
        let error = of_script(&format!("{copy}; echo >> $2/probe64")).unwrap_err();
        assert!(error.ends_with("probe64 is not the one that it describes"), "{error}");
        let error = of_script(&format!("cat {from}/manifest")).unwrap_err();
        assert!(error.contains("probe64: No such file"), "{error}");
    }

    #[test]
    fn a_probe_that_is_no_regular_file_is_not_read() {
        let manifest = r#"echo '{"kentry": "1", "compiler": null, "probes": {}}'"#;
        for (script, why) in [
            ("ln -s /dev/zero $2/probe64", "Too many levels of symbolic links"),
            ("mkfifo $2/probe64", "it is no regular file"),
            ("truncate -s 67108865 $2/probe64", "it is longer than 67108864 bytes"),
        ] {
            let error = of_script(&format!("{script}; {manifest}")).unwrap_err();
            assert!(error.contains("probe64: ") && error.contains(why), "{script}: {error}");
        }
    }

    #[test]
    fn what_is_no_kentry_is_said_to_be_none() {
        assert!(of_script("echo what?").unwrap_err().contains("is no manifest"));
        let error = of_script("echo unrecognized subcommand >&2; exit 2").unwrap_err();
        assert!(
            error.contains("unrecognized subcommand") && error.contains("compared by its runs"),
            "{error}"
        );
        let error = of_other(Path::new("/nowhere/kentry"), &limits()).unwrap_err().to_string();
        assert!(error.contains("could not be started") && error.contains("/nowhere/kentry"), "{error}");
    }
}

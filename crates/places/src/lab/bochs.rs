//! Bochs: slower than QEMU, but closer to the processors that it emulates.

use crate::emulator::{Command, Trouble as OfProgram};
use crate::lab::disk::{HEADS, SECTORS, disk};
use crate::lab::{Guest, Limits, Mode, Trouble, kernel};
use process::{Pipe, file_in_memory, inherited};
use std::borrow::Cow;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

const PACKAGES: &str = "bochs bochs-term bochsbios vgabios";

/// Where Debian installs its plugins; each display is a separate package.
const PLUGINS: &str = "/usr/lib/x86_64-linux-gnu/bochs/plugins";

/// The plugin of the only display that needs neither a screen nor a network.
const DISPLAY: &str = "libbx_term_gui.so";

/// The longest that Bochs may take to say something about itself; it takes milliseconds.
const TIME: Duration = Duration::from_secs(10);

/// Debian's Bochs is built with its debugger, which waits for this command to continue.
const DEBUGGER: &[u8] = b"continue\n";

/// Starts the debugger from Bochs 3.1 on, which before always starts, and knows no such option. With it, the clock advances with every
/// instruction; without it, once for several that stand in a row, so that stamps between them would not count those.
const START_DEBUGGER: &str = "-debugger";

/// A virtual machine of Bochs.
#[derive(Debug, Clone)]
pub struct Bochs {
    /// The program.
    pub program: OsString,
    /// The processor that the guest sees.
    pub cpu_model: String,
    /// The [`kernel`] for long mode, unless another is asked for, or a test boots one of its own.
    pub kernel: Cow<'static, [u8]>,
}

/// A Bochs program.
#[derive(Debug, Clone, PartialEq, Eq)]
struct About {
    /// `Bochs 2.7`
    version: String,
    models: Vec<String>,
}

impl Bochs {
    /// Ticks in a second: the machine's clocks count instructions (`clock: sync=none`), and this many make a second. Few, because the
    /// guest waits for its serial line, which takes as long as a real one: 87 microseconds a byte. Not fewer than its clocks can do
    /// (`LEAST_HERTZ`, `lab/time/frequency.c`).
    pub const HERTZ: u64 = 5_000_000;

    /// With this processor, or by default with one that supports every switch of the kernel.
    pub fn new(cpu_model: Option<&str>) -> Bochs {
        let cpu_model = cpu_model.unwrap_or("tigerlake").to_string();
        Bochs { program: "bochs".into(), cpu_model, kernel: kernel(Mode::Long).into() }
    }

    /// The same with the kernel for a mode.
    pub fn in_mode(self, mode: Mode) -> Bochs {
        Bochs { kernel: kernel(mode).into(), ..self }
    }

    /// Boots an archive whose plan has so many programs and checks.
    ///
    /// # Errors
    /// When Bochs or its display is not there.
    pub fn boot(&self, archive: &[u8], programs: usize, limits: &Limits) -> Result<Guest, Trouble> {
        if Path::new(PLUGINS).is_dir() && !Path::new(PLUGINS).join(DISPLAY).exists() {
            let program = format!("{DISPLAY}, Bochs's text display,");
            return Err(OfProgram::Missing { program, packages: PACKAGES }.into());
        }
        let disk = file_in_memory("disk", &disk(&self.kernel, archive)?)?;
        let starts_debugger = self.help(&[], limits)?.contains(START_DEBUGGER);
        Guest::boot(self.command(disk, starts_debugger)?, programs, limits)
    }

    /// Its name and version, `Bochs 2.7`.
    ///
    /// # Errors
    /// When it cannot be started, or does not know the processor.
    pub fn version(&self, limits: &Limits) -> Result<String, Trouble> {
        let about = about(&self.help(&["cpu"], limits)?);
        if about.models.is_empty() || about.models.contains(&self.cpu_model) {
            return Ok(about.version);
        }
        let models = about.models.join(", ");
        let unknown = format!("Bochs knows no processor {:?}; it knows {models}", self.cpu_model);
        Err(OfProgram::Files(unknown).into())
    }

    /// What it says about itself.
    fn help(&self, about: &[&str], limits: &Limits) -> Result<String, Trouble> {
        let arguments = ["--help"].iter().chain(about).map(OsString::from).collect();
        let limits = Limits { time: limits.time.min(TIME), ..limits.clone() };
        let ended = self.with(arguments, Vec::new(), None).run(&limits)?;
        Ok(format!("{}\n{}", String::from_utf8_lossy(&ended.output), ended.messages))
    }

    fn command(&self, disk: OwnedFd, starts_debugger: bool) -> Result<Command, Trouble> {
        let serial = Pipe::new().map_err(|error| OfProgram::Program { program: "Bochs".into(), error })?;
        let debugger = file_in_memory("debugger", DEBUGGER)?;
        let text = configuration(&self.cpu_model, &inherited(&disk), &inherited(&serial.theirs));
        let configuration = file_in_memory("configuration", text.as_bytes())?;
        let arguments = ["-q", "-f", &inherited(&configuration), "-rc", &inherited(&debugger)];
        let debugs = starts_debugger.then_some(START_DEBUGGER);
        let arguments = arguments.into_iter().chain(debugs).map(OsString::from).collect();
        Ok(self.with(arguments, vec![disk, debugger, configuration], Some(serial)))
    }

    fn with(&self, arguments: Vec<OsString>, files: Vec<OwnedFd>, records: Option<Pipe>) -> Command {
        Command { program: self.program.clone(), packages: PACKAGES, arguments, files, records, cpu: None }
    }
}

/// `fastboot` waits for nobody to choose what is booted. A drive without a disc stands where the BIOS would wait for a second one that never
/// answers, for almost a third of a boot's instructions. An access to a register that the processor does not have raises #GP, as it does on a processor.
fn configuration(cpu_model: &str, disk: &str, serial: &str) -> String {
    let hertz = Bochs::HERTZ;
    format!(
        "cpu: model={cpu_model}, count=1, ips={hertz}, reset_on_triple_fault=0, ignore_bad_msrs=0\n\
         memory: guest=256, host=256\n\
         romimage: file=$BXSHARE/BIOS-bochs-latest, options=fastboot\n\
         vgaromimage: file=$BXSHARE/VGABIOS-lgpl-latest\n\
         display_library: term\n\
         sound: driver=dummy\n\
         ata0-master: type=disk, mode=flat, path={disk}, cylinders=0, heads={HEADS}, spt={SECTORS}\n\
         ata0-slave: type=cdrom, path=none, status=ejected\n\
         boot: disk\n\
         com1: enabled=1, mode=file, dev={serial}\n\
         clock: sync=none\n\
         log: /dev/stderr\n\
         panic: action=fatal\n\
         error: action=ignore\n\
         info: action=ignore\n"
    )
}

/// From what `bochs --help cpu` says.
fn about(text: &str) -> About {
    let version = text.split_once("x86 Emulator ").and_then(|(_, rest)| rest.split_whitespace().next());
    let models = text.split_once("Supported CPU models:").map_or("", |(_, rest)| rest);
    let is_name =
        |line: &&str| line.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !line.is_empty();
    About {
        version: version.map_or_else(|| "Bochs".into(), |version| format!("Bochs {version}")),
        models: models.trim_start().lines().take_while(is_name).map(str::to_string).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_processors_are_found_in_what_it_says() {
        let text = "0i[      ] BXSHARE not set.\nSupported CPU models:\n\nbx_generic\ncorei7_skylake_x\ntigerlake\n\n0i[SIM   ] \
                    quit_sim called with exit code 0\n====\n     Bochs x86 Emulator 2.7\n  Built from SVN\n";
        let models = ["bx_generic", "corei7_skylake_x", "tigerlake"].map(str::to_string).into();
        assert_eq!(about(text), About { version: "Bochs 2.7".into(), models });
        assert_eq!(about(""), About { version: "Bochs".into(), models: Vec::new() });
    }

    #[test]
    fn a_bochs_whose_debugger_does_not_start_by_itself_counted_several_instructions_as_none() {
        let command = |starts| {
            let disk = file_in_memory("disk", b"").unwrap();
            Bochs::new(None).command(disk, starts).unwrap().arguments
        };
        let (old, new) = (command(false), command(true));
        assert_eq!((old.len(), new.len()), (5, 6));
        assert!(!old.contains(&"-debugger".into()) && new.last().unwrap() == "-debugger");
    }

    #[test]
    fn its_configuration() {
        let text = configuration("tigerlake", "/proc/self/fd/5", "/proc/self/fd/6");
        assert!(text.starts_with("cpu: model=tigerlake, count=1, ips=5000000,"), "{text}");
        assert!(text.contains("path=/proc/self/fd/5, ") && text.contains("dev=/proc/self/fd/6\n"), "{text}");
    }
}

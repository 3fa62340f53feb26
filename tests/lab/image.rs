//! The image that `kentry lab --iso` writes, booted by each firmware: its screen shows what goes to the serial port, page by
//! page. What is drawn is read back: pixels by the kernel's own font, a text screen from its memory.

use crate::guest::{limits, skipped};
use crate::kernel::Kernel;
use lab::{Line, Plan};
use record::{Request, abi};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};
use table::Table;

/// Longer than any boot here takes on a machine that does other things, too.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the kernel is told, so that its pages turn faster than for a person.
const HERTZ: u64 = 200_000_000;

/// The widest line that the screen has, and what is between two columns of lines.
const WIDTH: usize = 76;
const GAP: usize = 2;

/// Debian's and Fedora's UEFI for virtual machines.
const OVMF: [&str; 2] = ["/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/edk2/ovmf/OVMF_CODE.fd"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Firmware {
    Bios,
    Uefi,
}

/// A machine that has the image as a USB stick.
struct Machine {
    child: Child,
    monitor: ChildStdin,
    folder: tempfile::TempDir,
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Machine {
    /// None, having said why, where something that it takes is missing.
    fn boot(firmware: Firmware, plan: &Plan) -> Option<Machine> {
        let ovmf = OVMF.into_iter().find(|file| Path::new(file).exists());
        if firmware == Firmware::Uefi && ovmf.is_none() {
            skipped(&"no UEFI firmware for QEMU (Debian: apt install ovmf)");
            return None;
        }
        let archive = lab::pack(plan, &lab::probes()).unwrap();
        let image = match lab::image(&archive, &limits()) {
            Err(trouble @ lab::Trouble::Missing { .. }) => {
                skipped(&trouble);
                return None;
            }
            image => image.unwrap(),
        };
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::write(path("image"), image).unwrap();
        let mut arguments = vec!["-M", "q35", "-m", "256", "-nodefaults", "-display", "none", "-vga", "std"];
        arguments.extend(["-accel", "tcg", "-cpu", "max,vendor=GenuineIntel", "-monitor", "stdio"]);
        arguments.extend(["-device", "qemu-xhci", "-device", "usb-storage,drive=stick", "-snapshot"]);
        let mut command = Command::new("qemu-system-x86_64");
        command.args(arguments).arg("-serial").arg(format!("file:{}", path("serial")));
        command.arg("-drive").arg(format!("if=none,id=stick,format=raw,file={}", path("image")));
        if let (Firmware::Uefi, Some(ovmf)) = (firmware, ovmf) {
            command.arg("-drive").arg(format!("if=pflash,format=raw,readonly=on,file={ovmf}"));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else {
            skipped(&"no qemu-system-x86_64 (Debian: apt install qemu-system-x86)");
            return None;
        };
        let monitor = child.stdin.take().unwrap();
        Some(Machine { child, monitor, folder })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the kernel has written to the serial port, after what firmware and GRUB have written there.
    fn serial(&self) -> String {
        let bytes = fs::read(self.file("serial")).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).replace('\r', "");
        text.rfind("kentry lab on ").map_or(String::new(), |at| text[at..].to_string())
    }

    /// The lines that the kernel wrote, when it is done.
    fn lines(&self) -> Vec<String> {
        let start = Instant::now();
        while !self.serial().contains("\ndone; the machine can be switched off\n") {
            assert!(start.elapsed() < PATIENCE, "not done: {}", self.serial());
            std::thread::sleep(Duration::from_millis(100));
        }
        let text = self.serial();
        text.lines().map(String::from).collect()
    }

    /// A file that the monitor makes.
    fn made(&mut self, command: &str, name: &str, whole: usize) -> Vec<u8> {
        let file = self.file(name);
        let _ = fs::remove_file(&file);
        writeln!(self.monitor, "{command}").unwrap();
        let start = Instant::now();
        loop {
            match fs::read(&file) {
                Ok(bytes) if bytes.len() >= whole => return bytes,
                _ => assert!(start.elapsed() < PATIENCE, "{command}"),
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Rows of the text screen. Without quotes, the file's name would be divided by.
    fn letters(&mut self) -> Vec<String> {
        let command = format!("pmemsave 0xb8000 4000 \"{}\"", self.file("letters").display());
        let cells = self.made(&command, "letters", 4000);
        let row = |row: &[u8]| row.chunks(2).map(|cell| char::from(cell[0])).collect();
        cells.chunks(2 * 80).map(row).collect()
    }

    /// Rows of the drawn screen, each cell by the letter that the kernel's font draws so.
    fn pixels(&mut self, font: &[u8]) -> Vec<String> {
        let command = format!("screendump {}", self.file("pixels").display());
        loop {
            let picture = self.made(&command, "pixels", 16);
            let Some((width, height, bytes)) = picture_of(&picture) else { continue };
            let lit = |x: usize, y: usize| bytes[(y * width + x) * 3] != 0;
            let cell = |row: usize, column: usize| {
                let line =
                    |y| (0..8).fold(0, |bits, x| bits << 1 | u8::from(lit(column * 8 + x, row * 16 + y)));
                let drawn: Vec<u8> = (0..16).map(line).collect();
                let letter = font.chunks(16).position(|glyph| glyph == drawn);
                letter.map_or('\u{fffd}', |at| char::from(b' ' + at as u8))
            };
            return (0..height / 16).map(|row| (0..width / 8).map(|at| cell(row, at)).collect()).collect();
        }
    }
}

/// Width, height and pixels of three bytes; none while it is being written.
fn picture_of(file: &[u8]) -> Option<(usize, usize, &[u8])> {
    let mut parts = file.splitn(4, |byte| *byte == b'\n');
    let (magic, size) = (parts.next()?, parts.next()?);
    assert_eq!(magic, b"P6");
    let (width, height) = std::str::from_utf8(size).ok()?.split_once(' ')?;
    let (width, height): (usize, usize) = (width.parse().ok()?, height.parse().ok()?);
    let pixels = parts.nth(1)?;
    (pixels.len() == width * height * 3).then_some((width, height, pixels))
}

/// Pages of rows, as a screen of this size should show these lines; without the last row, which tells which page it is.
fn pages(lines: &[String], columns: usize, rows: usize) -> Vec<Vec<String>> {
    let mut stacks: Vec<Vec<String>> = vec![Vec::new()];
    let mut headings: Vec<&String> = Vec::new();
    for line in lines {
        let level = if line.starts_with("entry ") { Some(0) } else { line.starts_with("-- ").then_some(1) };
        let parts: Vec<String> =
            line.as_bytes().chunks(WIDTH).map(|part| String::from_utf8_lossy(part).into()).collect();
        let needed = parts.len() + usize::from(level.is_some());
        headings.truncate(level.unwrap_or(2));
        if stacks.last().unwrap().len() + needed > rows - 1 {
            stacks.push(headings.iter().map(|heading| heading.to_string()).collect());
        }
        stacks.last_mut().unwrap().extend(parts);
        headings.extend(level.map(|_| line));
    }
    let abreast = (columns + GAP) / (WIDTH + GAP);
    let row = |page: &[Vec<String>], row: usize| {
        let cells = page.iter().map(|stack| stack.get(row).map_or("", String::as_str));
        let row = cells.map(|cell| format!("{cell:WIDTH$}")).collect::<Vec<_>>().join(&" ".repeat(GAP));
        row.trim_end().to_string()
    };
    stacks.chunks(abreast).map(|page| (0..rows - 1).map(|at| row(page, at)).collect()).collect()
}

/// So many rows in each of two configurations.
fn plan(rows: usize) -> Plan {
    let table = Table::get();
    let entry = table.entry("syscall-x86_64").unwrap();
    let mut lines = vec![Line::Tsc(HERTZ), Line::Screen, Line::Limit(1_000_000_000)];
    for value in ["off", "on"] {
        lines.push(Line::Set(vec![("pti".into(), value.into())]));
        for operation in table.operations.iter().cycle().take(rows) {
            let request = Request {
                entry: entry.id,
                operation: operation.id,
                blocks: 1,
                ticks: 1_000_000_000,
                bursts: 0,
                parent: abi::LAB_PARENT,
                cpu: abi::LAB_CPU,
                path: false,
                samples: 3,
            };
            let arguments = request.arguments();
            lines.push(Line::Run { file: entry.probe.name().into(), arguments });
        }
    }
    Plan { lines }
}

/// Looks until every page has been seen; each must be exactly what it should be.
fn see_all(lines: &[String], mut look: impl FnMut() -> Vec<String>) -> usize {
    let start = Instant::now();
    let first = look();
    let pages = pages(lines, first[0].chars().count(), first.len());
    let mut seen = vec![false; pages.len()];
    while seen.contains(&false) {
        assert!(start.elapsed() < PATIENCE, "of {} pages, seen are {seen:?}", pages.len());
        let screen: Vec<String> = look().iter().map(|row| row.trim_end().to_string()).collect();
        let (status, rows) = screen.split_last().unwrap();
        let Some(page) = pages.iter().position(|page| page == rows) else { continue };
        // The rows of a page are drawn before its number.
        seen[page] |= status.starts_with(&format!("page {} of {}", page + 1, pages.len()));
    }
    pages.len()
}

#[test]
fn by_uefi_what_is_drawn_is_the_text() {
    let Some(mut machine) = Machine::boot(Firmware::Uefi, &plan(60)) else { return };
    let lines = machine.lines();
    assert!(lines.len() > 120, "{lines:?}");
    let kernel = Kernel::read();
    let font = kernel.data("font", 95 * 16);
    assert_eq!(see_all(&lines, || machine.pixels(font)), 2);
}

#[test]
fn by_bios_the_text_screen_turns_its_pages() {
    let Some(mut machine) = Machine::boot(Firmware::Bios, &plan(20)) else { return };
    let lines = machine.lines();
    assert!(lines.len() > 40, "{lines:?}");
    assert_eq!(see_all(&lines, || machine.letters()), 3);
}

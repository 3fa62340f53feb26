//! The image that `kentry lab --iso` writes, booted by each firmware: its screen shows what goes to the serial port, page by
//! page. What is drawn is read back: pixels by the kernel's own font, a text screen from its memory.

use crate::guest::limits;
use crate::kernel::Kernel;
use crate::skipped::skipped;
use crate::whole::is_whole;
use places::lab::{Line, Mode, Plan};
use record::{Request, abi};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};
use table::Table;

/// Longer than any boot here takes on a machine that does other things, too.
const PATIENCE: Duration = Duration::from_secs(300);

/// What the kernel is told, so that its pages turn faster than for a person.
const HERTZ: u64 = 200_000_000;

/// The widest line that the screen has, and what is between two columns of lines.
const WIDTH: usize = 76;
const GAP: usize = 2;

/// Debian's and Fedora's UEFI for virtual machines.
const OVMF: [&str; 2] = ["/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/edk2/ovmf/OVMF_CODE.fd"];

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Firmware {
    Bios,
    Uefi,
}

/// What the image has been copied to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    Usb,
    Cd,
}

/// A folder with an image, and with what machines that boot it leave behind.
pub struct Image {
    folder: tempfile::TempDir,
}

impl Image {
    /// None, having said why, where something that it takes is missing.
    fn make(plan: &Plan) -> Option<Image> {
        Image::make_in(Mode::Long, plan)
    }

    /// The same with the kernel for this mode.
    pub fn make_in(mode: Mode, plan: &Plan) -> Option<Image> {
        let archive = places::lab::pack(plan, &places::lab::probes()).unwrap();
        let bytes = match places::lab::image(mode, &archive, &limits()) {
            Err(trouble) if trouble.is_missing() => {
                skipped(trouble);
                return None;
            }
            bytes => bytes.unwrap(),
        };
        let image = Image { folder: tempfile::tempdir().unwrap() };
        fs::write(image.file("image"), bytes).unwrap();
        Some(image)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The file of this name on the partition that UEFI boots from.
    fn of_efi_partition(&self, name: &str) -> String {
        let image = fs::read(self.file("image")).unwrap();
        let partition = format!("{}@@{}", self.file("image").display(), efi_partition(&image));
        let copied = Command::new("mtype").args(["-i", &partition, &format!("::{name}")]).output().unwrap();
        assert!(copied.status.success(), "{name}: {}", String::from_utf8_lossy(&copied.stderr));
        String::from_utf8(copied.stdout).unwrap()
    }
}

/// The byte at which the partition begins (UEFI Specification 2.10, 5.3: blocks of 512 bytes, the header in the second).
fn efi_partition(image: &[u8]) -> u64 {
    const KIND: [u8; 16] =
        [0x28, 0x73, 0x2a, 0xc1, 0x1f, 0xf8, 0xd2, 0x11, 0xba, 0x4b, 0, 0xa0, 0xc9, 0x3e, 0xc9, 0x3b];
    let number = |at: usize| u64::from_le_bytes(*image[at..].first_chunk().unwrap());
    assert_eq!(&image[512..520], b"EFI PART");
    let entries = number(512 + 72) as usize * 512;
    let entry = (entries..).step_by(128).find(|at| image[*at..].starts_with(&KIND)).unwrap();
    number(entry + 32) * 512
}

/// A machine that boots an image.
pub struct Machine<'a> {
    child: Child,
    monitor: ChildStdin,
    image: &'a Image,
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Machine<'_> {
    /// None, having said why, where something that it takes is missing.
    pub fn boot(image: &Image, firmware: Firmware, medium: Medium) -> Option<Machine<'_>> {
        let ovmf = OVMF.into_iter().find(|file| Path::new(file).exists());
        if firmware == Firmware::Uefi && ovmf.is_none() {
            skipped("no UEFI firmware for QEMU (Debian: apt install ovmf)");
            return None;
        }
        let path = |name: &str| image.file(name).display().to_string();
        let _ = fs::remove_file(image.file("serial"));
        let mut arguments = vec!["-M", "q35", "-m", "256", "-nodefaults", "-display", "none", "-vga", "std"];
        arguments.extend(["-accel", "tcg", "-cpu", "max,vendor=GenuineIntel", "-monitor", "stdio"]);
        let mut command = Command::new("qemu-system-x86_64");
        command.args(arguments).arg("-serial").arg(format!("file:{}", path("serial")));
        if medium == Medium::Cd {
            command.arg("-cdrom").arg(path("image"));
        } else {
            command.args(["-device", "qemu-xhci", "-device", "usb-storage,drive=stick"]);
            command.arg("-drive").arg(format!("if=none,id=stick,format=raw,file={}", path("image")));
        }
        if let (Firmware::Uefi, Some(ovmf)) = (firmware, ovmf) {
            command.arg("-drive").arg(format!("if=pflash,format=raw,readonly=on,file={ovmf}"));
        }
        let answers = fs::File::create(image.file("monitor")).unwrap();
        command.stdin(Stdio::piped()).stdout(answers).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else {
            skipped("no qemu-system-x86_64 (Debian: apt install qemu-system-x86)");
            return None;
        };
        let monitor = child.stdin.take().unwrap();
        Some(Machine { child, monitor, image })
    }

    /// What the kernel has written to the serial port, after what firmware and GRUB have written there.
    fn serial(&self) -> String {
        let bytes = fs::read(self.image.file("serial")).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).replace('\r', "");
        text.rfind("kentry lab on ").map_or(String::new(), |at| text[at..].to_string())
    }

    /// The lines that the kernel wrote, when it is done.
    pub fn lines(&self) -> Vec<String> {
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
        let file = self.image.file(name);
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

    /// Asks the monitor again and again, until one of its answers has a line like this.
    fn ask_until(&mut self, command: &str, is_it: impl Fn(&str) -> bool) {
        let start = Instant::now();
        loop {
            writeln!(self.monitor, "{command}").unwrap();
            std::thread::sleep(Duration::from_millis(50));
            let text = fs::read(self.image.file("monitor")).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            if text.lines().any(&is_it) {
                return;
            }
            assert!(start.elapsed() < PATIENCE / 10, "{command}: {text}");
        }
    }

    /// Rows of the text screen. Without quotes, the file's name would be divided by.
    pub fn letters(&mut self) -> Vec<String> {
        let command = format!("pmemsave 0xb8000 4000 \"{}\"", self.image.file("letters").display());
        let cells = self.made(&command, "letters", 4000);
        let row = |row: &[u8]| row.chunks(2).map(|cell| char::from(cell[0])).collect();
        cells.chunks(2 * 80).map(row).collect()
    }

    /// Rows of the drawn screen, each cell by the letter that the kernel's font draws so.
    pub fn pixels(&mut self, font: &[u8]) -> Vec<String> {
        let command = format!("screendump {}", self.image.file("pixels").display());
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

/// The rows that a line takes: it is broken at spaces, which are on neither row, or within a word that is longer than a row.
fn parts_of(line: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = line;
    loop {
        let part = match rest.len() {
            0..=WIDTH => rest.len(),
            _ => rest[..=WIDTH].rfind(' ').filter(|at| *at > 0).unwrap_or(WIDTH),
        };
        parts.push(rest[..part].to_string());
        rest = rest[part..].trim_start_matches(' ');
        if rest.is_empty() {
            return parts;
        }
    }
}

#[test]
fn a_row_ends_between_words() {
    let words = "seven77 ".repeat(10);
    assert_eq!(parts_of(words.trim_end()), [words[..71].to_string(), words[72..79].to_string()]);
    let long = "x".repeat(WIDTH + 1);
    assert_eq!(parts_of(&long), [long[1..].to_string(), "x".to_string()]);
    assert_eq!(parts_of(""), [""]);
}

/// Pages of rows, as a screen of this size should show these lines; without the last row, which tells which page it is.
fn pages(lines: &[String], columns: usize, rows: usize) -> Vec<Vec<String>> {
    let mut stacks: Vec<Vec<String>> = vec![Vec::new()];
    let mut headings: Vec<&String> = Vec::new();
    for line in lines {
        let level = if line.starts_with("entry ") { Some(0) } else { line.starts_with("-- ").then_some(1) };
        let parts = parts_of(line);
        let needed = parts.len() + usize::from(level.is_some());
        headings.truncate(level.unwrap_or(2));
        if stacks.last().unwrap().len() + needed > rows - 1 {
            stacks.push(headings.iter().flat_map(|heading| parts_of(heading)).collect());
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
    plan_of("syscall-x86_64", rows)
}

/// The same of this entry.
pub fn plan_of(entry: &str, rows: usize) -> Plan {
    let table = Table::get();
    let entry = table.entry(entry).unwrap();
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
                footprint: record::Footprint::NONE,
                uses: 1,
            };
            let arguments = request.arguments();
            lines.push(Line::Run { file: entry.probe.name().into(), arguments });
        }
    }
    Plan { lines }
}

/// Looks until every page has been seen; each must be exactly what it should be.
pub fn see_all(lines: &[String], mut look: impl FnMut() -> Vec<String>) -> usize {
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

/// The image with these bytes at a symbol of its kernel.
fn break_kernel(image: &Image, symbol: &str, code: &[u8]) {
    let kernel = Kernel::read();
    let mut bytes = fs::read(image.file("image")).unwrap();
    let begin = &places::lab::kernel(places::lab::Mode::Long)[..4096];
    let at = bytes.windows(begin.len()).position(|window| window == begin).unwrap();
    let at = at + kernel.place(kernel.symbol(symbol));
    bytes[at..at + code.len()].copy_from_slice(code);
    fs::write(image.file("image"), bytes).unwrap();
}

/// What a kernel that does not come up says, with this exception at a symbol.
fn panic_at(symbol: &str) -> String {
    let at = Kernel::read().symbol(symbol);
    format!("panic: an exception in the kernel: vector 6, error code 0, at {at:x}, CR2 ")
}

/// Waits for this on the serial port; firmware and GRUB have written there before.
fn wait_for(machine: &Machine, words: &str) {
    let start = Instant::now();
    loop {
        let bytes = fs::read(machine.image.file("serial")).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if text.contains(words) {
            return;
        }
        assert!(start.elapsed() < PATIENCE / 3, "{text}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Waits for a row of the screen.
fn see(words: &str, mut look: impl FnMut() -> Vec<String>) {
    let start = Instant::now();
    loop {
        let rows = look();
        if rows.iter().any(|row| row.starts_with(words)) {
            return;
        }
        assert!(start.elapsed() < PATIENCE / 3, "{rows:#?}");
    }
}

/// The rows of the screen that a line begins with: the rest goes on in the next row.
fn first_row(line: &str) -> String {
    parts_of(line).swap_remove(0)
}

const UD2: &[u8] = &[0x0f, 0x0b];

#[test]
fn what_goes_wrong_before_the_plan_is_read_is_text_for_a_person() {
    let (first_tables, own_tables) = ("cpu_find_features", "strays_silence");
    for (symbol, firmware) in [
        (first_tables, Firmware::Bios),
        (own_tables, Firmware::Uefi),
        (first_tables, Firmware::Uefi),
        (own_tables, Firmware::Bios),
    ]
    .into_iter()
    .take(if is_whole() { 4 } else { 2 })
    {
        let words = panic_at(symbol);
        let Some(image) = Image::make(&plan(1)) else { return };
        break_kernel(&image, symbol, UD2);
        let Some(mut machine) = Machine::boot(&image, firmware, Medium::Usb) else { return };
        wait_for(&machine, &words);
        match firmware {
            Firmware::Bios => see(&first_row(&words), || machine.letters()),
            Firmware::Uefi => {
                let kernel = Kernel::read();
                see(&first_row(&words), || machine.pixels(kernel.data("font", 95 * 16)));
            }
        }
    }
}

#[test]
fn by_uefi_an_exception_between_both_page_tables_is_reported() {
    let Some(image) = Image::make(&plan(1)) else { return };
    break_kernel(&image, "efi_gates", UD2);
    let Some(machine) = Machine::boot(&image, Firmware::Uefi, Medium::Usb) else { return };
    wait_for(&machine, &panic_at("efi_gates"));
}

/// No firmware of QEMU's has them: the kernel is made to see them.
#[test]
fn page_tables_of_five_levels_are_refused_through_the_firmwares_console() {
    let Some(image) = Image::make(&plan(1)) else { return };
    // push $-1; pop %rsi, in place of mov %cr4, %rsi
    break_kernel(&image, "efi_levels", &[0x6a, 0xff, 0x5e]);
    let Some(machine) = Machine::boot(&image, Firmware::Uefi, Medium::Usb) else { return };
    wait_for(&machine, "kentry lab: the firmware uses page tables of five levels");
}

#[test]
fn by_bios_what_goes_wrong_in_32_bit_code_is_on_the_screen() {
    let Some(image) = Image::make(&plan(1)) else { return };
    break_kernel(&image, "start_32_gates", UD2);
    let Some(mut machine) = Machine::boot(&image, Firmware::Bios, Medium::Usb) else { return };
    see("panic: an exception before 64-bit mode: vector 06", || machine.letters());
}

/// The line that tells what became of the file; what was written before it.
pub fn told_of_file(lines: &[String]) -> (&str, String) {
    let at = lines.len() - 2;
    (&lines[at], lines[..at].iter().map(|line| format!("{line}\n")).collect())
}

/// The file that this boot left behind, which holds what it has written before it tells so.
fn check_file(image: &Image, lines: &[String], name: &str) {
    let (told, text) = told_of_file(lines);
    assert_eq!(told, format!("written to {name} on the partition that the machine was booted from"));
    assert!(text.contains("\n-- ") && text.contains("\nsyscall-x86_64 "), "{text}");
    assert_eq!(image.of_efi_partition(name), text, "{name}");
}

/// OVMF's timer is the local APIC's; the lab has masked and stopped it, and had interrupts off.
fn check_timer(machine: &mut Machine) {
    machine.ask_until("info lapic", |line| line.starts_with("LVTT") && !line.contains("masked"));
    machine.ask_until("info lapic", |line| line.starts_with("Timer") && !line.contains("initial_count = 0 "));
    machine.ask_until("info registers", |line| {
        let flags = line.split_once("RFL=").and_then(|(_, rest)| rest.split_whitespace().next());
        flags.is_some_and(|flags| u64::from_str_radix(flags, 16).unwrap() & 0x200 != 0)
    });
}

#[test]
fn by_uefi_what_is_drawn_is_the_text_each_boot_leaves_a_file_and_the_firmwares_timer_ticks_again() {
    // More than one page: behind a single one the machine stops.
    let Some(image) = Image::make(&plan(60)) else { return };
    let Some(mut machine) = Machine::boot(&image, Firmware::Uefi, Medium::Usb) else { return };
    let first = machine.lines();
    assert!(first.len() > 120, "{first:?}");
    let kernel = Kernel::read();
    let font = kernel.data("font", 95 * 16);
    assert_eq!(see_all(&first, || machine.pixels(font)), 2);
    check_timer(&mut machine);
    drop(machine);
    let Some(machine) = Machine::boot(&image, Firmware::Uefi, Medium::Usb) else { return };
    let second = machine.lines();
    drop(machine);
    check_file(&image, &first, "KENTRY01.TXT");
    check_file(&image, &second, "KENTRY02.TXT");
}

#[test]
fn why_there_is_no_file_is_told() {
    let Some(image) = Image::make(&plan(1)) else { return };
    for (firmware, medium, why) in [
        (
            Firmware::Uefi,
            Medium::Cd,
            "no file was written: no file can be made on what the machine was booted from",
        ),
        (Firmware::Bios, Medium::Usb, "no file was written: this takes UEFI; the serial line has the text"),
    ] {
        let Some(machine) = Machine::boot(&image, firmware, medium) else { return };
        assert_eq!(told_of_file(&machine.lines()).0, why);
    }
}

#[test]
fn by_bios_the_text_screen_turns_its_pages() {
    let Some(image) = Image::make(&plan(20)) else { return };
    let Some(mut machine) = Machine::boot(&image, Firmware::Bios, Medium::Usb) else { return };
    let lines = machine.lines();
    assert!(lines.len() > 40, "{lines:?}");
    assert_eq!(see_all(&lines, || machine.letters()), 3);
}

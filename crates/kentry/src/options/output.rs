//! What a result is written as, and where.

use crate::error::Error;
use crate::output::Target;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, ValueEnum, ValueHint};
use report::{Format, Kind, Selection, Style};
use std::path::{Path, PathBuf};

/// Width of a table that is not written to a terminal, in columns.
pub const WIDTH: usize = 100;

/// What a result is written as, and where. A command whose results are not what a run is written as says so by [`formats`].
#[derive(Debug, Clone, Args)]
#[command(mut_arg("format", formats(Kind::RUN)))]
pub struct OutputArgs {
    // Help and values are those of `formats`.
    #[arg(long, value_name = "FORMAT", value_parser = one_format(Kind::RUN.formats))]
    pub format: Option<Format>,
    /// Write it to this file, whole or not at all, instead of standard output (-); may be given several times, for a format each. Text is
    /// written under .txt, .log and no ending
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Vec<PathBuf>,
    /// When to use color; NO_COLOR is respected too
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_short_help = true)]
    pub color: Color,
}

/// How to show rows, and where.
#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// What they are written as
    #[command(flatten)]
    pub to: OutputArgs,
    /// Show every row, not only those of the first screen; rows that --entry or --operation name are always shown
    #[arg(short, long)]
    pub all: bool,
    /// Show more columns, the evidence for findings, and every row on a line of its own
    #[arg(short, long)]
    pub verbose: bool,
}

impl ShowArgs {
    /// How rows look; `named` where the command line names them.
    pub fn look(&self, named: bool) -> Look {
        if named || self.all || self.verbose {
            return Look::whole(self.verbose);
        }
        Look { verbose: false, selection: Selection::FirstScreen }
    }
}

/// `--format` of a command whose results are of this kind.
pub fn formats(kind: Kind) -> impl FnOnce(Arg) -> Arg {
    let endings: Vec<String> =
        kind.formats.iter().flat_map(|format| format.endings()).map(|ending| format!(".{ending}")).collect();
    let (endings, usual) = (endings.join(", "), kind.formats.first().map_or("", |format| format.name()));
    let help =
        format!("How to show it [default: what the ending of --output says, {endings}; otherwise {usual}]");
    move |arg| arg.help(help).value_parser(one_format(kind.formats))
}

/// One of these, by its name or, as in a file's name, by an ending: `md` is `markdown`.
fn one_format(all: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    let named = |format: &Format| PossibleValue::new(format.name()).aliases(format.endings());
    PossibleValuesParser::new(all.iter().map(named)).try_map(|word| {
        let is = |format: &&Format| format.name() == word || format.endings().contains(&word.as_str());
        all.iter().find(is).copied().ok_or_else(|| format!("there is no {word:?}"))
    })
}

/// How a result looks, wherever it is written.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// More columns, or evidence.
    pub verbose: bool,
    /// Which rows.
    pub selection: Selection,
}

impl Look {
    /// Of a result that is always shown whole, with no more than is usual.
    pub const WHOLE: Look = Look::whole(false);

    /// Of a result that is shown whole.
    pub const fn whole(verbose: bool) -> Look {
        Look { verbose, selection: Selection::All }
    }
}

impl OutputArgs {
    /// Nothing was asked for.
    pub const USUAL: OutputArgs = OutputArgs { format: None, output: Vec::new(), color: Color::Auto };

    /// Opens all that a result of this kind is written to, before there is one: what cannot be written must not be measured.
    ///
    /// # Errors
    /// [`Error::Usage`] when a file's ending or the format that was asked for is not of this kind; [`Error::Output`] when a file cannot be
    /// written.
    pub fn open(&self, kind: Kind) -> Result<Outputs, Error> {
        if self.output.len() > 1 && self.format.is_some() {
            let why = "several --output have the format that the ending of each says; leave out --format";
            return Err(Error::Usage(why.into()));
        }
        let standard = [PathBuf::from("-")];
        let paths = if self.output.is_empty() { standard.as_slice() } else { self.output.as_slice() };
        let formats = paths.iter().map(|path| self.format_of(path, kind)).collect::<Result<Vec<_>, _>>()?;
        let outputs = paths.iter().zip(formats).map(|(path, format)| {
            Ok(Output { target: Target::open(Some(path))?, format, color: self.color })
        });
        Ok(Outputs(outputs.collect::<Result<Vec<_>, Error>>()?))
    }

    /// Text under an ending that promises something else would be read as that.
    fn format_of(&self, path: &Path, kind: Kind) -> Result<Format, Error> {
        let of_file = Format::of_file(path);
        if let Some(other) = of_file.filter(|format| !kind.is_written_in(*format)) {
            let (path, hint) = (report::plain_os(path.as_os_str()), made_elsewhere(other, kind));
            return Err(Error::Usage(format!(
                "--output {path}: {} is written as {}{hint}",
                kind.name,
                kind.in_words()
            )));
        }
        let asked = self.format.or(of_file).or(kind.formats.first().copied()).unwrap_or(Format::Text);
        if !kind.is_written_in(asked) {
            return Err(Error::Usage(format!(
                "--format {asked}: {} is written as {}{}",
                kind.name,
                kind.names(),
                made_elsewhere(asked, kind)
            )));
        }
        match of_file {
            Some(of_file) if of_file != asked && !(of_file.is_text() && asked.is_text()) => {
                Err(contradiction(path, of_file, asked))
            }
            None if self.format.is_none() => refuse_unknown_ending(path, kind).map(|()| asked),
            _ => Ok(asked),
        }
    }
}

/// Which command makes a format that this result is not written in. A plan is asked of the command that makes the result.
fn made_elsewhere(format: Format, kind: Kind) -> String {
    let makes = format.made_by();
    if kind == Kind::PLAN || makes.is_empty() { String::new() } else { format!("; {makes}") }
}

/// A file would be of another format than its ending says.
fn contradiction(path: &Path, of_file: Format, asked: Format) -> Error {
    let file = report::plain_os(path.as_os_str());
    let ending =
        asked.endings().first().map(|ending| format!(", or name the file .{ending}")).unwrap_or_default();
    Error::Usage(format!(
        "--output {file}: the ending says {of_file}, and --format says {asked}; leave out --format{ending}"
    ))
}

/// Endings of files that have text, besides those of formats.
const OF_TEXT: [&str; 2] = ["txt", "log"];

/// Text under an ending that nobody knows would be taken for something else. What has digits is no ending: `before-6.1`; and a
/// folder is refused as that, where it is opened.
fn refuse_unknown_ending(path: &Path, kind: Kind) -> Result<(), Error> {
    let ending = path.extension().map(|ending| report::plain_os(ending).to_lowercase()).unwrap_or_default();
    let is_ending = !ending.is_empty() && ending.chars().all(char::is_alphabetic);
    if !is_ending
        || path.is_dir()
        || OF_TEXT.contains(&ending.as_str())
        || !path.parent().is_some_and(is_folder_of_files)
    {
        return Ok(());
    }
    let endings = kind.formats.iter().flat_map(|format| format.endings()).copied();
    let hint = table::nearest(&ending, endings);
    let file = report::plain_os(path.as_os_str());
    Err(Error::Usage(format!(
        "--output {file}: no format has the ending .{ending}{hint} ({} is written as {}; --format says it for any ending)",
        kind.name,
        kind.in_words()
    )))
}

/// Whether what is in a folder is named by its user: not a device, and not a descriptor.
fn is_folder_of_files(folder: &Path) -> bool {
    !folder.starts_with("/dev") && !folder.starts_with("/proc")
}

/// A file, or standard output, that is open for a result.
struct Output {
    target: Target,
    format: Format,
    color: Color,
}

impl Output {
    fn write(self, bytes: &[u8]) -> Result<(), Error> {
        match self.format {
            Format::Ndjson => self.target.write_packed(bytes),
            format if format.is_text() => self.target.write_text(bytes),
            _ => self.target.write(bytes),
        }
    }
}

/// All that a result is written to.
pub struct Outputs(Vec<Output>);

impl Outputs {
    /// Of a result that something else is written of.
    pub fn none() -> Outputs {
        Outputs(Vec::new())
    }

    /// The same, and a file of this format besides, whatever its name ends in.
    ///
    /// # Errors
    /// [`Error::Output`] when it cannot be written.
    pub fn and(mut self, path: &Path, format: Format) -> Result<Outputs, Error> {
        self.0.push(Output { target: Target::open(Some(path))?, format, color: Color::Never });
        Ok(self)
    }

    /// The formats.
    pub fn formats(&self) -> impl Iterator<Item = Format> {
        self.0.iter().map(|output| output.format)
    }

    /// The files' names.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter_map(|output| output.target.path())
    }

    /// Whether it goes to a terminal.
    pub fn is_terminal(&self) -> bool {
        self.0.iter().any(|output| output.target.is_terminal())
    }

    /// Writes a result, which is rendered for each in its format and style.
    ///
    /// # Errors
    /// Those of `render`; [`Error::Output`] when something cannot be written. What was written before remains.
    pub fn write<E: Into<Error>>(
        self,
        look: Look,
        mut render: impl FnMut(Format, &Style) -> Result<Vec<u8>, E>,
    ) -> Result<(), Error> {
        let styles = self.styles(look);
        for (output, (format, style)) in self.0.into_iter().zip(styles) {
            output.write(&render(format, &style).map_err(Into::into)?)?;
        }
        Ok(())
    }

    /// How a result is rendered for each: what [`Outputs::write_each`] is given then.
    pub fn styles(&self, look: Look) -> Vec<(Format, Style)> {
        let Look { verbose, selection } = look;
        let style = |Output { target, format, color }: &Output| {
            (*format, Style { color: color.is_meant(target), width: width(target), verbose, selection })
        };
        self.0.iter().map(style).collect()
    }

    /// Writes a result that was rendered for each.
    ///
    /// # Errors
    /// As [`Outputs::write`].
    pub fn write_each(self, rendered: &[Vec<u8>]) -> Result<(), Error> {
        self.0.into_iter().zip(rendered).try_for_each(|(output, bytes)| output.write(bytes))
    }
}

/// The columns of what a result is written to.
pub fn width(target: &Target) -> usize {
    let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    columns.filter(|_| target.is_terminal()).unwrap_or(WIDTH)
}

/// When to use color.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Whether what is written there is colored.
    pub fn is_meant(self, target: &Target) -> bool {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => target.is_terminal() && !plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(format: Option<Format>, file: &str, kind: Kind) -> Result<Format, String> {
        let args = OutputArgs { format, ..OutputArgs::USUAL };
        args.format_of(Path::new(file), kind).map_err(|error| error.to_string())
    }

    #[test]
    fn an_ending_names_its_format_too() {
        let command = clap::Command::new("kentry");
        let of = |word: &str| one_format(Kind::RUN.formats).parse_ref(&command, None, word.as_ref()).ok();
        assert_eq!(
            (of("md"), of("markdown"), of("txt")),
            (Some(Format::Markdown), Some(Format::Markdown), Some(Format::Text))
        );
        assert_eq!((of("mdx"), of("xml")), (None, None), "a run is no JUnit");
    }

    #[test]
    fn the_format_is_what_was_asked_for_or_what_the_file_is_called() {
        let of = |asked, file: &str| format(asked, file, Kind::RUN).unwrap();
        assert_eq!([of(None, "-"), of(None, "run.txt"), of(None, "run")], [Format::Text; 3]);
        assert_eq!((of(None, "run.json"), of(None, "run.MD")), (Format::Json, Format::Markdown));
        assert_eq!([of(None, "run.log"), of(None, "before-6.1"), of(None, "/dev/fd/3")], [Format::Text; 3]);
        assert_eq!(
            (of(Some(Format::Csv), "run.data"), of(Some(Format::Csv), "run")),
            (Format::Csv, Format::Csv)
        );
        assert_eq!(format(Some(Format::Tree), "path.txt", Kind::ANATOMY), Ok(Format::Tree));
        assert_eq!(format(None, "-", Kind::PAGE), Ok(Format::Html));
    }

    #[test]
    fn text_was_written_under_an_ending_that_promised_a_page() {
        let why = |file: &str, kind| format(None, file, kind).unwrap_err();
        let page = "`kentry report RUN --output FILE.html` makes a page";
        assert_eq!(
            why("r.html", Kind::RUN),
            format!("--output r.html: a run is written as text, .json, .csv, .md and .ndjson; {page}")
        );
        assert!(why("r.svg", Kind::COMPARISON).ends_with(
            "; `kentry bill`, `kentry anatomy`, `kentry reproduce`, and `kentry linux` with --history or --kernel make pictures"
        ));
        let run = format(Some(Format::Svg), "-", Kind::RUN).unwrap_err();
        assert!(
            run.starts_with("--format svg: a run is written as text, json")
                && run.ends_with(" make pictures"),
            "{run}"
        );
        assert_eq!(format(Some(Format::Svg), "-", Kind::KERNELS), Ok(Format::Svg));
        assert!(why("r.json", Kind::PAGE).ends_with("a page is written as .html"));
        assert!(why("q.svg", Kind::PLAN).ends_with("q.svg: a plan is written as text and .json"));
        let plan = format(Some(Format::Csv), "-", Kind::PLAN).unwrap_err();
        assert_eq!(plan, "--format csv: a plan is written as text or json");
    }

    #[test]
    fn text_was_written_under_an_ending_that_nobody_knows_and_csv_into_json() {
        let why = |asked, file: &str| format(asked, file, Kind::RUN).unwrap_err();
        assert_eq!(
            why(None, "r.jsn"),
            "--output r.jsn: no format has the ending .jsn; did you mean json? (a run is written as text, .json, .csv, .md and .ndjson; --format \
             says it for any ending)"
        );
        assert!(why(None, "r.pdf").starts_with("--output r.pdf: no format has the ending .pdf (a run"));
        assert_eq!(
            why(Some(Format::Csv), "x.json"),
            "--output x.json: the ending says json, and --format says csv; leave out --format, or name the file .csv"
        );
        assert!(why(Some(Format::Json), "x.txt").contains("the ending says text"));
    }

    #[test]
    fn a_folder_was_told_that_its_name_has_an_unknown_ending() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("a.folder");
        std::fs::create_dir(&folder).unwrap();
        assert_eq!(format(None, folder.to_str().unwrap(), Kind::RUN), Ok(Format::Text));
    }

    #[test]
    fn several_files_have_a_format_each() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["a.json", "b.md", "-"]
            .map(|name| if name == "-" { name.into() } else { folder.path().join(name) });
        let args = OutputArgs { output: files.to_vec(), ..OutputArgs::USUAL };
        let open = args.open(Kind::RUN).unwrap();
        assert_eq!(open.formats().collect::<Vec<_>>(), [Format::Json, Format::Markdown, Format::Text]);
        assert_eq!(open.files().collect::<Vec<_>>(), files[..2].to_vec());
        let both = OutputArgs { format: Some(Format::Json), ..args };
        let why = both.open(Kind::RUN).err().unwrap().to_string();
        assert!(why.contains("leave out --format"), "{why}");
    }
}

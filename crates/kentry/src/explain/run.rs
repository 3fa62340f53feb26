//! `kentry explain`: from arguments to the exit code.

use crate::error::Error;
use crate::exit::UNFINISHED;
use crate::explain::ExplainArgs;
use crate::messages::note;
use crate::options::output::width;
use crate::os::{locale, pager};
use crate::output::{Target, print};
use crate::prices::LabRuns;
use crate::this_machine::ThisMachine;
use report::{Selection, Style};
use std::process::ExitCode;
use table::Table;

/// The latest run that has rows of what is explained. That none can be read is no reason not to explain it.
fn latest_of(explained: &super::Explained) -> Option<document::Document> {
    let latest = explained.latest()?;
    crate::input::latest_with(latest, |document| explained.is_in(document)).unwrap_or_else(|error| {
        note(&error.to_string());
        None
    })
}

/// On a terminal the text is formatted for it; elsewhere it remains Markdown.
pub fn run(args: &ExplainArgs) -> Result<ExitCode, Error> {
    if args.example {
        return print(super::example(Table::get(), &args.name)?.as_bytes());
    }
    let named = args.run.as_deref().map(crate::input::document).transpose()?;
    let text = if super::like_here::is_meant(&args.name) {
        match &named {
            Some(document) => super::like_here::explain(&document.environment),
            None => super::like_here::explain(&ThisMachine::capture(None)?.environment),
        }
    } else {
        let explained = super::Explained::of(Table::get(), &args.name)?;
        let document = named.or_else(|| latest_of(&explained));
        explained.text(document.as_ref(), &LabRuns::default())
    };
    let quoted = match &args.anatomy {
        None => String::new(),
        Some(Some(file)) => super::anatomy::quote(Table::get(), &args.name, file)?,
        Some(None) => match crate::anatomy::usual(&args.name)? {
            Ok(document) => super::anatomy::parts(&document),
            Err(why) => {
                note(&why);
                return Ok(ExitCode::from(UNFINISHED));
            }
        },
    };
    let text = text + &quoted;
    let text = locale::text(&text);
    let color = args.color.is_meant(&Target::Standard);
    if !color && !Target::Standard.is_terminal() {
        return print(text.as_bytes());
    }
    let style = Style { color, width: width(&Target::Standard), verbose: false, selection: Selection::All };
    let text = report::prose(&text, &style);
    if pager::show(&text) { Ok(ExitCode::SUCCESS) } else { print(text.as_bytes()) }
}

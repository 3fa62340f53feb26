//! A reproduction as a picture. Every bar is named where it stands, so that nothing hangs on telling colors apart.
//!
//! Texts go through [`xml`](crate::plain::xml) and are escaped by the template; there is no script, and nothing is loaded.

use super::bars::{Bar, Row, Scale, Whose, legend, scales};
use crate::Error;
use crate::picture::{self, Axis, LINE, Px, Swatch, TOP, Text, Tick, shortened};
use crate::plain::xml;
use askama::Template;
use compare::published::Reproduction;

/// Heights, in the picture's units: a bar with the room below it, and the room below a row.
const BAR: f64 = 17.0;
const BETWEEN: f64 = 6.0;

/// The most characters that there is room for: the title, a line of text, the name of a row.
const TITLE: usize = 88;
const TEXT: usize = 140;
const NAME: usize = 24;

/// What the template is filled with.
#[derive(Template)]
#[template(path = "reproduction.svg")]
struct Picture {
    height: Px,
    title: String,
    /// For who does not see it.
    description: String,
    lines: Vec<Text>,
    legend: Vec<Swatch>,
    panels: Vec<Panel>,
}

/// Charts with one axis.
struct Panel {
    unit: String,
    ticks: Vec<Tick>,
    /// Where the lines of the axis begin and end.
    axis: (Px, Px),
    texts: Vec<Text>,
    names: Vec<Text>,
    bars: Vec<Drawn>,
}

/// A bar, or what stands for it.
struct Drawn {
    class: &'static str,
    label: &'static str,
    text_y: Px,
    figure: String,
    times: String,
    /// Where it begins, its height, and how long it is; none of what is unknown.
    place: Option<(Px, Px, Px)>,
    /// The interval: where it begins and ends, and at which height.
    interval: Option<(Px, Px, Px)>,
    title: String,
}

/// A picture of published figures against those of here.
///
/// # Errors
/// [`Error`] when the template refuses, which it has no reason to.
pub fn svg(reproduction: &Reproduction) -> Result<Vec<u8>, Error> {
    let scales = scales(reproduction);
    let facts = super::head(reproduction).into_iter().filter(|(label, _)| ABOVE.contains(label));
    let lines = picture::lines(facts.map(|(label, text)| format!("{label}: {text}")), TEXT);
    let mut at = TOP + LINE * lines.len() as f64;
    let legend = swatches(&legend(&scales), &mut at);
    let panels = scales.iter().map(|scale| panel(scale, &mut at)).collect();
    let title = format!("kentry reproduce {}: {}", reproduction.name, reproduction.title);
    let picture = Picture {
        height: Px(at + LINE),
        title: shortened(&xml(&title), TITLE),
        description: xml(&description(reproduction, &scales)),
        lines,
        legend,
        panels,
    };
    let mut text = picture.render()?;
    text.push('\n');
    Ok(text.into_bytes())
}

/// The facts above the picture: whoever sees it alone must know where both sides are from.
const ABOVE: [&str; 5] = ["published", "cited", "there", "here", "differs"];

/// The figures in sentences.
fn description(reproduction: &Reproduction, scales: &[Scale]) -> String {
    let mut sentences = vec![reproduction.about.clone()];
    for scale in scales {
        for chart in &scale.charts {
            let bars = |row: &Row| {
                let each = row.bars.iter().map(|bar| format!("{} {}", bar.label, bar.text));
                format!("{}: {}", row.name, each.collect::<Vec<_>>().join(", "))
            };
            let rows: Vec<String> = chart.rows.iter().map(bars).collect();
            sentences.push(format!("{}: {}.", chart.heading(&scale.unit), rows.join("; ")));
        }
    }
    sentences.join(" ")
}

const fn class(whose: Whose) -> &'static str {
    match whose {
        Whose::Published => "published",
        Whose::Loop => "loop",
        Whose::Kentry => "kentry",
        Whose::Counted => "counted",
    }
}

fn swatches(legend: &[Whose], at: &mut f64) -> Vec<Swatch> {
    let swatches = picture::swatches(legend.iter().map(|whose| (class(*whose), whose.what())), *at, 44.0);
    *at += 2.0 * LINE;
    swatches
}

fn panel(scale: &Scale, at: &mut f64) -> Panel {
    let lengths = scale.bars().filter_map(|bar| bar.length);
    let ends = scale.bars().filter_map(|bar| bar.ends).flatten();
    let axis = Axis::of(&lengths.chain(ends).collect::<Vec<_>>());
    *at += LINE;
    let begin = *at;
    let (mut texts, mut names, mut bars) = (Vec::new(), Vec::new(), Vec::new());
    for chart in &scale.charts {
        *at += LINE + 2.0;
        texts.push(Text { y: Px(*at - 5.0), text: shortened(&xml(&chart.title), NAME) });
        for row in &chart.rows {
            names.push(Text { y: Px(*at + 11.0), text: shortened(&xml(&row.name), NAME) });
            for bar in &row.bars {
                bars.push(drawn(bar, &row.name, &axis, *at));
                *at += BAR;
            }
            *at += BETWEEN;
        }
    }
    let axis_y = (Px(begin), Px(*at));
    *at += LINE;
    Panel { unit: scale.unit.clone(), ticks: axis.ticks(), axis: axis_y, texts, names, bars }
}

fn drawn(bar: &Bar, row: &str, axis: &Axis, y: f64) -> Drawn {
    let place = bar.length.map(|length| {
        let (x, width) = axis.between(0.0, length);
        (Px(x), Px(y), Px(width))
    });
    let interval = bar.ends.map(|[low, high]| {
        let (x, width) = axis.between(low, high);
        (Px(x), Px(x + width), Px(y + BAR / 2.0 - 1.5))
    });
    Drawn {
        class: class(bar.whose),
        label: bar.label,
        text_y: Px(y + 11.0),
        figure: bar.text.clone(),
        times: bar.times.clone().unwrap_or_default(),
        place,
        interval,
        title: xml(&format!(
            "{row}, {}: {}",
            bar.whose.what(),
            if bar.is_known() { &bar.text } else { "unknown" }
        )),
    }
}

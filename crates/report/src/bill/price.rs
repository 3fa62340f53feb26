//! What one setting adds, in a sentence.

use super::words;
use crate::figure::number;
use crate::plain;
use crate::runs::short;
use attribution::bill::{Figure, Price, Unit};
use document::Document;

/// `4 instructions alone, 4 beside 12 other settings; of getppid through syscall-x86_64, counted in an emulator …`: what a run of the
/// lab tells of a setting, in which unit, on what, and when.
pub fn price(price: &Price, document: &Document) -> String {
    let is_counted = price.unit == Unit::Instructions;
    let figure = |figure: &Figure| match is_counted {
        true if figure.estimate == 0.0 => "no instruction".to_owned(),
        true if figure.estimate.abs() == 1.0 => format!("{:.0} instruction", figure.estimate),
        true => format!("{:.0} instructions", figure.estimate),
        false => format!("{} {} {}", number(figure.estimate), words::error(figure), price.unit.name()),
    };
    let base = price.base.as_ref().map(|base| format!(" (was {base})")).unwrap_or_default();
    let alone = price.alone.as_ref().map(|alone| format!("{} alone", figure(alone)));
    let company = price.in_company.as_ref().map(|(company, others)| {
        let settings = if *others == 1 { "setting" } else { "settings" };
        format!("{} beside {others} other {settings}", figure(company))
    });
    let figures = alone.into_iter().chain(company).collect::<Vec<_>>().join(", ");
    let how = if is_counted { "counted in an emulator, not timed" } else { "timed" };
    let Price { entry, operation, .. } = price;
    let (began, id) = (&document.measurement.started, document.id.as_deref().map(short));
    let day = began.split('T').next().unwrap_or_default();
    let run = id.map(|id| format!(", run {id}")).unwrap_or_default();
    plain(&format!("{figures}{base}; {operation} through {entry}, {how}, {day}{run}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(alone: Option<f64>, in_company: Option<(f64, usize)>, unit: Unit) -> String {
        let figure = |estimate: f64| match unit {
            Unit::Instructions => Figure::count(estimate),
            _ => Figure { low: Some(estimate - 2.0), high: Some(estimate + 3.0), ..Figure::count(estimate) },
        };
        let of = Price {
            entry: "int3".into(),
            operation: "getppid".into(),
            base: None,
            alone: alone.map(figure),
            in_company: in_company.map(|(estimate, others)| (figure(estimate), others)),
            unit,
        };
        let mut document = Document::empty();
        document.measurement.started = "2026-11-22T21:24:38.882Z".into();
        document.id = Some("73b1af53ba4b2af7dc3a138cd1862017".into());
        price(&of, &document)
    }

    #[test]
    fn a_price_says_how_and_when_it_was_measured() {
        assert_eq!(
            shown(Some(1.0), Some((0.0, 12)), Unit::Instructions),
            "1 instruction alone, no instruction beside 12 other settings; getppid through int3, counted in an emulator, not timed, \
             2026-11-22, run 73b1af53"
        );
        assert_eq!(
            shown(None, Some((412.0, 1)), Unit::Cycles),
            "412.0 ±3.0 cycles beside 1 other setting; getppid through int3, timed, 2026-11-22, run 73b1af53"
        );
    }
}

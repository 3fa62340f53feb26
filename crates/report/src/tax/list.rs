//! The layers that there are.

use crate::grid::{Column, Grid, Words};
use crate::line::{look, written};
use crate::{Error, Format, Kind, Style, json};
use layers::Layer;
use serde::Serialize;

/// A layer, for programs.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    group: &'static str,
    what: &'static str,
}

/// All layers, in `format`.
///
/// # Errors
/// [`Error`] when a serializer refuses; no layers make it do so.
pub fn layers(all: &[Layer], format: Format, style: &Style) -> Result<Vec<u8>, Error> {
    #[derive(Serialize)]
    struct All {
        layers: Vec<Listed>,
    }
    match format {
        Format::Text => {
            let grid = Grid::of(all)
                .column(Column::word("").look(look::NAME), |layer| layer.name)
                .words(Words::BEHIND, |layer| format!("{}: {}", layer.group.title(), layer.what));
            Ok(written(&grid.grid().lines(style.columns()), style))
        }
        Format::Json => {
            let listed =
                |layer: &Layer| Listed { name: layer.name, group: layer.group.title(), what: layer.what };
            json::render(&All { layers: all.iter().map(listed).collect() })
        }
        Format::Csv => grid(all).csv(),
        Format::Markdown => Ok(grid(all).markdown().into_bytes()),
        _ => Err(Error::unfit(Kind::LIST, format)),
    }
}

fn grid(all: &[Layer]) -> Grid {
    Grid::of(all)
        .column(Column::text("name"), |layer| layer.name)
        .column(Column::text("group"), |layer| layer.group.title())
        .column(Column::text("what"), |layer| layer.what)
        .grid()
}

//! Text as a terminal without color shows it.

/// Without the escape sequences of colors.
pub fn without(text: &str) -> String {
    let pieces = text.split("\u{1b}[").enumerate();
    pieces.map(|(index, piece)| if index == 0 { piece } else { piece.split_once('m').unwrap().1 }).collect()
}

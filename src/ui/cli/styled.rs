//! Text for people with the parts that have a colour, and tables in it. It is laid out only when it is printed, for the width and the
//! colours of the place to which it goes. Whatever is put in was made visible: nothing of others reaches a terminal raw.

use std::ops::Add;

use super::grid::StyledGrid;
use super::screen_look::ScreenLook;
use super::visible;
use super::visible::width;
use super::words::fold_points;
use axiom_model::base::screen_colors::ColoredPart;

/// A text with colours and tables.
#[derive(Debug, Clone, Default)]
pub struct StyledText {
    pieces: Vec<StyledPiece>,
}

#[derive(Debug, Clone)]
enum StyledPiece {
    Text(Option<ColoredPart>, String),
    /// Text that is not folded: where its line is too long, it stands in the next one.
    Whole(Option<ColoredPart>, String),
    /// Whole lines that are never folded: what they say changes if they are.
    Verbatim(String),
    Grid(StyledGrid),
}

impl StyledText {
    /// No text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whole lines that are never folded, such as those of a script.
    pub fn verbatim(text: &str) -> Self {
        Self { pieces: vec![StyledPiece::Verbatim(visible::text(text).into_owned())] }
    }

    /// Adds text of any number of lines.
    pub fn push_str(&mut self, text: &str) {
        self.push(None, text);
    }

    /// Adds text in the colour of a part, if it has one.
    pub fn push(&mut self, part: impl Into<Option<ColoredPart>>, text: &str) {
        if !text.is_empty() {
            self.pieces.push(StyledPiece::Text(part.into(), visible::text(text).into_owned()));
        }
    }

    /// Adds the end of a line that is to be copied, such as a command.
    pub fn push_whole(&mut self, part: impl Into<Option<ColoredPart>>, text: &str) {
        if !text.is_empty() {
            self.pieces.push(StyledPiece::Whole(part.into(), visible::line(text).into_owned()));
        }
    }

    /// Adds a table, at the beginning of a line.
    pub fn push_grid(&mut self, grid: StyledGrid) {
        self.pieces.push(StyledPiece::Grid(grid));
    }

    /// Adds another text.
    pub fn append(&mut self, other: impl Into<Self>) {
        self.pieces.extend(other.into().pieces);
    }

    /// The text for no terminal in particular.
    pub fn plain(&self) -> String {
        self.laid_out(ScreenLook::default())
    }

    /// The text as it is printed.
    pub fn laid_out(&self, look: ScreenLook<'_>) -> String {
        let (mut out, mut line) = (String::new(), Vec::new());
        for piece in &self.pieces {
            match piece {
                StyledPiece::Grid(grid) => {
                    put_line(&mut line, look, &mut out);
                    out.push_str(&grid.laid_out(look));
                }
                StyledPiece::Verbatim(text) => {
                    put_line(&mut line, look, &mut out);
                    out.push_str(text);
                }
                StyledPiece::Whole(part, text) => {
                    let begun: usize = line.iter().map(|(_, text): &(_, &str)| width(text)).sum();
                    if look.columns.is_some_and(|columns| begun + width(text) > columns) {
                        put_line(&mut line, look, &mut out);
                        out.push_str("\n    ");
                    }
                    line.push((*part, text));
                }
                StyledPiece::Text(part, text) => {
                    for (place, rest) in text.split('\n').enumerate() {
                        if place > 0 {
                            put_line(&mut line, look, &mut out);
                            out.push('\n');
                        }
                        line.push((*part, rest));
                    }
                }
            }
        }
        put_line(&mut line, look, &mut out);
        out
    }
}

/// Puts the parts of one line behind what was laid out, folded where they are too long.
fn put_line(line: &mut Vec<(Option<ColoredPart>, &str)>, look: ScreenLook<'_>, out: &mut String) {
    let plain: String = line.iter().map(|(_, text)| *text).collect();
    let points =
        look.columns.filter(|columns| width(&plain) > *columns).map(|columns| fold_points(&plain, columns, hang(&plain)));
    let (mut at, mut points) = (0, points.unwrap_or_default().into_iter().peekable());
    for (part, text) in line.drain(..) {
        let (mut rest, end) = (text, at + text.len());
        while let Some(point) = points.next_if(|point| *point < end) {
            let (before, after) = rest.split_at_checked(point - at).unwrap_or((rest, ""));
            out.push_str(&look.painted(part, before.trim_end()));
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', hang(&plain)));
            rest = after.trim_start_matches(' ');
            at = point + after.len() - rest.len();
        }
        out.push_str(&look.painted(part, rest));
        at = end;
    }
}

/// By how many spaces the folded parts of a line are set in.
fn hang(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len() + 2
}

impl From<String> for StyledText {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<&str> for StyledText {
    fn from(text: &str) -> Self {
        let mut styled = Self::new();
        styled.push_str(text);
        styled
    }
}

impl From<StyledGrid> for StyledText {
    fn from(grid: StyledGrid) -> Self {
        Self { pieces: vec![StyledPiece::Grid(grid)] }
    }
}

impl<T: Into<StyledText>> Add<T> for StyledText {
    type Output = Self;

    fn add(mut self, more: T) -> Self {
        self.append(more);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axiom_model::base::screen_colors::ScreenSettings;

    fn narrow(columns: usize, settings: &ScreenSettings) -> ScreenLook<'_> {
        ScreenLook { columns: Some(columns), colors: Some(settings) }
    }

    #[test]
    fn parts_have_their_colour_also_where_a_line_is_folded() {
        let mut text = StyledText::from("  a ");
        text.push(ColoredPart::Failed, "failed task");
        text.push_str(" x\nb\n");
        let settings = ScreenSettings::default();
        assert_eq!(text.laid_out(ScreenLook::default()), "  a failed task x\nb\n");
        assert_eq!(text.laid_out(narrow(11, &settings)), "  a \x1b[1;31mfailed\x1b[m\n    \x1b[1;31mtask\x1b[m x\nb\n");
    }

    #[test]
    fn text_of_others_is_shown_and_not_obeyed() {
        let mut text = StyledText::from("\x1b[2Ja".to_owned());
        text.push(ColoredPart::Done, "\x1b[m");
        assert_eq!(text.laid_out(ScreenLook::default()), "\\e[2Ja\\e[m");
    }
}

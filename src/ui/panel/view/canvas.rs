//! Cells, and the one way by which text gets on them: escaped, cut at its width.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

use crate::cli::visible;

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PanelColours {
    /// The sixteen colours of the terminal, so that they fit a light and a dark one.
    Sixteen,
    /// None: `NO_COLOR`.
    None,
}

/// How a text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextTone {
    /// As it is.
    Plain,
    /// Less important.
    Dim,
    /// A heading.
    Strong,
    /// All is well.
    Good,
    /// Something waits.
    Warn,
    /// Something is wrong.
    Bad,
    /// A key, a name.
    Accent,
}

impl TextTone {
    fn style(self, colours: PanelColours) -> Style {
        let colour = |color: Color, style: Style| if colours == PanelColours::Sixteen { style.fg(color) } else { style };
        match self {
            Self::Plain => Style::new(),
            Self::Dim => Style::new().add_modifier(Modifier::DIM),
            Self::Strong => Style::new().add_modifier(Modifier::BOLD),
            Self::Good => colour(Color::Green, Style::new()),
            Self::Warn => colour(Color::Yellow, Style::new()),
            Self::Bad => colour(Color::Red, Style::new().add_modifier(Modifier::BOLD)),
            Self::Accent => colour(Color::Cyan, Style::new()),
        }
    }
}

/// Whether a row is the selected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowHighlight {
    /// It is.
    Selected,
    /// It is not.
    Other,
}

/// A piece of a row.
pub type RowPiece = (String, TextTone);

/// Cells to draw on.
pub struct Canvas<'a> {
    /// The cells.
    pub buffer: &'a mut Buffer,
    colours: PanelColours,
}

impl<'a> Canvas<'a> {
    /// These cells.
    pub fn new(buffer: &'a mut Buffer, colours: PanelColours) -> Self {
        Self { buffer, colours }
    }

    /// One text on the first line of an area.
    pub fn line(&mut self, area: Rect, text: &str, tone: TextTone) {
        self.row(area, &[(text.to_owned(), tone)], RowHighlight::Other);
    }

    /// Pieces one after the other on the first line of an area.
    pub fn row(&mut self, area: Rect, pieces: &[RowPiece], row: RowHighlight) {
        if area.height == 0 || area.width == 0 {
            return;
        }
        let (mut x, end) = (area.x, area.x + area.width);
        for (text, tone) in pieces {
            if x >= end {
                break;
            }
            let shown = visible::line(text);
            let style = tone.style(self.colours);
            (x, _) = self.buffer.set_stringn(x, area.y, shown.as_ref(), usize::from(end - x), style);
        }
        if row == RowHighlight::Selected {
            let style = Style::new().add_modifier(Modifier::REVERSED);
            self.buffer.set_style(Rect { height: 1, ..area }, style);
        }
    }
}

/// How many columns a text takes once it is escaped.
pub fn width(text: &str) -> usize {
    Span::raw(visible::line(text)).width()
}

/// A text in exactly so many columns: cut with `…`, or filled with spaces.
pub fn fit(text: &str, columns: usize) -> String {
    let shown = visible::line(text);
    let all = Span::raw(shown.as_ref()).width();
    if all <= columns {
        return format!("{shown}{}", " ".repeat(columns - all));
    }
    let mut cut = String::new();
    let mut used = 0;
    for letter in shown.chars() {
        let wide = Span::raw(letter.to_string()).width();
        if used + wide >= columns {
            break;
        }
        used += wide;
        cut.push(letter);
    }
    if columns > 0 {
        cut.push('…');
        used += 1;
    }
    format!("{cut}{}", " ".repeat(columns.saturating_sub(used)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_their_columns_whatever_is_in_them() {
        for text in ["", "abc", "中文字", "e\u{301}e\u{301}e\u{301}", "a\u{1b}[31mb\nc", "ab中"] {
            for columns in 0..12 {
                assert_eq!(width(&fit(text, columns)), columns, "{text:?} in {columns}");
            }
        }
        assert_eq!(fit("a\u{1b}b", 6), "a\\eb  ");
        assert_eq!(fit("中文字", 4), "中… ");
    }
}

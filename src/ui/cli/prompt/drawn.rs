//! The lines of a question on the screen: drawn, and drawn again in the same place.

use console::Term;

use super::terminal::say;

/// The lines that are on the screen now.
#[derive(Debug)]
pub(super) struct DrawnLines {
    /// How many lines the cursor is below the first one.
    below: usize,
    shows_cursor: bool,
}

/// The size of the terminal in rows and columns. The default is 24 × 80 where it is unknown.
pub(super) fn size() -> (usize, usize) {
    let (rows, columns) = Term::stderr().size();
    (usize::from(rows).max(4), usize::from(columns).max(20))
}

/// Cuts a line so that it takes one row of the screen.
pub(super) fn cut(line: &str, columns: usize) -> String {
    console::truncate_str(line, columns.saturating_sub(1), "…").into_owned()
}

impl DrawnLines {
    pub(super) fn new(shows_cursor: bool) -> Self {
        Self { below: 0, shows_cursor }
    }

    /// Draws over the old lines. The cursor stays at the end of the last line.
    pub(super) fn draw(&mut self, lines: &[String]) {
        let mut text = String::new();
        if !self.shows_cursor {
            text.push_str("\x1b[?25l");
        }
        if self.below > 0 {
            text.push_str(&format!("\x1b[{}A", self.below));
        }
        text.push_str("\r\x1b[J");
        text.push_str(&lines.join("\n"));
        self.below = self.rows(lines);
        say(text.as_bytes());
    }

    /// How many rows below the first one the last line ends: a long line takes several rows.
    fn rows(&self, lines: &[String]) -> usize {
        let (_, columns) = size();
        let of = |line: &String| 1 + console::measure_text_width(line).saturating_sub(1) / columns;
        lines.iter().map(of).sum::<usize>().saturating_sub(1)
    }

    /// The old lines have moved on the screen: the next drawing starts on a new line.
    pub(super) fn forget(&mut self) {
        self.below = 0;
    }

    /// Leaves the lines on the screen and starts a new line.
    pub(super) fn end(&mut self) {
        self.below = 0;
        say(b"\n");
    }
}

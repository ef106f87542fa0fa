//! What a question has on the screen: drawn in place, and again over itself.

use console::Term;

use super::terminal::say;

/// What is on the screen now.
#[derive(Debug)]
pub(super) struct Drawn {
    /// How many lines below the first the cursor is.
    below: usize,
    shows_cursor: bool,
}

/// How many rows and columns there are. A terminal that does not say is taken for 24 × 80.
pub(super) fn size() -> (usize, usize) {
    let (rows, columns) = Term::stderr().size();
    (usize::from(rows).max(4), usize::from(columns).max(20))
}

/// A line that takes one row of the screen.
pub(super) fn cut(line: &str, columns: usize) -> String {
    console::truncate_str(line, columns.saturating_sub(1), "…").into_owned()
}

impl Drawn {
    pub(super) fn new(shows_cursor: bool) -> Self {
        Self { below: 0, shows_cursor }
    }

    /// Draws over what is there. The cursor stays behind the last line.
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

    /// How many rows below the first the last line ends: a long one takes several.
    fn rows(&self, lines: &[String]) -> usize {
        let (_, columns) = size();
        let of = |line: &String| 1 + console::measure_text_width(line).saturating_sub(1) / columns;
        lines.iter().map(of).sum::<usize>().saturating_sub(1)
    }

    /// What was drawn is no longer where it was: the next time begins a line of its own.
    pub(super) fn forget(&mut self) {
        self.below = 0;
    }

    /// What is there stays there.
    pub(super) fn end(&mut self) {
        self.below = 0;
        say(b"\n");
    }
}

//! Tables for people: columns that are lined up, and cut to the width of the terminal, those that matter least first.

use std::borrow::Cow;

use super::screen_look::ScreenLook;
use super::visible;
use super::visible::width;
use super::words::folded;
use axiom_model::base::screen_colors::ColoredPart;

/// The spaces between two columns.
const GAP: usize = 2;
/// To how many columns a cell is cut at most, unless there is still not room enough.
const LEAST: usize = 12;

/// A cell of a table: one line.
#[derive(Debug, Clone)]
pub struct StyledCell {
    part: Option<ColoredPart>,
    text: String,
}

impl StyledCell {
    /// A cell in the colour of a part, if it has one.
    pub fn of(part: impl Into<Option<ColoredPart>>, text: impl AsRef<str>) -> Self {
        Self { part: part.into(), text: visible::line(text.as_ref()).into_owned() }
    }

    /// The cell of a status, which stands out if it is to.
    pub fn status(words: impl AsRef<str>) -> Self {
        Self::of(ColoredPart::of_status(words.as_ref()), words)
    }

    fn says_nothing(&self) -> bool {
        matches!(self.text.trim(), "" | "-")
    }
}

impl From<String> for StyledCell {
    fn from(text: String) -> Self {
        Self::of(None, text)
    }
}

impl From<&str> for StyledCell {
    fn from(text: &str) -> Self {
        Self::of(None, text)
    }
}

impl From<Cow<'_, str>> for StyledCell {
    fn from(text: Cow<'_, str>) -> Self {
        Self::of(None, text)
    }
}

/// A table.
#[derive(Debug, Clone)]
pub struct StyledGrid {
    rows: Vec<Vec<StyledCell>>,
    has_heading: bool,
    cut: Vec<usize>,
    may_go: Vec<usize>,
    least: usize,
    indent: usize,
    folds: bool,
}

impl StyledGrid {
    /// A table without a heading; of its columns, only the last one is cut.
    pub fn of<C: Into<StyledCell>>(rows: impl IntoIterator<Item = Vec<C>>) -> Self {
        let rows: Vec<Vec<StyledCell>> = rows.into_iter().map(|row| row.into_iter().map(Into::into).collect()).collect();
        Self { rows, has_heading: false, cut: Vec::new(), may_go: Vec::new(), least: LEAST, indent: 0, folds: false }
    }

    /// The first row is the heading.
    #[must_use]
    pub fn headed(mut self) -> Self {
        self.has_heading = true;
        for cell in self.rows.first_mut().into_iter().flatten() {
            cell.part = Some(ColoredPart::Heading);
        }
        self
    }

    /// Which columns are cut where there is no room for all, the one that matters least first.
    #[must_use]
    pub fn cut(mut self, columns: &[usize]) -> Self {
        self.cut = columns.to_vec();
        self
    }

    /// Which columns are left out on a terminal if no row says anything in them, or there is no room, the one that matters least first.
    #[must_use]
    pub fn may_go(mut self, columns: &[usize]) -> Self {
        self.may_go = columns.to_vec();
        self
    }

    /// To how many columns a cell is cut before a column is left out.
    #[must_use]
    pub fn at_least(self, least: usize) -> Self {
        Self { least, ..self }
    }

    /// The last column is folded where it does not fit: all of it is to be read.
    #[must_use]
    pub fn folded(self) -> Self {
        Self { folds: true, ..self }
    }

    /// Each row is set in by so many spaces.
    #[must_use]
    pub fn indented(self, indent: usize) -> Self {
        Self { indent, ..self }
    }

    /// The lines of the table.
    pub fn laid_out(&self, look: ScreenLook<'_>) -> String {
        let widths = look.columns.map_or_else(|| self.natural(), |columns| self.fitting(columns.saturating_sub(self.indent)));
        let mut out = String::with_capacity(self.rows.len() * widths.iter().map(|wide| wide + GAP).sum::<usize>());
        for row in &self.rows {
            out.extend(std::iter::repeat_n(' ', self.indent));
            let shown = row.iter().zip(&widths).enumerate().filter(|(_, (_, wide))| **wide > 0);
            let last = row.iter().zip(&widths).rposition(|(cell, wide)| *wide > 0 && !cell.text.trim().is_empty());
            for (place, (cell, wide)) in shown.take_while(|(place, _)| Some(*place) <= last) {
                if self.folds && place + 1 == widths.len() && width(&cell.text) > *wide {
                    let hang = self.indent + widths.iter().take(place).map(|wide| wide + GAP).sum::<usize>();
                    let text = folded(&cell.text, Some(*wide), 0).replace('\n', &format!("\n{}", " ".repeat(hang)));
                    out.push_str(&look.painted(cell.part, &text));
                    continue;
                }
                let text = shortened(&cell.text, *wide);
                let text = if Some(place) == last { Cow::Borrowed(text.trim_end()) } else { text };
                out.push_str(&look.painted(cell.part, &text));
                if Some(place) != last {
                    out.extend(std::iter::repeat_n(' ', wide.saturating_sub(width(&text)) + GAP));
                }
            }
            out.push('\n');
        }
        out
    }

    fn natural(&self) -> Vec<usize> {
        let most = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| width(&cell.text)).max();
        (0..most).map(|column| widest(column).unwrap_or(0)).collect()
    }

    /// The widths with which a row has at most so many columns; 0 where a column is left out.
    fn fitting(&self, columns: usize) -> Vec<usize> {
        let mut widths = self.natural();
        let is_empty = |column: usize| {
            self.rows.iter().skip(usize::from(self.has_heading)).all(|row| row.get(column).is_none_or(StyledCell::says_nothing))
        };
        for column in self.may_go.iter().filter(|column| is_empty(**column)) {
            set(&mut widths, *column, 0);
        }
        let usual = [widths.len().saturating_sub(1)];
        let cut: &[usize] = if self.cut.is_empty() { &usual } else { &self.cut };
        let mut leavable = self.may_go.iter();
        loop {
            let over = taken(&widths).saturating_sub(columns);
            let spare = |column: &usize| widths.get(*column).map_or(0, |wide| wide.saturating_sub(self.least(*column)));
            if over <= cut.iter().map(spare).sum() {
                break;
            }
            let Some(column) = leavable.next() else { break };
            set(&mut widths, *column, 0);
        }
        for least in [true, false] {
            for column in cut {
                let over = taken(&widths).saturating_sub(columns);
                let wide = widths.get(*column).copied().unwrap_or(0);
                let to = if least { self.least(*column) } else { 1 };
                set(&mut widths, *column, wide.saturating_sub(over).max(to.min(wide)));
            }
        }
        widths
    }

    /// To how many columns a column is cut at most.
    fn least(&self, column: usize) -> usize {
        let heading = self.rows.first().filter(|_| self.has_heading).and_then(|row| row.get(column));
        heading.map_or(self.least, |cell| width(&cell.text).max(self.least))
    }
}

fn set(widths: &mut [usize], column: usize, to: usize) {
    if let Some(wide) = widths.get_mut(column) {
        *wide = to;
    }
}

/// How many columns of a terminal a row of these takes.
fn taken(widths: &[usize]) -> usize {
    let shown = widths.iter().filter(|wide| **wide > 0);
    shown.map(|wide| wide + GAP).sum::<usize>().saturating_sub(GAP)
}

/// A text of at most so many columns; a path loses its beginning, everything else its end.
pub fn shortened(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let room = columns.saturating_sub(1);
    if text.contains('/') && !text.trim().contains(' ') {
        let mut from = text.len();
        for (at, _) in text.char_indices().rev() {
            if width(&text[at..]) > room {
                break;
            }
            from = at;
        }
        return Cow::Owned(format!("…{}", &text[from..]));
    }
    let mut to = 0;
    for (at, c) in text.char_indices() {
        if width(&text[..at + c.len_utf8()]) > room {
            break;
        }
        to = at + c.len_utf8();
    }
    Cow::Owned(format!("{}…", text[..to].trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axiom_model::base::screen_colors::ScreenSettings;

    fn grid() -> StyledGrid {
        let heading = ["ID", "NOTE", "STATUS", "TITLE"].map(StyledCell::from).to_vec();
        let row = vec!["task-1".into(), "-".into(), StyledCell::status("failed"), "a title that is rather long".into()];
        StyledGrid::of([heading, row]).headed().may_go(&[1])
    }

    fn at(columns: usize) -> ScreenLook<'static> {
        ScreenLook { columns: Some(columns), colors: None }
    }

    #[test]
    fn what_does_not_fit_is_cut_and_what_says_nothing_is_left_out() {
        let whole = "ID      NOTE  STATUS  TITLE\ntask-1  -     failed  a title that is rather long\n";
        assert_eq!(grid().laid_out(ScreenLook::default()), whole);
        assert_eq!(grid().laid_out(at(80)), "ID      STATUS  TITLE\ntask-1  failed  a title that is rather long\n");
        assert_eq!(grid().laid_out(at(30)), "ID      STATUS  TITLE\ntask-1  failed  a title that…\n");
        let both = grid().cut(&[0, 3]).laid_out(at(18));
        assert!(both.lines().all(|line| width(line) <= 18), "{both}");
    }

    #[test]
    fn what_is_to_be_read_whole_is_folded() {
        let rows = [vec!["why:", "it takes a while"], vec!["what:", "a"]];
        assert_eq!(StyledGrid::of(rows).folded().laid_out(at(16)), "why:   it takes\n       a while\nwhat:  a\n");
    }

    #[test]
    fn colours_take_no_room() {
        let settings = ScreenSettings::default();
        let look = ScreenLook { columns: Some(80), colors: Some(&settings) };
        let shown = grid().laid_out(look);
        assert!(shown.ends_with("task-1  \x1b[1;31mfailed\x1b[m  a title that is rather long\n"), "{shown:?}");
    }

    #[test]
    fn a_path_keeps_its_end() {
        assert_eq!(shortened("/home/me/work/project", 10), "…k/project");
        assert_eq!(shortened("中文中文", 5), "中文…");
        assert_eq!(shortened("a word", 80), "a word");
    }
}

//! Plain tables, for menus and for the panel, which cut their lines themselves.

use super::grid::StyledGrid;
use super::screen_look::ScreenLook;

/// Aligns rows in columns, two spaces apart; the last column is not padded. A cell never breaks its line, whatever it
/// contains.
pub fn table<C: AsRef<str>>(rows: &[Vec<C>]) -> String {
    let rows = rows.iter().map(|row| row.iter().map(AsRef::as_ref).collect::<Vec<&str>>());
    StyledGrid::of(rows).laid_out(ScreenLook::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_lined_up_by_what_a_terminal_shows() {
        let rows = [vec!["a", "bc", ""], vec!["\u{4e2d}\u{6587}", "\u{1b}red\n", "x"], vec!["", "", ""], vec!["long one"]];
        assert_eq!(table(&rows), "a         bc\n\u{4e2d}\u{6587}      \\ered\u{23ce}  x\n\nlong one\n");
        assert_eq!(table::<String>(&[]), "");
    }
}

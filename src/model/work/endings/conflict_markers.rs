//! Whether a file still has the lines with which git marks a conflict. Pure.

use std::collections::HashSet;

/// How many characters such a line begins with, at least: git's own number, which an attribute can make larger.
const SIZE: usize = 7;

/// Whether `content` has lines of conflict markers that none of the `sides` has: a side may be a text about merges. A line that names
/// `theirs`, as git writes it at the end of a conflict, counts however short its marker is. A line of `=` alone counts never, as it
/// may be the underline of a heading.
pub fn has_markers(content: &[u8], sides: &[impl AsRef<[u8]>], theirs: &str) -> bool {
    let known: HashSet<&[u8]> = sides.iter().flat_map(|side| lines(side.as_ref())).filter(|line| is_marker(line)).collect();
    let names_theirs = |line: &[u8]| line.starts_with(b">") && !theirs.is_empty() && line.ends_with(theirs.as_bytes());
    lines(content).any(|line| names_theirs(line) || is_marker(line) && !known.contains(line))
}

/// Whether git would merge such content line by line.
pub fn is_text(content: &[u8]) -> bool {
    !content.iter().take(8000).any(|byte| *byte == 0)
}

fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

fn is_marker(line: &[u8]) -> bool {
    let Some(first @ (b'<' | b'>' | b'|')) = line.first() else { return false };
    let run = line.iter().take_while(|byte| *byte == first).count();
    run >= SIZE && line.get(run).is_none_or(|byte| *byte == b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_count_unless_a_side_has_them() {
        let theirs = "1234567890";
        let table: [(&str, &[&str], bool); 12] = [
            ("a\n<<<<<<< 11\nmine\n=======\ntheirs\n>>>>>>> 12\n", &["mine", "theirs"], true),
            (">>>>>>> 12", &[], true),
            ("||||||| 12\r\nx", &[], true),
            ("<<<<<<<\n", &[], true),
            ("<<<<<<<<<<<<<<<< wide\n", &[], true),
            // A shorter marker, by an attribute, names the other side.
            (">>> 1234567890\n", &[], true),
            ("Changes\n=======\n", &[], false),
            ("a <<<<<<< b\n <<<<<<< c\n", &[], false),
            ("<<<<<<<x\n>>>>>> x\n", &[], false),
            // A text about merges.
            ("<<<<<<< HEAD\nx\n", &["<<<<<<< HEAD\r\n"], false),
            ("<<<<<<< HEAD\n<<<<<<< other\n", &["<<<<<<< HEAD"], true),
            ("", &["x"], false),
        ];
        for (content, sides, expected) in table {
            let sides: Vec<&[u8]> = sides.iter().map(|side| side.as_bytes()).collect();
            assert_eq!(has_markers(content.as_bytes(), &sides, theirs), expected, "{content:?}");
        }
        assert!(is_text(b"x\n") && !is_text(b"x\0"));
    }
}

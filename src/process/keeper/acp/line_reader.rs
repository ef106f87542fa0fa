//! Lines of a program that is talked to, out of bytes that come in any pieces. None is left out: whoever waits for an answer may wait in the
//! longest. One that is too long is shortened as it comes, and never held.

use axiom_model::agent::stream::lines::{MAX_LINE, without_return};
use axiom_model::attach::shorten::JsonShortener;

/// A line, without its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadLine<'l> {
    /// As it came.
    Whole(&'l [u8]),
    /// Of one that is longer than [`MAX_LINE`]: what its JSON says, without most of its long texts.
    Shortened(&'l [u8]),
}

/// The begun line.
#[derive(Debug, Default)]
pub(super) struct AcpLineReader {
    begun: Vec<u8>,
    long: Option<JsonShortener>,
}

impl AcpLineReader {
    /// Calls `take` with each line that ends in `bytes`.
    pub fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(ReadLine<'_>)) {
        let mut rest = bytes;
        while let Some((line, after)) = rest.iter().position(|byte| *byte == b'\n').and_then(|end| rest.split_at_checked(end)) {
            rest = after.get(1..).unwrap_or_default();
            if self.begun.is_empty() && self.long.is_none() && line.len() <= MAX_LINE {
                take(ReadLine::Whole(without_return(line)));
            } else {
                self.hold(line);
                self.end(&mut take);
            }
        }
        self.hold(rest);
    }

    /// Calls `take` with the last line, where it has no line end.
    pub fn end(&mut self, mut take: impl FnMut(ReadLine<'_>)) {
        let begun = std::mem::take(&mut self.begun);
        match self.long.take() {
            Some(long) => take(ReadLine::Shortened(&long.end())),
            None if begun.is_empty() => {}
            None => take(ReadLine::Whole(without_return(&begun))),
        }
    }

    fn hold(&mut self, part: &[u8]) {
        if self.long.is_none() && self.begun.len() + part.len() > MAX_LINE {
            let mut long = JsonShortener::default();
            long.add(&std::mem::take(&mut self.begun));
            self.long = Some(long);
        }
        match &mut self.long {
            Some(long) => long.add(part),
            None => self.begun.extend_from_slice(part),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut found) = (AcpLineReader::default(), Vec::new());
        let mut take = |line: ReadLine<'_>| {
            found.push(match line {
                ReadLine::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                ReadLine::Shortened(line) => format!("short {}", String::from_utf8_lossy(line)),
            });
        };
        pieces.iter().for_each(|piece| lines.feed(piece, &mut take));
        lines.end(&mut take);
        found
    }

    #[test]
    fn lines_are_whole_however_they_come() {
        assert_eq!(all(&[b"a\r\n\nb", b"", b"c\nd"]), ["a", "", "bc", "d"]);
        assert_eq!(all(&[b"a\n"]), ["a"]);
        assert_eq!(all(&[]), <Vec<String>>::new());
    }

    #[test]
    fn of_one_that_is_too_long_all_is_read_but_its_long_texts() {
        let long = vec![b'x'; MAX_LINE];
        let whole = [b"{\"t\":\"", &long[..], b"\",\"id\":7}\nnext"].concat();
        for pieces in [vec![&whole[..]], whole.chunks(60_000).collect()] {
            let found = all(&pieces);
            assert_eq!((found.len(), found[1].as_str()), (2, "next"));
            assert!(found[0].starts_with("short {") && found[0].ends_with("\"id\":7}") && found[0].len() < 100_000);
        }
        assert_eq!(all(&[b"{\"a\":\"", &long, b"\n", b"b\n"])[1], "b");
    }
}

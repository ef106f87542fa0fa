//! Lines out of bytes that come in any pieces. A line that is too long is left out, and never held.

/// The longest line that is read, in bytes.
pub const MAX_LINE: usize = 8 * 1024 * 1024;
/// The room that is kept for the next lines.
const KEPT: usize = 64 * 1024;

/// The begun line.
#[derive(Debug, Default)]
pub struct StreamLineBuffer {
    begun: Vec<u8>,
    too_long: bool,
}

impl StreamLineBuffer {
    /// Calls `take` with each line that ends in `bytes`, without its line end.
    pub fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8])) {
        let mut rest = bytes;
        while let Some((line, after)) = memchr::memchr(b'\n', rest).and_then(|end| rest.split_at_checked(end)) {
            rest = after.get(1..).unwrap_or_default();
            if self.begun.is_empty() && !self.too_long && line.len() <= MAX_LINE {
                take(without_return(line));
            } else {
                self.hold(line);
                self.end(&mut take);
            }
        }
        self.hold(rest);
    }

    /// Calls `take` with the last line, where it has no line end.
    pub fn end(&mut self, mut take: impl FnMut(&[u8])) {
        if !(self.too_long || self.begun.is_empty()) {
            take(without_return(&self.begun));
        }
        self.too_long = false;
        self.begun.clear();
        self.begun.shrink_to(KEPT);
    }

    /// The bytes that are held.
    pub fn held(&self) -> usize {
        self.begun.capacity()
    }

    fn hold(&mut self, part: &[u8]) {
        let length = self.begun.len().saturating_add(part.len());
        if self.too_long || length > MAX_LINE {
            self.too_long = true;
            self.begun = Vec::new();
            return;
        }
        if length > self.begun.capacity() {
            // Doubled, but never beyond a line.
            let room = length.max(self.begun.capacity().saturating_mul(2)).min(MAX_LINE);
            self.begun.reserve_exact(room - self.begun.len());
        }
        self.begun.extend_from_slice(part);
    }
}

/// A line without the return that some programs end it with.
pub fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<String> {
        let (mut lines, mut found) = (StreamLineBuffer::default(), Vec::new());
        for piece in pieces {
            lines.feed(piece, |line| found.push(String::from_utf8_lossy(line).into_owned()));
            assert!(lines.held() <= MAX_LINE);
        }
        lines.end(|line| found.push(String::from_utf8_lossy(line).into_owned()));
        found
    }

    #[test]
    fn lines_are_whole_however_they_come() {
        assert_eq!(all(&[b"a\r\n\nb", b"", b"c\nd"]), ["a", "", "bc", "d"]);
        assert_eq!(all(&[b"a\n"]), ["a"]);
        assert_eq!(all(&[]), <Vec<String>>::new());
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out_in_one_piece_and_in_many() {
        let long = vec![b'x'; MAX_LINE];
        let whole = [&long[..], b"y\nnext\n"].concat();
        assert_eq!(all(&[&whole]), ["next"]);
        assert_eq!(all(&[b"a\n", &long, b"y", &long, b"\nnext"]), ["a", "next"]);
        assert_eq!(all(&[&long, b"\nnext"]).len(), 2);
        assert_eq!(all(&[b"\n", &long, b"y"]), [""]);
    }
}

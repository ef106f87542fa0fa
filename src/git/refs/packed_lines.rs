//! `packed-refs` as sorted lines. A ref is found by binary search, so that the refs that others packed are not read, however
//! many there are.

use std::cmp::Ordering;
use std::ops::Range;

use gix::refs::packed::Buffer;

use crate::base::formats::RefFormat;
use crate::repo::handles::PackedRefsFile;

/// A file of at least so many bytes is mapped, as gix does.
const MAPPED_FROM: u64 = 32 * 1024;

/// The packed refs at one moment, in order. git replaces the file and never changes it in place, so the mapped text stays
/// the same.
#[derive(Debug)]
pub(crate) struct PackedRefs {
    text: Option<PackedRefsText>,
    /// The number of hex digits of a value.
    digits: usize,
}

#[derive(Debug)]
enum PackedRefsText {
    Mapped(Buffer),
    #[cfg(test)]
    Given(&'static [u8]),
}

/// A line is not in the form that git writes: git has to read the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnparsedRefLine;

impl PackedRefsFile<'_> {
    /// The current packed refs; `None` where git has to read them.
    pub(crate) fn lines(&self) -> Option<PackedRefs> {
        if self.repo.ref_format() != RefFormat::Files {
            return None;
        }
        let digits = 2 * self.repo.hash().bytes();
        // Without opening the repository: that costs a quarter of a short verb.
        let text = match Buffer::open(self.repo.common_dir().join("packed-refs"), MAPPED_FROM, self.repo.hash().gix()) {
            Ok(buffer) => Some(PackedRefsText::Mapped(buffer)),
            Err(error) if error.is_not_found() => None,
            Err(_) => return None,
        };
        Some(PackedRefs { text, digits }).filter(PackedRefs::ends_whole)
    }
}

impl PackedRefs {
    /// No packed refs.
    pub fn none() -> Self {
        Self { text: None, digits: 0 }
    }

    fn bytes(&self) -> &[u8] {
        match &self.text {
            Some(PackedRefsText::Mapped(buffer)) => buffer.as_ref(),
            #[cfg(test)]
            Some(PackedRefsText::Given(bytes)) => bytes,
            None => &[],
        }
    }

    /// Whether the last line is whole, as it is not where a power loss cut the file off: git then reads none of it.
    fn ends_whole(&self) -> bool {
        let Some(lines) = self.bytes().strip_suffix(b"\n") else { return self.bytes().is_empty() };
        let last = &lines[memchr::memrchr(b'\n', lines).map_or(0, |before| before + 1)..];
        match last.strip_prefix(b"^") {
            Some(peeled) => peeled.len() == self.digits && peeled.iter().all(u8::is_ascii_hexdigit),
            None => last.starts_with(b"#") || self.split(last).is_ok(),
        }
    }

    /// The byte range of the lines of the refs below `prefix`.
    pub fn below(&self, prefix: &str) -> Result<Range<usize>, UnparsedRefLine> {
        let start = self.first_from(prefix)?;
        let (bytes, mut end) = (self.bytes(), start);
        while end < bytes.len() {
            let line = line_at(bytes, end);
            if !line.starts_with(b"^") {
                let (value, name) = self.split(line)?;
                if !name.starts_with(prefix.as_bytes()) {
                    break;
                }
                // All bytes are checked without an early exit: the compiler then checks many at once.
                let is_hex = |all: bool, byte: &u8| all & (byte.is_ascii_digit() | (b'a'..=b'f').contains(byte));
                if !value.iter().fold(true, is_hex) {
                    return Err(UnparsedRefLine);
                }
            }
            end = (end + line.len() + 1).min(bytes.len());
        }
        std::str::from_utf8(&bytes[start..end]).map(|_| start..end).map_err(|_| UnparsedRefLine)
    }

    /// The names and values in a range that [`PackedRefs::below`] returned.
    pub fn values(&self, lines: Range<usize>) -> impl Iterator<Item = (&str, &str)> {
        let mut rest = self.bytes().get(lines).and_then(|lines| std::str::from_utf8(lines).ok()).unwrap_or_default();
        let digits = self.digits;
        std::iter::from_fn(move || {
            loop {
                let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
                let (line, after) = rest.split_at_checked(end)?;
                rest = after.strip_prefix('\n').unwrap_or(after);
                if line.is_empty() {
                    return None;
                }
                // The peeled value of a tag follows on the next line.
                if !line.starts_with('^') {
                    return Some((line.get(digits + 1..)?, line.get(..digits)?));
                }
            }
        })
    }

    /// The value of one ref, as it is in the file.
    pub fn value(&self, name: &str) -> Result<Option<&[u8]>, UnparsedRefLine> {
        let (bytes, start) = (self.bytes(), self.first_from(name)?);
        if start == bytes.len() {
            return Ok(None);
        }
        let (value, found) = self.split(line_at(bytes, start))?;
        Ok((found == name.as_bytes()).then_some(value))
    }

    /// Whether there is a ref below a folder; `folder` ends in `/`.
    pub fn has_below(&self, folder: &str) -> Result<bool, UnparsedRefLine> {
        let (bytes, start) = (self.bytes(), self.first_from(folder)?);
        Ok(start < bytes.len() && self.split(line_at(bytes, start))?.1.starts_with(folder.as_bytes()))
    }

    /// The offset of the first line whose name is not less than `name`.
    fn first_from(&self, name: &str) -> Result<usize, UnparsedRefLine> {
        let bytes = self.bytes();
        // Both are always the start of a ref's line, or the end.
        let (mut low, mut high) = (0, bytes.len());
        while low < high {
            let middle = ref_before(bytes, low, low + (high - low) / 2);
            let line = line_at(bytes, middle);
            let (_, found) = self.split(line)?;
            match found.cmp(name.as_bytes()) {
                Ordering::Less => low = ref_after(bytes, middle + line.len() + 1).min(high),
                Ordering::Equal | Ordering::Greater => high = middle,
            }
        }
        Ok(low)
    }

    /// The value and the name in a line.
    fn split<'t>(&self, line: &'t [u8]) -> Result<(&'t [u8], &'t [u8]), UnparsedRefLine> {
        let (value, rest) = line.split_at_checked(self.digits).ok_or(UnparsedRefLine)?;
        Ok((value, rest.strip_prefix(b" ").ok_or(UnparsedRefLine)?))
    }
}

/// The line that begins at `start`, without its newline.
fn line_at(bytes: &[u8], start: usize) -> &[u8] {
    let rest = bytes.get(start..).unwrap_or_default();
    &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())]
}

/// The start of the ref's line that contains `at`; not before `low`.
fn ref_before(bytes: &[u8], low: usize, at: usize) -> usize {
    let mut end = at;
    loop {
        let start = memchr::memrchr(b'\n', &bytes[low..end]).map_or(low, |newline| low + newline + 1);
        // The peeled value of a tag follows on the next line.
        if start == low || bytes.get(start) != Some(&b'^') {
            return start;
        }
        end = start - 1;
    }
}

/// The start of the next ref's line at or after `start`, which is the start of a line.
fn ref_after(bytes: &[u8], start: usize) -> usize {
    let mut start = start.min(bytes.len());
    while bytes.get(start) == Some(&b'^') {
        start = (start + line_at(bytes, start).len() + 1).min(bytes.len());
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(lines: &[(&str, bool)]) -> PackedRefs {
        let oid = "0123456789".repeat(4);
        let line = |(name, is_tag): &(&str, bool)| {
            format!("{oid} {name}\n{}", if *is_tag { format!("^{oid}\n") } else { String::new() })
        };
        let text: String = lines.iter().map(line).collect();
        PackedRefs { text: Some(PackedRefsText::Given(text.leak().as_bytes())), digits: 40 }
    }

    #[test]
    fn a_file_that_was_cut_off_is_left_to_git_wherever_that_was() {
        let oid = "0123456789".repeat(4);
        let text = format!("{oid} refs/heads/a\n{oid} refs/tags/v1\n^{oid}\n").leak().as_bytes();
        let ends_whole =
            |length: usize| PackedRefs { text: Some(PackedRefsText::Given(&text[..length])), digits: 40 }.ends_whole();
        let whole: Vec<usize> = (0..=text.len()).filter(|length| ends_whole(*length)).collect();
        let ends: Vec<usize> = (0..text.len()).filter(|at| text[*at] == b'\n').map(|at| at + 1).collect();
        assert_eq!(whole, [&[0][..], &ends].concat());
    }

    #[test]
    fn every_name_is_found_and_no_other_whatever_is_around_it() {
        let names = ["refs/heads/a", "refs/heads/a-b", "refs/heads/a/b", "refs/heads/ab", "refs/tags/v1", "refs/tags/v10"];
        // Each of the 64 choices of existing refs, with each choice of which of them are annotated tags.
        for there in 0_u32..64 {
            for tags in 0_u32..64 {
                let chosen = names.iter().enumerate().filter(|(n, _)| there >> n & 1 == 1);
                let lines: Vec<(&str, bool)> = chosen.map(|(n, name)| (*name, tags >> n & 1 == 1)).collect();
                let packed = packed(&lines);
                for name in names {
                    let is_there = lines.iter().any(|(other, _)| *other == name);
                    assert_eq!(packed.value(name).unwrap().is_some(), is_there, "{name} in {lines:?}");
                    let below = lines.iter().any(|(other, _)| other.starts_with(&format!("{name}/")));
                    assert_eq!(packed.has_below(&format!("{name}/")), Ok(below), "{name} in {lines:?}");
                }
                for prefix in ["refs/", "refs/heads/", "refs/heads/a/", "refs/tags/", "refs/none/"] {
                    let found: Vec<&str> = packed.values(packed.below(prefix).unwrap()).map(|(name, _)| name).collect();
                    let expected: Vec<&str> =
                        lines.iter().map(|(name, _)| *name).filter(|name| name.starts_with(prefix)).collect();
                    assert_eq!(found, expected, "{prefix} in {lines:?}");
                }
            }
        }
        assert_eq!(PackedRefs::none().value("refs/heads/a"), Ok(None));
        assert_eq!(PackedRefs::none().below("refs/"), Ok(0..0));
    }

    #[test]
    fn a_line_in_the_middle_that_git_does_not_write_hides_none_of_the_others() {
        let oid = "0123456789".repeat(4);
        let lines = |range: std::ops::Range<u32>| range.map(|n| format!("{oid} refs/heads/b{n:03}\n")).collect::<String>();
        let text = format!("{}<<<<<<< ours\n{}", lines(0..500), lines(500..1000)).leak();
        let packed = PackedRefs { text: Some(PackedRefsText::Given(text.as_bytes())), digits: 40 };
        assert_eq!(packed.below("refs/"), Err(UnparsedRefLine));
        assert_eq!(packed.below("refs/heads/"), Err(UnparsedRefLine));
    }

    #[test]
    fn lines_that_git_does_not_write_are_for_git() {
        for text in [&b"0123 refs/heads/a\n"[..], b"\n", b"<<<<<<< ours\n", b"garbage"] {
            let packed = PackedRefs { text: Some(PackedRefsText::Given(text)), digits: 40 };
            assert_eq!(packed.value("refs/heads/a"), Err(UnparsedRefLine), "{text:?}");
            assert_eq!(packed.below("refs/"), Err(UnparsedRefLine), "{text:?}");
        }
        let upper = format!("{} refs/heads/a\n", "AB".repeat(20)).leak();
        let packed = PackedRefs { text: Some(PackedRefsText::Given(upper.as_bytes())), digits: 40 };
        assert_eq!(packed.below("refs/"), Err(UnparsedRefLine));
    }
}

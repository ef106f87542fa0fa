//! The text that Git LFS stores in place of a large file: which object holds its content, and how large that is.

use serde::{Deserialize, Serialize};

/// How many bytes such a text has at most.
pub const LONGEST: u64 = 1024;

const VERSION: &str = "version https://git-lfs.github.com/spec/v1";

/// The content that a pointer names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LfsPointer {
    /// The SHA-256 of the content, in 64 hex digits.
    pub sha256: String,
    /// The length of the content in bytes.
    pub size: u64,
}

impl LfsPointer {
    /// Reads a pointer; `None` where the text is none, or one with extensions, whose object is not the file's content.
    pub fn parse(text: &[u8]) -> Option<Self> {
        if text.len() as u64 >= LONGEST {
            return None;
        }
        let mut lines = std::str::from_utf8(text).ok()?.lines();
        if lines.next()? != VERSION {
            return None;
        }
        let sha256 = lines.next()?.strip_prefix("oid sha256:")?;
        let size: u64 = lines.next()?.strip_prefix("size ")?.parse().ok()?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let is_whole = sha256.len() == 64 && sha256.bytes().all(is_digit) && lines.next().is_none();
        is_whole.then(|| Self { sha256: sha256.to_owned(), size })
    }

    /// The text, as Git LFS writes it.
    pub fn text(&self) -> Vec<u8> {
        format!("{VERSION}\noid sha256:{}\nsize {}\n", self.sha256, self.size).into_bytes()
    }

    /// The path of its object below a folder of objects.
    pub fn place(&self) -> String {
        format!("{}/{}/{}", &self.sha256[..2], &self.sha256[2..4], self.sha256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_read_as_it_is_written_and_nothing_else_is_one() {
        let pointer = LfsPointer { sha256: "0a".repeat(32), size: 12 };
        let text = pointer.text();
        assert_eq!(LfsPointer::parse(&text), Some(pointer.clone()));
        assert_eq!(pointer.place(), format!("0a/0a/{}", "0a".repeat(32)));
        let text = String::from_utf8(text).unwrap();
        let wrong = [
            text.replace("v1", "v2"),
            text.replace("0a0a", "0A0A"),
            text.replace("0a0a", "0a/a"),
            text.replace("size 12", "size -1"),
            text.replace("oid", "ext-0-x sha256:00\noid"),
            format!("{text}more\n"),
            format!("{text}{}", " ".repeat(1100)),
            String::new(),
        ];
        for text in wrong {
            assert_eq!(LfsPointer::parse(text.as_bytes()), None, "{text}");
        }
    }
}

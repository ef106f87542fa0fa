//! Git's conversion of line ends: on check-in (file to blob) and on checkout (blob to file). The rule is git's own. It
//! depends on the configuration, the attributes, the content and the blob in the index; `tests/it/line_ends.rs` compares all
//! of it with git itself.
//!
//! Keywords, encodings and filters are not here: only git itself can apply those.

use serde::{Deserialize, Serialize};

use crate::base::git_config;

/// The value of `core.autocrlf`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AutoCrlf {
    /// `false`: files without attributes are not converted.
    #[default]
    False,
    /// `input`: check-in removes carriage returns, checkout does not add any.
    Input,
    /// `true`: check-in removes carriage returns, checkout adds them.
    True,
}

/// The configuration of line ends.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LineEndConfig {
    /// `core.autocrlf`.
    pub autocrlf: AutoCrlf,
    /// Whether `core.eol` is `crlf`. All other values mean LF on the supported systems.
    pub eol_is_crlf: bool,
}

/// The value of the attribute `text`, or of `crlf`, its old name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextAttribute {
    /// Not specified, or an unknown value.
    Unspecified,
    /// `text`.
    Set,
    /// `-text`.
    Unset,
    /// `text=auto`.
    Auto,
    /// `text=input`.
    Input,
}

/// The value of the attribute `eol`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EolAttribute {
    /// Not specified, or an unknown value.
    Unspecified,
    /// `eol=lf`.
    Lf,
    /// `eol=crlf`.
    Crlf,
}

/// The line ends that a checkout writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckoutEol {
    /// Those of the blob.
    Lf,
    /// Carriage return and line feed, as far as the content allows.
    Crlf,
}

/// How the line ends of a file are converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnds {
    /// Not at all.
    AsIs,
    /// The file is text, whatever its content.
    Text(CheckoutEol),
    /// The file is text if its content looks like text.
    Auto(CheckoutEol),
}

impl TextAttribute {
    /// From the value of the attribute, as `git check-attr` prints it.
    pub fn of(value: &[u8]) -> Self {
        match value {
            b"set" => Self::Set,
            b"unset" => Self::Unset,
            b"auto" => Self::Auto,
            b"input" => Self::Input,
            _ => Self::Unspecified,
        }
    }
}

impl EolAttribute {
    /// From the value of the attribute, as `git check-attr` prints it.
    pub fn of(value: &[u8]) -> Self {
        match value {
            b"lf" => Self::Lf,
            b"crlf" => Self::Crlf,
            _ => Self::Unspecified,
        }
    }
}

impl LineEndConfig {
    /// From the values of `core.autocrlf` and `core.eol`; `None` where one is not set.
    pub fn of(autocrlf: Option<&str>, eol: Option<&str>) -> Self {
        let autocrlf = match autocrlf {
            None => AutoCrlf::False,
            Some(value) if git_config::is_false(value) => AutoCrlf::False,
            Some(value) if value.eq_ignore_ascii_case("input") => AutoCrlf::Input,
            Some(_) => AutoCrlf::True,
        };
        Self { autocrlf, eol_is_crlf: eol.is_some_and(|eol| eol.eq_ignore_ascii_case("crlf")) }
    }

    /// The values of `core.autocrlf` and `core.eol`.
    pub fn values(self) -> (&'static str, &'static str) {
        let autocrlf = match self.autocrlf {
            AutoCrlf::False => "false",
            AutoCrlf::Input => "input",
            AutoCrlf::True => "true",
        };
        (autocrlf, if self.eol_is_crlf { "crlf" } else { "lf" })
    }

    /// Whether both settings have their default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The line ends that a checkout writes where the attributes say that a file is text, but not which `eol`.
    fn out(self) -> CheckoutEol {
        match (self.autocrlf, self.eol_is_crlf) {
            (AutoCrlf::True, _) | (AutoCrlf::False, true) => CheckoutEol::Crlf,
            (AutoCrlf::Input, _) | (AutoCrlf::False, false) => CheckoutEol::Lf,
        }
    }
}

impl LineEnds {
    /// The conversion that follows from the attributes `text`, `crlf` and `eol` and from the configuration.
    pub fn of((text, crlf, eol): (TextAttribute, TextAttribute, EolAttribute), settings: LineEndConfig) -> Self {
        let text = if text == TextAttribute::Unspecified { crlf } else { text };
        match (text, eol) {
            (TextAttribute::Unset, _) => Self::AsIs,
            (TextAttribute::Auto, EolAttribute::Lf) => Self::Auto(CheckoutEol::Lf),
            (TextAttribute::Auto, EolAttribute::Crlf) => Self::Auto(CheckoutEol::Crlf),
            (TextAttribute::Auto, EolAttribute::Unspecified) => Self::Auto(settings.out()),
            (TextAttribute::Set | TextAttribute::Input | TextAttribute::Unspecified, EolAttribute::Lf)
            | (TextAttribute::Input, EolAttribute::Unspecified) => Self::Text(CheckoutEol::Lf),
            (TextAttribute::Set | TextAttribute::Input | TextAttribute::Unspecified, EolAttribute::Crlf) => {
                Self::Text(CheckoutEol::Crlf)
            }
            (TextAttribute::Set, EolAttribute::Unspecified) => Self::Text(settings.out()),
            (TextAttribute::Unspecified, EolAttribute::Unspecified) => match settings.autocrlf {
                AutoCrlf::False => Self::AsIs,
                AutoCrlf::Input => Self::Auto(CheckoutEol::Lf),
                AutoCrlf::True => Self::Auto(CheckoutEol::Crlf),
            },
        }
    }

    /// The content of the blob that git stores for a file; `None` where it is the file's bytes. `index` is the content of
    /// the index entry at the file's path.
    pub fn stored(self, content: &[u8], index: Option<&[u8]>) -> Option<Vec<u8>> {
        let stats = LineEndCounts::of(content);
        let guessed = match self {
            Self::AsIs => return None,
            Self::Text(_) => false,
            Self::Auto(_) => true,
        };
        if stats.crlf == 0 || (guessed && (stats.is_binary() || index.is_some_and(keeps_returns))) {
            return None;
        }
        let mut stored = Vec::with_capacity(content.len() - stats.crlf);
        for (at, byte) in content.iter().enumerate() {
            if *byte != b'\r' || content.get(at + 1) != Some(&b'\n') {
                stored.push(*byte);
            }
        }
        Some(stored)
    }

    /// The bytes that a checkout writes for the content of a blob; `None` where they are the same.
    pub fn checked_out(self, content: &[u8]) -> Option<Vec<u8>> {
        let stats = LineEndCounts::of(content);
        if !self.puts_in(&stats) {
            return None;
        }
        let mut out = Vec::with_capacity(content.len() + stats.lone_lf);
        let mut before = 0;
        for byte in content {
            if *byte == b'\n' && before != b'\r' {
                out.push(b'\r');
            }
            out.push(*byte);
            before = *byte;
        }
        Some(out)
    }

    /// Whether a checkout may write other bytes than the blob has.
    pub fn may_put_in(self) -> bool {
        match self {
            Self::AsIs | Self::Text(CheckoutEol::Lf) | Self::Auto(CheckoutEol::Lf) => false,
            Self::Text(CheckoutEol::Crlf) | Self::Auto(CheckoutEol::Crlf) => true,
        }
    }

    /// How many bytes a checkout writes for the content of a blob.
    pub fn length_checked_out(self, content: &[u8]) -> usize {
        let stats = LineEndCounts::of(content);
        if self.puts_in(&stats) { content.len() + stats.lone_lf } else { content.len() }
    }

    /// Whether `git add` refuses a file where `core.safecrlf` is true, because a checkout would not restore one of the two
    /// kinds of line ends.
    pub fn is_refused(self, content: &[u8], index: Option<&[u8]>) -> bool {
        let was = LineEndCounts::of(content);
        let kept = match self {
            Self::AsIs => return false,
            Self::Text(_) => false,
            Self::Auto(_) if was.is_binary() => return false,
            Self::Auto(_) => index.is_some_and(keeps_returns),
        };
        // As git does: this predicts the counts after both conversions, and does not convert the bytes.
        let mut will_be = was;
        if !kept {
            will_be.lone_lf += std::mem::take(&mut will_be.crlf);
        }
        if self.puts_in(&will_be) {
            will_be.crlf += std::mem::take(&mut will_be.lone_lf);
        }
        (was.crlf > 0 && will_be.crlf == 0) || (was.lone_lf > 0 && will_be.lone_lf == 0)
    }

    fn puts_in(self, stats: &LineEndCounts) -> bool {
        let guessed = match self {
            Self::AsIs | Self::Text(CheckoutEol::Lf) | Self::Auto(CheckoutEol::Lf) => return false,
            Self::Text(CheckoutEol::Crlf) => false,
            Self::Auto(CheckoutEol::Crlf) => true,
        };
        // `Auto` does not convert content that already has carriage returns.
        stats.lone_lf > 0 && !(guessed && (stats.crlf > 0 || stats.lone_cr > 0 || stats.is_binary()))
    }
}

/// Whether the blob in the index has carriage returns: then `Auto` stores the file unconverted.
fn keeps_returns(index: &[u8]) -> bool {
    let stats = LineEndCounts::of(index);
    stats.crlf > 0 && !stats.is_binary()
}

/// The counts by which git decides whether content is text.
#[derive(Debug, Default, Clone, Copy)]
struct LineEndCounts {
    crlf: usize,
    lone_lf: usize,
    lone_cr: usize,
    nul: usize,
    printable: usize,
    not_printable: usize,
}

impl LineEndCounts {
    fn of(content: &[u8]) -> Self {
        let mut stats = Self::default();
        let mut bytes = content.iter().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\r' if bytes.next_if_eq(&&b'\n').is_some() => stats.crlf += 1,
                b'\r' => stats.lone_cr += 1,
                b'\n' => stats.lone_lf += 1,
                0 => {
                    stats.nul += 1;
                    stats.not_printable += 1;
                }
                // Backspace, tab, escape and form feed occur in text files.
                8 | 9 | 27 | 12 => stats.printable += 1,
                1..32 | 127 => stats.not_printable += 1,
                _ => stats.printable += 1,
            }
        }
        // A Ctrl+Z at the end, as in old DOS files, is no sign of a binary file.
        if content.last() == Some(&26) {
            stats.not_printable -= 1;
        }
        stats
    }

    fn is_binary(&self) -> bool {
        self.lone_cr > 0 || self.nul > 0 || self.printable >> 7 < self.not_printable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_that_of_what_is_written() {
        for content in [&b""[..], b"a", b"a\n", b"a\r\nb\n", b"a\rb\n", b"\n\n", b"\r\r\n\n", b"\0\n"] {
            for line_ends in [
                LineEnds::AsIs,
                LineEnds::Text(CheckoutEol::Crlf),
                LineEnds::Auto(CheckoutEol::Crlf),
                LineEnds::Auto(CheckoutEol::Lf),
            ] {
                let out = line_ends.checked_out(content).unwrap_or_else(|| content.to_vec());
                assert_eq!(line_ends.length_checked_out(content), out.len(), "{line_ends:?} {content:?}");
            }
        }
    }
}

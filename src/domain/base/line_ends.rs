//! What git does to line ends: on a file's way into an object (check-in) and out again (check-out). It is git's own rule,
//! by configuration, attributes, the content and what the index holds; `tests/it/line_ends.rs` asks git itself about all of it.
//!
//! Keywords, encodings and filters are not here: what those make of a file only git can tell, by doing it.

use serde::{Deserialize, Serialize};

/// What `core.autocrlf` says.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AutoCrlf {
    /// Files without attributes are left alone.
    #[default]
    False,
    /// Carriage returns are taken away, and never put in.
    Input,
    /// Carriage returns are taken away, and put in.
    True,
}

/// What the configuration says of line ends.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// `core.autocrlf`.
    pub autocrlf: AutoCrlf,
    /// Whether `core.eol` is `crlf`: all else is LF on the systems that we run on.
    pub eol_is_crlf: bool,
}

/// What the attribute `text`, or `crlf`, its old name, says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// Nothing, or a word that means nothing.
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

/// What the attribute `eol` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eol {
    /// Nothing, or a word that means nothing.
    Unspecified,
    /// `eol=lf`.
    Lf,
    /// `eol=crlf`.
    Crlf,
}

/// What a checkout writes where a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Out {
    /// What the object has.
    Lf,
    /// Carriage return and line feed, as far as the content allows.
    Crlf,
}

/// What happens to the line ends of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnds {
    /// Nothing.
    AsIs,
    /// It is text, whatever it looks like.
    Text(Out),
    /// It is text where it looks like text.
    Auto(Out),
}

impl Text {
    /// The value of an attribute, as `git check-attr` prints it.
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

impl Eol {
    /// The value of an attribute, as `git check-attr` prints it.
    pub fn of(value: &[u8]) -> Self {
        match value {
            b"lf" => Self::Lf,
            b"crlf" => Self::Crlf,
            _ => Self::Unspecified,
        }
    }
}

impl Settings {
    /// Of the values of `core.autocrlf` and `core.eol`; `None` where one is not set.
    pub fn of(autocrlf: Option<&str>, eol: Option<&str>) -> Self {
        let autocrlf = match autocrlf.map(str::to_ascii_lowercase).as_deref() {
            None | Some("" | "false" | "no" | "off" | "0") => AutoCrlf::False,
            Some("input") => AutoCrlf::Input,
            Some(_) => AutoCrlf::True,
        };
        Self { autocrlf, eol_is_crlf: eol.is_some_and(|eol| eol.eq_ignore_ascii_case("crlf")) }
    }

    /// As values of `core.autocrlf` and `core.eol`.
    pub fn values(self) -> (&'static str, &'static str) {
        let autocrlf = match self.autocrlf {
            AutoCrlf::False => "false",
            AutoCrlf::Input => "input",
            AutoCrlf::True => "true",
        };
        (autocrlf, if self.eol_is_crlf { "crlf" } else { "lf" })
    }

    /// Whether nothing is set.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// What ends a line where only "text" is said.
    fn out(self) -> Out {
        match (self.autocrlf, self.eol_is_crlf) {
            (AutoCrlf::True, _) | (AutoCrlf::False, true) => Out::Crlf,
            (AutoCrlf::Input, _) | (AutoCrlf::False, false) => Out::Lf,
        }
    }
}

impl LineEnds {
    /// What the attributes `text`, `crlf` and `eol` and the configuration come to.
    pub fn of((text, crlf, eol): (Text, Text, Eol), settings: Settings) -> Self {
        let text = if text == Text::Unspecified { crlf } else { text };
        match (text, eol) {
            (Text::Unset, _) => Self::AsIs,
            (Text::Auto, Eol::Lf) => Self::Auto(Out::Lf),
            (Text::Auto, Eol::Crlf) => Self::Auto(Out::Crlf),
            (Text::Auto, Eol::Unspecified) => Self::Auto(settings.out()),
            (Text::Set | Text::Input | Text::Unspecified, Eol::Lf) | (Text::Input, Eol::Unspecified) => Self::Text(Out::Lf),
            (Text::Set | Text::Input | Text::Unspecified, Eol::Crlf) => Self::Text(Out::Crlf),
            (Text::Set, Eol::Unspecified) => Self::Text(settings.out()),
            (Text::Unspecified, Eol::Unspecified) => match settings.autocrlf {
                AutoCrlf::False => Self::AsIs,
                AutoCrlf::Input => Self::Auto(Out::Lf),
                AutoCrlf::True => Self::Auto(Out::Crlf),
            },
        }
    }

    /// What git stores of a file; `None`: its bytes. `index` is what the index has at its path.
    pub fn stored(self, content: &[u8], index: Option<&[u8]>) -> Option<Vec<u8>> {
        let stats = Stats::of(content);
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

    /// What a checkout writes of stored content; `None`: the same.
    pub fn checked_out(self, content: &[u8]) -> Option<Vec<u8>> {
        let stats = Stats::of(content);
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

    /// Whether a checkout may write other bytes than are stored.
    pub fn may_put_in(self) -> bool {
        match self {
            Self::AsIs | Self::Text(Out::Lf) | Self::Auto(Out::Lf) => false,
            Self::Text(Out::Crlf) | Self::Auto(Out::Crlf) => true,
        }
    }

    /// How many bytes a checkout writes of stored content.
    pub fn length_checked_out(self, content: &[u8]) -> usize {
        let stats = Stats::of(content);
        if self.puts_in(&stats) { content.len() + stats.lone_lf } else { content.len() }
    }

    /// Whether `git add` refuses a file where `core.safecrlf` is true: a checkout would not bring back one of the two kinds
    /// of line ends.
    pub fn is_refused(self, content: &[u8], index: Option<&[u8]>) -> bool {
        let was = Stats::of(content);
        let kept = match self {
            Self::AsIs => return false,
            Self::Text(_) => false,
            Self::Auto(_) if was.is_binary() => return false,
            Self::Auto(_) => index.is_some_and(keeps_returns),
        };
        // git counts what would become of them, and looks at no bytes.
        let mut will_be = was;
        if !kept {
            will_be.lone_lf += std::mem::take(&mut will_be.crlf);
        }
        if self.puts_in(&will_be) {
            will_be.crlf += std::mem::take(&mut will_be.lone_lf);
        }
        (was.crlf > 0 && will_be.crlf == 0) || (was.lone_lf > 0 && will_be.lone_lf == 0)
    }

    fn puts_in(self, stats: &Stats) -> bool {
        let guessed = match self {
            Self::AsIs | Self::Text(Out::Lf) | Self::Auto(Out::Lf) => return false,
            Self::Text(Out::Crlf) => false,
            Self::Auto(Out::Crlf) => true,
        };
        // What was guessed to be text and has carriage returns is not touched.
        stats.lone_lf > 0 && !(guessed && (stats.crlf > 0 || stats.lone_cr > 0 || stats.is_binary()))
    }
}

/// Whether what the index holds keeps its carriage returns: what is guessed to be text is then taken as it is.
fn keeps_returns(index: &[u8]) -> bool {
    let stats = Stats::of(index);
    stats.crlf > 0 && !stats.is_binary()
}

/// What git counts in a content.
#[derive(Debug, Default, Clone, Copy)]
struct Stats {
    crlf: usize,
    lone_lf: usize,
    lone_cr: usize,
    nul: usize,
    printable: usize,
    not_printable: usize,
}

impl Stats {
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
                // Backspace, tab, escape and form feed are in texts.
                8 | 9 | 27 | 12 => stats.printable += 1,
                1..32 | 127 => stats.not_printable += 1,
                _ => stats.printable += 1,
            }
        }
        // The end of a file of DOS is no sign of a binary one.
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
            for line_ends in [LineEnds::AsIs, LineEnds::Text(Out::Crlf), LineEnds::Auto(Out::Crlf), LineEnds::Auto(Out::Lf)] {
                let out = line_ends.checked_out(content).unwrap_or_else(|| content.to_vec());
                assert_eq!(line_ends.length_checked_out(content), out.len(), "{line_ends:?} {content:?}");
            }
        }
    }
}

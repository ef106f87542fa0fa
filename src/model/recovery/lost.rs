//! Files that a capture holds and that are not on disk as it holds them: which of them come back by themselves after the machine
//! has stopped. All others are a human's choice.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

/// How far from the last sign of life the time of a file may be that the machine emptied.
const WITHIN: SignedDuration = SignedDuration::from_secs(60);

/// What is on disk in the place of a file that a capture holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LostFileOnDisk {
    /// Nothing.
    Gone,
    /// An empty file.
    Empty,
    /// A file of nothing but NUL bytes.
    Zeros,
    /// Another content.
    Other,
}

impl LostFileOnDisk {
    /// Whether the content was lost, and not replaced by another.
    pub fn is_loss(self) -> bool {
        match self {
            Self::Gone | Self::Empty | Self::Zeros => true,
            Self::Other => false,
        }
    }

    /// In words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Empty => "empty",
            Self::Zeros => "only NUL bytes",
            Self::Other => "has another content",
        }
    }
}

/// Whether the machine emptied the file, for certain enough to put its content back unasked. `stopped` is the last sign of life of an
/// iteration that ended because the machine stopped; `None` where it did not.
pub fn comes_back(found: LostFileOnDisk, modified: Option<Timestamp>, stopped: Option<Timestamp>) -> bool {
    let (Some(modified), Some(stopped)) = (modified, stopped) else { return false };
    match found {
        LostFileOnDisk::Empty | LostFileOnDisk::Zeros => modified.duration_since(stopped).abs() <= WITHIN,
        // Somebody may have deleted or rewritten it.
        LostFileOnDisk::Gone | LostFileOnDisk::Other => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_machine_emptied_just_then_comes_back_by_itself() {
        let at = |second: i64| Some(Timestamp::from_second(1_000_000 + second).unwrap());
        for (found, modified, stopped, expected) in [
            (LostFileOnDisk::Empty, at(0), at(0), true),
            (LostFileOnDisk::Zeros, at(60), at(0), true),
            (LostFileOnDisk::Empty, at(-60), at(0), true),
            (LostFileOnDisk::Empty, at(61), at(0), false),
            (LostFileOnDisk::Zeros, at(-61), at(0), false),
            // The machine did not stop, or nothing is known of the file's time.
            (LostFileOnDisk::Empty, at(0), None, false),
            (LostFileOnDisk::Empty, None, at(0), false),
            (LostFileOnDisk::Gone, at(0), at(0), false),
            (LostFileOnDisk::Other, at(0), at(0), false),
        ] {
            assert_eq!(comes_back(found, modified, stopped), expected, "{found:?} {modified:?} {stopped:?}");
        }
    }
}

//! What a verify step says of itself: lines of JSON that it appends to the file that `AXIOM_VERIFY_REPORT` names.

use serde::{Deserialize, Serialize};

/// How many bytes at the end of the file are read.
pub const MOST_BYTES: u64 = 256 * 1024;
/// How many of the last lines are kept.
pub const MOST_LINES: usize = 10;
/// The longest line, in bytes.
const LONGEST_LINE: usize = 8 * 1024;
/// The longest text, in characters.
const LONGEST: usize = 300;

/// How far a step said that it is, and how good what it looks at is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyStepReport {
    /// How good it is; what is good is up to the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// How far the step is, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// What it looked at last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// What it looks at next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

// Numbers in JSON are finite.
impl Eq for VerifyStepReport {}

impl VerifyStepReport {
    /// In words; empty where it says nothing.
    pub fn in_words(&self) -> String {
        let parts = [
            self.score.map(|score| format!("score {score}")),
            self.percent.map(|percent| format!("{percent}%")),
            self.last.as_ref().map(|last| format!("last: {last}")),
            self.next.as_ref().map(|next| format!("next: {next}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn within_limits(self) -> Option<Self> {
        let text = |text: Option<String>| {
            let clean = text?.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect::<String>();
            Some(clean).filter(|text| !text.is_empty())
        };
        let report = Self {
            score: self.score.filter(|score| score.is_finite()),
            percent: self.percent.filter(|percent| (0.0..=100.0).contains(percent)),
            last: text(self.last),
            next: text(self.next),
        };
        (report != Self::default()).then_some(report)
    }
}

/// The last reports of a file, oldest first. `is_whole` says whether the bytes begin at the file's beginning; otherwise the first line
/// is only the end of one. What is no report is passed over.
pub fn read(bytes: &[u8], is_whole: bool) -> Vec<VerifyStepReport> {
    let lines = bytes.split(|byte| *byte == b'\n').skip(usize::from(!is_whole));
    let read = |line: &[u8]| serde_json::from_slice::<VerifyStepReport>(line).ok().and_then(VerifyStepReport::within_limits);
    let mut found: Vec<VerifyStepReport> = lines.filter(|line| line.len() <= LONGEST_LINE).filter_map(read).collect();
    found.drain(..found.len().saturating_sub(MOST_LINES));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_what_is_none_is_passed_over() {
        let text = b"cut\":1}\n{\"score\":0.88,\"percent\":60,\"last\":\"a\\u001bb\",\"next\":\" \",\"other\":[1]}\n\nrubbish\n\
            {\"percent\":700}\n{\"percent\":\"x\"}\n{\"score\":1e999}\n{\"next\":\"the rest\"}\n{\"percent\":61";
        let found = read(text, false);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].in_words(), "score 0.88, 60%, last: a b");
        assert_eq!(found[1].in_words(), "next: the rest");
        assert_eq!(read(b"{\"percent\":1}", true).len(), 1);
        assert_eq!(read(b"{\"percent\":1}", false).len(), 0);
    }

    #[test]
    fn there_are_limits() {
        let many = (0..100).map(|n| format!("{{\"percent\":{n}}}\n")).collect::<String>();
        let found = read(many.as_bytes(), true);
        assert_eq!((found.len(), found[0].percent), (MOST_LINES, Some(90.0)));
        let long = format!("{{\"last\":\"{}\"}}\n{{\"last\":\"{}\"}}\n", "x".repeat(LONGEST_LINE), "y".repeat(1000));
        let found = read(long.as_bytes(), true);
        assert_eq!((found.len(), found[0].last.as_ref().unwrap().len()), (1, LONGEST));
    }
}

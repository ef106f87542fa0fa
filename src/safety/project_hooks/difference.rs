//! How two sets of project files differ, for a human who approves the new one. Pure.

use std::time::Duration;

use serde::Serialize;
use similar::TextDiff;

use super::project_files::{ProjectFile, ProjectFilePath, ProjectFiles};

/// How long to look for the shortest difference; then a longer one is shown.
const LONGEST: Duration = Duration::from_millis(500);

/// How a file differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ProjectFileChange {
    /// It is new.
    Added,
    /// Its content differs.
    Modified,
    /// Only whether it is executable differs.
    ModeChanged,
    /// It is gone.
    Deleted,
}

impl ProjectFileChange {
    /// The word for people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::ModeChanged => "mode changed",
            Self::Deleted => "deleted",
        }
    }
}

/// The files that differ, ordered by place.
pub fn changes<'f>(before: &'f ProjectFiles, now: &'f ProjectFiles) -> Vec<(&'f ProjectFilePath, ProjectFileChange)> {
    let since = now.iter().filter_map(|(place, file)| match before.get(place) {
        None => Some((place, ProjectFileChange::Added)),
        Some(then) if then.content != file.content => Some((place, ProjectFileChange::Modified)),
        Some(then) if then.executable != file.executable => Some((place, ProjectFileChange::ModeChanged)),
        Some(_) => None,
    });
    let gone = before.iter().filter(|(place, _)| now.get(place).is_none()).map(|(place, _)| (place, ProjectFileChange::Deleted));
    let mut all: Vec<_> = since.chain(gone).collect();
    all.sort_unstable();
    all
}

/// The lines that differ, as a unified diff without file names; `None` where one of the two is no text.
pub fn lines(before: &ProjectFile, now: &ProjectFile) -> Option<String> {
    let (before, now) = (lines_of(before)?, lines_of(now)?);
    let difference = TextDiff::configure().timeout(LONGEST).newline_terminated(true).diff_slices(&before, &now);
    Some(difference.unified_diff().context_radius(3).to_string())
}

/// The lines of a text; `None` where it is none. Only a line feed ends a line, as where it is shown: what comes after a carriage
/// return cannot hide in a line.
fn lines_of(file: &ProjectFile) -> Option<Vec<&str>> {
    let text = std::str::from_utf8(file.content.bytes()).ok()?;
    Some(text.split_inclusive('\n').collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project_hooks::project_files::ProjectFileOrigin;

    #[test]
    fn every_kind_of_change_is_told() {
        let set = |files: &[(&str, bool, &str)]| -> ProjectFiles {
            let one = |(path, executable, text): &(&str, bool, &str)| {
                let place = ProjectFilePath { origin: ProjectFileOrigin::Shared, path: (*path).to_owned() };
                (place, ProjectFile { executable: *executable, content: text.as_bytes().to_vec().into() })
            };
            files.iter().map(one).collect()
        };
        let before = set(&[("same", false, "1"), ("text", false, "a\nb\n"), ("mode", false, "1"), ("gone", true, "1")]);
        let now = set(&[("same", false, "1"), ("text", true, "a\nc\n"), ("mode", true, "1"), ("new", true, "1")]);
        let told: Vec<_> = changes(&before, &now).into_iter().map(|(place, change)| (place.path.as_str(), change)).collect();
        let expected = [
            ("gone", ProjectFileChange::Deleted),
            ("mode", ProjectFileChange::ModeChanged),
            ("new", ProjectFileChange::Added),
            ("text", ProjectFileChange::Modified),
        ];
        assert_eq!(told, expected);
        assert!(changes(&before, &before).is_empty());
        let place = ProjectFilePath { origin: ProjectFileOrigin::Shared, path: "text".to_owned() };
        let shown = lines(before.get(&place).unwrap(), now.get(&place).unwrap()).unwrap();
        assert!(shown.contains("-b\n+c\n") && shown.contains(" a\n"), "{shown}");
        let one = |text: &str| ProjectFile { executable: false, content: text.as_bytes().to_vec().into() };
        let shown = lines(&one(": \r; one\n"), &one(": \r; evil\r; one\n")).unwrap();
        assert!(shown.contains("-: \r; one\n+: \r; evil\r; one\n"), "{shown:?}");
    }
}

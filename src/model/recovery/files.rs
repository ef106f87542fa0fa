//! What kinds of files a worktree has. Pure.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

/// A file that was changed this long before the crash, or later, was changed recently.
pub const RECENT: SignedDuration = SignedDuration::from_secs(3600);
/// How many recently changed files are named.
pub const MOST_RECENT: usize = 50;

/// Endings of source files.
const SOURCES: [&str; 34] = [
    "py", "js", "ts", "java", "rs", "go", "c", "h", "cc", "cpp", "hpp", "cs", "rb", "php", "swift", "kt", "kts", "scala", "jsx",
    "tsx", "mjs", "vue", "svelte", "sh", "bash", "lua", "pl", "r", "ex", "exs", "hs", "ml", "sql", "zig",
];
/// Names of configuration files.
const CONFIGS: [&str; 24] = [
    "package.json",
    "requirements.txt",
    "pom.xml",
    "cargo.toml",
    "go.mod",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tsconfig.json",
    "build.gradle",
    "build.gradle.kts",
    "makefile",
    "dockerfile",
    "docker-compose.yml",
    "gemfile",
    "composer.json",
    "cmakelists.txt",
    "meson.build",
    "deno.json",
    "mix.exs",
    "tox.ini",
    ".editorconfig",
    ".gitignore",
    ".gitattributes",
];

/// How many files there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileCounts {
    /// Source files, without tests.
    pub source_files: u64,
    /// Tests.
    pub test_files: u64,
    /// Configuration.
    pub config_files: u64,
    /// All.
    pub total_files: u64,
}

/// A file that was changed recently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecentFile {
    /// Its path in the worktree.
    pub path: String,
    /// When it was changed.
    pub modified: Timestamp,
}

/// What is in a worktree, without git's own and ignored files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileState {
    /// How many of each kind.
    pub file_counts: FileCounts,
    /// The recently changed ones, newest first, at most [`MOST_RECENT`].
    pub recent_files: Vec<RecentFile>,
    /// When one was changed last.
    pub last_modified: Option<Timestamp>,
}

impl FileState {
    /// Adds a file. `since` is when recent changes begin: see [`recent_since`]. A time in the future counts as recent: a clock that
    /// jumped decides nothing.
    pub fn add(&mut self, path: &str, modified: Timestamp, since: Timestamp) {
        let counts = &mut self.file_counts;
        counts.total_files += 1;
        match kind(path) {
            Some(WorktreeFileKind::Config) => counts.config_files += 1,
            Some(WorktreeFileKind::Test) => counts.test_files += 1,
            Some(WorktreeFileKind::Source) => counts.source_files += 1,
            None => {}
        }
        self.last_modified = self.last_modified.max(Some(modified));
        if modified > since {
            let at = self.recent_files.partition_point(|known| known.modified > modified);
            if at < MOST_RECENT {
                self.recent_files.insert(at, RecentFile { path: path.to_owned(), modified });
                self.recent_files.truncate(MOST_RECENT);
            }
        }
    }
}

/// Since when changes are recent: [`RECENT`] before the last sign of life, and not before the task was begun, when all files of its
/// workspace were written.
pub fn recent_since(crash: Timestamp, begun: Option<Timestamp>) -> Timestamp {
    crash.checked_sub(RECENT).unwrap_or(Timestamp::MIN).max(begun.unwrap_or(Timestamp::MIN))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WorktreeFileKind {
    Source,
    Test,
    Config,
}

/// The kind of a file, by its name and folders.
fn kind(path: &str) -> Option<WorktreeFileKind> {
    let lower = path.to_ascii_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_test = |part: &str| matches!(part, "test" | "tests" | "spec" | "specs" | "__tests__");
    let words = || stem.split(['_', '-', '.']);
    if CONFIGS.contains(&name) {
        Some(WorktreeFileKind::Config)
    } else if folders.split('/').any(is_test) || words().any(is_test) {
        Some(WorktreeFileKind::Test)
    } else if SOURCES.contains(&ending) {
        Some(WorktreeFileKind::Source)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_by_kind() {
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(recent_since(at(10_000), None), at(6_400));
        assert_eq!(recent_since(at(10_000), Some(at(7_000))), at(7_000));
        let since = at(6_400);
        let mut state = FileState::default();
        for (path, modified) in [
            ("src/auth.py", 9_000),
            ("src/auth.test.ts", 9_500),
            ("tests/it/main.rs", 1),
            ("contest.rs", 2),
            ("Cargo.toml", 3),
            ("README.md", 4),
            ("later.rs", 99_000),
        ] {
            state.add(path, at(modified), since);
        }
        assert_eq!(state.file_counts, FileCounts { source_files: 3, test_files: 2, config_files: 1, total_files: 7 });
        let recent: Vec<&str> = state.recent_files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(recent, ["later.rs", "src/auth.test.ts", "src/auth.py"]);
        assert_eq!(state.last_modified, Some(at(99_000)));
    }
}

//! Guarded files: what other programs run or obey without asking (`.claude`, `.github/workflows`, git axiom's own `.axiom`). A
//! merge that changes one waits until a human has seen which. Pure.
//!
//! Which attributes of git count is in `attributes`; who asks, and reads the files, is `agents::merge`.

pub mod attributes;
pub mod links;

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::base::forms::hex;
use crate::base::names::{Oid, RepoPath};
use axiom_base::error::some_of;

/// git axiom's own folder. It is guarded whatever is configured.
const OURS: &str = ".axiom";

/// What is guarded unless the user configures something else: files that make an editor, a shell, a coding agent or a server
/// run commands.
pub const DEFAULT: [&str; 10] = [
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".opencode",
    ".mcp.json",
    ".envrc",
    ".vscode/tasks.json",
    ".github/workflows",
    ".husky",
];

/// How many reasons are named.
const NAMED: usize = 6;

/// What is at a path, before or after a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardedPathKind {
    /// A file.
    File,
    /// A symbolic link or a submodule: below it is what is elsewhere.
    LeadsElsewhere,
}

/// The guarded names. Each covers itself and all that is below it.
#[derive(Debug, Clone)]
pub struct GuardedNames(Vec<GuardedName>);

#[derive(Debug, Clone)]
struct GuardedName {
    text: String,
    parts: Vec<String>,
    place: GuardedNameScope,
}

/// Where a name is guarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GuardedNameScope {
    /// In any folder.
    Anywhere,
    /// Below the top only: a guarded link leads there.
    Top,
}

impl GuardedNames {
    /// git axiom's own folder and the configured names.
    pub fn new(configured: &[String]) -> Self {
        let all = std::iter::once(OURS).chain(configured.iter().map(String::as_str)).map(|text| {
            let parts = text.split('/').filter(|part| !part.is_empty()).map(|part| folded(part.as_bytes()));
            GuardedName { text: text.to_owned(), parts: parts.collect(), place: GuardedNameScope::Anywhere }
        });
        Self(all.filter(|name| !name.parts.is_empty()).collect())
    }

    /// The guarded name that a change of `path` concerns: the path is one, or is below one, in any folder. A folder above one
    /// counts where it leads elsewhere, since the guarded name is then there.
    pub fn concerned(&self, path: &RepoPath, what: GuardedPathKind) -> Option<&str> {
        let parts: Vec<String> = path.as_bytes().split(|byte| *byte == b'/').map(folded).collect();
        let is_concerned = |name: &&GuardedName| {
            let from = match name.place {
                GuardedNameScope::Anywhere => parts.len(),
                GuardedNameScope::Top => 1,
            };
            (0..from).filter_map(|from| parts.get(from..)).any(|rest| match what {
                GuardedPathKind::File => rest.starts_with(&name.parts),
                GuardedPathKind::LeadsElsewhere => rest.starts_with(&name.parts) || name.parts.starts_with(rest),
            })
        };
        self.0.iter().find(is_concerned).map(|name| name.text.as_str())
    }
}

/// A part of a path as those file systems compare it that ignore more than any other: case (also that of `\u{17f}` and
/// `\u{212a}`, which are an s and a k), invisible characters (HFS+), dots and spaces at the end and what follows a colon (NTFS). What
/// differs here may be the same file somewhere.
fn folded(part: &[u8]) -> String {
    let text = String::from_utf8_lossy(part);
    let seen = text.split(':').next().unwrap_or_default().chars().filter(|c| !is_invisible(*c));
    let folded: String = seen.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    folded.trim_end_matches(['.', ' ']).to_owned()
}

/// The characters that HFS+ ignores in names, as git lists them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Whether a path is one at which git reads attributes.
pub fn is_attributes_file(path: &RepoPath) -> bool {
    folded(path.file_name()) == ".gitattributes"
}

/// Why a file is guarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardReason {
    /// It is, or is below, this name.
    Named(String),
    /// It names drivers of git's attributes, which are programs that git runs for the files that it names.
    Drivers,
}

impl fmt::Display for GuardReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Drivers => f.write_str("drivers in .gitattributes"),
        }
    }
}

/// A guarded file that a merge changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardedFile {
    /// Its path.
    pub path: RepoPath,
    /// Why it is guarded.
    pub why: GuardReason,
    /// Its mode and content after the merge; `None` where it is deleted.
    pub after: Option<(u32, Oid)>,
}

/// The guarded files that a merge changes: at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardedFiles(Vec<GuardedFile>);

impl GuardedFiles {
    /// These files, ordered by path; `None` where there are none.
    pub fn new(files: Vec<GuardedFile>) -> Option<Self> {
        (!files.is_empty()).then_some(Self(files))
    }

    /// Their paths.
    pub fn paths(&self) -> Vec<RepoPath> {
        self.0.iter().map(|file| file.path.clone()).collect()
    }

    /// Why they are guarded, each reason once.
    pub fn reasons(&self) -> String {
        let mut reasons: Vec<&GuardReason> = Vec::new();
        for file in &self.0 {
            if !reasons.contains(&&file.why) {
                reasons.push(&file.why);
            }
        }
        some_of(&reasons, NAMED)
    }

    /// What a human who approves them has seen.
    pub fn seen(&self) -> GuardedFilesDigest {
        let mut hasher = Sha256::new();
        for GuardedFile { path, why: _, after } in &self.0 {
            let after = after.as_ref().map_or_else(|| "gone".to_owned(), |(mode, oid)| format!("{mode:o} {oid}"));
            hasher.update(format!("{after} {}\n", path.as_bytes().len()));
            hasher.update(path.as_bytes());
        }
        GuardedFilesDigest(hex::to_hex(&hasher.finalize()))
    }
}

/// The guarded files that a human saw at a gate, with the contents that they had: the SHA-256 of their paths, modes and contents. It does
/// not depend on the commits, so a branch may move as long as these files do not change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GuardedFilesDigest(String);

/// Which guarded files a merge may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedGuardedFiles {
    /// None: nobody has seen any.
    Nothing,
    /// Exactly those that a human saw and approved.
    Exactly(GuardedFilesDigest),
    /// Whatever it changes: the human who merges said so.
    Everything,
}

impl AllowedGuardedFiles {
    /// Whether these may be changed.
    pub fn covers(&self, files: &GuardedFiles) -> bool {
        match self {
            Self::Nothing => false,
            Self::Exactly(seen) => files.seen() == *seen,
            Self::Everything => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn concerned(configured: &[&str], path: &str, what: GuardedPathKind) -> Option<String> {
        let configured: Vec<String> = configured.iter().map(|text| (*text).to_owned()).collect();
        GuardedNames::new(&configured).concerned(&RepoPath::new(path.as_bytes()), what).map(str::to_owned)
    }

    #[test]
    fn a_name_covers_itself_and_what_is_below_it_in_any_folder() {
        for (path, name) in [
            (".axiom", Some(".axiom")),
            (".axiom/config.toml", Some(".axiom")),
            ("sub/.axiom/hooks/x", Some(".axiom")),
            (".claude/settings.json", Some(".claude")),
            ("a/b/.claude/settings.json", Some(".claude")),
            (".mcp.json", Some(".mcp.json")),
            ("sub/.mcp.json", Some(".mcp.json")),
            (".mcp.json/now/a/folder", Some(".mcp.json")),
            (".vscode/tasks.json", Some(".vscode/tasks.json")),
            (".vscode/settings.json", None),
            (".vscode", None),
            (".github/workflows/ci.yml", Some(".github/workflows")),
            (".github/CODEOWNERS", None),
            ("workflows/ci.yml", None),
            (".claude.md", None),
            ("x.claude/settings.json", None),
            ("claude/settings.json", None),
            (".envrc.sample", None),
            ("src/main.rs", None),
            ("", None),
        ] {
            assert_eq!(concerned(&DEFAULT, path, GuardedPathKind::File).as_deref(), name, "{path}");
        }
    }

    #[test]
    fn what_some_file_system_takes_for_the_same_name_is_the_same() {
        for (path, name) in [
            (".CLAUDE/Settings.json", ".claude"),
            (".Axiom/config.toml", ".axiom"),
            (".GitHub/WORKFLOWS/ci.yml", ".github/workflows"),
            (".hu\u{17f}ky/pre-commit", ".husky"),
            (".hus\u{212a}y/pre-commit", ".husky"),
            (".cl\u{200c}aude/x", ".claude"),
            ("\u{feff}.claude/x", ".claude"),
            (".claude./x", ".claude"),
            (".claude . /x", ".claude"),
            (".envrc::$DATA", ".envrc"),
            (".claude:x:$INDEX_ALLOCATION/x", ".claude"),
        ] {
            assert_eq!(concerned(&DEFAULT, path, GuardedPathKind::File).as_deref(), Some(name), "{path}");
        }
    }

    #[test]
    fn what_leads_elsewhere_counts_above_a_name_too() {
        for (path, file, elsewhere) in [
            (".vscode", None, Some(".vscode/tasks.json")),
            ("sub/.VSCODE", None, Some(".vscode/tasks.json")),
            (".vscode/tasks.json", Some(".vscode/tasks.json"), Some(".vscode/tasks.json")),
            (".github", None, Some(".github/workflows")),
            (".claude", Some(".claude"), Some(".claude")),
            ("sub", None, None),
            (".vscode/other", None, None),
        ] {
            assert_eq!(concerned(&DEFAULT, path, GuardedPathKind::File).as_deref(), file, "{path}");
            assert_eq!(concerned(&DEFAULT, path, GuardedPathKind::LeadsElsewhere).as_deref(), elsewhere, "{path}");
        }
    }

    #[test]
    fn the_configuration_says_what_is_guarded_but_ours_always_is() {
        for (configured, path, guarded) in [
            (&[][..], ".axiom/x", true),
            (&[], ".claude/x", false),
            (&["deploy/", "Makefile"], "deploy/prod.sh", true),
            (&["deploy/", "Makefile"], "tools/deploy/prod.sh", true),
            (&["deploy/", "Makefile"], "makefile", true),
            (&["deploy/", "Makefile"], "deploys/prod.sh", false),
            (&["", "/"], "x", false),
        ] {
            assert_eq!(concerned(configured, path, GuardedPathKind::File).is_some(), guarded, "{configured:?} {path}");
        }
    }

    #[test]
    fn every_file_with_git_s_attributes_is_recognised() {
        for (path, is) in
            [(".gitattributes", true), ("a/.GitAttributes", true), (".gitattributes.md", false), (".gitattributes/x", false)]
        {
            assert_eq!(is_attributes_file(&RepoPath::new(path.as_bytes())), is, "{path}");
        }
    }

    /// A path, why it is guarded, and its mode and the digit of its id.
    type Row = (&'static str, GuardReason, Option<(u32, char)>);

    fn files(all: &[Row]) -> GuardedFiles {
        let oid = |digit: char| Oid::new(digit.to_string().repeat(40)).unwrap();
        let file = |(path, why, after): &Row| GuardedFile {
            path: RepoPath::new(path.as_bytes()),
            why: why.clone(),
            after: after.map(|(mode, digit)| (mode, oid(digit))),
        };
        GuardedFiles::new(all.iter().map(file).collect()).unwrap()
    }

    #[test]
    fn an_approval_is_for_the_files_that_were_seen_as_they_were() {
        let why = || GuardReason::Named(".claude".to_owned());
        let seen = files(&[(".claude/a", why(), Some((0o100_644, '1')))]);
        let others: [GuardedFiles; 6] = [
            files(&[(".claude/a", why(), Some((0o100_644, '2')))]),
            files(&[(".claude/a", why(), Some((0o100_755, '1')))]),
            files(&[(".claude/b", why(), Some((0o100_644, '1')))]),
            files(&[(".claude/a", why(), None)]),
            files(&[(".claude/a", why(), Some((0o100_644, '1'))), (".claude/b", why(), None)]),
            files(&[(".claude/a", why(), None), (".claude/a", why(), Some((0o100_644, '1')))]),
        ];
        let allowed = AllowedGuardedFiles::Exactly(seen.seen());
        assert!(
            allowed.covers(&seen) && AllowedGuardedFiles::Everything.covers(&seen) && !AllowedGuardedFiles::Nothing.covers(&seen)
        );
        assert!(others.iter().all(|other| !allowed.covers(other)));
        let digests: std::collections::BTreeSet<String> = others.iter().map(|other| other.seen().0).collect();
        assert_eq!(digests.len(), others.len());
    }

    #[test]
    fn each_reason_is_named_once() {
        let named = |name: &str| GuardReason::Named(name.to_owned());
        let all =
            files(&[(".axiom/a", named(".axiom"), None), (".axiom/b", named(".axiom"), None), ("x", GuardReason::Drivers, None)]);
        assert_eq!(all.reasons(), ".axiom, drivers in .gitattributes");
        assert!(GuardedFiles::new(Vec::new()).is_none());
    }
}

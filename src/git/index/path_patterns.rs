//! Patterns of paths, as in a `.gitignore` at the top of a worktree: the last pattern that matches decides, `!` negates, and
//! a pattern that matches a folder covers everything in it.

use gix::bstr::BStr;
use gix::glob::pattern::{Case, Mode};
use gix::glob::{Pattern, wildmatch};

use axiom_model::base::names::RepoPath;

/// Patterns, in order.
#[derive(Debug, Clone, Default)]
pub struct PathPatterns {
    patterns: Vec<Pattern>,
    texts: Vec<String>,
    /// Where what is asked about is, in the worktree that the patterns are for.
    within: RepoPath,
}

impl PathPatterns {
    /// Parses the patterns; empty texts are skipped.
    pub fn new(texts: &[String]) -> Self {
        Self { patterns: texts.iter().filter_map(gix::glob::parse).collect(), texts: texts.to_vec(), within: RepoPath::default() }
    }

    /// Whether one of them takes something out again.
    pub(crate) fn negates(&self) -> bool {
        self.patterns.iter().any(Pattern::is_negative)
    }

    /// The same patterns, for paths in a submodule at `folder`.
    #[must_use]
    pub fn in_submodule(&self, folder: &RepoPath) -> Self {
        Self { within: self.within.join(folder), ..self.clone() }
    }

    /// The patterns as lines of a file such as `.gitignore`. In a submodule only those that mean a name wherever it is.
    pub(crate) fn as_lines(&self) -> Vec<u8> {
        let is_a_name = |text: &&String| self.within.as_bytes().is_empty() || !text.trim_end_matches('/').contains('/');
        let lines = self.texts.iter().filter(|text| !text.contains('\n')).filter(is_a_name);
        lines.flat_map(|text| [text.as_bytes(), b"\n"].concat()).collect()
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether the patterns cover a file or folder, directly or by a folder above it.
    pub fn covers(&self, path: &RepoPath, is_folder: bool) -> bool {
        if self.is_empty() {
            return false;
        }
        let path = &self.within.join(path);
        self.fits(path, is_folder) || path.folders_above().any(|folder| self.fits(&folder, true))
    }

    fn fits(&self, path: &RepoPath, is_folder: bool) -> bool {
        let bytes = path.as_bytes();
        let name = bytes.iter().rposition(|byte| *byte == b'/').map(|at| at + 1);
        let mode = wildmatch::Mode::NO_MATCH_SLASH_LITERAL;
        let fits = |pattern: &&Pattern| {
            pattern.matches_repo_relative_path(BStr::new(bytes), name, Some(is_folder), Case::Sensitive, mode)
        };
        self.patterns.iter().rev().find(fits).is_some_and(|pattern| !pattern.is_negative())
    }

    /// Whether a pattern may match something in a folder because its literal beginning leads there: only such folders need
    /// to be listed. A pattern that can match anywhere (`*.key`, `**/x`) leads into none.
    pub fn leads_into(&self, folder: &RepoPath) -> bool {
        let below = [self.within.join(folder).as_bytes(), b"/"].concat();
        let slashes = |text: &[u8]| text.iter().filter(|byte| **byte == b'/').count();
        self.patterns.iter().any(|pattern| {
            let text: &[u8] = &pattern.text;
            if pattern.is_negative() || pattern.mode.contains(Mode::NO_SUB_DIR) {
                return false;
            }
            let literal = &text[..pattern.first_wildcard_pos.unwrap_or(text.len())];
            let named = &literal[..literal.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1)];
            let deep_enough = memchr::memmem::find(text, b"**").is_some() || slashes(&below) <= slashes(text);
            deep_enough && (literal.starts_with(&below) || (!named.is_empty() && below.starts_with(named)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(texts: &[&str]) -> PathPatterns {
        PathPatterns::new(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text.as_bytes())
    }

    #[test]
    fn patterns_mean_what_they_mean_in_a_gitignore() {
        for (texts, covered, not) in [
            (&[".env*"][..], &[".env", "app/.env.local"][..], &["env", "x.env"][..]),
            (&["/.env"], &[".env"], &["app/.env"]),
            (&["secrets/"], &["secrets/a", "deep/secrets/b"], &["secrets"]),
            (&["secrets/*.pem"], &["secrets/a.pem"], &["secrets/x/a.pem", "secrets/a"]),
            (&["secrets/**"], &["secrets/x/a.pem"], &["other/a"]),
            (&["*.key", "!public.key"], &["a.key"], &["public.key"]),
            (&[], &[], &["a"]),
        ] {
            let patterns = patterns(texts);
            for text in covered {
                assert!(patterns.covers(&path(text), false), "{texts:?} {text}");
            }
            for text in not {
                assert!(!patterns.covers(&path(text), false), "{texts:?} {text}");
            }
        }
    }

    #[test]
    fn only_folders_that_a_pattern_names_are_looked_into() {
        for (text, into, not) in [
            ("secrets/*.pem", &["secrets"][..], &["secrets/x", "node_modules"][..]),
            ("/a/b/c", &["a", "a/b"], &["a/b/c", "b"]),
            ("secrets/**", &["secrets", "secrets/x/y"], &["other"]),
            ("**/x", &[], &["a"]),
            (".env*", &[], &["a"]),
        ] {
            let patterns = patterns(&[text]);
            assert!(into.iter().all(|folder| patterns.leads_into(&path(folder))), "{text}");
            assert!(!not.iter().any(|folder| patterns.leads_into(&path(folder))), "{text}");
        }
    }
}

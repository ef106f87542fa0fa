//! Which conversions git makes for a file: line ends, keywords, filters, encodings. git itself evaluates the attributes;
//! what happens to line ends is decided by [`axiom_model::base::line_ends`].

use std::collections::BTreeSet;
use std::path::Path;

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::forms::line_ends::{AutoCrlf, EolAttribute, LineEndConfig, LineEnds, TextAttribute};
use axiom_model::base::names::RepoPath;

use super::file::nul_list;
use crate::repo::configured::{configured, configured_anywhere};
use crate::repo::handles::Conversions;
use crate::repo::program::Git;
use crate::repo::worktrees::Worktree;

/// The attributes that ask for conversions.
const ATTRIBUTES: [&str; 6] = ["text", "crlf", "eol", "ident", "filter", ENCODING];

/// The attribute for the encoding of a file. git ends where a file is to be stored and is not in that encoding, and wherever the value is
/// none at all; then it says this word.
const ENCODING: &str = "working-tree-encoding";

/// Whether git ended because an attribute names no encoding at all: it then compares no file that has it.
pub(crate) fn is_of_no_encoding(words: &str) -> bool {
    words.contains(ENCODING)
}

/// The settings of line ends.
const AUTOCRLF: &str = "core.autocrlf";
const EOL: &str = "core.eol";

/// The largest attributes file that is read, in bytes.
const ATTRIBUTES_LIMIT: u64 = 1024 * 1024;

/// The conversions that configuration and attributes ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestedConversion {
    /// A conversion of line ends, or none.
    LineEnds(LineEnds),
    /// Keywords, a filter or an encoding: the result is known only after trying it.
    More,
}

/// Where git reads attributes.
#[derive(Debug, Clone, Copy)]
enum AttributesSource<'a> {
    /// From the files, and from the index if a file is missing: these apply when a file is stored.
    Files,
    /// From an index alone: these apply when its files are written into another folder.
    Index(&'a Path),
}

impl Conversions<'_> {
    /// The conversions of each file in both directions: when git stores it, and when a checkout of `index` writes it into
    /// another folder.
    pub(crate) fn asked_both_ways(
        &self,
        worktree: &Worktree,
        index: &Path,
        paths: &[&RepoPath],
    ) -> Result<Vec<(RequestedConversion, RequestedConversion)>> {
        let settings = self.line_end_settings(worktree)?;
        let stored = self.asked_by(settings, worktree, AttributesSource::Files, paths)?;
        Ok(stored.into_iter().zip(self.asked_by(settings, worktree, AttributesSource::Index(index), paths)?).collect())
    }

    /// The conversions of each file when git stores it.
    pub(crate) fn asked(&self, worktree: &Worktree, paths: &[&RepoPath]) -> Result<Vec<RequestedConversion>> {
        self.asked_by(self.line_end_settings(worktree)?, worktree, AttributesSource::Files, paths)
    }

    fn asked_by(
        &self,
        settings: LineEndConfig,
        worktree: &Worktree,
        from: AttributesSource<'_>,
        paths: &[&RepoPath],
    ) -> Result<Vec<RequestedConversion>> {
        let git = match from {
            AttributesSource::Files => self.repo.git_in(worktree).arg("check-attr"),
            AttributesSource::Index(index) => self.repo.git_in(worktree).index(index).args(["check-attr", "--cached"]),
        };
        let output = git.args(["-z", "--stdin"]).args(ATTRIBUTES).stdin(nul_list(paths.iter().copied())).run_ok()?;
        let mut fields = output.stdout.split(|byte| *byte == 0);
        let unclear = || Error::new(Code::GitFailed, "cannot make sense of what 'git check-attr' printed");
        let mut all = Vec::with_capacity(paths.len());
        for _ in paths {
            let mut values = [&b""[..]; 6];
            for value in &mut values {
                *value = fields.nth(2).ok_or_else(unclear)?;
            }
            all.push(of_attributes(values, settings));
        }
        Ok(all)
    }

    /// Those of the files that have a `working-tree-encoding`, also one that is none. `git` is a call that looks where the attributes are
    /// to be read, up to `check-attr`.
    pub(crate) fn encoded(&self, git: Git<'_>, paths: &[&RepoPath]) -> Result<BTreeSet<RepoPath>> {
        let output = git.args(["-z", "--stdin", ENCODING]).stdin(nul_list(paths.iter().copied())).run_ok()?;
        let mut fields = output.stdout.split(|byte| *byte == 0);
        let mut encoded = BTreeSet::new();
        for path in paths {
            let unclear = || Error::new(Code::GitFailed, "cannot make sense of what 'git check-attr' printed");
            if !matches!(fields.nth(2).ok_or_else(unclear)?, b"unspecified" | b"unset") {
                encoded.insert((*path).clone());
            }
        }
        Ok(encoded)
    }

    /// The configuration of line ends in a worktree.
    pub(crate) fn line_end_settings(&self, worktree: &Worktree) -> Result<LineEndConfig> {
        Ok(line_ends_of(&configured_anywhere(self.repo, "core", Some(worktree))?))
    }

    /// Everything that decides about conversions, as one text that changes whenever any of it changes: the configuration,
    /// and the attributes files. `attributes` are those that the worktree has or tracks. `None` if nothing can ask for a
    /// conversion.
    pub(crate) fn conversion_rules(&self, worktree: &Worktree, attributes: &BTreeSet<RepoPath>) -> Result<Option<Vec<u8>>> {
        let core = configured_anywhere(self.repo, "core", Some(worktree))?;
        let places = self.attribute_files().unwrap_or_default().into_iter().map(|place| (place, false));
        let own = attributes.iter().map(|path| (worktree.path().join(path.to_path()), true));
        let mut rules = Vec::new();
        for (place, is_own) in places.chain(own) {
            let text = match files::read_optional(&place, ATTRIBUTES_LIMIT) {
                // git then reads it from the index.
                Ok(None) if is_own => b"(in the index)".to_vec(),
                Ok(None) => continue,
                Ok(Some(text)) => text,
                Err(_) => b"(cannot be read)".to_vec(),
            };
            if !text.trim_ascii().is_empty() {
                rules.extend_from_slice(place.as_os_str().as_encoded_bytes());
                rules.extend_from_slice(&[b"\0", text.as_slice(), b"\0"].concat());
            }
        }
        if rules.is_empty() && line_ends_of(&core).autocrlf == AutoCrlf::False {
            return Ok(None);
        }
        let of_line_ends = core.into_iter().filter(|(key, _)| [AUTOCRLF, EOL].contains(&key.as_str()));
        for (key, value) in of_line_ends.chain(configured(self.repo, "filter", Some(worktree))?) {
            rules.extend_from_slice(format!("\0{key}\n{value}").as_bytes());
        }
        Ok(Some(rules))
    }
}

/// What the configuration of `core` says of line ends.
fn line_ends_of(core: &[(String, String)]) -> LineEndConfig {
    let last = |name: &str| core.iter().rfind(|(key, _)| key == name).map(|(_, value)| value.as_str());
    LineEndConfig::of(last(AUTOCRLF), last(EOL))
}

/// The conversions that the values of [`ATTRIBUTES`] ask for.
fn of_attributes([text, crlf, eol, ident, filter, encoding]: [&[u8]; 6], settings: LineEndConfig) -> RequestedConversion {
    let given = |value: &[u8]| !matches!(value, b"unspecified" | b"unset");
    if given(ident) || given(filter) || given(encoding) {
        return RequestedConversion::More;
    }
    RequestedConversion::LineEnds(LineEnds::of(
        (TextAttribute::of(text), TextAttribute::of(crlf), EolAttribute::of(eol)),
        settings,
    ))
}

//! Which names no pattern of any ignore file matches: of paths made of such names git need not be asked whether it ignores them. Nor of
//! those that the exclude file of the repository names as a whole, as `/.claude/settings.local.json`.
//!
//! That a path is certainly not ignored is said by one rule: each part of a pattern between two slashes matches one name of
//! the path, or of a folder above it. So of each pattern one such part is enough, and where in the worktree the pattern stands does
//! not matter. Negations only take back what another pattern ignores. Whatever is not understood may match everything.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use axiom_base::{env, files};

use crate::repo::repository::Repository;
use crate::repo::shortcuts::FastWay;
use crate::repo::worktrees::Worktree;

/// The largest ignore file that is read, in bytes.
const LIMIT: u64 = 1024 * 1024;

/// What the names have that a pattern may match.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct IgnoreHints {
    /// Whole names.
    names: HashSet<Vec<u8>>,
    /// Ends of names, from their last dot on.
    endings: HashSet<Vec<u8>>,
    globs: Vec<NameGlob>,
    /// A pattern may match any name.
    anything: bool,
    /// Paths that patterns name from the top of the worktree on.
    paths: HashSet<Vec<u8>>,
    /// A pattern takes back what another one ignores.
    takes_back: bool,
}

/// The literal pieces of a pattern for one name, in order, without what is between them.
#[derive(Debug, PartialEq, Eq)]
struct NameGlob {
    pieces: Vec<Vec<u8>>,
    /// Whether a name begins with the first one, and ends with the last one.
    begins: bool,
    ends: bool,
}

impl IgnoreHints {
    /// The patterns that count in all folders of a repository.
    pub fn of(repository: &Repository, worktree: &Worktree) -> Self {
        let mut hints = Self::default();
        if repository.shortcuts().forbidden_by(FastWay::ReadWorktreeConfiguration, Some(worktree)).is_some() {
            return Self { anything: true, ..hints };
        }
        let home = env::var("HOME").map(PathBuf::from);
        let Ok(gix) = repository.gix() else { return Self { anything: true, ..hints } };
        let file = gix.config_snapshot().string("core.excludesFile").map(|file| PathBuf::from(OsStr::from_bytes(&file)));
        match (file.as_deref(), file.as_deref().and_then(|file| file.strip_prefix("~").ok()), &home) {
            (None, ..) => {}
            (Some(_), Some(below), Some(home)) => hints.add_file(&home.join(below)),
            (Some(file), None, _) if file.is_absolute() => hints.add_file(file),
            _ => hints.anything = true,
        }
        // Where nothing is set. Extra places do no harm.
        let users = env::var("XDG_CONFIG_HOME").map(PathBuf::from);
        for folder in users.into_iter().chain(home.map(|home| home.join(".config"))) {
            hints.add_file(&folder.join("git/ignore"));
        }
        hints.add_exclude_file(&repository.common_dir().join("info/exclude"));
        hints
    }

    /// Adds the patterns of the repository's own exclude file, which is the one that git reads in any case.
    fn add_exclude_file(&mut self, file: &Path) {
        let text = self.read(file);
        self.add(&text);
        let is_literal = |line: &&[u8]| !line.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'\\' | b' ' | b'\r' | 0));
        let named = text.split(|byte| *byte == b'\n').filter(is_literal).filter_map(|line| line.strip_prefix(b"/"));
        self.paths.extend(named.filter(|path| !path.ends_with(b"/")).map(<[u8]>::to_vec));
    }

    /// Adds the patterns of a file, if there is one.
    pub fn add_file(&mut self, file: &Path) {
        let text = self.read(file);
        self.add(&text);
    }

    fn read(&mut self, file: &Path) -> Vec<u8> {
        let text = files::read_optional(file, LIMIT);
        self.anything |= text.is_err();
        text.ok().flatten().unwrap_or_default()
    }

    fn add(&mut self, text: &[u8]) {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        for line in text.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let blanks = line.iter().rev().take_while(|byte| **byte == b' ').count();
            let line = &line[..line.len() - blanks];
            match line.first() {
                None | Some(b'#') => {}
                Some(b'!') => self.takes_back = true,
                Some(_) => self.add_pattern(line),
            }
        }
    }

    fn add_pattern(&mut self, pattern: &[u8]) {
        let bracket = memchr::memchr(b'[', pattern).unwrap_or(pattern.len());
        // What a backslash or a bracket means goes beyond one part; a pattern with a NUL ends there.
        let trimmed = pattern.strip_suffix(b"/").unwrap_or(pattern);
        if pattern.iter().any(|byte| matches!(byte, b'\\' | 0)) || trimmed.get(bracket..).is_some_and(|rest| rest.contains(&b'/'))
        {
            self.anything = true;
            return;
        }
        // Two stars beside something else match what is hard to say.
        if trimmed.split(|byte| *byte == b'/').any(|part| part != b"**" && memchr::memmem::find(part, b"**").is_some()) {
            self.anything = true;
            return;
        }
        let parts = || trimmed.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
        let globs = || parts().map(NameGlob::of).filter(|glob| !glob.pieces.is_empty());
        let Some(glob) = globs().rfind(NameGlob::is_name).or_else(|| globs().next_back()) else {
            self.anything |= parts().next().is_some();
            return;
        };
        let is_ending = |piece: &[u8]| piece.first() == Some(&b'.') && memchr::memrchr(b'.', piece) == Some(0);
        match glob.pieces.as_slice() {
            [piece] if glob.is_name() => drop(self.names.insert(piece.clone())),
            [piece] if glob.ends && is_ending(piece) => drop(self.endings.insert(piece.clone())),
            _ => self.globs.push(glob),
        }
    }

    /// Whether this path is certainly ignored.
    pub fn names(&self, path: &[u8]) -> bool {
        !self.takes_back && self.paths.contains(path)
    }

    /// Whether a pattern may match a path because of this name of it, or of a folder above it.
    pub fn may_match(&self, name: &[u8]) -> bool {
        let ending = memchr::memrchr(b'.', name).map_or(&[][..], |dot| &name[dot..]);
        self.anything
            || self.names.contains(name)
            || self.endings.contains(ending)
            || self.globs.iter().any(|glob| glob.may_match(name))
    }
}

impl NameGlob {
    fn of(part: &[u8]) -> Self {
        let is_wild = |byte: &u8| matches!(byte, b'*' | b'?');
        // From a bracket on nothing is literal.
        let literal = memchr::memchr(b'[', part).unwrap_or(part.len());
        let pieces = part[..literal].split(is_wild).filter(|piece| !piece.is_empty()).map(<[u8]>::to_vec);
        let (begins, ends) = (part.first().is_some_and(|byte| !is_wild(byte)), part.last().is_some_and(|byte| !is_wild(byte)));
        Self { pieces: pieces.collect(), begins: begins && literal > 0, ends: ends && literal == part.len() }
    }

    /// Whether only one name matches.
    fn is_name(&self) -> bool {
        self.begins && self.ends && self.pieces.len() == 1
    }

    fn may_match(&self, name: &[u8]) -> bool {
        let Some((last, before)) = self.pieces.split_last() else { return true };
        let mut rest = name;
        for (number, piece) in before.iter().enumerate() {
            let at =
                if number == 0 && self.begins { rest.starts_with(piece).then_some(0) } else { memchr::memmem::find(rest, piece) };
            let Some(at) = at else { return false };
            rest = &rest[at + piece.len()..];
        }
        match (before.is_empty() && self.begins, self.ends) {
            (true, _) => rest.starts_with(last),
            (false, true) => rest.ends_with(last),
            (false, false) => memchr::memmem::find(rest, last).is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    fn hints(text: &[u8]) -> IgnoreHints {
        let mut hints = IgnoreHints::default();
        hints.add(text);
        hints
    }

    #[test]
    fn what_is_not_understood_may_match_everything() {
        for text in ["*", "**", "/*", "\\#a", "a/[x/y]b", "?", "[ab]", "a\\ ", "a\0b"] {
            assert!(hints(text.as_bytes()).may_match(b"whatever"), "{text}");
        }
        for text in ["", "# a", "!whatever", "/", "a\nb/\n*.o\nw*c\n", "\r\n", "a b"] {
            assert!(!hints(text.as_bytes()).may_match(b"whatever"), "{text}");
        }
    }

    /// A file beside it, which git may not read, names nothing for certain.
    #[test]
    fn what_is_named_as_a_whole_is_ignored() {
        let mut elsewhere = IgnoreHints::default();
        elsewhere.add(b"/a\n");
        assert!(elsewhere.may_match(b"a") && !elsewhere.names(b"a"));
        let scratch = ScratchRepository::new(&[]);
        let paths = ["a", "a/b", "b", "b/a", "a b", "c/d/e", "d"];
        let mut named = 0;
        for pattern in [
            "/a", "/a/b", "/a/", "a", "a/b", "/a b", "/c/d/e\r", "/c/d/e", "/c/d/e ", "/a*", "/[a]", "\\/a", "!/a", "/a\n!/b",
            "#/a", "//a", "/",
        ] {
            scratch.write(".git/info/exclude", format!("{pattern}\n").as_bytes());
            let (repo, main) = (scratch.repo(), scratch.main());
            let hints = IgnoreHints::of(&repo, &main);
            for path in paths.into_iter().filter(|path| hints.names(path.as_bytes())) {
                let input = format!("./{path}\0").into_bytes();
                let git = repo.git_in(&main).args(["check-ignore", "--no-index", "-z", "--stdin"]).stdin(input.clone());
                assert_eq!(git.run().unwrap().stdout, input, "{pattern:?} {path:?}");
                named += 1;
            }
        }
        assert_eq!(named, 3, "/a, /a/b, /c/d/e, and nothing where another one is taken back");
    }

    /// Whatever git ignores may be matched: patterns and names of a few pieces, each with each.
    #[test]
    fn nothing_that_git_ignores_is_said_not_to_be() {
        let scratch = ScratchRepository::new(&[]);
        let pieces = ["a", "b", "*", "?", ".o", "[ab]", "/", "**/", " ", "\\", "!", "ab"];
        let names = ["a", "b", "ab", "a.o", "b.a.o", "aab", "ba", ".o", "a b", "c", "abc.o", "x.ob"];
        let mut paths: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        paths.extend(names.iter().flat_map(|folder| names.iter().map(move |name| format!("{folder}/{name}"))));
        let input = paths.iter().flat_map(|path| format!("./{path}\0").into_bytes()).collect::<Vec<u8>>();
        let (mut ignored, mut spared) = (0, 0);
        for first in pieces {
            for second in pieces {
                for third in ["", "a", "*", "/", ".o", "\r", " "] {
                    let pattern = format!("{first}{second}{third}");
                    scratch.write(".gitignore", format!("{pattern}\n").as_bytes());
                    let hints = hints(&std::fs::read(scratch.path().join(".gitignore")).unwrap());
                    let (repo, main) = (scratch.repo(), scratch.main());
                    let git = repo.git_in(&main).args(["check-ignore", "--no-index", "-z", "--stdin"]);
                    let told = git.stdin(input.clone()).run().unwrap().stdout;
                    let told: HashSet<&[u8]> = told.split(|byte| *byte == 0).collect();
                    for path in &paths {
                        let may = path.split('/').any(|name| hints.may_match(name.as_bytes()));
                        let is = told.contains(format!("./{path}").as_bytes());
                        assert!(may || !is, "{pattern:?} ignores {path:?}");
                        ignored += usize::from(is);
                        spared += usize::from(!may);
                    }
                }
            }
        }
        assert!(ignored > 10_000 && spared > 10_000, "{ignored} {spared}");
    }
}

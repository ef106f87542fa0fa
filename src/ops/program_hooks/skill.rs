//! What agents are told of git axiom, in the project's own files: written by `init --skill`, taken out by [`take_out`].

use std::path::{Path, PathBuf};

use super::kept;
use super::place::Place;
use super::put::{Became, Doing, Piece, Target};
use crate::domain::program_hooks::edit::Refused;
use crate::domain::program_hooks::skill;
use crate::error::{Code, Error, Result};
use crate::files::{self, Links};
use crate::ops::context::handle::Context;

/// What became of one of the files.
#[derive(Debug)]
pub struct Done {
    /// Its path below the main worktree.
    pub file: &'static str,
    /// What became of it.
    pub became: Became,
}

impl Piece for skill::Piece {
    fn with(&self, text: Option<&str>) -> std::result::Result<String, Refused> {
        skill::Piece::with(*self, text)
    }

    fn without(&self, text: &str) -> std::result::Result<Option<String>, Refused> {
        skill::Piece::without(*self, text)
    }

    fn is_changed(&self, text: &str) -> bool {
        skill::Piece::is_changed(*self, text)
    }
}

/// Writes the skill, and its lines into `AGENTS.md`, in the main worktree. Safe to repeat; a crash between the two files leaves what the
/// same call completes.
///
/// # Errors
/// `INVALID_INPUT` where a file cannot be changed as it is; `IN_THE_WAY` where a link leads out of the worktree; `CHANGED_MEANWHILE`,
/// `BARE_REPOSITORY`, `IO_FAILED`, `DISK_FULL`.
pub fn write(ctx: &Context) -> Result<Vec<Done>> {
    // First everything that can be known without a change.
    each(ctx, |target, piece| target.put(piece, Doing::DryRun, || Ok(())))?;
    each(ctx, |target, piece| target.put(piece, Doing::Really, || Ok(())))
}

/// Takes the skill and its lines out again: for `deinit`. Files that nobody changed since are put back as they were, files and folders that
/// were made are deleted; else ours alone is cut out. A skill that somebody changed is refused.
///
/// # Errors
/// As [`write`].
pub fn take_out(ctx: &Context, doing: Doing) -> Result<Vec<Done>> {
    each(ctx, |target, piece| target.take_out(piece, doing))
}

fn each(ctx: &Context, step: impl Fn(&Target, &skill::Piece) -> Result<Became>) -> Result<Vec<Done>> {
    let main = ctx.repo.worktrees().main_worktree()?;
    let one = |piece: skill::Piece| {
        let path = within(main.path(), piece.file())?;
        let record = kept::of_worktree(ctx.layout(), piece.file());
        let at = Place { path, in_worktree: Some(piece.file()), links: Links::Refused };
        Ok(Done { file: piece.file(), became: step(&Target { at, record }, &piece)? })
    };
    skill::Piece::ALL.into_iter().map(one).collect()
}

/// Where a file of the worktree really is: it may be a link to another file of the worktree, such as `AGENTS.md` to `CLAUDE.md`, but to
/// nothing outside of it, nor to anything of git's.
fn within(worktree: &Path, file: &str) -> Result<PathBuf> {
    let path = worktree.join(file);
    if !files::metadata(&path)?.is_some_and(|meta| meta.is_symlink()) {
        return Ok(path);
    }
    let real = path.canonicalize().ok().filter(|real| {
        let below = worktree.canonicalize().ok().and_then(|root| real.strip_prefix(root).ok().map(Path::to_owned));
        below.is_some_and(|below| !below.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")))
    });
    real.ok_or_else(|| {
        Error::new(Code::InTheWay, format!("'{}' is a link that leads out of the worktree, so it is left alone", path.display()))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::git::Scratch;
    use crate::ops::context::placement::Purpose;

    const AGENTS: &str = "AGENTS.md";
    const SKILL: &str = ".claude/skills/git-axiom/SKILL.md";

    fn read(scratch: &Scratch, file: &str) -> Option<String> {
        std::fs::read_to_string(scratch.path().join(file)).ok()
    }

    fn became(done: Vec<Done>) -> Vec<Became> {
        done.into_iter().map(|one| one.became).collect()
    }

    #[test]
    fn what_is_written_is_taken_out_to_the_byte() {
        for before in [None, Some("\u{feff}# Rules\r\n\r\nBe kind.\r\n"), Some("no line end"), Some("")] {
            let scratch = Scratch::new(&[]);
            if let Some(before) = before {
                scratch.write(AGENTS, before.as_bytes());
            }
            scratch.write(".claude/settings.json", b"{}");
            let ctx = Context::open(&scratch.path(), Purpose::Write).unwrap();
            let first = if before.is_some() { Became::Changed } else { Became::Made };
            assert_eq!(became(write(&ctx).unwrap()), [first, Became::Made]);
            assert_eq!(became(write(&ctx).unwrap()), [Became::Unchanged, Became::Unchanged]);
            assert!(read(&scratch, AGENTS).unwrap().contains("git axiom status") && read(&scratch, SKILL).is_some());
            let last = if before.is_some() { Became::PutBack } else { Became::Deleted };
            assert_eq!(became(take_out(&ctx, Doing::DryRun).unwrap()), [last, Became::Deleted]);
            assert_eq!(became(take_out(&ctx, Doing::Really).unwrap()), [last, Became::Deleted]);
            assert_eq!(read(&scratch, AGENTS).as_deref(), before, "{before:?}");
            assert!(!scratch.path().join(".claude/skills").exists() && scratch.path().join(".claude/settings.json").exists());
            assert_eq!(became(take_out(&ctx, Doing::Really).unwrap()), [Became::Unchanged, Became::Unchanged]);
        }
    }

    #[test]
    fn what_others_wrote_since_stays() {
        let scratch = Scratch::new(&[]);
        scratch.write(AGENTS, b"# Rules\n");
        let ctx = Context::open(&scratch.path(), Purpose::Write).unwrap();
        write(&ctx).unwrap();
        scratch.write(AGENTS, format!("{}\n# More\n", read(&scratch, AGENTS).unwrap()).as_bytes());
        let changed = format!("{}\nmine\n", read(&scratch, SKILL).unwrap());
        scratch.write(SKILL, changed.as_bytes());
        assert!(write(&ctx).is_err() && take_out(&ctx, Doing::Really).is_err());
        assert_eq!((read(&scratch, AGENTS).as_deref(), read(&scratch, SKILL)), (Some("# Rules\n\n# More\n"), Some(changed)));
    }

    #[test]
    fn a_link_within_the_worktree_is_followed_and_one_that_leads_out_is_not() {
        let scratch = Scratch::new(&[]);
        scratch.write("CLAUDE.md", b"# Rules\n");
        let link = scratch.path().join(AGENTS);
        std::os::unix::fs::symlink("CLAUDE.md", &link).unwrap();
        let ctx = Context::open(&scratch.path(), Purpose::Write).unwrap();
        write(&ctx).unwrap();
        assert!(
            link.symlink_metadata().unwrap().is_symlink() && read(&scratch, "CLAUDE.md").unwrap().contains("git axiom status")
        );
        take_out(&ctx, Doing::Really).unwrap();
        assert_eq!(read(&scratch, "CLAUDE.md").as_deref(), Some("# Rules\n"));
        let outside = scratch.path().with_file_name("outside.md");
        std::fs::write(&outside, "theirs\n").unwrap();
        for to in ["../outside.md", ".git/description", "nowhere"] {
            std::fs::remove_file(&link).unwrap();
            std::os::unix::fs::symlink(to, &link).unwrap();
            assert_eq!(write(&ctx).unwrap_err().code(), Code::InTheWay, "{to}");
            assert!(read(&scratch, SKILL).is_none(), "nothing is written where one of the two cannot be");
        }
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "theirs\n");
    }
}

//! What agents are told of git axiom, in the project's own files: written by `init --skill`, taken out by [`take_out`].

use std::path::{Path, PathBuf};

use super::file_backup;
use super::file_edit::{ProgramFileChange, ProgramFilePiece, ProgramFileTarget, WriteProgramFiles};
use super::program_files::ProgramFilePlace;
use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::EditThroughLink;
use axiom_model::program_hooks::edit::HookEditRefusal;
use axiom_model::program_hooks::skill;

/// What became of one of the files.
#[derive(Debug)]
pub struct SkillFileOutcome {
    /// Its path below the main worktree.
    pub file: &'static str,
    /// What became of it.
    pub became: ProgramFileChange,
}

impl ProgramFilePiece for skill::AgentInstructions {
    fn with(&self, text: Option<&str>) -> std::result::Result<String, HookEditRefusal> {
        skill::AgentInstructions::with(*self, text)
    }

    fn without(&self, text: &str) -> std::result::Result<Option<String>, HookEditRefusal> {
        skill::AgentInstructions::without(*self, text)
    }

    fn is_changed(&self, text: &str) -> bool {
        skill::AgentInstructions::is_changed(*self, text)
    }
}

/// Writes the skill, and its lines into `AGENTS.md`, in the main worktree. Safe to repeat; a crash between the two files leaves what the
/// same call completes.
pub fn write(ctx: &Context) -> Result<Vec<SkillFileOutcome>> {
    // First everything that can be known without a change.
    each(ctx, |target, piece| target.put(piece, WriteProgramFiles::DryRun, || Ok(())))?;
    each(ctx, |target, piece| target.put(piece, WriteProgramFiles::Really, || Ok(())))
}

/// Takes the skill and its lines out again: for `deinit`. Files that nobody changed since are put back as they were, files and folders that
/// were made are deleted; else ours alone is cut out. A skill that somebody changed is refused.
pub fn take_out(ctx: &Context, doing: WriteProgramFiles) -> Result<Vec<SkillFileOutcome>> {
    each(ctx, |target, piece| target.take_out(piece, doing))
}

fn each(
    ctx: &Context,
    step: impl Fn(&ProgramFileTarget, &skill::AgentInstructions) -> Result<ProgramFileChange>,
) -> Result<Vec<SkillFileOutcome>> {
    let main = ctx.repo.worktrees().main_worktree()?;
    let one = |piece: skill::AgentInstructions| {
        let path = within(main.path(), piece.file())?;
        let record = file_backup::of_worktree(ctx.layout(), piece.file());
        let at = ProgramFilePlace { path, in_worktree: Some(piece.file()), links: EditThroughLink::Refused };
        Ok(SkillFileOutcome { file: piece.file(), became: step(&ProgramFileTarget { at, record }, &piece)? })
    };
    skill::AgentInstructions::ALL.into_iter().map(one).collect()
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
    use crate::context::placement::VerbPurpose;
    use crate::opening;
    use crate::scratch::ScratchRepository;

    const AGENTS: &str = "AGENTS.md";
    const SKILL: &str = ".claude/skills/git-axiom/SKILL.md";

    fn read(scratch: &ScratchRepository, file: &str) -> Option<String> {
        std::fs::read_to_string(scratch.path().join(file)).ok()
    }

    fn became(done: Vec<SkillFileOutcome>) -> Vec<ProgramFileChange> {
        done.into_iter().map(|one| one.became).collect()
    }

    #[test]
    fn what_is_written_is_taken_out_to_the_byte() {
        for before in [None, Some("\u{feff}# Rules\r\n\r\nBe kind.\r\n"), Some("no line end"), Some("")] {
            let scratch = ScratchRepository::new(&[]);
            if let Some(before) = before {
                scratch.write(AGENTS, before.as_bytes());
            }
            scratch.write(".claude/settings.json", b"{}");
            let ctx = opening::open(&scratch.path(), VerbPurpose::Write).unwrap();
            let first = if before.is_some() { ProgramFileChange::Changed } else { ProgramFileChange::Made };
            assert_eq!(became(write(&ctx).unwrap()), [first, ProgramFileChange::Made]);
            assert_eq!(became(write(&ctx).unwrap()), [ProgramFileChange::Unchanged, ProgramFileChange::Unchanged]);
            assert!(read(&scratch, AGENTS).unwrap().contains("git axiom status") && read(&scratch, SKILL).is_some());
            let last = if before.is_some() { ProgramFileChange::PutBack } else { ProgramFileChange::Deleted };
            assert_eq!(became(take_out(&ctx, WriteProgramFiles::DryRun).unwrap()), [last, ProgramFileChange::Deleted]);
            assert_eq!(became(take_out(&ctx, WriteProgramFiles::Really).unwrap()), [last, ProgramFileChange::Deleted]);
            assert_eq!(read(&scratch, AGENTS).as_deref(), before, "{before:?}");
            assert!(!scratch.path().join(".claude/skills").exists() && scratch.path().join(".claude/settings.json").exists());
            assert_eq!(
                became(take_out(&ctx, WriteProgramFiles::Really).unwrap()),
                [ProgramFileChange::Unchanged, ProgramFileChange::Unchanged]
            );
        }
    }

    #[test]
    fn what_others_wrote_since_stays() {
        let scratch = ScratchRepository::new(&[]);
        scratch.write(AGENTS, b"# Rules\n");
        let ctx = opening::open(&scratch.path(), VerbPurpose::Write).unwrap();
        write(&ctx).unwrap();
        scratch.write(AGENTS, format!("{}\n# More\n", read(&scratch, AGENTS).unwrap()).as_bytes());
        let changed = format!("{}\nmine\n", read(&scratch, SKILL).unwrap());
        scratch.write(SKILL, changed.as_bytes());
        assert!(write(&ctx).is_err() && take_out(&ctx, WriteProgramFiles::Really).is_err());
        assert_eq!((read(&scratch, AGENTS).as_deref(), read(&scratch, SKILL)), (Some("# Rules\n\n# More\n"), Some(changed)));
    }

    #[test]
    fn a_link_within_the_worktree_is_followed_and_one_that_leads_out_is_not() {
        let scratch = ScratchRepository::new(&[]);
        scratch.write("CLAUDE.md", b"# Rules\n");
        let link = scratch.path().join(AGENTS);
        std::os::unix::fs::symlink("CLAUDE.md", &link).unwrap();
        let ctx = opening::open(&scratch.path(), VerbPurpose::Write).unwrap();
        write(&ctx).unwrap();
        assert!(
            link.symlink_metadata().unwrap().is_symlink() && read(&scratch, "CLAUDE.md").unwrap().contains("git axiom status")
        );
        take_out(&ctx, WriteProgramFiles::Really).unwrap();
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

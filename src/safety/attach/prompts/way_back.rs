//! What a rollback to before a prompt brings back.

use std::path::PathBuf;

use super::super::elsewhere;
use super::super::elsewhere::ElsewhereRollback;
use crate::attach::since::head_since::{HeadSincePrompt, head_since};
use crate::checkpoint;
use crate::context::handle::Context;
use crate::rollback::{PromptRollback, RollbackScope};
use axiom_base::error::{Code, Error, Result};
use axiom_base::shell_word::shell_word;
use axiom_model::base::forms::plural::count;
use axiom_model::checkpoint::trigger::CheckpointTrigger;

/// What going back to a checkpoint restores where nobody says more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckpointRollbackScope {
    /// Everything: it is not that of a prompt.
    Everything,
    /// The worktree of the prompt's session: files, index, HEAD, and branch; only its files where HEAD and branch are also somebody else's by
    /// now. With it, refs that were deleted since.
    Prompt {
        /// What goes back.
        part: PromptRollback,
        /// What became of HEAD since.
        head: HeadSincePrompt,
        /// The command that takes HEAD and branch back all the same.
        whole: String,
        /// What ought to be known of other worktrees in which the session worked.
        elsewhere: Vec<String>,
    },
}

impl CheckpointRollbackScope {
    /// The same as a part of a checkpoint.
    pub fn part(&self) -> RollbackScope<'_> {
        match self {
            Self::Everything => RollbackScope::Whole,
            Self::Prompt { part, .. } => RollbackScope::Prompt(part),
        }
    }

    /// What a human ought to know of HEAD.
    fn note(&self) -> Option<String> {
        let Self::Prompt { head, whole, .. } = self else { return None };
        match head {
            HeadSincePrompt::Same => None,
            HeadSincePrompt::OwnCommits(commits) if commits.is_empty() => {
                Some("HEAD and its branch go back too: only commands of this session moved them since".to_owned())
            }
            HeadSincePrompt::OwnCommits(commits) => {
                let commits = count(commits.len(), "commit");
                Some(format!("the branch goes back too: all that was committed since is {commits} of this session"))
            }
            HeadSincePrompt::Others => Some(format!(
                "HEAD or its branch has moved since that prompt, not provably by commits of its session alone: they stay, and only files \
                 come back; '{whole}' takes them back too"
            )),
        }
    }

    /// The worktrees that go back beside that of the session.
    pub fn worktrees(&self) -> &[String] {
        match self {
            Self::Everything => &[],
            Self::Prompt { part, .. } => &part.others,
        }
    }

    /// All that a human ought to know of it.
    pub fn notes(&self) -> Vec<String> {
        let elsewhere = match self {
            Self::Everything => &[],
            Self::Prompt { elsewhere, .. } => elsewhere.as_slice(),
        };
        self.note().into_iter().chain(elsewhere.iter().cloned()).collect()
    }

    /// The commits over which the branch goes back: abbreviated id and subject.
    pub fn commits(&self) -> &[String] {
        match self {
            Self::Prompt { head: HeadSincePrompt::OwnCommits(commits), .. } => commits,
            Self::Everything | Self::Prompt { .. } => &[],
        }
    }
}

/// How far one goes back to a checkpoint. HEAD and branch of a prompt's worktree go back too as long as only its session has committed
/// since.
pub fn back(ctx: &Context, name: &str) -> Result<CheckpointRollbackScope> {
    let record = checkpoint::find(ctx, name)?;
    if record.trigger != CheckpointTrigger::Prompt {
        return Ok(CheckpointRollbackScope::Everything);
    }
    let document = checkpoint::read_document(ctx, &record)?;
    let Some(stamp) = &document.attached else {
        return Err(Error::new(Code::CheckpointDamaged, format!("{} names no worktree", record.name))
            .hint(format!("git axiom rollback checkpoint {} --all-worktrees", record.name)));
    };
    let head = head_since(ctx, &document, (&stamp.session, &stamp.worktree))?;
    let ElsewhereRollback { others, notes: elsewhere } = elsewhere::rollback(ctx, (&record, &document), stamp)?;
    let takes_head = head != HeadSincePrompt::Others;
    let part = PromptRollback { worktree: PathBuf::from(&stamp.worktree), takes_head, others };
    let whole = format!("git axiom rollback checkpoint {} --worktree {}", record.name, shell_word(&stamp.worktree));
    Ok(CheckpointRollbackScope::Prompt { part, head, whole, elsewhere })
}

//! Attaching and detaching one program.

use std::path::PathBuf;
use std::process::Stdio;

use super::file_backup;
use super::file_edit::{ProgramFileChange, ProgramFilePiece, ProgramFileTarget, WriteProgramFiles};
use super::program_files::{AttachScope, caller, layout_of, note_program, place, place_of_user, read_in};
use crate::context::handle::Context;
use crate::context::recorded_place;
use axiom_base::error::{Code, Error, Result};
use axiom_git::Worktree;
use axiom_model::base::names::RepoPath;
use axiom_model::program_hooks::command::HookInvocation;
use axiom_model::program_hooks::edit::{HookEditRefusal, attached, detached, is_changed_plugin};
use axiom_model::program_hooks::recipe::HookRecipe;
use axiom_process::os::command::command;
use axiom_store::beside::fired;

/// A file that was to be changed.
#[derive(Debug)]
pub struct ProgramFileOutcome {
    /// Its path.
    pub path: PathBuf,
    /// What became of it.
    pub became: ProgramFileChange,
    /// How the program calls us.
    pub calls: Option<String>,
}

/// Our hooks in a program's file.
struct ProgramFileHooks<'a> {
    recipe: &'a HookRecipe,
    caller: &'a HookInvocation,
}

impl ProgramFilePiece for ProgramFileHooks<'_> {
    fn with(&self, text: Option<&str>) -> std::result::Result<String, HookEditRefusal> {
        attached(self.recipe, text, self.caller)
    }

    fn without(&self, text: &str) -> std::result::Result<Option<String>, HookEditRefusal> {
        detached(self.recipe, text)
    }

    fn is_changed(&self, text: &str) -> bool {
        is_changed_plugin(self.recipe, text)
    }
}

/// A file of a worktree, or the user's.
struct ProgramFilePart {
    target: ProgramFileTarget,
    /// Whose it is; `None`: the user's.
    worktree: Option<Worktree>,
    /// Whether only its folder is made, with which the program reads the file of another worktree.
    only_folder: bool,
}

impl ProgramFilePart {
    fn of(ctx: &Context, worktree: &Worktree, recipe: &HookRecipe, scope: AttachScope) -> Result<Self> {
        let at = place(worktree, recipe, scope)?;
        let (record, worktree) = match at.in_worktree {
            Some(path) => (file_backup::of_worktree(&layout_of(ctx, worktree), path), Some(worktree.clone())),
            None => (file_backup::of_user(&at.path)?, None),
        };
        Ok(Self { target: ProgramFileTarget { at, record }, worktree, only_folder: false })
    }

    fn done(&self, became: ProgramFileChange, calls: Option<String>) -> ProgramFileOutcome {
        let path = &self.target.at.path;
        let folder = if self.only_folder { path.parent() } else { None };
        ProgramFileOutcome { path: folder.unwrap_or(path).to_owned(), became, calls }
    }
}

/// The files that are changed so that sessions in this worktree are covered.
fn parts(ctx: &Context, recipe: &HookRecipe, scope: AttachScope) -> Result<Vec<ProgramFilePart>> {
    let here = ctx.repo.worktrees().current_worktree()?;
    if scope != AttachScope::Here {
        return Ok(vec![ProgramFilePart::of(ctx, &here, recipe, scope)?]);
    }
    let read = read_in(ctx, recipe, &here)?;
    let mut parts: Vec<ProgramFilePart> =
        read.files_of.iter().map(|one| ProgramFilePart::of(ctx, one, recipe, scope)).collect::<Result<_>>()?;
    if read.once_folder {
        parts.push(ProgramFilePart { only_folder: true, ..ProgramFilePart::of(ctx, &here, recipe, scope)? });
    }
    Ok(parts)
}

/// Puts our hooks into the program's files, so that its sessions in the current worktree call us.
pub fn attach(
    ctx: &Context,
    recipe: &HookRecipe,
    scope: AttachScope,
    doing: WriteProgramFiles,
) -> Result<Vec<ProgramFileOutcome>> {
    let caller = caller(scope)?;
    let parts = parts(ctx, recipe, scope)?;
    for part in parts.iter().filter(|part| scope == AttachScope::Here && !part.only_folder) {
        if is_tracked(ctx, part)? {
            return Err(Error::new(Code::InvalidInput, format!("'{}' is committed", part.target.at.path.display()))
                .hint(format!("git axiom attach {} --shared    changes it for everybody", recipe.name))
                .hint(format!("git axiom attach {} --user      attaches it for you alone", recipe.name)));
        }
    }
    let before_writing = || {
        answers(&caller, recipe)?;
        note_program();
        // A hook does nothing in a repository that is not prepared.
        ctx.layout().ensure()?;
        recorded_place::write_down(ctx.layout(), &ctx.repo)
    };
    let mut all = Vec::new();
    for part in &parts {
        if part.only_folder {
            all.push(part.done(part.target.put_folder(doing)?, None));
            continue;
        }
        let became = part.target.put(&ProgramFileHooks { recipe, caller: &caller }, doing, before_writing)?;
        if let (WriteProgramFiles::Really, AttachScope::Here, Some(path)) = (doing, scope, part.target.at.in_worktree) {
            ctx.repo.workspaces().exclude_file(&RepoPath::new(path.as_bytes()))?;
        }
        all.push(part.done(became, Some(caller.line(recipe.name))));
    }
    Ok(all)
}

/// Puts our hooks into the user's own file of a program, where we were called in no repository.
pub fn attach_for_user(recipe: &HookRecipe, doing: WriteProgramFiles) -> Result<ProgramFileOutcome> {
    let (target, caller) = (target_of_user(recipe)?, caller(AttachScope::User)?);
    let became = target.put(&ProgramFileHooks { recipe, caller: &caller }, doing, || {
        answers(&caller, recipe)?;
        note_program();
        Ok(())
    })?;
    Ok(ProgramFileOutcome { path: target.at.path, became, calls: Some(caller.line(recipe.name)) })
}

/// Takes our hooks out of the user's own file of a program, where we were called in no repository.
pub fn detach_for_user(recipe: &HookRecipe, doing: WriteProgramFiles) -> Result<ProgramFileOutcome> {
    let target = target_of_user(recipe)?;
    let became = target.take_out(&ProgramFileHooks { recipe, caller: &HookInvocation::IfThere }, doing)?;
    Ok(ProgramFileOutcome { path: target.at.path, became, calls: None })
}

fn target_of_user(recipe: &HookRecipe) -> Result<ProgramFileTarget> {
    let at = place_of_user(recipe)?;
    let record = file_backup::of_user(&at.path)?;
    Ok(ProgramFileTarget { at, record })
}

/// Takes our hooks out of the program's files, in whichever worktree they were written: puts back what was there where nobody changed it
/// since, else cuts out ours alone.
pub fn detach(
    ctx: &Context,
    recipe: &HookRecipe,
    scope: AttachScope,
    doing: WriteProgramFiles,
) -> Result<Vec<ProgramFileOutcome>> {
    let mut parts = parts(ctx, recipe, scope)?;
    if scope != AttachScope::User {
        let there = ctx.repo.worktrees().list()?.into_iter().filter(|entry| entry.present);
        for entry in there {
            let other = ProgramFilePart::of(ctx, &entry.worktree, recipe, scope)?;
            // A file that a branch brought with it has hooks too: only those that we wrote there are taken out elsewhere.
            let is_ours = file_backup::read(&other.target.record)?.is_some();
            if is_ours && parts.iter().all(|part| part.target.at.path != other.target.at.path) {
                parts.push(other);
            }
        }
    }
    let mut all = Vec::new();
    for part in &parts {
        let became = part.target.take_out(&ProgramFileHooks { recipe, caller: &HookInvocation::IfThere }, doing)?;
        all.push(part.done(became, None));
        if let (Some(worktree), WriteProgramFiles::Really) = (&part.worktree, doing) {
            forget_fired(ctx, worktree, recipe);
        }
    }
    Ok(all)
}

/// Since when hooks fire is counted anew once they are attached again.
fn forget_fired(ctx: &Context, worktree: &Worktree, recipe: &HookRecipe) {
    if let Err(error) = fired::forget(&layout_of(ctx, worktree), recipe.name) {
        tracing::debug!(%error, "when hooks fired was not forgotten");
    }
}

fn is_tracked(ctx: &Context, part: &ProgramFilePart) -> Result<bool> {
    let (Some(path), Some(worktree)) = (part.target.at.in_worktree, &part.worktree) else { return Ok(false) };
    Ok(ctx.repo.git_in(worktree).args(["ls-files", "--error-unmatch", "--", path]).run()?.ok())
}

/// Asks the command that hooks will call for nothing at all: one that does not know `hook` would keep the agent from its work.
pub fn answers(caller: &HookInvocation, recipe: &HookRecipe) -> Result<()> {
    let failed = |why: String| {
        Error::new(Code::InvalidInput, format!("'{}' cannot be called by hooks", caller.line(recipe.name)))
            .why(why)
            .hint("install this version of git axiom in a folder of your PATH")
    };
    let mut command = command(caller.file());
    // In no repository: aider says nothing of what happened, so there each call counts as one that fired.
    command.args(["hook", recipe.name]).current_dir("/");
    let ended = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(format!("it ended with {status}"))),
        Err(error) => Err(failed(error.to_string())),
    }
}

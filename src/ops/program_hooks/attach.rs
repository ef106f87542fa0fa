//! Attaching and detaching one program.

use std::path::PathBuf;
use std::process::Stdio;

use super::kept;
use super::place::{Place, Scope, caller, place};
use super::put::{Became, Doing, Piece, Target};
use crate::domain::base::names::RepoPath;
use crate::domain::program_hooks::command::Caller;
use crate::domain::program_hooks::edit::{Refused, attached, detached, is_changed_plugin};
use crate::domain::program_hooks::recipe::Recipe;
use crate::error::{Code, Error, Result};
use crate::ops::context::handle::Context;
use crate::ops::context::placement;
use crate::process::os::command::command;

/// A file that was to be changed.
#[derive(Debug)]
pub struct Done {
    /// Its path.
    pub path: PathBuf,
    /// What became of it.
    pub became: Became,
    /// How the program calls us.
    pub calls: Option<String>,
}

/// Our hooks in a program's file.
struct Hooks<'a> {
    recipe: &'a Recipe,
    caller: &'a Caller,
}

impl Piece for Hooks<'_> {
    fn with(&self, text: Option<&str>) -> std::result::Result<String, Refused> {
        attached(self.recipe, text, self.caller)
    }

    fn without(&self, text: &str) -> std::result::Result<Option<String>, Refused> {
        detached(self.recipe, text)
    }

    fn is_changed(&self, text: &str) -> bool {
        is_changed_plugin(self.recipe, text)
    }
}

fn target(ctx: &Context, recipe: &Recipe, scope: Scope) -> Result<Target> {
    let at = place(ctx, recipe, scope)?;
    let record = kept::file(ctx, &at.path, scope == Scope::User)?;
    Ok(Target { at, record })
}

/// Puts our hooks into the program's file.
///
/// # Errors
/// `INVALID_INPUT` where the file cannot be changed as it is, or is committed; `IN_THE_WAY`, `CHANGED_MEANWHILE`, `BUSY`, `IO_FAILED`,
/// `DISK_FULL`.
pub fn attach(ctx: &Context, recipe: &Recipe, scope: Scope, doing: Doing) -> Result<Done> {
    let target = target(ctx, recipe, scope)?;
    let caller = caller(scope)?;
    if scope == Scope::Here && is_tracked(ctx, &target.at)? {
        return Err(Error::new(Code::InvalidInput, format!("'{}' is committed", target.at.path.display()))
            .hint(format!("git axiom attach {} --shared    changes it for everybody", recipe.name))
            .hint(format!("git axiom attach {} --user      attaches it for you alone", recipe.name)));
    }
    let became = target.put(&Hooks { recipe, caller: &caller }, doing, || {
        answers(&caller, recipe)?;
        // A hook does nothing in a repository that is not prepared.
        ctx.layout().ensure()?;
        placement::write_down(ctx.layout(), &ctx.repo)
    })?;
    if let (Doing::Really, Scope::Here, Some(path)) = (doing, scope, target.at.in_worktree) {
        ctx.repo.workspaces().exclude_file(&RepoPath::new(path.as_bytes()))?;
    }
    Ok(Done { path: target.at.path, became, calls: Some(caller.line(recipe.name)) })
}

/// Takes our hooks out of the program's file: puts back what was there where nobody changed it since, else cuts out ours alone.
///
/// # Errors
/// As [`attach`].
pub fn detach(ctx: &Context, recipe: &Recipe, scope: Scope, doing: Doing) -> Result<Done> {
    let target = target(ctx, recipe, scope)?;
    let became = target.take_out(&Hooks { recipe, caller: &Caller::IfThere }, doing)?;
    Ok(Done { path: target.at.path, became, calls: None })
}

fn is_tracked(ctx: &Context, at: &Place) -> Result<bool> {
    let Some(path) = at.in_worktree else { return Ok(false) };
    let main = ctx.repo.worktrees().main_worktree()?;
    Ok(ctx.repo.git_in(&main).args(["ls-files", "--error-unmatch", "--", path]).run()?.ok())
}

/// Asks the command that hooks will call for nothing at all: one that does not know `hook` would keep the agent from its work.
///
/// # Errors
/// `INVALID_INPUT` where it cannot be started or fails.
pub fn answers(caller: &Caller, recipe: &Recipe) -> Result<()> {
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

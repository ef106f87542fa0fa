//! `git axiom recover --files`: files of a workspace that its newest capture holds and that are not on disk as it holds them.

use serde::Serialize;

use crate::cli::screen::Screen;
use crate::cli::{prompt, visible, words};
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::{open_with_usable_config, purpose};
use axiom_agents::repair::lost_files;
use axiom_agents::repair::lost_files::{LostFile, LostFiles};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::ids::{OperationId, TaskId};
use axiom_model::base::names::RepoPath;
use axiom_model::base::path_set::PathSet;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::workspaces;
use axiom_safety::rollback;

/// The files of a workspace that its newest capture holds otherwise.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecoverFilesJson {
    /// Whether `files` came back; else they are those that are not as in the capture.
    recovered: bool,
    #[serde(flatten)]
    lost: LostFiles,
    /// The operation, whose undo brings back what was there.
    undo: Option<OperationId>,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecoverFilesMode {
    /// Put back, without asking.
    Act,
    /// Ask, where there is a terminal.
    Ask,
    /// Only show.
    Show,
}

/// Shows the files of a task, and puts those back that a human chooses. `of` is the task, then paths in its workspace.
pub(super) fn run(of: &[String], how: RecoverFilesMode, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let Some((task, paths)) = of.split_first() else {
        return Err(Error::new(Code::InvalidInput, "--files needs a task"));
    };
    let task = TaskId::new(task.as_str())?;
    let ctx = open_with_usable_config(purpose(true), global, screen)?;
    ctx.state().task(&task)?;
    let Some(lost) = lost_files::look(&ctx, &task, None)? else {
        return Err(Error::new(Code::InvalidInput, format!("there is no capture of a workspace of '{task}'")));
    };
    let chosen = match named(&lost, paths)? {
        Some(named) => (how != RecoverFilesMode::Show).then_some(named),
        None => match how {
            RecoverFilesMode::Act => {
                Some(lost.files.iter().filter(|file| file.found.is_loss()).map(|file| file.path.clone()).collect())
            }
            RecoverFilesMode::Ask if screen.can_ask() && !lost.files.is_empty() => Some(asked(&lost)?),
            RecoverFilesMode::Ask | RecoverFilesMode::Show => None,
        },
    };
    let answer = match chosen {
        None => RecoverFilesJson { recovered: false, lost, undo: None },
        Some(chosen) => {
            drop(ctx);
            let mut ctx = open_with_usable_config(purpose(false), global, screen)?;
            put_back(&mut ctx, lost, &chosen)?
        }
    };
    screen.answer(&answer, || in_words(&answer))?;
    Ok(Exit::Done)
}

/// The files that these paths name, each with everything below it; `None` where there are no paths.
fn named(lost: &LostFiles, paths: &[String]) -> Result<Option<Vec<RepoPath>>> {
    let mut all = Vec::new();
    for path in paths {
        let below = PathSet::new([RepoPath::new(path.trim_end_matches('/').as_bytes())]);
        let found: Vec<RepoPath> = lost.files.iter().map(|file| &file.path).filter(|file| below.covers(file)).cloned().collect();
        if found.is_empty() {
            return Err(Error::new(Code::InvalidInput, format!("the capture does not hold '{path}', or it is on disk as there"))
                .hint(format!("git axiom recover --files {}    shows the files that differ", lost.task_id)));
        }
        all.extend(found);
    }
    Ok((!paths.is_empty()).then_some(all))
}

fn asked(lost: &LostFiles) -> Result<Vec<RepoPath>> {
    let items: Vec<String> = lost.files.iter().map(line).collect();
    let heading = heading(lost);
    let picked = prompt::some_of("Put back which files? (Escape changes nothing)", Some(&heading), &items)?;
    match picked {
        Some(picked) if !picked.is_empty() => {
            Ok(picked.into_iter().filter_map(|number| lost.files.get(number)).map(|file| file.path.clone()).collect())
        }
        Some(_) | None => Err(Error::new(Code::Declined, "nothing was chosen")),
    }
}

fn put_back(ctx: &mut Context, mut lost: LostFiles, chosen: &[RepoPath]) -> Result<RecoverFilesJson> {
    rollback::nobody_works(ctx)?;
    ctx.act_as(EventAuthor::User)?;
    // A folder that is gone is made again from its branch first.
    if let Some(workspace) = ctx.state().restorable.workspaces.get(&lost.task_id).cloned() {
        lost_files::keep_of_lost_folder(ctx, &lost.task_id)?;
        workspaces::ensure(ctx, &lost.task_id, &workspace)?;
    }
    let done = lost_files::put_back(ctx, &lost.task_id, None, |file| chosen.contains(&file.path))?;
    let back = done.as_ref().map_or(&[][..], |done| done.paths.as_slice());
    lost.files.retain(|file| back.contains(&file.path));
    Ok(RecoverFilesJson { recovered: true, lost, undo: done.map(|done| done.txn) })
}

fn heading(lost: &LostFiles) -> String {
    let at = lost.captured_at.map_or_else(String::new, |at| format!(" of {}", words::time(at)));
    format!("Files in '{}' that are not as in its capture{at}:", visible::line(&lost.workspace))
}

fn line(file: &LostFile) -> String {
    format!("{} ({})", visible::line(&file.path.to_string()), file.found.in_words())
}

fn in_words(answer: &RecoverFilesJson) -> String {
    let RecoverFilesJson { recovered, lost, undo } = answer;
    let task = &lost.task_id;
    let list: String = lost.files.iter().map(|file| format!("  {}\n", line(file))).collect();
    match (recovered, undo, lost.files.is_empty()) {
        (false, _, true) => format!("Everything is as in the newest capture of '{task}', or newer.\n"),
        (false, _, false) => {
            let losses = lost.files.iter().any(|file| file.found.is_loss());
            let all = format!("To put back what is gone or empty: git axiom recover --files {task} --yes\n");
            let all = if losses { all } else { String::new() };
            format!("{}\n{list}Nothing was changed.\n{all}Single ones: git axiom recover --files {task} PATH\n", heading(lost))
        }
        (true, Some(txn), _) => {
            let files = words::count(lost.files.len(), "file");
            format!("{files} put back:\n{list}What was there: git axiom undo {txn}\n")
        }
        (true, None, _) => "There was nothing to put back.\n".to_owned(),
    }
}

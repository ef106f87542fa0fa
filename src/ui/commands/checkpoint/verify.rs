//! `git axiom checkpoint verify`, `diff` and `compact`.

use clap::Args;
use serde::Serialize;

use crate::cli::screen::Screen;
use crate::cli::{visible, words};
use crate::commands::diff::show_patch;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::{open_with_usable_config, purpose};
use crate::wording::checkpoints::{compacted, only_text};
use axiom_agents::task_diff::PatchColor;
use axiom_base::error::{Code, Error, Exit, Result, some_of};
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::{
    CheckpointDifference, CheckpointRepair, CheckpointVerifyDepth, CheckpointVerifyReport, VerifiedCheckpoint,
};
use axiom_safety::context::placement::VerbPurpose;

/// How many paths are named in a note.
const NAMED: usize = 20;

/// Arguments of `checkpoint verify`.
#[derive(Debug, Args)]
pub struct CheckpointVerifyArgs {
    /// Its name, or a unique beginning of it; by default all of them
    name: Option<String>,
    /// Rebuild what can be rebuilt: tags, notes, refs
    #[arg(long)]
    repair: bool,
    /// Do not read the contents of files, only check that they exist
    #[arg(long)]
    quick: bool,
}

/// Arguments of `checkpoint diff`.
#[derive(Debug, Args)]
pub struct CheckpointDiffArgs {
    /// Its name, or a unique beginning of it
    name: String,
    /// Another one to compare with, instead of the present files
    other: Option<String>,
    /// Only count changed lines
    #[arg(long)]
    stat: bool,
    /// Only list the files
    #[arg(long)]
    name_only: bool,
}

/// Whether checkpoints are whole; with `error` where something is not.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckpointVerifyJson {
    #[serde(flatten)]
    found: CheckpointVerifyReport,
    /// With `--repair`: what was put right.
    repaired: Vec<CheckpointRepair>,
    whole: bool,
}

/// Verifies checkpoints.
pub(super) fn verify(args: &CheckpointVerifyArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    let name = args.name.as_deref();
    let look = if args.quick { CheckpointVerifyDepth::Quick } else { CheckpointVerifyDepth::Whole };
    let (verification, repaired) =
        if args.repair { checkpoint::repair(&mut ctx, name, look)? } else { (checkpoint::verify(&ctx, name, look)?, Vec::new()) };
    let found = &verification.checkpoints;
    let damaged: Vec<&VerifiedCheckpoint> = found.iter().filter(|one| !one.problems.is_empty()).collect();
    let repairable = damaged.iter().any(|one| one.problems.iter().any(|problem| problem.repairable));
    let ended: Vec<String> = damaged.iter().filter(|one| one.standing.is_ended()).map(|one| one.name.to_string()).collect();
    let names: Vec<&str> = damaged.iter().take(20).map(|one| one.name.as_str()).collect();
    let names = names.join(", ");
    let mut lines = String::new();
    repaired.iter().for_each(|one| lines.push_str(&format!("repaired {}: {}\n", one.name, visible::line(&one.what))));
    for one in &damaged {
        one.problems.iter().for_each(|problem| lines.push_str(&format!("{}: {}\n", one.name, visible::line(&problem.what))));
    }
    for one in found {
        one.submodules_not_held.iter().for_each(|what| lines.push_str(&format!("{}: {}\n", one.name, visible::line(what))));
    }
    let (total, bad, owed) = (found.len(), damaged.len(), found.iter().filter(|one| one.owed > 0).count());
    match (total, bad) {
        (0, _) => lines.push_str("There is no checkpoint yet.\n"),
        (1, 0) => lines.push_str("The checkpoint is intact.\n"),
        (total, 0) => lines.push_str(&format!("All {} are intact.\n", words::count(total, "checkpoint"))),
        (_, _) => {}
    }
    if owed > 0 {
        let most = words::count(found.iter().map(|one| one.owed).max().unwrap_or_default(), "object");
        let whose = words::count(owed, "checkpoint");
        lines.push_str(&format!(
            "{whose}: up to {most} are only at the remote of this partial clone; git fetches them when needed.\n"
        ));
    }
    if let Some(not_read) = &verification.not_read {
        lines.push_str(&format!("Not read: {not_read}.\n"));
    }
    if let Some(beside) = &verification.beside {
        lines.push_str(&format!("Objects outside of the checkpoints are missing, so 'git gc' fails: {beside}\n"));
    }
    let whole = bad == 0 && verification.beside.is_none();
    let answer = CheckpointVerifyJson { whole, repaired, found: verification };
    if whole {
        screen.answer(&answer, || lines)?;
        return Ok(Exit::Done);
    }
    let error = if bad == 0 {
        Error::new(Code::CheckpointDamaged, "refs, worktrees or indexes refer to missing objects; the checkpoints are intact")
    } else {
        Error::new(
            Code::CheckpointDamaged,
            format!("{bad} of {} damaged", words::count_of(total, "checkpoint is", "checkpoints are")),
        )
        .why(names)
    };
    let error =
        if repairable { error.hint("git axiom checkpoint verify --repair    rebuilds what can be rebuilt") } else { error };
    let error = if ended.is_empty() {
        error
    } else {
        error.hint(format!(
            "git axiom checkpoint delete --protected --yes {}    forgets those that cannot be restored",
            ended.join(" ")
        ))
    };
    screen.answer_with(&answer, &error, || lines)?;
    Err(error)
}

/// Shows what has changed since a checkpoint.
pub(super) fn diff(args: &CheckpointDiffArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let ctx = open_with_usable_config(purpose(true), global, screen)?;
    let difference = checkpoint::difference(&ctx, &args.name, args.other.as_deref())?;
    for name in std::iter::once(&args.name).chain(&args.other) {
        let record = checkpoint::find(&ctx, name)?;
        if let Some(only) = &record.only {
            screen.note(&format!("for {}, {}", record.name, only_text(&ctx.state().record.checkpoints.shown(only)?)));
        }
    }
    if screen.wants_json() {
        screen.answer(&difference, String::new)?;
        return Ok(Exit::Done);
    }
    let CheckpointDifference { hidden, .. } = &difference;
    if !hidden.is_empty() {
        let named: Vec<String> = hidden.iter().map(|path| format!("'{path}'")).collect();
        screen.note(&format!("only in bytes that git's conversions hide: {}", some_of(&named, NAMED)));
    }
    let patch = |color: PatchColor| {
        let options = [(args.stat, "--stat"), (args.name_only, "--name-only"), (true, color.option())];
        let options: Vec<&str> = options.into_iter().filter_map(|(wanted, option)| wanted.then_some(option)).collect();
        difference.shown_by_git(&ctx, &options)
    };
    show_patch(patch, screen)?;
    Ok(Exit::Done)
}

/// Packs what checkpoints hold.
pub(super) fn compact(global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    let done = checkpoint::compact(&mut ctx)?;
    screen.answer(&done, || compacted(&done))?;
    Ok(Exit::Done)
}

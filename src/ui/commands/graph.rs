//! `git axiom graph`.

use std::cell::Cell;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::{look, working_dir};
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::cli::{visible, words};
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_agents::revert_task;
use axiom_base::error::{Exit, Result};
use axiom_base::files;
use axiom_model::base::ids::TaskId;
use axiom_model::base::screen_colors::ColoredPart;
use axiom_model::picture::{Picture, PictureMomentKind, lanes, svg};
use axiom_model::work::signals::report_parts::ChangedLineCounts;
use axiom_safety::undo::work_at_risk;
use axiom_safety::undo::work_at_risk::{UnmergedTask, WorkAtRisk};

/// For at most so many merges, the newest, it is looked up what takes them back: each is tried out in memory.
const MERGES: usize = 50;

/// Arguments of `graph`.
#[derive(Debug, Args)]
#[command(after_help = "\
Newest first, one lane for the main worktree and one for each workspace: ├ a task begins, ● work
or a merge, ◆ a checkpoint on every lane that it holds, ◀ a rollback, ↶ an undo, × a workspace
that is put aside. Beside it what was done, and the command that goes there or takes it back.
The line 'now' says what changed since the last checkpoint, and what is not merged.

--svg writes one file that needs nothing else: time from left to right, the area of a dot the
changed lines, the command where the pointer rests.")]
pub struct GraphArgs {
    /// Only the newest moments
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 100)]
    max_count: usize,
    /// Everything that the log has
    #[arg(long, conflicts_with = "max_count")]
    all: bool,
    /// Write the picture to this file, replacing it
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// What happened, oldest first. With `--svg`, the same is in the file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GraphJson<'a> {
    #[serde(flatten)]
    picture: &'a Picture,
    /// What no checkpoint holds yet.
    at_risk: AtRiskJson,
    /// The file that was written.
    svg: Option<String>,
}

/// What no checkpoint holds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AtRiskJson {
    /// The newest complete one.
    checkpoint: Option<String>,
    /// How many files of the current worktree differ from it.
    files: Option<usize>,
    workspaces: Vec<WorkspaceAtRiskJson>,
}

/// A workspace with changed lines.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkspaceAtRiskJson {
    task_id: String,
    /// Since its branch left the target; null: that cannot be counted.
    changed_lines: Option<u64>,
}

/// Draws what happened.
pub fn run(args: &GraphArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let ctx = look(global, screen)?;
    let asked = Cell::new(0);
    let takes_merge_back = |task: &TaskId| {
        asked.set(asked.get() + 1);
        (asked.get() <= MERGES).then(|| revert_task::takes_merge_back(&ctx, task)).flatten()
    };
    let picture = work_at_risk::picture(&ctx, (!args.all).then_some(args.max_count), &takes_merge_back)?;
    let risk = work_at_risk::at_risk(&ctx)?;
    let file = args.svg.as_ref().map(|file| working_dir(global).map(|here| here.join(file))).transpose()?;
    if let Some(file) = &file {
        files::write_public(file, svg::svg(&picture, words::clock).as_bytes())?;
    }
    let at_risk = AtRiskJson {
        checkpoint: risk.here.as_ref().map(|(name, _)| name.to_string()),
        files: risk.here.as_ref().map(|(_, files)| *files),
        workspaces: risk
            .not_merged
            .iter()
            .map(|one| WorkspaceAtRiskJson {
                task_id: one.task.to_string(),
                changed_lines: one.changed.map(ChangedLineCounts::total),
            })
            .collect(),
    };
    let answer = GraphJson { picture: &picture, at_risk, svg: file.as_ref().map(|file| file.display().to_string()) };
    screen.answer(&answer, || match &file {
        Some(file) => format!(
            "{} written to {}\n",
            words::count(picture.moments.len(), "moment"),
            visible::line(&file.display().to_string())
        )
        .into(),
        None => in_words(&picture, &risk),
    })?;
    Ok(Exit::Done)
}

fn in_words(picture: &Picture, risk: &WorkAtRisk) -> StyledText {
    let mut text = StyledText::from(format!("{} {}\n", lanes::now(picture), at_risk(risk)));
    for row in lanes::rows(picture) {
        let moment = &picture.moments[row.moment];
        let part = match moment.kind {
            PictureMomentKind::Checkpoint => Some(ColoredPart::Saved),
            PictureMomentKind::Merged => Some(ColoredPart::Done),
            PictureMomentKind::RolledBack | PictureMomentKind::Undone => Some(ColoredPart::Removed),
            PictureMomentKind::Session | PictureMomentKind::Begun | PictureMomentKind::Worked | PictureMomentKind::Closed => None,
        };
        let command = moment.command.as_ref().map_or_else(String::new, |command| format!("  {command}"));
        text.push_str(&format!("{} ", row.cells));
        text.push(ColoredPart::Faint, &words::clock(moment.at));
        text.push_str(" ");
        text.push(part, &visible::line(&moment.what));
        text.push_whole(ColoredPart::Faint, &command);
        text.push_str("\n");
    }
    text
}

/// What no checkpoint holds yet, in one line.
fn at_risk(risk: &WorkAtRisk) -> String {
    let here = match &risk.here {
        None => "there is no checkpoint yet: git axiom checkpoint create".to_owned(),
        Some((name, 0)) => format!("nothing has changed here since {name}"),
        Some((name, files)) => format!("{} changed here since {name}", words::count_of(*files, "file has", "files have")),
    };
    let all = risk.not_merged.iter().map(|UnmergedTask { task, changed }| match changed {
        None => task.to_string(),
        // Files without lines: binary ones, or empty ones.
        Some(changed) if changed.total() == 0 => format!("{task}: {}", words::count(changed.files, "file")),
        Some(changed) => format!("{task}: {}", words::count(changed.total(), "line")),
    });
    let all = all.collect::<Vec<_>>().join(", ");
    if all.is_empty() { format!("now: {here}") } else { format!("now: {here}; not merged: {all}") }
}

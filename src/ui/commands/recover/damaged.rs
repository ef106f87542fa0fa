//! `git axiom recover` for a stored state that cannot be loaded: shows the damage and the sources from which a new log can
//! start.

use serde::Serialize;

use super::super::{open, repository};
use crate::cli::screen::Screen;
use crate::cli::{prompt, words};
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_base::env;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::forms::times;
use axiom_model::operation::change_json::CheckpointNameJson;
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::HealDepth;
use axiom_safety::upkeep::log_recovery;
use axiom_safety::upkeep::log_recovery::{RebuildChoice, RebuildSource, SnapshotReport, StoreInspection};

/// Where the state does not load: what is damaged. With `error`, unless it was asked at a terminal.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DamagedStateJson<'a> {
    needed: bool,
    recovered: bool,
    damage: &'a StoreInspection,
}

/// What the state began anew from.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogRebuildJson<'a> {
    recovered: bool,
    /// What the state begins anew from.
    source: String,
    task_count: usize,
    /// Those that were taken up again.
    checkpoints: Vec<CheckpointNameJson<'a>>,
    /// Where the damaged files are.
    kept: Option<String>,
}

/// Shows the damage and the choices. At a terminal, asks which one to take.
pub(super) fn look(global: &GlobalArgs, error: Error, screen: &mut Screen) -> Result<Exit> {
    let found = log_recovery::look_everywhere(&repository(global)?)?;
    if screen.can_ask() {
        screen.complain_text(&in_words(&found));
        return match choose(&found)? {
            Some(source) => begin_anew(global, source, screen),
            None => Err(Error::new(Code::Declined, "nothing was chosen")),
        };
    }
    let error = log_recovery::with_a_way_on(&found, error);
    screen.answer_with(&DamagedStateJson { needed: true, recovered: false, damage: &found }, &error, || in_words(&found))?;
    Err(error)
}

fn choose(found: &StoreInspection) -> Result<Option<RebuildSource>> {
    let items: Vec<String> = found.choices.iter().map(|choice| format!("[{}] {}", key(choice.source), choice.from)).collect();
    let picked = prompt::one_of("Start again from (Escape changes nothing)", None, &items, 0)?;
    Ok(picked.and_then(|number| found.choices.get(number)).map(|choice| choice.source))
}

/// The letter of a choice.
const fn key(source: RebuildSource) -> char {
    match source {
        RebuildSource::Snapshot => 'S',
        RebuildSource::Events => 'E',
        RebuildSource::Partial => 'P',
        RebuildSource::Backup(_) => 'B',
        RebuildSource::Cases => 'C',
        RebuildSource::Checkpoint => 'G',
        RebuildSource::Fresh => 'F',
    }
}

/// What is lost by a choice.
fn warning(choice: &RebuildChoice, found: &StoreInspection) -> String {
    match choice.source {
        RebuildSource::Snapshot => "what happened after the snapshot is lost".into(),
        RebuildSource::Events => "nothing is lost; the snapshot is made again".into(),
        RebuildSource::Partial => {
            format!("recent changes may be lost: {} after the damage", words::count(numbered(found.good_after), "good event"))
        }
        RebuildSource::Backup(_) => "what happened since the backup is lost".into(),
        RebuildSource::Cases => {
            "tasks keep their status; agents, gates, an open plan and the record of checkpoints are lost".into()
        }
        RebuildSource::Checkpoint => "what happened since the newest checkpoint is lost".into(),
        RebuildSource::Fresh => {
            "all is lost except for the tasks, which are pending or as they ended; an open plan is lost too".into()
        }
    }
}

fn numbered(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Starts a new log from `source`, which the command line names. Asks for confirmation unless `yes` is set.
pub(super) fn begin_anew_from(global: &GlobalArgs, source: RebuildSource, yes: bool, screen: &mut Screen) -> Result<Exit> {
    if !yes && log_recovery::is_sound(&repository(global)?)? {
        return Err(Error::new(Code::NeedsConfirmation, "the stored state is sound, and starting again would throw it away")
            .hint("git axiom recover    checks whether anything has to be recovered")
            .hint(format!("git axiom recover --from {source} --yes    starts again anyway; the old files are kept")));
    }
    if !yes && !screen.can_ask() {
        return Err(Error::new(Code::NeedsConfirmation, "this needs a confirmation, and there is no terminal to ask at")
            .hint("git axiom recover    shows from what it can start again")
            .hint(format!("git axiom recover --from {source} --yes    does it; the damaged files are kept")));
    }
    screen.confirm(&format!("Start again from {source}? The damaged files are kept"), yes)?;
    begin_anew(global, source, screen)
}

fn begin_anew(global: &GlobalArgs, source: RebuildSource, screen: &mut Screen) -> Result<Exit> {
    let repo = repository(global)?;
    let done = match log_recovery::begin_anew_from(&repo, source) {
        Ok(done) => done,
        Err(error) => return Err(log_recovery::if_no_way_is_left(&repo, source, error)?),
    };
    let kept = done.kept.map(|path| path.display().to_string());
    // Checkpoints are kept in git, so the new state only has to find them. If that fails, `checkpoint list` tries again.
    let checkpoints = checkpoint::heal_at_once(&mut open(global, screen)?, HealDepth::Names);
    let taken_up: Vec<CheckpointNameJson<'_>> = checkpoints.iter().map(|name| CheckpointNameJson { name }).collect();
    let answer = LogRebuildJson { recovered: true, source: done.source, task_count: done.tasks, checkpoints: taken_up, kept };
    screen.answer(&answer, || {
        let mut text =
            format!("The state was started again from {} with {}.\n", answer.source, words::count(answer.task_count, "task"));
        if !answer.checkpoints.is_empty() {
            text.push_str(&format!("{} found again.\n", words::count(answer.checkpoints.len(), "checkpoint")));
        }
        if let Some(kept) = &answer.kept {
            text.push_str(&format!("The damaged files are kept in {kept}\n"));
        }
        text
    })?;
    Ok(Exit::Done)
}

fn in_words(found: &StoreInspection) -> String {
    let mut text = String::new();
    if let Some(damage) = &found.blocked_by {
        text.push_str(&format!("The state cannot be loaded: {} ({}).\n", damage.message, damage.code));
    }
    text.push_str(&format!(
        "Events: {} good, {} damaged, {} good after the damage.\n",
        found.good_events, found.bad_lines, found.good_after
    ));
    let snapshot = match &found.snapshot {
        SnapshotReport::Missing => "missing".to_owned(),
        SnapshotReport::Damaged { why } => format!("damaged ({why})"),
        SnapshotReport::Good { seq, .. } => format!("good, up to event {seq}"),
    };
    text.push_str(&format!("Snapshot: {snapshot}.\n"));
    for backup in found.backups.iter().filter(|backup| backup.damage.is_some()) {
        text.push_str(&format!("Backup {}: damaged.\n", backup.number));
    }
    if log_recovery::only_fresh_is_left(found) {
        text.push_str(&format!("Nothing of it can be recovered ({}).\n", Code::RecoveryFailed));
    }
    text.push_str("\nIt can start again from:\n");
    for choice in &found.choices {
        text.push_str(&choice_in_words(choice, found));
    }
    text
}

fn choice_in_words(choice: &RebuildChoice, found: &StoreInspection) -> String {
    let up_to = choice.seq.map_or_else(String::new, |seq| format!(", up to event {seq}"));
    let age = choice.at.map_or_else(String::new, |at| {
        let seconds = u64::try_from(env::now().duration_since(at).as_secs()).unwrap_or(0);
        format!(", {} old ({})", times::span(seconds), words::time(at))
    });
    format!(
        "[{}] {}: {}{up_to}{age}\n    {}\n",
        key(choice.source),
        choice.from,
        words::count(numbered(choice.tasks), "task"),
        warning(choice, found)
    )
}

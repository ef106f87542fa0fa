//! What there is to recover, what becomes of it, and what can be chosen: for `recover`, for the question that `run` asks, and for the
//! panel. What is known of each task that a crash cut off is in [`inspected`].

mod inspected;
mod tasks;

pub use inspected::inspected;
pub use tasks::tasks;

use crate::cli::{visible, words};
use axiom_agents::recover::resume::{RecoveryOutcome, TaskRecoveryPlan};
use axiom_agents::recover::survey::RecoverySurvey;
use axiom_agents::repair::lost_files::LostFiles;
use axiom_base::error::Result;
use axiom_model::base::forms::times;
use axiom_model::base::ids::TaskId;
use axiom_model::recovery::decide::CrashAction;
use axiom_model::recovery::human_choice::{CrashRecoveryChoice, RecoverySelection};
use axiom_model::recovery::lost::LostFileOnDisk;
use axiom_model::state::blocking_condition::BlockingConditionView;
use axiom_safety::context::handle::Context;

/// Where there is nothing to recover.
pub const NOTHING: &str = "Nothing has to be recovered.\n";

/// The same while a session runs: only the session has looked.
pub const SESSION_RUNS: &str = "Nothing has to be recovered: a session runs, and sees to its agents.\nWhat a killed verb has left is found once the session has ended.\n";

/// What can be chosen where no task was cut off: everything that is shown.
pub const REPAIR: &str = "Repair: do all of this";

/// Who asks what becomes of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoveryAsker {
    /// `recover`, or the panel: no work begins.
    Recover,
    /// `run`: a session follows, which leaves nothing as it is.
    Run,
}

/// What a choice does there.
pub const fn choice(choice: CrashRecoveryChoice, asking: RecoveryAsker) -> &'static str {
    match (choice, asking) {
        (CrashRecoveryChoice::Resume, _) => "Go on from what is there (recommended)",
        (CrashRecoveryChoice::FailedOnly, RecoveryAsker::Recover) => "Begin anew what cannot go on; leave the rest",
        (CrashRecoveryChoice::FailedOnly, RecoveryAsker::Run) => "Begin anew what cannot go on or failed; the rest goes on",
        (CrashRecoveryChoice::Inspect, _) => "Look at what is there; change nothing",
        (CrashRecoveryChoice::Abandon, _) => "Abandon: take these tasks out of the plan; their branches stay",
    }
}

/// Which tasks begin anew, and how that is taken back; `None` where none does.
pub fn begins_anew(plan: &TaskRecoveryPlan, wanted: &RecoverySelection) -> Option<String> {
    let anew = plan.now.len() + plan.before.len();
    let begins = wanted.action == Some(CrashAction::RestartTask) && anew > 0;
    let tasks = words::count(anew, "task");
    begins.then(|| format!("Begin {tasks} anew? What is there is kept aside, and 'git axiom undo' brings it back"))
}

/// Before tasks are taken out of the plan.
pub fn abandons(ctx: &Context, tasks: &[TaskId]) -> Result<String> {
    let mut list = String::from("This takes out of the plan:\n");
    for task in tasks {
        list.push_str(&format!("  {task}: {}\n", visible::line(&ctx.state().task(task)?.title)));
    }
    list.push_str("Branches and workspaces stay.\n");
    Ok(list)
}

/// After tasks were taken out of the plan.
pub fn abandoned(tasks: &[TaskId]) -> String {
    format!("{} abandoned. To take that back: git axiom undo\n", words::count(tasks.len(), "task"))
}

/// What would be recovered; `None` where nothing has to be. For a terminal with so many columns.
pub fn before(view: &RecoverySurvey, columns: Option<usize>) -> Option<String> {
    let rests = view.concerned().next().is_some() || !view.earlier.is_empty();
    match (is_nothing(view) && !view.changes_earlier(), rests) {
        (true, false) => None,
        (true, true) => Some(format!("{NOTHING}{}", tasks(view, columns))),
        (false, _) => {
            let text = tasks(view, columns) + &repairs(view);
            let only_the_end = text.is_empty().then(|| "The last session ended unexpectedly: that is recorded.\n".to_owned());
            Some(only_the_end.unwrap_or(text))
        }
    }
}

/// What was recovered, and what is left.
pub fn after(recovered: &RecoveryOutcome) -> String {
    let RecoveryOutcome { done, view, can_go_on: _ } = recovered;
    if is_nothing(view) && done.is_empty() {
        return NOTHING.to_owned();
    }
    let mut text = repairs(view);
    if !text.is_empty() {
        text.insert_str(0, "What was left, and what becomes of it:\n");
    }
    text.push_str(&done_in_words(recovered));
    if !view.left.is_empty() {
        text.push_str(&format!("As the crash left them stay {}.\n", tasks::left_in_words(view)));
    }
    text.push_str(match view.wedges.iter().all(|wedge| wedge.recovers) {
        true => "Recovered.\n",
        false => "Recovered, except for what you have to do by hand.\n",
    });
    text
}

fn is_nothing(view: &RecoverySurvey) -> bool {
    !view.needed
        && view.wedges.is_empty()
        && view.locks.is_empty()
        && view.lost_objects.is_empty()
        && view.lost_files.is_empty()
        && view.leftovers.is_empty()
}

/// What there is to repair besides tasks.
fn repairs(view: &RecoverySurvey) -> String {
    let mut text = String::new();
    view.lost_files.iter().for_each(|lost| text.push_str(&lost_files(lost)));
    if let Some(operation) = &view.open_operation {
        text.push_str(&format!("operation  '{operation}' was interrupted: it is finished, or reversed if that fails\n"));
    }
    if let Some(checkpoint) = &view.checkpoint {
        text.push_str(&format!("checkpoint {checkpoint} was being made: it is completed if its capture exists\n"));
    }
    for checkpoint in &view.forgotten_checkpoints {
        text.push_str(&format!("checkpoint {checkpoint} exists, but the state does not know it: it is added\n"));
    }
    for left in &view.leftovers {
        text.push_str(&format!("left       {}\n", visible::line(left)));
    }
    for lock in &view.locks {
        text.push_str(&format!("lock       {lock}: removed if its owner is proven dead\n"));
    }
    for object in &view.damaged_objects {
        text.push_str(&format!(
            "object     {object} is corrupt: moved to quarantine, and written again if its content still exists\n"
        ));
    }
    for words in &view.lost_objects {
        text.push_str(&format!("lost       {words}\n"));
    }
    let (by_us, by_hand): (Vec<&BlockingConditionView>, Vec<&BlockingConditionView>) =
        view.wedges.iter().partition(|wedge| wedge.recovers);
    let is_named = |wedge: &BlockingConditionView| view.locks.iter().any(|lock| wedge.what.contains(lock.as_str()));
    for wedge in by_us.iter().filter(|wedge| !is_named(wedge)) {
        text.push_str(&format!("repair     {}\n", wedge.what));
    }
    for wedge in &by_hand {
        text.push_str(&format!("by hand    {}\n", wedge.what));
        text.extend(wedge.hints.iter().map(|hint| format!("           {hint}\n")));
    }
    text
}

/// The files of a task that are lost.
fn lost_files(lost: &LostFiles) -> String {
    let count_of =
        |back: bool| lost.files.iter().filter(|file| file.comes_back == back && file.found != LostFileOnDisk::Other).count();
    let task = &lost.task_id;
    let mut text = String::new();
    if count_of(true) > 0 {
        let files = words::count(count_of(true), "file");
        text.push_str(&format!("files      {files} of {task} that were lost: back from its newest capture\n"));
    }
    if count_of(false) > 0 {
        let files = words::count(count_of(false), "file");
        text.push_str(&format!("files      {files} of {task} lost, and in its newest capture\n"));
        text.push_str(&format!("           git axiom recover --files {task}\n"));
    }
    text
}

/// How far a task is, as a bar.
fn bar(percent: u8) -> String {
    let full = usize::from(percent.min(100)) / 5;
    format!("{}{} {percent:>3}%", "#".repeat(full), ".".repeat(20 - full))
}

fn done_in_words(recovered: &RecoveryOutcome) -> String {
    let mut text = String::new();
    for done in &recovered.done {
        text.push_str(&format!("{}  {}\n", done.task_id, visible::line(&done.what)));
    }
    for (done, percent) in recovered.done.iter().filter_map(|done| Some((done, done.progress?))) {
        text.push_str(&format!("  {}  {}\n", bar(percent), done.task_id));
    }
    if let Some(seconds) = recovered.view.crash.as_ref().and_then(|crash| crash.estimated_seconds).filter(|_| recovered.can_go_on)
    {
        text.push_str(&format!("Estimated time to completion: {}\n", times::span(seconds)));
    }
    match (recovered.done.is_empty(), recovered.can_go_on) {
        (true, _) => {}
        (false, true) => text.push_str("To go on with the work: git axiom run\n"),
        (false, false) => text.push_str("It waits for you: git axiom gate list, git axiom task list\n"),
    }
    text
}

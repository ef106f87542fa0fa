//! The claims of the demo, checked against the evidence. Pure.

use serde::Serialize;

use super::evidence::{DemoEvidence, DemoLogNote, TAKEN_BACK, working};
use super::tasks::TASKS;

/// A claim, and whether it is true.
#[derive(Debug, Serialize)]
pub struct DemoCheck {
    /// Its name.
    pub id: &'static str,
    /// The text of the claim.
    pub claim: &'static str,
    /// Whether it is true.
    pub ok: bool,
    /// What was found, where it does not hold.
    pub found: Option<String>,
}

/// All claims.
pub fn checks(seen: &DemoEvidence) -> Vec<DemoCheck> {
    let mut all = before_the_rollback(seen);
    all.extend(rollback_and_undo(seen));
    all.extend(what_is_left(seen));
    all
}

fn check(id: &'static str, claim: &'static str, ok: bool, found: impl FnOnce() -> String) -> DemoCheck {
    DemoCheck { id, claim, ok, found: (!ok).then(found) }
}

fn before_the_rollback(seen: &DemoEvidence) -> Vec<DemoCheck> {
    let both = || vec!["parser".to_owned(), "printer".to_owned()];
    let mut then = seen.crash.working_then.clone();
    then.sort();
    let once = |task: &str| seen.log.iter().filter(|note| note.what == "started" && note.task == task).count() == 1;
    let starts: Vec<&str> = seen.log.iter().filter(|note| note.what == "started").map(|note| note.task.as_str()).collect();
    vec![
        check(
            "killed",
            "The supervisor was killed by SIGKILL while two agents worked",
            seen.crash.killed_by == Some(9) && then == both(),
            || format!("signal {:?} while {then:?} worked", seen.crash.killed_by),
        ),
        check("unwatched", "One agent ended while no supervisor ran, and its work was not lost", unwatched(seen), || {
            format!(
                "when the next one began, still working: {:?}; merged: {:?}",
                working(&seen.crash.log_at_takeover),
                seen.merged
            )
        }),
        check("adopted", "The other kept running through the crash, as the same process", adopted(seen), || {
            format!("noted by the agents: {:?}", seen.log)
        }),
        check("once", "Each of the five agent programs was started exactly once", TASKS.iter().all(|task| once(task.id)), || {
            format!("started: {}", starts.join(", "))
        }),
        check("merged", "main has the work of all five tasks, each after those it waits for", in_order(&seen.merged), || {
            format!("trailers on main: {}", seen.merged.join(", "))
        }),
        check("contents", "Their files are in the main worktree, with the right contents", all_files_are_right(seen), || {
            format!("{:?}", seen.after_undo.files)
        }),
    ]
}

fn rollback_and_undo(seen: &DemoEvidence) -> Vec<DemoCheck> {
    let changed: Vec<&str> = seen
        .users
        .iter()
        .filter(|(_, work)| Some(work) != seen.users.first().map(|(_, first)| first))
        .map(|(when, _)| *when)
        .collect();
    let (before, rolled, undone) = (&seen.before_rollback, &seen.after_rollback, &seen.after_undo);
    let held = rolled.idea.is_none() && before.idea.is_some() && seen.idea_held == before.idea;
    vec![
        check(
            "yours",
            "Your staged, modified and untracked files were the same at every step",
            seen.users.len() >= 7 && changed.is_empty(),
            || format!("not the same: {changed:?}; looked {} times", seen.users.len()),
        ),
        check(
            "rollback",
            "The rollback took all five tasks' work out of main and of the folder",
            *rolled == seen.at_start && rolled != before,
            || format!("expected {:?}, found {rolled:?}", seen.at_start),
        ),
        check("held", "What you wrote after the checkpoint was kept in another one meanwhile", held, || {
            format!("in the folder {:?}, kept {:?}, written {:?}", rolled.idea, seen.idea_held, before.idea)
        }),
        check("task", "Taking one task back removed only its work, and made it pending again", one_is_gone(seen), || {
            format!("expected all but {TAKEN_BACK} of {before:?}, found {:?}", seen.after_task_rollback)
        }),
        check(
            "undo",
            "Both undos restored the same commit, task states, and your file",
            undone == before && undone != rolled,
            || format!("expected {before:?}, found {undone:?}"),
        ),
    ]
}

/// Whether only the file and the state of the task changed, and the commit that reverts it was added.
fn one_is_gone(seen: &DemoEvidence) -> bool {
    let (before, after) = (&seen.before_rollback, &seen.after_task_rollback);
    let file = TASKS.iter().find(|task| task.id == TAKEN_BACK).map(|task| task.file);
    let same = |(id, state): (&String, &String)| id == TAKEN_BACK || before.tasks.get(id) == Some(state);
    after.tasks.get(TAKEN_BACK).is_some_and(|state| state.contains("pending") && state.contains("merged null"))
        && after.tasks.len() == before.tasks.len()
        && after.tasks.iter().all(same)
        && after.files.iter().all(|(name, content)| match Some(name.as_str()) == file {
            true => content.is_none(),
            false => before.files.get(name) == Some(content),
        })
        && after.idea == before.idea
        && after.target != before.target
}

fn what_is_left(seen: &DemoEvidence) -> Vec<DemoCheck> {
    vec![
        check("fsck", "git fsck finds nothing wrong", seen.left.fsck.is_empty(), || seen.left.fsck.clone()),
        check(
            "left",
            "No process and no worktree of an agent is left",
            seen.left.processes == 0 && seen.left.worktrees == 0,
            || format!("{} processes, {} worktrees", seen.left.processes, seen.left.worktrees),
        ),
    ]
}

/// Whether the parser's agent ended between the two supervisors.
fn unwatched(seen: &DemoEvidence) -> bool {
    let ended = |log: &[DemoLogNote]| log.iter().any(|note| note.what == "ended" && note.task == "parser");
    seen.crash.interrupted("parser") && ended(&seen.crash.log_at_takeover) && seen.merged.iter().any(|task| task == "parser")
}

/// Whether the printer's agent was still working when the second supervisor began, and the process that started is the one
/// that ended.
fn adopted(seen: &DemoEvidence) -> bool {
    let pids = |what: &str| -> Vec<&str> {
        seen.log.iter().filter(|note| note.task == "printer" && note.what == what).map(|note| note.pid.as_str()).collect()
    };
    let (started, ended) = (pids("started"), pids("ended"));
    seen.crash.interrupted("printer")
        && working(&seen.crash.log_at_takeover) == ["printer"]
        && started.len() == 1
        && started == ended
}

/// Whether every task was merged once, and none before one that it depends on.
fn in_order(merged: &[String]) -> bool {
    let place = |id: &str| merged.iter().position(|task| task == id);
    let after_others = |id: &str, after: &[&str]| after.iter().all(|other| place(other) < place(id));
    merged.len() == TASKS.len() && TASKS.iter().all(|task| place(task.id).is_some() && after_others(task.id, task.after))
}

fn all_files_are_right(seen: &DemoEvidence) -> bool {
    TASKS.iter().all(|task| seen.after_undo.files.get(task.file).and_then(Option::as_deref) == Some(task.content))
}

#[cfg(test)]
mod tests {
    use super::super::evidence::{DemoCrash, DemoLeftovers, DemoRepositoryState, UsersWork};
    use super::*;

    fn note(what: &str, task: &str) -> DemoLogNote {
        DemoLogNote { what: what.into(), task: task.into(), pid: format!("pid of {task}") }
    }

    fn all_well() -> DemoEvidence {
        let files =
            |there: bool| TASKS.iter().map(|task| (task.file.to_owned(), there.then(|| task.content.to_owned()))).collect();
        let bare = DemoRepositoryState { target: "old".into(), files: files(false), ..DemoRepositoryState::default() };
        let full = DemoRepositoryState {
            target: "new".into(),
            files: files(true),
            idea: Some("idea".into()),
            ..DemoRepositoryState::default()
        };
        let states = |gone: &str| {
            let state = |id: &str| if id == gone { "\"pending\", merged null" } else { "\"done\", merged x" };
            TASKS.iter().map(|task| (task.id.to_owned(), state(task.id).to_owned())).collect()
        };
        let full = DemoRepositoryState { tasks: states(""), ..full };
        let mut reverted = DemoRepositoryState { target: "reverted".into(), tasks: states(TAKEN_BACK), ..full.clone() };
        reverted.files.insert(TASKS.iter().find(|task| task.id == TAKEN_BACK).unwrap().file.to_owned(), None);
        let both = |task: &super::super::tasks::DemoTask| [note("started", task.id), note("ended", task.id)];
        DemoEvidence {
            crash: DemoCrash {
                killed_by: Some(9),
                working_then: vec!["printer".into(), "parser".into()],
                log_at_takeover: vec![note("started", "parser"), note("started", "printer"), note("ended", "parser")],
            },
            log: TASKS.iter().flat_map(both).collect(),
            merged: TASKS.iter().map(|task| task.id.to_owned()).collect(),
            users: vec![("some time", UsersWork::default()); 7],
            at_start: bare.clone(),
            before_rollback: full.clone(),
            after_rollback: bare,
            idea_held: Some("idea".into()),
            after_task_rollback: reverted,
            after_undo: full,
            left: DemoLeftovers::default(),
        }
    }

    fn failing(change: impl FnOnce(&mut DemoEvidence)) -> Vec<&'static str> {
        let mut seen = all_well();
        change(&mut seen);
        let failed = checks(&seen).into_iter().filter(|check| !check.ok);
        failed.inspect(|check| assert!(check.found.is_some())).map(|check| check.id).collect()
    }

    #[test]
    fn each_claim_fails_where_it_is_not_so() {
        assert_eq!(failing(|_| {}), [""; 0]);
        assert_eq!(failing(|seen| seen.crash.killed_by = None), ["killed"]);
        assert_eq!(failing(|seen| seen.crash.working_then = vec!["plan".into()]), ["killed", "unwatched", "adopted"]);
        assert_eq!(failing(|seen| seen.crash.log_at_takeover.truncate(2)), ["unwatched", "adopted"]);
        assert_eq!(failing(|seen| seen.crash.log_at_takeover.push(note("ended", "printer"))), ["adopted"]);
        assert_eq!(failing(|seen| seen.log[5].pid = "other".into()), ["adopted"]);
        assert_eq!(failing(|seen| seen.log.push(note("started", "docs"))), ["once"]);
        assert_eq!(failing(|seen| seen.log.retain(|note| note.task != "tests")), ["once"]);
        assert_eq!(failing(|seen| seen.merged.swap(0, 1)), ["merged"]);
        assert_eq!(failing(|seen| seen.merged.truncate(4)), ["merged"]);
        assert_eq!(failing(|seen| seen.merged.push("plan".into())), ["merged"]);
        assert_eq!(failing(|seen| seen.users.truncate(6)), ["yours"]);
        let other = UsersWork { contents: vec![None], ..UsersWork::default() };
        assert_eq!(failing(|seen| seen.users[3].1 = other), ["yours"]);
        assert_eq!(failing(|seen| seen.after_rollback.target = "new".into()), ["rollback"]);
        assert_eq!(failing(|seen| seen.after_rollback = seen.before_rollback.clone()), ["rollback", "held", "undo"]);
        assert_eq!(failing(|seen| seen.after_task_rollback = seen.before_rollback.clone()), ["task"]);
        assert_eq!(failing(|seen| seen.after_task_rollback.idea = None), ["task"]);
        assert_eq!(failing(|seen| drop(seen.after_task_rollback.tasks.insert("plan".into(), "x".into()))), ["task"]);
        assert_eq!(failing(|seen| seen.idea_held = None), ["held"]);
        assert_eq!(failing(|seen| seen.after_undo.target = "old".into()), ["undo"]);
        assert_eq!(failing(|seen| seen.left.fsck = "bad".into()), ["fsck"]);
        assert_eq!(failing(|seen| seen.left.worktrees = 1), ["left"]);
        assert_eq!(failing(|seen| seen.left.processes = 1), ["left"]);
    }
}

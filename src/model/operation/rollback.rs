//! What a rollback to a checkpoint changes: refs, workspaces, tasks, gates and the state. Pure.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::base::ids::TaskId;
use crate::base::names::{Oid, RefName};
use crate::base::own_names::BRANCHES;
use crate::base::ref_change::{ChangeDirection, RefChange};
use crate::base::text::ValueChange;
use crate::checkpoint::document::{CheckpointDocument, WorkspaceState};
use crate::journal::journaled_changes::GateChange;
use crate::state::current_state::State;
use crate::work::agent::Workspace;
use crate::work::gates::gate::{AfterHalt, Gate, GateKind, TaskHoldReason};
use crate::work::restorable::restorable_state::RestorableState;
use crate::work::tasks::branch_names::task_of;
use crate::work::tasks::task::{Task, TaskChangeSet, TaskStatus};

/// What happens to one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceRollback {
    /// It exists, and its files, index and HEAD are rolled back.
    Restore {
        /// The task.
        task: TaskId,
        /// The checkpoint's record of it.
        then: WorkspaceState,
    },
    /// It was made after the checkpoint: it goes to the trash.
    PutAside {
        /// The task.
        task: TaskId,
        /// The workspace.
        workspace: Workspace,
    },
    /// Its folder does not exist and is not made again: git and the state forget it.
    Forget {
        /// The task.
        task: TaskId,
        /// The workspace.
        workspace: Workspace,
    },
    /// It existed then, and is made again.
    MakeAgain {
        /// The task.
        task: TaskId,
        /// The workspace as the state knew it then.
        workspace: Workspace,
        /// The checkpoint's record of it.
        then: WorkspaceState,
    },
}

/// What happens to the workspaces, by task. `standing` are the paths at which a workspace exists now. The workspaces at the
/// paths in `left` could not be captured, and are left alone.
pub fn workspaces(
    document: &CheckpointDocument,
    now: &RestorableState,
    standing: &BTreeSet<String>,
    left: &BTreeSet<String>,
) -> Vec<WorkspaceRollback> {
    let held = |task: &TaskId, workspace: &Workspace| {
        let same = |held: &&WorkspaceState| held.task_id.as_ref() == Some(task) && held.path == workspace.path;
        document.workspaces.iter().find(same)
    };
    let mut fates = Vec::new();
    for (task, workspace) in now.workspaces.iter().filter(|(_, workspace)| !left.contains(&workspace.path)) {
        let then = document.state_snapshot.workspaces.get(task);
        let stays = then.is_some_and(|then| then.path == workspace.path && held(task, then).is_some());
        let (task, workspace) = (task.clone(), workspace.clone());
        match standing.contains(&workspace.path) {
            _ if stays => {}
            true => fates.push(WorkspaceRollback::PutAside { task, workspace }),
            false => fates.push(WorkspaceRollback::Forget { task, workspace }),
        }
    }
    for (task, workspace) in &document.state_snapshot.workspaces {
        let Some(then) = held(task, workspace).filter(|then| !left.contains(&then.path)) else { continue };
        let is_there =
            now.workspaces.get(task).is_some_and(|now| now.path == workspace.path) && standing.contains(&workspace.path);
        fates.push(if is_there {
            WorkspaceRollback::Restore { task: task.clone(), then: then.clone() }
        } else {
            WorkspaceRollback::MakeAgain { task: task.clone(), workspace: workspace.clone(), then: then.clone() }
        });
    }
    fates
}

/// The refs that change: those that the checkpoint records, the branch that was checked out, and task branches made since.
pub fn refs(document: &CheckpointDocument, now: &BTreeMap<RefName, Oid>, state: &State) -> Vec<RefChange> {
    let mut wanted: BTreeMap<RefName, Option<Oid>> =
        document.refs.iter().map(|(name, oid)| (name.clone(), Some(oid.clone()))).collect();
    if let Some(branch) = &document.branch {
        wanted.insert(branch.clone(), document.git_commit.clone());
    }
    // A branch below `axiom/` that git axiom did not make belongs to the user, even if it has the name of a task.
    let is_below = |name: &RefName| name.as_str().starts_with(BRANCHES);
    wanted.retain(|name, _| !is_below(name) || !now.contains_key(name) || state.made_branch(name));
    let of_a_task = |name: &RefName| task_of(name).is_some_and(|id| state.restorable.tasks.contains_key(&id));
    for name in now.keys().filter(|name| of_a_task(name) && state.made_branch(name)) {
        wanted.entry(name.clone()).or_insert(None);
    }
    let changes = wanted.into_iter().map(|(name, new)| {
        let old = now.get(&name).cloned();
        RefChange { name, value: ValueChange::new(old, new) }
    });
    changes.filter(|change| change.value.old != change.value.new).collect()
}

/// The restorable state after the rollback: that of the checkpoint, where active tasks become pending (no retry counted). Of
/// the workspaces, only those that exist afterwards are recorded, including the ones in `left`, as they are now. Tasks that
/// were added since are archived when the operation ends. What a human had agreed to then is asked again. The mode never becomes
/// one that asks less: what a human has stopped stays stopped.
pub fn restored(
    document: &CheckpointDocument,
    now: &RestorableState,
    fates: &[WorkspaceRollback],
    left: &BTreeSet<String>,
) -> RestorableState {
    let mut restored = document.state_snapshot.clone();
    for (id, agent) in &now.agents {
        restored.agents.entry(id.clone()).or_insert_with(|| agent.clone());
    }
    restored.put_to_rest();
    let is_consent = |gate: &&mut Gate| match gate.kind {
        GateKind::Claim | GateKind::Merge | GateKind::HumanReview | GateKind::Recovery => true,
        GateKind::Question | GateKind::Permission | GateKind::Planning | GateKind::Budget | GateKind::Disk => false,
    };
    let is_of_then = |gate: &&mut Gate| now.gates.get(&gate.id) != Some(&**gate) && !gate.goes_on();
    restored.gates.values_mut().filter(is_of_then).filter(is_consent).for_each(|gate| gate.decision = None);
    restored.mode = restored.mode.or_stricter(now.mode);
    let standing: BTreeSet<&TaskId> = fates
        .iter()
        .filter_map(|fate| match fate {
            WorkspaceRollback::Restore { task, .. } | WorkspaceRollback::MakeAgain { task, .. } => Some(task),
            WorkspaceRollback::PutAside { .. } | WorkspaceRollback::Forget { .. } => None,
        })
        .collect();
    restored.workspaces.retain(|task, _| standing.contains(task));
    let stays = now.workspaces.iter().filter(|(_, workspace)| left.contains(&workspace.path));
    restored.workspaces.extend(stays.clone().map(|(task, workspace)| (task.clone(), workspace.clone())));
    // What was reported is of the work in a workspace, which stays as it is.
    for (task, _) in stays {
        match now.reports.get(task) {
            Some(reports) => drop(restored.reports.insert(task.clone(), reports.clone())),
            None => drop(restored.reports.remove(task)),
        }
    }
    restored
}

/// The tasks that change. Those that were added since are archived.
pub fn tasks(now: &RestorableState, restored: &RestorableState) -> Vec<TaskChangeSet> {
    let changes = now.tasks.values().filter_map(|task| match restored.tasks.get(&task.id) {
        Some(then) => TaskChangeSet::between(task, then),
        None => TaskChangeSet::between(task, &Task { status: TaskStatus::Archived, ..task.clone() }),
    });
    changes.collect()
}

/// The gates that a rollback opens and closes. It holds the tasks whose status it changes to pending (`stopped` are those
/// whose agents it stopped), and no others. The gates of tasks that are not pending afterwards are closed, until an undo.
pub fn gates(
    now: &RestorableState,
    restored: &RestorableState,
    stopped: &BTreeSet<TaskId>,
    afterwards: AfterHalt,
    at: Timestamp,
) -> Vec<GateChange> {
    let pending = |task: &TaskId| restored.tasks.get(task).is_some_and(|case| case.status == TaskStatus::Pending);
    let changed = tasks(now, restored).into_iter().filter(|edit| edit.status().is_some()).map(|edit| edit.id);
    let changed: BTreeSet<TaskId> = changed.chain(stopped.iter().cloned()).filter(|task| pending(task)).collect();
    let over = |gate: &&Gate| gate.held.is_some() && gate.task_id.as_ref().is_some_and(|id| !pending(id) || changed.contains(id));
    let ended = now.gates.values().filter(over).map(|gate| GateChange { gate: gate.clone(), way: ChangeDirection::PutAside });
    let held = afterwards.holds(TaskHoldReason::RolledBack);
    let opened = changed.iter().filter_map(|task| Gate::holding(task, held?, at));
    ended.chain(opened.map(|gate| GateChange { gate, way: ChangeDirection::BringBack })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::{AgentId, CheckpointName};
    use crate::checkpoint::document::Tagger;
    use crate::checkpoint::trigger::{CheckpointTrigger, CheckpointType};
    use crate::work::sessions::session::SessionMode;

    fn oid(digit: &str) -> Oid {
        Oid::new(digit.repeat(40)).unwrap()
    }

    fn task(id: &str) -> TaskId {
        TaskId::new(id).unwrap()
    }

    fn workspace(path: &str) -> Workspace {
        let agent = AgentId::new("ed-001").unwrap();
        Workspace { agent, path: path.into(), branch: RefName::branch("axiom/x"), base: oid("1") }
    }

    fn document(workspaces: &[(&str, &str)], refs: &[(&str, &str)]) -> CheckpointDocument {
        let mut snapshot = RestorableState::default();
        let mut held = Vec::new();
        for (id, path) in workspaces {
            snapshot.workspaces.insert(task(id), workspace(path));
            held.push(WorkspaceState {
                captured_at: None,
                agent_id: None,
                task_id: Some(task(id)),
                path: (*path).into(),
                branch: None,
                head: None,
                capture: oid("2"),
            });
        }
        CheckpointDocument {
            main_captured_at: None,
            version: crate::base::log_version::VERSION,
            name: CheckpointName::new("c").unwrap(),
            kind: CheckpointType::Named,
            trigger: CheckpointTrigger::Manual,
            created_at: jiff::Timestamp::UNIX_EPOCH,
            git_commit: Some(oid("1")),
            branch: Some(RefName::branch("main")),
            seq: 0,
            tasks_completed: 0,
            refs: refs.iter().map(|(name, digit)| (RefName::branch(name), oid(digit))).collect(),
            case_states: BTreeMap::new(),
            state_snapshot: snapshot,
            agent_states: Vec::new(),
            workspaces: held,
            coverage: BTreeMap::new(),
            refs_not_held: vec![],
            submodules: Default::default(),
            attached: None,
            marked: None,
            tagger: Tagger { name: String::new(), email: String::new(), seconds: 0 },
        }
    }

    #[test]
    fn the_mode_goes_back_to_one_that_asks_more_and_never_to_one_that_asks_less() {
        use SessionMode::{Autopilot, Review, SemiAuto};
        let mode = |then: SessionMode, now: SessionMode| {
            let mut document = document(&[], &[]);
            document.state_snapshot.mode = then;
            restored(&document, &RestorableState { mode: now, ..RestorableState::default() }, &[], &BTreeSet::new()).mode
        };
        let table = [
            (Autopilot, SemiAuto, SemiAuto),
            (Autopilot, Review, Review),
            (Review, SemiAuto, SemiAuto),
            (SemiAuto, Autopilot, SemiAuto),
            (Review, Autopilot, Review),
            (SemiAuto, Review, SemiAuto),
            (Autopilot, Autopilot, Autopilot),
        ];
        for (then, now, came) in table {
            assert_eq!(mode(then, now), came, "then {then:?}, now {now:?}");
        }
    }

    #[test]
    fn every_workspace_is_restored_put_aside_or_made_again() {
        let document = document(&[("stays", "/a"), ("gone", "/b"), ("moved", "/c")], &[]);
        let mut now = RestorableState::default();
        for (id, path) in [("stays", "/a"), ("moved", "/c2"), ("new", "/d"), ("lost", "/e")] {
            now.workspaces.insert(task(id), workspace(path));
        }
        let standing = ["/a", "/c2", "/d"].map(str::to_owned).into();
        let words: Vec<String> = workspaces(&document, &now, &standing, &BTreeSet::new())
            .into_iter()
            .map(|fate| match fate {
                WorkspaceRollback::Restore { task, .. } => format!("restore {task}"),
                WorkspaceRollback::PutAside { task, workspace } => format!("aside {task} {}", workspace.path),
                WorkspaceRollback::Forget { task, workspace } => format!("forget {task} {}", workspace.path),
                WorkspaceRollback::MakeAgain { task, workspace, .. } => format!("again {task} {}", workspace.path),
            })
            .collect();
        assert_eq!(
            words,
            ["forget lost /e", "aside moved /c2", "aside new /d", "again gone /b", "again moved /c", "restore stays"]
        );
    }

    #[test]
    fn what_a_human_had_agreed_to_then_is_asked_again() {
        use crate::work::gates::gate::GateDecision;
        let mut document = document(&[], &[]);
        let approved = |name: &str, kind| {
            let gate = Gate::of_task(kind, &task(name), String::new(), Timestamp::UNIX_EPOCH).unwrap();
            Gate { decision: Some(GateDecision::Approved), ..gate }
        };
        let all = [approved("a", GateKind::Merge), approved("b", GateKind::Merge), approved("c", GateKind::Question)];
        document.state_snapshot.gates = all.clone().map(|gate| (gate.id.clone(), gate)).into();
        let mut now = RestorableState::default();
        now.gates.insert(all[1].id.clone(), all[1].clone());
        let restored = restored(&document, &now, &[], &BTreeSet::new());
        let decided: Vec<bool> = all.iter().map(|gate| restored.gates[&gate.id].decision.is_some()).collect();
        assert_eq!(decided, [false, true, true], "what stands now stands");
    }

    /// a: its work goes; b: nothing changes; c: stopped for it; d: was held, and will be done.
    #[test]
    fn only_tasks_whose_status_changes_are_held_and_an_undo_turns_that_round() {
        use TaskStatus::{Done, Pending};
        let with = |statuses: [TaskStatus; 4]| {
            let mut restorable = RestorableState::default();
            for (name, status) in ["a", "b", "c", "d"].into_iter().zip(statuses) {
                let case = serde_json::json!({"id": name, "kind": "task", "title": name, "status": status,
                    "createdAt": "1970-01-01T00:00:00Z"});
                restorable.tasks.insert(task(name), serde_json::from_value(case).unwrap());
            }
            restorable
        };
        let at = Timestamp::UNIX_EPOCH;
        let (mut now, then) = (with([Done, Pending, Pending, Pending]), with([Pending, Pending, Pending, Done]));
        for name in ["b", "d"] {
            let gate = Gate::holding(&task(name), TaskHoldReason::Stopped, at).unwrap();
            now.gates.insert(gate.id.clone(), gate);
        }
        let words = |afterwards| {
            let changes = gates(&now, &then, &[task("c")].into(), afterwards, at);
            changes.into_iter().map(|change| format!("{} {:?}", change.gate.id, change.way)).collect::<Vec<_>>()
        };
        assert_eq!(words(AfterHalt::Waits), ["claim-d PutAside", "claim-a BringBack", "claim-c BringBack"]);
        assert_eq!(words(AfterHalt::Again), ["claim-d PutAside"]);
    }

    #[test]
    fn refs_that_the_checkpoint_names_go_back_and_task_branches_of_later_go() {
        let document = document(&[], &[("axiom/gone", "3"), ("axiom/held", "3")]);
        let mut state = State::default();
        let case =
            serde_json::json!({"id": "t", "kind": "task", "title": "t", "status": "active", "createdAt": "1970-01-01T00:00:00Z"});
        state.restorable.tasks.insert(task("t"), serde_json::from_value(case).unwrap());
        // The user's own have names of tasks, too.
        for id in ["users", "held"] {
            let mut case = state.restorable.tasks["t"].clone();
            case.id = task(id);
            state.restorable.tasks.insert(task(id), case);
        }
        state.record.made_branches = Some([RefName::branch("axiom/t")].into());
        let names = ["main", "axiom/t", "axiom/users", "axiom/held", "axiom/users-own", "other"];
        let now = names.into_iter().map(|name| (RefName::branch(name), oid("4"))).collect();
        let changes: Vec<String> = refs(&document, &now, &state)
            .into_iter()
            .map(|change| {
                let digit = |oid: Option<Oid>| oid.map_or('-', |oid| oid.as_str().chars().next().unwrap());
                format!("{} {}{}", change.name.short(), digit(change.value.old), digit(change.value.new))
            })
            .collect();
        assert_eq!(changes, ["axiom/gone -3", "axiom/t 4-", "main 41"]);
        let first = tasks(&state.restorable, &document.state_snapshot).remove(0);
        assert_eq!(first.status().unwrap().new, TaskStatus::Archived);
    }
}

//! A picture of what happened: one lane for the main worktree and one for each workspace, and on them what was done, as data. Pure.
//! How it is drawn is in [`lanes`] (terminal) and [`svg`].

pub mod lanes;
pub mod svg;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;

use crate::base::ids::{AgentId, OperationId, TaskId};
use crate::base::ref_change::ChangeDirection;
use crate::checkpoint::record::CheckpointRecord;
use crate::journal::journaled::OperationEnd;
use crate::journal::journaled::OperationKind;
use crate::state::event::Event;
use crate::state::event_envelope::EventEnvelope;
use crate::verbs;
use crate::work::sessions::session::SessionState;

/// The time that one workspace was there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PictureLane {
    /// Its task.
    pub task_id: TaskId,
    /// Who worked in it last.
    pub agent_id: Option<AgentId>,
    /// The column in which it is drawn; that of the main worktree is 0.
    pub column: usize,
    /// The moment at which it begins, from 0; null: before the first one.
    pub from: Option<usize>,
    /// The moment at which it ends; null: it is still there.
    pub to: Option<usize>,
    /// How many lines were changed in it, when its session captured it last.
    pub changed_lines: Option<u64>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PictureMoment {
    /// When.
    pub at: Timestamp,
    /// In which operation.
    pub operation: OperationId,
    /// What.
    pub kind: PictureMomentKind,
    /// The lanes that it concerns, from 0; the main worktree is always concerned where there is none.
    pub lanes: Vec<usize>,
    /// In words.
    pub what: String,
    /// The command that goes there, or takes it back.
    pub command: Option<String>,
    /// The checkpoint that it made, or went back to.
    pub checkpoint: Option<String>,
    /// How many lines it brought.
    pub changed_lines: Option<u64>,
}

/// What a moment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PictureMomentKind {
    /// A session began or ended.
    Session,
    /// An agent took a task in a new workspace: a lane begins.
    Begun,
    /// An iteration ended, or an agent let go of its task.
    Worked,
    /// A task was merged: its lane joins the main one.
    Merged,
    /// A workspace was put aside: a lane ends.
    Closed,
    /// A checkpoint of all these lanes.
    Checkpoint,
    /// A rollback, to a checkpoint or of tasks.
    RolledBack,
    /// An undo.
    Undone,
}

/// How an operation stands by now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MomentStanding {
    /// It can be undone.
    CanBeUndone,
    /// This transaction undid it.
    UndoneBy(OperationId),
    /// An undo would be refused.
    Refused,
}

/// The picture.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Picture {
    /// The lanes of workspaces, in the order in which they began.
    pub lanes: Vec<PictureLane>,
    /// What happened, oldest first.
    pub moments: Vec<PictureMoment>,
}

impl Picture {
    /// How many columns it has, that of the main worktree included.
    pub fn columns(&self) -> usize {
        self.lanes.iter().map(|lane| lane.column + 1).max().unwrap_or(1)
    }

    /// Whether a lane is there just before a moment.
    pub fn is_there(&self, lane: usize, moment: usize) -> bool {
        let lane = &self.lanes[lane];
        lane.from.is_none_or(|from| from < moment) && lane.to.is_none_or(|to| to >= moment)
    }

    /// Takes away the way to checkpoints that are not there any more.
    pub fn offer_checkpoints(&mut self, is_there: impl Fn(&str) -> bool) {
        let is_gone = |moment: &&mut PictureMoment| moment.checkpoint.as_deref().is_some_and(|name| !is_there(name));
        for moment in self.moments.iter_mut().filter(|moment| moment.kind == PictureMomentKind::Checkpoint).filter(is_gone) {
            moment.what.push_str(" (deleted)");
            moment.command = None;
        }
    }

    /// Takes away what is refused: an undo that cannot be made any more. The last merge of a task can be taken back in another way: by
    /// this command.
    pub fn offer_only(
        &mut self,
        now: impl Fn(&OperationId) -> MomentStanding,
        takes_merge_back: impl Fn(&TaskId) -> Option<String>,
    ) {
        let mut merged_later = BTreeSet::new();
        for moment in self.moments.iter_mut().rev() {
            let merged = moment.lanes.first().filter(|_| moment.kind == PictureMomentKind::Merged);
            let merged = merged.map(|lane| self.lanes[*lane].task_id.clone()).filter(|task| merged_later.insert(task.clone()));
            let undo = moment.command.as_ref().is_some_and(|command| *command == undo(&moment.operation));
            let standing = if undo { now(&moment.operation) } else { MomentStanding::CanBeUndone };
            match standing {
                MomentStanding::CanBeUndone => {}
                MomentStanding::UndoneBy(by) => {
                    moment.what.push_str(&format!(" (undone by {by})"));
                    moment.command = None;
                }
                MomentStanding::Refused => moment.command = merged.as_ref().and_then(&takes_merge_back),
            }
        }
    }

    /// The transactions that are offered to be undone, the oldest first.
    pub fn offered(&self) -> impl Iterator<Item = &OperationId> {
        let is_undo =
            |moment: &&PictureMoment| moment.command.as_ref().is_some_and(|command| *command == undo(&moment.operation));
        self.moments.iter().filter(is_undo).map(|moment| &moment.operation)
    }

    /// The newest moments only, at most so many.
    #[must_use]
    pub fn newest(mut self, most: usize) -> Self {
        let cut = self.moments.len().saturating_sub(most);
        self.moments.drain(..cut);
        // The lanes that ended before are not in the picture any more.
        let is_kept = |lane: &PictureLane| lane.to.is_none_or(|to| to >= cut);
        let places: BTreeMap<usize, usize> =
            (0..self.lanes.len()).filter(|place| is_kept(&self.lanes[*place])).zip(0..).collect();
        for moment in &mut self.moments {
            moment.lanes = moment.lanes.iter().filter_map(|lane| places.get(lane).copied()).collect();
        }
        self.lanes.retain(is_kept);
        for lane in &mut self.lanes {
            lane.from = lane.from.and_then(|from| from.checked_sub(cut));
            lane.to = lane.to.and_then(|to| to.checked_sub(cut));
        }
        self
    }
}

fn undo(operation: &OperationId) -> String {
    format!("git axiom undo {operation}")
}

/// An operation that began.
#[derive(Debug)]
struct PictureOperation {
    at: Timestamp,
    kind: OperationKind,
    title: String,
    workspaces: Vec<(TaskId, ChangeDirection)>,
}

/// Makes a picture of events, oldest first.
#[derive(Debug, Default)]
pub struct PictureFold {
    picture: Picture,
    /// The lanes that are there.
    open: BTreeMap<TaskId, usize>,
    /// Workspaces that were made for tasks which no agent has taken in them yet: a hook may still keep a task from beginning.
    made: BTreeSet<TaskId>,
    /// What agents work on: an agent leaves what it took last, whatever it worked on before.
    claims: BTreeMap<AgentId, TaskId>,
    /// The operation that is carried out: what it is, its title, and the workspaces that go or come with it.
    began: Option<PictureOperation>,
}

impl PictureFold {
    /// The picture.
    pub fn finish(self) -> Picture {
        self.picture
    }

    /// Takes an event.
    pub fn push(&mut self, envelope: &EventEnvelope) {
        let EventEnvelope { at, txn, event, .. } = envelope;
        let when = (*at, txn);
        match event {
            Event::SessionStarted { session } => {
                self.add(when, PictureMomentKind::Session, Vec::new(), format!("session {} begins", session.id))
            }
            Event::SessionChanged { state, reason } if !state.is_open() => {
                let what = match state {
                    // That was before: this is when it was seen.
                    SessionState::Crashed => "the session is found crashed".to_owned(),
                    SessionState::Interrupted if reason != "interrupted" => format!("the session is found interrupted: {reason}"),
                    SessionState::Interrupted
                    | SessionState::Ended
                    | SessionState::Running
                    | SessionState::Pausing
                    | SessionState::Paused
                    | SessionState::Ending => format!("the session ends: {reason}"),
                };
                self.add(when, PictureMomentKind::Session, Vec::new(), what);
            }
            Event::WorkspaceOpened { task, .. } => drop(self.made.insert(task.clone())),
            Event::TaskClaimed { agent, task, .. } => self.claimed(when, agent, task),
            Event::WorkspaceCaptured { task, lines: Some(lines), .. } => {
                let lane = self.lane(task);
                self.picture.lanes[lane].changed_lines = Some(lines.total());
            }
            Event::WorkReleased { agent, status, reason, .. } => self.released(when, agent, &format!("{status}: {reason}")),
            Event::WorkspaceClosed { task, .. } => {
                self.made.remove(task);
                if let Some(lane) = self.end(task) {
                    self.add(when, PictureMomentKind::Closed, vec![lane], format!("the workspace of {task} is put aside"));
                }
            }
            Event::CheckpointCreated { checkpoint } => self.checkpoint(when, checkpoint),
            Event::OperationBegan { operation } => {
                let workspaces = operation.workspaces.iter().map(|change| (change.task.clone(), change.way)).collect();
                self.began =
                    Some(PictureOperation { at: *at, kind: operation.kind.clone(), title: operation.title.clone(), workspaces });
            }
            Event::OperationReversed { .. } => self.began = None,
            Event::OperationEnded { end, .. } => {
                if let Some(began) = self.began.take().filter(|_| *end == OperationEnd::Done) {
                    self.operation(txn, began);
                }
            }
            // These change no lane, or are part of what is told of another event.
            Event::SessionChanged { .. } | Event::ModeChanged { .. } | Event::Requested { .. } | Event::RequestHandled { .. } => {
            }
            Event::TasksAdded { .. } | Event::TasksChanged { .. } | Event::Planned { .. } | Event::Audited { .. } => {}
            Event::HookRan { .. } | Event::MergedBranchesLeave { .. } | Event::MergedBranchesLeft { .. } => {}
            Event::IterationIntended { .. } | Event::IterationStarted { .. } | Event::IterationEnded { .. } => {}
            Event::Signalled { .. } | Event::RecoveryDecided { .. } | Event::VerificationFailed { .. } => {}
            Event::LookCutOff { .. }
            | Event::StepVerified { .. }
            | Event::MergeVerified { .. }
            | Event::ConflictGivenBack { .. }
            | Event::Delayed { .. } => {}
            Event::GateOpened { .. } | Event::GateDecided { .. } | Event::GateClosed { .. } => {}
            Event::CheckpointIntended { .. } | Event::CheckpointAbandoned { .. } | Event::CheckpointsDeleted { .. } => {}
            Event::StateAdopted { .. } | Event::RepositoryPlaced { .. } | Event::WorkspaceCaptured { .. } => {}
            Event::ConfigBackupRestored { .. } => {}
            Event::LearningEdited { .. } | Event::LearningForgotten { .. } | Event::LogRepaired { .. } | Event::Purged(_) => {}
        }
    }

    fn add(&mut self, (at, txn): (Timestamp, &OperationId), kind: PictureMomentKind, lanes: Vec<usize>, what: String) {
        let (operation, command, checkpoint, changed_lines) = (txn.clone(), None, None, None);
        self.picture.moments.push(PictureMoment { at, operation, kind, lanes, what, command, checkpoint, changed_lines });
    }

    /// In a new workspace the task begins; otherwise its lane goes on.
    fn claimed(&mut self, when: (Timestamp, &OperationId), agent: &AgentId, task: &TaskId) {
        let is_there = self.open.contains_key(task);
        let lane = self.lane(task);
        self.picture.lanes[lane].agent_id = Some(agent.clone());
        self.claims.insert(agent.clone(), task.clone());
        if self.made.remove(task) {
            if !is_there {
                self.picture.lanes[lane].from = Some(self.picture.moments.len());
            }
            self.add(when, PictureMomentKind::Begun, vec![lane], format!("{task} begins"));
        }
    }

    fn released(&mut self, when: (Timestamp, &OperationId), agent: &AgentId, how: &str) {
        // Its lane may have ended in the same moment: a rollback stops the agent.
        let Some(task) = self.claims.remove(agent) else { return };
        let Some(lane) = self.open.get(&task).copied() else { return };
        let changed_lines = self.picture.lanes[lane].changed_lines;
        self.add(when, PictureMomentKind::Worked, vec![lane], format!("{agent} leaves {task}, {how}"));
        self.last(|moment| moment.changed_lines = changed_lines);
    }

    fn checkpoint(&mut self, when: (Timestamp, &OperationId), record: &CheckpointRecord) {
        let lanes = if record.only.is_some() { Vec::new() } else { self.open.values().copied().collect() };
        self.add(
            (record.created_at, when.1),
            PictureMomentKind::Checkpoint,
            lanes,
            format!("{} ({})", record.name, record.trigger.as_str()),
        );
        let name = record.name.to_string();
        self.last(|moment| {
            // A name that is a verb below it needs the long way.
            let long = if verbs::row_below("rollback", &name).is_some() { "checkpoint " } else { "" };
            moment.command = Some(format!("git axiom rollback {long}{name}"));
            moment.checkpoint = Some(name);
        });
    }

    fn operation(&mut self, txn: &OperationId, PictureOperation { at, kind, title, workspaces }: PictureOperation) {
        // As the log tells it: it took a moment.
        let when = (at, txn);
        let place = self.picture.moments.len();
        let checkpoint = match &kind {
            OperationKind::Merge { task } => {
                let lines = self.open.get(task).and_then(|lane| self.picture.lanes[*lane].changed_lines);
                let lanes = self.end(task).into_iter().collect();
                self.add(when, PictureMomentKind::Merged, lanes, title);
                self.last(|moment| moment.changed_lines = lines);
                None
            }
            OperationKind::RollbackCheckpoint { checkpoint, .. } => {
                let lanes = self.open.values().copied().collect();
                self.add(when, PictureMomentKind::RolledBack, lanes, title);
                Some(checkpoint.to_string())
            }
            OperationKind::RollbackTask { tasks } => {
                let lanes = tasks.iter().filter_map(|task| self.open.get(task).copied()).collect();
                self.add(when, PictureMomentKind::RolledBack, lanes, title);
                None
            }
            OperationKind::Undo { .. } => {
                self.add(when, PictureMomentKind::Undone, Vec::new(), title);
                None
            }
            OperationKind::DeleteCheckpoints { .. }
            | OperationKind::BeginMerge { .. }
            | OperationKind::RecoverFiles { .. }
            | OperationKind::StashTaken { .. } => return,
        };
        for (task, way) in workspaces {
            match way {
                ChangeDirection::PutAside => drop(self.open.remove(&task).map(|lane| self.picture.lanes[lane].to = Some(place))),
                ChangeDirection::BringBack => {
                    let lane = self.lane(&task);
                    self.picture.lanes[lane].from = Some(place);
                }
            }
        }
        let undo = undo(when.1);
        self.last(|moment| {
            moment.command = Some(undo);
            moment.checkpoint = checkpoint;
        });
    }

    fn last(&mut self, change: impl FnOnce(&mut PictureMoment)) {
        if let Some(moment) = self.picture.moments.last_mut() {
            change(moment);
        }
    }

    /// The lane of a task; a new one where none is there.
    fn lane(&mut self, task: &TaskId) -> usize {
        if let Some(lane) = self.open.get(task) {
            return *lane;
        }
        let taken: Vec<usize> = self.open.values().map(|lane| self.picture.lanes[*lane].column).collect();
        let column = (1..).find(|column| !taken.contains(column)).unwrap_or(1);
        let lane = PictureLane { task_id: task.clone(), agent_id: None, column, from: None, to: None, changed_lines: None };
        self.picture.lanes.push(lane);
        let place = self.picture.lanes.len() - 1;
        self.open.insert(task.clone(), place);
        place
    }

    /// Ends the lane of a task with the next moment.
    fn end(&mut self, task: &TaskId) -> Option<usize> {
        let lane = self.open.remove(task)?;
        self.picture.lanes[lane].to = Some(self.picture.moments.len());
        Some(lane)
    }
}

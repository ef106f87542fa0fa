//! What an operation changes, in words: a rollback, an undo, a redo and a merge say the same things in the same words, before and
//! afterwards. Not here: what only one of them has to say.

use std::collections::BTreeMap;
use std::path::Path;

use super::counted_sections::{CountedSections, SHOWN};
use crate::cli::words::count_of;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::RefName;
use axiom_model::base::own_names::CAPTURES;
use axiom_model::base::ref_change::{ChangeDirection, RefChange};
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::branch_config::said;
use axiom_model::journal::journaled_changes::HeadState;
use axiom_model::operation::change_json::{FileChange, WorkspaceFate};
use axiom_model::state::audit::change_text;
use axiom_model::work::tasks::task::{TaskChangeSet, TaskFieldChange};
use axiom_safety::operation::in_progress::GitOperationLine;
use axiom_safety::operation::planned_changes::{AffectedFileLine, FileLossLine, PlannedChanges};
use axiom_safety::operation::standing_lines::{ChangedProgressLine, GateFate};

/// What files are that are not there yet.
#[derive(Debug, Clone, Copy)]
pub enum ComingFiles {
    /// They were there once.
    Back,
    /// They are new.
    New,
}

impl ComingFiles {
    fn way(self) -> &'static str {
        match self {
            Self::Back => "brought back",
            Self::New => "added",
        }
    }
}

/// Adds all of it. `here` is the worktree from which paths are named.
pub fn add_all(parts: &mut CountedSections, changes: &PlannedChanges, coming: ComingFiles, here: &Path) {
    add_agents(parts, changes);
    add_heads(parts, changes);
    add_refs(parts, changes, &[], |_| true);
    add_state(parts, changes, here);
    add_files(parts, changes, coming, here);
}

/// Agents that are stopped.
pub fn add_agents(parts: &mut CountedSections, changes: &PlannedChanges) {
    let agents = changes.agents.iter().map(|agent| format!("{}, which works on {}", agent.id, agent.task_id));
    parts.add("agent stopped", "agents stopped", agents.collect());
}

/// HEADs that move.
pub fn add_heads(parts: &mut CountedSections, changes: &PlannedChanges) {
    let heads = changes.heads.iter();
    let heads = heads.map(|line| format!("{}: {} → {}", line.worktree, head(&line.head.old), head(&line.head.new)));
    parts.add("HEAD moved to another branch or commit", "HEADs moved to other branches or commits", heads.collect());
}

/// Refs with the configuration of branches, and entries of the stash. The refs that are not `wanted` are said elsewhere; the branches in
/// `left` come back, and what is configured of them now stays.
pub fn add_refs(parts: &mut CountedSections, changes: &PlannedChanges, left: &[RefName], wanted: impl Fn(&RefChange) -> bool) {
    let comes = |name: &RefName| changes.refs.iter().any(|change| change.name == *name && change.value.old.is_none());
    let (with, alone): (Vec<_>, Vec<_>) =
        changes.branch_configs.iter().partition(|line| line.way == ChangeDirection::BringBack && comes(&line.branch));
    let with = with.into_iter().map(|line| (&line.branch, format!(", with {}", said(&line.values))));
    let stays = left.iter().map(|branch| (branch, ", its present configuration stays".to_owned()));
    let with: BTreeMap<&RefName, String> = with.chain(stays).collect();
    let (mut back, mut moved, mut deleted) = (Vec::new(), Vec::new(), Vec::new());
    for change in changes.refs.iter().filter(|change| wanted(change)) {
        let name = ref_name(&change.name);
        match (&change.value.old, &change.value.new) {
            (None, Some(new)) => {
                let with = with.get(&change.name).map_or("", String::as_str);
                back.push(format!("{name} at {}{with}", new.short()));
            }
            (Some(old), Some(new)) => moved.push(format!("{name}: {} → {}", old.short(), new.short())),
            (Some(old), None) => deleted.push(format!("{name} (at {})", old.short())),
            (None, None) => {}
        }
    }
    parts.add("ref brought back", "refs brought back", back);
    parts.add("ref moved", "refs moved", moved);
    parts.add("ref deleted", "refs deleted", deleted);
    let configs = alone.into_iter().map(|line| {
        let way = if line.way == ChangeDirection::BringBack { "brought back" } else { "removed" };
        format!("{}: {} {way}", line.branch.short(), said(&line.values))
    });
    parts.add("branch configured otherwise", "branches configured otherwise", configs.collect());
    for (way, one, many) in [
        (ChangeDirection::BringBack, "stash entry brought back", "stash entries brought back"),
        (ChangeDirection::PutAside, "stash entry taken away", "stash entries taken away"),
    ] {
        let entries = changes.stash.iter().filter(|change| change.way == way).map(|change| &change.entry);
        parts.add(one, many, entries.map(|entry| format!("{} ({})", entry.message, entry.id.short())).collect());
    }
}

/// The name of a ref for people, with its kind: a branch and a tag may have the same short name.
pub fn ref_name(name: &RefName) -> String {
    let kinds = [("refs/heads/", "branch"), ("refs/tags/", "tag"), ("refs/notes/", "notes"), (CAPTURES, "checkpoint")];
    let of = |(folder, kind): (&str, &str)| name.as_str().strip_prefix(folder).map(|short| format!("{kind} {short}"));
    kinds.into_iter().find_map(of).unwrap_or_else(|| name.to_string())
}

/// Tasks, the mode and workspaces.
pub fn add_state(parts: &mut CountedSections, changes: &PlannedChanges, here: &Path) {
    let progress = |line: &ChangedProgressLine| format!("progress {}% → {}%", line.old, line.new);
    let of = |task: &TaskId| changes.progress.iter().find(|line| line.task_id == *task);
    let only = changes.progress.iter().filter(|line| changes.tasks.iter().all(|edit| edit.id != line.task_id));
    let both = changes.tasks.iter().map(|edit| match of(&edit.id) {
        Some(line) => format!("{}, {}", task_line(edit), progress(line)),
        None => task_line(edit),
    });
    let lines = both.chain(only.map(|line| format!("{}: {}", line.task_id, progress(line))));
    parts.add("task changed", "tasks changed", lines.collect());
    let gates = |fate| {
        let those = changes.gates.iter().filter(move |gate| gate.action == fate);
        those.map(|gate| format!("{}: {}", gate.id, gate.reason)).collect::<Vec<_>>()
    };
    parts.add("gate closed", "gates closed", gates(GateFate::Closed));
    parts.add("gate opened", "gates opened", gates(GateFate::Opened));
    let mode = changes.mode.iter().map(|mode| format!("{} → {}", mode.old.as_str(), mode.new.as_str()));
    parts.add("mode changed", "modes changed", mode.collect());
    let workspaces = changes.workspaces.iter().map(|one| format!("{}: {}", from(here, &one.path), workspace(one.action)));
    parts.add("workspace", "workspaces", workspaces.collect());
}

fn task_line(edit: &TaskChangeSet) -> String {
    let words = edit.changes.iter().filter_map(|change| match change {
        TaskFieldChange::Status(ValueChange { old, new }) => Some(format!("{old} → {new}")),
        TaskFieldChange::Merged(merged) if merged.new.is_none() => Some("no longer merged".to_owned()),
        TaskFieldChange::Merged(merged) if merged.old.is_none() => Some("merged again".to_owned()),
        // It belongs to the status.
        TaskFieldChange::Reason(_) => None,
        TaskFieldChange::Merged(_)
        | TaskFieldChange::Title(_)
        | TaskFieldChange::Body(_)
        | TaskFieldChange::Parent(_)
        | TaskFieldChange::After(_)
        | TaskFieldChange::Needs(_)
        | TaskFieldChange::StartEarly(_)
        | TaskFieldChange::Persona(_)
        | TaskFieldChange::Verify(_)
        | TaskFieldChange::Limits(_) => Some(change_text(change)),
    });
    format!("{}: {}", edit.id, words.collect::<Vec<_>>().join(", "))
}

/// Git's own operations, files, permissions and what is staged.
pub fn add_files(parts: &mut CountedSections, changes: &PlannedChanges, coming: ComingFiles, here: &Path) {
    parts.add("operation in progress", "operations in progress", changes.operations.iter().map(GitOperationLine::text).collect());
    let places = |uncommitted: bool, change: &dyn Fn(FileChange) -> bool| {
        let those = changes.files.iter().filter(|file| file.uncommitted == uncommitted && change(file.change));
        those.map(|file: &AffectedFileLine| file.place_from(here)).collect()
    };
    let stays = |change| !matches!(change, FileChange::Added | FileChange::Deleted);
    let (added, deleted) = (|change| change == FileChange::Added, |change| change == FileChange::Deleted);
    let one = "file with uncommitted content changed";
    parts.add(one, "files with uncommitted content changed", places(true, &|change| stays(change) || added(change)));
    parts.add("file with uncommitted content deleted", "files with uncommitted content deleted", places(true, &deleted));
    let way = coming.way();
    parts.add(&format!("file {way}"), &format!("files {way}"), places(false, &added));
    parts.add("file changed", "files changed", places(false, &stays));
    parts.add("file deleted", "files deleted", places(false, &deleted));
    let places = |files: &[FileLossLine]| files.iter().map(|file| file.place_from(here)).collect::<Vec<_>>();
    let permissions = ("file or folder gets its earlier permissions", "files or folders get their earlier permissions");
    parts.add(permissions.0, permissions.1, places(&changes.permissions));
    parts.add("file no longer staged as it was", "files no longer staged as they were", places(&changes.staged));
    parts.add("file staged again", "files staged again", places(&changes.staged_back));
}

/// How many files change in which way, in one line, where the lists do not say it at a glance. It stands below them, above the question.
pub fn totals(changes: &PlannedChanges, coming: ComingFiles) -> String {
    let number = |of: &dyn Fn(FileChange) -> bool| changes.files.iter().filter(|file| of(file.change)).count();
    let back = number(&|change| change == FileChange::Added);
    let deleted = number(&|change| change == FileChange::Deleted);
    let ways = [(back, coming.way()), (changes.files.len() - back - deleted, "changed"), (deleted, "deleted")];
    let ways: Vec<String> = ways.iter().filter(|(many, _)| *many > 0).map(|(many, way)| format!("{many} {way}")).collect();
    match changes.files.len() {
        all if ways.len() < 2 && all <= SHOWN => String::new(),
        all => format!("  {} in all: {}\n", count_of(all, "file", "files"), ways.join(", ")),
    }
}

fn head(state: &HeadState) -> String {
    match state {
        HeadState::Branch(name) => name.short().to_owned(),
        HeadState::Detached(commit) => format!("detached at {}", commit.short()),
    }
}

fn from(here: &Path, path: &str) -> String {
    Path::new(path).strip_prefix(here).unwrap_or(Path::new(path)).display().to_string()
}

/// What happens to a workspace, in words.
fn workspace(fate: WorkspaceFate) -> &'static str {
    match fate {
        WorkspaceFate::Restored => "restored",
        WorkspaceFate::PutAside => "moved to the trash",
        WorkspaceFate::BroughtBack => "brought back from the trash",
        WorkspaceFate::MadeAgain => "created again",
        WorkspaceFate::Forgotten => "forgotten, its folder is gone",
        WorkspaceFate::NotCaptured => "cannot be captured, and is left alone",
    }
}

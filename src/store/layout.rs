//! The paths of the files that git axiom stores in its folder below the common git directory. Not here: those of rooms that keep one for
//! themselves (the trash, what is known of attached sessions, hidden refs), and what lies in a run's folder.

use std::path::{Path, PathBuf};

use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::ids::{AgentId, TaskId, Token};

/// The name of the folder of approved files among the temporary ones.
pub const TRUSTED: &str = "trusted";

/// The paths below `$GIT_COMMON_DIR/axiom`.
#[derive(Debug, Clone)]
pub struct StoreLayout {
    root: PathBuf,
}

impl StoreLayout {
    /// The layout of the repository with this common git directory.
    pub fn new(common_dir: &Path) -> Self {
        Self { root: common_dir.join("axiom") }
    }

    /// Where is kept what concerns one worktree, by its git directory: for a linked one in git's folder for it, so that nothing is left of
    /// a worktree that is removed.
    pub fn of_worktree(common_dir: &Path, git_dir: &Path) -> Self {
        Self::new(if git_dir == common_dir { common_dir } else { git_dir })
    }

    /// Makes the folders that are needed for writing; safe to repeat.
    pub fn ensure(&self) -> Result<()> {
        for folder in [self.state_dir(), self.locks().folder(), self.agents().folder(), self.tmp_dir(), self.damaged_dir()] {
            files::create_dir_all(&folder)?;
        }
        Ok(())
    }

    /// Whether anything was ever stored here.
    pub fn exists(&self) -> bool {
        self.state_dir().is_dir()
    }

    /// `$GIT_COMMON_DIR/axiom`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The identity of this repository and its recorded place.
    pub fn identity(&self) -> PathBuf {
        self.root.join("identity.json")
    }

    /// The lock files.
    pub fn locks(&self) -> StoreLocks {
        StoreLocks(self.root.join("locks"))
    }

    /// The folders of agents.
    pub fn agents(&self) -> AgentFolders {
        AgentFolders(self.root.join("agents"))
    }

    /// When hooks of an attached program fired.
    pub fn fired(&self, program: &str) -> PathBuf {
        self.root.join("attach/fired").join(program)
    }

    /// A file for each panel that has a terminal.
    pub fn panels(&self) -> PathBuf {
        self.root.join("panels")
    }

    /// Snapshot and log.
    pub fn state_dir(&self) -> PathBuf {
        self.root.join("state")
    }

    /// The active event log.
    pub fn events(&self) -> PathBuf {
        self.state_dir().join("events.jsonl")
    }

    /// The snapshot.
    pub fn snapshot(&self) -> PathBuf {
        self.state_dir().join("snapshot.json")
    }

    /// Space that is set aside.
    pub fn reserve(&self) -> PathBuf {
        self.state_dir().join("reserve")
    }

    /// The plan as it is: a copy for people and programs.
    pub fn planning_state(&self) -> PathBuf {
        self.state_dir().join("planning-state.json")
    }

    /// What a process says of itself, of this kind: `doing`, `hooks`.
    pub fn of_process(&self, kind: &str, pid: u32) -> PathBuf {
        self.state_dir().join(format!("{kind}-{pid}.json"))
    }

    /// Whether a file of the state's folder is such a file of any process.
    pub fn is_of_process(kind: &str, name: &str) -> bool {
        let pid = name.strip_prefix(kind).and_then(|rest| rest.strip_prefix('-')?.strip_suffix(".json"));
        pid.is_some_and(|pid| pid.parse::<u32>().is_ok())
    }

    /// Copies of damaged or replaced files.
    pub fn damaged_dir(&self) -> PathBuf {
        self.state_dir().join("damaged")
    }

    /// The latest version of every task.
    pub fn tasks(&self) -> PathBuf {
        self.root.join("cases.jsonl")
    }

    /// The output of sessions in the background. No code reads it.
    pub fn session_log(&self) -> PathBuf {
        self.root.join("session.log")
    }

    /// The options of the last session.
    pub fn last_options(&self) -> PathBuf {
        self.root.join("last-run.json")
    }

    /// The tasks whose merges are being verified: one empty file for each.
    pub fn verifying_dir(&self) -> PathBuf {
        self.root.join("verifying")
    }

    /// What verify steps printed and reported, a folder for each task.
    pub fn checks_dir(&self) -> PathBuf {
        self.root.join("checks")
    }

    /// What agents learnt, for all tasks and for single ones.
    pub fn learnings(&self) -> PathBuf {
        self.root.join("learnings.md")
    }

    /// What agents learnt for all tasks of a persona. A persona is a part of an agent's id, so it is a safe name.
    pub fn learnings_of(&self, persona: &str) -> PathBuf {
        self.agents().folder().join(persona).join("learnings.md")
    }

    /// The time at which what has expired was last looked for.
    pub fn last_tidied(&self) -> PathBuf {
        self.tmp_dir().join("last-tidied")
    }

    /// When the oldest was made of what is kept for undo.
    pub fn oldest_kept(&self) -> PathBuf {
        self.tmp_dir().join("oldest-kept")
    }

    /// How much checkpoints alone held when it was measured.
    pub fn total_held(&self) -> PathBuf {
        self.tmp_dir().join("total-held")
    }

    /// Files that are not needed after a crash.
    pub fn tmp_dir(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// The project's files as they were approved, to be run from.
    pub fn trusted_dir(&self) -> PathBuf {
        self.tmp_dir().join(TRUSTED)
    }
}

/// The lock files; they are never deleted.
#[derive(Debug, Clone)]
pub struct StoreLocks(PathBuf);

impl StoreLocks {
    /// The folder of all.
    pub fn folder(&self) -> PathBuf {
        self.0.clone()
    }

    /// Held while the repository's new place is recorded. `inode` is that of the common git directory, so that a copy made
    /// of hard links has a lock of its own.
    pub fn placing(&self, inode: u64) -> PathBuf {
        self.0.join(format!("placing-{inode}"))
    }

    /// Held for the life of a session.
    pub fn supervisor(&self) -> PathBuf {
        self.0.join("supervisor")
    }

    /// Held while a planner runs.
    pub fn planning(&self) -> PathBuf {
        self.0.join("planning")
    }

    /// Held during a checkpoint, rollback, undo, merge or repair.
    pub fn change(&self) -> PathBuf {
        self.0.join("change")
    }

    /// Held during one append.
    pub fn state(&self) -> PathBuf {
        self.0.join("state")
    }

    /// Held while a snapshot is written.
    pub fn snapshot(&self) -> PathBuf {
        self.0.join("snapshot")
    }

    /// Held by the keeper whose agent works in the workspace of `task`.
    pub fn workspace(&self, task: &TaskId) -> PathBuf {
        self.0.join(format!("workspace-{}", task.folded()))
    }

    /// Held by the process that verifies the merge of `task`.
    pub fn verify(&self, task: &TaskId) -> PathBuf {
        self.0.join(format!("verify-{}", task.folded()))
    }
}

/// The output of agents, and the keepers' records.
#[derive(Debug, Clone)]
pub struct AgentFolders(PathBuf);

impl AgentFolders {
    /// The folder of all.
    pub fn folder(&self) -> PathBuf {
        self.0.clone()
    }

    /// The output of `agent`.
    pub fn logs(&self, agent: &AgentId) -> PathBuf {
        self.0.join(agent.as_str()).join("logs")
    }

    /// The output of `agent` for `task`.
    pub fn log(&self, agent: &AgentId, task: &TaskId) -> PathBuf {
        self.logs(agent).join(format!("{task}.jsonl"))
    }

    /// The keeper's folder of one iteration.
    pub fn run(&self, agent: &AgentId, token: &Token) -> PathBuf {
        self.0.join(agent.as_str()).join("runs").join(token.as_str())
    }
}

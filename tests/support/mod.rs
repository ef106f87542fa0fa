//! A repository with tasks of which only the records are made, no agents: what verbs do with them, without a session.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic, dead_code, missing_docs)]

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use git_axiom::model::base::ids::{AgentId, OperationId, TaskId, Token};
use git_axiom::model::base::names::{Oid, RefName};
use git_axiom::model::state::event::Event;
use git_axiom::model::state::event_envelope::EventAuthor;
use git_axiom::model::work::agent::Workspace;
use git_axiom::model::work::iteration::{IterationOutcome, IterationReport};
use git_axiom::model::work::tasks::task::{Task, TaskKind, TaskStatus};
use git_axiom::store::layout::StoreLayout;
use git_axiom::store::states::handle::{AppendAuthor, Store};

use crate::common::{TestEnv, files_below};

/// A repository in a temporary folder: what a [`TestEnv`] is, and records of tasks.
pub struct Scratch {
    env: TestEnv,
}

impl Deref for Scratch {
    type Target = TestEnv;

    fn deref(&self) -> &TestEnv {
        &self.env
    }
}

impl Scratch {
    /// With a first commit of `a.txt`, `sub/b.txt` and `staged.txt`, and the folder of the workspaces excluded.
    pub fn new() -> Self {
        Self::first_commit(Self::empty())
    }

    /// The same in a folder of its own.
    pub fn new_in(dir: tempfile::TempDir) -> Self {
        Self::first_commit(Self::empty_in(dir))
    }

    fn first_commit(scratch: Self) -> Self {
        scratch.write("a.txt", "a\n");
        scratch.write("sub/b.txt", "b\n");
        scratch.write("staged.txt", "s\n");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", "first"]);
        scratch
    }

    /// Without a commit.
    pub fn empty() -> Self {
        Self::empty_in(tempfile::tempdir().unwrap())
    }

    /// The same in a folder of its own.
    pub fn empty_in(dir: tempfile::TempDir) -> Self {
        let scratch = Self { env: TestEnv::of(dir).with_repo("r") };
        std::fs::create_dir(scratch.path()).unwrap();
        scratch.git(&["init", "-q", "-b", "main"]);
        scratch.write(".git/info/exclude", "/.worktrees/\n");
        scratch
    }

    pub fn path(&self) -> PathBuf {
        self.env.repo()
    }

    pub fn has(&self, path: &str) -> bool {
        self.path().join(path).symlink_metadata().is_ok()
    }

    pub fn remove(&self, path: &str) {
        std::fs::remove_file(self.path().join(path)).unwrap();
    }

    /// A program in the repository.
    pub fn command(&self, program: &str) -> Command {
        self.env.program(program, &self.path())
    }

    /// `git-axiom` in the repository as a user whom permissions bind: root becomes nobody, to whom all of it is given.
    pub fn bound_by_permissions(&self) -> Command {
        let command = self.env.bound_by_permissions(&[]);
        self.env.give_to_nobody();
        command
    }

    /// As [`TestEnv::try_git`], with outputs that need not be text.
    pub fn try_git(&self, args: &[&str]) -> Output {
        self.command("git").args(args).output().unwrap()
    }

    /// Makes a branch that conflicts with `main` in `a.txt`; `main` stays checked out.
    pub fn branch_in_conflict(&self, name: &str) {
        self.git(&["switch", "-q", "-c", name]);
        self.write("a.txt", format!("{name}\n"));
        self.git(&["commit", "-q", "-a", "-m", name]);
        self.git(&["switch", "-q", "main"]);
        self.write("a.txt", "main\n");
        self.git(&["commit", "-q", "-a", "-m", "main"]);
    }

    /// Runs the binary with these arguments and variables.
    pub fn axiom_with(&self, args: &[&str], vars: &[(&str, &str)]) -> Output {
        self.env.axiom_command(&self.path(), args).envs(vars.iter().copied()).output().unwrap()
    }

    /// Runs the binary, which must succeed.
    #[track_caller]
    pub fn axiom(&self, args: &[&str]) -> String {
        self.env.axiom(args).success().stdout
    }

    /// Runs the binary, which must fail with this code.
    #[track_caller]
    pub fn refused(&self, args: &[&str], code: &str, exit: i32) {
        let run = self.env.axiom(args);
        assert!(run.stderr.contains(&format!("error[{code}]")), "{args:?}: {run}");
        assert_eq!(run.code, Some(exit), "{args:?}: {run}");
    }

    pub fn head(&self) -> Oid {
        Oid::new(self.git(&["rev-parse", "HEAD"])).unwrap()
    }

    pub fn store(&self) -> Store {
        Store::load(StoreLayout::new(&self.path().join(".git"))).unwrap()
    }

    /// Appends events as the supervisor would.
    pub fn append(&self, events: Vec<Event>) {
        let txn = OperationId::new(format!("t{}", git_axiom::base::env::fresh_id())).unwrap();
        self.store().append(&AppendAuthor { txn, by: EventAuthor::Supervisor }, events).unwrap();
    }

    pub fn add_task(&self, id: &str) {
        self.add_task_that_is(id, TaskStatus::Pending);
    }

    pub fn add_task_that_is(&self, id: &str, status: TaskStatus) {
        let task = Task {
            id: TaskId::new(id).unwrap(),
            kind: TaskKind::Task,
            title: format!("do {id}"),
            body: None,
            parent: None,
            after: vec![],
            needs: vec![],
            start_early: false,
            persona: None,
            verify: vec![],
            limits: git_axiom::model::work::money::budget::BudgetLimits::default(),
            status,
            merged: None,
            reason: None,
            created_at: jiff::Timestamp::UNIX_EPOCH,
        };
        self.append(vec![Event::TasksAdded { tasks: vec![task] }]);
    }

    pub fn workspace(&self, id: &str) -> PathBuf {
        self.path().join(format!(".worktrees/ed-001-{id}"))
    }

    /// Adds an active task with a workspace without changes.
    pub fn open_task(&self, id: &str) {
        self.add_task(id);
        self.reopen_task(id);
    }

    /// As `open_task`, for a task that exists.
    pub fn reopen_task(&self, id: &str) {
        let (agent, task) = (AgentId::new("ed-001").unwrap(), TaskId::new(id).unwrap());
        let path = self.workspace(id);
        let (base, branch) = (self.head(), format!("axiom/{id}"));
        self.git(&["worktree", "add", "-q", "-b", &branch, path.to_str().unwrap()]);
        let workspace =
            Workspace { agent: agent.clone(), path: path.display().to_string(), branch: RefName::branch(&branch), base };
        self.append(vec![
            Event::WorkspaceOpened { task: task.clone(), workspace, goes_on: false },
            Event::TaskClaimed { agent: agent.clone(), task, complete: false },
        ]);
    }

    /// Ends the agent's work on the open task: everything is committed and the task is done.
    pub fn finish_task(&self, id: &str) {
        let (agent, path) = (AgentId::new("ed-001").unwrap(), self.workspace(id));
        let in_workspace = |args: &[&str]| self.git(&[&["-C", path.to_str().unwrap()], args].concat());
        in_workspace(&["add", "-A"]);
        in_workspace(&["commit", "-q", "--allow-empty", "-m", &format!("work #{id} @ed-001\n\nAxiom-Task: {id}")]);
        let to = Oid::new(in_workspace(&["rev-parse", "HEAD"])).unwrap();
        let token = Token::new(format!("k{}", git_axiom::base::env::fresh_id())).unwrap();
        let report = IterationReport {
            outcome: IterationOutcome::Complete,
            exit_code: Some(0),
            signal: None,
            from: self.head(),
            to,
            files: vec![],
            left_out: vec![],
            duration_ms: 1,
            ended_at: None,
            tokens: None,
            cost_usd: None,
            not_started: false,
            silent_end: None,
            denied: vec![],
            unfinished: vec![],
            cut: None,
            session: None,
            resumed: None,
            ran: String::new(),
            cut_off: false,
            conflict_round: None,
            discarded: false,
            end_unseen: false,
        };
        self.append(vec![
            Event::IterationIntended {
                agent: agent.clone(),
                iteration: 1,
                token: token.clone(),
                from: self.head(),
                exit_completes: true,
                program: String::new(),
                resumes: None,
            },
            Event::IterationStarted { agent: agent.clone(), token: token.clone(), pid: 1 },
            Event::IterationEnded { agent: agent.clone(), token, report: Box::new(report) },
            Event::WorkReleased {
                agent,
                status: TaskStatus::Done,
                reason: "complete".into(),
                retry: false,
                complete: None,
                gate: None,
                discarded: false,
            },
        ]);
    }

    /// Adds a task that is done. Its work is one file with its name.
    pub fn done_task(&self, id: &str) {
        self.open_task(id);
        std::fs::write(self.workspace(id).join(format!("{id}.txt")), format!("{id}\n")).unwrap();
        self.finish_task(id);
    }

    pub fn task(&self, id: &str) -> Task {
        self.store().state().task(&TaskId::new(id).unwrap()).unwrap().clone()
    }

    /// The state of the user's changes in the main worktree, which no verb may change unasked.
    pub fn users_view(&self) -> String {
        let status = self.git(&["status", "--porcelain=v2", "-uall"]);
        let staged = self.git(&["diff", "--cached", "--binary"]);
        let unstaged = self.git(&["diff", "--binary"]);
        format!("{status}\n{staged}\n{unstaged}")
    }

    /// As [`Scratch::make_dirty`], with files that other tests do not change.
    pub fn make_dirty_elsewhere(&self) {
        self.write("staged.txt", "staged by the user\n");
        self.git(&["add", "staged.txt"]);
        self.write("sub/b.txt", "edited\n");
        self.write("untracked.txt", "u\n");
    }

    /// Makes staged, unstaged and untracked changes.
    pub fn make_dirty(&self) {
        self.write("staged.txt", "staged by the user\n");
        self.git(&["add", "staged.txt"]);
        self.write("staged.txt", "and edited\n");
        self.write("sub/b.txt", "edited\n");
        self.write("untracked.txt", "u\n");
    }
}

/// The files of a folder with their contents, without `.git` and `.worktrees`, for comparing.
pub fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    files_below(folder, &[".git", ".worktrees"]).into_iter().collect()
}

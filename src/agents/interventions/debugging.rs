//! Debug: a human works in the workspace of a task with their editor. An agent that works there is held meanwhile: its keeper
//! freezes its processes until we let go, or are gone.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{AgentId, TaskId, Token};
use axiom_model::state::audit::AuditTrail;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::work::sessions::supervisor_activity::{SupervisorActivity, SupervisorActivityKind};
use axiom_process::client::control::{self, HoldGuard, MAX_HOLD};
use axiom_process::keeper_state;
use axiom_process::run_folder::records::KeeperState;
use axiom_safety::context::event_waiter::LogEventWaiter;
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::opening;
use axiom_safety::running::telling::Telling;
use axiom_safety::user_programs::editor;
use axiom_store::log_files::log;

/// A hold is taken anew after this time; the old one is let go only then.
const RENEW: Duration = Duration::from_secs(20);

/// A workspace that was opened in the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebugReport {
    /// Its path.
    pub workspace: PathBuf,
    /// The agent that was held meanwhile.
    pub held: Option<AgentId>,
    /// What happened to the task meanwhile, in words, oldest first.
    pub meanwhile: Vec<String>,
}

/// Opens the workspace of a task in the user's editor, and holds whichever agent works there until the editor has ended.
pub fn debug(ctx: &mut Context, task: &TaskId) -> Result<DebugReport> {
    ctx.state().task(task)?;
    let path = ctx.state().restorable.workspaces.get(task).map(|workspace| PathBuf::from(&workspace.path));
    let Some(workspace) = path.filter(|path| path.is_dir()) else {
        return Err(Error::new(Code::InvalidTransition, format!("'{task}' has no workspace"))
            .hint(format!("git axiom diff {task}    shows what it changed")));
    };
    let main = ctx.repo.worktrees().main_worktree()?.path().to_owned();
    let holding = AgentHoldThread::begin(&main, task.clone())?;
    let held = ctx.state().agent_on(task).filter(|agent| agent.token().is_some()).map(|agent| agent.id.clone());
    let text =
        format!("a human opens its workspace{}", held.as_ref().map_or_else(String::new, |agent| format!(", {agent} is held")));
    ctx.append(Event::Audited { id: task.clone(), text })?;
    let mut telling = Telling::begin(ctx);
    let holds = |agent| SupervisorActivity::of_task(SupervisorActivityKind::HoldsAgent, task, env::now()).by(agent);
    telling.tell(held.as_ref().map(holds));
    let before = ctx.state().clone();
    let ended = editor::open(&workspace, OsStr::new("."));
    holding.end();
    drop(telling);
    let meanwhile = since(ctx, task, before)?;
    if let Some(agent) = &held {
        ctx.append(Event::Audited { id: task.clone(), text: format!("{agent} is held no longer") })?;
    }
    ended?;
    Ok(DebugReport { workspace, held, meanwhile })
}

/// What happened to a task after this state.
fn since(ctx: &Context, task: &TaskId, before: State) -> Result<Vec<String>> {
    let seq = before.seq;
    let mut audit = AuditTrail::after(task.clone(), before);
    log::read_after(ctx.layout(), seq, None, |envelope| audit.push(&envelope))?;
    Ok(audit.finish().into_iter().map(|entry| entry.text).collect())
}

/// A thread that holds the agent of a task, also in iterations that begin meanwhile.
struct AgentHoldThread {
    ends: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl AgentHoldThread {
    /// Begins, and returns when an agent that works on the task is held.
    fn begin(main: &Path, task: TaskId) -> Result<Self> {
        let mut ctx = opening::open(main, VerbPurpose::Look)?;
        let mut held = None;
        hold(&ctx, &task, &mut held);
        let ends = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&ends);
        let hold_on = move || {
            let mut waiting = LogEventWaiter::begin();
            while !ended.load(Ordering::SeqCst) {
                // What cannot be read now can be read at the next look.
                if waiting.for_events(&mut ctx).is_err() {
                    std::thread::sleep(Duration::from_millis(100));
                }
                hold(&ctx, &task, &mut held);
            }
        };
        let thread = std::thread::Builder::new().name("holding".into()).spawn(hold_on);
        thread.map(|thread| Self { ends, thread }).map_err(|e| Error::cannot_start("a thread that holds an agent", e))
    }

    fn end(self) {
        self.ends.store(true, Ordering::SeqCst);
        let _ = self.thread.join();
    }
}

/// The hold of an iteration.
struct IterationHold {
    token: Token,
    since: Instant,
    _guard: HoldGuard,
}

/// Holds the iteration that runs now, where it is not held yet or not for long any more.
fn hold(ctx: &Context, task: &TaskId, held: &mut Option<IterationHold>) {
    let Some(agent) = ctx.state().agent_on(task) else { return *held = None };
    let Some(token) = agent.token() else { return *held = None };
    if held.as_ref().is_some_and(|held| held.token == *token && held.since.elapsed() < RENEW) {
        return;
    }
    let Ok(KeeperState::Alive(record)) = keeper_state(&ctx.layout().agents().run(&agent.id, token)) else { return };
    match control::hold(&record, MAX_HOLD) {
        // The old hold is let go after the new one has begun.
        Ok(guard) => *held = Some(IterationHold { token: token.clone(), since: Instant::now(), _guard: guard }),
        Err(error) => tracing::info!(%error, %task, "the agent is not held"),
    }
}

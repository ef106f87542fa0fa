//! A request to the running supervisor, and its answer.

use std::time::{Duration, Instant};

use crate::context::event_waiter::LogEventWaiter;
use crate::context::handle::Context;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::RequestId;
use axiom_model::state::event::Event;
use axiom_model::work::agent::Agent;
use axiom_model::work::sessions::session::SupervisorRequest;
use axiom_process::client::control;
use axiom_process::keeper_state;
use axiom_process::run_folder::records::KeeperState;
use axiom_store::log_files::log;

/// How long a verb waits for the supervisor to handle its request.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The answer to a request that no supervisor handled.
pub const HAD_ENDED: &str = "no supervisor was running";

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestOutcome {
    /// Whether it was done.
    pub done: bool,
    /// The result in words.
    pub message: String,
}

/// Sends a request to the running supervisor and waits until it has handled it.
///
/// # Errors
/// `NO_SUPERVISOR`, also where it ends before it has handled the request; `BUSY` where it does not answer in time (the request stays, and
/// is handled later).
pub fn ask_supervisor(ctx: &mut Context, request: SupervisorRequest) -> Result<RequestOutcome> {
    if !ctx.supervisor_alive()? {
        return Err(
            Error::new(Code::NoSupervisor, "no supervisor runs in this repository").hint("git axiom run    begins a session")
        );
    }
    let id = make(ctx, request.clone())?;
    end_programs(ctx, &request);
    // Hooks are asked before an agent is sent elsewhere.
    let hooks = if matches!(request, SupervisorRequest::Redirect { .. }) { ctx.config.hooks.timeout } else { 0 };
    let patience = PATIENCE + Duration::from_secs(hooks);
    let asked_at = ctx.state().seq;
    let (started, mut waiting) = (Instant::now(), LogEventWaiter::begin());
    while ctx.state().record.requests.contains_key(&id) {
        if !ctx.supervisor_alive()? {
            // It may have handled the request as the last thing that it did.
            ctx.store.refresh()?;
            if !ctx.state().record.requests.contains_key(&id) {
                break;
            }
            return Err(ended_before());
        }
        if started.elapsed() > patience {
            return Err(Error::new(Code::Busy, "the supervisor is busy; it will handle the request when it can")
                .hint("git axiom status    shows what it does"));
        }
        waiting.for_events(ctx)?;
    }
    match answer_to(ctx, &id, asked_at)? {
        RequestOutcome { done: false, message } if message == HAD_ENDED => Err(ended_before()),
        answer => Ok(answer),
    }
}

fn ended_before() -> Error {
    Error::new(Code::NoSupervisor, "the supervisor ended before it handled the request").hint("run the command again")
}

/// Asks the keepers of programs that a request ends whatever the supervisor does meanwhile, so that agents obey at once where it is
/// just making a commit, a merge or a workspace. The request is in the log by then: the supervisor takes it before their ends, and asks
/// again those that do not answer here.
fn end_programs(ctx: &Context, request: &SupervisorRequest) {
    let concerned: Vec<&Agent> = match request {
        SupervisorRequest::Stop { agents, .. } => {
            ctx.state().busy_agents().filter(|agent| agents.is_empty() || agents.contains(&agent.id)).collect()
        }
        SupervisorRequest::Block { tasks, .. } => tasks.iter().filter_map(|task| ctx.state().agent_on(task)).collect(),
        SupervisorRequest::Pause { force: true } => ctx.state().busy_agents().collect(),
        // The workspace is captured before a kill; a redirection may be refused; the others end no program at once.
        SupervisorRequest::Kill { .. }
        | SupervisorRequest::Redirect { .. }
        | SupervisorRequest::Pause { force: false }
        | SupervisorRequest::Resume
        | SupervisorRequest::Merge { .. }
        | SupervisorRequest::Quit => return,
    };
    for agent in concerned {
        let Some(token) = agent.token() else { continue };
        if let Ok(KeeperState::Alive(record)) = keeper_state(&ctx.layout().agents().run(&agent.id, token))
            && let Err(error) = control::stop(&record)
        {
            tracing::info!(agent = %agent.id, %error, "the supervisor asks its keeper to end its program");
        }
    }
}

/// Records a request, and does not wait.
pub fn make(ctx: &mut Context, request: SupervisorRequest) -> Result<RequestId> {
    record(ctx, request, false)
}

/// Records a request that is a part of an operation, and does not wait.
pub fn make_for_operation(ctx: &mut Context, request: SupervisorRequest) -> Result<RequestId> {
    record(ctx, request, true)
}

fn record(ctx: &mut Context, request: SupervisorRequest, for_operation: bool) -> Result<RequestId> {
    let mut made = None;
    ctx.append_with(|state| {
        let id = RequestId::after(state.seq, &env::fresh_id())?;
        made = Some(id.clone());
        Ok(vec![Event::Requested { id, request, for_operation }])
    })?;
    made.ok_or_else(|| Error::new(Code::Internal, "the request was not made"))
}

fn answer_to(ctx: &Context, id: &RequestId, after: u64) -> Result<RequestOutcome> {
    let mut answer =
        RequestOutcome { done: false, message: "the request is gone: the event log began anew meanwhile".to_owned() };
    log::read_after(ctx.layout(), after, None, |envelope| {
        if let Event::RequestHandled { id: handled, done, message } = envelope.event
            && handled == *id
        {
            answer = RequestOutcome { done, message };
        }
        Ok(())
    })?;
    Ok(answer)
}

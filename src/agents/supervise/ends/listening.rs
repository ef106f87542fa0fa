//! What a running iteration says of itself, and captures of its workspace.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::supervise::core::agent_runs::AgentRuns;
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::error::{Code, Result};
use axiom_model::base::forms::plural::count_of;
use axiom_model::base::ids::{AgentId, TaskId, Token};
use axiom_model::state::event::Event;
use axiom_model::work::endings::failures::LONGEST_PAUSE;
use axiom_model::work::iteration_marker::IterationMarker;
use axiom_model::work::signals::signal::AgentSignal;
use axiom_model::work::signals::signal_summary;
use axiom_process::read_signals;
use axiom_safety::checkpoint::live;

impl AgentRuns {
    /// Captures the workspace when that is due. A capture may fail while the agent is working; the next one follows soon.
    pub(crate) fn capture_live(&mut self, desk: &mut SessionDesk<'_>, agent: &AgentId, task: &TaskId) {
        let interval = Duration::from_secs(desk.ctx.config.agents.capture_interval);
        let Some(watch) = self.watch_mut(agent) else { return };
        let last = *watch.captured_at.get_or_insert_with(Instant::now);
        if interval.is_zero() || last.elapsed() < interval {
            return;
        }
        watch.captured_at = Some(Instant::now());
        if let Err(error) = live::capture(desk.ctx, task, desk.apart()) {
            tracing::info!(%task, %error, "no live capture this time");
            if error.code() == Code::Busy
                && let Some(watch) = self.watch_mut(agent)
            {
                // Another operation is under way: as soon as it has ended.
                watch.captured_at = Instant::now().checked_sub(interval.saturating_sub(LONGEST_PAUSE));
            }
        }
    }

    /// Records the signals that the keeper has received since the last look.
    pub(crate) fn listen(&mut self, desk: &mut SessionDesk<'_>, agent: &AgentId, token: &Token, dir: &Path) -> Result<bool> {
        let from = self.watch(agent).map_or(0, |watch| watch.signals.read);
        let read = read_signals(dir, from)?;
        if read.next == from {
            return Ok(false);
        }
        if read.damaged > 0 {
            desk.warn(format!("{} of {agent} ignored", count_of(read.damaged, "damaged signal", "damaged signals")));
        }
        let recorded = desk.work_of(agent).map_or(0, |work| work.signals);
        let mut events = Vec::new();
        for received in read.signals {
            let signal = received.signal;
            if let Some(watch) = self.watch_mut(agent) {
                signal_summary::add(&mut watch.told, &signal);
                watch.hear_permission(&signal);
                watch.marker = IterationMarker::after(watch.marker.take(), &signal, &watch.told, received.at);
                watch.heard_at = Some(received.at);
                if let AgentSignal::Progress { .. } = signal {
                    watch.progress_at = Some(received.at);
                }
            }
            if let AgentSignal::Seen(_) = signal {
                continue;
            }
            let decides = matches!(signal, AgentSignal::Complete {} | AgentSignal::Blocked { .. } | AgentSignal::Waiting { .. });
            let new = self.watch_mut(agent).is_none_or(|watch| {
                watch.signals.heard += 1;
                watch.signals.reported += u64::from(!signal_summary::is_marker(&signal));
                if decides {
                    watch.verdict = Some(signal.clone());
                }
                watch.signals.heard > recorded
            });
            // An earlier supervisor has recorded this signal.
            if !new {
                continue;
            }
            if let (AgentSignal::Progress { percent }, Some(task)) = (&signal, task_of(desk, agent)) {
                let said_at = received.at;
                desk.tell(SessionNotice::Progress { agent: agent.clone(), task, percent: *percent, said_at });
            }
            events.push(Event::Signalled { agent: agent.clone(), token: token.clone(), signal, said_at: Some(received.at) });
        }
        desk.steps(events)?;
        if let Some(watch) = self.watch_mut(agent) {
            watch.signals.read = read.next;
        }
        Ok(true)
    }
}

fn task_of(desk: &SessionDesk<'_>, agent: &AgentId) -> Option<TaskId> {
    Some(desk.work_of(agent)?.task.clone())
}

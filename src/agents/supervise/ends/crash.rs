//! What becomes of a task whose iteration a crash cut off. The rules are in `model::recovery`; an evaluator runs as a step of its
//! own, and other agents go on meanwhile.

use super::set_aside::{open_decision, put_aside_now, who_orders};
use crate::crashed_tasks::orphans::{limits, retries_used_up};
use crate::crashed_tasks::scan;
use crate::crashed_tasks::scan::TaskIterationTotals;
use crate::supervise::core::SessionCore;
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::AgentId;
use axiom_model::recovery::decide::{CrashAction, CrashDecision, by_rules, decided};
use axiom_model::recovery::human_choice::CrashedTaskFate;
use axiom_model::state::event::Event;
use axiom_model::work::agent::AgentWork;
use axiom_model::work::iteration::ReviewCause;
use axiom_model::work::iteration_marker::IterationRecordState;

impl SessionCore<'_> {
    /// Says once, in numbers, what became of the tasks that the crash before this session cut off.
    pub(crate) fn tell_of_crash(&mut self) {
        if self.runs.any(|run| run.evaluating.is_some()) {
            return;
        }
        if let Some(what) = self.tasks.taken_up.take().and_then(|taken_up| taken_up.in_words()) {
            self.desk.tell(SessionNotice::Recovered { what });
        }
    }

    /// Before anything is done about an iteration that a crash cut off, since recovery captures too: when its last sign of life was. And
    /// where its folder is gone, it is made again with what was saved.
    pub(crate) fn look_at_crash(&mut self, agent: &AgentId, work: &AgentWork) {
        let sign = self.runs.last_sign(self.desk.ctx, agent, work);
        if let Some(watch) = self.runs.watch_mut(agent) {
            watch.last_sign.get_or_insert(sign);
        }
        if let Err(error) = self.tasks.bring_back_folder(&mut self.desk, &work.task) {
            self.desk
                .warn(format!("{}: the folder of its workspace is gone, and could not be made again yet: {error}", work.task));
        }
    }

    /// Decides what becomes of the task, and does it; returns whether anything was done.
    pub(crate) fn after_crash(&mut self, agent: &AgentId, work: &AgentWork) -> Result<bool> {
        let decision = match open_decision(self.desk.ctx, &work.task) {
            Some(decided) => decided.decision.clone(),
            None => {
                let decided = self.decision(agent, work);
                let is_last = retries_used_up(self.desk.ctx, &work.task);
                let gives_up = match &decided {
                    Ok(Some((decision, _))) => CrashedTaskFate::of(decision, is_last) == CrashedTaskFate::Failed,
                    Ok(None) => false,
                    // What cannot be looked at is not complete.
                    Err(_) => is_last && !self.setup.options.after_crash.decided.contains_key(&work.task),
                };
                if gives_up {
                    self.tasks.count_crash(None);
                    return self.release_given_up(agent, &work.task).map(|()| true);
                }
                let Some((decision, puts_aside)) = decided? else { return Ok(false) };
                self.desk.ctx.act_as(who_orders(&decision, &self.desk.by))?;
                self.desk.ctx.append(Event::RecoveryDecided {
                    agent: agent.clone(),
                    decision: Box::new(decision.clone()),
                    puts_aside,
                    paused: false,
                })?;
                env::fault_point("crash.decided");
                self.tasks.count_crash(Some(decision.action));
                decision
            }
        };
        match decision.action {
            // Its state says now that it is complete: verification follows.
            CrashAction::NextTask => {}
            CrashAction::ContinueTask | CrashAction::RestartTask => {
                self.release_cut_off(agent, &work.task, &format!("its keeper died: {decision}"))?;
                put_aside_now(&mut self.desk, &work.task);
            }
            CrashAction::HumanReview => self.review_agent(agent, ReviewCause::Recovery, &decision.reasoning)?,
        }
        Ok(true)
    }

    /// The decision, and whether what is there is kept aside; `None` while an evaluator is asked.
    fn decision(&mut self, agent: &AgentId, work: &AgentWork) -> Result<Option<(CrashDecision, bool)>> {
        let task = &work.task;
        let last = self.desk.ctx.state().record.tasks.get(task).and_then(|record| record.last_run.as_ref());
        let cut = last.and_then(|run| run.cut.as_deref()).cloned();
        let recorded = cut.as_ref().map_or(IterationRecordState::Nothing, |cut| cut.recorded);
        let facts =
            scan::facts(self.desk.ctx, task, (recorded, cut.as_ref()), &TaskIterationTotals::of(self.desk.ctx.state(), task))?;
        let with = |decision: CrashDecision| {
            let puts_aside = decision.action == CrashAction::RestartTask && facts.work.changed > 0;
            Some((decision, puts_aside))
        };
        let (wanted, by_human) = (&self.setup.options.after_crash, self.setup.options.after_crash.decided.get(task).copied());
        if let Some(decision) = decided(&facts, by_human, limits(self.desk.ctx, wanted.threshold), env::now()) {
            let reasoning = match wanted.abandons && by_human.is_some() {
                true => "it is abandoned, and what is there stays".to_owned(),
                false => decision.reasoning,
            };
            return Ok(with(CrashDecision { reasoning, ..decision }));
        }
        // Nobody is asked how it begins again where it does not.
        let is_asked = !retries_used_up(self.desk.ctx, task);
        let decision = if is_asked { self.evaluated(agent, work, &facts)? } else { Some(by_rules(&facts)) };
        Ok(decision.and_then(with))
    }
}

//! What each step does to the plan of a goal.

use jiff::Timestamp;

use super::super::plan::{
    ArchivedPlanAttempt, GoalClarification, GoalPlan, MOST_ARCHIVED, MOST_QUESTIONS, MOST_TASKS, MOST_VERSIONS, PlanProposal,
    PlanStatus, PlanningPhase,
};
use super::{PlanStep, check_text, refuse};
use crate::base::ids::TaskId;
use crate::work::tasks::task::Task;
use axiom_base::error::{Code, Error, Result};

impl GoalPlan {
    /// The plan after a step.
    pub fn after(&self, step: &PlanStep, at: Timestamp) -> Result<Self> {
        if !self.is_open() {
            return Err(Error::new(Code::NoPlan, "no plan is open").hint("git axiom plan start GOAL    begins one"));
        }
        let mut plan = self.clone();
        plan.take(step, at)?;
        plan.last_checkpoint = at;
        Ok(plan)
    }

    fn take(&mut self, step: &PlanStep, at: Timestamp) -> Result<()> {
        match step {
            PlanStep::Started { plan } => {
                let goal = &plan.goal.jtbd;
                let what = format!("a plan is open already: '{}', so '{goal}' has to wait", self.goal.jtbd);
                return Err(Error::new(Code::PlanOpen, what).hint("git axiom plan show    shows it; finish or abandon it first"));
            }
            PlanStep::PlannerStarted {} if self.running.is_some() => {
                return refuse("the planner was cut off", "git axiom plan recover    shows the choices");
            }
            // From here on the next run of its program is under way.
            PlanStep::PlannerStarted {} | PlanStep::PlannerRan { .. } => self.running = Some(at),
            PlanStep::PlannerEnded { .. } | PlanStep::Resumed { .. } => self.running = None,
            PlanStep::Asked { questions } => self.asked(questions, at)?,
            PlanStep::Answered { number, text } => self.answered(*number, text)?,
            PlanStep::Understood {} => self.advance(PlanningPhase::Understand, PlanningPhase::Analyze)?,
            PlanStep::Analyzed { text } => {
                self.advance(PlanningPhase::Analyze, PlanningPhase::Propose)?;
                self.analysis = Some(text.clone());
            }
            PlanStep::Proposed { text, outline } => self.proposed(text, outline, at)?,
            PlanStep::Revised { feedback } => self.revised(feedback)?,
            PlanStep::Approved { version } => self.approved(*version, at)?,
            PlanStep::TasksMade { tasks, approved } => self.made(tasks, *approved)?,
            PlanStep::Checked { problems } => {
                self.problems = Some(problems.clone());
                self.phase = if self.pending.is_empty() && self.is_approved() { PlanningPhase::Validate } else { self.phase };
            }
            PlanStep::StartedOver { why } => self.start_over(why, at),
            PlanStep::Finished { ending: _, why: _, tasks } => {
                self.became = tasks.iter().map(|task| task.id.clone()).collect();
                self.tasks.clear();
                self.pending.clear();
                self.running = None;
                self.status = PlanStatus::Done;
            }
            PlanStep::Abandoned { why } => {
                self.archive(why, at);
                self.tasks.clear();
                self.pending.clear();
                self.running = None;
                self.status = PlanStatus::Abandoned;
            }
        }
        Ok(())
    }

    fn advance(&mut self, from: PlanningPhase, to: PlanningPhase) -> Result<()> {
        if self.phase != from {
            let what = format!("planning is in the phase {}, not {}", self.phase.as_str(), from.as_str());
            return refuse(what, "git axiom plan show    shows what is next");
        }
        if let Some(open) = self.unanswered().next() {
            return refuse(format!("question {} has no answer", open.number), "git axiom plan answer NUMBER TEXT");
        }
        self.phase = to;
        Ok(())
    }

    fn asked(&mut self, questions: &[String], at: Timestamp) -> Result<()> {
        if self.phase != PlanningPhase::Understand {
            return refuse("questions are asked in the phase understand only", "git axiom plan show    shows what is next");
        }
        if self.clarifications.len() + questions.len() > MOST_QUESTIONS {
            return Err(Error::new(Code::TooLarge, format!("a plan has at most {MOST_QUESTIONS} questions"))
                .hint("git axiom plan abandon    then start with a goal that says more"));
        }
        for question in questions {
            check_text("a question", question)?;
            let number = u32::try_from(self.clarifications.len() + 1).unwrap_or(u32::MAX);
            self.clarifications.push(GoalClarification { number, question: question.clone(), answer: None, asked_at: at });
        }
        Ok(())
    }

    fn answered(&mut self, number: u32, text: &str) -> Result<()> {
        check_text("the answer", text)?;
        let Some(one) = self.clarifications.iter_mut().find(|one| one.number == number) else {
            return Err(Error::new(Code::InvalidInput, format!("there is no question {number}"))
                .hint("git axiom plan show    lists the questions"));
        };
        if one.answer.is_some() {
            return refuse(format!("question {number} is answered already"), "git axiom plan show    shows the answers");
        }
        one.answer = Some(text.to_owned());
        Ok(())
    }

    fn proposed(&mut self, text: &str, outline: &[Task], at: Timestamp) -> Result<()> {
        check_text("the proposal", text)?;
        self.room_for_a_version()?;
        if outline.len() > MOST_TASKS {
            return Err(too_many());
        }
        if !outline.is_empty() {
            if self.created().next().is_some() {
                self.archive("another version of the proposal took their place", at);
            }
            self.pending = outline.iter().map(|task| task.id.clone()).collect();
            self.tasks = outline.to_vec();
            self.problems = None;
        }
        let version = self.next_version();
        let text = text.to_owned();
        let proposal = PlanProposal { version, approved: false, text, feedback: None, at, covers: Default::default() };
        self.proposals.push(proposal);
        self.phase = PlanningPhase::Propose;
        Ok(())
    }

    /// The number of the version that would come next.
    pub fn next_version(&self) -> u32 {
        self.proposal().map_or(1, |last| last.version.saturating_add(1))
    }

    fn room_for_a_version(&self) -> Result<()> {
        if self.proposals.len() >= MOST_VERSIONS {
            return Err(Error::new(Code::TooLarge, format!("a plan has at most {MOST_VERSIONS} versions"))
                .hint("git axiom plan abandon    then start with a goal that says more"));
        }
        Ok(())
    }

    fn revised(&mut self, feedback: &str) -> Result<()> {
        check_text("what is to be different", feedback)?;
        let Some(last) = self.proposals.last_mut() else {
            return refuse("nothing was proposed yet", "git axiom plan propose    makes a proposal");
        };
        last.feedback = Some(feedback.to_owned());
        self.phase = PlanningPhase::Propose;
        Ok(())
    }

    fn approved(&mut self, version: u32, at: Timestamp) -> Result<()> {
        let covers = self.tasks.iter().map(|task| task.id.clone()).collect();
        let next = self.next_version();
        match self.proposals.last_mut() {
            Some(last) if last.version == version && last.feedback.is_none() => (last.approved, last.covers) = (true, covers),
            Some(_) | None if version == next => {
                self.room_for_a_version()?;
                let text = "the tasks as they are".to_owned();
                self.proposals.push(PlanProposal { version, approved: true, text, feedback: None, at, covers });
            }
            Some(_) | None => {
                return Err(Error::new(Code::ChangedMeanwhile, format!("version {version} is not the last one any more"))
                    .hint("git axiom plan show    shows what is proposed now"));
            }
        }
        let made = self.pending.is_empty() && !self.tasks.is_empty();
        self.phase = if made { PlanningPhase::Validate } else { PlanningPhase::Decompose };
        Ok(())
    }

    fn made(&mut self, tasks: &[Task], approved: bool) -> Result<()> {
        let was_approved = self.is_approved();
        for task in tasks {
            let known = self.tasks.iter_mut().find(|one| one.id == task.id);
            match known {
                Some(known) => *known = task.clone(),
                None => self.tasks.push(task.clone()),
            }
            self.pending.remove(&task.id);
        }
        if self.tasks.len() > MOST_TASKS {
            return Err(too_many());
        }
        if approved && was_approved {
            let ids: Vec<TaskId> = tasks.iter().map(|task| task.id.clone()).collect();
            self.proposals.last_mut().into_iter().for_each(|last| last.covers.extend(ids.iter().cloned()));
        }
        self.problems = None;
        self.phase = if self.phase == PlanningPhase::Validate { PlanningPhase::Validate } else { PlanningPhase::Decompose };
        Ok(())
    }

    fn archive(&mut self, why: &str, at: Timestamp) {
        let archived = ArchivedPlanAttempt {
            attempt: self.attempt,
            at,
            why: why.to_owned(),
            phase: self.phase,
            clarifications: self.clarifications.clone(),
            proposals: self.proposals.clone(),
            created: self.created().cloned().collect(),
            pending: self.outlined().cloned().collect(),
        };
        self.archived.push(archived);
        let over = self.archived.len().saturating_sub(MOST_ARCHIVED);
        self.archived.drain(..over);
    }

    fn start_over(&mut self, why: &str, at: Timestamp) {
        self.archive(why, at);
        let begun = Self::begin(self.goal.clone(), self.planner.clone(), at);
        let archived = std::mem::take(&mut self.archived);
        *self = Self { attempt: self.attempt.saturating_add(1), archived, ..begun };
    }
}

fn too_many() -> Error {
    Error::new(Code::TooLarge, format!("a plan has at most {MOST_TASKS} tasks"))
        .hint("plan a part of the goal first, or add a file of tasks: git axiom task import FILE")
}

//! The steps of planning, and how each changes a plan. All or nothing: a step that does not fit is refused.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::plan::{
    ArchivedPlanAttempt, GoalClarification, GoalPlan, LONGEST, MOST_ARCHIVED, MOST_QUESTIONS, MOST_TASKS, MOST_VERSIONS,
    PlanProposal, PlanStatus, PlanningPhase,
};
use crate::base::forms::plural::count;
use crate::base::ids::TaskId;
use crate::work::tasks::task::Task;
use crate::work::verifying::verification::ProgramUsage;
use axiom_base::error::{Code, Error, Result};

/// How a plan became tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlanEnding {
    /// A human finished it.
    Finished,
    /// Planning was cut off, and what was made by then was kept.
    Kept,
}

/// What a run of a planner's program used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannerRun {
    /// Tokens and the like.
    pub used: ProgramUsage,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// A step of planning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PlanStep {
    /// Planning begins.
    Started {
        /// The plan.
        plan: Box<GoalPlan>,
    },
    /// A planner is about to be run.
    PlannerStarted {},
    /// The planner has ended.
    PlannerEnded {
        /// Why it was of no use, if it was not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<String>,
    },
    /// A run of its program is over: another may follow.
    PlannerRan {
        /// What it used.
        run: PlannerRun,
    },
    /// Questions were asked.
    Asked {
        /// The questions.
        questions: Vec<String>,
    },
    /// A human answered one.
    Answered {
        /// Its number.
        number: u32,
        /// The answer.
        text: String,
    },
    /// Nothing is left to ask.
    Understood {},
    /// The repository was looked at.
    Analyzed {
        /// What that came to.
        text: String,
    },
    /// A new version of the proposal.
    Proposed {
        /// What is proposed.
        text: String,
        /// The tasks, outlined; those that were there stay where there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        outline: Vec<Task>,
    },
    /// A human wants the last version to be different.
    Revised {
        /// How.
        feedback: String,
    },
    /// A human approved a version: the last one, or the tasks as they are as the next one.
    Approved {
        /// Its number.
        version: u32,
    },
    /// Tasks were made.
    TasksMade {
        /// The tasks.
        tasks: Vec<Task>,
        /// Whether the approval is for them too: a human added them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        approved: bool,
    },
    /// The tasks were checked.
    Checked {
        /// What is wrong with them.
        problems: Vec<String>,
    },
    /// Planning that was cut off goes on.
    Resumed {
        /// Why.
        why: String,
    },
    /// Planning begins anew; what was there is archived.
    StartedOver {
        /// Why.
        why: String,
    },
    /// The plan became tasks.
    Finished {
        /// How.
        ending: PlanEnding,
        /// Why, where it was cut off.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
        /// The tasks.
        tasks: Vec<Task>,
    },
    /// The plan was given up.
    Abandoned {
        /// Why.
        why: String,
    },
}

impl PlanStep {
    /// How much it says about its transaction.
    pub const fn rank(&self) -> u8 {
        match self {
            Self::Finished { .. } => 8,
            Self::Started { .. } | Self::StartedOver { .. } | Self::Abandoned { .. } => 7,
            Self::Approved { .. } | Self::Answered { .. } | Self::Revised { .. } | Self::Resumed { .. } => 6,
            Self::Proposed { .. } | Self::TasksMade { .. } => 5,
            Self::Asked { .. } | Self::Analyzed { .. } | Self::Checked { .. } => 4,
            Self::PlannerStarted {} | Self::PlannerEnded { .. } | Self::Understood {} => 2,
            Self::PlannerRan { .. } => 1,
        }
    }

    /// What it did, in words.
    pub fn in_words(&self) -> String {
        match self {
            Self::Started { plan } => format!("plan: {}", plan.goal.jtbd),
            Self::PlannerStarted {} => "plan: the planner runs".to_owned(),
            Self::PlannerRan { .. } => "plan: a run of the planner is over".to_owned(),
            Self::PlannerEnded { failure: None } => "plan: the planner has ended".to_owned(),
            Self::PlannerEnded { failure: Some(why) } => format!("plan: the planner came to no end: {why}"),
            Self::Asked { questions } => format!("plan: {} asked", count(questions.len(), "question")),
            Self::Answered { number, .. } => format!("plan: question {number} answered"),
            Self::Understood {} => "plan: nothing is left to ask".to_owned(),
            Self::Analyzed { .. } => "plan: the repository was looked at".to_owned(),
            Self::Proposed { outline, .. } if outline.is_empty() => "plan: a new version of the proposal".to_owned(),
            Self::Proposed { outline, .. } => {
                format!("plan: a new version of the proposal, {}", count(outline.len(), "task"))
            }
            Self::Revised { .. } => "plan: another version was asked for".to_owned(),
            Self::Approved { version } => format!("plan: version {version} approved"),
            Self::TasksMade { tasks, .. } => match tasks.as_slice() {
                [one] => format!("plan: {} added: {}", one.id, one.title),
                many => format!("plan: {} added", count(many.len(), "task")),
            },
            Self::Checked { problems } if problems.is_empty() => "plan: the tasks are valid".to_owned(),
            Self::Checked { problems } => format!("plan: {} found", count(problems.len(), "problem")),
            Self::Resumed { why } => format!("plan: goes on: {why}"),
            Self::StartedOver { why } => format!("plan: started over: {why}"),
            Self::Finished { ending: PlanEnding::Finished, tasks, .. } => {
                format!("plan finished: {} added", count(tasks.len(), "task"))
            }
            Self::Finished { ending: PlanEnding::Kept, why, tasks } => {
                format!("plan cut off, {} kept: {why}", count(tasks.len(), "task"))
            }
            Self::Abandoned { why } => format!("plan abandoned: {why}"),
        }
    }
}

fn refuse<T>(what: impl Into<String>, hint: &str) -> Result<T> {
    Err(Error::new(Code::InvalidTransition, what).hint(hint.to_owned()))
}

/// Checks the length of a text that a plan is to hold.
pub fn check_text(what: &str, text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(Error::new(Code::InvalidInput, format!("{what} is empty")));
    }
    if text.len() > LONGEST {
        return Err(Error::new(Code::TooLarge, format!("{what} has {} bytes, the limit is {LONGEST}", text.len()))
            .hint("put long material into a file of the repository and refer to it"));
    }
    Ok(())
}

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

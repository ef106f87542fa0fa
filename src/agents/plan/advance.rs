//! A planner goes on until a human decides: phase by phase, each step recorded as soon as it is there.

use std::collections::BTreeSet;

use super::{at_rest, event, it_runs, open, planner, take};
use crate::tasks::edit;
use crate::tasks::edit::{NewTaskRequest, TaskPrerequisites};
use crate::tasks::limits;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result, some_of};
use axiom_base::files::{FileLock, LockAttempt};
use axiom_base::own_process::end_signals;
use axiom_model::base::forms::plural::count;
use axiom_model::base::ids::TaskId;
use axiom_model::planning::next::{NextPlanStep, next};
use axiom_model::planning::plan::{GoalPlan, PlanningPhase};
use axiom_model::planning::reply::{self, PlannedTask, PlannerReply};
use axiom_model::planning::step::PlanStep;
use axiom_model::queries::plan_check;
use axiom_model::state::event::Event;
use axiom_model::work::tasks::task::{Task, TaskKind};
use axiom_safety::context::handle::Context;
use axiom_safety::history::task_texts;
use axiom_safety::running::wait_observer::WaitObserver;

/// How often a planner is run at most until a human decides.
const MOST_RUNS: usize = 50;
/// How often it corrects tasks.
const MOST_CORRECTIONS: usize = 3;
/// How many ids or problems an error names at most.
const NAMED: usize = 10;

/// Runs the planner, if the plan has one, until it is a human's turn.
pub fn advance(ctx: &mut Context, watch: &mut dyn WaitObserver) -> Result<()> {
    let plan = at_rest(ctx)?;
    if plan.planner.is_none() || !matches!(next(plan), NextPlanStep::Plan(_) | NextPlanStep::Check) {
        return Ok(());
    }
    ctx.layout().ensure()?;
    let place = ctx.layout().locks().planning();
    let LockAttempt::Taken(lock) = FileLock::try_take(&place)? else {
        return Err(it_runs());
    };
    // For whoever ends the planner from elsewhere.
    lock.describe(std::process::id().to_string().as_bytes(), &place)?;
    let _between_two_runs_too = end_signals::can_end();
    take(ctx, PlanStep::PlannerStarted {})?;
    env::fault_point("plan.planner-started");
    let outcome = rounds(ctx, watch);
    let failure = outcome.as_ref().err().map(|error| in_words(error).chars().take(1000).collect());
    env::fault_point("plan.before-rest");
    match take(ctx, PlanStep::PlannerEnded { failure }) {
        // Somebody abandoned it meanwhile.
        Err(error) if error.code() == Code::NoPlan => outcome.and(Err(error)),
        ended => outcome.and(ended),
    }
}

/// Why the planner came to no end. That a human ended it is no failure of its.
fn in_words(error: &Error) -> String {
    if error.code() == Code::Interrupted { error.to_string() } else { format!("{}: {error}", error.code()) }
}

fn rounds(ctx: &mut Context, watch: &mut dyn WaitObserver) -> Result<()> {
    let mut corrections = 0;
    for _ in 0..MOST_RUNS {
        let plan = open(ctx.state())?.clone();
        match next(&plan) {
            NextPlanStep::Plan(PlanningPhase::Validate) if corrections == MOST_CORRECTIONS => {
                let problems = plan.problems.unwrap_or_default();
                return Err(Error::new(
                    Code::PlanInvalid,
                    format!("the planner did not correct its tasks in {corrections} runs"),
                )
                .why(some_of(&problems, NAMED))
                .hint("git axiom plan validate    lists what is wrong"));
            }
            NextPlanStep::Plan(phase) => {
                corrections += usize::from(phase == PlanningPhase::Validate);
                let said = planner::run(ctx, &plan, watch)?;
                take(ctx, PlanStep::PlannerRan { run: said.run.clone() })?;
                if let Some(error) = said.cut_off(&plan) {
                    make_printed(ctx, &plan, &said.text)?;
                    return Err(error);
                }
                take_reply(ctx, &plan, said.reply(phase)?)?;
            }
            NextPlanStep::Check => {
                ctx.append_with(|state| Ok(event(PlanStep::Checked { problems: plan_check::problems(state, open(state)?) })))?;
                env::fault_point("plan.checked");
            }
            NextPlanStep::Answer | NextPlanStep::Approve | NextPlanStep::Finish | NextPlanStep::Nothing => return Ok(()),
        }
    }
    Err(Error::new(Code::PlannerFailed, format!("the planner comes to no end in {MOST_RUNS} runs"))
        .hint("git axiom plan show    shows what there is"))
}

/// Records what a planner said in the phase in which the plan was.
fn take_reply(ctx: &mut Context, plan: &GoalPlan, reply: PlannerReply) -> Result<()> {
    match plan.phase {
        PlanningPhase::Understand => {
            let known: BTreeSet<&str> = plan.clarifications.iter().map(|one| one.question.as_str()).collect();
            let questions: Vec<String> = reply.questions.into_iter().filter(|text| !known.contains(text.as_str())).collect();
            let step = if questions.is_empty() { PlanStep::Understood {} } else { PlanStep::Asked { questions } };
            take(ctx, step)?;
            env::fault_point("plan.understood");
        }
        PlanningPhase::Analyze => {
            take(ctx, PlanStep::Analyzed { text: reply.analysis.unwrap_or_default() })?;
            env::fault_point("plan.analyzed");
        }
        PlanningPhase::Propose => {
            propose(ctx, reply)?;
            env::fault_point("plan.proposed");
        }
        PlanningPhase::Decompose | PlanningPhase::Validate => make(ctx, plan, reply.tasks)?,
    }
    Ok(())
}

/// The next version of the proposal, with the outline of its tasks.
fn propose(ctx: &mut Context, reply: PlannerReply) -> Result<()> {
    let text = reply.proposal.unwrap_or_else(|| count(reply.tasks.len(), "task"));
    let mut tasks = reply.tasks.into_iter().map(new_task).collect::<Result<Vec<_>>>()?;
    tasks.iter_mut().for_each(|task| task.body = None);
    let new = tasks.iter().try_for_each(|task| limits::personas_exist(&ctx.config, &task.verify));
    new?;
    ctx.append_with(|state| {
        let given: BTreeSet<String> = tasks.iter().filter_map(|task| task.id.as_ref().map(TaskId::folded)).collect();
        let mut outline = Vec::with_capacity(tasks.len());
        let mut reserved = given;
        for mut task in tasks {
            let id = match task.id.take() {
                Some(id) => id,
                None => edit::next_ids(state, task.kind, 1, &reserved)?.remove(0),
            };
            reserved.insert(id.folded());
            outline.push(edit::build(task, id, None));
        }
        let plan = open(state)?;
        let problems = plan_check::of_tasks(state, &plan_check::outcome(&GoalPlan { tasks: outline.clone(), ..plan.clone() }));
        if !problems.is_empty() {
            return Err(Error::new(Code::PlanInvalid, "the planner proposed tasks that cannot be made")
                .why(some_of(&problems, NAMED))
                .hint("git axiom plan propose    runs it again"));
        }
        Ok(event(PlanStep::Proposed { text, outline }))
    })?;
    Ok(())
}

/// Makes the tasks that a planner had printed whole before it was cut off: each stands for itself. Nothing else that it printed counts:
/// half an analysis or half a proposal is none, and the plan stays in its phase.
pub(super) fn make_printed(ctx: &mut Context, plan: &GoalPlan, text: &str) -> Result<()> {
    if !matches!(plan.phase, PlanningPhase::Decompose | PlanningPhase::Validate) {
        return Ok(());
    }
    let Some(reply) = reply::read_as_far(text, plan.phase) else { return Ok(()) };
    match make(ctx, plan, reply.tasks) {
        // None of what was approved is among it: that is no failure of this planner.
        Err(error) if error.code() == Code::PlannerFailed => Ok(()),
        made => made,
    }
}

/// Makes tasks that were outlined, one after the other.
fn make(ctx: &mut Context, plan: &GoalPlan, tasks: Vec<PlannedTask>) -> Result<()> {
    let found = tasks.into_iter().filter_map(|said| Some((outlined(plan, &said)?.clone(), said))).collect::<Vec<_>>();
    if found.is_empty() {
        let wanted: Vec<String> = plan.pending.iter().map(ToString::to_string).collect();
        return Err(Error::new(Code::PlannerFailed, "the planner printed none of the tasks that were approved")
            .why(some_of(&wanted, NAMED))
            .hint("git axiom plan propose    runs it again")
            .hint("git axiom plan add TITLE --id ID    makes one by hand"));
    }
    let mut made = Vec::with_capacity(found.len());
    for (known, said) in found {
        let new = NewTaskRequest { id: Some(known.id.clone()), ..new_task(said)? };
        limits::personas_exist(&ctx.config, &new.verify)?;
        made.push((known, new));
    }
    let bodies: Vec<&str> = made.iter().filter_map(|(_, new)| new.body.as_deref()).collect();
    let mut stored = task_texts::store(&ctx.repo, &bodies)?.into_iter();
    for (known, new) in made {
        let body = new.body.is_some().then(|| stored.next()).flatten();
        let task = whole(&known, edit::build(new, known.id.clone(), body));
        env::fault_point("plan.before-task");
        ctx.append(Event::Planned { step: Box::new(PlanStep::TasksMade { tasks: vec![task], approved: false }) })?;
    }
    env::fault_point("plan.tasks-made");
    Ok(())
}

/// The task with what was approved of it, where the planner did not say it again.
fn whole(known: &Task, task: Task) -> Task {
    let after = if task.after.is_empty() { known.after.clone() } else { task.after };
    let parent = task.parent.or_else(|| known.parent.clone());
    Task { kind: known.kind, after, parent, ..task }
}

/// The outlined task that is meant: by its id, or else by its title.
fn outlined<'p>(plan: &'p GoalPlan, said: &PlannedTask) -> Option<&'p Task> {
    let in_phase = |task: &&Task| plan.phase == PlanningPhase::Validate || plan.pending.contains(&task.id);
    let mut tasks = plan.tasks.iter().filter(in_phase);
    match &said.id {
        Some(id) => tasks.find(|task| task.id.as_str() == id),
        None => tasks.find(|task| task.title == said.title),
    }
}

fn new_task(said: PlannedTask) -> Result<NewTaskRequest> {
    let named = said.after.into_vec().iter().map(|text| text.parse()).collect::<Result<Vec<_>>>()?;
    let task = NewTaskRequest {
        id: said.id.map(TaskId::new).transpose()?,
        kind: said.kind.as_deref().map_or(Ok(TaskKind::Task), str::parse)?,
        body: said.body,
        parent: said.parent.map(TaskId::new).transpose()?,
        waits_for: TaskPrerequisites::of(named, false),
        persona: said.persona,
        verify: said.verify.into_vec(),
        ..NewTaskRequest::titled(said.title)
    };
    edit::check(&task)?;
    Ok(task)
}

//! The name of a new checkpoint: free in the state, and among the refs.

use std::iter;

use jiff::Timestamp;

use super::CheckpointRequest;
use crate::context::handle::Context;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::RefName;
use axiom_model::base::own_names::{capture_ref, checkpoint_tag};
use axiom_model::checkpoint::stamp::prompt_name;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::verbs;

/// Chooses the name and appends the intent. The caller holds the change lock, so no other checkpoint is made meanwhile.
pub(super) fn intend(ctx: &mut Context, wanted: &CheckpointRequest) -> Result<CheckpointName> {
    let (name, refs) = match &wanted.name {
        Some(name) => {
            is_no_verb(name)?;
            (name.clone(), CheckpointNameRefs::of(ctx, name)?)
        }
        None => automatic(ctx, wanted)?,
    };
    // Synced together with the objects. If this event is lost nevertheless, recovery adopts the capture ref as that of an
    // unknown checkpoint.
    ctx.append_unsynced(|state| {
        if !refs.are_free() || state.is_taken(name.as_str()) {
            return Err(taken(state, &name, refs.foreign_tag()));
        }
        Ok(vec![Event::CheckpointIntended { name: name.clone() }])
    })?;
    Ok(name)
}

/// Refuses a name that `git axiom rollback NAME` would read as a verb.
fn is_no_verb(name: &CheckpointName) -> Result<()> {
    let folded = name.folded();
    if folded != "help" && verbs::row_below("rollback", &folded).is_none() {
        return Ok(());
    }
    Err(Error::new(Code::InvalidId, format!("'{name}' cannot be a checkpoint name"))
        .why(format!("'git axiom rollback {folded}' means something else"))
        .hint("choose another name, such as before-lunch"))
}

/// `<trigger>-<time>`, with a numeric suffix where that name is taken.
fn automatic(ctx: &Context, wanted: &CheckpointRequest) -> Result<(CheckpointName, CheckpointNameRefs)> {
    if wanted.trigger == CheckpointTrigger::Prompt {
        return next_prompt(ctx);
    }
    let plain = plain_name(wanted, env::now());
    for text in iter::once(plain.clone()).chain((2_u32..).map(|number| format!("{plain}-{number}"))) {
        let name = CheckpointName::new(text)?;
        if ctx.state().is_taken(name.as_str()) {
            continue;
        }
        let refs = CheckpointNameRefs::of(ctx, &name)?;
        if refs.are_free() {
            return Ok((name, refs));
        }
    }
    Err(Error::new(Code::Internal, "no name is free"))
}

/// The name of the next prompt: no number is used twice, whatever was deleted.
fn next_prompt(ctx: &Context) -> Result<(CheckpointName, CheckpointNameRefs)> {
    for number in ctx.state().record.attached.prompts.saturating_add(1)..u32::MAX {
        let name = CheckpointName::new(prompt_name(number))?;
        if ctx.state().is_taken(name.as_str()) {
            continue;
        }
        let refs = CheckpointNameRefs::of(ctx, &name)?;
        if refs.are_free() {
            return Ok((name, refs));
        }
    }
    Err(Error::new(Code::Internal, "no number is free"))
}

/// Local time, as in every list: a checkpoint called 10-00-00 was made at 10:00:00.
fn plain_name(wanted: &CheckpointRequest, now: Timestamp) -> String {
    let time = env::time_zone().to_datetime(now).strftime("%Y-%m-%dT%H-%M-%S");
    match (wanted.trigger, &wanted.about) {
        (CheckpointTrigger::AfterMerge, Some(task)) => format!("after-{}-{time}", &task.as_str()[..task.as_str().len().min(60)]),
        (trigger, _) => format!("{}-{time}", trigger.as_str()),
    }
}

/// The refs that have the name of a checkpoint.
struct CheckpointNameRefs {
    /// Also of a checkpoint that the state does not know.
    capture: Option<RefName>,
    tag: Option<RefName>,
}

impl CheckpointNameRefs {
    fn of(ctx: &Context, name: &CheckpointName) -> Result<Self> {
        let names = [capture_ref(name), checkpoint_tag(name)];
        let mut in_use = ctx.repo.ref_lists().names_in_use(&names)?;
        let [capture, tag] = names.map(|name| in_use.remove(&name));
        Ok(Self { capture, tag })
    }

    fn are_free(&self) -> bool {
        self.capture.is_none() && self.tag.is_none()
    }

    /// The tag, where it belongs to no checkpoint here: it would collide with the new one's.
    fn foreign_tag(&self) -> Option<&RefName> {
        self.tag.as_ref().filter(|_| self.capture.is_none())
    }
}

fn taken(state: &State, name: &CheckpointName, foreign: Option<&RefName>) -> Error {
    let error = Error::new(Code::DuplicateId, format!("the name '{name}' is taken"));
    let task = state.restorable.tasks.keys().find(|id| id.folded() == name.folded());
    match (task, foreign.filter(|_| !state.is_taken(name.as_str()))) {
        (Some(id), _) => error.hint(format!("a task is called '{id}', and tasks and checkpoints share their names")),
        (None, Some(tag)) => error
            .why(format!("the tag {} belongs to no checkpoint here; it may have come with a clone", tag.short()))
            .hint(format!("git tag -d {}    if nobody needs it; or choose another name", tag.short())),
        (None, None) => error.hint("see 'git axiom checkpoint list', or choose another name"),
    }
}

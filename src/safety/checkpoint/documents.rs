//! The document of a checkpoint: made of what was captured, written as JSON, and recorded in the state.

use super::CheckpointRequest;
use super::captured::CheckpointCaptures;
use crate::context::handle::Context;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::{CheckpointMark, CheckpointTag, HeldRefs, PersonIdent};
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::log_version::VERSION;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::{TAGS, checkpoint_tag};
use axiom_model::checkpoint::document::{AgentState, CheckpointDocument, Tagger};
use axiom_model::checkpoint::marks::CheckpointMarks;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::trigger::{CheckpointTrigger, CheckpointType};
use axiom_model::state::event::Event;

/// Appends the outcome event of a checkpoint whose refs all exist.
pub(super) fn outcome(
    ctx: &mut Context,
    document: &CheckpointDocument,
    capture: Oid,
    size: Option<u64>,
) -> Result<CheckpointRecord> {
    let tag_name = checkpoint_tag(&document.name);
    let tag = if document.marks().has_tag() { ctx.repo.refs().read_ref(&tag_name)? } else { Some(capture.clone()) };
    let Some(tag) = tag else {
        return Err(
            Error::new(Code::CheckpointDamaged, format!("the tag {} is gone", tag_name.short())).hint("git axiom recover --yes")
        );
    };
    let record = record_of(document, capture, tag, size);
    ctx.append(Event::CheckpointCreated { checkpoint: record.clone() })?;
    env::fault_point("checkpoint.created");
    Ok(record)
}

/// A document as it is stored in the note.
pub fn to_json(document: &CheckpointDocument) -> Result<Vec<u8>> {
    let json = serde_json::to_vec_pretty(document);
    json.map_err(|e| Error::new(Code::Internal, "the checkpoint cannot be written as JSON").because(e))
}

/// What the checkpoint has beside its capture ref, with what its tag is made from.
pub fn marking(document: &CheckpointDocument) -> CheckpointMark {
    match document.marks() {
        CheckpointMarks::Tagged => {
            let Tagger { name, email, seconds } = document.tagger.clone();
            CheckpointMark::Tag(CheckpointTag {
                commit: document.git_commit.clone(),
                tagger: PersonIdent { name, email, seconds },
            })
        }
        CheckpointMarks::Noted => CheckpointMark::Note,
        CheckpointMarks::Bare => CheckpointMark::Nothing,
    }
}

pub(super) fn document(
    ctx: &Context,
    name: &CheckpointName,
    wanted: &CheckpointRequest,
    captured: &CheckpointCaptures,
    refs: &HeldRefs,
) -> Result<CheckpointDocument> {
    let state = ctx.state();
    let head = &captured.main.capture.head;
    let working = state.busy_agents().filter_map(|agent| agent.work.as_ref().map(|work| (agent, work)));
    let agent_states = working
        .map(|(agent, work)| AgentState { id: agent.id.clone(), task_id: Some(work.task.clone()), iteration: work.iteration })
        .collect();
    let signature = ctx.repo.objects().signature()?;
    let kind = if wanted.name.is_some() { CheckpointType::Named } else { CheckpointType::Auto };
    let marked = marks(ctx, kind, wanted.trigger)?.recorded(wanted.trigger);
    Ok(CheckpointDocument {
        version: VERSION,
        name: name.clone(),
        kind,
        trigger: wanted.trigger,
        created_at: env::now(),
        git_commit: head.commit().cloned(),
        branch: head.branch().cloned(),
        seq: state.seq,
        tasks_completed: state.record.tasks_completed,
        refs: captured.refs.clone(),
        case_states: state.restorable.tasks.iter().map(|(id, task)| (id.clone(), task.status)).collect(),
        state_snapshot: state.restorable.clone(),
        agent_states,
        workspaces: captured.states().cloned().collect(),
        main_captured_at: captured.main_captured_at,
        submodules: captured.submodules.clone(),
        coverage: captured.coverage.clone(),
        refs_not_held: {
            let also = captured.broken_refs.iter().filter(|name| !refs.not_held.contains(name));
            refs.not_held.iter().chain(also).cloned().collect()
        },
        attached: wanted.attached.clone().map(Box::new),
        marked,
        tagger: Tagger { name: signature.name, email: signature.email, seconds: signature.seconds },
    })
}

/// What a new checkpoint gets beside its capture ref. A tag of the user's that is named as the folder of our tags leaves no room for any:
/// a tag is for people, and no checkpoint goes without being made for want of one.
fn marks(ctx: &Context, kind: CheckpointType, trigger: CheckpointTrigger) -> Result<CheckpointMarks> {
    let wanted = CheckpointMarks::decide(ctx.config.checkpoints.tags, kind, trigger);
    let in_the_way = RefName::new(TAGS.trim_end_matches('/'));
    let has_room = !wanted.has_tag() || ctx.repo.refs().read_ref(&in_the_way)?.is_none();
    Ok(if has_room { wanted } else { CheckpointMarks::Noted })
}

/// What the log keeps of a checkpoint that has been published.
pub fn record_of(document: &CheckpointDocument, capture: Oid, tag: Oid, size: Option<u64>) -> CheckpointRecord {
    CheckpointRecord {
        size,
        name: document.name.clone(),
        kind: document.kind,
        trigger: document.trigger,
        created_at: document.created_at,
        git_commit: document.git_commit.clone(),
        capture,
        tag,
        seq: document.seq,
        tasks_completed: document.tasks_completed,
        only: document.only(),
        attached: document.attached.clone(),
        marked: document.marked,
    }
}

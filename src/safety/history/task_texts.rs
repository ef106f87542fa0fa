//! Texts of tasks: short ones are in the event itself, long ones are stored in git first.

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::Repository;
use axiom_model::base::text::{INLINE_LIMIT, MAX_TEXT, TextOrBlob};
use axiom_model::prompt::PromptTask;
use axiom_model::state::current_state::State;
use axiom_model::work::tasks::task::Task;

/// How many tasks a task may be a part of, one in the other, so that all are told.
const MOST_PARENTS: usize = 8;

/// Prepares texts for an event, in order: short ones stay inline; long ones are written as blobs, referenced and synced. No
/// event refers to them yet: a crash leaves blobs without an event, which is harmless.
pub fn store(repo: &Repository, texts: &[&str]) -> Result<Vec<TextOrBlob>> {
    if let Some(text) = texts.iter().find(|text| text.len() > MAX_TEXT) {
        let what = format!("a text of {} bytes is over the limit of {MAX_TEXT}", text.len());
        return Err(Error::new(Code::TooLarge, what).hint("put long material into a file of the repository and refer to it"));
    }
    let long: Vec<&[u8]> = texts.iter().filter(|text| text.len() > INLINE_LIMIT).map(|text| text.as_bytes()).collect();
    let mut blobs = if long.is_empty() { Vec::new() } else { repo.notes().store_texts(&long)? }.into_iter();
    env::fault_point("texts.after-store");
    let stored = texts.iter().map(|text| {
        if text.len() <= INLINE_LIMIT {
            return Ok(TextOrBlob::Inline((*text).to_owned()));
        }
        let blob = blobs.next().ok_or_else(|| Error::new(Code::Internal, "there are fewer blobs than texts"))?;
        Ok(TextOrBlob::Stored { blob, size: text.len() as u64 })
    });
    stored.collect()
}

/// The text itself.
pub fn load(repo: &Repository, text: &TextOrBlob) -> Result<String> {
    match text {
        TextOrBlob::Inline(text) => Ok(text.clone()),
        TextOrBlob::Stored { blob, .. } => Ok(String::from_utf8_lossy(&repo.notes().load_text(blob)?).into_owned()),
    }
}

/// The text of a task; empty where it has none.
pub fn body_of(repo: &Repository, task: &Task) -> Result<String> {
    task.body.as_ref().map_or_else(|| Ok(String::new()), |text| load(repo, text))
}

/// What a task is a part of, outermost first.
pub fn parents_of<'s>(repo: &Repository, state: &'s State, task: &Task) -> Result<Vec<PromptTask<'s>>> {
    let chain = state.restorable.groups_around(task).take(MOST_PARENTS);
    let mut parents = chain.map(|task| Ok(PromptTask { task, body: body_of(repo, task)? })).collect::<Result<Vec<_>>>()?;
    parents.reverse();
    Ok(parents)
}

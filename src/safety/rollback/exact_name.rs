//! The checkpoint of an exact name, for the short ways to go back; what else the word may be is said, never done.

use crate::context::handle::Context;
use crate::history;
use axiom_base::error::{Code, Error, Result};
use axiom_base::shell_word::shell_word;
use axiom_model::base::forms::nearest;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::stamp::prompt_name;
use axiom_model::verbs;

/// How many names are suggested.
const MOST: usize = 3;

/// The checkpoint that is called exactly so, or whose full id this is. A beginning of either is not enough.
pub fn named_exactly(ctx: &Context, text: &str) -> Result<CheckpointRecord> {
    let all = ctx.state().record.checkpoints.all()?;
    let is_it = |record: &CheckpointRecord| {
        record.name.as_str() == text || record.capture.as_str() == text || record.marks().has_tag() && record.tag.as_str() == text
    };
    let found = all.iter().find(|record| is_it(record));
    if let Some(task) = ctx.state().restorable.tasks.keys().find(|task| task.folded() == text.to_ascii_lowercase()) {
        let what = if found.is_some() { "a task, and a checkpoint too" } else { "a task, and not a checkpoint" };
        let error = Error::new(Code::UnknownCheckpoint, format!("'{text}' is {what}"))
            .hint(format!("git axiom rollback task {task}    takes its work back"));
        return Err(if found.is_some() { error.hint(format!("git axiom rollback checkpoint {text}")) } else { error });
    }
    match found {
        Some(record) => Ok((*record).clone()),
        None => {
            let names: Vec<&str> = all.iter().map(|record| record.name.as_str()).collect();
            Err(unknown(ctx, text, &names))
        }
    }
}

fn unknown(ctx: &Context, text: &str, names: &[&str]) -> Error {
    let folded = text.to_ascii_lowercase();
    let error = Error::new(Code::UnknownCheckpoint, format!("no checkpoint is called '{text}'"));
    let begins: Vec<&&str> =
        names.iter().filter(|name| !folded.is_empty() && name.to_ascii_lowercase().starts_with(&folded)).collect();
    if !begins.is_empty() {
        let error = error.why("the whole name is needed here");
        return begins
            .iter()
            .rev()
            .take(MOST)
            .fold(error, |error, name| error.hint(format!("did you mean 'git axiom rollback {name}'?")));
    }
    let number = text.parse::<u32>().ok();
    if let Some(number) = number.filter(|number| names.contains(&prompt_name(*number).as_str())) {
        return error.hint(format!("git axiom rollback --prompt {number}    goes back to before prompt {number}"));
    }
    if let Some(verb) = verbs::meant::verbs("rollback", text).first() {
        return error.hint(format!("did you mean 'git axiom {verb}'?"));
    }
    if let Some(name) = nearest::to(text, names.iter().copied()) {
        return error.hint(format!("did you mean 'git axiom rollback {name}'?"));
    }
    if let Some(agent) = ctx.state().restorable.agents.get(text) {
        let what = format!("git axiom stop {}    stops this agent", agent.id);
        return match &agent.work {
            Some(work) => {
                error.why("it is an agent").hint(format!("git axiom rollback task {}    takes its work back", work.task))
            }
            None => error.why("it is an agent").hint(what),
        };
    }
    if history::transactions(ctx).is_ok_and(|all| all.iter().any(|one| one.id.as_str() == text)) {
        return error.why("it is an operation").hint(format!("git axiom undo {text}    takes it back"));
    }
    let error = if looks_like_a_commit(text) {
        error
            .why("it goes back to what was saved, not to a commit")
            .hint(format!("git axiom log    lists what was done; git log {} is git's", shell_word(text)))
    } else if looks_like_a_time(text) {
        error.hint(format!("git axiom rollback --at {}    if it is a time", shell_word(text)))
    } else {
        error
    };
    error.hint("git axiom checkpoint list    lists the checkpoints, 'git axiom prompts' the prompts")
}

fn looks_like_a_commit(text: &str) -> bool {
    let is_hex = (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.starts_with("HEAD") || text.contains(['~', '^', '/']) || is_hex
}

fn looks_like_a_time(text: &str) -> bool {
    let words = ["yesterday", "now", "noon", "midnight", "today"];
    text.contains(':') || text.contains(" ago") || words.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_and_a_time_are_known_by_their_looks() {
        assert!(["HEAD~1", "HEAD", "main^", "0123abcd", "origin/main"].into_iter().all(looks_like_a_commit));
        assert!(!["before", "manual-2026", "abc"].into_iter().any(looks_like_a_commit));
        assert!(["10:30", "1 hour ago", "yesterday"].into_iter().all(looks_like_a_time));
        assert!(!["before", "2"].into_iter().any(looks_like_a_time));
    }
}

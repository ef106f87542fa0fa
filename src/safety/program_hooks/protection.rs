//! Whether the net is there in a worktree: what all that is known of an attached program comes to.

use jiff::Timestamp;

use super::status::ProgramEventStatus;
use crate::attach::sessions;
use crate::attach::sessions::attached_session::AttachedSession;
use crate::context::handle::Context;
use axiom_git::Worktree;
use axiom_model::program_hooks::edit::HookEntryStatus;
use axiom_model::program_hooks::recipe::HookRecipe;

/// Whether the sessions of a program in a worktree are saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionProtection {
    /// The program.
    pub program: &'static str,
    /// Since when they are; `None`: they are not.
    pub since: Option<Timestamp>,
    /// When it called us last there.
    pub last: Option<Timestamp>,
    /// Why they are not, in words.
    pub why: Option<String>,
}

/// Of a program that is attached in this worktree; `None` where it is not.
pub fn protection(
    ctx: &Context,
    recipe: &HookRecipe,
    worktree: &Worktree,
    standing: &[ProgramEventStatus],
) -> Option<SessionProtection> {
    let path = worktree.path().to_str();
    let of_it = |session: &&AttachedSession| session.program.as_str() == recipe.name && path == Some(session.worktree.as_str());
    let newest = sessions::list(ctx).into_iter().find(|session| of_it(&session));
    let unsaved = newest.and_then(|session| session.unprotected).or_else(|| sessions::nothing_can_be_written(ctx));
    judged(recipe, standing, unsaved)
}

/// `unsaved`: why its newest session in the worktree could not save something.
fn judged(recipe: &HookRecipe, standing: &[ProgramEventStatus], unsaved: Option<String>) -> Option<SessionProtection> {
    let of_it: Vec<&ProgramEventStatus> = standing.iter().filter(|one| one.program == recipe.name).collect();
    if of_it.is_empty() {
        return None;
    }
    let last = of_it.iter().filter_map(|one| one.fired).max();
    let not = |why: String| Some(SessionProtection { program: recipe.name, since: None, last, why: Some(why) });
    let called = |one: &&&ProgramEventStatus| one.off.is_none() && one.works && one.found != HookEntryStatus::Missing;
    let Some(prompt) = of_it.iter().filter(called).find(|one| recipe.prompt().is_none_or(|event| event == one.event)) else {
        let off = of_it.iter().find_map(|one| one.off.as_ref());
        return not(match (off, of_it.iter().any(|one| one.works)) {
            (Some(off), _) => off.why.clone(),
            (None, false) => {
                format!("the command that its hooks call is gone or does not work: git axiom attach {}", recipe.name)
            }
            (None, true) => format!("its hook of a prompt is missing: git axiom attach {}", recipe.name),
        });
    };
    match (unsaved, prompt.since.or(prompt.fired)) {
        (Some(why), _) => not(format!("what it did last was not saved: {why}")),
        (None, Some(since)) => Some(SessionProtection { program: recipe.name, since: Some(since), last, why: None }),
        (None, None) => {
            let hook = if recipe.prompt().is_some() { "its hook of a prompt" } else { "its hook" };
            let then = recipe.then.map(|then| format!(": {then}")).unwrap_or_default();
            not(format!("{hook} has not fired here yet{then}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axiom_model::program_hooks::recipe::recipe;
    use axiom_model::program_hooks::switches::DisabledHooksReason;

    fn standing(event: &'static str, fired: Option<i64>) -> ProgramEventStatus {
        let time = |second| Timestamp::from_second(second).unwrap();
        let (fired, since) = (fired.map(|second| time(second + 60)), fired.map(time));
        let (path, found) = (String::new(), HookEntryStatus::Current);
        ProgramEventStatus { program: "claude", path, event, found, off: None, works: true, seldom: false, fired, since }
    }

    fn said(all: &[ProgramEventStatus], unsaved: Option<&str>) -> Result<i64, String> {
        let judged = judged(recipe("claude").unwrap(), all, unsaved.map(str::to_owned)).unwrap();
        judged.since.map(|since| since.as_second()).ok_or(judged.why.unwrap_or_default())
    }

    #[test]
    fn present_is_not_protected_and_one_prompt_that_was_saved_is() {
        assert_eq!(judged(recipe("codex").unwrap(), &[standing("Stop", None)], None), None, "another program");
        let prompt = standing("UserPromptSubmit", Some(5));
        let all = [standing("Stop", None), prompt.clone()];
        assert_eq!(said(&all, None), Ok(5));
        assert!(said(&all, Some("the disk is full")).unwrap_err().contains("the disk is full"));
        let never = [standing("Stop", Some(5)), standing("UserPromptSubmit", None)];
        assert!(said(&never, None).unwrap_err().contains("has not fired here yet"));
        let missing = [ProgramEventStatus { found: HookEntryStatus::Missing, ..prompt.clone() }, standing("Stop", Some(5))];
        assert!(said(&missing, None).unwrap_err().contains("is missing"));
        let off = DisabledHooksReason { word: "switched off", why: "x has y".to_owned() };
        assert_eq!(said(&[ProgramEventStatus { off: Some(off), ..prompt.clone() }], None), Err("x has y".to_owned()));
        assert!(said(&[ProgramEventStatus { works: false, ..prompt.clone() }], None).unwrap_err().contains("does not work"));
        // Where one file has it switched off, that of another level counts.
        let off = DisabledHooksReason { word: "not trusted", why: "x".to_owned() };
        assert_eq!(said(&[ProgramEventStatus { off: Some(off), ..prompt.clone() }, prompt], None), Ok(5));
    }
}

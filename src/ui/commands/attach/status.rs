//! `git axiom attach --status`: first whether the sessions of this worktree are saved, then event by event.

use jiff::Timestamp;
use serde::Serialize;

use crate::cli::grid::StyledGrid;
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::cli::{visible, words};
use axiom_base::error::{Exit, Result};
use axiom_model::base::screen_colors::ColoredPart;
use axiom_model::program_hooks::edit::HookEntryStatus;
use axiom_model::program_hooks::recipe::HookRecipe;
use axiom_safety::attach::attach_status::not_held_here;
use axiom_safety::context::handle::Context;
use axiom_safety::program_hooks::protection::{SessionProtection, protection};
use axiom_safety::program_hooks::status::{ProgramEventStatus, status};

/// What has to be seen.
const NOT: &str = "NOT protected";

/// Whether the sessions in this worktree are saved.
#[derive(Serialize)]
struct AttachProtectionsJson {
    /// The worktree that is spoken of.
    worktree: String,
    /// Whether a program's sessions in it are saved.
    protected: bool,
    /// Those that are attached in it.
    programs: Vec<AttachProtectionJson>,
    /// Each event of each of them.
    events: Vec<AttachEventJson>,
}

/// An agent program that is attached.
#[derive(Serialize)]
struct AttachProtectionJson {
    program: &'static str,
    /// Whether its sessions in this worktree are saved.
    protected: bool,
    /// Since when: the first prompt of which its hook told, since it was attached.
    since: Option<Timestamp>,
    /// When any of its hooks fired last in this worktree.
    fired: Option<Timestamp>,
    /// Why they are not saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// An event of a program, and the hook for it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AttachEventJson {
    program: &'static str,
    /// The file.
    path: String,
    /// In the program's words.
    event: &'static str,
    /// `missing`, `current`, `other` (of another version or path of git axiom), `doubled` or `plugin` (a plugin of ours has it).
    found: &'static str,
    /// Whether the program does not call it though it is there: hooks are switched off, or nobody has trusted them.
    switched_off: bool,
    /// Which file says so, and what to do; with `switchedOff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// Whether the command that it calls is there, and was called and ended well.
    works: bool,
    /// Whether many a good session has none, so that it never fired says nothing.
    seldom: bool,
    /// When it fired last in this worktree; null: never.
    fired: Option<Timestamp>,
}

/// Says how the programs stand in the current worktree.
pub(super) fn show(ctx: &Context, chosen: &[&'static HookRecipe], screen: &mut Screen) -> Result<Exit> {
    let worktree = ctx.repo.worktrees().current_worktree()?;
    let (mut all, mut programs) = (Vec::new(), Vec::new());
    for recipe in chosen {
        let standing = status(ctx, recipe, &worktree)?;
        programs.extend(protection(ctx, recipe, &worktree, &standing));
        all.extend(standing);
    }
    let text = marked(&in_words(&programs)) + in_a_table(&all);
    let answer = AttachProtectionsJson {
        worktree: worktree.path().display().to_string(),
        protected: programs.iter().any(|one| one.since.is_some()),
        programs: programs.into_iter().map(protection_view).collect(),
        events: all.into_iter().map(event_view).collect(),
    };
    screen.answer(&answer, || text)?;
    for line in not_held_here(ctx) {
        screen.note(&line);
    }
    Ok(Exit::Done)
}

fn protection_view(SessionProtection { program, since, last, why }: SessionProtection) -> AttachProtectionJson {
    AttachProtectionJson { program, protected: since.is_some(), since, fired: last, why }
}

fn event_view(
    ProgramEventStatus { program, path, event, found, off, works, seldom, fired, since: _ }: ProgramEventStatus,
) -> AttachEventJson {
    AttachEventJson {
        program,
        path,
        event,
        found: found_word(found),
        switched_off: off.is_some(),
        why: off.map(|off| off.why),
        works,
        seldom,
        fired,
    }
}

fn found_word(found: HookEntryStatus) -> &'static str {
    match found {
        HookEntryStatus::Missing => "missing",
        HookEntryStatus::Current => "current",
        HookEntryStatus::Other => "other",
        HookEntryStatus::Doubled => "doubled",
        HookEntryStatus::Plugin => "plugin",
    }
}

/// The text, with what has to be seen.
fn marked(text: &str) -> StyledText {
    let mut marked = StyledText::new();
    for line in text.split_inclusive('\n') {
        let (before, rest) = line.split_once(NOT).map_or((line, None), |(before, rest)| (before, Some(rest)));
        marked.push_str(before);
        if let Some(rest) = rest {
            marked.push(ColoredPart::Unprotected, NOT);
            marked.push_str(rest);
        }
    }
    marked
}

/// One line that answers for the worktree, and one for each other program.
fn in_words(programs: &[SessionProtection]) -> String {
    let mut ordered: Vec<&SessionProtection> = programs.iter().collect();
    ordered.sort_by_key(|one| one.since.is_none());
    let of_it = |one: &SessionProtection| match (one.since, one.last, &one.why) {
        (Some(since), last, _) => {
            let last = last.map(|last| format!(": its last call was at {}", words::time(last))).unwrap_or_default();
            format!("protected with {} since {}{last}", one.program, words::time(since))
        }
        (None, _, Some(why)) => format!("NOT protected with {}: {}", one.program, visible::line(why)),
        (None, _, None) => format!("NOT protected with {}", one.program),
    };
    let Some((first, others)) = ordered.split_first() else {
        return "This worktree is NOT protected: no program is attached in it: git axiom attach\n".to_owned();
    };
    let mut text = format!("This worktree is {}\n", of_it(first));
    others.iter().for_each(|one| text.push_str(&format!("It is {}\n", of_it(one))));
    text
}

fn in_a_table(all: &[ProgramEventStatus]) -> StyledText {
    let is_told = |one: &&ProgramEventStatus| {
        !one.seldom || one.fired.is_some() || !matches!(one.found, HookEntryStatus::Current | HookEntryStatus::Plugin)
    };
    let mut rows = vec![["PROGRAM", "EVENT", "HOOK", "FIRED LAST HERE"].map(String::from).to_vec()];
    for standing in all.iter().filter(is_told) {
        let hook = match (&standing.off, standing.works) {
            (Some(off), _) => off.word,
            (None, false) => "cannot be called",
            (None, true) => found_word(standing.found),
        };
        let fired = standing.fired.map_or_else(|| "not yet".to_owned(), words::time);
        rows.push([standing.program, standing.event, hook, &fired].map(String::from).to_vec());
    }
    let mut text = StyledText::new();
    if rows.len() > 1 {
        text.push_str("\n");
        text.push_grid(StyledGrid::of(rows).headed());
    }
    for program in all.iter().map(|one| one.program).collect::<std::collections::BTreeSet<_>>() {
        let seldom: Vec<&str> = all.iter().filter(|one| one.program == program && !is_told(one)).map(|one| one.event).collect();
        if !seldom.is_empty() {
            let line = format!("{program}: seldom, and not yet: {}", seldom.join(", "));
            text.push_str(&format!("{}\n", words::folded(&line, Some(80), 2)));
        }
    }
    text
}

//! `git axiom prompts`: the timeline of attached sessions; and `git axiom sessions`.

mod one_prompt;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::{look, open, open_with_usable_config, watch};
use crate::cli::grid::{StyledCell, StyledGrid};
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::cli::{visible, words};
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::agent::attached_program::AttachedProgram;
use axiom_model::base::forms::plural::count;
use axiom_model::base::screen_colors::ColoredPart;
use axiom_safety::attach::not_saved::NotSavedPromptLine;
use axiom_safety::attach::prompts::{Prompt, session_files};
use axiom_safety::attach::sessions::AttachedSessionJson;
use axiom_safety::attach::sessions::attached_session::AttachedSession;
use axiom_safety::attach::watching::watch_record;
use axiom_safety::attach::watching::watch_record::WatchStatus;
use axiom_safety::attach::{not_saved, prompts, sessions};
use axiom_safety::context::placement::VerbPurpose;

/// Arguments of `prompts`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Each prompt to an attached agent is a checkpoint. CHANGED is what happened until the next one of
the same session, of the last one until the newest checkpoint: files, lines added and removed.
To go back to the moment before a prompt:

  git axiom rollback --prompt 42
  git axiom restore --prompt 42 src/main.rs

The first line of a prompt, with what looks like a secret masked, is in one file of this machine
alone; 'git axiom prompts forget' deletes it, and nothing brings it back.")]
pub struct PromptsArgs {
    /// One of them: what it changed, and how to go back
    #[arg(value_name = "NUMBER", conflicts_with = "count")]
    number: Option<u32>,
    /// How many of the newest are listed
    #[arg(short = 'n', long = "max-count", value_name = "NUMBER", default_value_t = 20)]
    count: usize,
    #[command(subcommand)]
    verb: Option<PromptsVerb>,
}

#[derive(Debug, Subcommand)]
#[allow(missing_docs)] // what each does is in the table of verbs
enum PromptsVerb {
    Forget(PromptsForgetArgs),
}

#[derive(Debug, Args)]
struct PromptsForgetArgs {
    /// The prompts, by number
    #[arg(value_name = "NUMBER", required_unless_present = "all")]
    numbers: Vec<u32>,
    /// The texts of all prompts
    #[arg(long, conflicts_with = "numbers")]
    all: bool,
}

/// The prompts of attached sessions.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PromptsJson<'a> {
    /// Newest first.
    prompts: &'a [Prompt],
    /// Those before which nothing could be saved, newest first.
    not_saved: &'a [NotSavedPromptLine],
}

/// How much was forgotten.
#[derive(Serialize)]
struct PromptsForgetJson {
    /// How many texts.
    forgotten: usize,
}

/// Lists prompts, or forgets their texts.
pub fn run(args: &PromptsArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    if let Some(PromptsVerb::Forget(forget)) = &args.verb {
        return forgotten(forget, global, screen);
    }
    if let Some(number) = args.number {
        return one_prompt::show(number, global, screen);
    }
    let mut ctx = look(global, screen)?;
    let all = prompts::list(&mut ctx, args.count)?;
    let alive = sessions::list(&ctx).into_iter().filter(AttachedSession::is_alive).map(AttachedSessionJson::from);
    let not_held: String = alive.map(|one| not_saved_in_words(&one)).collect();
    let mut not_saved = not_saved::list(&ctx)?;
    not_saved.truncate(args.count);
    screen.answer(&PromptsJson { prompts: &all, not_saved: &not_saved }, || in_words(&all, &not_saved) + not_held)?;
    Ok(Exit::Done)
}

fn forgotten(args: &PromptsForgetArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    if args.numbers.is_empty() && !args.all {
        return Err(Error::new(Code::Usage, "no prompt is named").hint("git axiom prompts forget --all"));
    }
    let ctx = open(global, screen)?;
    let forgotten = prompts::forget(&ctx, if args.all { None } else { Some(&args.numbers) })?;
    screen.answer(&PromptsForgetJson { forgotten }, || format!("Forgot the text of {}.\n", count(forgotten, "prompt")))?;
    Ok(Exit::Done)
}

fn in_words(all: &[Prompt], not_saved: &[NotSavedPromptLine]) -> StyledText {
    if all.is_empty() && not_saved.is_empty() {
        return "No attached agent was sent a prompt yet.\n".into();
    }
    let mut rows = vec![["PROMPT", "TIME", "AGENT", "CHANGED", "TEXT"].map(StyledCell::from).to_vec()];
    let mut missing = not_saved.iter().peekable();
    let several = all.iter().any(|one| one.session != all[0].session);
    for (place, prompt) in all.iter().enumerate() {
        while let Some(one) = missing.next_if(|one| one.at > prompt.at) {
            rows.push(not_saved_row(one));
        }
        let changed = changed_in_words(prompt);
        let program = agent(prompt, several);
        let is_next = place == 0 && prompt.program == Some(AttachedProgram::Aider) && prompt.files == Some(0);
        let unknown = if is_next { "your next prompt begins here" } else { "-" };
        let text = visible::line(prompt.text.as_deref().unwrap_or(unknown)).into_owned();
        let is_back = prompt.taken_back_by.is_some();
        let changed = StyledCell::of(is_back.then_some(ColoredPart::Faint), if is_back { "taken back" } else { &changed });
        let mut row = [prompt.number.to_string(), words::time(prompt.at), program].map(StyledCell::from).to_vec();
        row.extend([changed, text.into()]);
        rows.push(row);
        for other in &prompt.elsewhere {
            let changed = format!("{} +{} -{}", count(other.files, "file"), other.insertions, other.deletions);
            let mut row = vec![StyledCell::from(""); 3];
            row.extend([
                changed.into(),
                format!("in '{}'", visible::line(inside(&other.worktree, prompt.worktree.as_deref()))).into(),
            ]);
            rows.push(row);
        }
    }
    rows.extend(missing.map(not_saved_row));
    let list = StyledGrid::of(rows).headed().cut(&[4, 3]).may_go(&[2]);
    StyledText::from(list) + "To go back to before one: git axiom rollback --prompt NUMBER\n"
}

fn changed_in_words(prompt: &Prompt) -> String {
    match (prompt.files, prompt.insertions, prompt.deletions) {
        (Some(0), ..) => "nothing".to_owned(),
        (Some(files), Some(added), Some(removed)) => format!("{} +{added} -{removed}", count(files, "file")),
        (_, _, _) => "?".to_owned(),
    }
}

/// The program; with the beginning of its session's id, where there are several.
fn agent(prompt: &Prompt, several: bool) -> String {
    let program = prompt.program.map_or("-", |program| program.as_str());
    let session = prompt.session.as_deref().filter(|_| several);
    let id = session.map(|key| key.strip_prefix(program).unwrap_or(key).trim_start_matches('-'));
    id.map_or_else(|| program.to_owned(), |id| format!("{program} {}", id.chars().take(6).collect::<String>()))
}

fn not_saved_row(one: &NotSavedPromptLine) -> Vec<StyledCell> {
    let text = one.text.as_deref().unwrap_or("-");
    let why = visible::line(&one.why);
    vec![
        "-".into(),
        words::time(one.at).into(),
        one.program.as_str().into(),
        StyledCell::of(ColoredPart::Unprotected, "NOT SAVED"),
        format!("{} ({why})", visible::line(text)).into(),
    ]
}

/// A worktree as it is seen from another one.
fn inside<'w>(worktree: &'w str, from: Option<&str>) -> &'w str {
    let rest = from.and_then(|from| worktree.strip_prefix(from)).and_then(|rest| rest.strip_prefix('/'));
    rest.unwrap_or(worktree)
}

/// Arguments of `sessions`.
#[derive(Debug, Args)]
#[command(after_help = "\
FILES is how many changed in its worktree from its first checkpoint that is kept to the newest.")]
pub struct SessionsArgs {
    /// Those that have ended too
    #[arg(long)]
    all: bool,
}

/// The attached sessions, and the watches.
#[derive(Serialize)]
struct SessionsJson {
    /// Newest activity first; those that have ended only with `--all`.
    sessions: Vec<AttachedSessionJson>,
    /// By worktree.
    watches: Vec<WatchStatus>,
}

/// Lists attached sessions, and the watches of worktrees.
pub fn run_sessions(args: &SessionsArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let ctx = open_with_usable_config(VerbPurpose::Look, global, screen)?;
    let mut shown = Vec::new();
    for mut one in sessions::list(&ctx) {
        if one.excludes.is_some() && one.is_alive() {
            one.sees_excludes(&ctx);
        }
        let files = if args.all || one.is_alive() { session_files::files_changed(&ctx, &one)? } else { continue };
        shown.push(AttachedSessionJson { files, ..AttachedSessionJson::from(one) });
    }
    let watches = watch_record::list(&ctx);
    let text = sessions_in_words(&shown) + watches_in_words(&watches);
    screen.answer(&SessionsJson { sessions: shown, watches }, || text)?;
    Ok(Exit::Done)
}

fn sessions_in_words(shown: &[AttachedSessionJson]) -> StyledText {
    if shown.is_empty() {
        return "No attached session is known.\n".into();
    }
    let mut rows = vec![["AGENT", "STATE", "SINCE", "LAST", "PROMPTS", "FILES", "WORKTREE"].map(StyledCell::from).to_vec()];
    let mut notes = StyledText::new();
    for one in shown {
        let state = match (one.alive, &one.unprotected) {
            (true, None) => "protected",
            (true, Some(_)) => "UNPROTECTED",
            (false, _) => "ended",
        };
        if let Some(why) = one.unprotected.as_ref().filter(|_| one.alive) {
            notes.push(ColoredPart::Unprotected, "UNPROTECTED");
            notes.push_str(&format!(": {}: {}\n", visible::line(one.title()), visible::line(why)));
        }
        for path in &one.outside {
            notes.push_str(&format!("{} edits outside of its worktree: {}\n", visible::line(one.title()), visible::line(path)));
        }
        notes.push_str(&not_saved_in_words(one));
        if let Some(unasked) = one.unasked {
            let commands = count(unasked, "risky command");
            notes.push_str(&format!(
                "{} asked nobody before {commands}: what was saved then may be from after they began\n",
                visible::line(one.title())
            ));
        }
        for change in &one.exclude_changes {
            notes.push_str(&format!(
                "{}: what is left out changed since it began: {}\n",
                visible::line(one.title()),
                visible::line(change)
            ));
        }
        rows.push(vec![
            visible::line(one.agent.as_deref().unwrap_or(one.program.as_str())).into_owned().into(),
            StyledCell::status(state),
            words::time(one.since).into(),
            words::time(one.last_activity).into(),
            one.prompts.to_string().into(),
            one.files.map_or_else(|| "-".to_owned(), |files| files.to_string()).into(),
            one.worktree.as_str().into(),
        ]);
    }
    StyledText::from(StyledGrid::of(rows).headed().cut(&[6]).may_go(&[5, 4, 2])) + notes
}

/// What of a session's worktree is not saved, and the nested repositories in which it edits, a line each.
fn not_saved_in_words(one: &AttachedSessionJson) -> String {
    let not_held = one.not_held.iter().map(|words| format!("{}: {}\n", visible::line(one.title()), visible::line(words)));
    let line = |path: &String| {
        let (title, path) = (visible::line(one.title()), visible::line(path));
        format!("{title} edits in a nested repository that is no submodule, so nothing there is saved: {path}\n")
    };
    not_held.chain(one.nested.iter().map(line)).collect()
}

fn watches_in_words(watches: &[WatchStatus]) -> StyledText {
    if watches.is_empty() {
        return StyledText::new();
    }
    let mut rows = vec![["WATCH", "STATE", "SINCE", "SAVED", "WORKTREE"].map(StyledCell::from).to_vec()];
    let mut notes = StyledText::new();
    for WatchStatus { watcher, alive } in watches {
        let state = match (alive, &watcher.unsaved) {
            (true, None) => "protected",
            (true, Some(_)) => "UNPROTECTED",
            (false, _) => "ended",
        };
        if let Some(why) = watcher.unsaved.as_ref().filter(|_| *alive) {
            notes.push(ColoredPart::Unprotected, "UNPROTECTED");
            notes.push_str(&format!(": the watch could not save: {}\n", visible::line(why)));
        }
        let saved = watcher.last_change.map_or_else(|| "-".to_owned(), words::time);
        let (place, since) = (watcher.worktree.as_str().into(), words::time(watcher.since).into());
        rows.push(vec![watch::in_words(watcher).into(), StyledCell::status(state), since, saved.into(), place]);
    }
    StyledText::from("\n") + StyledGrid::of(rows).headed().cut(&[4, 0]).may_go(&[2]) + notes
}

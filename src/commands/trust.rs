//! `git axiom trust`.

use clap::Args;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::open;
use crate::cli::screen::{Screen, table};
use crate::cli::{visible, words};
use crate::commands::grammar::arguments::Global;
use crate::error::{Code, Error, Exit, Result};
use crate::hook::approvals::{Approval, Approvals};
use crate::hook::difference::{self, Change};
use crate::hook::project_files::{Place, ProjectFile, ProjectFiles};
use crate::ops::context::handle::Context;
use crate::ops::context::trust::{self, Trust as Standing};
use crate::ops::trust::{Effect, effects};

/// Arguments of `trust`.
#[derive(Debug, Args)]
#[command(after_help = "\
The project's files are '.axiom' in the main worktree (config.toml, hooks) and this clone's own
hooks, 'axiom/hooks' in the git directory. Without your approval nothing of them is applied or
run. You approve exactly what is shown: after a change of one byte or mode it is asked again,
and the difference is shown. Hooks and commands of the configuration run as you, outside of any
sandbox of an agent; what they call is the repository's own.

Approvals are in $XDG_STATE_HOME/git-axiom/trust, or below ~/.local/state, and count for this
repository at this path only. Agents cannot approve anything.")]
pub struct Trust {
    /// Only show the files, and whether they are approved
    #[arg(long, group = "what")]
    show: bool,
    /// List everything that you approved
    #[arg(long, group = "what")]
    list: bool,
    /// Take the approval for this repository back
    #[arg(long, group = "what")]
    revoke: bool,
    /// Approve what is shown without asking
    #[arg(long, short, conflicts_with = "what")]
    yes: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TrustAnswer<'a> {
    /// `nothing`, `approved`, `waiting` or `unusable`.
    standing: &'static str,
    digest: Option<String>,
    settings: Vec<SettingView<'a>>,
    /// Why the configuration cannot be applied.
    invalid: Option<String>,
    files: Vec<FileView<'a>>,
}

#[derive(Serialize)]
struct SettingView<'a> {
    key: &'a str,
    value: &'a Value,
    without: &'a Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileView<'a> {
    path: String,
    bytes: usize,
    /// How it differs from what was approved before.
    change: Option<Change>,
    #[serde(flatten)]
    file: Option<&'a ProjectFile>,
}

#[derive(Serialize)]
struct ListAnswer {
    approvals: Vec<ApprovalView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApprovalView {
    repository: String,
    at: Timestamp,
    files: usize,
    digest: String,
}

/// Shows what a project brings with it, and asks whether it may be applied and run.
///
/// # Errors
/// `NOT_FOR_AGENTS`, `NOT_TRUSTED` where the files cannot be approved as they are; `NEEDS_CONFIRMATION`, `DECLINED`;
/// `CONFIG_INVALID` where the configuration is wrong.
pub fn run(args: &Trust, global: &Global, screen: &mut Screen) -> Result<Exit> {
    if args.list {
        return list(screen);
    }
    let ctx = open(global, screen)?;
    if !args.show {
        ctx.for_humans_only("trust")?;
    }
    if args.revoke {
        let was = trust::revoke(&ctx.repo)?;
        screen.answer(&serde_json::json!({ "revoked": was }), || match was {
            true => "Nothing of this project's files is applied or run any more.\n".to_owned(),
            false => "Nothing was approved.\n".to_owned(),
        })?;
        return Ok(Exit::Done);
    }
    let (now, before) = match trust::trust(&ctx.repo) {
        Standing::Nothing => {
            let no_effects = Ok(Vec::new());
            let answer = answer("nothing", None, None, &no_effects);
            screen.answer(&answer, || "There are no project's files: no .axiom, and no hooks of this clone.\n".to_owned())?;
            return Ok(Exit::Done);
        }
        Standing::Unusable { why, .. } => return Err(why),
        Standing::Approved(now) => {
            let effects = effects(&ctx.repo, &now)?;
            let shown = if args.show { in_words(&now, None, &effects) } else { String::new() };
            screen.answer(&answer("approved", Some(&now), Some(&now), &effects), || format!("{shown}Approved as it is.\n"))?;
            return Ok(Exit::Done);
        }
        Standing::Waiting { now, before } => (now, before),
    };
    let before = before.map(|approval: Approval| approval.files());
    let effects = effects(&ctx.repo, &now)?;
    if args.show {
        let answer = answer("waiting", Some(&now), before.as_ref(), &effects);
        screen.answer(&answer, || format!("{}Not approved: git axiom trust\n", in_words(&now, before.as_ref(), &effects)))?;
        return Ok(Exit::Done);
    }
    approve(&ctx, &now, before.as_ref(), effects, args.yes, screen)
}

fn approve(
    ctx: &Context,
    now: &ProjectFiles,
    before: Option<&ProjectFiles>,
    effects: std::result::Result<Vec<Effect>, Error>,
    yes: bool,
    screen: &mut Screen,
) -> Result<Exit> {
    screen.note_text(in_words(now, before, &effects).trim_end());
    // What cannot be applied is not approved: every verb that needs the configuration would fail.
    let effects = Ok(effects?);
    if !yes && !screen.can_ask() {
        return Err(Error::new(Code::NeedsConfirmation, "somebody has to read this, and there is no terminal to ask at")
            .hint("read what 'git axiom trust --show' prints; 'git axiom trust --yes' approves what it prints itself"));
    }
    screen.confirm("Approve exactly this?", yes)?;
    trust::approve(&ctx.repo, now)?;
    screen.answer(&answer("approved", Some(now), before, &effects), || {
        let count = words::count(now.iter().count(), "file");
        format!("Approved {count}. To take it back: git axiom trust --revoke\n")
    })?;
    Ok(Exit::Done)
}

fn answer<'a>(
    standing: &'static str,
    now: Option<&'a ProjectFiles>,
    before: Option<&'a ProjectFiles>,
    effects: &'a std::result::Result<Vec<Effect>, Error>,
) -> TrustAnswer<'a> {
    let nothing = ProjectFiles::default();
    let changes = now.map_or_else(Vec::new, |now| views(now, before.unwrap_or(&nothing)));
    let settings = effects.iter().flatten().map(|one| SettingView { key: &one.key, value: &one.value, without: &one.without });
    TrustAnswer {
        standing,
        digest: now.map(|now| now.digest().as_str().to_owned()),
        settings: settings.collect(),
        invalid: effects.as_ref().err().map(ToString::to_string),
        files: changes,
    }
}

/// The files as they are, and those that are gone.
fn views<'a>(now: &'a ProjectFiles, before: &ProjectFiles) -> Vec<FileView<'a>> {
    let changes = difference::changes(before, now);
    let change = |place: &Place| changes.iter().find(|(changed, _)| *changed == place).map(|(_, change)| *change);
    let here = now.iter().map(|(place, file)| FileView {
        path: place.to_string(),
        bytes: file.content.bytes().len(),
        change: change(place),
        file: Some(file),
    });
    let gone = changes.iter().filter(|(_, change)| *change == Change::Deleted).map(|(place, change)| FileView {
        path: place.to_string(),
        bytes: 0,
        change: Some(*change),
        file: None,
    });
    here.chain(gone).collect()
}

/// All that is to be approved, as text; of what was approved before, only what differs.
fn in_words(now: &ProjectFiles, before: Option<&ProjectFiles>, effects: &std::result::Result<Vec<Effect>, Error>) -> String {
    let mut text = String::new();
    match effects {
        Ok(effects) if effects.is_empty() => {}
        Ok(effects) => {
            text.push_str("The project's configuration sets, also what is run as you:\n");
            let value = |value: &Value| {
                if value.is_null() { "not set".to_owned() } else { visible::line(&value.to_string()).into_owned() }
            };
            let now = |one: &Effect| match (one.counts, one.value == one.without) {
                (true, _) if one.adds => format!("(added to {})", value(&one.without)),
                (true, true) => "(as now)".to_owned(),
                (true, false) => format!("(now {})", value(&one.without)),
                (false, _) => format!("(git config sets {})", value(&one.without)),
            };
            let row = |one: &Effect| vec![format!("  {}", one.key), value(&one.value), now(one)];
            text.push_str(&table(&effects.iter().map(row).collect::<Vec<_>>()));
            text.push('\n');
        }
        Err(error) => text.push_str(&format!("The project's configuration cannot be applied: {error}\n\n")),
    }
    match before {
        None => now.iter().for_each(|(place, file)| text.push_str(&whole(place, file))),
        Some(before) => {
            text.push_str("Since you approved it:\n\n");
            for (place, change) in difference::changes(before, now) {
                text.push_str(&changed(place, change, before.get(place), now.get(place)));
            }
        }
    }
    text
}

/// A file with its content. Every line is set in, so that none can look like one of ours.
fn whole(place: &Place, file: &ProjectFile) -> String {
    let kind = if file.executable { "executable" } else { "not executable" };
    let size = words::count(file.content.bytes().len(), "byte");
    format!("{} ({kind}, {size}):\n{}\n", visible::line(&place.to_string()), set_in(&visible::bytes(file.content.bytes())))
}

fn changed(place: &Place, change: Change, before: Option<&ProjectFile>, now: Option<&ProjectFile>) -> String {
    match (change, before, now) {
        (Change::Added, _, Some(now)) => format!("added: {}", whole(place, now)),
        (Change::Modified, Some(before), Some(now)) => {
            let mode = if before.executable == now.executable { "" } else { ", executable or not differs too" };
            let name = visible::line(&place.to_string()).into_owned();
            match difference::lines(before, now) {
                Some(lines) => format!("modified{mode}: {name}\n{}\n", set_in(&visible::text(&lines))),
                None => format!("modified{mode}: {}", whole(place, now)),
            }
        }
        (Change::ModeChanged, _, Some(now)) => {
            let is = if now.executable { "executable" } else { "not executable" };
            format!("{}: now {is}\n\n", visible::line(&place.to_string()))
        }
        (change, _, _) => format!("{}: {}\n\n", change.word(), visible::line(&place.to_string())),
    }
}

fn set_in(text: &str) -> String {
    text.lines().map(|line| format!("  | {line}\n")).collect()
}

fn list(screen: &mut Screen) -> Result<Exit> {
    let all = Approvals::of_user()?.all()?;
    let view = |approval: &Approval| {
        let files = approval.files();
        ApprovalView {
            repository: approval.of.repository.clone(),
            at: approval.at,
            files: files.iter().count(),
            digest: files.digest().as_str().to_owned(),
        }
    };
    let answer = ListAnswer { approvals: all.iter().map(view).collect() };
    screen.answer(&answer, || match answer.approvals.as_slice() {
        [] => "You approved nothing.\n".to_owned(),
        approvals => {
            let mut rows = vec![["REPOSITORY", "FILES", &words::time_heading("APPROVED")].map(String::from).to_vec()];
            let row = |one: &ApprovalView| vec![one.repository.clone(), one.files.to_string(), words::time(one.at)];
            rows.extend(approvals.iter().map(row));
            table(&rows)
        }
    })?;
    Ok(Exit::Done)
}

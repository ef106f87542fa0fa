//! `git axiom trust`.

use clap::Args;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::open;
use crate::cli::grid::StyledGrid;
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::cli::{visible, words};
use crate::commands::grammar::arguments::GlobalArgs;
use crate::wording::trust::{ApprovalText, QUESTION, approved, session_goes_by};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::forms::nearest;
use axiom_safety::context::handle::Context;
use axiom_safety::context::trust;
use axiom_safety::context::trust::ProjectTrust;
use axiom_safety::project_hooks::approvals::{Approval, ApprovalFolder};
use axiom_safety::project_hooks::difference;
use axiom_safety::project_hooks::difference::ProjectFileChange;
use axiom_safety::project_hooks::project_files::{ProjectFile, ProjectFilePath, ProjectFiles};
use axiom_safety::settings::trust::{ProjectSettingEffect, effects};

/// Arguments of `trust`.
#[derive(Debug, Args)]
#[command(after_help = "\
The project's files are '.axiom' in the main worktree (config.toml, hooks) and this clone's own
hooks, 'axiom/hooks' in the git directory. Without your approval nothing of them is applied or
run. You approve exactly what is shown: after a change of one byte or mode it is asked again,
and the difference is shown. Hooks and commands of the configuration run as you, outside of any
sandbox of an agent; what they call is the repository's own.

What is longer than 200 lines is counted by file on a terminal, and shown in your pager if you
want to see it (git var GIT_PAGER).

Approvals are in $XDG_STATE_HOME/git-axiom/trust, or below ~/.local/state, and count for this
repository at this path only. Agents cannot approve anything.")]
pub struct TrustArgs {
    /// Only show the files, and whether they are approved
    #[arg(long, group = "what")]
    show: bool,
    /// List everything that you approved
    #[arg(long, group = "what")]
    list: bool,
    /// Take the approval for this repository back, or for the one at PATH, as --list shows it
    #[arg(long, group = "what", value_name = "PATH", num_args = 0..=1)]
    #[expect(clippy::option_option)] // without a path, and without the option
    revoke: Option<Option<String>>,
    /// Approve what is shown without asking
    #[arg(long, short, conflicts_with = "what")]
    yes: bool,
}

/// What the project brings, and whether it is approved.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TrustJson<'a> {
    /// `nothing` (the project brings no files), `approved` or `waiting`.
    standing: &'static str,
    /// The SHA-256 of places, modes and contents.
    digest: Option<String>,
    /// What the project's configuration sets.
    settings: Vec<TrustSettingJson<'a>>,
    /// Why the configuration cannot be applied.
    invalid: Option<String>,
    files: Vec<TrustedFileJson<'a>>,
}

/// A key that the project's configuration sets.
#[derive(Serialize)]
struct TrustSettingJson<'a> {
    key: &'a str,
    /// In the project's configuration.
    value: &'a Value,
    /// Without it.
    without: &'a Value,
    /// Whether `value` is added to the list `without`, and does not replace it.
    adds: bool,
}

/// One of the project's files.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TrustedFileJson<'a> {
    path: String,
    bytes: usize,
    /// How it differs from what was approved last.
    change: Option<ProjectFileChange>,
    #[serde(flatten)]
    file: Option<&'a ProjectFile>,
}

/// An approval that was taken back.
#[derive(Serialize)]
struct TrustRevokeJson {
    /// Whether there was an approval; always with a path, since a path without one is an error.
    revoked: bool,
}

/// What you approved.
#[derive(Serialize)]
struct ApprovalListJson {
    approvals: Vec<ApprovalJson>,
}

/// An approval.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApprovalJson {
    /// The common git directory.
    repository: String,
    at: Timestamp,
    files: usize,
    /// Of places, modes and contents.
    digest: String,
}

/// Shows what a project brings with it, and asks whether it may be applied and run.
pub fn run(args: &TrustArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    if args.list {
        return list(screen);
    }
    if let Some(Some(path)) = &args.revoke {
        return revoke_at(path, screen);
    }
    let mut ctx = open(global, screen)?;
    if args.revoke.is_some() {
        let was = trust::revoke(&ctx.repo)?;
        screen.answer(&TrustRevokeJson { revoked: was }, || match was {
            true => "Nothing of this project's files is applied or run any more.\n".to_owned(),
            false => "Nothing was approved.\n".to_owned(),
        })?;
        session_goes_by(&ctx.repo).into_iter().for_each(|note| screen.note(note));
        return Ok(Exit::Done);
    }
    super::init::tell_of_commit_hooks(&mut ctx, screen)?;
    let (now, before) = match trust::trust(&ctx.repo) {
        ProjectTrust::Nothing => {
            let no_effects = Ok(Vec::new());
            let answer = answer("nothing", None, None, &no_effects);
            screen.answer(&answer, || "There are no project's files: no .axiom, and no hooks of this clone.\n".to_owned())?;
            return Ok(Exit::Done);
        }
        ProjectTrust::Unusable { why, .. } => return Err(why),
        ProjectTrust::Approved(now) => {
            let effects = effects(&ctx.repo, &now)?;
            let shown = if args.show { ApprovalText::new(&now, None, &effects).all() } else { String::new() };
            screen.answer(&answer("approved", Some(&now), Some(&now), &effects), || {
                StyledText::verbatim(&shown) + "Approved as it is.\n"
            })?;
            return Ok(Exit::Done);
        }
        ProjectTrust::Waiting { now, before } => (now, before),
    };
    let before = before.map(|approval: Approval| approval.files());
    let effects = effects(&ctx.repo, &now)?;
    if args.show {
        let answer = answer("waiting", Some(&now), before.as_ref(), &effects);
        let all = ApprovalText::new(&now, before.as_ref(), &effects).all();
        screen.answer(&answer, || StyledText::verbatim(&all) + "Not approved: git axiom trust\n")?;
        return Ok(Exit::Done);
    }
    let exit = approve(&ctx, &now, before.as_ref(), effects, args.yes, screen)?;
    session_goes_by(&ctx.repo).into_iter().for_each(|note| screen.note(note));
    Ok(exit)
}

fn approve(
    ctx: &Context,
    now: &ProjectFiles,
    before: Option<&ProjectFiles>,
    effects: std::result::Result<Vec<ProjectSettingEffect>, Error>,
    yes: bool,
    screen: &mut Screen,
) -> Result<Exit> {
    let told = ApprovalText::new(now, before, &effects);
    // Where nobody can page it, all of it is printed.
    let long = told.is_long().filter(|_| !yes && screen.can_ask() && screen.terminal().is_shown());
    // What is approved is read as it is.
    screen.note_verbatim(long.map_or_else(|| told.all(), |lines| told.summary(lines)).trim_end());
    // What cannot be applied is not approved: every verb that needs the configuration would fail.
    let effects = Ok(effects?);
    if !yes && !screen.can_ask() {
        return Err(Error::new(Code::NeedsConfirmation, "somebody has to read this, and there is no terminal to ask at")
            .hint("read what 'git axiom trust --show' prints; 'git axiom trust --yes' approves what it prints itself"));
    }
    if let Some(lines) = long {
        offer_all(&told, lines, screen)?;
    }
    screen.confirm(QUESTION, yes)?;
    trust::approve(&ctx.repo, now)?;
    screen.answer(&answer("approved", Some(now), before, &effects), || approved(now))?;
    Ok(Exit::Done)
}

/// Shows all of a long text before the question, if the user wants to see it.
fn offer_all(told: &ApprovalText, lines: usize, screen: &mut Screen) -> Result<()> {
    match screen.confirm(&format!("Show all {} first?", words::count(lines, "line")), false) {
        Ok(()) => {
            let all = told.all();
            if !screen.terminal().shows_in_pager(&visible::text(&all)) {
                screen.note_verbatim(all.trim_end());
            }
            Ok(())
        }
        Err(error) if error.code() == Code::Declined => Ok(()),
        Err(error) => Err(error),
    }
}

fn answer<'a>(
    standing: &'static str,
    now: Option<&'a ProjectFiles>,
    before: Option<&'a ProjectFiles>,
    effects: &'a std::result::Result<Vec<ProjectSettingEffect>, Error>,
) -> TrustJson<'a> {
    let nothing = ProjectFiles::default();
    let changes = now.map_or_else(Vec::new, |now| views(now, before.unwrap_or(&nothing)));
    let settings = effects.iter().flatten().map(|one| TrustSettingJson {
        key: &one.key,
        value: &one.value,
        without: &one.without,
        adds: one.adds,
    });
    TrustJson {
        standing,
        digest: now.map(|now| now.digest().as_str().to_owned()),
        settings: settings.collect(),
        invalid: effects.as_ref().err().map(ToString::to_string),
        files: changes,
    }
}

/// The files as they are, and those that are gone.
fn views<'a>(now: &'a ProjectFiles, before: &ProjectFiles) -> Vec<TrustedFileJson<'a>> {
    let changes = difference::changes(before, now);
    let change = |place: &ProjectFilePath| changes.iter().find(|(changed, _)| *changed == place).map(|(_, change)| *change);
    let here = now.iter().map(|(place, file)| TrustedFileJson {
        path: place.to_string(),
        bytes: file.content.bytes().len(),
        change: change(place),
        file: Some(file),
    });
    let gone = changes
        .iter()
        .filter(|(_, change)| *change == ProjectFileChange::Deleted)
        .map(|(place, change)| TrustedFileJson { path: place.to_string(), bytes: 0, change: Some(*change), file: None });
    here.chain(gone).collect()
}

/// Takes the approval for another repository back; that one may be gone.
fn revoke_at(path: &str, screen: &mut Screen) -> Result<Exit> {
    let approvals = ApprovalFolder::of_user()?;
    let all = approvals.all()?;
    let is_meant = |one: &&Approval| {
        let listed = &one.of.repository;
        listed == path || visible::line(listed) == path || *listed == format!("{}/.git", path.trim_end_matches('/'))
    };
    let meant: Vec<&Approval> = all.iter().filter(is_meant).collect();
    if meant.is_empty() {
        let error = Error::new(Code::InvalidInput, format!("nothing is approved for '{path}'"));
        let known = all.iter().map(|one| one.of.repository.as_str());
        return Err(nearest::hinted(error, path, known, "git axiom trust --list    shows what is approved"));
    }
    // Repositories with other ids may have been at the same path.
    for one in meant {
        approvals.remove(&one.of)?;
    }
    screen.answer(&TrustRevokeJson { revoked: true }, || {
        format!("Nothing of the project's files of '{path}' is applied or run any more.\n")
    })?;
    Ok(Exit::Done)
}

fn list(screen: &mut Screen) -> Result<Exit> {
    let all = ApprovalFolder::of_user()?.all()?;
    let view = |approval: &Approval| {
        let files = approval.files();
        ApprovalJson {
            repository: approval.of.repository.clone(),
            at: approval.at,
            files: files.iter().count(),
            digest: files.digest().as_str().to_owned(),
        }
    };
    let answer = ApprovalListJson { approvals: all.iter().map(view).collect() };
    screen.answer(&answer, || match answer.approvals.as_slice() {
        [] => StyledText::from("You approved nothing.\n"),
        approvals => {
            let mut rows = vec![["REPOSITORY", "FILES", "APPROVED"].map(String::from).to_vec()];
            let row = |one: &ApprovalJson| vec![one.repository.clone(), one.files.to_string(), words::time(one.at)];
            rows.extend(approvals.iter().map(row));
            StyledGrid::of(rows).headed().cut(&[0]).into()
        }
    })?;
    Ok(Exit::Done)
}

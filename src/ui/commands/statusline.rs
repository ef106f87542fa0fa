//! `git axiom statusline`: one line for tmux, a prompt of a shell, or the status line of an agent program. It waits for no lock and ends
//! with status 0 whatever happens: whoever shows it shows nothing else in its place.

use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{VerbPurpose, working_dir};
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_agents::supervise::status;
use axiom_agents::supervise::status::StatusDocument;
use axiom_base::env;
use axiom_base::error::{Exit, Result};
use axiom_model::base::forms::plural::{count, count_of};
use axiom_model::queries::project::LiveSessionStatus;
use axiom_safety::attach::sessions::AttachedSessionJson;
use axiom_safety::opening;

/// How long what comes on standard input is waited for.
const PATIENCE: Duration = Duration::from_millis(300);
/// How many bytes of it are read.
const MOST: u64 = 64 * 1024;

/// Arguments of `statusline`.
#[derive(Debug, Args)]
#[command(after_help = "\
Says whether the agent that you run in this worktree is saved, what a session does, and what
waits for you; an empty line outside of repositories, and where there is nothing to say. On
standard input it takes what Claude Code gives to a status line, and speaks of that session.

tmux           set -g status-right '#(git -C #{q:pane_current_path} axiom statusline)'
bash, zsh      PS1='$(git axiom statusline)'\"$PS1\"
starship       [custom.axiom]
               command = 'git axiom statusline'
               when = true
Claude Code    \"statusLine\": {\"type\": \"command\", \"command\": \"git axiom statusline\"}")]
pub struct StatuslineArgs {}

/// One line for a prompt or a status bar.
#[derive(Serialize)]
struct StatuslineJson {
    /// The line; empty outside of repositories.
    line: String,
}

/// What Claude Code says of itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ProgramStatusInput {
    session_id: Option<String>,
    cwd: Option<PathBuf>,
    workspace: ProgramWorkspaceInput,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ProgramWorkspaceInput {
    current_dir: Option<PathBuf>,
}

/// Prints the line.
pub fn run(_: &StatuslineArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let line = line(global).unwrap_or_default();
    screen.answer(&StatuslineJson { line: line.clone() }, || format!("{line}\n"))?;
    Ok(Exit::Done)
}

fn line(global: &GlobalArgs) -> Option<String> {
    let here = working_dir(global).ok()?;
    let given = given();
    let folder = given.as_ref().and_then(|given| given.workspace.current_dir.clone().or_else(|| given.cwd.clone()));
    let ctx = opening::open(&folder.unwrap_or(here), VerbPurpose::Look).ok()?;
    let report = status::status(&ctx, env::now()).ok()?;
    let worktree = ctx.repo.worktrees().current_worktree().and_then(|here| here.path_text()).ok();
    let of_program = given.as_ref().and_then(|given| given.session_id.as_deref());
    let parts = protection(&report.attached.sessions, worktree.as_deref(), of_program).into_iter().chain(control(&report));
    Some(parts.collect::<Vec<_>>().join(" · "))
}

/// What a program gives on standard input, if one does.
fn given() -> Option<ProgramStatusInput> {
    if std::io::stdin().is_terminal() {
        return None;
    }
    let (to, from) = mpsc::channel();
    let read = move || {
        let mut text = Vec::new();
        if std::io::stdin().take(MOST).read_to_end(&mut text).is_ok() {
            // Nobody waits any more.
            let _ = to.send(text);
        }
    };
    std::thread::Builder::new().spawn(read).ok()?;
    serde_json::from_slice(&from.recv_timeout(PATIENCE).ok()?).ok()
}

/// Whether the prompts of the program that asks, or of the last one in this worktree, are saved.
fn protection(sessions: &[AttachedSessionJson], worktree: Option<&str>, of_program: Option<&str>) -> Option<String> {
    let is_asked = |one: &&AttachedSessionJson| match of_program {
        Some(id) => one.id.ends_with(id),
        None => Some(one.worktree.as_str()) == worktree,
    };
    match (sessions.iter().find(is_asked), of_program) {
        (Some(one), _) if one.unprotected.is_some() => Some("UNPROTECTED".to_owned()),
        (Some(one), _) => Some(format!("protected, {}", count(one.prompts, "prompt"))),
        (None, Some(_)) => Some("not protected".to_owned()),
        (None, None) => None,
    }
}

/// What a session does, and what waits for a human.
fn control(report: &StatusDocument) -> Vec<String> {
    let working = report.agents.iter().filter(|agent| agent.works()).count();
    let mut parts = Vec::new();
    if report.session.state != LiveSessionStatus::Idle {
        let agents = if working > 0 { format!(", {}", count(working, "agent")) } else { String::new() };
        parts.push(format!("{}{agents}", report.session.state.as_str()));
    }
    if !report.gates.is_empty() {
        parts.push(count_of(report.gates.len(), "waits for you", "wait for you"));
    }
    if !report.stuck.is_empty() {
        parts.push(format!("{} stuck", report.stuck.len()));
    }
    if report.recovery.needed {
        parts.push("git axiom recover".to_owned());
    }
    parts
}

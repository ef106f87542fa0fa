//! `git axiom agents check`.

use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::super::open_configured_for;
use crate::cli::screen::Screen;
use crate::cli::{visible, words};
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_agents::agent_list::CHECK_LIMIT;
use axiom_agents::agent_list::check::{AgentCheckReport, check};
use axiom_agents::supervise::{InterruptCounter, longest_end};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::work::verifying::agent_check::AgentCheckFinding;
use axiom_safety::context::placement::VerbPurpose;

/// Arguments of `agents check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Makes a repository in the temporary folder, has the program work there on one small task, as
'git axiom run' would, and removes it again: at most 3 minutes. It costs the tokens of a few
requests to the program's model.

Says what is missing, and what to do next: the program is not found, is not signed in, does not
trust a new folder, refuses a tool, writes or reports nothing; its commands find another
git-axiom first; the model's service refuses. Exits with 0 if all is well.")]
pub struct AgentsCheckArgs {
    /// An agent program: a preset, or the NAME of [agents.NAME]
    name: String,
}

/// Whether an agent program can work; with `error` where something is missing.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentsCheckJson<'a> {
    agent: &'a str,
    /// Where the program was found.
    path: Option<String>,
    /// Whether nothing is missing.
    ok: bool,
    /// What is missing.
    findings: Vec<AgentsCheckFindingJson>,
    /// Seconds.
    duration: f64,
    /// What the check used; null: unknown.
    tokens: Option<u64>,
    /// What it cost.
    cost_usd: Option<f64>,
}

/// Something that is missing.
#[derive(Serialize)]
struct AgentsCheckFindingJson {
    /// `programNotFound`, `notSignedIn`, `folderNotTrusted`, `toolDenied`, `modelBusy`, `otherGitAxiom`, `noSignal`, `nothingWritten`, `timeLimit`, `asked` or `failed`.
    finding: &'static str,
    /// What is the matter.
    says: String,
    /// What to do.
    next: String,
}

/// Tries an agent program.
pub(super) fn run(args: &AgentsCheckArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let ctx = open_configured_for(VerbPurpose::Look, global, Vec::new(), screen)?;
    let config = ctx.config;
    let name = args.name.as_str();
    let most = words::count_of(CHECK_LIMIT.as_secs() / 60, "minute", "minutes");
    screen.note(&format!("'{}' works on a small task in a scratch repository, at most {most}", visible::line(name)));
    // The check ends soon and then removes what it made: it is never left at once.
    let interrupts = InterruptCounter::install(|_| {}, |_| {}, longest_end(config.agents.grace_seconds))?;
    let begun = Instant::now();
    let checked = check(&config, name, &interrupts)?;
    let answer = answer(name, &checked, begun.elapsed().as_secs_f64());
    if checked.findings.is_empty() {
        screen.answer(&answer, || in_words(&answer))?;
        return Ok(Exit::Done);
    }
    let found = words::count_of(checked.findings.len(), "thing is", "things are");
    let hints: Vec<String> = checked.findings.iter().map(|finding| finding.next(name)).collect();
    let error = Error::new(Code::AgentFailed, format!("'{name}' is not ready: {found} missing"));
    let error = hints.into_iter().fold(error, Error::hint);
    screen.answer_with(&answer, &error, || in_words(&answer))?;
    Err(error)
}

fn answer<'a>(name: &'a str, checked: &AgentCheckReport, duration: f64) -> AgentsCheckJson<'a> {
    let view = |finding: &AgentCheckFinding| AgentsCheckFindingJson {
        finding: finding.name(),
        says: finding.in_words(),
        next: finding.next(name),
    };
    AgentsCheckJson {
        agent: name,
        path: checked.path.as_ref().map(|path| path.display().to_string()),
        ok: checked.findings.is_empty(),
        findings: checked.findings.iter().map(view).collect(),
        duration,
        tokens: checked.report.as_ref().and_then(|report| report.tokens),
        cost_usd: checked.report.as_ref().and_then(|report| report.cost_usd),
    }
}

fn in_words(answer: &AgentsCheckJson<'_>) -> String {
    let name = visible::line(answer.agent);
    if answer.ok {
        let tokens = answer.tokens.map(|tokens| format!(", {tokens} tokens")).unwrap_or_default();
        return format!("{name} is ready: it did a small task and reported that ({:.0} s{tokens}).\n", answer.duration);
    }
    let lines = answer.findings.iter().map(|finding| format!("{name}: {}\n", visible::line(&finding.says)));
    lines.collect()
}

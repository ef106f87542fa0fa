//! `git axiom status`.

use std::time::Duration;

use clap::Args;

use super::{look, watch};
use crate::cli::grid::{StyledCell, StyledGrid};
use crate::cli::prompt::watch::{KeyWaitEnd, KeyWatcher};
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::cli::{visible, words};
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_agents::supervise::status;
use axiom_agents::supervise::status::{AgentStatusJson, DelayedTaskJson, MergeQueueJson, StatusDocument, StuckTaskJson};
use axiom_base::env;
use axiom_base::error::{Code, Error, Exit, Result, some_of};
use axiom_model::base::forms::times;
use axiom_model::base::ids::TaskId;
use axiom_model::base::screen_colors::ColoredPart;
use axiom_model::queries::gate_line::{OpenGateDecisionJson, OpenGateJson};
use axiom_model::queries::project::LiveSessionStatus;
use axiom_model::work::gates::gate::{first_command, to_settle_first};
use axiom_model::work::iteration::ReviewCause;
use axiom_model::work::money::amounts::thousands;
use axiom_model::work::usd::Usd;
use axiom_safety::attach::attach_status::AttachStatus;
use axiom_safety::attach::watching::watch_record::WatchStatus;
use axiom_safety::context::configure;
use axiom_safety::context::conflict_notes::RevertConflictWorktree;

/// How often `--watch` checks for changes.
const INTERVAL: Duration = Duration::from_millis(500);

/// How many characters of a phase the table shows.
const LONGEST_PHASE: usize = 24;
/// How many characters of an agent's last line are shown.
const LONGEST_LINE: usize = 52;
/// How much of the cause of a failure is shown, in characters: it is what decides what to do.
const LONGEST_CAUSE: usize = 300;
/// How many tasks that do not go on are shown.
const MOST_STUCK: usize = 5;

/// Arguments of `status`.
#[derive(Debug, Args)]
#[command(after_help = "\
Says whether a supervisor runs, what each agent does, how many tasks are in which status, what
waits for you, and whether something has to be recovered. PARTS, PHASE and PROGRESS are what the
agent reports, TIME is since its task was claimed (until it began to wait for you, or its
program ended and its work is stored or no session runs; of a dead one, with +, the least that
it worked), HEARD is when something was last heard of it. 'Now' has the lines that were added
and removed in its workspace when its session captured it last, and its last line. Takes no lock
and changes nothing.

--watch needs a terminal to draw on; with --json it needs none, and prints one document for each
change, a line each.")]
pub struct StatusArgs {
    /// Keep showing it as it changes, until 'q' or Ctrl+C
    #[arg(long)]
    watch: bool,
}

/// Shows the status once, or again after each change.
pub fn run(args: &StatusArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    if args.watch && !screen.wants_json() && !screen.terminal().is_shown() {
        return Err(Error::new(Code::Usage, "--watch draws on a terminal, and standard output is not one")
            .hint("git axiom status    shows it once")
            .hint("git axiom status --watch --json    prints a document, on one line, for each change"));
    }
    let mut ctx = look(global, screen)?;
    if !args.watch {
        let report = StatusDocument { configuration: configure::problem(&ctx.repo), ..status::status(&ctx, env::now())? };
        screen.answer(&report, || in_words(&report))?;
        return Ok(Exit::Done);
    }
    let mut watching = KeyWatcher::begin();
    let mut last = None;
    let configuration = configure::problem(&ctx.repo);
    loop {
        let report = StatusDocument { configuration: configuration.clone(), ..status::status(&ctx, env::now())? };
        let agents = |agent: &AgentStatusJson| (agent.state, agent.doing.clone(), agent.last_line.clone());
        let agents: Vec<_> = report.agents.iter().map(agents).collect();
        let seen = (report.session.metadata.events, report.supervisor.alive, report.attached.clone(), report.doing.clone());
        let seen = (seen, agents, report.recovery.reasons.clone(), report.lost_merges.clone());
        if last.as_ref() != Some(&seen) || !screen.wants_json() {
            screen.clear()?;
            screen.answer(&report, || in_words(&report) + watching.way_out())?;
            last = Some(seen);
        }
        if screen.reader_is_gone() {
            return Ok(Exit::Done);
        }
        match watching.wait(INTERVAL) {
            KeyWaitEnd::Elapsed | KeyWaitEnd::Redraw => drop(ctx.store.refresh()?),
            KeyWaitEnd::Quit => return Ok(Exit::Done),
            KeyWaitEnd::Interrupted => return Ok(Exit::Interrupted),
        }
    }
}

fn waiting_for_you(report: &StatusDocument) -> StyledText {
    if report.gates.is_empty() {
        return StyledText::new();
    }
    let row = |gate: &OpenGateJson| vec![gate.id.clone(), gate.reason.clone(), first_command(gate.kind, &gate.id, &gate.reason)];
    let mut text = heading(ColoredPart::Waiting, "Waiting for you:");
    // The command names the gate too.
    let list = StyledGrid::of(report.gates.iter().map(row)).cut(&[1]).at_least(32).may_go(&[0]);
    text.push_grid(list.indented(2));
    // Approving alone would open it again.
    for (gate, first) in report.gates.iter().filter_map(|gate| Some((gate, to_settle_first(&gate.reason)?))) {
        text.push_str(&format!("  {}: {}\n", gate.id, visible::line(&first)));
    }
    // What a hook said is why.
    for gate in report.gates.iter().filter(|gate| gate.details.cause == Some(ReviewCause::HookVeto)) {
        let said = gate.details.notes.last().map(|line| format!("  {} said: {}\n", gate.id, visible::line(line)));
        text.push_str(&said.unwrap_or_default());
    }
    text
}

fn in_words(report: &StatusDocument) -> StyledText {
    let session = &report.session;
    let begin = match (&session.metadata.target, session.state) {
        (Some(target), state) if state != LiveSessionStatus::Idle => {
            let by = report.supervisor.pid.map_or_else(String::new, |pid| format!(", supervisor {pid}"));
            let ran = match session.time_used_ms {
                0 => String::new(),
                _ => format!("; agents ran {}", time_used(report)),
            };
            format!("Session {}, {} into {target}{by}{ran}.\n", state.as_str(), session.mode)
        }
        // The session in which they were paused may have ended as it was, or crashed since it was taken up again.
        (_, _) if session.set_aside > 0 => format!(
            "No session runs; mode {}. 'git axiom run' goes on with {} that a pause left.\n",
            session.mode,
            words::count_of(session.set_aside as u64, "task", "tasks")
        ),
        (_, _) => format!("No session runs; mode {}.\n", session.mode),
    };
    let mut text = StyledText::from(begin);
    text.append(tasks_in_words(report));
    if let Some(used) = session_budget(report) {
        text.push_str(&format!("Budget of the session: {used}.\n"));
    }
    if !report.agents.is_empty() {
        text.push_str("\n");
        let heading = ["AGENT", "STATE", "TASK", "ITERATION", "PROGRESS", "PARTS", "PHASE", "TIME", "HEARD", "TITLE"];
        let mut rows = vec![heading.map(StyledCell::from).to_vec()];
        rows.extend(report.agents.iter().map(agent_row));
        text.push_grid(StyledGrid::of(rows).headed().cut(&[6, 9, 2]).may_go(&[5, 4, 6, 7, 3, 8]));
        text.append(now(&report.agents));
        let rows = report.agents.iter().filter_map(|agent| Some(vec![agent.id.clone(), agent.budget.clone()?]));
        let rows: Vec<_> = rows.collect();
        if !rows.is_empty() {
            text.push_str("\nBudgets:\n");
            text.push_grid(StyledGrid::of(rows).indented(2));
        }
    }
    if !report.doing.is_empty() {
        text.push_str("\nBeing done:\n");
        let now = env::now();
        report.doing.iter().for_each(|doing| text.push_str(&format!("  {}\n", visible::line(&doing.in_words(now)))));
    }
    text.append(waiting_for_you(report));
    text.append(decided_in_words(report));
    text.push_str(&to_merge_in_words(report));
    text.push_str(&lost_in_words(report));
    if let Some(why) = &report.configuration {
        let why = visible::line(why);
        text.push_str(&format!("\nThe configuration is not as it is written: {why}; see 'git axiom config check'.\n"));
    }
    text.append(stuck_in_words(&report.stuck));
    if !report.delays.is_empty() {
        text.push_str("\nTried again by itself:\n");
        let rows = report.delays.iter().map(|one| vec![one.task_id.to_string(), one.delay.in_words(), since(one)]);
        text.push_grid(StyledGrid::of(rows).cut(&[2, 1]).indented(2));
    }
    for one in &report.settling {
        let RevertConflictWorktree { task_id, path, resolve, target: _ } = one;
        text.push_str(&format!("\nThe rollback of {task_id} has a conflict to resolve in {path}.\n"));
        text.push_str(&format!("  Then: {resolve}\n"));
    }
    if report.recovery.needed {
        text.push_str(&format!("\n{}", report.recovery.in_words()));
    }
    if let (Some(action), Some(at)) = (&session.last_action, session.last_action_at) {
        text.push_str(&format!("\nLast: {action}, {}.\n", words::time(at)));
    }
    text + attached_in_words(&report.attached)
}

/// How many tasks are in which status.
fn tasks_in_words(report: &StatusDocument) -> StyledText {
    let (tasks, progress) = (&report.tasks, &report.progress);
    // Nobody works on these any more, and nothing has recovered them yet.
    let dead = u32::try_from(report.cut_off().len()).unwrap_or(u32::MAX);
    let merges_at_gates = match progress.done_at_gates {
        0 => String::new(),
        number => format!(", {number} at gates"),
    };
    let lost = match report.lost_merges.len() {
        0 => String::new(),
        number => format!(", {number} no longer"),
    };
    let cut_off = if dead > 0 { format!(", {dead} interrupted") } else { String::new() };
    let mut text = StyledText::from(format!(
        "Tasks: {} pending ({} ready, {} at gates, {} waiting), {} active{cut_off}, {} done ({} merged{lost}{merges_at_gates}), {} blocked, ",
        tasks.pending,
        progress.ready,
        progress.at_gates,
        progress.waiting,
        tasks.active.saturating_sub(dead),
        tasks.done,
        progress.merged,
        tasks.blocked,
    ));
    text.push((tasks.failed > 0).then_some(ColoredPart::Failed), &format!("{} failed", tasks.failed));
    text + ".\n"
}

/// What a human has decided and is not carried out yet.
fn decided_in_words(report: &StatusDocument) -> StyledText {
    if report.decided.is_empty() {
        return StyledText::new();
    }
    let by = if report.supervisor.alive { String::new() } else { format!("by '{}', ", report.decided_by) };
    let row = |gate: &OpenGateJson| {
        let decision = gate.decision.as_ref().map(OpenGateDecisionJson::in_words).unwrap_or_default();
        vec![gate.id.clone(), gate.reason.clone(), decision]
    };
    let list = StyledGrid::of(report.decided.iter().map(row)).cut(&[1, 2]).indented(2);
    StyledText::from(format!("\nDecided, and carried out {by}as soon as that is possible:\n")) + list
}

/// Who is done and waits to be merged.
fn to_merge_in_words(report: &StatusDocument) -> String {
    let one = |one: &MergeQueueJson| match one.after.as_slice() {
        [] => one.task_id.to_string(),
        before => format!("{} (after {})", one.task_id, some_of(before, MOST_STUCK)),
    };
    let all: Vec<String> = report.to_merge.iter().map(one).collect();
    if all.is_empty() { String::new() } else { format!("\nDone, to be merged: {}\n", some_of(&all, MOST_STUCK)) }
}

/// What was merged, and was taken out of the target by git alone.
fn lost_in_words(report: &StatusDocument) -> String {
    let ids: Vec<String> = report.lost_merges.iter().map(TaskId::to_string).collect();
    match ids.as_slice() {
        [] => String::new(),
        [first, ..] => {
            let all = some_of(&ids, MOST_STUCK);
            format!("\nMerged, and no longer in the target: {all}. More: git axiom task show {first}\n")
        }
    }
}

/// The tasks that failed or are blocked, with the reason, and what can be done.
fn stuck_in_words(stuck: &[StuckTaskJson]) -> StyledText {
    let Some(first) = stuck.first() else { return StyledText::new() };
    let row = |one: &StuckTaskJson| {
        let reason = one.reason.as_deref().and_then(|reason| reason.lines().next()).unwrap_or("-");
        vec![one.task_id.as_str().into(), StyledCell::status(one.status.to_string()), short(reason, LONGEST_CAUSE).into()]
    };
    let mut text = heading(ColoredPart::Failed, "Not going on:");
    text.push_grid(StyledGrid::of(stuck.iter().take(MOST_STUCK).map(row)).indented(2).folded());
    if stuck.len() > MOST_STUCK {
        text.push_str(&format!("  and {} more: git axiom task list\n", stuck.len() - MOST_STUCK));
    }
    first.commands.iter().for_each(|command| text.push_str(&format!("  {command}\n")));
    text
}

/// How long agents have run in the session.
fn time_used(report: &StatusDocument) -> String {
    let least = if report.session.time_used_is_least { "at least " } else { "" };
    format!("{least}{}", times::short_span(report.session.time_used_ms))
}

/// What a session with limits may use, and has used.
fn session_budget(report: &StatusDocument) -> Option<String> {
    let of = &report.session;
    let limits = of.limits.filter(|limits| !limits.is_empty() && report.session.state != LiveSessionStatus::Idle)?;
    let cost = of.cost_usd.and_then(Usd::of).map(|cost| cost.to_string());
    let tokens = of.tokens_used.map(|tokens| format!("{} tokens", thousands(tokens)));
    let time = limits.max_time.map(|_| time_used(report));
    let used: Vec<String> = cost.into_iter().chain(tokens).chain(time).collect();
    let used = if used.is_empty() { "nothing known".to_owned() } else { used.join(", ") };
    Some(format!("{}; used in all: {used}", limits.in_words()))
}

/// What the working agents did last: the lines that they changed, as of the newest capture, and the last line of their output.
fn now(agents: &[AgentStatusJson]) -> StyledText {
    let rows = agents.iter().filter(|agent| agent.last_line.is_some() || agent.insertions.is_some());
    let lines = |agent: &AgentStatusJson| match (agent.insertions, agent.deletions) {
        (Some(added), Some(removed)) => format!("+{added} -{removed}"),
        (_, _) => "-".to_owned(),
    };
    let said =
        |agent: &AgentStatusJson| agent.last_line.as_deref().map_or_else(|| "-".to_owned(), |line| short(line, LONGEST_LINE));
    let rows: Vec<Vec<String>> = rows.map(|agent| vec![agent.id.clone(), lines(agent), said(agent)]).collect();
    if rows.is_empty() {
        return StyledText::new();
    }
    StyledText::from("\nNow:\n") + StyledGrid::of(rows).indented(2)
}

fn since(line: &DelayedTaskJson) -> String {
    let until = line.delay.until.map_or_else(String::new, |until| format!(", until {}", words::time(until)));
    format!("since {}{until}", words::time(line.delay.failed_at))
}

fn agent_row(agent: &AgentStatusJson) -> Vec<StyledCell> {
    let or_dash = |text: Option<String>| StyledCell::from(text.unwrap_or_else(|| "-".to_owned()));
    let iteration = match agent.max_iterations {
        Some(most) if agent.task_id.is_some() => format!("{}/{most}", agent.iteration),
        Some(_) | None => "-".to_owned(),
    };
    let at_least = if agent.is_dead() { "+" } else { "" };
    vec![
        agent.id.as_str().into(),
        StyledCell::status(match agent.waiting_since {
            Some(since) => format!("{} since {}", agent.state, words::clock(since)),
            None => agent.state.to_owned(),
        }),
        or_dash(agent.task_id.clone()),
        iteration.into(),
        or_dash(agent.progress.map(|percent| format!("{percent}%"))),
        or_dash(agent.parts.filter(|parts| parts.total > 0).map(|parts| format!("{}/{}", parts.completed, parts.total))),
        or_dash(agent.phase.as_deref().map(|phase| short(phase, LONGEST_PHASE))),
        or_dash(agent.duration.map(|seconds| format!("{}:{:02}{at_least}", seconds / 60, seconds % 60))),
        or_dash(agent.last_activity.map(words::clock)),
        or_dash(agent.title.clone()),
    ]
}

/// The beginning of a text, as far as there is room for it.
fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most).chain(['…']).collect() }
}

/// The attached sessions that live, and the watches, a line each.
fn attached_in_words(attached: &AttachStatus) -> StyledText {
    let mut text = StyledText::new();
    for one in &attached.sessions {
        let (title, place) = (visible::line(one.title()), visible::line(&one.worktree));
        let prompts = words::count(one.prompts, "prompt");
        text.append(match &one.unprotected {
            None => format!("Attached: {title} in {place}, {prompts}\n").into(),
            Some(why) => unprotected(&format!("{title} in {place}, {prompts}: {}", visible::line(why))),
        });
        if let Some(newest) = one.outside.last() {
            let more = one.outside.len() - 1;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            text.push_str(&format!("  It edits outside of its worktree: {}{more}\n", visible::line(newest)));
        }
        for path in &one.nested {
            text.push_str(&format!("  It edits in a nested repository, which is not saved: {}\n", visible::line(path)));
        }
    }
    for WatchStatus { watcher, alive } in &attached.watches {
        let place = visible::line(&watcher.worktree);
        text.append(match (alive, &watcher.unsaved) {
            (true, None) => format!("Watched: {place}, {}\n", watch::in_words(watcher)).into(),
            (true, Some(why)) => unprotected(&format!("the watch of {place} could not save: {}", visible::line(why))),
            (false, _) => unprotected(&format!("the watch of {place} has ended by itself; git axiom watch --detach there")),
        });
    }
    text
}

/// A line that has to be seen.
fn unprotected(what: &str) -> StyledText {
    let mut text = StyledText::new();
    text.push(ColoredPart::Unprotected, "UNPROTECTED");
    text + format!(": {what}\n")
}

/// The heading of a part that has to be seen.
fn heading(part: ColoredPart, words: &str) -> StyledText {
    let mut text = StyledText::from("\n");
    text.push(part, words);
    text + "\n"
}

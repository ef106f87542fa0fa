//! What needs the terminal: editors, and verbs that a human types.

use std::io::Write;
use std::path::Path;

use super::failure;
use crate::cli::visible;
use crate::panel::event::PanelEvent;
use crate::panel::request::PanelEditTarget;
use axiom_agents::interventions::debugging;
use axiom_agents::interventions::debugging::DebugReport;
use axiom_agents::tasks::edit;
use axiom_agents::tasks::edit::TaskEditRequest;
use axiom_agents::tasks::in_editor;
use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::state::audit::change_text;
use axiom_safety::context::handle::Context;
use axiom_safety::own_verb;

/// Opens something in the user's editor, and says what came of it.
pub fn edit(ctx: &mut Context, main: &Path, what: &PanelEditTarget) -> PanelEvent {
    let outcome = match what {
        PanelEditTarget::Workspace(task) => open_workspace(ctx, task),
        PanelEditTarget::Body(task) => edit_body(ctx, main, task),
    };
    PanelEvent::Edited(outcome.map_err(|error| failure(&error)))
}

fn open_workspace(ctx: &mut Context, task: &str) -> Result<Vec<String>> {
    let DebugReport { workspace, held, meanwhile } = debugging::debug(ctx, &TaskId::new(task.to_owned())?)?;
    let place = workspace.display();
    let what = held.map_or_else(|| format!("Closed {place}"), |agent| format!("{agent} goes on in {place}"));
    Ok(std::iter::once(what).chain(meanwhile.into_iter().map(|text| format!("meanwhile: {text}"))).collect())
}

fn edit_body(ctx: &mut Context, main: &Path, task: &str) -> Result<Vec<String>> {
    let id = TaskId::new(task.to_owned())?;
    let body = in_editor::body(ctx, &id, main)?;
    ctx.act_as(ctx.by().clone())?;
    let changes = edit::edit(ctx, &id, TaskEditRequest { body: Some(body), ..TaskEditRequest::default() })?;
    if changes.is_empty() {
        return Ok(vec![format!("{id}: nothing was changed")]);
    }
    Ok(changes.iter().map(|change| format!("{id}: {}; git axiom undo takes it back", change_text(change))).collect())
}

/// Runs a verb, and waits until a human has read what it printed.
pub fn run(main: &Path, line: &str) -> PanelEvent {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "$ git axiom {}", visible::line(line));
    let ended = own_verb::run(main, line);
    if let Ok(status) = &ended {
        let _ = write!(out, "\n[exit status {status}; Enter goes back to the panel] ");
        let _ = out.flush();
        let mut answer = String::new();
        let _ = std::io::stdin().read_line(&mut answer);
    }
    PanelEvent::Edited(ended.map(|_| Vec::new()).map_err(|error| failure(&error)))
}

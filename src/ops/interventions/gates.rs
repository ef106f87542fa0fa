//! Decisions at gates.

use crate::domain::base::ids::GateId;
use crate::domain::base::nearest;
use crate::domain::state::event::Event;
use crate::domain::work::gate::{Decision, Gate};
use crate::error::{Code, Error, Result};
use crate::ops::context::handle::Context;

/// Makes the same decision at several gates, at all or none. A gate is named by a unique prefix of its id, or by its task's
/// id. Returns the gates as they were when that was recorded.
///
/// # Errors
/// `UNKNOWN_GATE`, `AMBIGUOUS_NAME`.
pub fn decide(ctx: &mut Context, names: &[String], decision: &Decision) -> Result<Vec<Gate>> {
    let mut ids: Vec<GateId> = Vec::new();
    for name in names {
        let id = find_gate(ctx, name)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let decided = |id: &GateId| Event::GateDecided { id: id.clone(), decision: decision.clone() };
    let mut gates = Vec::new();
    ctx.append_with(|state| {
        gates = ids.iter().filter_map(|id| state.restorable.gates.get(id).cloned()).collect();
        Ok(ids.iter().map(decided).collect())
    })?;
    Ok(gates)
}

fn find_gate(ctx: &Context, name: &str) -> Result<GateId> {
    let gates = &ctx.state().restorable.gates;
    if let Some((id, _)) = gates.iter().find(|(id, _)| id.as_str() == name) {
        return Ok(id.clone());
    }
    let fits =
        |gate: &&Gate| gate.id.as_str().starts_with(name) || gate.task_id.as_ref().is_some_and(|task| task.as_str() == name);
    let found: Vec<_> = gates.values().filter(fits).collect();
    match found.as_slice() {
        [one] => Ok(one.id.clone()),
        [] => {
            let error = Error::new(Code::UnknownGate, format!("there is no open gate '{name}'"));
            Err(nearest::hinted(error, name, gates.keys().map(GateId::as_str), "see 'git axiom gate list'"))
        }
        many => {
            let names: Vec<&str> = many.iter().map(|gate| gate.id.as_str()).collect();
            Err(Error::new(Code::AmbiguousName, format!("'{name}' matches several gates: {}", names.join(", ")))
                .hint("give the whole id"))
        }
    }
}

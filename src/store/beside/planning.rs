//! `planning-state.json`: the plan, step by step, for people and programs. A copy; the state has it all.

use crate::layout::StoreLayout;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::planning::document::PlanningStateJson;
use axiom_model::state::current_state::State;

/// The largest file that is compared, in bytes.
const LIMIT: u64 = 64 * 1024 * 1024;

/// Writes the plan as the state has it. Where there is none, what an older state had is left alone. A crash leaves the file before or
/// after.
pub fn write(layout: &StoreLayout, state: &State) -> Result<()> {
    let Some(bytes) = bytes(state)? else { return Ok(()) };
    files::write_atomic(&layout.planning_state(), &bytes)
}

/// Writes the file where it is not as the state has it: a crash or a full disk kept it from being written, or it is damaged. What was
/// there is kept if it is no step of a plan. Returns where.
pub fn heal(layout: &StoreLayout, state: &State) -> Result<Option<String>> {
    let path = layout.planning_state();
    let Some(wanted) = bytes(state)? else { return Ok(None) };
    let there = files::metadata(&path)?.map(|meta| meta.is_file().then(|| files::read_optional(&path, LIMIT)));
    let found = match there {
        None => None,
        Some(Some(Ok(found))) => found,
        Some(Some(Err(_)) | None) => Some(Vec::new()),
    };
    if found.as_ref() == Some(&wanted) {
        return Ok(None);
    }
    let is_damaged = found.is_some_and(|found| serde_json::from_slice::<serde_json::Value>(&found).is_err());
    let mut kept = None;
    if is_damaged {
        files::create_dir_all(&layout.damaged_dir())?;
        let place = layout.damaged_dir().join(format!("planning-state-{}.json", env::fresh_id()));
        files::rename(&path, &place)?;
        kept = Some(place.display().to_string());
    }
    write(layout, state)?;
    Ok(kept)
}

fn bytes(state: &State) -> Result<Option<Vec<u8>>> {
    let Some(plan) = state.record.plan.as_deref() else { return Ok(None) };
    let json = serde_json::to_vec_pretty(&PlanningStateJson::of(plan))
        .map_err(|e| Error::new(Code::Internal, "a plan cannot be written as JSON").because(e))?;
    Ok(Some([&json[..], b"\n"].concat()))
}

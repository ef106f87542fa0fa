//! `transfer.hideRefs`: our refs are hidden from fetches and mirror clones of this repository. Which lines we wrote is recorded, so
//! that exactly these are taken out again.

use std::path::PathBuf;

use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_git::Repository;
use axiom_model::base::own_names::{NOTES, REFS, TAGS};
use axiom_store::layout::StoreLayout;

/// git's setting.
const KEY: &str = "transfer.hideRefs";

/// The largest record that is read.
const LIMIT: u64 = 64 * 1024;

/// The values that hide our refs.
pub fn values() -> [String; 3] {
    [REFS, TAGS, NOTES].map(|name| name.trim_end_matches('/').to_owned())
}

fn place(layout: &StoreLayout) -> PathBuf {
    layout.root().join("hidden-refs.json")
}

/// The values that we wrote into this repository's configuration.
pub fn written(ctx: &Context) -> Result<Vec<String>> {
    let bytes = files::read_optional(&place(ctx.layout()), LIMIT)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default())
}

/// Whether our refs are hidden, whoever wrote that.
pub fn are_hidden(repo: &Repository) -> Result<bool> {
    let here = repo.settings().own_values(KEY)?;
    Ok(values().iter().all(|value| here.contains(value)))
}

/// Hides our refs: adds the lines that are missing; returns these. What is to be added is recorded first, so a crash leaves nothing that
/// [`take_out`] would not find.
pub fn hide(ctx: &Context) -> Result<Vec<String>> {
    let here = ctx.repo.settings().own_values(KEY)?;
    let missing: Vec<String> = values().into_iter().filter(|value| !here.contains(value)).collect();
    if missing.is_empty() {
        return Ok(missing);
    }
    let mut ours = written(ctx)?;
    ours.extend(missing.iter().filter(|value| !ours.contains(value)).cloned().collect::<Vec<_>>());
    let json = serde_json::to_vec(&ours).map_err(|e| Error::new(Code::Internal, "a list is no JSON").because(e))?;
    files::write_atomic(&place(ctx.layout()), &json)?;
    ctx.repo.settings().change_own_setting(KEY, &[here, missing.clone()].concat())?;
    Ok(missing)
}

/// Takes these values out again; all others stay. Safe to repeat.
pub fn take_out(repo: &Repository, ours: &[String]) -> Result<()> {
    if ours.is_empty() {
        return Ok(());
    }
    let here = repo.settings().own_values(KEY)?;
    let rest: Vec<String> = here.iter().filter(|value| !ours.contains(value)).cloned().collect();
    if rest.len() < here.len() { repo.settings().change_own_setting(KEY, &rest).map(drop) } else { Ok(()) }
}

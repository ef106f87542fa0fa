//! The instructions of a task in the user's editor.

use std::path::Path;

use axiom_base::error::Result;
use axiom_model::base::ids::TaskId;
use axiom_model::base::text::MAX_TEXT;
use axiom_safety::context::handle::Context;
use axiom_safety::history::task_texts;
use axiom_safety::user_programs::editor;

/// The body of a task as the user has edited it, with the editor that git uses in `folder`; `None` where nothing is left of it.
/// Changes nothing yet.
pub fn body(ctx: &Context, id: &TaskId, folder: &Path) -> Result<Option<String>> {
    let body = ctx.state().task(id)?.body.as_ref().map(|text| task_texts::load(&ctx.repo, text)).transpose()?;
    let text = editor::edit(folder, &body.unwrap_or_default(), MAX_TEXT as u64)?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

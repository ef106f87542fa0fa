//! The pages with what agents learnt: `learnings.md`, and `agents/<persona>/learnings.md`. Copies for people and programs; the
//! state has them all.

use std::collections::BTreeSet;

use crate::layout::StoreLayout;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::state::current_state::State;
use axiom_model::work::signals::learning_scope::LearningScope;
use axiom_model::work::tasks::learnings;

/// Writes the pages as the state has them. A crash leaves some of them as they were, until the next change.
pub fn write(layout: &StoreLayout, state: &State) -> Result<()> {
    let all = &state.record.learnings;
    let of_all = all.iter().filter(|one| one.scope != LearningScope::Persona);
    files::write_atomic(&layout.learnings(), learnings::page(of_all).as_bytes())?;
    let personas: BTreeSet<&str> = state.restorable.agents.keys().map(learnings::persona_of).collect();
    for persona in personas {
        let mut own = all.iter().filter(|one| one.scope == LearningScope::Persona && one.persona() == persona).peekable();
        let path = layout.learnings_of(persona);
        if own.peek().is_none() {
            files::remove_file(&path)?;
            continue;
        }
        if let Some(folder) = path.parent() {
            files::create_dir_all(folder)?;
        }
        files::write_atomic(&path, learnings::page(own).as_bytes())?;
    }
    Ok(())
}

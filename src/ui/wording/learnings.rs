//! What agents learnt, in words.

use crate::cli::{visible, words};
use axiom_model::work::tasks::learnings::Learning;

/// A learning: who reported it, and its text.
pub fn in_words(learning: &Learning) -> String {
    let Learning { id, scope, task, agent, text, at, edited } = learning;
    let edited = if *edited { ", edited" } else { "" };
    let head = format!("{id}  {}  {agent} on {task}, {}{edited}", scope.as_str(), words::time(*at));
    format!("{head}\n  {}\n", visible::set_in(text.trim(), "  "))
}

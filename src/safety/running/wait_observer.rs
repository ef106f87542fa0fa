//! Watching from the foreground what a verb waits for: commands and hooks.

use std::time::Duration;

use axiom_model::work::hooks::hook_event::HookEvent;

/// How often is looked whether the user wants to end it.
pub const LOOK: Duration = Duration::from_millis(200);

/// What a verb waits for.
#[derive(Debug, Clone, Copy)]
pub enum ForegroundWait<'a> {
    /// These hooks and commands, which a merge has to pass.
    Verification(&'a [&'a str]),
    /// The planner, in this phase.
    Planner(&'a str),
    /// The hooks that are told of an event.
    Hooks(HookEvent),
}

/// Watches what a verb waits for.
pub trait WaitObserver {
    /// Called when it starts.
    fn begun(&mut self, what: ForegroundWait<'_>);
    /// Called when it has ended.
    fn ended(&mut self);
    /// Whether the user wants to end it.
    fn shall_end(&self) -> bool;
}

//! Suspending the agents' processes while their files are captured.

use std::time::Duration;

use crate::context::handle::Context;
use axiom_process::client::control::{self, HoldGuard};
use axiom_process::{KeeperState, keeper_state};

/// The longest time that agents are suspended.
const LIMIT: Duration = Duration::from_secs(20);

/// Suspended agents; they continue when this is released or dropped.
#[derive(Debug)]
pub(super) struct SuspendedAgents {
    held: Vec<HoldGuard>,
}

impl SuspendedAgents {
    /// Asks the keeper of every running agent to suspend it. An agent whose keeper does not answer (it may be ending)
    /// continues: its files are then not captured at one moment, but one after the other, as by `git add`.
    pub fn hold(ctx: &Context) -> Self {
        let mut held = Vec::new();
        for agent in ctx.state().busy_agents() {
            let Some(token) = agent.token() else { continue };
            match keeper_state(&ctx.layout().agents().run(&agent.id, token)) {
                Ok(KeeperState::Alive(record)) => match control::hold(&record, LIMIT) {
                    Ok(guard) => held.push(guard),
                    Err(error) => tracing::warn!(agent = %agent.id, %error, "an agent could not be held still"),
                },
                Ok(
                    KeeperState::NotStarted
                    | KeeperState::Starting
                    | KeeperState::Ended(_)
                    | KeeperState::Dead(_)
                    | KeeperState::Unproved(_),
                ) => {}
                Err(error) => tracing::warn!(agent = %agent.id, %error, "the keeper's record cannot be read"),
            }
        }
        Self { held }
    }

    /// Lets the agents continue.
    pub fn release(self) {
        for guard in self.held {
            match guard.release() {
                Ok(true) => {}
                Ok(false) => tracing::warn!("an agent was not held still until the end of its capture"),
                Err(error) => tracing::warn!(%error, "an agent was not held still until the end of its capture"),
            }
        }
    }
}

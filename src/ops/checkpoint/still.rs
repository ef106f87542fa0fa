//! Holding the agents still while they are captured.

use std::time::Duration;

use crate::ops::context::handle::Context;
use crate::process::client::control::{self, HoldGuard};
use crate::process::{KeeperState, keeper_state};

/// The longest that agents are held.
const LIMIT: Duration = Duration::from_secs(20);

/// Agents that are held still until this is released or dropped.
#[derive(Debug)]
pub(super) struct Still {
    held: Vec<HoldGuard>,
}

impl Still {
    /// Asks the keeper of every running agent to hold it. An agent whose keeper does not answer (it is just ending) goes
    /// on: its files are then captured one after the other, as `git add` would.
    pub fn hold(ctx: &Context) -> Self {
        let mut held = Vec::new();
        for agent in ctx.state().busy_agents() {
            let Some(token) = agent.token() else { continue };
            match keeper_state(&ctx.layout().run_dir(&agent.id, token)) {
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

    /// Lets the agents go on.
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

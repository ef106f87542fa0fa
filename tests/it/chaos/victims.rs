//! Who is killed in a round of chaos.

use crate::session_support::{Live, World, kill};

/// What dies.
#[derive(Debug, Clone, Copy)]
pub enum Victim {
    Nobody,
    /// Agents and keepers live on.
    Supervisor,
    /// One of the keepers; its agent lives on, without anybody.
    Keeper,
    /// The program of one agent.
    Agent,
    /// The verb that waits for a planner, and then perhaps its keeper: whoever began it kills it.
    Planner,
    /// The machine.
    Everything,
}

impl Victim {
    /// Kills it; of several, `which` says one. Returns whether it was there.
    pub fn dies(self, world: &World, session: &mut Live, which: u64) -> bool {
        match self {
            Self::Nobody | Self::Planner => false,
            Self::Supervisor => session.kill(),
            Self::Keeper => one_dies(&world.keepers(), which),
            Self::Agent => one_dies(&programs_of_keepers(world), which),
            Self::Everything => {
                let killed = session.kill();
                world.all_die();
                killed
            }
        }
    }
}

/// The programs that keepers have started.
fn programs_of_keepers(world: &World) -> Vec<i32> {
    let keepers = world.keepers();
    let parent = |pid: i32| -> Option<i32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
    };
    let pids = world.processes().into_iter().map(|(pid, _)| pid);
    pids.filter(|pid| parent(*pid).is_some_and(|parent| keepers.contains(&parent))).collect()
}

fn one_dies(pids: &[i32], which: u64) -> bool {
    !pids.is_empty() && kill(pids[which as usize % pids.len()])
}

//! `git axiom recover --all`.

use serde::Serialize;

use crate::cli::screen::Screen;
use crate::cli::visible;
use axiom_agents::recover::all_repositories;
use axiom_agents::recover::all_repositories::{RepositoryRecoveryLine, RepositoryRecoveryState, RestartDeadSessions};
use axiom_base::error::{Exit, Result};

/// How your repositories stand.
#[derive(Serialize)]
struct RecoverAllJson {
    /// Those in which you called `init` or `run`, and that are there.
    repositories: Vec<RepositoryRecoveryLine>,
}

/// Shows all repositories of the user, and starts sessions again.
pub(super) fn run(start: RestartDeadSessions, screen: &mut Screen) -> Result<Exit> {
    let answer = RecoverAllJson { repositories: all_repositories::look(start)? };
    screen.answer(&answer, || in_words(&answer.repositories, start))?;
    let failed = answer.repositories.iter().any(|line| line.standing == RepositoryRecoveryState::Failed);
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

fn in_words(lines: &[RepositoryRecoveryLine], start: RestartDeadSessions) -> String {
    if lines.is_empty() {
        return "No repository of yours is known: git axiom init lists the one it is called in.\n".to_owned();
    }
    let mut text = String::new();
    for line in lines {
        text.push_str(&format!("{}: {}\n", visible::line(&line.path), visible::line(&line.what)));
    }
    if start == RestartDeadSessions::Nothing && lines.iter().any(|line| line.standing == RepositoryRecoveryState::Crashed) {
        text.push_str("To start those again whose session died: git axiom recover --all --run\n");
    }
    text
}

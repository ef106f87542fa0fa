//! `git axiom recover --all`.

use serde::Serialize;

use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::error::{Exit, Result};
use crate::ops::recover::everywhere::{self, Line, Standing, Start};

#[derive(Serialize)]
struct RecoverAllAnswer {
    repositories: Vec<Line>,
}

/// Shows all repositories of the user, and starts sessions again.
///
/// # Errors
/// As [`everywhere::look`].
pub(super) fn run(start: Start, screen: &mut Screen) -> Result<Exit> {
    let answer = RecoverAllAnswer { repositories: everywhere::look(start)? };
    screen.answer(&answer, || in_words(&answer.repositories, start))?;
    let failed = answer.repositories.iter().any(|line| line.standing == Standing::Failed);
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

fn in_words(lines: &[Line], start: Start) -> String {
    if lines.is_empty() {
        return "No repository of yours is known: git axiom init lists the one it is called in.\n".to_owned();
    }
    let mut text = String::new();
    for line in lines {
        text.push_str(&format!("{}: {}\n", visible::line(&line.path), visible::line(&line.what)));
    }
    if start == Start::Nothing && lines.iter().any(|line| line.standing == Standing::Crashed) {
        text.push_str("To start those again whose session died: git axiom recover --all --run\n");
    }
    text
}

//! The binary: runs the command line and exits with its status. No logic.

use git_axiom::{commands, env};

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(commands::command_line::run(env::arguments()).status())
}

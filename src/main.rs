//! The binary: runs the command line and exits with its status. No logic.

use git_axiom::{commands, env};

fn main() -> std::process::ExitCode {
    let exit = commands::line::run(env::arguments());
    std::process::ExitCode::from(exit as u8)
}

//! The binary: parse, make the environment, dispatch, report, exit. No logic.

use git_axiom::{commands, env};

fn main() -> std::process::ExitCode {
    let exit = commands::line::run(env::arguments());
    std::process::ExitCode::from(exit as u8)
}

//! The binary: parse, make the environment, dispatch, report, exit. No logic.

use git_axiom::{cli, env};

fn main() -> std::process::ExitCode {
    let exit = cli::run(env::arguments());
    std::process::ExitCode::from(exit as u8)
}

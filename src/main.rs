//! The binary: runs the command line and exits with its status. No logic.

use axiom_base::env;
use axiom_ui::commands;

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(commands::command_line::run(env::arguments()).status())
}

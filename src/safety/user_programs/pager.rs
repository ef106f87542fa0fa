//! Showing a long text in the user's pager, as git does. Whether there is a terminal is asked before, and what the text holds is
//! made visible before.

use std::io::Write;
use std::process::Stdio;

use crate::context::Repository;
use axiom_base::env;
use axiom_base::own_process::end_signals;
use axiom_process::os::command::command;

/// What git tells pagers that say nothing themselves: leave where all fits on one screen, show colours, clear nothing.
const SETTINGS: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];

/// What a shell returns where it cannot start a program.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Shows a text in the pager until the user leaves it. Returns whether there was one; otherwise the caller prints the text.
pub fn show(repo: &Repository, text: &str) -> bool {
    let Some(pager) = repo.pager() else { return false };
    // Ctrl+C is the pager's while it runs. The next question ends this process then.
    let _until_it_ends = end_signals::leave_signals_to_question();
    let mut shell = command("sh");
    shell.arg("-c").arg(pager).stdin(Stdio::piped());
    for (name, value) in SETTINGS.into_iter().filter(|(name, _)| env::var(name).is_none()) {
        shell.env(name, value);
    }
    let Ok(mut child) = shell.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // The user may leave before the end of the text.
        let _ = input.write_all(text.as_bytes());
    }
    child.wait().is_ok_and(|ended| ended.code().is_none_or(|code| !NOT_STARTED.contains(&code)))
}

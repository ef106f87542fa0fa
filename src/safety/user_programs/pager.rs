//! Colours and pager as the user has told git, and showing a long text in that pager, as git does. Whether there is a terminal is
//! asked before, and what the text holds is made visible before.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use axiom_base::env;
use axiom_base::own_process::end_signals;
use axiom_model::base::screen_colors::{PagerSetting, ScreenSettings};
use axiom_process::os::command::{command, command_with_callers_repository};

/// What git tells pagers that say nothing themselves: leave where all fits on one screen, show colours, clear nothing.
const SETTINGS: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];

/// What a shell returns where it cannot start a program.
const NOT_STARTED: [i32; 2] = [126, 127];

/// How a screen is to look, by the settings that git finds from this folder; git's own where there are none.
pub fn settings(folder: &Path) -> ScreenSettings {
    let listed = |options: &[&str]| asked(folder, &[&["config", "--null"], options].concat()).unwrap_or_default();
    let listing = listed(&["--get-regexp", ScreenSettings::KEYS]);
    let settings = ScreenSettings::read(&listing);
    if !ScreenSettings::names_colors(&listing) {
        return settings;
    }
    // git knows what a colour is. One that it does not know leaves all as they are.
    settings.with_escapes(&listed(&["--type=color", "--get-regexp", ScreenSettings::COLORS]))
}

/// Shows a text in the pager until the user leaves it. Returns whether there was one; otherwise the caller prints the text.
pub fn show(folder: &Path, setting: &PagerSetting, text: &str) -> bool {
    let Some(pager) = chosen(folder, setting) else { return false };
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

/// The user's pager, a command for a shell: `GIT_PAGER`, `pager.axiom`, `core.pager`, `PAGER`, or git's own. `None` where the user
/// wants none, or git does not say.
fn chosen(folder: &Path, setting: &PagerSetting) -> Option<String> {
    let named = env::var("GIT_PAGER").is_some();
    let pager = match setting {
        PagerSetting::Off => return None,
        // `git --no-pager axiom` says so by the variable.
        PagerSetting::Command(command) if !named => command.clone(),
        PagerSetting::Command(_) | PagerSetting::AsGit => asked(folder, &["var", "GIT_PAGER"])?,
    };
    let pager = pager.trim().to_owned();
    (!matches!(pager.as_str(), "" | "cat")).then_some(pager)
}

/// What git answers in the caller's repository, or outside of any.
fn asked(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut git: Command = command_with_callers_repository("git");
    git.current_dir(folder).args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
    let output = git.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

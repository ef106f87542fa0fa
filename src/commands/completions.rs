//! `git axiom completions`.

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::Shell;

use crate::cli::arguments::{Cli, Global};
use crate::cli::screen::Screen;
use crate::error::{Exit, Result};

/// What git's own completion calls for `git axiom …`: the words shifted so that they begin with the program.
const BASH_GLUE: &str = r#"
_git_axiom() {
    local skip=$(( ${__git_cmd_idx:-1} + 1 ))
    local -a COMP_WORDS=("git-axiom" "${COMP_WORDS[@]:skip}")
    local COMP_CWORD=$(( COMP_CWORD - skip + 1 ))
    _git-axiom git-axiom "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
}
"#;

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git axiom completions bash > ~/.local/share/bash-completion/completions/git-axiom
  git axiom completions fish > ~/.config/fish/completions/git-axiom.fish
  git axiom completions zsh  > _git-axiom    in a folder of $fpath")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Choice,
}

/// The shells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum Choice {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

/// Prints a script that completes verbs and options.
///
/// # Errors
/// As [`Screen::write`].
pub fn run(args: &Completions, _global: &Global, screen: &mut Screen) -> Result<Exit> {
    let shell = match args.shell {
        Choice::Bash => Shell::Bash,
        Choice::Elvish => Shell::Elvish,
        Choice::Fish => Shell::Fish,
        Choice::Powershell => Shell::PowerShell,
        Choice::Zsh => Shell::Zsh,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command().bin_name("git-axiom"), "git-axiom", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if args.shell == Choice::Bash {
        script.push_str(BASH_GLUE);
    }
    screen.answer(&serde_json::json!({ "shell": shell.to_string(), "script": script }), || script.clone())?;
    Ok(Exit::Done)
}

//! `git axiom completions`.

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::grammar::complete;
use axiom_base::error::{Exit, Result};

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
It completes 'git axiom' and 'git-axiom': verbs, options, and the ids and names in the
repository.
  git axiom completions bash > ~/.local/share/bash-completion/completions/git-axiom
  git axiom completions fish > ~/.config/fish/conf.d/git-axiom.fish
  git axiom completions zsh  > _git-axiom    in a folder of $fpath
bash without the package bash-completion: source the file in ~/.bashrc, after git's own
completion if there is one.")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: CompletionShell,
}

/// The shells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum CompletionShell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

/// The script for a shell.
#[derive(Serialize)]
struct CompletionsJson {
    script: String,
    shell: &'static str,
}

/// Prints a script that completes verbs, options, ids and names.
pub fn run(args: &CompletionsArgs, _global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let shell = match args.shell {
        CompletionShell::Bash => "bash",
        CompletionShell::Elvish => "elvish",
        CompletionShell::Fish => "fish",
        CompletionShell::Powershell => "powershell",
        CompletionShell::Zsh => "zsh",
    };
    let script = complete::script(shell);
    let answer = CompletionsJson { script, shell };
    screen.answer(&answer, || answer.script.clone())?;
    Ok(Exit::Done)
}

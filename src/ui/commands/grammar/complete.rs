//! Completion in shells: the scripts, and the candidates for which they call this program at each Tab.
//!
//! A script calls this program with the variable [`ASKED`] to get the candidates at the cursor. Verbs and options are taken
//! from the grammar, ids and names from [`candidates`].

use std::ffi::OsString;

use clap::{Command, CommandFactory};
use clap_complete::ArgValueCandidates;
use clap_complete::env::Shells;

use super::arguments::Cli;
use super::candidates::{self, ShellCandidateKind};
use axiom_base::env;

/// The variable with the name of the shell that calls for candidates.
pub const ASKED: &str = "GIT_AXIOM_COMPLETE";

const KINDS: &[&str] = &["task", "group", "goal"];
const MODES: &[&str] = &["semi-auto", "review", "autopilot"];
const STATUSES: &[&str] = &["pending", "waiting", "interrupted", "active", "done", "blocked", "failed", "archived"];

const EVENTS: &[&str] = &[
    "pre-task-start",
    "post-task-complete",
    "pre-merge",
    "post-merge",
    "on-conflict",
    "on-learning",
    "on-pause",
    "on-error",
    "post-checkpoint",
    "on-gate",
    "on-idle",
];
const SAMPLES: &[&str] = &[
    "notify.sh",
    "bell.sh",
    "webhook.sh",
    "json-lines.sh",
    "tests-before-merge.sh",
    "commit-messages.sh",
    "gitleaks.sh",
    "commit-hooks.sh",
    "push-checkpoints.sh",
    "pause-summary.sh",
];

/// The arguments that accept ids and names: the verb, the argument, and the candidates.
const OFFERED: &[(&str, &str, ShellCandidateKind)] = &[
    ("task add", "kind", ShellCandidateKind::Words(KINDS)),
    ("task add", "parent", ShellCandidateKind::TasksAndGroups),
    ("task add", "after", ShellCandidateKind::TasksAndGroups),
    ("task list", "status", ShellCandidateKind::Words(STATUSES)),
    ("task show", "id", ShellCandidateKind::TasksAndGroups),
    ("task edit", "id", ShellCandidateKind::TasksAndGroups),
    ("task edit", "parent", ShellCandidateKind::TasksAndGroups),
    ("task edit", "after", ShellCandidateKind::TasksAndGroups),
    ("task block", "ids", ShellCandidateKind::TasksAndGroups),
    ("task unblock", "ids", ShellCandidateKind::TasksAndGroups),
    ("task archive", "ids", ShellCandidateKind::TasksAndGroups),
    ("task audit", "id", ShellCandidateKind::TasksAndGroups),
    ("run", "mode", ShellCandidateKind::Words(MODES)),
    ("mode", "mode", ShellCandidateKind::Words(MODES)),
    ("output", "of", ShellCandidateKind::AgentsAndTasks),
    ("stop", "agents", ShellCandidateKind::Agents),
    ("kill", "agents", ShellCandidateKind::Agents),
    ("redirect", "agent", ShellCandidateKind::Agents),
    ("redirect", "task", ShellCandidateKind::Tasks),
    ("plan start", "agent", ShellCandidateKind::Programs),
    ("plan add", "parent", ShellCandidateKind::TasksAndGroups),
    ("plan add", "after", ShellCandidateKind::TasksAndGroups),
    ("gate approve", "gates", ShellCandidateKind::Gates),
    ("gate reject", "gate", ShellCandidateKind::Gates),
    ("gate answer", "gate", ShellCandidateKind::Gates),
    ("open", "task", ShellCandidateKind::Tasks),
    ("diff", "task", ShellCandidateKind::Tasks),
    ("gate show", "gate", ShellCandidateKind::Gates),
    ("merge", "task", ShellCandidateKind::Tasks),
    ("checkpoint show", "name", ShellCandidateKind::Checkpoints),
    ("checkpoint diff", "name", ShellCandidateKind::Checkpoints),
    ("checkpoint diff", "other", ShellCandidateKind::Checkpoints),
    ("checkpoint verify", "name", ShellCandidateKind::Checkpoints),
    ("checkpoint delete", "names", ShellCandidateKind::Checkpoints),
    ("rollback", "name", ShellCandidateKind::Checkpoints),
    ("rollback", "mode", ShellCandidateKind::Words(MODES)),
    ("rollback checkpoint", "name", ShellCandidateKind::Checkpoints),
    ("rollback checkpoint", "mode", ShellCandidateKind::Words(MODES)),
    ("rollback session", "mode", ShellCandidateKind::Words(MODES)),
    ("rollback task", "task", ShellCandidateKind::Tasks),
    ("restore", "names", ShellCandidateKind::Checkpoints),
    ("undo", "operation", ShellCandidateKind::Operations),
    ("recover", "resume", ShellCandidateKind::TasksAndGroups),
    ("recover", "reset", ShellCandidateKind::TasksAndGroups),
    ("recover", "only", ShellCandidateKind::TasksAndGroups),
    ("recover", "files", ShellCandidateKind::Tasks),
    ("recover inspect", "id", ShellCandidateKind::TasksAndGroups),
    ("recover export", "id", ShellCandidateKind::TasksAndGroups),
    ("recover abandon", "id", ShellCandidateKind::TasksAndGroups),
    ("agents check", "name", ShellCandidateKind::Programs),
    ("learnings", "task", ShellCandidateKind::Tasks),
    ("learnings edit", "id", ShellCandidateKind::Learnings),
    ("learnings forget", "ids", ShellCandidateKind::Learnings),
    ("hooks run", "event", ShellCandidateKind::Words(EVENTS)),
    ("hooks run", "task", ShellCandidateKind::Tasks),
    ("hooks install", "names", ShellCandidateKind::Words(SAMPLES)),
    ("hooks show", "name", ShellCandidateKind::Words(SAMPLES)),
    ("lock", "name", ShellCandidateKind::Locks),
    ("config show", "key", ShellCandidateKind::Keys),
    ("help", "verb", ShellCandidateKind::Verbs),
    ("man", "verb", ShellCandidateKind::Verbs),
];

/// The script for bash. Git's own completion calls `_git_axiom` with its own variables. If there is no completion for git,
/// this script completes `git axiom` only; if one is loaded later (by a loader of completions), it leaves `git` to that.
const BASH: &str = r#"# Completion of 'git axiom' and 'git-axiom' for bash.

# The words of the command line from the program on; the last one is completed.
_git_axiom_candidates() {
    local candidate before=
    # What stands before '=' is a word of its own to bash.
    if [[ ${!#} == --*=* && $COMP_WORDBREAKS == *=* ]]; then
        before=${!#}
        before=${before%%=*}=
    fi
    COMPREPLY=()
    while IFS= read -r candidate; do
        COMPREPLY+=("${candidate#"$before"}")
    done < <(GIT_AXIOM_COMPLETE=bash _CLAP_IFS=$'\n' _CLAP_COMPLETE_INDEX=$(($# - 1)) git-axiom -- "$@" 2>/dev/null && echo)
    if [[ ${#COMPREPLY[@]} -gt 0 && -z ${COMPREPLY[${#COMPREPLY[@]} - 1]} ]]; then
        unset 'COMPREPLY[${#COMPREPLY[@]}-1]'
    fi
    if [[ ${COMPREPLY[0]-} == *[=/] ]]; then
        compopt -o nospace 2>/dev/null
    else
        compopt +o nospace 2>/dev/null
    fi
}

# Called by git's completion, whose variables these are.
_git_axiom() {
    local skip=$((${__git_cmd_idx:-1} + 1))
    _git_axiom_candidates git-axiom ${__git_C_args[@]+"${__git_C_args[@]}"} "${words[@]:skip:cword - skip + 1}"
}

# The same for words as bash has cut them: at '=' too.
_git_axiom_cut() {
    local word joins=
    local -a line=(git-axiom)
    for word in "$@"; do
        if [[ $word == = || -n $joins ]]; then
            line[${#line[@]} - 1]+=$word
        else
            line+=("$word")
        fi
        joins=
        if [[ $word == = ]]; then
            joins=yes
        fi
    done
    _git_axiom_candidates "${line[@]}"
}

# The program by its own name.
_git_axiom_by_name() {
    _git_axiom_cut "${COMP_WORDS[@]:1:COMP_CWORD}"
}

# 'git axiom', where nothing else completes git.
_git_axiom_below_git() {
    if [[ ${COMP_WORDS[1]-} == axiom && $COMP_CWORD -gt 1 ]]; then
        _git_axiom_cut "${COMP_WORDS[@]:2:COMP_CWORD - 1}"
    fi
}

complete -o bashdefault -o default -F _git_axiom_by_name git-axiom
if ! complete -p git >/dev/null 2>&1 && ! complete -p -D >/dev/null 2>&1; then
    complete -o bashdefault -o default -F _git_axiom_below_git git
fi
"#;

/// The addition for `git axiom` in fish; the rest of the script is for `git-axiom`.
const FISH_BELOW_GIT: &str = r#"complete --keep-order --exclusive --command git --condition 'test (count (commandline -opc)) -ge 2; and test (commandline -opc)[2] = axiom' --arguments "(GIT_AXIOM_COMPLETE=fish git-axiom -- (commandline --current-process --tokenize --cut-at-cursor)[2..-1] (commandline --current-token))"
"#;

/// The end of the script for zsh. zsh's completion of git calls a function of this name; its first call loads the file.
const ZSH_END: &str = r#"_git-axiom() { _clap_dynamic_completer_git_axiom }

if [[ $funcstack[1] == _git-axiom ]]; then
    _git-axiom "$@"
else
    compdef _git-axiom git-axiom
fi
"#;

/// The script for a shell, by its name in `clap_complete`.
pub fn script(shell: &str) -> String {
    if shell == "bash" {
        return BASH.to_owned();
    }
    let mut script = Vec::new();
    if let Some(completer) = Shells::builtins().completer(shell) {
        // Writing to memory cannot fail.
        let _ = completer.write_registration(ASKED, "git-axiom", "git-axiom", "git-axiom", &mut script);
    }
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        "zsh" => script.replace("compdef _clap_dynamic_completer_git_axiom git-axiom", ZSH_END),
        "fish" => script + FISH_BELOW_GIT,
        _ => script,
    }
}

/// The candidates, if a shell calls for them; `None` for any other call.
pub fn answer(arguments: &[OsString]) -> Option<Vec<u8>> {
    let shell = env::var(ASKED)?;
    let words: Vec<OsString> = arguments.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    let mut candidates = Vec::new();
    let shells = Shells::builtins();
    if let (Some(completer), Some(_)) = (shell.to_str().and_then(|name| shells.completer(name)), words.first()) {
        // The ids of another repository would be wrong.
        let mut grammar = if go_where_the_words_say(&words).is_ok() { grammar() } else { Cli::command() };
        // Having no candidates is reported as an error, which is ignored.
        let _ = completer.write_complete(&mut grammar, words, None, &mut candidates);
    }
    Some(candidates)
}

/// Follows `-C` for the candidates.
fn go_where_the_words_say(words: &[OsString]) -> rustix::io::Result<()> {
    let cursor = words.len() - 1;
    let of_us = words.iter().take(cursor).take_while(|word| *word != "--").collect::<Vec<_>>();
    let mut folders = of_us.windows(2).filter(|pair| pair[0] == "-C").map(|pair| pair[1].as_os_str()).filter(|to| !to.is_empty());
    folders.try_for_each(rustix::process::chdir)
}

/// The grammar with the candidates for each argument.
fn grammar() -> Command {
    let mut command = Cli::command();
    command.build();
    OFFERED
        .iter()
        .fold(command, |command, (verb, argument, of)| offering(command, &verb.split(' ').collect::<Vec<_>>(), argument, *of))
}

fn offering(command: Command, verb: &[&str], argument: &'static str, of: ShellCandidateKind) -> Command {
    match verb {
        [] => command.mut_arg(argument, |known| known.add(ArgValueCandidates::new(move || candidates::all(of)))),
        [first, rest @ ..] => command.mut_subcommand(*first, |below| offering(below, rest, argument, of)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that are not of what there is: free text, files, numbers, and words of the grammar.
    const FREE: &[&str] = &[
        "AGE",
        "BRANCH",
        "COMMAND",
        "CONFIDENCE",
        "DIR",
        "FILE",
        "FOLDER",
        "GOAL",
        "HASH",
        "KEY",
        "LINE",
        "N",
        "NEXT",
        "NUMBER",
        "PATH|ID",
        "PATTERN",
        "PATH",
        "PERCENT",
        "PERSONA",
        "PROGRAM",
        "QUESTION",
        "REASON",
        "SCOPE",
        "SECTION",
        "SESSION",
        "SHELL",
        "SOURCE",
        "STEP",
        "TEXT",
        "TIME",
        "TITLE",
        "USD",
        "VALUE",
        "WHAT",
        "[NAME=]COMMAND",
        "true|false",
    ];

    #[test]
    fn every_argument_that_takes_an_id_offers_ids() {
        fn check(command: &Command, path: &str, found: &mut usize) {
            for argument in command.get_arguments().filter(|argument| argument.get_action().takes_values()) {
                let values = argument.get_value_names().unwrap_or_default();
                let offered = OFFERED.iter().any(|(verb, id, _)| *verb == path && argument.get_id() == id);
                let free = values.iter().all(|value| FREE.contains(&value.as_str()));
                // A new name is no id that there is, what agents report is their own, and an editor's agent is a program.
                let new = matches!(path, "task add" | "plan start" | "plan add" | "checkpoint create" | "acp")
                    || path.starts_with("signal");
                assert!(offered || free || new, "{path}: {} is offered nothing", argument.get_id());
                *found += usize::from(offered);
            }
            for below in command.get_subcommands() {
                check(below, format!("{path} {}", below.get_name()).trim(), found);
            }
        }
        let mut command = Cli::command();
        command.build();
        let mut found = 0;
        check(&command, "", &mut found);
        assert_eq!(found, OFFERED.len(), "some that are offered do not exist");
    }

    #[test]
    fn the_words_are_those_of_the_program() {
        assert_eq!(EVENTS, axiom_model::work::hooks::hook_event::HookEvent::ALL.map(|event| event.as_str()));
        assert!(SAMPLES.iter().eq(axiom_safety::project_hooks::samples::SAMPLES.iter().map(|sample| &sample.name)));
    }

    #[test]
    fn every_shell_has_a_script_that_asks_this_program() {
        for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
            let script = script(shell);
            assert!(script.contains(ASKED) && script.contains("git-axiom"), "{shell}: {script}");
        }
        assert!(script("zsh").contains("_git-axiom \"$@\""));
    }
}

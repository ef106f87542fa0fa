//! Which call somebody may have meant who wrote a verb that does not exist: by what the word means in other programs, by a verb of
//! that name below another, by a slip of the keys. What is far away is not suggested.

use super::table::{ALIASES, VERBS};
use super::{VerbGroup, short_ways};
use crate::base::forms::nearest;
use axiom_base::shell_word::shell_word;

/// The most that is suggested.
const MOST: usize = 3;

/// A word of other programs, below which verb it stands (empty: below none), and the call that does it: with the words that follow
/// (empty: it takes none), and without any.
struct VerbMeaning(&'static str, &'static [&'static str], &'static str, &'static str);

const MEANINGS: &[VerbMeaning] = &[
    VerbMeaning("", &["tasks", "todo", "todos", "case", "cases", "issue", "issues", "ticket"], "task show", "task list"),
    VerbMeaning("", &["gates", "approvals", "inbox", "waiting"], "gate show", "gate list"),
    VerbMeaning("", &["approve", "accept", "allow"], "gate approve", "gate list"),
    VerbMeaning("", &["reject", "deny", "decline"], "gate reject", "gate list"),
    VerbMeaning("", &["answer", "reply"], "gate answer", "gate list"),
    VerbMeaning("", &["version"], "--version", "--version"),
    VerbMeaning("", &["rm", "remove", "delete", "del"], "task archive", "task list"),
    VerbMeaning("", &["rm", "remove", "delete", "del"], "checkpoint delete", "checkpoint list"),
    VerbMeaning("", &["back", "revert", "reset", "rewind", "goto", "checkout"], "rollback", "rollback -h"),
    VerbMeaning("", &["save", "snapshot", "snap", "backup", "commit", "stash", "cp"], "checkpoint create", "checkpoint create"),
    VerbMeaning("", &["add", "new"], "task add", "task add -h"),
    VerbMeaning("", &["list", "ls"], "", "task list"),
    VerbMeaning("", &["list", "ls"], "", "checkpoint list"),
    VerbMeaning("", &["list", "ls"], "", "prompts"),
    VerbMeaning("", &["show", "info", "inspect", "describe"], "task show", "task list"),
    VerbMeaning("", &["show", "info", "inspect", "describe"], "checkpoint show", "checkpoint list"),
    VerbMeaning("", &["ps", "top", "state", "st", "stat"], "", "status"),
    VerbMeaning("", &["start", "begin", "launch"], "run", "run -h"),
    VerbMeaning("", &["end", "exit", "shutdown"], "quit", "quit -h"),
    VerbMeaning("", &["abort", "cancel"], "rollback --abort", "rollback --abort"),
    VerbMeaning("", &["continue"], "resume", "resume -h"),
    VerbMeaning("", &["continue"], "rollback --continue", "rollback --continue"),
    VerbMeaning("", &["history", "reflog", "operations"], "", "log"),
    VerbMeaning("", &["install", "setup", "enable", "hook-up"], "attach", "attach -h"),
    VerbMeaning("", &["uninstall", "disable"], "detach", "detach -h"),
    VerbMeaning("", &["uninstall"], "deinit", "deinit -h"),
    VerbMeaning("", &["timeline", "tree"], "", "graph"),
    VerbMeaning("", &["doctor", "repair", "fix", "fsck"], "", "recover"),
    VerbMeaning("", &["dashboard", "tui", "gui"], "panel", "panel -h"),
    VerbMeaning("", &["tail", "cat"], "output", "status"),
    VerbMeaning("", &["settings", "set", "get", "options"], "config show", "config show"),
    VerbMeaning("", &["cost", "costs", "usage", "tokens"], "", "stats"),
    VerbMeaning("", &["clean", "gc", "prune", "du"], "", "disk"),
    VerbMeaning("", &["verbs", "commands", "usage"], "help", "help --all"),
    VerbMeaning("task", &["rm", "remove", "delete", "del", "drop", "cancel", "close"], "task archive", "task list"),
    VerbMeaning("task", &["done", "complete", "finish"], "task archive", "task list"),
    VerbMeaning("task", &["ls", "all"], "", "task list"),
    VerbMeaning("task", &["new", "create", "make"], "task add", "task add -h"),
    VerbMeaning("task", &["start", "run", "begin"], "run -h", "run -h"),
    VerbMeaning("task", &["info", "view", "get", "describe", "status"], "task show", "task list"),
    VerbMeaning("task", &["rename", "update", "set", "change"], "task edit", "task edit -h"),
    VerbMeaning("task", &["history", "log"], "task audit", "log"),
    VerbMeaning("task", &["retry", "reopen", "reset"], "task unblock", "task list"),
    VerbMeaning("task", &["diff"], "diff", "task list"),
    VerbMeaning("checkpoint", &["rm", "remove", "del", "drop"], "checkpoint delete", "checkpoint list"),
    VerbMeaning("checkpoint", &["ls", "all"], "", "checkpoint list"),
    VerbMeaning("checkpoint", &["save", "new", "add", "make"], "checkpoint create", "checkpoint create"),
    VerbMeaning("checkpoint", &["restore", "rollback", "apply", "load", "goto"], "rollback", "checkpoint list"),
    VerbMeaning("checkpoint", &["check", "fsck"], "checkpoint verify", "checkpoint verify"),
    VerbMeaning("checkpoint", &["prune", "gc", "clean"], "checkpoint cleanup", "checkpoint cleanup -h"),
    VerbMeaning("gate", &["ok", "accept", "yes", "allow", "open"], "gate approve", "gate list"),
    VerbMeaning("gate", &["deny", "no", "decline", "close"], "gate reject", "gate list"),
    VerbMeaning("gate", &["ls", "all"], "", "gate list"),
    VerbMeaning("gate", &["reply"], "gate answer", "gate list"),
    VerbMeaning("config", &["list", "ls", "get", "print"], "config show", "config show"),
    VerbMeaning("config", &["set", "unset", "add"], "config edit -h", "config edit -h"),
    VerbMeaning("config", &["validate", "verify", "test"], "config check", "config check"),
    VerbMeaning("hooks", &["ls"], "", "hooks list"),
    VerbMeaning("hooks", &["add", "enable"], "hooks install", "hooks list"),
    VerbMeaning("hooks", &["test", "try"], "hooks run", "hooks list"),
    VerbMeaning("prompts", &["show", "view", "info", "diff"], "prompts", "prompts"),
    VerbMeaning("prompts", &["list", "ls"], "", "prompts"),
    VerbMeaning("prompts", &["rm", "remove", "delete"], "prompts forget", "prompts forget -h"),
    VerbMeaning("learnings", &["list", "ls", "show", "add"], "", "learnings"),
    VerbMeaning("learnings", &["rm", "remove", "delete"], "learnings forget", "learnings"),
    VerbMeaning("agents", &["list", "ls", "show"], "", "agents"),
    VerbMeaning("agents", &["test", "try"], "agents check", "agents"),
    VerbMeaning("plan", &["new", "create", "begin", "make"], "plan start", "plan start -h"),
    VerbMeaning("plan", &["ls", "list", "status"], "", "plan show"),
    VerbMeaning("plan", &["accept", "ok"], "plan approve", "plan show"),
    VerbMeaning("plan", &["done", "complete"], "plan finish", "plan show"),
    VerbMeaning("plan", &["cancel", "rm", "delete", "drop"], "plan abandon", "plan show"),
];

/// The calls that may be meant by `word` below the verb `above` (empty: below none), with the words that follow it; the likeliest first.
pub fn calls(above: &str, word: &str, rest: &[&str]) -> Vec<String> {
    let folded = word.to_lowercase();
    let told = VERBS.iter().find(|row| row.group != VerbGroup::Hidden && row.name == joined(above, &folded));
    let mut found: Vec<String> = told.map(|row| with(row.name, rest)).into_iter().collect();
    let means = MEANINGS.iter().filter(|meaning| meaning.0 == above && meaning.1.contains(&folded.as_str()));
    found.extend(means.map(|meaning| if takes(meaning.2, rest) { with(meaning.2, rest) } else { meaning.3.to_owned() }));
    if found.is_empty() && above.is_empty() {
        found.extend(below_another(&folded).map(|name| with(name, rest)));
    }
    if found.is_empty() {
        found.extend(by_slip(above, &folded, rest));
    }
    let mut known = Vec::new();
    found.retain(|call| {
        !known.contains(call) && {
            known.push(call.clone());
            true
        }
    });
    found.truncate(MOST);
    found
}

/// The verbs that may be meant, without arguments.
pub fn verbs(above: &str, word: &str) -> Vec<String> {
    let plain = |call: String| call.split(' ').filter(|word| !word.starts_with('-')).collect::<Vec<_>>().join(" ");
    let mut all: Vec<String> = calls(above, word, &[]).into_iter().map(plain).filter(|verb| !verb.is_empty()).collect();
    all.dedup();
    all
}

/// Whether there are words for the call, which has room for them.
fn takes(call: &str, rest: &[&str]) -> bool {
    !rest.is_empty() && !call.is_empty() && !call.contains(" -") && !call.starts_with('-')
}

fn joined(above: &str, word: &str) -> String {
    format!("{above} {word}").trim_start().to_owned()
}

/// A verb with the words that follow; alone, where it needs some, its help.
fn with(name: &str, rest: &[&str]) -> String {
    let rest: Vec<_> = rest.iter().map(|word| shell_word(word)).collect();
    let call = format!("{name} {}", rest.join(" "));
    if rest.is_empty() && !does_something_alone(name) { format!("{name} -h") } else { call.trim_end().to_owned() }
}

/// Whether a call without arguments is one, and no decision: who has mistyped it is not led to more than what was typed.
fn does_something_alone(name: &str) -> bool {
    super::row(name).is_some_and(|row| short_ways::commonest(name).is_some() || kinds_alone(row))
}

fn kinds_alone(row: &super::VerbRow) -> bool {
    const ALONE: [&str; 22] = [
        "init",
        "demo",
        "run",
        "panel",
        "status",
        "log",
        "graph",
        "events",
        "agents",
        "learnings",
        "prompts",
        "sessions",
        "stats",
        "disk",
        "help",
        "undo",
        "recover",
        "checkpoint create",
        "checkpoint list",
        "task list",
        "gate list",
        "attach",
    ];
    ALONE.contains(&row.name)
}

/// The verbs below others that are called so.
fn below_another(word: &str) -> impl Iterator<Item = &'static str> {
    let last = move |name: &&str| name.split_once(' ').is_some_and(|(above, below)| below == word && above != "signal");
    VERBS.iter().map(|row| row.name).filter(last)
}

/// The verb that differs by a slip, of one word or of two that belong together: `roll back`.
fn by_slip(above: &str, word: &str, rest: &[&str]) -> Option<String> {
    let names = VERBS.iter().filter(|row| row.group != VerbGroup::Hidden).map(|row| row.name);
    let aliases = ALIASES.iter().filter(|(alias, _)| *alias != "add-case").map(|(alias, _)| *alias);
    let below = |name: &'static str| match above {
        "" => (!name.contains(' ')).then_some(name),
        above => name.strip_prefix(above)?.strip_prefix(' '),
    };
    let known: Vec<&str> = names.chain(aliases).filter_map(below).collect();
    if let Some((second, rest)) = rest.split_first()
        && let Some(name) = known.iter().find(|name| **name == format!("{word}{second}"))
    {
        return Some(with(&joined(above, name), rest));
    }
    let name = nearest::to(word, known)?;
    let verb = ALIASES.iter().find(|(alias, _)| *alias == name && above.is_empty()).map_or(name, |(_, verb)| *verb);
    Some(with(&joined(above, verb), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(line: &str) -> Vec<String> {
        let words: Vec<&str> = line.split(' ').collect();
        let above = words[0];
        let above = if super::super::row(above).is_some() && words.len() > 1 { above } else { "" };
        let at = usize::from(!above.is_empty());
        calls(above, words[at], &words[at + 1..])
    }

    #[test]
    fn a_word_of_other_programs_is_understood() {
        for (line, calls) in [
            ("tasks", &["task list"][..]),
            ("tasks task-001", &["task show task-001"]),
            ("approve task-001", &["gate approve task-001"]),
            ("approve", &["gate list"]),
            ("version", &["--version"]),
            ("rm a", &["task archive a", "checkpoint delete a"]),
            ("task rm a b", &["task archive a b"]),
            ("task RM a", &["task archive a"]),
            ("checkpoint rm", &["checkpoint list"]),
            ("create x", &["checkpoint create x"]),
            ("archive a", &["task archive a"]),
            ("config get axiom.mode", &["config show axiom.mode"]),
            ("prompts show 1", &["prompts 1"]),
            ("add Say hello", &["task add Say hello"]),
            ("Status", &["status"]),
        ] {
            assert_eq!(meant(line), calls, "{line}");
        }
        assert_eq!(calls("", "add", &["Say hello"]), ["task add 'Say hello'"]);
    }

    #[test]
    fn a_slip_is_understood_and_nothing_far_away_is_suggested() {
        for (line, calls) in [
            ("chekpoint create x", &["checkpoint create x"][..]),
            ("checkpoint creat", &["checkpoint create"]),
            ("task lst", &["task list"]),
            ("roll back x", &["rollback x"]),
            ("stat", &["status"]),
            ("rollbakc", &["rollback -h"]),
            ("undoo", &["undo"]),
            ("logz", &["log"]),
        ] {
            assert_eq!(meant(line), calls, "{line}");
        }
        for line in ["foo", "nope", "zzzzzz", "x", "task frobnicate a", "HEAD~1", "recover foo", "mess"] {
            assert_eq!(meant(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn every_call_begins_with_a_verb() {
        for VerbMeaning(above, words, call, alone) in MEANINGS {
            assert!(above.is_empty() || super::super::row(above).is_some(), "{above}");
            for word in *words {
                assert!(super::super::row(&joined(above, word)).is_none(), "'{above} {word}' is a verb");
            }
            for call in [call, alone] {
                let name: Vec<&str> = call.split(' ').filter(|word| !word.is_empty() && !word.starts_with('-')).collect();
                assert!(name.is_empty() || super::super::row(&name.join(" ")).is_some(), "{call}");
            }
        }
    }
}

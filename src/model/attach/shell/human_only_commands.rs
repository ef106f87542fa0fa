//! What a command does that is kept for humans: verbs of git axiom's own, by the table of verbs, and what changes its settings another
//! way: git's configuration, the environment, the files that govern it.

use super::table::{self, name_of};
use super::{ShellSurroundings, is_assignment};
use crate::verbs;

/// What each other way to change the settings asks as.
const EDITS: &str = "config edit";
/// The project's folder of ours.
const PROJECT: &str = ".axiom";
/// The section of ours in git's configuration.
const SECTION: &str = "axiom";

/// What a command does that is kept for humans. `inside` says whether the commands before it went into a folder of settings, and then
/// whether this one did.
pub(super) fn kept(before: &[String], words: &[String], at: ShellSurroundings<'_>, inside: &mut bool) -> Vec<String> {
    let own = table::of_git_axiom(words);
    let mut kept: Vec<String> = own.as_deref().and_then(verbs::kept_for_humans).into_iter().collect();
    if sets_variables(before, words, own.is_some()) || changes_git_config(words) || writes_settings(words, at, *inside) {
        kept.push(EDITS.to_owned());
    }
    if let [name, to, ..] = words
        && matches!(name.as_str(), "cd" | "pushd" | "chdir")
    {
        let stays = *inside && !to.starts_with(['/', '.', '~', '-', '$']);
        *inside = stays || names_settings(at, to);
    }
    kept
}

/// Whether a path is of what governs git axiom: the project's folder, git's configuration of the repository, our folder in the git directory, and
/// the user's own file.
pub(super) fn names_settings(at: ShellSurroundings<'_>, path: &str) -> bool {
    let path = if path == "." { at.folder } else { path };
    let below = path.strip_prefix(at.worktree).filter(|_| !at.worktree.is_empty()).unwrap_or(path);
    let parts: Vec<&str> = below.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
    let pair = |one: &str, two: &str| parts.windows(2).any(|pair| *pair == [one, two]);
    let ends = |name: &str| parts.ends_with(&[".git", name]);
    parts.contains(&PROJECT) || pair(".git", SECTION) || pair(".config", "git-axiom") || ends("config") || ends("config.worktree")
}

/// Whether a command sets variables that are git's configuration for those below it.
fn sets_variables(before: &[String], words: &[String], is_own: bool) -> bool {
    let sets = words.first().is_some_and(|word| matches!(word.as_str(), "env" | "export" | "declare" | "typeset" | "set"));
    let rest = if sets { words } else { &[] };
    let is_own = is_own || rest.iter().any(|word| word == "axiom" || name_of(word) == "git-axiom");
    before.iter().chain(rest).filter(|word| is_assignment(word)).any(|word| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
            "GIT_CONFIG_PARAMETERS" => value.to_ascii_lowercase().contains(SECTION),
            // Any file may have a section of ours.
            "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" => is_own && value != "/dev/null",
            _ => name.starts_with("GIT_CONFIG_KEY_") && is_governing(value),
        }
    })
}

/// Whether a key of git's configuration is ours, or brings other files in.
fn is_governing(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let section = key.split(['.', '=']).next().unwrap_or_default();
    matches!(section, SECTION | "include" | "includeif")
}

/// Whether a command of git changes our section of its configuration, or passes values of it on.
fn changes_git_config(words: &[String]) -> bool {
    if words.first().is_none_or(|word| name_of(word) != "git") {
        return false;
    }
    let rest = words.get(1..).unwrap_or_default();
    let Some(called) = table::git(rest) else { return false };
    let own = &rest[..rest.len() - called.len()];
    let passed = own.windows(2).any(|pair| matches!(pair[0].as_str(), "-c" | "--config-env") && is_governing(&pair[1]));
    let passed = passed || own.iter().any(|word| word.strip_prefix("--config-env=").is_some_and(is_governing));
    passed || (called[0] == "config" && writes_config(&called[1..]))
}

/// Whether the arguments of `git config` write a key that governs, or an alias for a verb of ours.
fn writes_config(arguments: &[String]) -> bool {
    const READS: [&str; 12] = [
        "get",
        "list",
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--list",
        "-l",
        "--get-color",
        "--get-colorbool",
        "--show-origin",
        "--show-scope",
    ];
    const TAKES_NEXT: [&str; 8] = ["-f", "--file", "--blob", "-t", "--type", "--default", "--comment", "--value"];
    let has = |names: &[&str]| arguments.iter().any(|word| names.contains(&word.as_str()));
    let mut plain: Vec<&str> = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        if TAKES_NEXT.contains(&word.as_str()) {
            rest.next();
        } else if !word.starts_with('-') {
            plain.push(word);
        }
    }
    let (verb, plain) = match plain.split_first() {
        Some((verb, rest))
            if matches!(*verb, "set" | "unset" | "get" | "list" | "edit" | "rename-section" | "remove-section") =>
        {
            (Some(*verb), rest)
        }
        Some(_) | None => (None, plain.as_slice()),
    };
    if verb == Some("edit") || has(&["-e", "--edit"]) {
        return true;
    }
    let changes = ["--unset", "--unset-all", "--add", "--replace-all", "--remove-section", "--rename-section"];
    let reads = verb.is_none() && !has(&changes) && (has(&READS) || plain.len() < 2);
    if reads || matches!(verb, Some("get" | "list")) {
        return false;
    }
    let names_us = plain.iter().skip(1).any(|value| value.contains(SECTION));
    let renames = verb == Some("rename-section") || has(&["--rename-section"]);
    let keys = plain.iter().take(if renames { 2 } else { 1 });
    keys.into_iter().any(|key| is_governing(key))
        || (plain.first().is_some_and(|key| key.to_ascii_lowercase().starts_with("alias.")) && names_us)
}

/// Whether a command writes into what governs git axiom.
fn writes_settings(words: &[String], at: ShellSurroundings<'_>, inside: bool) -> bool {
    const EDITORS: [&str; 8] = ["vi", "vim", "nano", "ed", "ex", "emacs", "code", "touch"];
    let Some((name, rest)) = words.split_first() else { return false };
    let name = name_of(name);
    let appends = name == ">>" || (name == "tee" && !rest.is_empty());
    if !appends && !table::is_risky(words) && !EDITORS.contains(&name.as_str()) {
        return false;
    }
    // Of what only copies, the target counts.
    let copies = matches!(name.as_str(), "cp" | "rsync" | "install");
    let named: &[String] = if copies && !rest.iter().any(|word| word.starts_with("-t") || word.starts_with("--target")) {
        rest.last().map(std::slice::from_ref).unwrap_or_default()
    } else {
        rest
    };
    let is_relative = |word: &str| !word.starts_with(['/', '-', '~', '$']) && !word.starts_with("..");
    named.iter().any(|word| (inside && is_relative(word)) || paths_in(word).any(|path| names_settings(at, path)))
}

/// What may be a path in a word: `--output=.axiom/x`, `open('.axiom/x', 'w')`.
fn paths_in(word: &str) -> impl Iterator<Item = &str> {
    word.split(|c: char| !(c.is_alphanumeric() || "/\\._-+@$~{}".contains(c))).filter(|path| !path.is_empty() && *path != ".")
}

#[cfg(test)]
mod tests {
    use super::super::{GitAliases, ShellSurroundings, is_setting, kept_for_humans};

    fn at(aliases: GitAliases<'_>) -> ShellSurroundings<'_> {
        ShellSurroundings { aliases, worktree: "/r", folder: "/r" }
    }

    fn kept(text: &str) -> Vec<String> {
        let aliases = |name: &str| match name {
            "ax" => Some("axiom".to_owned()),
            "back" => Some("!git axiom rollback".to_owned()),
            "st" => Some("status".to_owned()),
            "loop" => Some("loop".to_owned()),
            _ => None,
        };
        kept_for_humans(text, at(&aliases))
    }

    #[test]
    fn verbs_for_humans_are_found_however_they_are_written() {
        for (text, verb) in [
            ("git axiom rollback checkpoint x --yes", "rollback checkpoint"),
            ("cd x && /usr/bin/git -C y axiom undo", "undo"),
            ("git -c a=b axiom mode autopilot", "mode"),
            ("/opt/x/bin/git-axiom task edit t --verify true", "task edit"),
            ("sh -c 'git-axiom restore a -- b'", "restore"),
            ("git axiom -C x --json checkpoint delete a", "checkpoint delete"),
            ("git axiom prompts forget --all", "prompts forget"),
            ("git axiom config edit", "config edit"),
            ("env A=b timeout 5 git axiom gate approve --all", "gate approve"),
            ("git axiom detach claude", "detach"),
            ("git axiom lock x -- git axiom undo", "undo"),
            ("git ax -C y undo", "undo"),
            ("git back session --yes", "rollback session"),
            ("git -c alias.z=axiom z undo", "undo"),
            ("git -c 'alias.z=!git axiom undo' z", "undo"),
            ("script -qc 'git axiom mode autopilot' /dev/null", "mode"),
            ("env CLAUDECODE=1 git axiom mode autopilot", "mode"),
            ("echo $(git axiom watch --stop)", "watch"),
        ] {
            assert_eq!(kept(text), [verb], "{text}");
        }
        assert_eq!(kept("git axiom pause; git axiom mode autopilot; git axiom pause"), ["pause", "mode"]);
        for text in [
            "git axiom status",
            "git axiom gate list",
            "git axiom rollback checkpoint x --dry-run",
            "git axiom rollback --help",
            "git axiom checkpoint create",
            "git axiom config show",
            "git axiom prompts",
            "git commit -m 'git axiom rollback'",
            "echo git axiom undo",
            "cat <<EOF\ngit axiom undo\nEOF",
            "git axiom trust --show",
            "git st",
            "git loop",
            "git axiom lock x -- cargo test",
        ] {
            assert_eq!(kept(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_changes_the_settings_asks_as_an_edit_does() {
        for text in [
            "git config axiom.agents.count 3",
            "git config --global AXIOM.agents.count 3",
            "git config --unset axiom.agents.count",
            "git config unset axiom.agents.count",
            "git config set --global axiom.agents.count 3",
            "git config --file .git/config axiom.agents.count 3",
            "git config --remove-section axiom.agents",
            "git -C x config --add axiom.checkpoints.exclude src",
            "git config --edit",
            "git config include.path ../x",
            "git config alias.z 'axiom undo'",
            "git -c axiom.checkpoints.exclude=src axiom checkpoint create",
            "git --config-env=axiom.checkpoints.exclude=X axiom status",
            "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=axiom.agents.count GIT_CONFIG_VALUE_0=3 git axiom status",
            "export GIT_CONFIG_KEY_0=axiom.agents.count",
            "env GIT_CONFIG_PARAMETERS=\"'axiom.agents.count=3'\" git axiom status",
            "GIT_CONFIG_GLOBAL=x git axiom status",
            "env GIT_CONFIG_GLOBAL=x git axiom status",
            "echo x > .axiom/config.toml",
            "echo x >> ./.axiom/config.toml",
            "echo x | tee -a /r/.axiom/config.toml",
            "cat x >> .git/config",
            "sed -i s/a/b/ .axiom/config.toml",
            "rm -rf .axiom",
            "cp x .axiom/hooks/",
            "cd .axiom && echo x > config.toml",
            "cd .axiom/hooks; rm pre-merge.sh",
            "python3 -c \"open('.axiom/config.toml','w')\"",
            "git checkout main -- .axiom",
            "dd if=/dev/zero of=.git/axiom/state/events.jsonl",
        ] {
            assert_eq!(kept(text), ["config edit"], "{text}");
        }
        for text in [
            "git config axiom.agents.count",
            "git config --get axiom.agents.count",
            "git config get axiom.agents.count",
            "git config --list",
            "git config user.name axiom.x",
            "git config alias.s status",
            "GIT_CONFIG_GLOBAL=x git status",
            "cat .axiom/config.toml",
            "cp .axiom/config.toml /tmp/x",
            "git add .axiom",
            "cd .axiom; cd /tmp; echo x > y",
            "rm -rf .axiomatic",
            "echo x > axiom.txt",
            "echo .axiom/x",
        ] {
            assert_eq!(kept(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn files_that_govern_are_told_from_others_by_where_they_lie() {
        let none = |_: &str| None;
        for (path, is) in [
            (".axiom/config.toml", true),
            ("/r/.axiom/hooks/x", true),
            ("/r/.git/config", true),
            ("/elsewhere/.git/config.worktree", true),
            ("/home/u/.config/git-axiom/config.toml", true),
            ("src/.git/config.rs", false),
            ("a.axiom/x", false),
            ("src/config", false),
        ] {
            assert_eq!(is_setting(path, at(&none)), is, "{path}");
        }
        let within = ShellSurroundings { aliases: &none, worktree: "/h/.axiom/r", folder: "/h/.axiom/r/x" };
        assert!(!is_setting("/h/.axiom/r/a", within) && is_setting("/h/.axiom/r/.axiom/a", within));
        assert!(kept_for_humans("rm a", within).is_empty());
        let inside = ShellSurroundings { folder: "/h/.axiom/r/.axiom", ..within };
        assert_eq!(kept_for_humans("rm config.toml", inside), ["config edit"]);
    }
}

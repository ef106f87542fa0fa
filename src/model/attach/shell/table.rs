//! The table of risky commands, and what a command means: its name, the script that it is given, the git command in it.

use super::GitAliases;
use crate::verbs;
use axiom_base::shell_word::quoted_word;

/// Programs that delete, overwrite or move files whatever their arguments are.
const ALWAYS: [&str; 27] = [
    "rm",
    "mv",
    "rmdir",
    "unlink",
    "shred",
    "srm",
    "truncate",
    "dd",
    "cp",
    "install",
    "rsync",
    "patch",
    "trash",
    ">",
    "unzip",
    "del",
    "erase",
    "rd",
    "remove-item",
    "move-item",
    "copy-item",
    "clear-content",
    "set-content",
    "out-file",
    "rename-item",
    "rename",
    "ren",
];
/// Programs that run the command in their arguments.
const WRAPPERS: [&str; 24] = [
    "sudo",
    "doas",
    "env",
    "timeout",
    "gtimeout",
    "nice",
    "ionice",
    "nohup",
    "time",
    "command",
    "exec",
    "builtin",
    "stdbuf",
    "setsid",
    "xargs",
    "parallel",
    "watch",
    "busybox",
    "caffeinate",
    "chronic",
    "flock",
    "unbuffer",
    "rtk",
    "entr",
];
/// Programs that are given a script behind an option that ends with `c`.
const SHELLS: [&str; 10] = ["sh", "bash", "zsh", "dash", "ksh", "fish", "pwsh", "powershell", "script", "su"];
/// Package managers and builders, which have commands that clean up.
const BUILDERS: [&str; 26] = [
    "npm", "pnpm", "yarn", "bun", "cargo", "make", "gmake", "go", "mvn", "mvnw", "gradle", "gradlew", "pip", "pip3", "uv",
    "poetry", "conda", "bundle", "rake", "composer", "dotnet", "bazel", "ninja", "meson", "just", "nx",
];
/// Words of theirs that delete.
const CLEANS: [&str; 14] = [
    "clean",
    "distclean",
    "mrproper",
    "prune",
    "clean-install",
    "ci",
    "uninstall",
    "remove",
    "purge",
    "clobber",
    "veryclean",
    "cleanall",
    "mostlyclean",
    "reset",
];
/// Commands of git that change files, or throw away commits or stashes, whatever their arguments are.
const GIT_ALWAYS: [&str; 24] = [
    "reset",
    "checkout",
    "restore",
    "clean",
    "rebase",
    "switch",
    "merge",
    "pull",
    "cherry-pick",
    "revert",
    "am",
    "apply",
    "rm",
    "mv",
    "read-tree",
    "checkout-index",
    "filter-branch",
    "filter-repo",
    "update-ref",
    "submodule",
    "sparse-checkout",
    "bisect",
    "prune",
    "replace",
];
/// The name of a program: the last part of its path, in lower case.
pub(super) fn name_of(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word).to_ascii_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

pub(super) fn is_wrapper(name: &str) -> bool {
    WRAPPERS.contains(&name)
}

pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// The script that a command is given in its arguments.
pub(super) fn script_of(name: &str, words: &[String]) -> Option<String> {
    let rest = words.get(1..).unwrap_or_default();
    if name == "eval" {
        return Some(rest.join(" "));
    }
    if let Some(own) = of_git_axiom(words) {
        let at = verbs::command_of_lock(&own)?;
        return Some(own.get(at..)?.iter().map(|word| quoted_word(word)).collect::<Vec<_>>().join(" "));
    }
    if is_shell(name) {
        let is_c = |word: &String| {
            let folded = word.to_ascii_lowercase();
            folded == "-command" || (word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))
        };
        let at = rest.iter().position(is_c)?;
        return rest.get(at + 1).cloned();
    }
    if name == "find" || name == "fd" {
        let runs = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec"];
        let at = rest.iter().position(|word| runs.contains(&word.as_str()))?;
        return Some(rest[at + 1..].iter().map(|word| quoted_word(word)).collect::<Vec<_>>().join(" "));
    }
    None
}

/// Whether a command is in the table.
pub(super) fn is_risky(words: &[String]) -> bool {
    let Some(name) = words.first().map(|word| name_of(word)) else { return false };
    let rest = words.get(1..).unwrap_or_default();
    let has = |wanted: &str| rest.iter().any(|word| word == wanted);
    let short = |letter: char| rest.iter().any(|word| is_short(word, letter));
    match name.as_str() {
        "git" => git(rest).is_some_and(|rest| is_risky_git(&rest)),
        "find" => has("-delete"),
        "sed" | "gsed" => short('i') || rest.iter().any(|word| word.starts_with("--in-place")),
        "perl" | "ruby" => short('i'),
        "awk" | "gawk" => has("inplace"),
        "tee" => !has("-a") && !has("--append") && rest.iter().any(|word| !word.starts_with('-') && !word.starts_with("/dev/")),
        "ln" => short('f') || has("--force"),
        "tar" | "bsdtar" => rest.first().is_some_and(|word| word.contains('x')) || has("--extract"),
        "python" | "python3" | "node" | "deno" => rest.iter().any(|word| deletes_in_script(word)),
        _ if BUILDERS.contains(&name.as_str()) => rest.iter().any(|word| CLEANS.contains(&word.as_str())),
        _ => ALWAYS.contains(&name.as_str()),
    }
}

/// Whether a word is a bundle of options with this letter: `-Ei`, `-i.bak`.
pub(super) fn is_short(word: &str, letter: char) -> bool {
    let options = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    options.is_some_and(|rest| rest.chars().take_while(char::is_ascii_alphabetic).any(|c| c == letter))
}

fn deletes_in_script(word: &str) -> bool {
    const CALLS: [&str; 12] = [
        "rmtree",
        "remove(",
        "unlink",
        "rename",
        "truncate",
        ".rm(",
        "rmSync",
        "rmdir",
        "shutil",
        "writeFile",
        "write_text",
        "'w'",
    ];
    CALLS.iter().any(|call| word.contains(call)) || word.contains("\"w\"")
}

/// The words of a git command from its name on, without git's own options.
pub(super) fn git(rest: &[String]) -> Option<Vec<String>> {
    let takes_next = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix"];
    let mut at = 0;
    while let Some(word) = rest.get(at).filter(|word| word.starts_with('-')) {
        at += 1 + usize::from(takes_next.contains(&word.as_str()));
    }
    let words = rest.get(at..).unwrap_or_default();
    (!words.is_empty()).then(|| words.to_vec())
}

fn is_risky_git(words: &[String]) -> bool {
    let rest = words.get(1..).unwrap_or_default();
    let has = |wanted: &[&str]| rest.iter().any(|word| wanted.contains(&word.as_str()));
    let short = |letters: &str| rest.iter().any(|word| letters.chars().any(|letter| is_short(word, letter)));
    let second = rest.first().map_or("", String::as_str);
    match words.first().map_or("", String::as_str) {
        "stash" => !matches!(second, "list" | "show" | "create" | "store"),
        "clean" => !short("n") && !has(&["--dry-run"]),
        "worktree" => matches!(second, "remove" | "prune" | "move" | "repair"),
        "branch" => short("dDmMcCf") || has(&["--delete", "--force", "--move", "--copy"]),
        "push" => {
            let forces = |word: &String| word.starts_with("--force") || word.starts_with('+') || word.starts_with(':');
            short("fd") || has(&["--mirror", "--delete", "--prune"]) || rest.iter().any(forces)
        }
        "tag" => short("df") || has(&["--delete", "--force"]),
        "reflog" => matches!(second, "expire" | "delete"),
        "gc" => rest.iter().any(|word| word.starts_with("--prune")),
        "commit" => has(&["--amend"]),
        "notes" => matches!(second, "remove" | "prune"),
        "lfs" => matches!(second, "prune" | "checkout" | "pull"),
        name => GIT_ALWAYS.contains(&name),
    }
}

/// The words after `git axiom` of a command that calls it.
pub(super) fn of_git_axiom(words: &[String]) -> Option<Vec<String>> {
    let name = words.first().map(|word| name_of(word))?;
    let rest = words.get(1..).unwrap_or_default();
    match name.as_str() {
        "git-axiom" => Some(rest.to_vec()),
        "git" => Some(git(rest).filter(|words| words.first().is_some_and(|word| word == "axiom"))?.split_off(1)),
        _ => None,
    }
}

/// What a command of git means whose name is an alias, as a text: one that the command itself defines, or one that is known.
pub(super) fn without_alias(words: &[String], aliases: GitAliases<'_>) -> Option<String> {
    if name_of(words.first()?) != "git" {
        return None;
    }
    let called = git(words.get(1..)?)?;
    let (name, arguments) = called.split_first()?;
    let key = format!("alias.{name}=");
    let given = words.iter().rev().find_map(|word| word.strip_prefix(&key).map(str::to_owned));
    let meaning = given.or_else(|| aliases(name))?;
    let arguments: String = arguments.iter().map(|word| format!(" {}", quoted_word(word))).collect();
    Some(match meaning.trim().strip_prefix('!') {
        Some(script) => format!("{script}{arguments}"),
        None => format!("git {}{arguments}", meaning.trim()),
    })
}

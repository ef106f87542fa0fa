//! Which shell commands are risky: those that are known to delete, overwrite or move files or commits. Everything that a text
//! hides is looked into: quotes, `sh -c`, substitutions, wrappers, here-documents of shells. Where it is unclear, a command is
//! risky: an unneeded look saves nothing and harms nothing.

mod named;
mod split;
mod table;

pub use named::{NamedFiles, named};
use split::split;

use super::shorten::CUT;

/// How deep commands within commands are looked into.
const DEEPEST: usize = 8;

/// Why a command is risky: the command that makes it so; `None` where none is known to be. One of which only the beginning is known is.
pub fn risk(text: &str) -> Option<String> {
    if text.ends_with(CUT) {
        return Some("a long command".to_owned());
    }
    find(text, DEEPEST, &|words| {
        table::is_risky(words).then(|| words.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(" "))
    })
}

/// The verb of git axiom's own in a command that is for humans only: `rollback`, `checkpoint delete`.
pub fn own_verb(text: &str) -> Option<String> {
    find(text, DEEPEST, &|words| table::own_verb(words))
}

/// The first answer of `ask` for a command in the text.
fn find(text: &str, depth: usize, ask: &dyn Fn(&[String]) -> Option<String>) -> Option<String> {
    if depth == 0 {
        return None;
    }
    split(text).iter().find_map(|words| of_command(words, depth, ask))
}

fn of_command(words: &[String], depth: usize, ask: &dyn Fn(&[String]) -> Option<String>) -> Option<String> {
    let mut words = without_prefix(words);
    loop {
        let name = table::name_of(words.first()?);
        if let Some(found) = ask(words) {
            return Some(found);
        }
        if let Some(script) = table::script_of(&name, words) {
            return find(&script, depth - 1, ask);
        }
        if !table::is_wrapper(&name) {
            return None;
        }
        // What the options of a wrapper take is not known here: any word after it may begin the command.
        let rest = words.get(1..)?;
        if let Some(found) = (1..rest.len()).find_map(|from| of_suffix(&rest[from..], depth, ask)) {
            return Some(found);
        }
        words = without_prefix(rest);
    }
}

/// A command that may begin here, behind a wrapper.
fn of_suffix(words: &[String], depth: usize, ask: &dyn Fn(&[String]) -> Option<String>) -> Option<String> {
    let name = table::name_of(words.first()?);
    ask(words).or_else(|| find(&table::script_of(&name, words)?, depth - 1, ask))
}

/// Without what may stand before a command: words of the shell's grammar and variables.
fn without_prefix(words: &[String]) -> &[String] {
    const GRAMMAR: [&str; 12] = ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "case", "function"];
    let is_prefix = |word: &String| GRAMMAR.contains(&word.as_str()) || is_assignment(word);
    let begin = words.iter().position(|word| !is_prefix(word)).unwrap_or(words.len());
    &words[begin..]
}

fn is_assignment(word: &str) -> bool {
    let name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    word.split_once('=').is_some_and(|(before, _)| name(before.trim_end_matches('+')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_destroys_is_risky_however_it_is_written() {
        for text in RISKY {
            assert!(risk(text).is_some(), "{text}");
        }
        assert!(risk(&format!("ls; cat <<EOF\nxx{CUT}")).is_some(), "what follows is not known");
    }

    #[test]
    fn what_only_looks_is_not() {
        for text in HARMLESS {
            assert_eq!(risk(text), None, "{text}");
        }
    }

    #[test]
    fn no_text_breaks_it() {
        let deep = "sh -c '".repeat(50);
        let open = "$(".repeat(5000);
        for text in ["", "'", "\"", "\\", "$(", "`", "<<", "<<EOF", ";;;", "&&", "(((", "rm\0x", &deep, &open, "\u{feff}é ü"] {
            let _ = (risk(text), own_verb(text));
        }
    }

    #[test]
    fn own_verbs_for_humans_are_found() {
        for (text, verb) in [
            ("git axiom rollback checkpoint x --yes", "rollback"),
            ("cd x && /usr/bin/git -C y axiom undo", "undo"),
            ("sh -c 'git-axiom restore a -- b'", "restore"),
            ("git axiom -C x --json checkpoint delete a", "checkpoint delete"),
            ("git axiom checkpoints cleanup", "checkpoints cleanup"),
            ("git axiom prompts forget --all", "prompts forget"),
            ("git axiom config set attach.keepPrompts 1", "config set"),
            ("env A=b timeout 5 git axiom gate approve --all", "gate"),
            ("git axiom detach claude", "detach"),
            ("git axiom rollback session --no-stop", "rollback"),
        ] {
            assert_eq!(own_verb(text).as_deref(), Some(verb), "{text}");
        }
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
        ] {
            assert_eq!(own_verb(text), None, "{text}");
        }
    }

    const RISKY: [&str; 78] = [
        "rm x",
        "/bin/rm -rf x",
        "\\rm x",
        "'rm' x",
        "\"r\"m x",
        "cd a && rm b",
        "true; rm b",
        "true || rm b",
        "ls | xargs rm",
        "ls | xargs -0 -n 1 rm -f",
        "(cd a; rm b)",
        "{ rm b; }",
        "if true; then rm b; fi",
        "for f in *; do rm \"$f\"; done",
        "while read f; do mv $f x; done",
        "A=b C='d e' rm x",
        "env -i A=b rm x",
        "sudo -u me rm x",
        "timeout 5 rm x",
        "nice -n 5 nohup rm x",
        "sh -c 'rm x'",
        "bash -lc \"cd a && rm x\"",
        "sh -c \"sh -c 'rm x'\"",
        "eval 'rm x'",
        "echo $(rm x)",
        "echo \"$(rm x)\"",
        "echo `rm x`",
        "cat x | sh -c 'rm y' &",
        "bash <<EOF\nrm x\nEOF",
        "bash <<'EOF'\nls\nrm x\nEOF",
        "true\nrm x",
        "true \\\n && rm x",
        "mv a b",
        "rmdir a",
        "unlink a",
        "shred a",
        "truncate -s 0 a",
        "dd if=/dev/zero of=a",
        "cp a b",
        "ls > a",
        "ls >| a",
        "ls &> a",
        "echo x | tee a",
        "find . -name x -delete",
        "find . -exec rm {} \\;",
        "find . -name '*.o' -exec sh -c 'rm \"$1\"' _ {} \\;",
        "sed -i s/a/b/ x",
        "sed -i.bak s/a/b/ x",
        "sed -Ei s/a/b/ x",
        "sed --in-place s/a/b/ x",
        "perl -pi -e s/a/b/ x",
        "git reset --hard",
        "git -C x -c a.b=c reset",
        "/usr/bin/git checkout -- .",
        "git restore .",
        "git clean -fdx",
        "git stash",
        "git stash drop",
        "git rebase main",
        "git switch main",
        "git merge x",
        "git pull",
        "git push --force",
        "git push -f origin main",
        "git push origin +main",
        "git push origin :main",
        "git worktree remove x",
        "git branch -D x",
        "git branch -rd x",
        "git commit --amend",
        "git rm x",
        "git gc --prune=now",
        "cargo clean",
        "npm run clean",
        "make -C x distclean",
        "python3 -c 'import shutil; shutil.rmtree(\"x\")'",
        "rsync -a --delete a/ b/",
        "powershell -Command \"Remove-Item x\"",
    ];

    const HARMLESS: [&str; 32] = [
        "ls -la",
        "git status",
        "git diff HEAD~1 -- rm",
        "git log --oneline | head",
        "git stash list",
        "git stash show -p",
        "git clean -n",
        "git branch -a",
        "git branch new",
        "git push",
        "git push origin main",
        "git commit -m 'rm the old code'",
        "git commit -m \"$(cat <<'EOF'\nrm all of it\nmv x y\nEOF\n)\"",
        "echo rm x",
        "echo 'rm x'",
        "grep -rn 'rm -rf' .",
        "cargo build 2>&1 | tail -3",
        "cargo test > /dev/null 2>&1",
        "make",
        "npm test",
        "npm run build",
        "cat <<EOF\nrm x\nEOF",
        "ls 2>/dev/null",
        "echo x >> log",
        "echo x >&2",
        "find . -name '*.rs'",
        "sed -n 1,5p x",
        "sed s/-i/x/ y",
        "timeout 5 git status",
        "python3 -c 'print(1)'",
        "git worktree list",
        "# rm x",
    ];
}

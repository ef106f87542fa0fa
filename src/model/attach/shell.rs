//! Which shell commands are risky: those that are known to delete, overwrite or move files or commits. Everything that a text
//! hides is looked into: quotes, `sh -c`, substitutions, wrappers, here-documents of shells. Where it is unclear, a command is
//! risky: an unneeded look saves nothing and harms nothing.

pub mod head_moves;
mod human_only_commands;
mod named;
mod split;
mod table;

pub use named::{NamedFiles, named};

use std::cell::RefCell;

use head_moves::HeadMove;
use split::{MOST, split};

use super::shorten::CUT;

/// How deep commands within commands are looked into.
const DEEPEST: usize = 8;

/// What git's aliases stand for.
pub type GitAliases<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A question to a command: what stands before it (variables), and its words.
type ShellCommandQuestion<'a> = &'a dyn Fn(&[String], &[String]) -> Option<String>;

/// Where a command runs.
#[derive(Clone, Copy)]
pub struct ShellSurroundings<'a> {
    /// What git's aliases stand for.
    pub aliases: GitAliases<'a>,
    /// The worktree.
    pub worktree: &'a str,
    /// The folder.
    pub folder: &'a str,
}

impl ShellSurroundings<'_> {
    /// Nothing is known of where it runs.
    pub const UNKNOWN: ShellSurroundings<'static> = ShellSurroundings { aliases: &|_| None, worktree: "", folder: "" };
}

/// Why a command is risky: the command that makes it so; `None` where none is known to be. One of which only the beginning is known is.
pub fn risk(text: &str, aliases: GitAliases<'_>) -> Option<String> {
    if is_too_long(text) {
        return Some("a long command".to_owned());
    }
    let ask = |_: &[String], words: &[String]| {
        table::is_risky(words).then(|| words.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(" "))
    };
    ShellCommandReader { aliases, ask: &ask }.find(text, DEEPEST)
}

/// What a command does that is kept for humans: verbs of git axiom's own as the table of verbs names them (`rollback checkpoint`, `mode`), and
/// `config edit` for each other way to change what governs git axiom.
pub fn kept_for_humans(text: &str, at: ShellSurroundings<'_>) -> Vec<String> {
    let (found, inside) = (RefCell::new(Vec::new()), RefCell::new(human_only_commands::names_settings(at, ".")));
    let ask = |before: &[String], words: &[String]| {
        let mut found = found.borrow_mut();
        for verb in human_only_commands::kept(before, words, at, &mut inside.borrow_mut()) {
            if !found.contains(&verb) {
                found.push(verb);
            }
        }
        None
    };
    ShellCommandReader { aliases: at.aliases, ask: &ask }.find(text, DEEPEST);
    found.into_inner()
}

/// The commands of a text that make commits or move HEAD of the worktree by their own words.
pub fn head_moves(text: &str, at: ShellSurroundings<'_>) -> Vec<HeadMove> {
    let (found, inside) = (RefCell::new(Vec::new()), RefCell::new(true));
    // Behind several wrappers a command is looked at several times, and makes one commit all the same.
    let seen = RefCell::new(Vec::new());
    let ask = |_: &[String], words: &[String]| {
        let this = (words.as_ptr() as usize, words.to_vec());
        if seen.borrow().contains(&this) {
            return None;
        }
        seen.borrow_mut().push(this);
        found.borrow_mut().extend(head_moves::moves(words, at, &mut inside.borrow_mut()));
        None
    };
    ShellCommandReader { aliases: at.aliases, ask: &ask }.find(text, DEEPEST);
    head_moves::with_documents(found.into_inner(), text)
}

/// Whether only the beginning of a text is known, or read.
pub fn is_too_long(text: &str) -> bool {
    text.ends_with(CUT) || (text.len() > MOST && split(text).len() >= MOST)
}

/// Whether a command for whose words this is so is in the text, however it is written there.
pub fn has_command(text: &str, is_it: &dyn Fn(&[String]) -> bool) -> bool {
    find(text, DEEPEST, &|words| is_it(words).then(String::new)).is_some()
}

/// Whether a file that is edited governs git axiom.
pub fn is_setting(path: &str, at: ShellSurroundings<'_>) -> bool {
    human_only_commands::names_settings(at, path)
}

/// The first answer of `ask` for a command in the text, of whose aliases nothing is known.
fn find(text: &str, depth: usize, ask: &dyn Fn(&[String]) -> Option<String>) -> Option<String> {
    ShellCommandReader { aliases: &|_| None, ask: &|_, words| ask(words) }.find(text, depth)
}

/// Looks for the first answer among all commands of a text.
struct ShellCommandReader<'a> {
    aliases: GitAliases<'a>,
    ask: ShellCommandQuestion<'a>,
}

impl ShellCommandReader<'_> {
    fn find(&self, text: &str, depth: usize) -> Option<String> {
        if depth == 0 {
            return None;
        }
        split(text).iter().find_map(|words| self.of_command(words, depth))
    }

    fn of_command(&self, words: &[String], depth: usize) -> Option<String> {
        let (mut before, mut words) = parted(words);
        if words.is_empty() {
            return (self.ask)(before, words);
        }
        loop {
            if let Some(found) = self.of_plain(before, words, depth) {
                return Some(found);
            }
            if !table::is_wrapper(&table::name_of(words.first()?)) {
                return None;
            }
            // What the options of a wrapper take is not known here: any word after it may begin the command.
            let rest = words.get(1..)?;
            if let Some(found) = (1..rest.len()).find_map(|from| self.of_plain(&[], &rest[from..], depth)) {
                return Some(found);
            }
            (before, words) = parted(rest);
        }
    }

    /// A command as it stands, the script in its arguments, and what an alias makes of it.
    fn of_plain(&self, before: &[String], words: &[String], depth: usize) -> Option<String> {
        let name = table::name_of(words.first()?);
        (self.ask)(before, words)
            .or_else(|| self.find(&table::script_of(&name, words)?, depth - 1))
            .or_else(|| self.find(&table::without_alias(words, self.aliases)?, depth - 1))
    }
}

/// What may stand before a command (words of the shell's grammar, and variables), and the command.
fn parted(words: &[String]) -> (&[String], &[String]) {
    const GRAMMAR: [&str; 12] = ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "case", "function"];
    let is_prefix = |word: &String| GRAMMAR.contains(&word.as_str()) || is_assignment(word);
    let begin = words.iter().position(|word| !is_prefix(word)).unwrap_or(words.len());
    words.split_at(begin)
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
            assert!(risk(text, &|_| None).is_some(), "{text}");
        }
        assert!(risk(&format!("ls; cat <<EOF\nxx{CUT}"), &|_| None).is_some(), "what follows is not known");
    }

    #[test]
    fn what_only_looks_is_not() {
        for text in HARMLESS {
            assert_eq!(risk(text, &|_| None), None, "{text}");
        }
    }

    #[test]
    fn no_text_breaks_it() {
        let deep = "sh -c '".repeat(50);
        let open = "$(".repeat(5000);
        for text in ["", "'", "\"", "\\", "$(", "`", "<<", "<<EOF", ";;;", "&&", "(((", "rm\0x", &deep, &open, "\u{feff}é ü"] {
            let _ = (risk(text, &|_| None), kept_for_humans(text, ShellSurroundings::UNKNOWN));
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

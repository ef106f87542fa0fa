//! Which commands of a text make commits or move HEAD by their own words: what a program that they start does is not known.

use super::ShellSurroundings;
use super::table::{self, name_of};

use serde::{Deserialize, Serialize};

/// A command that makes commits or moves HEAD in the worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeadMove {
    /// The command of git: `commit`, `merge`.
    pub command: String,
    /// The first line of the message that a commit is given in the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Its words behind its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
}

/// An entry that a command added to the log of HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadLogEntry {
    /// What was checked out before.
    pub old: String,
    /// What is checked out then.
    pub new: String,
    /// What git says of it: `commit: a subject`.
    pub message: String,
}

/// Commands of git that make commits or move HEAD.
const MOVES: [&str; 14] = [
    "commit",
    "merge",
    "cherry-pick",
    "revert",
    "rebase",
    "am",
    "pull",
    "reset",
    "checkout",
    "switch",
    "branch",
    "bisect",
    "stash",
    "update-ref",
];

/// What a command does to HEAD of the worktree. `inside` says whether the commands before it stayed there, and then whether this one did.
pub(super) fn moves(words: &[String], at: ShellSurroundings<'_>, inside: &mut bool) -> Option<HeadMove> {
    let name = words.first().map(|word| name_of(word))?;
    if matches!(name.as_str(), "cd" | "pushd" | "popd" | "chdir") {
        *inside = words.get(1).is_some_and(|to| *inside && stays(to, at));
        return None;
    }
    let rest = words.get(1..).filter(|_| name == "git")?;
    let called = table::git(rest)?;
    let own = &rest[..rest.len() - called.len()];
    let elsewhere = own.iter().any(|word| word.starts_with("--git-dir") || word.starts_with("--work-tree"))
        || own.windows(2).any(|pair| pair[0] == "-C" && !stays(&pair[1], at));
    let command = called.first().filter(|command| MOVES.contains(&command.as_str()))?;
    let words = called[1..].to_vec();
    let subject = subject(&words).filter(|_| command == "commit");
    let one = HeadMove { command: command.clone(), subject, words };
    (*inside && !elsewhere && one.may_move()).then_some(one)
}

/// Gives commits whose message is a here-document (`-m "$(cat <<'EOF'…`, `-F - <<EOF`) its first line as subject, in order.
pub(super) fn with_documents(mut moves: Vec<HeadMove>, text: &str) -> Vec<HeadMove> {
    let mut subjects = text.split("<<").skip(1).filter_map(|rest| {
        let (_, document) = rest.split_once('\n')?;
        document.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
    });
    let takes_message = |word: &String| word.starts_with("--message") || word == "--file" || ends_bundle(word, &['m', 'F']);
    for one in moves.iter_mut().filter(|one| one.command == "commit" && one.subject.is_none()) {
        if one.words.iter().any(takes_message) {
            one.subject = subjects.next();
        }
    }
    moves
}

/// Whether a word is options of one letter, the last of which is one of these.
fn ends_bundle(word: &str, last: &[char]) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.ends_with(last)
}

impl HeadMove {
    /// What is no option: names of commits, branches, files.
    fn names(&self) -> impl Iterator<Item = &String> {
        self.words.iter().filter(|word| !word.starts_with('-') || word.as_str() == "-")
    }

    /// Whether some word is only known to the shell that runs it.
    fn is_computed(&self) -> bool {
        self.words.iter().any(|word| word.contains(['$', '`', '*']) || word.is_empty())
    }

    /// Whether the command can move HEAD at all: a list of branches does not, nor does a checkout of files.
    fn may_move(&self) -> bool {
        match self.command.as_str() {
            "branch" => {
                let renames = |word: &String| word.starts_with("--move") || word.starts_with("-m") || word.starts_with("-M");
                self.is_computed() || self.words.iter().any(renames)
            }
            "checkout" => !self.words.iter().any(|word| word == "--") && self.words != ["."],
            _ => true,
        }
    }

    /// Whether the command's words lead where the log says that its kind led. A human may have called the same command meanwhile, with
    /// other words, while this one failed.
    fn leads_there(&self, message: &str) -> bool {
        let (action, said) = message.split_once(": ").unwrap_or((message, ""));
        let named = action.split_once(' ').map(|(_, named)| named);
        let has = |word: &str| self.words.iter().any(|own| own == word);
        let names_nothing = || self.names().next().is_none();
        if self.is_computed() {
            return true;
        }
        match (self.command.as_str(), said.rsplit_once(" to ")) {
            // `-` and `@{-1}` are named by what they were; a branch made after a remote's has the end of its name.
            ("checkout" | "switch", Some((from, to))) if from.starts_with("moving from ") => {
                let joined = |own: &String| own.starts_with('-') && own.get(2..) == Some(to);
                self.names().any(|own| own == to || own == "-" || own.starts_with("@{") || own.ends_with(&format!("/{to}")))
                    || self.words.iter().any(joined)
            }
            ("reset", Some((_, to))) if said.starts_with("moving to ") => has(to) || (to == "HEAD" && names_nothing()),
            ("merge" | "pull", _) => match named {
                Some(named) => named.split(' ').all(has) || (self.command == "merge" && names_nothing()),
                None => names_nothing(),
            },
            (_, _) => true,
        }
    }
}

/// Whether a folder that is named is in the worktree for certain.
fn stays(to: &str, at: ShellSurroundings<'_>) -> bool {
    let is_known = !to.contains(['$', '`', '*', '~']) && !to.starts_with('-') && !to.is_empty();
    let leaves = to.split('/').any(|part| part == "..");
    let is_below = |to: &str| to.strip_prefix(at.worktree).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_known && !leaves && (!to.starts_with('/') || (!at.worktree.is_empty() && is_below(to)))
}

/// The first line of the message in the options of `git commit`, where it is in them as it is.
fn subject(options: &[String]) -> Option<String> {
    let mut rest = options.iter();
    while let Some(word) = rest.next() {
        let message = match word.strip_prefix("--message=") {
            Some(message) => Some(message),
            None if ends_bundle(word, &['m']) || word == "--message" => rest.next().map(String::as_str),
            None => None,
        };
        if let Some(message) = message {
            return message
                .lines()
                .next()
                .map(|line| line.trim().to_owned())
                .filter(|line| !line.is_empty() && !line.contains(['$', '`']));
        }
    }
    None
}

/// Whether everything that the log of HEAD tells is by these commands: each entry is of one of them, no more commits than commands
/// that commit, and with their subjects where these are known.
pub fn explain(moves: &[HeadMove], entries: &[HeadLogEntry]) -> bool {
    let mut commits: Vec<&HeadMove> = moves.iter().filter(|one| one.command == "commit").collect();
    // `git stash` cleans the files up by a reset that moves nothing.
    let stays = |entry: &&HeadLogEntry| entry.old == entry.new && entry.message.starts_with("reset: ");
    let follows = entries.windows(2).all(|pair| pair[0].new == pair[1].old);
    follows
        && !entries.is_empty()
        && entries.iter().filter(|entry| !stays(entry)).all(|entry| {
            let (action, said) = entry.message.split_once(": ").unwrap_or((entry.message.as_str(), ""));
            let ends = |command: &str| action == format!("commit ({command})");
            let action = action.split(' ').next().unwrap_or_default().trim_end_matches(':');
            let goes_on = moves.iter().any(|one| matches!(one.command.as_str(), "merge" | "cherry-pick") && ends(&one.command));
            if action != "commit" || goes_on {
                return goes_on || moves.iter().any(|one| says(&one.command, action) && one.leads_there(&entry.message));
            }
            let is_it = |one: &&HeadMove| one.subject.as_deref().is_none_or(|subject| subject == said.trim());
            match commits.iter().position(is_it) {
                Some(place) => {
                    commits.remove(place);
                    true
                }
                None => false,
            }
        })
}

/// Whether git writes this word into the log of HEAD for a command.
fn says(command: &str, action: &str) -> bool {
    match action {
        "checkout" => matches!(command, "checkout" | "switch" | "bisect" | "stash"),
        // `checkout -B` resets the branch first.
        "branch" => matches!(command, "checkout" | "switch" | "branch"),
        "Branch" => command == "branch",
        "" => command == "update-ref",
        action => command == action,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ShellSurroundings, head_moves};
    use super::*;

    fn moves_of(text: &str) -> Vec<(String, Option<String>)> {
        let aliases = |name: &str| match name {
            "ci" => Some("commit -a".to_owned()),
            "save" => Some("!git add -A && git commit -m saved".to_owned()),
            _ => None,
        };
        let at = ShellSurroundings { aliases: &aliases, worktree: "/r", folder: "/r" };
        head_moves(text, at).into_iter().map(|one| (one.command, one.subject)).collect()
    }

    #[test]
    fn what_moves_head_by_its_own_words() {
        let commit = |subject: &str| vec![("commit".to_owned(), Some(subject.to_owned()))];
        for (text, subject) in [
            ("git commit -m x", "x"),
            ("git add . && git commit -qam 'a b'", "a b"),
            ("cd sub && git commit --message='one\n\ntwo'", "one"),
            ("git -C /r/sub commit -m x", "x"),
            ("git ci -m x", "x"),
            ("git save", "saved"),
            ("env A=b timeout 5 git commit -m x", "x"),
            ("sh -c 'git commit -m x'", "x"),
        ] {
            assert_eq!(moves_of(text), commit(subject), "{text}");
        }
        assert_eq!(moves_of("git commit"), [("commit".to_owned(), None)]);
        assert_eq!(moves_of("git rebase main; git switch x").len(), 2);
        for text in [
            "git commit -m \"$(cat <<'EOF'\nx\n\nmore\nEOF\n)\"",
            "git add a && git commit -qF - <<EOF\nx\nEOF",
            "false && git commit -am \"$(cat <<-'END'\n\tx\n\tEND\n)\" && git push",
        ] {
            assert_eq!(moves_of(text), commit("x"), "{text}");
        }
        for text in [
            "git branch",
            "git branch -vv --all",
            "git checkout -- README",
            "git checkout .",
            "npm test",
            "make release",
            "git status",
            "cd ../other && git commit -m x",
            "cd $DIR && git commit -m x",
            "git -C /other commit -m x",
            "git --git-dir=/x/.git commit -m x",
            "echo git commit",
        ] {
            assert_eq!(moves_of(text), [], "{text}");
        }
    }

    #[test]
    fn only_what_the_text_explains_is_the_sessions() {
        let commit =
            |subject: Option<&str>| HeadMove { command: "commit".into(), subject: subject.map(str::to_owned), words: Vec::new() };
        let entry =
            |old: &str, new: &str, message: &str| HeadLogEntry { old: old.into(), new: new.into(), message: message.into() };
        let one = entry("a", "b", "commit: x");
        assert!(explain(&[commit(None)], std::slice::from_ref(&one)));
        assert!(explain(&[commit(Some("x"))], std::slice::from_ref(&one)));
        assert!(!explain(&[commit(Some("y"))], std::slice::from_ref(&one)), "another subject: somebody else's");
        assert!(!explain(&[commit(None)], &[one.clone(), entry("b", "c", "commit: y")]), "one more than it makes");
        assert!(!explain(&[commit(None), commit(None)], &[one.clone(), entry("z", "c", "commit: y")]), "something in between");
        assert!(explain(&[commit(Some("y")), commit(Some("x"))], &[one.clone(), entry("b", "c", "commit (amend): y")]));
        assert!(!explain(&[], std::slice::from_ref(&one)) && !explain(&[commit(None)], &[]));
        let rebase = HeadMove { command: "rebase".into(), subject: None, words: Vec::new() };
        assert!(explain(std::slice::from_ref(&rebase), &[entry("a", "b", "rebase (start): checkout main")]));
        assert!(!explain(&[rebase], &[one]), "a commit by nobody's words");
        let switch = HeadMove { command: "switch".into(), subject: None, words: vec!["x".into(), "main".into()] };
        assert!(explain(std::slice::from_ref(&switch), &[entry("a", "b", "checkout: moving from main to x")]));
        let again = [entry("a", "b", "branch: Reset to x"), entry("b", "b", "checkout: moving from main to main")];
        assert!(explain(&[switch], &again) && !explain(&[commit(None)], &again));
        let stash = [entry("a", "a", "reset: moving to HEAD"), entry("a", "b", "commit: x")];
        assert!(explain(&[commit(None)], &stash), "a stash moves nothing");
        assert!(!explain(&[commit(None)], &[entry("a", "b", "reset: moving to HEAD~1")]));
        let of = |command: &str| HeadMove { command: command.into(), subject: None, words: vec!["x".into()] };
        assert!(explain(&[of("merge")], &[entry("a", "b", "commit (merge): Merge x")]));
        assert!(!explain(&[of("reset")], &[entry("a", "b", "commit (merge): Merge x")]));
        assert!(explain(&[of("update-ref")], &[entry("a", "b", "")]) && !explain(&[of("reset")], &[entry("a", "b", "")]));
        // A human's command of the same kind while this one failed has other words.
        let called = |command: &str, words: &str| HeadMove {
            command: command.into(),
            subject: None,
            words: words.split_whitespace().map(str::to_owned).collect(),
        };
        for (command, words, message, own) in [
            ("checkout", "README", "checkout: moving from main to theirs", false),
            ("checkout", "-b x", "checkout: moving from main to x", true),
            ("checkout", "-bx", "checkout: moving from main to x", true),
            ("switch", "-", "checkout: moving from x to main", true),
            ("checkout", "--track origin/x", "checkout: moving from main to x", true),
            ("merge", "x", "merge theirs: Fast-forward", false),
            ("merge", "--no-ff x", "merge x: Merge made by the 'ort' strategy.", true),
            ("pull", "--rebase nowhere", "pull: Fast-forward", false),
            ("pull", "-q origin main", "pull -q origin main: Fast-forward", true),
            ("reset", "--hard HEAD~1", "reset: moving to HEAD~1", true),
            ("reset", "--hard", "reset: moving to v1", false),
            ("reset", "--hard $BASE", "reset: moving to v1", true),
        ] {
            assert_eq!(explain(&[called(command, words)], &[entry("a", "b", message)]), own, "git {command} {words}: {message}");
        }
        let renamed = "Branch: renamed refs/heads/a to refs/heads/b";
        assert!(explain(&[of("branch")], &[entry("a", "0", renamed), entry("0", "a", renamed)]));
    }
}

//! Which files a risky command names: what it may delete or overwrite, as it is written. Nothing is run, so what only a shell knows is
//! not known here: then all words of the text count, since holding too much harms nothing.

use std::cell::RefCell;

use super::{DEEPEST, find, table};

/// The most names of one text, and the most folders in which they may be meant.
const MOST: usize = 200;
const FOLDERS: usize = 8;

/// What the commands of a text name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedFiles {
    /// The folders in which it may be meant, as `cd` names them, relative to where the text runs.
    pub folders: Vec<String>,
    /// The words: paths, with patterns as a shell has them.
    pub words: Vec<String>,
}

/// What is found while the commands are gone through.
#[derive(Default)]
struct NamedFilesSearch {
    folders: Vec<String>,
    words: Vec<String>,
    /// All words of all commands.
    all: Vec<String>,
    /// Whether a risky command takes what only the shell knows.
    is_unclear: bool,
}

/// What the risky commands of a text name.
pub fn named(text: &str) -> NamedFiles {
    let finding = RefCell::new(NamedFilesSearch { folders: vec![String::new()], ..NamedFilesSearch::default() });
    let nothing = find(text, DEEPEST, &|words| {
        finding.borrow_mut().command(words);
        None
    });
    debug_assert!(nothing.is_none());
    let NamedFilesSearch { folders, mut words, all, is_unclear } = finding.into_inner();
    if is_unclear {
        words.extend(all);
    }
    let mut expanded: Vec<String> = words.iter().flat_map(|word| braces(word)).filter(|word| is_path(word)).collect();
    expanded.sort();
    expanded.dedup();
    expanded.truncate(MOST);
    if expanded.is_empty() { NamedFiles::default() } else { NamedFiles { folders, words: expanded } }
}

impl NamedFilesSearch {
    fn command(&mut self, words: &[String]) {
        let Some(name) = words.first().map(|word| table::name_of(word)) else { return };
        let rest = words.get(1..).unwrap_or_default();
        if self.all.len() < 10 * MOST {
            self.all.extend(rest.iter().cloned());
        }
        if matches!(name.as_str(), "cd" | "pushd" | "set-location") {
            self.enter(rest);
        } else if name == "xargs" || name == "parallel" {
            self.is_unclear |= rest.iter().any(|word| table::is_risky(std::slice::from_ref(word)));
        } else if table::is_risky(words) {
            let before = self.words.len();
            self.risky(&name, rest);
            let from_shell = |word: &String| word.contains('$') || word.contains("{}");
            self.is_unclear |= self.words[before..].iter().any(from_shell);
        }
    }

    fn enter(&mut self, rest: &[String]) {
        let Some(to) = rest.iter().find(|word| !word.starts_with('-')) else { return };
        let from = self.folders.last().cloned().unwrap_or_default();
        let folder = if to.starts_with('/') || from.is_empty() { to.clone() } else { format!("{from}/{to}") };
        if self.folders.len() < FOLDERS && !self.folders.contains(&folder) {
            self.folders.push(folder);
        }
    }

    fn risky(&mut self, name: &str, rest: &[String]) {
        match name {
            "git" => self.git(rest),
            "find" => self.of_find(rest),
            "cp" | "copy-item" | "install" | "rsync" => self.moved(rest, false),
            "mv" | "move-item" | "rename-item" | "ren" => self.moved(rest, true),
            "python" | "python3" | "node" | "deno" | "perl" | "ruby" => {
                self.words.extend(rest.iter().flat_map(|word| quoted_in(word)));
                self.words.extend(plain(rest).cloned());
            }
            "dd" => self.words.extend(rest.iter().filter_map(|word| word.strip_prefix("of=")).map(str::to_owned)),
            _ => self.words.extend(plain(rest).cloned()),
        }
    }

    /// What goes from one place to another: what is overwritten there, and where it goes away, what goes.
    fn moved(&mut self, rest: &[String], goes: bool) {
        let words: Vec<&String> = plain(rest).collect();
        let target = rest.iter().position(|word| word == "-t" || word == "--target-directory").and_then(|at| rest.get(at + 1));
        let Some(target) = target.or_else(|| words.last().copied()) else { return };
        self.words.push(target.clone());
        for word in words.iter().filter(|word| **word != target) {
            let last = word.trim_end_matches('/').rsplit('/').next().unwrap_or(word);
            self.words.push(format!("{}/{last}", target.trim_end_matches('/')));
            if goes {
                self.words.push((*word).clone());
            }
        }
    }

    /// Of git's commands, those that delete or move ignored files.
    fn git(&mut self, rest: &[String]) {
        let Some(words) = table::git(rest) else { return };
        let folder = rest.iter().position(|word| word == "-C").and_then(|at| rest.get(at + 1));
        let of = |word: &str| folder.map_or_else(|| word.to_owned(), |folder| format!("{folder}/{word}"));
        let (verb, more) = (words[0].as_str(), &words[1..]);
        let has = |letter: char, long: &str| more.iter().any(|word| word == long || table::is_short(word, letter));
        let takes_ignored = match verb {
            "clean" => has('x', "-x") || has('X', "-X"),
            "stash" => has('a', "--all"),
            _ => false,
        };
        if takes_ignored {
            let named: Vec<String> = plain(more).filter(|word| verb == "clean" && *word != "--").map(|word| of(word)).collect();
            self.words.extend(if named.is_empty() { vec![of(".")] } else { named });
        }
    }

    /// `find ROOT… -name PATTERN -delete`.
    fn of_find(&mut self, rest: &[String]) {
        let roots = rest.iter().take_while(|word| !word.starts_with('-') && *word != "(" && *word != "!");
        let mut roots: Vec<String> = roots.cloned().collect();
        if roots.is_empty() {
            roots.push(".".to_owned());
        }
        let names = rest.windows(2).filter(|pair| matches!(pair[0].as_str(), "-name" | "-iname")).map(|pair| pair[1].clone());
        let names: Vec<String> = names.collect();
        for root in &roots {
            let root = root.trim_end_matches('/');
            match names.is_empty() {
                true => self.words.push(root.to_owned()),
                false => self.words.extend(names.iter().flat_map(|name| [format!("{root}/{name}"), format!("{root}/**/{name}")])),
            }
        }
    }
}

/// The words that are no options.
fn plain(rest: &[String]) -> impl Iterator<Item = &String> {
    rest.iter().filter(|word| !word.starts_with('-'))
}

/// What is between quotes in a script of another language.
fn quoted_in(script: &str) -> Vec<String> {
    let mut found = Vec::new();
    for quote in ['\'', '"'] {
        found.extend(script.split(quote).skip(1).step_by(2).take(MOST).map(str::to_owned));
    }
    found
}

fn is_path(word: &str) -> bool {
    !word.is_empty() && word.len() < 4096 && !word.starts_with('-') && !word.contains('\0')
}

/// `a{b,c}d` as `abd` and `acd`.
fn braces(word: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![word.to_owned()];
    while let Some(word) = open.pop() {
        let inner = word.rfind('{').and_then(|from| Some((from, from + word[from..].find('}')?)));
        match inner.filter(|(from, to)| word[*from..*to].contains(',') && done.len() + open.len() < MOST) {
            None => done.push(word),
            Some((from, to)) => {
                let parts: Vec<String> =
                    word[from + 1..to].split(',').map(|part| format!("{}{part}{}", &word[..from], &word[to + 1..])).collect();
                open.extend(parts);
            }
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        named(text).words
    }

    #[test]
    fn what_a_risky_command_names_is_found_however_it_is_written() {
        for (text, expected) in [
            ("rm .env", &[".env"][..]),
            ("rm -f -- '.env' \"b c\"", &[".env", "b c"]),
            ("sudo rm .env", &[".env"]),
            ("sh -c 'rm .env'", &[".env"]),
            ("ls; bash -c \"rm -rf build/ && ls\"", &["build/"]),
            ("echo x > .env", &[".env"]),
            ("mv .env old", &[".env", "old", "old/.env"]),
            ("cp new/.env .", &[".", "./.env"]),
            ("rm .env.{local,test}", &[".env.local", ".env.test"]),
            ("rm *.key", &["*.key"]),
            ("dd if=/dev/zero of=data.db", &["data.db"]),
            ("sed -i s/a/b/ .env", &[".env", "s/a/b/"]),
            ("git clean -fdx", &["."]),
            ("git -C sub clean -fX logs", &["sub/logs"]),
            ("git stash --all", &["."]),
            ("find . -name .env -delete", &["./**/.env", "./.env"]),
            ("find logs -delete", &["logs"]),
            ("python3 -c 'import os; os.remove(\".env\")'", &[".env", "import os; os.remove(\".env\")"]),
            ("echo hi | tee .env", &[".env"]),
            ("truncate -s0 .env", &[".env"]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_in_danger_is_not_named() {
        for text in
            ["cat .env", "ls > /dev/null", "git reset --hard", "git clean -fd", "git checkout .", "echo x >> .env", "cargo clean"]
        {
            assert!(!words(text).iter().any(|word| word.contains(".env") || word == "."), "{text}: {:?}", words(text));
        }
    }

    #[test]
    fn what_only_the_shell_knows_makes_all_words_count() {
        for text in
            ["for f in .env b; do rm \"$f\"; done", "echo .env | xargs rm", "ls .env | xargs -I{} rm {}", "F=1; ls .env; rm $F"]
        {
            assert!(words(text).contains(&".env".to_owned()), "{text}: {:?}", words(text));
        }
    }

    #[test]
    fn a_folder_that_is_entered_counts_and_so_does_the_one_before() {
        let named = named("(cd sub && rm .env); cd /abs; cd more && rm x");
        assert_eq!(named.folders, ["", "sub", "/abs", "/abs/more"]);
        assert_eq!(named.words, [".env", "x"]);
        assert_eq!(super::named("cd sub && ls"), NamedFiles::default());
    }

    #[test]
    fn no_text_breaks_it() {
        let many = "rm {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}";
        for text in
            ["", "rm", "rm {", "rm }{", "rm {,}", "mv", "mv a", "find", "git", "git clean -x", "cd", "dd", many, "rm é{ü,ö}"]
        {
            assert!(words(text).len() <= MOST, "{text}");
        }
    }
}

//! What the words after `git axiom restore` mean: a checkpoint and files, or files alone.

use axiom_base::error::{Code, Error, Result};
use axiom_base::shell_word::shell_word;

/// Where restored files come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreSource {
    /// From what an option says, such as a time.
    Given,
    /// From the checkpoint of this name; before `--` also a unique beginning of it.
    Named(String),
    /// From the newest complete checkpoint in which they are not as they are now.
    Newest,
}

/// What is known of a word.
pub trait KnownRestoreWords {
    /// Whether a checkpoint is called exactly so.
    fn is_checkpoint(&self, word: &str) -> bool;
    /// Whether there is a file or folder of that name, here or in the checkpoint of the same name.
    fn is_file(&self, word: &str) -> bool;
}

/// The source of the files, and how many of the words before `--` are no files. `after` is how many paths follow `--`; `given` is whether
/// an option says the source.
pub fn read(words: &[&str], after: usize, given: bool, known: &impl KnownRestoreWords) -> Result<(RestoreSource, usize)> {
    let Some(first) = words.first().copied() else {
        return match (given, after) {
            (true, 0) => Err(no_path("NAME")),
            (true, _) => Ok((RestoreSource::Given, 0)),
            (false, 0) => Err(no_path("NAME")),
            (false, _) => Ok((RestoreSource::Newest, 0)),
        };
    };
    let is_checkpoint = known.is_checkpoint(first);
    if given {
        return match is_checkpoint && !known.is_file(first) {
            true => Err(Error::new(Code::Usage, format!("'{first}' is a checkpoint, and another one is chosen by an option"))
                .hint(format!("git axiom restore {first} PATH    brings back files of this one"))),
            false => Ok((RestoreSource::Given, 0)),
        };
    }
    if words.len() == 1 && after > 0 {
        return Ok((RestoreSource::Named(first.to_owned()), 1));
    }
    match (is_checkpoint, is_checkpoint && known.is_file(first), words.len() + after) {
        (false, ..) => Ok((RestoreSource::Newest, 0)),
        (true, true, _) => Err(both(first, &words[1..])),
        (true, false, 1) => Err(no_path(first)),
        (true, false, _) => Ok((RestoreSource::Named(first.to_owned()), 1)),
    }
}

/// `git restore` never moves HEAD, and whoever forgets the path does not want to lose commits from the branch.
fn no_path(name: &str) -> Error {
    Error::new(Code::Usage, "no path is given: 'restore' brings back files, and nothing else")
        .hint(format!("git axiom restore {name} PATH    brings back these files or folders"))
        .hint(format!("git axiom rollback {name}    goes back whole: files, index, HEAD, branches and tasks"))
}

fn both(name: &str, rest: &[&str]) -> Error {
    let rest: Vec<String> = rest.iter().map(|word| shell_word(word)).collect();
    let files = [vec![shell_word(name)], rest.clone()].concat().join(" ");
    let error = Error::new(Code::AmbiguousName, format!("'{name}' is a checkpoint, and a file or folder too"));
    let error = error.hint(format!("git axiom restore -- {files}    if it is the file"));
    match rest.as_slice() {
        [] => error.hint(format!("git axiom rollback {name}    if it is the checkpoint, and all is to go back")),
        rest => error.hint(format!("git axiom restore {name} -- {}    if it is the checkpoint", rest.join(" "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checkpoints `c` and `both`, files `f` and `both`.
    struct Known;

    impl KnownRestoreWords for Known {
        fn is_checkpoint(&self, word: &str) -> bool {
            ["c", "both"].contains(&word)
        }

        fn is_file(&self, word: &str) -> bool {
            ["f", "both"].contains(&word)
        }
    }

    fn of(words: &[&str], after: usize, given: bool) -> Result<(RestoreSource, usize), Code> {
        read(words, after, given, &Known).map_err(|error| error.code())
    }

    fn named(name: &str) -> Result<(RestoreSource, usize), Code> {
        Ok((RestoreSource::Named(name.to_owned()), 1))
    }

    #[test]
    fn a_word_is_a_checkpoint_only_by_its_exact_name_and_never_silently() {
        let newest = Ok((RestoreSource::Newest, 0));
        assert_eq!(of(&["f"], 0, false), newest);
        assert_eq!(of(&["f", "c"], 0, false), newest);
        assert_eq!(of(&["gone", "f"], 0, false), newest);
        assert_eq!(of(&[], 2, false), newest);
        assert_eq!(of(&["c", "f"], 0, false), named("c"));
        assert_eq!(of(&["c", "f"], 1, false), named("c"));
        // As it was always written, with a beginning of the name too.
        assert_eq!(
            [of(&["c"], 1, false), of(&["both"], 1, false), of(&["bot"], 1, false)],
            [named("c"), named("both"), named("bot")]
        );
        for words in [&["both"][..], &["both", "f"]] {
            assert_eq!(of(words, 0, false), Err(Code::AmbiguousName));
        }
        for (words, given) in [(&["c"][..], false), (&[], false), (&[], true), (&["c", "f"], true)] {
            assert_eq!(of(words, 0, given), Err(Code::Usage), "{words:?}");
        }
        for words in [&["f"][..], &["both"]] {
            assert_eq!(of(words, 0, true), Ok((RestoreSource::Given, 0)));
        }
    }
}

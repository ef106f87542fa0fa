//! Short ways to write a call, written out before the grammar reads it: a verb alone that does its commonest thing, and a number as
//! git takes it, `log -3`.

use std::ffi::{OsStr, OsString};

use super::table::{ALIASES, COMMONEST, COUNTED};

/// The verb below `verb` that is meant where it is called alone: `list` of `task`.
pub fn commonest(verb: &str) -> Option<&'static str> {
    COMMONEST.iter().find(|(name, _)| *name == verb).map(|(_, below)| *below)
}

/// The call as the grammar knows it; the first word is the program.
pub fn written_out(call: &[OsString]) -> Vec<OsString> {
    let own = call.iter().position(|word| word == "--").unwrap_or(call.len());
    let (call, rest) = call.split_at(own);
    let mut call = call.to_vec();
    let words = words_of(&call);
    let Some((at, verb)) = words.first().and_then(|at| Some((*at, known(call.get(*at)?)?))) else {
        return [&call, rest].concat();
    };
    let alone = words.iter().skip(1).all(|at| call.get(*at).is_some_and(|word| number(word).is_some()));
    let below = words.get(1).and_then(|at| call.get(*at)?.to_str());
    let mut name = verb.to_owned();
    match (commonest(verb), below) {
        (Some(common), _) if alone && rest.is_empty() => {
            call.insert(at + 1, common.into());
            name = format!("{verb} {common}");
        }
        (_, Some(below)) if super::row_below(verb, below).is_some() => name = format!("{verb} {below}"),
        (_, _) => {}
    }
    if COUNTED.contains(&name.as_str()) {
        call = counted(call);
    }
    [&call, rest].concat()
}

/// The verb of a word, also by another of its names.
fn known(word: &OsStr) -> Option<&'static str> {
    let word = word.to_str()?;
    let verb = ALIASES.iter().find(|(alias, _)| *alias == word).map_or(word, |(_, verb)| *verb);
    super::row(verb).map(|row| row.name)
}

/// Where the words are that neither are what every verb takes nor are values of that.
fn words_of(call: &[OsString]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut places = call.iter().enumerate().skip(1);
    while let Some((at, word)) = places.next() {
        match word.to_str() {
            Some("-C") => drop(places.next()),
            Some("--json" | "--non-interactive") => {}
            Some(word) if word.starts_with("-C") => {}
            Some(_) | None => found.push(at),
        }
    }
    found
}

/// The number of a word like `-3`.
fn number(word: &OsStr) -> Option<&str> {
    let digits = word.to_str()?.strip_prefix('-')?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

fn counted(call: Vec<OsString>) -> Vec<OsString> {
    let mut out: Vec<OsString> = Vec::with_capacity(call.len() + 1);
    for word in call {
        // The value of an option is left to the grammar, which refuses it by its name.
        let is_value = out.last().is_some_and(|before| before == "-n" || before == "--max-count" || before == "-C");
        match number(&word).filter(|_| !is_value) {
            Some(digits) => {
                let digits = OsString::from(digits);
                out.extend(["-n".into(), digits]);
            }
            None => out.push(word),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        written_out(&words).iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_verb_alone_does_its_commonest_thing() {
        for (line, whole) in [
            ("g task", "g task list"),
            ("g --json task", "g --json task list"),
            ("g task --json -C task", "g task list --json -C task"),
            ("g -Cx checkpoints", "g -Cx checkpoints list"),
            ("g checkpoint -3", "g checkpoint list -n 3"),
            ("g plan", "g plan show"),
        ] {
            assert_eq!(out(line), whole);
        }
        for line in ["g task -h", "g task --status done", "g task add", "g task --", "g", "g signal", "g -C task", "g nonsense"] {
            assert_eq!(out(line), line);
        }
        for (verb, below) in COMMONEST {
            let row = super::super::row_below(verb, below);
            assert!(row.is_some_and(|row| row.callers == super::super::VerbCallers::Everybody), "{verb} {below}");
        }
    }

    #[test]
    fn a_number_is_how_many() {
        for (line, whole) in [
            ("g log -3", "g log -n 3"),
            ("g log -5 --all", "g log -n 5 --all"),
            ("g --json prompts -12", "g --json prompts -n 12"),
            ("g checkpoints list -2", "g checkpoints list -n 2"),
            ("g output t -4", "g output t -n 4"),
        ] {
            assert_eq!(out(line), whole);
        }
        for line in ["g log -n -3", "g log -- -3", "g undo -3", "g log -3x", "g log -", "g restore x -3", "g log -C -3"] {
            assert_eq!(out(line), line);
        }
    }
}

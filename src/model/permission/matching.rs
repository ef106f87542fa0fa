//! Whether a rule is for a command or a path.

use super::plain_command;
use super::requested::{PermissionAct, PermissionPlace};
use crate::attach::shell;
use crate::work::permissions::permission_rule::{PermissionPattern, PermissionRule, PermissionRuleAnswer, PermissionSubject};

/// Whether a rule is for what is asked for. One that allows has to be for all of it; of the others it is enough that a part is meant.
pub(super) fn is_for(rule: &PermissionRule, act: &PermissionAct) -> bool {
    let allows = rule.answer == PermissionRuleAnswer::Allow;
    match (rule.subject, act) {
        (PermissionSubject::Any, PermissionAct::Unknown { .. }) => !allows,
        (PermissionSubject::Any, _) => true,
        (PermissionSubject::Read, PermissionAct::Read { paths }) | (PermissionSubject::Edit, PermissionAct::Edit { paths }) => {
            let fits = |place: &PermissionPlace| fits_path(&rule.pattern, place);
            if allows {
                !paths.is_empty() && paths.iter().all(|path| fits(&path.place))
            } else {
                paths.iter().any(|path| fits(&path.place))
            }
        }
        (PermissionSubject::Command, PermissionAct::Command { text, folder }) => {
            if allows {
                // Elsewhere the same text may mean something else.
                let is_here = folder.is_none() || !matches!(rule.pattern, PermissionPattern::Exactly(_));
                is_here && fits_command(&rule.pattern, text)
            } else {
                names_command(&rule.pattern, text)
            }
        }
        (_, _) => false,
    }
}

fn fits_path(pattern: &PermissionPattern, place: &PermissionPlace) -> bool {
    let Some(path) = place.path() else { return false };
    match pattern {
        // What is outside has to be named.
        PermissionPattern::All => !matches!(place, PermissionPlace::Outside { .. }),
        PermissionPattern::Exactly(text) => text == path,
        PermissionPattern::Like(pattern) => is_like_path(pattern, path),
    }
}

/// A pattern without a slash is for files of that name in any folder of the workspace.
fn is_like_path(pattern: &str, path: &str) -> bool {
    if pattern.starts_with('/') != path.starts_with('/') {
        return false;
    }
    if !pattern.contains('/') {
        return pattern == "**" || path.rsplit('/').next().is_some_and(|name| is_like(pattern, name));
    }
    let (pattern, path): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    parts_are_like(&pattern, &path)
}

fn parts_are_like(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (Some((&"**", [])), _) => !path.is_empty(),
        (Some((&"**", rest)), _) => (0..=path.len()).any(|from| path.get(from..).is_some_and(|path| parts_are_like(rest, path))),
        (Some((first, patterns)), Some((part, parts))) => is_like(first, part) && parts_are_like(patterns, parts),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// `*` stands for any characters. Without recursion, so that no pattern takes long.
fn is_like(pattern: &str, text: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(begin) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part).and_then(|at| text.get(at + part.len()..)) {
            Some(after) => text = after,
            None => return false,
        }
    }
    text.ends_with(end)
}

fn fits_command(pattern: &PermissionPattern, text: &str) -> bool {
    match pattern {
        PermissionPattern::All => true,
        PermissionPattern::Exactly(exactly) => exactly == text.trim(),
        PermissionPattern::Like(pattern) => plain_command::words(text).is_some_and(|words| words_are_like(pattern, &words)),
    }
}

/// Whether a command like this is in the text, however it is written.
fn names_command(pattern: &PermissionPattern, text: &str) -> bool {
    match pattern {
        PermissionPattern::All => true,
        PermissionPattern::Exactly(exactly) => exactly == text.trim(),
        PermissionPattern::Like(pattern) => shell::has_command(text, &|words| words_are_like(pattern, words)),
    }
}

fn words_are_like(pattern: &str, words: &[String]) -> bool {
    let pattern: Vec<&str> = pattern.split_whitespace().collect();
    let (pattern, open) = match pattern.split_last() {
        Some((&"*", rest)) if !rest.is_empty() => (rest, true),
        _ => (pattern.as_slice(), false),
    };
    let fits = pattern.iter().zip(words).all(|(pattern, word)| is_like(pattern, word));
    fits && if open { words.len() >= pattern.len() } else { words.len() == pattern.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::requested::PermissionPath;

    fn allows(rule: &str, act: &PermissionAct) -> bool {
        is_for(&format!("allow {rule}").parse().unwrap(), act)
    }

    fn command(text: &str) -> PermissionAct {
        PermissionAct::Command { text: text.into(), folder: None }
    }

    fn edit(places: &[PermissionPlace]) -> PermissionAct {
        PermissionAct::Edit {
            paths: places.iter().map(|place| PermissionPath { said: String::new(), place: place.clone(), goes: false }).collect(),
        }
    }

    fn inside(relative: &str) -> PermissionPlace {
        PermissionPlace::Inside { relative: relative.into() }
    }

    #[test]
    fn an_allowing_rule_is_for_a_whole_plain_command_only() {
        for (rule, text, fits) in [
            ("command cargo test *", "cargo test", true),
            ("command cargo test *", "cargo test --lib 'a b'", true),
            ("command cargo test", "cargo test --lib", false),
            ("command cargo test *", "cargo test; rm -rf /", false),
            ("command cargo test *", "cargo test $(rm x)", false),
            ("command cargo test *", "cargo test > /etc/x", false),
            ("command cargo test *", "FOO=1 cargo test", false),
            ("command cargo test *", "cargo\ntest", false),
            ("command npm run test:*", "npm run test:unit", true),
            ("command npm run test:*", "npm run test:unit --fix", false),
            ("command = ls *; rm x", "ls *; rm x", true),
            ("command = ls *", "ls a", false),
            ("command", "anything; at all", true),
            ("edit", "ls", false),
        ] {
            assert_eq!(allows(rule, &command(text)), fits, "{rule} / {text}");
        }
    }

    #[test]
    fn a_rejecting_rule_is_for_a_command_wherever_it_is_in_the_text() {
        for (text, fits) in [
            ("git push", true),
            ("cd x && git push -f", true),
            ("sh -c 'git push'", true),
            ("echo $(git push)", true),
            ("git pull", false),
            ("echo git push", false),
        ] {
            assert_eq!(is_for(&"reject command git push *".parse().unwrap(), &command(text)), fits, "{text}");
        }
    }

    #[test]
    fn a_rule_for_files_is_for_all_of_them_or_for_any() {
        let out = PermissionPlace::Outside { path: "/etc/x.sql".into() };
        for (rule, places, fits) in [
            ("edit", vec![inside("a"), inside("b/c")], true),
            ("edit", vec![inside("a"), out.clone()], false),
            ("edit", vec![], false),
            ("edit *.sql", vec![inside("b/c.sql")], true),
            ("edit *.sql", vec![out.clone()], false),
            ("edit src/**", vec![inside("src/a/b.rs")], true),
            ("edit src/**", vec![inside("src")], false),
            ("edit src/*.rs", vec![inside("src/a/b.rs")], false),
            ("edit /etc/*.sql", vec![out.clone()], true),
            ("edit = a", vec![inside("a")], true),
            ("edit = a", vec![inside("a"), inside("b")], false),
            ("edit **", vec![PermissionPlace::Unclear], false),
        ] {
            assert_eq!(allows(rule, &edit(&places)), fits, "{rule} / {places:?}");
        }
        assert!(is_for(&"reject edit *.sql".parse().unwrap(), &edit(&[inside("a"), inside("x.sql")])));
        let unknown = PermissionAct::Unknown { why: String::new() };
        assert!(!allows("any", &unknown) && is_for(&"reject any".parse().unwrap(), &unknown));
    }
}

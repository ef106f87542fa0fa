//! The map of verbs and the list of all, as texts for a terminal of 80 columns. Which verb prints them: `commands::help`.

use axiom_model::verbs::{self, VerbGroup, VerbRow};

/// How far the verbs of the overview are from its edge, and where its lines end.
const INDENT: usize = 12;
const WIDTH: usize = 79;

/// The verbs that people begin with, in words of their own.
const FIRST: [(&str, &str); 9] = [
    ("attach", "have Claude Code, Codex and others save each prompt"),
    ("prompts", "list your prompts, and what each changed"),
    ("rollback", "go back: --prompt 2, a checkpoint, --at '1 hour ago'"),
    ("undo", "take back what git axiom did last, a rollback too"),
    ("task", "add and list planned work"),
    ("run", "let agents work on the tasks, each in a worktree of its own"),
    ("panel", "see and do everything on one screen"),
    ("merge", "merge the work of a task"),
    ("status", "what is happening right now"),
];

/// The map of verbs, made of the table of verbs. It fits a terminal of 80 columns and 24 lines.
pub fn overview_text() -> String {
    let mut text = "git axiom: the safety net and control room for coding agents\n\n".to_owned();
    for (verb, does) in FIRST {
        text.push_str(&format!("  {verb:width$}{does}\n", width = INDENT - 2));
    }
    text.push('\n');
    for (group, heading) in VerbGroup::SHOWN {
        let is_first = |row: &VerbRow| FIRST.iter().any(|(verb, _)| *verb == row.name);
        let named = verbs::all().filter(|row| row.group == group && !row.shown.is_empty() && !is_first(row));
        let verbs = named.map(|row| if row.name.contains(' ') { "" } else { row.name }).filter(|verb| !verb.is_empty());
        let verbs: Vec<&str> = verbs.collect();
        if !verbs.is_empty() {
            let line = format!("  {heading:width$}{}", verbs.join(", "), width = INDENT - 2);
            text.push_str(&folded(&line));
        }
    }
    text.push_str("\nall: git axiom help --all      one: git axiom VERB -h\nwith each: -C PATH, --json, --non-interactive\n");
    text
}

/// All verbs by group, each with what it does.
pub fn all_verbs() -> String {
    let mut text = String::new();
    for (group, heading) in VerbGroup::SHOWN {
        text.push_str(&format!("{heading}:\n"));
        for row in verbs::all().filter(|row| row.group == group) {
            let name = format!("  {:ALL_INDENT$}  ", row.name);
            text.push_str(&folded_at(&format!("{name}{}", row.summary), name.len()));
        }
        text.push('\n');
    }
    text.push_str(
        "with each:\n  -C PATH            run as if started in PATH; may be repeated\n  \
         --json             print one JSON document on standard output\n  \
         --non-interactive  ask nothing, as without a terminal\n  \
         -h, --help         what the verb takes; 'git axiom --help' is the manual page\n",
    );
    text
}

/// How wide the column of verbs is in the list of all.
const ALL_INDENT: usize = 20;

fn folded(line: &str) -> String {
    folded_at(line, INDENT)
}

/// A line as several that fit, each later one set in.
fn folded_at(line: &str, indent: usize) -> String {
    let (head, rest) = line.split_at(indent.min(line.len()));
    let (mut text, mut width) = (head.to_owned(), head.len());
    for (place, word) in rest.split(' ').enumerate() {
        if place > 0 && width + 1 + word.len() > WIDTH {
            text.push_str(&format!("\n{:indent$}{word}", ""));
            width = indent + word.len();
        } else {
            let space = if place > 0 { " " } else { "" };
            text.push_str(&format!("{space}{word}"));
            width += space.len() + word.len();
        }
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(text: &str) -> bool {
        text.lines().all(|line| line.len() < 80 && line.trim_end() == line)
    }

    #[test]
    fn the_overview_names_every_verb_and_fits_a_small_terminal() {
        let text = overview_text();
        let words: Vec<&str> = text.split([' ', ',', ';', '\n']).collect();
        for verb in verbs::all().filter(|row| row.group != VerbGroup::Hidden && !row.name.contains(' ')) {
            assert!(words.contains(&verb.name), "{}", verb.name);
        }
        assert!(text.lines().count() <= 24 && fits(&text), "{text}");
        let first: Vec<&str> = text.lines().skip(2).take(9).filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(first, ["attach", "prompts", "rollback", "undo", "task", "run", "panel", "merge", "status"]);
        assert_eq!((text.matches("--json").count(), text.contains("all: git axiom help --all")), (1, true));
    }

    #[test]
    fn the_list_of_all_has_every_verb_and_the_options_of_all_at_its_end() {
        let text = all_verbs();
        for row in verbs::all().filter(|row| row.group != VerbGroup::Hidden) {
            assert!(text.lines().any(|line| line.starts_with(&format!("  {} ", row.name))), "{}", row.name);
        }
        assert!(fits(&text), "{text}");
        let at = text.find("--non-interactive");
        assert!(at > text.find("completions"), "{text}");
    }
}

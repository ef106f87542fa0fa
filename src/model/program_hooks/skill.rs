//! What agents are told of git axiom: a skill, which is a file of its own, and a few lines in `AGENTS.md` between markers.

use super::edit::HookEditRefusal;

/// The path of the skill in the main worktree. Claude Code, Cursor and opencode look there; others are led by `AGENTS.md`.
pub const SKILL_FILE: &str = ".claude/skills/git-axiom/SKILL.md";
/// The path of the file that agent programs read.
pub const AGENTS_FILE: &str = "AGENTS.md";

const BEGIN: &str = "<!-- >>> git axiom: written by `git axiom init --skill` -->";
const END: &str = "<!-- <<< git axiom -->";

/// The lines in `AGENTS.md`, with their markers at most ten.
const LINES: [&str; 7] = [
    BEGIN,
    "## git axiom: the safety net of this repository",
    "- Look: `git axiom status`, `git axiom task list`, `git axiom task show ID`. Save: `git axiom checkpoint create NAME`.",
    "- Where `AXIOM_TOKEN` is set, report: `git axiom signal complete`, `blocked REASON`, `waiting QUESTION`, `progress PERCENT`.",
    "- For humans only: `rollback`, `undo`, `redo`, `merge`, `gate`, `trust`, `deinit`, `detach`, deleting checkpoints, changing the \
     configuration. Say what you would do and why, and let them call it.",
    "- More: `.claude/skills/git-axiom/SKILL.md`, `git axiom help VERB`.",
    END,
];

/// The skill.
pub const SKILL: &str = "\
---
name: git-axiom
description: How to work in a repository that has git axiom, the safety net for coding agents. Use it to look at tasks, to save a \
checkpoint before something risky, to report progress, to ask the human, and to know which verbs are for humans only.
---

<!-- written by `git axiom init --skill` -->

# git axiom

git axiom saves this repository in checkpoints, committed or not, and runs agents on tasks. `git axiom help` lists its verbs, `git axiom
VERB -h` explains one. `--json` prints one document.

## Look

- `git axiom status`: what is happening right now
- `git axiom task list`, `git axiom task show ID`: the planned work; `git axiom diff ID`: what a task changed
- `git axiom checkpoint list`, `git axiom checkpoint diff NAME`: what was saved, and what has changed since
- `git axiom prompts`, `git axiom log`: what was asked of agents, and what was done

## Save

Before something that cannot be undone (many files at once, generated code, a rebase): `git axiom checkpoint create NAME`. It saves every
worktree, tracked and untracked files, the index and HEAD, and changes none of them. Ignored files are not saved.

## Report, if git axiom started you

The variable `AXIOM_TOKEN` is set then. Work on the task that the prompt names, in this worktree, and on nothing else.

- `git axiom signal progress 40`
- `git axiom signal complete` when the task is done: it is verified, and then merged
- `git axiom signal blocked \"REASON\"` if it cannot be done
- `git axiom signal learning \"TEXT\"`: what later agents ought to know
- `git axiom task add TITLE --parent ID`: work that you found, below your own task
- `git axiom lock NAME -- COMMAND`: a command that only one agent at a time may run

## Ask

- `git axiom signal waiting \"QUESTION\"` if git axiom started you: the human answers at a gate, and you go on with the answer
- otherwise ask in your answer

## For humans only

`rollback`, `restore`, `undo`, `redo`, `merge`, `gate`, `trust`, `mode`, `stop`, `kill`, `redirect`, `recover --yes`, `checkpoint delete`, \
`checkpoint cleanup`,
`prompts forget`, `config edit`, `git config axiom.…`, `attach`, `detach`, `deinit`. Do not call them, also not with `--yes`. Say
which one you would call and why, and let the human decide. After a human went back, files that you have read before are out of
date: read them again.
";

/// The skill in a plugin, which no verb of ours writes.
pub(super) fn plugin_skill() -> String {
    SKILL.replace("<!-- written by `git axiom init --skill` -->\n\n", "")
}

/// A piece of text of ours for agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentInstructions {
    /// The skill: the whole file.
    Skill,
    /// The lines in `AGENTS.md`.
    Agents,
}

impl AgentInstructions {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Agents, Self::Skill];

    /// The path of its file in the main worktree.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Skill => SKILL_FILE,
            Self::Agents => AGENTS_FILE,
        }
    }

    /// The text of the file with it, once and as this version writes it; the same text where that is so already.
    pub fn with(self, text: Option<&str>) -> Result<String, HookEditRefusal> {
        match self {
            Self::Skill => Ok(text.filter(|text| is_skill(text)).unwrap_or(SKILL).to_owned()),
            Self::Agents => with_lines(text.unwrap_or_default()),
        }
    }

    /// The text of the file without it; `None`: nothing else was in it.
    pub fn without(self, text: &str) -> Result<Option<String>, HookEditRefusal> {
        match self {
            Self::Skill => Ok(None),
            Self::Agents => without_lines(text),
        }
    }

    /// Whether the file would be replaced and deleted as a whole though it is not as this version writes it.
    pub fn is_changed(self, text: &str) -> bool {
        match self {
            Self::Skill => !text.trim().is_empty() && !is_skill(text),
            Self::Agents => false,
        }
    }
}

/// Whether a text is the skill, with whatever line ends git has checked it out.
fn is_skill(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').replace("\r\n", "\n") == SKILL
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Where our lines stand, from the first marker to the last.
fn place(text: &str) -> Result<Option<std::ops::Range<usize>>, HookEditRefusal> {
    let odd = || Err("the markers of git axiom in it do not fit each other".to_owned());
    match (text.matches(BEGIN).count(), text.matches(END).count()) {
        (0, 0) => Ok(None),
        (1, 1) => match (text.find(BEGIN), text.find(END)) {
            (Some(from), Some(to)) if from < to => Ok(Some(from..to + END.len())),
            (_, _) => odd(),
        },
        (_, _) => odd(),
    }
}

fn with_lines(text: &str) -> Result<String, HookEditRefusal> {
    let end = line_end(text);
    let lines = LINES.join(end);
    if let Some(place) = place(text)? {
        let (before, after) = (text.get(..place.start).unwrap_or_default(), text.get(place.end..).unwrap_or_default());
        return Ok(format!("{before}{lines}{after}"));
    }
    let gap = match text.trim_start_matches('\u{feff}') {
        "" => "",
        text if text.ends_with('\n') => end,
        _ => &[end, end].concat(),
    };
    Ok(format!("{text}{gap}{lines}{end}"))
}

fn without_lines(text: &str) -> Result<Option<String>, HookEditRefusal> {
    let Some(place) = place(text)? else { return Ok(Some(text.to_owned())) };
    let (before, after) = (text.get(..place.start).unwrap_or_default(), text.get(place.end..).unwrap_or_default());
    let after = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')).unwrap_or(after);
    // The empty line that stands before it is ours too.
    let before = match before.strip_suffix("\r\n\r\n").map(|rest| (rest, "\r\n")) {
        Some((rest, end)) => format!("{rest}{end}"),
        None => before.strip_suffix("\n\n").map_or_else(|| before.to_owned(), |rest| format!("{rest}\n")),
    };
    let rest = format!("{before}{after}");
    Ok((!rest.trim_start_matches('\u{feff}').is_empty()).then_some(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_put_in_once_and_cut_out_to_the_byte() {
        assert!(LINES.len() <= 10);
        for before in ["# Rules\n\nBe kind.\n", "x\r\ny\r\n", "\u{feff}# With a mark\n", "a\n\n\n"] {
            let with = AgentInstructions::Agents.with(Some(before)).unwrap();
            assert_eq!(AgentInstructions::Agents.with(Some(&with)).unwrap(), with, "again");
            assert!(with.starts_with(before) && with.matches(BEGIN).count() == 1);
            assert_eq!(with.contains("\r\n"), before.contains("\r\n"));
            assert!(!with.contains("\r\n") || !with.replace("\r\n", "").contains('\n'), "line ends are not mixed");
            assert_eq!(AgentInstructions::Agents.without(&with).unwrap().as_deref(), Some(before));
            let more = format!("{with}\nmore\n");
            assert_eq!(AgentInstructions::Agents.without(&more).unwrap(), Some(format!("{before}\nmore\n")));
            assert_eq!(AgentInstructions::Agents.with(Some(&more)).unwrap(), more);
        }
        let fresh = AgentInstructions::Agents.with(None).unwrap();
        assert!(fresh.starts_with(BEGIN) && AgentInstructions::Agents.without(&fresh).unwrap().is_none());
        assert_eq!(AgentInstructions::Agents.without("mine\n").unwrap().as_deref(), Some("mine\n"));
    }

    #[test]
    fn an_older_version_is_replaced_in_its_place_and_odd_markers_are_left_alone() {
        let old = format!("a\n\n{BEGIN}\nold words\n{END}\n\nb\n");
        let new = AgentInstructions::Agents.with(Some(&old)).unwrap();
        assert!(
            new.starts_with("a\n\n")
                && new.ends_with("\n\nb\n")
                && !new.contains("old words")
                && new.contains("git axiom status")
        );
        for odd in [format!("{BEGIN}\n"), format!("{END}\n{BEGIN}\n"), format!("{BEGIN}\n{BEGIN}\n{END}\n")] {
            assert!(
                AgentInstructions::Agents.with(Some(&odd)).is_err() && AgentInstructions::Agents.without(&odd).is_err(),
                "{odd}"
            );
        }
    }

    #[test]
    fn the_skill_is_a_file_of_its_own() {
        assert_eq!(AgentInstructions::Skill.with(None).unwrap(), SKILL);
        let crlf = SKILL.replace('\n', "\r\n");
        assert_eq!(AgentInstructions::Skill.with(Some(&crlf)).unwrap(), crlf);
        assert!(
            !AgentInstructions::Skill.is_changed(&crlf)
                && AgentInstructions::Skill.is_changed("mine")
                && !AgentInstructions::Agents.is_changed("mine")
        );
        assert!(SKILL.starts_with("---\nname: git-axiom\ndescription: "));
    }
}

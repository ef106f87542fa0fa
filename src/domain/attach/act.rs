//! What is done at each event. Pure.

use serde::{Deserialize, Serialize};

use super::payload::{HookEvent, Moment};
use super::program::Program;
use super::shell::{self, Surroundings};
use crate::domain::base::ids::CheckpointName;
use crate::domain::checkpoint::document::Trigger;

/// What a hook does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Nothing but noting that the session lives.
    Note,
    /// Makes a checkpoint before it answers: the program waits.
    Save(Trigger),
    /// Keeps the bytes of files that are about to be edited, where no checkpoint has them.
    Keep(Vec<String>),
    /// Hands a line to the joiner: the program does not wait.
    HandOver(Later),
    /// The human is to decide, since the agent is about to do what the table of verbs keeps for humans; before that, what the act needs.
    Decided(Vec<String>, Box<Act>),
}

/// What the joiner is to save.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Later {
    /// A file is about to be edited that was changed since the last look: its bytes are kept.
    Kept {
        /// The file, as the program names it.
        path: String,
        /// The name of the copy of its bytes.
        copy: String,
        /// Its mode in a tree.
        mode: u32,
    },
    /// These files were edited.
    Edited {
        /// The files, as the program names them.
        paths: Vec<String>,
    },
    /// Anything may have changed: a shell command ran.
    Anything,
    /// A prompt waited for its own worktree alone, or not for all of it: everything is looked at, after what else waits.
    Others,
    /// A turn, a subagent or a session ended, or a worktree goes: all worktrees.
    Turn,
    /// A session began: all worktrees.
    Start,
    /// Nothing: a checkpoint was made while the program waited, and what follows from it waits for nobody.
    Made {
        /// Its name.
        checkpoint: CheckpointName,
    },
}

/// What is done at an event, which happens there.
pub fn act(event: &HookEvent, at: Surroundings<'_>) -> Act {
    match &event.moment {
        Moment::SessionStart => Act::HandOver(Later::Start),
        // A prompt within a subagent is the agent's.
        Moment::Prompt { .. } if event.subagent => Act::Note,
        Moment::Prompt { .. } => Act::Save(Trigger::Prompt),
        Moment::BeforeEdit { paths } => {
            let edits = paths.iter().any(|path| shell::is_setting(path, at));
            let act = if paths.is_empty() { Act::Save(Trigger::BeforeShell) } else { Act::Keep(paths.clone()) };
            decided(if edits { vec!["config edit".to_owned()] } else { Vec::new() }, act)
        }
        Moment::BeforeShell { command } => {
            let act = shell::risk(command, at.aliases).map_or(Act::Note, |_| Act::Save(Trigger::BeforeShell));
            decided(shell::kept_for_humans(command, at), act)
        }
        Moment::AfterEdit { paths } if paths.is_empty() => Act::HandOver(Later::Anything),
        Moment::AfterEdit { paths } => Act::HandOver(Later::Edited { paths: paths.clone() }),
        Moment::AfterShell => Act::HandOver(Later::Anything),
        Moment::TurnEnd | Moment::SubagentEnd | Moment::WorktreeRemove | Moment::SessionEnd => Act::HandOver(Later::Turn),
    }
}

/// The act, after which a human decides where something is kept for humans.
fn decided(kept: Vec<String>, act: Act) -> Act {
    if kept.is_empty() { act } else { Act::Decided(kept, Box::new(act)) }
}

/// What one look of the joiner saves, for all lines that came since the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Joined {
    /// Nothing.
    Nothing,
    /// Only these files were named.
    Paths(Vec<String>),
    /// Everything, for this reason.
    All(Trigger),
}

/// What is saved for these lines together.
pub fn joined<'l>(lines: impl Iterator<Item = &'l Later>) -> Joined {
    let (mut paths, mut all) = (Vec::new(), None);
    for line in lines {
        match line {
            Later::Edited { paths: named } => paths.extend(named.iter().cloned()),
            Later::Anything => all = all.or(Some(Trigger::Edits)),
            Later::Turn => all = Some(Trigger::Turn),
            Later::Start => all = all.filter(|trigger| *trigger == Trigger::Turn).or(Some(Trigger::AttachedStart)),
            Later::Made { .. } | Later::Kept { .. } | Later::Others => {}
        }
    }
    paths.sort();
    paths.dedup();
    match all {
        Some(trigger) => Joined::All(trigger),
        None if paths.is_empty() => Joined::Nothing,
        None => Joined::Paths(paths),
    }
}

/// A file whose bytes were kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCopy {
    /// The file, as the program names it.
    pub path: String,
    /// The name of the copy.
    pub copy: String,
    /// Its mode in a tree.
    pub mode: u32,
}

/// The files whose bytes were kept, in the moments that they show: a file that was kept twice begins another one.
pub fn kept<'l>(lines: impl Iterator<Item = &'l Later>) -> Vec<Vec<KeptCopy>> {
    let mut moments: Vec<Vec<KeptCopy>> = Vec::new();
    for line in lines {
        let Later::Kept { path, copy, mode } = line else { continue };
        let one = KeptCopy { path: path.clone(), copy: copy.clone(), mode: *mode };
        match moments.last_mut().filter(|moment| moment.iter().all(|known| known.path != *path)) {
            Some(moment) => moment.push(one),
            None => moments.push(vec![one]),
        }
    }
    moments
}

/// Whether a program waits for the checkpoint of this trigger: what follows from it is the joiner's.
pub fn is_waited_for(trigger: Trigger) -> bool {
    matches!(trigger, Trigger::Prompt | Trigger::BeforeShell)
}

/// What the environment variables of agent programs are called: with one of them and no terminal, an agent is calling.
pub const VARIABLES: [(&str, Program); 6] = [
    ("CLAUDECODE", Program::Claude),
    ("CODEX_SANDBOX", Program::Codex),
    ("CODEX_THREAD_ID", Program::Codex),
    ("GEMINI_CLI", Program::Gemini),
    ("OPENCODE", Program::Opencode),
    ("CURSOR_AGENT", Program::Cursor),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn event(moment: Moment) -> HookEvent {
        HookEvent { session: "s".into(), folder: None, name: String::new(), subagent: false, moment }
    }

    fn shell(command: &str) -> Act {
        act(&event(Moment::BeforeShell { command: command.into() }), Surroundings::UNKNOWN)
    }

    #[test]
    fn only_prompts_and_risky_commands_are_waited_for() {
        let prompt = Moment::Prompt { text: "x".into() };
        assert_eq!(act(&event(prompt.clone()), Surroundings::UNKNOWN), Act::Save(Trigger::Prompt));
        assert_eq!(act(&HookEvent { subagent: true, ..event(prompt) }, Surroundings::UNKNOWN), Act::Note);
        assert_eq!(shell("ls"), Act::Note);
        assert_eq!(shell("rm x"), Act::Save(Trigger::BeforeShell));
        let before = Moment::BeforeEdit { paths: vec!["a".into()] };
        assert_eq!(act(&event(before), Surroundings::UNKNOWN), Act::Keep(vec!["a".into()]));
        for (moment, later) in [
            (Moment::SessionStart, Later::Start),
            (Moment::AfterShell, Later::Anything),
            (Moment::AfterEdit { paths: Vec::new() }, Later::Anything),
            (Moment::AfterEdit { paths: vec!["a".into()] }, Later::Edited { paths: vec!["a".into()] }),
            (Moment::TurnEnd, Later::Turn),
            (Moment::SubagentEnd, Later::Turn),
            (Moment::WorktreeRemove, Later::Turn),
            (Moment::SessionEnd, Later::Turn),
        ] {
            assert_eq!(act(&event(moment), Surroundings::UNKNOWN), Act::HandOver(later));
        }
    }

    /// What the human then allows destroys nothing that was not saved.
    #[test]
    fn what_a_human_decides_is_saved_before() {
        let undo = || vec!["undo".to_owned()];
        assert_eq!(shell("git axiom undo; rm x"), Act::Decided(undo(), Box::new(Act::Save(Trigger::BeforeShell))));
        assert_eq!(shell("git axiom undo"), Act::Decided(undo(), Box::new(Act::Note)));
        let paths = vec![".axiom/config.toml".to_owned()];
        let edits = act(&event(Moment::BeforeEdit { paths: paths.clone() }), Surroundings::UNKNOWN);
        assert_eq!(edits, Act::Decided(vec!["config edit".into()], Box::new(Act::Keep(paths))));
    }

    #[test]
    fn bytes_that_were_kept_of_one_file_twice_are_two_moments() {
        let line = |path: &str, copy: &str| Later::Kept { path: path.into(), copy: copy.into(), mode: 0o100_644 };
        let of = |lines: &[Later]| {
            let copies = |moment: Vec<KeptCopy>| moment.into_iter().map(|one| one.copy).collect::<Vec<_>>();
            kept(lines.iter()).into_iter().map(copies).collect::<Vec<_>>()
        };
        assert!(of(&[Later::Anything]).is_empty());
        assert_eq!(of(&[line("a", "1"), Later::Anything, line("b", "2")]), [["1", "2"]]);
        assert_eq!(of(&[line("a", "1"), line("b", "2"), line("a", "3")]), [vec!["1", "2"], vec!["3"]]);
        assert_eq!(joined([line("a", "1")].iter()), Joined::Nothing);
    }

    #[test]
    fn lines_that_came_together_are_saved_together() {
        let edited = |path: &str| Later::Edited { paths: vec![path.into()] };
        let of = |lines: &[Later]| joined(lines.iter());
        assert_eq!(of(&[]), Joined::Nothing);
        let made = Later::Made { checkpoint: CheckpointName::new("prompt-0001").unwrap() };
        assert_eq!(of(&[made, Later::Others]), Joined::Nothing);
        assert_eq!(of(&[edited("b"), edited("a"), edited("b")]), Joined::Paths(vec!["a".into(), "b".into()]));
        assert_eq!(of(&[edited("b"), Later::Anything]), Joined::All(Trigger::Edits));
        assert_eq!(of(&[Later::Turn, Later::Start, Later::Anything]), Joined::All(Trigger::Turn));
        assert_eq!(of(&[Later::Anything, Later::Start]), Joined::All(Trigger::AttachedStart));
    }
}

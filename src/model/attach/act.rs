//! What is done at each event. Pure.

use serde::{Deserialize, Serialize};

use super::acp::hook_call::ANNOUNCED;
use super::payload::{AgentHookEvent, AgentHookMoment};
use super::shell::{self, ShellSurroundings};
use crate::agent::attached_program::AttachedProgram;
use crate::base::ids::CheckpointName;
use crate::checkpoint::trigger::CheckpointTrigger;

/// What a hook does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttachAction {
    /// Nothing but noting that the session lives.
    Note,
    /// Makes a checkpoint before it answers: the program waits.
    Save(CheckpointTrigger),
    /// Keeps the bytes of files that are about to be edited, where no checkpoint has them.
    Keep(Vec<String>),
    /// Hands a line to the joiner: the program does not wait.
    HandOver(DeferredSave),
    /// The human is to decide, since the agent is about to do what the table of verbs keeps for humans; before that, what the act needs.
    Decided(Vec<String>, Box<AttachAction>),
}

/// What the joiner is to save.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DeferredSave {
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
pub fn act(event: &AgentHookEvent, at: ShellSurroundings<'_>) -> AttachAction {
    match &event.moment {
        AgentHookMoment::SessionStart => AttachAction::HandOver(DeferredSave::Start),
        // A prompt within a subagent is the agent's.
        AgentHookMoment::Prompt { .. } if event.subagent => AttachAction::Note,
        // What it goes back to is before it, and going back saves what there is.
        AgentHookMoment::PluginCommand => AttachAction::Note,
        AgentHookMoment::Prompt { .. } | AgentHookMoment::AnswerEnd => AttachAction::Save(CheckpointTrigger::Prompt),
        // Nobody can keep it from what may have begun.
        AgentHookMoment::BeforeEdit { paths } if event.name == ANNOUNCED && !paths.is_empty() => {
            AttachAction::Keep(paths.clone())
        }
        AgentHookMoment::BeforeShell { command } if event.name == ANNOUNCED && shell::risk(command, at.aliases).is_none() => {
            AttachAction::Note
        }
        AgentHookMoment::BeforeEdit { .. } | AgentHookMoment::BeforeShell { .. } if event.name == ANNOUNCED => {
            AttachAction::Save(CheckpointTrigger::AnnouncedShell)
        }
        AgentHookMoment::BeforeEdit { paths } => {
            let edits = paths.iter().any(|path| shell::is_setting(path, at));
            let act = if paths.is_empty() {
                AttachAction::Save(CheckpointTrigger::BeforeShell)
            } else {
                AttachAction::Keep(paths.clone())
            };
            decided(if edits { vec!["config edit".to_owned()] } else { Vec::new() }, act)
        }
        AgentHookMoment::BeforeShell { command } => {
            let act = shell::risk(command, at.aliases)
                .map_or(AttachAction::Note, |_| AttachAction::Save(CheckpointTrigger::BeforeShell));
            decided(shell::kept_for_humans(command, at), act)
        }
        AgentHookMoment::AfterEdit { paths } if paths.is_empty() => AttachAction::HandOver(DeferredSave::Anything),
        AgentHookMoment::AfterEdit { paths } => AttachAction::HandOver(DeferredSave::Edited { paths: paths.clone() }),
        AgentHookMoment::AfterShell => AttachAction::HandOver(DeferredSave::Anything),
        // What there is then is saved, without a number to go back to: what an edit or a risky command may destroy is saved before it.
        AgentHookMoment::OwnPrompt
        | AgentHookMoment::TurnEnd
        | AgentHookMoment::SubagentEnd
        | AgentHookMoment::WorktreeRemove
        | AgentHookMoment::SessionEnd => AttachAction::HandOver(DeferredSave::Turn),
    }
}

/// The act, after which a human decides where something is kept for humans.
fn decided(kept: Vec<String>, act: AttachAction) -> AttachAction {
    if kept.is_empty() { act } else { AttachAction::Decided(kept, Box::new(act)) }
}

/// What one look of the joiner saves, for all lines that came since the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JoinedSave {
    /// Nothing.
    Nothing,
    /// Only these files were named.
    Paths(Vec<String>),
    /// Everything, for this reason.
    All(CheckpointTrigger),
}

/// What is saved for these lines together.
pub fn joined<'l>(lines: impl Iterator<Item = &'l DeferredSave>) -> JoinedSave {
    let (mut paths, mut all) = (Vec::new(), None);
    for line in lines {
        match line {
            DeferredSave::Edited { paths: named } => paths.extend(named.iter().cloned()),
            DeferredSave::Anything => all = all.or(Some(CheckpointTrigger::Edits)),
            DeferredSave::Turn => all = Some(CheckpointTrigger::Turn),
            DeferredSave::Start => {
                all = all.filter(|trigger| *trigger == CheckpointTrigger::Turn).or(Some(CheckpointTrigger::AttachedStart))
            }
            DeferredSave::Made { .. } | DeferredSave::Kept { .. } | DeferredSave::Others => {}
        }
    }
    paths.sort();
    paths.dedup();
    match all {
        Some(trigger) => JoinedSave::All(trigger),
        None if paths.is_empty() => JoinedSave::Nothing,
        None => JoinedSave::Paths(paths),
    }
}

/// A file whose bytes were kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFileCopy {
    /// The file, as the program names it.
    pub path: String,
    /// The name of the copy.
    pub copy: String,
    /// Its mode in a tree.
    pub mode: u32,
}

/// The files whose bytes were kept, in the moments that they show: a file that was kept twice begins another one.
pub fn kept<'l>(lines: impl Iterator<Item = &'l DeferredSave>) -> Vec<Vec<KeptFileCopy>> {
    let mut moments: Vec<Vec<KeptFileCopy>> = Vec::new();
    for line in lines {
        let DeferredSave::Kept { path, copy, mode } = line else { continue };
        let one = KeptFileCopy { path: path.clone(), copy: copy.clone(), mode: *mode };
        match moments.last_mut().filter(|moment| moment.iter().all(|known| known.path != *path)) {
            Some(moment) => moment.push(one),
            None => moments.push(vec![one]),
        }
    }
    moments
}

/// Whether a program waits for the checkpoint of this trigger: what follows from it is the joiner's.
pub fn is_waited_for(trigger: CheckpointTrigger) -> bool {
    matches!(trigger, CheckpointTrigger::Prompt | CheckpointTrigger::BeforeShell | CheckpointTrigger::AnnouncedShell)
}

/// The variable of an agent that `git axiom acp` has started: it saves for it.
pub const BEHIND_ACP: &str = "AXIOM_ACP";

/// What the environment variables of agent programs are called: with one of them and no terminal, an agent is calling.
pub const VARIABLES: [(&str, AttachedProgram); 7] = [
    // First: what it runs may set one of the others.
    (BEHIND_ACP, AttachedProgram::Acp),
    ("CLAUDECODE", AttachedProgram::Claude),
    ("CODEX_SANDBOX", AttachedProgram::Codex),
    ("CODEX_THREAD_ID", AttachedProgram::Codex),
    ("GEMINI_CLI", AttachedProgram::Gemini),
    ("OPENCODE", AttachedProgram::Opencode),
    ("CURSOR_AGENT", AttachedProgram::Cursor),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn event(moment: AgentHookMoment) -> AgentHookEvent {
        AgentHookEvent {
            session: "s".into(),
            folder: None,
            name: String::new(),
            subagent: false,
            transcript: None,
            agent: None,
            moment,
        }
    }

    fn shell(command: &str) -> AttachAction {
        act(&event(AgentHookMoment::BeforeShell { command: command.into() }), ShellSurroundings::UNKNOWN)
    }

    #[test]
    fn only_prompts_and_risky_commands_are_waited_for() {
        let prompt = AgentHookMoment::Prompt { text: "x".into() };
        assert_eq!(act(&event(prompt.clone()), ShellSurroundings::UNKNOWN), AttachAction::Save(CheckpointTrigger::Prompt));
        assert_eq!(act(&AgentHookEvent { subagent: true, ..event(prompt) }, ShellSurroundings::UNKNOWN), AttachAction::Note);
        let ended = act(&event(AgentHookMoment::AnswerEnd), ShellSurroundings::UNKNOWN);
        assert_eq!(ended, AttachAction::Save(CheckpointTrigger::Prompt), "the next prompt begins with it");
        assert_eq!(shell("ls"), AttachAction::Note);
        assert_eq!(shell("rm x"), AttachAction::Save(CheckpointTrigger::BeforeShell));
        let before = AgentHookMoment::BeforeEdit { paths: vec!["a".into()] };
        assert_eq!(act(&event(before), ShellSurroundings::UNKNOWN), AttachAction::Keep(vec!["a".into()]));
        for (moment, later) in [
            (AgentHookMoment::SessionStart, DeferredSave::Start),
            (AgentHookMoment::AfterShell, DeferredSave::Anything),
            (AgentHookMoment::AfterEdit { paths: Vec::new() }, DeferredSave::Anything),
            (AgentHookMoment::AfterEdit { paths: vec!["a".into()] }, DeferredSave::Edited { paths: vec!["a".into()] }),
            (AgentHookMoment::OwnPrompt, DeferredSave::Turn),
            (AgentHookMoment::TurnEnd, DeferredSave::Turn),
            (AgentHookMoment::SubagentEnd, DeferredSave::Turn),
            (AgentHookMoment::WorktreeRemove, DeferredSave::Turn),
            (AgentHookMoment::SessionEnd, DeferredSave::Turn),
        ] {
            assert_eq!(act(&event(moment), ShellSurroundings::UNKNOWN), AttachAction::HandOver(later));
        }
    }

    /// What the human then allows destroys nothing that was not saved.
    #[test]
    fn what_a_human_decides_is_saved_before() {
        let undo = || vec!["undo".to_owned()];
        assert_eq!(
            shell("git axiom undo; rm x"),
            AttachAction::Decided(undo(), Box::new(AttachAction::Save(CheckpointTrigger::BeforeShell)))
        );
        assert_eq!(shell("git axiom undo"), AttachAction::Decided(undo(), Box::new(AttachAction::Note)));
        let paths = vec![".axiom/config.toml".to_owned()];
        let edits = act(&event(AgentHookMoment::BeforeEdit { paths: paths.clone() }), ShellSurroundings::UNKNOWN);
        assert_eq!(edits, AttachAction::Decided(vec!["config edit".into()], Box::new(AttachAction::Keep(paths))));
    }

    #[test]
    fn bytes_that_were_kept_of_one_file_twice_are_two_moments() {
        let line = |path: &str, copy: &str| DeferredSave::Kept { path: path.into(), copy: copy.into(), mode: 0o100_644 };
        let of = |lines: &[DeferredSave]| {
            let copies = |moment: Vec<KeptFileCopy>| moment.into_iter().map(|one| one.copy).collect::<Vec<_>>();
            kept(lines.iter()).into_iter().map(copies).collect::<Vec<_>>()
        };
        assert!(of(&[DeferredSave::Anything]).is_empty());
        assert_eq!(of(&[line("a", "1"), DeferredSave::Anything, line("b", "2")]), [["1", "2"]]);
        assert_eq!(of(&[line("a", "1"), line("b", "2"), line("a", "3")]), [vec!["1", "2"], vec!["3"]]);
        assert_eq!(joined([line("a", "1")].iter()), JoinedSave::Nothing);
    }

    #[test]
    fn lines_that_came_together_are_saved_together() {
        let edited = |path: &str| DeferredSave::Edited { paths: vec![path.into()] };
        let of = |lines: &[DeferredSave]| joined(lines.iter());
        assert_eq!(of(&[]), JoinedSave::Nothing);
        let made = DeferredSave::Made { checkpoint: CheckpointName::new("prompt-0001").unwrap() };
        assert_eq!(of(&[made, DeferredSave::Others]), JoinedSave::Nothing);
        assert_eq!(of(&[edited("b"), edited("a"), edited("b")]), JoinedSave::Paths(vec!["a".into(), "b".into()]));
        assert_eq!(of(&[edited("b"), DeferredSave::Anything]), JoinedSave::All(CheckpointTrigger::Edits));
        assert_eq!(
            of(&[DeferredSave::Turn, DeferredSave::Start, DeferredSave::Anything]),
            JoinedSave::All(CheckpointTrigger::Turn)
        );
        assert_eq!(of(&[DeferredSave::Anything, DeferredSave::Start]), JoinedSave::All(CheckpointTrigger::AttachedStart));
    }
}

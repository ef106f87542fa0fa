//! A checkpoint that a hook waits for: what is saved, what follows, and what is said where it failed.

use std::path::{Path, PathBuf};

use super::super::prompt_lines::first_line;
use super::super::saving::{self, SaveOutcome, SaveRequest};
use super::super::went_back::went_back;
use super::super::{command_paths, not_saved};
use super::AttachHookCall;
use crate::checkpoint::files_of_worktree;
use axiom_base::env;
use axiom_base::error::Error;
use axiom_git::NamedPaths;
use axiom_model::attach::act::DeferredSave;
use axiom_model::attach::hook_answer::AgentHookAnswer;
use axiom_model::attach::payload::AgentHookMoment;
use axiom_model::attach::shell;
use axiom_model::checkpoint::stamp::AttachedSessionStamp;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_store::beside::attach::prompt_files::NotSavedPromptLine;

impl AttachHookCall {
    pub(super) fn save(&self, trigger: CheckpointTrigger) -> AgentHookAnswer {
        let (stamp, own) = (Some(self.stamp.clone()), Some(PathBuf::from(&self.stamp.worktree)));
        let first_line = if let AgentHookMoment::Prompt { text } = &self.event.moment { Some(first_line(text)) } else { None };
        let wanted = SaveRequest { stamp, own, named: self.named(), first_line, ..SaveRequest::all(trigger) };
        match saving::in_time(&self.repo, wanted) {
            Ok(saved) => self.saved(&saved, trigger),
            Err(error) => self.failed(trigger, &error),
        }
    }

    /// What the command that is about to run names.
    fn named(&self) -> NamedPaths {
        match &self.event.moment {
            AgentHookMoment::BeforeShell { command } => command_paths::places(&shell::named(command), &self.folder),
            AgentHookMoment::SessionStart
            | AgentHookMoment::Prompt { .. }
            | AgentHookMoment::OwnPrompt
            | AgentHookMoment::PluginCommand
            | AgentHookMoment::BeforeEdit { .. }
            | AgentHookMoment::AfterEdit { .. }
            | AgentHookMoment::AfterShell
            | AgentHookMoment::AnswerEnd
            | AgentHookMoment::TurnEnd
            | AgentHookMoment::SubagentEnd
            | AgentHookMoment::WorktreeRemove
            | AgentHookMoment::SessionEnd => NamedPaths::default(),
        }
    }

    fn saved(&self, saved: &SaveOutcome, trigger: CheckpointTrigger) -> AgentHookAnswer {
        let mut answer = AgentHookAnswer::default();
        let is_prompt = trigger == CheckpointTrigger::Prompt;
        let mut seen = None;
        self.note(|session| {
            session.unprotected = None;
            session.sees_excludes(&saved.ctx);
            if is_prompt {
                seen = Some(session.seen).filter(|_| session.prompts > 0);
                session.prompts += 1;
                session.seen = saved.ctx.state().seq;
            }
        });
        let told = seen.zip(saved.record.as_ref());
        let now = |record| files_of_worktree(&saved.ctx, record, &self.stamp.worktree);
        if let Some(fact) = told.and_then(|(seen, record)| went_back(&saved.ctx, &self.stamp.worktree, seen, || now(record))) {
            answer = AgentHookAnswer::context(self.program, &self.event.name, &fact);
        }
        if let Some(record) = &saved.record {
            self.hand_over(DeferredSave::Made { checkpoint: record.name.clone() });
        }
        // The other worktrees, and what there was no time for, are looked at while the program goes on.
        if (is_prompt && self.has_others) || !saved.all_read {
            self.hand_over(DeferredSave::Others);
        }
        answer
    }

    /// Nothing was saved: the human is asked before a risky command where the program can ask; else the work goes on and `status`
    /// says it.
    fn failed(&self, trigger: CheckpointTrigger, error: &Error) -> AgentHookAnswer {
        self.note(|session| session.unprotected = Some(error.to_string()));
        let config = saving::open(Path::new(&self.stamp.worktree)).map(|ctx| ctx.config.attach.clone()).ok();
        let asks = config.as_ref().is_none_or(|attach| attach.on_failure == "ask");
        if trigger == CheckpointTrigger::Prompt {
            self.note_not_saved(error, config.is_some_and(|attach| attach.prompt_text == "local"));
        }
        if trigger != CheckpointTrigger::BeforeShell || !asks {
            return AgentHookAnswer::default();
        }
        let reason = format!("git axiom could not save what this command may destroy: {error}");
        AgentHookAnswer::ask(self.program, &self.event.name, &reason)
    }

    /// The timeline shows the prompt, to which nobody can go back.
    pub(super) fn note_not_saved(&self, error: &Error, keeps: bool) {
        let AttachedSessionStamp { program, session, worktree } = self.stamp.clone();
        let (at, until, why) = (self.began, env::now(), error.to_string());
        let prompt = NotSavedPromptLine { at, until, program, session, worktree, text: None, why };
        let text = if let AgentHookMoment::Prompt { text } = &self.event.moment { Some(text.as_str()) } else { None };
        let text = text.filter(|_| keeps);
        if let Err(error) = not_saved::note(&self.files, prompt, text) {
            tracing::debug!(%error, "a prompt that was not saved is not in the list of prompts");
        }
    }
}

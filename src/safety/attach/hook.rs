//! One call of a hook: what it says is read, the session is noted, and what is to be done is done or handed over. `hook_repository` finds
//! where, `prepare` what nobody named, `calls` what another hook has done.

mod calls;
mod hook_repository;
mod keeping;
mod outside_worktree;
mod prepare;
mod saving_at_once;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use super::call_folder::folder_of;
use super::turn_watch::{self, WatchedTurn};
use super::went_back::told_meanwhile;
use super::{join, sessions, unusable};
use crate::attach::join::joiner_line::JoinerLine;
use crate::attach::sessions::attached_session::AttachedSession;
use crate::attach::since::own_commits;
use crate::attach::since::own_commits::OwnCommitTracker;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::Repository;
use axiom_model::agent::attached_program::AttachedProgram;
use axiom_model::agent::hook_call_source::HookCallSource;
use axiom_model::attach::act::{AttachAction, BEHIND_ACP, DeferredSave, act};
use axiom_model::attach::head_history::HeadPosition;
use axiom_model::attach::hook_answer::AgentHookAnswer;
use axiom_model::attach::payload::{self, AgentHookEvent, AgentHookMoment};
use axiom_model::attach::read_call::read_call;
use axiom_model::attach::shell::ShellSurroundings;
use axiom_model::checkpoint::stamp::{AttachedSessionStamp, session_key};
use axiom_store;
use axiom_store::beside::attach::AttachFiles;
use axiom_store::beside::fired;
use axiom_store::layout::StoreLayout;
use calls::HookCallTurn;
use hook_repository::{NoHookRepository, repository_around, without_variables};

/// A call that concerns a repository of ours.
struct AttachHookCall {
    program: AttachedProgram,
    event: AgentHookEvent,
    folder: PathBuf,
    stamp: AttachedSessionStamp,
    repo: Arc<Repository>,
    /// The git directory of the session's worktree.
    git_dir: PathBuf,
    /// What is checked out in the session's worktree now.
    head: HeadPosition,
    /// Whether the repository has other worktrees.
    has_others: bool,
    /// When it came.
    began: Timestamp,
    files: AttachFiles,
}

/// Who calls, and by which of its hooks.
#[derive(Debug, Clone, Copy)]
pub struct HookCaller {
    /// The program.
    pub program: AttachedProgram,
    /// Where its hook stands.
    pub source: HookCallSource,
}

/// What a program sent, shortened.
#[derive(Debug, Default)]
pub struct HookPayload {
    /// The bytes of its JSON.
    pub bytes: Vec<u8>,
    /// Whether it was not sent to its end in time.
    pub is_late: bool,
}

/// Does what an event asks for and returns what is answered. Never fails: what was not saved is noted in the session.
pub fn run(caller: HookCaller, payload: &HookPayload, here: &Path) -> AgentHookAnswer {
    let HookPayload { bytes, is_late } = payload;
    let program = caller.program;
    if let Some(event) = read_call(program, bytes) {
        if is_behind_acp(program) && !event.moment.is_before_an_act() {
            return AgentHookAnswer::default();
        }
        return match AttachHookCall::of(caller, event, here) {
            Ok(call) => call.act_once(caller, bytes),
            Err(NoHookRepository::SwitchedOff) => AgentHookAnswer::default(),
            Err(NoHookRepository::Nothing) => without_variables(caller, bytes, here).unwrap_or_else(|| {
                // Read once more here, since the event of every other call would be copied for it.
                let Some(event) = read_call(program, bytes) else { return AgentHookAnswer::default() };
                unusable::note(program, &event, here);
                nothing_is_saved(program, &event, here)
            }),
        };
    }
    if (*is_late || !bytes.is_empty()) && !payload::is_payload(bytes) {
        unreadable(caller, here);
    }
    AgentHookAnswer::default()
}

/// Whether something of ours stands between the agent and its editor, which saves for it but for what waits only here.
fn is_behind_acp(program: AttachedProgram) -> bool {
    program != AttachedProgram::Acp && env::var(BEHIND_ACP).is_some()
}

/// The session that a call is about: one that is known by its editor is that one.
fn stamp_of(files: &AttachFiles, program: AttachedProgram, session: &str, worktree: String) -> AttachedSessionStamp {
    let of_editor = Some(session_key(AttachedProgram::Acp, session)).filter(|_| is_behind_acp(program));
    match of_editor.filter(|key| files.session(key).is_some()) {
        Some(session) => AttachedSessionStamp { program: AttachedProgram::Acp, session, worktree },
        None => AttachedSessionStamp { program, session: session_key(program, session), worktree },
    }
}

/// What whoever stands between an editor and its agent tells the human, who sees no list of sessions there.
fn nothing_is_saved(program: AttachedProgram, event: &AgentHookEvent, here: &Path) -> AgentHookAnswer {
    if program != AttachedProgram::Acp {
        return AgentHookAnswer::default();
    }
    let folder = folder_of(event, here);
    let stderr = format!("'{}' is in no repository that can be used: nothing is saved\n", folder.display());
    AgentHookAnswer { stderr, ..AgentHookAnswer::default() }
}

/// The hook of this event could not be run to its end: what it would have saved is not saved.
pub(crate) fn failed_to_run(caller: HookCaller, event: AgentHookEvent, here: &Path, error: &Error) {
    let is_prompt = matches!(event.moment, AgentHookMoment::Prompt { .. });
    let Ok(call) = AttachHookCall::of(caller, event, here) else { return };
    call.note(|session| session.unprotected = Some(error.to_string()));
    if is_prompt {
        call.note_not_saved(error, false);
    }
}

/// A call that says nothing that can be read: what there is now is saved in the background, and the session says that it is not protected.
fn unreadable(caller: HookCaller, here: &Path) {
    let event = AgentHookEvent::without_payload("unreadable", AgentHookMoment::AfterShell);
    let Ok(mut call) = AttachHookCall::of(caller, event, here) else { return };
    if let Some(known) = sessions::of_caller(&call.files, caller.program) {
        call.stamp.session = known;
    }
    call.hand_over(DeferredSave::Anything);
    call.note(|session| {
        session.unprotected = Some("what its hook was sent could not be read, so nothing was saved before it".to_owned());
    });
}

impl AttachHookCall {
    fn of(caller: HookCaller, event: AgentHookEvent, here: &Path) -> Result<Self, NoHookRepository> {
        let began = env::now();
        let folder = folder_of(&event, here);
        let repo = repository_around(&folder, caller.source).inspect_err(|why| {
            if *why == NoHookRepository::Nothing {
                outside(caller.program, &event, &folder);
            }
        })?;
        Self::within(caller.program, event, (repo, &folder), began).ok_or(NoHookRepository::Nothing)
    }

    fn within(
        program: AttachedProgram,
        event: AgentHookEvent,
        (repo, folder): (Repository, &Path),
        began: Timestamp,
    ) -> Option<Self> {
        let layout = StoreLayout::new(repo.common_dir());
        let files = AttachFiles::of(&layout);
        files.ensure().ok()?;
        let folder = folder.canonicalize().ok()?;
        let linked = repo.worktrees().list_linked().ok()?;
        let all = repo.worktrees().main_worktree().ok().into_iter().chain(linked);
        let all: Vec<_> = all.collect();
        let around = all.iter().filter(|worktree| folder.starts_with(worktree.path()));
        let own = around.max_by_key(|worktree| worktree.path().as_os_str().len())?;
        let of_it = StoreLayout::of_worktree(repo.common_dir(), own.git_dir());
        if let Err(error) = fired::mark(&of_it, program.as_str(), &event.name) {
            tracing::debug!(%error, "that a hook was called was not noted");
        }
        let worktree = own.path().to_str()?.to_owned();
        let git_dir = own.git_dir().to_owned();
        let head = repo.refs().head(own).map(|head| own_commits::position(&head)).unwrap_or_default();
        let has_others = all.len() > 1;
        let stamp = stamp_of(&files, program, &event.session, worktree);
        let repo = Arc::new(repo);
        Some(Self { program, event, folder, stamp, repo, git_dir, head, has_others, began, files })
    }

    /// Does what is asked for, unless another hook of the program tells of the same act and has done it.
    fn act_once(&self, caller: HookCaller, payload: &[u8]) -> AgentHookAnswer {
        match calls::begin(&self.files, caller, (&self.folder, payload)) {
            HookCallTurn::Mine(held) => {
                let answer = self.act();
                held.done();
                answer
            }
            HookCallTurn::Done => AgentHookAnswer::default(),
        }
    }

    fn act(&self) -> AgentHookAnswer {
        let aliases = |name: &str| self.repo.settings().alias(name);
        let folder = self.folder.display().to_string();
        let act = act(&self.event, ShellSurroundings { aliases: &aliases, worktree: &self.stamp.worktree, folder: &folder });
        let is_prompt = matches!(self.event.moment, AgentHookMoment::Prompt { .. });
        let answer = self.carry_out(act);
        if is_prompt || self.event.moment == AgentHookMoment::OwnPrompt {
            self.watch_turn();
        }
        // A prompt has looked already.
        if is_prompt || answer != AgentHookAnswer::default() {
            return answer;
        }
        let (files, stamp) = (&self.files, &self.stamp);
        let fact =
            AgentHookAnswer::is_read_by_agent(self.program, &self.event.name).then(|| told_meanwhile(files, stamp)).flatten();
        fact.map_or(answer, |fact| AgentHookAnswer::context(self.program, &self.event.name, &fact))
    }

    fn own_commits(&self) -> OwnCommitTracker<'_> {
        OwnCommitTracker {
            repo: &self.repo,
            worktree: &self.stamp.worktree,
            folder: &self.folder,
            git_dir: &self.git_dir,
            head: &self.head,
        }
    }

    fn carry_out(&self, act: AttachAction) -> AgentHookAnswer {
        let (outside, nested) = match &act {
            AttachAction::Keep(paths) | AttachAction::HandOver(DeferredSave::Edited { paths }) => {
                (self.outside(paths), self.nested(paths))
            }
            AttachAction::Note | AttachAction::Save(_) | AttachAction::HandOver(_) | AttachAction::Decided(..) => {
                Default::default()
            }
        };
        if !outside.is_empty() || !nested.is_empty() {
            self.note(|session| {
                session.named_outside(outside);
                session.named_nested(nested);
            });
        }
        match act {
            AttachAction::Note => {
                self.note(|_| {});
                AgentHookAnswer::default()
            }
            AttachAction::Save(trigger) => self.save(trigger),
            AttachAction::Keep(paths) => {
                self.keep(&paths);
                AgentHookAnswer::default()
            }
            AttachAction::HandOver(later) => {
                let ends = self.event.moment == AgentHookMoment::SessionEnd;
                self.note(|session| session.ended = ends);
                self.hand_over(later);
                AgentHookAnswer::default()
            }
            AttachAction::Decided(verbs, before) => {
                self.carry_out(*before);
                // Where nobody is asked, nobody allows it.
                let asked = if self.program.can_ask() { verbs.clone() } else { Vec::new() };
                self.note(|session| session.asked = asked);
                AgentHookAnswer::decided(self.program, &self.event.name, &verbs)
            }
        }
    }

    fn note(&self, change: impl FnOnce(&mut AttachedSession)) {
        let mut session = sessions::of(&self.files, &self.stamp);
        // A subagent may have a worktree of its own, and a shell may go to another.
        if !self.event.subagent && begins_here(&self.event.moment) {
            session.worktree.clone_from(&self.stamp.worktree);
        }
        match &self.event.moment {
            AgentHookMoment::BeforeShell { command } => {
                session.call = Some(self.own_commits().begins(command));
                session.call_in = Some(self.stamp.worktree.clone());
            }
            AgentHookMoment::AfterShell => {
                let call = session.call_ends();
                self.own_commits().add(&self.files, &mut session, call);
            }
            // What was committed until here by others is theirs.
            AgentHookMoment::Prompt { .. }
            | AgentHookMoment::SessionStart
            | AgentHookMoment::AnswerEnd
            | AgentHookMoment::TurnEnd
            | AgentHookMoment::SessionEnd => drop(session.call_ends()),
            AgentHookMoment::OwnPrompt
            | AgentHookMoment::PluginCommand
            | AgentHookMoment::BeforeEdit { .. }
            | AgentHookMoment::AfterEdit { .. }
            | AgentHookMoment::SubagentEnd
            | AgentHookMoment::WorktreeRemove => {}
        }
        session.learn_of_agent(&self.event, self.program != self.stamp.program);
        session.rests =
            matches!(self.event.moment, AgentHookMoment::AnswerEnd | AgentHookMoment::TurnEnd | AgentHookMoment::SessionEnd);
        if !matches!(self.event.moment, AgentHookMoment::BeforeShell { .. } | AgentHookMoment::BeforeEdit { .. }) {
            session.asked.clear();
        }
        change(&mut session);
        if let Err(error) = sessions::write(&self.files, &session) {
            tracing::debug!(%error, "the session was not noted");
            // On a full disk too it is told that something was not saved.
            if session.unprotected.is_some() && self.files.mark_unsaved(&session.id).is_err() {
                tracing::debug!("nothing tells that something was not saved");
            }
        }
    }

    fn hand_over(&self, later: DeferredSave) {
        let (folder, worktree) = (self.folder.display().to_string(), self.stamp.worktree.clone());
        let line = JoinerLine { stamp: Some(self.stamp.clone()), worktree, folder, later };
        let handed = self.files.hand_over(&serde_json::to_vec(&line).unwrap_or_default());
        if let Err(error) = handed.and_then(|()| join::start(&self.files, Path::new(&self.stamp.worktree))) {
            self.note(|session| session.unprotected = Some(error.to_string()));
        }
    }

    /// Claude Code calls no hook when its turn is interrupted.
    fn watch_turn(&self) {
        let transcript =
            self.event.transcript.as_ref().filter(|_| self.program == AttachedProgram::Claude && !self.event.subagent);
        let Some(transcript) = transcript.map(PathBuf::from).filter(|path| path.is_absolute()) else { return };
        let turn = WatchedTurn { session: self.stamp.session.clone(), transcript };
        if let Err(error) = turn_watch::start(&self.files, Path::new(&self.stamp.worktree), &turn) {
            tracing::debug!(%error, "an interruption is not seen before the next prompt");
        }
    }
}

/// Whether something of the session itself begins, where it is.
fn begins_here(moment: &AgentHookMoment) -> bool {
    matches!(moment, AgentHookMoment::Prompt { .. } | AgentHookMoment::SessionStart | AgentHookMoment::AnswerEnd)
}

/// A prompt in no repository: where repositories are in the folder, it is noted that nothing was saved of them.
fn outside(program: AttachedProgram, event: &AgentHookEvent, folder: &Path) {
    let is_prompt = matches!(event.moment, AgentHookMoment::Prompt { .. });
    if !is_prompt || !Repository::discover(folder).is_err_and(|error| error.code() == Code::NotARepository) {
        return;
    }
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    if let Err(error) = axiom_store::beside::unsaved_prompts::note(program.as_str(), &folder) {
        tracing::debug!(%error, "that a prompt was sent in no repository was not noted");
    }
}

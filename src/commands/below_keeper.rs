//! Verbs that an agent may not call: those that decide for a human, or that stop, change or verify the work of other agents.

use super::config::Config;
use super::task::Task;
use crate::commands::grammar::arguments::Verb;

/// The name of a verb that is refused below a keeper, whatever its arguments; `None` for other verbs. Verbs that can also
/// only show something (gates, checkpoints, rollbacks, recovery, the mode, approvals) refuse their other uses themselves, once they
/// have read their arguments.
pub(super) fn refused(verb: &Verb) -> Option<&'static str> {
    match verb {
        Verb::Run(_) | Verb::Pause(_) | Verb::Resume(_) | Verb::Stop(_) | Verb::Kill(_) | Verb::Quit(_) => Some(verb.name()),
        // There the supervisor saves.
        Verb::Watch(_) => Some(verb.name()),
        Verb::Redirect(_) | Verb::Debug(_) | Verb::Panel(_) => Some(verb.name()),
        Verb::Merge(_) | Verb::Rollback(_) | Verb::Restore(_) | Verb::Undo(_) | Verb::Redo(_) => Some(verb.name()),
        Verb::Task(task) => of_task(task),
        Verb::Plan(plan) => plan.for_humans(),
        Verb::Config(config) => of_config(config),
        Verb::Learnings(learnings) => learnings.change(),
        Verb::Agents(agents) => agents.starts(),
        Verb::Disk(disk) => disk.deletes(),
        Verb::Attach(attach) => attach.writes().then_some("attach"),
        Verb::Detach(_) => Some("detach"),
        Verb::Deinit(_) => Some("deinit"),
        Verb::Purge(_) => Some("purge"),
        Verb::Init(init) => init.writes_project(),
        Verb::Prompts(prompts) => prompts.forgets(),
        Verb::Demo(_)
        | Verb::Sessions(_)
        | Verb::Hook(_)
        | Verb::Stats(_)
        | Verb::Status(_)
        | Verb::Output(_)
        | Verb::Log(_)
        | Verb::Graph(_)
        | Verb::Events(_)
        | Verb::Diff(_)
        | Verb::Mode(_)
        | Verb::Gate(_)
        | Verb::Checkpoint(_)
        | Verb::Recover(_)
        | Verb::Signal(_)
        | Verb::Trust(_)
        | Verb::Hooks(_)
        | Verb::Lock(_)
        | Verb::Completions(_)
        | Verb::Man(_)
        | Verb::Help(_)
        | Verb::Keeper(_) => None,
    }
}

fn of_task(task: &Task) -> Option<&'static str> {
    match task {
        // Verify steps, the body and the dependencies decide whether an agent's work is accepted.
        Task::Edit(_) => Some("task edit"),
        Task::Block(_) => Some("task block"),
        Task::Unblock(_) => Some("task unblock"),
        Task::Archive(_) => Some("task archive"),
        Task::Import(_) => Some("task import"),
        Task::Add(_) | Task::List(_) | Task::Show(_) | Task::Audit(_) => None,
    }
}

fn of_config(config: &Config) -> Option<&'static str> {
    match config {
        // Limits, verification and programs of agents are in it.
        Config::Set(_) => Some("config set"),
        Config::Unset(_) => Some("config unset"),
        Config::Edit(_) => Some("config edit"),
        Config::Restore(_) => Some("config restore"),
        Config::Reset(_) => Some("config reset"),
        Config::Show(_) | Config::Check {} => None,
    }
}

//! Every row of the table.

use super::{Command, Of, Row};
use crate::panel::input::Key::{self, Char};

const fn row(command: Command, name: &'static str, keys: &'static [Key], of: Of, words: (&'static str, &'static str)) -> Row {
    Row { command, name, keys, of, short: words.0, words: words.1, footer: 0 }
}

const fn shown(place: u8, row: Row) -> Row {
    Row { footer: place, ..row }
}

/// Every key of the panel.
pub const TABLE: &[Row] = &[
    shown(
        4,
        row(
            Command::Stop,
            "stop",
            &[Char('s')],
            Of::Agent,
            ("stop", "Stop the agent; its task waits for you, its workspace stays"),
        ),
    ),
    row(Command::Redirect, "redirect", &[Char('r')], Of::Agent, ("redirect", "Send the agent to another task")),
    shown(
        5,
        row(Command::Kill, "kill", &[Char('x')], Of::Agent, ("kill", "End the agent at once; what it reported is discarded")),
    ),
    row(Command::Logs, "logs", &[Char('l')], Of::Agent, ("output", "Show the agent's output")),
    row(
        Command::Fullscreen,
        "fullscreen",
        &[Char('f')],
        Of::Agent,
        ("full screen", "Show its output on the whole screen, and back"),
    ),
    shown(
        6,
        row(Command::Block, "block", &[Char('b')], Of::Task, ("block", "Block the task with a reason; its agent is stopped")),
    ),
    row(Command::Unblock, "unblock", &[Char('u')], Of::Task, ("unblock", "Make a blocked or failed task pending again")),
    row(
        Command::RollBackTask,
        "rollback-task",
        &[Char('R')],
        Of::Task,
        ("take back", "Take the task back: its commits are reverted"),
    ),
    row(Command::Edit, "edit", &[Char('e')], Of::Task, ("edit", "Edit the task's instructions in your editor")),
    row(Command::Debug, "debug", &[Char('d')], Of::Task, ("debug", "Open its workspace in your editor; its agent is held")),
    row(Command::Diff, "diff", &[Char('D')], Of::Task, ("diff", "Show what the task changed, untracked files too")),
    shown(
        3,
        row(
            Command::Pause,
            "pause",
            &[Char(' ')],
            Of::Everything,
            ("pause", "Pause all agents when their iterations end; again: at once; resume"),
        ),
    ),
    shown(7, row(Command::Mode, "mode", &[Char('m')], Of::Everything, ("mode", "Change the mode: semi-auto, review, autopilot"))),
    shown(
        8,
        row(Command::Checkpoint, "checkpoint", &[Char('c')], Of::Everything, ("checkpoint", "Make a checkpoint of everything")),
    ),
    row(
        Command::NewCheckpoint,
        "new-checkpoint",
        &[Char('n')],
        Of::Everything,
        ("named", "Make a checkpoint with a name of yours"),
    ),
    row(
        Command::Checkpoints,
        "checkpoints",
        &[Char('C')],
        Of::Everything,
        ("checkpoints", "Show the checkpoints: go back to one, delete, pack"),
    ),
    row(
        Command::RollBackSession,
        "rollback-session",
        &[Char('S')],
        Of::Everything,
        ("session", "Go back to the beginning of the session"),
    ),
    row(
        Command::Undo,
        "undo",
        &[Char('U')],
        Of::Everything,
        ("undo", "Take back the last change; in the timeline the selected one"),
    ),
    row(Command::Learnings, "learnings", &[Char('L')], Of::Everything, ("learnings", "Show what agents learnt")),
    shown(
        9,
        row(
            Command::Quit,
            "quit",
            &[Char('q')],
            Of::Everything,
            ("quit", "Close the panel; asks what becomes of running agents"),
        ),
    ),
    shown(1, row(Command::Menu, "menu", &[Char('i')], Of::View, ("actions", "Show every action on the selected agent and task"))),
    row(Command::Open, "open", &[Key::Enter], Of::View, ("open", "Open what is selected: output, task, gate, moment")),
    row(Command::Next, "next-view", &[Key::Tab, Key::Right], Of::View, ("next", "The next view")),
    row(Command::Previous, "previous-view", &[Key::BackTab, Key::Left], Of::View, ("previous", "The view before")),
    row(Command::Down, "down", &[Char('j'), Key::Down], Of::View, ("down", "The next line")),
    row(Command::Up, "up", &[Char('k'), Key::Up], Of::View, ("up", "The line before")),
    row(Command::PageDown, "page-down", &[Key::PageDown, Key::Ctrl('d')], Of::View, ("page", "A page down")),
    row(Command::PageUp, "page-up", &[Key::PageUp, Key::Ctrl('u')], Of::View, ("page", "A page up")),
    row(Command::First, "first", &[Key::Home, Char('g')], Of::View, ("first", "To the beginning")),
    row(Command::Last, "last", &[Key::End, Char('G')], Of::View, ("last", "To the end; output is followed from there")),
    row(Command::Agents, "agents", &[Char('1')], Of::View, ("agents", "The agents")),
    row(Command::Tasks, "tasks", &[Char('2')], Of::View, ("tasks", "The tasks")),
    row(Command::Gates, "gates", &[Char('3')], Of::View, ("gates", "What waits for you")),
    row(Command::Output, "output", &[Char('4')], Of::View, ("output", "The output of the selected agent")),
    row(Command::Timeline, "timeline", &[Char('5')], Of::View, ("timeline", "Checkpoints, merges, rollbacks, undos")),
    row(Command::Filter, "filter", &[Char('/')], Of::View, ("filter", "Show only lines that contain a text; nothing: all")),
    row(Command::Verb, "verb", &[Char(':')], Of::View, ("verb", "Run any verb of git axiom, and come back")),
    shown(2, row(Command::Help, "help", &[Char('?')], Of::View, ("help", "All keys"))),
    row(Command::Close, "close", &[Key::Escape], Of::View, ("close", "Close what is open, or leave full screen")),
];

//! Every row of the table.

use super::{KeyTableRow, PanelCommand, PanelCommandScope};
use crate::panel::input::PanelKey;
use crate::panel::input::PanelKey::Char;

const fn row(
    command: PanelCommand,
    name: &'static str,
    keys: &'static [PanelKey],
    of: PanelCommandScope,
    words: (&'static str, &'static str),
) -> KeyTableRow {
    KeyTableRow { command, name, keys, of, short: words.0, words: words.1, footer: 0 }
}

const fn shown(place: u8, row: KeyTableRow) -> KeyTableRow {
    KeyTableRow { footer: place, ..row }
}

/// Every key of the panel.
pub const TABLE: &[KeyTableRow] = &[
    shown(
        5,
        row(
            PanelCommand::Stop,
            "stop",
            &[Char('s')],
            PanelCommandScope::Agent,
            ("stop", "Stop the agent; its task waits for you, its workspace stays"),
        ),
    ),
    row(
        PanelCommand::Redirect,
        "redirect",
        &[Char('r')],
        PanelCommandScope::Agent,
        ("redirect", "Send the agent to another task"),
    ),
    shown(
        6,
        row(
            PanelCommand::Kill,
            "kill",
            &[Char('x')],
            PanelCommandScope::Agent,
            ("kill", "End the agent at once; what it reported is discarded"),
        ),
    ),
    row(PanelCommand::Logs, "logs", &[Char('l')], PanelCommandScope::Agent, ("output", "Show the agent's output")),
    row(
        PanelCommand::Fullscreen,
        "fullscreen",
        &[Char('f')],
        PanelCommandScope::Agent,
        ("full screen", "Show its output on the whole screen, and back"),
    ),
    shown(
        9,
        row(
            PanelCommand::Block,
            "block",
            &[Char('b')],
            PanelCommandScope::Task,
            ("block", "Block the task with a reason; its agent is stopped"),
        ),
    ),
    row(
        PanelCommand::Unblock,
        "unblock",
        &[Char('u')],
        PanelCommandScope::Task,
        ("unblock", "Make a blocked or failed task pending again"),
    ),
    row(
        PanelCommand::RollBackTask,
        "rollback-task",
        &[Char('R')],
        PanelCommandScope::Task,
        ("take back", "Take the task back: its commits are reverted"),
    ),
    row(
        PanelCommand::Edit,
        "edit",
        &[Char('e')],
        PanelCommandScope::Task,
        ("edit", "Edit the task's instructions in your editor"),
    ),
    row(
        PanelCommand::Debug,
        "open-workspace",
        &[Char('d')],
        PanelCommandScope::Task,
        ("open workspace", "Open its workspace in your editor; its agent is held"),
    ),
    row(
        PanelCommand::Diff,
        "diff",
        &[Char('D')],
        PanelCommandScope::Task,
        ("diff", "Show what the task changed, untracked files too"),
    ),
    shown(
        4,
        row(
            PanelCommand::Pause,
            "pause",
            &[Char(' ')],
            PanelCommandScope::Everything,
            ("pause", "Pause all agents when their iterations end; again: at once; resume"),
        ),
    ),
    shown(
        7,
        row(
            PanelCommand::Mode,
            "mode",
            &[Char('m')],
            PanelCommandScope::Everything,
            ("mode", "Change the mode: semi-auto, review, autopilot"),
        ),
    ),
    shown(
        8,
        row(
            PanelCommand::Checkpoint,
            "checkpoint",
            &[Char('c')],
            PanelCommandScope::Everything,
            ("checkpoint", "Make a checkpoint of everything"),
        ),
    ),
    row(
        PanelCommand::NewCheckpoint,
        "new-checkpoint",
        &[Char('n')],
        PanelCommandScope::Everything,
        ("named", "Make a checkpoint with a name of yours"),
    ),
    row(
        PanelCommand::Checkpoints,
        "checkpoints",
        &[Char('C')],
        PanelCommandScope::Everything,
        ("checkpoints", "Show the checkpoints: go back to one, delete, pack"),
    ),
    row(
        PanelCommand::RollBackSession,
        "rollback-session",
        &[Char('S')],
        PanelCommandScope::Everything,
        ("session", "Go back to the beginning of the session"),
    ),
    row(
        PanelCommand::Undo,
        "undo",
        &[Char('U')],
        PanelCommandScope::Everything,
        ("undo", "Take back the last change; in the timeline the selected one"),
    ),
    row(
        PanelCommand::AddTask,
        "add-task",
        &[Char('A')],
        PanelCommandScope::Everything,
        ("add a task", "Add a task: type its title"),
    ),
    row(
        PanelCommand::BeginSession,
        "begin-session",
        &[Char('B')],
        PanelCommandScope::Everything,
        ("begin a session", "Begin a session in the background: git axiom run --detach"),
    ),
    row(
        PanelCommand::Learnings,
        "learnings",
        &[Char('L')],
        PanelCommandScope::Everything,
        ("learnings", "Show what agents learnt"),
    ),
    shown(
        3,
        row(
            PanelCommand::Quit,
            "quit",
            &[Char('q')],
            PanelCommandScope::Everything,
            ("quit", "Close the panel; asks what becomes of running agents"),
        ),
    ),
    shown(
        1,
        row(
            PanelCommand::Menu,
            "menu",
            &[Char('i')],
            PanelCommandScope::View,
            ("actions", "Show every action on the selected agent and task"),
        ),
    ),
    row(
        PanelCommand::Open,
        "open",
        &[PanelKey::Enter],
        PanelCommandScope::View,
        ("open", "Open what is selected: output, task, gate, moment"),
    ),
    shown(
        2,
        row(
            PanelCommand::Decide,
            "decide",
            &[Char('a')],
            PanelCommandScope::View,
            ("decide", "Show what waits, and ask: Enter approves what is shown"),
        ),
    ),
    row(
        PanelCommand::Merged,
        "merged",
        &[Char('h')],
        PanelCommandScope::View,
        ("merged", "Show tasks that are merged or archived too, or hide them"),
    ),
    row(PanelCommand::Next, "next-view", &[PanelKey::Tab, PanelKey::Right], PanelCommandScope::View, ("next", "The next view")),
    row(
        PanelCommand::Previous,
        "previous-view",
        &[PanelKey::BackTab, PanelKey::Left],
        PanelCommandScope::View,
        ("previous", "The view before"),
    ),
    row(PanelCommand::Down, "down", &[Char('j'), PanelKey::Down], PanelCommandScope::View, ("down", "The next line")),
    row(PanelCommand::Up, "up", &[Char('k'), PanelKey::Up], PanelCommandScope::View, ("up", "The line before")),
    row(
        PanelCommand::PageDown,
        "page-down",
        &[PanelKey::PageDown, PanelKey::Ctrl('d')],
        PanelCommandScope::View,
        ("page", "A page down"),
    ),
    row(
        PanelCommand::PageUp,
        "page-up",
        &[PanelKey::PageUp, PanelKey::Ctrl('u')],
        PanelCommandScope::View,
        ("page", "A page up"),
    ),
    row(PanelCommand::First, "first", &[PanelKey::Home, Char('g')], PanelCommandScope::View, ("first", "To the beginning")),
    row(
        PanelCommand::Last,
        "last",
        &[PanelKey::End, Char('G')],
        PanelCommandScope::View,
        ("last", "To the end; output is followed from there"),
    ),
    row(PanelCommand::Agents, "agents", &[Char('1')], PanelCommandScope::View, ("agents", "The agents")),
    row(PanelCommand::Tasks, "tasks", &[Char('2')], PanelCommandScope::View, ("tasks", "The tasks")),
    row(PanelCommand::Gates, "gates", &[Char('3')], PanelCommandScope::View, ("gates", "What waits for you")),
    row(PanelCommand::Output, "output", &[Char('4')], PanelCommandScope::View, ("output", "The output of the selected agent")),
    row(
        PanelCommand::Timeline,
        "timeline",
        &[Char('5')],
        PanelCommandScope::View,
        ("timeline", "Checkpoints, merges, rollbacks, undos"),
    ),
    row(
        PanelCommand::Filter,
        "filter",
        &[Char('/')],
        PanelCommandScope::View,
        ("filter", "Show only lines that contain a text; nothing: all"),
    ),
    row(PanelCommand::Verb, "verb", &[Char(':')], PanelCommandScope::View, ("verb", "Run any verb of git axiom, and come back")),
    shown(2, row(PanelCommand::Help, "help", &[Char('?')], PanelCommandScope::View, ("help", "All keys"))),
    row(
        PanelCommand::Close,
        "close",
        &[PanelKey::Escape],
        PanelCommandScope::View,
        ("close", "Close what is open, or leave full screen"),
    ),
];

//! The table of keys: what a key does, its words in help, footer, menu and docs/PANEL.md. Nothing else knows a key of the panel,
//! apart from those that dialogs name themselves.

use std::collections::BTreeMap;

use super::input::Key;
use crate::error::{Code, Error, Result};

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // the table says what each does
pub enum Command {
    Stop,
    Redirect,
    Kill,
    Logs,
    Fullscreen,
    Block,
    Unblock,
    RollBackTask,
    Edit,
    Debug,
    Diff,
    Pause,
    Mode,
    Checkpoint,
    NewCheckpoint,
    Checkpoints,
    RollBackSession,
    Undo,
    Learnings,
    Quit,
    Menu,
    Next,
    Previous,
    Open,
    Down,
    Up,
    PageDown,
    PageUp,
    First,
    Last,
    Agents,
    Tasks,
    Gates,
    Output,
    Timeline,
    Filter,
    Verb,
    Help,
    Close,
}

/// What a command is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Of {
    /// The selected agent.
    Agent,
    /// The selected task.
    Task,
    /// The session.
    Everything,
    /// What is shown.
    View,
}

impl Of {
    /// All of them, in the order of the help.
    pub const ALL: [Self; 4] = [Self::Agent, Self::Task, Self::Everything, Self::View];

    /// The heading in help and menu.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Agent => "Selected agent",
            Self::Task => "Selected task",
            Self::Everything => "Everything",
            Self::View => "What is shown",
        }
    }
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// What is done.
    pub command: Command,
    /// Its name in the configuration.
    pub name: &'static str,
    /// Its keys; the first one is named in the footer.
    pub keys: &'static [Key],
    /// What it is about.
    pub of: Of,
    /// One or two words, for the footer.
    pub short: &'static str,
    /// A line, for help, menu and documentation.
    pub words: &'static str,
    /// Its place in the footer; 0 is not there.
    pub footer: u8,
}

const fn row(command: Command, name: &'static str, keys: &'static [Key], of: Of, words: (&'static str, &'static str)) -> Row {
    Row { command, name, keys, of, short: words.0, words: words.1, footer: 0 }
}

const fn shown(place: u8, row: Row) -> Row {
    Row { footer: place, ..row }
}

use Key::Char;

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

/// Which key does what, as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    by_key: BTreeMap<Key, Command>,
    by_command: BTreeMap<Command, Vec<Key>>,
}

impl Default for Keys {
    fn default() -> Self {
        Self::of(TABLE.iter().map(|row| (row.command, row.keys.to_vec())).collect())
    }
}

impl Keys {
    fn of(by_command: BTreeMap<Command, Vec<Key>>) -> Self {
        let pairs = by_command.iter().flat_map(|(command, keys)| keys.iter().map(|key| (*key, *command)));
        Self { by_key: pairs.collect(), by_command }
    }

    /// The keys of the table, with those changed that are configured: `NAME=KEY KEY …`, nothing after `=` for no key.
    ///
    /// # Errors
    /// `CONFIG_INVALID` for a name or key that there is not, and where two commands would have one key.
    pub fn configured(changes: &[String]) -> Result<Self> {
        let mut by_command = Self::default().by_command;
        for change in changes {
            let (name, keys) = change.split_once('=').map_or((change.as_str(), ""), |(name, keys)| (name.trim(), keys));
            let Some(row) = TABLE.iter().find(|row| row.name == name) else {
                let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
                let error = Error::new(Code::ConfigInvalid, format!("panel.keys: there is no command '{name}'"));
                return Err(error.hint(format!("commands are {}", names.join(", "))));
            };
            let keys = keys.split_whitespace().map(str::parse::<Key>).collect::<Result<Vec<Key>>>();
            let keys = keys.map_err(|error| {
                let invalid = Error::new(Code::ConfigInvalid, format!("panel.keys: '{change}'")).why(error.to_string());
                error.hints().iter().fold(invalid, |invalid, hint| invalid.hint(hint))
            })?;
            by_command.insert(row.command, keys);
        }
        let mut taken: BTreeMap<Key, Command> = BTreeMap::new();
        for (command, keys) in &by_command {
            for key in keys {
                if let Some(other) = taken.insert(*key, *command) {
                    let (one, two) = (name_of(other), name_of(*command));
                    return Err(Error::new(
                        Code::ConfigInvalid,
                        format!("panel.keys: '{key}' is the key of '{one}' and of '{two}'"),
                    )
                    .hint(format!("give one of them another key, such as \"{two}=Z\"")));
                }
            }
        }
        Ok(Self::of(by_command))
    }

    /// What a key does.
    pub fn command(&self, key: Key) -> Option<Command> {
        self.by_key.get(&key).copied()
    }

    /// The keys of a command; none where the configuration took them away.
    pub fn of_command(&self, command: Command) -> &[Key] {
        self.by_command.get(&command).map_or(&[], Vec::as_slice)
    }

    /// The first key of a command, as it is shown.
    pub fn shown(&self, command: Command) -> String {
        self.of_command(command).first().map_or_else(|| "-".to_owned(), Key::to_string)
    }
}

fn name_of(command: Command) -> &'static str {
    TABLE.iter().find(|row| row.command == command).map_or("", |row| row.name)
}

/// The row of a command.
pub fn row_of(command: Command) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.command == command)
}

/// The table as docs/PANEL.md has it.
pub fn documentation() -> String {
    let mut text = String::new();
    for of in Of::ALL {
        text.push_str(&format!("### {}\n\n| key | `panel.keys` | does |\n| --- | --- | --- |\n", of.heading()));
        for row in TABLE.iter().filter(|row| row.of == of) {
            let keys: Vec<String> = row.keys.iter().map(|key| format!("`{key}`")).collect();
            text.push_str(&format!("| {} | {} | {} |\n", keys.join(" "), row.name, row.words));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_has_a_row_and_every_key_one_command() {
        let commands: BTreeSet<Command> = TABLE.iter().map(|row| row.command).collect();
        let names: BTreeSet<&str> = TABLE.iter().map(|row| row.name).collect();
        let keys: Vec<Key> = TABLE.iter().flat_map(|row| row.keys.iter().copied()).collect();
        assert_eq!((commands.len(), names.len()), (TABLE.len(), TABLE.len()));
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
        assert!(Keys::configured(&[]).unwrap() == Keys::default());
    }

    #[test]
    fn keys_can_be_changed_and_no_key_does_two_things() {
        let with = |changes: &[&str]| Keys::configured(&changes.iter().map(|change| (*change).to_owned()).collect::<Vec<_>>());
        let keys = with(&["stop=Ctrl+S z"]).unwrap();
        assert_eq!(keys.command(Key::Char('z')), Some(Command::Stop));
        assert_eq!((keys.command(Char('s')), keys.shown(Command::Stop)), (None, "Ctrl+S".to_owned()));
        assert_eq!(with(&["stop="]).unwrap().shown(Command::Stop), "-");
        assert_eq!(with(&["stop=x", "kill=s"]).unwrap().command(Key::Char('s')), Some(Command::Kill));
        for wrong in ["stop=x", "stopp=z", "stop=zz", "stop", "=z"] {
            match with(&[wrong]) {
                Err(error) => assert_eq!(error.code(), Code::ConfigInvalid, "{wrong}"),
                Ok(keys) => assert!(wrong == "stop" && keys.of_command(Command::Stop).is_empty(), "{wrong}"),
            }
        }
    }
}

//! The table of keys: what a key does, its words in help, footer, menu and docs/PANEL.md. Nothing else knows a key of the panel,
//! apart from those that dialogs name themselves.

mod configured;
mod table;

use super::input::PanelKey;
pub use configured::PanelKeyBindings;
pub use table::TABLE;

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // the table says what each does
pub enum PanelCommand {
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
    AddTask,
    BeginSession,
    Learnings,
    Quit,
    Menu,
    Next,
    Previous,
    Open,
    Decide,
    Merged,
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
pub enum PanelCommandScope {
    /// The selected agent.
    Agent,
    /// The selected task.
    Task,
    /// The session.
    Everything,
    /// What is shown.
    View,
}

impl PanelCommandScope {
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
pub struct KeyTableRow {
    /// What is done.
    pub command: PanelCommand,
    /// Its name in the configuration.
    pub name: &'static str,
    /// Its keys; the first one is named in the footer.
    pub keys: &'static [PanelKey],
    /// What it is about.
    pub of: PanelCommandScope,
    /// One or two words, for the footer.
    pub short: &'static str,
    /// A line, for help, menu and documentation.
    pub words: &'static str,
    /// Its place in the footer; 0 is not there.
    pub footer: u8,
}

fn name_of(command: PanelCommand) -> &'static str {
    TABLE.iter().find(|row| row.command == command).map_or("", |row| row.name)
}

/// The row of a command.
pub fn row_of(command: PanelCommand) -> Option<&'static KeyTableRow> {
    TABLE.iter().find(|row| row.command == command)
}

/// The table as docs/PANEL.md has it.
pub fn documentation() -> String {
    let mut text = String::new();
    for of in PanelCommandScope::ALL {
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
    fn no_command_and_no_key_is_in_two_rows() {
        let commands: BTreeSet<PanelCommand> = TABLE.iter().map(|row| row.command).collect();
        let names: BTreeSet<&str> = TABLE.iter().map(|row| row.name).collect();
        let keys: Vec<PanelKey> = TABLE.iter().flat_map(|row| row.keys.iter().copied()).collect();
        assert_eq!((commands.len(), names.len()), (TABLE.len(), TABLE.len()));
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
        assert!(PanelKeyBindings::configured(&[]).unwrap() == PanelKeyBindings::default());
    }
}

//! Which key does what, as configured.

use std::collections::BTreeMap;

use super::{PanelCommand, TABLE, name_of};
use crate::panel::input::PanelKey;
use axiom_base::error::{Code, Error, Result};

/// Which key does what, as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelKeyBindings {
    by_key: BTreeMap<PanelKey, PanelCommand>,
    by_command: BTreeMap<PanelCommand, Vec<PanelKey>>,
}

impl Default for PanelKeyBindings {
    fn default() -> Self {
        Self::of(TABLE.iter().map(|row| (row.command, row.keys.to_vec())).collect())
    }
}

impl PanelKeyBindings {
    fn of(by_command: BTreeMap<PanelCommand, Vec<PanelKey>>) -> Self {
        let pairs = by_command.iter().flat_map(|(command, keys)| keys.iter().map(|key| (*key, *command)));
        Self { by_key: pairs.collect(), by_command }
    }

    /// The keys of the table, with those changed that are configured: `NAME=KEY KEY …`, nothing after `=` for no key.
    pub fn configured(changes: &[String]) -> Result<Self> {
        let mut by_command = Self::default().by_command;
        for change in changes {
            let (name, keys) = change.split_once('=').map_or((change.as_str(), ""), |(name, keys)| (name.trim(), keys));
            let Some(row) = TABLE.iter().find(|row| row.name == name) else {
                let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
                let error = Error::new(Code::ConfigInvalid, format!("panel.keys: there is no command '{name}'"));
                return Err(error.hint(format!("commands are {}", names.join(", "))));
            };
            let keys = keys.split_whitespace().map(str::parse::<PanelKey>).collect::<Result<Vec<PanelKey>>>();
            let keys = keys.map_err(|error| {
                let invalid = Error::new(Code::ConfigInvalid, format!("panel.keys: '{change}'")).why(error.to_string());
                error.hints().iter().fold(invalid, |invalid, hint| invalid.hint(hint))
            })?;
            by_command.insert(row.command, keys);
        }
        let mut taken: BTreeMap<PanelKey, PanelCommand> = BTreeMap::new();
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
    pub fn command(&self, key: PanelKey) -> Option<PanelCommand> {
        self.by_key.get(&key).copied()
    }

    /// The keys of a command; none where the configuration took them away.
    pub fn of_command(&self, command: PanelCommand) -> &[PanelKey] {
        self.by_command.get(&command).map_or(&[], Vec::as_slice)
    }

    /// The first key of a command, as it is shown.
    pub fn shown(&self, command: PanelCommand) -> String {
        self.of_command(command).first().map_or_else(|| "-".to_owned(), PanelKey::to_string)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PanelKey::Char;

    #[test]
    fn keys_can_be_changed_and_no_key_does_two_things() {
        let with = |changes: &[&str]| {
            PanelKeyBindings::configured(&changes.iter().map(|change| (*change).to_owned()).collect::<Vec<_>>())
        };
        let keys = with(&["stop=Ctrl+S z"]).unwrap();
        assert_eq!(keys.command(PanelKey::Char('z')), Some(PanelCommand::Stop));
        assert_eq!((keys.command(Char('s')), keys.shown(PanelCommand::Stop)), (None, "Ctrl+S".to_owned()));
        assert_eq!(with(&["stop="]).unwrap().shown(PanelCommand::Stop), "-");
        assert_eq!(with(&["stop=x", "kill=s"]).unwrap().command(PanelKey::Char('s')), Some(PanelCommand::Kill));
        for wrong in ["stop=x", "stopp=z", "stop=zz", "stop", "=z"] {
            match with(&[wrong]) {
                Err(error) => assert_eq!(error.code(), Code::ConfigInvalid, "{wrong}"),
                Ok(keys) => assert!(wrong == "stop" && keys.of_command(PanelCommand::Stop).is_empty(), "{wrong}"),
            }
        }
    }
}

//! Keys by the names that people and git write, and the nearest key where there is none of that name.

use super::keys::{KEYS, Key, NAMED_KEYS};
use crate::domain::base::nearest;
use crate::error::{Code, Error, Result};

/// The key that a name refers to.
#[derive(Debug)]
pub struct Named {
    /// `section.name`, or `agents.<table>.name` and `personas.<table>.name`.
    pub path: String,
    /// The key.
    pub key: &'static Key,
    /// The agent program or persona whose key it is.
    pub table: Option<String>,
}

impl Named {
    /// The names of the tables in which it stands in a file, then its own.
    pub fn parts(&self) -> Vec<&str> {
        match &self.table {
            None => vec![self.key.section, self.key.name],
            Some(table) => vec![self.key.family(), table, self.key.name],
        }
    }
}

/// The key of this name, to give it a value. As in git, case does not matter, but in the name of an agent program or a persona it does.
///
/// # Errors
/// `INVALID_INPUT` with the nearest key.
pub fn to_set(name: &str) -> Result<Named> {
    let is_plain = |table: &String| !table.is_empty() && !table.contains(|c: char| c == '.' || c.is_control());
    match find(name, true) {
        Some(named) if named.table.as_ref().is_none_or(is_plain) => Ok(named),
        Some(_) | None => Err(no_key(name)),
    }
}

/// The error for a name on the command line that is no key.
pub fn no_key(name: &str) -> Error {
    with_nearest(Error::new(Code::InvalidInput, format!("there is no key '{name}'")), name)
}

/// The key with this name. git does not keep the case of the last part, so names from git are compared without case.
pub(super) fn find(name: &str, ignore_case: bool) -> Option<Named> {
    let same = if ignore_case { str::eq_ignore_ascii_case } else { str::eq };
    if let Some(key) = KEYS.iter().find(|key| is_called(key, name, same)) {
        return Some(Named { path: format!("{}.{}", key.section, key.name), key, table: None });
    }
    let (section, last) = name.rsplit_once('.')?;
    let (family, table) = section.split_once('.')?;
    let key = NAMED_KEYS.iter().find(|key| same(key.name, last) && same(key.family(), family))?;
    Some(Named { path: format!("{}.{table}.{}", key.family(), key.name), key, table: Some(table.to_owned()) })
}

/// Whether `path` consists of the key's section and name. Allocates nothing, because every verb calls this a thousand times.
pub(super) fn is_called(key: &Key, path: &str, same: fn(&str, &str) -> bool) -> bool {
    let section = key.section.len();
    let (Some(before), Some(after)) = (path.get(..section), path.get(section..)) else { return false };
    after.strip_prefix('.').is_some_and(|name| same(name, key.name)) && same(before, key.section)
}

/// The error for an unknown key or section on the command line.
pub fn nothing_called(name: &str) -> Error {
    with_nearest(Error::new(Code::InvalidInput, format!("there is no key or section '{name}'")), name)
}

pub(super) fn unknown(name: &str, at: &str) -> Error {
    with_nearest(Error::new(Code::ConfigInvalid, format!("{at}: there is no key '{name}'")), name)
}

fn with_nearest(error: Error, name: &str) -> Error {
    let mut known: Vec<String> = KEYS.iter().map(|key| format!("{}.{}", key.section, key.name)).collect();
    if let [family, table, _] = name.split('.').collect::<Vec<_>>()[..] {
        let of_family = NAMED_KEYS.iter().filter(|key| key.family() == family);
        known.extend(of_family.map(|key| format!("{family}.{table}.{}", key.name)));
    }
    nearest::hinted(error, name, known.iter().map(String::as_str), "git axiom config show    lists all keys")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_to_set_is_known_and_can_stand_in_a_file() {
        let parts = |name: &str| to_set(name).unwrap().parts().join("/");
        assert_eq!(
            (parts("AGENTS.Count"), parts("agents.Mine.STOPsignal")),
            ("agents/count".into(), "agents/Mine/stopSignal".into())
        );
        for (name, hint) in [
            ("agents.cuont", "did you mean 'agents.count'?"),
            ("agents.mine.comand", "did you mean 'agents.mine.command'?"),
            ("agents..command", ""),
            ("agents.a.b.command", ""),
            ("agents.a\nb.command", ""),
            ("agents", ""),
            ("", ""),
        ] {
            let error = to_set(name).unwrap_err();
            assert!(error.code() == Code::InvalidInput && error.hints().join("").contains(hint), "{name:?}: {:?}", error.hints());
        }
    }
}

//! Keys by the names that people and git write, and the nearest key where there is none of that name.

use super::keys::{ConfigKey, KEYS, NAMED_KEYS};
use axiom_base::error::{Code, Error};
use axiom_model::base::forms::nearest;

/// The key that a name refers to.
#[derive(Debug)]
pub struct NamedConfigKey {
    /// `section.name`, or `agents.<table>.name` and `personas.<table>.name`.
    pub path: String,
    /// The key.
    pub key: &'static ConfigKey,
    /// The agent program or persona whose key it is.
    pub table: Option<String>,
}

/// The key with this name. git does not keep the case of the last part, so names from git are compared without case.
pub(super) fn find(name: &str, ignore_case: bool) -> Option<NamedConfigKey> {
    let same = if ignore_case { str::eq_ignore_ascii_case } else { str::eq };
    if let Some(key) = KEYS.iter().find(|key| is_called(key, name, same)) {
        return Some(NamedConfigKey { path: format!("{}.{}", key.section, key.name), key, table: None });
    }
    let (section, last) = name.rsplit_once('.')?;
    let (family, table) = section.split_once('.')?;
    let key = NAMED_KEYS.iter().find(|key| same(key.name, last) && same(key.family(), family))?;
    Some(NamedConfigKey { path: format!("{}.{table}.{}", key.family(), key.name), key, table: Some(table.to_owned()) })
}

/// Whether `path` consists of the key's section and name. Allocates nothing, because every verb calls this a thousand times.
pub(super) fn is_called(key: &ConfigKey, path: &str, same: fn(&str, &str) -> bool) -> bool {
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
    fn a_name_that_is_no_key_is_told_with_the_nearest() {
        for (name, hint) in [
            ("agents.cuont", "did you mean 'agents.count'?"),
            ("agents.mine.comand", "did you mean 'agents.mine.command'?"),
            ("agents..command", ""),
            ("", ""),
        ] {
            let error = nothing_called(name);
            assert!(error.code() == Code::InvalidInput && error.hints().join("").contains(hint), "{name:?}: {:?}", error.hints());
        }
        let found = find("AGENTS.Mine.STOPsignal", true).unwrap();
        assert_eq!((found.path.as_str(), found.table.as_deref()), ("agents.Mine.stopSignal", Some("Mine")));
    }
}

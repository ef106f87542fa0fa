//! What a report of a fault has to say of a repository: its formats, and the shortcuts that it forbids. Names of settings of git, and
//! nothing of the user's.

use std::collections::BTreeSet;

use super::repository::Repository;
use super::shortcuts::Condition;
use crate::base::formats::{HashKind, RefFormat};

/// What a repository is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryAbout {
    /// The hash of its objects.
    pub objects: &'static str,
    /// How it stores refs.
    pub refs: &'static str,
    /// The names of its extensions.
    pub extensions: Vec<String>,
    /// What forbids shortcuts.
    pub forbidden: Vec<ForbiddenShortcuts>,
}

/// Something that leaves work to `git`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForbiddenShortcuts {
    /// Its name in the table of shortcuts.
    pub condition: &'static str,
    /// The shortcuts that it forbids.
    pub shortcuts: &'static [&'static str],
    /// Why.
    pub why: &'static str,
}

impl RepositoryAbout {
    /// Looks at a repository. What an index or a worktree has is not looked at.
    pub fn of(repository: &Repository) -> Self {
        let shortcuts = repository.shortcuts();
        let holding = Condition::ALL.iter().filter(|condition| shortcuts.holds(**condition, None));
        let forbidden = holding.map(|condition| ForbiddenShortcuts {
            condition: condition.row().name,
            shortcuts: condition.row().way_names,
            why: condition.row().why,
        });
        Self {
            objects: match repository.hash() {
                HashKind::Sha1 => "sha1",
                HashKind::Sha256 => "sha256",
            },
            refs: match repository.ref_format() {
                RefFormat::Files => "files",
                RefFormat::Reftable => "reftable",
            },
            extensions: extensions(repository),
            forbidden: forbidden.collect(),
        }
    }
}

/// The names of what `extensions.*` sets.
fn extensions(repository: &Repository) -> Vec<String> {
    let Ok(gix) = repository.gix() else { return Vec::new() };
    let config = gix.config_snapshot();
    let mut names = BTreeSet::new();
    for section in config.plumbing().sections_by_name("extensions").into_iter().flatten() {
        names.extend(section.value_names().map(|name| name.to_string()));
    }
    names.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn formats_extensions_and_what_settings_forbid_are_told_without_values() {
        let scratch = ScratchRepository::new(&[]);
        let plain = RepositoryAbout::of(&scratch.repo());
        assert_eq!((plain.objects, plain.refs), ("sha1", "files"));
        assert!(!plain.forbidden.iter().any(|one| one.condition == "NoFileMode"), "{plain:?}");
        scratch.git(&["config", "core.fileMode", "false"]);
        scratch.git(&["config", "core.repositoryFormatVersion", "1"]);
        scratch.git(&["config", "extensions.preciousObjects", "true"]);
        let about = RepositoryAbout::of(&scratch.repo());
        assert!(about.extensions.iter().any(|name| name.eq_ignore_ascii_case("preciousObjects")), "{about:?}");
        let found = about.forbidden.iter().find(|one| one.condition == "NoFileMode").unwrap();
        assert_eq!(found.shortcuts, ["CaptureFiles"]);
    }
}

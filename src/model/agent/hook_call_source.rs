//! From where a program has the hook with which it calls us.

/// Where the hook stands. A program may have the same one from several places; each of them calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HookCallSource {
    /// In a file of one repository.
    #[default]
    Repository,
    /// In the user's own file, for all repositories.
    User,
    /// In a plugin, for all repositories too.
    Plugin,
}

impl HookCallSource {
    /// All of them.
    const ALL: [Self; 3] = [Self::Repository, Self::User, Self::Plugin];

    /// The word after `git axiom hook PROGRAM`; none where it is of one repository.
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::Repository => None,
            Self::User => Some("--user"),
            Self::Plugin => Some("--plugin"),
        }
    }

    /// What that word says; a word that is not known, of another version, says nothing.
    pub fn of_word(word: Option<&str>) -> Self {
        Self::ALL.into_iter().find(|one| one.word() == word).unwrap_or_default()
    }

    /// Whether it is there for all repositories, so that none of them was named.
    pub const fn is_for_all(self) -> bool {
        match self {
            Self::Repository => false,
            Self::User | Self::Plugin => true,
        }
    }

    /// A number with one bit, for a set of them.
    pub const fn bit(self) -> u8 {
        match self {
            Self::Repository => 1,
            Self::User => 2,
            Self::Plugin => 4,
        }
    }
}

//! Who wrote an object, and when.

use std::sync::OnceLock;

use axiom_base::env;

/// The name and address of the committer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitterIdentity {
    /// The name.
    pub name: String,
    /// The mail address.
    pub email: String,
}

impl CommitterIdentity {
    /// That of git axiom itself.
    pub(crate) fn ours() -> Self {
        Self { name: "git axiom".to_owned(), email: "git-axiom@localhost".to_owned() }
    }
}

/// As whom we write, once that is known.
#[derive(Debug, Default)]
pub(crate) struct KnownIdentities {
    pub committer: OnceLock<CommitterIdentity>,
    /// Set where git knows no identity of the user's.
    pub lacks_one: OnceLock<()>,
    /// The author of commits that git axiom makes, where git had to be asked for it.
    pub author: OnceLock<CommitterIdentity>,
}

/// Name, address and time, as in a commit or tag.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PersonIdent {
    /// The name.
    pub name: String,
    /// The mail address.
    pub email: String,
    /// Seconds since 1970, UTC.
    pub seconds: i64,
}

impl PersonIdent {
    /// Of this moment.
    pub(crate) fn now(who: CommitterIdentity) -> Self {
        Self { name: who.name, email: who.email, seconds: env::now().as_second() }
    }

    /// That of objects that are the same for the same contents, whoever makes them and when.
    pub(crate) fn fixed() -> Self {
        let CommitterIdentity { name, email } = CommitterIdentity::ours();
        Self { name, email, seconds: 0 }
    }
}

impl std::fmt::Display for PersonIdent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} <{}> {} +0000", self.name, self.email, self.seconds)
    }
}

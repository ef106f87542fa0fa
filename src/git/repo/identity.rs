//! The user's identity for commits.

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};

use super::shortcuts::FastWay;
use crate::repo::handles::Identities;
use crate::repo::person_ident::{CommitterIdentity, PersonIdent};

/// What of a user's identity can be known without a call of git.
enum PlainIdentity {
    Known(CommitterIdentity),
    /// Nothing gives one.
    Missing,
    /// Only git can say.
    Unclear,
}

impl Identities<'_> {
    /// The committer, from the configuration or the environment; never guessed from the machine's name. Whatever goes onto a branch
    /// needs one.
    pub fn committer(&self) -> Result<CommitterIdentity> {
        if let Some(known) = self.repo.identities.committer.get() {
            return Ok(known.clone());
        }
        let found = match self.plain_identity() {
            PlainIdentity::Known(found) => found,
            PlainIdentity::Missing => return Err(missing()),
            PlainIdentity::Unclear => self.identity_by_git()?,
        };
        Ok(self.repo.identities.committer.get_or_init(|| found).clone())
    }

    /// As whom we write what is ours (captures, tags, notes, lines of reflogs): the user, and git axiom where git knows no user, since what
    /// is saved is saved whoever works here.
    pub(crate) fn committer_or_ours(&self) -> Result<CommitterIdentity> {
        if self.repo.identities.lacks_one.get().is_some() {
            return Ok(CommitterIdentity::ours());
        }
        match self.committer() {
            Err(error) if error.code() == Code::IdentityMissing => {
                // Known for the life of the handle, so that git is not asked for each object.
                self.repo.identities.lacks_one.get_or_init(|| ());
                Ok(CommitterIdentity::ours())
            }
            outcome => outcome,
        }
    }

    /// The identity if variables or the configuration give it in a simple form, without a call of git.
    fn plain_identity(&self) -> PlainIdentity {
        let variable = |name: &str| env::var(name).map(std::ffi::OsString::into_string);
        let found = match (variable("GIT_COMMITTER_NAME"), variable("GIT_COMMITTER_EMAIL")) {
            (Some(Ok(name)), Some(Ok(email))) => CommitterIdentity { name, email },
            (None, None) if self.repo.shortcuts().allow(FastWay::ReadConfiguration) => {
                let Ok(gix) = self.repo.gix() else { return PlainIdentity::Unclear };
                let config = gix.config_snapshot();
                let value = |key: &str| config.string(key).map(|value| value.to_string());
                // These rare keys are left to git.
                if value("committer.name").is_some() || value("committer.email").is_some() {
                    return PlainIdentity::Unclear;
                }
                match (value("user.name"), value("user.email")) {
                    (Some(name), Some(email)) => CommitterIdentity { name, email },
                    (_, _) => return PlainIdentity::Missing,
                }
            }
            (_, _) => return PlainIdentity::Unclear,
        };
        let plain = |text: &str, more: &[char]| {
            let fits = |c: char| c.is_alphanumeric() || more.contains(&c);
            text.starts_with(char::is_alphanumeric) && text.ends_with(char::is_alphanumeric) && text.chars().all(fits)
        };
        match plain(&found.name, &[' ', '-']) && plain(&found.email, &['.', '-', '_', '+', '@']) {
            true => PlainIdentity::Known(found),
            false => PlainIdentity::Unclear,
        }
    }

    /// The author line for a merge or revert that git axiom makes. git has separate variables and keys for the author; if
    /// none of them is set, the author is `who`.
    pub fn author(&self, who: &PersonIdent) -> Result<String> {
        let is_set = |name: &&str| env::var(name).is_some();
        let dated = is_set(&"GIT_AUTHOR_DATE");
        let named = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"].iter().any(is_set);
        if !dated
            && !named
            && self.repo.settings().config_lacks_section("author")
            && self.repo.settings().config_lacks_section("committer")
        {
            return Ok(who.to_string());
        }
        let of_now = |CommitterIdentity { name, email }: &CommitterIdentity| {
            PersonIdent { name: name.clone(), email: email.clone(), seconds: who.seconds }.to_string()
        };
        if let Some(known) = self.repo.identities.author.get().filter(|_| !dated) {
            return Ok(of_now(known));
        }
        let output = self.repo.git().config("user.useConfigOnly=true").args(["var", "GIT_AUTHOR_IDENT"]).run()?;
        let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        match text.rsplit_once("> ") {
            Some(_) if output.ok() && dated => Ok(text),
            Some((who, _)) if output.ok() => {
                let (name, email) = who.split_once(" <").unwrap_or((who, ""));
                Ok(of_now(
                    self.repo
                        .identities
                        .author
                        .get_or_init(|| CommitterIdentity { name: name.to_owned(), email: email.to_owned() }),
                ))
            }
            Some(_) | None => Err(missing()),
        }
    }

    fn identity_by_git(&self) -> Result<CommitterIdentity> {
        let output = self.repo.git().config("user.useConfigOnly=true").args(["var", "GIT_COMMITTER_IDENT"]).run()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let parsed = text.rsplit_once('>').and_then(|(who, _)| who.split_once('<'));
        match parsed {
            Some((name, email)) if output.ok() => Ok(CommitterIdentity { name: name.trim().to_owned(), email: email.to_owned() }),
            Some(_) | None => Err(missing()),
        }
    }
}

fn missing() -> Error {
    Error::new(Code::IdentityMissing, "git does not know who you are")
        .hint("git config --global user.name 'Your Name'")
        .hint("git config --global user.email you@example.org")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn a_missing_identity_says_what_to_do() {
        let scratch = ScratchRepository::empty(&[]);
        assert_eq!(scratch.repo().identities().committer().unwrap().email, "author@example.org");
        scratch.git(&["config", "--unset", "user.email"]);
        let error = scratch.repo().identities().committer().unwrap_err();
        assert_eq!(error.code(), Code::IdentityMissing);
        assert_eq!(error.hints().len(), 2);
    }

    #[test]
    fn what_is_ours_is_written_without_an_identity_and_by_the_user_where_there_is_one() {
        let scratch = ScratchRepository::empty(&[]);
        let who = |scratch: &ScratchRepository| scratch.repo().objects().signature().unwrap().name;
        assert_eq!(who(&scratch), "A U Thor");
        for broken in ["", " ", "<>", "\u{1}"] {
            scratch.git(&["config", "user.name", broken]);
            assert_eq!(who(&scratch), "git axiom", "{broken:?}");
            assert_eq!(scratch.repo().identities().committer().unwrap_err().code(), Code::IdentityMissing, "{broken:?}");
        }
        scratch.git(&["config", "--unset", "user.name"]);
        let repo = scratch.repo();
        assert_eq!(repo.objects().signature().unwrap().email, "git-axiom@localhost");
        assert_eq!(repo.objects().users_signature().unwrap_err().code(), Code::IdentityMissing);
        // A session that goes on finds what the user set since, where it matters.
        scratch.git(&["config", "user.name", "Later"]);
        assert_eq!(scratch.repo().objects().users_signature().unwrap().name, "Later");
    }
}

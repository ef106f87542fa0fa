//! Commits that are signed, as `commit.gpgSign` asks for.
//!
//! Signing may take long, ask for a passphrase, or fail, so it never happens while a lock is held. Code that makes such a
//! commit under a lock gets `SIGNING_FAILED`, releases the lock, has the commit signed ([`Signatures::take_to_sign`]), and
//! begins again. The signed commit is cached until then.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::sync::PoisonError;

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::Oid;

use crate::base::object_kind::ObjectKind;
use crate::base::quoted_paths::quoted;
use crate::base::signing_state::{PendingSignature, SigningState, UnsignedCommit};
use crate::repo::handles::Signatures;

/// A call of git that signs a commit, to be run by the caller.
#[derive(Debug)]
pub struct SigningCall {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Its environment variables.
    pub env: Vec<(OsString, OsString)>,
}

impl Signatures<'_> {
    fn with_signatures<T>(&self, change: impl FnOnce(&mut SigningState) -> T) -> T {
        change(&mut self.repo.signatures.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Turns the signing of commits for branches on or off; if on, commits are signed where git would sign them. Forgets all
    /// signed commits.
    pub fn want_signatures(&self, wanted: bool) {
        self.with_signatures(|signatures| *signatures = SigningState { wanted, ..SigningState::default() });
    }

    /// Writes a commit for a branch, by the user, with the current time. It is signed if `commit.gpgSign` asks for it and
    /// signing is on. No hook runs. Nothing refers to the commit yet.
    pub fn commit_for_branch(&self, tree: &Oid, parents: &[Oid], message: &str) -> Result<Oid> {
        if !self.with_signatures(|signatures| signatures.wanted) || !self.signs_commits()? {
            return self.repo.merges().commit_tree(tree, parents, message);
        }
        let said = UnsignedCommit { tree: tree.clone(), parents: parents.to_vec(), message: message.to_owned() };
        if let Some(content) = self.with_signatures(|signatures| signatures.signed.get(&said).cloned()) {
            return self.repo.objects().write_object(ObjectKind::Commit, content);
        }
        // A missing identity is reported now, and not only by the git that signs.
        self.repo.objects().users_signature()?;
        let mut objects = vec![(ObjectKind::Tree, self.repo.trees().read_raw_tree(tree)?.to_vec())];
        for parent in parents {
            objects
                .push((ObjectKind::Commit, self.repo.objects().read_object("commit", parent, crate::base::limits::STRUCTURE)?));
        }
        self.with_signatures(|signatures| signatures.to_sign = Some(PendingSignature { said, objects }));
        Err(Error::new(Code::SigningFailed, "a commit has to be signed first"))
    }

    fn signs_commits(&self) -> Result<bool> {
        if self.repo.settings().config_lacks_section("commit") {
            return Ok(false);
        }
        let output = self.repo.git().args(["config", "--type=bool", "--get", "commit.gpgSign"]).run()?;
        match output.code {
            Some(0) => Ok(output.text()? == "true"),
            Some(1) => Ok(false),
            Some(_) | None => Err(output.error()),
        }
    }

    /// The commit that has to be signed before [`Signatures::commit_for_branch`] can succeed.
    pub fn take_to_sign(&self) -> Option<PendingSignature> {
        self.with_signatures(|signatures| signatures.to_sign.take())
    }

    /// Prepares `folder` for signing a commit in it, and returns the call of git that signs.
    pub fn signing_call(&self, to_sign: &PendingSignature, folder: &Path) -> Result<SigningCall> {
        let (objects, message) = (folder.join("objects"), folder.join("message"));
        axiom_base::files::create_dir_all(&objects)?;
        axiom_base::files::write_scratch(&message, to_sign.said.message.as_bytes())?;
        for (kind, content) in &to_sign.objects {
            let git = self.repo.git().env("GIT_OBJECT_DIRECTORY", &objects).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", "");
            let git = git.args(["hash-object", "-w", "--stdin", "-t", kind.as_str()]);
            git.stdin(content.clone()).run_ok()?;
        }
        let mut command: Vec<OsString> =
            vec!["git".into(), crate::repo::program::joined("--git-dir=", self.repo.common_dir().as_os_str())];
        command.extend(["-c", "user.useConfigOnly=true", "commit-tree", "-S", "-F"].map(OsString::from));
        command.push(message.into_os_string());
        for parent in &to_sign.said.parents {
            command.extend(["-p", parent.as_str()].map(OsString::from));
        }
        command.push(to_sign.said.tree.as_str().into());
        let mut env: Vec<(OsString, OsString)> = self.repo.callers_config().to_vec();
        env.push(("GIT_OBJECT_DIRECTORY".into(), objects.into_os_string()));
        let own = OsString::from_vec(quoted(&self.repo.common_dir().join("objects")));
        env.push(("GIT_ALTERNATE_OBJECT_DIRECTORIES".into(), own));
        env.extend(
            [("LC_ALL", "C"), ("GIT_TERMINAL_PROMPT", "0"), ("GIT_NO_REPLACE_OBJECTS", "1")].map(|(n, v)| (n.into(), v.into())),
        );
        Ok(SigningCall { command, env })
    }

    /// Reads the signed commit from `folder`, by the id that the call printed, and caches it.
    pub fn keep_signed(&self, to_sign: PendingSignature, folder: &Path, printed: &str) -> Result<()> {
        let failed = || Error::new(Code::SigningFailed, "git did not sign the commit").why(printed.trim().to_owned());
        let named = printed.lines().rev().find_map(|line| Oid::new(line.trim()).ok()).ok_or_else(failed)?;
        let there = quoted(&folder.join("objects"));
        let git = self.repo.git().env("GIT_ALTERNATE_OBJECT_DIRECTORIES", OsString::from_vec(there));
        let content = git.args(["cat-file", "commit", named.as_str()]).run_ok()?.stdout;
        let mut expected = format!("tree {}\n", to_sign.said.tree);
        to_sign.said.parents.iter().for_each(|parent| expected.push_str(&format!("parent {parent}\n")));
        let header = content.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
        let is_signed = header.into_iter().any(|line| line.starts_with(b"gpgsig"));
        if !content.starts_with(expected.as_bytes()) || !is_signed {
            return Err(failed());
        }
        self.with_signatures(|signatures| signatures.signed.insert(to_sign.said, content));
        Ok(())
    }
}

//! Signing commits outside of every lock, within a time limit, and without asking for a passphrase where no human can
//! answer.

use std::ffi::OsString;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::OwnFolder;
use axiom_git::{PendingSignature, Repository};
use axiom_model::state::event_envelope::EventAuthor;
use axiom_process::client::step::{self, StepEnd, StepProcessSpec};

/// How long a signature may take where a human may be asked for a passphrase.
const WITH_A_HUMAN: Duration = Duration::from_secs(120);
/// How long it may take in a session, where no one is asked.
const ALONE: Duration = Duration::from_secs(15);

/// The variables by which a program finds a way to ask the user.
const ASKS_BY: [&str; 4] = ["GPG_TTY", "DISPLAY", "WAYLAND_DISPLAY", "SSH_ASKPASS"];

struct SignaturesWanted<'r>(&'r Repository);

impl Drop for SignaturesWanted<'_> {
    fn drop(&mut self) {
        self.0.signatures().want_signatures(false);
    }
}

/// Does `work`, which must change nothing before its commits are made: where one has to be signed, `work` fails, the commit
/// is signed, and `work` is run again.
///
/// # Errors
/// Those of `work`; `SIGNING_FAILED`.
pub fn with_signatures<T>(ctx: &mut Context, mut work: impl FnMut(&mut Context) -> Result<T>) -> Result<T> {
    let repo = std::sync::Arc::clone(&ctx.repo);
    repo.signatures().want_signatures(true);
    let _wanted = SignaturesWanted(&repo);
    loop {
        let outcome = work(ctx);
        match (outcome, repo.signatures().take_to_sign()) {
            (Err(_), Some(to_sign)) => sign(ctx, to_sign)?,
            (outcome, _) => return outcome,
        }
    }
}

fn sign(ctx: &Context, to_sign: PendingSignature) -> Result<()> {
    let folder = OwnFolder::make_in(&ctx.layout().tmp_dir(), "sign-")?;
    let call = ctx.repo.signatures().signing_call(&to_sign, folder.path())?;
    let alone = !matches!(ctx.by(), EventAuthor::User);
    let limit = if alone { ALONE } else { WITH_A_HUMAN };
    let mut child_env = call.env;
    if alone {
        child_env
            .extend([("SSH_ASKPASS", "false"), ("SSH_ASKPASS_REQUIRE", "force")].map(|(n, v)| (n.into(), OsString::from(v))));
    }
    let step = StepProcessSpec {
        of: ctx.repo.common_dir().to_owned(),
        command: call.command,
        folder: folder.path().to_owned(),
        env: Vec::new(),
        child_env,
        without: if alone { ASKS_BY.map(OsString::from).to_vec() } else { Vec::new() },
        stdin: String::new(),
        limit,
        log: None,
    };
    let done = step::run(&step, &AtomicBool::new(false))?;
    if done.end != (StepEnd::Exited { code: 0 }) {
        let why = done.end.failure(limit).unwrap_or_default();
        let printed = done.output.trim().to_owned();
        let error = Error::new(Code::SigningFailed, format!("the commit could not be signed: git {why}"));
        let error = if printed.is_empty() { error } else { error.why(printed) };
        return Err(error
            .hint("unlock the key (gpg-agent, ssh-agent), then try again")
            .hint("git config commit.gpgSign    shows whether signing is required"));
    }
    ctx.repo.signatures().keep_signed(to_sign, folder.path(), &done.output)
}

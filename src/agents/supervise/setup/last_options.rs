//! The options of the last session, so that it can be started again after a crash of the machine, and the agent program, with which the
//! next one goes on where nobody has chosen another.

use serde::{Deserialize, Serialize};

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_safety::config::Config;
use axiom_safety::context::handle::{Context, DefaultAgentChoice};
use axiom_safety::running::programs::{self, SessionPrograms};
use axiom_store::layout::StoreLayout;

/// The largest file that is read, in bytes.
const LIMIT: u64 = 1024 * 1024;

#[derive(Default, Serialize, Deserialize)]
struct LastSessionOptions {
    v: u32,
    arguments: Vec<String>,
    #[serde(default)]
    program: Option<ChosenProgram>,
}

/// The agent program of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChosenProgram {
    /// A preset, or a program of the configuration; personas may have others.
    Named(String),
    /// A program and its arguments, for every task.
    Given(Vec<String>),
}

impl ChosenProgram {
    /// What a session works with: what is given on the command line, else what is configured; where nobody has configured one, that of
    /// the last session. A body that was written for one program is not given to another unasked, least of all to a shell.
    pub fn of(ctx: &Context, given: Vec<String>) -> Result<Self> {
        if !given.is_empty() {
            return Ok(Self::Given(given));
        }
        let last = match ctx.found.agent_chosen {
            DefaultAgentChoice::Nobody => read(ctx.layout())?.program,
            DefaultAgentChoice::ForThisCall | DefaultAgentChoice::Configured => None,
        };
        let is_known = |last: &Self| match last {
            Self::Named(name) => programs::program(&ctx.config, name).is_ok(),
            Self::Given(_) => true,
        };
        Ok(last.filter(is_known).unwrap_or_else(|| Self::Named(ctx.config.agents.default.clone())))
    }

    /// The programs of the session.
    ///
    /// # Errors
    /// `CONFIG_INVALID` with the key, `INVALID_INPUT` where no program is named.
    pub fn programs(&self, config: &Config) -> Result<SessionPrograms> {
        match self {
            Self::Named(name) => SessionPrograms::with_default(config, name),
            Self::Given(command) => programs::bare(command.clone()).map(SessionPrograms::only),
        }
    }

    /// Its name. Its arguments may hold what is nobody else's business.
    pub fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Given(command) => command.first().map_or("", String::as_str),
        }
    }

    /// What the next session is to know of it: not what is configured, which it sees itself.
    fn remembered(self, ctx: &Context) -> Option<Self> {
        let is_for_this_call = ctx.found.agent_chosen == DefaultAgentChoice::ForThisCall;
        let is_configured = matches!(&self, Self::Named(name) if *name == ctx.config.agents.default);
        Some(self).filter(|_| is_for_this_call || !is_configured)
    }
}

/// What makes a session like this one again.
#[derive(Debug, Clone)]
pub struct RepeatableSession {
    /// The options of the verb.
    pub arguments: Vec<String>,
    /// The agent program.
    pub program: ChosenProgram,
}

/// Notes how a session that begins is made again. A crash leaves that of the one before, or this.
pub fn note(ctx: &Context, session: RepeatableSession) -> Result<()> {
    let RepeatableSession { arguments, program } = session;
    let noted = LastSessionOptions { v: 1, arguments, program: program.remembered(ctx) };
    let json =
        serde_json::to_vec(&noted).map_err(|e| Error::new(Code::Internal, "the options of a session are no JSON").because(e))?;
    files::write_atomic(&ctx.layout().last_options(), &[&json[..], b"\n"].concat())
}

/// The options of the last session; none where they are not known.
pub fn arguments(layout: &StoreLayout) -> Result<Vec<String>> {
    read(layout).map(|options| options.arguments)
}

fn read(layout: &StoreLayout) -> Result<LastSessionOptions> {
    let Some(bytes) = files::read_optional(&layout.last_options(), LIMIT)? else { return Ok(LastSessionOptions::default()) };
    let read: Option<LastSessionOptions> = serde_json::from_slice(&bytes).ok();
    Ok(read.filter(|options| options.v == 1).unwrap_or_default())
}

//! The options of the last session, so that it can be started again after a crash of the machine, and the agent program, with which the
//! next one goes on where nobody has chosen another.

use serde::{Deserialize, Serialize};

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_safety::config::Config;
use axiom_safety::context::handle::Context;
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
        let last = if ctx.found.no_agent_chosen { read(ctx.layout())?.program } else { None };
        Ok(last.unwrap_or_else(|| Self::Named(ctx.config.agents.default.clone())))
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

    /// Its name, or its call.
    pub fn in_words(&self) -> String {
        match self {
            Self::Named(name) => name.clone(),
            Self::Given(command) => command.join(" "),
        }
    }
}

/// Notes the options of a session that begins. A crash leaves those of the one before, or these.
pub fn note(layout: &StoreLayout, arguments: Vec<String>, program: ChosenProgram) -> Result<()> {
    let json = serde_json::to_vec(&LastSessionOptions { v: 1, arguments, program: Some(program) })
        .map_err(|e| Error::new(Code::Internal, "the options of a session are no JSON").because(e))?;
    files::write_atomic(&layout.last_options(), &[&json[..], b"\n"].concat())
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

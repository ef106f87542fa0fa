//! `git axiom hook`: what the hooks of agent programs call. It ends with status 0 whatever happens, so that no agent is kept from its
//! work; the one exception is an agent that calls a verb for humans where its program cannot ask.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};

use super::VerbExit;
use crate::cli::screen::Screen;
use axiom_base::env;
use axiom_base::error::{Exit, Result};
use axiom_model::agent::attached_program::AttachedProgram;
use axiom_model::agent::hook_call_source::HookCallSource;
use axiom_model::attach::hook_answer::AgentHookAnswer;
use axiom_model::attach::shorten::JsonShortener;
use axiom_safety::acp;
use axiom_safety::attach::hook;
use axiom_safety::attach::hook::{HookCaller, HookPayload};
use axiom_safety::attach::join;
use axiom_safety::attach::turn_watch;
use axiom_safety::attach::turn_watch::WatchedTurn;
use axiom_safety::context::handle::calling_agent;

/// How many bytes of a payload are read at once.
const PIECE: usize = 64 * 1024;
/// How long a program may be silent before it has sent all of it.
const PATIENCE: Duration = Duration::from_secs(4);
/// How long it may take for all of it: what came until then is acted upon.
const LONGEST: Duration = Duration::from_secs(8);
/// The exit status by which a program is kept from what it was about to do.
const BLOCKS: u8 = 2;

/// Arguments of `hook`.
#[derive(Debug, Args)]
pub struct HookArgs {
    /// The program that calls it
    #[arg(value_name = "PROGRAM", required_unless_present = "join")]
    program: Option<OsString>,
    /// Save what was handed over, for the repository of this worktree
    #[arg(long, value_name = "PATH", conflicts_with = "program")]
    join: Option<PathBuf>,
    /// Watch the turn of this session instead, until it ends or is interrupted
    #[arg(long, value_name = "SESSION", hide = true, requires_all = ["join", "transcript"])]
    turn: Option<String>,
    /// The file in which the program writes its conversation down
    #[arg(long, value_name = "PATH", hide = true, requires = "turn")]
    transcript: Option<PathBuf>,
}

/// Answers a call by a hook before the grammar is built. Another version may have written the program's file, with arguments that this
/// one does not know: they are passed over, since programs take the status of a usage error for a veto.
pub fn at_once(arguments: &[OsString]) -> Option<VerbExit> {
    let [_, verb, rest @ ..] = arguments else { return None };
    if verb != "hook" || rest.iter().any(|word| ["-h", "--help", "--join"].iter().any(|own| word == own)) {
        return None;
    }
    let is_option = |word: &&OsString| word.as_encoded_bytes().starts_with(b"-");
    if rest.iter().any(|word| word == acp::EACH_LINE) {
        // Whoever calls sees that it has ended, and says why nothing was saved.
        drop(env::current_dir().and_then(|here| acp::answer_calls(&here)));
        return Some(VerbExit::Ours(Exit::Done));
    }
    match rest.first() {
        Some(program) if !is_option(&program) => {
            Some(called(program, HookCallSource::of_word(rest.get(1).and_then(|word| word.to_str()))))
        }
        Some(_) | None => Some(VerbExit::Ours(Exit::Done)),
    }
}

/// Runs the hook, or the joiner.
pub fn run(args: &HookArgs) -> Result<VerbExit> {
    match (&args.program, &args.join) {
        (Some(program), _) => Ok(called(program, HookCallSource::Repository)),
        (None, Some(worktree)) => match (args.turn.clone(), args.transcript.clone()) {
            (Some(session), Some(transcript)) => turn_watch::run(worktree, &WatchedTurn { session, transcript }),
            (_, _) => join::run(worktree),
        }
        .map(|()| VerbExit::Ours(Exit::Done)),
        (None, None) => Ok(VerbExit::Ours(Exit::Done)),
    }
}

fn called(program: &OsString, source: HookCallSource) -> VerbExit {
    let nothing = VerbExit::Ours(Exit::Done);
    let program = program.to_str().and_then(|name| name.parse::<AttachedProgram>().ok());
    // It is read in any case: a program that writes into a closed pipe may take that for a failure.
    let payload = if program == Some(AttachedProgram::Aider) { HookPayload::default() } else { payload() };
    // Below a keeper, its supervisor saves.
    if calling_agent().is_some() {
        return nothing;
    }
    let (Some(program), Ok(here)) = (program, env::current_dir()) else { return nothing };
    let AgentHookAnswer { stdout, stderr, blocks } = hook::run(HookCaller { program, source }, &payload, &here);
    let mut screen = Screen::new(false, None);
    // A program that does not listen any more needs no answer.
    let _ = screen.write(stdout.as_bytes());
    if !stderr.is_empty() {
        screen.complain(stderr.trim_end());
    }
    if blocks { VerbExit::Program(BLOCKS) } else { nothing }
}

/// What comes on standard input, shortened: however much that is, and as far as it comes soon.
fn payload() -> HookPayload {
    let (stdin, begun) = (std::io::stdin(), Instant::now());
    let (mut shortener, mut piece) = (JsonShortener::default(), vec![0; PIECE]);
    let is_late = !stdin.is_terminal()
        && loop {
            let left = PATIENCE.min(LONGEST.saturating_sub(begun.elapsed()));
            if left.is_zero() || !is_readable(&stdin, left) {
                break true;
            }
            match rustix::io::read(&stdin, &mut piece) {
                Ok(0) => break false,
                Ok(read) => shortener.add(&piece[..read]),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => break false,
            }
        };
    HookPayload { bytes: shortener.end(), is_late }
}

/// Whether there is something to read, or the end, within this time. What cannot be waited for counts as something.
fn is_readable(stdin: &std::io::Stdin, within: Duration) -> bool {
    let timeout = Timespec { tv_sec: i64::try_from(within.as_secs()).unwrap_or(1), tv_nsec: i64::from(within.subsec_nanos()) };
    retry_on_intr(|| poll(&mut [PollFd::new(stdin, PollFlags::IN)], Some(&timeout))) != Ok(0)
}

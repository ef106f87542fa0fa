//! `git axiom lock`: a command of the user's, one or so many at a time.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use serde::Serialize;

use super::{VerbExit, working_dir};
use crate::cli::grid::StyledGrid;
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::cli::{report, words};
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::ids::LockName;
use axiom_model::work::sessions::lock::LockSlots;
use axiom_safety::config::value_kind::ConfigValueKind;
use axiom_safety::lock;
use axiom_safety::lock::list;
use axiom_safety::lock::list::{LockSlot, LockSlotHold, LockSlotState};
use axiom_safety::lock::{LockHeldBy, LockJob, LockPatience};

/// Arguments of `lock`.
#[derive(Debug, Args)]
#[command(override_usage = "git axiom lock <NAME> [--slots <N>] [--wait <TIME>] [--close] -- <COMMAND>...\n       \
                            git axiom lock --list")]
#[command(after_help = "\
Examples:
  git axiom lock testdb -- cargo test
  git axiom lock ports --slots 3 -- sh -c 'PORT=$((8000 + AXIOM_LOCK_SLOT)) make e2e'

The locks are of this user on this machine, in /tmp: all worktrees and clones share them, also
without a repository. (A sandbox with a /tmp of its own has its own locks.) COMMAND takes the
place of git axiom and inherits the lock: it is free when COMMAND and all processes that it left
behind have ended, also if they are killed. Who waits is served in order.

With --slots N, AXIOM_LOCK_SLOT tells COMMAND which of the slots 1 to N it has. Calls with
different numbers share the slots that both have: a smaller number limits only those who ask
for it, and you are warned.

Programs that close inherited descriptors (sudo, some test runners) free the lock early; others
start daemons that would keep it. With --close, git axiom stays: it holds the lock until COMMAND
itself has ended, passes signals on to it, and nothing inherits the lock.

The exit status is that of COMMAND (128+N after signal N), 127 if it is not found, 126 if it
cannot be executed, 5 if the lock was not free in time. What runs inside of a lock cannot take
the same lock again: it would wait for itself.")]
pub struct LockArgs {
    /// The lock's name
    #[arg(value_name = "NAME", required_unless_present = "list")]
    name: Option<LockName>,
    /// How many may hold it at once, 1 to 1000
    #[arg(long, value_name = "N", default_value_t)]
    slots: LockSlots,
    /// The longest to wait: 30s, 5min, 2h; 0 does not wait. Without it, there is no limit
    #[arg(long, value_name = "TIME", value_parser = wait)]
    wait: Option<Duration>,
    /// Hold the lock in this process, and do not pass it to COMMAND
    #[arg(long)]
    close: bool,
    /// List the locks: which are free, who holds the others and since when
    #[arg(long, conflicts_with_all = ["name", "slots", "wait", "close", "command"])]
    list: bool,
    /// The command and its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "list")]
    command: Vec<OsString>,
}

/// A time as in the configuration.
fn wait(text: &str) -> Result<Duration, String> {
    let seconds = ConfigValueKind::Seconds.accept_text("--wait", &[text.to_owned()]).ok().and_then(|value| value.as_u64());
    seconds.map(Duration::from_secs).ok_or_else(|| format!("it takes {}", ConfigValueKind::Seconds.expects()))
}

/// The locks. `lock NAME -- COMMAND` prints no document: standard output is the command's. Where the command could not be started
/// or the lock was not free, there is one with `error`, and the exit status is that of COMMANDS.md.
#[derive(Serialize)]
struct LockListJson {
    /// Every slot that was ever taken, by name and number.
    locks: Vec<LockJson>,
}

/// A slot of a lock.
#[derive(Serialize)]
struct LockJson {
    /// The lock, in lower case.
    name: LockName,
    /// From 1.
    slot: u32,
    held: bool,
    /// `null` also where a holder is not known.
    holder: Option<LockHolderJson>,
}

/// Who holds a lock.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LockHolderJson {
    /// The process that took it.
    pid: i32,
    /// Whether that one still runs; otherwise one that inherited the lock holds it.
    runs: bool,
    /// The number that it gave for `--slots`.
    slots: u32,
    command: String,
    folder: String,
    taken_at: Timestamp,
}

/// Runs the command with the lock, or lists locks.
pub fn run(args: LockArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<VerbExit> {
    if args.list {
        return list(screen).map(VerbExit::Ours);
    }
    // clap requires both.
    let name = args.name.ok_or_else(|| Error::new(Code::Usage, "a name is missing"))?;
    let job = LockJob {
        name,
        slots: args.slots,
        patience: args.wait.map_or(LockPatience::Endless, LockPatience::AtMost),
        holder: if args.close { LockHeldBy::UsAlone } else { LockHeldBy::ItsProcesses },
        command: args.command,
        folder: working_dir(global)?,
    };
    match lock::run(&job, &mut |what| screen.note(&format!("note: {what}")))? {
        lock::LockJobOutcome::Command(status) => Ok(VerbExit::Program(status)),
        lock::LockJobOutcome::NotStarted(error, status) => {
            report::error(screen, &error);
            Ok(VerbExit::Program(status))
        }
    }
}

fn list(screen: &mut Screen) -> Result<Exit> {
    let slots = list::all()?;
    let answer = LockListJson { locks: slots.iter().map(view).collect() };
    screen.answer(&answer, || in_words(&slots))?;
    Ok(Exit::Done)
}

fn view(slot: &LockSlot) -> LockJson {
    let LockSlot { name, number, state } = slot;
    let (held, holder) = match state {
        LockSlotState::Free => (false, None),
        LockSlotState::Held(holder) => (true, holder.as_ref()),
    };
    let holder = holder.map(|LockSlotHold { by, runs }| LockHolderJson {
        pid: by.pid,
        runs: *runs,
        slots: by.slots,
        command: by.command.clone(),
        folder: by.folder.clone(),
        taken_at: by.taken_at,
    });
    LockJson { name: name.clone(), slot: *number, held, holder }
}

fn in_words(slots: &[LockSlot]) -> StyledText {
    if slots.is_empty() {
        return "No lock was taken yet.\n".into();
    }
    let mut rows = vec![["LOCK", "SLOT", "HELD BY", "SINCE", "FOLDER", "COMMAND"].map(str::to_owned).to_vec()];
    for LockSlot { name, number, state } in slots {
        let mut row = vec![name.to_string(), number.to_string()];
        match state {
            LockSlotState::Free => row.push("(free)".to_owned()),
            LockSlotState::Held(None) => row.push("(unknown)".to_owned()),
            LockSlotState::Held(Some(LockSlotHold { by, runs })) => {
                let who = if *runs { by.pid.to_string() } else { format!("what {} left behind", by.pid) };
                row.extend([who, words::time(by.taken_at), by.folder.clone(), by.command.clone()]);
            }
        }
        rows.push(row);
    }
    StyledGrid::of(rows).headed().cut(&[4, 5, 0]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_in_the_configuration() {
        for (text, seconds) in [("0", 0), ("30", 30), ("30s", 30), ("5min", 300), ("2h", 7200)] {
            assert_eq!(wait(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "-1", "x", "1.5s", "5 moons", "99999999999"] {
            assert!(wait(text).is_err(), "{text}");
        }
    }
}

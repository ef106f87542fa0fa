//! Who holds which lock. Nothing is made, nobody is kept from taking a lock, and nothing waits.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read;

use axiom_base::env;
use axiom_base::error::Result;
use axiom_base::files::{PrivateFolder, is_held};
use axiom_model::base::forms::{natural, times};
use axiom_model::base::ids::LockName;
use axiom_model::work::sessions::lock::{LockHolderRecord, slot_file, slot_of};
use axiom_process::os::foreground;
use axiom_process::os::process_id::ProcessId;

/// The largest description that is read: a longer one is none of ours.
const MOST: u64 = 64 * 1024;

/// One slot of a lock that somebody took once.
#[derive(Debug)]
pub struct LockSlot {
    /// The lock.
    pub name: LockName,
    /// The number of the slot, from 1.
    pub number: u32,
    /// Whether it is free or held.
    pub state: LockSlotState,
}

/// Whether a slot is free.
#[derive(Debug)]
pub enum LockSlotState {
    /// Nobody holds it.
    Free,
    /// Somebody holds it; who, where that could be read.
    Held(Option<LockSlotHold>),
}

/// Who holds a slot.
#[derive(Debug)]
pub struct LockSlotHold {
    /// What it wrote when it took the slot.
    pub by: LockHolderRecord,
    /// Whether that process still runs. If not, another one that inherited the descriptor holds the slot.
    pub runs: bool,
}

impl LockSlotHold {
    /// The holder in words.
    pub fn in_words(&self) -> String {
        let LockHolderRecord { pid, taken_at, .. } = &self.by;
        let what = match self.runs {
            true => format!("process {pid}"),
            false => format!("a process that {pid} left behind"),
        };
        format!("{what} ({}) since {}", self.by.shown_command(), times::said(&env::time_zone(), env::now(), *taken_at))
    }
}

/// All slots that were ever taken, in order of name and number.
pub fn all() -> Result<Vec<LockSlot>> {
    let Some(folder) = super::folder_if_there()? else { return Ok(Vec::new()) };
    let mut slots = slots_in(&folder, |_| true)?;
    slots.sort_by(|one, other| natural::compare(one.name.as_str(), other.name.as_str()).then(one.number.cmp(&other.number)));
    Ok(slots)
}

/// The names of all locks that were ever taken.
pub fn names() -> Result<BTreeSet<String>> {
    let Some(folder) = super::folder_if_there()? else { return Ok(BTreeSet::new()) };
    Ok(folder.names()?.iter().filter_map(|file| Some(slot_of(file.to_str()?)?.0.to_string())).collect())
}

/// Those who hold a slot of this lock, in no particular order.
pub(super) fn holders(folder: &PrivateFolder, name: &LockName) -> Result<Vec<(u32, Option<LockSlotHold>)>> {
    let slots = slots_in(folder, |other| other.folded() == name.folded())?;
    let held = slots.into_iter().filter_map(|slot| match slot.state {
        LockSlotState::Held(held) => Some((slot.number, held)),
        LockSlotState::Free => None,
    });
    Ok(held.collect())
}

fn slots_in(folder: &PrivateFolder, wanted: impl Fn(&LockName) -> bool) -> Result<Vec<LockSlot>> {
    let mut slots = Vec::new();
    for file in folder.names()? {
        let Some((name, number)) = file.to_str().and_then(slot_of).filter(|(name, _)| wanted(name)) else { continue };
        // One that was deleted meanwhile is free.
        let state = state_of(folder, &name, number)?.unwrap_or(LockSlotState::Free);
        slots.push(LockSlot { name, number, state });
    }
    Ok(slots)
}

/// The state of a slot; `None` where it has no file.
pub(super) fn state_of(folder: &PrivateFolder, name: &LockName, number: u32) -> Result<Option<LockSlotState>> {
    let file = slot_file(name, number);
    let Some(opened) = folder.look_at(OsStr::new(&file))? else { return Ok(None) };
    if !is_held(&opened, &folder.path().join(&file))? {
        return Ok(Some(LockSlotState::Free));
    }
    let mut content = Vec::new();
    // If it cannot be read, who holds the slot is unknown, but that it is held is certain.
    let read = opened.take(MOST).read_to_end(&mut content);
    let by = read.ok().and_then(|_| LockHolderRecord::of_line(&content));
    let held = by.map(|by| {
        let runs = foreground::is_alive(ProcessId { pid: by.pid, start: by.start });
        LockSlotHold { by, runs }
    });
    Ok(Some(LockSlotState::Held(held)))
}

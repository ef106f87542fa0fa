//! Odd places: what ordinary repositories of people have, which must cost nothing but itself. Which of them a history has follows from
//! its seed, by dice of their own: a history of a place without them is the same as ever.

mod broken;
mod closed;
mod filter;
mod lfs;
mod stash;
mod submodule;

use std::path::{Path, PathBuf};

use crate::common::random::Random;
use crate::histories::place::Place;

pub use broken::is_broken;
pub use closed::{closed_in, open_all, opened};
pub use stash::{comes_back, of_an_agent};

/// What a place has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oddity {
    /// A submodule, perhaps one with another one, in the main worktree and in linked ones.
    Submodule,
    /// Files of Git LFS.
    Lfs,
    /// A filter that works, is missing, or fails.
    Filter,
    /// Files and folders that cannot be read.
    Closed,
    /// Linked worktrees that git cannot work with.
    Broken,
    /// Agents that take entries of the user's stash.
    Stash,
}

/// From this seed on every place is odd: to look for what is wrong with them.
const ALWAYS: u64 = 1_000_000;

/// In the order in which they are set up: where a filter fails nothing is committed any more.
const ALL: [Oddity; 6] = [Oddity::Submodule, Oddity::Lfs, Oddity::Filter, Oddity::Closed, Oddity::Broken, Oddity::Stash];

/// What is odd about the place of a history, and the dice that decide what becomes of it.
pub struct Odd {
    dice: Random,
    kinds: Vec<Oddity>,
}

impl Odd {
    /// Of every third seed something is odd, mostly one thing or two; of all from [`ALWAYS`] on.
    pub fn of(seed: u64) -> Self {
        let mut dice = Random::of(seed.wrapping_add(1 << 32));
        let mut kinds = Vec::new();
        if seed.is_multiple_of(3) || seed >= ALWAYS {
            let one = *dice.pick(&ALL).unwrap();
            kinds.extend(ALL.into_iter().filter(|kind| dice.once_in(5) || *kind == one));
        }
        Self { dice, kinds }
    }

    /// Whether the place has it.
    pub fn has(&self, kind: Oddity) -> bool {
        self.kinds.contains(&kind)
    }

    /// Whether anything is odd.
    pub fn is_any(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// One time in `cases`, where anything is odd.
    pub fn once_in(&mut self, cases: u64) -> bool {
        self.is_any() && self.dice.once_in(cases)
    }

    /// Now and then a path of an odd thing, in place of another.
    pub fn path_or(&mut self, usual: &'static str) -> &'static str {
        let paths: Vec<&'static str> = self.kinds.iter().flat_map(|kind| kind.paths()).copied().collect();
        if self.once_in(2) { self.dice.pick(&paths).copied().unwrap_or(usual) } else { usual }
    }
}

impl Oddity {
    fn paths(self) -> &'static [&'static str] {
        match self {
            Self::Submodule => &["sm", "sm/s.txt"],
            Self::Lfs => &["big.bin"],
            Self::Filter => &["f.flt", "sub/g.flt"],
            Self::Closed => &["closed", "secret.txt"],
            Self::Broken | Self::Stash => &[],
        }
    }

    fn set_up(self, place: &mut Place, dice: &mut Random) {
        match self {
            Self::Submodule => submodule::set_up(place, dice),
            Self::Lfs => lfs::set_up(place),
            Self::Filter => filter::set_up(place, dice),
            Self::Closed | Self::Broken | Self::Stash => {}
        }
    }

    fn step(self, place: &mut Place, dice: &mut Random) {
        match self {
            Self::Submodule => submodule::step(place, dice),
            Self::Lfs => lfs::step(place, dice),
            Self::Filter => filter::step(place, dice),
            Self::Closed => closed::step(place, dice),
            Self::Broken => broken::step(place, dice),
            Self::Stash => stash::step(place),
        }
    }
}

/// Makes the place odd.
pub fn set_up(place: &mut Place) {
    with_dice(place, |place, kinds, dice| {
        place.says(&format!("an odd place: {kinds:?}"));
        kinds.iter().for_each(|kind| kind.set_up(place, dice));
    });
}

/// Something becomes of an odd thing, perhaps.
pub fn step(place: &mut Place) {
    with_dice(place, |place, kinds, dice| {
        if dice.once_in(2) {
            dice.pick(kinds).unwrap().step(place, dice);
        }
    });
}

fn with_dice(place: &mut Place, run: impl FnOnce(&mut Place, &[Oddity], &mut Random)) {
    if !place.odd.is_any() {
        return;
    }
    let kinds = place.odd.kinds.clone();
    let mut dice = std::mem::replace(&mut place.odd.dice, Random::of(0));
    run(place, &kinds, &mut dice);
    place.odd.dice = dice;
    place.env.give();
}

/// A worktree: mostly the main one. With dice of its own it is another one than people's.
fn somewhere(place: &Place, dice: &mut Random) -> PathBuf {
    crate::histories::human::somewhere(place, dice)
}

/// Writes a new content, with the folders that it needs.
fn write(place: &mut Place, path: &Path) {
    let text = place.text();
    let _ = path.parent().map(std::fs::create_dir_all);
    let _ = std::fs::write(path, text);
    place.env.give();
}

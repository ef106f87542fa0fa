//! Whatever is read from disk: the first byte says what it is, the rest is its content. The judge is that of `tests/state/loads`: an
//! input is refused, or what it says is true.
#![no_main]
#![allow(dead_code)]

#[path = "../../tests/state/loads/ground.rs"]
mod ground;
#[path = "../../tests/state/loads/judge.rs"]
mod judge;
#[path = "../../tests/state/support/mod.rs"]
mod support;

use ground::{Ground, Kind};
use libfuzzer_sys::{Corpus, fuzz_target};

thread_local! {
    static GROUND: Ground = Ground::new();
}

fuzz_target!(|input: &[u8]| -> Corpus {
    let Some((first, input)) = input.split_first() else { return Corpus::Reject };
    let Some((kind, _)) = Kind::ALL.get(usize::from(*first)) else { return Corpus::Reject };
    if let Err(wrong) = GROUND.with(|ground| judge::judge(ground, *kind, input)) {
        panic!("{kind:?}: {wrong}");
    }
    Corpus::Keep
});

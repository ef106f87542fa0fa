//! When a keeper, or what it had left, was alive last, for whoever finds it dead: the time of its lock file. It is set by the keeper when
//! it does something anyway, by the supervisor that sees it alive, and by whoever ends what it had left.

use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use crate::run_folder::spec::KEEPER_LOCK;
use axiom_base::files;

/// How old the proof is at least that is renewed.
const RENEWED_AFTER: Duration = Duration::from_secs(1);

/// The keeper of the run in this folder is alive now. Where that cannot be noted, it is known to have lived for less long.
pub fn note_alive(run: &Path) {
    let age = noted(run).and_then(|then| SystemTime::from(then).elapsed().ok());
    if age.is_none_or(|age| age >= RENEWED_AFTER) {
        files::touch(&run.join(KEEPER_LOCK));
    }
}

/// The later of two signs of life: that at `sign`, and the last one of its keeper.
pub(super) fn lived_until(run: &Path, sign: Timestamp) -> Timestamp {
    noted(run).map_or(sign, |alive| alive.max(sign))
}

fn noted(run: &Path) -> Option<Timestamp> {
    run.join(KEEPER_LOCK).metadata().and_then(|lock| lock.modified()).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]
    use super::*;

    #[test]
    fn a_keeper_that_was_seen_alive_lived_until_then() {
        let run = tempfile::tempdir().unwrap();
        let at = |second| Timestamp::from_second(second).unwrap();
        note_alive(run.path());
        assert_eq!(lived_until(run.path(), at(7)), at(7), "no keeper was started");
        let lock = std::fs::File::create(run.path().join(KEEPER_LOCK)).unwrap();
        lock.set_modified(SystemTime::from(at(50))).unwrap();
        assert_eq!([7, 60].map(|sign| lived_until(run.path(), at(sign))), [at(50), at(60)]);
        note_alive(run.path());
        let noted = lived_until(run.path(), at(7));
        assert!(noted > at(1_000_000_000), "{noted}");
        lock.set_modified(SystemTime::now() + Duration::from_secs(50)).unwrap();
        note_alive(run.path());
        let back = lived_until(run.path(), at(7));
        assert!(SystemTime::from(back) <= SystemTime::now(), "the clock went back: {back}");
    }
}

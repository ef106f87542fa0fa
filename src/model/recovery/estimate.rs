//! What a crash costs: how much work is done again, and how long that takes. Estimates, by the formulas of docs/RECOVERY.md. Pure.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

/// What is known of one task that was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashedTaskTimes {
    /// When it was claimed.
    pub begun: Timestamp,
    /// The last moment at which it is known to have worked.
    pub ended: Timestamp,
    /// The last moment from which its work is kept: a capture, a report, the end of an iteration.
    pub kept: Timestamp,
    /// For how many seconds it was worked on, in all its iterations.
    pub worked: u64,
    /// Its progress in percent.
    pub progress: Option<u8>,
    /// Whether it begins anew.
    pub anew: bool,
    /// Whether what it changed is still there in its workspace, with which it goes on: kept or not, it is not done again.
    pub is_there: bool,
    /// Whether it is left as it is: nothing of it is lost now.
    pub is_left: bool,
}

/// A crash that cut tasks off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CrashEstimate {
    /// The crash was then or later: the last moment at which one of them is known to have worked.
    pub crash_time: Timestamp,
    /// When something of the work was kept last.
    pub last_checkpoint: Timestamp,
    /// For how many seconds nothing has worked since, at most.
    pub crash_duration: u64,
    /// How many percent of the work are done again.
    pub estimated_loss: u8,
    /// How many seconds of work are left, where the progress of a task is known and how long it took.
    pub estimated_seconds: Option<u64>,
}

/// The crash that cut these tasks off.
pub fn crash(pieces: &[CrashedTaskTimes], now: Timestamp) -> Option<CrashEstimate> {
    let crash_time = pieces.iter().map(|piece| piece.ended).max()?;
    let last_checkpoint = pieces.iter().map(|piece| piece.kept.min(piece.ended)).max()?;
    let since = |from: Timestamp, to: Timestamp| seconds(to.duration_since(from));
    let worked: u64 = pieces.iter().map(|piece| since(piece.begun, piece.ended)).sum();
    let lost = |piece: &CrashedTaskTimes| match (piece.is_left, piece.anew, piece.is_there) {
        (true, _, _) | (false, false, true) => 0,
        (false, true, _) => since(piece.begun, piece.ended),
        (false, false, false) => since(piece.kept, piece.ended),
    };
    let lost: u64 = pieces.iter().map(lost).sum();
    let percent = lost.min(worked).saturating_mul(100).checked_div(worked).unwrap_or(0);
    Some(CrashEstimate {
        crash_time,
        last_checkpoint,
        crash_duration: since(crash_time, now),
        estimated_loss: u8::try_from(percent).unwrap_or(100),
        // They are worked on side by side: the longest counts.
        estimated_seconds: pieces.iter().filter(|piece| !piece.is_left).filter_map(remaining).max(),
    })
}

/// How many seconds a task takes from now on, if it goes on as fast as before. Less than a second, worked or left, tells nothing.
fn remaining(piece: &CrashedTaskTimes) -> Option<u64> {
    let worked = piece.worked;
    let progress = u64::from(piece.progress.filter(|percent| *percent > 0)?);
    let whole = worked.saturating_mul(100).checked_div(progress)?;
    Some(if piece.anew { whole } else { whole.saturating_sub(worked) }).filter(|left| *left > 0)
}

fn seconds(duration: SignedDuration) -> u64 {
    u64::try_from(duration.as_secs()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn loss_and_rest_are_estimated() {
        let goes_on = CrashedTaskTimes {
            begun: at(0),
            ended: at(800),
            kept: at(780),
            worked: 800,
            progress: Some(80),
            anew: false,
            is_there: false,
            is_left: false,
        };
        let anew = CrashedTaskTimes {
            begun: at(700),
            ended: at(800),
            kept: at(790),
            worked: 100,
            progress: Some(5),
            anew: true,
            is_there: true,
            is_left: false,
        };
        let told = crash(&[goes_on], at(890)).unwrap();
        assert_eq!((told.crash_time, told.last_checkpoint, told.crash_duration), (at(800), at(780), 90));
        assert_eq!((told.estimated_loss, told.estimated_seconds), (2, Some(200)));
        let left = CrashedTaskTimes { is_left: true, ..anew };
        let told = crash(&[left, goes_on], at(890)).unwrap();
        assert_eq!((told.estimated_loss, told.estimated_seconds), (2, Some(200)), "nothing of what is left as it is is lost");
        let told = crash(&[goes_on, anew], at(100)).unwrap();
        assert_eq!((told.estimated_loss, told.estimated_seconds, told.crash_duration), (13, Some(2000), 0));
        let told = crash(&[CrashedTaskTimes { begun: at(790), ..goes_on }], at(890)).unwrap();
        assert_eq!(told.estimated_seconds, Some(200), "the progress is that of all its iterations");
        let never_kept = CrashedTaskTimes { kept: at(0), is_there: true, ..goes_on };
        let told = crash(&[never_kept], at(890)).unwrap();
        assert_eq!((told.estimated_loss, told.last_checkpoint), (0, at(0)), "its files are on the disk");
        let unknown = CrashedTaskTimes { progress: None, kept: at(999), ..goes_on };
        let told = crash(&[unknown], at(890)).unwrap();
        assert_eq!((told.estimated_loss, told.estimated_seconds, told.last_checkpoint), (0, None, at(800)));
        for (progress, ended) in [(30, 0), (100, 800)] {
            let told = crash(
                &[CrashedTaskTimes { ended: at(ended), worked: ended.unsigned_abs(), progress: Some(progress), ..goes_on }],
                at(890),
            )
            .unwrap();
            assert_eq!(told.estimated_seconds, None, "{progress}% after {ended} s");
        }
        assert_eq!(crash(&[], at(0)), None);
    }
}

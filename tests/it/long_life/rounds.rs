//! Rounds of every verb that changes something, eight days apart, so that what is kept for seven days goes again.

use jiff::{SignedDuration, Timestamp};

use crate::common::TestEnv;
use crate::long_life::counts::Counts;
use crate::long_life::rounds_of;

/// A clock that is far ahead of the files' times, and that only goes forward.
struct Life {
    env: TestEnv,
    now: Timestamp,
}

impl Life {
    fn begin() -> Self {
        let env = TestEnv::new();
        // Retention has something to do from the first round on.
        env.git(&["config", "axiom.checkpoints.maxCount", "5"]);
        Self { env, now: Timestamp::now() + SignedDuration::from_hours(100 * 24) }
    }

    /// One verb, a minute after the one before.
    fn axiom(&mut self, args: &[&str]) {
        self.now += SignedDuration::from_mins(1);
        let mut command = self.env.axiom_command(&self.env.repo(), args);
        command.env("AXIOM_TEST_NOW", self.now.to_string());
        self.env.run(command, None).success();
    }

    /// A task is done, merged, rolled back, brought back, taken back, brought back, and rolled back with everything else.
    fn round(&mut self, number: usize) {
        let (start, task) = (format!("start-{number}"), format!("t{number}"));
        self.axiom(&["checkpoint", "create", &start]);
        self.axiom(&["task", "add", "something", "--id", &task, "--body", &format!("echo {number} > made")]);
        self.axiom(&["run", "--mode", "autopilot", "--until-idle"]);
        self.env.write("dirty", number.to_string());
        self.axiom(&["checkpoint", "create"]);
        self.axiom(&["rollback", "checkpoint", &start, "--yes"]);
        self.axiom(&["undo", "--yes"]);
        self.axiom(&["rollback", "task", &task, "--yes"]);
        self.axiom(&["undo", "--yes"]);
        self.axiom(&["rollback", "checkpoint", &start, "--yes"]);
        self.axiom(&["checkpoint", "delete", &start, "--protected", "--yes"]);
        self.axiom(&["checkpoint", "cleanup", "--keep", "3", "--yes"]);
        if number.is_multiple_of(50) {
            self.axiom(&["checkpoint", "compact"]);
        }
        self.now += SignedDuration::from_hours(8 * 24);
    }
}

/// How many more of a thing than at the end of the warm-up there may be: the last round may have been another second of the day,
/// and so another name or one more folder. What grew by one a round is seen after four.
const SLACK: usize = 3;

/// After so many rounds everything has been kept, expired and deleted for the first time.
const WARM_UP: usize = 4;

/// After so many commits a debug build begins the history of the notes anew.
const LONGEST_NOTES: usize = 40;

#[test]
fn rounds_of_everything_leave_nothing_behind() {
    let rounds = rounds_of(WARM_UP + 6);
    let mut life = Life::begin();
    let mut logs = Vec::new();
    let mut warm = None;
    for number in 0..rounds {
        life.round(number);
        let counts = Counts::of(&life.env);
        logs.push(counts.log);
        assert!(counts.notes <= LONGEST_NOTES, "{} commits of notes after {} rounds", counts.notes, number + 1);
        if number + 1 == WARM_UP {
            warm = Some(counts);
        } else if let Some(warm) = &warm {
            for ((name, before), (_, now)) in warm.held.iter().zip(&counts.held) {
                assert!(*now <= before + SLACK, "{name}: {before} after {WARM_UP} rounds, {now} after {}", number + 1);
            }
        }
    }
    // A round writes what it did, and not what others did before it. Names and numbers may get a few digits longer.
    let (first, last) = (logs[WARM_UP - 1] - logs[WARM_UP - 2], logs[rounds - 1] - logs[rounds - 2]);
    assert!(last * 10 <= first * 11, "a round wrote {first} bytes of log in the beginning and {last} in the end");
    life.env.fsck();
}

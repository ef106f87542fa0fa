//! What is recorded: verbs of ours, programs of the user's, and agents.

use std::process::Command;

use crate::common::TestEnv;
use crate::power_loss::model::{Disk, Recording};
use crate::power_loss::tracer;

/// Who does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The user, by a shell script: nothing is promised when it ends.
    User(&'static str),
    /// A verb of ours: its success is a promise.
    Verb(&'static [&'static str]),
}

/// A step and where it ended.
pub struct Done {
    /// What was done.
    pub step: Step,
    /// How many events there were at its end.
    pub events: usize,
    /// Everything as it was then.
    pub disk: Disk,
}

/// A scenario that was recorded.
pub struct Recorded {
    /// Its name.
    pub name: &'static str,
    /// Where it took place, empty by now.
    pub env: TestEnv,
    /// What happened.
    pub recording: Recording,
    /// The steps, in order.
    pub steps: Vec<Done>,
}

/// What is recorded, and what comes before.
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// Before the recording, all of it durable.
    pub before: &'static [Step],
    /// Recorded.
    pub steps: &'static [Step],
}

impl Scenario {
    /// Does everything, and empties the place where it was done.
    pub fn record(&self) -> Recorded {
        let env = place();
        env.git_in(env.root(), &["init", "-q", "-b", "main", "repo"]);
        env.write("README", "a project\n");
        env.write("src/lib.txt", "one\ntwo\nthree\n");
        env.git(&["add", "-A"]);
        env.git(&["commit", "-q", "-m", "first"]);
        for step in self.before {
            let output = command(&env, *step).output().unwrap();
            assert!(output.status.success(), "{step:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let mut recording = Recording::begin(env.root());
        let mut steps = Vec::new();
        for step in self.steps {
            let code = tracer::run(command(&env, *step), env.root(), |change| recording.take(change));
            assert_eq!(code, Some(0), "{step:?}");
            steps.push(Done { step: *step, events: recording.events.len(), disk: recording.now().clone() });
        }
        recording.note_permissions();
        recording.check();
        for entry in std::fs::read_dir(env.root()).unwrap() {
            std::fs::remove_dir_all(entry.unwrap().path()).unwrap();
        }
        Recorded { name: self.name, env, recording, steps }
    }
}

/// In memory, where the machine has such a place: thousands of disks are written.
pub fn place() -> TestEnv {
    let memory = tempfile::Builder::new().prefix("axiom-power-").tempdir_in("/dev/shm");
    TestEnv::of(memory.unwrap_or_else(|_| tempfile::tempdir().unwrap()))
}

/// The program of a step.
pub fn command(env: &TestEnv, step: Step) -> Command {
    match step {
        Step::Verb(args) => env.axiom_command(&env.repo(), args),
        Step::User(script) => {
            let mut command = env.program("/bin/sh", &env.repo());
            let binary = std::path::Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap().display();
            let path = format!("{binary}:{}", std::env::var("PATH").unwrap());
            command.args(["-ec", script]).env("PATH", path);
            command
        }
    }
}

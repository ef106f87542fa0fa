//! What is recorded: verbs of ours, programs of the user's, and agents.

use std::process::Command;

use crate::common::TestEnv;
use crate::model::{Disk, Recording};
use crate::tracer;

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

const WRITES: &str = "mkdir -p out && seq 300 > out/$AXIOM_TASK_ID.txt && seq 7 > src/lib.txt";
const COMMITS: &str =
    "mkdir -p out && seq 300 > out/two.txt && git add -A && git commit -q --allow-empty -m 'own commit' && seq 9 > out/late.txt";

/// The first time it waits to be killed.
const CUT_OFF: &str = "seq 30 > one.txt; echo $PPID $$ > $HOME/pids; test -e $HOME/again || exec sleep 100";
/// A session with that task whose files are captured before all that runs in it is killed.
const CAPTURED: &str = "git-axiom run --mode autopilot --until-idle & while [ ! -s $HOME/pids ]; do sleep 0.02; done; \
                        while ! git ls-tree -r --name-only refs/axiom/live/one 2>/dev/null | grep -q one.txt; do sleep 0.05; done; \
                        kill -9 $! $(cat $HOME/pids); touch $HOME/again";
/// A session with that task, and all that runs in it is killed.
const ALL_DIE: &str = "git-axiom run --mode autopilot --until-idle & while [ ! -s $HOME/pids ]; do sleep 0.02; done; \
                       kill -9 $! $(cat $HOME/pids); touch $HOME/again";

/// Every scenario.
pub const ALL: &[Scenario] = &[
    Scenario {
        name: "verbs",
        before: &[
            Step::Verb(&["init"]),
            Step::User("echo unstaged >> src/lib.txt; echo staged > staged.txt; git add staged.txt; echo u > untracked.txt"),
        ],
        steps: &[
            Step::Verb(&["task", "add", "One", "--id", "one", "--body", WRITES]),
            Step::Verb(&["checkpoint", "create", "first"]),
            Step::User("git commit -qm 'of the user' && seq 200 > made.txt && seq 99 > src/lib.txt && rm README && sync -f ."),
            Step::User("seq 400 > later.txt && git add later.txt && git commit -qm 'later' && seq 500 > untracked.txt"),
            Step::Verb(&["checkpoint", "create", "second"]),
            Step::Verb(&["rollback", "checkpoint", "first", "--yes"]),
            Step::Verb(&["undo", "--yes"]),
            Step::Verb(&["task", "edit", "one", "--title", "Uno"]),
        ],
    },
    Scenario {
        name: "session",
        before: &[
            Step::Verb(&["init"]),
            Step::Verb(&["task", "add", "One", "--id", "one", "--body", WRITES]),
            Step::Verb(&["task", "add", "Two", "--id", "two", "--body", COMMITS]),
            Step::Verb(&["task", "add", "Three", "--id", "three", "--body", "seq 100 > three.txt", "--after", "one"]),
        ],
        steps: &[Step::Verb(&["run", "--mode", "autopilot", "--until-idle"])],
    },
    Scenario {
        name: "merge",
        before: &[
            Step::Verb(&["init"]),
            Step::Verb(&["task", "add", "One", "--id", "one", "--body", WRITES]),
            Step::User(
                "mkdir out; echo x > out/one.txt; git axiom run --mode autopilot --until-idle || true; rm -r out; echo mine > mine.txt",
            ),
        ],
        steps: &[Step::Verb(&["merge", "one"]), Step::Verb(&["rollback", "task", "one", "--yes"])],
    },
    Scenario {
        name: "recovery",
        before: &[
            Step::Verb(&["init"]),
            Step::Verb(&["task", "add", "One", "--id", "one", "--body", CUT_OFF]),
            Step::Verb(&["checkpoint", "create", "first"]),
            Step::User("echo mine >> README; seq 40 > mine.txt"),
            Step::User(ALL_DIE),
            Step::User("AXIOM_TEST_FAULT=journal.begun:1 git axiom rollback checkpoint first --yes || true"),
            // A torn last line.
            Step::User("printf '{\"v\":6,\"seq\":' >> .git/axiom/state/events.jsonl"),
        ],
        steps: &[Step::Verb(&["recover", "--yes"]), Step::Verb(&["recover", "--yes"]), Step::Verb(&["undo", "--yes"])],
    },
    Scenario {
        name: "others",
        before: &[
            Step::Verb(&["init"]),
            Step::Verb(&["task", "add", "One", "--id", "one", "--body", WRITES]),
            Step::Verb(&[
                "task",
                "add",
                "Ask",
                "--id",
                "ask",
                "--body",
                "git axiom signal learning it; git axiom signal waiting why",
            ]),
            Step::User("git axiom run --mode review --until-idle || true"),
            Step::Verb(&["task", "add", "Next", "--id", "next", "--body", "true"]),
            Step::User("printf '{\"title\": \"T\", \"id\": \"imported\"}\n' > tasks.jsonl; echo more >> README"),
            Step::Verb(&["checkpoint", "create", "first"]),
            Step::User("seq 70 > README"),
        ],
        steps: &[
            Step::Verb(&["checkpoint", "create", "known", "--only", "README"]),
            Step::Verb(&["restore", "first", "--yes", "--", "README"]),
            Step::Verb(&["undo", "--yes"]),
            Step::Verb(&["redo", "--yes"]),
            Step::Verb(&["task", "block", "next", "--reason", "because"]),
            Step::Verb(&["task", "unblock", "next"]),
            Step::Verb(&["task", "archive", "next"]),
            Step::Verb(&["task", "import", "tasks.jsonl"]),
            Step::Verb(&["gate", "answer", "ask", "because"]),
            Step::Verb(&["gate", "approve", "one"]),
            Step::Verb(&["mode", "autopilot"]),
            Step::Verb(&["config", "set", "--repo", "agents.count", "3"]),
            Step::Verb(&["hooks", "install", "notify"]),
            Step::Verb(&["trust", "--yes"]),
            Step::Verb(&["lock", "a-lock", "--", "true"]),
            Step::Verb(&["checkpoint", "delete", "known", "--protected", "--yes"]),
            Step::Verb(&["checkpoint", "compact"]),
            Step::Verb(&["checkpoint", "verify", "--repair"]),
            Step::Verb(&["checkpoint", "cleanup", "--keep", "1", "--protected", "--yes"]),
            Step::Verb(&["rollback", "session", "--yes"]),
            // Two files, each whole or not there.
            Step::User("git axiom init --shared"),
        ],
    },
    Scenario {
        name: "files",
        before: &[
            Step::Verb(&["init"]),
            Step::User("git config axiom.agents.captureInterval 1"),
            Step::Verb(&["task", "add", "One", "--id", "one", "--body", CUT_OFF]),
            Step::User(CAPTURED),
            Step::User("cd .worktrees/agent-001-one && rm one.txt && echo other > src/lib.txt"),
            Step::Verb(&["recover", "--yes"]),
        ],
        steps: &[
            Step::Verb(&["recover", "--files", "one", "--yes"]),
            Step::Verb(&["recover", "--files", "one", "src/lib.txt"]),
            Step::Verb(&["undo", "--yes"]),
        ],
    },
    Scenario {
        name: "anew",
        before: &[
            Step::Verb(&["init"]),
            Step::Verb(&["task", "add", "One", "--id", "one", "--body", WRITES]),
            Step::Verb(&["run", "--mode", "autopilot", "--until-idle"]),
            Step::Verb(&["task", "add", "Two", "--id", "two", "--body", WRITES]),
            Step::Verb(&["checkpoint", "create", "first"]),
        ],
        steps: &[
            Step::Verb(&["recover", "--from", "snapshot", "--yes"]),
            Step::Verb(&["recover", "--from", "partial", "--yes"]),
            Step::Verb(&["recover", "--from", "events", "--yes"]),
            Step::Verb(&["recover", "--from", "checkpoint", "--yes"]),
            Step::Verb(&["recover", "--from", "cases", "--yes"]),
            Step::Verb(&["recover", "--from", "fresh", "--yes"]),
        ],
    },
    Scenario {
        name: "planning",
        before: &[
            Step::Verb(&["init"]),
            Step::User("git axiom init --shared; git add .axiom; git commit -qm shared"),
            Step::Verb(&["trust", "--yes"]),
        ],
        steps: &[
            Step::Verb(&["plan", "start", "Sign in with a key"]),
            Step::Verb(&["plan", "add-case", "Store keys", "--id", "keys"]),
            Step::Verb(&["plan", "propose", "so"]),
            Step::Verb(&["plan", "revise", "shorter"]),
            Step::Verb(&["plan", "propose", "short"]),
            Step::Verb(&["plan", "validate"]),
            Step::Verb(&["plan", "approve"]),
            Step::Verb(&["plan", "finish", "--yes"]),
            Step::Verb(&["undo", "--yes"]),
            Step::Verb(&["config", "set", "--repo", "agents.count", "3"]),
            Step::Verb(&["config", "reset", "--repo", "--yes"]),
            Step::Verb(&["config", "restore", "--repo", "--yes"]),
            Step::Verb(&["disk", "--clean"]),
        ],
    },
    Scenario {
        name: "leaving",
        before: &[
            Step::Verb(&["init"]),
            Step::User("echo 'API_KEY=sk-secret-0123456789' > .env; echo more >> README"),
            Step::Verb(&["checkpoint", "create", "first"]),
            Step::Verb(&["task", "add", "One", "--id", "one", "--body", "use sk-secret-0123456789"]),
        ],
        steps: &[
            Step::Verb(&["purge", ".env", "--yes"]),
            Step::User("rm .env; touch purged; sync -f ."),
            Step::Verb(&["task", "add", "Two", "--id", "two"]),
            Step::Verb(&["deinit", "--yes"]),
        ],
    },
];

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

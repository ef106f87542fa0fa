//! The scenes that are recorded.

use crate::power_loss::scenario::{Scenario, Step};

const WRITES: &str = "mkdir -p out && seq 300 > out/$AXIOM_TASK_ID.txt && seq 7 > src/lib.txt";
const COMMITS: &str =
    "mkdir -p out && seq 300 > out/two.txt && git add -A && git commit -q --allow-empty -m 'own commit' && seq 9 > out/late.txt";

/// Commits and stashes as a person would, and leaves an entry. Done twice, it comes to the same.
/// It begins with what an earlier iteration, cut off, may have left half written: `git add -A` would take it.
const PLAIN_GIT: &str = "rm -f left.txt late.txt; seq 300 > one.txt; git add one.txt; git commit -qm own; \
                         git show main:src/lib.txt > src/lib.txt; seq 9 >> src/lib.txt; git stash push -q -m own; \
                         seq 5 > five.txt; git add -A; git commit -qm more; \
                         git stash list | grep -q own && git stash pop -q; git commit -qam 'with the stash'; \
                         git commit -q --amend -m amended; seq 3 > left.txt; git stash push -qu; seq 4 > late.txt";

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
        name: "git",
        before: &[
            Step::Verb(&["init"]),
            Step::User("echo mine >> README; git stash -q; sync -f ."),
            Step::Verb(&["task", "add", "One", "--id", "one", "--body", PLAIN_GIT]),
            Step::Verb(&["task", "add", "Two", "--id", "two", "--body", "seq 100 > two.txt", "--after", "one"]),
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
            Step::User("printf '{\"axiom\":1,\"seq\":' >> .git/axiom/state/events.jsonl"),
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
            Step::User("GIT_EDITOR='printf \"[agents]\\\\ncount = 3\\\\n\" >' git axiom config edit --repo"),
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
            Step::Verb(&["plan", "add", "Store keys", "--id", "keys"]),
            Step::Verb(&["plan", "propose", "so"]),
            Step::Verb(&["plan", "revise", "shorter"]),
            Step::Verb(&["plan", "propose", "short"]),
            Step::Verb(&["plan", "validate"]),
            Step::Verb(&["plan", "approve"]),
            Step::Verb(&["plan", "finish", "--yes"]),
            Step::Verb(&["undo", "--yes"]),
            Step::User("GIT_EDITOR='printf \"[agents]\\\\ncount = 3\\\\n\" >' git axiom config edit --repo"),
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

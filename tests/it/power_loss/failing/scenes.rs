//! The verbs that change something, each with the state that it is called in.

use super::inject::Fault;
use crate::power_loss::scenario::Step;

/// A state, and what is called in it.
pub struct Scene {
    /// How it comes about.
    pub before: &'static [Step],
    /// Called one at a time, always in this state.
    pub verbs: &'static [&'static [&'static str]],
}

impl Scene {
    /// Whether this verb waits until the fault is gone, for as long as it takes: a session does.
    pub fn waits(&self, verb: usize, fault: Option<Fault>) -> bool {
        self.verbs[verb][0] == "run" && matches!(fault, Some(Fault::On(_)))
    }
}

/// Whether only the same call completes what this verb has begun.
pub fn completes_itself(scene: usize, verb: usize) -> bool {
    matches!(ALL[scene].verbs[verb][0], "purge" | "deinit")
}

/// Every verb: its scene, and its number there.
pub fn verbs() -> Vec<(usize, usize)> {
    ALL.iter().enumerate().flat_map(|(scene, each)| (0..each.verbs.len()).map(move |verb| (scene, verb))).collect()
}

/// A script of the user's.
const fn user(script: &'static str) -> Step {
    Step::User(script)
}

/// Tasks in every state, checkpoints, gates, files that are changed and staged, hooks, learnings.
const BUSY: &[Step] = &[
    Step::Verb(&["init"]),
    user("mkdir -p .axiom/hooks; printf '#!/bin/sh\\n' > .axiom/hooks/on-error.sh; chmod +x .axiom/hooks/on-error.sh"),
    user("echo '[agents]\ncount = 2' > .axiom/config.toml; git add .axiom; git commit -qm hooks"),
    Step::Verb(&["trust", "--yes"]),
    Step::Verb(&["task", "add", "Merged", "--id", "merged", "--body", "seq 30 > merged.txt; git axiom signal learning it"]),
    Step::Verb(&["run", "--mode", "autopilot", "--until-idle"]),
    Step::Verb(&["task", "add", "Work", "--id", "work", "--body", "seq 20 > work.txt; echo more > more.txt"]),
    Step::Verb(&["task", "add", "Ask", "--id", "ask", "--body", "git axiom signal waiting why"]),
    user("git axiom run --mode review --until-idle || true"),
    Step::Verb(&["task", "add", "Next", "--id", "next", "--body", "true"]),
    Step::Verb(&["task", "add", "Stuck", "--id", "stuck", "--body", "true"]),
    Step::Verb(&["task", "block", "stuck", "--reason", "because"]),
    Step::Verb(&["task", "edit", "next", "--title", "Later"]),
    Step::Verb(&["undo", "--yes"]),
    Step::Verb(&["checkpoint", "create", "first"]),
    user("printf '{\"title\": \"T\", \"id\": \"t\"}\\n{\"title\": \"U\", \"id\": \"u\"}\\n' > tasks.jsonl"),
    user("echo mine >> README; echo staged > staged.txt; git add staged.txt; rm src/lib.txt; echo u > untracked.txt"),
    Step::Verb(&["checkpoint", "create", "second"]),
    user("echo again >> README; git tag -d axiom/first"),
    // A plan with a version that waits, and a file of settings whose backup is another one.
    user(
        "cp .axiom/config.toml kept.toml; GIT_EDITOR='printf \"[agents]\\\\ncount = 4\\\\n\" >' git axiom config edit --repo; mv kept.toml .axiom/config.toml",
    ),
    Step::Verb(&["plan", "start", "Sign in with a key"]),
    Step::Verb(&["plan", "add", "Store keys", "--id", "keys"]),
    Step::Verb(&["plan", "propose", "so"]),
];

/// A plan whose last version is approved.
const PLANNED: &[Step] = &[
    Step::Verb(&["init"]),
    Step::Verb(&["plan", "start", "Sign in with a key"]),
    Step::Verb(&["plan", "add", "Store keys", "--id", "keys"]),
    Step::Verb(&["plan", "add", "Check a key", "--id", "check", "--after", "keys"]),
    Step::Verb(&["plan", "approve"]),
];

/// Everything that the main job needs, and verbs that a human calls without a session.
pub const ALL: &[Scene] = &[
    Scene {
        before: BUSY,
        verbs: &[
            &["task", "add", "New", "--id", "new", "--body", "true"],
            &["task", "edit", "next", "--title", "Other"],
            &["task", "block", "next", "--reason", "because"],
            &["task", "unblock", "stuck"],
            &["task", "archive", "next", "stuck"],
            &["task", "import", "tasks.jsonl"],
            &["checkpoint", "create", "third"],
            &["checkpoint", "create", "known", "--only", "README"],
            &["checkpoint", "delete", "first", "--protected", "--yes"],
            &["checkpoint", "cleanup", "--keep", "1", "--protected", "--yes"],
            &["checkpoint", "verify", "--repair"],
            &["checkpoint", "compact"],
            &["rollback", "checkpoint", "first", "--yes"],
            &["rollback", "task", "merged", "--yes"],
            &["rollback", "session", "--yes"],
            &["restore", "first", "--yes", "--", "README"],
            &["undo", "--yes"],
            &["redo", "--yes"],
            &["merge", "work"],
            &["gate", "approve", "work"],
            &["gate", "reject", "work", "--reason", "no"],
            &["gate", "answer", "ask", "because"],
            &["mode", "autopilot"],
            &["learnings", "edit", "LEARNING", "other"],
            &["trust", "--revoke"],
            &["hooks", "install", "notify"],
            &["hooks", "run", "on-error"],
            &["init"],
            &["init", "--shared"],
            &["lock", "a-lock", "--", "true"],
            &["recover", "--yes"],
            &["run", "--mode", "review", "--until-idle"],
            &["plan", "add", "Check a key", "--id", "check", "--after", "keys"],
            &["plan", "revise", "shorter"],
            &["plan", "approve"],
            &["plan", "validate"],
            &["plan", "abandon", "--yes"],
            &["config", "restore", "--repo", "--yes"],
            &["config", "reset", "--repo", "--yes"],
            &["disk", "--clean"],
        ],
    },
    Scene { before: &[Step::Verb(&["init"])], verbs: &[&["plan", "start", "Sign in with a key"]] },
    Scene {
        before: &[
            Step::Verb(&["init"]),
            user("echo 'API_KEY=sk-secret-0123456789' > .env; echo staged > staged.txt; git add staged.txt"),
            Step::Verb(&["checkpoint", "create", "first"]),
            Step::Verb(&["task", "add", "One", "--id", "one", "--body", "use sk-secret-0123456789"]),
            user("echo more >> README"),
            Step::Verb(&["checkpoint", "create", "second"]),
        ],
        verbs: &[&["purge", ".env", "--yes"], &["deinit", "--yes"]],
    },
    Scene { before: PLANNED, verbs: &[&["plan", "finish", "--yes"], &["plan", "recover", "--keep"]] },
    Scene {
        before: &[user("echo untracked > u.txt; mkdir .axiom; echo '[agents]\ncount = 2' > .axiom/config.toml")],
        verbs: &[
            &["init"],
            &["trust", "--yes"],
            &["task", "add", "New", "--id", "new", "--body", "true"],
            &["checkpoint", "create", "first"],
        ],
    },
    Scene {
        before: &[
            Step::Verb(&["init"]),
            Step::Verb(&["task", "add", "One", "--id", "one", "--body", "seq 30 > one.txt; git axiom signal progress 50"]),
        ],
        verbs: &[&["run", "--mode", "autopilot", "--until-idle"]],
    },
    Scene {
        before: &[
            Step::Verb(&["init"]),
            Step::Verb(&["checkpoint", "create", "first"]),
            user("echo more >> README; rm src/lib.txt; echo new > new.txt"),
            user("AXIOM_TEST_FAULT=journal.begun:1 git axiom rollback checkpoint first --yes || true"),
        ],
        verbs: &[&["recover", "--yes"], &["rollback", "--continue"], &["rollback", "--abort"]],
    },
    Scene {
        before: &[
            Step::Verb(&["init"]),
            Step::Verb(&[
                "task",
                "add",
                "One",
                "--id",
                "one",
                "--body",
                "seq 30 > one.txt; echo $PPID $$ > $HOME/pids; test -e $HOME/again || exec sleep 100",
            ]),
            Step::Verb(&["checkpoint", "create", "first"]),
            user(
                "git-axiom run --mode autopilot --until-idle & while [ ! -s $HOME/pids ]; do sleep 0.02; done; \
                 kill -9 $! $(cat $HOME/pids); touch $HOME/again",
            ),
        ],
        verbs: &[&["recover", "--yes"], &["run", "--mode", "autopilot", "--until-idle"]],
    },
    Scene {
        before: &[
            Step::Verb(&["init"]),
            Step::Verb(&["task", "add", "One", "--id", "one", "--body", "true"]),
            Step::Verb(&["checkpoint", "create", "first"]),
            user("rm -f .git/axiom/state/snapshot.json; sed -i '2s/.......$/xxxxxxx/' .git/axiom/state/events.jsonl"),
        ],
        verbs: &[
            &["recover", "--from", "partial", "--yes"],
            &["recover", "--from", "cases", "--yes"],
            &["recover", "--from", "checkpoint", "--yes"],
            &["recover", "--from", "fresh", "--yes"],
        ],
    },
];

//! The machine after a power loss: a disk is written where it was recorded, and looked at as after another start.
//!
//! Each one is a name space of its own (`unshare`), in which the folder of the recording is the disk that is tried, the machine's
//! boot has another id, and no process of another trial is seen: so that absolute paths are right, and several are tried at once.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::TestEnv;
use crate::power_loss::model::{Disk, Kind, Recording};

/// What only the verb itself completes; then recovery, and once more: what is there before and after the second one.
const RECOVERY: &[(&str, &str)] = &[
    ("completed", COMPLETED),
    ("recover", "git-axiom recover --yes"),
    ("before", EVERYTHING),
    ("again", "git-axiom recover --yes"),
    ("after", EVERYTHING),
];

/// Calls again what was interrupted.
const COMPLETED: &str = "sh -c 'test ! -e .git/axiom-purge.json || git-axiom purge --continue && \
     { test ! -e .git/axiom-deinit.json || git-axiom deinit --yes; }'";

/// Refs, the log, and all files of all worktrees and of the trash; not what a capture remembers for the next one.
const EVERYTHING: &str = "sh -c 'git for-each-ref; cksum .git/axiom/state/events.jsonl; \
     ls -R -I axiom-file-blobs -I axiom-given-back .git/axiom/trash .git/worktrees; \
     find . -path ./.git -prune -o -type f -exec cksum {} + | sort'";

/// What is asked then, in this order: a name for the answer, and the command.
const QUESTIONS: &[(&str, &str)] = &[
    ("named", "git-axiom recover --json"),
    ("fsck", "git fsck --full --strict --no-dangling --no-progress"),
    ("verify", "git-axiom checkpoint verify"),
    ("checkpoints", "git-axiom checkpoint list --json"),
    ("tasks", "git-axiom task list --json"),
    ("plan", "git-axiom plan show --json"),
    ("refs", "git for-each-ref --format='%(objectname) %(refname)'"),
    ("status", "git status --porcelain=v1 -uall"),
    ("secret", "sh -c 'test ! -e purged || git cat-file --batch-all-objects --batch | grep -ac sk-secret; true'"),
];

/// How a session is gone on with.
const GO_ON: (&str, &str) = ("run", "git-axiom run --mode autopilot --until-idle");

/// Whether this machine allows that a trial sees only its own processes (some containers do not): else a trial would take
/// another's git for one that works in its repository, and only one may run at a time.
pub fn sees_only_its_own() -> bool {
    static ALLOWED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *ALLOWED.get_or_init(|| {
        let tried = Command::new("unshare").args(["-Urmpf", "--mount-proc", "true"]).output();
        tried.is_ok_and(|output| output.status.success())
    })
}

/// A program's answer.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// A disk that is tried. Gone when dropped.
pub struct Replay {
    disk: tempfile::TempDir,
    answers: tempfile::TempDir,
    recovers: bool,
}

impl Replay {
    /// Writes a disk.
    pub fn write(recording: &Recording, disk: &Disk, env: &TestEnv) -> Self {
        let parent = env.root().parent().unwrap();
        let [folder, answers] = ["disk", "answers"]
            .map(|kind| tempfile::Builder::new().prefix(&format!("axiom-power-{kind}-")).tempdir_in(parent).unwrap());
        let paths = disk.paths();
        let mut written: std::collections::HashMap<usize, PathBuf> = std::collections::HashMap::new();
        for (path, node) in &paths {
            let place = folder.path().join(path);
            match &recording.nodes[*node].0 {
                Kind::Folder => std::fs::create_dir(&place).unwrap(),
                Kind::Link(target) => std::os::unix::fs::symlink(target, &place).unwrap(),
                Kind::File => match written.get(node) {
                    Some(first) => std::fs::hard_link(first, &place).unwrap(),
                    None => {
                        let content = disk.contents.get(node);
                        std::fs::write(&place, content.map_or(&[][..], |content| &content.bytes)).unwrap();
                        written.insert(*node, place);
                    }
                },
            }
        }
        for (path, node) in paths.iter().rev() {
            let (kind, mode) = &recording.nodes[*node];
            if !matches!(kind, Kind::Link(_)) {
                let permissions = std::fs::Permissions::from_mode(*mode);
                std::fs::set_permissions(folder.path().join(path), permissions).unwrap();
            }
        }
        Self { disk: folder, answers, recovers: true }
    }

    /// Without recovery.
    pub fn reading(mut self) -> Self {
        self.recovers = false;
        self
    }

    /// Starts the machine and asks.
    pub fn ask(&self, env: &TestEnv) {
        let recovery = if self.recovers { RECOVERY } else { &[] };
        self.questions(env, &[recovery, QUESTIONS].concat());
    }

    /// Does what was said to be done by hand, goes on with the session, and asks again.
    pub fn ask_on(&self, env: &TestEnv) {
        let named: serde_json::Value = serde_json::from_str(&self.answer("named").out).unwrap_or_default();
        let wedges = named["wedges"].as_array().into_iter().flatten().filter(|one| one["reason"] == "gitDamage");
        let first = wedges.filter_map(|one| one["hints"][0].as_str()?.split("    ").next().map(|way| format!("{way}\n")));
        let script = self.answers.path().join("ways.sh");
        std::fs::write(&script, first.collect::<String>()).unwrap();
        let ways = format!("sh -e {}", script.display());
        self.questions(env, &[&[("ways", ways.as_str()), GO_ON], QUESTIONS].concat());
    }

    fn questions(&self, env: &TestEnv, questions: &[(&str, &str)]) {
        let answers = self.answers.path().display();
        let mut script =
            String::from("set -e\nmount --bind \"$1\" \"$2\"\nmount --bind \"$3\" /proc/sys/kernel/random/boot_id\n");
        // Everything on the disk is of before the machine's start.
        script += "mount --bind \"$4\" /proc/stat\ncd \"$2/repo\"\nset +e\n";
        for (name, command) in questions {
            script +=
                &format!("timeout 100 {command} >{answers}/{name}.out 2>{answers}/{name}.err; echo $? >{answers}/{name}.code\n");
        }
        let boot = self.answers.path().join("boot");
        std::fs::write(&boot, format!("{:08x}-0000-4000-8000-000000000000\n", std::process::id())).unwrap();
        let started = self.answers.path().join("stat");
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        std::fs::write(&started, format!("btime {}\n", now + 1)).unwrap();
        let mut command = env.program("unshare", Path::new("/"));
        let binary = Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap().display();
        command.env("PATH", format!("{binary}:{}", std::env::var("PATH").unwrap())).env("GIT_OPTIONAL_LOCKS", "0");
        let apart: &[&str] = if sees_only_its_own() { &["-Urmpf", "--mount-proc", "--kill-child"] } else { &["-Urm"] };
        command.args(apart).args(["/bin/sh", "-c", &script, "sh"]).arg(self.disk.path()).arg(env.root()).arg(&boot).arg(&started);
        let output = command.output().unwrap();
        assert!(output.status.success(), "unshare: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// What was answered.
    pub fn answer(&self, name: &str) -> Answer {
        let read = |end: &str| {
            let bytes = std::fs::read(self.answers.path().join(format!("{name}.{end}"))).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Answer { code: read("code").trim().parse().unwrap_or(-1), out: read("out"), err: read("err") }
    }

    /// The repository on this disk.
    pub fn repo(&self) -> PathBuf {
        self.disk.path().join("repo")
    }

    /// Stays after the end of the test; says where.
    pub fn keep(self) -> PathBuf {
        let _ = self.answers.keep();
        self.disk.keep()
    }
}

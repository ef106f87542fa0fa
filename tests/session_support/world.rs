//! A repository with tasks, files of the user's, and the checks that must pass at the end of every session.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::live::Ended;
use super::{Live, kill, processes_of, wait_until};
use crate::common::TestEnv;

/// A repository in which sessions run. Processes that it started are ended when it is dropped.
pub struct World {
    /// The repository and its surroundings.
    pub env: TestEnv,
    started: Cell<u32>,
    /// Variables for every `git axiom run` that is started.
    pub variables: Vec<(String, String)>,
}

/// The user's changes in the main worktree, according to git and on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsersThings {
    status: String,
    staged: String,
    unstaged: String,
    entries: Vec<String>,
    stash: String,
    files: BTreeMap<String, Vec<u8>>,
}

impl UsersThings {
    /// The part that must not change even between a crash in the middle of a merge and its recovery, when the branch, the
    /// index and the merged files may not match yet.
    pub fn contents(&self) -> (&[String], &str, &BTreeMap<String, Vec<u8>>) {
        (&self.entries, &self.stash, &self.files)
    }
}

impl World {
    /// With the small repository of [`TestEnv::new`].
    pub fn new() -> Self {
        Self::of(TestEnv::new())
    }

    /// With a prepared repository.
    pub fn of(env: TestEnv) -> Self {
        Self { env, started: Cell::new(0), variables: Vec::new() }
    }

    /// A path next to the repository, for files by which tests and agents communicate.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.env.root().join(name)
    }

    /// Makes a script the user's agent program `mine`, which can go on with its sessions; `config` is what their file says beside that.
    pub fn program_of_ones_own(&self, script: &str, config: &str) {
        let place = self.beside("program");
        std::fs::write(&place, script).unwrap();
        std::fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let place = place.display();
        let table = format!(
            "[agents]\ndefault = 'mine'\n[agents.mine]\ncommand = ['{place}', 'anew']\nresume = ['{place}', 'on', '{{session}}']\n"
        );
        let folder = self.env.root().join("home/.config/git-axiom");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), table + config).unwrap();
    }

    /// How that program was called each time, where its script has written that to `args.1` and so on.
    pub fn program_args(&self) -> Vec<String> {
        let of = |number: u32| std::fs::read_to_string(self.beside(&format!("args.{number}"))).ok();
        (1..).map_while(of).map(|line| line.trim().to_owned()).collect()
    }

    /// Adds a task with a script, and further arguments of `task add`.
    pub fn task(&self, id: &str, script: &str, more: &[&str]) {
        let head = ["task", "add", id, "--id", id];
        let mut args = head.to_vec();
        args.extend(more);
        if !script.is_empty() {
            args.extend(["--body", script]);
        }
        self.env.ok(&args);
    }

    /// The command `git axiom run` with arguments.
    pub fn run_command(&self, args: &[&str]) -> std::process::Command {
        let all = [&["run"], args].concat();
        let mut command = self.env.axiom_command(&self.env.repo(), all);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts a supervisor in the background.
    pub fn start(&self, args: &[&str]) -> Live {
        let number = self.started.get();
        self.started.set(number + 1);
        Live::start(self.run_command(args), self.env.root(), &format!("run-{number}"))
    }

    /// Starts a supervisor in autopilot that ends when no more work is possible.
    pub fn start_autopilot(&self, more: &[&str]) -> Live {
        self.start(&[&["--mode", "autopilot", "--until-idle"], more].concat())
    }

    /// Starts a supervisor in autopilot, with so many agents, that does not end by itself.
    pub fn start_staying(&self, agents: &str) -> Live {
        self.start(&["--mode", "autopilot", "--agents", agents])
    }

    /// Runs a session in autopilot to its end.
    pub fn autopilot(&self, more: &[&str]) -> Ended {
        self.start_autopilot(more).wait()
    }

    /// The task in `task show --json`.
    pub fn show(&self, task: &str) -> Value {
        self.env.json(&["task", "show", task])
    }

    /// The stored status of a task.
    pub fn status_of(&self, task: &str) -> String {
        self.find_task(task)["status"].as_str().unwrap().to_owned()
    }

    /// The task in `task list --json`.
    #[track_caller]
    pub fn find_task(&self, task: &str) -> Value {
        let all = self.env.json(&["task", "list"]);
        let found = all["tasks"].as_array().unwrap().iter().find(|each| each["id"] == task);
        found.unwrap_or_else(|| panic!("no task {task}: {all}")).clone()
    }

    /// The agents in `status --json`.
    pub fn agents(&self) -> Vec<Value> {
        self.env.json(&["status"])["agents"].as_array().unwrap().clone()
    }

    /// The open gates in `gate list --json`.
    pub fn gates(&self) -> Vec<Value> {
        self.env.json(&["gate", "list"])["gates"].as_array().unwrap().clone()
    }

    /// Their ids.
    pub fn gate_ids(&self) -> Vec<String> {
        self.gates().iter().map(|gate| gate["id"].as_str().unwrap().to_owned()).collect()
    }

    /// Whether a program works on a task now.
    pub fn works_on(&self, task: &str) -> bool {
        self.agents().iter().any(|agent| agent["taskId"] == task && agent["state"] == "running")
    }

    /// Waits until a gate is open and undecided.
    #[track_caller]
    pub fn wait_for_gate(&self, id: &str) -> Value {
        let mut found = Value::Null;
        super::wait_until(&format!("gate {id}"), || {
            let gates = self.gates();
            found = gates.iter().find(|gate| gate["id"] == id && gate["decision"].is_null()).cloned().unwrap_or_default();
            !found.is_null()
        });
        found
    }

    /// Waits until a file next to the repository exists.
    #[track_caller]
    pub fn wait_for_file(&self, name: &str) {
        super::wait_until(&format!("file {name}"), || self.beside(name).exists());
    }

    /// A piece of a script that says that it was reached (`begun`), and then waits for a signal file (`go`).
    pub fn until_go(&self) -> String {
        let beside = self.env.root().display();
        format!("touch '{beside}/begun'; while [ ! -f '{beside}/go' ]; do sleep 0.02; done")
    }

    /// Adds a task that writes `1` to `<id>.txt` and then waits: see [`World::until_go`].
    pub fn waiting_task(&self, id: &str) {
        let wait = self.until_go();
        self.task(id, &format!("echo 1 > {id}.txt; {wait}"), &[]);
    }

    /// Starts a session in autopilot and waits until the task that waits has begun.
    pub fn start_until_begun(&self) -> Live {
        let live = self.start_autopilot(&[]);
        self.wait_for_file("begun");
        live
    }

    /// Waits until a task is merged.
    #[track_caller]
    pub fn wait_until_merged(&self, task: &str) {
        super::wait_until(&format!("{task} is merged"), || self.find_task(task)["merged"]["commit"].is_string());
    }

    /// Asks a session to quit, and expects that all is well afterwards.
    #[track_caller]
    pub fn quits_well(&self, live: Live) {
        self.env.ok(&["quit"]);
        live.wait().code(0);
        self.all_is_well();
    }

    /// Creates a file next to the repository, for which scripts wait.
    pub fn signal_file(&self, name: &str) {
        std::fs::write(self.beside(name), "").unwrap();
    }

    /// The lines that agents appended to a file next to the repository, sorted.
    pub fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.beside(name)).unwrap_or_default();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    /// Leaves staged entries, a stash, unstaged, untracked and ignored content in the main worktree.
    pub fn make_dirty(&self) -> UsersThings {
        let env = &self.env;
        env.write("README", "stashed\n");
        env.git(&["stash", "push", "-q", "-m", "mine"]);
        env.write("README", "staged\n");
        env.write("added.txt", "added\n");
        env.git(&["add", "README", "added.txt"]);
        env.write("README", "staged and edited\n");
        env.write("src/lib.txt", "one\ntwo\nmine\n");
        env.write("untracked dir/deep/\u{e9}.txt", "untracked\n");
        std::fs::create_dir_all(env.repo().join(".git/info")).unwrap();
        let exclude = env.repo().join(".git/info/exclude");
        let mut text = std::fs::read_to_string(&exclude).unwrap_or_default();
        text.push_str("*.ignored\n");
        std::fs::write(exclude, text).unwrap();
        env.write("build.ignored", [0_u8, 1, 2, 255]);
        self.users_things()
    }

    /// The user's changes now.
    pub fn users_things(&self) -> UsersThings {
        let env = &self.env;
        let mine = ["README", "added.txt", "src/lib.txt", "untracked dir/deep/\u{e9}.txt", "build.ignored"];
        let status = env.git(&["status", "--porcelain=v1", "--ignored", "-uall"]);
        let entries = env.git(&["ls-files", "-s", "--", "README", "added.txt", "src/lib.txt"]);
        UsersThings {
            // The workspaces' folder is excluded, so git shows it as ignored.
            status: status.lines().filter(|line| !line.contains(".worktrees/")).collect::<Vec<_>>().join("\n"),
            staged: env.git(&["diff", "--full-index", "--cached"]),
            unstaged: env.git(&["diff", "--full-index"]),
            entries: entries.lines().map(str::to_owned).collect(),
            stash: env.git(&["stash", "list", "--format=%H %gs"]),
            files: mine
                .iter()
                .map(|path| ((*path).to_owned(), std::fs::read(env.repo().join(path)).unwrap_or_default()))
                .collect(),
        }
    }

    /// The processes of sessions that are still running.
    pub fn processes(&self) -> Vec<(i32, String)> {
        processes_of(&self.env.root().join("home"))
    }

    /// Kills them all, as when the machine dies. Again and again: one may begin a child between the look and the blow. The keepers
    /// first, whatever numbers they have: one that outlived its program for a moment would record how that ended.
    #[track_caller]
    pub fn all_die(&self) {
        wait_until("all are dead", || {
            let mut left = self.processes();
            left.sort_by_key(|(_, words)| !is_keeper(words));
            for (pid, _) in &left {
                kill(*pid);
            }
            left.is_empty()
        });
    }

    /// The keepers that run.
    pub fn keepers(&self) -> Vec<i32> {
        self.processes().into_iter().filter(|(_, words)| is_keeper(words)).map(|(pid, _)| pid).collect()
    }

    /// Kills the keepers alone: the programs go on.
    pub fn keepers_die(&self) {
        for pid in self.keepers() {
            kill(pid);
        }
        wait_until("the keepers are dead", || self.keepers().is_empty());
    }

    /// Expects that all processes end within a short time: a keeper removes its temporary folder after its report.
    #[track_caller]
    pub fn no_process_is_left(&self) {
        let begun = std::time::Instant::now();
        while !self.processes().is_empty() {
            assert!(begun.elapsed().as_secs() < 15, "still running: {:#?}", self.processes());
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// Expects that every linked worktree is sound, and that `.worktrees` contains no folder that git does not know.
    #[track_caller]
    pub fn no_half_made_workspace(&self) {
        let list = self.env.git(&["worktree", "list", "--porcelain"]);
        assert!(!list.contains("prunable"), "{list}");
        let known: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("worktree ")).collect();
        for path in &known {
            assert_eq!(self.env.git_in(Path::new(path), &["rev-parse", "--show-toplevel"]), *path);
        }
        let Ok(entries) = std::fs::read_dir(self.env.repo().join(".worktrees")) else { return };
        for entry in entries.flatten().filter(|entry| entry.file_name() != "trash") {
            let path = entry.path().to_string_lossy().into_owned();
            assert!(known.contains(&path.as_str()), "{path} is no worktree\n{list}");
        }
    }

    /// Everything that must be true when a session has ended: no process, no half-made workspace, no lock of git's, an
    /// empty temporary folder, no recovery needed, and no problem in the repository.
    #[track_caller]
    pub fn all_is_well(&self) {
        self.no_process_is_left();
        self.no_half_made_workspace();
        self.env.fsck();
        let status = self.env.json(&["status"]);
        assert_eq!(status["recovery"]["needed"], false, "{status}");
        assert_eq!(status["supervisor"]["alive"], false, "{status}");
        let locks = walkdir::WalkDir::new(self.env.repo().join(".git")).into_iter().flatten();
        let locks: Vec<_> = locks
            .filter(|entry| entry.path().extension().is_some_and(|ext| ext == "lock"))
            .filter(|entry| !entry.path().starts_with(self.env.axiom_dir()))
            .map(|entry| entry.path().to_owned())
            .collect();
        assert!(locks.is_empty(), "{locks:?}");
        let temporary: Vec<_> = std::fs::read_dir(self.env.root().join("tmp")).unwrap().flatten().map(|e| e.path()).collect();
        let of = |path: &PathBuf| {
            let files = walkdir::WalkDir::new(self.env.axiom_dir()).into_iter().flatten().map(|entry| entry.into_path());
            let names = |file: &PathBuf| std::fs::read_to_string(file).is_ok_and(|text| text.contains(path.to_str().unwrap()));
            files.filter(|file| file.ends_with("keeper.json") && names(file)).collect::<Vec<_>>()
        };
        let of: Vec<_> = temporary.iter().map(of).collect();
        assert!(temporary.is_empty(), "left in the temporary folder: {temporary:?}, which {of:?} name");
    }

    /// The subjects of the commits with this task's trailer that the branch reaches, newest first.
    pub fn commits_of(&self, task: &str, branch: &str) -> Vec<String> {
        let format = "--format=%(trailers:key=Axiom-Task,valueonly,separator=%x2c)%x09%s";
        let log = self.env.git(&["log", format, branch]);
        log.lines().filter_map(|line| line.split_once('\t')).filter(|(of, _)| *of == task).map(|(_, s)| s.to_owned()).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() && std::env::var_os("AXIOM_TEST_KEEP").is_some() {
            eprintln!("--- status\n{}", self.env.axiom(&["status"]));
            eprintln!("--- events\n{}", self.env.axiom(&["events"]));
        }
        for (pid, _) in self.processes() {
            kill(pid);
        }
    }
}

fn is_keeper(words: &str) -> bool {
    words.contains(" keeper ")
}

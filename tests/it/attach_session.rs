//! A session of an agent that a human runs, of so many tool calls: payloads as Claude Code sends them, real edits and commands. It
//! measures what the net costs the repository: how much it grows beside what changed, and what `git status`, `git log` and
//! `git gc` take before and after.
//!
//! The long run: `AXIOM_ROUNDS=500 AXIOM_SECONDS=3600 cargo test --test it session_of_many -- --nocapture`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use git_axiom::base::files;
use git_axiom::store::layout::StoreLayout;
use serde_json::{Value, json};

use crate::common::trials::AskedCases;
use crate::session_support::Random;
use crate::support::Scratch;

/// Folders, and files in each of them.
const FOLDERS: u64 = 40;
const IN_EACH: u64 = 25;
/// A prompt for so many tool calls.
const CALLS_OF_A_PROMPT: u64 = 10;

/// A session, and what it has done so far.
struct Session {
    scratch: Scratch,
    random: Random,
    /// Files that are there, relative to the repository.
    files: Vec<String>,
    /// Numbers for names that no file has had.
    fresh: u64,
    /// A repository that holds every content that any file has had: what git alone needs for it.
    beside: PathBuf,
    /// How long each kind of call kept the agent waiting.
    waits: Vec<(&'static str, Duration)>,
    /// How often nothing was saved in time.
    asked: u32,
}

/// Waits until nothing waits for the process in the background, and it has ended: `git fsck` takes what is written meanwhile for missing.
pub fn settle(git_dir: &Path) {
    let attach = StoreLayout::new(git_dir).root().join("attach");
    let begun = Instant::now();
    let waits = || std::fs::read_dir(attach.join("spool")).is_ok_and(|mut lines| lines.next().is_some());
    while waits() || files::is_locked(&attach.join("joiner.lock")).unwrap() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the last line is not carried out");
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Session {
    fn begin() -> Self {
        let scratch = Scratch::new();
        let random = Random::of(AskedCases::read().seed(11));
        let beside = scratch.path().with_file_name("beside.git");
        scratch.git(&["init", "-q", "--bare", beside.to_str().unwrap()]);
        let mut session = Self { scratch, random, files: Vec::new(), fresh: 0, beside, waits: Vec::new(), asked: 0 };
        for folder in 0..FOLDERS {
            for file in 0..IN_EACH {
                let path = format!("src/d{folder}/f{file}.rs");
                let lines = 60 + session.random.below(200);
                let text: String = (0..lines).map(|_| session.line()).collect();
                session.scratch.write(&path, &text);
                session.files.push(path);
            }
        }
        session.scratch.git(&["add", "-A"]);
        session.scratch.git(&["commit", "-qm", "the project"]);
        session.scratch.git(&["gc", "-q"]);
        session.scratch.axiom(&["init"]);
        session
    }

    /// A line as source code has them: words that come again and again, and some that do not.
    fn line(&mut self) -> String {
        const WORDS: [&str; 16] = [
            "let", "fn", "self", "match", "Some", "None", "return", "if", "for", "in", "pub", "mut", "impl", "where", "use", "Ok",
        ];
        let mut line = " ".repeat(4 * usize::try_from(self.random.below(4)).unwrap());
        for _ in 0..3 + self.random.below(7) {
            match self.random.below(3) {
                0 => line.push_str(WORDS[usize::try_from(self.random.below(16)).unwrap()]),
                _ => line.push_str(&format!("name_{:x}", self.random.below(3000) * 7919)),
            }
            line.push([' ', '(', '.', ',', ';'][usize::try_from(self.random.below(5)).unwrap()]);
        }
        line + "\n"
    }

    fn some_file(&mut self) -> String {
        let many = self.files.len() as u64;
        self.files[usize::try_from(self.random.below(many)).unwrap()].clone()
    }

    fn fresh_path(&mut self) -> String {
        self.fresh += 1;
        format!("src/d{}/new{}.rs", self.random.below(FOLDERS), self.fresh)
    }

    /// Calls the hook with the fixture of this event, about this tool.
    fn hook(&mut self, kind: &'static str, payload: &str, tool: Option<(&str, Value)>) {
        let file = format!("{}/fixtures/attach/claude/{payload}.json", env!("CARGO_MANIFEST_DIR"));
        let mut payload: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        payload["cwd"] = json!(self.scratch.path());
        if let Some((name, input)) = tool {
            let about = if payload["tool_calls"].is_array() { &mut payload["tool_calls"][0] } else { &mut payload };
            about["tool_name"] = json!(name);
            about["tool_input"] = input;
        }
        let mut command = self.scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
        command.args(["hook", "claude"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let begun = Instant::now();
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        self.waits.push((kind, begun.elapsed()));
        assert!(output.status.success(), "{kind}: {output:?}");
        // On a machine that has no time at all the human is asked before a risky command: that is told, and counted.
        let asked = String::from_utf8_lossy(&output.stdout).contains("nothing was saved within");
        assert!(output.stdout.is_empty() || asked, "{kind}: {output:?}");
        self.asked += u32::from(asked);
    }

    fn absolute(&self, path: &str) -> String {
        self.scratch.path().join(path).display().to_string()
    }

    /// Keeps what a file holds now in the repository beside.
    fn changed(&self, path: &str) {
        let git_dir = format!("--git-dir={}", self.beside.display());
        self.scratch.git(&[&git_dir, "hash-object", "-w", "--no-filters", &self.absolute(path)]);
    }

    /// Replaces, adds and removes a few lines.
    fn rewrite(&mut self, path: &str) {
        let mut lines: Vec<String> = self.scratch.read(path).lines().map(|line| format!("{line}\n")).collect();
        for _ in 0..1 + self.random.below(12) {
            let at = usize::try_from(self.random.below(lines.len().max(1) as u64)).unwrap();
            let line = self.line();
            match self.random.below(3) {
                0 if lines.len() > 5 => drop(lines.remove(at)),
                1 => lines.insert(at, line),
                _ => lines[at] = line,
            }
        }
        self.scratch.write(path, lines.concat());
        self.changed(path);
    }

    /// One call of a tool, as the program makes it, with its hooks around it.
    fn call(&mut self) {
        match self.random.below(10) {
            0..5 => {
                let path = self.some_file();
                let input =
                    json!({"file_path": self.absolute(&path), "old_string": "a", "new_string": "b", "replace_all": false});
                self.hook("before an edit", "PreToolUse-Edit", Some(("Edit", input.clone())));
                self.rewrite(&path);
                self.hook("after an edit", "PostToolBatch", Some(("Edit", input)));
            }
            5 => {
                let path = self.fresh_path();
                let text: String = (0..40).map(|_| self.line()).collect();
                let input = json!({"file_path": self.absolute(&path), "content": text});
                self.hook("before an edit", "PreToolUse-Write", Some(("Write", input.clone())));
                self.scratch.write(&path, &text);
                self.changed(&path);
                self.files.push(path);
                self.hook("after an edit", "PostToolBatch", Some(("Write", input)));
            }
            6 | 7 => self.shell("a harmless command", "cargo test --workspace", &[]),
            8 => {
                // A human, or a formatter, changes something beside the agent.
                let path = self.some_file();
                self.rewrite(&path);
                self.shell("a harmless command", "cargo fmt", &[]);
            }
            _ => {
                let (one, other) = (self.some_file(), self.fresh_path());
                self.files.retain(|path| *path != one);
                match self.random.below(3) {
                    0 => {
                        self.files.push(other.clone());
                        self.shell("a risky command", &format!("mv {one} {other}"), &[&other]);
                    }
                    1 => self.shell("a risky command", &format!("rm -f {one}"), &[]),
                    _ => {
                        self.files.push(one.clone());
                        self.shell("a risky command", &format!("sed -i 's/name_/other_/' {one}"), &[&one]);
                    }
                }
            }
        }
    }

    fn shell(&mut self, kind: &'static str, command: &str, changes: &[&str]) {
        let input = json!({"command": command, "timeout": 600_000, "description": "x"});
        self.hook(kind, "PreToolUse-Bash", Some(("Bash", input.clone())));
        if kind == "a risky command" {
            assert!(self.scratch.command("sh").args(["-c", command]).status().unwrap().success(), "{command}");
        }
        changes.iter().for_each(|path| self.changed(path));
        self.hook("after a command", "PostToolUse-Bash", Some(("Bash", input)));
    }

    fn settle(&self) {
        settle(&self.scratch.path().join(".git"));
    }

    /// What `git status`, `git log` and `git gc` take: the median of five, of gc one.
    fn times(&self) -> [Duration; 3] {
        let time = |args: &[&str]| {
            let begun = Instant::now();
            self.scratch.git(args);
            begun.elapsed()
        };
        let median = |args: &[&str]| {
            let mut all: Vec<Duration> = (0..5).map(|_| time(args)).collect();
            all.sort();
            all[2]
        };
        [median(&["status", "--porcelain"]), median(&["log", "--oneline"]), time(&["gc", "-q"])]
    }

    fn tell_waits(&self) {
        let mut kinds: Vec<&str> = self.waits.iter().map(|(kind, _)| *kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let mut all: Vec<Duration> = self.waits.iter().filter(|(of, _)| *of == kind).map(|(_, wait)| *wait).collect();
            all.sort();
            let (median, longest) = (all[all.len() / 2], all[all.len() - 1]);
            println!("{kind}: {} times, median {median:.1?}, longest {longest:.1?}", all.len());
        }
    }
}

/// The bytes of all files below a folder.
fn bytes_below(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => bytes_below(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

#[test]
fn a_session_of_many_calls_grows_the_repository_little_and_slows_git_in_nothing() {
    let asked = AskedCases::read();
    let calls = asked.rounds(10);
    let pause = asked.seconds(0) / u32::try_from(calls).unwrap();
    let mut session = Session::begin();
    let git = session.scratch.path().join(".git");
    let beside = bytes_below(&session.beside);
    let (before, times_before) = (bytes_below(&git), session.times());
    session.hook("a session's start", "SessionStart", None);
    let begun = Instant::now();
    for call in 0..calls {
        if call % CALLS_OF_A_PROMPT == 0 {
            if call > 0 {
                session.hook("a turn's end", "Stop", None);
            }
            session.hook("a prompt", "UserPromptSubmit", None);
        }
        session.call();
        std::thread::sleep((pause * u32::try_from(call + 1).unwrap()).saturating_sub(begun.elapsed()));
    }
    session.hook("a turn's end", "Stop", None);
    session.hook("a session's end", "SessionEnd", None);
    session.settle();

    let changed = bytes_below(&session.beside) - beside;
    let grown = bytes_below(&git) - before;
    println!("{calls} calls in {:.0?}: {changed} bytes changed, compressed one by one", begun.elapsed());
    for part in ["objects", "axiom/state", "axiom/agents", "axiom/attach", "axiom/tmp", "refs", "logs", "axiom"] {
        println!("  {part}: {} bytes", bytes_below(&git.join(part)));
    }
    session.tell_waits();
    println!("asked because nothing was saved in time: {} times", session.asked);
    let times_after = session.times();
    let packed = bytes_below(&git).saturating_sub(before);
    for (what, (then, now)) in ["git status", "git log", "git gc"].iter().zip(times_before.iter().zip(&times_after)) {
        println!("{what}: {then:.1?} before, {now:.1?} after");
    }
    println!("grown by {grown} bytes, {:.2} times what changed; after git gc by {packed}", grown as f64 / changed as f64);
    let list = session.scratch.json(&["checkpoint", "list"]);
    let of = |trigger: &str| list["checkpoints"].as_array().unwrap().iter().filter(|one| one["trigger"] == trigger).count();
    for trigger in ["attached-start", "prompt", "before-shell", "edits", "turn"] {
        println!("  {trigger}: {}", of(trigger));
    }
    assert!(of("prompt") as u64 + u64::from(session.asked) >= calls.div_ceil(CALLS_OF_A_PROMPT).min(200));
    session.scratch.axiom(&["checkpoint", "verify"]);
    // A checkpoint more, which a busy machine may make beside a command, is a few KiB: much for ten calls, nothing for many.
    const ONE_MORE: u64 = 16 * 1024;
    assert!(grown < 2 * changed + ONE_MORE, "{grown} bytes for {changed}");
}

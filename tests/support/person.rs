//! A person at a terminal with a shell, in a fresh home in which nothing but git was ever used.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic, dead_code, missing_docs)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::terminal::Terminal;

/// How long to wait for the end of a command.
const PATIENCE: Duration = Duration::from_secs(120);
/// What the shell prints before each command: the status of the last one, where no one sees it, and a dollar.
const BEFORE_A_COMMAND: &str = "\u{7}$ ";
const QUESTION: &str = "[y/N] ";

pub struct FreshHome {
    folder: tempfile::TempDir,
}

impl FreshHome {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Self { folder };
        for name in ["home", "bin", "shop"] {
            std::fs::create_dir(home.path(name)).unwrap();
        }
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_git-axiom"), home.path("bin/git-axiom")).unwrap();
        home
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    /// A program in the folder `shop`, as a new machine would run it.
    pub fn command(&self, program: &str) -> Command {
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.path("shop")).env("HOME", self.path("home")).env("PATH", path);
        command.envs([("TZ", "UTC"), ("LANG", "C.UTF-8"), ("GIT_CONFIG_NOSYSTEM", "1")]);
        command.env("PS1", "\\[\\e]0;$?\\a\\]$ ");
        command
    }

    pub fn script(&self, script: &str) {
        let ended = self.command("sh").args(["-euc", script]).output().unwrap();
        assert!(ended.status.success(), "{script}: {ended:?}");
    }

    /// A repository with one commit, and a user who has a name.
    pub fn repository(&self) {
        self.script(
            "git config --global user.name me; git config --global user.email me@example.org; git init -q -b main
             echo a > a.txt; git add .; git commit -qm first",
        );
    }

    /// The repository of README's picture, in which an agent program is attached.
    pub fn shop(&self) {
        let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures/shop.sh");
        self.script(&format!("sh '{}'", made.display()));
    }

    /// What Claude Code's hooks say of a prompt, whose shell command is then run.
    pub fn prompt(&self, text: &str, command: &str) {
        self.script(&format!(
            r#"say() {{ printf '{{"session_id":"s1","cwd":"%s",%s}}' "$PWD" "$1" | git axiom hook claude; }}
            say '"hook_event_name":"UserPromptSubmit","prompt":"{text}"'
            say '"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"{command}"}}'
            {command}
            say '"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{{"command":"{command}"}}'
            say '"hook_event_name":"Stop"'"#
        ));
    }
}

/// A shell in such a home.
pub struct HomeShell {
    terminal: Terminal,
    from: usize,
}

impl HomeShell {
    pub fn start(home: &FreshHome) -> Self {
        let mut command = home.command("setsid");
        command.args(["--ctty", "--wait", "bash", "--norc", "--noprofile", "-i"]);
        let mut shell = Self { terminal: Terminal::start(command), from: 0 };
        shell.until(BEFORE_A_COMMAND);
        shell
    }

    /// What was printed since the last keys, once it ends with this.
    fn until(&mut self, end: &str) -> String {
        let begun = Instant::now();
        loop {
            let printed = String::from_utf8_lossy(&self.terminal.bytes_after(self.from)).into_owned();
            if printed.ends_with(end) || (printed.ends_with(QUESTION) && end == BEFORE_A_COMMAND) {
                return printed;
            }
            assert!(begun.elapsed() < PATIENCE, "{end:?} does not come: {printed}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// A command, whose questions are answered with yes, and which must not fail.
    pub fn enter(&mut self, command: &str) -> String {
        let begin = self.terminal.bytes().len();
        self.from = begin;
        self.terminal.type_at_once(&format!("{command}\r"));
        while self.until(BEFORE_A_COMMAND).ends_with(QUESTION) {
            self.from = self.terminal.bytes().len();
            self.terminal.keys(&["y", "\r"]);
        }
        let printed = String::from_utf8_lossy(&self.terminal.bytes_after(begin)).into_owned();
        let status = printed.rsplit("\u{1b}]0;").next().unwrap();
        assert_eq!(status, format!("0{BEFORE_A_COMMAND}"), "{command}: {printed}");
        printed
    }

    /// Types a command that does not end by itself, waits for a text of its, and presses keys until it has ended.
    pub fn look_at(&mut self, command: &str, text: &str, keys: &[&str]) {
        self.from = self.terminal.bytes().len();
        self.terminal.type_at_once(&format!("{command}\r"));
        self.terminal.wait_for(text);
        self.terminal.keys(keys);
        self.until(BEFORE_A_COMMAND);
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.terminal.bytes()
    }
}

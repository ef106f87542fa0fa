//! The surroundings of the demo: a folder of its own in the temporary folder, and programs that run there without the user's
//! configuration, and are all ended at the end.

use std::ffi::OsStr;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_process::os::{by_environment, command};

/// The variable that marks every process of the demo, so that all of them can be found.
const MARK: &str = "AXIOM_DEMO";
/// How often a child is checked.
const LOOK: Duration = Duration::from_millis(10);
/// How long a step may take.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// How many bytes of a child's output are read at most.
const MOST_OUTPUT: u64 = 4 * 1024 * 1024;

/// The scratch folder, and how programs run in it.
#[derive(Debug)]
pub struct DemoStage {
    /// The folder with everything: `repo`, `scripts`, `agents.log`, a home and a temporary folder.
    pub folder: PathBuf,
    mark: String,
    own_program: PathBuf,
    interrupted: Arc<AtomicBool>,
    outputs: AtomicU64,
}

/// The output of a program and its exit status.
#[derive(Debug)]
pub struct DemoProgramOutput {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// A running program and its output files. Killed when dropped.
#[derive(Debug)]
pub struct DemoProgram {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
    shown: usize,
}

impl DemoStage {
    /// Creates the folder, and handlers for the signals that would end this process.
    pub fn set_up() -> Result<Self> {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&interrupted))
                .map_err(|e| Error::new(Code::Internal, "signals cannot be handled").because(e))?;
        }
        let mark = env::fresh_id();
        let folder = env::temp_dir().join(format!("{}demo-{mark}", files::SCRATCH_PREFIX));
        for part in ["home", "tmp", "scripts", "repo"] {
            files::create_dir_all(&folder.join(part))?;
        }
        let folder = folder.canonicalize().map_err(|e| Error::io("find the folder", &folder, e))?;
        Ok(Self { folder, mark, own_program: env::own_program()?, interrupted, outputs: AtomicU64::new(0) })
    }

    /// The scratch repository.
    pub fn repo(&self) -> PathBuf {
        self.folder.join("repo")
    }

    /// Whether a signal such as Ctrl+C asked the demo to end.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Runs git in the repository to its end.
    pub fn git<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<DemoProgramOutput> {
        self.finish(self.start(Path::new("git"), arguments)?)
    }

    /// Runs git axiom, this same program, in the repository to its end.
    pub fn axiom<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<DemoProgramOutput> {
        self.finish(self.start_axiom(arguments)?)
    }

    /// Starts git axiom in the repository.
    pub fn start_axiom<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<DemoProgram> {
        self.start(&self.own_program, arguments)
    }

    /// Runs git axiom in the repository on the terminal of the demo itself, which it has until it ends.
    pub fn axiom_at_the_terminal<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<ExitStatus> {
        let mut command = self.command(&self.own_program);
        command.args(arguments).current_dir(self.repo());
        match env::var("NO_COLOR") {
            Some(value) => command.env("NO_COLOR", value),
            None => command.env_remove("NO_COLOR"),
        };
        command.status().map_err(|e| Error::io("start", &self.own_program, e))
    }

    /// Starts a program in the repository. It is in a process group of its own, so that Ctrl+C only reaches the demo, which
    /// then ends everything in order.
    pub fn start<A: AsRef<OsStr>>(&self, program: &Path, arguments: &[A]) -> Result<DemoProgram> {
        let number = self.outputs.fetch_add(1, Ordering::Relaxed);
        let output = |ending: &str| self.folder.join("tmp").join(format!("{number}.{ending}"));
        let (stdout, stderr) = (output("out"), output("err"));
        let mut command = self.command(program);
        command.args(arguments).current_dir(self.repo()).process_group(0).stdin(Stdio::null());
        command.stdout(files::open_append(&stdout)?).stderr(files::open_append(&stderr)?);
        let child = command.spawn().map_err(|e| match program.to_str() {
            Some("git") => Error::new(Code::GitMissing, "the git program cannot be started").because(e).hint("install git"),
            Some(_) | None => Error::io("start", program, e),
        })?;
        Ok(DemoProgram { child, stdout, stderr, shown: 0 })
    }

    /// A command without the user's configuration, identity and repository, and without the variables of an agent's keeper.
    fn command(&self, program: &Path) -> Command {
        let mut command = command::command(program);
        for (name, _) in env::all_vars() {
            let text = name.to_string_lossy();
            let git = text.starts_with("GIT_") && text != "GIT_EXEC_PATH";
            if git || text.starts_with("AXIOM_") || text == "EMAIL" {
                command.env_remove(&name);
            }
        }
        command.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_TERMINAL_PROMPT", "0")]);
        command.envs([("LC_ALL", "C"), ("NO_COLOR", "1")]);
        command.env("HOME", self.folder.join("home")).env("XDG_CONFIG_HOME", self.folder.join("home/.config"));
        command.env("TMPDIR", self.folder.join("tmp")).env("GIT_CEILING_DIRECTORIES", &self.folder).env(MARK, &self.mark);
        command
    }

    /// Waits for the end of a program.
    pub fn finish(&self, mut running: DemoProgram) -> Result<DemoProgramOutput> {
        let begun = Instant::now();
        loop {
            if let Some(status) = running.ended()? {
                let read = |path: &Path| {
                    let bytes = files::read(path, MOST_OUTPUT)?;
                    files::remove_file(path)?;
                    Ok(String::from_utf8_lossy(&bytes).into_owned())
                };
                return Ok(DemoProgramOutput { status, stdout: read(&running.stdout)?, stderr: read(&running.stderr)? });
            }
            if let Err(error) = self.may_go_on(begun) {
                running.kill()?;
                return Err(error);
            }
        }
    }

    /// Sleeps for a moment between two checks.
    pub fn may_go_on(&self, begun: Instant) -> Result<()> {
        if self.is_interrupted() {
            return Err(Error::new(Code::Interrupted, "the demo was interrupted"));
        }
        if begun.elapsed() > PATIENCE {
            return Err(Error::new(Code::DemoFailed, "a step takes longer than two minutes"));
        }
        std::thread::sleep(LOOK);
        Ok(())
    }

    /// The processes of the demo that are running, after a short wait for those that are ending.
    pub fn processes_left(&self) -> Vec<i32> {
        let begun = Instant::now();
        loop {
            let left = by_environment::started_with(MARK, &self.mark);
            if left.is_empty() || begun.elapsed() > Duration::from_secs(5) {
                return left;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Ends all processes of the demo that are still running, also after an interruption. Returns how many could not be
    /// ended.
    pub fn end_everything(&self) -> usize {
        let left = || by_environment::started_with(MARK, &self.mark).len();
        let within = |seconds: u64, begun: Instant| begun.elapsed() < Duration::from_secs(seconds);
        // The keepers first: they end their agents with all descendants, and clean up.
        if (left() > 0 || self.is_interrupted())
            && let Ok(mut ending) = self.start_axiom(&["kill", "--all"])
        {
            let begun = Instant::now();
            while within(15, begun) && matches!(ending.ended(), Ok(None)) {
                std::thread::sleep(LOOK);
            }
        }
        let begun = Instant::now();
        while left() > 0 && within(10, begun) {
            by_environment::kill_started_with(MARK, &self.mark);
            std::thread::sleep(LOOK);
        }
        left()
    }

    /// How to call git axiom from a shell: by its usual name, or by its path if it is not installed.
    pub fn how_to_call(&self) -> String {
        let path = env::var("PATH").unwrap_or_default();
        let installed = std::env::split_paths(&path).any(|folder| folder.join("git-axiom").is_file());
        if installed { "git axiom".to_owned() } else { super::tasks::quoted(&self.own_program) }
    }
}

impl Drop for DemoProgram {
    /// A program that nothing waits for must not keep running.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill().and_then(|()| self.child.wait());
        }
    }
}

impl DemoProgram {
    /// The exit status, if it has ended.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().map_err(|e| Error::io("wait for", Path::new("a child"), e))
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it with SIGKILL. Returns the signal that ended it.
    pub fn kill(&mut self) -> Result<Option<i32>> {
        let killed = self.child.kill().and_then(|()| self.child.wait());
        Ok(killed.map_err(|e| Error::io("kill", Path::new("a child"), e))?.signal())
    }

    /// The complete lines on its standard error since the last call.
    pub fn new_lines(&mut self) -> Result<Vec<String>> {
        let bytes = files::read(&self.stderr, MOST_OUTPUT)?;
        let new = bytes.get(self.shown..).unwrap_or_default();
        let whole = new.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.shown += whole;
        Ok(String::from_utf8_lossy(&new[..whole]).lines().map(str::to_owned).collect())
    }
}

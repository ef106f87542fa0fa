//! Makes the states, calls verbs in them with a fault, and looks at what came of it.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::time::{Duration, Instant};

use super::facts::Facts;
use super::inject::{self, Fault, Kind, Outcome};
use super::scenes::{ALL, completes_itself};
use crate::common::{Run, TestEnv};
use crate::power_loss::scenario::{command, place};
use crate::session_support::{kill, processes_of};

/// One call of one verb that fails in one way.
#[derive(Debug, Clone, Copy)]
pub struct Trial {
    /// Its number in [`ALL`].
    pub scene: usize,
    /// Its number in the scene.
    pub verb: usize,
    /// Its number among those that could fail.
    pub call: usize,
    /// Its number in [`Fault::ALL`].
    pub fault: usize,
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}.{}", self.scene, self.verb, self.call, self.fault)
    }
}

impl FromStr for Trial {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers: Vec<usize> = text.split('.').map(str::parse).collect::<Result<_, _>>()?;
        let [scene, verb, call, fault] = numbers[..] else { return "?".parse().map(|_: usize| unreachable!()) };
        Ok(Self { scene, verb, call, fault })
    }
}

/// How long a verb may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a session waits for a disk that stays full before it is killed.
const A_WHILE: Duration = Duration::from_secs(3);

/// A scene that was made once.
struct Stage {
    env: TestEnv,
    /// A copy of everything as it was then.
    pristine: tempfile::TempDir,
    /// Outputs.
    answers: tempfile::TempDir,
    before: Facts,
    /// What each verb does undisturbed.
    undisturbed: HashMap<usize, Undisturbed>,
}

struct Undisturbed {
    code: Option<i32>,
    kinds: Vec<Kind>,
    after: Facts,
}

/// All scenes that were made.
pub struct Bench {
    stages: HashMap<usize, Stage>,
}

impl Bench {
    /// Without any scene yet.
    pub fn new() -> Self {
        Self { stages: HashMap::new() }
    }

    fn stage(&mut self, scene: usize) -> &mut Stage {
        self.stages.entry(scene).or_insert_with(|| Stage::make(scene))
    }

    /// The kinds of the calls that a verb makes.
    pub fn calls(&mut self, scene: usize, verb: usize) -> Vec<Kind> {
        self.stage(scene).undisturbed(scene, verb).kinds.clone()
    }

    /// Makes a trial. Prints and returns it where something was wrong.
    pub fn run(&mut self, trial: &Trial) -> Option<String> {
        let wrong = self.stage(trial.scene).run(trial);
        if wrong.is_empty() {
            return None;
        }
        let verb = ALL[trial.scene].verbs[trial.verb].join(" ");
        let said = format!("{trial} ({verb}, {:?})", Fault::ALL[trial.fault]);
        eprintln!("--- AXIOM_ONLY={said}: {}\n", wrong.join("\n"));
        Some(said)
    }
}

/// What git finds wrong.
fn not_sound(env: &TestEnv) -> Option<String> {
    let fsck = env.try_git(&["fsck", "--strict", "--no-dangling", "--no-progress"]);
    (fsck.code != Some(0)).then(|| format!("git fsck: {fsck}"))
}

/// What was wrong where a verb that only the same call completes is called again.
fn called_again(env: &TestEnv, trial: &Trial, known: &Undisturbed) -> Option<String> {
    let is_begun = env.repo().join(".git/axiom-purge.json").exists();
    let verb = if is_begun { &["purge", "--continue"] } else { ALL[trial.scene].verbs[trial.verb] };
    let run = in_time(env, verb);
    (run.code != known.code).then(|| format!("called again: {run}"))
}

impl Stage {
    fn make(scene: usize) -> Self {
        let env = place();
        env.git_in(env.root(), &["init", "-q", "-b", "main", "repo"]);
        env.write("README", "a project\n");
        env.write("src/lib.txt", "one\ntwo\nthree\n");
        env.git(&["add", "-A"]);
        env.git(&["commit", "-q", "-m", "first"]);
        for step in ALL[scene].before {
            let output = command(&env, *step).output().unwrap();
            assert!(output.status.success(), "{step:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let parent = env.root().parent().unwrap();
        let [pristine, answers] = ["pristine", "answers"]
            .map(|kind| tempfile::Builder::new().prefix(&format!("axiom-calls-{kind}-")).tempdir_in(parent).unwrap());
        copy(env.root(), pristine.path());
        let before = Facts::look(&env).unwrap_or_default();
        Self { env, pristine, answers, before, undisturbed: HashMap::new() }
    }

    /// All as it was in the beginning.
    fn again(&self) {
        copy(self.pristine.path(), self.env.root());
    }

    fn call(&self, scene: usize, verb: usize, fault: Option<(usize, Fault)>) -> Outcome {
        self.again();
        let args = ALL[scene].verbs[verb].iter().map(|word| match *word {
            "LEARNING" => self.env.json(&["learnings"])["learnings"][0]["id"].as_str().unwrap().to_owned(),
            word => word.to_owned(),
        });
        let args: Vec<String> = args.collect();
        let command = self.env.axiom_command(&self.env.repo(), &args);
        let waits = ALL[scene].waits(verb, fault.map(|(_, fault)| fault));
        inject::run(&command, [self.env.root(), self.answers.path()], fault, if waits { A_WHILE } else { PATIENCE })
    }

    fn undisturbed(&mut self, scene: usize, verb: usize) -> &Undisturbed {
        if !self.undisturbed.contains_key(&verb) {
            let outcome = self.call(scene, verb, None);
            // A session that leaves tasks that wait ends with 1.
            let fine = outcome.code == Some(i32::from(ALL[scene].verbs[verb].contains(&"review")));
            assert!(fine, "{:?}: {:?} {}", ALL[scene].verbs[verb], outcome.code, outcome.said);
            let after = Facts::look(&self.env).unwrap();
            let kinds = outcome.calls.iter().map(|seen| seen.kind).collect();
            self.undisturbed.insert(verb, Undisturbed { code: outcome.code, kinds, after });
        }
        &self.undisturbed[&verb]
    }

    /// What was wrong.
    fn run(&mut self, trial: &Trial) -> Vec<String> {
        // What is left by a verb that failed goes through recovery, which may have something to do of its own.
        let recovers = ALL[trial.scene].verbs.iter().position(|verb| *verb == ["recover", "--yes"]);
        let mended = recovers.map(|recovers| self.undisturbed(trial.scene, recovers).after.clone());
        self.undisturbed(trial.scene, trial.verb);
        let known = &self.undisturbed[&trial.verb];
        let fault = Fault::ALL[trial.fault];
        let outcome = self.call(trial.scene, trial.verb, Some((trial.call, fault)));
        let waits = outcome.hung && ALL[trial.scene].waits(trial.verb, Some(fault));
        let mut wrong = if waits { Vec::new() } else { said(&outcome, fault, known.code) };
        // A keeper waits for a disk that stays full, too.
        if !ALL[trial.scene].waits(trial.verb, Some(fault)) {
            wrong.extend(outcome.lingering.iter().map(|words| format!("it ended, and this did not: {words}")));
        }
        let env = &self.env;
        let session = ALL[trial.scene].verbs[trial.verb][0] == "run";
        let again = completes_itself(trial.scene, trial.verb) && outcome.code != known.code;
        if again {
            wrong.extend(called_again(env, trial, known));
        }
        let looks = in_time(env, &["status"]);
        if looks.code != Some(0) && self.before != Facts::default() {
            wrong.push(format!("status: {looks}"));
        }
        let recovered = in_time(env, &["recover", "--yes"]);
        if recovered.code != Some(0) && self.before != Facts::default() {
            wrong.push(format!("recover --yes: {recovered}"));
        }
        if session {
            wrong.extend(self.gone_on(trial, known));
        } else if self.before == Facts::default() && outcome.code != Some(0) {
            // The state was damaged: the verb called again mends it.
            let again = in_time(env, ALL[trial.scene].verbs[trial.verb]);
            if again.code != Some(0) {
                wrong.push(format!("called again: {again}"));
            }
        } else {
            match Facts::look(env) {
                // Recovery reverses what it cannot finish, and says so.
                Ok(now) if again => wrong.extend(now.is_not(&known.after)),
                Ok(now) if outcome.code == known.code && !outcome.said.contains("is now reversed") => {
                    wrong.extend(now.is_not(&known.after));
                }
                Ok(now) => {
                    let after = [Some(&known.after), mended.as_ref()].into_iter().flatten();
                    let ways: Vec<_> = after.map(|after| now.is_neither(&self.before, after)).collect();
                    if ways.iter().all(|wrong| !wrong.is_empty()) {
                        wrong.extend(ways.into_iter().flatten());
                    }
                }
                Err(what) => wrong.push(what),
            }
        }
        let removes = outcome.calls.get(trial.call).is_some_and(|seen| seen.what.starts_with("remove "));
        if fault != Fault::On(libc::EIO)
            && !removes
            && let Ok(Facts { leftovers, .. }) = Facts::look(env)
            && !leftovers.is_empty()
        {
            wrong.push(format!("left behind: {leftovers:?}"));
        }
        for args in [&["task", "add", "Z", "--id", "zzz"][..], &["checkpoint", "create", "zz"], &["checkpoint", "verify"]] {
            let run = in_time(env, args);
            if run.code != Some(0) {
                wrong.push(format!("{args:?} afterwards: {run}"));
            }
        }
        wrong.extend(not_sound(env));
        wrong.extend(ended(env).into_iter().map(|words| format!("left running: {words}")));
        if !wrong.is_empty() {
            let what = outcome.calls.get(trial.call).map_or("no such call", |seen| &seen.what);
            wrong.insert(0, format!("{what}: exit {:?}\n{}", outcome.code, outcome.said));
        }
        wrong
    }

    /// A session that was cut off is gone on with, and comes to the same end.
    fn gone_on(&self, trial: &Trial, known: &Undisturbed) -> Vec<String> {
        let run = in_time(&self.env, ALL[trial.scene].verbs[trial.verb]);
        if run.code != known.code {
            return vec![format!("the next session: {run}")];
        }
        match Facts::look(&self.env) {
            Ok(now) => now.has_come_to(&known.after),
            Err(what) => vec![what],
        }
    }
}

/// A verb afterwards. One that does not end has exit status 124.
pub fn in_time(env: &TestEnv, args: &[&str]) -> Run {
    let seconds = PATIENCE.as_secs().to_string();
    let mut command = env.program("timeout", &env.repo());
    command.args(["-k", "1", &seconds, env!("CARGO_BIN_EXE_git-axiom")]).args(args);
    env.run(command, None)
}

/// What runs on in a place where nothing should, killed.
fn ended(env: &TestEnv) -> Vec<String> {
    let home = env.root().join("home");
    let until = Instant::now() + A_WHILE;
    while !processes_of(&home).is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    let left = processes_of(&home);
    for (pid, _) in &left {
        kill(*pid);
    }
    left.into_iter().map(|(_, words)| words).collect()
}

/// What is wrong with what the verb said.
fn said(outcome: &Outcome, fault: Fault, undisturbed: Option<i32>) -> Vec<String> {
    let mut wrong = Vec::new();
    if outcome.hung {
        wrong.push("it does not end".into());
    }
    if outcome.said.contains("panicked") || outcome.code.is_none() || outcome.code > Some(128) {
        wrong.push("it did not end well".into());
    }
    if outcome.code == undisturbed {
        return wrong;
    }
    if fault.is_harmless() {
        wrong.push("a call that was interrupted, or wrote less, is made again".into());
    }
    let code = outcome.said.split("error[").nth(1).and_then(|rest| rest.split(']').next());
    match code.and_then(|code| git_axiom::base::error::Code::ALL.iter().find(|known| known.as_str() == code)) {
        None => wrong.push("no error with a code".into()),
        Some(git_axiom::base::error::Code::Internal) => wrong.push("an internal error".into()),
        Some(code) if outcome.code != Some(code.exit() as i32) => wrong.push("another exit status than its code has".into()),
        Some(_) => {}
    }
    let words = ["No space left", "Input/output error", "Interrupted system call"];
    if !words.iter().any(|word| outcome.said.contains(word)) {
        wrong.push("the error does not say what failed".into());
    }
    wrong
}

/// Makes the second folder a copy of the first. The git directory stays the same one: it would count as moved otherwise.
fn copy(from: &Path, to: &Path) {
    let git = to.join("repo/.git");
    let within = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let stays = |path: &PathBuf| git.starts_with(path);
    for path in within(to).chain(within(&to.join("repo"))).chain(within(&git)).filter(|path| !stays(path)) {
        let folder = path.symlink_metadata().unwrap().is_dir();
        if folder { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
    }
    let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(copied.success());
}

//! The steps of the demo, in order, and the text about them. The evidence is collected here and judged in `checks`.

use std::path::Path;
use std::time::{Duration, Instant};

use super::evidence::{self, DemoEvidence, IDEA, MODIFIED, STAGED, TAKEN_BACK, UNTRACKED};
use super::stage::{DemoProgram, DemoStage};
use super::tasks::{DemoTask, TASKS, quoted};
use crate::cli::screen::Screen;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};

/// The checkpoint to which the demo rolls back.
const CHECKPOINT: &str = "before-agents";
/// The arguments of the supervisor, both times.
const RUN: [&str; 6] = ["run", "--agents", "2", "--mode", "autopilot", "--until-idle"];

/// Runs all steps.
pub fn play(stage: &DemoStage, screen: &mut Screen) -> Result<DemoEvidence> {
    let mut story = DemoStory { stage, screen, evidence: DemoEvidence::default() };
    story.begin()?;
    story.plan()?;
    let supervisor = story.crash()?;
    story.recover(supervisor)?;
    story.go_back_and_forth()?;
    story.take_one_task_back()?;
    story.sabotage()?;
    evidence::at_the_end(stage, &mut story.evidence)?;
    Ok(story.evidence)
}

struct DemoStory<'a> {
    stage: &'a DemoStage,
    screen: &'a mut Screen,
    evidence: DemoEvidence,
}

impl DemoStory<'_> {
    fn say(&mut self, text: &str) {
        self.screen.note_text(text);
    }

    fn show(&mut self, text: &str) {
        for line in text.trim_end().lines() {
            self.screen.note(&format!("    {line}"));
        }
    }

    /// Prints the command, runs it, expects success, and prints its output.
    fn axiom(&mut self, arguments: &[&str]) -> Result<()> {
        self.say(&shown("git axiom", arguments));
        let ended = self.stage.axiom(arguments)?;
        self.show(&ended.stderr);
        self.show(&ended.stdout);
        if ended.status.success() {
            return Ok(());
        }
        Err(Error::new(Code::DemoFailed, format!("git axiom {} failed: {}", arguments.join(" "), ended.status))
            .why(ended.stderr.trim().to_owned()))
    }

    fn look_at_users_work(&mut self, when: &'static str) -> Result<()> {
        let work = evidence::users_work(self.stage)?;
        self.evidence.users.push((when, work));
        Ok(())
    }

    /// Creates a repository with a commit and uncommitted work of the user.
    fn begin(&mut self) -> Result<()> {
        let stage = self.stage;
        self.say(&format!("1. A scratch repository, with work of your own in it: {}\n", stage.repo().display()));
        // Without templates, because those of the machine may contain hooks.
        let setup: [&[&str]; 3] = [
            &["init", "--quiet", "--initial-branch=main", "--template="],
            &["config", "user.name", "Demo User"],
            &["config", "user.email", "demo@example.org"],
        ];
        for arguments in setup {
            evidence::git(stage, arguments)?;
        }
        self.write(MODIFIED, "A project.\n")?;
        evidence::git(stage, &["add", MODIFIED])?;
        evidence::git(stage, &["commit", "--quiet", "--message", "Begin"])?;
        self.write(MODIFIED, "A project.\n\nA sentence that you have not committed.\n")?;
        self.write(STAGED, "Staged, not committed.\n")?;
        evidence::git(stage, &["add", STAGED])?;
        self.write(UNTRACKED, "Not even known to git.\n")?;
        self.say("  $ git status --short");
        let status = evidence::git(stage, &["-c", "color.ui=never", "status", "--short"])?;
        self.show(&status);
        self.axiom(&["init"])?;
        self.look_at_users_work("at the start")
    }

    fn write(&self, file: &str, text: &str) -> Result<()> {
        files::write_scratch(&self.stage.repo().join(file), text.as_bytes())
    }

    /// Adds five tasks and makes a checkpoint.
    fn plan(&mut self) -> Result<()> {
        self.say("\n2. Five tasks. An agent can be any program; here each is a shell script, so that no model is needed.\n");
        for task in &TASKS {
            let script = self.stage.folder.join("scripts").join(format!("{}.sh", task.id));
            files::write_scratch(&script, task.script(&self.stage.folder).as_bytes())?;
            let (body, after) = (format!("../scripts/{}.sh", task.id), task.after.join(","));
            let mut arguments = vec!["task", "add", task.title, "--id", task.id, "--body-file", &body];
            if !task.after.is_empty() {
                arguments.extend(["--after", &after]);
            }
            self.axiom(&arguments)?;
        }
        self.evidence.at_start = evidence::whole(self.stage)?;
        self.say("\n3. A checkpoint of everything, including staged, modified and untracked files.\n");
        self.axiom(&["checkpoint", "create", CHECKPOINT])?;
        self.look_at_users_work("after the checkpoint")
    }

    /// Starts the agents, and kills the supervisor while two of them work.
    fn crash(&mut self) -> Result<u32> {
        self.say(
            "\n4. Two agents work, each in a git worktree of its own. A human could decide at gates; 'autopilot' needs none.\n",
        );
        self.say(&shown("git axiom", &RUN));
        let mut supervisor = self.stage.start_axiom(&RUN)?;
        let begun = Instant::now();
        let both = |log: &[evidence::DemoLogNote]| TASKS.iter().filter(|task| task.waits && started(log, task)).count() == 2;
        while !both(&evidence::log(self.stage)?) {
            self.follow(&mut supervisor)?;
            if let Some(status) = supervisor.ended()? {
                return Err(Error::new(Code::DemoFailed, format!("the supervisor ended early: {status}")));
            }
            self.stage.may_go_on(begun)?;
        }
        self.follow(&mut supervisor)?;
        let pid = supervisor.pid();
        self.say(&format!("\n5. While both work, the supervisor crashes:\n\n  $ kill -KILL {pid}"));
        self.evidence.crash.killed_by = supervisor.kill()?;
        self.evidence.crash.working_then = evidence::working(&evidence::log(self.stage)?);
        self.say("\n   The agents do not notice: each has a keeper. One of them ends now, with nobody watching.\n");
        self.let_go_on("parser")?;
        let begun = Instant::now();
        while evidence::working(&evidence::log(self.stage)?).iter().any(|task| task == "parser") {
            self.stage.may_go_on(begun)?;
        }
        self.wait_for_keeper("parser")?;
        self.axiom(&["recover"])?;
        self.look_at_users_work("after the crash")?;
        Ok(pid)
    }

    /// Waits for the keeper to record the end of a program that has ended. The next output is clearer then, but nothing
    /// depends on it, so the wait is short.
    fn wait_for_keeper(&self, id: &str) -> Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(5) {
            let view = evidence::axiom_json(self.stage, &["recover"])?;
            let runs = |one: &serde_json::Value| one["taskId"] == id && one["reason"].to_string().contains("still runs");
            if !view["resumable"].as_array().into_iter().flatten().any(runs) {
                break;
            }
            self.stage.may_go_on(begun)?;
        }
        Ok(())
    }

    /// Starts the next supervisor, which takes over the agent that is running and the one that has ended.
    fn recover(&mut self, killed: u32) -> Result<()> {
        self.say(
            "\n6. 'recover' changed nothing yet. The next 'run' takes over: nothing is started a second time, nothing is lost.\n",
        );
        self.say(&shown("git axiom", &RUN));
        let mut supervisor = self.stage.start_axiom(&RUN)?;
        let (begun, mut told) = (Instant::now(), false);
        let status = loop {
            self.follow(&mut supervisor)?;
            if let Some(status) = supervisor.ended()? {
                break status;
            }
            if !told && self.has_taken_over(killed)? {
                self.evidence.crash.log_at_takeover = evidence::log(self.stage)?;
                self.let_go_on("printer")?;
                told = true;
            }
            self.stage.may_go_on(begun)?;
        };
        self.follow(&mut supervisor)?;
        if !status.success() {
            return Err(Error::new(Code::DemoFailed, format!("git axiom run failed: {status}")));
        }
        self.say("\n   Everything is merged; the trailers of each merge name its task and agent:\n");
        let format = "--format=%h %s";
        self.say("  $ git log --oneline --first-parent main");
        let merges = evidence::git(self.stage, &["log", "--first-parent", format, "main"])?;
        self.show(&merges);
        self.look_at_users_work("after the merges")
    }

    /// Whether a new supervisor has begun its session.
    fn has_taken_over(&self, killed: u32) -> Result<bool> {
        let status = evidence::axiom_json(self.stage, &["status"])?;
        let pid = status["supervisor"]["pid"].as_u64();
        Ok(status["session"]["state"] == "running" && pid.is_some_and(|pid| pid != u64::from(killed)))
    }

    /// Rolls back to the checkpoint, and undoes that.
    fn go_back_and_forth(&mut self) -> Result<()> {
        self.say(&format!(
            "\n7. You write something down, untracked: {IDEA}. Then you do not like what the agents did, and go back.\n"
        ));
        self.write(IDEA, "Written after the checkpoint.\n")?;
        self.evidence.before_rollback = evidence::whole(self.stage)?;
        self.axiom(&["rollback", "checkpoint", CHECKPOINT, "--yes"])?;
        self.evidence.after_rollback = evidence::whole(self.stage)?;
        self.evidence.idea_held = evidence::idea_held(self.stage)?;
        self.look_at_users_work("after the rollback")?;
        self.say("\n8. On second thoughts it was good. A rollback can be undone, and so can the undo.\n");
        self.axiom(&["undo", "--yes"])?;
        self.look_at_users_work("after the undo")
    }

    /// Rolls back a single task by the commits that name it, and undoes that.
    fn take_one_task_back(&mut self) -> Result<()> {
        self.say("\n9. Only one task was not what you wanted: its commits are reverted, and it is pending again.\n");
        self.axiom(&["rollback", "task", TAKEN_BACK, "--yes"])?;
        self.evidence.after_task_rollback = evidence::whole(self.stage)?;
        self.look_at_users_work("after the rollback of a task")?;
        self.say("\n   That can be undone like anything else.\n");
        self.axiom(&["undo", "--yes"])?;
        self.look_at_users_work("after its undo")
    }

    fn let_go_on(&self, id: &str) -> Result<()> {
        match TASKS.iter().find(|task| task.id == id) {
            Some(task) => files::write_scratch(&self.stage.folder.join(task.go()), b""),
            None => Err(Error::new(Code::Internal, format!("the demo has no task '{id}'"))),
        }
    }

    /// Prints what a supervisor has printed since the last call.
    fn follow(&mut self, running: &mut DemoProgram) -> Result<()> {
        for line in running.new_lines()? {
            self.show(&line);
        }
        Ok(())
    }

    /// Makes every claim about the end false. Only in debug builds, for the test that checks the checks.
    fn sabotage(&mut self) -> Result<()> {
        if !cfg!(debug_assertions) || env::var("AXIOM_TEST_DEMO_SABOTAGE").is_none() {
            return Ok(());
        }
        let begun_again = "echo started parser 1 >> ../agents.log; echo started printer 1 >> ../agents.log";
        let wreck = format!(
            "{begun_again}; echo changed >> {UNTRACKED}; echo changed >> tests.txt; rm {IDEA}; git worktree add -q --detach ../extra; \
             git update-ref refs/heads/main HEAD~1; echo rubbish > .git/refs/heads/broken; sleep 50 >/dev/null 2>&1 &"
        );
        self.stage.finish(self.stage.start(Path::new("sh"), &["-c", &wreck])?).map(drop)
    }
}

fn started(log: &[evidence::DemoLogNote], task: &DemoTask) -> bool {
    log.iter().any(|note| note.what == "started" && note.task == task.id)
}

/// A command line as the user would type it.
fn shown(program: &str, arguments: &[&str]) -> String {
    let plain =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./,=".contains(&byte));
    let words: Vec<String> =
        arguments.iter().map(|word| if plain(word) { (*word).to_owned() } else { quoted(Path::new(word)) }).collect();
    format!("  $ {program} {}", words.join(" "))
}

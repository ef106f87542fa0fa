//! `git axiom demo`: the main features, shown on a scratch repository with real processes, and checked.
//!
//! Every step is a command that a user would type, run with this same program. The claims at the end are checked in git, in
//! files and in the process table.

use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::cli::{visible, words};
use crate::demo::checks;
use crate::demo::checks::DemoCheck;
use crate::demo::evidence::DemoEvidence;
use crate::demo::stage::DemoStage;
use crate::demo::{story, tasks};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::screen_colors::ColoredPart;

/// How often is looked whether the demo's repository is there.
const BEGINS: Duration = Duration::from_millis(20);

/// Arguments of `demo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Makes a repository of its own in the temporary folder and touches nothing else: no repository of
yours, no configuration. Two agents (shell scripts, no model) work on five tasks; the supervisor
is killed with SIGKILL; the next one takes over; everything is rolled back, and the rollback
undone. Then each claim is checked against git. Takes less than a minute.

Exits with 1 if a check fails. The repository stays, so that you can look around; the last lines
say how to remove it.")]
pub struct DemoArgs {
    /// Watch it in the panel; after closing it, the demo is played to its end
    #[arg(long)]
    panel: bool,
}

/// How the demo went; with `error` where a claim does not hold.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DemoJson {
    /// Whether all claims hold.
    passed: bool,
    duration: f64,
    /// Where it is.
    repository: String,
    /// How git axiom is called there.
    program: String,
    /// The command that removes it.
    remove: String,
    checks: Vec<DemoCheck>,
}

/// Runs the demo. However it ends, it ends all its processes and leaves its folder.
pub fn run(args: &DemoArgs, screen: &mut Screen) -> Result<Exit> {
    let begun = Instant::now();
    let stage = DemoStage::set_up()?;
    let remove = format!("rm -rf {}", tasks::quoted(&stage.folder));
    let played = if args.panel { in_panel(&stage, screen) } else { story::play(&stage, screen) };
    let survivors = stage.end_everything();
    if survivors > 0 {
        screen
            .complain(&format!("warning: {} of the demo could not be ended", words::count_of(survivors, "process", "processes")));
    }
    let evidence = played.map_err(|error| {
        // Ctrl+C may appear as the failure of a step.
        let error = if stage.is_interrupted() { Error::new(Code::Interrupted, "the demo was interrupted") } else { error };
        error.hint(format!("what it left is in {}", stage.folder.display())).hint(format!("to remove it: {remove}"))
    })?;
    let checks = checks::checks(&evidence);
    let answer = DemoJson {
        passed: checks.iter().all(|check| check.ok),
        duration: begun.elapsed().as_secs_f64(),
        repository: stage.repo().display().to_string(),
        program: stage.how_to_call(),
        remove,
        checks,
    };
    if answer.passed {
        screen.answer(&answer, || people(&answer))?;
        return Ok(Exit::Done);
    }
    let error = Error::new(Code::DemoFailed, "not every claim is true").hint("please report it with the output above");
    screen.answer_with(&answer, &error, || people(&answer))?;
    Err(error)
}

/// Plays the demo behind the panel.
fn in_panel(stage: &DemoStage, screen: &mut Screen) -> Result<DemoEvidence> {
    std::thread::scope(|scope| {
        // What it would say is what the panel shows.
        let story = scope.spawn(|| story::play(stage, &mut Screen::new(true, None)));
        while !story.is_finished() && !stage.repo().join(".git/axiom").is_dir() {
            std::thread::sleep(BEGINS);
        }
        // A process of its own, which sees nothing of the user's configuration and repositories.
        let shown = stage.axiom_at_the_terminal(&["panel"]);
        screen.note("The demo is played to its end, then what it claims is checked.");
        let played = story.join().map_err(|_| Error::new(Code::Internal, "the demo has stopped"))?;
        let shown = shown?;
        if !shown.success() && shown.code() != Some(Exit::Interrupted as i32) {
            return Err(Error::new(Code::DemoFailed, "the panel could not be shown"));
        }
        played
    })
}

fn people(answer: &DemoJson) -> StyledText {
    let mut text = StyledText::from("\nWhat was claimed, checked against git, the files and the process table:\n\n");
    for check in &answer.checks {
        let (part, sign) = if check.ok { (ColoredPart::Done, "✓") } else { (ColoredPart::Failed, "✗") };
        text.push_str("  ");
        text.push(part, sign);
        text.push_str(&format!(" {}\n", check.claim));
        if let Some(found) = &check.found {
            text.push_str(&format!("      found: {}\n", visible::set_in(found, "      ")));
        }
    }
    let failed = answer.checks.iter().filter(|check| !check.ok).count();
    let all = answer.checks.len();
    text.push_str(&match failed {
        0 => format!("\nAll {all} checks passed, after {:.0} seconds.\n", answer.duration),
        failed => format!("\n{failed} of {all} checks FAILED. That is a bug: please report it with the output above.\n"),
    });
    let program = &answer.program;
    text.push_str(&format!(
        "\nLook around:    cd {}\n                git log --graph\n                {program} log\n                \
         {program} checkpoint list\nRemove it all:  {}\n",
        tasks::quoted(std::path::Path::new(&answer.repository)),
        answer.remove
    ));
    text
}

//! What a verb shows while it waits for commands and hooks, how Ctrl+C ends them, and telling hooks what a verb has done.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::ProgressBar;

use crate::cli::screen::Screen;
use crate::cli::visible;
use axiom_base::own_process::end_signals;
use axiom_base::own_process::end_signals::CheckedSignals;
use axiom_model::work::hooks::hook_run::HookRun;
use axiom_safety::context::handle::Context;
use axiom_safety::running::hooks::report;
use axiom_safety::running::wait_observer::{ForegroundWait, WaitObserver};

/// Shows what runs, and lets Ctrl+C end it.
#[derive(Default)]
pub struct VerbSpinner {
    line: Option<ProgressBar>,
    can_end: Option<CheckedSignals>,
}

impl VerbSpinner {
    fn begin(&mut self, text: &str) {
        self.can_end = Some(end_signals::can_end());
        if std::io::stderr().is_terminal() {
            let line = ProgressBar::new_spinner().with_message(visible::line(text).into_owned());
            line.enable_steady_tick(Duration::from_millis(120));
            self.line = Some(line);
        }
    }
}

impl WaitObserver for VerbSpinner {
    fn begun(&mut self, what: ForegroundWait<'_>) {
        match what {
            ForegroundWait::Verification(names) => {
                let text = format!("verifying the merge: {}", names.join(" && "));
                self.begin(&text);
                if self.line.is_none() {
                    Screen::new(false, None).complain(&text);
                }
            }
            ForegroundWait::Planner(phase) => self.begin(&format!("the planner runs: {phase}")),
            ForegroundWait::Hooks(event) => self.begin(&format!("hooks of {event}")),
        }
    }

    fn ended(&mut self) {
        self.line.take().inspect(ProgressBar::finish_and_clear);
        self.can_end = None;
    }

    fn shall_end(&self) -> bool {
        end_signals::signal_that_waited().is_some()
    }
}

/// Tells hooks what a verb has done, and shows where one failed. That never changes how the verb ends.
pub fn tell_hooks(ctx: &mut Context, screen: &mut Screen) {
    if !ctx.hooks.has_due() {
        return;
    }
    for run in report::report(ctx, &mut VerbSpinner::default()) {
        if run.failure.is_some() {
            complain(screen, &run);
        }
    }
}

/// Shows a hook that failed, with the last lines of its output.
pub fn complain(screen: &mut Screen, run: &HookRun) {
    screen.complain(&run.summary());
    for line in &run.lines {
        screen.complain(&format!("  {line}"));
    }
}

//! What happens with nobody to ask, for each question that git axiom asks: one table, in the help of `config` and in
//! `docs/CONFIGURATION.md`.

/// A question of git axiom's.
#[derive(Debug)]
pub struct UnattendedQuestion {
    /// What is asked, and where.
    pub asked: &'static str,
    /// What happens with nobody to ask.
    pub nobody: &'static str,
}

const fn row(asked: &'static str, nobody: &'static str) -> UnattendedQuestion {
    UnattendedQuestion { asked, nobody }
}

/// All of them.
pub const QUESTIONS: &[UnattendedQuestion] = &[
    row(
        "A configuration file cannot be read: restore, reset, quit?",
        "its backup counts (warning CONFIG_BACKUP_RESTORED); without one exit 6, except for verbs that work whatever it says",
    ),
    row("Replace a configuration file? (config restore, reset)", "refused, exit 3, without --yes"),
    row("Edit it again? (config edit)", "the error; the text is kept"),
    row("Approve the project's files? (trust)", "refused, exit 3, without --yes; nothing of them is applied"),
    row("From what does a damaged state begin again? (recover)", "exit 6; recover --from SOURCE --yes"),
    row("What becomes of tasks that a crash cut off? (recover)", "recover only looks; recover --yes follows the rules"),
    row("The same before a session (run)", "with recovery.auto the rules; without, exit 6"),
    row(
        "Go back, take back, delete, abandon, begin anew? (rollback, undo, redo, checkpoint, recover)",
        "refused, exit 3, without --yes",
    ),
    row("Take out a secret, or git axiom itself? (purge, deinit)", "refused, exit 3, without --yes"),
    row(
        "What becomes of a plan that a crash cut off? (plan recover)",
        "with less than 50% of the tasks created it starts over, else it keeps them; the decision is in the log",
    ),
    row("Hide our refs? Workspaces beside the repository? (init)", "no; init --hide-refs, --workspaces-beside"),
    row("Which one? (rollback, checkpoint manage, redirect, hooks install)", "refused, exit 2 or 3; hooks install lists them"),
    row("Quit while agents run? (quit)", "quits"),
    row("What else may go where the disk is critical? (disk)", "it only shows who uses the space"),
    row("The disk is too full: the gate disk-space (run)", "it waits; work goes on by itself once there is space"),
    row("Approve, and go on? (run --until-idle)", "it ends, exit 1"),
    row("Gates of a session: claims, merges, agents' questions, budgets, permissions", "they wait; other tasks go on"),
];

/// The table for the help, at most 80 columns wide.
pub fn in_help() -> String {
    let mut text = String::from("With nobody to ask (no terminal, --json, --non-interactive, run --detach):\n");
    for UnattendedQuestion { asked, nobody } in QUESTIONS {
        text.push_str(&format!("{}{}", wrapped(asked, 2), wrapped(nobody, 6)));
    }
    text
}

/// The table for the documents.
pub fn in_markdown() -> String {
    let rows = QUESTIONS.iter().map(|UnattendedQuestion { asked, nobody }| format!("| {asked} | {nobody} |\n"));
    format!("| question | with nobody to ask |\n| --- | --- |\n{}", rows.collect::<String>())
}

fn wrapped(text: &str, indent: usize) -> String {
    let (mut lines, mut line) = (String::new(), " ".repeat(indent));
    for word in text.split(' ') {
        if line.len() + 1 + word.len() > 80 {
            lines.push_str(&format!("{}\n", line.trim_end()));
            line = " ".repeat(indent);
        }
        line.push_str(word);
        line.push(' ');
    }
    format!("{lines}{}\n", line.trim_end())
}

//! The configuration that `init --shared` writes for a project: every useful key with what it is for, commented out. So it changes
//! nothing. Pure.

use serde_json::Value;

use super::keys::KEYS;
use super::schema::Config;
use axiom_base::error::{Code, Error, Result};

/// The beginning of the file.
const HEAD: &str = "\
# The project's configuration of git axiom, for everybody who works on it. It counts for somebody
# once they approved it as it is, and again after each change: git axiom trust. Their own
# 'git config axiom.SECTION.KEY' wins over it.
#
# Every line is commented out, so this file changes nothing. Lines without a space after '#' are
# keys, with their defaults or with an example. 'git axiom config show' shows what counts.
";

/// The end of the file.
const TAIL: &str = "
# An agent program of your own: a table for each, by its name.
#[agents.mine]
#command = [\"my-agent\", \"--prompt\", \"{prompt}\"]
# Whether exit status 0 completes the task; without this it has to say so: git axiom signal complete
#exitCompletes = true
# The signal that asks it to stop: TERM, INT, HUP or QUIT.
#stopSignal = \"TERM\"
";

/// A key in the sample.
struct SampleConfigKey {
    section: &'static str,
    name: &'static str,
    /// What it is for.
    says: &'static str,
    /// A value in TOML, where the default is none.
    example: Option<&'static str>,
}

const fn line(section: &'static str, name: &'static str, says: &'static str, example: Option<&'static str>) -> SampleConfigKey {
    SampleConfigKey { section, name, says, example }
}

/// The keys, ordered by how likely a project sets them.
const LINES: &[SampleConfigKey] = &[
    line(
        "merge",
        "verify",
        "Commands that must pass on the result of a merge before it is made; they run as you.",
        Some("[\"make check\"]"),
    ),
    line("merge", "target", "The branch that work is merged into; without it, the one at 'git axiom run'.", Some("\"main\"")),
    line(
        "merge",
        "guarded",
        "Further files whose change by a merge waits for a human, beside those that always do.",
        Some("[\"deploy.sh\"]"),
    ),
    line("verify", "timeLimit", "The longest such a command may take, and a task's own verify steps.", None),
    line(
        "verify",
        "wrapper",
        "A program that runs each of them, such as a sandbox; sh -c STEP is added.",
        Some("[\"env\", \"CI=1\"]"),
    ),
    line("hooks", "timeout", "The longest a hook may take.", None),
    line("hooks", "wrapper", "A program that runs each hook, such as a sandbox.", Some("[\"env\", \"CI=1\"]")),
    line("checkpoints", "include", "Ignored files that checkpoints hold nevertheless, as in a .gitignore.", Some("[\".env*\"]")),
    line(
        "checkpoints",
        "exclude",
        "Untracked files that no checkpoint holds; a rollback leaves them alone.",
        Some("[\"data/\"]"),
    ),
    line("checkpoints", "maxFileSize", "Untracked files larger than this are not held, in MB.", None),
    line("checkpoints", "periodic", "A checkpoint after every so many completed tasks; 0 for none.", None),
    line("checkpoints", "beforeMerge", "A checkpoint before each merge.", None),
    line("checkpoints", "beforeAutopilot", "A checkpoint before autopilot begins.", None),
    line("checkpoints", "maxCount", "How many checkpoints are kept.", None),
    line("checkpoints", "maxAgeDays", "How many days they are kept.", None),
    line("checkpoints", "protectNamed", "Whether those with a name are always kept.", None),
    line("checkpoints", "tags", "Which checkpoints get a tag below axiom/: all, named or none.", None),
    line(
        "checkpoints",
        "maxTotal",
        "How much they may hold that nothing else does; automatic ones go first, at once. Without it: any.",
        Some("\"5GB\""),
    ),
    line("checkpoints", "keepDeletedDays", "How many days deleted ones can be brought back.", None),
    line("agents", "default", "The agent program, where the command line names none.", None),
    line("agents", "count", "How many agents work at once.", None),
    line("agents", "maxIterations", "How many iterations a task may take.", None),
    line("agents", "timeLimit", "The longest an iteration may take; without it, there is no limit.", Some("\"2h\"")),
    line("agents", "silenceLimit", "The longest an agent may print nothing; without it, there is no limit.", Some("\"15min\"")),
    line("agents", "graceSeconds", "How long a stop waits before it kills the program.", None),
    line("agents", "captureInterval", "Seconds between captures of a workspace while its agent runs.", None),
    line("agents", "keepMerged", "Whether workspaces and branches of merged tasks are kept.", None),
    line(
        "agents",
        "logLimit",
        "How large all logs of agents may be; the oldest of finished tasks go first. 0: any.",
        Some("\"5GB\""),
    ),
    line("agents", "permissions", "What agents of the protocol ACP may do unasked: ask, workspace or allow.", None),
    line(
        "agents",
        "permissionRules",
        "Rules before that; the first that fits counts. See docs/ACP.md.",
        Some("[\"allow command cargo test *\"]"),
    ),
    line("agents", "permissionTimeout", "After how long a question that nobody answers is answered with no.", None),
    line("agents", "workspaceRoot", "Where workspaces are made, relative to the main worktree.", None),
    line(
        "agents",
        "promptTemplate",
        "The template of the prompts; see docs/CONFIGURATION.md for its placeholders.",
        Some("\"{{task.body}} {{lastEnd}} {{report}}\""),
    ),
    line("budget", "maxCost", "What a task may cost, in US dollars; then it waits at a gate.", Some("5")),
    line("budget", "maxTokens", "How many tokens a task may use.", Some("\"2M\"")),
    line("budget", "maxTime", "How long agents may run for a task.", Some("\"3h\"")),
    line("budget", "sessionMaxCost", "What a session may cost; then no more is started.", Some("50")),
    line("budget", "sessionMaxTokens", "How many tokens a session may use.", Some("\"20M\"")),
    line("budget", "sessionMaxTime", "How long agents may run in a session.", Some("\"8h\"")),
    line("system", "diskWarningThreshold", "With less free space than this, in MB, it is said.", None),
    line("system", "diskCriticalThreshold", "With less than this no further program is started.", None),
    line("system", "diskEmergencyThreshold", "With less than this programs are stopped, and nothing is merged.", None),
    line("system", "autoCleanupEnabled", "Whether what has expired is cleaned up where space is short.", None),
    line("system", "logCompressDays", "After how many days agents' logs are compressed; 'output' still reads them.", None),
    line("recovery", "auto", "Whether 'run' goes on after a crash without asking.", None),
    line("recovery", "autoResetOrphaned", "Whether tasks whose agents died become pending again without asking.", None),
    line("recovery", "maxRetries", "How often a task is begun again after crashes; the next crash fails it.", None),
    line("recovery", "maxAgeHours", "How many hours after its last sign of life a task goes on where it was; 0: any.", None),
    line("recovery", "resumeThreshold", "With less progress than this, in percent, a task begins anew.", None),
    line("recovery", "evaluator", "A command that decides where the rules are not certain.", Some("\"./decide\"")),
    line("recovery", "evaluatorTimeout", "The longest that it may take.", None),
    line("recovery", "injectAuditLog", "Whether the prompt after a crash tells what happened before.", None),
];

/// Sections that a project has no reason to set.
#[cfg(test)]
const LEFT_OUT: &[&str] = &["state", "attach", "panel"];

/// The text of the file.
pub fn text() -> Result<String> {
    let defaults = serde_json::to_value(Config::default())
        .map_err(|e| Error::new(Code::Internal, "the configuration has no JSON form").because(e))?;
    let mut text = HEAD.to_owned();
    let mut section = "";
    for SampleConfigKey { section: its, name, says, example } in LINES {
        if *its != section {
            section = its;
            text.push_str(&format!("\n#[{section}]\n"));
        }
        let takes = KEYS.iter().find(|key| key.section == *its && key.name == *name).map(|key| key.kind.expects());
        let default: &Value = &defaults[its][name];
        let value = example.map_or_else(|| default.to_string(), str::to_owned);
        text.push_str(&format!("# {says}\n# It takes {}.\n#{name} = {value}\n", takes.unwrap_or_default()));
    }
    text.push_str(TAIL);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::config::{ConfigLayers, load_usable};

    fn load(text: &str) -> Config {
        let layers = ConfigLayers { project_file: Some(("/p.toml".into(), text.into())), ..ConfigLayers::default() };
        let loaded = load_usable(&layers).unwrap().whole().unwrap();
        loaded.config
    }

    #[test]
    fn as_it_is_it_changes_nothing_and_each_line_can_be_used() {
        let text = text().unwrap();
        assert_eq!(load(&text), Config::default());
        let is_key = |line: &&str| line.strip_prefix('#').is_some_and(|rest| !rest.starts_with([' ', '\n']) && !rest.is_empty());
        let lines: Vec<&str> = text.lines().filter(is_key).map(|line| &line[1..]).collect();
        let all = load(&lines.join("\n"));
        assert_eq!((all.agents.count, all.agents.time_limit, all.merge.target.as_deref()), (2, Some(7200), Some("main")));
        assert!(all.agents.adapters.contains_key("mine"));
        assert!(text.lines().all(|line| line.len() <= 100 && (line.is_empty() || line.starts_with('#'))), "{text}");
    }

    #[test]
    fn every_key_is_in_it_or_left_out_on_purpose() {
        let all: BTreeSet<String> = KEYS.iter().map(|key| format!("{}.{}", key.section, key.name)).collect();
        let told = LINES.iter().map(|line| format!("{}.{}", line.section, line.name));
        let left_out =
            KEYS.iter().filter(|key| LEFT_OUT.contains(&key.section)).map(|key| format!("{}.{}", key.section, key.name));
        assert_eq!(told.chain(left_out).collect::<BTreeSet<_>>(), all);
    }
}

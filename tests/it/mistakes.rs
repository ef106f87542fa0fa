//! A stranger's mistakes: what is typed, what is said, and the hints, each of which is run. A hint that cannot be run is no way out.

use crate::support::Scratch;

/// A call, the code and the message, and what one of its hints says.
type Mistake = (&'static str, &'static str, &'static str, &'static str);

const MISTAKES: &[Mistake] = &[
    ("chekpoint create x1", "USAGE", "there is no verb 'chekpoint'", "did you mean 'git axiom checkpoint create x1'?"),
    ("checkpoint creat x2", "USAGE", "'checkpoint' has no verb 'creat'", "did you mean 'git axiom checkpoint create x2'?"),
    ("checkpoint rm good", "USAGE", "'checkpoint' has no verb 'rm'", "did you mean 'git axiom checkpoint delete good'?"),
    ("checkpoint -m hello", "USAGE", "has no option '-m'", "git axiom checkpoint create NAME    saves"),
    ("checkpoint create my name", "USAGE", "'name' is more than", "git axiom checkpoint create my-name    a name is one word"),
    ("checkpoint list --all", "USAGE", "has no option '--all'", "git axiom checkpoint list    lists all"),
    ("tasks", "USAGE", "there is no verb 'tasks'", "did you mean 'git axiom task list'?"),
    ("task lst", "USAGE", "'task' has no verb 'lst'", "did you mean 'git axiom task list'?"),
    ("task add", "USAGE", "TITLE is missing after 'git axiom task add'", "git axiom task add -h"),
    ("task rm task-001", "USAGE", "'task' has no verb 'rm'", "did you mean 'git axiom task archive task-001'?"),
    ("task delete task-001", "USAGE", "'task' has no verb 'delete'", "did you mean 'git axiom task archive task-001'?"),
    ("task show 1", "UNKNOWN_TASK", "there is no task '1'", "did you mean 'task-001'?"),
    ("task show good", "UNKNOWN_TASK", "there is no task 'good'", "git axiom checkpoint show good    it is a checkpoint"),
    ("checkpoint show task-001", "UNKNOWN_CHECKPOINT", "there is no checkpoint", "git axiom task show task-001    it is a task"),
    ("rollback task 1", "UNKNOWN_TASK", "there is no task '1'", "did you mean 'task-001'?"),
    ("rollback task", "USAGE", "TASK is missing", "git axiom task list    lists the tasks"),
    ("rollback HEAD~1", "UNKNOWN_CHECKPOINT", "no checkpoint is called 'HEAD~1'", "git axiom checkpoint list    lists"),
    ("rollback sesion", "UNKNOWN_CHECKPOINT", "no checkpoint is called 'sesion'", "did you mean 'git axiom rollback session'?"),
    ("rollback –prompt 2", "USAGE", "'2' is more than", "'–prompt' begins with a dash of texts: did you mean '--prompt'?"),
    ("restore a.txt –y", "INVALID_INPUT", "'–y' is no checkpoint", "did you mean '-y'?"),
    ("checkpoint create –only", "INVALID_ID", "cannot be a checkpoint name", "did you mean '--only'?"),
    ("rollback checkpoint", "USAGE", "NAME is missing", "git axiom checkpoint list    lists the checkpoints"),
    ("rollback checkpoint nope", "UNKNOWN_CHECKPOINT", "there is no checkpoint 'nope'", "see 'git axiom checkpoint list'"),
    ("rollback --at 10:00 a.txt", "USAGE", "cannot be used with '[NAME]'", "git axiom rollback … -- FILE    files follow '--'"),
    ("rollback -2", "USAGE", "has no option '-2'", "git axiom rollback --prompt 2    goes back to before this prompt"),
    (
        "checkpoint before-lunch",
        "USAGE",
        "'checkpoint' has no verb 'before-lunch'",
        "git axiom checkpoint create before-lunch    saves",
    ),
    ("gate task-001", "USAGE", "'gate' has no verb 'task-001'", "git axiom gate show task-001"),
    ("roll back good", "USAGE", "there is no verb 'roll'", "did you mean 'git axiom rollback good'?"),
    ("undo --last", "USAGE", "has no option '--last'", "git axiom undo    undoes the last operation"),
    ("undo 1", "UNKNOWN_OPERATION", "there is no operation '1'", "see 'git axiom log'"),
    ("log --oneline", "USAGE", "has no option '--oneline'", "git axiom log -10    has a line for each operation"),
    ("status -s", "USAGE", "has no option '-s'", "git axiom status    is short"),
    ("stat", "USAGE", "there is no verb 'stat'", "did you mean 'git axiom status'?"),
    ("hooks show pre-merge", "INVALID_INPUT", "there is no sample 'pre-merge'", "git axiom trust --show"),
    ("diff", "USAGE", "TASK|AGENT|NUMBER is missing", "git axiom diff -h"),
    ("diff HEAD", "UNKNOWN_TASK", "there is no task 'HEAD'", "git diff HEAD    compares with a commit"),
    ("diff 7", "UNKNOWN_CHECKPOINT", "there is no prompt 7", "git axiom prompts    lists them"),
    ("stop", "USAGE", "no agent was named", "git axiom stop --all"),
    ("stop --now", "USAGE", "no agent was named", "git axiom stop --now --all"),
    ("prompts x", "USAGE", "NUMBER takes a number, and 'x' is none", "git axiom prompts -h"),
    ("stop agent-009", "UNKNOWN_AGENT", "there is no agent 'agent-009'", "see 'git axiom status'"),
    ("stop task-001", "UNKNOWN_AGENT", "there is no agent 'task-001'", "git axiom task show task-001    it is a task"),
    ("gates", "USAGE", "there is no verb 'gates'", "did you mean 'git axiom gate list'?"),
    ("gate approve", "USAGE", "GATE is missing", "git axiom gate list    lists what waits for you"),
    ("gate approve task-001", "UNKNOWN_GATE", "task 'task-001' waits at no gate of its own", "git axiom gate list"),
    ("gate approve all", "UNKNOWN_GATE", "there is no open gate 'all'", "git axiom gate approve --all"),
    ("approve task-001", "USAGE", "there is no verb 'approve'", "did you mean 'git axiom gate approve task-001'?"),
    ("merge", "USAGE", "TASK is missing", "git axiom task list    lists the tasks"),
    ("output agent-001", "UNKNOWN_TASK", "there is no agent and no task 'agent-001'", "see 'git axiom status'"),
    ("attach Claude", "USAGE", "'Claude' is not known", "did you mean 'claude'?"),
    ("attach claude-code", "USAGE", "'claude-code' is not known", "did you mean 'claude'?"),
    ("prompts 3", "UNKNOWN_CHECKPOINT", "there is no prompt 3", "git axiom prompts    lists them"),
    ("prompts show 1", "USAGE", "'prompts' has no verb 'show'", "did you mean 'git axiom prompts 1'?"),
    ("prompts list", "USAGE", "'prompts' has no verb 'list'", "did you mean 'git axiom prompts'?"),
    ("run --agents two", "USAGE", "--agents takes a number, and 'two' is none", "git axiom run -h"),
    ("run --agents 0", "INVALID_INPUT", "--agents cannot be 0", "leave it out"),
    ("run my-agent", "USAGE", "'my-agent' is more than", "git axiom run -- my-agent    runs this program"),
    ("config list", "USAGE", "'config' has no verb 'list'", "did you mean 'git axiom config show'?"),
    ("config get agents.count", "USAGE", "has no verb 'get'", "did you mean 'git axiom config show agents.count'?"),
    ("config set agents.count 3", "USAGE", "has no verb 'set'", "git config axiom.agents.count 3    sets it"),
    ("version", "USAGE", "there is no verb 'version'", "did you mean 'git axiom --version'?"),
    ("--verbose status", "USAGE", "has no option '--verbose'", "git axiom --version    prints the version"),
    ("lock a", "USAGE", "COMMAND is missing", "usage: git axiom lock"),
    ("hooks run merge", "INVALID_INPUT", "'merge' is not an event of hooks", "pre-merge"),
    ("purge", "USAGE", "PATH|ID is missing", "git axiom purge -h"),
    ("signal", "USAGE", "a verb is missing after 'git axiom signal'", "verbs of 'signal' are complete"),
    ("signal complete", "INVALID_INPUT", "this is not running below 'git axiom run'", "is for agents"),
    ("sessions foo", "USAGE", "'foo' is more than 'git axiom sessions' takes", "git axiom sessions -h"),
    ("learnings add x", "USAGE", "'learnings' has no verb 'add'", "did you mean 'git axiom learnings'?"),
    ("recover foo", "USAGE", "'recover' has no verb 'foo'", "git axiom recover inspect foo    if it is a task"),
    ("completions csh", "USAGE", "it is one of bash, elvish, fish", "git axiom completions -h"),
    ("resume", "NO_SUPERVISOR", "no supervisor runs", "git axiom run    begins a session"),
    ("quit", "NO_SUPERVISOR", "no session to quit", "git axiom status"),
    ("redo", "NOTHING_TO_UNDO", "no undo that can be taken back", "see 'git axiom log'"),
    ("help foo", "INVALID_INPUT", "there is no verb 'foo'", "git axiom help --all    lists all verbs"),
    ("foo", "USAGE", "there is no verb 'foo'", "git axiom help --all    lists all verbs"),
];

/// Far away from everything that there is: no name is suggested.
const FAR: &[&str] =
    &["foo", "help foo", "man nope", "zzzzzz", "task frobnicate", "task show nothing", "rollback nothing", "stop nobody"];

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.axiom(&["task", "add", "x"]);
    scratch.axiom(&["checkpoint", "create", "good"]);
    scratch
}

fn told(scratch: &Scratch, call: &str) -> String {
    let words: Vec<&str> = call.split(' ').collect();
    let output = scratch.axiom_with(&words, &[]);
    assert!(!output.status.success(), "{call}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn each_mistake_is_answered_with_what_is_wrong_and_what_to_do() {
    let scratch = scratch();
    let wrong = MISTAKES.iter().filter_map(|(call, code, message, hint)| {
        let told = told(&scratch, call);
        let is_good =
            told.lines().next().is_some_and(|line| line.starts_with(&format!("error[{code}]: ")) && line.contains(message))
                && told.lines().any(|line| line.starts_with("hint: ") && line.contains(hint));
        (!is_good).then(|| format!("{call}\n{told}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_far_away_is_suggested() {
    let scratch = scratch();
    for call in FAR {
        let told = told(&scratch, call);
        assert!(!told.contains("did you mean"), "{call}: {told}");
        assert!(told.contains("hint: "), "{call}: {told}");
    }
}

/// The calls in hints: what stands before the explanation, or in quotes. Those with a word in capitals are for a human to fill in.
fn calls(told: &str) -> Vec<String> {
    let mut found = Vec::new();
    for hint in told.lines().filter_map(|line| line.strip_prefix("hint: ")).filter(|hint| !hint.starts_with("usage: ")) {
        let whole = hint.split("    ").next().filter(|_| hint.starts_with("git ") && hint.contains("    ")).map(str::to_owned);
        let meant =
            hint.strip_prefix("did you mean 'git ").and_then(|rest| rest.strip_suffix("'?")).map(|rest| format!("git {rest}"));
        let quoted = hint.strip_prefix("see '").and_then(|rest| rest.split('\'').next()).map(str::to_owned);
        found.extend(whole.or(meant).or(quoted));
    }
    let is_whole = |call: &String| {
        !call.split(' ').any(|word| word.len() > 2 && word.chars().all(|c| c.is_ascii_uppercase()) && word != "HEAD")
    };
    found.retain(is_whole);
    found
}

/// None is refused as a command line: what a hint says can be typed.
#[test]
fn every_hint_can_be_run() {
    let mut ran = 0;
    for (call, ..) in MISTAKES {
        let scratch = scratch();
        // A session goes on until somebody ends it.
        for hint in calls(&told(&scratch, call)).into_iter().filter(|hint| hint != "git axiom run") {
            let mut shell = scratch.command("sh");
            let bin = std::path::Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap().to_owned();
            let path = std::env::var_os("PATH").unwrap_or_default();
            let paths = std::iter::once(bin).chain(std::env::split_paths(&path));
            shell.env("PATH", std::env::join_paths(paths).unwrap()).args(["-c", &hint]).stdin(std::process::Stdio::null());
            let output = shell.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!said.contains("error[USAGE]") && !said.contains("error[INVALID_ID]"), "'{call}' hints at '{hint}': {said}");
            assert!(!said.contains("not found") && !said.starts_with("usage: git"), "'{call}' hints at '{hint}': {said}");
            ran += 1;
        }
    }
    assert!(ran > MISTAKES.len(), "{ran} hints were found");
}

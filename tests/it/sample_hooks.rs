//! The samples in `hooks/`, run as git axiom runs hooks: with dash, in a real repository, with the variables of the event and
//! its JSON on standard input. What they call outside of this machine (`curl`, `notify-send`, `gitleaks`) is recorded by
//! programs of these names; all else is real.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{Run, TestEnv};

/// The samples, and an event of each.
const SAMPLES: [(&str, &str); 10] = [
    ("bell", "on-gate"),
    ("notify", "on-error"),
    ("webhook", "on-learning"),
    ("tests-before-merge", "pre-merge"),
    ("commit-messages", "pre-merge"),
    ("commit-hooks", "pre-merge"),
    ("push-checkpoints", "post-checkpoint"),
    ("json-lines", "post-merge"),
    ("pause-summary", "on-pause"),
    ("gitleaks", "pre-merge"),
];

/// All variables that a hook can get, besides `AXIOM_EVENT`.
const VARIABLES: [&str; 24] = [
    "AXIOM_GATE",
    "AXIOM_KIND",
    "AXIOM_COMMAND",
    "AXIOM_TASK_ID",
    "AXIOM_AGENT",
    "AXIOM_WORKTREE",
    "AXIOM_STATUS",
    "AXIOM_DURATION",
    "AXIOM_BRANCH",
    "AXIOM_TARGET",
    "AXIOM_MERGE_TREE",
    "AXIOM_COMMIT_HASH",
    "AXIOM_FILES",
    "AXIOM_LEVEL",
    "AXIOM_LEARNING_ID",
    "AXIOM_SCOPE",
    "AXIOM_CONTENT",
    "AXIOM_REASON",
    "AXIOM_RUNNING_TASKS",
    "AXIOM_ERROR_TYPE",
    "AXIOM_MESSAGE",
    "AXIOM_CHECKPOINT",
    "AXIOM_TRIGGER",
    "AXIOM_EVENT",
];

/// What every system has, as far as the samples need it.
const TOOLS: [&str; 16] =
    ["cat", "ln", "cut", "date", "dash", "git", "grep", "head", "iconv", "mkdir", "mktemp", "mv", "rm", "sed", "tr", "wc"];

/// Records how it was called: a word a line, standard input, and descriptor 3 where there is one.
const RECORDER: &str = r#"#!/bin/sh
[ "$1 $2" != "git --help" ] || exit "${OLD_GITLEAKS:-0}"
for word; do printf '<%s>\n' "$word"; done >> "$RECORD/$(basename "$0").words"
cat > "$RECORD/$(basename "$0").stdin"
{ cat <&3 > "$RECORD/$(basename "$0").fd3"; } 2>/dev/null
exit "${RECORDER_EXIT:-0}"
"#;

/// A repository with a branch `axiom/t` that is one commit ahead of `main`, which is one commit ahead of where both began.
struct Hooks {
    env: TestEnv,
    bin: PathBuf,
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks").join(format!("{name}.sh"))
}

impl Hooks {
    fn new() -> Self {
        let env = TestEnv::new();
        env.git(&["checkout", "-q", "-b", "axiom/t"]);
        env.write("of-the-task", "t");
        env.git(&["add", "-A"]);
        env.git(&["commit", "-q", "-m", "Add what the task asks for\n\nAnd say why."]);
        env.git(&["checkout", "-q", "main"]);
        env.write("of-the-target", "m");
        env.git(&["add", "-A"]);
        env.git(&["commit", "-q", "-m", "Something else"]);
        let bin = env.root().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        for tool in TOOLS {
            let mut found = std::env::split_paths(&path).map(|folder| folder.join(tool));
            symlink(found.find(|path| path.exists()).unwrap_or_else(|| panic!("{tool} is missing")), bin.join(tool)).unwrap();
        }
        symlink("dash", bin.join("sh")).unwrap();
        symlink(env!("CARGO_BIN_EXE_git-axiom"), bin.join("git-axiom")).unwrap();
        std::fs::create_dir(env.root().join("record")).unwrap();
        Self { env, bin }
    }

    /// Puts a recorder in the place of a program.
    fn record(&self, program: &str) {
        let path = self.bin.join(program);
        std::fs::write(&path, RECORDER.replace("basename", "/usr/bin/basename")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn recorded(&self, file: &str) -> String {
        std::fs::read_to_string(self.env.root().join("record").join(file)).unwrap_or_default()
    }

    fn set(&self, key: &str, value: &str) {
        self.env.git(&["config", key, value]);
    }

    /// The hook with the variables of its event.
    fn command(&self, name: &str, variables: &[(&str, &str)]) -> Command {
        let mut command = self.env.program(self.bin.join("dash"), &self.env.repo());
        command.arg(sample(name)).env("PATH", &self.bin).env("RECORD", self.env.root().join("record"));
        let event = SAMPLES.iter().find(|(sample, _)| *sample == name).unwrap().1;
        command.env("AXIOM_EVENT", event).envs(variables.iter().copied());
        command
    }

    fn run(&self, name: &str, variables: &[(&str, &str)], input: &str) -> Run {
        self.env.run(self.command(name, variables), Some(input.as_bytes()))
    }

    /// `pre-merge` of the task's branch.
    fn pre_merge(&self, name: &str, more: &[(&str, &str)]) -> Run {
        let tree = self.env.git(&["merge-tree", "--write-tree", "main", "axiom/t"]);
        let event =
            [("AXIOM_TASK_ID", "t"), ("AXIOM_BRANCH", "axiom/t"), ("AXIOM_TARGET", "main"), ("AXIOM_MERGE_TREE", tree.as_str())];
        self.run(name, &[&event[..], more].concat(), "{}")
    }
}

#[track_caller]
fn vetoes(run: &Run, reason: &str) {
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains(reason), "{reason}\n{run}");
}

#[track_caller]
fn says_and_goes_on(run: &Run, reason: &str) {
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains(reason), "{reason}\n{run}");
}

#[test]
fn every_sample_is_tested_and_says_what_it_is() {
    let folder = sample("notify").parent().unwrap().to_owned();
    let mut found: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".sh").map(str::to_owned))
        .collect();
    found.sort();
    let mut known = SAMPLES.map(|(name, _)| name.to_owned());
    known.sort();
    assert_eq!(found, known);
    let page = std::fs::read_to_string(folder.join("README.md")).unwrap();
    for (name, event) in SAMPLES {
        let text = std::fs::read_to_string(sample(name)).unwrap();
        assert!(text.starts_with(&format!("#!/bin/sh\n# {name}: ")), "{name}");
        for part in ["# Events:", "# Needs:", "# Settings:", "# Install:"] {
            assert!(text.contains(part), "{name} says nothing of {part}");
        }
        let events = text.lines().find(|line| line.starts_with("# Events:")).unwrap();
        assert!(events.contains(event) || events.contains("any"), "{name}: {events}");
        assert!(page.contains(&format!("| `{name}.sh` | ")), "README.md has no row for {name}");
        assert_ne!(std::fs::metadata(sample(name)).unwrap().mode() & 0o111, 0, "{name} is not executable");
    }
}

#[test]
fn a_notification_is_shown_without_markup_of_others() {
    let hooks = Hooks::new();
    let event = [("AXIOM_ERROR_TYPE", "DISK_FULL"), ("AXIOM_MESSAGE", "<b>no</b> & never\nagain"), ("AXIOM_TASK_ID", "t")];
    says_and_goes_on(&hooks.run("notify", &event, "{}"), "notify-send is not installed");
    hooks.record("notify-send");
    assert_eq!(hooks.run("notify", &event, "{}").code, Some(0));
    let words = hooks.recorded("notify-send.words");
    let wanted = "<--app-name=git axiom>\n<--urgency=critical>\n<-->\n<git axiom: DISK_FULL (t)>\n\
                  <&lt;b&gt;no&lt;/b&gt; &amp; never\nagain>\n";
    assert_eq!(words, wanted);
    let long = "ä".repeat(1000);
    assert_eq!(hooks.run("notify", &[("AXIOM_EVENT", "on-pause"), ("AXIOM_REASON", &long)], "{}").code, Some(0));
    let title = hooks.recorded("notify-send.words").replace(wanted, "");
    assert!(title.contains("<git axiom: Paused: ää") && title.len() < 400 && !title.contains('\u{fffd}'), "{title}");
}

#[test]
fn a_webhook_gets_the_json_and_its_url_is_in_no_list_of_processes() {
    let hooks = Hooks::new();
    let url = "https://example.org/hook?token=se\"cret\\&x[1-9]";
    hooks.set("axiomHook.webhookUrl", url);
    says_and_goes_on(&hooks.run("webhook", &[], "{}"), "curl is not installed");
    hooks.record("curl");
    let document = "{\"event\": \"on-learning\", \"content\": \"a\\nb\"}\n";
    assert_eq!(hooks.run("webhook", &[], document).code, Some(0));
    assert_eq!(hooks.recorded("curl.stdin"), document);
    assert_eq!(hooks.recorded("curl.fd3"), "url = \"https://example.org/hook?token=se\\\"cret\\\\&x[1-9]\"\n");
    assert!(!hooks.recorded("curl.words").contains("token"), "{}", hooks.recorded("curl.words"));
    hooks.env.git(&["config", "--unset", "axiomHook.webhookUrl"]);
    says_and_goes_on(&hooks.run("webhook", &[], document), "no URL");
}

/// The real `curl`, and a server on this machine.
#[test]
fn curl_understands_what_the_webhook_tells_it() {
    use std::io::{Read, Write};
    let hooks = Hooks::new();
    if !Path::new("/usr/bin/curl").exists() {
        return crate::skipped::skipped("there is no /usr/bin/curl");
    }
    symlink("/usr/bin/curl", hooks.bin.join("curl")).unwrap();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    hooks.set("axiomHook.webhookUrl", &format!("http://{}/hook?a=[1-2]", server.local_addr().unwrap()));
    let answering = std::thread::spawn(move || {
        let (mut client, _) = server.accept().unwrap();
        let (mut got, mut bytes) = (Vec::new(), [0; 4096]);
        while !got.ends_with(b"{\"a\": 1}") {
            let read = client.read(&mut bytes).unwrap();
            assert_ne!(read, 0, "{}", String::from_utf8_lossy(&got));
            got.extend_from_slice(&bytes[..read]);
        }
        client.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").unwrap();
        String::from_utf8(got).unwrap()
    });
    let run = hooks.run("webhook", &[], "{\"a\": 1}");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run}");
    let request = answering.join().unwrap();
    assert!(
        request.starts_with("POST /hook?a=[1-2] HTTP/1.1\r\n") && request.contains("Content-Type: application/json"),
        "{request}"
    );
}

#[test]
fn a_merge_waits_for_tests_on_its_result() {
    let hooks = Hooks::new();
    vetoes(&hooks.pre_merge("tests-before-merge", &[]), "no command to run");
    hooks.set("axiomHook.testCommand", "test -f of-the-task && test -f of-the-target && echo they pass");
    let run = hooks.pre_merge("tests-before-merge", &[]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "they pass\n"), "{run}");
    // The workspace has only its own side.
    hooks.set("axiomHook.testIn", "workspace");
    vetoes(&hooks.pre_merge("tests-before-merge", &[]), "failed in the workspace (status 1)");
    hooks.set("axiomHook.testIn", "merge");
    hooks.set("axiomHook.testCommand", "exit 7");
    vetoes(&hooks.pre_merge("tests-before-merge", &[]), "failed on the result of the merge (status 7)");
    for tree in ["", "-h", "HEAD", "main^{tree}", &"0".repeat(40)] {
        vetoes(&hooks.pre_merge("tests-before-merge", &[("AXIOM_MERGE_TREE", tree)]), "tree");
    }
    hooks.set("axiomHook.testIn", "elsewhere");
    vetoes(&hooks.pre_merge("tests-before-merge", &[]), "merge or workspace");
    let left: Vec<_> = std::fs::read_dir(hooks.env.root().join("tmp")).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(hooks.env.git(&["status", "--porcelain"]), "");
}

#[test]
fn messages_are_checked_of_what_the_merge_brings() {
    let hooks = Hooks::new();
    let checked = || hooks.pre_merge("commit-messages", &[]);
    assert_eq!(checked().code, Some(0), "{}", checked());
    hooks.env.git(&["checkout", "-q", "axiom/t"]);
    let commit = |message: &str| {
        drop(hooks.env.git(&["commit", "-q", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "-m", message]))
    };
    let last = || hooks.env.git(&["reset", "-q", "--hard", "HEAD^"]);
    // Seventy-two characters, of two bytes each.
    commit(&"ä".repeat(72));
    assert_eq!(checked().code, Some(0), "{}", checked());
    for (message, reason) in [
        ("a".repeat(73).as_str(), "more than 72 characters"),
        ("A subject\nand no empty line", "no empty line after its subject"),
        ("fixup! Add what the task asks for", "was meant to be squashed"),
        ("\n", "has no subject"),
    ] {
        commit(message);
        vetoes(&checked(), reason);
        last();
    }
    commit(&format!("WIP: {}\n\nAxiom-Task: t\n", "a long title ".repeat(20)));
    assert_eq!(checked().code, Some(0), "{}", checked());
    commit("Bell \u{7} and \u{1b}[2J");
    hooks.set("axiomHook.subjectPattern", "^(feat|fix): ");
    let run = checked();
    vetoes(&run, "does not match ^(feat|fix): ");
    assert!(!run.stderr.contains(['\u{7}', '\u{1b}']), "{run}");
    for branch in ["refs/heads/axiom/t", "axiom/t"] {
        vetoes(
            &hooks.pre_merge("commit-messages", &[("AXIOM_BRANCH", branch), ("AXIOM_TARGET", "refs/heads/main")]),
            "does not match",
        );
    }
    vetoes(&hooks.pre_merge("commit-messages", &[("AXIOM_BRANCH", "gone")]), "the branch of the task is not found");
    vetoes(&hooks.pre_merge("commit-messages", &[("AXIOM_TARGET", "--all")]), "the target branch is not found");
}

#[test]
fn checkpoints_are_pushed_whole_and_overwrite_nothing() {
    let hooks = Hooks::new();
    let backup = hooks.env.root().join("backup.git");
    hooks.env.git_in(hooks.env.root(), &["init", "-q", "--bare", "backup.git"]);
    hooks.env.write("untracked", "precious");
    hooks.env.ok(&["checkpoint", "create", "good"]);
    let event = [("AXIOM_CHECKPOINT", "good"), ("AXIOM_TRIGGER", "manual")];
    says_and_goes_on(&hooks.run("push-checkpoints", &event, "{}"), "no remote");
    hooks.set("axiomHook.backupRemote", "backup");
    vetoes(&hooks.run("push-checkpoints", &event, "{}"), "there is no remote of the name");
    hooks.env.git(&["remote", "add", "backup", backup.to_str().unwrap()]);
    hooks.set("axiomHook.backupTriggers", "session-start periodic");
    assert_eq!(hooks.run("push-checkpoints", &event, "{}").code, Some(0));
    assert_eq!(hooks.env.git_in(&backup, &["for-each-ref"]), "", "its trigger is not wanted");
    hooks.set("axiomHook.backupTriggers", "session-start manual");
    for _ in 0..2 {
        let run = hooks.run("push-checkpoints", &event, "{}");
        assert_eq!(run.code, Some(0), "{run}");
    }
    let refs = |folder: &Path| hooks.env.git_in(folder, &["for-each-ref", "refs/axiom/captures", "refs/tags"]);
    assert_eq!(refs(&backup), refs(&hooks.env.repo()));
    assert_eq!(hooks.env.git_in(&backup, &["show", "refs/axiom/captures/good:untracked"]), "precious");
    // Another one of this name, from elsewhere.
    let other = hooks.env.git_in(&backup, &["commit-tree", "-m", "another", "refs/axiom/captures/good^{tree}"]);
    hooks.env.git_in(&backup, &["update-ref", "refs/axiom/captures/good", &other]);
    let there = refs(&backup);
    assert_ne!(hooks.run("push-checkpoints", &event, "{}").code, Some(0));
    assert_eq!(refs(&backup), there);
}

#[test]
fn events_at_once_are_a_line_each() {
    let hooks = Hooks::new();
    // More than a pipe holds: written in parts, which mix without a lock.
    let long = "x".repeat(1_000_000);
    let run = |number: usize| {
        let mut command = hooks.command("json-lines", &[]);
        let document = format!("{{\"number\": {number},\n\"text\": \"{long}\"}}\n");
        let given = hooks.env.root().join(format!("event-{number}"));
        std::fs::write(&given, document).unwrap();
        command.stdin(std::fs::File::open(given).unwrap()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let all: Vec<_> = (0..8).map(run).collect();
    for child in all {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let file = hooks.env.repo().join(".git/axiom-hooks.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut numbers: Vec<u64> = text
        .lines()
        .map(|line| {
            let document: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(document["text"].as_str().unwrap().len(), long.len());
            document["number"].as_u64().unwrap()
        })
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..8).collect::<Vec<u64>>());
    assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    let other = hooks.env.root().join("-a file's name");
    hooks.set("axiomHook.jsonFile", other.to_str().unwrap());
    assert_eq!(hooks.run("json-lines", &[], "{}").code, Some(0));
    assert_eq!(std::fs::read_to_string(other).unwrap(), "{}\n");
    vetoes(&hooks.run("json-lines", &[], ""), "nothing came on standard input");
}

#[test]
fn a_pause_is_written_down() {
    let hooks = Hooks::new();
    hooks.env.ok(&["task", "add", "Say hello", "--id", "hello"]);
    let event = [("AXIOM_REASON", "lunch\u{1b}[2J"), ("AXIOM_RUNNING_TASKS", "hello\nother")];
    let run = hooks.run("pause-summary", &event, "{}");
    assert_eq!(run.code, Some(0), "{run}");
    let file = hooks.env.repo().join(".git/axiom-pause.txt");
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text, run.stdout);
    for part in ["Paused at 2", "    lunch[2J\n", "    hello\n    other\n", "Nothing waits for you.", "Something else"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let entries = std::fs::read_dir(hooks.env.repo().join(".git")).unwrap().flatten();
    let left = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("axiom-pause.txt."));
    assert_eq!(left.count(), 0);
}

#[test]
fn a_merge_with_secrets_is_vetoed_and_so_is_one_that_nobody_looked_at() {
    let hooks = Hooks::new();
    vetoes(&hooks.pre_merge("gitleaks", &[]), "gitleaks is not installed");
    hooks.record("gitleaks");
    assert_eq!(hooks.pre_merge("gitleaks", &[]).code, Some(0));
    let [target, branch] = ["main", "axiom/t"].map(|name| hooks.env.git(&["rev-parse", name]));
    let range = format!("<--log-opts={target}..{branch}>\n");
    assert_eq!(hooks.recorded("gitleaks.words"), format!("<git>\n<--no-banner>\n<--redact>\n{range}<.>\n"));
    vetoes(&hooks.pre_merge("gitleaks", &[("RECORDER_EXIT", "1")]), "there may be secrets");
    // The command of older versions, and the target's configuration.
    hooks.env.write(".gitleaks.toml", "title = 'x'\n");
    hooks.env.git(&["add", "-A"]);
    hooks.env.git(&["commit", "-q", "-m", "Configure gitleaks"]);
    assert_eq!(hooks.pre_merge("gitleaks", &[("OLD_GITLEAKS", "1")]).code, Some(0));
    let words = hooks.recorded("gitleaks.words");
    let last = &words[words.rfind("<detect>").unwrap()..];
    assert!(last.contains("<--config>\n") && last.ends_with("<--source>\n<.>\n"), "{last}");
    vetoes(&hooks.pre_merge("gitleaks", &[("AXIOM_BRANCH", "-x")]), "the branch of the task is not found");
    let left: Vec<_> = std::fs::read_dir(hooks.env.root().join("tmp")).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Everything below a folder, by name and size, but not what changes by itself.
fn everything(folder: &Path) -> Vec<(PathBuf, u64)> {
    let ours = ["record", "axiom-hooks.jsonl", "axiom-pause.txt", "index", "locks"];
    let all = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten().filter(|entry| entry.file_type().is_file());
    let kept = all.filter(|entry| !entry.path().iter().any(|part| ours.iter().any(|one| part == *one)));
    kept.map(|entry| (entry.path().to_owned(), entry.metadata().unwrap().len())).collect()
}

#[test]
fn hostile_values_are_only_texts() {
    let hooks = Hooks::new();
    ["notify-send", "curl", "gitleaks"].into_iter().for_each(|program| hooks.record(program));
    hooks.set("axiomHook.webhookUrl", "https://example.org/");
    hooks.set("axiomHook.testCommand", "true");
    hooks.set("axiomHook.backupRemote", "backup");
    hooks.env.git_in(hooks.env.root(), &["init", "-q", "--bare", "backup.git"]);
    hooks.env.git(&["remote", "add", "backup", hooks.env.root().join("backup.git").to_str().unwrap()]);
    // The first call makes folders.
    hooks.env.ok(&["checkpoint", "create", "first"]);
    let before = (everything(hooks.env.root()), hooks.env.git(&["for-each-ref"]));
    let long = "y".repeat(20_000);
    for value in [
        "a b  c",
        "-rf",
        "--help",
        "--exec=touch pwned",
        "' ; touch pwned ; '",
        "\" ; touch pwned ; \"",
        "$(touch pwned) `touch pwned` ${IFS}",
        "line\n; touch pwned\n-e second",
        "*",
        "../../../../etc/passwd",
        "refs/heads/main",
        "%s%n%999999d \\n \\0 \\",
        "<b>&amp;</b>",
        "\u{1b}[2J\u{7}",
        "ä\u{202e}",
        "",
        &long,
    ] {
        let variables = VARIABLES.map(|name| (name, value));
        for (name, event) in SAMPLES {
            for of_event in [event, value] {
                let mut command = hooks.command(name, &variables);
                command.env("AXIOM_EVENT", of_event);
                let run = hooks.env.run(command, Some(b"{\"a\": 1}"));
                assert!(matches!(run.code, Some(0 | 1)), "{name} {value:.60?}: {run}");
                assert!(
                    !run.stderr.contains("not found\n") || run.stderr.contains(" is not found\n"),
                    "{name} {value:.60?}: {run}"
                );
                assert!(!format!("{}{}", run.stdout, run.stderr).contains('\u{1b}'), "{name} {value:.60?}: {run}");
            }
        }
        assert!((everything(hooks.env.root()), hooks.env.git(&["for-each-ref"])) == before, "{value:.60?} changed something");
    }
    assert_eq!(hooks.env.git_in(&hooks.env.root().join("backup.git"), &["for-each-ref"]), "");
}

/// A pre-commit hook of husky: git calls the file in `.husky/_`, which calls the one beside that folder.
fn with_husky(hooks: &Hooks, script: &str) {
    let env = &hooks.env;
    env.write(".husky/_/pre-commit", "#!/bin/sh\ns=$(cd \"${0%/*}/..\" && pwd)\nexec sh -e \"$s/pre-commit\" \"$@\"\n");
    env.write(".husky/_/.gitignore", "*\n");
    env.write(".husky/pre-commit", script);
    let stub = env.repo().join(".husky/_/pre-commit");
    std::fs::set_permissions(stub, std::fs::Permissions::from_mode(0o755)).unwrap();
    env.git(&["add", ".husky"]);
    env.git(&["commit", "-q", "-m", "Check commits"]);
    env.git(&["config", "core.hooksPath", ".husky/_"]);
}

#[test]
fn commit_hooks_see_the_whole_change_staged_over_its_base_and_an_agent_cannot_edit_them() {
    let hooks = Hooks::new();
    let env = &hooks.env;
    let event = [("AXIOM_TASK_ID", "t"), ("AXIOM_BRANCH", "axiom/t"), ("AXIOM_TARGET", "main")];
    let ask = || hooks.run("commit-hooks", &event, "{}");
    assert_eq!(ask().code, Some(0), "there is none");
    let seen = env.root().join("seen");
    let script = format!(
        "{{ pwd; git rev-parse HEAD; git symbolic-ref HEAD; git diff --cached --name-only; git status --porcelain; }} > '{}'\n\
         ! git grep --cached -q FORBIDDEN -- second\n",
        seen.display()
    );
    with_husky(&hooks, &script);
    let base = env.git(&["merge-base", "main", "axiom/t"]);
    env.git(&["switch", "-q", "axiom/t"]);
    env.write("second", "s");
    env.write(".husky/pre-commit", "exit 0\n");
    env.git(&["add", "-f", "second", ".husky/pre-commit"]);
    env.git(&["commit", "-q", "--no-verify", "-m", "WIP"]);
    env.git(&["switch", "-q", "-f", "main"]);
    let before = env.git(&["for-each-ref"]);
    let ran = ask();
    assert_eq!(ran.code, Some(0), "{ran}");
    let told = std::fs::read_to_string(&seen).unwrap();
    let lines: Vec<&str> = told.lines().collect();
    assert!(!lines[0].starts_with(env.repo().to_str().unwrap()), "{told}");
    assert_eq!(lines[1..3], [base.as_str(), "refs/heads/axiom/t"], "{told}");
    assert_eq!(lines[3..6], [".husky/pre-commit", "of-the-task", "second"], "the hook is the target's: {told}");
    assert!(!Path::new(lines[0]).exists(), "nothing is left of it");
    assert_eq!(env.git(&["for-each-ref"]), before);
    assert_eq!(env.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    env.git(&["switch", "-q", "axiom/t"]);
    env.write("second", "FORBIDDEN");
    env.git(&["commit", "-q", "--no-verify", "-am", "WIP"]);
    env.git(&["switch", "-q", "-f", "main"]);
    vetoes(&ask(), "rejects it");
}

#[test]
fn one_line_runs_the_commit_hooks_before_each_merge_and_without_it_their_absence_is_said() {
    let env = TestEnv::new();
    let hook = env.repo().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\n! git grep --cached -q FORBIDDEN\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let says = |text: &str| assert!(text.contains("the commit hooks (pre-commit) do not run"), "{text}");
    says(&env.axiom(&["init"]).stderr);
    says(&env.axiom(&["trust"]).stderr);
    env.ok(&["task", "add", "good", "--id", "good", "--body", "echo fine > fine.txt"]);
    env.axiom(&["run", "--mode", "review", "--until-idle"]);
    says(&env.json(&["gate", "list"]).to_string());
    env.ok(&["gate", "approve", "--all"]);
    env.git(&["config", "--add", "axiom.merge.verify", "commit-hooks=git axiom hooks show commit-hooks | sh"]);
    assert!(!env.axiom(&["init"]).stderr.contains("do not run"));
    env.ok(&["task", "add", "bad", "--id", "bad", "--body", "echo FORBIDDEN > bad.txt"]);
    env.axiom(&["run", "--mode", "autopilot", "--until-idle"]);
    let on_main = env.git(&["ls-tree", "--name-only", "main"]);
    assert!(on_main.contains("fine.txt") && !on_main.contains("bad.txt"), "{on_main}");
    let gates = env.json(&["gate", "list"]).to_string();
    assert!(gates.contains("commit-hooks") && gates.contains("bad"), "{gates}");
}

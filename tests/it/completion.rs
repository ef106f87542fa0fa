//! Completion in bash, by a real bash that has sourced the script: with git's own completion, where the machine has it, and
//! without.

use std::path::Path;

use crate::support::Scratch;

/// Where git's own completion usually is.
const OF_GIT: &[&str] = &[
    "/usr/share/bash-completion/completions/git",
    "/usr/share/git/completion/git-completion.bash",
    "/usr/share/git-core/contrib/completion/git-completion.bash",
    "/usr/local/etc/bash_completion.d/git-completion.bash",
];

/// What bash is offered at the end of `line`, in `folder`, once it has sourced `before` and our script.
fn offered_in(scratch: &Scratch, folder: &Path, before: &str, line: &str) -> Vec<String> {
    // As bash cuts it.
    let cut = line.replace('=', " = ");
    let words: Vec<String> = cut.split(' ').map(|word| format!("'{word}'")).collect();
    let program = words[0].trim_matches('\'');
    let script = format!(
        "{before}\n. <(git-axiom completions bash)\n\
         COMP_LINE='{line}' COMP_POINT={} COMP_TYPE=9 COMP_KEY=9 COMP_WORDS=({}) COMP_CWORD={}\n\
         called=$(complete -p {program} | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n\
         $called {program} {} {}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        line.len(),
        words.join(" "),
        words.len() - 1,
        words[words.len() - 1],
        words[words.len() - 2],
    );
    let ours = Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap();
    let mut bash = scratch.command("bash");
    bash.args(["--norc", "--noprofile", "-c", &script]).current_dir(folder);
    bash.env("PATH", format!("{}:{}", ours.display(), std::env::var("PATH").unwrap()));
    let output = bash.output().unwrap();
    assert!(output.stderr.is_empty(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn offered(scratch: &Scratch, before: &str, line: &str) -> Vec<String> {
    offered_in(scratch, &scratch.path(), before, line)
}

/// Ids are offered where they are known at once; a machine that is busy may need several looks.
fn ids_offered(scratch: &Scratch, before: &str, line: &str) -> Vec<String> {
    (0..20).map(|_| offered(scratch, before, line)).find(|found| !found.is_empty()).unwrap_or_default()
}

#[test]
fn bash_completes_verbs_options_and_ids() {
    let scratch = Scratch::new();
    for id in ["t1", "t10", "t2", "other"] {
        scratch.axiom(&["task", "add", "x", "--id", id]);
    }
    scratch.axiom(&["checkpoint", "create", "before-lunch"]);
    let of_git = OF_GIT.iter().find(|path| Path::new(path).exists());
    // Without git's, ours is called for git too.
    for before in of_git.map(|path| format!(". {path}")).into_iter().chain([String::new()]) {
        let words = |line: &str| offered(&scratch, &before, line);
        assert_eq!(words("git axiom chec"), ["checkpoint"], "{before}");
        assert_eq!(words("git-axiom recov"), ["recover"]);
        assert_eq!(words("git axiom checkpoint d"), ["diff", "delete"]);
        assert_eq!(words("git axiom rollback task --ca"), ["--cascade"]);
        assert_eq!(words("git axiom run --mode auto"), ["autopilot"]);
        assert_eq!(words("git axiom task list --status=pen"), ["pending"], "{before}");
        assert_eq!(words("git-axiom run --mode="), ["semi-auto", "review", "autopilot"], "{before}");
        assert_eq!(words("git axiom config show checkpoints.maxC"), ["checkpoints.maxCount"], "{before}");
        let ids = |line: &str| ids_offered(&scratch, &before, line);
        assert_eq!(ids("git axiom task show t"), ["t1", "t2", "t10"], "{before}");
        assert_eq!(ids("git axiom task block t1 ot"), ["other"]);
        assert_eq!(ids("git axiom rollback checkpoint bef"), ["before-lunch"]);
        assert_eq!(ids("git-axiom merge t10"), ["t10"]);
        assert_eq!(ids("git axiom undo t").len(), 4);
        assert_eq!(ids("git axiom help chec"), ["checkpoint"]);
        assert_eq!(ids("git axiom agents check c"), ["claude", "claude-acp", "codex", "codex-acp"]);
        // Where another folder is meant.
        let elsewhere =
            || offered_in(&scratch, Path::new("/"), &before, &format!("git -C {} axiom task show t1", scratch.path().display()));
        if !before.is_empty() {
            let found = (0..20).map(|_| elsewhere()).find(|found| !found.is_empty());
            assert_eq!(found.unwrap_or_default(), ["t1", "t10"]);
        }
        assert_eq!(words("git-axiom -C nowhere chec"), ["checkpoint"]);
        assert_eq!(words("git-axiom -C nowhere task show t"), [""; 0]);
        // What git completes is git's, and other verbs are left alone.
        assert!(words("git axiom nonsense").is_empty());
        assert_eq!(offered_in(&scratch, Path::new("/"), &before, "git axiom task show t"), [""; 0]);
        assert_eq!(offered_in(&scratch, Path::new("/"), &before, "git axiom chec"), ["checkpoint"]);
    }
}

/// What waits and who works is offered, and named where it was mistyped.
#[test]
fn agents_and_gates_are_offered_and_understood() {
    let scratch = Scratch::new();
    scratch.open_task("t1");
    let gate = git_axiom::model::work::gates::gate::Gate {
        id: git_axiom::model::base::ids::GateId::new("claim-login").unwrap(),
        kind: git_axiom::model::work::gates::gate::GateKind::Claim,
        task_id: None,
        reason: "it waits".into(),
        target: None,
        details: Vec::new(),
        more: 0,
        conflict_of: None,
        undone_at: None,
        guarded: None,
        cause: None,
        used: Vec::new(),
        opened_at: jiff::Timestamp::UNIX_EPOCH,
        decision: None,
        held: None,
        sent: None,
        always: None,
    };
    scratch.append(vec![git_axiom::model::state::event::Event::GateOpened { gate: Box::new(gate) }]);
    assert_eq!(ids_offered(&scratch, "", "git axiom kill e"), ["ed-001"]);
    assert_eq!(ids_offered(&scratch, "", "git axiom output t"), ["t1"]);
    assert_eq!(ids_offered(&scratch, "", "git axiom gate approve c"), ["claim-login"]);
    for (args, meant) in [(&["kill", "ed-01"][..], "ed-001"), (&["gate", "approve", "clam-login"], "claim-login")] {
        let said = String::from_utf8(scratch.axiom_with(args, &[]).stderr).unwrap();
        assert!(said.contains(&format!("did you mean '{meant}'?")), "{args:?}: {said}");
    }
}

/// It only looks: a lock that somebody holds is not waited for, and where nothing can be read verbs are offered all the same.
#[test]
fn completion_takes_no_lock_and_falls_back_to_the_grammar() {
    let scratch = Scratch::new();
    scratch.axiom(&["task", "add", "x", "--id", "t1"]);
    let locks: Vec<std::fs::File> = ["state", "change", "supervisor"]
        .iter()
        .map(|name| std::fs::File::create(scratch.path().join(".git/axiom/locks").join(name)).unwrap())
        .inspect(|file| rustix::fs::flock(file, rustix::fs::FlockOperation::LockExclusive).unwrap())
        .collect();
    assert_eq!(ids_offered(&scratch, "", "git axiom task show t"), ["t1"]);
    drop(locks);
    std::fs::write(scratch.path().join(".git/axiom/state/events.jsonl"), "damaged\n").unwrap();
    std::fs::remove_file(scratch.path().join(".git/axiom/state/snapshot.json")).unwrap_or_default();
    assert_eq!(offered(&scratch, "", "git axiom task show t"), [""; 0]);
    assert_eq!(offered(&scratch, "", "git axiom task sh"), ["show"]);
}

/// A shell that completes git by something of its own keeps it: whoever loads completions when they are needed does.
#[test]
fn a_completion_of_git_that_is_there_or_will_be_is_left_alone() {
    let scratch = Scratch::new();
    let bash = |script: &str| {
        let ours = Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap();
        let mut bash = scratch.command("bash");
        bash.args(["--norc", "--noprofile", "-c", script]);
        bash.env("PATH", format!("{}:{}", ours.display(), std::env::var("PATH").unwrap()));
        String::from_utf8(bash.output().unwrap().stdout).unwrap()
    };
    let source = ". <(git-axiom completions bash); complete -p git 2>/dev/null";
    assert!(bash(source).contains("_git_axiom_below_git"));
    assert_eq!(bash(&format!("f() {{ :; }}; complete -F f git; {source}")), "complete -F f git\n");
    assert_eq!(bash(&format!("f() {{ :; }}; complete -D -F f; {source}")), "");
}

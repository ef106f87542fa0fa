//! `git axiom recover` where the stored state is damaged: the codes, and the question at a terminal with its choices.

use std::path::PathBuf;

use git_axiom::base::error::Code;
use git_axiom::model::base::sealed;
use git_axiom::store::layout::StoreLayout;
use git_axiom::store::log_files::backup;
use git_axiom::store::states::handle::Store;

use crate::common::TestEnv;
use crate::support::contents;
use crate::terminal::Terminal;

const QUESTION: &str = "Start again from (Escape changes nothing)";

fn layout(env: &TestEnv) -> StoreLayout {
    StoreLayout::new(&env.repo().join(".git"))
}

fn log(env: &TestEnv) -> String {
    env.read(".git/axiom/state/events.jsonl")
}

fn task(env: &TestEnv, id: &str) {
    env.ok(&["task", "add", id, "--id", id]);
}

fn tasks(env: &TestEnv) -> String {
    let all = env.json(&["task", "list"]);
    all["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect()
}

/// A line of the log with another event, and the checksum of that.
fn with_event(line: &str, change: impl Fn(&str) -> String) -> String {
    let body = &line[..line.rfind(",\"sum\"").unwrap()];
    String::from_utf8(sealed::seal(format!("{}}}", change(body)).into_bytes(), &[])).unwrap()
}

#[test]
fn event_schema_invalid_is_an_intact_line_that_is_not_known_or_does_not_fit() {
    let changes: [fn(&str) -> String; 2] = [
        |body| body.replace("\"tasksAdded\"", "\"fromElsewhere\""),
        // The same once more, under the next number: there is such a task already.
        |body| body.replace("\"seq\":3", "\"seq\":4"),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let env = TestEnv::new();
        for id in ["a", "b", "c"] {
            task(&env, id);
        }
        let good = log(&env);
        let last = good.lines().last().unwrap();
        let changed = with_event(last, change);
        assert_ne!(changed.trim_end(), last, "{number}: the test changes nothing");
        let whole = if number == 0 { good.replace(&format!("{last}\n"), &changed) } else { format!("{good}{changed}") };
        std::fs::remove_file(env.axiom_dir().join("state/snapshot.json")).unwrap_or_default();
        env.write(".git/axiom/state/events.jsonl", &whole);
        for verb in [&["status"][..], &["task", "add", "d"], &["checkpoint", "create", "k"], &["run", "--until-idle"]] {
            let refused = env.axiom(verb).fails_with(Code::EventSchemaInvalid);
            assert!(refused.stderr.contains("git axiom recover"), "{refused}");
        }
        let look = env.axiom(&["recover"]).fails_with(Code::EventSchemaInvalid);
        assert!(look.stdout.contains("(EVENT_SCHEMA_INVALID)") && look.stdout.contains("\n[P] partial: "), "{look}");
        assert_eq!(log(&env), whole, "looking changes nothing");
        env.ok(&["recover", "--from", "partial", "--yes"]);
        assert_eq!(tasks(&env), ["ab", "abc"][number]);
        task(&env, "z");
    }
}

#[test]
fn a_log_from_before_the_first_release_is_left_as_it_is_and_its_tasks_come_along() {
    let env = TestEnv::new();
    for id in ["a", "b", "c"] {
        task(&env, id);
    }
    Store::load(layout(&env)).unwrap().save_snapshot().unwrap();
    let old = |line: &str| with_event(line, |body| body.replace("\"axiom\":1", "\"v\":6"));
    let whole: String = log(&env).lines().map(old).collect();
    env.write(".git/axiom/state/events.jsonl", &whole);
    let before = state(&env);
    for verb in [&["status"][..], &["task", "add", "d"], &["checkpoint", "create", "k"], &["run", "--until-idle"], &["recover"]] {
        let refused = env.axiom(verb).fails_with(Code::EventLogTooOld);
        assert!(refused.stderr.contains("from before the first release"), "{refused}");
        assert!(refused.stderr.contains("git axiom recover --from cases --yes"), "{refused}");
    }
    assert_eq!(state(&env), before, "the old log is not touched");
    env.ok(&["recover", "--from", "cases", "--yes"]);
    assert_eq!(tasks(&env), "abc");
    task(&env, "z");
    let kept = contents(&env.axiom_dir().join("state/damaged"));
    assert!(kept.iter().any(|(_, bytes)| bytes == whole.as_bytes()), "the old log is kept");
    assert_eq!(env.ok(&["recover"]), "Nothing has to be recovered.");
}

/// A log that is damaged in the line of `e`, and each source knows something else: the snapshot `a`, the checkpoint `ab`, the backup
/// `abc`, the events before the damage `abcd`, the file of tasks `abcdef`.
fn damaged() -> TestEnv {
    let env = TestEnv::new();
    task(&env, "a");
    Store::load(layout(&env)).unwrap().save_snapshot().unwrap();
    task(&env, "b");
    env.ok(&["checkpoint", "create", "c1"]);
    task(&env, "c");
    backup::roll(&layout(&env), 3).unwrap();
    for id in ["d", "e", "f"] {
        task(&env, id);
    }
    let good = log(&env);
    let line = good.lines().find(|line| line.contains("\"id\":\"e\"")).unwrap();
    env.write(".git/axiom/state/events.jsonl", good.replace(line, &line.replace("\"id\":\"e\"", "\"id\":\"x\"")));
    env
}

fn state(env: &TestEnv) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = contents(&env.axiom_dir().join("state"));
    all.sort();
    all
}

fn at_terminal(env: &TestEnv, args: &[&str]) -> Terminal {
    Terminal::start(env.axiom_command(&env.repo(), args))
}

#[test]
fn each_choice_of_recover_at_a_terminal_starts_again_from_what_it_names() {
    let choices = [
        ('S', "snapshot", "a"),
        ('P', "partial", "abcd"),
        ('B', "backup", "abc"),
        ('C', "cases", "abcdef"),
        ('G', "checkpoint", "ab"),
        ('F', "fresh", "abcdef"),
    ];
    for (key, source, left) in choices {
        let env = damaged();
        let mut question = at_terminal(&env, &["recover"]);
        let seen = question.wait_for(QUESTION);
        assert!(seen.contains("(EVENT_LOG_CORRUPTED)") && seen.contains("It can start again from:"), "{seen}");
        for (other, name, _) in choices {
            assert!(seen.contains(&format!("[{other}] {name}")), "[{other}] {name}\n{seen}");
        }
        question.keys(&[&key.to_ascii_lowercase().to_string()]);
        question.wait_for(&format!("> [{key}] {source}"));
        question.keys(&["\r"]);
        let (status, seen) = question.end();
        assert!(status.success(), "[{key}]: {seen}");
        assert!(seen.contains(&format!("The state was started again from {source}")), "[{key}]: {seen}");
        assert!(seen.contains("The damaged files are kept in"), "[{key}]: {seen}");
        assert_eq!(tasks(&env), left, "[{key}]");
        assert_eq!(env.json(&["recover"])["needed"], false, "[{key}]");
        env.ok(&["rollback", "checkpoint", "c1", "--yes"]);
    }
}

#[test]
fn whatever_is_no_choice_of_recover_changes_nothing() {
    let env = damaged();
    let before = state(&env);
    for (keys, code) in [("\x1b", 3), ("q", 3), ("\x04", 3), ("\x03", 130)] {
        let mut question = at_terminal(&env, &["recover"]);
        question.wait_for(QUESTION);
        question.keys(&["f", keys]);
        let (status, seen) = question.end();
        assert_eq!(status.code(), Some(code), "{keys:?}: {seen}");
        assert!(state(&env) == before, "{keys:?}: {seen}");
    }
    // A terminal at which nothing may be asked is none.
    let (status, seen) = at_terminal(&env, &["--non-interactive", "recover"]).end();
    assert!(status.code() == Some(6) && seen.contains("error[EVENT_LOG_CORRUPTED]"), "{seen}");
    let look = env.axiom(&["recover"]).fails_with(Code::EventLogCorrupted);
    for choice in
        ["[S] snapshot: 1 task,", "[P] partial: 4 tasks,", "[B] backup: 3 tasks,", "[C] cases: 6 tasks\n", "[F] fresh: "]
    {
        assert!(look.stdout.contains(choice), "{choice}\n{look}");
    }
    assert!(look.stderr.contains("hint: git axiom recover --from SOURCE --yes"), "{look}");
    env.axiom(&["recover", "--from", "cases"]).fails_with(Code::NeedsConfirmation);
    assert!(state(&env) == before);
}

/// Each way of recovery is cut off: the state is damaged beyond what anything but a fresh start needs.
fn beyond_recovery() -> TestEnv {
    let env = damaged();
    for (path, _) in state(&env) {
        env.write(&format!(".git/axiom/state/{}", path.display()), "garbage\n");
    }
    env.write(".git/axiom/cases.jsonl", "garbage\n");
    // The checkpoint's ref no longer names one.
    env.git(&["update-ref", "refs/axiom/captures/c1", "HEAD"]);
    env
}

#[test]
fn recovery_failed_is_said_where_only_a_fresh_start_is_left_and_that_always_works() {
    let env = beyond_recovery();
    let before = state(&env);
    let look = env.axiom(&["recover"]).fails_with(Code::RecoveryFailed);
    assert!(look.stdout.contains("Nothing of it can be recovered (RECOVERY_FAILED)."), "{look}");
    assert!(look.stderr.contains("hint: git axiom recover --from fresh --yes"), "{look}");
    assert_eq!(env.axiom(&["recover", "--json"]).code, Some(6));
    for source in ["snapshot", "partial", "backup", "cases", "checkpoint"] {
        let refused = env.axiom(&["recover", "--from", source, "--yes"]);
        // What could be read of the events was nothing; that is no state to begin with either.
        let refused = refused.fails_with(Code::RecoveryFailed);
        assert!(refused.stderr.contains("hint: git axiom recover --from fresh --yes"), "{refused}");
    }
    assert!(state(&env) == before, "nothing was changed");
    let mut question = at_terminal(&env, &["recover"]);
    let seen = question.wait_for(QUESTION);
    assert!(seen.contains("(RECOVERY_FAILED)"), "{seen}");
    question.wait_for("> [F] fresh");
    question.keys(&["\r"]);
    let (status, seen) = question.end();
    assert!(status.success() && seen.contains("The state was started again from fresh with 0 tasks."), "{seen}");
    env.git(&["update-ref", "-d", "refs/axiom/captures/c1"]);
    assert_eq!(env.json(&["recover"])["needed"], false);
    task(&env, "z");
    env.ok(&["checkpoint", "create", "c2"]);
    assert_eq!(tasks(&env), "z");
    // Not where nothing is damaged: then there is nothing to recover from, and nothing to recover.
    let new = TestEnv::new();
    new.ok(&["status"]);
    new.axiom(&["recover", "--from", "cases", "--yes"]).fails_with(Code::InvalidInput);
}

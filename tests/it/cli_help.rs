//! What somebody who does not know git axiom yet types first: nothing, `help`, a verb with a slip of the keys.

use crate::common::TestEnv;
use git_axiom::base::error::Code;
use git_axiom::ui::commands::grammar::overview::{all_verbs, overview_text};

#[test]
fn git_axiom_alone_says_what_there_is() {
    let env = TestEnv::empty();
    let run = env.axiom_in(env.root(), &[]);
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(2), overview_text().as_str(), ""));
}

#[test]
fn help_explains_every_verb_as_its_own_option_does_and_needs_no_repository() {
    let env = TestEnv::empty();
    for verb in git_axiom::ui::commands::grammar::man_pages::verbs().iter().chain([&String::new()]) {
        let words: Vec<&str> = verb.split_whitespace().collect();
        let help = env.axiom_in(env.root(), &[&["help"], words.as_slice()].concat()).success();
        let own = env.axiom_in(env.root(), &[words.as_slice(), &["-h"]].concat()).success();
        assert_eq!(help.stdout, own.stdout, "{verb}");
        let long = env.axiom_in(env.root(), &[words.as_slice(), &["--help"]].concat()).success();
        assert_eq!(long.stdout, own.stdout, "{verb}");
    }
    let map = env.axiom_in(env.root(), &["--json", "-h"]).success();
    assert_eq!(map.stdout, overview_text());
    let all = env.axiom_in(env.root(), &["help", "--all"]).success();
    assert_eq!(all.stdout, all_verbs());
}

#[test]
fn a_verb_that_does_not_exist_is_answered_with_the_one_that_was_meant() {
    let env = TestEnv::empty();
    for (words, meant) in [
        (&["help", "chekpoint"][..], "help checkpoint"),
        (&["man", "task", "ad"], "help task add"),
        (&["chekpoint"], "checkpoint"),
        (&["task", "ad", "x y"], "task add 'x y'"),
    ] {
        let run = env.axiom_in(env.root(), words);
        assert!(run.code == Some(2) && run.stderr.contains(&format!("did you mean 'git axiom {meant}'?")), "{run}");
    }
    env.axiom_in(env.root(), &["help", "zzzzzz"]).fails_with(Code::InvalidInput);
}

#[test]
fn an_id_that_does_not_exist_is_answered_with_the_one_that_was_meant() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "x", "--id", "login-form"]);
    env.ok(&["checkpoint", "create", "before-lunch"]);
    for (args, meant) in [
        (&["task", "show", "loginform"][..], "login-form"),
        (&["merge", "Login-form"], "login-form"),
        (&["rollback", "task", "login-from"], "login-form"),
        (&["output", "login_form"], "login-form"),
        (&["checkpoint", "show", "befor-lunch"], "before-lunch"),
        (&["restore", "before-lnuch", "--", "README"], "before-lunch"),
    ] {
        let run = env.axiom(args);
        assert!(run.stderr.contains(&format!("hint: did you mean '{meant}'?")), "{args:?}: {run}");
    }
    // Another number is another task, not a slip.
    env.ok(&["task", "add", "x", "--id", "t1"]);
    let run = env.axiom(&["task", "show", "t2"]);
    assert!(run.stderr.contains("hint: see 'git axiom task list'"), "{run}");
}

/// Lines that were wrapped by hand are not wrapped once more for who asks for a width.
#[test]
fn help_in_a_pipe_is_wrapped_once_for_the_columns_that_are_asked_for() {
    let env = TestEnv::empty();
    let mut command = env.axiom_command(env.root(), ["output", "-h"]);
    let narrow = env
        .run(
            {
                command.env("COLUMNS", "80");
                command
            },
            None,
        )
        .success()
        .stdout;
    assert!(narrow.lines().all(|line| line.len() <= 80), "{narrow}");
    let prose = narrow.split("Prints what the agent printed").nth(1).unwrap();
    let first: Vec<&str> = prose.lines().take(4).collect();
    assert!(first[1..].iter().all(|line| line.len() > 50), "{narrow}");
}

//! Colours and pager go by git's settings, and never where a program reads.

use super::{NOW, on_terminal, repository, uncolored};
use crate::support::Scratch;
use crate::terminal::Terminal;

const RED: &str = "\x1b[1;31m";

fn scene() -> Scratch {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    for number in 0..40 {
        scratch.axiom(&["task", "add", "one of many", "--id", &format!("task-{number}")]);
    }
    scratch.axiom(&["task", "block", "task-1", "--reason", "why not"]);
    scratch
}

#[test]
fn colours_go_by_gits_settings() {
    let scratch = scene();
    let list = |vars: &[(&str, &str)]| on_terminal(&scratch, "task list", 80, vars);
    assert!(list(&[]).contains(&format!("{RED}blocked\x1b[m")), "{:?}", list(&[]));
    for (key, value) in [("color.ui", "false"), ("color.ui", "never"), ("color.axiom", "false")] {
        scratch.git(&["config", key, value]);
        assert!(!list(&[]).contains('\x1b'), "{key} = {value}");
        let help = on_terminal(&scratch, "task -h", 80, &[]);
        assert!(help.contains("Usage:") && !help.contains('\x1b'), "{key} = {value}: {help:?}");
        scratch.git(&["config", "--unset", key]);
    }
    scratch.git(&["config", "color.axiom.failed", "bold 208 ul"]);
    let wanted = scratch.git(&["config", "--get-color", "color.axiom.failed"]);
    assert!(list(&[]).contains(&format!("{wanted}blocked\x1b[m")), "{:?}", list(&[]));
    scratch.git(&["config", "color.axiom.failed", "no colour at all"]);
    assert!(list(&[]).contains(&format!("{RED}blocked")), "what git does not know changes nothing");
    let by_call = [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "color.ui"), ("GIT_CONFIG_VALUE_0", "never")];
    for none in [&[("NO_COLOR", "1")][..], &[("CLAUDECODE", "1")], &by_call] {
        assert!(!list(none).contains('\x1b'), "{none:?}");
    }
    let mut dumb = scratch.command("sh");
    dumb.args(["-c", "GIT_PAGER=cat TERM=dumb exec \"$0\" task list", env!("CARGO_BIN_EXE_git-axiom")]);
    assert!(!Terminal::start(dumb).end().1.contains('\x1b'), "a dumb terminal shows no colours");
}

#[test]
fn no_program_reads_colours() {
    let scratch = scene();
    scratch.git(&["config", "color.ui", "always"]);
    for args in [&["task", "list"][..], &["task", "list", "--json"], &["diff", "task-1"], &["task", "show", "nothing"]] {
        let output = scratch.axiom_with(args, &[("TERM", "xterm")]);
        let all = [output.stdout, output.stderr].concat();
        assert!(!all.contains(&0x1b), "{args:?}: {}", String::from_utf8_lossy(&all));
    }
    let json = on_terminal(&scratch, "task list --json", 80, &[]);
    assert!(json.starts_with('{') && !json.contains('\x1b'), "{json:?}");
}

#[test]
fn what_does_not_fit_goes_to_the_pager_that_git_names() {
    let scratch = scene();
    let marked = |call: &str, vars: &[(&str, &str)]| {
        let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
        command.args(call.split_whitespace()).env("AXIOM_TEST_NOW", NOW).envs(vars.iter().copied());
        Terminal::start(command).end().1.replace("\r\n", "\n")
    };
    let paged = |text: &str| text.lines().all(|line| line.starts_with("P:"));
    let pager = [("GIT_PAGER", "sed s/^/P:/")];
    let shown = marked("task list", &pager);
    assert!(paged(&shown) && shown.contains(RED), "{shown:?}");
    assert!(!paged(&marked("task list --status blocked", &pager)), "it fits");
    assert!(!paged(&marked("status", &pager)), "as in git");
    assert!(!paged(&marked("task list --json", &pager)), "no pager for programs");
    assert!(!paged(&marked("task list", &[pager[0], ("CLAUDECODE", "1")])), "no pager for agents");
    let output = scratch.axiom_with(&["task", "list"], &pager);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("P:"), "no pager in a pipe");

    scratch.git(&["config", "core.pager", "sed s/^/P:/"]);
    assert!(paged(&marked("task list", &[])), "core.pager");
    scratch.git(&["config", "color.pager", "false"]);
    assert!(!marked("task list", &[]).contains('\x1b'), "color.pager");
    scratch.git(&["config", "pager.axiom", "false"]);
    assert!(!paged(&marked("task list", &[])), "pager.axiom = false");
    scratch.git(&["config", "pager.axiom", "sed s/^/Q:/"]);
    assert!(marked("task list", &[]).starts_with("Q:"), "pager.axiom");
    assert!(!marked("task list", &[("GIT_PAGER", "cat")]).contains("Q:"), "GIT_PAGER comes first, as with git --no-pager");
}

#[test]
fn the_pager_may_end_early_or_be_missing() {
    let scratch = scene();
    let ends = |pager: &str| {
        let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
        command.args(["task", "list"]).env("GIT_PAGER", pager);
        Terminal::start(command).end()
    };
    let (status, seen) = ends("head -n 2");
    assert!(status.success() && seen.lines().count() == 2, "{status:?}: {seen}");
    let (status, seen) = ends("exit 3");
    assert!(status.success(), "the exit status is ours: {status:?}: {seen}");
    let (status, seen) = ends("no-such-program-anywhere");
    assert!(status.success() && seen.contains("task-39"), "{status:?}: {seen}");
}

#[test]
fn a_patch_has_gits_colours_but_not_an_agents_escapes() {
    let scratch = repository();
    scratch.write("c.txt", "\x1b[2Jgone\nplain\n");
    scratch.git(&["config", "color.diff.new", "cyan"]);
    let shown = on_terminal(&scratch, "diff 2", 80, &[]);
    assert!(shown.contains("\x1b[36m+\x1b[m\x1b[36mplain\x1b[m\n"), "{shown:?}");
    assert!(shown.contains("\n+\\e[2Jgone\n") && !shown.contains("\x1b[2J"), "{shown:?}");
    assert!(uncolored(&shown).contains("diff --git a/c.txt b/c.txt"), "{shown:?}");
    scratch.git(&["config", "color.diff", "false"]);
    assert!(!on_terminal(&scratch, "diff 2", 80, &[]).contains('\x1b'));
}

//! Nothing that agents, files or commits hold reaches a terminal raw, and none of it looks like a line of ours: every control
//! character and every mark that cannot be seen, through every field of every verb.

use crate::common::Run;
use crate::session_support::World;

/// What must never be printed as it is: the control characters but line end and tab, and what changes the direction, has no width
/// or ends a line for some terminals.
fn is_raw(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// All of them, and a line that wants to pass for one of ours. Without NUL, which no argument and no name can hold.
fn hostile() -> String {
    let all = (1..=0x206f_u32).chain([0xfeff]).filter_map(char::from_u32).filter(|c| is_raw(*c));
    format!("x{}\nINJECTED\u{1b}[2Jy", all.collect::<String>())
}

#[track_caller]
fn is_plain(args: &[&str], run: &Run) {
    for (stream, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        let raw: Vec<char> = text.chars().filter(|c| is_raw(*c)).collect();
        assert!(raw.is_empty(), "{args:?} prints raw on {stream}: {raw:?}\n{run}");
        // All that `output` prints are lines of the agent's.
        if args[0] == "output" && stream == "stdout" {
            continue;
        }
        assert!(
            !text.lines().any(|line| line.starts_with("INJECTED")),
            "{args:?} prints a line that is not ours on {stream}:\n{run}"
        );
    }
}

/// A repository with it in every name and text that others can choose: files, commits, tags' messages, the stash, tasks, what
/// agents say and print, reasons.
fn world(hostile: &str) -> World {
    let world = World::new();
    let env = &world.env;
    // One name for each half: a name has at most 255 bytes.
    let short: String = hostile.chars().filter(|c| c.is_ascii()).collect();
    let rest: String = hostile.chars().filter(|c| !c.is_ascii()).take(60).collect();
    for (name, text) in [(&short, "tracked"), (&rest, "tracked too")] {
        env.write(&format!("{}.txt", name.replace('/', "_")), text);
    }
    env.write("a.txt", "a");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", hostile]);
    env.git(&["tag", "-a", "-m", hostile, "v1"]);
    env.write(&format!("untracked {}", short.replace('/', "_")), hostile);
    world.task("says", "printf '%s' \"$AXIOM_TEST_HOSTILE\"; git axiom signal learning \"$AXIOM_TEST_HOSTILE\"; exit 1", &[]);
    // A title is one line without control characters; marks are allowed.
    let title: String = hostile.chars().filter(|c| !c.is_control()).collect();
    env.ok(&["task", "add", &title, "--id", "named", "--body", hostile, "--verify", &title]);
    world
}

/// Verbs that are given it.
const REFUSED: &[&[&str]] = &[
    &["task", "show"],
    &["task", "add", "--id"],
    &["checkpoint", "show"],
    &["checkpoint", "create"],
    &["merge"],
    &["rollback", "checkpoint"],
    &["rollback", "task"],
    &["undo"],
    &["gate", "approve"],
    &["output"],
    &["mode"],
    &["stop"],
    &["redirect"],
    &["diff"],
    &["debug"],
    &["gate", "show"],
    &["config", "show"],
    &["-C"],
    &["task", "import"],
    &["nonsense"],
    &["task", "block", "named", "--reason"],
];

#[test]
fn nothing_raw_and_no_false_line() {
    let hostile = hostile();
    let mut world = world(&hostile);
    world.variables.push(("AXIOM_TEST_HOSTILE".into(), hostile.clone()));
    let check = |world: &World, args: &[&str]| {
        let run = world.env.axiom(args);
        is_plain(args, &run);
        run
    };
    check(&world, &["checkpoint", "create", "before", "-m", &hostile]);
    let ended = world.autopilot(&["--max-iterations", "1"]);
    let raw: Vec<char> = ended.stderr.chars().filter(|c| is_raw(*c)).collect();
    assert!(raw.is_empty(), "run prints raw: {raw:?}\n{}", ended.stderr);
    assert!(!ended.stderr.lines().any(|line| line.starts_with("INJECTED")), "{}", ended.stderr);
    world.env.write("a.txt", "changed");
    world.env.git(&["stash", "push", "-q", "-m", &hostile, "a.txt"]);
    world.env.git(&["commit", "-q", "--allow-empty", "-m", &hostile]);
    // What looks.
    for args in [
        &["status"] as &[&str],
        &["log", "--all"],
        &["events"],
        &["task", "list", "--all"],
        &["task", "show", "named"],
        &["task", "show", "says"],
        &["task", "audit", "says"],
        &["task", "audit", "named"],
        &["gate", "list"],
        &["output", "says"],
        &["checkpoint", "list"],
        &["checkpoint", "show", "before"],
        &["checkpoint", "verify"],
        &["rollback", "checkpoint", "before", "--dry-run"],
        &["rollback", "task", "says", "--dry-run"],
        &["rollback", "session", "--dry-run"],
        &["undo", "--dry-run"],
        &["recover"],
        &["config", "show"],
        &["config", "check"],
        &["merge", "says"],
    ] {
        check(&world, args);
        check(&world, &[args, &["--json"]].concat());
    }
    // What is refused says what it was given.
    for args in REFUSED.iter().copied() {
        check(&world, &[args, &[hostile.as_str()]].concat());
        check(&world, &[args, &[hostile.as_str(), "--json"]].concat());
    }
    // What changes.
    world.env.write(&format!("{} later", hostile.chars().filter(char::is_ascii).collect::<String>().replace('/', "_")), "later");
    for args in [
        &["rollback", "checkpoint", "before", "--yes"] as &[&str],
        &["undo", "--yes"],
        &["redo", "--yes"],
        &["checkpoint", "delete", "before", "--yes", "--protected"],
    ] {
        check(&world, args);
    }
}

/// The very bytes are there for who asks for them, into a file or a pipe.
#[test]
fn raw_is_raw_where_no_terminal_is() {
    let mut world = World::new();
    world.variables.push(("AXIOM_TEST_HOSTILE".into(), "\u{1b}[31mred\u{7}".into()));
    world.task("says", "printf '%s' \"$AXIOM_TEST_HOSTILE\"; exit 1", &[]);
    world.autopilot(&["--max-iterations", "1"]);
    assert_eq!(world.env.axiom(&["output", "says", "--raw"]).stdout, "\u{1b}[31mred\u{7}");
    assert_eq!(world.env.axiom(&["output", "says"]).stdout, "\\e[31mred\\x07");
}

/// The shell words with which a command begins that is printed for others to paste.
const COMMANDS: [&str; 14] = [
    "git -C ",
    "git worktree ",
    "git switch ",
    "git update-ref ",
    "git checkout ",
    "git config ",
    "git rebase ",
    "git revert ",
    "git branch ",
    "mv ",
    "cp ",
    "cd ",
    "chmod ",
    "umount ",
];

/// A path in quotes that are written around it ends where it has a quote itself, and what follows is run: an agent may name a folder so.
#[test]
fn what_a_printed_command_names_is_one_word_whatever_it_is() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = walkdir::WalkDir::new(root).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    let mut looked_at = 0;
    for file in files.filter(|entry| entry.path().extension().is_some_and(|end| end == "rs")) {
        let text = std::fs::read_to_string(file.path()).unwrap();
        for (number, line) in text.lines().enumerate() {
            for command in COMMANDS {
                let begins = line.match_indices(command).filter(|(at, _)| {
                    let before = line[..*at].chars().next_back();
                    before.is_none_or(|c| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '-' | '/'))
                });
                for (at, _) in begins {
                    looked_at += 1;
                    let words = line[at..].split(['"', '`']).next().unwrap();
                    assert!(!words.contains("'{"), "{}:{}: {words}", file.path().display(), number + 1);
                }
            }
        }
    }
    assert!(looked_at > 50, "{looked_at}");
}

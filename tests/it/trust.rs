//! Approving what a project brings with it: nothing counts before, exactly what was shown counts afterwards.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a failing test may panic, and tests prepare files

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::common::{TestEnv, documents};
use crate::terminal::Terminal;
use git_axiom::base::error::Code;

const CONFIG: &str = ".axiom/config.toml";
const HOOK: &str = ".axiom/hooks/pre-merge.sh";

/// What is expected, and what is done before.
type Case = (&'static str, fn(&TestEnv));
/// A trick, and how it is played with a command.
type Trick = (&'static str, fn(&TestEnv, &str));

/// A project with a configuration and a hook.
fn project() -> TestEnv {
    let env = TestEnv::new();
    env.write(CONFIG, "[agents]\ncount = 5\n");
    env.write(HOOK, "#!/bin/sh\nexit 0\n");
    set_mode(&env.repo().join(HOOK), 0o755);
    env
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

/// The value of a key that counts now.
fn value(env: &TestEnv, key: &str) -> serde_json::Value {
    env.json(&["config", "show", key])["settings"][0]["value"].clone()
}

fn standing(env: &TestEnv) -> String {
    let shown = env.json(&["trust", "--show"]);
    documents::check(&shown);
    shown["standing"].as_str().unwrap().to_owned()
}

#[test]
fn nothing_counts_before_it_was_approved_and_exactly_that_afterwards() {
    let env = project();
    assert_eq!((value(&env, "agents.count").as_u64(), standing(&env).as_str()), (Some(2), "waiting"));
    insta::assert_snapshot!(env.axiom(&["trust", "--yes"]).success(), @r"
    Approved 2 files. To take it back: git axiom trust --revoke
    --- stderr
    The project's configuration sets, also what is run as you:
      agents.count  5  (now 2)

    .axiom/config.toml (not executable, 19 bytes):
      | [agents]
      | count = 5

    .axiom/hooks/pre-merge.sh (executable, 17 bytes):
      | #!/bin/sh
      | exit 0
    --- exit 0
    ");
    let shown = env.json(&["config", "show", "agents.count"]);
    let source = shown["settings"][0]["source"].as_str().unwrap().to_owned();
    assert!(shown["settings"][0]["value"] == 5 && source.ends_with("repo/.axiom/config.toml:2"), "{shown}");
    // This clone's own configuration wins.
    env.git(&["config", "axiom.agents.count", "3"]);
    assert_eq!(value(&env, "agents.count"), 3);
    env.git(&["config", "--unset", "axiom.agents.count"]);
    assert_eq!(env.json(&["trust"])["standing"], "approved");
    assert_eq!(env.json(&["trust", "--revoke"])["revoked"], true);
    assert_eq!((value(&env, "agents.count").as_u64(), standing(&env).as_str()), (Some(2), "waiting"));
    assert_eq!(env.json(&["trust", "--revoke"])["revoked"], false);
}

#[test]
fn a_change_of_a_byte_or_a_mode_asks_again_and_shows_the_difference() {
    let env = project();
    env.ok(&["trust", "--yes"]);
    let changes: [Case; 6] = [
        ("modified: .axiom/hooks/pre-merge.sh\n  | @@ -1,2 +1,2 @@\n  |  #!/bin/sh\n  | -exit 0\n  | +exit 1", |env| {
            env.write(HOOK, "#!/bin/sh\nexit 1\n");
        }),
        (".axiom/hooks/pre-merge.sh: now not executable", |env| set_mode(&env.repo().join(HOOK), 0o644)),
        (".axiom/config.toml: now executable", |env| set_mode(&env.repo().join(CONFIG), 0o755)),
        ("added: .axiom/hooks/lib.sh (not executable, 2 bytes):\n  | x", |env| env.write(".axiom/hooks/lib.sh", "x\n")),
        ("deleted: .axiom/hooks/pre-merge.sh", |env| std::fs::remove_file(env.repo().join(HOOK)).unwrap()),
        ("added: this clone's hooks/on-pause", |env| env.write(".git/axiom/hooks/on-pause", "x\n")),
    ];
    for (difference, change) in changes {
        change(&env);
        assert_eq!(value(&env, "agents.count"), 2, "{difference}");
        let shown = env.ok(&["trust", "--show"]);
        assert!(shown.contains(difference) && !shown.contains("| [agents]"), "{shown}");
        let noted = env.axiom(&["checkpoint", "create"]).success();
        assert!(noted.stderr.contains("the project's files have changed"), "{noted}");
        for path in [".axiom/hooks/lib.sh", ".git/axiom/hooks/on-pause"] {
            let _ = std::fs::remove_file(env.repo().join(path));
        }
        env.write(HOOK, "#!/bin/sh\nexit 0\n");
        set_mode(&env.repo().join(HOOK), 0o755);
        set_mode(&env.repo().join(CONFIG), 0o644);
        assert_eq!(value(&env, "agents.count"), 5, "what was approved counts again");
    }
}

#[test]
fn somebody_has_to_say_yes_and_no_agent_can() {
    let env = project();
    let refused = env.axiom(&["trust"]).fails_with(Code::NeedsConfirmation);
    assert!(refused.stderr.contains("| exit 0"), "what would be approved is printed: {refused}");
    for args in [&["trust", "--yes"][..], &["trust", "--revoke"]] {
        let mut agent = env.axiom_command(&env.repo(), args);
        agent.env("AXIOM_TOKEN", "x");
        env.run(agent, None).fails_with(Code::NotForAgents);
    }
    assert_eq!(standing(&env), "waiting");
    let ask = |answer: &str| {
        let mut terminal = Terminal::start(env.axiom_command(&env.repo(), ["trust"]));
        terminal.wait_for("Approve exactly this? [y/N]");
        terminal.keys(&[answer, "\r"]);
        terminal.end().0.code()
    };
    assert_eq!((ask("n"), standing(&env).as_str()), (Some(3), "waiting"));
    assert_eq!((ask("y"), standing(&env).as_str()), (Some(0), "approved"));
}

/// What changes while the question is open is not what was approved.
#[test]
fn a_change_between_question_and_answer_is_not_approved() {
    let env = project();
    let mut terminal = Terminal::start(env.axiom_command(&env.repo(), ["trust"]));
    terminal.wait_for("Approve exactly this? [y/N]");
    env.write(CONFIG, "[agents]\ncount = 9\n");
    terminal.keys(&["y", "\r"]);
    assert_eq!(terminal.end().0.code(), Some(0));
    assert_eq!((value(&env, "agents.count").as_u64(), standing(&env).as_str()), (Some(2), "waiting"));
    env.write(CONFIG, "[agents]\ncount = 5\n");
    assert_eq!(value(&env, "agents.count"), 5);
}

#[test]
fn an_approval_is_for_one_repository_at_one_path() {
    let env = project();
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "project"]);
    env.ok(&["trust", "--yes"]);
    let (repo, elsewhere) = (env.repo(), env.root().join("elsewhere"));
    let counts = |folder: &Path| {
        let shown = env.axiom_in(folder, &["config", "show", "agents.count", "--json"]).success().json();
        shown["settings"][0]["value"] == 5
    };
    assert!(counts(&repo));
    // A linked worktree is of the same repository: the main worktree's files count.
    env.git(&["worktree", "add", "-q", "../linked"]);
    std::fs::write(env.root().join("linked").join(CONFIG), "[agents]\ncount = 7\n").unwrap();
    assert!(counts(&env.root().join("linked")));
    env.git(&["worktree", "remove", "--force", "../linked"]);
    assert!(std::process::Command::new("cp").arg("-a").args([&repo, &elsewhere]).status().unwrap().success());
    assert!(!counts(&elsewhere), "a copy");
    std::fs::remove_dir_all(&elsewhere).unwrap();
    std::fs::rename(&repo, &elsewhere).unwrap();
    env.axiom_in(&elsewhere, &["checkpoint", "create"]).success();
    assert!(!counts(&elsewhere), "a repository that was moved");
    env.git_in(env.root(), &["clone", "-q", "elsewhere", "repo"]);
    assert!(!counts(&repo), "a clone at the path of an approved one");
    env.ok(&["checkpoint", "create"]);
    assert!(!counts(&repo), "with an identity of its own");
    let listed = env.json(&["trust", "--list"]);
    documents::check(&listed);
    assert_eq!(listed["approvals"].as_array().unwrap().len(), 1, "{listed}");
}

/// What is there in place of files that can be approved, and what is said about it.
#[test]
fn what_is_not_made_of_regular_files_cannot_be_approved() {
    let oddities: [Case; 9] = [
        ("hooks/x' is a symbolic link", |env| symlink("pre-merge.sh", env.repo().join(".axiom/hooks/x")).unwrap()),
        ("hooks/x' is a symbolic link", |env| symlink("/etc", env.repo().join(".axiom/hooks/x")).unwrap()),
        ("hooks/x' is a named pipe", |env| fifo(&env.repo().join(".axiom/hooks/x"))),
        ("sub/.git' is of another repository", |env| {
            env.write(".axiom/sub/.git", "gitdir: ../../elsewhere\n");
        }),
        (".axiom' is a symbolic link", |env| {
            std::fs::rename(env.repo().join(".axiom"), env.root().join("there")).unwrap();
            symlink("../there", env.repo().join(".axiom")).unwrap();
        }),
        (".axiom' is no folder", |env| {
            std::fs::remove_dir_all(env.repo().join(".axiom")).unwrap();
            env.write(".axiom", "x");
        }),
        ("axiom/hooks' is a symbolic link", |env| {
            env.ok(&["init"]);
            symlink("/etc", env.axiom_dir().join("hooks")).unwrap();
        }),
        ("config.toml' is larger than 1048576 bytes", |env| {
            let file = std::fs::File::create(env.repo().join(CONFIG)).unwrap();
            file.set_len(100 * 1024 * 1024).unwrap();
        }),
        ("holds a name that is not UTF-8", |env| {
            use std::os::unix::ffi::OsStrExt;
            std::fs::write(env.repo().join(".axiom").join(std::ffi::OsStr::from_bytes(b"\xff")), "").unwrap();
        }),
    ];
    for (words, make) in oddities {
        let env = project();
        make(&env);
        let refused = env.axiom(&["trust", "--yes"]);
        assert!(refused.code != Some(0) && refused.stderr.contains(words), "{words}: {refused}");
        let noted = env.axiom(&["config", "show", "agents.count"]).success();
        assert!(noted.stdout.contains('2') && noted.stderr.contains("nothing of the project's files is applied"), "{noted}");
        env.ok(&["checkpoint", "create"]);
    }
}

fn fifo(path: &Path) {
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, rustix::fs::Mode::RUSR, 0).unwrap();
}

#[test]
fn a_configuration_that_cannot_be_applied_is_not_approved() {
    for (text, words) in [
        (&b"[agents]\ncuont = 3\n"[..], "config.toml:2: there is no key 'agents.cuont'"),
        (b"[agents\n", "config.toml:1: this is not valid TOML"),
        (b"[agents]\ncount = \xff\n", "config.toml' is not UTF-8"),
    ] {
        let env = project();
        env.write(CONFIG, text);
        let refused = env.axiom(&["trust", "--yes"]).fails_with(Code::ConfigInvalid);
        assert!(refused.stderr.contains(words), "{refused}");
        assert_eq!(standing(&env), "waiting");
        env.ok(&["checkpoint", "create"]);
    }
    let env = project();
    env.write(CONFIG, b"\xef\xbb\xbf[agents]\ncount = 5\n");
    env.ok(&["trust", "--yes"]);
    assert_eq!(value(&env, "agents.count"), 5, "with a byte order mark");
}

#[test]
fn control_characters_are_visible_and_no_line_looks_like_ours() {
    let env = project();
    env.write(HOOK, "#!/bin/sh\n: \x1b[2J\u{202e}\r\nApproved 0 files.\n");
    let shown = env.ok(&["trust", "--show"]);
    assert!(shown.contains("  | : \\e[2J\\u{202e}\\r\n  | Approved 0 files."), "{shown}");
    assert!(!shown.contains('\x1b') && !shown.contains('\u{202e}'), "{shown}");
}

#[test]
fn modes_come_from_the_index_where_files_have_none() {
    let env = project();
    env.git(&["config", "core.fileMode", "false"]);
    env.git(&["add", "-A"]);
    env.git(&["update-index", "--chmod=+x", HOOK]);
    set_mode(&env.repo().join(HOOK), 0o644);
    set_mode(&env.repo().join(CONFIG), 0o755);
    env.ok(&["trust", "--yes"]);
    let files = env.json(&["trust"])["files"].clone();
    let executable = |path: &str| files.as_array().unwrap().iter().any(|file| file["path"] == path && file["executable"] == true);
    assert!(executable(HOOK) && !executable(CONFIG), "{files}");
    set_mode(&env.repo().join(CONFIG), 0o644);
    assert_eq!(standing(&env), "approved");
    env.git(&["update-index", "--chmod=-x", HOOK]);
    assert_eq!(standing(&env), "waiting");
}

#[test]
fn a_state_folder_of_others_or_one_that_cannot_be_written_approves_nothing() {
    let env = project();
    env.ok(&["trust", "--yes"]);
    let folder = env.root().join("home/.local/state/git-axiom/trust");
    set_mode(&folder, 0o722);
    assert!(env.axiom(&["trust"]).fails_with(Code::NotTrusted).stderr.contains("chmod go-w"));
    assert_eq!(value(&env, "agents.count"), 2);
    set_mode(&folder, 0o700);
    assert_eq!(standing(&env), "approved");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "in the way").unwrap();
    env.axiom(&["trust", "--yes"]).fails_with(Code::IoFailed);
    assert_eq!(standing(&env), "waiting");
}

/// What was approved may have said that more is kept.
#[test]
fn nothing_expires_while_what_was_approved_does_not_count() {
    let env = project();
    env.write(CONFIG, "[checkpoints]\nmaxCount = 500\n");
    env.ok(&["trust", "--yes"]);
    env.git(&["config", "axiom.checkpoints.maxAgeDays", "1000"]);
    let changes: [fn(&TestEnv); 4] = [
        |env| env.write(CONFIG, "[checkpoints]\nmaxCount = 500 # x\n"),
        |env| env.write(CONFIG, "[checkpoints\n"),
        |env| symlink("elsewhere", env.repo().join(".axiom/link")).unwrap(),
        |env| std::fs::remove_dir_all(env.repo().join(".axiom")).unwrap(),
    ];
    for number in 0..52 {
        env.write("README", format!("{number}\n"));
        env.ok(&["checkpoint", "create", "--only", "README"]);
    }
    let count = || env.json(&["checkpoint", "list"])["checkpoints"].as_array().unwrap().len();
    for (number, change) in changes.into_iter().enumerate() {
        change(&env);
        env.write("README", format!("changed {number}\n"));
        env.ok(&["checkpoint", "create", "--only", "README"]);
        assert_eq!(count(), 53 + number);
        env.axiom(&["checkpoint", "cleanup", "--yes"]).fails_with(Code::ConfigInvalid);
    }
    env.ok(&["trust", "--revoke"]);
    env.write("README", "the end\n");
    env.ok(&["checkpoint", "create", "--only", "README"]);
    assert!(count() <= 51, "with the defaults");
}

/// A verification that was approved does not go because its file did.
#[test]
fn a_verification_that_was_approved_is_not_skipped_while_it_does_not_count() {
    let changes: [fn(&TestEnv); 5] = [
        |env| env.write(CONFIG, "[merge]\nverify = ['false'] # x\n"),
        |env| env.write(CONFIG, "[merge]\nverify = ['false']\n[agents\n"),
        |env| {
            std::fs::remove_file(env.repo().join(CONFIG)).unwrap();
            symlink("../README", env.repo().join(CONFIG)).unwrap();
        },
        |env| env.write(CONFIG, ""),
        |env| std::fs::remove_dir_all(env.repo().join(".axiom")).unwrap(),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let env = project();
        env.write(".git/info/exclude", ".axiom\n.worktrees\n");
        std::fs::remove_file(env.repo().join(HOOK)).unwrap();
        env.ok(&["task", "add", "t", "--id", "t", "--body", "echo x > x; git axiom signal complete"]);
        env.axiom(&["gate", "list"]).success();
        env.write(CONFIG, "[merge]\nverify = ['false']\n");
        env.ok(&["trust", "--yes"]);
        let mut run = env.axiom_command(&env.repo(), ["run", "--mode", "autopilot", "--until-idle"]);
        run.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).status().unwrap();
        env.axiom(&["merge", "t"]).fails_with(Code::VerifyFailed);
        change(&env);
        // In place of a file that cannot be read what was approved counts.
        let refused = if number == 1 { Code::VerifyFailed } else { Code::NotTrusted };
        env.axiom(&["merge", "t"]).fails_with(refused);
        assert!(!env.repo().join("x").exists(), "{number}");
        // This clone's own commands count, whatever the project says.
        env.git(&["config", "axiom.merge.verify", "true"]);
        if env.repo().join(CONFIG).is_symlink() {
            // But nobody knows whether there is a hook that decides.
            env.axiom(&["merge", "t"]).fails_with(Code::NotTrusted);
            std::fs::remove_file(env.repo().join(CONFIG)).unwrap();
        }
        env.ok(&["merge", "t"]);
    }
}

/// The project's limits on agents are not dropped silently.
#[test]
fn a_session_does_not_begin_while_an_approved_limit_on_agents_does_not_count() {
    let env = project();
    std::fs::remove_file(env.repo().join(HOOK)).unwrap();
    env.write(CONFIG, "[verify]\nwrapper = ['env']\n");
    env.ok(&["trust", "--yes"]);
    env.ok(&["task", "add", "t", "--id", "t", "--body", "echo x > x"]);
    env.write(CONFIG, "[verify]\nwrapper = ['env', 'A=b']\n");
    let refused = env.axiom(&["run", "--until-idle"]).fails_with(Code::NotTrusted);
    assert!(refused.stderr.contains("'verify.wrapper'") && refused.stderr.contains("trust --revoke"), "{refused}");
    env.ok(&["trust", "--revoke"]);
    env.axiom(&["mode", "autopilot"]).success();
    env.ok(&["run", "--until-idle"]);
}

#[test]
fn what_others_write_makes_no_verb_slow_or_fail() {
    let env = project();
    let many: String = (0..70_000).map(|number| format!("[a{number}]\nx=1\n")).collect();
    env.write(CONFIG, &many);
    let made = env.axiom(&["checkpoint", "create", "c"]).success();
    assert!(made.stderr.contains("before you approve"), "{made}");
    let refused = env.axiom(&["trust", "--yes"]).fails_with(Code::ConfigInvalid);
    assert!(refused.stderr.contains("has more than 1000 keys"), "{refused}");
    // What is wrong elsewhere is not the project's fault.
    env.git(&["config", "axiom.agents.count", "many"]);
    env.write(CONFIG, "[agents]\nmaxIterations = 5\n");
    env.ok(&["trust", "--yes"]);
    assert_eq!(value(&env, "agents.maxIterations"), 5);
}

#[test]
fn approvals_are_nowhere_but_in_the_users_folder() {
    let env = project();
    for home in [None, Some("."), Some("")] {
        let mut command = env.axiom_command(&env.repo(), ["trust", "--yes"]);
        match home {
            None => command.env_remove("HOME"),
            Some(home) => command.env("HOME", home),
        };
        env.run(command, None).fails_with(Code::NotTrusted);
        let mut command = env.axiom_command(&env.repo(), ["config", "show"]);
        command.env_remove("HOME");
        env.run(command, None).success();
    }
    assert!(!env.repo().join(".local").exists());
}

#[test]
fn two_approvals_at_once_leave_a_whole_one() {
    let env = project();
    let start = || env.axiom_command(&env.repo(), ["trust", "--yes"]).stderr(std::process::Stdio::null()).spawn().unwrap();
    let mut all: Vec<_> = (0..16).map(|_| start()).collect();
    assert!(all.iter_mut().all(|child| child.wait().unwrap().success()));
    assert_eq!(standing(&env), "approved");
    let folder = env.root().join("home/.local/state/git-axiom/trust");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1, "one file and no leftovers");
}

/// An approval outlives its repository; it can be taken back by what the list shows.
#[test]
fn an_approval_of_a_repository_that_is_gone_is_taken_back_by_its_path() {
    let env = project();
    env.ok(&["trust", "--yes"]);
    let here = || env.json(&["trust", "--list"])["approvals"].as_array().unwrap().len();
    let path = env.json(&["trust", "--list"])["approvals"][0]["repository"].as_str().unwrap().to_owned();
    let elsewhere = |args: &[&str]| env.axiom_in(env.root(), args);
    let missed = elsewhere(&["trust", "--revoke", &path.replace("repo", "rep")]).fails_with(Code::InvalidInput);
    assert!(missed.stderr.contains(&format!("did you mean '{path}'?")) && here() == 1, "{missed}");
    let mut agent = env.axiom_command(env.root(), ["trust", "--revoke", &path]);
    agent.env("AXIOM_TOKEN", "x");
    env.run(agent, None).fails_with(Code::NotForAgents);
    std::fs::rename(env.repo(), env.root().join("away")).unwrap();
    let revoked = elsewhere(&["trust", "--revoke", &path, "--json"]).success().json();
    documents::check(&revoked);
    std::fs::rename(env.root().join("away"), env.repo()).unwrap();
    assert_eq!((revoked["revoked"].as_bool(), here(), standing(&env).as_str()), (Some(true), 0, "waiting"));
    // The folder of the repository names it too.
    env.ok(&["trust", "--yes"]);
    elsewhere(&["trust", "--revoke", env.repo().to_str().unwrap()]).success();
    assert_eq!((here(), standing(&env).as_str()), (0, "waiting"));
}

/// On a terminal nobody is asked about what has scrolled away.
#[test]
fn what_is_long_is_counted_and_paged_before_it_is_asked_about() {
    let env = project();
    let lines: String = (0..300).map(|number| format!("echo {number} \x1b[2J\n")).collect();
    env.write(HOOK, format!("#!/bin/sh\n{lines}"));
    let paged = env.root().join("paged");
    let start = |pager: &str| {
        let mut command = env.axiom_command(&env.repo(), ["trust"]);
        command.env("GIT_PAGER", pager);
        Terminal::start(command)
    };
    let mut terminal = start(&format!("cat > '{}'", paged.display()));
    let summary = terminal.wait_for("Show all 309 lines first? [y/N]");
    assert!(summary.contains("agents.count") && !summary.contains("| echo"), "{summary}");
    for (place, count) in
        [(".axiom/config.toml (not executable, 19 bytes)", "2 lines"), (".axiom/hooks/pre-merge.sh", "301 lines")]
    {
        assert!(summary.lines().any(|line| line.contains(place) && line.trim_end().ends_with(count)), "{place}: {summary}");
    }
    terminal.keys(&["y", "\r"]);
    terminal.wait_for("Approve exactly this? [y/N]");
    let shown = std::fs::read_to_string(&paged).unwrap();
    assert!(shown.contains("  | echo 299 \\e[2J\n") && shown.contains("| [agents]") && !shown.contains('\x1b'), "{shown}");
    terminal.keys(&["n", "\r"]);
    assert_eq!(terminal.end().0.code(), Some(3));
    // Without a pager it is printed; whoever does not want to see it is asked all the same.
    for (pager, answer, shows) in [("cat", "y", true), ("no-such-pager", "y", true), ("cat", "n", false)] {
        let mut terminal = start(pager);
        terminal.wait_for("Show all 309 lines first? [y/N]");
        terminal.keys(&[answer, "\r"]);
        let between = terminal.wait_for("Approve exactly this? [y/N]");
        assert_eq!(between.contains("| echo 299"), shows, "{pager} {answer}: {between}");
        terminal.keys(&["n", "\r"]);
        terminal.end();
    }
    // Elsewhere all of it is printed, as ever.
    let refused = env.axiom(&["trust"]).fails_with(Code::NeedsConfirmation);
    assert!(refused.stderr.contains("| echo 299"), "{refused}");
}

/// A clone that tries to make somebody run its commands: what it contains, and the verbs that a user would call.
#[test]
fn a_hostile_clone_runs_nothing() {
    let tricks: [Trick; 13] = [
        ("agents.default and its command", |env, run| {
            env.write(CONFIG, format!("[agents]\ndefault = 'x'\n[agents.x]\ncommand = ['sh', '-c', '{run}']\n"));
        }),
        ("another command for a preset", |env, run| {
            env.write(CONFIG, format!("[agents.shell]\ncommand = ['sh', '-c', '{run}']\n"));
        }),
        ("merge.verify", |env, run| env.write(CONFIG, format!("[merge]\nverify = [\"{run}\"]\n"))),
        ("verify.wrapper", |env, run| env.write(CONFIG, format!("[verify]\nwrapper = ['sh', '-c', '{run}']\n"))),
        ("hooks for every event", |env, run| {
            for event in
                ["pre-task-start", "post-task-complete", "pre-merge", "post-merge", "post-checkpoint", "on-error", "on-pause"]
            {
                for name in [format!("{event}.sh"), event.to_owned(), format!("{event}.d/1")] {
                    env.write(&format!(".axiom/hooks/{name}"), format!("#!/bin/sh\n{run}\n"));
                    set_mode(&env.repo().join(format!(".axiom/hooks/{name}")), 0o755);
                }
            }
        }),
        ("a folder that is a link to such hooks", |env, run| {
            env.write("there/hooks/pre-merge.sh", format!("#!/bin/sh\n{run}\n"));
            set_mode(&env.repo().join("there/hooks/pre-merge.sh"), 0o755);
            symlink("there", env.repo().join(".axiom")).unwrap();
        }),
        ("a configuration that is a link out of the tree", |env, run| {
            std::fs::write(env.root().join("c.toml"), format!("[merge]\nverify = ['{run}']\n")).unwrap();
            std::fs::create_dir(env.repo().join(".axiom")).unwrap();
            symlink("../../c.toml", env.repo().join(CONFIG)).unwrap();
        }),
        ("a hard link to a hook", |env, run| {
            env.write(".axiom/hooks/a", format!("#!/bin/sh\n{run}\n"));
            set_mode(&env.repo().join(".axiom/hooks/a"), 0o755);
            std::fs::hard_link(env.repo().join(".axiom/hooks/a"), env.repo().join(".axiom/hooks/pre-merge")).unwrap();
        }),
        ("an approval within the repository", |env, run| {
            env.write(CONFIG, format!("[merge]\nverify = [\"{run}\"]\n"));
            env.write(".local/state/git-axiom/trust/x.json", "{}");
        }),
        ("a file of the user's configuration within the repository", |env, run| {
            env.write(".config/git-axiom/config.toml", format!("[merge]\nverify = [\"{run}\"]\n"));
        }),
        (".axiom in another case", |env, run| env.write(".AXIOM/config.toml", format!("[merge]\nverify = [\"{run}\"]\n"))),
        ("files in the worktree named like this clone's own", |env, run| {
            env.write("axiom/hooks/pre-merge", format!("#!/bin/sh\n{run}\n"));
            set_mode(&env.repo().join("axiom/hooks/pre-merge"), 0o755);
        }),
        ("an agent that edits hooks in its workspace", |env, run| {
            let body = format!(
                "mkdir -p .axiom/hooks; printf '#!/bin/sh\\n{run}\\n' > .axiom/hooks/pre-merge.sh; chmod +x .axiom/hooks/*"
            );
            env.ok(&["task", "add", "t", "--id", "evil", "--body", &body]);
        }),
    ];
    for (trick, make) in tricks {
        let env = TestEnv::new();
        let witness = env.root().join("witness");
        make(&env, &format!("touch {}", witness.display()));
        env.git(&["add", "-A"]);
        env.git(&["commit", "-q", "--allow-empty", "-m", "project"]);
        env.ok(&["task", "add", "t", "--id", "t", "--body", "echo x > x"]);
        crate::hostile_clone::call_verbs(&env, |verb| assert!(!witness.exists(), "{trick}: {verb:?}"));
    }
}

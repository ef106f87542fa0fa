//! `config edit`: what is written where, and what is refused before anything is; and keys that are set by git.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a failing test may panic, and tests prepare files

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::common::{NOBODY, Run, TestEnv, documents, is_root};
use crate::terminal::Terminal;
use git_axiom::base::error::Code;
use serde_json::{Value, json};

const PROJECT: &str = ".axiom/config.toml";
const LAYERS: [&str; 3] = ["--user", "--repo", "--local"];

fn users(env: &TestEnv) -> PathBuf {
    env.root().join("home/.config/git-axiom/config.toml")
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The value that counts now.
fn value(env: &TestEnv, key: &str) -> Value {
    env.json(&["config", "show", key])["settings"][0]["value"].clone()
}

/// Everything that the three layers write, to see that nothing was.
fn all(env: &TestEnv) -> Vec<Option<Vec<u8>>> {
    [users(env), env.repo().join(PROJECT), env.repo().join(".git/config")].map(|path| std::fs::read(path).ok()).to_vec()
}

fn editor(env: &TestEnv, args: &[&str], script: &str) -> Run {
    let mut command = env.axiom_command(&env.repo(), args);
    command.env("GIT_EDITOR", script);
    env.run(command, None)
}

fn drafts(env: &TestEnv) -> Vec<PathBuf> {
    let all = std::fs::read_dir(env.root().join("tmp")).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.to_string_lossy().contains("axiom-config-")).collect()
}

/// The script of an editor that gives `agents.count` a value in a layer, and leaves the rest.
fn counts(layer: &str, count: u32) -> String {
    match layer {
        "--local" => format!("f() {{ git config --file \"$1\" axiom.agents.count {count}; }}; f"),
        _ => format!("printf '[agents]\\ncount = {count}\\n' >"),
    }
}

fn set(env: &TestEnv, layer: &str, count: u32) -> Run {
    editor(env, &["config", "edit", layer], &counts(layer, count))
}

#[test]
fn a_file_that_cannot_be_read_as_a_configuration_is_left_alone() {
    let env = TestEnv::new();
    let fifo = |path: &Path| {
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    };
    let large = |path: &Path| std::fs::File::create(path).unwrap().set_len(100 * 1024 * 1024).unwrap();
    type Make<'a> = &'a dyn Fn(&Path);
    for (layer, file) in [("--user", users(&env)), ("--repo", env.repo().join(PROJECT))] {
        let cases: [(Make<'_>, Code, &str); 6] = [
            (
                &|path| std::fs::write(path, "[agents]\ncount = = 3\n").unwrap(),
                Code::ConfigInvalid,
                "config.toml:2: this is not valid",
            ),
            (&|path| std::fs::write(path, b"[agents]\n# \xff\n").unwrap(), Code::ConfigInvalid, "is not UTF-8"),
            (&|path| std::fs::write(path, "agents = 3\n").unwrap(), Code::ConfigInvalid, "something else stands in its place"),
            (&large, Code::TooLarge, "is larger than"),
            (&fifo, Code::InTheWay, "not a regular file"),
            (&|path| std::fs::create_dir(path).unwrap(), Code::InTheWay, "a folder"),
        ];
        for (make, code, words) in cases {
            write(&file, "");
            std::fs::remove_file(&file).unwrap();
            make(&file);
            if code == Code::ConfigInvalid {
                // Its text can be mended.
                let run = editor(&env, &["config", "edit", layer], "true").success();
                assert!(run.stdout.contains("Not changed:"), "{layer} {words}: {run}");
            } else {
                assert!(set(&env, layer, 4).fails_with(code).stderr.contains(words), "{layer} {words}");
            }
            // Nothing else hangs on it.
            env.axiom(&["config", "show"]).success();
            let left: Vec<_> = std::fs::read_dir(file.parent().unwrap()).unwrap().collect();
            assert_eq!(left.len(), 1, "{left:?}");
            if file.is_dir() { std::fs::remove_dir(&file).unwrap() } else { std::fs::remove_file(&file).unwrap() }
        }
    }
}

#[test]
fn a_link_is_followed_to_the_user_s_file_and_refused_in_the_project() {
    let env = TestEnv::new();
    let dotfile = env.root().join("dotfiles/axiom.toml");
    write(&dotfile, "# kept\n");
    write(&users(&env), "");
    std::fs::remove_file(users(&env)).unwrap();
    symlink(&dotfile, users(&env)).unwrap();
    set(&env, "--user", 4).success();
    assert!(users(&env).is_symlink() && read(&dotfile) == "[agents]\ncount = 4\n", "{}", read(&dotfile));
    std::fs::remove_file(&dotfile).unwrap();
    set(&env, "--user", 4).fails_with(Code::InTheWay);
    assert!(!dotfile.exists());

    let outside = env.root().join("outside");
    write(&outside.join("config.toml"), "");
    symlink(&outside, env.repo().join(".axiom")).unwrap();
    set(&env, "--repo", 4).fails_with(Code::InTheWay);
    std::fs::remove_file(env.repo().join(".axiom")).unwrap();
    env.write(".axiom/other", "");
    symlink(outside.join("config.toml"), env.repo().join(PROJECT)).unwrap();
    set(&env, "--repo", 4).fails_with(Code::InTheWay);
    assert_eq!(read(&outside.join("config.toml")), "");
    std::fs::remove_file(env.repo().join(PROJECT)).unwrap();
    env.write(".axiom/.git", "gitdir: elsewhere\n");
    set(&env, "--repo", 4).fails_with(Code::InTheWay);
    std::fs::remove_dir_all(env.repo().join(".axiom")).unwrap();
    env.write(".axiom", "a file\n");
    set(&env, "--repo", 4).fails_with(Code::InTheWay);
    assert_eq!(env.read(".axiom"), "a file\n");
}

#[test]
fn a_crash_leaves_the_old_or_the_new_file() {
    let env = TestEnv::new();
    let faults = |layer: &str| match layer {
        "--local" => vec!["git.config-locked", "git.config-moved"],
        _ => vec!["files.before-replace"],
    };
    for layer in LAYERS {
        for fault in faults(layer) {
            set(&env, layer, 3).success();
            let mut command = env.axiom_command(&env.repo(), ["config", "edit", layer]);
            command.env("AXIOM_TEST_FAULT", format!("{fault}:1")).env("GIT_EDITOR", counts(layer, 4));
            assert_eq!(env.run(command, None).code, None, "{fault} is reached");
            env.axiom(&["trust", "--yes"]);
            let now = value(&env, "agents.count");
            assert!(now == 3 || now == 4, "{now}");
        }
        set(&env, layer, 5).success();
        env.axiom(&["trust", "--yes"]);
        assert_eq!(value(&env, "agents.count"), 5, "{layer}");
    }
}

#[test]
fn git_s_lock_is_waited_for_and_respected_and_a_link_is_left_to_git() {
    let env = TestEnv::new();
    let (config, lock) = (env.repo().join(".git/config"), env.repo().join(".git/config.lock"));
    let before = read(&config);
    std::fs::write(&lock, "").unwrap();
    editor(&env, &["config", "edit"], "printf '[axiom \"agents\"]\ncount=4' >>").fails_with(Code::GitLocked);
    assert_eq!((read(&config), read(&lock)), (before, String::new()));
    let mut command = env.axiom_command(&env.repo(), ["config", "edit"]);
    let running = command.env("GIT_EDITOR", counts("--local", 4)).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    std::fs::remove_file(&lock).unwrap();
    assert!(running.wait_with_output().unwrap().status.success());
    assert_eq!(env.git(&["config", "axiom.agents.count"]), "4");
    let elsewhere = env.root().join("elsewhere");
    std::fs::rename(&config, &elsewhere).unwrap();
    symlink(&elsewhere, &config).unwrap();
    let run = set(&env, "--local", 5).fails_with(Code::InTheWay);
    assert!(run.stderr.contains("hint: git config axiom.") && config.is_symlink(), "{run}");
}

#[test]
fn a_bare_repository_has_git_s_layer_and_no_project_s_and_outside_of_any_is_the_user_s() {
    let env = TestEnv::new();
    env.git_in(env.root(), &["clone", "-q", "--bare", "repo", "bare.git"]);
    let bare = env.root().join("bare.git");
    let set_in = |folder: &Path, layer: &str| {
        let mut command = env.axiom_command(folder, ["config", "edit", layer]);
        command.env("GIT_EDITOR", counts(layer, 4));
        env.run(command, None)
    };
    set_in(&bare, "--local").success();
    assert_eq!(env.git_in(&bare, &["config", "axiom.agents.count"]), "4");
    set_in(&bare, "--repo").fails_with(Code::BareRepository);
    set_in(env.root(), "--user").success();
    for layer in ["--repo", "--local"] {
        set_in(env.root(), layer).fails_with(Code::NotARepository);
    }
}

#[test]
fn no_agent_writes_the_configuration() {
    let env = TestEnv::new();
    for layer in LAYERS {
        for args in [&["edit", layer][..], &["restore"], &["reset"]] {
            let mut agent = env.axiom_command(&env.repo(), [&["config"], args].concat());
            agent.env("AXIOM_TOKEN", "x").env("GIT_EDITOR", "echo x >");
            env.run(agent, None).fails_with(Code::NotForAgents);
        }
    }
    let mut agent = env.axiom_command(&env.repo(), ["config", "show"]);
    agent.env("AXIOM_TOKEN", "x");
    env.run(agent, None).success();
}

#[test]
fn a_folder_that_cannot_be_written_is_named_and_nothing_is_left() {
    let env = TestEnv::new();
    let folder = users(&env).parent().unwrap().to_owned();
    write(&users(&env), "[agents]\ncount = 3\n");
    if is_root() {
        for path in [env.root().to_owned(), env.root().join("home"), users(&env)] {
            std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        std::process::Command::new("chown").args(["-R", &format!("{NOBODY}:{NOBODY}")]).arg(env.repo()).status().unwrap();
    }
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o555)).unwrap();
    let mut command = env.bound_by_permissions(&["config", "edit", "--user"]);
    command.env("GIT_EDITOR", counts("--user", 4));
    let run = env.run(command, None);
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
    run.fails_with(Code::IoFailed);
    assert_eq!(read(&users(&env)), "[agents]\ncount = 3\n");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn a_full_disk_leaves_every_layer_as_it_was() {
    let env = TestEnv::new();
    let script = r#"
        set -e
        mount -t tmpfs -o size=2m none "$1"
        cp -r "$2" "$1/repo" && mkdir -p "$1/home/.config/git-axiom"
        export HOME="$1/home"; cd "$1/repo"
        write() { GIT_EDITOR="sh '$1/editor' $3 $4" "$2" config edit $3; }
        printf 'if [ $1 = --local ]; then git config --file "$3" axiom.agents.default "$2"; else printf "[agents]\\ndefault = \\"%%s\\"\\n" "$2" > "$3"; fi' > "$1/editor"
        for layer in --user --repo --local; do write "$1" "$3" $layer claude >/dev/null 2>&1 || exit 7; done
        all() { cat "$HOME/.config/git-axiom/config.toml" .axiom/config.toml .git/config; }
        all > "$2.before"; mkdir "$2.tmp"
        cat /dev/zero > "$1/filler" 2>/dev/null || true
        for layer in --user --repo --local; do
            if TMPDIR="$2.tmp" write "$1" "$3" $layer "$(head -c 20000 /dev/zero | tr '\0' x)" 2>"$2.err"; then exit 8; fi
            grep -q DISK_FULL "$2.err" || { cat "$2.err"; exit 9; }
        done
        rm "$1/filler"
        all | cmp - "$2.before"
        test "$(ls -A "$HOME/.config/git-axiom" .axiom | grep -c '^[.]tmp-')" = 0
    "#;
    let disk = env.root().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mut command = env.program("unshare", env.root());
    command.args(["-Urm", "sh", "-c", script, "sh"]).arg(&disk).arg(env.repo()).arg(env!("CARGO_BIN_EXE_git-axiom"));
    let output = command.output().expect("unshare is needed for this test");
    assert!(output.status.success(), "{:?} {output:?}", output.status);
}

#[test]
fn a_text_is_edited_and_written_only_if_it_can_be_used() {
    let env = TestEnv::new();
    for (layer, good, bad, place) in [
        (
            "--user",
            "printf '[agents]\\ncount = 4\\n' >",
            "printf '[agents]\\n\\ncuont = 4\\n' >",
            "config.toml:3: there is no key",
        ),
        ("--repo", "printf '[agents]\\ncount = 4\\n' >", "printf '[agents\\n' >", "config.toml:1: this is not valid TOML"),
        (
            "--local",
            "git config axiom.agents.count 4 --file",
            "printf '[axiom \"agents\"]\\ncuont=4' >>",
            "there is no key 'agents.cuont'",
        ),
    ] {
        let good = if layer == "--local" { "f() { git config --file \"$1\" axiom.agents.count 4; }; f" } else { good };
        let before = all(&env);
        let run = editor(&env, &["config", "edit", layer], bad).fails_with(Code::ConfigInvalid);
        assert!(run.stderr.contains(place) && run.stderr.contains("your text is kept in '"), "{run}");
        assert_eq!((all(&env), drafts(&env).len()), (before.clone(), 1), "{layer}");
        std::fs::remove_file(&drafts(&env)[0]).unwrap();
        let run = editor(&env, &["--json", "config", "edit", layer], "true").success();
        assert_eq!(run.json()["changed"], false);
        editor(&env, &["config", "edit", layer], "false").fails_with(Code::IoFailed);
        assert_eq!((all(&env), drafts(&env)), (before, Vec::new()), "{layer}");
        let run = editor(&env, &["--json", "config", "edit", layer], good).success();
        documents::check(&run.json());
        assert_eq!(run.json()["changed"], true);
        if layer == "--repo" {
            env.ok(&["trust", "--yes"]);
        }
        assert_eq!((value(&env, "agents.count"), drafts(&env)), (json!(4), Vec::new()), "{layer}");
        set(&env, layer, 7).success();
    }
    env.git(&["config", "--unset", "axiom.agents.count"]);
    std::fs::remove_file(env.repo().join(PROJECT)).unwrap();
    // A file that no other verb can change can be mended.
    write(&users(&env), b"[agents\n\xff");
    editor(&env, &["config", "edit", "--user"], "printf '[agents]\\ncount = 6\\n' >").success();
    assert_eq!(value(&env, "agents.count"), 6);
}

#[test]
fn what_somebody_else_wrote_meanwhile_is_kept_and_so_is_the_text() {
    let env = TestEnv::new();
    for (layer, path) in [("--user", users(&env)), ("--local", env.repo().join(".git/config"))] {
        set(&env, layer, 3).success();
        let script = format!("f() {{ echo '# mine' >> \"$1\"; echo '# theirs' >> '{}'; }}; f", path.display());
        let run = editor(&env, &["config", "edit", layer], &script).fails_with(Code::ChangedMeanwhile);
        assert!(run.stderr.contains("your text is kept in '"), "{run}");
        assert!(read(&path).contains("# theirs") && !read(&path).contains("# mine"), "{layer}");
        assert!(read(&drafts(&env)[0]).contains("# mine"));
        std::fs::remove_file(&drafts(&env)[0]).unwrap();
    }
}

#[test]
fn at_a_terminal_it_is_asked_whether_to_go_on_editing() {
    let env = TestEnv::new();
    let script = "f() { if grep -q cuont \"$1\"; then printf '[agents]\\ncount = 4\\n'; else printf '[agents]\\ncuont = 4\\n'; fi > t; cat t > \"$1\"; }; f";
    let start = || {
        let mut command = env.axiom_command(&env.repo(), ["config", "edit", "--user"]);
        command.env("GIT_EDITOR", script);
        let mut terminal = Terminal::start(command);
        terminal.wait_for("Edit it again? [y/N]");
        terminal
    };
    let mut terminal = start();
    terminal.keys(&["n", "\r"]);
    assert_eq!(terminal.end().0.code(), Some(3));
    assert!(!users(&env).exists() && drafts(&env).len() == 1);
    let mut terminal = start();
    terminal.keys(&["y", "\r"]);
    assert_eq!(terminal.end().0.code(), Some(0));
    assert_eq!(read(&users(&env)), "[agents]\ncount = 4\n");
}

/// An editor that removed or emptied the copy, or changes what makes the file a repository's, has not edited a configuration.
#[test]
fn an_editor_that_leaves_nothing_changes_nothing() {
    let env = TestEnv::new();
    let config = env.read(".git/config");
    set(&env, "--local", 4).success();
    let with = env.read(".git/config");
    assert_ne!(config, with);
    for (editor, code) in [
        ("rm", Code::IoFailed),
        ("truncate -s 0", Code::ConfigInvalid),
        ("sed -i s/repositoryformatversion/x/", Code::ConfigInvalid),
        ("sed -i '1i [extensions]\\nobjectFormat = sha256'", Code::ConfigInvalid),
    ] {
        let mut edit = env.axiom_command(&env.repo(), ["config", "edit", "--local"]);
        edit.env("GIT_EDITOR", editor);
        env.run(edit, None).fails_with(code);
        assert_eq!(env.read(".git/config"), with, "{editor}");
    }
}

#[test]
fn git_sets_keys_and_what_it_sets_is_checked() {
    let env = TestEnv::new();
    for value in ["cargo test", "cargo clippy"] {
        env.git(&["config", "--add", "axiom.merge.verify", value]);
    }
    env.git(&["config", "axiom.agents.mine.command", "my-agent"]);
    assert_eq!(value(&env, "merge.verify"), json!(["cargo test", "cargo clippy"]));
    env.ok(&["config", "check"]);
    for (key, wrong, words) in [
        ("agents.cuont", "3", "did you mean 'agents.count'?"),
        ("agents.count", "many", "a whole number from 1 to 100"),
        ("agents.default", "claud", "there is no agent program 'claud'"),
    ] {
        env.git(&["config", &format!("axiom.{key}"), wrong]);
        for verb in [&["config", "check"][..], &["run", "--until-idle"]] {
            let run = env.axiom(verb).fails_with(Code::ConfigInvalid);
            assert!(run.stderr.contains(words), "{verb:?} {run}");
        }
        env.git(&["config", "--unset", &format!("axiom.{key}")]);
    }
    env.ok(&["config", "check"]);
}

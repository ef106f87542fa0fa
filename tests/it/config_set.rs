//! `config set`, `unset` and `edit`: what is written where, and what is refused before anything is.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a failing test may panic, and tests prepare files

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::common::{NOBODY, Run, TestEnv, documents, is_root};
use crate::terminal::Terminal;
use git_axiom::error::Code;
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

#[test]
fn a_key_is_set_and_removed_in_each_layer() {
    let env = TestEnv::new();
    for layer in LAYERS {
        let set = env.json(&["config", "set", layer, "Agents.Count", "4"]);
        documents::check(&set);
        let wanted = json!(["agents.count", &layer[2..], null, 4, true]);
        assert_eq!(json!([set["key"], set["layer"], set["before"], set["value"], set["changed"]]), wanted);
        let again = env.json(&["config", "set", layer, "agents.count", "4"]);
        assert_eq!((&again["before"], &again["changed"]), (&json!(4), &json!(false)));
        if layer == "--repo" {
            assert_eq!(value(&env, "agents.count"), 2, "nobody approved it");
            env.ok(&["trust", "--yes"]);
        }
        assert_eq!(value(&env, "agents.count"), 4, "{layer}");
        let unset = env.json(&["config", "unset", layer, "agents.COUNT"]);
        assert_eq!(
            json!([unset["key"], unset["before"], unset["value"], unset["changed"]]),
            json!(["agents.count", 4, null, true])
        );
        assert_eq!((&unset["effective"], &unset["source"]), (&json!(2), &json!("default")));
        assert_eq!(env.json(&["config", "unset", layer, "agents.count"])["changed"], false);
    }
    assert_eq!(read(&users(&env)), "[agents]\n");
    assert_eq!(env.try_git(&["config", "--get-regexp", "^axiom"]).code, Some(1));
    insta::assert_snapshot!(env.axiom(&["config", "set", "--repo", "merge.verify", "--", "make check", "-x"]).success(), @r#"
    merge.verify is now ["make check","-x"] in $ROOT/repo/.axiom/config.toml
    --- stderr
    note: nothing of the project's files is applied before they are approved anew: git axiom trust
    --- exit 0
    "#);
    env.git(&["config", "axiom.agents.count", "7"]);
    insta::assert_snapshot!(env.axiom(&["config", "set", "--user", "agents.count", "3"]).success(), @r"
    agents.count is now 3 in $ROOT/home/.config/git-axiom/config.toml
    --- stderr
    note: what counts here is 7, from another layer: git config, $ROOT/repo/.git/config
    --- exit 0
    ");
}

#[test]
fn every_kind_of_value_comes_back_as_it_was_given_in_every_layer() {
    let env = TestEnv::new();
    let nasty = "a\nb # \"c\" 'd' \\ ; \u{e4}\t";
    for layer in LAYERS {
        for (key, values, wanted) in [
            ("checkpoints.beforeMerge", &["off"][..], json!(false)),
            ("agents.timeLimit", &["2h"], json!(7200)),
            ("checkpoints.maxFileSize", &["2GB"], json!(2000)),
            ("merge.target", &[nasty], json!(nasty)),
            ("agents.workspaceRoot", &["-x/./y"], json!("-x/y")),
            ("merge.verify", &["one", nasty, "--three"], json!(["one", nasty, "--three"])),
            ("merge.verify", &["two"], json!(["two"])),
            ("merge.verify", &[""], json!([])),
            ("agents.mine.command", &["my agent", "{prompt}"], json!(["my agent", "{prompt}"])),
            ("agents.mine.stopSignal", &["INT"], json!("INT")),
        ] {
            env.ok(&[&["config", "set", layer, key, "--"], values].concat());
            if layer == "--repo" {
                env.ok(&["trust", "--yes"]);
            }
            assert_eq!(value(&env, key), wanted, "{layer} {key}");
        }
        env.ok(&["config", "check"]);
        for key in ["checkpoints.beforeMerge", "merge.target", "merge.verify", "agents.mine.stopSignal", "agents.mine.command"] {
            env.ok(&["config", "unset", layer, key]);
        }
        env.ok(&["config", "check"]);
    }
}

#[test]
fn what_cannot_be_used_is_refused_before_anything_is_written() {
    let env = TestEnv::new();
    let before = all(&env);
    for layer in LAYERS {
        for (key, values, code, words) in [
            ("agents.cuont", &["3"][..], Code::InvalidInput, "did you mean 'agents.count'?"),
            ("agents", &["3"], Code::InvalidInput, "there is no key 'agents'"),
            ("agents.a\nb.command", &["x"], Code::InvalidInput, "there is no key"),
            ("agents.count", &["many"], Code::InvalidInput, "a whole number from 1 to 100"),
            ("agents.count", &["0"], Code::InvalidInput, "a whole number from 1 to 100"),
            ("agents.count", &["3\n"], Code::InvalidInput, "a whole number from 1 to 100"),
            ("agents.count", &["3", "4"], Code::InvalidInput, "takes one value, and 2 are given"),
            ("agents.default", &[""], Code::InvalidInput, "git axiom config unset agents.default"),
            ("checkpoints.include", &["a\nb"], Code::InvalidInput, "a list of patterns"),
            ("merge.verify", &["a", ""], Code::InvalidInput, "a list of texts"),
            ("system.logCompressDays", &["3h"], Code::InvalidInput, "a number of days"),
            ("agents.logLimit", &["2kg"], Code::InvalidInput, "a number of MB"),
            ("agents.mine.exitCompletes", &["true"], Code::ConfigInvalid, "agents.mine has no command"),
        ] {
            let run = env.axiom(&[&["config", "set", layer, key], values].concat()).fails_with(code);
            assert!(run.stderr.contains(words), "{layer} {key} {values:?}: {run}");
        }
        env.axiom(&["config", "unset", layer, "agents.cuont"]).fails_with(Code::InvalidInput);
        env.axiom(&["config", "set", layer, "agents.count"]).fails_with(Code::Usage);
    }
    env.axiom(&["config", "set", "--user", "--repo", "agents.count", "3"]).fails_with(Code::Usage);
    assert_eq!(all(&env), before);
    assert!(!users(&env).parent().unwrap().exists() && !env.repo().join(".axiom").exists(), "no folder either");
    // An option after the key is one, and no value.
    env.axiom(&["config", "set", "merge.verify", "make", "--repo", "--local"]).fails_with(Code::Usage);
    for layer in ["--user", "--local"] {
        env.ok(&["config", "set", layer, "agents.mine.command", "x"]);
        env.ok(&["config", "set", layer, "agents.mine.exitCompletes", "false"]);
        let before = all(&env);
        env.axiom(&["config", "set", layer, "agents.mine.stopSignal", "KILL"]).fails_with(Code::InvalidInput);
        env.axiom(&["config", "unset", layer, "agents.mine.command"]).fails_with(Code::ConfigInvalid);
        assert_eq!(all(&env), before);
        env.ok(&["config", "unset", layer, "agents.mine.exitCompletes"]);
        env.ok(&["config", "unset", layer, "agents.mine.command"]);
    }
}

/// Who misspelled a key can remove it.
#[test]
fn a_key_that_is_none_can_be_removed() {
    let env = TestEnv::new();
    write(&users(&env), "[agents]\ncuont = 3\n[system]\nlogCompresDays = 3\n");
    env.git(&["config", "axiom.agents.cuont", "3"]);
    env.git(&["config", "axiom.foo", "3"]);
    env.axiom(&["config", "check"]).fails_with(Code::ConfigInvalid);
    for (layer, key) in
        [("--user", "agents.cuont"), ("--user", "system.logCompresDays"), ("--local", "agents.cuont"), ("--local", "foo")]
    {
        assert_eq!(env.json(&["config", "unset", layer, key])["changed"], true, "{layer} {key}");
    }
    env.ok(&["config", "check"]);
}

#[test]
fn comments_order_a_byte_order_mark_and_the_mode_of_a_file_stay() {
    let env = TestEnv::new();
    let text = "\u{feff}# mine\r\n[merge]\r\n# which\r\ntarget = 'x' # this\r\n\r\n[agents]\r\ncount = 3\r\n# the end\r\n";
    write(&users(&env), text);
    std::fs::set_permissions(users(&env), PermissionsExt::from_mode(0o640)).unwrap();
    env.ok(&["config", "set", "--user", "agents.count", "5"]);
    env.ok(&["config", "set", "--user", "merge.target", "y"]);
    assert_eq!(read(&users(&env)), text.replace('3', "5").replace("'x'", "\"y\""));
    assert_eq!(std::fs::metadata(users(&env)).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(value(&env, "agents.count"), 5);
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
            for args in [&["set", layer, "agents.count", "4"][..], &["unset", layer, "agents.count"]] {
                if words.contains("something else") && args[0] == "unset" {
                    continue;
                }
                let run = env.axiom(&[&["config"], args].concat()).fails_with(code);
                assert!(run.stderr.contains(words), "{layer}: {run}");
                if code == Code::ConfigInvalid {
                    assert!(run.stderr.contains(&format!("hint: git axiom config edit {layer}")), "{run}");
                }
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
    let set = env.json(&["config", "set", "--user", "agents.count", "4"]);
    assert_eq!(set["path"].as_str(), dotfile.to_str());
    assert!(users(&env).is_symlink() && read(&dotfile) == "# kept\n\n[agents]\ncount = 4\n", "{}", read(&dotfile));
    std::fs::remove_file(&dotfile).unwrap();
    env.axiom(&["config", "set", "--user", "agents.count", "4"]).fails_with(Code::InTheWay);
    assert!(!dotfile.exists());

    let outside = env.root().join("outside");
    write(&outside.join("config.toml"), "");
    symlink(&outside, env.repo().join(".axiom")).unwrap();
    env.axiom(&["config", "set", "--repo", "agents.count", "4"]).fails_with(Code::InTheWay);
    std::fs::remove_file(env.repo().join(".axiom")).unwrap();
    env.write(".axiom/other", "");
    symlink(outside.join("config.toml"), env.repo().join(PROJECT)).unwrap();
    env.axiom(&["config", "set", "--repo", "agents.count", "4"]).fails_with(Code::InTheWay);
    assert_eq!(read(&outside.join("config.toml")), "");
    std::fs::remove_file(env.repo().join(PROJECT)).unwrap();
    env.write(".axiom/.git", "gitdir: elsewhere\n");
    env.axiom(&["config", "set", "--repo", "agents.count", "4"]).fails_with(Code::InTheWay);
    std::fs::remove_dir_all(env.repo().join(".axiom")).unwrap();
    env.write(".axiom", "a file\n");
    env.axiom(&["config", "set", "--repo", "agents.count", "4"]).fails_with(Code::InTheWay);
    assert_eq!(env.read(".axiom"), "a file\n");
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let env = TestEnv::new();
    let keys = ["agents.count", "agents.maxIterations", "checkpoints.maxCount", "checkpoints.periodic", "recovery.maxRetries"];
    for layer in LAYERS {
        let running: Vec<_> = keys
            .iter()
            .map(|key| {
                let mut command = env.axiom_command(&env.repo(), ["config", "set", layer, key, "9"]);
                command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for child in running {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        if layer == "--repo" {
            env.ok(&["trust", "--yes"]);
        }
        for key in keys {
            assert_eq!(value(&env, key), 9, "{layer} {key}");
        }
        keys.iter().for_each(|key| drop(env.ok(&["config", "unset", layer, key])));
    }
    assert!(!env.repo().join(".git/config.lock").exists());
}

#[test]
fn a_crash_leaves_the_old_or_the_new_file() {
    let env = TestEnv::new();
    let faults = |layer: &str| match layer {
        "--local" => vec!["git.config-locked", "git.config-moved"],
        _ => vec!["files.before-replace"],
    };
    for layer in LAYERS {
        env.ok(&["config", "set", layer, "agents.count", "3"]);
        for fault in faults(layer) {
            let mut command = env.axiom_command(&env.repo(), ["config", "set", layer, "agents.count", "4"]);
            command.env("AXIOM_TEST_FAULT", format!("{fault}:1"));
            assert_eq!(env.run(command, None).code, None, "{fault} is reached");
            let now = env.json(&["config", "set", layer, "agents.count", "5"]);
            assert!(now["before"] == 3 || now["before"] == 4, "{now}");
            env.ok(&["config", "set", layer, "agents.count", "3"]);
        }
    }
}

#[test]
fn what_git_includes_and_config_worktree_stay_as_they_are() {
    let env = TestEnv::new();
    let included = env.root().join("included");
    write(&included, "[axiom \"agents\"]\n\tcount = 5\n");
    env.git(&["config", "axiom.agents.count", "3"]);
    env.git(&["config", "include.path", included.to_str().unwrap()]);
    let set = env.json(&["config", "set", "agents.count", "4"]);
    assert_eq!(json!([set["before"], set["value"], set["effective"]]), json!([3, 4, 5]), "the include stands later");
    let unset = env.json(&["config", "unset", "agents.count"]);
    assert_eq!(json!([unset["before"], unset["effective"]]), json!([4, 5]));
    let noted = env.axiom(&["config", "unset", "agents.count"]).success();
    assert!(noted.stderr.contains("what counts here is 5, from another layer: git config"), "{noted}");
    assert_eq!(read(&included), "[axiom \"agents\"]\n\tcount = 5\n");
    env.git(&["config", "--unset", "include.path"]);
    env.git(&["config", "extensions.worktreeConfig", "true"]);
    env.git(&["config", "--worktree", "axiom.agents.count", "6"]);
    let noted = env.axiom(&["config", "set", "agents.count", "4"]).success();
    assert!(noted.stderr.contains("what counts here is 6") && noted.stderr.contains("config.worktree"), "{noted}");
    // Others' lines of git's own configuration stay.
    env.git(&["config", "user.name", "Somebody Else"]);
    env.ok(&["config", "unset", "agents.count"]);
    assert_eq!(env.git(&["config", "user.name"]), "Somebody Else");
}

#[test]
fn git_s_lock_is_waited_for_and_respected_and_a_link_is_left_to_git() {
    let env = TestEnv::new();
    let (config, lock) = (env.repo().join(".git/config"), env.repo().join(".git/config.lock"));
    let before = read(&config);
    std::fs::write(&lock, "").unwrap();
    env.axiom(&["config", "set", "agents.count", "4"]).fails_with(Code::GitLocked);
    editor(&env, &["config", "edit"], "printf '[axiom \"agents\"]\ncount=4' >>").fails_with(Code::GitLocked);
    assert_eq!((read(&config), read(&lock)), (before, String::new()));
    let running = env.axiom_command(&env.repo(), ["config", "set", "agents.count", "4"]).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    std::fs::remove_file(&lock).unwrap();
    assert!(running.wait_with_output().unwrap().status.success());
    assert_eq!(env.git(&["config", "axiom.agents.count"]), "4");
    let elsewhere = env.root().join("elsewhere");
    std::fs::rename(&config, &elsewhere).unwrap();
    symlink(&elsewhere, &config).unwrap();
    let run = env.axiom(&["config", "set", "agents.count", "5"]).fails_with(Code::InTheWay);
    assert!(run.stderr.contains("hint: git config axiom.") && config.is_symlink(), "{run}");
}

#[test]
fn a_bare_repository_has_git_s_layer_and_no_project_s_and_outside_of_any_is_the_user_s() {
    let env = TestEnv::new();
    env.git_in(env.root(), &["clone", "-q", "--bare", "repo", "bare.git"]);
    let bare = env.root().join("bare.git");
    env.axiom_in(&bare, &["config", "set", "agents.count", "4"]).success();
    assert_eq!(env.git_in(&bare, &["config", "axiom.agents.count"]), "4");
    env.axiom_in(&bare, &["config", "set", "--repo", "agents.count", "4"]).fails_with(Code::BareRepository);
    env.axiom_in(env.root(), &["config", "set", "--user", "agents.count", "4"]).success();
    env.axiom_in(env.root(), &["config", "unset", "--user", "agents.count"]).success();
    for layer in ["--repo", "--local"] {
        env.axiom_in(env.root(), &["config", "set", layer, "agents.count", "4"]).fails_with(Code::NotARepository);
    }
}

#[test]
fn no_agent_writes_the_configuration() {
    let env = TestEnv::new();
    for layer in LAYERS {
        for args in [
            &["set", layer, "agents.count", "4"][..],
            &["unset", layer, "agents.count"],
            &["edit", layer],
            &["restore"],
            &["reset"],
        ] {
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
    let run = env.run(env.bound_by_permissions(&["config", "set", "--user", "agents.count", "4"]), None);
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
        for layer in --user --repo --local; do "$3" config set $layer agents.count 3 >/dev/null 2>&1 || exit 7; done
        all() { cat "$HOME/.config/git-axiom/config.toml" .axiom/config.toml .git/config; }
        all > "$2.before"
        cat /dev/zero > "$1/filler" 2>/dev/null || true
        for layer in --user --repo --local; do
            if "$3" config set $layer agents.default "$(head -c 20000 /dev/zero | tr '\0' x)" 2>"$2.err"; then exit 8; fi
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
        env.ok(&["config", "unset", layer, "agents.count"]);
    }
    // A file that no other verb can change can be mended.
    write(&users(&env), b"[agents\n\xff");
    editor(&env, &["config", "edit", "--user"], "printf '[agents]\\ncount = 6\\n' >").success();
    assert_eq!(value(&env, "agents.count"), 6);
}

#[test]
fn what_somebody_else_wrote_meanwhile_is_kept_and_so_is_the_text() {
    let env = TestEnv::new();
    for (layer, path) in [("--user", users(&env)), ("--local", env.repo().join(".git/config"))] {
        env.ok(&["config", "set", layer, "agents.count", "3"]);
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
    env.ok(&["config", "set", "agents.count", "4"]);
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
fn what_counts_is_what_was_just_set() {
    let env = TestEnv::new();
    let answer = env.json(&["config", "set", "agents.count", "4"]);
    assert_eq!(answer["effective"], 4, "{answer}");
}

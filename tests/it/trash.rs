//! What operations put aside is kept for `keepDeletedDays`, and no longer; nothing else is ever emptied, and what holds a
//! mount neither moves nor goes.

use crate::common::TestEnv;

fn recover_on(env: &TestEnv, days: i64) {
    on(env, days, &["recover", "--yes"]);
}

/// Runs a verb that many days from now.
fn on(env: &TestEnv, days: i64, args: &[&str]) {
    later_on(env, days, 0, args);
}

fn later_on(env: &TestEnv, days: i64, hours: i64, args: &[&str]) {
    let mut command = env.axiom_command(&env.repo(), args);
    let then = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * days + hours);
    command.env("AXIOM_TEST_NOW", then.to_string());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_trash_is_emptied_of_ours_after_its_time_and_of_nothing_else() {
    let env = TestEnv::new();
    env.write("f", "before\n");
    env.ok(&["checkpoint", "create", "c"]);
    // Where a file was, a folder with an ignored file: that goes to the trash.
    std::fs::remove_file(env.repo().join("f")).unwrap();
    env.write(".git/info/exclude", "*.ign\n");
    env.write("f/precious.ign", "precious\n");
    env.ok(&["rollback", "checkpoint", "c", "--yes"]);
    let trash = env.repo().join(".git/axiom/trash");
    let held = || {
        let files = walkdir::WalkDir::new(&trash).into_iter().flatten();
        files.filter(|entry| entry.file_name() == "precious.ign").count()
    };
    assert_eq!(held(), 1);
    // Somebody's own things, in a place of the same name.
    for users in ["trash-of-mine", "0123456789abcdeg", "x"] {
        env.write(&format!(".git/axiom/trash/{users}/keep"), "mine");
    }
    recover_on(&env, 6);
    assert_eq!(held(), 1);
    recover_on(&env, 8);
    assert_eq!(held(), 0);
    for users in ["trash-of-mine", "0123456789abcdeg", "x"] {
        assert_eq!(env.read(&format!(".git/axiom/trash/{users}/keep")), "mine");
    }
    assert_eq!(env.read("f"), "before\n");
}

#[test]
fn whatever_verb_comes_along_empties_the_trash_a_little_at_a_time() {
    let env = TestEnv::new();
    env.write("f", "before\n");
    env.ok(&["checkpoint", "create", "c"]);
    env.write("f", "after\n");
    env.ok(&["rollback", "checkpoint", "c", "--yes"]);
    let trash = env.repo().join(".git/axiom/trash");
    let old = 450;
    for number in 0..old {
        std::fs::create_dir_all(trash.join(format!("t{number:016x}/d"))).unwrap();
    }
    let held = || std::fs::read_dir(&trash).unwrap().count();
    let before = held();
    assert!(before > old);
    let round = |days: i64, hours: i64, number: i64| {
        env.write("f", format!("on day {days}, round {number}\n"));
        later_on(&env, days, hours, &["rollback", "checkpoint", "c", "--yes"]);
    };
    round(6, 0, 0);
    on(&env, 6, &["checkpoint", "create"]);
    assert!(held() >= before, "it is kept as long as it was promised");
    // The clock seems to have jumped: what it says is believed only if it still says so an hour later.
    on(&env, 8, &["checkpoint", "create"]);
    assert!(held() >= before);
    let mut agents = env.axiom_command(&env.repo(), ["checkpoint", "create"]);
    let later = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * 8 + 2);
    agents.env("AXIOM_TEST_NOW", later.to_string()).env("AXIOM_TOKEN", "x").env("AXIOM_AGENT", "ed-001");
    assert!(agents.output().unwrap().status.success());
    assert!(held() >= before, "an agent's environment does not say how long things are kept");
    later_on(&env, 8, 2, &["checkpoint", "create"]);
    assert!(before - 250 < held() && held() <= before - 190, "{} of {before}", held());
    (0..4).for_each(|number| round(8, 2, number));
    assert!(held() < 20, "{}", held());
    assert_eq!(env.read("f"), "before\n");
}

/// Runs a script in a namespace of its own, where it may mount; `$AXIOM` is the program, `$LATER` a time after the trash's.
fn with_mounts(env: &TestEnv, script: &str) {
    let mut command = env.program("unshare", &env.repo());
    let later = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * 8);
    command.args(["-Urm", "sh", "-euc", script]).env("LATER", later.to_string());
    command.env("AXIOM", env!("CARGO_BIN_EXE_git-axiom"));
    let output = command.output().expect("unshare is needed for this test");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{:?}\n{out}{err}", output.status.code());
}

#[test]
fn the_trash_is_emptied_of_nothing_that_is_mounted_in_it_or_lies_behind_a_link() {
    let env = TestEnv::new();
    env.write("f", "before\n");
    env.ok(&["checkpoint", "create", "c"]);
    std::fs::remove_file(env.repo().join("f")).unwrap();
    env.write(".git/info/exclude", "/.worktrees/\n*.ign\n");
    env.write("f/data/x.ign", "x\n");
    env.ok(&["rollback", "checkpoint", "c", "--yes"]);
    with_mounts(
        &env,
        r#"
        mkdir ../precious && echo mine > ../precious/mine
        data=$(dirname "$(find .git/axiom/trash -name x.ign)")
        mount --bind ../precious "$data"
        AXIOM_TEST_NOW=$LATER "$AXIOM" recover --yes > ../out 2>&1 || true
        grep -q mine ../precious/mine || exit 10
        grep -q "$data" ../out || { cat ../out; exit 11; }
        umount "$data"
        # Somebody's own trash, with names like ours.
        mv .git/axiom/trash ../theirs && ln -s ../../../theirs .git/axiom/trash
        AXIOM_TEST_NOW=$LATER "$AXIOM" recover --yes > ../out 2>&1 || true
        test -n "$(find ../theirs -name x.ign)" || exit 12
        grep -q 'symbolic link' ../out || { cat ../out; exit 13; }
        rm .git/axiom/trash && mv ../theirs .git/axiom/trash
        # The workspaces may be on a disk of their own: the user mounted that to be used.
        mkdir -p .worktrees ../disk/trash/t0123456789abcdef && echo x > ../disk/trash/t0123456789abcdef/x.ign
        mount --bind ../disk .worktrees
        AXIOM_TEST_NOW=$LATER "$AXIOM" recover --yes > ../out 2>&1
        test -z "$(find .worktrees/trash -name x.ign)" || { cat ../out; exit 14; }
        "#,
    );
}

#[test]
fn what_holds_a_mount_is_not_moved_and_that_is_said_before_anything_changes() {
    let env = TestEnv::new();
    env.write("f", "before\n");
    env.write("d/in", "before\n");
    env.ok(&["checkpoint", "create", "c"]);
    std::fs::remove_file(env.repo().join("f")).unwrap();
    env.write(".git/info/exclude", "/.worktrees/\n*.ign\n");
    env.write("f/data/x.ign", "x\n");
    env.write("d/in", "after\n");
    with_mounts(
        &env,
        r#"
        mkdir ../precious && echo mine > ../precious/mine && echo in > ../precious/in
        refused() {
            for way in --dry-run --yes; do
                status=0; "$AXIOM" $1 $2 $3 $way > ../out 2>&1 || status=$?
                [ $status = 4 ] || { cat ../out; echo "$*: $status"; exit 10; }
                grep -q 'HOLDS_MOUNT\|IN_THE_WAY' ../out && grep -q "$4" ../out || { cat ../out; exit 11; }
                grep -q after d/in && test -d f/data || exit 12
                ! "$AXIOM" rollback --abort 2>&1 | grep -q 'put back' || exit 13
            done
        }
        # An ignored folder that is in the way.
        mount --bind ../precious f/data
        refused rollback checkpoint c f/data
        umount f/data
        # A file that would be replaced, alone and in a folder.
        echo after > ../precious/in
        mount --bind ../precious/in d/in
        refused rollback checkpoint c d/in
        umount d/in
        mount --bind ../precious d
        refused rollback checkpoint c d
        umount d
        grep -q mine ../precious/mine
        # What is mounted elsewhere is in nobody's way, and what is gone neither.
        mkdir elsewhere && mount --bind ../precious elsewhere && echo elsewhere/ >> .git/info/exclude
        "$AXIOM" rollback checkpoint c --yes > ../out 2>&1 || { cat ../out; exit 14; }
        grep -q before d/in && grep -q before f && test -f elsewhere/mine
        # And what is put back.
        data=$(dirname "$(find .git/axiom/trash -name x.ign)")
        mount --bind ../precious "$data"
        status=0; "$AXIOM" undo --yes > ../out 2>&1 || status=$?
        [ $status = 4 ] && grep -q HOLDS_MOUNT ../out && grep -q before f || { cat ../out; exit 15; }
        umount "$data"
        "$AXIOM" undo --yes > ../out 2>&1 || { cat ../out; exit 16; }
        grep -q x f/data/x.ign
        "#,
    );
}

#[test]
fn a_workspace_that_holds_a_mount_stays_where_it_is() {
    let env = TestEnv::new();
    env.write(".git/info/exclude", "*.ign\n");
    env.ok(&["task", "add", "one", "--id", "t1", "--body", "mkdir data.ign; echo one > one.txt; git add .; git commit -qm one"]);
    env.ok(&["checkpoint", "create", "c"]);
    env.axiom(&["run", "--until-idle", "--agents", "1"]);
    env.ok(&["gate", "approve", "claim-t1"]);
    let run = env.axiom(&["run", "--until-idle", "--agents", "1"]);
    let workspace = env.repo().join(".worktrees").join("agent-001-t1");
    assert!(workspace.join("data.ign").is_dir(), "{run}");
    with_mounts(
        &env,
        r#"
        mkdir ../precious && echo mine > ../precious/mine
        data=.worktrees/agent-001-t1/data.ign
        mount --bind ../precious $data
        for verb in 'merge t1' 'rollback checkpoint c --yes' 'rollback checkpoint c --dry-run'; do
            before=$(git for-each-ref refs/heads)
            status=0; "$AXIOM" $verb > ../out 2>&1 || status=$?
            [ $status = 4 ] || { cat ../out; echo "$verb: $status"; exit 10; }
            grep -q data.ign ../out || { cat ../out; exit 11; }
            [ "$before" = "$(git for-each-ref refs/heads)" ] && test -f $data/mine || exit 12
        done
        umount $data
        "$AXIOM" merge t1 > ../out 2>&1 || { cat ../out; exit 13; }
        test ! -e .worktrees/agent-001-t1
        AXIOM_TEST_NOW=$LATER "$AXIOM" recover --yes > ../out 2>&1 || { cat ../out; exit 14; }
        [ "$(cat ../precious/mine)" = mine ] && test -z "$(find .worktrees/trash -name data.ign)"
        "#,
    );
}

#[test]
fn a_worktree_on_a_file_system_of_its_own_has_its_trash_there() {
    let env = TestEnv::new();
    env.write(".git/info/exclude", "*.ign\n");
    with_mounts(
        &env,
        r#"
        mkdir ../disk && mount -t tmpfs disk ../disk
        wt=$(realpath ../disk)/wt
        git worktree add -q "$wt" -b side
        echo before > "$wt/f"
        "$AXIOM" checkpoint create c > /dev/null
        rm "$wt/f"; mkdir -p "$wt/f/deep"; echo precious > "$wt/f/deep/x.ign"; echo after > "$wt/README"
        back() { "$AXIOM" rollback checkpoint c --worktree "$wt" "$1"; }
        before() { grep -q precious "$wt/f/deep/x.ign" && grep -q after "$wt/README"; }
        after() { grep -q before "$wt/f" && grep -q project "$wt/README"; }
        back --dry-run > ../out 2>&1 || { cat ../out; exit 10; }
        back --yes > ../out 2>&1 || { cat ../out; exit 11; }
        after || exit 12
        # It is there, and git and checkpoints see none of it.
        test -n "$(find "$wt/.axiom-trash" -name x.ign)" || exit 13
        [ -z "$(git -C "$wt" status --porcelain -uall | grep axiom)" ] || exit 14
        "$AXIOM" checkpoint create d --json > ../out
        ! grep -q axiom-trash ../out || { cat ../out; exit 15; }
        "$AXIOM" undo --yes > ../out 2>&1 || { cat ../out; exit 16; }
        before || exit 17
        "$AXIOM" redo --yes > ../out 2>&1 || { cat ../out; exit 18; }
        after && "$AXIOM" undo --yes > /dev/null && before || exit 19
        for point in journal.begun git.restore-before-aside git.restore-in-trash git.restore-placed journal.before-head; do
            for way in --abort --continue; do
                AXIOM_TEST_FAULT=$point:1 back --yes > ../out 2>&1 && exit 20
                "$AXIOM" rollback $way > ../out 2>&1 || { cat ../out; exit 21; }
                if [ $way = --continue ]; then
                    after || exit 22
                    "$AXIOM" undo --yes > ../out 2>&1 || { cat ../out; exit 23; }
                fi
                before || { echo "$point $way"; ls -lR "$wt"; exit 24; }
            done
        done
        # An operation of git's in progress is in the git directory, on the other file system.
        git -C "$wt" commit -q --allow-empty -m more
        git -C "$wt" bisect start -q HEAD HEAD~1 > /dev/null
        back --yes > ../out 2>&1 || { cat ../out; exit 25; }
        "$AXIOM" undo --yes > ../out 2>&1 || { cat ../out; exit 26; }
        back --yes > ../out 2>&1 || { cat ../out; exit 27; }
        AXIOM_TEST_NOW=$LATER "$AXIOM" recover --yes > ../out 2>&1 || { cat ../out; exit 28; }
        test -z "$(find "$wt/.axiom-trash" -name x.ign)" && after || exit 29
        "#,
    );
}

#[test]
fn what_is_on_the_lower_layer_of_an_overlay_goes_and_comes_back() {
    let env = TestEnv::new();
    env.write(".git/info/exclude", "*.ign\n");
    env.write("f", "before\n");
    env.ok(&["checkpoint", "create", "c"]);
    env.ok(&[
        "task",
        "add",
        "one",
        "--id",
        "t1",
        "--body",
        "mkdir d.ign; echo x > d.ign/x; echo one > one.txt; git add one.txt; git commit -qm one",
    ]);
    env.axiom(&["run", "--until-idle", "--agents", "1"]);
    env.ok(&["gate", "approve", "claim-t1"]);
    env.axiom(&["run", "--until-idle", "--agents", "1"]);
    assert!(env.repo().join(".worktrees/agent-001-t1/d.ign/x").is_file());
    std::fs::remove_file(env.repo().join("f")).unwrap();
    env.write("f/deep/x.ign", "precious\n");
    env.write("f/deep/y/z.ign", "precious\n");
    with_mounts(
        &env,
        r#"
        repo=$PWD; mkdir ../upper && mount -t tmpfs upper ../upper
        fresh() {
            cd /; umount "$repo" 2> /dev/null || true
            rm -rf "$repo/../upper/u" "$repo/../upper/w"; mkdir "$repo/../upper/u" "$repo/../upper/w"
            mount -t overlay o -o "userxattr,lowerdir=$repo,upperdir=$repo/../upper/u,workdir=$repo/../upper/w" "$repo"
            cd "$repo"
        }
        w=.worktrees/agent-001-t1
        before() { grep -q precious f/deep/x.ign && grep -q precious f/deep/y/z.ign && grep -q x $w/d.ign/x && git -C $w status > /dev/null; }
        after() { grep -q before f && test ! -e $w; }
        fresh; before || exit 10
        mv f g 2> /dev/null && rmdir f/deep 2> /dev/null && exit 9
        fresh
        "$AXIOM" rollback checkpoint c --yes > ../out 2>&1 || { cat ../out; exit 11; }
        after || { ls -la . $w; exit 12; }
        "$AXIOM" undo --yes > ../out 2>&1 || { cat ../out; exit 13; }
        before || exit 14
        "$AXIOM" redo --yes > ../out 2>&1 || { cat ../out; exit 15; }
        after || exit 16
        for fault in half-begun:1 half-part:1 half-part:2 half-part:3 half-part:6 half-whole:1 half-whole:2 half-named:1 half-named:2 half-named:3; do
            for way in --abort --continue; do
                fresh
                AXIOM_TEST_FAULT=files.$fault "$AXIOM" rollback checkpoint c --yes > ../out 2>&1 && exit 20
                "$AXIOM" rollback $way > ../out 2>&1 || { cat ../out; exit 21; }
                if [ $way = --continue ]; then
                    after || { echo $fault; exit 22; }
                    "$AXIOM" undo --yes > ../out 2>&1 || { cat ../out; exit 23; }
                fi
                before || { echo "$fault $way"; ls -lRa f .worktrees; exit 24; }
                git fsck --no-progress --no-dangling || exit 25
            done
        done
        "#,
    );
}

/// What no checkpoint holds is only in the trash: no command that deletes ignored files may take it from there.
#[test]
fn what_a_rollback_moved_out_of_its_way_outlives_a_clean_of_ignored_files() {
    let env = TestEnv::new();
    env.write("data", "old\n");
    env.ok(&["checkpoint", "create", "c"]);
    env.write(".git/info/exclude", "/data\n");
    env.write("data", "precious\n");
    env.ok(&["rollback", "checkpoint", "c", "--yes"]);
    assert_eq!(env.read("data"), "old\n");
    env.write(".git/info/exclude", "/.worktrees/\n");
    env.git(&["clean", "-ffdxq", "-e", "/data"]);
    std::fs::remove_dir_all(env.repo().join(".worktrees")).unwrap_or_default();
    env.ok(&["undo", "--yes"]);
    assert_eq!(env.read("data"), "precious\n");
}

#[test]
fn a_file_in_the_place_of_the_workspaces_keeps_no_file_from_being_kept() {
    let env = TestEnv::new();
    env.write("f", "before\n");
    env.ok(&["checkpoint", "create", "c"]);
    env.write(".worktrees", "a file of the user's\n");
    env.write("f", "after\n");
    env.ok(&["rollback", "checkpoint", "c", "--yes"]);
    assert_eq!(env.read("f"), "before\n");
    env.ok(&["undo", "--yes"]);
    assert_eq!((env.read("f").as_str(), env.read(".worktrees").as_str()), ("after\n", "a file of the user's\n"));
}

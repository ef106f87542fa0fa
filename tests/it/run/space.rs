//! Levels of free space, on a real file system of 64 MB that fills up under running agents.

use std::process::Command;

use git_axiom::base::error::Code;

use crate::common::TestEnv;
use crate::terminal::Terminal;

/// `fill N` leaves N MB; `await` waits until a command succeeds; `$OUT` is elsewhere.
const SMALL_DISK: &str = r#"
set -u
mount -t tmpfs -o size=64m,nr_inodes=20000 none "$DISK" || exit 7
fill() {
    free=$(df --output=avail -k "$DISK" | tail -1)
    head -c $(((free - $1 * 1024) * 1024)) /dev/zero >> "$DISK/filler"
}
await() {
    n=0
    until eval "$1" > /dev/null 2>&1; do
        n=$((n + 1)); sleep 0.1
        [ $n -lt 600 ] || { echo "in vain: $1"; "$AXIOM" status; "$AXIOM" gate list; cat "$OUT/err"; kill $run 2> /dev/null; exit 9; }
    done
}
axiom() { "$AXIOM" "$@"; }
status_of() { axiom task show $1 --json | grep -o '"status": *"[a-z]*"' | head -1 | grep -q "\"$2\""; }
ends_well() {
    axiom quit > /dev/null || exit 13
    wait $run || { echo "ended with $?"; cat "$OUT/err"; exit 14; }
    axiom recover > /dev/null || exit 15
    git fsck --strict --no-dangling > /dev/null || exit 16
}
cd "$DISK" && git init -q -b main r && cd r || exit 1
git commit -q --allow-empty -m first || exit 1
git config axiom.system.diskEmergencyThreshold 12
git config axiom.system.diskCriticalThreshold 24
git config axiom.system.diskWarningThreshold 40
"#;

fn command(env: &TestEnv, script: &str) -> Command {
    let (disk, out) = (env.root().join("disk"), env.root().join("out"));
    [&disk, &out].into_iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
    let mut command = env.program("unshare", env.root());
    command.args(["-Urmpf", "--kill-child", "--mount-proc", "sh", "-c", &[SMALL_DISK, script].concat()]);
    command.env("DISK", &disk).env("OUT", &out).env("AXIOM", env!("CARGO_BIN_EXE_git-axiom"));
    command
}

#[track_caller]
fn on_a_small_disk(script: &str) {
    let env = TestEnv::empty();
    let output = command(&env, script).output().expect("unshare is needed for this test");
    let said = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    assert!(output.status.success(), "{:?}: {said}", output.status.code());
}

#[test]
fn disk_warning_critical_and_emergency_come_in_order_and_work_goes_on_once_there_is_space() {
    on_a_small_disk(
        r#"
        axiom task add a --id a --body "echo half > a.txt; touch '$OUT/begun'
            while [ ! -e '$OUT/go' ]; do sleep 0.1; done; echo 1 > a.txt" > /dev/null || exit 2
        axiom run --mode review 2> "$OUT/err" > /dev/null & run=$!
        await '[ -e "$OUT/begun" ]'
        fill 32
        await 'grep "DISK_WARNING: 3[0-9] MB are free where" "$OUT/err"'
        grep -q DISK_CRITICAL "$OUT/err" && exit 3
        fill 20
        await 'axiom gate list | grep "disk-space .*DISK_CRITICAL"'
        axiom task add b --id b --body 'echo 1 > b.txt' > /dev/null || exit 4
        sleep 1.5
        status_of a active && status_of b pending || { axiom status; exit 5; }
        [ -z "$(ls .worktrees | grep b)" ] || exit 6
        axiom disk | grep -q DISK_CRITICAL || { axiom disk; exit 8; }
        for what in captures packs workspaces trash logs; do
            axiom disk | grep -q "^$what" || { echo "no $what"; axiom disk; exit 8; }
        done
        axiom checkpoint create c > /dev/null || exit 8
        fill 8
        await 'grep "DISK_EMERGENCY: [0-9] MB are free where" "$OUT/err"'
        await 'status_of a pending'
        axiom checkpoint create d 2>&1 | grep -q 'error\[DISK_EMERGENCY\]: there is too little space to make a checkpoint' || exit 10
        # A human may look at it again, and it still waits.
        axiom gate approve disk-space > /dev/null || exit 11
        await 'axiom log --all | grep "looked again"; axiom gate list | grep disk-space'
        touch "$OUT/go"
        rm "$DISK/filler"
        await '! axiom gate list | grep disk-space'
        for task in a b; do await "axiom gate approve merge-$task"; done
        await 'git cat-file -e main:a.txt && git cat-file -e main:b.txt'
        await '[ $(axiom task list --json | grep -o "\"merged\": *{" | wc -l) = 2 ]'
        ends_well
        "#,
    );
}

#[test]
fn a_task_whose_program_fails_at_emergency_is_blocked_and_works_after_unblock() {
    on_a_small_disk(
        r#"
        axiom task add t --id t --body "[ -e '$OUT/go' ] && { echo 1 > t.txt; exit 0; }
            head -c 100M /dev/zero > '$DISK/big'; exit 3" > /dev/null || exit 2
        axiom run --mode autopilot 2> "$OUT/err" > /dev/null & run=$!
        await '[ -e "$DISK/big" ]'
        await 'grep DISK_EMERGENCY "$OUT/err"'
        # Until then there may be no space to record how it ended.
        rm "$DISK/big"
        await 'status_of t blocked'
        axiom task show t | grep -q 'DISK_EMERGENCY' || { axiom task show t; exit 3; }
        touch "$OUT/go"
        await '! axiom gate list | grep disk-space'
        axiom task unblock t > /dev/null || exit 4
        await 'git cat-file -e main:t.txt'
        ends_well
        "#,
    );
}

#[test]
fn without_a_clean_up_a_rejected_gate_ends_the_session() {
    on_a_small_disk(
        r#"
        git config axiom.system.autoCleanupEnabled false
        axiom task add t --id t --body 'echo 1 > t.txt' > /dev/null || exit 2
        fill 20
        axiom run --until-idle --mode autopilot 2> "$OUT/err" > /dev/null & run=$!
        await 'axiom gate list | grep disk-space'
        grep -q 'cleaned up' "$OUT/err" && exit 3
        axiom gate reject disk-space --reason 'not now' > /dev/null || exit 4
        wait $run || { echo "ended with $?"; cat "$OUT/err"; exit 5; }
        status_of t pending || exit 6
        [ -z "$(axiom gate list | grep disk-space)" ] || exit 8
        "#,
    );
}

/// What is ignored goes only by a human's choice; what an agent left uncommitted is captured before.
#[test]
fn the_choices_where_the_disk_is_critical_make_space_and_lose_nothing_that_a_capture_can_hold() {
    let env = TestEnv::empty();
    let script = r#"
        echo build > .gitignore && git add -A && git commit -q -m ignore || exit 1
        axiom task add t --id t --body 'mkdir -p build; head -c 30M /dev/zero > build/x; exit 1' > /dev/null || exit 2
        axiom run --until-idle --mode autopilot > /dev/null 2>&1
        status_of t failed || exit 3
        fill 20
        echo more > "$(echo .worktrees/*-t)/loose.txt" || exit 4
        axiom --non-interactive disk | grep -q DISK_CRITICAL || exit 5
        axiom disk || exit 6
        ls .worktrees | grep -q -e "-t$" && exit 8
        [ "$(git show refs/axiom/live/t:loose.txt)" = more ] || exit 9
        git rev-parse -q --verify axiom/t > /dev/null || exit 10
        git fsck --strict --no-dangling > /dev/null || exit 11
    "#;
    let mut disk = Terminal::start(command(&env, script));
    for words in ["[1] Remove old checkpoints (", "[2] Remove failed workspaces, empty the trash (1, ~30", "[3] ", "[R] ", "[Q] "]
    {
        disk.wait_for(words);
    }
    disk.keys(&["\x1b[B", "\x1b[B", "\x1b[B", "\r"]);
    disk.wait_for("[Q] ");
    disk.keys(&["\x1b[B", "\r"]);
    disk.wait_for("go for good. Delete? [y/N]");
    disk.keys(&["y", "\r"]);
    disk.wait_for("There is space again");
    let (status, seen) = disk.end();
    assert!(status.success(), "{status:?}: {seen}");
}

/// Each other choice, at a terminal: [Q], Escape and Ctrl-C do nothing; [1] leaves the newest ten checkpoints and can be undone.
#[test]
fn each_choice_where_the_disk_is_critical_does_what_it_names_and_leaving_does_nothing() {
    let script = r#"
        axiom init > /dev/null < /dev/null
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
            echo $i > f && axiom mode review > /dev/null && axiom mode autopilot > /dev/null || exit 2
        done
        fill 20
        axiom disk; status=$?
        count() { axiom checkpoint list --json | grep -o '"trigger"' | wc -l; }
        left=$(count)
        echo "left $left, status $status"
        if [ "$left" = 10 ]; then rm -f "$DISK/filler"; axiom undo --yes > /dev/null 2>&1; echo "undone $(count)"; fi
    "#;
    let down = "\x1b[B";
    let cases: [(&[&str], &str); 6] = [
        (&[down, down, down, down, "\r"], "left 14, status 0"),
        (&["\x1b"], "left 14, status 0"),
        (&["\x04"], "left 14, status 0"),
        (&["\x03"], "left 14, status 130"),
        (&["1", "\r", "\x1b"], "left 10, status 0"),
        (&["3", "\r", "\x1b"], "left 14, status 0"),
    ];
    for (keys, expected) in cases {
        let env = TestEnv::empty();
        let mut disk = Terminal::start(command(&env, script));
        disk.wait_for("What next? (Escape changes nothing)");
        disk.keys(keys);
        let (_, seen) = disk.end();
        assert!(seen.contains(expected), "{keys:?}: {seen}");
        // The undo makes a checkpoint of its own first.
        assert_eq!(seen.contains("undone 15"), expected.starts_with("left 10"), "{keys:?}: {seen}");
    }
}

/// A workspace in the trash is only what its commits hold, and what nobody holds.
#[test]
fn merged_workspaces_lose_what_commits_hold_where_it_is_critical_and_nothing_else() {
    on_a_small_disk(
        r#"
        echo build > .gitignore && git add -A && git commit -q -m ignore || exit 1
        axiom task add t --id t --body 'head -c 9M /dev/urandom > big; mkdir build sub; echo mine > build/x
            echo s > sub/y; ln -s y sub/link' > /dev/null || exit 2
        axiom task add open --id open --after t --body "touch '$OUT/begun'; sleep 1000" > /dev/null || exit 2
        axiom run --mode autopilot 2> "$OUT/err" > /dev/null & run=$!
        await '[ -e "$OUT/begun" ]'
        trash=$(echo .worktrees/trash/*-t-*)
        [ -e "$trash/big" ] || exit 3
        git reset -q --hard || exit 4
        # Another content at the same path is not what a commit holds.
        echo other > "$trash/sub/y"
        fill 20
        await 'grep "2 files of merged workspaces deleted, 9 MB: commits hold them" "$OUT/err"'
        await '! axiom gate list | grep disk-space'
        [ ! -e "$trash/big" ] && [ ! -e "$trash/.gitignore" ] || { find "$trash"; exit 5; }
        [ "$(cat "$trash/build/x" "$trash/sub/y")" = "mine
other" ] && [ -L "$trash/sub/link" ] || { find "$trash"; exit 6; }
        axiom quit > /dev/null && wait $run
        rm "$DISK/filler"
        txn=$(axiom log | grep -o 'git axiom undo [a-z0-9]*' | head -1 | cut -d' ' -f4)
        git fsck --strict --no-dangling > /dev/null || exit 7
        git cat-file -e HEAD:big || exit 8
        "#,
    );
}

#[test]
fn a_disk_that_fills_within_the_clean_up_ends_it_with_its_code_and_once_there_is_space_it_goes_on() {
    on_a_small_disk(
        r#"
        head -c 12M /dev/urandom > loose && git add loose && git commit -q -m loose || exit 1
        axiom init > /dev/null || exit 1
        # Less room than the loose objects need: git is not even called.
        fill 8
        axiom disk --clean > "$OUT/out" 2>&1 && exit 2
        grep -q 'error\[DISK_FULL\]: the clean-up did not come to its end: .*there is too little space to pack objects' "$OUT/out" ||
            { cat "$OUT/out"; exit 3; }
        grep -q 'git axiom disk ' "$OUT/out" || exit 4
        # Somebody else writes meanwhile.
        rm "$DISK/filler"; fill 14
        cat > "$OUT/git" <<END
#!/bin/sh
for word; do [ "\$word" = repack ] && head -c 9M /dev/zero > "$DISK/meanwhile"; done
exec $(command -v git) "\$@"
END
        chmod +x "$OUT/git"
        PATH="$OUT:$PATH" axiom disk --clean > "$OUT/out" 2>&1 && { cat "$OUT/out"; exit 5; }
        grep -q 'error\[DISK_FULL\]: the clean-up did not come to its end' "$OUT/out" || { cat "$OUT/out"; exit 6; }
        # What git had begun is gone, so it is no fuller than before.
        ls .git/objects/pack | grep tmp_ && exit 7
        rm "$DISK/meanwhile" "$DISK/filler"
        git fsck --strict --no-dangling > /dev/null || exit 8
        axiom disk --clean > "$OUT/out" 2>&1 || { cat "$OUT/out"; exit 9; }
        grep -q 'loose objects and refs packed' "$OUT/out" || exit 10
        git fsck --strict --no-dangling > /dev/null && git cat-file -e HEAD:loose || exit 11
        "#,
    );
}

/// `spare N` leaves N more files to be made.
#[test]
fn a_file_system_without_room_for_more_files_pauses_and_stops_and_work_goes_on_once_there_is() {
    on_a_small_disk(
        r#"
        spare() {
            mkdir -p "$DISK/many"
            free=$(df --output=iavail "$DISK" | tail -1)
            (cd "$DISK/many" && seq -f "$1-%.0f" $((free - $1)) | xargs touch)
        }
        axiom task add a --id a --body "touch '$OUT/begun'; while [ ! -e '$OUT/go' ]; do sleep 0.1; done; echo 1 > a.txt" > /dev/null
        axiom run --mode autopilot 2> "$OUT/err" > /dev/null & run=$!
        await '[ -e "$OUT/begun" ]'
        spare 600
        await 'axiom gate list | grep "disk-space .*DISK_CRITICAL: only [0-9]* more files can be made"'
        axiom task add b --id b --body 'echo 1 > b.txt' > /dev/null || exit 2
        sleep 1
        status_of b pending || exit 3
        spare 60
        await 'grep "DISK_EMERGENCY: only [0-9]* more files can be made" "$OUT/err"'
        await 'status_of a pending'
        axiom checkpoint create c 2>&1 | grep -q 'error\[DISK_EMERGENCY\]' || exit 4
        # Not one: a write that meets it has its code, and what is there stays.
        spare 0
        axiom -C . checkpoint create d 2>&1 | grep -q 'error\[DISK_' || exit 5
        touch "$OUT/go"
        rm -r "$DISK/many"
        await 'git cat-file -e main:a.txt && git cat-file -e main:b.txt'
        ends_well
        git config axiom.system.diskEmergencyThreshold 0
        git config axiom.system.diskCriticalThreshold 0
        spare 0
        axiom checkpoint create e > "$OUT/out" 2>&1 && exit 6
        grep -q 'error\[DISK_FULL\]' "$OUT/out" && grep -q 'hint: ' "$OUT/out" || { cat "$OUT/out"; exit 7; }
        rm -r "$DISK/many"
        axiom checkpoint create e > /dev/null || exit 8
        "#,
    );
}

#[test]
fn a_full_disk_under_the_workspaces_alone_is_named_and_waited_for() {
    on_a_small_disk(
        r#"
        mkdir "$OUT/ws" && mount -t tmpfs -o size=48m none "$OUT/ws" || exit 1
        git config axiom.agents.workspaceRoot "$OUT/ws"
        head -c $((30 * 1024 * 1024)) /dev/zero > "$OUT/ws/filler"
        axiom task add a --id a --body 'echo 1 > a.txt' > /dev/null || exit 2
        axiom run --mode autopilot 2> "$OUT/err" > /dev/null & run=$!
        await 'axiom gate list | grep "disk-space .*DISK_CRITICAL: 1[0-9] MB are free where .*/out/ws"'
        [ -z "$(ls "$OUT/ws" | grep a)" ] && status_of a pending || exit 3
        axiom disk | grep "DISK_CRITICAL *workspaces" || { axiom disk; exit 4; }
        axiom disk | grep "enough\|DISK_WARNING" | grep -q 'git directory, main worktree' || { axiom disk; exit 5; }
        rm "$OUT/ws/filler"
        await 'git cat-file -e main:a.txt'
        # Without thresholds a checkout that finds no room has its code, and is tried again.
        git config axiom.system.diskEmergencyThreshold 0
        git config axiom.system.diskCriticalThreshold 0
        axiom quit > /dev/null && wait $run
        head -c 100M /dev/zero > "$OUT/ws/filler" 2> /dev/null
        axiom task add b --id b --body 'echo 1 > b.txt' > /dev/null || exit 6
        axiom run --mode autopilot 2> "$OUT/err" > /dev/null & run=$!
        await 'axiom status | grep "DISK_FULL\|DISK_CHECKOUT_FAILED\|No space left"'
        rm "$OUT/ws/filler"
        await 'git cat-file -e main:b.txt'
        ends_well
        "#,
    );
}

/// As with a filter that needs space of its own and does not say that there is none.
#[test]
fn disk_checkout_failed_is_named_at_the_gate_and_the_task_goes_on_once_there_is_space() {
    on_a_small_disk(
        r#"
        mkdir "$OUT/cache" && mount -t tmpfs -o size=1m none "$OUT/cache" || exit 1
        head -c 200000 /dev/zero > large.bin && echo '*.bin filter=cached' > .gitattributes || exit 1
        git add -A && git commit -q -m large || exit 1
        git config filter.cached.required true && git config filter.cached.clean cat
        git config filter.cached.smudge "cat > '$OUT/cache/one' 2> /dev/null && cat '$OUT/cache/one'"
        head -c 2M /dev/zero > "$OUT/cache/filler" 2> /dev/null
        axiom task add t --id t --body 'echo 1 > t.txt' > /dev/null || exit 2
        axiom run --mode autopilot 2> "$OUT/err" > /dev/null & run=$!
        await 'axiom status | grep "is tried again while its workspace is made .*: DISK_CHECKOUT_FAILED"'
        await 'axiom gate show claim-t | grep "DISK_CHECKOUT_FAILED: workspace .*could not be written"'
        status_of t pending || exit 3
        axiom gate list --json | grep -q '"DISK_CHECKOUT_FAILED: ' || { axiom gate list --json; exit 4; }
        rm "$OUT/cache/filler"
        axiom gate approve claim-t > /dev/null || exit 5
        await 'git cat-file -e main:t.txt'
        ends_well
        "#,
    );
}

/// A quota is known only once a write meets it.
#[test]
fn a_quota_that_a_write_meets_is_a_full_disk_and_the_next_call_works() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "first", "--id", "first"]);
    let over_quota = |args: &[&str], point: &str| {
        let mut command = env.axiom_command(&env.repo(), args);
        command.env("AXIOM_TEST_REFUSE", format!("{point}:{}", rustix::io::Errno::DQUOT.raw_os_error()));
        env.run(command, None)
    };
    for args in [&["task", "add", "second", "--id", "second"][..], &["checkpoint", "create", "c"], &["mode", "autopilot"]] {
        let refused = over_quota(args, "store.append").fails_with(Code::DiskFull);
        assert!(refused.stderr.contains("quota") && refused.stderr.contains("nothing was lost"), "{args:?}: {refused}");
        assert_eq!(env.json(&["task", "list"])["tasks"].as_array().unwrap().len(), 1);
    }
    env.ok(&["task", "add", "second", "--id", "second"]);
    env.ok(&["checkpoint", "create", "c"]);
    env.write("README", "changed");
    let refused = over_quota(&["rollback", "checkpoint", "c", "--yes"], "files.change");
    assert!(refused.code != Some(0) && refused.stderr.contains("error[DISK_FULL]"), "{refused}");
    let now = env.read("README");
    assert!(now == "changed" || now == "a project\n", "before or after: {now}");
    env.axiom(&["rollback", "--continue", "--yes"]);
    env.ok(&["rollback", "checkpoint", "c", "--yes"]);
    assert_eq!(env.read("README"), "a project\n");
    env.fsck();
}

//! Main never holds anything that was not complete, and verified as it is there: whatever dies, conflicts, is refused, or hangs.
//!
//! What the agents and the verify steps did stands in a diary of their own; the judgement reads that and git, nothing of git axiom's.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use crate::chaos::victims::Victim;
use crate::common::trials::{AskedCases, case_of};
use crate::session_support::{Live, Random, World, kill, several_at_a_time, wait_until};

const TASKS: [&str; 3] = ["a", "b", "c"];
/// How often a human lets go on what waits in the end.
const ROUNDS: u32 = 12;
/// All tasks change the first line of this file, and so does the human.
const SHARED: &str = "shared.txt";

/// Takes in what the target has, works for a while with halves on disk and in commits, and then makes them whole.
const PROGRAM: &str = r#"#!/bin/sh
cat > /dev/null
id=$AXIOM_TASK_ID
echo x >> "$HOME/begun-$id"
n=$(wc -l < "$HOME/begun-$id")
git merge -q --no-edit main > /dev/null 2>&1 || {
    sed -i '/^<<<<<<< /d; /^=======$/d; /^>>>>>>> /d; /^||||||| /d' shared.txt
    git add -A -- ':!*.hang' && git commit -qm settled
}
[ -e "$HOME/filter-hangs" ] && echo "$n" > "$id.hang"
echo "half $id" > "$id.txt"
grep -q " $id\$" shared.txt || sed -i "1i half $id" shared.txt
[ $((n % 2)) = 0 ] || { git add -A -- ':!*.hang' && git commit -qm "half of $id"; }
sleep 0.3
[ "$n" -gt "$(cat "$HOME/dies-$id")" ] || exit 1
echo "whole $id" > "$id.txt"
sed -i "s/^half $id\$/whole $id/" shared.txt
[ $((n % 3)) = 0 ] || { git add -A -- ':!*.hang' && git commit -qm "$id"; }
git axiom signal complete
"#;

/// Refuses a task's work a few times, whatever it is; what it lets pass is in the diary.
const STEP: &str = r#"
echo x >> "$HOME/verified-$AXIOM_TASK_ID"
sleep 0.1
[ "$(wc -l < "$HOME/verified-$AXIOM_TASK_ID")" -gt "$(cat "$HOME/refused-$AXIOM_TASK_ID")" ] || exit 1
git rev-parse HEAD^{tree} >> "$HOME/passed"
"#;

/// Vetoes the first merges.
const VETO: &str = r#"#!/bin/sh
echo x >> "$HOME/merges"
[ "$(wc -l < "$HOME/merges")" -gt "$(cat "$HOME/vetoes")" ]
"#;

/// What never answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hangs {
    Nothing,
    /// A hook that is told of finished tasks.
    Hook,
    /// The clean filter of a file that each agent leaves, the first time that it is run: a minute is waited for it.
    Filter,
}

#[derive(Debug, Clone, Copy)]
struct Blow {
    after: Duration,
    victim: Victim,
    which: u64,
    /// Whether a human commits to main before.
    commits: bool,
}

impl Blow {
    fn drawn(random: &mut Random) -> Self {
        let victims = [Victim::Nobody, Victim::Supervisor, Victim::Keeper, Victim::Agent, Victim::Everything];
        Self {
            after: Duration::from_millis(random.below(2000)),
            victim: victims[random.below(5) as usize],
            which: random.below(1 << 20),
            commits: random.below(2) > 0,
        }
    }
}

fn executable(world: &World, path: &str, content: &str) {
    let place = world.env.repo().join(path);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(&place, content).unwrap();
    std::fs::set_permissions(&place, PermissionsExt::from_mode(0o755)).unwrap();
}

fn world(random: &mut Random, hangs: Hangs) -> World {
    let world = World::new();
    let home = |name: &str, content: &str| std::fs::write(world.beside("home").join(name), content).unwrap();
    world.program_of_ones_own(PROGRAM, "");
    for (key, value) in [("recovery.maxRetries", "50"), ("hooks.timeout", "1")] {
        world.env.git(&["config", &format!("axiom.{key}"), value]);
    }
    world.env.write(SHARED, "begin\n");
    world.env.git(&["add", SHARED]);
    world.env.git(&["commit", "-q", "-m", "human"]);
    home("step.sh", STEP);
    for id in TASKS {
        home(&format!("dies-{id}"), &random.below(3).to_string());
        home(&format!("refused-{id}"), &random.below(3).to_string());
        world.task(id, "Do it.", &["--verify", "sh \"$HOME/step.sh\""]);
    }
    home("vetoes", &random.below(3).to_string());
    executable(&world, ".git/axiom/hooks/pre-merge.sh", VETO);
    match hangs {
        Hangs::Nothing => {}
        Hangs::Hook => executable(&world, ".git/axiom/hooks/post-task-complete.sh", "#!/bin/sh\nsleep 1000\n"),
        Hangs::Filter => {
            home("filter-hangs", "");
            world.env.git(&["config", "filter.hang.clean", "mkdir \"$HOME/hung\" 2>/dev/null && sleep 1000; cat"]);
            std::fs::create_dir_all(world.env.repo().join(".git/info")).unwrap();
            std::fs::write(world.env.repo().join(".git/info/attributes"), "*.hang filter=hang\n").unwrap();
        }
    }
    world.env.ok(&["trust", "--yes"]);
    world
}

/// Nothing half, and nothing that no step has let pass: at any commit that main ever had.
#[track_caller]
fn judge(world: &World, note: &str) {
    let passed: BTreeSet<String> = world.lines("home/passed").into_iter().collect();
    let log = world.env.git(&["log", "--first-parent", "--format=%H %T %s", "main", "--not", "refs/tags/begin"]);
    for line in log.lines().filter(|line| !line.is_empty()) {
        let [commit, tree, subject] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let half = world.env.try_git(&["grep", "-n", "^half", commit]);
        assert_eq!(half.code, Some(1), "{note}: main held what is half done: {line}\n{half}");
        assert!(subject == "human" || passed.contains(tree), "{note}: no step let pass what main held: {line}\n{passed:?}");
    }
}

/// A human adds a line where all tasks add theirs; not while git is at work there.
fn human_commits(world: &World, said: &mut Vec<String>) {
    let line = format!("human {}", said.len());
    let content = format!("{line}\n{}", world.env.read(SHARED));
    // As an editor does: what a merge makes of the file meanwhile must not be overwritten.
    let lock = world.env.repo().join(".git/index.lock");
    if std::fs::OpenOptions::new().write(true).create_new(true).open(&lock).is_err() {
        return;
    }
    if format!("{line}\n{}", world.env.read(SHARED)) == content && world.env.git(&["status", "--porcelain", SHARED]).is_empty() {
        world.env.write(SHARED, &content);
    }
    std::fs::remove_file(&lock).unwrap();
    if world.env.read(SHARED) == content && world.env.try_git(&["commit", "-q", "-m", "human", "--", SHARED]).code == Some(0) {
        said.push(line);
    } else {
        // Git may be at work there by now. Left as it is, the change would be in the way of every merge.
        wait_until("the file is as it was", || world.env.try_git(&["checkout", "-q", "HEAD", "--", SHARED]).code == Some(0));
    }
}

fn play(random: &mut Random, case: &str) -> usize {
    let hangs = match random.below(8) {
        0..=1 => Hangs::Hook,
        2 => Hangs::Filter,
        _ => Hangs::Nothing,
    };
    let blows: Vec<Blow> = (0..=random.below(4)).map(|_| Blow::drawn(random)).collect();
    let note = format!("{case}: {hangs:?} {blows:?}");
    let world = world(random, hangs);
    world.env.git(&["tag", "begin"]);
    let mut killed = 0;
    let (mut live, mut said): (Option<Live>, Vec<String>) = (None, Vec::new());
    for blow in blows {
        let running = live.get_or_insert_with(|| world.start_autopilot(&["--agents", "2"]));
        std::thread::sleep(blow.after);
        if blow.commits {
            human_commits(&world, &mut said);
        }
        killed += usize::from(blow.victim.dies(&world, running, blow.which));
        if !running.runs() {
            live = None;
        }
        judge(&world, &note);
    }
    for turn in 0..=ROUNDS {
        let ended = live.take().unwrap_or_else(|| world.start_autopilot(&["--agents", "2"])).wait();
        judge(&world, &note);
        if TASKS.iter().all(|task| world.find_task(task)["merged"]["commit"].is_string()) {
            break;
        }
        assert!(turn < ROUNDS && matches!(ended.code, Some(0 | 1)), "{note}\n{}{}", ended.stdout, ended.stderr);
        for gate in world.gates() {
            let (id, task) = (gate["id"].as_str().unwrap(), gate["taskId"].as_str().unwrap_or_default());
            if id.starts_with("merge-") && random.below(4) == 0 {
                world.env.ok(&["gate", "reject", id]);
                world.env.ok(&["task", "unblock", task]);
            } else {
                // What cannot be approved yet, says why.
                world.env.axiom(&["gate", "approve", id]);
            }
        }
        judge(&world, &note);
    }
    let shared = world.env.git(&["show", &format!("main:{SHARED}")]);
    let has = |line: &str| shared.lines().any(|one| one == line);
    for id in TASKS {
        assert!(has(&format!("whole {id}")), "{note}: {id} is done, and is not in main:\n{shared}");
    }
    for line in said {
        assert!(has(&line), "{note}: '{line}' was lost:\n{shared}");
    }
    // Whose supervisor was killed while it waited for a filter that hangs, that has nobody left who ends it.
    let hung = world.processes().into_iter().filter(|(_, words)| hangs == Hangs::Filter && words.starts_with("sleep 1000"));
    hung.for_each(|(pid, _)| assert!(kill(pid), "{note}: {pid}"));
    world.all_is_well();
    killed
}

#[test]
fn nothing_half_done_or_unverified_is_ever_in_main() {
    let seeds = AskedCases::read().seeds_or_clock("nothing half done", 4);
    let (wanted, killed) = (seeds.end - seeds.start, AtomicUsize::new(0));
    several_at_a_time(seeds.collect(), |seed| {
        killed.fetch_add(play(&mut Random::of(seed), &case_of(seed)), Relaxed);
    });
    assert!(wanted < 4 || killed.into_inner() > 0, "nothing that ran was killed");
}

//! A plan of tasks that notices work done twice, and what must hold before and after a crash.

use crate::common::nothing_lost::Acknowledged;
use crate::session_support::{UsersThings, World};

/// The tasks of [`planned`].
pub const TASKS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// A world with a diamond and two loose tasks. Each appends its id to `counter` when it begins; half of them commit
/// themselves, all leave something uncommitted.
pub fn planned() -> World {
    let world = World::new();
    for (id, more) in PLAN {
        world.task(id, &script_of(&world, id, ""), more);
    }
    world
}

/// The tasks, and what each waits for.
pub const PLAN: [(&str, &[&str]); 6] =
    [("a", &[]), ("b", &["--after", "a"]), ("c", &["--after", "a"]), ("d", &["--after", "b,c"]), ("e", &[]), ("f", &[])];

/// What a task does.
pub fn script_of(world: &World, id: &str, first: &str) -> String {
    let counter = world.beside("counter").display().to_string();
    format!(
        "{first}\n\
             echo {id} >> '{counter}'\n\
             echo begun > {id}.txt; sleep 0.1\n\
             if [ {id} = b ] || [ {id} = e ]; then\n\
               git add -A || exit 1\n\
               # A try before may have been killed right after this commit.\n\
               git diff --cached --quiet || git commit -qm 'own commit of {id}' || exit 1\n\
             fi\n\
             echo {id} > {id}.txt; mkdir -p sub; echo {id} > sub/{id}; sleep 0.1\n"
    )
}

/// What was there when something crashed.
pub struct Before {
    acknowledged: Acknowledged,
    users: UsersThings,
}

impl Before {
    /// Looks right after the crash; `users` from before the session.
    pub fn look(world: &World, users: UsersThings) -> Self {
        Self { acknowledged: acknowledged(world), users }
    }

    /// Nothing acknowledged, no commit, no capture and nothing of the user's is lost. To be asked at a crash too: a merge may be half
    /// done there, its files ahead of HEAD.
    #[track_caller]
    pub fn nothing_is_lost(&self, world: &World, note: &str) {
        let lost = self.acknowledged.lost(&acknowledged(world));
        assert!(lost.is_empty(), "{note}: {lost:#?}");
        assert_eq!(world.users_things().contents(), self.users.contents(), "{note}");
    }

    /// And all is again as the user had it, what was merged aside.
    #[track_caller]
    pub fn nothing_is_lost_or_left(&self, world: &World, note: &str) {
        self.nothing_is_lost(world, note);
        assert_eq!(world.users_things(), self.users, "{note}");
    }
}

/// All complete lines of the log, all commits of branches and tags, and the captures of all checkpoints.
fn acknowledged(world: &World) -> Acknowledged {
    let mut all = Acknowledged::default();
    let text = std::fs::read_to_string(world.env.axiom_dir().join("state/events.jsonl")).unwrap_or_default();
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    for (number, line) in text[..whole].lines().enumerate() {
        all.add("event", number, line);
    }
    for commit in world.env.git(&["rev-list", "--branches", "--tags"]).lines() {
        all.add("commit", commit, "");
    }
    all.add_refs(&world.env.git(&["for-each-ref", "--format=%(objectname) %(refname)", "refs/axiom/captures/"]), |_| true);
    all
}

/// The end state that every history has to reach: all merged, with the content that the scripts wrote.
#[track_caller]
pub fn all_is_done(world: &World, note: &str) {
    for task in TASKS {
        let shown = world.find_task(task);
        assert!(shown["merged"]["commit"].is_string(), "{note}: {shown}");
        assert_eq!(world.env.git(&["show", &format!("main:{task}.txt")]), task, "{note}");
        assert_eq!(world.env.git(&["show", &format!("main:sub/{task}")]), task, "{note}");
        assert_eq!(world.env.read(&format!("{task}.txt")).trim(), task, "{note}");
        assert!(!world.commits_of(task, "main").is_empty(), "{note}: no commit of {task} bears its trailer");
    }
    world.all_is_well();
}

//! Bare repositories with linked worktrees: one worktree is the main one, whoever calls from wherever.

use std::path::PathBuf;

use crate::common::TestEnv;
use crate::session_support::World;
use git_axiom::base::error::Code;

/// How people lay such repositories out. The main worktree is `repo`, another is `other`.
#[derive(Debug, Clone, Copy)]
enum Layout {
    /// `repo.git`, with worktrees beside it.
    Beside,
    /// `.bare`, and a file `.git` that leads to it, in the folder with the worktrees.
    Above,
    /// As `Beside`, and git writes relative paths.
    Relative,
}

struct Bare {
    env: TestEnv,
    git_dir: PathBuf,
    other: PathBuf,
}

impl Bare {
    fn new(layout: Layout) -> Self {
        let env = TestEnv::new();
        let root = env.root().to_owned();
        let name = match layout {
            Layout::Beside | Layout::Relative => "repo.git",
            Layout::Above => ".bare",
        };
        env.git_in(&root, &["clone", "-q", "--bare", "repo", name]);
        std::fs::remove_dir_all(env.repo()).unwrap();
        let git_dir = root.join(name);
        match layout {
            Layout::Above => std::fs::write(root.join(".git"), "gitdir: ./.bare\n").unwrap(),
            Layout::Relative => drop(env.git_in(&git_dir, &["config", "worktree.useRelativePaths", "true"])),
            Layout::Beside => {}
        }
        env.git_in(&git_dir, &["worktree", "add", "-q", "../repo", "main"]);
        env.git_in(&git_dir, &["worktree", "add", "-q", "-b", "feature", "../other"]);
        let other = root.join("other");
        Self { env, git_dir, other }
    }

    /// Also initialised, in `repo`.
    fn ready(layout: Layout) -> Self {
        let bare = Self::new(layout);
        let said = bare.env.axiom(&["init"]).success();
        assert!(said.to_string().contains("its main worktree is '$ROOT/repo'"), "{said}");
        assert!(bare.git_dir.join("axiom/state").is_dir() || bare.git_dir.join("axiom").is_dir());
        bare
    }

    fn read_other(&self, name: &str) -> String {
        std::fs::read_to_string(self.other.join(name)).unwrap()
    }
}

fn all() -> Vec<Layout> {
    vec![Layout::Beside, Layout::Above, Layout::Relative]
}

#[test]
fn checkpoints_and_ways_back_work_in_its_main_worktree() {
    for layout in all() {
        let bare = Bare::ready(layout);
        let env = &bare.env;
        env.write("README", "uncommitted\n");
        env.write("new", "untracked\n");
        std::fs::write(bare.other.join("README"), "in other\n").unwrap();
        env.ok(&["checkpoint", "create", "c"]);
        env.git(&["add", "-A"]);
        env.git(&["commit", "-q", "-m", "second"]);
        std::fs::write(bare.other.join("README"), "in other, later\n").unwrap();
        env.ok(&["rollback", "checkpoint", "c", "--yes"]);
        assert_eq!(env.git(&["status", "--porcelain"]), " M README\n?? new", "{layout:?}");
        assert_eq!((env.read("README"), env.read("new")), ("uncommitted\n".into(), "untracked\n".into()));
        assert_eq!(bare.read_other("README"), "in other, later\n", "it is a worktree of the user's own");
        env.ok(&["undo", "--yes"]);
        assert_eq!(
            (env.git(&["status", "--porcelain"]), env.git(&["log", "-1", "--format=%s"])),
            (String::new(), "second".into())
        );
        env.ok(&["redo", "--yes"]);
        assert_eq!(env.read("README"), "uncommitted\n");
        for args in [&["status"][..], &["log"], &["checkpoint", "list"], &["checkpoint", "verify"], &["checkpoint", "diff", "c"]]
        {
            env.ok(args);
        }
        assert!(env.ok(&["recover"]).contains("Nothing has to be recovered"), "{layout:?}");
        env.fsck();
    }
}

#[test]
fn the_main_worktree_is_the_one_of_init_wherever_the_call_comes_from() {
    for layout in all() {
        let bare = Bare::ready(layout);
        let env = &bare.env;
        env.write("README", "in main\n");
        let again = env.axiom_in(&bare.other, &["init"]).success();
        assert!(again.to_string().contains("its main worktree is '$ROOT/repo'"), "{again}");
        env.axiom_in(&bare.other, &["checkpoint", "create", "c"]).success();
        env.write("README", "later\n");
        std::fs::write(bare.other.join("README"), "other, later\n").unwrap();
        // As in any other repository, from a worktree that would be left alone both ways are named.
        let refused = env.axiom_in(&bare.other, &["rollback", "checkpoint", "c", "--yes"]).fails_with(Code::InvalidInput);
        assert!(refused.stderr.contains("--worktree ."), "{refused}");
        env.axiom_in(&bare.other, &["rollback", "checkpoint", "c", "--worktree", ".", "--yes"]).success();
        assert_eq!((bare.read_other("README"), env.read("README")), ("a project\n".into(), "later\n".into()));
        env.ok(&["rollback", "checkpoint", "c", "--yes"]);
        assert_eq!(env.read("README"), "in main\n");
        env.fsck();
    }
}

#[test]
fn agents_work_is_merged_and_taken_back() {
    for layout in all() {
        let world = World::of(Bare::ready(layout).env);
        world.task("t", "echo 1 > t.txt", &[]);
        world.task("u", "echo 2 > u.txt", &["--after", "t"]);
        world.autopilot(&[]).code(0);
        assert_eq!((world.env.read("t.txt"), world.env.read("u.txt")), ("1\n".into(), "2\n".into()), "{layout:?}");
        assert_eq!(world.env.git(&["status", "--porcelain"]), "", "workspaces are no content of it");
        world.env.ok(&["rollback", "task", "u", "--yes"]);
        assert!(!world.env.repo().join("u.txt").exists());
        world.env.ok(&["undo", "--yes"]);
        world.env.ok(&["rollback", "session", "--yes"]);
        assert!(!world.env.repo().join("t.txt").exists());
        world.env.ok(&["undo", "--yes"]);
        assert_eq!(world.env.read("u.txt"), "2\n");
        world.no_process_is_left();
        world.env.fsck();
        let status = world.env.json(&["status"]);
        assert_eq!((&status["recovery"]["needed"], &status["project"]["status"]), (&false.into(), &"completed".into()));
    }
}

#[test]
fn in_the_bare_folder_its_worktrees_are_named() {
    for layout in all() {
        let bare = Bare::new(layout);
        let env = &bare.env;
        for verb in [&["init"][..], &["status"], &["checkpoint", "create", "c"]] {
            let refused = env.axiom_in(&bare.git_dir, verb).fails_with(Code::BareRepository);
            assert!(refused.to_string().contains("one of its worktrees: '$ROOT/other', '$ROOT/repo'"), "{refused}");
        }
        assert!(!bare.git_dir.join("axiom").exists(), "nothing half-made");
        env.ok(&["init"]);
        let refused = env.axiom_in(&bare.git_dir, &["checkpoint", "create", "c"]).fails_with(Code::BareRepository);
        assert!(refused.to_string().contains("hint: cd $ROOT/repo"), "{refused}");
        if matches!(layout, Layout::Above) {
            env.axiom_in(env.root(), &["status"]).fails_with(Code::BareRepository);
        }
    }
}

#[test]
fn a_main_worktree_that_git_moved_is_found_and_what_was_done_there_can_be_undone() {
    for layout in all() {
        let bare = Bare::ready(layout);
        let env = &bare.env;
        env.write("README", "then\n");
        env.ok(&["checkpoint", "create", "c"]);
        env.write("README", "later\n");
        env.ok(&["rollback", "checkpoint", "c", "--yes"]);
        env.git_in(&bare.git_dir, &["worktree", "move", "../repo", "../moved"]);
        let moved = env.root().join("moved");
        let read = || std::fs::read_to_string(moved.join("README")).unwrap();
        // Seen from the other worktree.
        let looked = env.axiom_in(&bare.other, &["status"]).success();
        assert!(looked.to_string().contains("was moved here from $ROOT/repo"), "{looked}");
        env.axiom_in(&moved, &["undo", "--yes"]).success();
        assert_eq!(read(), "later\n", "{layout:?}");
        let quiet = env.axiom_in(&moved, &["rollback", "checkpoint", "c", "--yes"]).success();
        assert!(!quiet.stderr.contains("moved here"), "it is settled: {quiet}");
        assert_eq!(read(), "then\n");
        env.axiom_in(&bare.other, &["checkpoint", "create", "d"]).success();
        env.axiom_in(&moved, &["checkpoint", "verify"]).success();
    }
}

#[test]
fn where_the_main_worktree_is_gone_another_is_chosen_by_init() {
    for layout in all() {
        let bare = Bare::ready(layout);
        let env = &bare.env;
        env.write("README", "then\n");
        env.ok(&["checkpoint", "create", "c"]);
        env.git_in(&bare.git_dir, &["worktree", "remove", "--force", "../repo"]);
        for verb in [&["checkpoint", "create", "d"][..], &["rollback", "checkpoint", "c", "--yes"]] {
            let refused = env.axiom_in(&bare.other, verb).fails_with(Code::BareRepository);
            assert!(refused.stderr.contains("the main worktree 'repo'"), "{refused}");
            assert!(
                refused.to_string().contains("one of its worktrees: '$ROOT/other'\n")
                    && refused.stderr.contains("git axiom init")
            );
        }
        for verb in ["status", "log"] {
            env.axiom_in(&bare.other, &[verb]).success();
        }
        let chosen = env.axiom_in(&bare.other, &["init"]).success();
        assert!(chosen.to_string().contains("its main worktree is '$ROOT/other'"), "{chosen}");
        std::fs::write(bare.other.join("README"), "of other\n").unwrap();
        let made = env.axiom_in(&bare.other, &["checkpoint", "create", "d"]).success();
        assert!(!made.stderr.contains("moved here"), "{made}");
        std::fs::write(bare.other.join("README"), "of other, later\n").unwrap();
        env.axiom_in(&bare.other, &["rollback", "checkpoint", "d", "--yes"]).success();
        assert_eq!(bare.read_other("README"), "of other\n");
        // What the worktree that is gone had is in its checkpoint.
        assert_eq!(env.git_in(&bare.other, &["show", "axiom/captures/c:README"]), "then");
    }
}

#[test]
fn a_main_worktree_that_was_moved_without_git_is_named_with_the_way_back() {
    let bare = Bare::ready(Layout::Beside);
    let env = &bare.env;
    env.ok(&["checkpoint", "create", "c"]);
    let moved = env.root().join("moved");
    std::fs::rename(env.repo(), &moved).unwrap();
    let refused = env.axiom_in(&bare.other, &["checkpoint", "create", "d"]).fails_with(Code::BareRepository);
    assert!(refused.stderr.contains("git worktree repair"), "{refused}");
    env.git_in(&bare.git_dir, &["worktree", "repair", moved.to_str().unwrap()]);
    env.axiom_in(&bare.other, &["checkpoint", "create", "d"]).success();
    env.axiom_in(&moved, &["rollback", "checkpoint", "c", "--yes"]).success();
}

#[test]
fn in_a_copy_of_the_main_worktree_nothing_is_done_to_the_original() {
    let bare = Bare::ready(Layout::Beside);
    let env = &bare.env;
    env.ok(&["checkpoint", "create", "c"]);
    let copy = env.root().join("copy");
    let mut copied = env.program("cp", env.root());
    assert!(copied.args(["-a", "repo", "copy"]).status().unwrap().success());
    env.axiom_in(&copy, &["rollback", "checkpoint", "c", "--yes"]).fails_with(Code::WorkspaceNotOurs);
    let looked = env.axiom_in(&copy, &["status"]).success();
    assert!(!looked.stderr.contains("moved here"), "{looked}");
    env.ok(&["rollback", "checkpoint", "c", "--yes"]);
}

/// It would be taken for the main one, moved: a rollback went over it, and its undo over the real one.
#[test]
fn the_callers_variables_give_it_no_other_main_worktree() {
    for initialised in [true, false] {
        let bare = if initialised { Bare::ready(Layout::Beside) } else { Bare::new(Layout::Beside) };
        bare.env.write("README", "main's work\n");
        if initialised {
            bare.env.ok(&["checkpoint", "create", "c"]);
        }
        std::fs::write(bare.other.join("README"), "other's work\n").unwrap();
        for args in [&["init"][..], &["checkpoint", "create", "d"], &["rollback", "checkpoint", "c", "--yes"]] {
            let mut command = bare.env.axiom_command(&bare.other, args);
            command.env("GIT_DIR", &bare.git_dir).env("GIT_WORK_TREE", &bare.other);
            bare.env.run(command, None).fails_with(Code::BareRepository);
        }
        assert_eq!(bare.read_other("README"), "other's work\n");
        assert_eq!(bare.git_dir.join("axiom").exists(), initialised, "nothing is made");
        let said = bare.env.axiom(&["status"]).success();
        assert!(!said.to_string().contains("moved"), "{said}");
    }
}

/// As people keep the files of their home.
#[test]
fn a_bare_repository_without_worktrees_has_the_one_that_the_variables_give() {
    let env = TestEnv::new();
    env.git_in(env.root(), &["clone", "-q", "--bare", "repo", "home.git"]);
    let call = |args: &[&str]| {
        let mut command = env.axiom_command(&env.repo(), args);
        command.env("GIT_DIR", env.root().join("home.git")).env("GIT_WORK_TREE", env.repo());
        env.run(command, None)
    };
    call(&["checkpoint", "create", "c"]).success();
    env.write("README", "changed\n");
    call(&["rollback", "checkpoint", "c", "--yes"]).success();
    assert_eq!(std::fs::read_to_string(env.repo().join("README")).unwrap(), "a project\n");
}

#[test]
fn one_that_became_bare_has_no_main_worktree_until_init_chooses_it() {
    let env = TestEnv::new();
    env.git(&["worktree", "add", "-q", "-b", "feature", "../w"]);
    env.ok(&["init"]);
    env.write("README", "dirty\n");
    env.ok(&["checkpoint", "create", "c"]);
    env.git(&["config", "core.bare", "true"]);
    let w = env.root().join("w");
    let read = || std::fs::read_to_string(w.join("README")).unwrap();
    std::fs::write(w.join("README"), "w's work\n").unwrap();
    for last in ["--dry-run", "--yes"] {
        let run = env.axiom_in(&w, &["rollback", "checkpoint", "c", last]).fails_with(Code::BareRepository);
        assert!(run.stderr.contains("$ROOT/w'") || run.to_string().contains("$ROOT/w'"), "{run}");
    }
    assert_eq!((read().as_str(), env.git_in(&w, &["branch", "--show-current"]).as_str()), ("w's work\n", "feature"));
    // What it names leads on: here is the main one now, and stays it.
    env.axiom_in(&w, &["init"]).success();
    env.axiom_in(&w, &["checkpoint", "create", "d"]).success();
    std::fs::write(w.join("README"), "more\n").unwrap();
    env.axiom_in(&w, &["rollback", "checkpoint", "d", "--yes"]).success();
    assert_eq!(read(), "w's work\n");
}

//! What a repository holds at one moment: of git's, of ours on disk, and how long the log and the notes' history are.

use std::path::Path;

use crate::common::TestEnv;

/// What must stay as it was, name by name; what is cut when it is long; and the length of the log, which must grow as before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    /// Name and number.
    pub held: Vec<(&'static str, usize)>,
    /// Commits in the history of the notes.
    pub notes: usize,
    /// Bytes of the log.
    pub log: u64,
}

impl Counts {
    /// Counts.
    pub fn of(env: &TestEnv) -> Self {
        let (git, ours) = (env.repo().join(".git"), env.axiom_dir());
        let refs = |below: &str| env.git(&["for-each-ref", "--format=%(refname)", below]).lines().count();
        let notes = env.git(&["rev-list", "--count", "refs/notes/axiom"]).parse().unwrap();
        let held = vec![
            ("refs of captures", refs("refs/axiom/captures")),
            ("refs of what undo needs", refs("refs/axiom/kept")),
            ("other refs of ours", refs("refs/axiom")),
            ("tags", refs("refs/tags")),
            // Each merged task leaves its branch to the user; those of tasks that were taken back go with them.
            ("branches of tasks", refs("refs/heads/axiom")),
            ("linked worktrees", entries(&git.join("worktrees"))),
            ("entries of the trash", entries(&env.repo().join(".worktrees/trash"))),
            ("entries of git's side of the trash", entries(&ours.join("trash"))),
            ("temporary files", files(&ours.join("tmp"))),
            ("folders of iterations", runs(&ours.join("agents"))),
            // Each task that was worked on leaves an empty lock file: deleting one would let two keepers hold it.
            ("other locks", others(&ours.join("locks"), "workspace-")),
            ("files of the state", files(&ours.join("state"))),
            ("files in the temporary folder", files(&env.root().join("tmp"))),
        ];
        let log = walkdir::WalkDir::new(ours.join("state")).into_iter().flatten();
        let log = log.filter(|entry| entry.file_name().to_string_lossy().starts_with("events"));
        Self { held, notes, log: log.map(|entry| entry.metadata().unwrap().len()).sum() }
    }
}

fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, |entries| entries.flatten().count())
}

fn files(folder: &Path) -> usize {
    walkdir::WalkDir::new(folder).into_iter().flatten().filter(|entry| entry.file_type().is_file()).count()
}

fn others(folder: &Path, beginning: &str) -> usize {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter(|name| !name.to_string_lossy().starts_with(beginning)).count()
}

fn runs(agents: &Path) -> usize {
    std::fs::read_dir(agents).into_iter().flatten().flatten().map(|agent| entries(&agent.path().join("runs"))).sum()
}

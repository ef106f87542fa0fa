//! What `docs/LEAVING.md` says of the places in which git axiom writes, held against where it does write, in a fresh home.

use std::collections::BTreeSet;
use std::path::Path;

use crate::person::FreshHome;

/// What git itself writes into its folder while it does what it is asked for.
const GITS_OWN: [&str; 9] =
    ["objects/", "logs/", "refs/heads/", "worktrees/", "index", "HEAD", "COMMIT_EDITMSG", "ORIG_HEAD", "packed-refs"];

/// The names in the first columns of a page's tables, without the `~/` of what is in the home.
fn named(page: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    rows.flat_map(|row| row.split('`').skip(1).step_by(2)).map(|span| span.trim_start_matches("~/").to_owned()).collect()
}

/// The files below a folder, with their bytes.
fn files(folder: &Path) -> BTreeSet<(String, Vec<u8>)> {
    let below = walkdir::WalkDir::new(folder).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    let relative = |path: &Path| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
    below.map(|entry| (relative(entry.path()), std::fs::read(entry.path()).unwrap_or_default())).collect()
}

#[test]
fn every_place_in_which_it_writes_is_on_the_page_and_empty_after_it_was_taken_out() {
    let home = FreshHome::new();
    home.script(
        "git config --global user.name me; git config --global user.email me@example.org; git init -q -b main
         echo a > a.txt; git add .; git commit -qm first",
    );
    let (repo, user) = (home.path("shop"), home.path("home"));
    let before = (files(&repo), files(&user));
    home.script(
        "git axiom init --skill --hide-refs -y; git axiom init --shared -y
         for program in claude codex gemini opencode cursor aider; do git axiom attach $program; done
         git axiom attach claude --user; git axiom trust -y; git axiom man --install -y
         git axiom task add 'Say hello' --body 'echo hello > hello.txt'
         git axiom run --mode autopilot --until-idle; git axiom checkpoint create good; echo b > b.txt
         git axiom rollback good -y; git axiom undo -y",
    );
    let spans: BTreeSet<String> = named("docs/LEAVING.md").into_iter().chain(named("docs/ATTACH.md")).collect();
    let is_named =
        |path: &str| spans.iter().any(|span| path == span || path.starts_with(&format!("{}/", span.trim_end_matches('/'))));
    let is_made = |path: &str| path == "a.txt" || path == "b.txt" || path == "hello.txt";
    let mut seen = 0;
    for (path, _) in files(&repo).difference(&before.0).chain(files(&user).difference(&before.1)) {
        let name = path.strip_prefix(".git/").unwrap_or(path);
        let is_gits = name != path && GITS_OWN.iter().any(|own| name.starts_with(own));
        seen += 1;
        assert!(is_gits || is_made(path) || is_named(name), "docs/LEAVING.md does not say that it writes {path}");
    }
    assert!(seen > 50, "{seen}");

    home.script("git axiom detach --user; git axiom detach; git axiom deinit -y");
    let left = files(&repo);
    let ours: Vec<&String> =
        left.iter().map(|(path, _)| path).filter(|path| path.starts_with(".git/") && path.contains("axiom")).collect();
    assert!(ours.is_empty(), "{ours:?}");
}

//! What `docs/LEAVING.md` says of the places in which git axiom writes, held against where it does write, in a fresh home.

use std::collections::BTreeSet;
use std::path::Path;

use crate::pages::blocks_and_rest;
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

/// The commands of the page's block that contains this text, one a line, without what explains them.
fn commands_of(page: &str, text: &str) -> Vec<String> {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
    let (blocks, _) = blocks_and_rest(&page);
    let block = blocks.iter().find(|block| block.starts_with("sh\n") && block.contains(text)).unwrap();
    block.replace("|\n", "|").lines().skip(1).map(|line| line.split("  #").next().unwrap().trim().to_owned()).collect()
}

/// A repository with a task whose work is merged, and a checkpoint `good` of staged, changed and untracked files.
fn saved() -> FreshHome {
    let home = FreshHome::new();
    home.script(
        "git config --global user.name me; git config --global user.email me@example.org; git init -q -b main
         mkdir -p path/to; echo a > path/to/file; git add .; git commit -qm first
         git axiom task add 'Say hello' --body \"echo hello > hello.txt; # $(seq 400 | tr -d '\\n')\"
         git axiom run --mode autopilot --until-idle
         echo staged > path/to/file; git add .; echo changed > path/to/file; echo new > new.txt
         git axiom checkpoint create good",
    );
    home
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
    home.repository();
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

#[test]
fn the_way_back_without_the_program_works_as_it_stands() {
    let home = saved();
    std::fs::remove_file(home.path("bin/git-axiom")).unwrap();
    let said = |script: &str| {
        let ended = home.command("sh").args(["-euc", script]).output().unwrap();
        assert!(ended.status.success(), "{script}: {ended:?}");
        String::from_utf8(ended.stdout).unwrap()
    };
    let commands = commands_of("docs/LEAVING.md", "git for-each-ref refs/axiom/captures");
    assert_eq!(commands.len(), 10, "{commands:#?}");
    let read = |path: &str| std::fs::read_to_string(home.path("shop").join(path)).unwrap_or_default();
    let mut printed = Vec::new();
    let mut body = String::new();
    for command in &commands {
        home.script("git reset -q --hard; git clean -qfd");
        printed.push(said(&command.replace("ID", &body)));
        if command.contains("notes") {
            let note: serde_json::Value = serde_json::from_str(printed.last().unwrap()).unwrap();
            body = note["stateSnapshot"]["tasks"]["task-001"]["body"]["blob"].as_str().unwrap().to_owned();
        }
        if command.contains("restore") || command.contains("stash") {
            assert_eq!(read("path/to/file"), "changed\n", "{command}");
        }
        if command.contains("restore") {
            assert_eq!(read("new.txt"), "new\n", "{command}");
        }
        if command.contains("stash") {
            assert_eq!(said("git show :path/to/file"), "staged\n");
        }
    }
    let wanted =
        ["refs/axiom/captures/good", "\"good\"", "path/to/file", "", "changed", "", "Say hello", "", "Say hello", "echo hello"];
    for (place, text) in wanted.into_iter().enumerate() {
        assert!(printed[place].contains(text), "{}: {}", commands[place], printed[place]);
    }

    let refs = || said("git for-each-ref --format='%(objectname) %(refname)'");
    let before = refs();
    let taken = commands_of("docs/LEAVING.md", "git bundle create");
    let (back, out) = taken.split_last().unwrap();
    home.script(&out.join("\n"));
    assert!(
        before.contains("refs/axiom/") && !refs().contains("refs/axiom/") && !refs().contains("refs/tags/axiom/"),
        "{}",
        refs()
    );
    home.script(back);
    assert_eq!(refs(), before, "{back}");
}

#[test]
fn what_the_page_says_hides_our_refs_hides_them() {
    let home = saved();
    let said = |script: &str| {
        let ended = home.command("sh").args(["-euc", script]).output().unwrap();
        assert!(ended.status.success(), "{script}: {ended:?}");
        String::from_utf8(ended.stdout).unwrap()
    };
    let captures = |log: &str| log.lines().filter(|line| line.contains("refs/axiom/") || line.contains("tag: axiom/")).count();
    assert!(captures(&said("git log --all --decorate=full")) > 0);
    for command in commands_of("docs/REFS.md", "--exclude='refs/axiom/*'") {
        let log = said(&format!("{command} --decorate=full"));
        assert!(!log.is_empty() && captures(&log) == 0, "{command}: {log}");
    }
    home.script(&commands_of("docs/REFS.md", "--hide-refs").join("\n"));
    let log = said("git la --decorate=full");
    assert!(!log.is_empty() && captures(&log) == 0, "{log}");
}

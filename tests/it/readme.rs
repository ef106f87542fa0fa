//! README's commands, typed by somebody who never used git axiom, in a fresh home.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::pages::blocks_and_rest;
use crate::person::{FreshHome, HomeShell};

/// The commands of README's block that contains this text, without their comments.
fn commands_of(text: &str) -> Vec<String> {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let (blocks, _) = blocks_and_rest(&readme);
    let block = blocks.iter().find(|block| block.starts_with("sh\n") && block.contains(text)).unwrap();
    block.lines().skip(1).map(|line| line.split("  #").next().unwrap().trim().to_owned()).collect()
}

/// The first two are for cargo; what they run is played by `demo` and by whoever runs this test. The others are played below.
#[test]
fn no_block_of_readme_is_left_out() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let (blocks, _) = blocks_and_rest(&readme);
    let played = ["cargo run", "cargo install", "axiom attach", "axiom task add"];
    assert_eq!(blocks.len(), played.len(), "{blocks:#?}");
    for (block, text) in blocks.iter().zip(played) {
        assert!(block.starts_with("sh\n") && block.contains(text), "{block} is not the block of {text}");
    }
}

#[test]
fn what_readme_says_of_an_agent_by_hand_works_as_it_stands() {
    let home = FreshHome::new();
    home.repository();
    let mut shell = HomeShell::start(&home);
    let commands = commands_of("axiom attach");
    assert_eq!(commands.len(), 7, "{commands:?}");
    shell.enter(&commands[0]);
    home.prompt("Write b", "echo b > b.txt");
    home.prompt("Tidy up", "rm a.txt b.txt");
    let status = shell.enter(&commands[1]);
    assert!(status.contains("protected") && !status.contains("UNPROTECTED"), "{status}");
    let prompts = shell.enter(&commands[2]);
    assert!(prompts.contains("Tidy up") && prompts.contains("Write b"), "{prompts}");
    let diff = shell.enter(&commands[3]);
    assert!(diff.contains("a.txt") && diff.contains("b.txt"), "{diff}");
    assert!(!home.path("shop/a.txt").exists());
    shell.enter(&commands[4]);
    assert!(home.path("shop/a.txt").exists() && home.path("shop/b.txt").exists());
    shell.enter(&commands[5]);
    assert!(!home.path("shop/a.txt").exists() && !home.path("shop/b.txt").exists());
    let printed = shell.enter(&commands[6]);
    assert!(printed.contains("agent_servers"), "{printed}");
}

/// Nothing is started before it is approved, so that the agent program has only to be there.
#[test]
fn what_readme_says_of_several_agents_works_as_it_stands() {
    let home = FreshHome::new();
    home.repository();
    let program = home.path("bin/claude");
    std::fs::write(&program, "#!/bin/sh\ntouch \"$HOME/was-started\"\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut shell = HomeShell::start(&home);
    let commands = commands_of("axiom task add");
    let (last, before) = commands.split_last().unwrap();
    for command in before {
        shell.enter(command);
    }
    shell.look_at(last, "Say hello", &["q"]);
    assert!(!home.path("home/was-started").exists(), "started before it was approved");
    let tasks = shell.enter("git axiom task list");
    assert!(tasks.contains("Say hello") && tasks.contains("Say it louder"), "{tasks}");
}

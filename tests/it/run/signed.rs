//! `commit.gpgSign`: merges and reverts are signed by git's own means, outside of every lock, and nobody waits for ever.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use git_axiom::base::error::Code;
use rustix::process::{Pid, test_kill_process};

use crate::session_support::World;

/// A key of ssh's without a passphrase, or with one.
fn ssh_key(world: &World, name: &str, passphrase: &str) -> String {
    let path = world.beside(name);
    let mut keygen = world.env.program("ssh-keygen", world.env.root());
    keygen.args(["-q", "-t", "ed25519", "-N", passphrase, "-f"]).arg(&path).stdin(Stdio::null());
    assert!(keygen.status().unwrap().success());
    path.display().to_string()
}

fn signs_with(world: &World, settings: &[(&str, &str)]) {
    for (key, value) in [&[("commit.gpgSign", "true")], settings].concat() {
        world.env.git(&["config", key, value]);
    }
}

/// A program in gpg's place that does what `script` says.
fn signer(world: &World, script: &str) -> String {
    let path = world.beside("signer");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

const SIGNATURE: &str = "cat > /dev/null; printf '\\n[GNUPG:] SIG_CREATED D 1 10 00 1 X\\n' >&2; \
    printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nabc\\n-----END PGP SIGNATURE-----\\n'";

#[track_caller]
fn tip_is_signed(world: &World) {
    let content = world.env.git(&["cat-file", "commit", "main"]);
    assert!(content.contains("\ngpgsig "), "{content}");
    world.env.git(&["fsck", "--strict"]);
}

#[test]
fn merges_and_reverts_are_signed_with_an_ssh_key() {
    let world = World::new();
    let key = ssh_key(&world, "key", "");
    signs_with(&world, &[("gpg.format", "ssh"), ("user.signingKey", &key)]);
    world.task("t", "echo 1 > t.txt", &[]);
    world.task("u", "echo 1 > u.txt", &[]);
    world.autopilot(&[]).code(0);
    tip_is_signed(&world);
    let allowed = world.beside("allowed");
    let public = std::fs::read_to_string(format!("{key}.pub")).unwrap();
    std::fs::write(&allowed, format!("* {public}")).unwrap();
    world.env.git(&["config", "gpg.ssh.allowedSignersFile", allowed.to_str().unwrap()]);
    world.env.git(&["verify-commit", "main", "main^"]);
    world.env.ok(&["rollback", "task", "t", "--yes"]);
    world.env.git(&["verify-commit", "main"]);
    world.all_is_well();
}

#[test]
fn merges_are_signed_by_gpg() {
    let world = World::new();
    signs_with(&world, &[("gpg.program", &signer(&world, SIGNATURE))]);
    world.task("t", "echo 1 > t.txt", &[]);
    world.autopilot(&[]).code(0);
    tip_is_signed(&world);
}

/// Where a key cannot be used without asking, the merge waits at a gate, soon, and other work goes on.
#[test]
fn a_key_that_asks_makes_the_merge_wait_at_a_gate() {
    let world = World::new();
    let key = ssh_key(&world, "key", "a passphrase");
    signs_with(&world, &[("gpg.format", "ssh"), ("user.signingKey", &key)]);
    world.task("t", "echo 1 > t.txt", &[]);
    let ended = world.autopilot(&[]).code(1);
    assert!(ended.stdout.contains("waits at gate merge-t: SIGNING_FAILED: the commit could not be signed"), "{}", ended.stdout);
    assert!(!world.env.repo().join("t.txt").exists());
    world.all_is_well();
    // With a key that can be used, the same gate leads on.
    world.env.git(&["config", "user.signingKey", &ssh_key(&world, "other", "")]);
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&[]).code(0);
    tip_is_signed(&world);
}

#[test]
fn a_signer_that_never_ends_is_ended_and_holds_no_lock_meanwhile() {
    let world = World::new();
    let (began, pid) = (world.beside("began"), world.beside("pid"));
    let script = format!("echo $$ > '{}'; touch '{}'; setsid sleep 1000 & sleep 1000", pid.display(), began.display());
    signs_with(&world, &[("gpg.program", &signer(&world, &script))]);
    world.task("t", "echo 1 > t.txt", &[]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("began");
    world.env.ok(&["checkpoint", "create", "meanwhile"]);
    let signer = Pid::from_raw(std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap()).unwrap();
    assert!(test_kill_process(signer).is_ok(), "the checkpoint waited until the signer was ended");
    let ended = live.wait().code(1);
    assert!(ended.stdout.contains("the commit could not be signed"), "{}", ended.stdout);
    world.no_process_is_left();
    world.env.git(&["config", "gpg.program", "false"]);
    world.env.axiom(&["merge", "t"]).fails_with(Code::SigningFailed);
    world.env.git(&["config", "commit.gpgSign", "false"]);
    world.env.ok(&["merge", "t"]);
    world.all_is_well();
}

//! The list of artefacts (`packaging/artefacts`) is the only one: whatever names targets or archives agrees with it. And what a package is
//! told of itself.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::support::Scratch;

fn read(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// The targets with the machines that build them.
fn artefacts() -> BTreeSet<(String, String)> {
    let text = read("packaging/artefacts");
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    words.map(|words| (words[0].to_owned(), words[2].to_owned())).collect()
}

#[test]
fn the_workflow_builds_what_the_list_names() {
    let workflow = read(".github/workflows/release.yml");
    let rows = workflow.lines().filter_map(|line| line.trim().strip_prefix("- { target: ")?.strip_suffix(" }"));
    let built: BTreeSet<(String, String)> = rows
        .filter_map(|row| row.split_once(", runner: ").map(|(target, runner)| (target.to_owned(), runner.to_owned())))
        .collect();
    assert_eq!(built, artefacts());
}

#[test]
fn the_formula_and_cargo_binstall_name_the_archives_as_the_script_does() {
    let scratch = Scratch::new();
    let version = env!("CARGO_PKG_VERSION");
    let archive = |target: &str| format!("git-axiom-{version}-{target}.tar.gz");
    let sums: String = artefacts().iter().map(|(target, _)| format!("{} {}\n", "0".repeat(64), archive(target))).collect();
    std::fs::write(scratch.path().join("SHA256SUMS"), sums.replace(' ', "  ")).unwrap();
    let made =
        Command::new("bash").arg(".ci/formula").arg(scratch.path()).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let formula = String::from_utf8(made.stdout).unwrap();
    let address = |target: &str| format!("{}/releases/download/v{version}/{}", env!("CARGO_PKG_REPOSITORY"), archive(target));
    for (target, _) in artefacts() {
        assert!(formula.contains(&format!("url \"{}\"", address(&target))), "{target}: {formula}");
    }
    assert_eq!(formula.matches("sha256").count(), artefacts().len());
    assert!(!formula.contains("NOT MADE"), "{formula}");
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let binstall = &manifest["package"]["metadata"]["binstall"];
    let filled = |key: &str| {
        let text = binstall[key].as_str().unwrap().replace("{ repo }", env!("CARGO_PKG_REPOSITORY"));
        text.replace("{ version }", version)
            .replace("{ target }", "aarch64-apple-darwin")
            .replace("{ bin }{ binary-ext }", "git-axiom")
    };
    assert_eq!(filled("pkg-url"), address("aarch64-apple-darwin"));
    assert_eq!(filled("bin-dir"), format!("git-axiom-{version}-aarch64-apple-darwin/bin/git-axiom"));
    let script = read(".ci/release");
    assert!(script.contains("name=git-axiom-$version-$target") && script.contains("\"$out/$name.tar.gz\""));
}

#[test]
fn the_verbose_version_has_formats_and_nothing_private() {
    let scratch = Scratch::new();
    let secret = "a-name-that-nobody-has";
    for setting in [["user.name", secret], ["core.fileMode", "false"]] {
        assert!(scratch.try_git(&["config", setting[0], setting[1]]).status.success());
    }
    let text = scratch.axiom(&["--version", "--verbose"]);
    for part in [env!("CARGO_PKG_VERSION"), "git version", "objects sha1, refs files", "CaptureFiles (NoFileMode)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json: serde_json::Value = serde_json::from_str(&scratch.axiom(&["--version", "--verbose", "--json"])).unwrap();
    assert_eq!((&json["verb"], &json["repository"]["objects"]), (&"version".into(), &"sha1".into()));
    crate::common::documents::check(&json);
    let folder = scratch.path();
    let home = folder.to_str().unwrap();
    for said in [text, json.to_string()] {
        assert!(!said.contains(secret) && !said.contains(home), "{said}");
    }
    assert!(scratch.axiom(&["-C", "/", "--version", "--verbose"]).contains("none here"));
}

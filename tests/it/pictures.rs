//! README's moving picture: our half is what the program prints today, and the picture is of these recordings.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::pages::masked;
use crate::person::{FreshHome, HomeShell};

const LARGEST: usize = 150_000;
const SECONDS: f64 = 20.5;
const THEIR_FOLDER: &str = "/home/you";

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// An asciicast's head, and all that was printed.
fn cast(name: &str) -> (Value, String) {
    let text = read(&format!("docs/pictures/{name}.cast"));
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let head = lines.next().unwrap();
    (head, lines.map(|event| event[2].as_str().unwrap().to_owned()).collect())
}

/// What a terminal shows of it that is wide and high enough for everything.
fn shown(printed: &str) -> String {
    let (rows, columns) = (200.try_into().unwrap(), 500.try_into().unwrap());
    let mut screen = vt100::Parser::new(rows, columns, 0);
    screen.process(printed.as_bytes());
    screen.screen().contents().trim_end().to_owned()
}

/// `docs/pictures/record.sh PROGRAM` makes it anew.
#[test]
fn our_half_of_the_picture_is_what_the_program_prints() {
    let (_, recorded) = cast("rollback");
    let recorded = shown(&recorded);
    let home = FreshHome::new();
    home.shop();
    home.prompt("Add a price list", "echo apple > prices.txt; echo pear >> prices.txt");
    home.prompt("Tidy up", "rm -rf notes src");
    let mut shell = HomeShell::start(&home);
    let begin = shell.bytes().len();
    let mut played = String::from("$ ");
    for command in recorded.lines().filter_map(|line| line.strip_prefix("$ ")) {
        shell.enter(command);
    }
    played += &String::from_utf8_lossy(&shell.bytes()[begin..]);
    let played = shown(&played.replace(home.path("").to_str().unwrap().trim_end_matches('/'), THEIR_FOLDER));
    // Where a line is folded depends on how long the folder's path is.
    let words = |text: &str| masked(text).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&recorded), words(&played), "docs/pictures/record.sh makes the picture anew");
    for said in ["git axiom rollback --prompt 2", "git axiom undo", "notes  prices.txt  src"] {
        assert!(recorded.contains(said), "{recorded}");
    }
}

#[test]
fn the_picture_is_of_these_recordings_and_says_of_what_and_when() {
    let ((theirs, _), (ours, printed)) = (cast("rewind"), cast("rollback"));
    let seconds = theirs["duration"].as_f64().unwrap() + ours["duration"].as_f64().unwrap();
    assert!(seconds <= SECONDS, "{seconds} s");
    // No other recording has this operation.
    let operation = shown(&printed).lines().find_map(|line| line.strip_prefix("To take it back: ").map(str::to_owned)).unwrap();
    let readme = read("README.md");
    let title = theirs["title"].as_str().unwrap();
    assert!(readme.contains(title), "README does not say {title}");
    let mut missing = String::new();
    for kind in ["dark", "light"] {
        let name = format!("docs/pictures/rollback-{kind}.svg");
        let picture = read(&name);
        assert!(picture.len() <= LARGEST, "{name} has {} bytes", picture.len());
        for forbidden in ["<script", "<foreignObject", "@import", "url(", "http://www.w3.org/1999/xhtml"] {
            assert!(!picture.contains(forbidden), "{name}: {forbidden}, which forges take out");
        }
        for said in [operation.as_str(), "The code will be unchanged.", "v2."] {
            if !picture.contains(said) {
                writeln!(missing, "{name}: {said}").unwrap();
            }
        }
        let line = readme.lines().position(|line| line.contains(&name)).unwrap();
        assert!(line < 20, "{name} is in line {}", line + 1);
    }
    assert!(missing.is_empty(), "{missing}");
    assert!(readme.contains("prefers-color-scheme: dark"), "one picture for each");
}

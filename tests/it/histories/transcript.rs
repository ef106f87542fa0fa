//! What the program said in a history, written down so that two builds can be compared: `AXIOM_HISTORIES_RECORD=folder` makes a
//! file of each history there, and `diff -r` of two such folders says what changed. Ids, times, sizes and the place are
//! replaced, as they are others each time. Sessions have one agent then, so that their order is certain.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::common::Run;
use crate::histories::place::Place;

const FOLDER: &str = "AXIOM_HISTORIES_RECORD";

/// Everything that was called, and what came of it.
#[derive(Default)]
pub struct Transcript(String);

/// Where transcripts are written, where they are wanted.
pub fn wanted() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// How many agents a session has.
pub fn agents() -> &'static str {
    if wanted().is_some() { "1" } else { "2" }
}

impl Transcript {
    /// One more call.
    pub fn add(&mut self, args: &[&str], run: &Run) {
        let Run { code, stdout, stderr, .. } = run;
        writeln!(self.0, "$ git axiom {}\n{stdout}--- {stderr}--- {code:?}\n", args.join(" ")).unwrap();
    }

    /// Writes it, with the events and refs at the end.
    pub fn write(self, place: &Place, seed: u64) {
        let Some(folder) = wanted() else { return };
        let events = place.env.repo().join(".git/axiom/state/events.jsonl");
        let events = String::from_utf8_lossy(&std::fs::read(events).unwrap_or_default()).into_owned();
        // Without the sums of the lines: they are of what is replaced.
        let events: String = events.lines().map(|line| format!("{}\n", line.split(",\"sum\":").next().unwrap_or(line))).collect();
        let refs = place.env.try_git(&["for-each-ref", "--format=%(refname) %(objectname)"]).stdout;
        let root = place.env.root().display().to_string();
        let told = format!("{}== events\n{events}", self.0).replace(&root, "$ROOT");
        let mut ids = Ids::default();
        let told: String = told.lines().map(|line| comparable(line, |id| ids.number(id)) + "\n").collect();
        // They come in the order of their names, in which our ids are: another one each time.
        let mut refs: Vec<String> = refs.lines().map(|line| comparable(line, |id| ids.known(id))).collect();
        refs.sort();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{seed}.txt")), format!("{told}== refs\n{}\n", refs.join("\n"))).unwrap();
    }
}

/// Ids in the order in which they appeared.
#[derive(Default)]
struct Ids(Vec<String>);

impl Ids {
    /// The number of an id; of a new one the next.
    fn number(&mut self, id: &str) -> String {
        if self.place(id).is_none() {
            self.0.push(id.to_owned());
        }
        self.known(id)
    }

    /// The number of an id, where it has one.
    fn known(&self, id: &str) -> String {
        self.place(id).map_or_else(|| "?".to_owned(), |place| place.to_string())
    }

    /// It may be written short.
    fn place(&self, id: &str) -> Option<usize> {
        self.0.iter().position(|known| known.starts_with(id) || id.starts_with(known.as_str()))
    }
}

/// The line with a number for each id, and one sign for all times and sizes. Lists of what is kept are ordered by ids: left out.
fn comparable(line: &str, mut number: impl FnMut(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        if out.ends_with("\"kept\":[") {
            rest = &rest[rest.find(']').unwrap_or(rest.len())..];
            out.push_str("...");
            continue;
        }
        if !first.is_ascii_alphanumeric() {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let length = time(rest).unwrap_or_else(|| rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len()));
        let (word, after) = rest.split_at(length);
        rest = after;
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        let key = ["Ms\":", "ytes\":", "ize\":", "id\":", "ino\":", "inode\":", "crc\":"].iter().any(|key| out.ends_with(key));
        if word.contains(['-', ':']) {
            out.push('T');
        } else if digits && (key || word.len() >= 8 || is_measure(after)) {
            out.push('N');
        } else if let Some((kind, id)) = id(word) {
            write!(out, "{kind}#{}", number(id)).unwrap();
        } else {
            out.push_str(word);
        }
    }
    out
}

/// What is before the digits of an id, and these: an object's, also a short one, or one of ours with the letter of its kind.
fn id(word: &str) -> Option<(&str, &str)> {
    let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let (kind, rest) = word.split_at(1);
    if word.len() >= 7 && is_hex(word) { Some(("", word)) } else { (rest.len() == 16 && is_hex(rest)).then_some((kind, rest)) }
}

/// The forms of dates and times, longest first; the last part of a name tells two of one second apart.
const TIMES: [&str; 8] = [
    "0000-00-00 00:00:00 +0000",
    "0000-00-00T00-00-00-0",
    "0000-00-00T00:00:00",
    "0000-00-00T00-00-00",
    "00000000-000000",
    "0000-00-00",
    "00:00:00",
    "00:00",
];

/// The length of a date or time at the start of the text.
fn time(text: &str) -> Option<usize> {
    let fits = |form: &str| {
        let same = |(is, form): (char, char)| if form == '0' { is.is_ascii_digit() } else { is == form };
        text.len() >= form.len() && text.chars().zip(form.chars()).all(same)
    };
    let length = TIMES.into_iter().find(|form| fits(form))?.len();
    Some(length + text[length..].find(|c: char| !matches!(c, '.' | 'Z' | '0'..='9')).unwrap_or(text.len() - length))
}

/// Whether a number is of a size or a span of time, by what follows it.
fn is_measure(after: &str) -> bool {
    let after = after.trim_start_matches(|c: char| c == '.' || c == ' ' || c.is_ascii_digit());
    let word = after.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    ["ms", "s", "B", "bytes", "KiB", "MiB"].contains(&word)
}

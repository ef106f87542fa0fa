//! The table of line ends against git itself: all settings, attributes and contents, and all that the index may hold.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use git_axiom::model::base::forms::line_ends::{EolAttribute, LineEndConfig, LineEnds, TextAttribute};

const AUTOCRLF: [Option<&str>; 4] = [None, Some("false"), Some("input"), Some("true")];
const EOL: [Option<&str>; 4] = [None, Some("lf"), Some("crlf"), Some("native")];

/// As in a file of attributes, and the values of `text`, `crlf` and `eol`.
const ATTRIBUTES: [(&str, [&str; 3]); 19] = [
    ("", ["", "", ""]),
    ("text", ["set", "", ""]),
    ("-text", ["unset", "", ""]),
    ("text=auto", ["auto", "", ""]),
    ("text=input", ["input", "", ""]),
    ("text=odd", ["odd", "", ""]),
    ("eol=lf", ["", "", "lf"]),
    ("eol=crlf", ["", "", "crlf"]),
    ("text eol=lf", ["set", "", "lf"]),
    ("text eol=crlf", ["set", "", "crlf"]),
    ("-text eol=crlf", ["unset", "", "crlf"]),
    ("text=auto eol=lf", ["auto", "", "lf"]),
    ("text=auto eol=crlf", ["auto", "", "crlf"]),
    ("text=input eol=crlf", ["input", "", "crlf"]),
    ("crlf", ["", "set", ""]),
    ("-crlf", ["", "unset", ""]),
    ("crlf=input", ["", "input", ""]),
    ("text=auto crlf=input", ["auto", "input", ""]),
    ("text=odd -crlf eol=lf", ["odd", "unset", "lf"]),
];

const CONTENTS: [&[u8]; 18] = [
    b"",
    b"no end",
    b"a\nb\n",
    b"a\r\nb\r\n",
    b"a\r\nb\n",
    b"a\nb\r\n",
    b"a\rb\n",
    b"a\rb\r\n",
    b"a\r\r\nb\n",
    b"a\r\n\r",
    b"a\0b\n",
    b"a\0b\r\n",
    b"\x01\x02\r\n",
    b"\x1b\x08\x0c\t\r\n",
    b"dos\r\n\x1a",
    b"\n",
    b"\r\n",
    b"\r",
];

/// What the index holds at a path.
const INDEX: [Option<&[u8]>; 7] =
    [None, Some(b""), Some(b"x\n"), Some(b"x\r\n"), Some(b"x\r\ny\n"), Some(b"x\r\0\n\r\n"), Some(b"x\ry\r\n")];

struct Git {
    dir: tempfile::TempDir,
}

impl Git {
    fn new() -> Self {
        let git = Self { dir: tempfile::tempdir().unwrap() };
        git.run(&["init", "-q"], b"");
        git
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn try_run(&self, args: &[&str], input: &[u8]) -> (bool, Vec<u8>, String) {
        use std::io::Write as _;
        let mut child = Command::new("git")
            .args(args)
            .current_dir(self.dir.path())
            .env("HOME", "/nonexistent")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        let _ = writer.join().unwrap();
        (output.status.success(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn run(&self, args: &[&str], input: &[u8]) -> Vec<u8> {
        let (ok, output, said) = self.try_run(args, input);
        assert!(ok, "git {args:?}: {said}");
        output
    }

    /// The blob of a content.
    fn blob(&self, content: &[u8]) -> String {
        String::from_utf8(self.run(&["hash-object", "-w", "--stdin", "-t", "blob"], content)).unwrap().trim().to_owned()
    }
}

/// One row: its path, which says it all, with what it is made of.
struct Row {
    path: String,
    attributes: usize,
    content: usize,
    index: usize,
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for attributes in 0..ATTRIBUTES.len() {
        for content in 0..CONTENTS.len() {
            for index in 0..INDEX.len() {
                rows.push(Row { path: format!("a{attributes}/c{content}.{index}"), attributes, content, index });
            }
        }
    }
    rows
}

fn rule(attributes: usize, settings: LineEndConfig) -> LineEnds {
    let [text, crlf, eol] = ATTRIBUTES[attributes].1.map(str::as_bytes);
    LineEnds::of((TextAttribute::of(text), TextAttribute::of(crlf), EolAttribute::of(eol)), settings)
}

/// A repository with every row's file, the attributes beside the trees, and no index.
fn with_files(rows: &[Row]) -> Git {
    let git = Git::new();
    let mut attributes = String::new();
    for (number, (words, _)) in ATTRIBUTES.iter().enumerate() {
        std::fs::create_dir(git.path(&format!("a{number}"))).unwrap();
        if !words.is_empty() {
            writeln!(attributes, "a{number}/* {words}").unwrap();
        }
    }
    std::fs::write(git.path(".git/info/attributes"), attributes).unwrap();
    for row in rows {
        std::fs::write(git.path(&row.path), CONTENTS[row.content]).unwrap();
    }
    git
}

fn set(git: &Git, autocrlf: Option<&str>, eol: Option<&str>) {
    for (key, value) in [("core.autocrlf", autocrlf), ("core.eol", eol)] {
        git.try_run(&["config", "--unset", key], b"");
        if let Some(value) = value {
            git.run(&["config", key, value], b"");
        }
    }
}

/// Puts what the index of each row holds into a fresh index.
fn install_index(git: &Git, rows: &[Row], blobs: &[Option<String>]) {
    let _ = std::fs::remove_file(git.path(".git/index"));
    let mut lines = String::new();
    for row in rows {
        if let Some(blob) = &blobs[row.index] {
            writeln!(lines, "100644 {blob} 0\t{}", row.path).unwrap();
        }
    }
    git.run(&["update-index", "--index-info"], lines.as_bytes());
}

/// What git stores of each file, by its path.
fn stored(git: &Git, rows: &[Row]) -> HashMap<String, String> {
    let paths: String = rows.iter().map(|row| format!("{}\n", row.path)).collect();
    git.run(&["update-index", "--add", "--stdin"], paths.as_bytes());
    let listed = String::from_utf8(git.run(&["ls-files", "-s"], b"")).unwrap();
    let entry = |line: &str| {
        let (meta, path) = line.split_once('\t').unwrap();
        (path.to_owned(), meta.split(' ').nth(1).unwrap().to_owned())
    };
    listed.lines().map(entry).collect()
}

#[test]
fn what_is_stored_and_written_is_what_git_stores_and_writes() {
    let rows = rows();
    let git = with_files(&rows);
    let in_index: Vec<Option<String>> = INDEX.iter().map(|content| content.map(|content| git.blob(content))).collect();
    let mut known: HashMap<Vec<u8>, String> = HashMap::new();
    let blobs: Vec<String> = CONTENTS.iter().map(|content| git.blob(content)).collect();
    for (autocrlf, eol) in AUTOCRLF.iter().flat_map(|autocrlf| EOL.iter().map(move |eol| (*autocrlf, *eol))) {
        set(&git, autocrlf, eol);
        let settings = LineEndConfig::of(autocrlf, eol);
        install_index(&git, &rows, &in_index);
        let gits = stored(&git, &rows);
        for row in &rows {
            let (content, line_ends) = (CONTENTS[row.content], rule(row.attributes, settings));
            let ours = line_ends.stored(content, INDEX[row.index]).unwrap_or_else(|| content.to_vec());
            let ours = known.entry(ours).or_insert_with_key(|bytes| git.blob(bytes));
            let said = (autocrlf, eol, ATTRIBUTES[row.attributes].0, content, INDEX[row.index]);
            assert_eq!(&gits[&row.path], ours, "{said:?} {line_ends:?}");
        }
        checked_out_as_git_does(&git, &blobs, (autocrlf, eol));
    }
}

/// Checks each content out under each attribute.
fn checked_out_as_git_does(git: &Git, blobs: &[String], (autocrlf, eol): (Option<&str>, Option<&str>)) {
    let settings = LineEndConfig::of(autocrlf, eol);
    let folder = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    for attributes in 0..ATTRIBUTES.len() {
        for (number, blob) in blobs.iter().enumerate() {
            writeln!(lines, "100644 {blob} 0\ta{attributes}/c{number}").unwrap();
        }
    }
    let _ = std::fs::remove_file(git.path(".git/index"));
    git.run(&["update-index", "--index-info"], lines.as_bytes());
    git.run(&["checkout-index", "-a", "-f", "-q", &format!("--prefix={}/", folder.path().display())], b"");
    for (attributes, (words, _)) in ATTRIBUTES.iter().enumerate() {
        for (number, content) in CONTENTS.iter().enumerate() {
            let line_ends = rule(attributes, settings);
            let ours = line_ends.checked_out(content).unwrap_or_else(|| content.to_vec());
            let gits = std::fs::read(folder.path().join(format!("a{attributes}/c{number}"))).unwrap();
            assert_eq!(gits, ours, "{autocrlf:?} {eol:?} {words} {content:?} {line_ends:?}");
        }
    }
}

#[test]
fn what_is_refused_where_line_ends_have_to_be_safe_is_what_git_refuses() {
    let rows: Vec<Row> = rows().into_iter().filter(|row| [0, 2, 3].contains(&row.index)).collect();
    let git = with_files(&rows);
    let in_index: Vec<Option<String>> = INDEX.iter().map(|content| content.map(|content| git.blob(content))).collect();
    for (autocrlf, eol) in [(None, None), (Some("input"), None), (Some("true"), None), (None, Some("crlf"))] {
        set(&git, autocrlf, eol);
        let settings = LineEndConfig::of(autocrlf, eol);
        install_index(&git, &rows, &in_index);
        // git warns of what it refuses where it is told to.
        let paths: String = rows.iter().map(|row| format!("{}\n", row.path)).collect();
        git.run(&["config", "core.safecrlf", "warn"], b"");
        let (ok, _, said) = git.try_run(&["update-index", "--add", "--stdin"], paths.as_bytes());
        assert!(ok, "{said}");
        for row in &rows {
            let (content, line_ends) = (CONTENTS[row.content], rule(row.attributes, settings));
            let warned =
                said.lines().any(|line| line.contains(&format!("'{}'", row.path)) && line.contains("will be replaced by"));
            let ours = line_ends.is_refused(content, INDEX[row.index]);
            let row = (autocrlf, eol, ATTRIBUTES[row.attributes].0, content, INDEX[row.index]);
            assert_eq!(warned, ours, "{row:?} {line_ends:?}");
        }
    }
}

//! Every key of the table in every view, and every dialog with its keys, at a pseudo-terminal of three sizes: what the screen shows
//! then is compared with approved texts. A key that is added to the table, a view or a dialog fails here until it is approved:
//! `INSTA_UPDATE=always cargo test --test it every_key`, and then the difference is looked at before it is committed.
//!
//! The repository stands still: the test holds the lock of the supervisor, and no process works. What differs from run to run (times,
//! ids, sizes) is replaced by as many other characters.

use std::fmt::Write;
use std::time::{Duration, Instant};

use git_axiom::base::files::{FileLock, LockAttempt};
use git_axiom::model::base::ids::{AgentId, TaskId};
use git_axiom::model::base::names::RefName;
use git_axiom::model::state::event::Event;
use git_axiom::model::work::agent::Workspace;
use git_axiom::model::work::gates::gate::{Gate, GateKind};
use git_axiom::model::work::sessions::session::SessionState;
use git_axiom::store::layout::StoreLayout;
use git_axiom::ui::panel::input::PanelKey;
use git_axiom::ui::panel::keys::TABLE;
use serde_json::json;

use super::{PATIENCE, bytes_of};
use crate::support::Scratch;
use crate::terminal::Terminal;

/// When it is, to the programs that are called.
const NOW: &str = "2026-01-13T10:00:00Z";
/// The views, by their keys.
const VIEWS: [(&str, &str); 5] = [("agents", "1"), ("tasks", "2"), ("gates", "3"), ("output", "4"), ("timeline", "5")];

/// Dialogs: how each is opened from the agents, and the keys that it takes besides those that move.
const DIALOGS: [(&str, &[&str], &str); 23] = [
    ("help", &["?"], "q?\r"),
    ("actions", &["i"], "sxbRPz\t"),
    ("stop", &["s"], "yq"),
    ("kill", &["x"], "yq"),
    ("redirect", &["r"], "yz"),
    ("block", &["b"], "yx\x7f\r"),
    ("task rollback", &["R"], "yz"),
    ("changes of a task", &["D"], "q\r"),
    ("pausing", &[" "], "yq"),
    ("mode", &["m"], "yq"),
    ("new checkpoint", &["n"], "yx\x7f"),
    ("checkpoints", &["C"], "yjz "),
    ("delete a checkpoint", &["C", "d"], "yq"),
    ("old checkpoints", &["C", "o"], "7\r"),
    ("pack", &["C", "p"], "yq"),
    ("session rollback", &["S"], "yq"),
    ("undo", &["U"], "yq"),
    ("learnings", &["L"], "q\r"),
    ("quit", &["q"], "yj"),
    ("gate", &["3", "g", "\r"], "yj"),
    ("the project's files", &["3", "G", "\r"], "yj"),
    ("filter", &["/"], "yx\x7f"),
    ("verb", &[":"], "yx\x7f\r"),
];
/// Dialogs that a choice in another one opens.
const CHOSEN: [(&str, &[&str]); 8] = [
    ("a prompt", &["1", "G", "\r"]),
    ("a prompt: go back", &["1", "G", "\r", "b"]),
    ("gate: answer", &["3", "g", "\r", "a"]),
    ("gate: reject", &["3", "g", "\r", "r"]),
    ("a moment", &["5", "\r"]),
    ("a moment: go back", &["5", "\r", "b"]),
    ("a moment: what changed", &["5", "\r", "w"]),
    ("a moment: one file", &["5", "\r", "o"]),
];
const MOVING: [PanelKey; 8] = [
    PanelKey::Up,
    PanelKey::Down,
    PanelKey::PageUp,
    PanelKey::PageDown,
    PanelKey::Home,
    PanelKey::End,
    PanelKey::Tab,
    PanelKey::Escape,
];

/// A repository in which there is something to see everywhere, in a folder whose name is always of the same length.
fn repository() -> Scratch {
    let scratch = Scratch::new_in(tempfile::Builder::new().prefix("axiom-").rand_bytes(6).tempdir_in("/tmp").unwrap());
    let axiom = |args: &[&str]| {
        let output = scratch.axiom_with(args, &[("AXIOM_TEST_NOW", NOW)]);
        assert!(output.status.success(), "{args:?}: {output:?}");
    };
    axiom(&["init"]);
    for (id, title) in [("model", "User model"), ("login", "Login page"), ("limits", "Rate limiting"), ("stuck", "Tokens")] {
        axiom(&["task", "add", title, "--id", id]);
    }
    axiom(&["task", "edit", "limits", "--after", "login"]);
    axiom(&["task", "block", "stuck", "--reason", "needs the password"]);
    scratch.write(".axiom/config.toml", "[agents]\ncount = 5\n");
    scratch.write("a.txt", "before\n");
    axiom(&["checkpoint", "create", "one"]);
    scratch.write("a.txt", "after\n");
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": scratch.path(), "prompt": "tidy up"});
    let mut command = scratch.command("sh");
    command.args(["-c", "printf %s \"$1\" | \"$2\" hook claude", "sh", &prompt.to_string(), env!("CARGO_BIN_EXE_git-axiom")]);
    assert!(command.env("AXIOM_TEST_NOW", NOW).status().unwrap().success());
    let session = json!({
        "id": "s1", "startedAt": NOW, "pid": 1, "target": "refs/heads/main", "slots": 2, "maxIterations": 50, "state": "running",
        "startCheckpoint": "one",
    });
    let (agent, task) = (AgentId::new("ed-001").unwrap(), TaskId::new("model").unwrap());
    let path = scratch.path().join(".worktrees/ed-001-model");
    scratch.git(&["worktree", "add", "-q", "-b", "axiom/model", path.to_str().unwrap()]);
    let branch = RefName::branch("axiom/model");
    let workspace = Workspace { agent: agent.clone(), path: path.display().to_string(), branch, base: scratch.head() };
    let now = NOW.parse().unwrap();
    let asks = Gate::of_task(GateKind::Question, &TaskId::new("login").unwrap(), "Which database?".to_owned(), now).unwrap();
    scratch.append(vec![
        Event::SessionStarted { session: serde_json::from_value(session).unwrap() },
        Event::WorkspaceOpened { task: task.clone(), workspace, goes_on: false },
        Event::TaskClaimed { agent, task, complete: false },
        Event::GateOpened { gate: Box::new(asks) },
    ]);
    scratch.write(".worktrees/ed-001-model/new.txt", "new\n");
    scratch
}

/// The panel, at rest after each key.
struct Panel {
    terminal: Terminal,
    parser: vt100::Parser,
    read: usize,
    typed: usize,
    said: usize,
    hidden: String,
}

impl Panel {
    fn start(scratch: &Scratch, (width, height): (u16, u16)) -> Self {
        let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
        command.arg("panel").env("AXIOM_TEST_NOW", NOW).env("AXIOM_TEST_PANEL", "rest");
        let terminal = Terminal::start_in(command, (height, width));
        let folder = scratch.path().parent().unwrap().display().to_string();
        let mut panel = Self {
            terminal,
            parser: vt100::Parser::new(height.try_into().unwrap(), width.try_into().unwrap(), 0),
            read: 0,
            typed: 0,
            said: usize::MAX,
            hidden: folder,
        };
        panel.rests();
        panel
    }

    /// Waits until everything that was typed was taken, and is shown.
    #[track_caller]
    fn rests(&mut self) {
        let begun = Instant::now();
        while self.said != self.typed {
            let bytes = self.terminal.bytes_after(self.read);
            self.read += bytes.len();
            for part in bytes.split_inclusive(|byte| *byte == 7) {
                self.parser.process(part);
                let text = String::from_utf8_lossy(part);
                if let Some(said) = text.trim_end_matches('\x07').rsplit_once("\x1b]7777;").map(|(_, said)| said) {
                    self.said = said.parse().unwrap();
                }
            }
            assert!(begun.elapsed() < PATIENCE, "it does not come to rest:\n{}", self.parser.screen().contents());
            std::thread::sleep(Duration::from_micros(300));
        }
    }

    #[track_caller]
    fn press(&mut self, bytes: &str) {
        self.type_only(bytes);
        self.rests();
    }

    fn type_only(&mut self, bytes: &str) {
        self.typed += bytes.len();
        self.said = usize::MAX;
        self.terminal.type_at_once(bytes);
    }

    fn screen(&self) -> Vec<String> {
        let lines = self.parser.screen().rows(0, self.parser.screen().size().1.get());
        lines.map(|line| steady(&line.replace(&self.hidden, "/tmp/axiom-000000")).trim_end().to_owned()).collect()
    }

    /// Back to a view in which nothing is open, its first row selected.
    fn back_to(&mut self, view: &str) -> Vec<String> {
        while has_dialog(&self.screen()) {
            self.press("\x1b");
        }
        ["\x1b", view, "g"].into_iter().for_each(|key| self.press(key));
        self.screen()
    }
}

fn has_dialog(screen: &[String]) -> bool {
    screen.iter().any(|line| line.contains('┌'))
}

/// Times, ids, ages and sizes are others each time.
pub fn steady(line: &str) -> String {
    let letters: Vec<char> = line.chars().collect();
    let (mut steady, mut at) = (String::new(), 0);
    while at < letters.len() {
        let word = letters[at..].iter().take_while(|letter| letter.is_ascii_alphanumeric() || ":-.".contains(**letter));
        let word = word.collect::<String>().trim_end_matches([':', '.', '-']).to_owned();
        if word.is_empty() {
            steady.push(letters[at]);
            at += 1;
            continue;
        }
        at += word.len();
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let is_id = word.len() >= 7 && digits > 0 && word.chars().skip(1).all(|letter| letter.is_ascii_hexdigit());
        let is_time = digits >= 6 && word.contains([':', '-']);
        let after: String = letters[at..].iter().take(5).collect();
        let is_size = digits > 0 && [" KiB", " MiB", " GiB", " B"].iter().any(|unit| after.starts_with(unit));
        let blank = |letter: char| if letter.is_ascii_digit() || is_id { '.' } else { letter };
        steady.extend(word.chars().map(|letter| if is_id || is_time || is_size { blank(letter) } else { letter }));
    }
    // How much space is left on this machine, in the first line, perhaps cut.
    match steady.find(" for you │ ").filter(|_| steady.contains(" working │ ")) {
        Some(place) => steady[..place].to_owned() + " for you",
        None => steady,
    }
}

/// The dialog that is on top, or else the lines that are new.
fn seen(before: &[String], now: &[String]) -> String {
    let tops = now.iter().enumerate().filter(|(_, line)| line.contains('┌'));
    // The one on top is whole: its corners are all there.
    let mut boxes = tops.filter_map(|(top, line)| {
        let left = line.chars().position(|letter| letter == '┌')?;
        let right = line.chars().position(|letter| letter == '┐')?;
        let within = |line: &String| line.chars().skip(left).take(right - left + 1).collect::<String>().trim_end().to_owned();
        let height = now[top..].iter().position(|line| line.chars().nth(left) == Some('└'))?;
        let lines: Vec<String> = now[top..=top + height].iter().map(within).collect();
        let is_whole = lines[1..height].iter().all(|line| line.starts_with('│') && line.ends_with('│'));
        is_whole.then_some(lines)
    });
    if let Some(lines) = boxes.next_back() {
        return lines.join("\n");
    }
    let new = now.iter().enumerate().filter(|(place, line)| before.get(*place) != Some(line));
    new.map(|(place, line)| format!("{place:>2} {line}")).collect::<Vec<_>>().join("\n")
}

/// What was seen, each once, with the moments at which it was.
#[derive(Default)]
struct Approved(Vec<(String, Vec<String>)>);

impl Approved {
    fn note(&mut self, when: String, what: String) {
        match self.0.iter_mut().find(|(known, _)| *known == what) {
            Some((_, moments)) => moments.push(when),
            None => self.0.push((what, vec![when])),
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (what, moments) in &self.0 {
            let what = if what.is_empty() { "(nothing changes)" } else { what };
            writeln!(text, "== {}\n{what}\n", moments.join("; ")).unwrap();
        }
        text
    }
}

/// Answers what the panel asks of the supervisor.
fn answer_request(scratch: &Scratch) {
    let begun = Instant::now();
    let id = loop {
        let open = scratch.store().state().record.requests.keys().next().cloned();
        match open {
            Some(id) => break id,
            None => std::thread::sleep(Duration::from_millis(5)),
        }
        assert!(begun.elapsed() < PATIENCE, "nothing was asked");
    };
    let (state, reason) = (SessionState::Pausing, "asked".to_owned());
    scratch.append(vec![
        Event::RequestHandled { id, done: true, message: "pausing".to_owned() },
        Event::SessionChanged { state, reason },
    ]);
}

fn every_key((width, height): (u16, u16)) {
    let scratch = repository();
    let lock = StoreLayout::new(&scratch.path().join(".git")).locks().supervisor();
    let LockAttempt::Taken(_supervisor) = FileLock::try_take(&lock).unwrap() else { panic!("it is free") };
    let mut panel = Panel::start(&scratch, (width, height));
    // The session pauses, as a supervisor would answer: from there on nothing is asked of it.
    panel.type_only(" ");
    answer_request(&scratch);
    panel.rests();
    let mut approved = Approved::default();
    let keys: Vec<&PanelKey> = TABLE.iter().flat_map(|row| row.keys).collect();
    for (view, number) in VIEWS {
        let mut before = panel.back_to(number);
        approved.note(view.to_owned(), before.join("\n"));
        for key in &keys {
            panel.press(&bytes_of(key).unwrap());
            let now = panel.screen();
            approved.note(format!("{view}, {key}"), seen(&before, &now));
            if now != before {
                before = panel.back_to(number);
            }
        }
    }
    let opens = |panel: &mut Panel, keys: &[&str]| {
        panel.back_to("1");
        keys.iter().for_each(|key| panel.press(key));
        panel.screen()
    };
    for (dialog, opening, own) in DIALOGS {
        let open = opens(&mut panel, opening);
        approved.note(dialog.to_owned(), seen(&[], &open));
        let own = own.chars().map(|letter| letter.to_string());
        let own = own.map(|bytes| (format!("{:?}", bytes), bytes));
        for (name, bytes) in MOVING.iter().map(|key| (key.to_string(), bytes_of(key).unwrap())).chain(own) {
            panel.press(&bytes);
            let now = panel.screen();
            if now == open {
                continue;
            }
            approved.note(format!("{dialog}, {name}"), seen(&open, &now));
            panel.press("\x1b[H");
            if panel.screen() != open {
                assert_eq!(opens(&mut panel, opening), open, "{dialog} after {name}");
            }
        }
    }
    for (dialog, opening) in CHOSEN {
        let open = opens(&mut panel, opening);
        approved.note(dialog.to_owned(), seen(&[], &open));
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "approved" }, {
        insta::assert_snapshot!(format!("{width}x{height}"), approved.text());
    });
}

#[test]
fn every_key_at_80_by_24() {
    every_key((80, 24));
}

#[test]
fn every_key_at_120_by_40() {
    every_key((120, 40));
}

#[test]
fn every_key_at_200_by_60() {
    every_key((200, 60));
}

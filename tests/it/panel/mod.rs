//! The panel at a pseudo-terminal, its screens read by a parser of their own.

pub mod every_key;
mod killed;
mod live;
mod questions;

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Signal, WaitOptions, kill_process, waitpid};

use git_axiom::ui::panel::input::PanelKey;
use git_axiom::ui::panel::keys::TABLE;

use crate::common::trials::AskedCases;
use crate::session_support::{Random, World, wait_until};
use crate::support::Scratch;
use crate::terminal::Terminal;

const PATIENCE: Duration = Duration::from_secs(60);

/// The panel at a terminal.
struct Panel {
    terminal: Terminal,
    size: (u16, u16),
}

impl Panel {
    fn start(mut command: Command, size: (u16, u16)) -> Self {
        // As a shell with jobs starts it.
        command.process_group(0);
        Self { terminal: Terminal::start_in(command, size), size }
    }

    fn of(world: &World, size: (u16, u16)) -> Self {
        Self::start(world.env.axiom_command(&world.env.repo(), ["panel"]), size)
    }

    fn screen(&self) -> String {
        let mut parser = vt100::Parser::new(self.size.0.try_into().unwrap(), self.size.1.try_into().unwrap(), 0);
        parser.process(&self.terminal.bytes());
        parser.screen().contents()
    }

    /// Waits until the screen has all of these.
    #[track_caller]
    fn shows(&self, texts: &[&str]) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.screen();
            if texts.iter().all(|text| screen.contains(text)) {
                return screen;
            }
            assert!(begun.elapsed() < PATIENCE, "{texts:?} is not shown:\n{screen}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn type_keys(&mut self, keys: &[&str]) {
        self.terminal.keys(keys);
    }
}

fn with_a_task() -> Scratch {
    let scratch = Scratch::new();
    scratch.axiom(&["task", "add", "User model", "--id", "x"]);
    scratch
}

fn in_scratch(scratch: &Scratch) -> Panel {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    command.arg("panel");
    Panel::start(command, (24, 80))
}

#[test]
fn a_session_is_seen_and_an_agent_stopped_after_its_dialog() {
    let world = World::new();
    world.waiting_task("t");
    let live = world.start(&["--mode", "review"]);
    world.wait_for_file("begun");
    let mut panel = Panel::of(&world, (24, 80));
    panel.shows(&["running", "review → main", "agent-001", "1 working"]);
    // Every view and many dialogs, each closed by Escape.
    for (keys, shown) in [
        (&["2"][..], "DONE"),
        (&["3"], "Nothing waits for you"),
        (&["4"], "agent-001 on t: follows"),
        (&["5"], "session-start"),
        (&["1", "?"], "KEYS"),
        (&["\x1b", "i"], "ACTIONS"),
        (&["\x1b", "C"], "1/50 checkpoints"),
        (&["\r"], "Would go back to checkpoint session-start"),
        (&["\x1b", "\x1b", "D"], "CHANGED"),
        (&["\x1b", "q"], "1 agent is running: agent-001 on t"),
        (&["\x1b", "s"], "STOP agent-001"),
        (&["\x1b", "m"], "To take it back: git axiom mode review"),
        (&["\x1b", "x"], "KILL agent-001"),
    ] {
        panel.type_keys(keys);
        panel.shows(&[shown]);
    }
    panel.type_keys(&["\x1b"]);
    assert_eq!(world.agents()[0]["state"], "running", "nothing was done yet");
    panel.type_keys(&["s", "\r"]);
    panel.shows(&["Stopped agent-001.", "1 for you"]);
    assert_eq!(world.gates()[0]["held"], "stopped");
    // A checkpoint, and the gate approved in place.
    panel.type_keys(&["c"]);
    panel.shows(&["Made checkpoint"]);
    panel.type_keys(&["3", "\r"]);
    panel.shows(&["GATE", "Approve: let it continue"]);
    panel.type_keys(&["a"]);
    wait_until("it goes on", || world.agents()[0]["state"] == "running");
    panel.type_keys(&["1", "q"]);
    panel.shows(&["QUIT?", "Leave it running"]);
    panel.type_keys(&["l"]);
    let (status, _) = panel.terminal.end();
    assert_eq!(status.code(), Some(0));
    assert_eq!(world.agents()[0]["state"], "running", "the session goes on");
    world.signal_file("go");
    world.quits_well(live);
}

#[test]
fn whatever_ends_the_panel_the_terminal_is_as_it_was() {
    let scratch = with_a_task();
    for how in ["q", "\x03", "TERM", "HUP"] {
        let mut panel = in_scratch(&scratch);
        panel.shows(&["No agent has worked yet", "no session"]);
        assert!(!panel.terminal.is_as_shells_want_it());
        match how {
            "TERM" => kill_process(panel.terminal.pid(), Signal::TERM).unwrap(),
            "HUP" => kill_process(panel.terminal.pid(), Signal::HUP).unwrap(),
            key => panel.type_keys(&[key]),
        }
        while panel.terminal.is_running() {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(panel.terminal.is_as_shells_want_it(), "{how}");
        let (status, seen) = panel.terminal.end();
        let ended = (status.code(), status.signal());
        let wanted = match how {
            "q" => (Some(0), None),
            "TERM" => (None, Some(15)),
            "HUP" => (None, Some(1)),
            _ => (Some(130), None),
        };
        assert_eq!(ended, wanted, "{how}");
        let (_, after) = seen.rsplit_once("\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l").unwrap_or_default();
        assert!(seen.contains("\x1b[?1049l") && ["", "\x1b[?25h"].contains(&after), "{how}: {seen:?}");
    }
}

#[test]
fn ctrl_z_and_a_new_size_are_taken_well() {
    let scratch = with_a_task();
    let mut panel = in_scratch(&scratch);
    panel.shows(&["No agent has worked yet"]);
    panel.type_keys(&["\x1a"]);
    let begun = Instant::now();
    while waitpid(Some(panel.terminal.pid()), WaitOptions::UNTRACED | WaitOptions::NOHANG).unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "it is not stopped");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(panel.terminal.is_as_shells_want_it());
    kill_process(panel.terminal.pid(), Signal::CONT).unwrap();
    panel.type_keys(&["2"]);
    panel.shows(&["User model"]);
    assert!(!panel.terminal.is_as_shells_want_it());
    panel.size = (40, 120);
    panel.terminal.resize((40, 120));
    kill_process(panel.terminal.pid(), Signal::WINCH).unwrap();
    panel.type_keys(&["i"]);
    panel.shows(&["Show what agents learnt", "Close the panel"]);
    panel.type_keys(&["\x1b", "q"]);
    assert!(panel.terminal.end().0.success());
}

#[test]
fn keys_are_configured_and_a_wrong_one_is_named() {
    let scratch = with_a_task();
    ["tasks=T", "gates="].iter().for_each(|key| drop(scratch.git(&["config", "--add", "axiom.panel.keys", key])));
    let mut panel = in_scratch(&scratch);
    panel.shows(&["No agent has worked yet"]);
    panel.type_keys(&["2", "T"]);
    panel.shows(&["User model", "DONE"]);
    panel.type_keys(&["3"]);
    panel.shows(&["'3' does nothing; ? shows all keys"]);
    panel.type_keys(&["q"]);
    assert!(panel.terminal.end().0.success());
    scratch.git(&["config", "--replace-all", "axiom.panel.keys", "tasks=s"]);
    let (status, seen) = in_scratch(&scratch).terminal.end();
    assert!(status.code() == Some(1) && seen.contains("'s' is the key of 'stop' and of 'tasks'"), "{seen}");
}

#[test]
fn editors_and_verbs_get_the_terminal_and_give_it_back() {
    let scratch = with_a_task();
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    command.args(["panel", "--inline"]).env("GIT_EDITOR", "printf 'echo from the editor' >");
    let mut panel = Panel::start(command, (24, 80));
    panel.shows(&["No agent has worked yet"]);
    panel.type_keys(&["2", "e"]);
    panel.shows(&["git axiom undo takes it back"]);
    assert!(scratch.axiom(&["task", "show", "x"]).contains("echo from the editor"));
    panel.type_keys(&[":", "l", "o", "g", "\r"]);
    panel.shows(&["$ git axiom log", "add x: User model", "[exit status 0; Enter goes back to the panel]"]);
    panel.type_keys(&["\r"]);
    panel.shows(&["DONE"]);
    // A file of a checkpoint, from the timeline.
    scratch.write("a.txt", "before\n");
    panel.type_keys(&["c"]);
    panel.shows(&["Made checkpoint"]);
    scratch.write("a.txt", "after\n");
    panel.type_keys(&["5"]);
    panel.shows(&["(manual)"]);
    panel.type_keys(&["\r", "o", "a", ".", "t", "x", "t", "\r"]);
    panel.shows(&["RESTORE a.txt", "'a.txt' in", "1 file with uncommitted content changed", "git axiom undo"]);
    assert_eq!(scratch.read("a.txt"), "after\n");
    panel.type_keys(&["\r"]);
    panel.shows(&["Went back to checkpoint", "To take it back: git axiom undo"]);
    assert_eq!(scratch.read("a.txt"), "before\n");
    // And undone.
    panel.type_keys(&["\x1b", "U"]);
    panel.shows(&["Would take back", "1 file changed"]);
    panel.type_keys(&["\r"]);
    panel.shows(&["Took back"]);
    assert_eq!(scratch.read("a.txt"), "after\n");
    panel.type_keys(&["\x1b", "q"]);
    let (status, seen) = panel.terminal.end();
    assert!(status.success() && !seen.contains("\x1b[?1049h"), "it is drawn on the screen of the shell");
}

/// By their places in the log: an operation begins before the checkpoint that it makes first.
#[test]
fn the_checkpoint_before_an_operation_is_below_it_in_the_timeline() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    world.autopilot(&[]).code(0);
    let merge = world.env.json(&["log", "--undoable"])["operations"].as_array().unwrap().clone();
    let merge = merge.iter().find(|one| one["what"] == "merge t into main").unwrap();
    world.env.ok(&["undo", merge["id"].as_str().unwrap(), "--yes"]);
    let mut panel = Panel::of(&world, (24, 120));
    panel.type_keys(&["5"]);
    let screen = panel.shows(&["before-merge", "before-undo", "merge t into main", "undo of"]);
    let place = |text: &str| screen.lines().position(|line| line.contains(text)).unwrap();
    assert!(place("undo of") < place("(before-undo)") && place("merge t into main (") < place("(before-merge)"), "{screen}");
    assert!(place("(before-undo)") < place("merge t into main ("), "{screen}");
    panel.type_keys(&["q"]);
}

#[test]
fn run_with_the_panel_begins_a_session_that_outlives_it() {
    let world = World::new();
    world.waiting_task("t");
    let mut command = world.run_command(&["--panel", "--mode", "review"]);
    command.process_group(0);
    let mut panel = Panel { terminal: Terminal::start_in(command, (24, 80)), size: (24, 80) };
    panel.shows(&["running", "agent-001"]);
    panel.type_keys(&["q"]);
    panel.shows(&["QUIT?"]);
    panel.type_keys(&["l"]);
    assert!(panel.terminal.end().0.success());
    assert_eq!(world.env.json(&["status"])["supervisor"]["alive"], true);
    world.env.ok(&["quit"]);
    wait_until("the session has ended", || world.env.json(&["status"])["supervisor"]["alive"] == false);
    world.all_is_well();
}

/// Keys that are pressed at random: `AXIOM_ROUNDS`.
const KEYS: u64 = 2_000;

#[test]
fn whatever_is_pressed_on_a_live_session_nothing_panics_and_all_is_sound() {
    let asked = AskedCases::read();
    let (seed, keys_to_press) = (asked.seed(7), asked.rounds(KEYS));
    let mut random = Random::of(seed);
    let world = World::new();
    for id in ["a", "b", "c"] {
        let script = format!("for n in 1 2 3; do echo $n >> {id}.txt; git axiom signal progress ${{n}}0; sleep 0.2; done");
        world.task(id, &script, &[]);
    }
    // A line of random letters is no verb, and not to be run.
    ["verb=", "edit=", "open-workspace="]
        .iter()
        .for_each(|key| drop(world.env.git(&["config", "--add", "axiom.panel.keys", key])));
    let session = || drop(world.env.axiom(&["run", "--detach", "--agents", "2", "--mode", "review"]));
    session();
    let table = TABLE.iter().flat_map(|row| row.keys.iter());
    let mut keys: Vec<String> = table.filter_map(bytes_of).collect();
    keys.extend(
        ["\r", "\r", "\x1b", "\x1b", "a", "l", "y", "o", "p", "7", "\x7f", "\x1b[200~x\r\x1b[201~", "\x1b[<0;5;4M"]
            .map(str::to_owned),
    );
    let mut panel = Panel::of(&world, (24, 80));
    for pressed in 0..keys_to_press {
        if !panel.terminal.is_running() {
            let (status, seen) = panel.terminal.end();
            assert!(
                matches!(status.code(), Some(0 | 130)) && !seen.contains("panicked"),
                "seed {seed}, {pressed}: {status:?} {seen}"
            );
            session();
            panel = Panel::of(&world, if random.below(2) == 0 { (24, 80) } else { (60, 200) });
        }
        let key = &keys[usize::try_from(random.below(keys.len() as u64)).unwrap()];
        panel.terminal.type_at_once(key);
        std::thread::sleep(Duration::from_millis(2));
    }
    // Whatever is open is closed, also what is still being done.
    let begun = Instant::now();
    while panel.terminal.is_running() {
        assert!(begun.elapsed() < PATIENCE * 2, "it does not end:\n{}", panel.screen());
        panel.terminal.type_at_once("\x03");
        std::thread::sleep(Duration::from_millis(200));
    }
    let (status, seen) = panel.terminal.end();
    assert!(matches!(status.code(), Some(0 | 130)) && !seen.contains("panicked"), "seed {seed}: {status:?}");
    if world.env.json(&["status"])["supervisor"]["alive"] == true {
        world.env.ok(&["quit", "--yes"]);
        wait_until("the session has ended", || world.env.json(&["status"])["supervisor"]["alive"] == false);
    }
    world.env.ok(&["stop", "--all"]);
    world.no_process_is_left();
    world.env.ok(&["recover"]);
    world.env.ok(&["checkpoint", "verify"]);
    world.env.fsck();
}

/// What a terminal sends for a key; nothing for those that would stop the test.
fn bytes_of(key: &PanelKey) -> Option<String> {
    Some(match key {
        PanelKey::Char(letter) => letter.to_string(),
        PanelKey::Ctrl('c' | 'z') => return None,
        PanelKey::Ctrl(letter) => char::from(u8::try_from(*letter).ok()? - 0x60).to_string(),
        PanelKey::Enter => "\r".to_owned(),
        PanelKey::Escape => "\x1b".to_owned(),
        PanelKey::Tab => "\t".to_owned(),
        PanelKey::BackTab => "\x1b[Z".to_owned(),
        PanelKey::Backspace => "\x7f".to_owned(),
        PanelKey::Delete => "\x1b[3~".to_owned(),
        PanelKey::Up => "\x1b[A".to_owned(),
        PanelKey::Down => "\x1b[B".to_owned(),
        PanelKey::Right => "\x1b[C".to_owned(),
        PanelKey::Left => "\x1b[D".to_owned(),
        PanelKey::PageUp => "\x1b[5~".to_owned(),
        PanelKey::PageDown => "\x1b[6~".to_owned(),
        PanelKey::Home => "\x1b[H".to_owned(),
        PanelKey::End => "\x1b[F".to_owned(),
    })
}

#[test]
fn without_a_terminal_it_says_what_to_do_and_with_piped_input_it_reads_the_terminal() {
    let scratch = with_a_task();
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    let ended = command.arg("panel").stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(said.contains("error[USAGE]: the panel needs a terminal") && said.contains("git axiom status --watch"), "{said}");
    scratch.refused(&["panel", "--json"], "USAGE", 2);
    // A terminal of its own, so that there is a /dev/tty.
    let program = env!("CARGO_BIN_EXE_git-axiom");
    let mut command = scratch.command("setsid");
    command.args(["-c", "sh", "-c", &format!("echo q | '{program}' panel")]);
    let mut panel = Panel { terminal: Terminal::start_in(command, (24, 80)), size: (24, 80) };
    panel.shows(&["No agent has worked yet"]);
    panel.type_keys(&["2"]);
    panel.shows(&["User model"]);
    panel.type_keys(&["q"]);
    assert!(panel.terminal.end().0.success());
}

#[test]
fn the_graph_draws_checkpoints_a_rollback_and_its_undo_and_says_what_is_at_risk() {
    let scratch = with_a_task();
    assert!(scratch.axiom(&["graph"]).contains("there is no checkpoint yet"));
    scratch.write("a.txt", "before\n");
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.write("a.txt", "after\n");
    assert!(scratch.axiom(&["graph"]).contains("1 file has changed here since one"));
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    scratch.axiom(&["undo", "--yes"]);
    let drawn = scratch.axiom(&["graph"]);
    let rows: Vec<&str> = drawn.lines().collect();
    assert!(rows[0].starts_with("○") && rows[1].starts_with("↶") && rows[3].starts_with("◀"), "{drawn}");
    assert!(rows[5].starts_with("◆") && rows[5].contains("git axiom rollback one"), "{drawn}");
    let moments = scratch.json(&["graph", "--svg", "picture.svg"])["moments"].as_array().unwrap().clone();
    assert_eq!(moments.len(), rows.len() - 1);
    let picture = scratch.read("picture.svg");
    assert!(picture.starts_with("<svg") && picture.contains("git axiom undo t") && picture.ends_with("</svg>\n"), "{picture}");
}

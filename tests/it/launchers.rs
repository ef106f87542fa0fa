//! Which git axiom the launchers of plugins call: the noted one, else the first one that nobody else can have put there.

use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use git_axiom::model::program_hooks::plugins::plugin_files;

use crate::common::{NOBODY, TestEnv, is_root};

/// Notes how it was called, and reads what it is sent.
const FAKE: &str = "#!/bin/sh\nprintf '%s %s\\n' \"$0\" \"$*\" > \"$HOME/ran\"\n/bin/cat > \"$HOME/sent\"\n";

#[derive(Clone, Copy, PartialEq)]
enum Launcher {
    Shell,
    Node,
}

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let place = Self { dir };
        std::fs::create_dir(place.at("home")).unwrap();
        for file in plugin_files().iter().filter(|file| file.path.starts_with("hooks/plugins/")) {
            let path = place.at(&file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &file.text).unwrap();
        }
        let script = "import { GitAxiom } from './hooks/plugins/opencode/index.js'\n\
             const hooks = await GitAxiom({ directory: process.cwd() })\n\
             await hooks['chat.message']({ sessionID: 's' }, { parts: [{ type: 'text', text: 'x' }] })\n";
        std::fs::write(place.at("try.mjs"), script).unwrap();
        place
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    /// A folder with the program.
    fn with_program(&self, path: &str) -> PathBuf {
        let folder = self.at(path);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("git-axiom"), FAKE).unwrap();
        mode(&folder.join("git-axiom"), 0o755);
        folder
    }

    fn run(&self, launcher: Launcher, here: &Path, path: &str) -> Option<Output> {
        let mut command = match launcher {
            Launcher::Shell => Command::new("/bin/sh"),
            Launcher::Node => Command::new(node()?),
        };
        match launcher {
            Launcher::Shell => command.arg(self.at("hooks/plugins/claude/launch.sh")).args(["hook", "claude", "--plugin"]),
            Launcher::Node => command.arg(self.at("try.mjs")),
        };
        command.current_dir(here).env_clear().env("HOME", self.at("home")).env("PATH", path);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It may have ended already.
        drop(std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"{\"a\":1}"));
        Some(child.wait_with_output().unwrap())
    }

    /// Which program ran.
    fn ran(&self, launcher: Launcher, path: &str) -> Option<PathBuf> {
        let ended = self.run(launcher, &self.at("relative"), &format!("{path}:/usr/bin:/bin")).unwrap();
        assert!(ended.status.success() && ended.stdout.is_empty() && ended.stderr.is_empty(), "{path}: {ended:?}");
        let ran = std::fs::read_to_string(self.at("home/ran")).ok()?;
        std::fs::remove_file(self.at("home/ran")).unwrap();
        let (file, words) = ran.trim_end().split_once(" hook ").unwrap();
        assert_eq!(words, if launcher == Launcher::Shell { "claude --plugin" } else { "opencode --plugin" });
        assert!(!std::fs::read_to_string(self.at("home/sent")).unwrap().is_empty());
        Some(PathBuf::from(file))
    }
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Where node is; its own folder is not on the `PATH` of these tests.
fn node() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("node")).find(|file| file.is_file())
}

fn launchers() -> Vec<Launcher> {
    if node().is_none() {
        crate::skipped::skipped("there is no node");
        return vec![Launcher::Shell];
    }
    vec![Launcher::Shell, Launcher::Node]
}

/// What somebody else may have put on the `PATH`, each by its name.
fn hostile(place: &Place) -> Vec<(&'static str, String)> {
    let made = |path: &str| place.with_program(path);
    let text = |path: PathBuf| path.display().to_string();
    let mut all = Vec::new();
    made("relative/bin");
    all.push(("relative", "bin".to_owned()));
    made("relative");
    all.push(("empty", String::new()));
    all.push(("a dot", ".".to_owned()));
    for (name, bits) in [("group", 0o775), ("all", 0o757), ("sticky", 0o1777)] {
        let folder = made(name);
        mode(&folder, bits);
        all.push((name, text(folder)));
    }
    let inside = made("group_above/bin");
    mode(&place.at("group_above"), 0o775);
    all.push(("a folder above", text(inside)));
    let file = made("file");
    mode(&file.join("git-axiom"), 0o775);
    all.push(("the file", text(file)));
    let tree = made("tree/target/bin");
    std::fs::create_dir(place.at("tree/.git")).unwrap();
    all.push(("a worktree", text(tree.clone())));
    let linked = made("linked");
    std::fs::write(linked.join(".git"), "gitdir: elsewhere\n").unwrap();
    all.push(("a linked worktree", text(linked)));
    let link = place.at("link");
    std::fs::create_dir(&link).unwrap();
    symlink(tree.join("git-axiom"), link.join("git-axiom")).unwrap();
    all.push(("a link into a worktree", text(link)));
    symlink(place.at("group"), place.at("to_group")).unwrap();
    all.push(("a link to a folder of others", text(place.at("to_group"))));
    let dangling = place.at("dangling");
    std::fs::create_dir(&dangling).unwrap();
    symlink("nowhere", dangling.join("git-axiom")).unwrap();
    all.push(("a link to nothing", text(dangling)));
    let plain = made("plain");
    mode(&plain.join("git-axiom"), 0o644);
    all.push(("no program", text(plain)));
    std::fs::create_dir_all(place.at("folder/git-axiom")).unwrap();
    all.push(("a folder of that name", text(place.at("folder"))));
    all.push(("a folder that is not there", text(place.at("gone"))));
    if is_root() {
        let other = made("other");
        chown(&other, Some(NOBODY), None).unwrap();
        all.push(("of another user", text(other)));
        let others_file = made("others_file");
        chown(others_file.join("git-axiom"), Some(NOBODY), None).unwrap();
        all.push(("a file of another user", text(others_file)));
    }
    all
}

#[test]
fn a_launcher_calls_nothing_that_others_can_have_put_on_the_path() {
    let place = Place::new();
    let hostile = hostile(&place);
    let good = place.with_program("good/bin");
    for launcher in launchers() {
        for (name, path) in &hostile {
            assert_eq!(place.ran(launcher, path), None, "{name}");
            let both = format!("{path}:{}", good.display());
            assert_eq!(place.ran(launcher, &both), Some(good.join("git-axiom")), "{name}, then a good one");
        }
        let all: Vec<&str> = hostile.iter().map(|(_, path)| path.as_str()).collect();
        assert_eq!(place.ran(launcher, &format!("{}:{}", all.join(":"), good.display())), Some(good.join("git-axiom")));
    }
}

#[test]
fn a_launcher_calls_the_first_one_of_the_user() {
    let place = Place::new();
    std::fs::create_dir(place.at("relative")).unwrap();
    let good = place.with_program("good it's/bin");
    let open = place.at("open");
    std::fs::create_dir(&open).unwrap();
    let below = place.with_program("open/mine");
    mode(&open, 0o1777);
    symlink(&good, place.at("to_good")).unwrap();
    let shims = place.at("shims");
    std::fs::create_dir(&shims).unwrap();
    symlink(good.join("git-axiom"), shims.join("git-axiom")).unwrap();
    for launcher in launchers() {
        for (path, file) in [(&good, &good), (&below, &below), (&place.at("to_good"), &good), (&shims, &shims)] {
            assert_eq!(place.ran(launcher, &path.display().to_string()), Some(file.join("git-axiom")), "{}", path.display());
        }
    }
}

#[test]
fn a_launcher_calls_the_noted_one_before_it_looks_at_the_path() {
    let place = Place::new();
    std::fs::create_dir(place.at("relative")).unwrap();
    let (good, noted) = (place.with_program("good"), place.with_program("noted"));
    let note = place.at("home/.local/state/git-axiom/program");
    std::fs::create_dir_all(note.parent().unwrap()).unwrap();
    let path = good.display().to_string();
    for launcher in launchers() {
        for (line, file) in [
            (format!("{}/git-axiom\n", noted.display()), &noted),
            (format!("{}/git-axiom", noted.display()), &noted),
            (format!("{}/gone\n", noted.display()), &good),
            ("git-axiom\n".to_owned(), &good),
            (String::new(), &good),
        ] {
            std::fs::write(&note, &line).unwrap();
            assert_eq!(place.ran(launcher, &path), Some(file.join("git-axiom")), "{line:?}");
        }
    }
}

#[test]
fn a_launcher_of_the_shell_calls_only_tools_of_the_system_and_goes_on_from_what_cannot_be_started() {
    let place = Place::new();
    let tree = place.at("tree");
    std::fs::create_dir_all(tree.join(".git")).unwrap();
    for tool in ["id", "ls", "readlink", "cksum", "mkdir", "date", "cat"] {
        std::fs::write(tree.join(tool), format!("#!/bin/sh\ntouch '{}'\n", place.at("planted").display())).unwrap();
        mode(&tree.join(tool), 0o755);
    }
    let note = place.at("home/.local/state/git-axiom/program");
    std::fs::create_dir_all(note.parent().unwrap()).unwrap();
    let other = place.at("other-machine");
    std::fs::write(&other, b"\x7fELF of another machine").unwrap();
    mode(&other, 0o755);
    std::fs::write(&note, format!("{}\n", other.display())).unwrap();
    let path = |rest: &str| format!("{}:{rest}", tree.display());
    let ended = place.run(Launcher::Shell, &tree, &path("/usr/bin:/bin")).unwrap();
    assert!(ended.status.success() && ended.stdout.is_empty(), "{ended:?}");
    assert_eq!(std::fs::read_dir(place.at("home/.local/state/git-axiom/unstarted")).unwrap().count(), 1, "{ended:?}");
    if node().is_some() {
        let ended = place.run(Launcher::Node, &tree, &path("/usr/bin:/bin")).unwrap();
        assert!(ended.status.success() && ended.stdout.is_empty(), "{ended:?}");
        let noted = std::fs::read_dir(place.at("home/.local/state/git-axiom/unstarted")).unwrap().count();
        assert_eq!(noted, 2, "the plugin of opencode notes it too: {ended:?}");
    }
    let good = place.with_program("good");
    let ended = place.run(Launcher::Shell, &tree, &path(&good.display().to_string())).unwrap();
    assert!(ended.status.success() && place.at("home/ran").exists(), "{ended:?}");
    assert!(!place.at("planted").exists());
    // Without a home of its own, nothing is taken from where one happens to be.
    std::fs::create_dir_all(tree.join("home/.local/state/git-axiom")).unwrap();
    std::fs::write(tree.join("home/.local/state/git-axiom/program"), format!("{}\n", tree.join("id").display())).unwrap();
    let mut command = Command::new("/bin/sh");
    command.arg(place.at("hooks/plugins/claude/launch.sh")).args(["hook", "claude"]).current_dir(&tree).stdin(Stdio::null());
    assert!(command.env_clear().env("HOME", "home").env("PATH", "/bin").status().unwrap().success());
    assert!(!place.at("planted").exists() && !tree.join("home/.local/state/git-axiom/unstarted").exists());
}

#[test]
fn where_there_is_none_the_agent_goes_on_and_the_sessions_say_that_nothing_is_saved() {
    let env = TestEnv::new();
    let place = Place::new();
    std::fs::create_dir_all(env.repo().join("sub")).unwrap();
    for (launcher, folder) in launchers().into_iter().flat_map(|one| [(one, "sub"), (one, "")]) {
        let ended = place.run(launcher, &env.repo().join(folder), "/usr/bin:/bin").unwrap();
        assert!(ended.status.success() && ended.stdout.is_empty() && ended.stderr.is_empty(), "{ended:?}");
    }
    let mut command = env.axiom_command(&env.repo(), ["sessions", "--json"]);
    command.env("XDG_STATE_HOME", place.at("home/.local/state"));
    let shown = env.run(command, None).success().json();
    let all = shown["sessions"].as_array().unwrap();
    assert_eq!(all.len(), launchers().len(), "{shown}");
    for one in all {
        assert!(one["unprotected"].as_str().unwrap().contains("found no git-axiom"), "{one}");
        assert_eq!(one["worktree"].as_str(), env.repo().canonicalize().unwrap().to_str());
    }
    // Where it can be called, the session is another one.
    let mut hook = env.axiom_command(&env.repo(), ["hook", "claude", "--plugin"]);
    hook.env("XDG_STATE_HOME", place.at("home/.local/state"));
    let payload = serde_json::json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "x", "cwd": env.repo()});
    env.run(hook, Some(payload.to_string().as_bytes())).success();
    let mut command = env.axiom_command(&env.repo(), ["sessions"]);
    command.env("XDG_STATE_HOME", place.at("home/.local/state"));
    let shown = env.run(command, None).success();
    assert!(!shown.stdout.contains("UNPROTECTED: Claude"), "{shown}");
}

/// Version 2 of opencode gives hooks to a context; that it does so in this way is known from its documents alone.
#[test]
fn the_plugin_for_version_2_of_opencode_calls_the_same_program() {
    let Some(node) = node() else { return crate::skipped::skipped("there is no node") };
    let place = Place::new();
    let good = place.with_program("good");
    let script = "import plugin from './hooks/plugins/opencode/v2.js'\n\
         const hooks = {}\n\
         const on = (kind) => ({ hook: async (name, does) => { hooks[kind + '.' + name] = does } })\n\
         await plugin.setup({ location: { directory: process.cwd() }, session: on('session'), tool: on('tool') })\n\
         await hooks[process.argv[2]]({ sessionID: 's', prompt: { text: 'tidy up' }, tool: 'shell', id: '1', input: { command: 'rm x' } })\n";
    std::fs::write(place.at("v2.mjs"), script).unwrap();
    for (hook, sent) in [("session.prompt", "tidy up"), ("tool.execute.before", "rm x"), ("tool.execute.after", "PostToolUse")] {
        let mut command = Command::new(&node);
        command.args(["v2.mjs", hook]).current_dir(place.at("")).env_clear().env("HOME", place.at("home"));
        let ended = command.env("PATH", format!("{}:/usr/bin:/bin", good.display())).output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
        let text = std::fs::read_to_string(place.at("home/sent")).unwrap();
        assert!(text.contains(sent) && text.contains("\"session_id\":\"s\""), "{hook}: {text}");
    }
}

#[test]
fn init_and_attach_note_where_the_program_is() {
    for verb in [&["init"][..], &["attach", "claude"], &["attach", "claude", "--user"]] {
        let env = TestEnv::new();
        env.ok(verb);
        let noted = std::fs::read_to_string(env.root().join("home/.local/state/git-axiom/program")).unwrap();
        assert_eq!(noted, format!("{}\n", env!("CARGO_BIN_EXE_git-axiom")), "{verb:?}");
    }
}

/// A session that opencode begins itself for a part of the work is a part of the human's: it has no prompt and no end of its own.
#[test]
fn what_child_sessions_of_opencode_do_belongs_to_the_session_that_began_them() {
    let place = Place::new();
    let folder = place.with_program("safe");
    std::fs::write(folder.join("git-axiom"), "#!/bin/sh\n/bin/cat >> \"$HOME/all\"\necho >> \"$HOME/all\"\n").unwrap();
    mode(&folder.join("git-axiom"), 0o755);
    let script = "import { GitAxiom } from './hooks/plugins/opencode/index.js'\n\
         const get = async ({ path }) => ({ data: { id: path.id, parentID: path.id === 'late' ? 'root' : undefined } })\n\
         const hooks = await GitAxiom({ client: { session: { get } }, directory: process.cwd() })\n\
         const says = (sessionID, text) => hooks['chat.message']({ sessionID }, { parts: [{ type: 'text', text }] })\n\
         const event = (type, properties) => hooks.event({ event: { type, properties } })\n\
         await says('root', 'by the human')\n\
         await event('session.created', { info: { id: 'child', parentID: 'root' } })\n\
         await says('child', 'by the program')\n\
         await hooks['tool.execute.before']({ tool: 'bash', sessionID: 'child', callID: '1' }, { args: { command: 'rm x' } })\n\
         await says('late', 'by the program')\n\
         await hooks['tool.execute.after']({ tool: 'bash', sessionID: 'late', callID: '2', args: {} }, { output: '' })\n\
         await event('session.idle', { sessionID: 'child' })\n\
         await event('session.idle', { sessionID: 'root' })\n";
    std::fs::write(place.at("try.mjs"), script).unwrap();
    let Some(ended) = place.run(Launcher::Node, &place.at("home"), &format!("{}:/usr/bin:/bin", folder.display())) else {
        return;
    };
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
    let sent = std::fs::read_to_string(place.at("home/all")).unwrap();
    let sent: Vec<serde_json::Value> = sent.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> =
        sent.iter().map(|one| (one["hook_event_name"].as_str().unwrap(), one["session_id"].as_str().unwrap())).collect();
    assert_eq!(told, [("UserPromptSubmit", "root"), ("PreToolUse", "root"), ("PostToolUse", "root"), ("Stop", "root")]);
}

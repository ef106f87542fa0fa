//! The tricks of a hostile clone: what it brings, and what becomes of it.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use super::{CONFIG, config};
use crate::common::TestEnv;
use git_axiom::base::error::Code;

/// What becomes of a trick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// `trust` asks about it; whoever approves it gets the witness, so the trick is a real one.
    Asked,
    /// `trust` asks about it, and even approved it runs nothing.
    AskedInVain,
    /// `trust` refuses it with this code, also where the answer would be yes.
    Refused(Code),
    /// There is nothing to approve.
    NotRead,
}

/// A trick, its fate, and how it is played with a command that leaves the witness.
pub type Trick = (&'static str, Fate, fn(&TestEnv, &str));

fn script(env: &TestEnv, path: &str, run: &str) {
    env.write(path, format!("#!/bin/sh\n{run}\n"));
    std::fs::set_permissions(env.repo().join(path), PermissionsExt::from_mode(0o755)).unwrap();
}

/// All of them.
pub const TRICKS: [Trick; 29] = [
    ("an agent of an absolute path", Fate::Asked, |env, run| {
        script(env, "tools/agent", run);
        let agent = env.repo().join("tools/agent");
        config(env, &format!("[agents]\ndefault = 'x'\n[agents.x]\ncommand = ['{}']\n", agent.display()));
    }),
    ("an agent in the repository", Fate::Asked, |env, run| {
        script(env, "tools/agent", run);
        config(env, "[agents.shell]\ncommand = ['tools/agent']\n");
    }),
    ("merge.verify among harmless keys", Fate::Asked, |env, run| {
        config(env, &format!("checkpoints.maxCount = 60\nmerge.verify = [\"true\", \"{run}\"]\nagents.count = 1\n"));
    }),
    ("a wrapper of the verify steps", Fate::Asked, |env, run| {
        config(env, &format!("[merge]\nverify = ['true']\n[verify]\nwrapper = ['sh', '-c', '{run}']\n"));
    }),
    ("a byte order mark before it", Fate::Asked, |env, run| {
        config(env, &format!("\u{feff}[merge]\nverify = [\"{run}\"]\n"));
    }),
    ("a folder of the workspaces that is elsewhere", Fate::Asked, |env, run| {
        config(env, &format!("[agents]\nworkspaceRoot = '{}'\n", run.trim_start_matches("touch ")));
    }),
    ("an executable configuration", Fate::AskedInVain, |env, run| {
        script(env, CONFIG, run);
        config(env, &format!("#!/bin/sh\n#\n# '''\n# {run}\n"));
    }),
    ("tasks with verify steps and an event log beside it", Fate::AskedInVain, |env, run| {
        let case = format!(r#"{{"id":"evil","kind":"task","title":"x","body":"{run}","verify":["{run}"]}}"#);
        env.write(".axiom/cases.jsonl", case.as_bytes());
        env.write(".axiom/state/events.jsonl", case.as_bytes());
    }),
    ("programs with the names of ours", Fate::AskedInVain, |env, run| {
        for name in ["git", "git-axiom", "sh", "config", "agent", "keeper"] {
            script(env, &format!(".axiom/{name}"), run);
        }
    }),
    ("the keys of git that run programs", Fate::Refused(Code::ConfigInvalid), |env, run| {
        config(env, &format!("[core]\nhooksPath = 'hooks'\nfsmonitor = '{run}'\neditor = '{run}'\n[include]\npath = '../x'\n"));
    }),
    ("an include of another file", Fate::Refused(Code::ConfigInvalid), |env, run| {
        env.write("more.toml", format!("[merge]\nverify = [\"{run}\"]\n"));
        config(env, "include = ['../more.toml']\n");
    }),
    ("text that is not UTF-8 after it", Fate::Refused(Code::ConfigInvalid), |env, run| {
        env.write(CONFIG, [format!("[merge]\nverify = [\"{run}\"]\n# ").as_bytes(), b"\xff\n"].concat());
    }),
    ("a key that is set twice", Fate::Refused(Code::ConfigInvalid), |env, run| {
        config(env, &format!("[merge]\nverify = []\nverify = [\"{run}\"]\n"));
    }),
    ("lists without an end", Fate::Refused(Code::ConfigInvalid), |env, run| {
        config(env, &format!("[merge]\nverify = {}\"{run}\"\n", "[".repeat(100_000)));
    }),
    ("100 MB of configuration", Fate::Refused(Code::TooLarge), |env, run| {
        config(env, &format!("[merge]\nverify = [\"{run}\"]\n"));
        std::fs::File::options().write(true).open(env.repo().join(CONFIG)).unwrap().set_len(100 * 1024 * 1024).unwrap();
    }),
    ("more files than anybody reads", Fate::Refused(Code::TooLarge), |env, run| {
        config(env, &format!("[merge]\nverify = [\"{run}\"]\n"));
        (0..1001).for_each(|number| env.write(&format!(".axiom/hooks/{number}"), ""));
    }),
    ("folders without an end", Fate::Refused(Code::TooLarge), |env, run| {
        config(env, &format!("[merge]\nverify = [\"{run}\"]\n"));
        env.write(&format!(".axiom/{}x", "a/".repeat(20)), "");
    }),
    ("a pipe in place of the configuration", Fate::Refused(Code::NotTrusted), |env, _| {
        std::fs::create_dir(env.repo().join(".axiom")).unwrap();
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, env.repo().join(CONFIG), kind, rustix::fs::Mode::RUSR, 0).unwrap();
    }),
    ("a socket beside it", Fate::Refused(Code::NotTrusted), |env, run| {
        config(env, &format!("[merge]\nverify = [\"{run}\"]\n"));
        drop(UnixListener::bind(env.repo().join(".axiom/s")).unwrap());
    }),
    ("a file named .axiom", Fate::Refused(Code::NotTrusted), |env, run| {
        env.write(".axiom", format!("[merge]\nverify = [\"{run}\"]\n"));
    }),
    (".axiom as a link to a folder of the repository", Fate::Refused(Code::NotTrusted), |env, run| {
        env.write("there/config.toml", format!("[merge]\nverify = [\"{run}\"]\n"));
        symlink("there", env.repo().join(".axiom")).unwrap();
    }),
    ("a link to a configuration in the repository", Fate::Refused(Code::NotTrusted), |env, run| {
        env.write("c.toml", format!("[merge]\nverify = [\"{run}\"]\n"));
        std::fs::create_dir(env.repo().join(".axiom")).unwrap();
        symlink("../c.toml", env.repo().join(CONFIG)).unwrap();
    }),
    (".axiom as a submodule", Fate::Refused(Code::NotTrusted), |env, run| {
        env.git_in(&env.repo(), &["init", "-q", ".axiom"]);
        config(env, &format!("[merge]\nverify = [\"{run}\"]\n"));
        let module = env.repo().join(".axiom");
        env.git_in(&module, &["add", "-A"]);
        env.git_in(&module, &["commit", "-qm", "module"]);
        env.write(".gitmodules", format!("[submodule \".axiom\"]\n\tpath = .axiom\n\turl = ./.axiom\n\tupdate = !{run}\n"));
    }),
    ("files that git reads where somebody includes them", Fate::NotRead, |env, run| {
        let text = format!(
            "[core]\n\thooksPath = .hooks\n\tfsmonitor = {run}\n\teditor = {run}\n\tpager = {run}\n[axiom \"merge\"]\n\tverify = \
             {run}\n[filter \"evil\"]\n\tclean = {run}\n\tsmudge = {run}\n\trequired = true\n[alias]\n\taxiom = !{run}\n"
        );
        for path in [".gitconfig", ".config/git/config", "config", "etc/gitconfig"] {
            env.write(path, &text);
        }
        env.write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
        for path in [".hooks", ".husky", "hooks", ".githooks"] {
            ["pre-commit", "post-checkout", "reference-transaction", "post-merge"]
                .iter()
                .for_each(|hook| script(env, &format!("{path}/{hook}"), run));
        }
    }),
    ("names that a shell would run", Fate::NotRead, |env, run| {
        let name = run.replace("touch ", "").rsplit('/').next().unwrap().to_owned();
        for text in
            [format!("$(cd ..;touch {name})"), format!("`cd ..;touch {name}`"), format!(";cd ..;touch {name};"), "-x".into()]
        {
            env.write(&text, "1\n");
        }
    }),
    ("a bare repository in the repository", Fate::NotRead, |env, run| {
        env.git(&["init", "-q", "--bare", "bare"]);
        let text = format!(
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {run}\n[axiom \"merge\"]\n\t\
             verify = {run}\n[gpg]\n\tprogram = {run}\n"
        );
        env.write("bare/config", text);
    }),
    ("a configuration in a linked worktree", Fate::NotRead, |env, run| {
        env.git(&["worktree", "add", "-q", "../linked"]);
        let linked = env.root().join("linked/.axiom");
        std::fs::create_dir(&linked).unwrap();
        std::fs::write(linked.join("config.toml"), format!("[merge]\nverify = [\"{run}\"]\n")).unwrap();
    }),
    ("an agent that writes a configuration in its workspace", Fate::NotRead, |env, run| {
        let body = format!("mkdir .axiom; printf '[merge]\\nverify = [\"{run}\"]\\n' > {CONFIG}; false");
        env.ok(&["task", "add", "t", "--id", "evil", "--body", &body]);
    }),
    ("an agent that writes it into the main worktree", Fate::Asked, |env, run| {
        let axiom = env.repo().join(".axiom");
        std::fs::create_dir(&axiom).unwrap();
        let to = env.repo().join(CONFIG);
        let body = format!("printf '[merge]\\nverify = [\"{run}\"]\\n' > '{}'", to.display());
        env.ok(&["task", "add", "t", "--id", "evil", "--body", &body]);
    }),
];

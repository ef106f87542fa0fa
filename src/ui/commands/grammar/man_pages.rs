//! The man pages, made from the grammar of the command line, so that they always match it.

use clap::{Command, CommandFactory};

use super::arguments::Cli;
use axiom_base::error::{Error, Result};

/// The text after the options on the main page, in roff.
const MAIN_END: &str = r#".SH "EXIT STATUS"
.TP
0
It is done.
.TP
1
It failed.
.TP
2
The command line, an id or an input cannot be used.
.TP
3
Refused: needs a confirmation, trust, or a human; or the answer was no.
.TP
4
In conflict with something that changed meanwhile; nothing was changed.
.TP
5
Another process holds what is needed.
.TP
6
The stored state is damaged or an operation was interrupted: see \fBgit axiom recover\fR.
.TP
130
Interrupted.
.PP
Errors are printed as \fBerror[CODE]: what happened: why\fR, followed by hints on what to do. Codes are stable.
.SH "ENVIRONMENT"
.TP
AXIOM_LOG
What to trace to standard error: \fBinfo\fR tells what happens, with numbers and without words of agents or of yours;
\fBdebug\fR tells more. \fBinfo>FILE\fR appends to a file
instead, which becomes FILE.1 at 10 MB; three of these are kept.
.TP
NO_COLOR
Print without colours, as with \fBcolor.ui=never\fR or \fBcolor.axiom=never\fR.
.TP
GIT_PAGER, PAGER
The pager, as git chooses it; \fBpager.axiom\fR is for git axiom alone.
.SH "FILES"
.TP
~/.config/git\-axiom/config.toml
The user's configuration; see \fBgit\-axiom\-config\fR(1).
.TP
$GIT_COMMON_DIR/axiom/
State and logs. Checkpoints and long texts are git objects, below refs/axiom/ and refs/tags/axiom/.
.TP
/tmp/git\-axiom\-UID/locks/
The locks of \fBgit axiom lock\fR, for this user alone. Empty files of free locks may be deleted.
"#;

/// One page.
#[derive(Debug)]
pub struct ManPage {
    /// Its file name, such as `git-axiom-task.1`.
    pub name: String,
    /// The words after `git axiom`; empty for the main page.
    pub verb: Vec<String>,
    /// Its text, in roff.
    pub text: String,
}

/// All pages: the main one first, then one for every verb and its verbs.
pub fn pages() -> Result<Vec<ManPage>> {
    let mut pages = Vec::new();
    render(Cli::command(), &[], &mut pages)?;
    Ok(pages)
}

/// All verbs, and the verbs below them: `task`, `task add`.
pub fn verbs() -> Vec<String> {
    fn add(command: &Command, above: &str, verbs: &mut Vec<String>) {
        for verb in
            command.get_subcommands().filter(|verb| !verb.is_hide_set() && (above.is_empty() || verb.get_name() != "help"))
        {
            let name = format!("{above} {}", verb.get_name()).trim_start().to_owned();
            add(verb, &name, verbs);
            verbs.push(name);
        }
    }
    let mut command = Cli::command();
    command.build();
    let mut verbs = Vec::new();
    add(&command, "", &mut verbs);
    verbs.sort_unstable();
    verbs
}

fn render(mut command: Command, verb: &[String], pages: &mut Vec<ManPage>) -> Result<()> {
    command = command.disable_help_subcommand(true);
    if !verb.is_empty() {
        // A verb's own verbs are built late. Building all of them from the main page would repeat the global options on
        // every page.
        command.build();
    }
    let parts: Vec<Command> = command.get_subcommands().filter(|part| !part.is_hide_set()).cloned().collect();
    let joined = |separator: &str| verb.iter().map(|word| format!("{separator}{word}")).collect::<String>();
    let name = format!("git-axiom{}", joined("-"));
    let file = format!("{name}.1");
    let command = command.bin_name(format!("git axiom{}", joined(" "))).display_name(name.clone());
    let mut text = Vec::new();
    let page = clap_mangen::Man::new(command)
        .section("1")
        .manual("git axiom")
        .title(name)
        .source(concat!("git-axiom ", env!("CARGO_PKG_VERSION")));
    page.render(&mut text).map_err(|e| Error::io("write the page", std::path::Path::new(&file), e))?;
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if verb.is_empty() {
        text.push_str(MAIN_END);
    }
    pages.push(ManPage { name: file, verb: verb.to_vec(), text });
    for part in parts {
        let verb = [verb, &[part.get_name().to_owned()]].concat();
        render(part, &verb, pages)?;
    }
    Ok(())
}

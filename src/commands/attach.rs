//! `git axiom attach` and `git axiom detach`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use jiff::Timestamp;
use serde::Serialize;

use super::{open_for, purpose};
use crate::cli::screen::{Screen, table};
use crate::cli::{prompt, visible, words};
use crate::commands::grammar::arguments::Global;
use crate::domain::program_hooks::edit::Found;
use crate::domain::program_hooks::recipe::{RECIPES, Recipe, recipe};
use crate::error::{Code, Error, Exit, Result};
use crate::ops::attach::standing::not_held_here;
use crate::ops::context::handle::Context;
use crate::ops::context::placement::Purpose;
use crate::ops::program_hooks::attach::{self, Done};
use crate::ops::program_hooks::place::{Scope, is_installed};
use crate::ops::program_hooks::put::{Became, Doing};
use crate::ops::program_hooks::status::{Standing, status};

/// Arguments of `attach`.
#[derive(Debug, Args)]
#[command(after_help = "\
Writes the program's own configuration so that it calls 'git axiom hook': each prompt becomes a
point to go back to. Everything else in the file stays byte for byte, and 'git axiom detach'
puts back what was there. Without a name, a terminal asks which of the installed programs.

By default nothing that is committed is changed. With --shared, the project's own file is; with
--user, your own, for all repositories. A hook counts once it has fired: --status says when.")]
pub struct Attach {
    #[command(flatten)]
    which: Which,
    /// Say how each event stands and when it fired last; change nothing
    #[arg(long, conflicts_with_all = ["user", "shared", "dry_run"])]
    status: bool,
}

/// Arguments of `detach`.
#[derive(Debug, Args)]
#[command(after_help = "\
A file that nobody else changed since is put back as it was, to the byte; one that we made is
deleted. Else only our hooks are cut out of it.")]
pub struct Detach {
    #[command(flatten)]
    which: Which,
}

/// Which programs, and which of their files.
#[derive(Debug, Args)]
struct Which {
    /// The programs
    #[arg(value_name = "PROGRAM", value_parser = PossibleValuesParser::new(RECIPES.iter().map(|recipe| recipe.name)))]
    programs: Vec<String>,
    /// Your own file, for all repositories
    #[arg(long, conflicts_with = "shared")]
    user: bool,
    /// The project's file, for everybody who works on it
    #[arg(long)]
    shared: bool,
    /// Say what would be done; change nothing
    #[arg(long)]
    dry_run: bool,
}

impl Attach {
    /// Whether files are changed.
    pub(super) fn writes(&self) -> bool {
        !self.status
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AttachAnswer {
    files: Vec<AttachedFile>,
    dry_run: bool,
}

#[derive(Serialize)]
struct AttachedFile {
    program: &'static str,
    path: String,
    /// `unchanged`, `made`, `changed`, `putBack` or `deleted`.
    became: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<String>,
}

#[derive(Serialize)]
struct AttachStatusAnswer {
    events: Vec<EventView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventView {
    program: &'static str,
    path: String,
    event: &'static str,
    /// `missing`, `current`, `other` or `doubled`.
    found: &'static str,
    switched_off: bool,
    /// Why it is not called though it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    works: bool,
    fired: Option<Timestamp>,
}

/// Puts our hooks into the files of programs, or says how they stand.
///
/// # Errors
/// As [`attach::attach`].
pub fn run(args: &Attach, global: &Global, screen: &mut Screen) -> Result<Exit> {
    if args.status {
        return show(&args.which, global, screen);
    }
    let ctx = open_for(purpose(args.which.dry_run), global, screen)?;
    ctx.for_humans_only("attach")?;
    let chosen = args.which.recipes(screen)?;
    each(&ctx, &args.which, &chosen, attach::attach, screen)?;
    for recipe in chosen.iter().filter(|_| !args.which.dry_run) {
        if let Some(then) = recipe.then {
            screen.note(&format!("{}: {then}", recipe.title));
        }
    }
    if args.which.user {
        screen.note("In other repositories its hooks do nothing until you run there: git axiom init");
    }
    screen.note("git axiom attach --status    says when its hooks really fired");
    Ok(Exit::Done)
}

/// Takes our hooks out of the files of programs.
///
/// # Errors
/// As [`attach::detach`].
pub fn detach(args: &Detach, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let ctx = open_for(purpose(args.which.dry_run), global, screen)?;
    ctx.for_humans_only("detach")?;
    let chosen = if args.which.programs.is_empty() { RECIPES.iter().collect() } else { args.which.named() };
    each(&ctx, &args.which, &chosen, attach::detach, screen)?;
    Ok(Exit::Done)
}

type Step = fn(&Context, &Recipe, Scope, Doing) -> Result<Done>;

/// Does it for each program. Where one fails, those before it are done and told.
fn each(ctx: &Context, which: &Which, chosen: &[&'static Recipe], step: Step, screen: &mut Screen) -> Result<()> {
    let doing = if which.dry_run { Doing::DryRun } else { Doing::Really };
    let (mut files, mut failed) = (Vec::new(), None);
    for recipe in chosen {
        match step(ctx, recipe, which.scope(), doing) {
            Ok(Done { path, became, calls }) => {
                files.push(AttachedFile { program: recipe.name, path: path.display().to_string(), became: word(became), calls });
            }
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    let line = |file: &AttachedFile| {
        let became = in_words(file.became, doing);
        format!("{}: {became} {}\n", file.program, visible::line(&file.path))
    };
    let text: String = files.iter().filter(|file| which.is_told(file.became)).map(line).collect();
    let text = if text.is_empty() && failed.is_none() { "Nothing to change.\n".to_owned() } else { text };
    let answer = AttachAnswer { files, dry_run: which.dry_run };
    match failed {
        None => screen.answer(&answer, || text),
        Some(error) => {
            screen.answer_with(&answer, &error, || text)?;
            Err(error)
        }
    }
}

/// What became of a file, or would become of it.
fn in_words(became: &str, doing: Doing) -> String {
    let words = if became == "putBack" { "put back" } else { became };
    match doing {
        Doing::DryRun if became != "unchanged" => format!("would be {words}:"),
        Doing::DryRun | Doing::Really => words.to_owned(),
    }
}

pub(super) fn word(became: Became) -> &'static str {
    match became {
        Became::Unchanged => "unchanged",
        Became::Made => "made",
        Became::Changed => "changed",
        Became::PutBack => "putBack",
        Became::Deleted => "deleted",
    }
}

impl Which {
    fn scope(&self) -> Scope {
        match (self.user, self.shared) {
            (true, _) => Scope::User,
            (false, true) => Scope::Shared,
            (false, false) => Scope::Here,
        }
    }

    /// Whether a line is printed: for programs that were not named, only where something changed.
    fn is_told(&self, became: &str) -> bool {
        !self.programs.is_empty() || became != "unchanged"
    }

    fn named(&self) -> Vec<&'static Recipe> {
        self.programs.iter().filter_map(|name| recipe(name)).collect()
    }

    /// Those that are named; else a human chooses among those that are installed.
    fn recipes(&self, screen: &Screen) -> Result<Vec<&'static Recipe>> {
        if !self.programs.is_empty() {
            return Ok(self.named());
        }
        let installed: Vec<&'static Recipe> = RECIPES.iter().filter(|recipe| is_installed(recipe)).collect();
        if installed.is_empty() || !screen.can_ask() {
            let found = installed.iter().map(|recipe| recipe.name).collect::<Vec<_>>().join(", ");
            let found = if found.is_empty() { "none of them is installed".to_owned() } else { format!("installed are: {found}") };
            return Err(Error::new(Code::InvalidInput, "no program is named").why(found).hint(names()));
        }
        let items: Vec<&str> = installed.iter().map(|recipe| recipe.title).collect();
        let chosen = prompt::some_of("Which programs?", None, &items)?.unwrap_or_default();
        Ok(chosen.into_iter().filter_map(|at| installed.get(at).copied()).collect())
    }
}

fn names() -> String {
    let names: Vec<&str> = RECIPES.iter().map(|recipe| recipe.name).collect();
    format!("git axiom attach PROGRAM    PROGRAM is one of {}", names.join(", "))
}

fn show(which: &Which, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let ctx = open_for(Purpose::Look, global, screen)?;
    let chosen = if which.programs.is_empty() { RECIPES.iter().collect() } else { which.named() };
    let mut all = Vec::new();
    for recipe in chosen {
        all.extend(status(&ctx, recipe)?);
    }
    if let Some(line) = not_held_here(&ctx) {
        screen.note(&line);
    }
    let text = in_a_table(&all);
    let view = |Standing { program, path, event, found, off, works, fired }: Standing| EventView {
        program,
        path,
        event,
        found: found_word(found),
        switched_off: off.is_some(),
        why: off.map(|off| off.why),
        works,
        fired,
    };
    screen.answer(&AttachStatusAnswer { events: all.into_iter().map(view).collect() }, || text)?;
    Ok(Exit::Done)
}

fn found_word(found: Found) -> &'static str {
    match found {
        Found::Missing => "missing",
        Found::Current => "current",
        Found::Other => "other",
        Found::Doubled => "doubled",
    }
}

fn in_a_table(all: &[Standing]) -> String {
    if all.is_empty() {
        return "No program is attached here: git axiom attach\n".to_owned();
    }
    let mut text = String::new();
    let mut rows = vec![["PROGRAM", "EVENT", "HOOK", &words::time_heading("FIRED LAST")].map(String::from).to_vec()];
    for standing in all {
        let hook = match (&standing.off, standing.works) {
            (Some(off), _) => off.word,
            (None, false) => "cannot be called",
            (None, true) => found_word(standing.found),
        };
        let fired = standing.fired.map_or_else(|| "never: not protected".to_owned(), words::time);
        rows.push([standing.program, standing.event, hook, &fired].map(String::from).to_vec());
    }
    text.push_str(&table(&rows));
    let mut told: Vec<&str> = Vec::new();
    for (program, off) in all.iter().filter_map(|standing| Some((standing.program, standing.off.as_ref()?))) {
        if !told.contains(&off.why.as_str()) {
            text.push_str(&format!("{program}: {}\n", visible::line(&off.why)));
            told.push(&off.why);
        }
    }
    text
}

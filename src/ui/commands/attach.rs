//! `git axiom attach` and `git axiom detach`.

mod editors;
mod outside_repository;
mod status;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;

use super::{man, open_for, purpose, tell_of_missing_identity, working_dir};
use crate::cli::screen::Screen;
use crate::cli::{prompt, visible};
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::program_hooks::recipe::{HookRecipe, RECIPES, recipe};
use axiom_safety::attach::first_moment;
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::program_hooks::attach;
use axiom_safety::program_hooks::attach::ProgramFileOutcome;
use axiom_safety::program_hooks::file_edit::{ProgramFileChange, WriteProgramFiles};
use axiom_safety::program_hooks::program_files::{AttachScope, is_installed};

/// Arguments of `attach`.
#[derive(Debug, Args)]
#[command(after_help = "\
Writes the program's own configuration so that it calls 'git axiom hook': each prompt becomes a
point to go back to. Everything else in the file stays byte for byte, and 'git axiom detach'
puts back what was there. Without a name, a terminal asks which of the installed programs.

By default nothing that is committed is changed. With --shared, the project's own file is; with
--user, your own, for all repositories. In a linked worktree its sessions are covered; what
other worktrees need is said.

A hook counts once it has fired: --status says whether this worktree is protected, and since
when.

Editors (zed, jetbrains, acpx) start agents through 'git axiom acp': your own file gets one
more of each that is installed, for all repositories.")]
pub struct AttachArgs {
    #[command(flatten)]
    which: AttachTargetArgs,
    /// Say whether this worktree is protected, and when each hook fired last; change nothing
    #[arg(long, conflicts_with_all = ["user", "shared", "dry_run"])]
    status: bool,
}

/// Arguments of `detach`.
#[derive(Debug, Args)]
#[command(after_help = "\
A file that nobody else changed since is put back as it was, to the byte; one that we made is
deleted. Else only our hooks are cut out of it. Those in other worktrees go too.")]
pub struct DetachArgs {
    #[command(flatten)]
    which: AttachTargetArgs,
}

/// Which programs, and which of their files.
#[derive(Debug, Args)]
struct AttachTargetArgs {
    /// The programs
    #[arg(value_name = "PROGRAM", value_parser = PossibleValuesParser::new(RECIPES.iter().map(|recipe| recipe.name).chain(editors::names())))]
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

/// What became of the files of programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AttachJson {
    /// The files of the programs.
    files: Vec<AttachedFileJson>,
    /// Whether nothing was written.
    dry_run: bool,
}

/// A file of an agent program.
#[derive(Serialize)]
struct AttachedFileJson {
    program: &'static str,
    path: String,
    /// `unchanged`, `made`, `changed`, `putBack` (to the byte what it was before) or `deleted`.
    became: &'static str,
    /// The command that the program calls; with `attach`.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<String>,
}

/// Puts our hooks into the files of programs, or says how they stand.
pub fn run(args: &AttachArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    if let Some(chosen) = editors::chosen(&args.which, args.status)? {
        return editors::attach(&chosen, &args.which, screen);
    }
    if args.status {
        let ctx = match open_for(VerbPurpose::Look, global, screen) {
            Err(error) if outside_repository::is_outside(&error) => {
                return outside_repository::show(&working_dir(global)?, error, screen);
            }
            ctx => ctx?,
        };
        let chosen = if args.which.programs.is_empty() { RECIPES.iter().collect() } else { args.which.named() };
        return status::show(&ctx, &chosen, screen);
    }
    let ctx = match open_for(purpose(args.which.dry_run), global, screen) {
        Err(error) if args.which.user && outside_repository::is_outside(&error) => None,
        ctx => Some(ctx?),
    };
    let chosen = args.which.recipes(screen)?;
    let scope = args.which.scope();
    let is_new = ctx.as_ref().is_some_and(|ctx| !args.which.dry_run && !ctx.layout().exists());
    each(&args.which, &chosen, screen, |recipe, doing| match &ctx {
        Some(ctx) => attach::attach(ctx, recipe, scope, doing),
        None => attach::attach_for_user(recipe, doing).map(|done| vec![done]),
    })?;
    if let Some(ctx) = &ctx {
        tell_of_missing_identity(ctx, screen)?;
    }
    if chosen.is_empty() {
        return Ok(Exit::Done);
    }
    let is_here = !args.which.user && !args.which.shared;
    let says_what_is_covered = is_here && ctx.as_ref().map(has_linked).transpose()?.unwrap_or_default();
    for recipe in chosen.iter().filter(|_| !args.which.dry_run) {
        if let Some(ctx) = ctx.as_ref().filter(|_| !args.which.user) {
            first_moment::keep_first_moment(ctx, recipe.name)?;
        }
        if says_what_is_covered {
            screen.note(&format!("{}: {}", recipe.title, recipe.covers));
        }
        if let Some(then) = recipe.then {
            screen.note(&format!("{}: {then}", recipe.title));
        }
    }
    if args.which.user {
        screen.note("It prepares each repository in which it is used, but none at your home folder: git axiom init");
        screen.note("git config axiom.attach off    in a repository: there it does nothing");
    }
    tell_what_it_is_worth(&args.which, &chosen, screen);
    if is_new {
        man::tell_of_missing_page(screen);
    }
    Ok(Exit::Done)
}

/// Says what is covered, what is not, how to see that it works, and how to go back.
fn tell_what_it_is_worth(which: &AttachTargetArgs, chosen: &[&'static HookRecipe], screen: &mut Screen) {
    let place = match which.scope() {
        AttachScope::Here => "in this worktree",
        AttachScope::Shared => "for everybody who works on this project and has git axiom",
        AttachScope::User => "in every repository of yours",
    };
    let (telling, silent): (Vec<&HookRecipe>, Vec<&HookRecipe>) = chosen.iter().partition(|recipe| recipe.tells_of_prompts());
    if !telling.is_empty() {
        screen.note(&format!("Covered: each prompt and each risky command is saved before it, {place}"));
    }
    for recipe in silent {
        screen.note(&format!(
            "Covered: {} calls only when it waits for you; 'git axiom watch' saves what it changes meanwhile",
            recipe.title
        ));
    }
    screen.note("Not saved: ignored files (but those that a risky command names, and those of checkpoints.include), what");
    screen.note("commands change outside of the repository or on other machines, and the conversation with the agent");
    screen.note("To see that it works: git axiom attach --status, after the next prompt");
    screen.note("To go back: git axiom prompts, git axiom rollback --prompt NUMBER; git axiom undo takes that back");
}

/// Takes our hooks out of the files of programs.
pub fn detach(args: &DetachArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    if let Some(chosen) = editors::chosen(&args.which, false)? {
        return editors::detach(&chosen, &args.which, screen);
    }
    let ctx = match open_for(purpose(args.which.dry_run), global, screen) {
        Err(error) if args.which.user && outside_repository::is_outside(&error) => None,
        ctx => Some(ctx?),
    };
    let chosen = if args.which.programs.is_empty() { RECIPES.iter().collect() } else { args.which.named() };
    let scope = args.which.scope();
    each(&args.which, &chosen, screen, |recipe, doing| match &ctx {
        Some(ctx) => attach::detach(ctx, recipe, scope, doing),
        None => attach::detach_for_user(recipe, doing).map(|done| vec![done]),
    })?;
    Ok(Exit::Done)
}

/// Whether there are worktrees beside the main one, other than those that agents of a session work in.
fn has_linked(ctx: &Context) -> Result<bool> {
    let of_agents: Vec<&str> = ctx.state().restorable.workspaces.values().map(|one| one.path.as_str()).collect();
    let linked = ctx.repo.worktrees().list_linked()?;
    Ok(linked.iter().any(|one| one.path().to_str().is_none_or(|path| !of_agents.contains(&path))))
}

/// Does it for each program. Where one fails, those before it are done and told.
fn each(
    which: &AttachTargetArgs,
    chosen: &[&'static HookRecipe],
    screen: &mut Screen,
    step: impl Fn(&HookRecipe, WriteProgramFiles) -> Result<Vec<ProgramFileOutcome>>,
) -> Result<()> {
    each_named(which, chosen.iter().map(|recipe| (recipe.name, *recipe)), screen, step)
}

/// The same for whatever has a name.
fn each_named<T>(
    which: &AttachTargetArgs,
    chosen: impl Iterator<Item = (&'static str, T)>,
    screen: &mut Screen,
    step: impl Fn(T, WriteProgramFiles) -> Result<Vec<ProgramFileOutcome>>,
) -> Result<()> {
    let doing = if which.dry_run { WriteProgramFiles::DryRun } else { WriteProgramFiles::Really };
    let (mut files, mut failed, mut nothing) = (Vec::new(), None, "Nothing is attached.\n");
    for (program, one) in chosen {
        nothing = "Nothing to change.\n";
        match step(one, doing) {
            Ok(all) => files.extend(all.into_iter().map(|ProgramFileOutcome { path, became, calls }| AttachedFileJson {
                program,
                path: path.display().to_string(),
                became: word(became),
                calls,
            })),
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    let line = |file: &AttachedFileJson| {
        let became = in_words(file.became, doing);
        format!("{}: {became} {}\n", file.program, visible::line(&file.path))
    };
    let text: String = files.iter().filter(|file| which.is_told(file.became)).map(line).collect();
    let text = if text.is_empty() && failed.is_none() { nothing.to_owned() } else { text };
    let answer = AttachJson { files, dry_run: which.dry_run };
    match failed {
        None => screen.answer(&answer, || text),
        Some(error) => {
            screen.answer_with(&answer, &error, || text)?;
            Err(error)
        }
    }
}

/// What became of a file, or would become of it.
fn in_words(became: &str, doing: WriteProgramFiles) -> String {
    let words = if became == "putBack" { "put back" } else { became };
    match doing {
        WriteProgramFiles::DryRun if became != "unchanged" => format!("would be {words}:"),
        WriteProgramFiles::DryRun | WriteProgramFiles::Really => words.to_owned(),
    }
}

pub(super) fn word(became: ProgramFileChange) -> &'static str {
    match became {
        ProgramFileChange::Unchanged => "unchanged",
        ProgramFileChange::Made => "made",
        ProgramFileChange::Changed => "changed",
        ProgramFileChange::PutBack => "putBack",
        ProgramFileChange::Deleted => "deleted",
    }
}

impl AttachTargetArgs {
    fn scope(&self) -> AttachScope {
        match (self.user, self.shared) {
            (true, _) => AttachScope::User,
            (false, true) => AttachScope::Shared,
            (false, false) => AttachScope::Here,
        }
    }

    /// Whether a line is printed: for programs that were not named, only where something changed.
    fn is_told(&self, became: &str) -> bool {
        !self.programs.is_empty() || became != "unchanged"
    }

    fn named(&self) -> Vec<&'static HookRecipe> {
        self.programs.iter().filter_map(|name| recipe(name)).collect()
    }

    /// Those that are named; else a human chooses among those that are installed.
    fn recipes(&self, screen: &Screen) -> Result<Vec<&'static HookRecipe>> {
        if !self.programs.is_empty() {
            return Ok(self.named());
        }
        let installed: Vec<&'static HookRecipe> = RECIPES.iter().filter(|recipe| is_installed(recipe)).collect();
        if installed.is_empty() || !screen.can_ask() {
            let found = installed.iter().map(|recipe| recipe.name).collect::<Vec<_>>().join(", ");
            let found = if found.is_empty() { "none of them is installed".to_owned() } else { format!("installed are: {found}") };
            return Err(Error::new(Code::InvalidInput, "no program is named").why(found).hint(names()));
        }
        let items: Vec<&str> = installed.iter().map(|recipe| recipe.title).collect();
        let chosen = prompt::some_to_take("Which programs? (Space marks, Enter attaches)", None, &items)?.unwrap_or_default();
        Ok(chosen.into_iter().filter_map(|at| installed.get(at).copied()).collect())
    }
}

fn names() -> String {
    let names: Vec<&str> = RECIPES.iter().map(|recipe| recipe.name).collect();
    format!("git axiom attach PROGRAM    PROGRAM is one of {}", names.join(", "))
}

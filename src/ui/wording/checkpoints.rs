//! Checkpoints in words: their table, sizes, what one of known paths holds.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::cli::grid::StyledGrid;
use crate::cli::screen_look::ScreenLook;
use crate::cli::{visible, words};
use axiom_base::error::some_of;
use axiom_model::base::ids::CheckpointName;
use axiom_model::checkpoint::availability::CheckpointAvailability;
use axiom_model::checkpoint::known_scope::KnownPathsCount;
use axiom_model::checkpoint::stamp::prompt_number;
use axiom_model::checkpoint::trigger::{CheckpointTrigger, CheckpointType};
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::{CheckpointDeletionReport, CheckpointListing, CompactReport, RepositorySpace};
use axiom_safety::context::handle::Context;

/// That checkpoints which are always kept hold more than `checkpoints.maxTotal`, in one line.
pub fn over_the_total(ctx: &Context) -> Option<String> {
    let (total, max) = (checkpoint::known_total(ctx)?, checkpoint::total_limit(ctx)?);
    let (alone, most) = (size_text(Some(total.alone)), size_text(Some(max)));
    total.is_over(max).then(|| {
        format!(
            "checkpoints that are always kept hold {alone}, more than checkpoints.maxTotal ({most}): all others are deleted, and \
             'git axiom checkpoint delete --protected' deletes these"
        )
    })
}

/// That there are more named checkpoints than are to be kept: a name protects each, so retention deletes none of them.
pub fn over_the_count(ctx: &Context) -> Option<String> {
    let most = ctx.config.checkpoints.max_count;
    // The older ones are read only where there can be as many.
    if ctx.state().record.checkpoints.len() <= most as usize {
        return None;
    }
    let named = checkpoint::protected_by_name(ctx).ok()?;
    (named > most as usize).then(|| {
        let named = words::count_of(named as u64, "checkpoint has a name", "checkpoints have names");
        format!(
            "{named}, more than checkpoints.maxCount ({most}): none of them is deleted unasked, and \
             'git axiom checkpoint delete NAME --protected' deletes one"
        )
    })
}

/// The column of the names.
const NAME: usize = 3;

/// The longest name that git axiom gives.
const LONGEST_OWN_NAME: usize = 40;

/// The table of checkpoints. Where there is no room, other columns go before a name is cut: it is what other commands need.
pub fn grid(checkpoints: &[CheckpointListing]) -> StyledGrid {
    laid_out_so(rows(checkpoints))
}

fn laid_out_so(rows: Vec<Vec<Cow<'_, str>>>) -> StyledGrid {
    StyledGrid::of(rows).headed().cut(&[NAME]).at_least(LONGEST_OWN_NAME).may_go(&[4, 5, 2])
}

/// The same for a menu: the heading, and a line for each, with what is kept of a prompt beside the name of its checkpoint.
pub fn menu_lines(
    checkpoints: &[CheckpointListing],
    prompts: &BTreeMap<u32, String>,
    columns: Option<usize>,
) -> (String, Vec<String>) {
    let columns = columns.map(|columns| columns.saturating_sub(MENU_MARKS));
    let mut rows = rows(checkpoints);
    for (row, one) in rows.iter_mut().skip(1).zip(checkpoints) {
        if let Some(text) =
            prompt_number(one.name.as_str()).and_then(|number| prompts.get(&number)).filter(|text| !text.is_empty())
        {
            row[NAME] = format!("{}  {}", row[NAME], visible::line(text)).into();
        }
    }
    let table = laid_out_so(rows).laid_out(ScreenLook { columns, colors: None });
    let mut lines = table.lines().map(str::to_owned);
    (lines.next().unwrap_or_default(), lines.collect())
}

/// How wide the marks of a menu are.
const MENU_MARKS: usize = 6;

/// The rows of the table; the first one is the heading.
pub fn rows(checkpoints: &[CheckpointListing]) -> Vec<Vec<Cow<'_, str>>> {
    let heading = ["#".into(), "time".into(), "type".into(), "name".into(), "since".into(), "size".into()].to_vec();
    let rows = checkpoints.iter().map(|one| {
        let mut since = words::count(one.tasks_since, "task");
        match one.commits_since {
            None => since.push_str(", ? commits"),
            Some(number) => since.extend([", ", &words::count(number, "commit")]),
        }
        vec![
            one.number.to_string().into(),
            words::time(one.created_at).into(),
            kind(one),
            name(one),
            since.into(),
            size_text(one.size).into(),
        ]
    });
    std::iter::once(heading).chain(rows).collect()
}

/// The name of a checkpoint, and what is wrong with it.
fn name(one: &CheckpointListing) -> Cow<'_, str> {
    match one.standing {
        CheckpointAvailability::There => one.name.as_str().into(),
        CheckpointAvailability::RefGone | CheckpointAvailability::Rewritten | CheckpointAvailability::Gone => {
            format!("{} (see below)", one.name).into()
        }
    }
}

/// What is to be said below the table of those that cannot be restored as they are.
pub fn below(checkpoints: &[CheckpointListing]) -> String {
    let mut text = String::new();
    let of =
        |standing: CheckpointAvailability| checkpoints.iter().filter(move |one| one.standing == standing).map(|one| &one.name);
    for standing in [CheckpointAvailability::RefGone, CheckpointAvailability::Rewritten, CheckpointAvailability::Gone] {
        let names: Vec<&CheckpointName> = of(standing).collect();
        if !names.is_empty() {
            text.push_str(&format!("{}: {}\n", some_of(&names, 10), standing.words()));
        }
    }
    let ended: Vec<String> = checkpoints.iter().filter(|one| one.standing.is_ended()).map(|one| one.name.to_string()).collect();
    if !ended.is_empty() {
        text.push_str(&format!("To forget them: git axiom checkpoint delete --protected --yes {}\n", ended.join(" ")));
    }
    text
}

/// The type of a checkpoint in words: one that a human made and did not name is not automatic.
pub fn type_in_words(kind: CheckpointType, trigger: CheckpointTrigger) -> &'static str {
    match (kind, trigger) {
        (CheckpointType::Auto, CheckpointTrigger::Manual) => CheckpointTrigger::Manual.as_str(),
        (kind, _) => kind.as_str(),
    }
}

/// The same with what made it, said once.
pub fn type_and_trigger(kind: CheckpointType, trigger: CheckpointTrigger) -> String {
    match (type_in_words(kind, trigger), trigger.as_str()) {
        (kind, trigger) if kind == trigger => kind.to_owned(),
        (kind, trigger) => format!("{kind} ({trigger})"),
    }
}

/// The type of a checkpoint, and for one of known paths their number.
fn kind(one: &CheckpointListing) -> Cow<'_, str> {
    let kind = type_in_words(one.kind, one.trigger);
    one.only.as_ref().map_or(kind.into(), |only| format!("{kind}, {}", words::count(only.paths, "path")).into())
}

/// Describes a checkpoint of known paths, in one line.
pub fn only_text(only: &KnownPathsCount) -> String {
    let paths = words::count(only.paths, "path");
    let were = if only.paths == 1 { "was" } else { "were" };
    let since = since_deleted(only.all_else_gone);
    format!("only {paths} {were} checked; the rest is taken from checkpoint {}{since}", only.all_else_as_of)
}

/// The text after the name of a base checkpoint that was deleted.
pub fn since_deleted(gone: bool) -> &'static str {
    if gone { ", which was deleted since" } else { "" }
}

/// A size in words.
pub fn size_text(bytes: Option<u64>) -> String {
    let Some(bytes) = bytes else { return "?".to_owned() };
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} B"),
    }
}

/// How many of how many there are, and what they take.
pub fn summary(all: &[CheckpointListing], limit: u32, space: &RepositorySpace) -> String {
    let of = |word: &str| all.iter().filter(|one| type_in_words(one.kind, one.trigger) == word).count();
    let (named, manual) = (of(CheckpointType::Named.as_str()), of(CheckpointTrigger::Manual.as_str()));
    let manual_text = if manual == 0 { String::new() } else { format!("{manual} manual, ") };
    let added: u64 = all.iter().filter_map(|one| one.size).sum();
    let of_paths = all.iter().filter(|one| one.only.is_some()).count();
    let of_paths_text = if of_paths == 0 { String::new() } else { format!(" and {of_paths}/{limit} of known paths") };
    format!(
        "{}/{limit} checkpoints{of_paths_text} ({named} named, {manual_text}{} automatic), which added {}; the repository takes {}, with {}",
        all.len() - of_paths,
        all.len() - named - manual,
        size_text(Some(added)),
        size_text(Some(space.bytes)),
        words::count(space.loose, "loose object"),
    )
}

/// Which ones, and how many.
pub fn listed(names: &[CheckpointName]) -> String {
    format!("{}: {}", words::count(names.len(), "checkpoint"), some_of(names, 20))
}

/// What was deleted, and how to take it back.
pub fn deleted(deleted: &CheckpointDeletionReport) -> String {
    let undo = deleted.txn.as_ref().map(|txn| format!("To take it back: git axiom undo {txn}\n")).unwrap_or_default();
    match deleted.names.as_slice() {
        [] => "There was nothing to delete.\n".to_owned(),
        names => format!("Deleted {}\n{undo}", listed(names)),
    }
}

/// The result of compacting, in words.
pub fn compacted(done: &CompactReport) -> String {
    let CompactReport { before, after, notes_cut: _, not_packed } = done;
    if let Some(why) = not_packed {
        return format!("Loose objects were not packed: {why}\nhint: git axiom recover    says how to repair it\n");
    }
    let (was, is) = (size_text(Some(before.bytes)), size_text(Some(after.bytes)));
    format!("Packed {} loose objects; the repository took {was} and takes {is}\n", before.loose.saturating_sub(after.loose))
}

//! `git axiom checkpoint delete` and `cleanup`.

use clap::Args;
use jiff::SignedDuration;
use serde::Serialize;

use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::grammar::consent::ConsentArgs;
use crate::commands::open_with_usable_config;
use crate::wording::checkpoints::{deleted as deleted_in_words, listed, over_the_count};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::ids::CheckpointName;
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::CheckpointDeletionReport;
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;

/// Arguments of `checkpoint delete`.
#[derive(Debug, Args)]
#[command(after_help = "\
The contents of deleted checkpoints are kept for checkpoints.keepDeletedDays (7), so that 'git
axiom undo' can restore them.")]
pub struct CheckpointDeleteArgs {
    /// Their names, or unique beginnings of them
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Delete protected ones too: named ones, the session's start, and what undo may need
    #[arg(long)]
    protected: bool,
    #[command(flatten)]
    consent: ConsentArgs,
}

/// Arguments of `checkpoint cleanup`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without options, checkpoints.maxCount and maxAgeDays decide; complete checkpoints and those of
known paths (create --only) are counted separately. The newest three, the session's start, and
what undo or an interrupted operation needs are never deleted; named ones only with --protected.")]
pub struct CheckpointCleanupArgs {
    /// Only those older than this: 7d, 12h, 2w
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<SignedDuration>,
    /// Keep this many of the newest
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Delete named ones too
    #[arg(long)]
    protected: bool,
    #[command(flatten)]
    consent: ConsentArgs,
}

/// The checkpoints that were deleted.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckpointRemoveJson<'a> {
    /// Names of checkpoints.
    deleted: &'a [CheckpointName],
    dry_run: bool,
    undo: Option<String>,
}

/// An age such as `7d`.
fn age(text: &str) -> Result<SignedDuration, String> {
    let wrong = || format!("'{text}' is not an age: write a number and m, h, d or w, such as 7d");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: i64 = digits.parse().map_err(|_| wrong())?;
    let seconds = match &text[digits.len()..] {
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        "w" => 7 * 24 * 60 * 60,
        _ => return Err(wrong()),
    };
    // A limit of a thousand years, so that no sum of times overflows.
    let most = 1000 * 366 * 24 * 60 * 60;
    match number.checked_mul(seconds) {
        Some(seconds) if (0..=most).contains(&seconds) => Ok(SignedDuration::from_secs(seconds)),
        Some(_) | None => Err(wrong()),
    }
}

/// Deletes checkpoints by name.
pub(super) fn delete(args: &CheckpointDeleteArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    ctx.no_open_operation()?;
    let records = checkpoint::chosen(&ctx, &args.names, args.protected)?;
    let names: Vec<CheckpointName> = records.into_iter().map(|record| record.name).collect();
    go_ahead(&mut ctx, screen, &names, &args.consent, checkpoint::delete)
}

/// Deletes old checkpoints.
pub(super) fn cleanup(args: &CheckpointCleanupArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    ctx.no_open_operation()?;
    if args.protected && args.older_than.is_none() && args.keep.is_none() {
        return Err(Error::new(Code::Usage, "--protected needs --older-than or --keep").hint("see -h for the options"));
    }
    let names = checkpoint::cleanup_plan(&ctx, args.older_than, args.keep, args.protected)?;
    go_ahead(&mut ctx, screen, &names, &args.consent, checkpoint::clean_up)
}

fn go_ahead(
    ctx: &mut Context,
    screen: &mut Screen,
    names: &[CheckpointName],
    consent: &ConsentArgs,
    delete: fn(&mut Context, &[CheckpointName]) -> Result<CheckpointDeletionReport>,
) -> Result<Exit> {
    if names.is_empty() || consent.dry_run {
        let answer = CheckpointRemoveJson { deleted: names, dry_run: consent.dry_run, undo: None };
        screen.answer(&answer, || match names {
            [] => over_the_count(ctx).map_or_else(String::new, |line| line + "\n") + "There is nothing to delete.\n",
            names => format!("Would delete {}\n", listed(names)),
        })?;
        return Ok(Exit::Done);
    }
    if !consent.yes {
        screen.note(&format!("Deletes {}", listed(names)));
    }
    screen.confirm("Delete?", consent.yes)?;
    let deleted = delete(ctx, names)?;
    tell(screen, &deleted)?;
    Ok(Exit::Done)
}

/// Prints what was deleted, and how to undo it.
pub(super) fn tell(screen: &mut Screen, deleted: &CheckpointDeletionReport) -> Result<()> {
    let undo = deleted.txn.as_ref().map(|txn| format!("git axiom undo {txn}"));
    let answer = CheckpointRemoveJson { deleted: &deleted.names, dry_run: false, undo };
    screen.answer(&answer, || deleted_in_words(deleted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read_and_nonsense_is_refused() {
        assert_eq!(age("7d"), Ok(SignedDuration::from_hours(7 * 24)));
        assert_eq!(age("2w"), Ok(SignedDuration::from_hours(14 * 24)));
        assert_eq!(age("0m"), Ok(SignedDuration::ZERO));
        for text in ["", "d", "7", "7y", "-1d", "1.5d", "9223372036854775807w", "999999999999d"] {
            assert!(age(text).is_err(), "{text}");
        }
    }
}

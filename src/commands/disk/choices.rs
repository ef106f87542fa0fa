//! The choices of `git axiom disk` at a terminal where space is short. With nobody to ask there is the gate `disk-space`.

use crate::cli::prompt;
use crate::cli::screen::Screen;
use crate::domain::work::disk::Level;
use crate::error::{Code, Result};
use crate::ops::context::handle::Context;
use crate::ops::disk::by_hand::{self, Offer};
use crate::ops::disk::{self, Short};
use crate::told::checkpoints::size_text;

/// What may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Checkpoints,
    Workspaces,
    Records,
    Retry,
    Quit,
}

/// The choices in their order.
const CHOICES: [Choice; 5] = [Choice::Checkpoints, Choice::Workspaces, Choice::Records, Choice::Retry, Choice::Quit];

/// Asks until there is space, or the user leaves.
///
/// # Errors
/// As [`prompt::one_of`] and [`by_hand`].
pub(super) fn ask(ctx: &mut Context, freed: Option<u64>, screen: &mut Screen) -> Result<()> {
    while let Some(short) = disk::shortage(ctx).filter(|short| short.level >= Level::Critical) {
        let words = in_words(ctx)?;
        match prompt::one_of("What next? (Escape changes nothing)", Some(&heading(&short, freed)), &words, 0)? {
            Some(number) => match CHOICES.get(number) {
                Some(Choice::Quit) | None => return Ok(()),
                Some(Choice::Retry) => {}
                Some(choice) => done(ctx, *choice, screen)?,
            },
            None => return Ok(()),
        }
    }
    screen.complain("There is space again: work goes on by itself.");
    Ok(())
}

fn heading(short: &Short, freed: Option<u64>) -> String {
    let freed = freed.map_or_else(String::new, |freed| format!("; the clean-up freed {}", size_text(Some(freed))));
    format!("{}{freed}", short.with_code())
}

fn in_words(ctx: &Context) -> Result<Vec<String>> {
    let (checkpoints, workspaces) = (by_hand::checkpoints(ctx)?, by_hand::workspaces(ctx)?);
    let of = |Offer { count, bytes }: Offer| format!("({count}, ~{})", size_text(bytes));
    let words = |choice: Choice| match choice {
        Choice::Checkpoints => format!("[1] Remove old checkpoints {}", of(checkpoints)),
        Choice::Workspaces => format!("[2] Remove failed workspaces, empty the trash {}", of(workspaces)),
        Choice::Records => "[3] Remove records of ended iterations, compress logs".to_owned(),
        Choice::Retry => "[R] Retry: look again".to_owned(),
        Choice::Quit => "[Q] Quit and handle it by hand".to_owned(),
    };
    Ok(CHOICES.map(words).to_vec())
}

/// Carries out a choice. What is refused is said, and the question comes again.
fn done(ctx: &mut Context, choice: Choice, screen: &mut Screen) -> Result<()> {
    let outcome = match choice {
        Choice::Checkpoints => by_hand::delete_checkpoints(ctx),
        Choice::Workspaces => {
            match prompt::confirm("Ignored and other files there that no capture holds go for good. Delete?")? {
                true => by_hand::delete_workspaces(ctx),
                false => return Ok(()),
            }
        }
        Choice::Records => by_hand::delete_records(ctx),
        Choice::Retry | Choice::Quit => return Ok(()),
    };
    match outcome {
        Ok(lines) => lines.iter().for_each(|line| screen.complain(line)),
        Err(error) if error.code() == Code::Interrupted => return Err(error),
        Err(error) => screen.complain_of(&error),
    }
    Ok(())
}

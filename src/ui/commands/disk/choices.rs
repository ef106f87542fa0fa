//! The choices of `git axiom disk` at a terminal where space is short. With nobody to ask there is the gate `disk-space`.

use crate::cli::prompt;
use crate::cli::screen::Screen;
use crate::wording::checkpoints::size_text;
use axiom_agents::disk::by_hand;
use axiom_agents::disk::by_hand::CleanupOffer;
use axiom_base::error::{Code, Result};
use axiom_model::work::sessions::disk::DiskSpaceLevel;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::disk_space;
use axiom_safety::folders::disk_space::SpaceShortage;

/// What may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiskMenuChoice {
    Checkpoints,
    Workspaces,
    Records,
    Retry,
    Quit,
}

/// The choices in their order.
const CHOICES: [DiskMenuChoice; 5] = [
    DiskMenuChoice::Checkpoints,
    DiskMenuChoice::Workspaces,
    DiskMenuChoice::Records,
    DiskMenuChoice::Retry,
    DiskMenuChoice::Quit,
];

/// Asks until there is space, or the user leaves.
pub(super) fn ask(ctx: &mut Context, freed: Option<u64>, screen: &mut Screen) -> Result<()> {
    while let Some(short) = disk_space::shortage(ctx).filter(|short| short.level >= DiskSpaceLevel::Critical) {
        let words = in_words(ctx)?;
        match prompt::one_of("What next? (Escape changes nothing)", Some(&heading(&short, freed)), &words, 0)? {
            Some(number) => match CHOICES.get(number) {
                Some(DiskMenuChoice::Quit) | None => return Ok(()),
                Some(DiskMenuChoice::Retry) => {}
                Some(choice) => done(ctx, *choice, screen)?,
            },
            None => return Ok(()),
        }
    }
    screen.complain("There is space again: work goes on by itself.");
    Ok(())
}

fn heading(short: &SpaceShortage, freed: Option<u64>) -> String {
    let freed = freed.map_or_else(String::new, |freed| format!("; the clean-up freed {}", size_text(Some(freed))));
    format!("{}{freed}", short.with_code())
}

fn in_words(ctx: &Context) -> Result<Vec<String>> {
    let (checkpoints, workspaces) = (by_hand::checkpoints(ctx)?, by_hand::workspaces(ctx)?);
    let of = |CleanupOffer { count, bytes }: CleanupOffer| format!("({count}, ~{})", size_text(bytes));
    let words = |choice: DiskMenuChoice| match choice {
        DiskMenuChoice::Checkpoints => format!("[1] Remove old checkpoints {}", of(checkpoints)),
        DiskMenuChoice::Workspaces => format!("[2] Remove failed workspaces, empty the trash {}", of(workspaces)),
        DiskMenuChoice::Records => "[3] Remove records of ended iterations, compress logs".to_owned(),
        DiskMenuChoice::Retry => "[R] Retry: look again".to_owned(),
        DiskMenuChoice::Quit => "[Q] Quit and handle it by hand".to_owned(),
    };
    Ok(CHOICES.map(words).to_vec())
}

/// Carries out a choice. What is refused is said, and the question comes again.
fn done(ctx: &mut Context, choice: DiskMenuChoice, screen: &mut Screen) -> Result<()> {
    let outcome = match choice {
        DiskMenuChoice::Checkpoints => by_hand::delete_checkpoints(ctx),
        DiskMenuChoice::Workspaces => {
            match prompt::confirm("Ignored and other files there that no capture holds go for good. Delete?")? {
                true => by_hand::delete_workspaces(ctx),
                false => return Ok(()),
            }
        }
        DiskMenuChoice::Records => by_hand::delete_records(ctx),
        DiskMenuChoice::Retry | DiskMenuChoice::Quit => return Ok(()),
    };
    match outcome {
        Ok(lines) => lines.iter().for_each(|line| screen.complain(line)),
        Err(error) if error.code() == Code::Interrupted => return Err(error),
        Err(error) => screen.complain_of(&error),
    }
    Ok(())
}

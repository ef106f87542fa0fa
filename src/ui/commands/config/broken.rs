//! The question about a configuration file that cannot be read: restore, reset, or quit and fix it by hand. With nobody to ask, the
//! verb ends with the error (exit 6), or goes on with the backup where there is one.

use super::reset;
use crate::cli::prompt;
use crate::cli::screen::Screen;
use axiom_base::error::{Error, Result};
use axiom_safety::context::Repository;
use axiom_safety::settings::WritableLayer;
use axiom_safety::settings::config_reset::{ConfigResetSource, broken, plan};

/// Asks about each file that cannot be read, and does what is chosen.
pub(in crate::commands) fn ask(repo: &Repository, error: Error, screen: &mut Screen) -> Result<()> {
    for (layer, why) in broken(Some(repo)) {
        screen.complain(&why.to_string());
        match choose(repo, layer)? {
            Some(from) => reset::at_once(repo, layer, from, screen)?,
            None => return Err(error),
        }
    }
    Ok(())
}

fn choose(repo: &Repository, layer: WritableLayer) -> Result<Option<ConfigResetSource>> {
    let has_backup = plan(Some(repo), layer, ConfigResetSource::Backup).is_ok();
    let mut choices = vec![
        (Some(ConfigResetSource::Nothing), "[F] Reset: begin an empty one, so that the defaults count; the broken file is kept"),
        (None, "[Q] Quit and fix it by hand"),
    ];
    if has_backup {
        choices.insert(0, (Some(ConfigResetSource::Backup), "[R] Restore: put the backup in its place; the broken file is kept"));
    }
    let words: Vec<&str> = choices.iter().map(|(_, words)| *words).collect();
    let picked = prompt::one_of("What next? (Escape changes nothing)", None, &words, 0)?;
    Ok(picked.and_then(|number| choices.get(number)).and_then(|(from, _)| *from))
}

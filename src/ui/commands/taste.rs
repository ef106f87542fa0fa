//! What git's settings say of screens, for the terminal.

use std::path::PathBuf;

use crate::cli::terminal_look::ScreenTaste;
use axiom_model::base::screen_colors::ScreenSettings;
use axiom_safety::user_programs::pager;

/// The settings that git finds from a folder.
#[derive(Debug)]
pub struct GitTaste {
    folder: PathBuf,
}

impl From<PathBuf> for GitTaste {
    fn from(folder: PathBuf) -> Self {
        Self { folder }
    }
}

impl ScreenTaste for GitTaste {
    fn settings(&self) -> ScreenSettings {
        pager::settings(&self.folder)
    }

    fn page(&self, settings: &ScreenSettings, text: &str) -> bool {
        pager::show(&self.folder, &settings.pager, text)
    }
}

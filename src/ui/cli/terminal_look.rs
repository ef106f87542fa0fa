//! Width, colours and pager of the terminal: they are asked nowhere else. As git decides it, but that neither an agent nor `--json` ever
//! gets colours or a pager.

use std::cell::OnceCell;
use std::io::IsTerminal;

use super::screen_look::ScreenLook;
use axiom_base::env;
use axiom_model::base::screen_colors::ScreenSettings;

/// What git's settings say of screens, and who runs the user's pager.
pub trait ScreenTaste: std::fmt::Debug {
    /// The settings. Asked only where something is shown on a terminal.
    fn settings(&self) -> ScreenSettings;
    /// Shows a text in the pager; returns whether there was one.
    fn page(&self, settings: &ScreenSettings, text: &str) -> bool;
}

/// What is known of the terminal to which a verb prints.
#[derive(Debug, Default)]
pub struct TerminalLook {
    /// Who knows git's settings.
    taste: Option<Box<dyn ScreenTaste>>,
    /// Whether the answer is JSON.
    json: bool,
    settings: OnceCell<ScreenSettings>,
    /// Whether an agent reads it.
    plain: bool,
}

impl TerminalLook {
    /// That of an answer which is JSON, or is not.
    pub fn of(json: bool) -> Self {
        Self { json, ..Self::default() }
    }

    /// The same, as git's settings want it.
    pub fn to_the_taste_of(self, taste: Box<dyn ScreenTaste>) -> Self {
        Self { taste: Some(taste), ..self }
    }

    /// From now on there are no colours and no pager.
    pub fn be_plain(&mut self) {
        self.plain = true;
        console::set_colors_enabled(false);
        console::set_colors_enabled_stderr(false);
    }

    /// Whether the answer goes to a terminal, and not as JSON.
    pub fn is_shown(&self) -> bool {
        !self.json && std::io::stdout().is_terminal()
    }

    /// Whether the answer goes to a terminal, also by a pager that git has started.
    pub fn is_seen(&self) -> bool {
        let is_paged = || env::var("GIT_PAGER_IN_USE").is_some_and(|value| value == "true" || value == "1");
        self.is_shown() || !self.json && !self.plain && is_paged()
    }

    /// How many columns the terminal has to which the answer goes; `None` where it goes to none.
    pub fn columns(&self) -> Option<usize> {
        self.is_shown().then(|| columns_told().unwrap_or_else(|| columns_of(&console::Term::stdout())))
    }

    /// How the answer is laid out.
    pub fn of_answer(&self) -> ScreenLook<'_> {
        if !self.is_seen() {
            return ScreenLook::default();
        }
        let colors = self.colors().filter(|colors| self.is_shown() || colors.colored_pager);
        console::set_colors_enabled(colors.is_some());
        ScreenLook { columns: self.columns().or_else(columns_told), colors }
    }

    /// How standard error is laid out.
    pub fn of_notes(&self) -> ScreenLook<'_> {
        if !std::io::stderr().is_terminal() {
            return ScreenLook::default();
        }
        let colors = self.colors();
        console::set_colors_enabled_stderr(colors.is_some());
        ScreenLook { columns: Some(columns_of(&console::Term::stderr())), colors }
    }

    /// Shows a text that is laid out already in the user's pager; returns whether there is a terminal, and a pager.
    pub fn shows_in_pager(&self, laid_out: &str) -> bool {
        let pager = self.taste.as_ref().filter(|_| self.is_shown() && !self.plain);
        pager.is_some_and(|taste| taste.page(self.settings(), laid_out))
    }

    /// The colours, unless the user or the terminal wants none.
    fn colors(&self) -> Option<&ScreenSettings> {
        let is_dumb = env::var("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        let forbidden = self.json || self.plain || is_dumb || env::var("NO_COLOR").is_some();
        if forbidden { None } else { Some(self.settings()).filter(|settings| settings.colored) }
    }

    fn settings(&self) -> &ScreenSettings {
        self.settings.get_or_init(|| self.taste.as_ref().map(|taste| taste.settings()).unwrap_or_default())
    }
}

/// How many columns git says there are, whose pager has the terminal, or the user.
pub fn columns_told() -> Option<usize> {
    env::var("COLUMNS")?.to_str()?.parse().ok().filter(|columns| *columns > 0)
}

fn columns_of(terminal: &console::Term) -> usize {
    usize::from(terminal.size().1).max(20)
}

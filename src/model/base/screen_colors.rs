//! Colours and pager as git configures them: which parts of a screen have a colour, and what `color.*` and `pager.axiom` say.

/// A part of a screen with a colour of its own, which `color.axiom.NAME` changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ColoredPart {
    Heading,
    Failed,
    Unprotected,
    Waiting,
    Active,
    Done,
    Faint,
    Saved,
    Added,
    Removed,
    Error,
    Warning,
}

impl ColoredPart {
    /// Each with its name, and its escape where nothing is configured.
    pub const ALL: [(Self, &'static str, &'static str); 12] = [
        (Self::Heading, "heading", "\x1b[1m"),
        (Self::Failed, "failed", "\x1b[1;31m"),
        (Self::Unprotected, "unprotected", "\x1b[1;31m"),
        (Self::Waiting, "waiting", "\x1b[33m"),
        (Self::Active, "active", "\x1b[36m"),
        (Self::Done, "done", "\x1b[32m"),
        (Self::Faint, "faint", "\x1b[2m"),
        (Self::Saved, "saved", "\x1b[35m"),
        (Self::Added, "added", "\x1b[32m"),
        (Self::Removed, "removed", "\x1b[31m"),
        (Self::Error, "error", "\x1b[1;31m"),
        (Self::Warning, "warning", "\x1b[1;33m"),
    ];

    /// What ends a colour.
    pub const END: &'static str = "\x1b[m";

    /// The part of a status in words, where it stands out.
    pub fn of_status(words: &str) -> Option<Self> {
        match words.split([' ', ',']).next().unwrap_or_default() {
            "failed" | "blocked" | "interrupted" | "crashed" | "gone" | "no" => Some(Self::Failed),
            "UNPROTECTED" | "NOT" => Some(Self::Unprotected),
            "waiting" | "asking" | "paused" | "pausing" => Some(Self::Waiting),
            "active" | "working" | "running" | "verifying" | "merging" => Some(Self::Active),
            "done" | "merged" | "protected" | "passed" | "yes" => Some(Self::Done),
            "archived" | "ended" | "undone" => Some(Self::Faint),
            _ => None,
        }
    }
}

/// What `pager.axiom` says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PagerSetting {
    /// As git's own settings say.
    #[default]
    AsGit,
    /// No pager.
    Off,
    /// This command.
    Command(String),
}

/// The settings of git that say how a screen looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenSettings {
    /// Whether colours are wanted: `color.axiom`, else `color.ui`. `always` is as `auto`: a pipe never gets any.
    pub colored: bool,
    /// Whether patches are coloured: `color.diff`, else `color.ui`.
    pub colored_patches: bool,
    /// Whether a pager gets colours: `color.pager`.
    pub colored_pager: bool,
    /// `pager.axiom`.
    pub pager: PagerSetting,
    escapes: Vec<(String, String)>,
}

impl Default for ScreenSettings {
    fn default() -> Self {
        Self::read("")
    }
}

impl ScreenSettings {
    /// The keys to ask for, as git's pattern.
    pub const KEYS: &'static str = r"^(color\.(ui|axiom|diff|pager)|color\.axiom\..*|pager\.axiom)$";
    /// The keys of single colours, as git's pattern.
    pub const COLORS: &'static str = r"^color\.axiom\..*$";

    /// Reads what `git config --null --get-regexp` prints for [`Self::KEYS`].
    pub fn read(listing: &str) -> Self {
        let last = |key: &str| entries(listing).filter(|(name, _)| *name == key).last().map(|(_, value)| value);
        let on = |key: &str| last(key).map(|value| value.is_none_or(is_on));
        let general = on("color.ui").unwrap_or(true);
        Self {
            colored: on("color.axiom").unwrap_or(general),
            colored_patches: on("color.diff").unwrap_or(general),
            colored_pager: on("color.pager").unwrap_or(true),
            pager: last("pager.axiom").map_or(PagerSetting::AsGit, of_pager),
            escapes: Vec::new(),
        }
    }

    /// Whether single colours are configured.
    pub fn names_colors(listing: &str) -> bool {
        entries(listing).any(|(name, _)| name.starts_with("color.axiom."))
    }

    /// With the escapes that `git config --null --type=color --get-regexp` prints for [`Self::COLORS`].
    #[must_use]
    pub fn with_escapes(mut self, listing: &str) -> Self {
        let known = entries(listing).filter_map(|(name, value)| {
            let part = name.strip_prefix("color.axiom.")?;
            Some((part.to_owned(), value.unwrap_or_default().to_owned()))
        });
        self.escapes = known.collect();
        self
    }

    /// The escape that begins a part; empty where it has no colour.
    pub fn escape(&self, part: ColoredPart) -> &str {
        let Some((_, name, usual)) = ColoredPart::ALL.into_iter().find(|(known, ..)| *known == part) else { return "" };
        self.escapes.iter().rfind(|(known, _)| known == name).map_or(usual, |(_, escape)| escape.as_str())
    }
}

/// The keys and values of a listing that ends each with NUL; a key without a value has none.
fn entries(listing: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    listing.split_terminator('\0').map(|entry| match entry.split_once('\n') {
        Some((name, value)) => (name, Some(value)),
        None => (entry, None),
    })
}

/// A value of `color.*`, as git reads it. One that git does not know is as if it were not there.
fn is_on(value: &str) -> bool {
    !["never", "false", "no", "off", "0", ""].iter().any(|off| value.eq_ignore_ascii_case(off))
}

fn of_pager(value: Option<&str>) -> PagerSetting {
    match value {
        None => PagerSetting::AsGit,
        Some(text) if ["true", "yes", "on", "1"].iter().any(|on| text.eq_ignore_ascii_case(on)) => PagerSetting::AsGit,
        Some(text) if !is_on(text) && !text.eq_ignore_ascii_case("never") => PagerSetting::Off,
        Some(command) => PagerSetting::Command(command.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_setting_of_colours_decides() {
        let read = |listing: &str| {
            let settings = ScreenSettings::read(listing);
            (settings.colored, settings.colored_patches, settings.colored_pager)
        };
        assert_eq!(read(""), (true, true, true));
        assert_eq!(read("color.ui\nfalse\0"), (false, false, true));
        assert_eq!(read("color.ui\nnever\0color.axiom\nalways\0"), (true, false, true));
        assert_eq!(read("color.axiom\nFalse\0color.diff\0color.pager\nno\0"), (false, true, false));
        assert_eq!(read("color.ui\nfalse\0color.ui\nauto\0"), (true, true, true), "the last one counts");
    }

    #[test]
    fn the_pager_is_a_switch_or_a_command() {
        let read = |listing: &str| ScreenSettings::read(listing).pager;
        assert_eq!(read(""), PagerSetting::AsGit);
        assert_eq!(read("pager.axiom\0"), PagerSetting::AsGit);
        assert_eq!(read("pager.axiom\nfalse\0"), PagerSetting::Off);
        assert_eq!(read("pager.axiom\nless -S\0"), PagerSetting::Command("less -S".to_owned()));
    }

    #[test]
    fn a_part_has_the_colour_that_git_computed_else_its_own() {
        let listing = "color.axiom.failed\nblue\0";
        assert!(ScreenSettings::names_colors(listing) && !ScreenSettings::names_colors("color.ui\nauto\0"));
        let settings = ScreenSettings::read(listing).with_escapes("color.axiom.failed\n\x1b[34m\0color.axiom.done\n\0");
        let escapes = [ColoredPart::Failed, ColoredPart::Done, ColoredPart::Waiting].map(|part| settings.escape(part));
        assert_eq!(escapes, ["\x1b[34m", "", "\x1b[33m"]);
    }

    #[test]
    fn what_stands_out_is_known_by_its_first_word() {
        assert_eq!(ColoredPart::of_status("failed (3 of 3)"), Some(ColoredPart::Failed));
        assert_eq!(ColoredPart::of_status("waiting since 10:00:00"), Some(ColoredPart::Waiting));
        assert_eq!(ColoredPart::of_status("pending"), None);
    }
}

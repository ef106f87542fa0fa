//! For what a text is laid out: a width, and colours.

use axiom_model::base::screen_colors::{ColoredPart, ScreenSettings};

/// How a text is laid out.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScreenLook<'s> {
    /// The columns of the terminal; `None` where nothing is cut or folded.
    pub columns: Option<usize>,
    /// The colours; `None` where there are none.
    pub colors: Option<&'s ScreenSettings>,
}

impl ScreenLook<'_> {
    /// The text in the colour of a part.
    pub fn painted(&self, part: Option<ColoredPart>, text: &str) -> String {
        let escape = part.and_then(|part| self.colors.map(|colors| colors.escape(part))).unwrap_or_default();
        if escape.is_empty() || text.is_empty() { text.to_owned() } else { format!("{escape}{text}{}", ColoredPart::END) }
    }
}

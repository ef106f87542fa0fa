//! `git axiom panel`.

use clap::Args;

use super::open_with_usable_config;
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::panel;
use crate::panel::keys::PanelKeyBindings;
use crate::panel::view::PanelColours;
use crate::panel::{PanelOptions, PanelPlacement};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;

/// Arguments of `panel`.
#[derive(Debug, Args)]
#[command(after_help = "\
Agents, tasks, what waits for you, output and the timeline, as they change; '?' lists the keys,
'i' every action on the selected agent and task. Whatever takes something away is shown first as
it will be, with the way back, and is done after Enter. Escape changes nothing.

Closing the panel changes nothing: agents and session go on. It needs a terminal; 'git axiom
status --watch' shows what happens in plain text, and every action is a verb of its own.")]
pub struct PanelArgs {
    /// Draw on the screen of the shell, not on one of its own: the last picture stays
    #[arg(long)]
    inline: bool,
}

/// Shows the panel until it is closed.
pub fn run(args: &PanelArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    if screen.wants_json() || global.non_interactive {
        return Err(Error::new(Code::Usage, "the panel needs a terminal")
            .hint("git axiom status --watch --json    prints a document, on one line, for each change"));
    }
    let ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    show(ctx, if args.inline { PanelPlacement::Inline } else { PanelPlacement::OwnScreen }, screen)
}

/// Shows the panel with the keys of the configuration.
pub fn show(ctx: Context, place: PanelPlacement, screen: &Screen) -> Result<Exit> {
    let keys = PanelKeyBindings::configured(&ctx.config.panel.keys)?;
    let colours = if screen.terminal().of_answer().colors.is_none() { PanelColours::None } else { PanelColours::Sixteen };
    panel::run(ctx, PanelOptions { colours, keys, place })
}

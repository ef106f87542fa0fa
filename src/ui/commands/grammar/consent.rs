//! The options of every verb that changes much: to only show the changes, and to agree to them in advance.

use clap::Args;

/// Whether something is only shown, and whether it was agreed to before.
#[derive(Debug, Clone, Copy, Args)]
pub struct ConsentArgs {
    /// Show exactly what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

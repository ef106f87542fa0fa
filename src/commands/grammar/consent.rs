//! What every verb asks that changes much: shall it only be shown, and has it been agreed to.

use clap::Args;

/// Whether something is only shown, and whether it was agreed to before.
#[derive(Debug, Clone, Copy, Args)]
pub struct Consent {
    /// Show exactly what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

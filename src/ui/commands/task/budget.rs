//! The options that limit what a task or a session may use.

use clap::Args;

use axiom_base::error::Result;
use axiom_model::work::money::budget::NewBudgetLimits;

/// The limits, as they are given.
#[derive(Debug, Args)]
pub struct BudgetArgs {
    /// What it may cost, in US dollars; then it waits at a gate
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<String>,
    /// How many tokens it may use, such as 200k or 1.5M
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<String>,
    /// How long agents may run for it, such as 30min or 2h
    #[arg(long, value_name = "TIME")]
    pub max_time: Option<String>,
}

impl BudgetArgs {
    /// What is given.
    pub fn read(&self) -> Result<NewBudgetLimits> {
        NewBudgetLimits::read(self.max_cost.as_deref(), self.max_tokens.as_deref(), self.max_time.as_deref())
    }
}

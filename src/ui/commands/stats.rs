//! `git axiom stats`: what was used.

use clap::Args;
use serde::Serialize;

use super::look;
use crate::cli::grid::StyledGrid;
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::forms::times;
use axiom_model::queries::stats::{StatsGrouping, StatsLine, StatsSum, csv, stats};
use axiom_model::work::money::amounts::thousands;
use axiom_model::work::usd::Usd;

/// How many characters of a name are shown.
const LONGEST_NAME: usize = 20;

/// Arguments of `stats`.
#[derive(Debug, Args)]
#[command(after_help = "\
Sums over all iterations and all runs of planners that ever were; no rollback takes them back.
Tokens and cost are known where agent programs tell them, or agents.NAME.price is set: '>=' says
that some runs told nothing, '-' that none did. BACK counts merges that were taken back. Days
are in UTC; of more than 400 days the older ones are one sum.")]
pub struct StatsArgs {
    /// What is summed up separately: task, agent, persona, program or day
    #[arg(long, value_name = "WHAT", default_value = "task")]
    by: StatsGrouping,
    /// Print comma-separated values, with a heading
    #[arg(long)]
    csv: bool,
}

/// What was used.
#[derive(Serialize)]
struct StatsJson<'a> {
    /// `task`, `agent`, `persona`, `program` or `day`.
    by: &'static str,
    /// By name, as people count.
    sums: &'a [StatsLine],
    /// Of all iterations and runs of planners.
    total: &'a StatsSum,
}

/// Prints the sums.
pub fn run(args: &StatsArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    if args.csv && screen.wants_json() {
        return Err(Error::new(Code::Usage, "--csv and --json are two forms of the same: give one of them"));
    }
    let ctx = look(global, screen)?;
    let (lines, total) = stats(ctx.state(), args.by);
    if args.csv {
        screen.write(csv(args.by, &lines).as_bytes())?;
        return Ok(Exit::Done);
    }
    let answer = StatsJson { by: args.by.as_str(), sums: &lines, total: &total };
    screen.answer(&answer, || in_words(args.by, &lines, &total))?;
    Ok(Exit::Done)
}

fn in_words(by: StatsGrouping, lines: &[StatsLine], total: &StatsSum) -> StyledText {
    if lines.is_empty() {
        return "No iteration has ended yet.\n".into();
    }
    let heading =
        [by.as_str().to_uppercase().as_str(), "RUNS", "TOKENS", "COST", "TIME", "MERGED", "BACK", "FAILED"].map(String::from);
    let mut rows = vec![heading.to_vec()];
    rows.extend(lines.iter().map(|line| row(line.name.as_deref().unwrap_or(by.without_name()), &line.sum)));
    rows.push(row("total", total));
    StyledGrid::of(rows).headed().cut(&[0]).may_go(&[6, 5]).into()
}

fn row(name: &str, sum: &StatsSum) -> Vec<String> {
    let known = |words: Option<String>, unknown: u64| match words {
        Some(words) if unknown > 0 => format!(">={words}"),
        Some(words) => words,
        None => "-".to_owned(),
    };
    let name = if name.chars().count() > LONGEST_NAME {
        name.chars().take(LONGEST_NAME - 1).chain(['…']).collect()
    } else {
        name.to_owned()
    };
    vec![
        name,
        sum.iterations.to_string(),
        known(sum.tokens.map(thousands), sum.tokens_unknown),
        known(sum.cost_usd.and_then(Usd::of).map(|cost| cost.to_string()), sum.cost_unknown),
        known(Some(times::span(sum.duration)), sum.time_unknown),
        sum.merged.to_string(),
        sum.taken_back.to_string(),
        sum.failed.to_string(),
    ]
}

//! What the program of a persona told of itself, as its folder has it.

use std::path::Path;

use axiom_base::error::Result;
use axiom_model::agent::adapter::AgentAdapter;
use axiom_model::agent::stream::summary::StreamSummary;
use axiom_model::work::signals::signal::AgentSignal;
use axiom_model::work::signals::signal_summary;
use axiom_model::work::usd::Usd;
use axiom_model::work::verifying::verification::ProgramUsage;
use axiom_process::client::state::read_signals;
use axiom_process::run_folder::spec::KeeperSpec;

/// What the program has told so far, and the last signal that decides.
pub fn heard(dir: &Path) -> Result<(StreamSummary, Option<AgentSignal>)> {
    let (mut told, mut said, mut from) = (StreamSummary::default(), None, 0);
    loop {
        let read = read_signals(dir, from)?;
        if read.next == from {
            return Ok((told, said));
        }
        from = read.next;
        for received in read.signals {
            signal_summary::add(&mut told, &received.signal);
            if let AgentSignal::Complete {} | AgentSignal::Blocked { .. } | AgentSignal::Waiting { .. } = received.signal {
                said = Some(received.signal);
            }
        }
    }
}

pub(super) fn used_of(told: &StreamSummary, program: &AgentAdapter, cut_off: bool) -> ProgramUsage {
    ProgramUsage {
        program: program.name.clone(),
        tokens: told.usage.tokens(),
        cost_usd: program.cost_of(&told.usage).and_then(Usd::of),
        cut_off,
        ..ProgramUsage::default()
    }
}

/// What the program of a run has used, as far as it has told, however the run ended.
pub fn used_by(spec: &KeeperSpec, program: &AgentAdapter, cut_off: bool) -> Result<ProgramUsage> {
    Ok(used_of(&heard(&spec.dir)?.0, program, cut_off))
}

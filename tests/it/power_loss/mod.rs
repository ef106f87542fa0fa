//! A power loss at any moment: what was acknowledged is there, and what is damaged is said.

mod calls;
mod disk;
#[cfg(target_arch = "x86_64")]
mod failing;
mod losses;
mod model;
mod oracle;
mod replay;
mod rules;
mod scenario;
mod scenes;
mod syncs;
mod tracer;
mod trial;

use crate::common::trials::AskedCases;

#[test]
fn nothing_acknowledged_is_lost_at_a_power_loss() {
    let asked = AskedCases::read();
    let chosen: Vec<_> = scenes::ALL.iter().filter(|each| asked.has(each.name)).collect();
    let plan = match asked.rounds_asked() {
        Some(_) => trial::Plan::Long(asked.seeds(0, 0)),
        None => {
            let seed = asked.seed(1);
            eprintln!("AXIOM_SEED={seed}");
            trial::Plan::Short { seed, time: asked.seconds(12) / chosen.len() as u32 }
        }
    };
    let faults: usize = chosen.into_iter().map(|each| trial::run(each, &plan)).sum();
    assert_eq!(faults, 0, "power losses after which something was wrong, see above");
}

//! The newest transactions, read from an anchor on, are those of the whole log.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic)]

use crate::support::{KINDS, author, propose, task};
use git_axiom::model::base::ids::OperationId;
use git_axiom::model::operation::operation_record::{OperationFold, OperationRecord};
use git_axiom::model::operation::undo::{self, UndoSelector};
use git_axiom::model::state::audit::AuditTrail;
use git_axiom::model::state::event::Event;
use git_axiom::model::state::event_envelope::EventAuthor;
use git_axiom::safety::history;
use git_axiom::safety::upkeep::log_recovery::{NewLogSource, begin_anew};
use git_axiom::store::layout::StoreLayout;
use git_axiom::store::log_files::segments;
use git_axiom::store::states::handle::{AppendAuthor, Store};
use git_axiom::store::states::{anchors, rebuild};
use proptest::prelude::*;

fn whole(layout: &StoreLayout) -> Vec<OperationRecord> {
    let mut fold = OperationFold::default();
    history::each_event(layout, |envelope| fold.push(&envelope)).unwrap();
    fold.finish()
}

fn seal(layout: &StoreLayout) {
    if let Some(first) = segments::list(layout).unwrap().last().unwrap().first {
        segments::seal(layout, first).unwrap();
    }
}

/// Some transactions that are under way at the same time: of commands, of the supervisor, of an older program.
struct Transactions {
    begun: Vec<OperationId>,
    count: u64,
}

impl Transactions {
    fn next(&mut self, seq: u64, dice: u8) -> OperationId {
        self.count += 1;
        let random = format!("{:016x}", self.count.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        match dice {
            0..5 if !self.begun.is_empty() => {}
            5 => self.begun.push(OperationId::new(format!("t{random}")).unwrap()),
            6 => self.begun.push(OperationId::begun_after(seq.saturating_sub(7), &random).unwrap()),
            _ => self.begun.push(OperationId::begun_after(seq, &random).unwrap()),
        }
        let most = 3;
        if self.begun.len() > most {
            self.begun.remove(0);
        }
        self.begun[usize::from(dice) % self.begun.len()].clone()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Snapshots, seals and new transactions fall at random places.
    #[test]
    fn what_is_known_from_an_anchor_on_is_the_end_of_the_whole(
        choices in proptest::collection::vec((0..KINDS, any::<u32>()), 60..240),
        dice in proptest::collection::vec((0..12_u8, 0..30_u8), 240),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let layout = StoreLayout::new(dir.path());
        let mut store = Store::load(layout.clone()).unwrap();
        let mut transactions = Transactions { begun: Vec::new(), count: 0 };
        for (choice, (dice, mark)) in choices.iter().zip(&dice) {
            let Some(event) = propose(store.state(), *choice) else { continue };
            let txn = transactions.next(store.state().seq, *dice);
            let by = if dice % 2 == 0 { EventAuthor::User } else { EventAuthor::Supervisor };
            if store.append(&AppendAuthor { txn, by }, vec![event]).is_err() {
                continue;
            }
            match mark {
                0 => store.save_snapshot().unwrap(),
                1 => {
                    seal(&layout);
                    store = Store::load(layout.clone()).unwrap();
                }
                _ => {}
            }
        }
        let whole = whole(&layout);
        for id in store.state().restorable.tasks.keys().take(5) {
            let mut audit = AuditTrail::of(id.clone());
            history::each_event(&layout, |envelope| audit.push(&envelope)).unwrap();
            let all = audit.finish();
            for seq in anchors::all(&layout).unwrap() {
                let part = history::audit_after(&layout, id, seq).unwrap().unwrap();
                let since: Vec<_> = all.iter().filter(|entry| entry.seq > seq).cloned().collect();
                prop_assert_eq!(&part.entries, &since, "{} from {} on", id, seq);
            }
        }
        for seq in anchors::all(&layout).unwrap() {
            let known = history::known_after(&layout, seq).unwrap();
            prop_assert!(known.is_some(), "an anchor at {} is of no use", seq);
            let known = known.unwrap();
            prop_assert_eq!(&known[..], &whole[whole.len() - known.len()..], "from {} on", seq);
            for asked in [UndoSelector::Undo, UndoSelector::Redo].into_iter().chain(known.iter().map(|one| UndoSelector::Named(one.id.to_string()))) {
                if undo::is_decided_by(&known, &asked) {
                    let chosen = |all| undo::choose(all, &asked).map(|one| (one.id.clone(), undo::subject(all, one))).ok();
                    prop_assert_eq!(chosen(&known), chosen(&whole), "{:?} from {} on", asked, seq);
                }
            }
        }
    }
}

/// Fifty tasks, each added in a transaction of its own.
fn fifty(folder: &std::path::Path) -> StoreLayout {
    let layout = StoreLayout::new(folder);
    let mut store = Store::load(layout.clone()).unwrap();
    for number in 0..50 {
        let txn = OperationId::begun_after(store.state().seq, &format!("{number:016x}")).unwrap();
        let event = Event::TasksAdded { tasks: vec![task(&format!("n{number}"))] };
        store.append(&AppendAuthor { txn, by: EventAuthor::User }, vec![event]).unwrap();
    }
    layout
}

#[test]
fn all_that_began_after_an_anchor_is_known() {
    let dir = tempfile::tempdir().unwrap();
    let layout = fifty(dir.path());
    let anchors = anchors::all(&layout).unwrap();
    assert!(anchors.len() >= 2, "{anchors:?}");
    seal(&layout);
    for seq in anchors {
        assert_eq!(history::known_after(&layout, seq).unwrap().unwrap().len() as u64, 50 - seq);
    }
}

#[test]
fn a_damaged_anchor_is_of_no_use_and_does_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let layout = fifty(dir.path());
    let all = anchors::all(&layout).unwrap();
    let path = |seq: u64| layout.state_dir().join(format!("anchor-{seq:020}.json"));
    let bytes = std::fs::read(path(all[0])).unwrap();
    std::fs::write(path(all[0]), &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(history::known_after(&layout, all[0]).unwrap(), None);
    // A whole one that is not what its name says.
    std::fs::write(path(all[0]), std::fs::read(path(all[1])).unwrap()).unwrap();
    assert_eq!(history::known_after(&layout, all[0]).unwrap(), None);
    // An anchor of another log.
    let mut lines: Vec<String> = std::fs::read_to_string(layout.events()).unwrap().lines().map(str::to_owned).collect();
    lines.truncate(all[1] as usize - 1);
    std::fs::write(layout.events(), lines.join("\n") + "\n").unwrap();
    assert_eq!(history::known_after(&layout, all[1]).unwrap(), None);
}

#[test]
fn a_log_that_began_anew_has_no_anchors_of_the_one_before() {
    let dir = tempfile::tempdir().unwrap();
    let layout = fifty(dir.path());
    let old = anchors::all(&layout).unwrap();
    let text = std::fs::read_to_string(layout.events()).unwrap();
    std::fs::write(layout.events(), text.replacen("n7", "n8", 1)).unwrap();
    let done = begin_anew(&layout, &author().txn, NewLogSource::Stored(rebuild::RebuildSource::Snapshot)).unwrap();
    assert_eq!(anchors::all(&layout).unwrap(), [0; 0]);
    let names: Vec<_> = std::fs::read_dir(done.kept.unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let kept = names.iter().filter(|name| name.to_str().unwrap().starts_with("anchor-")).count();
    assert_eq!(kept, old.len(), "{names:?}");
}

/// What is in a trash under the name of its transaction is ours, to older programs too.
#[test]
fn the_id_of_a_transaction_is_a_name_in_the_trash() {
    for seq in [0, 1, 0xfff_ffff, u64::from(u32::MAX)] {
        let id = OperationId::begun_after(seq, "00000000deadbeef").unwrap();
        assert!(git_axiom::base::files::is_trashed_name(id.as_str().as_bytes()), "{id}");
    }
}

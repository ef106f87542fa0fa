//! A sound store and everything else that is read from disk, as the program itself wrote it.

use std::path::PathBuf;

use git_axiom::model::base::ids::CheckpointName;
use git_axiom::model::state::current_state::State;
use git_axiom::model::state::event::Event;
use git_axiom::model::state::event_envelope::EventEnvelope;
use git_axiom::store::layout::StoreLayout;
use git_axiom::store::log_files::{line, log, segments};
use git_axiom::store::states::checkpoints;
use git_axiom::store::states::handle::Store;

use crate::support::fixtures::{self, fixture};
use crate::support::{author, checkpoint, propose};

/// A configuration of many kinds of values.
const CONFIG: &str = "# Mine.
[agents]
count = 3
default = 'mine'
graceSeconds = 7

[agents.mine]
command = ['my-agent', '--prompt', '{prompt}']
exitCompletes = true

[checkpoints]
maxFileSize = 20
protectNamed = true

[merge]
verify = ['make test', 'make lint']

[budget]
maxCost = '12.50'
maxTime = '2h'
";

/// What is damaged and then read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One line of the log.
    Line,
    /// The log, with all other files as they were.
    Log,
    /// Sealed lines of the log.
    Segment,
    /// The snapshot.
    Snapshot,
    /// The older checkpoints beside the snapshot.
    Part,
    /// The last word on every task.
    Cases,
    /// A configuration file.
    Config,
    /// The JSON of a checkpoint, as a note has it.
    Checkpoint,
    /// The record of a keeper that ended.
    Exit,
    /// The record of a keeper that runs.
    Keeper,
    /// What a keeper is to do.
    Spec,
    /// The signals that a keeper recorded.
    Signals,
    /// A signal on its way to a keeper.
    Spool,
    /// What an agent program prints.
    Stream,
}

impl Kind {
    /// All, with how many of a thousand inputs each gets: reading a whole store takes the longest.
    pub const ALL: [(Self, u32); 14] = [
        (Self::Line, 200),
        (Self::Log, 15),
        (Self::Segment, 10),
        (Self::Snapshot, 60),
        (Self::Part, 60),
        (Self::Cases, 100),
        (Self::Config, 150),
        (Self::Checkpoint, 100),
        (Self::Exit, 60),
        (Self::Keeper, 60),
        (Self::Spec, 60),
        (Self::Signals, 60),
        (Self::Spool, 5),
        (Self::Stream, 60),
    ];
}

/// Everything, in a folder of its own.
pub struct Ground {
    dir: tempfile::TempDir,
    /// Where the store is.
    pub layout: StoreLayout,
    /// The state after each event, the empty one first.
    pub states: Vec<State>,
    /// Every event.
    pub history: Vec<EventEnvelope>,
    /// What each kind is when it is sound.
    samples: Vec<(Kind, Vec<u8>)>,
}

impl Ground {
    /// Makes it.
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap());
        let layout = StoreLayout::new(dir.path());
        fill(&layout);
        let (mut states, mut history, mut state) = (vec![State::default()], Vec::new(), State::default());
        let each = |envelope: EventEnvelope| {
            state.apply(&envelope)?;
            states.push(state.clone());
            history.push(envelope);
            Ok(())
        };
        log::read_after(&layout, 0, None, each).unwrap();
        let mut ground = Self { dir, layout, states, history, samples: Vec::new() };
        ground.samples = Kind::ALL.iter().map(|(kind, _)| (*kind, ground.sample(*kind))).collect();
        ground
    }

    /// The folder of a keeper's run.
    pub fn run(&self) -> PathBuf {
        self.dir.path().join("run")
    }

    /// A sound input.
    pub fn whole(&self, kind: Kind) -> &[u8] {
        &self.samples.iter().find(|(known, _)| *known == kind).unwrap().1
    }

    /// Where a store has it; `None` where it is no file of a store.
    pub fn place(&self, kind: Kind) -> Option<PathBuf> {
        let part = || checkpoints::all(&self.layout).unwrap().pop().unwrap();
        match kind {
            Kind::Log => Some(self.layout.events()),
            Kind::Segment => Some(segments::segment_path(&self.layout, 1)),
            Kind::Snapshot => Some(self.layout.snapshot()),
            Kind::Part => Some(part()),
            Kind::Cases => Some(self.layout.tasks()),
            Kind::Line | Kind::Config | Kind::Checkpoint | Kind::Exit | Kind::Keeper | Kind::Spec | Kind::Signals => None,
            Kind::Spool | Kind::Stream => None,
        }
    }

    /// Whether it is a whole line of the log, wherever it was.
    pub fn is_line(&self, line: &[u8]) -> bool {
        self.history.iter().any(|envelope| line::encode(envelope).unwrap() == line)
    }

    fn sample(&self, kind: Kind) -> Vec<u8> {
        if let Some(place) = self.place(kind) {
            return std::fs::read(place).unwrap();
        }
        let file = |name: &str| std::fs::read(fixture(name)).unwrap();
        match kind {
            Kind::Line => self.history.iter().map(|envelope| line::encode(envelope).unwrap()).max_by_key(Vec::len).unwrap(),
            Kind::Config => CONFIG.as_bytes().to_vec(),
            Kind::Checkpoint => file("records/checkpoint.json"),
            Kind::Exit => summed(&file("records/exit.json")),
            Kind::Keeper => summed(&file("records/keeper.json")),
            Kind::Spec => summed(&file("records/spec.json")),
            Kind::Signals => file("records/signals.jsonl").repeat(5),
            Kind::Spool => br#"{"token":"t1","signal":{"kind":"progress","percent":50}}"#.to_vec(),
            Kind::Stream => file("streams/claude.jsonl"),
            Kind::Log | Kind::Segment | Kind::Snapshot | Kind::Part | Kind::Cases => unreachable!(),
        }
    }
}

/// As the program writes it, with a checksum.
fn summed(record: &[u8]) -> Vec<u8> {
    let open = record.trim_ascii_end().strip_suffix(b"}").unwrap().to_vec();
    fixtures::summed(open)
}

/// Events of every kind, checkpoints enough for a file of older ones, a sealed part, a snapshot, and events after it.
fn fill(layout: &StoreLayout) {
    let mut store = Store::load(layout.clone()).unwrap();
    let add = |store: &mut Store, from: u32, until: u32| {
        for number in from..until {
            let name = CheckpointName::new(format!("Cp-{number}")).unwrap();
            let events = [
                Some(Event::CheckpointCreated { checkpoint: checkpoint(name, store.state(), number) }),
                propose(store.state(), (number as u8 % crate::support::KINDS, number.wrapping_mul(2_654_435_761))),
            ];
            for event in events.into_iter().flatten() {
                let _ = store.append(&author(), vec![event]);
            }
        }
    };
    add(&mut store, 0, 12);
    segments::seal(layout, 1).unwrap();
    store = Store::load(layout.clone()).unwrap();
    add(&mut store, 12, 20);
    store.save_snapshot().unwrap();
    add(&mut store, 20, 24);
}

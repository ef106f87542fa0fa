//! Which power losses are tried.

use std::sync::Arc;

use crate::common::random::Random;
use crate::power_loss::disk::{Left, Loose, Moment, What};
use crate::power_loss::model::{Event, Recording};

/// A power loss: when, and what is left.
#[derive(Clone)]
pub struct Loss {
    /// When.
    pub moment: Arc<(Moment, Vec<Loose>)>,
    /// Of each loose thing.
    pub left: Vec<Left>,
    /// In words.
    pub what: String,
}

impl Loss {
    fn new(moment: &Arc<(Moment, Vec<Loose>)>, what: String, left: impl Fn(&Loose) -> Left) -> Self {
        Self { moment: moment.clone(), left: moment.1.iter().map(left).collect(), what }
    }

    /// Whether something of an event from this number on, and before `until`, is lost.
    pub fn takes_of(&self, from: usize, until: usize) -> bool {
        let lost = self.moment.1.iter().zip(&self.left).filter(|(_, left)| **left != Left::All);
        lost.into_iter().any(|(loose, _)| (from..until).contains(&loose.event))
    }
}

/// Between two syncs: what there was after the first, and what happened before the next.
pub struct Window<'a> {
    first: Moment,
    events: &'a [Event],
}

/// All windows of a recording.
pub fn windows(recording: &Recording) -> Vec<Window<'_>> {
    let mut now = Moment::of(recording.before.clone());
    let mut windows = Vec::new();
    let syncs = |event: &Event| matches!(event, Event::Sync(_) | Event::SyncAll);
    for events in recording.events.split_inclusive(syncs) {
        let (sync, events) = events.split_last().filter(|(last, _)| syncs(last)).map_or((None, events), |(s, e)| (Some(s), e));
        windows.push(Window { first: now.clone(), events });
        events.iter().chain(sync).for_each(|event| now.take(event));
    }
    windows.push(Window { first: now, events: &[] });
    windows
}

impl Window<'_> {
    fn moment(&self, number: usize) -> Arc<(Moment, Vec<Loose>)> {
        let mut moment = self.first.clone();
        self.events[..number].iter().for_each(|event| moment.take(event));
        let loose = moment.loose();
        Arc::new((moment, loose))
    }

    fn moments(&self) -> impl Iterator<Item = Arc<(Moment, Vec<Loose>)>> {
        (0..=self.events.len()).map(|number| self.moment(number))
    }

    fn last(&self) -> Arc<(Moment, Vec<Loose>)> {
        self.moment(self.events.len())
    }

    /// The ones in which every fault so far was found: nothing loose is left, or every name and no content.
    pub fn sharp(&self) -> Vec<Loss> {
        let names = |loose: &Loose| if matches!(loose.what, What::Names(_)) { Left::All } else { Left::Nothing };
        let at = |moment: Arc<(Moment, Vec<Loose>)>| {
            let number = moment.0.events;
            [
                Loss::new(&moment, format!("at {number}: names without content"), names),
                Loss::new(&moment, format!("at {number}: only what is certain"), |_| Left::Nothing),
            ]
        };
        self.moments().flat_map(at).collect()
    }

    /// All that happened until each moment, and at the last one each loose thing lost by itself.
    pub fn plain(&self) -> Vec<Loss> {
        let whole = |moment: Arc<(Moment, Vec<Loose>)>| {
            Loss::new(&moment, format!("at {}: nothing lost", moment.0.events), |_| Left::All)
        };
        let mut losses: Vec<Loss> = self.moments().map(whole).collect();
        losses.extend((0..self.last().1.len()).map(|one| self.without(&[one])));
        losses
    }

    /// At the last moment, each two loose things lost.
    pub fn pairs(&self) -> Vec<Loss> {
        let count = self.last().1.len();
        (0..count).flat_map(|one| (one + 1..count).map(move |other| [one, other])).map(|two| self.without(&two)).collect()
    }

    fn without(&self, lost: &[usize]) -> Loss {
        let moment = self.last();
        let what = format!("at {}: without {lost:?}", moment.0.events);
        let mut loss = Loss::new(&moment, what, |_| Left::All);
        lost.iter().for_each(|number| loss.left[*number] = Left::Nothing);
        loss
    }

    /// What a seed says.
    pub fn seeded(&self, seed: u64) -> Loss {
        let mut random = Random(seed);
        let moment = self.moment(random.below(self.events.len() as u64 + 1) as usize);
        let mut loss = Loss::new(&moment, format!("at {}: seed {seed}", moment.0.events), |_| Left::All);
        for left in &mut loss.left {
            *left = [Left::All, Left::All, Left::All, Left::Nothing, Left::Nothing, Left::Older, Left::Torn]
                [random.below(7) as usize];
        }
        loss
    }
}

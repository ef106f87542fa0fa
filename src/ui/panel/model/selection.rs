//! What is selected: by name, so that it stays when rows come and go.

use std::collections::BTreeMap;

use super::{PanelFetch, PanelModel, PanelView};
use crate::panel::input::PanelDirection;
use crate::panel::snapshot::{AgentRow, AgentRowRunner, TaskRow, TimelineRow, WaitingRow};
use axiom_model::work::tasks::task::TaskStatus;

/// The view that is shown, and the selected row of each, by its name.
#[derive(Debug, Clone)]
pub struct PanelSelection {
    /// What is shown.
    pub view: PanelView,
    /// The selected agent; its output is what is shown of outputs.
    pub agent: Option<String>,
    /// The selected task.
    pub task: Option<String>,
    /// The selected gate, or what else waits.
    pub gate: Option<String>,
    /// The selected moment.
    pub moment: Option<String>,
}

impl PanelSelection {
    pub(super) fn new() -> Self {
        Self { view: PanelView::Agents, agent: None, task: None, gate: None, moment: None }
    }

    fn row(&self, view: PanelView) -> Option<&str> {
        match view {
            PanelView::Agents | PanelView::Output => self.agent.as_deref(),
            PanelView::Tasks => self.task.as_deref(),
            PanelView::Gates => self.gate.as_deref(),
            PanelView::Timeline => self.moment.as_deref(),
        }
    }

    fn select(&mut self, view: PanelView, name: Option<String>) {
        match view {
            PanelView::Agents | PanelView::Output => self.agent = name,
            PanelView::Tasks => self.task = name,
            PanelView::Gates => self.gate = name,
            PanelView::Timeline => self.moment = name,
        }
    }
}

/// Which of the rows are shown.
#[derive(Debug, Clone, Default)]
pub struct ShownRowFilters {
    /// What the lines of a view have to contain, in small letters.
    texts: BTreeMap<PanelView, String>,
    /// Whether merged and archived tasks are shown.
    pub shows_merged: bool,
}

impl ShownRowFilters {
    /// What the lines of a view have to contain.
    pub fn of(&self, view: PanelView) -> Option<&str> {
        self.texts.get(&view).map(String::as_str)
    }

    /// From now on the lines of a view have to contain this; `None` shows all of them.
    pub(super) fn set(&mut self, view: PanelView, text: Option<&str>) {
        match text {
            Some(text) => drop(self.texts.insert(view, text.to_lowercase())),
            None => drop(self.texts.remove(&view)),
        }
    }

    /// Whether a row with these texts is shown in a view: one of them contains what is asked for.
    pub fn fits(&self, view: PanelView, texts: &[&str]) -> bool {
        self.of(view).is_none_or(|wanted| texts.iter().any(|text| text.to_lowercase().contains(wanted)))
    }

    /// Whether a task with these texts is shown. What is merged is found also where it is hidden.
    fn fits_task(&self, row: &TaskRow, texts: &[&str]) -> bool {
        let is_hidden = row.status.merged || row.status.stored == TaskStatus::Archived;
        let is_filtered = self.texts.contains_key(&PanelView::Tasks);
        (self.shows_merged || is_filtered || !is_hidden) && self.fits(PanelView::Tasks, texts)
    }
}

/// What is looked for first: work that goes on, then what does not go on, what is done, what is still to come.
fn urgency(row: &TaskRow) -> u8 {
    match row.status.stored {
        TaskStatus::Active => 0,
        TaskStatus::Blocked | TaskStatus::Failed => 1,
        TaskStatus::Done if !row.status.merged => 2,
        TaskStatus::Pending => 3,
        TaskStatus::Done | TaskStatus::Archived => 4,
    }
}

/// The rows of a tree whose branches are ordered by the least of what is said of their rows; within a branch all stays as it is.
fn ordered<R, K: Ord>(
    rows: Vec<&R>,
    begins: impl Fn(&R) -> bool,
    rank: impl Fn(&R) -> K,
) -> std::iter::Flatten<std::vec::IntoIter<Vec<&R>>> {
    let mut branches: Vec<Vec<&R>> = Vec::new();
    for row in rows {
        match branches.last_mut() {
            Some(branch) if !begins(row) => branch.push(row),
            Some(_) | None => branches.push(vec![row]),
        }
    }
    branches.sort_by_key(|branch| branch.iter().map(|row| rank(row)).min());
    branches.into_iter().flatten()
}

impl PanelModel {
    /// The names of the rows of a view, in order.
    pub fn names(&self, view: PanelView) -> Vec<&str> {
        match view {
            PanelView::Agents => self.shown_agents().map(|row| row.id.as_str()).collect(),
            PanelView::Tasks => self.shown_tasks().map(|row| row.id.as_str()).collect(),
            PanelView::Gates => self.shown_waiting().map(|row| row.id.as_str()).collect(),
            PanelView::Timeline => self.shown_moments().map(|row| row.what.id()).collect(),
            PanelView::Output => Vec::new(),
        }
    }

    /// The agents that are shown.
    pub fn shown_agents(&self) -> impl Iterator<Item = &AgentRow> {
        let fits = |row: &&AgentRow| {
            self.filters.fits(PanelView::Agents, &[&row.id, &row.state, &row.title, row.task.as_deref().unwrap_or("")])
        };
        // A prompt stands below its session.
        let is_first = |row: &AgentRow| !matches!(row.runner, AgentRowRunner::Prompt { .. });
        ordered(self.seen.agents.iter().filter(fits).collect(), is_first, |row| !row.works)
    }

    /// The tasks that are shown.
    pub fn shown_tasks(&self) -> impl Iterator<Item = &TaskRow> {
        let fits = |row: &&TaskRow| {
            self.filters.fits_task(row, &[&row.id, &row.title, row.status.in_words(), row.agent.as_deref().unwrap_or("")])
        };
        ordered(self.seen.tasks.iter().filter(fits).collect(), |row| row.depth == 0, urgency)
    }

    /// What waits, as far as it is shown.
    pub fn shown_waiting(&self) -> impl Iterator<Item = &WaitingRow> {
        self.seen.waiting.iter().filter(|row| self.filters.fits(PanelView::Gates, &[&row.id, row.what.as_str(), &row.reason]))
    }

    /// The moments that are shown.
    pub fn shown_moments(&self) -> impl Iterator<Item = &TimelineRow> {
        self.moments().iter().filter(|row| self.filters.fits(PanelView::Timeline, &[&row.words, &row.by, row.what.id()]))
    }

    /// The place of the selected row of a view.
    pub fn place(&self, view: PanelView) -> Option<usize> {
        let selected = self.selected.row(view)?;
        self.names(view).iter().position(|name| *name == selected)
    }

    /// After the rows have changed: what is gone is not selected any more, and something is wherever there is something.
    pub(super) fn keep_selection(&mut self) {
        for view in [PanelView::Agents, PanelView::Tasks, PanelView::Gates, PanelView::Timeline] {
            if view == PanelView::Timeline && !matches!(self.timeline, PanelFetch::Known(_)) {
                continue;
            }
            if self.place(view).is_none() {
                let first = self.names(view).first().map(|name| (*name).to_owned());
                self.selected.select(view, first);
            }
        }
    }

    /// Selects the row `by` places further, or the last one there is.
    pub(super) fn go(&mut self, way: PanelDirection, by: usize) {
        let view = if self.selected.view == PanelView::Output { PanelView::Agents } else { self.selected.view };
        let names = self.names(view);
        let at = self.place(view).unwrap_or(0);
        let to = match way {
            PanelDirection::Up => at.saturating_sub(by),
            PanelDirection::Down => at.saturating_add(by).min(names.len().saturating_sub(1)),
        };
        let name = names.get(to).map(|name| (*name).to_owned());
        self.selected.select(view, name);
    }

    /// Scrolls the output.
    pub(super) fn scroll(&mut self, way: PanelDirection, by: usize) {
        let most = self.output.lines.len();
        self.output.back = match way {
            PanelDirection::Up => self.output.back.saturating_add(by).min(most.saturating_sub(1)),
            PanelDirection::Down => self.output.back.saturating_sub(by),
        };
    }

    /// Selects a row by its name, where it is there.
    pub(super) fn select_named(&mut self, view: PanelView, name: &str) {
        if self.names(view).contains(&name) {
            self.selected.select(view, Some(name.to_owned()));
        }
    }
}

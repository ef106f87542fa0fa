//! What is selected: by name, so that it stays when rows come and go.

use super::{PanelFetch, PanelModel, PanelView};
use crate::panel::input::PanelDirection;
use crate::panel::snapshot::{AgentRow, AgentRowRunner, TaskRow, TimelineRow, WaitingRow};
use axiom_model::work::tasks::task::TaskStatus;

/// What is looked for first: work that goes on, then what does not go on, what is done, what is still to come.
fn urgency(row: &TaskRow) -> u8 {
    match row.status {
        TaskStatus::Active => 0,
        TaskStatus::Blocked | TaskStatus::Failed => 1,
        TaskStatus::Done if !row.merged => 2,
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

    /// Whether a row with these texts is shown in a view: one of them contains what is asked for.
    pub fn fits(&self, view: PanelView, texts: &[&str]) -> bool {
        let contains = |wanted: &String| texts.iter().any(|text| text.to_lowercase().contains(wanted));
        self.filters.get(&view).is_none_or(contains)
    }

    /// The agents that are shown.
    pub fn shown_agents(&self) -> impl Iterator<Item = &AgentRow> {
        let fits =
            |row: &&AgentRow| self.fits(PanelView::Agents, &[&row.id, &row.state, &row.title, row.task.as_deref().unwrap_or("")]);
        // A prompt stands below its session.
        let is_first = |row: &AgentRow| !matches!(row.runner, AgentRowRunner::Prompt { .. });
        ordered(self.seen.agents.iter().filter(fits).collect(), is_first, |row| !row.works)
    }

    /// The tasks that are shown.
    pub fn shown_tasks(&self) -> impl Iterator<Item = &TaskRow> {
        let fits = |row: &&TaskRow| {
            self.fits(PanelView::Tasks, &[&row.id, &row.title, row.in_words(), row.agent.as_deref().unwrap_or("")])
        };
        let is_filtered = self.filters.contains_key(&PanelView::Tasks);
        let is_hidden = |row: &&TaskRow| row.merged || row.status == TaskStatus::Archived;
        let shown = self.seen.tasks.iter().filter(|row| self.shows_merged || is_filtered || !is_hidden(row)).filter(fits);
        ordered(shown.collect(), |row| row.depth == 0, urgency)
    }

    /// What waits, as far as it is shown.
    pub fn shown_waiting(&self) -> impl Iterator<Item = &WaitingRow> {
        self.seen.waiting.iter().filter(|row| self.fits(PanelView::Gates, &[&row.id, row.what.as_str(), &row.reason]))
    }

    /// The moments that are shown.
    pub fn shown_moments(&self) -> impl Iterator<Item = &TimelineRow> {
        self.moments().iter().filter(|row| self.fits(PanelView::Timeline, &[&row.words, &row.by, row.what.id()]))
    }

    /// The place of the selected row of a view.
    pub fn place(&self, view: PanelView) -> Option<usize> {
        let selected = self.selected(view)?;
        self.names(view).iter().position(|name| *name == selected)
    }

    fn selected(&self, view: PanelView) -> Option<&str> {
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

    /// After the rows have changed: what is gone is not selected any more, and something is wherever there is something.
    pub(super) fn keep_selection(&mut self) {
        for view in [PanelView::Agents, PanelView::Tasks, PanelView::Gates, PanelView::Timeline] {
            if view == PanelView::Timeline && !matches!(self.timeline, PanelFetch::Known(_)) {
                continue;
            }
            if self.place(view).is_none() {
                let first = self.names(view).first().map(|name| (*name).to_owned());
                self.select(view, first);
            }
        }
    }

    /// Selects the row `by` places further, or the last one there is.
    pub(super) fn go(&mut self, way: PanelDirection, by: usize) {
        let view = if self.view == PanelView::Output { PanelView::Agents } else { self.view };
        let names = self.names(view);
        let at = self.place(view).unwrap_or(0);
        let to = match way {
            PanelDirection::Up => at.saturating_sub(by),
            PanelDirection::Down => at.saturating_add(by).min(names.len().saturating_sub(1)),
        };
        let name = names.get(to).map(|name| (*name).to_owned());
        self.select(view, name);
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
            self.select(view, Some(name.to_owned()));
        }
    }
}

//! What is selected: by name, so that it stays when rows come and go.

use super::{Fetched, Model, View};
use crate::panel::input::Way;
use crate::panel::seen::{AgentRow, Moment, TaskRow, WaitingRow};

impl Model {
    /// The names of the rows of a view, in order.
    pub fn names(&self, view: View) -> Vec<&str> {
        match view {
            View::Agents => self.shown_agents().map(|row| row.id.as_str()).collect(),
            View::Tasks => self.shown_tasks().map(|row| row.id.as_str()).collect(),
            View::Gates => self.shown_waiting().map(|row| row.id.as_str()).collect(),
            View::Timeline => self.shown_moments().map(|row| row.what.id()).collect(),
            View::Output => Vec::new(),
        }
    }

    /// Whether a row with these texts is shown in a view: one of them contains what is asked for.
    pub fn fits(&self, view: View, texts: &[&str]) -> bool {
        let contains = |wanted: &String| texts.iter().any(|text| text.to_lowercase().contains(wanted));
        self.filters.get(&view).is_none_or(contains)
    }

    /// The agents that are shown.
    pub fn shown_agents(&self) -> impl Iterator<Item = &AgentRow> {
        let fits =
            |row: &&AgentRow| self.fits(View::Agents, &[&row.id, &row.state, &row.title, row.task.as_deref().unwrap_or("")]);
        self.seen.agents.iter().filter(fits)
    }

    /// The tasks that are shown.
    pub fn shown_tasks(&self) -> impl Iterator<Item = &TaskRow> {
        let fits = |row: &&TaskRow| {
            let shown = if row.merged { "merged" } else { &row.shown };
            self.fits(View::Tasks, &[&row.id, &row.title, shown, row.agent.as_deref().unwrap_or("")])
        };
        self.seen.tasks.iter().filter(fits)
    }

    /// What waits, as far as it is shown.
    pub fn shown_waiting(&self) -> impl Iterator<Item = &WaitingRow> {
        self.seen.waiting.iter().filter(|row| self.fits(View::Gates, &[&row.id, row.what.as_str(), &row.reason]))
    }

    /// The moments that are shown.
    pub fn shown_moments(&self) -> impl Iterator<Item = &Moment> {
        self.moments().iter().filter(|row| self.fits(View::Timeline, &[&row.words, &row.by, row.what.id()]))
    }

    /// The place of the selected row of a view.
    pub fn place(&self, view: View) -> Option<usize> {
        let selected = self.selected(view)?;
        self.names(view).iter().position(|name| *name == selected)
    }

    fn selected(&self, view: View) -> Option<&str> {
        match view {
            View::Agents | View::Output => self.agent.as_deref(),
            View::Tasks => self.task.as_deref(),
            View::Gates => self.gate.as_deref(),
            View::Timeline => self.moment.as_deref(),
        }
    }

    fn select(&mut self, view: View, name: Option<String>) {
        match view {
            View::Agents | View::Output => self.agent = name,
            View::Tasks => self.task = name,
            View::Gates => self.gate = name,
            View::Timeline => self.moment = name,
        }
    }

    /// After the rows have changed: what is gone is not selected any more, and something is wherever there is something.
    pub(super) fn keep_selection(&mut self) {
        for view in [View::Agents, View::Tasks, View::Gates, View::Timeline] {
            if view == View::Timeline && !matches!(self.timeline, Fetched::Known(_)) {
                continue;
            }
            if self.place(view).is_none() {
                let first = self.names(view).first().map(|name| (*name).to_owned());
                self.select(view, first);
            }
        }
    }

    /// Selects the row `by` places further, or the last one there is.
    pub(super) fn go(&mut self, way: Way, by: usize) {
        let view = if self.view == View::Output { View::Agents } else { self.view };
        let names = self.names(view);
        let at = self.place(view).unwrap_or(0);
        let to = match way {
            Way::Up => at.saturating_sub(by),
            Way::Down => at.saturating_add(by).min(names.len().saturating_sub(1)),
        };
        let name = names.get(to).map(|name| (*name).to_owned());
        self.select(view, name);
    }

    /// Scrolls the output.
    pub(super) fn scroll(&mut self, way: Way, by: usize) {
        let most = self.output.lines.len();
        self.output.back = match way {
            Way::Up => self.output.back.saturating_add(by).min(most.saturating_sub(1)),
            Way::Down => self.output.back.saturating_sub(by),
        };
    }

    /// Selects a row by its name, where it is there.
    pub(super) fn select_named(&mut self, view: View, name: &str) {
        if self.names(view).contains(&name) {
            self.select(view, Some(name.to_owned()));
        }
    }
}

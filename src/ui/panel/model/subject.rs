//! What keys act on. **A key means what the shown view says**: it acts on what the selected row of that view names, and on nothing that
//! is selected elsewhere. So where a view names no agent, no key ends one, and the letters in the dialogs of its rows mean nothing else
//! outside of them.

use super::{PanelModel, PanelView};
use crate::panel::keys::PanelCommandScope;
use crate::panel::snapshot::{AgentRow, TaskRow, TimelineRow, WaitingRow};

/// What the selected row of the shown view names.
#[derive(Debug, Clone, Copy, Default)]
pub struct SelectedRowSubject<'m> {
    /// An agent.
    pub agent: Option<&'m AgentRow>,
    /// A task.
    pub task: Option<&'m TaskRow>,
    /// Something that waits.
    pub waiting: Option<&'m WaitingRow>,
    /// A moment.
    pub moment: Option<&'m TimelineRow>,
}

impl PanelView {
    /// Whether its rows name what a command is about.
    pub const fn names(self, of: PanelCommandScope) -> bool {
        match (self, of) {
            (_, PanelCommandScope::Everything | PanelCommandScope::View) => true,
            (Self::Agents | Self::Tasks | Self::Output, PanelCommandScope::Agent | PanelCommandScope::Task)
            | (Self::Gates, PanelCommandScope::Task) => true,
            (Self::Gates, PanelCommandScope::Agent) | (Self::Timeline, PanelCommandScope::Agent | PanelCommandScope::Task) => {
                false
            }
        }
    }
}

impl PanelModel {
    /// What the selected row of the shown view names.
    pub fn subject(&self) -> SelectedRowSubject<'_> {
        let task = |id: Option<&String>| id.and_then(|id| self.seen.tasks.iter().find(|row| row.id == *id));
        let agent = |id: Option<&String>| id.and_then(|id| self.seen.agents.iter().find(|row| row.id == *id));
        let nothing = SelectedRowSubject::default();
        match self.selected.view {
            PanelView::Agents | PanelView::Output => {
                let agent = agent(self.selected.agent.as_ref());
                SelectedRowSubject { agent, task: task(agent.and_then(|row| row.task.as_ref())), ..nothing }
            }
            PanelView::Tasks => {
                let task = task(self.selected.task.as_ref());
                SelectedRowSubject { agent: agent(task.and_then(|row| row.agent.as_ref())), task, ..nothing }
            }
            PanelView::Gates => {
                let waiting = self.seen.waiting.iter().find(|row| Some(&row.id) == self.selected.gate.as_ref());
                SelectedRowSubject { waiting, task: task(waiting.and_then(|row| row.task.as_ref())), ..nothing }
            }
            PanelView::Timeline => SelectedRowSubject {
                moment: self.moments().iter().find(|row| Some(row.what.id()) == self.selected.moment.as_deref()),
                ..nothing
            },
        }
    }

    /// The agent that keys act on.
    pub fn agent_row(&self) -> Option<&AgentRow> {
        self.subject().agent
    }

    /// The task that keys act on.
    pub fn task_row(&self) -> Option<&TaskRow> {
        self.subject().task
    }

    /// What waits, where that is shown.
    pub fn waiting_row(&self) -> Option<&WaitingRow> {
        self.subject().waiting
    }

    /// The selected moment, where the timeline is shown.
    pub fn moment_row(&self) -> Option<&TimelineRow> {
        self.subject().moment
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::event::PanelEvent;
    use crate::panel::input::PanelKey;
    use crate::panel::keys::TABLE;
    use crate::panel::model::dialog::PanelDialog;
    use crate::panel::model::tests::fixtures::{answer, any_answer, asked, model, moments, press, seen_with_questions};
    use crate::panel::model::{DialogChoiceAction, available_commands, update};
    use crate::panel::request::PanelAnswer;
    use crate::panel::view::tests::selected;

    /// Each row of each view, selected.
    fn every_row() -> Vec<PanelModel> {
        let mut all = Vec::new();
        for view in PanelView::ALL {
            let mut model = model(200, 60);
            update(&mut model, PanelEvent::Seen(Box::new(seen_with_questions())));
            let requests = press(&mut model, &(PanelView::ALL.iter().position(|one| *one == view).unwrap() + 1).to_string());
            if view == PanelView::Timeline {
                answer(&mut model, &requests, PanelAnswer::Timeline(moments()));
            }
            for _ in 0..model.names(if view == PanelView::Output { PanelView::Agents } else { view }).len() {
                all.push(model.clone());
                if view == PanelView::Output {
                    press(&mut model, "1 j 4");
                } else {
                    press(&mut model, "j");
                }
            }
        }
        assert!(all.len() > 15);
        all
    }

    #[test]
    fn keys_act_on_what_the_selected_row_names_in_every_view() {
        for model in every_row() {
            let (row, subject) = (selected(&model), model.subject());
            let names = [subject.agent.map(|row| row.id.as_str()), subject.task.map(|row| row.id.as_str())];
            for (name, of) in names.into_iter().zip([PanelCommandScope::Agent, PanelCommandScope::Task]) {
                // A column may cut it.
                let begins = name.map(|name| name.trim().chars().take(9).collect::<String>());
                assert!(begins.is_none_or(|name| row.contains(&name)), "{:?}: {name:?} is not in '{row}'", model.selected.view);
                assert!(name.is_none() || model.selected.view.names(of), "{:?} names none", model.selected.view);
            }
            for command in TABLE.iter().filter(|row| matches!(row.of, PanelCommandScope::Agent | PanelCommandScope::Task)) {
                let is_named =
                    if command.of == PanelCommandScope::Agent { subject.agent.is_some() } else { subject.task.is_some() };
                let is_moments = subject.moment.is_some() && command.short == "diff" || subject.agent.is_some();
                let begins = available_commands::impossible(&model, command.command).is_none();
                assert!(!begins || is_named || is_moments, "{:?}: {} on '{row}'", model.selected.view, command.name);
            }
        }
    }

    #[test]
    fn a_letter_of_a_rows_dialog_begins_nothing_else_outside_of_it() {
        let mut letters = 0;
        for model in every_row() {
            let mut opened = model.clone();
            let requests = press(&mut opened, "Enter");
            if let Some(question) = asked(&requests) {
                answer(&mut opened, &requests, any_answer(question));
            }
            let Some(PanelDialog::Choose { items, .. }) = opened.dialogs.last() else { continue };
            for item in items.iter().filter(|item| item.then != DialogChoiceAction::Nothing) {
                let letter = item.letter.unwrap();
                letters += 1;
                let mut outside = model.clone();
                let begun = press(&mut outside, &PanelKey::Char(letter).to_string());
                // The key that opens the same dialog only asks what is in it.
                let only_asks = asked(&begun).is_some() && model.selected.view == PanelView::Gates && letter == 'a';
                let does_nothing = begun.is_empty() && outside.dialogs.is_empty();
                assert!(does_nothing || only_asks, "{:?}: {letter} is '{}'", model.selected.view, item.line);
            }
        }
        assert!(letters > 8, "{letters}");
    }
}

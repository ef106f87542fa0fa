//! What keys act on. **A key means what the shown view says**: it acts on what the selected row of that view names, and on nothing that
//! is selected elsewhere. So where a view names no agent, no key ends one, and the letters in the dialogs of its rows mean nothing else
//! outside of them.

use super::{Model, View};
use crate::panel::keys::Of;
use crate::panel::seen::{AgentRow, Moment, TaskRow, WaitingRow};

/// What the selected row of the shown view names.
#[derive(Debug, Clone, Copy, Default)]
pub struct Subject<'m> {
    /// An agent.
    pub agent: Option<&'m AgentRow>,
    /// A task.
    pub task: Option<&'m TaskRow>,
    /// Something that waits.
    pub waiting: Option<&'m WaitingRow>,
    /// A moment.
    pub moment: Option<&'m Moment>,
}

impl View {
    /// Whether its rows name what a command is about.
    pub const fn names(self, of: Of) -> bool {
        match (self, of) {
            (_, Of::Everything | Of::View) => true,
            (Self::Agents | Self::Tasks | Self::Output, Of::Agent | Of::Task) | (Self::Gates, Of::Task) => true,
            (Self::Gates, Of::Agent) | (Self::Timeline, Of::Agent | Of::Task) => false,
        }
    }
}

impl Model {
    /// What the selected row of the shown view names.
    pub fn subject(&self) -> Subject<'_> {
        let task = |id: Option<&String>| id.and_then(|id| self.seen.tasks.iter().find(|row| row.id == *id));
        let agent = |id: Option<&String>| id.and_then(|id| self.seen.agents.iter().find(|row| row.id == *id));
        let nothing = Subject::default();
        match self.view {
            View::Agents | View::Output => {
                let agent = agent(self.agent.as_ref());
                Subject { agent, task: task(agent.and_then(|row| row.task.as_ref())), ..nothing }
            }
            View::Tasks => {
                let task = task(self.task.as_ref());
                Subject { agent: agent(task.and_then(|row| row.agent.as_ref())), task, ..nothing }
            }
            View::Gates => {
                let waiting = self.seen.waiting.iter().find(|row| Some(&row.id) == self.gate.as_ref());
                Subject { waiting, task: task(waiting.and_then(|row| row.task.as_ref())), ..nothing }
            }
            View::Timeline => {
                Subject { moment: self.moments().iter().find(|row| Some(row.what.id()) == self.moment.as_deref()), ..nothing }
            }
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
    pub fn moment_row(&self) -> Option<&Moment> {
        self.subject().moment
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::event::Event;
    use crate::panel::input::Key;
    use crate::panel::keys::TABLE;
    use crate::panel::model::dialog::Dialog;
    use crate::panel::model::tests::{answer, any_answer, asked, model, moments, press, seen_with_questions};
    use crate::panel::model::{Chosen, possible, update};
    use crate::panel::request::Answer;
    use crate::panel::view::tests::selected;

    /// Each row of each view, selected.
    fn every_row() -> Vec<Model> {
        let mut all = Vec::new();
        for view in View::ALL {
            let mut model = model(200, 60);
            update(&mut model, Event::Seen(Box::new(seen_with_questions())));
            let requests = press(&mut model, &(View::ALL.iter().position(|one| *one == view).unwrap() + 1).to_string());
            if view == View::Timeline {
                answer(&mut model, &requests, Answer::Timeline(moments()));
            }
            for _ in 0..model.names(if view == View::Output { View::Agents } else { view }).len() {
                all.push(model.clone());
                if view == View::Output {
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
            for (name, of) in names.into_iter().zip([Of::Agent, Of::Task]) {
                // A column may cut it.
                let begins = name.map(|name| name.trim().chars().take(9).collect::<String>());
                assert!(begins.is_none_or(|name| row.contains(&name)), "{:?}: {name:?} is not in '{row}'", model.view);
                assert!(name.is_none() || model.view.names(of), "{:?} names none", model.view);
            }
            for command in TABLE.iter().filter(|row| matches!(row.of, Of::Agent | Of::Task)) {
                let is_named = if command.of == Of::Agent { subject.agent.is_some() } else { subject.task.is_some() };
                let is_moments = subject.moment.is_some() && command.short == "diff" || subject.agent.is_some();
                let begins = possible::impossible(&model, command.command).is_none();
                assert!(!begins || is_named || is_moments, "{:?}: {} on '{row}'", model.view, command.name);
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
            let Some(Dialog::Choose { items, .. }) = opened.dialogs.last() else { continue };
            for item in items.iter().filter(|item| item.then != Chosen::Nothing) {
                let letter = item.letter.unwrap();
                letters += 1;
                let mut outside = model.clone();
                let begun = press(&mut outside, &Key::Char(letter).to_string());
                assert!(begun.is_empty() && outside.dialogs.is_empty(), "{:?}: {letter} is '{}'", model.view, item.line);
            }
        }
        assert!(letters > 8, "{letters}");
    }
}

//! Learnings: what agents found worth knowing beyond their task or iteration, and to which tasks it applies. Pure.
//!
//! They are never rolled back: what was learnt stays true when work is taken back.

use crate::work::signals::learning_scope::LearningScope;
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::ids::{AgentId, TaskId};
use crate::work::tasks::task::DEFAULT_PERSONA;
use crate::work::tasks::task::Task;
use axiom_base::error::{Code, Error, Result};

/// How many learnings are kept; the oldest go first. All of them stay in the log.
pub const MOST: usize = 500;
/// How many bytes their texts may have together.
pub const MOST_BYTES: usize = 256 * 1024;
/// How many a prompt holds at most, the newest ones.
pub const MOST_IN_PROMPT: usize = 50;
/// How many bytes they may have together in a prompt.
pub const PROMPT_BYTES: usize = 16 * 1024;

/// The id of a learning: `learning-` and the number of the event that reported it, as hooks get it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LearningId(u64);

impl LearningId {
    /// The id of the learning that was reported by this event.
    pub const fn of_event(seq: u64) -> Self {
        Self(seq)
    }
}

impl fmt::Display for LearningId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("learning-{}", self.0))
    }
}

impl std::str::FromStr for LearningId {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let number = text.strip_prefix("learning-").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        number.and_then(|digits| digits.parse().ok()).map(Self).ok_or_else(|| {
            Error::new(Code::InvalidId, format!("'{text}' is not the id of a learning"))
                .hint("ids are like learning-12: git axiom learnings    lists them")
        })
    }
}

impl Serialize for LearningId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LearningId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Something that an agent learnt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Learning {
    /// Its id.
    pub id: LearningId,
    /// Where it applies.
    pub scope: LearningScope,
    /// The task in which it was learnt.
    pub task: TaskId,
    /// The agent.
    pub agent: AgentId,
    /// What was learnt.
    pub text: String,
    /// When it was reported.
    pub at: Timestamp,
    /// Whether a human has changed its text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
}

impl Learning {
    /// The persona of its agent.
    pub fn persona(&self) -> &str {
        persona_of(&self.agent)
    }

    fn applies_to(&self, task: &TaskId, persona: &str) -> bool {
        match self.scope {
            LearningScope::Task => self.task == *task,
            LearningScope::Persona => self.persona() == persona,
            LearningScope::Project => true,
        }
    }

    fn says_the_same(&self, other: &Self) -> bool {
        let same_place = match self.scope {
            LearningScope::Task => self.task == other.task,
            LearningScope::Persona => self.persona() == other.persona(),
            LearningScope::Project => true,
        };
        self.scope == other.scope && same_place && self.text.trim() == other.text.trim()
    }
}

/// The persona of an agent: its id without the number.
pub fn persona_of(agent: &AgentId) -> &str {
    agent.as_str().rsplit_once('-').map_or(agent.as_str(), |(persona, _)| persona)
}

/// Whether a learning says nothing new.
pub fn is_known(all: &[Learning], new: &Learning) -> bool {
    all.iter().any(|known| known.says_the_same(new))
}

/// Adds a learning, unless it is known already; the oldest ones go where there are too many.
pub fn add(all: &mut Vec<Learning>, new: Learning) {
    if is_known(all, &new) {
        return;
    }
    all.push(new);
    let bytes = |all: &[Learning]| all.iter().map(|one| one.text.len()).sum::<usize>();
    while all.len() > MOST || bytes(all) > MOST_BYTES {
        all.remove(0);
    }
}

/// Takes back what an agent learnt in a task after event `seq`. What had to go because of it stays gone.
pub fn withdraw(all: &mut Vec<Learning>, (agent, task): (&AgentId, &TaskId), seq: u64) {
    all.retain(|one| one.agent != *agent || one.task != *task || one.id <= LearningId::of_event(seq));
}

/// The learnings that apply to a task, oldest first.
pub fn of_task<'a>(all: &'a [Learning], task: &Task) -> Vec<&'a Learning> {
    let persona = task.persona.as_deref().unwrap_or(DEFAULT_PERSONA);
    all.iter().filter(|one| one.applies_to(&task.id, persona)).collect()
}

/// The texts for the prompt of a task, oldest first: the newest ones, up to the limits.
pub fn for_prompt(all: &[Learning], task: &Task) -> Vec<String> {
    let mut left = PROMPT_BYTES;
    let mut chosen: Vec<String> = Vec::new();
    for learning in of_task(all, task).into_iter().rev() {
        let text = learning.text.trim();
        if chosen.len() < MOST_IN_PROMPT && text.len() <= left {
            left -= text.len();
            chosen.push(text.to_owned());
        }
    }
    chosen.reverse();
    chosen
}

/// The page with these learnings, in Markdown. Lines of a text that are not the first one are indented, so that none looks
/// like a learning of its own.
pub fn page<'a>(learnings: impl Iterator<Item = &'a Learning>) -> String {
    let mut text = "# Learnings\n\nWritten by git axiom: 'git axiom learnings edit' and 'forget' change them.\n\n".to_owned();
    for one in learnings {
        let Learning { id, scope, task, agent, text: learnt, at, edited: _ } = one;
        let day = at.strftime("%Y-%m-%d");
        let learnt = learnt.trim().replace('\n', "\n  ");
        text.push_str(&format!("- {learnt}\n  ({id}, {}, {agent} on {task}, {day})\n", scope.as_str()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::tasks::task::{TaskKind, TaskStatus};

    fn learning(number: u64, scope: LearningScope, task: &str, agent: &str, text: &str) -> Learning {
        Learning {
            id: LearningId::of_event(number),
            scope,
            task: TaskId::new(task).unwrap(),
            agent: AgentId::new(agent).unwrap(),
            text: text.into(),
            at: Timestamp::UNIX_EPOCH,
            edited: false,
        }
    }

    fn task(id: &str, persona: Option<&str>) -> Task {
        Task {
            id: TaskId::new(id).unwrap(),
            kind: TaskKind::Task,
            title: "T".into(),
            body: None,
            parent: None,
            after: vec![],
            needs: vec![],
            start_early: false,
            persona: persona.map(str::to_owned),
            verify: vec![],
            limits: crate::work::money::budget::BudgetLimits::default(),
            status: TaskStatus::Pending,
            merged: None,
            reason: None,
            created_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn each_applies_where_its_scope_says() {
        let all = [
            learning(1, LearningScope::Task, "a", "ed-001", "of a"),
            learning(2, LearningScope::Persona, "a", "ed-002", "of ed"),
            learning(3, LearningScope::Project, "a", "ed-001", "of all"),
        ];
        let texts = |task: &Task| for_prompt(&all, task).join(", ");
        assert_eq!(texts(&task("a", Some("ed"))), "of a, of ed, of all");
        assert_eq!(texts(&task("b", Some("ed"))), "of ed, of all");
        assert_eq!(texts(&task("b", None)), "of all");
    }

    #[test]
    fn a_prompt_has_the_newest_up_to_its_limits() {
        let of = |number: u64, text: String| learning(number, LearningScope::Project, "a", "ed-001", &text);
        let many: Vec<Learning> = (0..80).map(|number| of(number, format!("n{number}"))).collect();
        let texts = for_prompt(&many, &task("b", None));
        assert_eq!((texts.len(), texts[0].as_str(), texts[49].as_str()), (MOST_IN_PROMPT, "n30", "n79"));
        let long: Vec<Learning> = (0..5).map(|number| of(number, format!("{number}").repeat(5000))).collect();
        assert_eq!(for_prompt(&long, &task("b", None)).len(), 3);
        let huge = [of(1, "small".into()), of(2, "x".repeat(PROMPT_BYTES + 1))];
        assert_eq!(for_prompt(&huge, &task("b", None)), ["small"]);
    }

    #[test]
    fn the_same_is_known_once_and_the_oldest_go_first() {
        let mut all = Vec::new();
        for (number, scope, task) in [
            (1, LearningScope::Project, "a"),
            (2, LearningScope::Project, "b"),
            (3, LearningScope::Task, "a"),
            (4, LearningScope::Task, "b"),
        ] {
            add(&mut all, learning(number, scope, task, "ed-001", "same"));
        }
        assert_eq!(all.iter().map(|one| one.id.to_string()).collect::<Vec<_>>(), ["learning-1", "learning-3", "learning-4"]);
        for number in 0..600 {
            add(&mut all, learning(10 + number, LearningScope::Project, "a", "ed-001", &format!("n{number}")));
        }
        assert_eq!((all.len(), all[MOST - 1].text.as_str()), (MOST, "n599"));
        for number in 0..9 {
            add(&mut all, learning(1000 + number, LearningScope::Project, "a", "ed-001", &format!("{number}").repeat(60_000)));
        }
        assert!(all.iter().map(|one| one.text.len()).sum::<usize>() <= MOST_BYTES && !all.is_empty());
    }

    #[test]
    fn ids_and_scopes_read_back() {
        let id: LearningId = "learning-12".parse().unwrap();
        assert_eq!((id, id.to_string().as_str()), (LearningId::of_event(12), "learning-12"));
        for bad in ["12", "learning-", "learning-+1", "learning-x", "learning-99999999999999999999"] {
            assert_eq!(bad.parse::<LearningId>().unwrap_err().code(), Code::InvalidId, "{bad}");
        }
        for word in LearningScope::WORDS {
            assert_eq!(word.parse::<LearningScope>().unwrap().as_str(), word);
        }
        assert_eq!(
            [None, Some("all"), Some("persona")].map(LearningScope::of_signal),
            [LearningScope::Project, LearningScope::Task, LearningScope::Persona]
        );
    }

    #[test]
    fn no_line_of_a_text_looks_like_another_learning() {
        let one = learning(1, LearningScope::Project, "a", "ed-001", "first\n- second\n# third");
        let page = page(std::iter::once(&one));
        assert_eq!(page.lines().filter(|line| line.starts_with("- ")).count(), 1, "{page}");
        assert!(page.contains("- first\n  - second\n  # third\n  (learning-1, project, ed-001 on a, 1970-01-01)\n"), "{page}");
    }
}

//! What a planner printed: objects of JSON, a line or several lines each, between whatever else it says.

use serde::Deserialize;
use serde_json::Value;

use super::plan::{LONGEST, MOST_TASKS, PlanningPhase};
use axiom_base::error::{Code, Error, Result};

/// The most bytes of a planner's output that are read.
pub const MOST_OUTPUT: usize = 4 * 1024 * 1024;
/// The most questions at once.
const MOST_AT_ONCE: usize = 20;

/// A task as a planner prints it, with the keys of `task import`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedTask {
    /// Its id.
    #[serde(default)]
    pub id: Option<String>,
    /// Its title.
    pub title: String,
    /// Its kind.
    #[serde(default)]
    pub kind: Option<String>,
    /// The instructions for the agent.
    #[serde(default)]
    pub body: Option<String>,
    /// The task it is a part of.
    #[serde(default)]
    pub parent: Option<String>,
    /// The tasks that it comes after.
    #[serde(default)]
    pub after: PlannerTexts,
    /// The kind of agent that works on it.
    #[serde(default)]
    pub persona: Option<String>,
    /// Commands that must pass before it is done.
    #[serde(default)]
    pub verify: PlannerTexts,
}

/// One text, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum PlannerTexts {
    /// One.
    One(String),
    /// A list.
    Many(Vec<String>),
}

impl Default for PlannerTexts {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl PlannerTexts {
    /// The list.
    pub fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

/// What a planner said in one run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PlannerReply {
    /// Questions on the goal.
    pub questions: Vec<String>,
    /// What it found in the repository.
    pub analysis: Option<String>,
    /// The way that it proposes.
    pub proposal: Option<String>,
    /// Tasks.
    pub tasks: Vec<PlannedTask>,
    /// Whether it said in so many words that it has understood.
    understood: bool,
}

/// Reads what a planner printed.
pub fn read(text: &str, phase: PlanningPhase) -> Result<PlannerReply> {
    if text.trim().is_empty() {
        return Err(failed("the planner printed nothing"));
    }
    let mut reply = PlannerReply::default();
    let mut rest = text;
    while let Some(place) = next_object(rest) {
        rest = &rest[place..];
        let mut objects = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match objects.next() {
            Some(Ok(object)) => {
                rest = &rest[objects.byte_offset()..];
                reply.take(object)?;
            }
            Some(Err(error)) if is_meant(rest) => {
                let line = rest.lines().next().unwrap_or_default();
                let line: String = line.chars().take(80).collect();
                return Err(failed(format!("the planner printed an object that is no JSON: {line}")).because(error));
            }
            Some(Err(_)) | None => rest = rest.split_once('\n').map_or("", |(_, after)| after),
        }
    }
    if reply.answers(phase) {
        return Ok(reply);
    }
    let wanted = match phase {
        PlanningPhase::Understand => "no question, and not that it has understood",
        PlanningPhase::Analyze => "no analysis",
        PlanningPhase::Propose | PlanningPhase::Decompose | PlanningPhase::Validate => "no task",
    };
    Err(failed(format!("the planner printed {wanted}")))
}

/// The same of a planner that was cut off: what it had printed before the object in which that happened; `None` where that is nothing.
pub fn read_as_far(text: &str, phase: PlanningPhase) -> Option<PlannerReply> {
    let mut text = text;
    loop {
        if let Ok(reply) = read(text, phase) {
            return Some(reply);
        }
        let lines = text.split_inclusive('\n').scan(0, |place, line| {
            let begins = *place;
            *place += line.len();
            Some((begins, line))
        });
        let last = lines.filter(|(_, line)| line.trim_start().starts_with('{')).last();
        text = text.get(..last?.0)?;
    }
}

fn failed(what: impl Into<String>) -> Error {
    Error::new(Code::PlannerFailed, what)
        .hint("git axiom plan propose    runs it again, in the phase in which it was")
        .hint("git axiom plan show    shows how far the plan is")
}

/// Where the next line that begins with an object begins.
fn next_object(text: &str) -> Option<usize> {
    let mut place = 0;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        if line.trim_start().starts_with('{') {
            return Some(place + indent);
        }
        place += line.len();
    }
    None
}

/// Whether what is no JSON was to be one of ours: planners also print code.
fn is_meant(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    ["\"title\"", "\"question\"", "\"analysis\"", "\"proposal\"", "\"understood\""].iter().any(|key| line.contains(key))
}

impl PlannerReply {
    fn take(&mut self, object: Value) -> Result<()> {
        let text = |key: &str| object.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty()).map(shortened);
        if let Some(question) = text("question") {
            self.questions.push(question);
            if self.questions.len() > MOST_AT_ONCE {
                return Err(Error::new(Code::TooLarge, format!("the planner asks more than {MOST_AT_ONCE} questions at once")));
            }
        }
        self.understood |= object.get("understood").is_some();
        self.analysis = text("analysis").or_else(|| self.analysis.take());
        self.proposal = text("proposal").or_else(|| self.proposal.take());
        if object.get("title").is_some() {
            let task = serde_json::from_value(object)
                .map_err(|e| failed("the planner printed a task that cannot be read").because(e))?;
            self.tasks.push(task);
            if self.tasks.len() > MOST_TASKS {
                return Err(Error::new(Code::TooLarge, format!("the planner printed more than {MOST_TASKS} tasks"))
                    .hint("git axiom plan revise 'At most 100 tasks, please'    asks for another version")
                    .hint("git axiom plan abandon    then plan a part of the goal"));
            }
        }
        Ok(())
    }

    /// Whether it answers what is asked in a phase. Tasks alone say that nothing is unclear.
    fn answers(&self, phase: PlanningPhase) -> bool {
        match phase {
            PlanningPhase::Understand => self.understood || !self.questions.is_empty() || !self.tasks.is_empty(),
            PlanningPhase::Analyze => self.analysis.is_some() || !self.tasks.is_empty(),
            PlanningPhase::Propose | PlanningPhase::Decompose | PlanningPhase::Validate => !self.tasks.is_empty(),
        }
    }
}

/// The beginning of a text that is too long to be held.
fn shortened(text: &str) -> String {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str, phase: PlanningPhase) -> Option<Code> {
        read(text, phase).err().map(|error| error.code())
    }

    #[test]
    fn objects_are_found_between_words_and_over_several_lines() {
        let text = "I looked at it.\n```json\n{\n  \"title\": \"One\",\n  \"after\": \"x\"\n}\n```\n  {\"id\": \"b\", \"title\": \"Two\", \"verify\": [\"true\"]} {\"proposal\": \"so\"}\nfn main() {\n{ let x = 1; }\n";
        let reply = read(text, PlanningPhase::Propose).unwrap();
        let tasks: Vec<_> =
            reply.tasks.into_iter().map(|task| (task.title, task.after.into_vec(), task.verify.into_vec())).collect();
        assert_eq!(tasks, [("One".into(), vec!["x".to_owned()], vec![]), ("Two".into(), vec![], vec!["true".to_owned()])]);
        assert_eq!(reply.proposal.as_deref(), Some("so"));
        let asked = read("{\"question\": \"why?\"}\n{\"question\": \" \"}\n", PlanningPhase::Understand).unwrap();
        assert_eq!(asked.questions, ["why?"]);
        let long = read(&format!("{{\"analysis\": \"{}\"}}", "ä".repeat(LONGEST)), PlanningPhase::Analyze).unwrap();
        assert_eq!(long.analysis.unwrap().len(), LONGEST);
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        let failed = Some(Code::PlannerFailed);
        let many = |count: usize| "{\"title\": \"x\"}\n".repeat(count);
        for phase in PlanningPhase::ALL {
            assert_eq!(code("", phase), failed);
            assert_eq!(code(" \n\0\n", phase), failed);
            assert_eq!(code("\u{fffd}\u{1b}[31m garbage { [ \"title\n{}\n{\"x\": 1}\n", phase), failed);
            assert_eq!(code("{\"title\": 7}", phase), failed, "a task that is none");
            assert_eq!(code("{\"title\": \"x\", \"after\": {}}", phase), failed);
            assert_eq!(code("{\"title\": \"cut o", phase), failed, "it died in a line");
            assert_eq!(code(&many(MOST_TASKS), phase), None);
            assert_eq!(code(&many(10_000), phase), Some(Code::TooLarge));
        }
        assert_eq!(code("{\"question\": \"why?\"}", PlanningPhase::Propose), failed);
        assert_eq!(code(&"{\"question\": \"why?\"}\n".repeat(21), PlanningPhase::Understand), Some(Code::TooLarge));
        assert_eq!(code("{\"understood\": true}", PlanningPhase::Understand), None);
        let deep = format!("{{\"title\": {}", "[".repeat(100_000));
        assert_eq!(code(&deep, PlanningPhase::Decompose), failed, "no stack overflows");
    }
}

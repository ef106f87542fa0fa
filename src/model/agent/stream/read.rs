//! One rule applied to one line.

use std::collections::BTreeMap;

use serde_json::Value;

use super::json::{first, holds, nothing, sum, text_of, whole, whole_sum};
use super::plain::plain;
use super::rules::{StreamFieldPointers, StreamRule, StreamRuleConditions, StreamRuleKind};
use super::stream_event::{
    AgentRunFailure, AgentRunResult, MAX_TOOL_TEXT, MAX_WORDS, ModelExchange, ModelWait, StreamEvent, TokenUsage, ToolCallDenial,
    ToolCallEnd, ToolCallStart, cut,
};
use super::trouble::{ModelTrouble, classify, status_in};
use crate::agent::tool_kind::ToolKind;
use crate::base::text_hash::text_hash;

/// The most elements of a list that are looked at.
const MOST_ELEMENTS: usize = 1000;

/// What a rule needs to know beside the line.
#[derive(Debug, Clone, Copy)]
pub(super) struct StreamRuleContext<'a> {
    pub(super) tools: &'a BTreeMap<String, ToolKind>,
    pub(super) trouble: &'a BTreeMap<String, ModelTrouble>,
}

/// What was said.
#[derive(Debug)]
pub(super) struct StreamRuleMatch {
    pub(super) seen: StreamEvent,
    /// Whether it is a piece of a text that goes on.
    pub(super) piece: bool,
    /// Of tokens: the answer of the model that used them, where they are not those of the whole run.
    pub(super) answer: Option<String>,
}

/// What `line` says by this rule: nothing, one thing, or one for each element.
pub(super) fn read(rule: &StreamRule, line: &Value, about: StreamRuleContext<'_>) -> Vec<StreamRuleMatch> {
    if !fits(rule, line) {
        return Vec::new();
    }
    let Some(list) = &rule.each else { return said(rule, line, about).into_iter().collect() };
    let elements = line.pointer(list).and_then(Value::as_array).into_iter().flatten().take(MOST_ELEMENTS);
    elements.filter(|element| holds(&rule.of, element)).filter_map(|element| said(rule, element, about)).collect()
}

/// Of a text that a rule looks through, the lines for which it fits; of any other, all.
fn telling(rule: &StreamRule, at: &Value, text: String) -> String {
    let is_it = |place: &String| at.pointer(place).is_some_and(|value| text_of(value) == text);
    let Some((place, part)) = rule.contains.iter().find(|(place, _)| is_it(place)) else { return text };
    let lacks = rule.lacks.get(place);
    let tells = |line: &&str| line.contains(part.as_str()) && lacks.is_none_or(|other| !line.contains(other.as_str()));
    text.lines().filter(tells).collect::<Vec<_>>().join("\n")
}

/// Of a text, what stands between two parts of it; all of it where they are not there.
fn between(rule: &StreamRule, text: String) -> String {
    let Some([before, after]) = &rule.between else { return text };
    let within = text.split_once(before.as_str()).and_then(|(_, rest)| rest.split_once(after.as_str()));
    within.map_or_else(|| text.clone(), |(within, _)| within.to_owned())
}

fn fits(rule: &StreamRule, line: &Value) -> bool {
    let text = |place: &String| line.pointer(place).map(text_of);
    let has_part = |(place, part): (&String, &String)| text(place).is_some_and(|text| text.contains(part.as_str()));
    holds(&rule.when, line)
        && rule.has.iter().all(|place| line.pointer(place).is_some_and(|found| !found.is_null()))
        && rule.contains.iter().all(|(place, part)| match rule.lacks.get(place) {
            None => has_part((place, part)),
            // Of the same text: one of its lines has the one part and not the other.
            Some(other) => text(place)
                .is_some_and(|text| text.lines().any(|line| line.contains(part.as_str()) && !line.contains(other.as_str()))),
        })
        && !rule.lacks.iter().filter(|(place, _)| !rule.contains.contains_key(*place)).any(has_part)
}

fn said(rule: &StreamRule, at: &Value, about: StreamRuleContext<'_>) -> Option<StreamRuleMatch> {
    let is_so = |conditions: &Option<StreamRuleConditions>| conditions.as_ref().is_some_and(|conditions| holds(conditions, at));
    let words = |places: &Option<StreamFieldPointers>| first(places.as_ref(), at).map(|value| cut(text_of(value), MAX_WORDS));
    let error = |places: &Option<StreamFieldPointers>| {
        cut(first(places.as_ref(), at).map(|value| plain(&between(rule, text_of(value)))).unwrap_or_default(), MAX_WORDS)
    };
    let seen = match rule.is {
        StreamRuleKind::Session => StreamEvent::Session { id: words(&rule.id).filter(|id| !id.is_empty())? },
        StreamRuleKind::Text => StreamEvent::Text { text: first(rule.text.as_ref(), at).and_then(Value::as_str)?.to_owned() },
        StreamRuleKind::Response => {
            StreamEvent::ResponseReceived(ModelExchange { id: words(&rule.id).filter(|id| !id.is_empty()), hash: None })
        }
        StreamRuleKind::ToolStarted => StreamEvent::ToolStarted(started(rule, at, about, words(&rule.name)?)),
        StreamRuleKind::ToolCompleted => {
            let output = first(rule.output.as_ref(), at).map(text_of).unwrap_or_default();
            let exit = first(rule.exit.as_ref(), at).and_then(Value::as_i64);
            StreamEvent::ToolCompleted(ToolCallEnd {
                id: words(&rule.id),
                name: words(&rule.name).unwrap_or_default(),
                failed: is_so(&rule.failed) || exit.is_some_and(|status| status != 0),
                exit,
                hash: text_hash(&[&output]),
                output: cut(output, MAX_TOOL_TEXT),
            })
        }
        StreamRuleKind::Denied => StreamEvent::Denied(ToolCallDenial {
            id: words(&rule.id),
            tool: words(&rule.name).unwrap_or_default(),
            about: None,
            why: first(rule.text.as_ref(), at)
                .map(|value| cut(between(rule, telling(rule, at, text_of(value))), MAX_WORDS))
                .unwrap_or_default(),
        }),
        StreamRuleKind::Waits => {
            let (trouble, status) = trouble(rule, at, &words(&rule.text).unwrap_or_default(), about);
            StreamEvent::Waits(ModelWait { trouble, status, why: error(&rule.text), seconds: seconds(rule, at) })
        }
        StreamRuleKind::Usage => StreamEvent::Usage(TokenUsage {
            input: whole_sum(rule.input.as_ref(), at),
            output: whole_sum(rule.output.as_ref(), at),
            cached: whole_sum(rule.cached.as_ref(), at),
            cost_usd: sum(rule.cost.as_ref(), at),
        }),
        StreamRuleKind::Final => {
            let text = first(rule.text.as_ref(), at).map(|value| cut(text_of(value), MAX_TOOL_TEXT));
            StreamEvent::Ended(AgentRunResult { success: is_so(&rule.success), text })
        }
        StreamRuleKind::Error => {
            let (trouble, status) = trouble(rule, at, &words(&rule.text).unwrap_or_default(), about);
            StreamEvent::Failed(AgentRunFailure { trouble, status, message: error(&rule.text), broke_off: false })
        }
    };
    let answer = if rule.is == StreamRuleKind::Usage { words(&rule.id) } else { None };
    // Without the id of its answer it might be counted twice.
    if rule.is == StreamRuleKind::Usage && rule.id.is_some() && answer.is_none() {
        return None;
    }
    Some(StreamRuleMatch { seen, piece: is_so(&rule.piece), answer })
}

fn started(rule: &StreamRule, at: &Value, about: StreamRuleContext<'_>, name: String) -> ToolCallStart {
    let input = first(rule.input.as_ref(), at).cloned().unwrap_or_else(nothing);
    let text = input.to_string();
    let hash = text_hash(&[&name, &text]);
    let input = if text.len() <= MAX_TOOL_TEXT { input } else { Value::String(cut(text_of(&input), MAX_TOOL_TEXT)) };
    let kind = about.tools.get(&name).copied().unwrap_or(ToolKind::Other);
    ToolCallStart { id: first(rule.id.as_ref(), at).map(|id| cut(text_of(id), MAX_WORDS)), name, kind, input, hash }
}

/// The kind of trouble, and the status, which may be in the text.
fn trouble(rule: &StreamRule, at: &Value, text: &str, about: StreamRuleContext<'_>) -> (ModelTrouble, Option<u16>) {
    let given = first(rule.status.as_ref(), at).and_then(whole).and_then(|status| u16::try_from(status).ok());
    let status = given.or_else(|| status_in(text));
    (classify(status, text, about.trouble), status)
}

fn seconds(rule: &StreamRule, at: &Value) -> Option<u64> {
    let thousandths = whole_sum(rule.milliseconds.as_ref(), at).map(|milliseconds| milliseconds.div_ceil(1000));
    whole_sum(rule.seconds.as_ref(), at).or(thousandths)
}

//! Our hooks put into the text of a program's file, found there, and cut out again.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Map, Value, json};

use super::command::{HookInvocation, called_file, is_ours};
use super::recipe::{HookFileFormat, HookRecipe, JsonHookLayout, PLUGIN_CALL, PLUGIN_MARK, RecipeEvent};
use super::spans::{SpanEdits, SpannedContent, SpannedNode, append, parse};

/// The largest file that is changed, in bytes.
pub const LARGEST: usize = 4 << 20;

/// Why a text is left alone, in words for the user.
pub type HookEditRefusal = String;

/// How an event stands in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEntryStatus {
    /// Ours is not there.
    Missing,
    /// It is there as this version writes it.
    Current,
    /// It is there in other words: of another version or path, or changed.
    Other,
    /// It is there more than once.
    Doubled,
    /// A plugin of ours has it, and no file that `git axiom attach` writes.
    Plugin,
}

const MARK: &str = "\u{feff}";
const YAML_BEGIN: &str = "# >>> git axiom: made by `git axiom attach aider`";
const YAML_END: &str = "# <<< git axiom";
const YAML_COMMAND: &str = "notifications-command: '";

/// The text with our hooks, each once and as this version writes it; the same text where that is so already.
pub fn attached(recipe: &HookRecipe, text: Option<&str>, caller: &HookInvocation) -> Result<String, HookEditRefusal> {
    let (mark, body) = split(text.unwrap_or_default());
    let new = match &recipe.format {
        HookFileFormat::Json(json) => with_json(recipe, json, body, caller)?,
        HookFileFormat::Plugin(plugin) => {
            is_our_plugin(body)?;
            let call = std::iter::once(caller.file().to_owned()).chain(caller.arguments(recipe.name));
            plugin.replace(PLUGIN_CALL, &Value::from(call.collect::<Vec<String>>()).to_string())
        }
        HookFileFormat::Yaml => with_yaml(recipe, body, caller)?,
    };
    let new = format!("{mark}{new}");
    if new.len() > LARGEST { Err(format!("it would have more than {LARGEST} bytes")) } else { Ok(new) }
}

/// The text without our hooks; the same text where there are none. `None`: nothing but ours was in it.
pub fn detached(recipe: &HookRecipe, text: &str) -> Result<Option<String>, HookEditRefusal> {
    let (mark, body) = split(text);
    let new = match &recipe.format {
        HookFileFormat::Json(_) if body.trim().is_empty() => body.to_owned(),
        HookFileFormat::Json(_) => without_json(recipe, body)?,
        HookFileFormat::Plugin(_) => return is_our_plugin(body).map(|()| None),
        HookFileFormat::Yaml => without_yaml(body),
    };
    Ok(Some(format!("{mark}{new}")))
}

/// How each event of the program stands in the text.
pub fn standing(
    recipe: &HookRecipe,
    text: Option<&str>,
    caller: &HookInvocation,
) -> Result<Vec<(&'static str, HookEntryStatus)>, HookEditRefusal> {
    let (_, body) = split(text.unwrap_or_default());
    let whole = |name, is_there: bool, current: bool| {
        vec![(
            name,
            if current {
                HookEntryStatus::Current
            } else if is_there {
                HookEntryStatus::Other
            } else {
                HookEntryStatus::Missing
            },
        )]
    };
    match &recipe.format {
        HookFileFormat::Json(json) => {
            let root = if body.trim().is_empty() { None } else { Some(parse(body)?) };
            let of = |event: &RecipeEvent| (event.name, of_event(recipe, json, event, body, root.as_ref(), caller));
            Ok(json.events.iter().map(of).collect())
        }
        HookFileFormat::Plugin(_) => {
            Ok(whole("plugin", body.starts_with(PLUGIN_MARK), attached(recipe, text, caller).as_deref() == Ok(body)))
        }
        HookFileFormat::Yaml => {
            Ok(whole("notifications", body.contains(YAML_BEGIN), attached(recipe, text, caller).as_deref() == Ok(body)))
        }
    }
}

/// Whether the text is a plugin of ours in other words than those that this version writes, whatever path is called: somebody
/// changed it, or another version wrote it. It is replaced or deleted as a whole, and so only where what was written is known.
pub fn is_changed_plugin(recipe: &HookRecipe, text: &str) -> bool {
    let HookFileFormat::Plugin(plugin) = &recipe.format else { return false };
    let (_, body) = split(text);
    body.starts_with(PLUGIN_MARK) && call_of_plugin(plugin, body).is_none()
}

/// What a plugin calls that stands there as this version writes it.
fn call_of_plugin(plugin: &str, body: &str) -> Option<Vec<String>> {
    let (before, after) = plugin.split_once(PLUGIN_CALL)?;
    let middle = body.strip_prefix(before).and_then(|rest| rest.strip_suffix(after))?;
    serde_json::from_str(middle).ok()
}

/// The files that our hooks in the text execute, each once: paths, or names on the `PATH`. Another version may have put them there, and
/// be gone since.
pub fn called_files(recipe: &HookRecipe, text: &str) -> BTreeSet<String> {
    let (_, body) = split(text);
    let mut files = BTreeSet::new();
    match &recipe.format {
        HookFileFormat::Json(_) => {
            let mut open: Vec<Value> = serde_json::from_str(body).into_iter().collect();
            while let Some(value) = open.pop() {
                files.extend(called_file(&value).filter(|_| is_ours(&value, recipe.name)));
                match value {
                    Value::Object(members) => open.extend(members.into_iter().map(|(_, member)| member)),
                    Value::Array(elements) => open.extend(elements),
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
                }
            }
        }
        HookFileFormat::Plugin(plugin) => files.extend(call_of_plugin(plugin, body).and_then(|call| call.into_iter().next())),
        HookFileFormat::Yaml => {
            let mut lines = body.lines().skip_while(|line| *line != YAML_BEGIN).take_while(|line| *line != YAML_END);
            let command = lines.find_map(|line| line.strip_prefix(YAML_COMMAND)?.strip_suffix('\''));
            files.extend(command.and_then(|line| called_file(&json!({"command": line.replace("''", "'")}))));
        }
    }
    files
}

fn split(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(MARK) { MARK.len() } else { 0 })
}

fn is_our_plugin(text: &str) -> Result<(), HookEditRefusal> {
    match text.trim().is_empty() || text.starts_with(PLUGIN_MARK) {
        true => Ok(()),
        false => Err("it is a plugin that git axiom did not write".to_owned()),
    }
}

/// What stands in the list of an event.
pub(super) fn entry(recipe: &HookRecipe, json: &JsonHookLayout, event: &RecipeEvent, caller: &HookInvocation) -> Value {
    let mut handler = Map::new();
    if json.named {
        handler.insert("name".to_owned(), "git-axiom".into());
    }
    if json.grouped {
        handler.insert("type".to_owned(), "command".into());
    }
    if let Value::Object(command) = caller.handler(recipe.name, json.by_arguments) {
        handler.extend(command);
    }
    if let Some(timeout) = event.timeout {
        handler.insert("timeout".to_owned(), timeout.into());
    }
    if event.in_background {
        handler.insert("async".to_owned(), true.into());
    }
    if !json.grouped {
        handler.extend(event.matcher.map(|matcher| ("matcher".to_owned(), matcher.into())));
        return handler.into();
    }
    let mut group = Map::new();
    group.extend(event.matcher.map(|matcher| ("matcher".to_owned(), matcher.into())));
    group.insert("hooks".to_owned(), vec![Value::Object(handler)].into());
    group.into()
}

/// Ours in the list of an event: which elements, and within a group which handlers.
enum OwnHandlers {
    /// None of it is.
    None,
    /// The whole element.
    Whole,
    /// These handlers of a group, beside others.
    Some(Vec<bool>),
}

fn ours_in(recipe: &HookRecipe, element: &SpannedNode, text: &str) -> OwnHandlers {
    if is_ours(&element.value(text), recipe.name) {
        return OwnHandlers::Whole;
    }
    let Some(handlers) = element.member("hooks") else { return OwnHandlers::None };
    let which: Vec<bool> = handlers.value.elements().iter().map(|handler| is_ours(&handler.value(text), recipe.name)).collect();
    match which.iter().filter(|ours| **ours).count() {
        0 => OwnHandlers::None,
        all if all == which.len() => OwnHandlers::Whole,
        _ => OwnHandlers::Some(which),
    }
}

fn spans(nodes: &[SpannedNode]) -> Vec<Range<usize>> {
    nodes.iter().map(|node| node.span.clone()).collect()
}

/// Cuts what is ours out of a group that has others too.
fn cut_handlers(element: &SpannedNode, which: &[bool], edits: &mut SpanEdits) {
    if let Some(handlers) = element.member("hooks") {
        edits.cut(&spans(handlers.value.elements()), which);
    }
}

fn of_event(
    recipe: &HookRecipe,
    json: &JsonHookLayout,
    event: &RecipeEvent,
    text: &str,
    root: Option<&SpannedNode>,
    caller: &HookInvocation,
) -> HookEntryStatus {
    let list = root.and_then(|root| root.member("hooks")).and_then(|hooks| hooks.value.member(event.name));
    let elements = list.map(|list| list.value.elements()).unwrap_or_default();
    let mut found = HookEntryStatus::Missing;
    for element in elements {
        let now = match ours_in(recipe, element, text) {
            OwnHandlers::None => continue,
            OwnHandlers::Whole if element.value(text) == entry(recipe, json, event, caller) => HookEntryStatus::Current,
            OwnHandlers::Whole => HookEntryStatus::Other,
            OwnHandlers::Some(_) => HookEntryStatus::Other,
        };
        found = if found == HookEntryStatus::Missing { now } else { HookEntryStatus::Doubled };
    }
    found
}

fn with_json(recipe: &HookRecipe, json: &JsonHookLayout, text: &str, caller: &HookInvocation) -> Result<String, HookEditRefusal> {
    let mut new = if text.trim().is_empty() { fresh(json) } else { text.to_owned() };
    let wanted = |name: &str| json.events.iter().any(|event| event.name == name);
    new = cut_events(recipe, &new, |name| !wanted(name))?;
    for event in json.events {
        new = with_event(recipe, json, event, &new, caller)?;
    }
    Ok(new)
}

fn fresh(json: &JsonHookLayout) -> String {
    json.version.map_or_else(|| "{}\n".to_owned(), |version| format!("{{\n  \"version\": {version}\n}}\n"))
}

/// The text with one event: in place where ours is there, else at the end, since Codex trusts hooks by their place.
fn with_event(
    recipe: &HookRecipe,
    json: &JsonHookLayout,
    event: &RecipeEvent,
    text: &str,
    caller: &HookInvocation,
) -> Result<String, HookEditRefusal> {
    let root = checked(text)?;
    let wanted = entry(recipe, json, event, caller);
    let mut edits = SpanEdits::default();
    let put = |edits: &mut SpanEdits, container: &SpannedNode, last: Option<Range<usize>>, entry: &str| {
        let (span, with) = append(text, container, last, entry);
        edits.replace(span, with);
    };
    let Some(hooks) = root.member("hooks") else {
        let last = root.members().last().map(super::spans::SpannedMember::span);
        put(&mut edits, &root, last, "\"hooks\": {}");
        return with_event(recipe, json, event, &edits.apply(text), caller);
    };
    let Some(list) = hooks.value.member(event.name) else {
        let last = hooks.value.members().last().map(super::spans::SpannedMember::span);
        put(&mut edits, &hooks.value, last, &format!("\"{}\": [{wanted}]", event.name));
        return Ok(edits.apply(text));
    };
    let elements = list.value.elements();
    let (mut has_place, mut goes) = (false, vec![false; elements.len()]);
    for (element, goes) in elements.iter().zip(&mut goes) {
        match ours_in(recipe, element, text) {
            OwnHandlers::None => {}
            OwnHandlers::Some(which) => cut_handlers(element, &which, &mut edits),
            OwnHandlers::Whole if has_place => *goes = true,
            OwnHandlers::Whole => {
                has_place = true;
                if element.value(text) != wanted {
                    edits.replace(element.span.clone(), wanted.to_string());
                }
            }
        }
    }
    edits.cut(&spans(elements), &goes);
    if has_place {
        return Ok(edits.apply(text));
    }
    let cut = edits.apply(text);
    let again = checked(&cut)?;
    let Some(list) = again.member("hooks").and_then(|hooks| hooks.value.member(event.name)) else { return Ok(cut) };
    let mut edits = SpanEdits::default();
    let (span, with) = append(&cut, &list.value, list.value.elements().last().map(|last| last.span.clone()), &wanted.to_string());
    edits.replace(span, with);
    Ok(edits.apply(&cut))
}

/// The values of a file whose hooks are where they ought to be.
fn checked(text: &str) -> Result<SpannedNode, HookEditRefusal> {
    let root = parse(text).map_err(|why| format!("it is not valid JSON (comments and trailing commas are none): {why}"))?;
    let is_object = |node: &SpannedNode| matches!(node.parts, SpannedContent::Object(_));
    if !is_object(&root) {
        return Err("it is not a JSON object".to_owned());
    }
    for hooks in root.members().iter().filter(|member| member.name == "hooks") {
        if !is_object(&hooks.value) {
            return Err("'hooks' in it is not an object".to_owned());
        }
        if let Some(odd) = hooks.value.members().iter().find(|list| !matches!(list.value.parts, SpannedContent::Array(_))) {
            return Err(format!("'hooks.{}' in it is not a list", odd.name));
        }
    }
    Ok(root)
}

fn without_json(recipe: &HookRecipe, text: &str) -> Result<String, HookEditRefusal> {
    cut_events(recipe, text, |_| true)
}

/// Cuts ours out of the events that `goes` names; lists and `hooks` that this empties go too.
fn cut_events(recipe: &HookRecipe, text: &str, goes: impl Fn(&str) -> bool) -> Result<String, HookEditRefusal> {
    let root = checked(text)?;
    let mut edits = SpanEdits::default();
    let mut roots = Vec::new();
    for member in root.members() {
        let lists = member.value.members();
        let mut empty = Vec::new();
        for list in lists {
            let is_asked = member.name == "hooks" && goes(&list.name);
            empty.push(is_asked && cut_list(recipe, &list.value, text, &mut edits));
        }
        let all = member.name == "hooks" && !empty.is_empty() && empty.iter().all(|empty| *empty);
        if !all {
            edits.cut(&lists.iter().map(super::spans::SpannedMember::span).collect::<Vec<_>>(), &empty);
        }
        roots.push(all);
    }
    edits.cut(&root.members().iter().map(super::spans::SpannedMember::span).collect::<Vec<_>>(), &roots);
    Ok(edits.apply(text))
}

/// Cuts ours out of one list, unless nothing else is in it: then the list itself is to go.
fn cut_list(recipe: &HookRecipe, list: &SpannedNode, text: &str, edits: &mut SpanEdits) -> bool {
    let found: Vec<OwnHandlers> = list.elements().iter().map(|element| ours_in(recipe, element, text)).collect();
    let whole: Vec<bool> = found.iter().map(|ours| matches!(ours, OwnHandlers::Whole)).collect();
    if !whole.is_empty() && whole.iter().all(|whole| *whole) {
        return true;
    }
    for (element, ours) in list.elements().iter().zip(&found) {
        if let OwnHandlers::Some(which) = ours {
            cut_handlers(element, which, edits);
        }
    }
    edits.cut(&spans(list.elements()), &whole);
    false
}

fn with_yaml(recipe: &HookRecipe, text: &str, caller: &HookInvocation) -> Result<String, HookEditRefusal> {
    let rest = without_yaml(text);
    let taken = |line: &str| ["notifications:", "notifications-command:"].iter().any(|key| line.starts_with(key));
    if let Some(line) = rest.lines().find(|line| taken(line)) {
        return Err(format!("it has '{line}' already, and there is only one such command"));
    }
    let is_mapping = |line: &str| {
        line.trim().is_empty() || line.starts_with([' ', '\t', '#', '-']) && !line.starts_with("---") || line.contains(':')
    };
    if let Some(line) = rest.lines().find(|line| !is_mapping(line)) {
        return Err(format!("'{line}' is no key of a plain YAML mapping"));
    }
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if rest.is_empty() || rest.ends_with('\n') { "" } else { end };
    // A text between single quotes has no escapes but the doubled quote.
    let command = caller.line(recipe.name).replace('\'', "''");
    let lines = [YAML_BEGIN, "notifications: true", &format!("{YAML_COMMAND}{command}'"), YAML_END];
    Ok(format!("{rest}{gap}{}{end}", lines.join(end)))
}

fn without_yaml(text: &str) -> String {
    let Some(from) = text.find(YAML_BEGIN) else { return text.to_owned() };
    let rest = text.get(from..).unwrap_or_default();
    let Some(end) = rest.find(YAML_END) else { return text.to_owned() };
    let after = rest.get(end + YAML_END.len()..).unwrap_or_default();
    let after = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')).unwrap_or(after);
    format!("{}{after}", text.get(..from).unwrap_or_default())
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;

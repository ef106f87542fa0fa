//! Where in a text of JSON its values stand, and edits of such spans.

use std::ops::Range;

use serde_json::Value;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub struct SpannedNode {
    /// Its bytes in the text.
    pub span: Range<usize>,
    /// What is within it.
    pub parts: SpannedContent,
}

/// What is within a value.
#[derive(Debug, Clone)]
pub enum SpannedContent {
    /// Members in their order, twice the same name too.
    Object(Vec<SpannedMember>),
    /// Elements in their order.
    Array(Vec<SpannedNode>),
    /// A text, a number, a word.
    Plain,
}

/// A member of an object.
#[derive(Debug, Clone)]
pub struct SpannedMember {
    /// Its name.
    pub name: String,
    /// Where its name begins.
    pub start: usize,
    /// Its value.
    pub value: SpannedNode,
}

impl SpannedMember {
    /// From the name to the end of the value.
    pub fn span(&self) -> Range<usize> {
        self.start..self.value.span.end
    }
}

impl SpannedNode {
    /// The member that a program takes: the last of this name.
    pub fn member(&self, name: &str) -> Option<&SpannedMember> {
        self.members().iter().rfind(|member| member.name == name)
    }

    /// The members of an object; of anything else none.
    pub fn members(&self) -> &[SpannedMember] {
        match &self.parts {
            SpannedContent::Object(members) => members,
            SpannedContent::Array(_) | SpannedContent::Plain => &[],
        }
    }

    /// The elements of a list; of anything else none.
    pub fn elements(&self) -> &[SpannedNode] {
        match &self.parts {
            SpannedContent::Array(elements) => elements,
            SpannedContent::Object(_) | SpannedContent::Plain => &[],
        }
    }

    /// Its value; `Null` where the text is not that which it was read from.
    pub fn value(&self, text: &str) -> Value {
        text.get(self.span.clone()).and_then(|part| serde_json::from_str(part).ok()).unwrap_or(Value::Null)
    }
}

/// Reads strict JSON: no comments, no commas too many. How deep it may be nested is limited by the parser that checks it first.
pub fn parse(text: &str) -> Result<SpannedNode, String> {
    serde_json::from_str::<Value>(text).map_err(|e| e.to_string())?;
    let mut reader = JsonSpanReader { text, at: 0 };
    reader.node().ok_or_else(|| "its values cannot be told apart".to_owned())
}

struct JsonSpanReader<'a> {
    text: &'a str,
    at: usize,
}

impl JsonSpanReader<'_> {
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        self.at += rest.iter().take_while(|b| b" \t\r\n".contains(b)).count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn node(&mut self) -> Option<SpannedNode> {
        let first = self.peek()?;
        let start = self.at;
        let parts = match first {
            b'{' => SpannedContent::Object(self.list(b'}', Self::one_member)?),
            b'[' => SpannedContent::Array(self.list(b']', Self::node)?),
            b'"' => {
                self.skip_text()?;
                SpannedContent::Plain
            }
            _ => {
                let rest = self.text.as_bytes().get(self.at..)?;
                self.at += rest.iter().take_while(|b| !b" \t\r\n,]}".contains(b)).count();
                SpannedContent::Plain
            }
        };
        Some(SpannedNode { span: start..self.at, parts })
    }

    fn list<T>(&mut self, end: u8, one: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.at += 1;
        let mut all = Vec::new();
        loop {
            match self.peek()? {
                b if b == end => {
                    self.at += 1;
                    return Some(all);
                }
                b',' => self.at += 1,
                _ => all.push(one(self)?),
            }
        }
    }

    fn one_member(&mut self) -> Option<SpannedMember> {
        let start = self.at;
        self.skip_text()?;
        let name = serde_json::from_str(self.text.get(start..self.at)?).ok()?;
        (self.peek()? == b':').then(|| self.at += 1)?;
        Some(SpannedMember { name, start, value: self.node()? })
    }

    fn skip_text(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.text.as_bytes().get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(())
    }
}

/// Edits of one text, none within another.
#[derive(Debug, Default)]
pub struct SpanEdits(Vec<(Range<usize>, String)>);

impl SpanEdits {
    /// Replaces a span.
    pub fn replace(&mut self, span: Range<usize>, with: impl Into<String>) {
        self.0.push((span, with.into()));
    }

    /// Takes entries out of a list or object with these entries, with the commas that they need no more.
    pub fn cut(&mut self, entries: &[Range<usize>], goes: &[bool]) {
        let stays = |at: usize| goes.get(at) == Some(&false);
        for (at, entry) in entries.iter().enumerate().filter(|(at, _)| !stays(*at)) {
            let kept_before = (0..at).any(stays);
            let from = if kept_before { entries.get(at - 1).map_or(entry.start, |before| before.end) } else { entry.start };
            let to = match entries.get(at + 1) {
                Some(next) if !kept_before => next.start,
                Some(_) | None => entry.end,
            };
            self.replace(from..to, "");
        }
    }

    /// The text with all edits.
    pub fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(span, _)| (span.start, span.end));
        let (mut new, mut at) = (String::with_capacity(text.len()), 0);
        for (span, with) in &self.0 {
            new.push_str(text.get(at..span.start).unwrap_or_default());
            new.push_str(with);
            at = at.max(span.end);
        }
        new.push_str(text.get(at..).unwrap_or_default());
        new
    }
}

/// Puts an entry at the end of a list or object, laid out as what is there.
pub fn append(text: &str, container: &SpannedNode, last: Option<Range<usize>>, entry: &str) -> (Range<usize>, String) {
    match last {
        Some(last) => {
            let before = text.get(container.span.start + 1..last.start).unwrap_or_default();
            let blank = before.get(before.trim_end_matches([' ', '\t', '\r', '\n']).len()..).unwrap_or_default();
            let blank = blank.rfind('\n').map_or(" ", |at| blank.get(at + 1..).unwrap_or_default());
            let is_line = before.trim_end_matches([' ', '\t']).ends_with('\n');
            let sep = if is_line { format!("{}{blank}", line_end(text)) } else { " ".to_owned() };
            (last.end..last.end, format!(",{sep}{entry}"))
        }
        None => {
            let line = text.get(..container.span.start).unwrap_or_default();
            let line = line.get(line.rfind('\n').map_or(0, |at| at + 1)..).unwrap_or_default();
            let outer: String = line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
            let end = line_end(text);
            (container.span.clone(), wrapped(text, container, &format!("{end}{outer}{}{entry}{end}{outer}", unit(text))))
        }
    }
}

fn wrapped(text: &str, container: &SpannedNode, inner: &str) -> String {
    let open = text.as_bytes().get(container.span.start);
    if open == Some(&b'[') { format!("[{inner}]") } else { format!("{{{inner}}}") }
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// By what the text indents.
fn unit(text: &str) -> String {
    let blank = |line: &str| line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect::<String>();
    text.lines().map(blank).find(|blank| !blank.is_empty()).unwrap_or_else(|| "  ".to_owned())
}

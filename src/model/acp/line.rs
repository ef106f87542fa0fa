//! One line of the protocol, as far as anyone here asks: whether it is a request, a notification or a response, of which id and method,
//! and in which session.

use std::borrow::Cow;

use super::json_fields::{fields, items, text};
use super::tool::AcpToolAct;
use axiom_base::shell_word::quoted_word;

/// The most blocks of a prompt that are looked at.
const MOST_BLOCKS: usize = 100;

/// What kind of message a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcpLineKind {
    /// Wants an answer.
    Request,
    /// Wants none.
    Notification,
    /// Answers a request.
    Response,
    /// No object of JSON, or none with a method, a result or an error.
    NotRpc,
}

/// A line. It borrows from the text: bytes that may be no UTF-8 go through [`String::from_utf8_lossy`] first.
#[derive(Debug, Clone)]
pub struct AcpLine<'l> {
    /// What kind of message it is.
    pub kind: AcpLineKind,
    /// Its id as it is written: numbers, texts with their quotes, `null`. Both sides compare it so only if both write it alike; see
    /// [`AcpLine::id_key`].
    pub id: Option<&'l str>,
    /// Its method; empty for a response.
    pub method: Cow<'l, str>,
    params: Option<&'l str>,
    result: Option<&'l str>,
    error: Option<&'l str>,
}

impl<'l> AcpLine<'l> {
    /// Reads a line, with or without its end.
    pub fn of(line: &'l str) -> Self {
        let found = fields(line, ["id", "method", "params", "result", "error"]);
        let [id, method, params, result, error] = found.unwrap_or_default();
        let method = method.and_then(text);
        let kind = match (&method, id) {
            (Some(_), Some(_)) => AcpLineKind::Request,
            (Some(_), None) => AcpLineKind::Notification,
            (None, Some(_)) if result.is_some() || error.is_some() => AcpLineKind::Response,
            (None, _) => AcpLineKind::NotRpc,
        };
        Self { kind, id, method: method.unwrap_or_default(), params, result, error }
    }

    /// The id in a form that is the same however it is written: `7` for 7, `"a"` for a text, with its escapes resolved.
    pub fn id_key(&self) -> Option<String> {
        let id = self.id?;
        Some(text(id).map_or_else(|| id.to_owned(), |text| format!("\"{text}\"")))
    }

    /// The parameters as they are written.
    pub fn params(&self) -> Option<&'l str> {
        self.params
    }

    /// The result as it is written.
    pub fn result(&self) -> Option<&'l str> {
        self.result
    }

    /// The error as it is written.
    pub fn error(&self) -> Option<&'l str> {
        self.error
    }

    /// A text among the parameters.
    pub fn text_param(&self, name: &str) -> Option<String> {
        text_in(self.params?, name)
    }

    /// A text in the result.
    pub fn text_result(&self, name: &str) -> Option<String> {
        text_in(self.result?, name)
    }

    /// The session that the parameters name.
    pub fn session(&self) -> Option<String> {
        self.text_param("sessionId")
    }

    /// What a `session/update` tells of: `tool_call`, `plan`, `agent_message_chunk`, …
    pub fn update(&self) -> Option<String> {
        text_in(self.update_text()?, "sessionUpdate")
    }

    /// What the agent does with a tool, or asks for: of `session/request_permission`, and of an update about a tool call.
    pub fn tool(&self) -> Option<AcpToolAct> {
        match self.method.as_ref() {
            "session/request_permission" => {
                let [call] = fields(self.params?, ["toolCall"])?;
                AcpToolAct::of(call?)
            }
            "session/update" => {
                let kind = self.update()?;
                matches!(kind.as_str(), "tool_call" | "tool_call_update").then(|| AcpToolAct::of(self.update_text()?))?
            }
            _ => None,
        }
    }

    /// The words of a prompt: its text blocks, one after the other.
    pub fn prompt_text(&self) -> String {
        let blocks = self.params.and_then(|params| fields(params, ["prompt"])).and_then(|[blocks]| blocks);
        let blocks = blocks.map(|blocks| items(blocks, MOST_BLOCKS)).unwrap_or_default();
        let texts: Vec<String> = blocks.into_iter().filter_map(|block| text_in(block, "text")).collect();
        texts.join("\n")
    }

    /// The command of a `terminal/create`, with its arguments.
    pub fn terminal_command(&self) -> String {
        let Some([command, arguments]) = self.params.and_then(|params| fields(params, ["command", "args"])) else {
            return String::new();
        };
        let command = command.and_then(text).unwrap_or_default();
        let words = arguments.map(|list| items(list, MOST_BLOCKS)).unwrap_or_default().into_iter().filter_map(text);
        // With no arguments it may be a whole line for a shell.
        words.fold(command.into_owned(), |line, word| format!("{line} {}", quoted_word(&word)))
    }

    fn update_text(&self) -> Option<&'l str> {
        fields(self.params?, ["update"])?[0]
    }
}

fn text_in(object: &str, name: &str) -> Option<String> {
    fields(object, [name])?[0].and_then(text).map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(line: &str) -> AcpLineKind {
        AcpLine::of(line).kind
    }

    #[test]
    fn the_kind_follows_from_what_is_there() {
        assert_eq!(kind(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#), AcpLineKind::Request);
        assert_eq!(kind(r#"{"id":null,"method":"x"}"#), AcpLineKind::Request);
        assert_eq!(kind("{\"method\":\"session/cancel\"}\r\n"), AcpLineKind::Notification);
        assert_eq!(kind(r#"{"id":"a","result":null}"#), AcpLineKind::Response);
        assert_eq!(kind(r#"{"id":1,"error":{"code":-32601}}"#), AcpLineKind::Response);
        for other in ["", "\n", "npm warn x", "[]", "{}", r#"{"id":1}"#, r#"{"method":7}"#, r#"{"result":1}"#, "{\"id\":1,\"meth"]
        {
            assert_eq!(kind(other), AcpLineKind::NotRpc, "{other:?}");
        }
    }

    #[test]
    fn an_id_is_the_same_however_it_is_written() {
        let key = |id: &str| AcpLine::of(&format!("{{\"id\":{id},\"result\":1}}")).id_key().unwrap();
        assert_eq!(key("7"), "7");
        assert_eq!(key("\"\\u0061/b\""), key("\"a\\/b\""));
        assert_ne!(key("\"7\""), key("7"));
        assert_eq!(key("null"), "null");
    }

    #[test]
    fn a_prompt_is_its_texts() {
        let line = r#"{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"a"},{"type":"image","data":"x"},7,{"type":"text","text":"b"}]}}"#;
        assert_eq!(AcpLine::of(line).prompt_text(), "a\nb");
        assert_eq!(AcpLine::of(line).session().unwrap(), "s");
        assert_eq!(AcpLine::of(r#"{"id":1,"method":"session/prompt","params":[]}"#).prompt_text(), "");
    }
}

//! Signals that an agent writes into its last message, for programs that cannot call git axiom.

use super::signal::AgentSignal;
use crate::base::ids::Token;

/// The markers in `message`, in order: `<axiom TOKEN>COMPLETE</axiom>`, `BLOCKED: reason`, `WAITING: question` or `PROGRESS:
/// n` between the tags, alone on a line. Text with another token, with other text on the same line, or over a limit is not a
/// marker: the model may be quoting one.
pub fn markers(message: &str, token: &Token) -> Vec<AgentSignal> {
    let open = format!("<axiom {token}>");
    message.lines().filter_map(|line| marker(line.trim(), &open)).collect()
}

fn marker(line: &str, open: &str) -> Option<AgentSignal> {
    let body = line.strip_prefix(open)?.strip_suffix("</axiom>")?.trim();
    if body.contains("<axiom ") || body.contains("</axiom>") {
        return None;
    }
    let signal = match body.split_once(':') {
        None if body == "COMPLETE" => AgentSignal::Complete {},
        None => return None,
        Some(("BLOCKED", reason)) => AgentSignal::Blocked { reason: reason.trim().to_owned() },
        Some(("WAITING", question)) => AgentSignal::Waiting { question: question.trim().to_owned() },
        Some(("PROGRESS", percent)) => AgentSignal::Progress { percent: percent.trim().trim_end_matches('%').parse().ok()? },
        Some(_) => return None,
    };
    signal.validated().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> Token {
        Token::new("t0").unwrap()
    }

    #[test]
    fn markers_count_alone_on_a_line_with_the_right_token() {
        let said =
            "working\n<axiom t0>PROGRESS: 40%</axiom>\r\n  <axiom t0>BLOCKED: no: key </axiom>\n<axiom t0>COMPLETE</axiom>\n";
        let expected =
            [AgentSignal::Progress { percent: 40 }, AgentSignal::Blocked { reason: "no: key".into() }, AgentSignal::Complete {}];
        assert_eq!(markers(said, &token()), expected);
    }

    #[test]
    fn what_only_looks_like_a_marker_is_none() {
        for said in [
            "<axiom t1>COMPLETE</axiom>",
            "say <axiom t0>COMPLETE</axiom>",
            "<axiom t0>COMPLETE</axiom>.",
            "<axiom t0>complete</axiom>",
            "<axiom t0>BLOCKED:</axiom>",
            "<axiom t0>PROGRESS: 101</axiom>",
            "<axiom t0>WAITING: a</axiom> <axiom t0>COMPLETE</axiom>",
            "<axiom t0>COMPLETE",
            "`<axiom t0>COMPLETE</axiom>`",
        ] {
            assert_eq!(markers(said, &token()), [], "{said}");
        }
    }
}

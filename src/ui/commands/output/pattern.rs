//! The pattern of `--grep`.

use regex_automata::meta::{Builder, Config, Regex};
use regex_automata::util::syntax;

use axiom_base::error::{Code, Error, Result};

/// The most memory of a compiled pattern, in bytes.
const LARGEST: usize = 1024 * 1024;

/// Compiles a regular expression.
pub(super) fn parse(pattern: &str) -> Result<Regex> {
    let config = Config::new().nfa_size_limit(Some(LARGEST)).utf8_empty(false);
    let built = Builder::new().configure(config).syntax(syntax::Config::new().utf8(false)).build(pattern);
    built.map_err(|error| {
        let why = match (error.syntax_error(), error.size_limit()) {
            (Some(error), _) => error.to_string(),
            (None, Some(limit)) => format!("it needs more than {limit} bytes of memory"),
            (None, None) => error.to_string(),
        };
        Error::new(Code::Usage, format!("'{pattern}' is no regular expression"))
            .why(why)
            .hint("put a backslash before . * + ? ( ) [ ] { } | ^ $ that are meant as themselves")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_and_huge_patterns_are_errors() {
        assert!(parse("(?i)ERROR|^a.b$").unwrap().is_match("an error"));
        assert!(!parse("error").unwrap().is_match("an ERROR"));
        assert!(parse("é").unwrap().is_match(b"\xff\xc3\xa9"));
        for bad in ["(", "a{1000}{1000}{1000}", "[z-a]"] {
            assert_eq!(parse(bad).unwrap_err().code(), Code::Usage, "{bad}");
        }
    }
}

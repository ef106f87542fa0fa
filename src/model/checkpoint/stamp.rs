//! What a checkpoint of an attached session records of it. No word of a prompt is in it.

use serde::{Deserialize, Serialize};

use crate::agent::attached_program::AttachedProgram;
use crate::base::text_hash::text_hash;

/// How many characters of a session's id are used as they are.
const LONGEST: usize = 64;

/// The attached session that a checkpoint was made for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachedSessionStamp {
    /// Its program.
    pub program: AttachedProgram,
    /// Its key: see [`session_key`].
    pub session: String,
    /// The worktree that it worked in.
    pub worktree: String,
}

/// The number of a prompt, from the name of its checkpoint.
pub fn prompt_number(name: &str) -> Option<u32> {
    name.strip_prefix(PROMPT)?.parse().ok()
}

/// The name of the checkpoint of a prompt.
pub fn prompt_name(number: u32) -> String {
    format!("{PROMPT}{number:04}")
}

const PROMPT: &str = "prompt-";

/// A session of a program as a file name and as it is shown: the program's own id where that is a plain word, else a hash.
pub fn session_key(program: AttachedProgram, id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !id.is_empty() && id.len() <= LONGEST && id.chars().all(is_plain) {
        return format!("{program}-{id}");
    }
    let hash = text_hash(&[id]);
    format!("{program}-{}", &hash[..16.min(hash.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_numbered_and_read_back() {
        for number in [1, 42, 9999, 12345] {
            assert_eq!(prompt_number(&prompt_name(number)), Some(number));
        }
        assert_eq!(prompt_name(7), "prompt-0007");
        assert_eq!(prompt_number("prompt-x"), None);
    }

    #[test]
    fn a_session_is_a_file_name_whatever_its_id_is() {
        assert_eq!(session_key(AttachedProgram::Claude, "0b-1_c"), "claude-0b-1_c");
        for id in ["", "../x", "a b", "é", &"x".repeat(65)] {
            let key = session_key(AttachedProgram::Codex, id);
            assert!(key.starts_with("codex-") && key.len() == 22, "{key}");
        }
    }
}

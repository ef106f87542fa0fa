//! Masking what looks like a secret in a text that leaves the machine. Pure.

/// What stands in its place.
const MASK: &str = "***";
/// How the keys of known services begin.
const BEGINS: [&str; 12] =
    ["sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "ASIA", "AIza", "eyJ"];
/// The shortest of them.
const SHORTEST: usize = 12;
/// Parts of names whose values are secret.
const NAMES: [&str; 7] = ["token", "secret", "password", "passwd", "apikey", "api_key", "authorization"];

/// The text without what looks like a secret: keys of known services, the values of names such as `API_KEY=` or `--password`, what
/// follows `Bearer`, passwords in addresses. A text with a private key is left out as a whole.
pub fn masked(text: &str) -> String {
    if text.contains("PRIVATE KEY-----") {
        return MASK.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_value = false;
    while !rest.is_empty() {
        let first = rest.chars().next().is_some_and(in_word);
        let end = rest.find(|c| in_word(c) != first).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        if first {
            // `Authorization: Bearer KEY` has two words before the value.
            let announces = announces_value(part);
            let has_password = after.starts_with('@') && part.contains("://");
            out.push_str(&match (is_value && !announces, has_password) {
                (true, _) => MASK.to_owned(),
                (false, true) => without_password(part),
                (false, false) => masked_word(part),
            });
            is_value = announces;
        } else {
            is_value &= !part.contains(['\n', ',']);
            out.push_str(part);
        }
        rest = after;
    }
    out
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | '=' | ':' | '"' | '\'')
}

/// Whether the next word is a secret: `--password`, `token:`, `Bearer`.
fn announces_value(word: &str) -> bool {
    let folded = word.trim_matches(['"', '\'']).to_ascii_lowercase();
    let is_name = folded.starts_with("--") || folded.ends_with([':', '=']) || folded.ends_with("\":");
    matches!(folded.trim_end_matches(':'), "bearer" | "basic") || is_name && !has_value(&folded) && is_secret_name(&folded)
}

fn has_value(word: &str) -> bool {
    word.split_once(['=', ':']).is_some_and(|(_, value)| !value.is_empty())
}

fn is_secret_name(folded: &str) -> bool {
    NAMES.iter().any(|secret| folded.contains(secret))
}

/// An address up to the `@`, with its password masked.
fn without_password(word: &str) -> String {
    match word.rsplit_once(':') {
        Some((user, password)) if !password.starts_with("//") => format!("{user}:{MASK}"),
        Some(_) | None => masked_word(word),
    }
}

fn masked_word(word: &str) -> String {
    if let Some((name, value)) = word.split_once(['=', ':']) {
        let mark = &word[name.len()..=name.len()];
        if !value.is_empty() && is_secret_name(&name.to_ascii_lowercase()) {
            return format!("{name}{mark}{MASK}");
        }
        return format!("{}{mark}{}", masked_word(name), masked_word(value));
    }
    let bare = word.trim_matches(|c| matches!(c, '"' | '\''));
    let looks = bare.len() >= SHORTEST && BEGINS.iter().any(|begin| bare.starts_with(begin));
    if looks { word.replace(bare, MASK) } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_nothing_else() {
        for (text, expected) in [
            ("curl -H 'x' sk-abcdefghijklmnop", "curl -H 'x' ***"),
            ("API_KEY=abc make", "API_KEY=*** make"),
            ("db password:hunter2, more", "db password:***, more"),
            ("\"ghp_0123456789abcdef\"", "\"***\""),
            ("src/auth_token.rs at 12:30", "src/auth_token.rs at 12:30"),
            ("sk-short", "sk-short"),
            ("curl -H Authorization: Bearer abc.def x", "curl -H Authorization: Bearer *** x"),
            ("login --password hunter2 --user me", "login --password *** --user me"),
            ("{\"api_key\": \"hunter2\", \"n\": 1}", "{\"api_key\": ***, \"n\": 1}"),
            ("git clone https://me:hunter2@host/x", "git clone https://me:***@host/x"),
            ("-----BEGIN RSA PRIVATE KEY-----\nabc", "***"),
            ("the token count: 12", "the token count: 12"),
            ("a=b=c é", "a=b=c é"),
        ] {
            assert_eq!(masked(text), expected);
        }
    }
}

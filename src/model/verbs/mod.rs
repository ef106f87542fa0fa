//! The one table of verbs: what each is called, what it does, who may call it and what it needs. The parser, help, completion, the
//! rule below a keeper and the question of a hook read it; nothing else lists verbs.
//!
//! What decides for a human is refused to the agents of a session, and an agent that a human runs is asked for it where its program
//! can ask. Both are decided here, from the words of the call. Begin reading with [`kept_for_humans`].

pub mod meant;
pub mod short_ways;
mod table;

use table::{ALIASES, PAGED, VERBS};

/// A verb, or a verb below one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerbRow {
    /// Its words after `git axiom`: `task edit`.
    pub name: &'static str,
    /// Its line in the lists of help and completion.
    pub summary: &'static str,
    /// Where the overview shows it.
    pub group: VerbGroup,
    /// How the overview writes it; empty where it does not.
    pub shown: &'static str,
    /// Who may call it.
    pub callers: VerbCallers,
    /// What it needs.
    pub needs: VerbNeeds,
}

/// The groups of the overview, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum VerbGroup {
    Begin,
    Look,
    Decide,
    Attached,
    Save,
    GoBack,
    Repair,
    SetUp,
    Agents,
    /// Called by programs: in no list.
    Hidden,
}

/// Who may call a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerbCallers {
    /// Agents too.
    Everybody,
    /// It decides for a human, or changes, stops or verifies the work of others; agents only with one of these words, with which it
    /// only shows something.
    Humans(&'static [&'static str]),
    /// With one of the first words it decides for a human, unless one of the second is there too; else everybody may call it.
    HumansWith(&'static [&'static str], &'static [&'static str]),
}

/// What a verb needs; each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum VerbNeeds {
    /// No repository.
    Nothing,
    /// A repository, to look at.
    Repository,
    /// To write there, under a lock.
    Lock,
    /// To run what the project brings with it, which must be approved.
    Trust,
}

/// In a list of words: any word that is no option.
const ANY: &str = "…";

/// Options whose value may begin with a dash.
const TAKES_ANYTHING: [&str; 1] = ["--at"];

impl VerbGroup {
    /// The groups that the overview shows, with their headings.
    pub const SHOWN: [(Self, &'static str); 9] = [
        (Self::Begin, "begin"),
        (Self::Look, "look"),
        (Self::Decide, "decide"),
        (Self::Attached, "attached"),
        (Self::Save, "save"),
        (Self::GoBack, "go back"),
        (Self::Repair, "repair"),
        (Self::SetUp, "set up"),
        (Self::Agents, "agents"),
    ];
}

impl VerbCallers {
    /// The words on which it depends.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let (decides, shows): (&[&str], &[&str]) = match self {
            Self::Everybody => (&[], &[]),
            Self::Humans(shows) => (&[], shows),
            Self::HumansWith(decides, shows) => (decides, shows),
        };
        decides.iter().chain(shows).copied()
    }

    /// Who it is, in a table.
    pub fn in_words(self) -> String {
        let quoted = |words: &[&str]| {
            let one = |word: &&str| if *word == ANY { "an argument".to_owned() } else { format!("`{word}`") };
            words.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Everybody => "everybody".to_owned(),
            Self::Humans([]) => "humans".to_owned(),
            Self::Humans(shows) => format!("humans; everybody with {}", quoted(shows)),
            Self::HumansWith(decides, []) => format!("everybody; humans with {}", quoted(decides)),
            Self::HumansWith(decides, shows) => {
                format!("everybody; humans with {}, but for {}", quoted(decides), quoted(shows))
            }
        }
    }
}

impl VerbNeeds {
    /// What it is, in a table.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Repository => "a repository",
            Self::Lock => "a lock",
            Self::Trust => "a lock, trust",
        }
    }
}

/// All verbs, in the order of the help.
pub fn all() -> impl Iterator<Item = &'static VerbRow> {
    VERBS.iter()
}

/// The row of a verb by its words: `task edit`.
pub fn row(name: &str) -> Option<&'static VerbRow> {
    all().find(|row| row.name == name)
}

/// The row of the verb `below` another.
pub fn row_below(above: &str, below: &str) -> Option<&'static VerbRow> {
    all().find(|row| row.name.strip_prefix(above).and_then(|rest| rest.strip_prefix(' ')) == Some(below))
}

/// The other names of a verb.
pub fn aliases(name: &str) -> impl Iterator<Item = &'static str> {
    ALIASES.iter().filter(move |(_, verb)| *verb == name).map(|(alias, _)| *alias)
}

/// Whether the answer of a verb goes to the pager where it does not fit on the terminal.
pub fn is_paged(name: &str) -> bool {
    PAGED.contains(&name)
}

/// The verb that these words after `git axiom` call, where it is for humans: `task edit`, `disk --clean`. `None` where everybody may
/// call it, it only shows something, or it is no verb.
pub fn kept_for_humans<S: AsRef<str>>(words: &[S]) -> Option<String> {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).take_while(|word| *word != "--").collect();
    readings(&words).into_iter().find_map(|(row, rest)| kept(row, &rest))
}

fn kept(row: &VerbRow, rest: &[&str]) -> Option<String> {
    let has = |wanted: &&str| given(rest, wanted);
    if ["-h", "--help"].iter().any(has) {
        return None;
    }
    match row.callers {
        VerbCallers::Everybody => None,
        VerbCallers::Humans(shows) => (!shows.iter().any(has)).then(|| row.name.to_owned()),
        VerbCallers::HumansWith(decides, shows) => {
            let deciding = decides.iter().find(|word| has(word)).filter(|_| !shows.iter().any(has))?;
            Some(if *deciding == ANY { row.name.to_owned() } else { format!("{} {deciding}", row.name) })
        }
    }
}

/// The words behind `git axiom lock NAME --`: a command of its own.
pub fn command_of_lock<S: AsRef<str>>(words: &[S]) -> Option<usize> {
    let plain: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let (row, _) = readings(&plain).into_iter().next()?;
    let at = plain.iter().position(|word| *word == "--")?;
    (row.name == "lock").then_some(at + 1)
}

/// The rows that these words can name, each with the words that are its arguments. They are several where an option comes before a
/// verb below another: that word may be the option's value.
fn readings<'w>(words: &[&'w str]) -> Vec<(&'static VerbRow, Vec<&'w str>)> {
    let words = own_words(words);
    let is_word = |word: &str| !word.starts_with('-');
    let Some(first) = words.iter().position(|word| is_word(word)) else { return Vec::new() };
    let known = words.get(first).map(|name| ALIASES.iter().find(|(alias, _)| alias == name).map_or(*name, |(_, verb)| verb));
    let Some((known, verb)) = known.and_then(|known| Some((known, row(known)?))) else { return Vec::new() };
    let below = |at: usize| words.get(at).filter(|word| is_word(word)).and_then(|word| row_below(known, word));
    let without = |at: usize| {
        words.iter().enumerate().filter(|(place, _)| *place != first && *place != at).map(|(_, word)| *word).collect()
    };
    if words.get(first + 1).is_some_and(|next| is_word(next)) {
        return vec![match below(first + 1) {
            Some(row) => (row, without(first + 1)),
            None => (verb, without(first)),
        }];
    }
    let later = (first + 1..words.len()).filter_map(|at| Some((below(at)?, without(at))));
    std::iter::once((verb, without(first))).chain(later).collect()
}

/// Without what every verb takes, and without values that look like options.
fn own_words<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let mut own = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-C" => drop(rest.next()),
            "--json" | "--non-interactive" => {}
            word if word.starts_with("-C") => {}
            word => {
                own.push(word);
                if TAKES_ANYTHING.contains(&word) {
                    rest.next();
                }
            }
        }
    }
    own
}

/// Whether a word, or a short option among others in one, is there.
fn given(words: &[&str], wanted: &str) -> bool {
    let is_it = |word: &&str| match wanted.strip_prefix('-') {
        None => !word.starts_with('-'),
        Some(long) if long.starts_with('-') => {
            word.strip_prefix(wanted).is_some_and(|end| end.is_empty() || end.starts_with('='))
        }
        Some(letter) => word.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter)),
    };
    words.iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(line: &str) -> Option<String> {
        kept_for_humans(&line.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn each_verb_has_one_row_and_stands_below_its_own_verb() {
        for (at, row) in all().enumerate() {
            assert!(all().skip(at + 1).all(|other| other.name != row.name), "{}", row.name);
            if let Some((above, _)) = row.name.split_once(' ') {
                assert!(super::row(above).is_some(), "{}", row.name);
            }
        }
        assert!(ALIASES.iter().all(|(alias, verb)| row(alias).is_none() && row(verb).is_some()));
    }

    #[test]
    fn what_decides_for_a_human_is_told_from_the_words() {
        for (line, verb) in [
            ("rollback checkpoint x --yes", "rollback checkpoint"),
            ("rollback --continue", "rollback"),
            ("rollback before-lunch --yes", "rollback"),
            ("rollback --prompt 2", "rollback"),
            ("prompts -n 3 forget --all", "prompts forget"),
            ("recover --only export --yes", "recover --yes"),
            ("debug task-001", "open"),
            ("-C x --json checkpoints delete a", "checkpoint delete"),
            ("checkpoint -C x --json cleanup", "checkpoint cleanup"),
            ("mode autopilot", "mode"),
            ("--non-interactive mode --json autopilot", "mode"),
            ("task edit t --verify true", "task edit"),
            ("watch --stop", "watch"),
            ("init --shared", "init --shared"),
            ("disk --clean", "disk --clean"),
            ("recover -y", "recover -y"),
            ("recover --from=fresh", "recover --from"),
            ("recover --all --run", "recover --run"),
            ("attach claude", "attach"),
            ("trust --revoke", "trust"),
            ("ui", "panel"),
            ("undo -- --dry-run", "undo"),
            ("rollback checkpoint --at --dry-run --yes", "rollback checkpoint"),
            ("run -- -h", "run"),
        ] {
            assert_eq!(kept(line).as_deref(), Some(verb), "{line}");
        }
    }

    #[test]
    fn what_only_shows_something_is_everybodys() {
        for line in [
            "",
            "nonsense",
            "mode",
            "mode --json",
            "mode -C x",
            "task add mode",
            "gate list",
            "undo --dry-run",
            "recover",
            "recover --resume --dry-run",
            "rollback --help",
            "rollback --prompt 2 --dry-run",
            "rollback task --dry-run",
            "recover --resume export --dry-run",
            "prompts 3",
            "attach --status",
            "trust --list",
            "disk",
            "prompts",
            "checkpoint create delete",
            "lock x -- git axiom undo",
            "help undo",
        ] {
            assert_eq!(kept(line), None, "{line}");
        }
        let lock = ["-C", "x", "lock", "a", "--", "git", "axiom", "undo"];
        assert_eq!((command_of_lock(&lock), command_of_lock(&["run", "--", "x"])), (Some(5), None));
    }
}

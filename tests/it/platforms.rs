//! What differs between systems is in one room: names of systems, the kernel's files, and calls that Linux alone has are nowhere else.

use crate::source_paths::{code_of, is_of_tests, sources};

/// The room.
const ROOM: &str = "base/platform/";

/// What only the room may say.
const WORDS: [&str; 21] = [
    "target_os",
    "target_vendor",
    "target_env",
    "target_family",
    "axiom_system",
    "cfg!(unix",
    "\"/proc",
    "\"/sys/",
    "inotify",
    "openat2",
    "pidfd",
    "syncfs",
    "statx",
    "RawDir",
    "subreaper",
    "peercred",
    "OFlags::PATH",
    "os::linux",
    "os::darwin",
    "Errno::OPNOTSUPP",
    "Command::new(\"ps\")",
];

/// The words of the room in the code of a text: comments may explain, and tests may look into the kernel's files.
fn words_in(text: &str) -> Vec<&'static str> {
    let code = code_of(text);
    WORDS.into_iter().filter(|word| code.contains(word)).collect()
}

#[test]
fn what_differs_between_systems_is_in_one_room() {
    let (mut inside, mut wrong) = (0, Vec::new());
    for (path, text) in sources().into_iter().filter(|(path, _)| !is_of_tests(path)) {
        let found = words_in(&text);
        match path.starts_with(ROOM) {
            true => inside += found.len(),
            false => wrong.extend(found.iter().map(|word| format!("{path}: {word}"))),
        }
    }
    assert!(wrong.is_empty(), "this belongs below src/{ROOM}: {wrong:#?}");
    assert!(inside >= 15, "the room is read: {inside}");
}

#[test]
fn a_word_of_the_room_is_found_in_code_and_not_in_comments() {
    assert_eq!(words_in("#[cfg(target_os = \"linux\")]\nread(\"/proc/self/exe\"); // inotify"), ["target_os", "\"/proc"]);
    assert!(words_in("/// as with inotify\nfn x() {}").is_empty());
}

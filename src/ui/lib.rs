//! What people see and type: verbs, words, screens, the panel. It decides nothing that `model` can decide, and changes nothing but
//! through `safety` and `agents`.
//!
//! | room | what lives there |
//! | --- | --- |
//! | `commands` | one file or folder for each verb; the command line, help, manual pages, completion |
//! | `panel` | what a human looks at while agents work |
//! | `wording` | plans and outcomes in words, for verbs, questions and the panel alike |
//! | `demo` | `git axiom demo`, a client of the built program |
//! | `cli` | the terminal: output, questions, error reports |
//!
//! Begin reading with `commands`.

pub mod cli;
pub mod commands;
pub mod demo;
pub mod panel;
pub mod wording;

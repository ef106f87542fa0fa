//! What an agent may do without a question, as it asks for it by the Agent Client Protocol. Pure.
//!
//! It is a policy, and no sandbox: it judges what the agent says that it will do. The input of the tool says what that is (`requested`), the
//! caller finds out where its paths lead, and `judge` decides. What is not understood is asked about.
//!
//! Begin reading with `judge`.

pub mod judge;
#[cfg(test)]
mod judge_tests;
pub mod matching;
mod patch;
mod plain_command;
pub mod question;
pub mod requested;
#[cfg(test)]
mod requested_tests;

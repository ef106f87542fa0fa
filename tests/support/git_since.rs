//! What git can do by its version, where tests need more than git axiom does.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, dead_code)]

use std::process::Command;

use crate::skipped::skipped;

/// Whether git is 2.`minor` or newer; says loudly where it is not, and `what` is not tried.
pub fn git_since(minor: u32, what: &str) -> bool {
    let said = Command::new("git").arg("version").output().unwrap().stdout;
    let said = String::from_utf8(said).unwrap();
    let mut numbers = said.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse::<u32>().ok());
    let is_new = (numbers.next(), numbers.next()) >= (Some(2), Some(minor));
    if !is_new {
        skipped(&format!("{what} came with git 2.{minor}, and this is {}", said.trim_end()));
    }
    is_new
}

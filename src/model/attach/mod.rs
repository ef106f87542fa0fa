//! Agents that a human runs: their programs call `git axiom hook` at each event, and the same net is spread below them as below
//! supervised ones. Pure: what a payload says (`payload`; of any size: `shorten`), which shell commands are risky (`shell`), what is done when
//! (`act`), what is answered (`hook_answer`), and when a watch saves (`watching`). Agents that speak the Agent Client Protocol: `acp`.
//!
//! Begin reading with `act`.

pub mod acp;
pub mod act;
pub mod head_history;
pub mod hook_answer;
pub mod interruption;
pub mod payload;
pub mod read_call;
pub mod shell;
pub mod shorten;
pub mod watching;

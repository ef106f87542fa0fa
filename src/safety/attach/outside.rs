//! Prompts that were sent where no repository is: what is known of them, for the verbs that say it.

pub use axiom_store::beside::unsaved_prompts::{UnsavedPrompt, last, repositories_in};

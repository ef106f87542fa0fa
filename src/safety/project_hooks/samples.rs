//! The samples of `hooks/`, which `hooks install` copies.

use axiom_model::work::hooks::hook_event::HookEvent;

/// A sample.
#[derive(Debug)]
pub struct HookSample {
    /// Its name, also that of its file.
    pub name: &'static str,
    /// The events that it is meant for.
    pub events: &'static [HookEvent],
    /// What it does, in a few words.
    pub does: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! sample {
    ($name:literal, $events:expr, $does:literal) => {
        HookSample { name: $name, events: $events, does: $does, text: include_str!(concat!("../sample_hooks/", $name)) }
    };
}

const WAITS: &[HookEvent] = &[HookEvent::OnGate, HookEvent::OnIdle];

const TOLD: &[HookEvent] = &[
    HookEvent::OnGate,
    HookEvent::OnIdle,
    HookEvent::OnPause,
    HookEvent::OnError,
    HookEvent::OnConflict,
    HookEvent::PostTaskComplete,
];

/// All samples, as in `hooks/README.md`.
pub const SAMPLES: &[HookSample] = &[
    sample!("notify.sh", TOLD, "a desktop notification"),
    sample!("bell.sh", WAITS, "rings your terminals when something waits"),
    sample!("webhook.sh", TOLD, "sends the event as JSON to a URL"),
    sample!("json-lines.sh", &HookEvent::ALL, "appends the event as a line of JSON to a file"),
    sample!("tests-before-merge.sh", &[HookEvent::PreMerge], "merges only what passes a command of yours"),
    sample!("commit-messages.sh", &[HookEvent::PreMerge], "merges only commits with good messages"),
    sample!("gitleaks.sh", &[HookEvent::PreMerge], "merges only what has no secrets"),
    sample!("commit-hooks.sh", &[HookEvent::PreMerge], "merges only what the project's pre-commit hook lets pass"),
    sample!("push-checkpoints.sh", &[HookEvent::PostCheckpoint], "pushes checkpoints to a backup remote"),
    sample!("pause-summary.sh", &[HookEvent::OnPause], "writes down where the work stands"),
];

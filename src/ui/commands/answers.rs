//! Which type each verb answers with `--json`: of every answer that is printed with `Screen::answer` or beside it.
//!
//! `docs/JSON.md` and `docs/schemas/answers.json` are made from this table, and from the definitions of the types with their comments.
//! Tests compare both, and hold every answer that they read against the schema.

/// An answer that verbs give.
#[derive(Debug)]
pub struct VerbAnswer {
    /// The verbs, each with what tells this answer from others of the same verb: `merge --dry-run`.
    pub verbs: &'static [&'static str],
    /// The type of it. Types have names of their own in all the source, so this finds one.
    pub of: &'static str,
}

impl VerbAnswer {
    /// What a document says its verb is: the words before options and values.
    pub fn verb_in_document(verb: &str) -> String {
        let is_word = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase());
        verb.split(' ').take_while(is_word).collect::<Vec<_>>().join(" ")
    }
}

const fn of(verbs: &'static [&'static str], of: &'static str) -> VerbAnswer {
    VerbAnswer { verbs, of }
}

/// The verbs that answer nothing but an error: both need a terminal.
pub const WITHOUT_ANSWER: [&str; 2] = ["panel", "checkpoint manage"];

/// What has an answer and is no verb: `git axiom --version --verbose`.
pub const NO_VERB: &str = "version";

/// All answers, in the order of the page.
pub const ANSWERS: &[VerbAnswer] = &[
    of(&["init"], "InitJson"),
    of(&["demo"], "DemoJson"),
    of(&["task add"], "TaskJson"),
    of(&["task show"], "TaskShowJson"),
    of(&["task list"], "TaskListJson"),
    of(&["task edit"], "TaskEditJson"),
    of(&["task block", "task unblock", "task archive"], "TaskStatusChangeJson"),
    of(&["task audit"], "TaskAuditJson"),
    of(&["task import"], "TaskImportJson"),
    of(
        &[
            "plan start",
            "plan show",
            "plan answer",
            "plan propose",
            "plan revise",
            "plan approve",
            "plan add",
            "plan validate",
            "plan abandon",
        ],
        "PlanJson",
    ),
    of(&["plan finish"], "PlanFinishJson"),
    of(&["plan recover"], "PlanRecoverJson"),
    of(&["run"], "RunJson"),
    of(&["run --detach"], "RunDetachJson"),
    of(&["status"], "StatusDocument"),
    of(&["statusline"], "StatuslineJson"),
    of(&["output"], "LogLine"),
    of(&["log"], "LogJson"),
    of(&["graph"], "GraphJson"),
    of(&["events"], "EventListJson"),
    of(&["events --follow"], "EventJson"),
    of(&["pause"], "PauseJson"),
    of(&["resume"], "ResumeJson"),
    of(&["quit"], "QuitJson"),
    of(&["diff"], "DiffJson"),
    of(&["open"], "DebugJson"),
    of(&["redirect"], "RedirectJson"),
    of(&["stop", "kill"], "StopJson"),
    of(&["mode"], "ModeJson"),
    of(&["gate list"], "GateListJson"),
    of(&["gate show"], "GateShowJson"),
    of(&["gate approve", "gate reject", "gate answer"], "GateDecisionJson"),
    of(&["merge"], "MergeJson"),
    of(&["checkpoint create"], "CheckpointCreateJson"),
    of(&["checkpoint list"], "CheckpointListJson"),
    of(&["checkpoint show"], "CheckpointShowJson"),
    of(&["checkpoint diff"], "CheckpointDifference"),
    of(&["checkpoint verify"], "CheckpointVerifyJson"),
    of(&["checkpoint delete", "checkpoint cleanup"], "CheckpointRemoveJson"),
    of(&["checkpoint compact"], "CompactReport"),
    of(&["rollback", "rollback checkpoint", "rollback session", "restore"], "RollbackJson"),
    of(&["rollback task"], "RollbackTaskJson"),
    of(&["rollback --continue", "rollback --abort"], "RollbackEndJson"),
    of(&["undo", "redo"], "UndoOutcomeJson"),
    of(&["recover"], "RecoverJson"),
    of(&["recover --files"], "RecoverFilesJson"),
    of(&["recover --all"], "RecoverAllJson"),
    of(&["recover inspect"], "CrashExport"),
    of(&["recover export"], "RecoverExportJson"),
    of(&["recover abandon"], "RecoverAbandonJson"),
    of(&["recover"], "DamagedStateJson"),
    of(&["recover --from"], "LogRebuildJson"),
    of(
        &[
            "signal complete",
            "signal blocked",
            "signal waiting",
            "signal progress",
            "signal learning",
            "signal phase",
            "signal subtask",
            "signal file",
            "signal ready",
            "signal tool-started",
            "signal tool-completed",
            "signal estimate",
            "signal depends",
        ],
        "SignalJson",
    ),
    of(&["agents"], "AgentsJson"),
    of(&["agents check"], "AgentsCheckJson"),
    of(&["learnings"], "LearningsJson"),
    of(&["learnings edit"], "LearningsEditJson"),
    of(&["learnings forget"], "LearningsForgetJson"),
    of(&["stats"], "StatsJson"),
    of(&["attach", "detach"], "AttachJson"),
    of(&["attach --status"], "AttachProtectionsJson"),
    of(&["attach --status"], "AttachOutsideJson"),
    of(&["prompts"], "PromptsJson"),
    of(&["prompts NUMBER"], "OnePromptJson"),
    of(&["prompts forget"], "PromptsForgetJson"),
    of(&["sessions"], "SessionsJson"),
    of(&["acp --print"], "AcpConfigJson"),
    of(&["watch"], "WatchJson"),
    of(&["lock --list"], "LockListJson"),
    of(&["trust"], "TrustJson"),
    of(&["trust --list"], "ApprovalListJson"),
    of(&["trust --revoke"], "TrustRevokeJson"),
    of(&["hooks list"], "HooksListJson"),
    of(&["hooks run", "hooks log"], "HooksRunJson"),
    of(&["hooks install"], "HooksInstallJson"),
    of(&["hooks show"], "HooksShowJson"),
    of(&["disk"], "DiskJson"),
    of(&["purge"], "PurgeJson"),
    of(&["deinit"], "DeinitJson"),
    of(&["config show"], "ConfigJson"),
    of(&["config check"], "ConfigCheckJson"),
    of(&["config edit"], "ConfigEditJson"),
    of(&["config restore", "config reset"], "ConfigResetJson"),
    of(&["completions"], "CompletionsJson"),
    of(&["help"], "HelpJson"),
    of(&[NO_VERB], "VersionJson"),
    of(&["man"], "ManPageJson"),
    of(&["man --out", "man --install"], "ManFolderJson"),
];

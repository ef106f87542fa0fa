//! What the definitions of types do not say of how they are written.

/// Types that write themselves, or that are not of this source.
pub const PLAIN: [(&str, &str); 24] = [
    ("String", "string"),
    ("str", "string"),
    ("bool", "bool"),
    ("u8", "integer"),
    ("u32", "integer"),
    ("u64", "integer"),
    ("usize", "integer"),
    ("i32", "integer"),
    ("f64", "number"),
    ("Usd", "number"),
    ("Timestamp", "time"),
    ("Oid", "id"),
    ("RefName", "ref"),
    ("RepoPath", "path"),
    ("Value", "any"),
    // Of the log, and of notes: both have versions of their own.
    ("RawValue", "object"),
    ("CheckpointDocument", "object"),
    ("TaskId", "string"),
    ("AgentId", "string"),
    ("GateId", "string"),
    ("OperationId", "string"),
    ("LearningId", "string"),
    ("CheckpointName", "string"),
    ("LockName", "string"),
];

/// What functions write that are named in `serialize_with`.
pub const WRITTEN_WITH: [(&str, &str); 6] = [
    ("change_json::refs", "Vec<RefChangeJson>"),
    ("change_json::branch_configs", "Vec<BranchConfigJson>"),
    ("change_json::stash", "Vec<StashChangeJson>"),
    ("change_json::tasks", "Vec<TaskFieldChangesJson>"),
    ("change_json::fields", "Vec<FieldChangeJson>"),
    ("change_json::only", "Option<KnownPathsJson>"),
];

/// Fields that are JSON already, of a known form.
pub const FORMS: [(&str, &str); 1] = [("CrashExportTask.reported", "Option<ReportedWork>")];

/// Types that are written by hand: the type that has the same form.
pub const WRITTEN_BY_HAND: [(&str, &str); 1] = [("FieldChangeJson", "FieldValuesJson<Value>")];

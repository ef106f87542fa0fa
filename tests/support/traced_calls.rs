//! Calls of the system that one process and its threads made, out of what `strace -f` wrote.

/// Each call once, where it began, without those of the process that a hook leaves in the background.
pub fn own_calls(trace: &str) -> Vec<&str> {
    let number = |line: &str| line.split_once(' ').map(|(number, _)| number.to_owned());
    let apart: Vec<String> = trace.lines().filter(|line| line.contains("\"--join\"")).filter_map(number).collect();
    let begun = trace.lines().filter(|line| ![" resumed>", " +++ ", " --- "].iter().any(|word| line.contains(word)));
    begun.filter(|line| number(line).is_some_and(|number| !apart.contains(&number))).collect()
}

/// Whether it waits for the disk.
pub fn is_sync(call: &str) -> bool {
    ["fsync(", "fdatasync(", "syncfs(", "sync_file_range("].iter().any(|sync| call.contains(sync))
}

//! What the machine says about itself and about processes: load, processor time, memory, system calls.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The load average of the last minute; 0 where the system does not tell.
pub fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

/// The processes of this program that run below a scratch folder: they have it in their environment.
pub fn processes_below(folder: &Path, program: &Path) -> Vec<u32> {
    let program = std::fs::canonicalize(program).unwrap();
    let folder = folder.as_os_str().as_encoded_bytes();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let ours = |pid: &u32| {
        let at = |name: &str| format!("/proc/{pid}/{name}");
        let environment = std::fs::read(at("environ")).unwrap_or_default();
        let below = environment.windows(folder.len()).any(|part| part == folder);
        below && std::fs::read_link(at("exe")).is_ok_and(|exe| exe == program)
    };
    pids.filter(ours).collect()
}

/// The processor time that these processes and their ended children have used.
pub fn processor_time(pids: &[u32]) -> Duration {
    let ticks = |pid: &u32| -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The second field, the name, may hold anything.
        let fields: Vec<&str> = text.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        // utime, stime, cutime, cstime
        fields.get(11..15).unwrap_or_default().iter().filter_map(|field| field.parse::<u64>().ok()).sum()
    };
    // USER_HZ has been 100 on every Linux for twenty years.
    Duration::from_millis(pids.iter().map(ticks).sum::<u64>() * 10)
}

/// The most memory that a command had at once, as far as looks at every millisecond see it.
pub fn peak_memory(command: &mut Command) -> u64 {
    let mut child = command.spawn().unwrap();
    let (mut peak, path) = (0, format!("/proc/{}/status", child.id()));
    loop {
        let status = std::fs::read_to_string(&path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) * 1024);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{command:?}: {status}");
            return peak;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// How many system calls these processes make in so long; `None` where strace is not installed.
pub fn system_calls(pids: &[u32], during: Duration) -> Option<u64> {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-c", "-U", "calls", "-o", "/dev/stdout"]);
    for pid in pids {
        strace.args(["-p", &pid.to_string()]);
    }
    let child = strace.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    std::thread::sleep(during);
    signal(&child, "INT");
    let text = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    // Lines of "calls syscall", two heads of dashes, and a total that counts them once more.
    Some(text.lines().rev().find_map(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0))
}

/// Sends a signal to a process that we started.
pub fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Kills a process, which may have ended.
pub fn kill(pid: u32) {
    let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).stderr(std::process::Stdio::null()).status();
}

/// Waits until `done`, looking every millisecond.
///
/// Panics after ten minutes, naming `what` it waited for.
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(600), "no {what} within ten minutes");
        std::thread::sleep(Duration::from_millis(1));
    }
}

//! The binary at a pseudo-terminal, so that prompts can be answered.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic, dead_code, missing_docs)]

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// How long to wait for expected output, or for the end.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Terminal {
    keyboard: File,
    /// The path of its other side.
    name: String,
    child: Child,
    /// The output so far, and up to where it was waited for already.
    seen: Arc<Mutex<String>>,
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Reads until everybody has closed the terminal.
    reader: std::thread::JoinHandle<()>,
    from: usize,
}

impl Terminal {
    pub fn start(command: Command) -> Self {
        Self::start_in(command, (24, 80))
    }

    pub fn start_in(mut command: Command, (rows, columns): (u16, u16)) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let screen = File::options().read(true).write(true).open(&name).unwrap();
        let size = rustix::termios::Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&master, size).unwrap();
        command.env("TERM", "xterm").stdin(screen.try_clone().unwrap());
        command.stdout(screen.try_clone().unwrap()).stderr(Stdio::from(screen));
        let child = command.spawn().unwrap();
        drop(command);
        let (keyboard, seen) = (File::from(master), Arc::new(Mutex::new(String::new())));
        let raw = Arc::new(Mutex::new(Vec::new()));
        let (mut reader, into, bytes_into) = (keyboard.try_clone().unwrap(), Arc::clone(&seen), Arc::clone(&raw));
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // When the program ends, the terminal is closed and reading fails.
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                bytes_into.lock().unwrap().extend_from_slice(&bytes[..read]);
                into.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        Self { keyboard, name, child, seen, bytes: raw, reader, from: 0 }
    }

    /// Everything that was written so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }

    /// What was written after so many bytes.
    pub fn bytes_after(&self, from: usize) -> Vec<u8> {
        self.bytes.lock().unwrap()[from..].to_vec()
    }

    /// Gives it another size.
    pub fn resize(&self, (rows, columns): (u16, u16)) {
        let size = rustix::termios::Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&self.keyboard, size).unwrap();
    }

    /// Waits until a text appears after the last one that was waited for, and returns the output up to it.
    pub fn wait_for(&mut self, text: &str) -> String {
        let started = Instant::now();
        loop {
            let seen = self.seen.lock().unwrap().clone();
            if let Some(at) = seen[self.from..].find(text) {
                let end = self.from + at + text.len();
                let part = seen[self.from..end].to_owned();
                self.from = end;
                return part;
            }
            assert!(started.elapsed() < PATIENCE, "'{text}' did not appear in: {}", &seen[self.from..]);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Types all of it at once.
    pub fn type_at_once(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Whether the terminal echoes keys and reads whole lines, as a shell expects.
    pub fn is_as_shells_want_it(&self) -> bool {
        use rustix::termios::LocalModes;
        let modes = rustix::termios::tcgetattr(&self.keyboard).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    pub fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Types keys one after the other, with pauses.
    pub fn keys(&mut self, keys: &[&str]) {
        for key in keys {
            // Keys that arrive together would be taken for pasted text, and after an Escape for one key.
            let begun = Instant::now();
            while self.unread() > 0 && begun.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_millis(10));
            }
            std::thread::sleep(Duration::from_millis(150));
            self.keyboard.write_all(key.as_bytes()).unwrap();
        }
    }

    /// How many bytes of what was typed the program has not read yet.
    fn unread(&self) -> u64 {
        let screen = File::options().read(true).custom_flags(libc::O_NOCTTY).open(&self.name);
        screen.ok().and_then(|screen| rustix::io::ioctl_fionread(&screen).ok()).unwrap_or(0)
    }

    pub fn end(mut self) -> (ExitStatus, String) {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > PATIENCE {
                self.child.kill().unwrap();
                panic!("it does not end: {}", self.seen.lock().unwrap());
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        // What was printed is read to its end, unless a program in the background keeps the terminal open.
        let ended = Instant::now();
        while !self.reader.is_finished() && ended.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(5));
        }
        (status, self.seen.lock().unwrap().clone())
    }
}

/// A test that fails leaves no program behind.
impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! Links the program for a fast start on Linux, since every verb is a start and the tests make thousands of them: at a fixed
//! address, which spares some twenty thousand relocations, and with the C library inside, which spares the dynamic loader.
//!
//! The latter needs the C library's archives. Whether they are there, and whether what is linked from them runs, is tried
//! out with an empty program; where it does not, the program is linked to the shared C library and starts a little later.

#![allow(clippy::disallowed_methods, clippy::print_stdout)] // how cargo and a build script talk to each other

use std::env::var;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the standard library and the libc crate link dynamically, and the archive that stands in for it.
const ARCHIVES: [(&str, &str); 7] = [
    ("libc.a", "libc.a"),
    ("libm.a", "libm.a"),
    ("libdl.a", "libdl.a"),
    ("librt.a", "librt.a"),
    ("libutil.a", "libutil.a"),
    ("libpthread.a", "libpthread.a"),
    ("libgcc_s.a", "libgcc_eh.a"),
];

/// Says how it was linked.
const TRIAL: &str = r#"
fn main() {
    let maps = std::thread::spawn(|| std::fs::read_to_string("/proc/self/maps").unwrap()).join().unwrap();
    print!("{}", if maps.contains(".so") { "shared" } else { "static" });
}
"#;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    if !(is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu")) {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // For another machine, or with flags of the user's own, cargo's defaults are the safer choice.
    let own_flags = var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| !flags.is_empty());
    if own_flags || var("HOST").ok() != var("TARGET").ok() {
        return;
    }
    for argument in static_link_arguments().unwrap_or_default() {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}

/// The linker's arguments for a program without shared libraries; `None` where they do not work here.
fn static_link_arguments() -> Option<Vec<String>> {
    let out = PathBuf::from(var("OUT_DIR").ok()?);
    let linker = var("RUSTC_LINKER").unwrap_or_else(|_| "cc".into());
    // rustc asks for shared libraries by name. In this folder, searched before the system's, are archives of these names.
    let folder = out.join("archives");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).ok()?;
    for (name, archive) in ARCHIVES {
        std::os::unix::fs::symlink(find(&linker, archive)?, folder.join(name)).ok()?;
    }
    let arguments = vec!["-static".to_owned(), format!("-L{}", folder.display())];
    works(&out, &linker, &arguments).then_some(arguments)
}

/// Where the C compiler has the archive.
fn find(linker: &str, archive: &str) -> Option<PathBuf> {
    let answer = Command::new(linker).arg(format!("-print-file-name={archive}")).output().ok()?;
    // Of a file that it does not know it repeats the name.
    let path = PathBuf::from(String::from_utf8(answer.stdout).ok()?.trim());
    (answer.status.success() && path.is_absolute() && path.exists()).then_some(path)
}

/// Whether a program linked like this runs, threads included, and finds no shared library in itself.
fn works(out: &Path, linker: &str, arguments: &[String]) -> bool {
    let (source, program) = (out.join("try.rs"), out.join("try"));
    if std::fs::write(&source, TRIAL).is_err() {
        return false;
    }
    let mut rustc = Command::new(var("RUSTC").unwrap_or_else(|_| "rustc".into()));
    rustc.args(["--edition", "2024", "-C", "panic=abort", "-C", &format!("linker={linker}"), "-C", "link-arg=-no-pie"]);
    rustc.args(arguments.iter().flat_map(|argument| ["-C".to_owned(), format!("link-arg={argument}")]));
    rustc.arg("-o").arg(&program).arg(&source).stdout(Stdio::null()).stderr(Stdio::null());
    let linked = rustc.status().is_ok_and(|status| status.success());
    linked && Command::new(&program).output().is_ok_and(|run| run.status.success() && run.stdout == b"static")
}

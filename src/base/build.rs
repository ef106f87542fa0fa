//! Chooses the modules of `platform`: `axiom_system` is `linux`, `macos` or `portable`. `AXIOM_SYSTEM=portable` chooses the last on
//! any system, so that what other systems fall back to is built and tested on Linux.

#![allow(clippy::disallowed_methods, clippy::print_stdout)] // how cargo and a build script talk to each other

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=AXIOM_SYSTEM");
    println!("cargo::rustc-check-cfg=cfg(axiom_system, values(\"linux\", \"macos\", \"portable\"))");
    let target = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let wanted = std::env::var("AXIOM_SYSTEM").unwrap_or_default();
    let system = match (wanted.as_str(), target.as_str()) {
        ("portable", _) => "portable",
        (_, "linux") => "linux",
        (_, "macos") => "macos",
        (_, _) => "portable",
    };
    println!("cargo::rustc-cfg=axiom_system=\"{system}\"");
}

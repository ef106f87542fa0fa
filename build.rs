//! How the program that tests start is linked. Nothing of what is released.

#![allow(clippy::disallowed_methods, clippy::print_stdout)] // how cargo and a build script talk to each other

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|has| has == value);
    // Tests start it a hundred thousand times, and the unoptimized program has 220,000 places that depend on where it is loaded:
    // to put them right takes half of a start.
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

//! Error messages on the terminal, `error[CODE]: what happened: why` with hints, and the set-up of tracing.

use tracing_subscriber::fmt::format::FmtSpan;

use super::document::{self, ErrorDocument, ErrorJson};
use super::screen::Screen;
use super::terminal_look::ScreenTaste;
use axiom_base::error::{Error, Exit};

/// Reports an error: in words on standard error, and with `--json` also as a document on standard output.
pub fn error(screen: &mut Screen, error: &Error) -> Exit {
    if screen.wants_json() && !screen.has_answered() {
        let report = ErrorDocument { error: ErrorJson::of(screen.verb(), error) };
        if let Ok(text) = document::of(screen.verb(), &report) {
            let _ = screen.write(text.as_bytes());
        }
    }
    screen.complain_of(error);
    error.code().exit()
}

/// Reports an error of clap's about the command line. Help and version are answers, the rest is a usage error. Which verb was
/// meant, and what is wrong, is asked only where it is said: to find out, every verb's options are built.
pub fn usage(
    error: &clap::Error,
    json: bool,
    taste: Box<dyn ScreenTaste>,
    verb: impl FnOnce() -> Option<String>,
    said: impl FnOnce() -> Error,
) -> Exit {
    if !error.use_stderr() {
        let is_colored = Screen::new(json, None).to_the_taste_of(taste).terminal().of_answer().colors.is_some();
        let text = error.render();
        let text = if is_colored { text.ansi().to_string() } else { text.to_string() };
        let _ = Screen::new(json, None).write(text.as_bytes());
        return Exit::Done;
    }
    let mut screen = Screen::new(json, if json { verb() } else { None });
    self::error(&mut screen, &said())
}

/// The size at which a file of traces is put aside, in bytes, and how many of these are kept.
const TRACE_LIMIT: u64 = 10_000_000;
const TRACES_KEPT: u32 = 3;

/// Sets up tracing if `AXIOM_LOG` is set: a filter, and after `>` a file to append to, which is put aside when it is large.
pub fn start_tracing() {
    let Some(wanted) = axiom_base::env::var("AXIOM_LOG").and_then(|text| text.into_string().ok()) else { return };
    let (filter, file) = match wanted.split_once('>') {
        Some((filter, file)) => (filter.to_owned(), Some(std::path::PathBuf::from(file))),
        None => (wanted, None),
    };
    let filter = tracing_subscriber::EnvFilter::new(filter);
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_span_events(FmtSpan::CLOSE);
    match file.map(|path| axiom_base::files::RotatedFile::open(&path, TRACE_LIMIT, TRACES_KEPT)) {
        Some(Ok(file)) => builder.with_writer(std::sync::Mutex::new(file)).init(),
        Some(Err(_)) | None => builder.with_writer(std::io::stderr).init(),
    }
}

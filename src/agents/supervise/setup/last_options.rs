//! The options of the last session, so that it can be started again after a crash of the machine.

use serde::{Deserialize, Serialize};

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_store::layout::StoreLayout;

/// The largest file that is read, in bytes.
const LIMIT: u64 = 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct LastSessionOptions {
    v: u32,
    arguments: Vec<String>,
}

/// Notes the options of a session that begins. A crash leaves those of the one before, or these.
pub fn note(layout: &StoreLayout, arguments: Vec<String>) -> Result<()> {
    let json = serde_json::to_vec(&LastSessionOptions { v: 1, arguments })
        .map_err(|e| Error::new(Code::Internal, "the options of a session are no JSON").because(e))?;
    files::write_atomic(&layout.last_options(), &[&json[..], b"\n"].concat())
}

/// The options of the last session; none where they are not known.
pub fn read(layout: &StoreLayout) -> Result<Vec<String>> {
    let Some(bytes) = files::read_optional(&layout.last_options(), LIMIT)? else { return Ok(Vec::new()) };
    let read: Option<LastSessionOptions> = serde_json::from_slice(&bytes).ok();
    Ok(read.filter(|options| options.v == 1).map(|options| options.arguments).unwrap_or_default())
}

//! Reading text that is passed to a verb: from files, standard input, and lists of ids.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::working_dir;
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::ids::TaskId;
use axiom_model::base::text::MAX_TEXT;
use axiom_model::work::tasks::task::TaskDependency;

/// Reads a text from a file, or from standard input where the path is `-`.
pub fn text_of(path: &Path, limit: u64) -> Result<String> {
    let standard_input = path.as_os_str() == "-";
    let bytes = if standard_input { read_standard_input(limit)? } else { files::read(path, limit)? };
    String::from_utf8(bytes).map_err(|e| {
        let what = if standard_input { "standard input".to_owned() } else { format!("'{}'", path.display()) };
        Error::new(Code::InvalidInput, format!("{what} is not UTF-8"))
            .why(format!("byte {} does not begin a character", e.utf8_error().valid_up_to()))
            .hint("convert it, for example with iconv")
    })
}

/// A text that is given itself or by the path of its file; `None` without either.
pub fn text_or_file(text: Option<&String>, file: Option<&PathBuf>, global: &GlobalArgs) -> Result<Option<String>> {
    match (text, file) {
        (Some(text), _) => Ok(Some(text.clone())),
        (None, Some(path)) => text_of(&resolve(path, global)?, MAX_TEXT as u64).map(Some),
        (None, None) => Ok(None),
    }
}

/// A path from the command line, relative to the folder of `-C`. `-` is not changed.
pub fn resolve(path: &Path, global: &GlobalArgs) -> Result<PathBuf> {
    if path.as_os_str() == "-" { Ok(path.to_owned()) } else { Ok(working_dir(global)?.join(path)) }
}

fn read_standard_input(limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let input = std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes);
    input.map_err(|e| Error::io("read", Path::new("standard input"), e))?;
    if bytes.len() as u64 > limit {
        return Err(Error::new(Code::TooLarge, format!("standard input is larger than {limit} bytes")));
    }
    Ok(bytes)
}

/// Parses ids with or without a name (`ID:NAME`), given separately or separated by commas.
pub fn after(texts: &[String]) -> Result<Vec<TaskDependency>> {
    let parts = texts.iter().flat_map(|text| text.split(',')).filter(|part| !part.is_empty());
    parts.map(str::parse).collect()
}

/// Parses ids, given separately or separated by commas.
pub fn ids(texts: &[String]) -> Result<Vec<TaskId>> {
    let parts = texts.iter().flat_map(|text| text.split(',')).filter(|part| !part.is_empty());
    parts.map(TaskId::new).collect()
}

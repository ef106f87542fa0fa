//! Paths as git reads them from a line.

use std::path::Path;

use axiom_model::base::names::RepoPath;

/// Paths in quotes, one per line, as git reads them.
pub(crate) fn quoted_lines<'p>(paths: impl IntoIterator<Item = &'p RepoPath>) -> Vec<u8> {
    let mut lines = Vec::new();
    for path in paths {
        quote(path.as_bytes(), &mut lines);
        lines.push(b'\n');
    }
    lines
}

/// A path in double quotes, as git reads it from a line.
pub(crate) fn quote(path: &[u8], line: &mut Vec<u8>) {
    line.push(b'"');
    for byte in path {
        match byte {
            b'"' | b'\\' => line.extend_from_slice(&[b'\\', *byte]),
            0..0x20 | 0x7f => line.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            _ => line.push(*byte),
        }
    }
    line.push(b'"');
}

/// A path in the form that git accepts in a list of object folders; quoted if it contains special characters.
pub(crate) fn quoted(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes();
    if !bytes.iter().any(|byte| matches!(byte, b':' | b'"' | b'\\' | b'\n')) && !bytes.starts_with(b"#") {
        return bytes.to_vec();
    }
    let mut quoted = Vec::with_capacity(bytes.len() + 2);
    quote(bytes, &mut quoted);
    quoted
}

//! A patch in git's colours.
//!
//! An escape sequence of a file could not be told from one of git's. So git prints the patch twice, and a line has git's colours only if
//! there is nothing in the plain one that a terminal would interpret.

use super::visible;

/// The plain patch, with the colours that git gave the same lines.
pub fn colored(plain: &[u8], colored: &[u8]) -> String {
    let (plains, coloreds): (Vec<&[u8]>, Vec<&[u8]>) = (lines(plain), lines(colored));
    if plains.len() != coloreds.len() {
        return visible::bytes(plain);
    }
    let mut text = String::with_capacity(colored.len());
    for (plain, colored) in plains.iter().zip(coloreds) {
        let shown = visible::bytes(plain);
        text.push_str(match std::str::from_utf8(colored) {
            Ok(colored) if shown.as_bytes() == *plain => colored,
            Ok(_) | Err(_) => &shown,
        });
    }
    text
}

fn lines(patch: &[u8]) -> Vec<&[u8]> {
    patch.split_inclusive(|byte| *byte == b'\n').collect()
}

#[cfg(test)]
mod tests {
    use super::colored as shown;

    #[test]
    fn a_line_with_an_escape_of_its_own_has_no_colour() {
        let (plain, color) = ("-a\n+\x1b[2J\n b\n", "\x1b[31m-a\x1b[m\n\x1b[32m+\x1b[2J\x1b[m\n b\n");
        assert_eq!(shown(plain.as_bytes(), color.as_bytes()), "\x1b[31m-a\x1b[m\n+\\e[2J\n b\n");
        assert_eq!(shown(b"-\xff\r\n", b"\x1b[31m-\xff\x1b[m\r\n"), "-\\xff\\r\n");
        assert_eq!(shown(b"-a\n", b"\x1b[31m-a\x1b[m\n\n"), "-a\n", "other lines are not these");
    }
}

//! JSON objects in a line that ends with a checksum of all before it, `,"sum":"01234567"}`: events, tasks, the head of the snapshot,
//! what keepers record. What was altered later is noticed. Pure.

/// What is before the digits of a checksum.
const MARK: &[u8] = br#","sum":""#;
const END: &[u8] = br#""}"#;
const DIGITS: usize = 8;

/// How long a checksum is with what is around it, in bytes.
pub const SUM_LENGTH: usize = MARK.len() + DIGITS + END.len();

/// Why a line is not as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokenSeal {
    /// It is shorter than a checksum.
    TooShort,
    /// There is no checksum at its end.
    NoSum,
    /// The checksum is that of another line.
    Differs,
}

/// The line, with its line feed, of an object's JSON. The checksum counts what `follows` the line, too.
pub fn seal(mut object: Vec<u8>, follows: &[u8]) -> Vec<u8> {
    object.pop();
    let sum = sum_over(&object, follows);
    object.extend_from_slice(MARK);
    object.extend_from_slice(format!("{sum:08x}").as_bytes());
    object.extend_from_slice(END);
    object.push(b'\n');
    object
}

fn sum_over(body: &[u8], follows: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(body), follows)
}

/// What is before the checksum of a line without its line feed. The checksum counts what `follows` the line, too.
pub fn opened<'l>(line: &'l [u8], follows: &[u8]) -> Result<&'l [u8], BrokenSeal> {
    let (body, tail) = line.split_at_checked(line.len().wrapping_sub(SUM_LENGTH)).ok_or(BrokenSeal::TooShort)?;
    let sum = written(tail).ok_or(BrokenSeal::NoSum)?;
    if sum_over(body, follows) == sum { Ok(body) } else { Err(BrokenSeal::Differs) }
}

/// The checksum in the last [`SUM_LENGTH`] bytes of a line.
pub fn written(tail: &[u8]) -> Option<u32> {
    let digits = tail.strip_prefix(MARK)?.strip_suffix(END)?;
    let digit = |byte: &u8| match byte {
        b'0'..=b'9' => Some(u32::from(byte - b'0')),
        b'a'..=b'f' => Some(u32::from(byte - b'a') + 10),
        _ => None,
    };
    digits.iter().try_fold(0_u32, |sum, byte| Some(sum << 4 | digit(byte)?))
}

/// The checksum written in a good line; 0 where there is none.
pub fn sum_of(line: &[u8]) -> u32 {
    line.len().checked_sub(SUM_LENGTH).and_then(|start| written(&line[start..])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_it_was_written_or_refused() {
        let sealed = seal(br#"{"a":1}"#.to_vec(), b"");
        let line = sealed.strip_suffix(b"\n").unwrap();
        assert_eq!(opened(line, &[]), Ok(&br#"{"a":1"#[..]));
        for at in 0..line.len() {
            let mut other = line.to_vec();
            other[at] ^= 1;
            assert!(opened(&other, &[]).is_err(), "byte {at}");
        }
        assert_eq!(opened(b"{}", &[]), Err(BrokenSeal::TooShort));
        assert_eq!(opened(br#"{"a":1,"b":"a text of some length"}"#, &[]), Err(BrokenSeal::NoSum));
        assert_eq!(opened(br#"{"a":1,"sum":"00000000"}"#, &[]), Err(BrokenSeal::Differs));
    }

    #[test]
    fn what_follows_counts() {
        let [one, other] = [b"x", b"y"].map(|follows| seal(b"{}".to_vec(), follows));
        assert_ne!(sum_of(&one[..one.len() - 1]), sum_of(&other[..other.len() - 1]));
    }
}

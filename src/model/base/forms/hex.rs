//! Bytes as hexadecimal text, for JSON where they are no UTF-8.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The hexadecimal form of `bytes`.
pub fn to_hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    let mut text = String::with_capacity(bytes.len() * 2);
    text.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    text
}

/// The bytes of a hexadecimal text; `None` where it is none.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    if rest.is_empty() { bytes } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_round_trip() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(from_hex(&to_hex(&all)).unwrap(), all);
        assert_eq!(from_hex("FF").unwrap(), [255]);
        for bad in ["0", "zz", "é0", "+1", "-1", " 1", "001"] {
            assert!(from_hex(bad).is_none(), "{bad}");
        }
    }
}

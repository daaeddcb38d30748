//! UTF-8, one byte at a time, since a piece may end within a character.

/// The part of a character that has been read.
///
/// Overlong forms, surrogates and code points beyond U+10FFFF are refused at the first byte that
/// can only lead to one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Decoder {
    value: u32,
    remaining: u8,
    /// What the next byte may be, if `remaining` is not 0. Narrower than 80..=BF after some lead bytes.
    next_low: u8,
    next_high: u8,
}

/// A byte that cannot be at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InvalidByte;

impl Decoder {
    /// Takes a byte; returns the code point that it completes, if it does.
    pub(super) fn push(&mut self, byte: u8) -> Result<Option<u32>, InvalidByte> {
        if self.remaining == 0 {
            return self.lead(byte);
        }
        if byte < self.next_low || byte > self.next_high {
            return Err(InvalidByte);
        }
        self.value = (self.value << 6) | u32::from(byte & 0x3F);
        self.remaining -= 1;
        (self.next_low, self.next_high) = (0x80, 0xBF);
        Ok((self.remaining == 0).then_some(self.value))
    }

    fn lead(&mut self, byte: u8) -> Result<Option<u32>, InvalidByte> {
        let (bits, remaining, next_low, next_high) = match byte {
            0x00..=0x7F => return Ok(Some(u32::from(byte))),
            0xC2..=0xDF => (byte & 0x1F, 1, 0x80, 0xBF),
            0xE0 => (0, 2, 0xA0, 0xBF),
            0xED => (0xD, 2, 0x80, 0x9F),
            0xE1..=0xEF => (byte & 0x0F, 2, 0x80, 0xBF),
            0xF0 => (0, 3, 0x90, 0xBF),
            0xF1..=0xF3 => (byte & 0x07, 3, 0x80, 0xBF),
            0xF4 => (4, 3, 0x80, 0x8F),
            _ => return Err(InvalidByte),
        };
        *self = Self { value: u32::from(bits), remaining, next_low, next_high };
        Ok(None)
    }

    /// The first and last code point that the bytes so far may become; `None` between two characters.
    pub(super) fn pending(&self) -> Option<(u32, u32)> {
        let after_next = 6 * u32::from(self.remaining.checked_sub(1)?);
        let low = (self.value << 6) | u32::from(self.next_low & 0x3F);
        let high = (self.value << 6) | u32::from(self.next_high & 0x3F);
        Some((low << after_next, (high << after_next) | ((1 << after_next) - 1)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> Result<Vec<u32>, usize> {
        let mut decoder = Decoder::default();
        let mut found = Vec::new();
        for (offset, &byte) in bytes.iter().enumerate() {
            found.extend(decoder.push(byte).map_err(|_| offset)?);
        }
        Ok(found)
    }

    fn pending(bytes: &[u8]) -> Option<(u32, u32)> {
        let mut decoder = Decoder::default();
        for &byte in bytes {
            decoder.push(byte).unwrap();
        }
        decoder.pending()
    }

    #[test]
    fn reads_every_character() {
        for character in '\0'..=char::MAX {
            let mut buffer = [0; 4];
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            assert_eq!(decode(bytes), Ok(vec![u32::from(character)]));
            for end in 1..bytes.len() {
                let (low, high) = pending(&bytes[..end]).unwrap();
                assert!((low..=high).contains(&u32::from(character)));
            }
        }
    }

    #[test]
    fn agrees_with_the_standard_library_on_what_is_valid() {
        let interesting = [
            0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
            0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF,
        ];
        for a in interesting {
            for b in interesting {
                for c in interesting {
                    for d in interesting {
                        let bytes = [a, b, c, d];
                        let expected = match std::str::from_utf8(&bytes) {
                            Ok(_) => true,
                            Err(error) => error.error_len().is_none(),
                        };
                        assert_eq!(decode(&bytes).is_ok(), expected, "{bytes:02X?}");
                    }
                }
            }
        }
    }

    #[test]
    fn knows_what_a_partial_character_may_become() {
        assert_eq!(pending(b""), None);
        assert_eq!(pending(b"a"), None);
        assert_eq!(pending(b"\xC3"), Some((0xC0, 0xFF)));
        assert_eq!(pending(b"\xE0"), Some((0x800, 0xFFF)));
        assert_eq!(pending(b"\xE3\x81"), Some((0x3040, 0x307F)));
        assert_eq!(pending(b"\xED"), Some((0xD000, 0xD7FF)));
        assert_eq!(pending(b"\xF0"), Some((0x1_0000, 0x3_FFFF)));
        assert_eq!(pending(b"\xF0\x9F"), Some((0x1_F000, 0x1_FFFF)));
        assert_eq!(pending(b"\xF4"), Some((0x10_0000, 0x10_FFFF)));
    }
}

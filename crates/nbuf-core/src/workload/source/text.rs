//! How a text is encoded, as its beginning shows.
//!
//! Formats of text are lines of ASCII or UTF-8. A mark of UTF-8 in front of them (some editors and
//! spreadsheets write one) is none of the first line; UTF-16 and NULs are named, because "unknown
//! format" would send people to look for a format.

/// What UTF-8 may begin with.
pub(super) const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];
/// Bytes that are looked at.
const LOOK_BYTES: usize = 4096;
/// Characters from which on NULs at every other byte are no chance.
const PAIRS_MIN: usize = 4;

/// What a beginning looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-8 behind its mark.
    Marked,
    /// UTF-16 of either order, with its mark or without.
    Utf16,
    /// A text, except NULs.
    Nuls,
    /// A text, or no text at all.
    Other,
}

/// Looks at the beginning of an input.
pub(super) fn encoding(head: &[u8]) -> Encoding {
    let seen = &head[..head.len().min(LOOK_BYTES)];
    let is_text = |byte: u8| (32..127).contains(&byte) || b"\t\r\n".contains(&byte);
    match seen {
        [0xef, 0xbb, 0xbf, rest @ ..] if !rest.contains(&0) => return Encoding::Marked,
        // A mark, and then a letter: of most binary formats the second byte behind would be another.
        [0xff, 0xfe, low, 0, ..] | [0xfe, 0xff, 0, low, ..] if is_text(*low) => {
            return Encoding::Utf16;
        }
        _ => {}
    }
    let (pairs, _) = seen.as_chunks::<2>();
    let all = |text: usize| pairs.iter().all(|pair| is_text(pair[text]) && pair[1 - text] == 0);
    if pairs.len() >= PAIRS_MIN && (all(0) || all(1)) {
        return Encoding::Utf16;
    }
    let has_nuls = seen.contains(&0);
    let is_nul_or_text = seen.iter().all(|&byte| byte == 0 || is_text(byte));
    let letters = seen.iter().filter(|&&byte| is_text(byte)).count();
    let has_line = seen.contains(&b'\n');
    let begins = seen.first().is_some_and(|&byte| is_text(byte));
    if has_nuls && begins && has_line && is_nul_or_text && letters * 2 > seen.len() {
        return Encoding::Nuls;
    }
    Encoding::Other
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    }

    #[test]
    fn encodings_are_told_by_name() {
        let lines = "time,offset,size\n0,4096,512\n";
        let mark = "\u{feff}";
        for unit in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(encoding(&utf16(lines, unit)), Encoding::Utf16);
            assert_eq!(encoding(&utf16(&format!("{mark}{lines}"), unit)), Encoding::Utf16);
        }
        let cases: [(&[u8], Encoding); 6] = [
            (lines.as_bytes(), Encoding::Other),
            ("\u{feff}1\n2\n".as_bytes(), Encoding::Marked),
            (b"1\n2\n\0\0\0", Encoding::Nuls),
            (b"", Encoding::Other),
            (b"1\0\0\0\0\0\0\0", Encoding::Other),
            (&[7, 0, 0, 0, 8, 0, 0, 0, 10, 0, 0, 0], Encoding::Other),
        ];
        for (bytes, want) in cases {
            assert_eq!(encoding(bytes), want, "{bytes:?}");
        }
    }
}

//! Whether the beginning of an input can be read as a format: by reading it.

use super::batch::Batch;
use super::table::{Head, Likeness, Parser};

/// Bytes that are tried: a parser that takes all of them is not mistaken.
const TRIAL_BYTES: usize = 1 << 14;

/// Whether there are bytes that a text does not have.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| *byte < 32 && !b"\n\r\t\x0c".contains(byte))
}

/// What the parser makes of the first lines: `when_fine` when it takes every one of them, one step
/// less when it takes nine of ten, else no.
pub(super) fn lines(head: Head, mut parser: impl Parser, when_fine: Likeness) -> Likeness {
    let cut = head.bytes.len() > TRIAL_BYTES;
    let bytes = &head.bytes[..head.bytes.len().min(TRIAL_BYTES)];
    if is_binary(bytes) {
        return Likeness::No;
    }
    let mut out = Batch::default();
    let (mut at, mut requests) = (0, 0);
    loop {
        let taken = parser.parse(&bytes[at..], head.is_whole && !cut, &mut out);
        at += taken;
        requests += out.requests.len();
        out.requests.clear();
        if taken == 0 || at == bytes.len() {
            break;
        }
    }
    let bad = out.problems.count;
    match out.lines {
        0 => Likeness::No,
        _ if requests == 0 => Likeness::No,
        _ if bad == 0 => when_fine,
        lines if bad * 10 <= lines && when_fine > Likeness::Possible => Likeness::Possible,
        _ => Likeness::No,
    }
}

/// Whether the first lines have the shape of a log: certain when all have it, and possible when nine of ten
/// have. A log may begin with lines that ask for nothing, so requests are not waited for. A last line that is
/// cut counts only where it is the only one: lines of logs are long, and their shape is at their front. Clients send
/// bytes that no text has, and a server may log them as they are.
pub(super) fn shapes(head: Head, has_shape: impl Fn(&[u8]) -> bool) -> Likeness {
    let bytes = &head.bytes[..head.bytes.len().min(TRIAL_BYTES)];
    let is_cut = !head.is_whole || bytes.len() < head.bytes.len();
    let last = memchr::memrchr(b'\n', bytes).filter(|_| is_cut);
    let lines = bytes[..last.unwrap_or(bytes.len())].split(|byte| *byte == b'\n');
    let (mut count, mut good) = (0, 0);
    for line in lines.map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()) {
        count += 1;
        good += u32::from(has_shape(line));
    }
    match count {
        0 => Likeness::No,
        _ if good == count => Likeness::Certain,
        _ if good * 10 >= count * 9 => Likeness::Possible,
        _ => Likeness::No,
    }
}

/// The first line of an input, if it is a text.
pub(super) fn first_line(head: Head<'_>) -> Option<&[u8]> {
    let line = head.bytes.split(|byte| *byte == b'\n').next()?.trim_ascii();
    (!line.is_empty() && !is_binary(line)).then_some(line)
}

//! One system call as strace writes it: name, arguments, result.

use super::super::fields::{number, quotation_end, seconds_ns};

/// A call that has returned.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) name: &'a [u8],
    pub(super) arguments: Arguments<'a>,
    result: &'a [u8],
}

/// Arguments that are looked at.
const ARGUMENTS_MAX: usize = 8;

/// The first arguments of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arguments<'a> {
    all: [&'a [u8]; ARGUMENTS_MAX],
    count: usize,
}

impl<'a> Arguments<'a> {
    fn push(&mut self, argument: &'a [u8]) {
        let argument = argument.trim_ascii();
        if self.count < ARGUMENTS_MAX && !argument.is_empty() {
            self.all[self.count] = argument;
            self.count += 1;
        }
    }
}

impl<'a> std::ops::Deref for Arguments<'a> {
    type Target = [&'a [u8]];

    fn deref(&self) -> &Self::Target {
        &self.all[..self.count]
    }
}

impl<'a> Call<'a> {
    /// A whole call; none if the text is something else.
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let open = memchr::memchr(b'(', text)?;
        let name = &text[..open];
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        if name.is_empty() || !name.iter().all(is_name) {
            return None;
        }
        let (arguments, rest) = arguments(&text[open + 1..])?;
        let result = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii();
        Some(Self { name, arguments, result })
    }

    /// What it returned, unless it failed or never did.
    pub(super) fn result(&self) -> Option<u64> {
        if let Some(digits) = self.result.strip_prefix(b"0x") {
            return super::super::fields::hexadecimal(first_word(digits));
        }
        number(first_word(self.result))
    }

    /// The descriptor that it returned.
    pub(super) fn returned(&self) -> Option<Descriptor<'a>> {
        descriptor(self.result)
    }

    /// An argument that is a descriptor.
    pub(super) fn descriptor(&self, at: usize) -> Option<Descriptor<'a>> {
        descriptor(self.arguments.get(at)?)
    }

    /// An argument that is a number, or where it is stored: `[4096] => [8192]`.
    pub(super) fn number(&self, at: usize) -> Option<u64> {
        let argument = self.arguments.get(at)?;
        let argument = argument.strip_prefix(b"[").unwrap_or(argument);
        number(first_word(argument))
    }

    /// Whether an argument has a flag.
    pub(super) fn has(&self, flag: &str) -> bool {
        let is_flag = |word: &[u8]| word == flag.as_bytes();
        self.arguments
            .iter()
            .any(|argument| argument.split(|byte| b"|=, ".contains(byte)).any(is_flag))
    }

    /// The text of an argument in quotes.
    pub(super) fn quoted(&self, at: usize) -> Option<&'a [u8]> {
        self.arguments.get(at)?.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }

    /// The number behind `st_size=` in a structure.
    pub(super) fn size(&self) -> Option<u64> {
        self.arguments.iter().find_map(|argument| {
            let names = [&b"st_size="[..], b"stx_size="];
            let at = names
                .iter()
                .find_map(|name| Some(memchr::memmem::find(argument, name)? + name.len()))?;
            number(first_word(&argument[at..]))
        })
    }
}

/// A descriptor and, with `-y`, what it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descriptor<'a> {
    pub(super) number: u64,
    pub(super) path: Option<&'a [u8]>,
}

fn descriptor(text: &[u8]) -> Option<Descriptor<'_>> {
    let digits = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let number = number(&text[..digits])?;
    let path = text[digits..].strip_prefix(b"<").map(|path| {
        // `</dev/sda<block 8:0>>` with -yy, `</tmp/x>(deleted)` when it has no name any more.
        let end = path.iter().position(|byte| b"<>".contains(byte)).unwrap_or(path.len());
        &path[..end]
    });
    Some(Descriptor { number, path })
}

/// Up to the first byte that is not of a number or word.
fn first_word(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(text.len());
    &text[..end]
}

/// The arguments up to the parenthesis that closes the call, and what follows it.
fn arguments(text: &[u8]) -> Option<(Arguments<'_>, &[u8])> {
    let mut arguments = Arguments::default();
    let (mut depth, mut start, mut at) = (0_u32, 0, 0);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => at += 1 + quotation_end(&text[at + 1..])?,
            // What a descriptor is of: no quotes, and blanks and commas as they come.
            b'<' => at += memchr::memchr(b'>', &text[at..])?,
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                arguments.push(&text[start..at]);
                return Some((arguments, &text[at + 1..]));
            }
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                arguments.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Seconds with decimals, or a time of day with or without.
pub(super) fn time_ns(word: &[u8]) -> Option<i64> {
    let mut parts = word.splitn(4, |byte| *byte == b':');
    match [parts.next(), parts.next(), parts.next(), parts.next()] {
        [Some(seconds), None, ..] if seconds.contains(&b'.') => seconds_ns(seconds),
        [Some(hours), Some(minutes), Some(seconds), None] => {
            let minutes = number(hours)?.checked_mul(60)?.checked_add(number(minutes)?)?;
            let before = i64::try_from(minutes).ok()?.checked_mul(60_000_000_000)?;
            before.checked_add(seconds_ns(seconds)?)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_may_hold_anything() {
        let text = br#"preadv2(3</a, b (c)>, [{iov_base="\"),", iov_len=4}], 1, 16, RWF_HIPRI|RWF_SYNC)  = 4 (x)"#;
        let call = Call::parse(text).unwrap();
        assert_eq!(call.name, b"preadv2");
        assert_eq!(call.arguments.len(), 5);
        let path = Some(&b"/a, b (c)"[..]);
        assert_eq!(call.descriptor(0), Some(Descriptor { number: 3, path }));
        assert_eq!((call.number(3), call.result()), (Some(16), Some(4)));
        assert!(call.has("RWF_SYNC") && !call.has("RWF_NOWAIT"));
    }

    #[test]
    fn results_are_numbers_or_none() {
        let result = |text: &str| Call::parse(text.as_bytes()).and_then(|call| call.result());
        assert_eq!(result("close(3) = 0"), Some(0));
        assert_eq!(result("read(3, \"\", 9)          = -1 EAGAIN (Try again)"), None);
        assert_eq!(result("exit_group(0) = ?"), None);
        assert_eq!(result("brk(NULL) = 0x10"), Some(16));
        for text in ["read(3", "read(3, \"", "(3) = 0", "a b() = 0", "read(3<a) = 0", "read(]) = 0"]
        {
            assert!(Call::parse(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn times_are_seconds_or_times_of_day() {
        assert_eq!(time_ns(b"1795260358.566483"), Some(1_795_260_358_566_483_000));
        assert_eq!(time_ns(b"01:02:03"), Some(3_723_000_000_000));
        assert_eq!(time_ns(b"00:00:01.5"), Some(1_500_000_000));
        assert_eq!(time_ns(b"read"), None);
    }
}

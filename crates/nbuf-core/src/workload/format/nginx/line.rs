//! A line of an access log.

use core::net::IpAddr;

use super::super::batch::Fault;
use super::super::calendar::{TIME_BYTES, time_ns};
use super::super::fields::{Fields, number, quotation_end, seconds_ns};
use super::bytes;

/// What is used of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) time_ns: i64,
    /// Method, target and protocol, or what else came.
    pub(super) request: &'a [u8],
    pub(super) status: u16,
    pub(super) bytes: u64,
    pub(super) host: Option<&'a [u8]>,
    /// `$upstream_cache_status`, if the log has it.
    pub(super) cache: Option<&'a [u8]>,
}

const BEGINNING: &str =
    "an access log such as ADDRESS - USER [25/Nov/2026:20:30:01 +0000] \"REQUEST\" 200 512";

impl<'a> Line<'a> {
    pub(super) fn parse(text: &'a [u8]) -> Result<Self, Fault> {
        let (before, time_ns, rest) = after_time(text).ok_or(Fault::malformed(BEGINNING))?;
        let quoted =
            rest.strip_prefix(b" \"").ok_or(Fault::malformed("a request between \" and \""))?;
        let length =
            request_length(quoted).ok_or(Fault::malformed("a request between \" and \""))?;
        let rest = quoted[length + 1..].strip_prefix(b" ");
        let mut fields =
            Fields::blank(rest.ok_or(Fault::malformed("a status behind the request"))?);
        let status = fields.text("a status of three digits")?;
        let status = number(status).filter(|number| status.len() == 3 && *number >= 100);
        let status = status.and_then(|status| u16::try_from(status).ok());
        let status = status.ok_or(Fault::malformed("a status of three digits"))?;
        let body = bytes(fields.text("the bytes of the body")?);
        let body = body.ok_or(Fault::malformed("the bytes of the body"))?;
        let request = &quoted[..length];
        let host = virtual_host(before);
        let mut line = Self { time_ns, request, status, bytes: body, host, cache: None };
        line.words(fields.rest());
        Ok(line)
    }

    /// Whether a cache was asked, as far as the line says.
    pub(super) fn is_cached(&self) -> bool {
        !matches!(self.cache, Some(b"BYPASS" | b"-" | b""))
    }

    /// What goes on behind the bytes: texts in quotation marks, and words `NAME=VALUE`.
    fn words(&mut self, mut rest: &'a [u8]) {
        loop {
            rest = rest.trim_ascii_start();
            if rest.is_empty() {
                return;
            }
            let name_length = rest.iter().position(|byte| matches!(byte, b'=' | b' ' | b'"'));
            let name_length = name_length.unwrap_or(rest.len());
            let (name, value) = match rest.get(name_length) {
                Some(b'=') => (&rest[..name_length], &rest[name_length + 1..]),
                // A text without a name, or a word.
                _ => (&rest[..0], rest),
            };
            let taken;
            (taken, rest) = text_or_word(value);
            match name {
                b"host" => self.host = Some(taken),
                b"body" => self.bytes = bytes(taken).unwrap_or(self.bytes),
                b"upstream_cache_status" => self.cache = Some(taken),
                b"msec" => self.time_ns = seconds_ns(taken).unwrap_or(self.time_ns),
                _ => {}
            }
        }
    }
}

/// What is before the time in brackets, the time, and what follows it. A user may contain brackets.
fn after_time(text: &[u8]) -> Option<(&[u8], i64, &[u8])> {
    memchr::memchr_iter(b'[', text).find_map(|at| {
        let inner = text.get(at + 1..at + 1 + TIME_BYTES)?;
        let rest = text[at + 1 + TIME_BYTES..].strip_prefix(b"]")?;
        Some((&text[..at], time_ns(inner)?, rest))
    })
}

/// The host and port that Apache's `vhost_combined` writes before the address of the client. Other lines begin with
/// that address, which `-` or a name follows, and a user.
fn virtual_host(before: &[u8]) -> Option<&[u8]> {
    let mut fields = before.split(|byte| *byte == b' ');
    let (first, second) = (fields.next()?, fields.next()?);
    let port = &first[memchr::memrchr(b':', first)? + 1..];
    let has_port = port.len() <= 5 && number(port).is_some();
    let is_address = str::from_utf8(first).is_ok_and(|text| text.parse::<IpAddr>().is_ok());
    // The address, the name of the login, and the user.
    let has_more = fields.filter(|field| !field.is_empty()).count() >= 2;
    (has_port && has_more && !is_address && second != b"-").then_some(first)
}

/// Where a request ends: before the next quotation mark. With `escape=none` a request may contain such marks, and ends
/// before one that a status follows.
fn request_length(quoted: &[u8]) -> Option<usize> {
    let ends = |length: &usize| match quoted.get(length + 1..length + 6) {
        Some([b' ', status @ .., b' ']) => status.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let length = quotation_end(quoted)?;
    if ends(&length) {
        return Some(length);
    }
    memchr::memchr_iter(b'"', quoted).find(ends).or(Some(length))
}

/// The next text in quotation marks, without them, or the next word; and the rest.
fn text_or_word(rest: &[u8]) -> (&[u8], &[u8]) {
    if let Some(quoted) = rest.strip_prefix(b"\"") {
        return match quotation_end(quoted) {
            Some(length) => (&quoted[..length], &quoted[length + 1..]),
            None => (quoted, &[]),
        };
    }
    let length = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
    rest.split_at(length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As nginx writes a variable (`ngx_http_log_escape`).
    fn escape(bytes: &[u8]) -> String {
        let one = |&byte: &u8| match byte {
            b'"' | b'\\' | 0..32 | 127.. => format!("\\x{byte:02X}"),
            _ => char::from(byte).to_string(),
        };
        bytes.iter().map(one).collect()
    }

    proptest! {
        #[test]
        fn what_nginx_writes_is_read_back(
            user in proptest::collection::vec(any::<u8>(), 0..20),
            request in proptest::collection::vec(any::<u8>(), 0..60),
            agent in proptest::collection::vec(any::<u8>(), 0..60),
            host in "[a-z.-]{1,20}",
            status in 100_u16..600,
            bytes in 0..u64::MAX,
        ) {
            let (user, request, agent) = (escape(&user), escape(&request), escape(&agent));
            let text = format!(
                "fe80::1 - {user} [25/Nov/2026:20:30:01 +0000] \"{request}\" {status} {bytes} \"-\" \"{agent}\" host={host}"
            );
            let host = Some(host.as_bytes());
            let time_ns = 1_795_638_601_000_000_000;
            let want = Line { time_ns, request: request.as_bytes(), status, bytes, host, cache: None };
            prop_assert_eq!(line(&text).unwrap(), want);
        }
    }

    fn line(text: &str) -> Result<Line<'_>, Fault> {
        Line::parse(text.as_bytes())
    }

    #[test]
    fn addresses_users_and_texts_may_be_odd() {
        let at = 1_795_638_601_000_000_000;
        let time = "[25/Nov/2026:20:30:01 +0000]";
        let cases = [
            (
                format!("::1 - - {time} \"GET / HTTP/1.1\" 200 5 \"-\" \"x\""),
                "GET / HTTP/1.1",
                200,
                5,
            ),
            (format!("unix: - a b [x] {time} \"GET /\\x22\" 304 0"), "GET /\\x22", 304, 0),
            (format!("2001:db8::7 - - {time} \"\" 400 150 \"-\" \"-\""), "", 400, 150),
            (
                format!("1.2.3.4 - - {time} \"GET /\\\"a HTTP/1.0\" 404 -"),
                "GET /\\\"a HTTP/1.0",
                404,
                0,
            ),
            // Without escapes.
            (
                format!("1 - - {time} \"GET /\"\"a\" b\\ HTTP/1.0\" 200 7 \"\x07\""),
                "GET /\"\"a\" b\\ HTTP/1.0",
                200,
                7,
            ),
            (format!("1 - - {time} \"GET /\\\" 200 7 \"-\""), "GET /\\", 200, 7),
        ];
        for (text, request, status, bytes) in cases {
            let found = line(&text).unwrap();
            let (host, cache) = (None, None);
            let want =
                Line { time_ns: at, request: request.as_bytes(), status, bytes, host, cache };
            assert_eq!(found, want, "{text}");
        }
    }

    #[test]
    fn words_behind_the_line_are_found_by_name_and_not_in_texts() {
        let text = "1 - - [25/Nov/2026:20:30:01 +0000] \"GET / HTTP/1.1\" 200 5 \"host=no\" \"a \\\" host=x\" rt=0.1 \
                    host=\"e.org\" upstream_cache_status=HIT msec=1795638601.250 =x \"";
        let found = line(text).unwrap();
        assert_eq!((found.host, found.cache), (Some(&b"e.org"[..]), Some(&b"HIT"[..])));
        assert_eq!((found.time_ns, found.is_cached()), (1_795_638_601_250_000_000, true));
        let bypassed = text.replace("=HIT", "=BYPASS");
        assert!(!line(&bypassed).unwrap().is_cached());
    }

    #[test]
    fn a_host_before_the_line_is_the_host() {
        let host = |before: &str| {
            let text = format!("{before} [25/Nov/2026:20:30:01 +0000] \"GET / HTTP/1.1\" 200 5");
            line(&text).unwrap().host.map(|host| str::from_utf8(host).unwrap().to_owned())
        };
        let cases = [
            ("www.e.org:443 1.2.3.4 - -", Some("www.e.org:443")),
            ("[::1]:80 fe80::1 - bob", Some("[::1]:80")),
            ("e:80 client.e.org login a user", Some("e:80")),
            ("1.2.3.4 - -", None),
            ("::1 - -", None),
            ("::1 - a b", None),
            ("2001:db8::80 login bob", None),
            ("2001:db8::80 login bob smith", None),
            ("client.e.org - -", None),
            ("unix: - a b", None),
            ("e:http 1.2.3.4 - -", None),
        ];
        for (before, want) in cases {
            assert_eq!(host(before).as_deref(), want, "{before}");
        }
        let named = "e:80 1 - - [25/Nov/2026:20:30:01 +0000] \"GET / HTTP/1.1\" 200 305 \"-\" body=5 host=f";
        let named = line(named).unwrap();
        assert_eq!((named.host, named.bytes), (Some(&b"f"[..]), 5));
    }

    #[test]
    fn cut_lines_are_faults() {
        let text = "1 - - [25/Nov/2026:20:30:01 +0000] \"GET / HTTP/1.1\" 200 ";
        for end in 0..text.len() {
            assert!(line(&text[..end]).is_err(), "{}", &text[..end]);
        }
        for wrong in ["\" 20x 5", "\" 99999 5", "\" 200 -5", "\"200 5", "\\\" 200 5"] {
            let text = format!("1 - - [25/Nov/2026:20:30:01 +0000] \"GET / HTTP/1.1{wrong}");
            assert!(line(&text).is_err(), "{text}");
        }
    }
}

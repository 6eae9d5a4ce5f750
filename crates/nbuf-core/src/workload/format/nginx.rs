//! nginx: access logs of web servers and proxies, in the format `combined` and in those that go on behind it.
//!
//! `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`,
//! and behind it any words. These words are used: `host=$host`, `msec=$msec`,
//! `upstream_cache_status=$upstream_cache_status` and `body=%B`.
//! A host and its port before the line, as in Apache's `vhost_combined`, count as `host=`. Used are GET and HEAD (reads) with a status of `status=`: 200, 206, 301, 302 and 304, which nginx keeps if no
//! status is named. A PURGE that succeeds is a discard. The key is the request target, behind the host if there is one. The length is
//! `$body_bytes_sent`. For HEAD and 304, which have no body, it is the last of a whole answer; for 206 too, if that is more. With
//! a cache status, BYPASS and `-` are left out. Times are those of the end of a request, in seconds without `msec`.
//! Unit: keys. Source: nginx 1.22, `ngx_http_log_module`; Apache's combined has `-` for no bytes.

mod line;

use self::line::Line;
use super::batch::{Batch, Fault};
use super::fields::{each_line, number};
use super::hash::key;
use super::known::{Entry, Known};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Request, Unit};

pub(super) const ROW: Format = Format {
    name: "nginx",
    summary: "access logs of nginx and Apache: combined, and what goes on behind it",
    unit: Unit::Keys,
    source: "nginx.org/en/docs/http/ngx_http_log_module.html",
    suffixes: &["access.log"],
    parameters: "status=200/206/301/302/304",
    looks,
    reading: Reading::Stream(make),
    is_merged: false,
};

/// What nginx keeps in its cache where `proxy_cache_valid` names no status, and how it sends it to those who
/// have a part of it or all.
const STATUSES: [u16; 5] = [200, 206, 301, 302, 304];

struct Nginx {
    statuses: Vec<u16>,
    known: Known,
    /// The text of a key.
    text: Vec<u8>,
}

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&["status"])?;
    let statuses = match parameters.get("status") {
        None => STATUSES.to_vec(),
        Some(list) => list.split('/').map(status).collect::<Option<_>>().ok_or_else(|| {
            ParameterError::Value {
                name: "status".to_owned(),
                value: list.to_owned(),
                takes: "one status or several with / between, such as 200/301/404".to_owned(),
            }
        })?,
    };
    Ok(Made::keys(Nginx { statuses, known: Known::default(), text: Vec::new() }))
}

fn status(text: &str) -> Option<u16> {
    text.parse().ok().filter(|status| (100..600).contains(status))
}

/// What a request asks for, and of what.
fn request_line(request: &[u8]) -> Option<(Method, &[u8])> {
    let at = memchr::memchr(b' ', request)?;
    let method = match &request[..at] {
        b"GET" => Method::Get,
        b"HEAD" => Method::Head,
        b"PURGE" => Method::Purge,
        _ => return None,
    };
    // A target may contain blanks; the protocol is the last word.
    let rest = &request[at + 1..];
    let target = match memchr::memmem::rfind(rest, b" HTTP/") {
        Some(end) => &rest[..end],
        None => rest,
    };
    (!target.is_empty()).then_some((method, target))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Get,
    Head,
    Purge,
}

impl Nginx {
    fn line(&mut self, text: &[u8], out: &mut Batch) -> Result<(), Fault> {
        let line = Line::parse(text)?;
        let is_kept = |(method, _): &(Method, _)| match method {
            // A purge is answered by 204 or 200, and no cache is named.
            Method::Purge => (200..300).contains(&line.status),
            _ => self.statuses.contains(&line.status) && line.is_cached(),
        };
        let Some((method, target)) = request_line(line.request).filter(is_kept) else {
            out.problems.unused += 1;
            return Ok(());
        };
        self.text.clear();
        self.text.extend_from_slice(line.host.unwrap_or_default());
        self.text.extend_from_slice(target);
        let key = key(&self.text);
        let (op, size) = match method {
            Method::Purge => (Op::Discard, Some(0)),
            Method::Head | Method::Get => (Op::Read, self.size(key, method, &line, out)),
        };
        let object = line.host.map_or(0, |host| out.objects.number(host));
        let time_ns = line.time_ns;
        let request = Request::new(op, key, size.unwrap_or(0));
        out.requests.push(Request { time_ns, object, is_unsized: size.is_none(), ..request });
        Ok(())
    }

    /// The size of what was sent; nothing where the log has stated none so far.
    fn size(&mut self, key: u64, method: Method, line: &Line, out: &mut Batch) -> Option<u64> {
        let has_body = method == Method::Get && line.status != 304;
        out.problems.headers_counted += u64::from(!has_body && line.bytes > 0);
        let last = self.known.get(key).and_then(Entry::bytes);
        let stated = match last {
            _ if !has_body => last,
            _ if line.status != 206 => Some(line.bytes),
            Some(last) => Some(last.max(line.bytes)),
            None => (line.bytes > 0).then_some(line.bytes),
        };
        let size = self.known.size(key, stated);
        out.problems.unsized_requests += u64::from(size.is_none());
        size
    }
}

impl Parser for Nginx {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        let taken = each_line(bytes, end, out, |line, out| self.line(line, out));
        out.held_bytes = self.known.held_bytes();
        taken
    }

    fn goes_on(&self) -> Option<&'static str> {
        Some("nginx")
    }
}

fn looks(head: Head) -> Likeness {
    trial::shapes(head, |line| Line::parse(line).is_ok())
}

/// A number of bytes; Apache writes `-` for 0.
fn bytes(text: &[u8]) -> Option<u64> {
    if text == b"-" { Some(0) } else { number(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_between_the_method_and_the_protocol() {
        let target =
            |request: &str| request_line(request.as_bytes()).map(|(_, target)| target.to_vec());
        let cases = [
            ("GET / HTTP/1.1", Some("/")),
            ("HEAD /a?b=c HTTP/2.0", Some("/a?b=c")),
            ("GET /a b HTTP/1.1", Some("/a b")),
            ("GET /a HTTP/1.1 HTTP/1.1", Some("/a HTTP/1.1")),
            ("GET /old", Some("/old")),
            ("GET http://example.com/x HTTP/1.1", Some("http://example.com/x")),
            ("POST / HTTP/1.1", None),
            ("get / HTTP/1.1", None),
            ("GET  HTTP/1.1", None),
            ("GET", None),
            ("", None),
            ("-", None),
            ("\\x16\\x03\\x01", None),
        ];
        for (request, want) in cases {
            assert_eq!(target(request).as_deref(), want.map(str::as_bytes), "{request}");
        }
    }
}

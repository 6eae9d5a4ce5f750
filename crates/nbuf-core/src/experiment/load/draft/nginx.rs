//! An access log of nginx in the format `combined`:
//! `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`.
//!
//! A line is written at the end of a request, with a time in whole seconds. A user is an address.
//! Source: nginx documentation, `ngx_http_log_module`.

use super::{Action, Read, Turn, days, seconds};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

pub(super) fn read(log: &str) -> Read {
    let mut read = Read::default();
    for (at, line) in log.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match turn(line) {
            Ok(turn) => read.turns.push(turn),
            Err(what) => read.problems.push((at + 1, what.to_owned())),
        }
    }
    read
}

/// One line.
pub(super) fn turn(line: &str) -> Result<Turn, &'static str> {
    let (address, rest) = line.split_once(' ').ok_or("there is no address")?;
    let (_, rest) = rest.split_once('[').ok_or("there is no time in brackets")?;
    let (time, rest) = rest.split_once("] \"").ok_or("there is no request behind the time")?;
    let end_seconds = time_of(time).ok_or("the time is not as 25/Nov/2026:20:30:01 +0000")?;
    // A quotation mark in a request is written as \x22.
    let (request, rest) = rest.split_once("\" ").ok_or("the request has no end")?;
    let status = rest.split(' ').next().and_then(|status| status.parse::<u16>().ok());
    let status = status.ok_or("there is no status behind the request")?;
    if rest.matches('"').count() < 4 {
        return Err("there are no referer and user agent: the format is not combined");
    }
    let mut words = request.split(' ');
    let is_get = words.next() == Some("GET");
    let path = words.next().filter(|path| path.starts_with('/'));
    let path =
        path.filter(|path| path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\'));
    // A failed request is an action of the user, and nothing to ask for again.
    let action = path.filter(|_| is_get && status < 400).map(|path| Action::Get(path.to_owned()));
    let bytes = rest.split(' ').nth(1).and_then(|bytes| bytes.parse::<u64>().ok());
    let cost = bytes.ok_or("there are no bytes behind the status")? as f64;
    Ok(Turn { user: address.to_owned(), begin_seconds: end_seconds, end_seconds, cost, action })
}

/// `25/Nov/2026:20:30:01 +0000`
fn time_of(text: &str) -> Option<f64> {
    let (local, zone) = text.split_once(' ')?;
    let (date, time) = local.split_once(':')?;
    let mut parts = date.splitn(3, '/');
    let day = parts.next()?.parse().ok()?;
    let name = parts.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? + 1;
    let year = parts.next()?.parse().ok()?;
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", digits) => (1.0, digits),
        ("-", digits) => (-1.0, digits),
        _ => return None,
    };
    let (hours, minutes) = digits.split_at_checked(2)?;
    let ahead = f64::from(hours.parse::<u8>().ok()?) * 3600.0
        + f64::from(minutes.parse::<u8>().ok()?) * 60.0;
    Some(seconds(days(year, i64::try_from(month).ok()?, day)?, time)? - sign * ahead)
}

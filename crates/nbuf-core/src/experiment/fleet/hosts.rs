//! Hosts: the inputs below a folder such as `host=web-1` share the cache of that host.
//!
//! The folder that is nearest to the input says which host. Spaces and other letters of a name are written as
//! `%20`, as `DuckDB` and Spark write them. Invariant: inputs of a host are in the order of their names.

use std::collections::BTreeMap;
use std::path::Path;

use super::Error;
use super::inputs::{Found, must_go_on};
use super::plan::{Candidate, accesses, native_of};
use crate::workload::format::native;
use crate::workload::source::CancellationToken;

/// What the name of such a folder begins with.
const KEY: &str = "host=";

/// A candidate for each host. Calls `step` for each file. A signal ends it.
pub(super) fn candidates(
    files: Vec<Found>,
    token: &CancellationToken,
    mut step: impl FnMut(),
) -> Result<Vec<Candidate>, Error> {
    let mut hosts: BTreeMap<String, (Candidate, Vec<Option<u64>>)> = BTreeMap::new();
    for Found { named, input } in files {
        must_go_on(token)?;
        step();
        let Some(group) = host(Path::new(&input.path)) else { return Err(Error::NoHost(named)) };
        let accesses = accesses(&named, input.bytes, token);
        let started = native_of(&named, token, native::started).filter(|&seconds| seconds > 0);
        if let Some((host, starts)) = hosts.get_mut(&group) {
            host.others.push(input);
            host.accesses += accesses;
            starts.push(started);
        } else {
            let (others, later_seconds) = (Vec::new(), Vec::new());
            let host = Candidate { input, others, later_seconds, group: group.clone(), accesses };
            hosts.insert(group, (host, vec![started]));
        }
    }
    // What could not be read has no start here.
    must_go_on(token)?;
    hosts.into_values().map(with_starts).collect()
}

/// Recordings count time from their own beginning; other traces of a host share a clock.
fn with_starts((mut host, starts): (Candidate, Vec<Option<u64>>)) -> Result<Candidate, Error> {
    if starts.iter().all(Option::is_none) {
        return Ok(host);
    }
    let mut inputs = std::iter::once(&host.input).chain(&host.others).zip(&starts);
    // An empty file has nothing to merge.
    if let Some((input, _)) = inputs.find(|(input, start)| start.is_none() && input.bytes > 0) {
        return Err(Error::NoStart { host: host.group.clone(), path: (&input.path).into() });
    }
    let first = starts.iter().flatten().min().copied().unwrap_or_default();
    if starts.iter().flatten().any(|&start| start > first) {
        let later = starts.iter().map(|start| start.unwrap_or(first) - first);
        host.later_seconds = later.collect();
    }
    Ok(host)
}

/// The host of an input, by its path from the root.
pub(super) fn host(path: &Path) -> Option<String> {
    let folders = path.parent()?.components().rev();
    let names = folders.filter_map(|folder| folder.as_os_str().to_str()?.strip_prefix(KEY));
    names.map(decoded).find(|name| !name.is_empty())
}

/// A name in which `%20` stands for a byte. What is no such escape stays.
fn decoded(name: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), name.as_bytes());
    while let [first, after @ ..] = rest {
        let escaped = after.get(..2).filter(|_| *first == b'%');
        let byte = escaped.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let byte = byte.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = byte.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_folder_says_which_host() {
        let check = |path: &str, want: Option<&str>| {
            assert_eq!(host(Path::new(path)).as_deref(), want, "{path}");
        };
        check("/t/host=web-1/part-0.parquet", Some("web-1"));
        check("/t/date=2026-11-27/host=a/hour=3/x.csv", Some("a"));
        check("/t/host=rack/host=b/x.csv", Some("b"));
        check("/t/host=a%20b%2Fc/x.csv", Some("a b/c"));
        check("/t/host=50%/x.csv", Some("50%"));
        check("/t/host=%ff/x.csv", Some("%ff"));
        check("/t/host=/x.csv", None);
        check("/t/host=a", None);
        check("/t/xhost=a/x.csv", None);
    }
}

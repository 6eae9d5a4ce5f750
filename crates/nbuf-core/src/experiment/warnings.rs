//! When a report of `size` carries which warning.

use super::result::{MAPPED_SHARE_MAX, Traffic};
use super::self_sizing;
use super::size::WRITTEN_SHARE_MAX;
use super::warning::Warning;
use crate::cache::kernel::Stream;
use crate::trace::{Facts, Peer, summed_uncached};
use crate::units::{Bytes, Nanos};

/// The warnings of a workload.
pub(super) fn warnings_of(
    stream: &Stream,
    traffic: &Traffic,
    facts: &Facts,
    accesses: u64,
    is_forced: bool,
) -> Vec<Warning> {
    let (mapped, written) = (stream.mapped_share(), traffic.written_share());
    let mut warnings = Vec::new();
    if facts.multi_generational {
        warnings.push(Warning::MultiGenerational);
    }
    if mapped > MAPPED_SHARE_MAX {
        warnings.push(Warning::Mapped { share: mapped, is_forced });
    }
    if written > WRITTEN_SHARE_MAX {
        warnings.push(Warning::Written { share: written });
    }
    if facts.run_ns().is_none() && accesses > 0 {
        warnings.push(Warning::Untimed);
    }
    if accesses == 0 {
        warnings.push(Warning::NothingTouched);
    }
    warnings
}

/// A server that used less of a processor, as a share of what the command used, does not matter to its size.
const PEER_SHARE_MIN: f64 = 0.1;

/// What the recording itself warns of.
pub(super) fn recorded(facts: &Facts) -> Vec<Warning> {
    let texts = facts.warnings.iter().cloned().map(Warning::Text);
    let uncached = summed_uncached(&facts.uncached).into_iter().map(Warning::Uncached);
    texts.chain(uncached).chain(elsewhere(facts)).collect()
}

/// The warning about servers that were not recorded and worked for the command.
fn elsewhere(facts: &Facts) -> Option<Warning> {
    let least_ns = facts.cpu_ns as f64 * PEER_SHARE_MIN;
    // One whose time is unknown may have done anything.
    let worked =
        |peer: &&Peer| peer.cpu_ns.is_none_or(|cpu_ns| cpu_ns > 0 && cpu_ns as f64 >= least_ns);
    let mut peers = facts.peers.iter().filter(worked);
    let peer = peers.next()?.clone();
    Some(Warning::WorkElsewhere { peer, others: peers.count(), cpu: Nanos(facts.cpu_ns) })
}

/// The warnings about programs, known by these files, that choose their memory by the limit.
pub(super) fn sizing_themselves(files: &[String]) -> impl Iterator<Item = Warning> + use<> {
    let found = self_sizing::found(files.iter().map(String::as_str));
    found.into_iter().map(|(program, setting)| Warning::SizesItself { program, setting })
}

/// Above this share of pages that cannot be dropped, runs may begin with what they should fill.
pub(super) const UNREACHED_SHARE_MAX: f64 = 0.05;

/// The warning about files that cannot be opened by their names, with this share of the pages.
pub(super) fn unreachable(share: f64) -> Option<Warning> {
    (share > UNREACHED_SHARE_MAX).then_some(Warning::Unreachable { share })
}

/// The warning where there is less memory than the command can make use of.
pub(super) fn memory_short(needed_bytes: Bytes, total_bytes: Bytes) -> Option<Warning> {
    (total_bytes > Bytes(0) && needed_bytes > total_bytes)
        .then_some(Warning::MemoryShort { total_bytes, needed_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(name: &str, cpu_ns: Option<u64>) -> Peer {
        let pid = cpu_ns.map(|_| 7);
        Peer { pid, name: name.into(), address: "/run/a.sock".into(), cpu_ns }
    }

    fn words(peers: &[Peer]) -> Option<String> {
        let facts = Facts { cpu_ns: 1_000_000_000, peers: peers.to_vec(), ..Facts::default() };
        recorded(&facts).first().map(ToString::to_string)
    }

    #[test]
    fn a_server_that_worked_is_named_with_what_it_did() {
        let text = words(&[peer("redis-server", Some(1_500_000_000)), peer("b", Some(1))]).unwrap();
        let want = "most work was done by redis-server (process 7), to which the command was connected at \
                    /run/a.sock: 1.50 s of processor time, and 1.00 s by the command; ";
        assert!(
            text.starts_with(want) && text.contains("`nbuf size -- redis-server ...`"),
            "{text}"
        );
        let text = words(&[peer("a", Some(500_000_000)), peer("b", Some(200_000_000))]).unwrap();
        assert!(
            text.starts_with("work was done by a (process 7) and 1 other server, to"),
            "{text}"
        );
    }

    #[test]
    fn a_server_that_hardly_worked_is_no_warning() {
        assert_eq!(words(&[peer("a", Some(90_000_000))]), None);
        assert_eq!(words(&[]), None);
    }

    #[test]
    fn a_server_that_may_not_be_seen_is_one() {
        let text = words(&[peer("", None)]).unwrap();
        let want = "work was done by a server that nbuf may not look at, to which the command was \
                    connected at /run/a.sock; ";
        assert!(text.starts_with(want) && text.contains("`nbuf size -- SERVER ...`"), "{text}");
    }
}

//! A memory limit around nbuf itself, as a container sets it: the pages that reclaim takes are no
//! part of the workload, and no run has more than the limit.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::process::Stdio;

use nbuf::internal::sys::cache;
use nbuf::internal::sys::cgroup::{Group, Hierarchies};
use nbuf::trace::CacheEvent;
use nbuf::units::Bytes;
use support::{NBUF, Need, Place, Recorded, bytes, requires, skip};

const MIB: u64 = 1 << 20;

#[test]
fn what_reclaim_takes_under_a_limit_around_us_is_left_out() {
    let Some(_lock) = requires(&[Need::Tracepoints]) else { return };
    let hierarchies = Hierarchies::of_this_process();
    if hierarchies.memory_v1.is_none() {
        return skip("no group with a limit and processes has groups below it but in cgroup v1");
    }
    let group = match Group::create(&hierarchies) {
        Ok(group) => group,
        Err(error) => return skip(&format!("no group: {error}")),
    };
    group.limiter().limit(Some(Bytes(48 * MIB))).unwrap();
    let place = Place::new();
    let file = place.file("file", 64 << 20);
    // What it reads is to be read within the limit.
    let opened = std::fs::File::open(&file).unwrap();
    opened.sync_all().unwrap();
    cache::drop_pages(&opened).unwrap();
    // The shell goes in before it begins.
    let lists = group.paths().into_iter().map(|group| group.processes.into_string().unwrap());
    let lists: Vec<String> = lists.collect();
    let script = "for list; do echo $$ >$list || exit 99; done; exec \"$0\" size -y --json --trace-out t.parquet --verify-at 100% -- \
        sh -c 'dd if=file bs=64k of=/dev/null; dd if=file bs=64k of=/dev/null'";
    let mut nbuf = std::process::Command::new("sh");
    nbuf.args(["-c", script, NBUF]).args(&lists).current_dir(place.path(""));
    nbuf.stdin(Stdio::null());
    nbuf.env_remove("SUDO_UID").env_remove("SUDO_GID");
    let sized = Recorded::of(nbuf.output().unwrap(), &place.path("t.parquet"));
    drop(group);

    let trace = sized.trace();
    assert_eq!(bytes(trace, &file, CacheEvent::Read), Some(128 * MIB), "{}", sized.stderr);
    let gone = bytes(trace, &file, CacheEvent::Evict).unwrap_or(0);
    assert!(gone < 4 * MIB, "{gone} bytes were taken to be dropped");
    assert!(trace.facts.memory_total_bytes <= Bytes(48 * MIB), "{:?}", trace.facts);
    let document = sized.json();
    let recommended = document["recommend"]["cache_bytes"].as_u64().unwrap();
    assert!((64 * MIB..72 * MIB).contains(&recommended), "{document}");
    let warnings = document["warnings"].to_string();
    assert!(warnings.contains("has only 48.0 MiB of memory"), "{warnings}");
    // Without a limit of ours the run has the limit of the group, as predicted.
    let unlimited = document["verify"].as_array().unwrap().first().unwrap();
    assert_eq!((&unlimited["limit_bytes"], &unlimited["within_band"]), (&().into(), &true.into()));
    assert!(unlimited["measured_fills"].as_u64() > Some(30_000), "{document}");
}

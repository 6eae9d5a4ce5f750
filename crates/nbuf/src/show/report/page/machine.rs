//! Machine and recording: the facts for a reader who wants to judge the result, or to repeat it.

use std::fmt::Write as _;
use std::time::Duration;

use nbuf::experiment::result::{Detail, Device, SizeReport, Traffic};
use nbuf::units::Bytes;

use super::super::super::page::Part;
use super::super::super::text::{count, grouped, moment};
use crate::shell;

pub(super) fn section(report: &SizeReport, detail: &Detail<'_>) -> Vec<Part> {
    let facts = detail.facts;
    let seconds = |ns: u64| format!("{:.2} s", Duration::from_nanos(ns).as_secs_f64());
    let known = |text: &str| if text.is_empty() { "not known".to_owned() } else { text.to_owned() };
    let mut rows =
        vec![("command", known(&shell::line(&facts.command))), ("run in", known(&facts.directory))];
    if facts.started_unix_seconds > 0 {
        rows.push(("recorded", moment(facts.started_unix_seconds)));
    }
    let status = facts.exit_status.map_or("broke off".into(), |status| format!("status {status}"));
    rows.push((
        "recorded run",
        format!(
            "{} elapsed, {} of processor time, {status}",
            seconds(facts.elapsed_ns),
            seconds(facts.cpu_ns)
        ),
    ));
    let capture = &report.capture;
    rows.push((
        "seen",
        format!(
            "{}; {} to {} ({})",
            count(capture.events, "event", "events"),
            count(capture.accesses, "page access", "page accesses"),
            count(capture.distinct_pages, "distinct page", "distinct pages"),
            report.footprint_bytes
        ),
    ));
    rows.extend(traffic(&report.traffic));
    let memory = &report.memory;
    rows.push((
        "other memory",
        format!(
            "{} anonymous, {} shared, {} kernel, {} shared text",
            memory.anonymous_bytes,
            memory.shmem_bytes,
            memory.kernel_bytes,
            memory.shared_text_bytes
        ),
    ));
    let eviction = if facts.multi_generational {
        "multi-generational LRU"
    } else {
        "active and inactive lists"
    };
    rows.push(("kernel", format!("{}, eviction by {eviction}", known(&facts.kernel))));
    rows.push(("cgroup", known(&facts.cgroup)));
    if facts.processors > 0 {
        let total = facts.memory_total_bytes;
        rows.push((
            "machine",
            format!("{} processors, {total} of memory at most", facts.processors),
        ));
    }
    let devices: Vec<String> = facts.devices.iter().map(device).collect();
    if !devices.is_empty() {
        rows.push(("devices, busiest first", devices.join("\n")));
    }
    vec![Part::Facts(rows)]
}

/// Reads and writes, apart.
fn traffic(of: &Traffic) -> [(&'static str, String); 2] {
    let requested = format!(
        "{} pages read, {} written, {} touched through mappings",
        grouped(of.read_pages),
        grouped(of.written_pages),
        grouped(of.mapped_pages)
    );
    let done = format!(
        "{} pages filled, {} of them by writes; {} read from discs, {} to be written back",
        grouped(of.filled_pages),
        grouped(of.filled_by_writes_pages),
        of.read_bytes,
        of.written_bytes
    );
    [("asked for", requested), ("done for it", done)]
}

fn device(device: &Device) -> String {
    let filesystem = match device.filesystem.as_str() {
        "" => "an unknown file system".into(),
        known => known.to_owned(),
    };
    let name = match device.name.as_str() {
        "" => format!("{}:{}", device.major, device.minor),
        name => format!("{} ({}:{})", name, device.major, device.minor),
    };
    let mut text = format!("{filesystem} on {name}: readahead {}", Bytes(device.readahead_bytes));
    if device.io_bytes > 0 {
        let _ = write!(text, ", largest I/O {}", Bytes(device.io_bytes));
    }
    if device.folio_order_max > 0 {
        let largest = Bytes(nbuf::units::PAGE_BYTES << device.folio_order_max.min(32));
        let _ = write!(text, ", folios up to {largest}");
    }
    text
}

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
    let (elapsed, cpu) = (seconds(facts.elapsed_ns), seconds(facts.cpu_ns));
    let run = format!("{elapsed} elapsed, {cpu} of processor time, {status}");
    rows.push(("recorded run", run));
    let capture = &report.capture;
    let events = count(capture.events, "event", "events");
    let accesses = count(capture.accesses, "page access", "page accesses");
    let pages = count(capture.distinct_pages, "distinct page", "distinct pages");
    rows.push(("seen", format!("{events}; {accesses} to {pages} ({})", report.footprint_bytes)));
    rows.extend(traffic(&report.traffic));
    let memory = &report.memory;
    let (heap, shared) = (memory.anonymous_bytes, memory.shmem_bytes);
    let (kernel, text) = (memory.kernel_bytes, memory.shared_text_bytes);
    let other = format!("{heap} anonymous, {shared} shared, {kernel} kernel, {text} shared text");
    rows.push(("other memory", other));
    let eviction = if facts.multi_generational {
        "multi-generational LRU"
    } else {
        "active and inactive lists"
    };
    rows.push(("kernel", format!("{}, eviction by {eviction}", known(&facts.kernel))));
    rows.push(("cgroup", known(&facts.cgroup)));
    if facts.processors > 0 {
        let (processors, total) = (facts.processors, facts.memory_total_bytes);
        rows.push(("machine", format!("{processors} processors, {total} of memory at most")));
    }
    let devices: Vec<String> = facts.devices.iter().map(device).collect();
    if !devices.is_empty() {
        rows.push(("devices, busiest first", devices.join("\n")));
    }
    vec![Part::Facts(rows)]
}

/// Reads and writes, apart.
fn traffic(of: &Traffic) -> [(&'static str, String); 2] {
    let [read, written, mapped] = [of.read_pages, of.written_pages, of.mapped_pages].map(grouped);
    let [filled, by_writes] = [of.filled_pages, of.filled_by_writes_pages].map(grouped);
    let requested =
        format!("{read} pages read, {written} written, {mapped} touched through mappings");
    let (read, written) = (of.read_bytes, of.written_bytes);
    let done = format!(
        "{filled} pages filled, {by_writes} of them by writes; {read} read from discs, {written} to be written back"
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

//! The timeline of a command as trace events, which Perfetto and `chrome://tracing` open.
//!
//! Source: "Trace Event Format" (2016): complete events (`X`) in microseconds, names as metadata (`M`).

use std::collections::BTreeMap;

use nbuf::experiment::run::Timeline;
use serde::Serialize;

#[derive(Serialize)]
struct File<'a> {
    #[serde(rename = "traceEvents")]
    events: Vec<Event<'a>>,
    #[serde(rename = "displayTimeUnit")]
    unit: &'static str,
    #[serde(rename = "otherData")]
    other: BTreeMap<&'static str, String>,
}

#[derive(Default, Serialize)]
struct Event<'a> {
    name: &'a str,
    ph: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: u32,
    tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Arguments>,
}

#[derive(Serialize)]
struct Arguments {
    name: String,
}

/// The text of the file.
pub(crate) fn perfetto(timeline: &Timeline, command: &[String]) -> String {
    let mut events = Vec::new();
    let mut processes = BTreeMap::new();
    for thread in &timeline.threads {
        processes.insert(thread.thread, thread.process);
        let named = |name, what: &str| {
            let args = Some(Arguments { name: what.to_owned() });
            Event {
                name,
                ph: "M",
                pid: thread.process,
                tid: thread.thread,
                args,
                ..Event::default()
            }
        };
        events.push(named("thread_name", &thread.name));
        if thread.thread == thread.process {
            events.push(named("process_name", &thread.name));
        }
    }
    events.extend(timeline.slices.iter().map(|slice| Event {
        name: slice.part,
        ph: "X",
        ts: Some(micros(slice.from_ns)),
        dur: Some(micros(slice.to_ns - slice.from_ns)),
        pid: processes.get(&slice.thread).copied().unwrap_or(slice.thread),
        tid: slice.thread,
        args: None,
    }));
    let mut other = BTreeMap::from([("command", command.join(" "))]);
    if timeline.cut > 0 {
        other.insert("cut", format!("{} later slices are missing", timeline.cut));
    }
    let file = File { events, unit: "ms", other };
    // Strings and finite numbers only.
    serde_json::to_string(&file).unwrap_or_default() + "\n"
}

fn micros(ns: u64) -> f64 {
    ns as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use nbuf::experiment::run::{TimelineSlice, TimelineThread};

    use super::*;

    #[test]
    fn a_thread_has_its_name_and_its_slices() {
        let thread = TimelineThread { thread: 8, process: 7, name: "a\"b".into() };
        let slice = TimelineSlice { thread: 8, part: "on CPU", from_ns: 1_500, to_ns: 3_000 };
        let timeline = Timeline { threads: vec![thread], slices: vec![slice], cut: 2 };
        let text = perfetto(&timeline, &["job".into()]);
        let want = concat!(
            r#"{"traceEvents":[{"name":"thread_name","ph":"M","pid":7,"tid":8,"args":{"name":"a\"b"}},"#,
            r#"{"name":"on CPU","ph":"X","ts":1.5,"dur":1.5,"pid":7,"tid":8}],"displayTimeUnit":"ms","#,
            r#""otherData":{"command":"job","cut":"2 later slices are missing"}}"#,
            "\n"
        );
        assert_eq!(text, want);
    }
}

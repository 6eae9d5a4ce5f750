//! One `check`: a log in a line-by-line notation, the records it becomes.

use expect_test::{Expect, expect};

use super::*;
use crate::workload::record::log::{Entry, FileSeen};

/// `task kind index extent` a line, a nanosecond apart, on one file of `file_bytes`.
fn check(file_bytes: u64, log: &str, want: &Expect) {
    let mut survey = Survey::default();
    let mut events = Vec::new();
    if file_bytes > 0 {
        survey.push(Entry::File(FileSeen {
            time_ns: 0,
            device: 1 << 20,
            inode: 7,
            file_bytes,
            path: Some(b"/f".to_vec()),
        }));
    }
    for (time_ns, line) in (1..).zip(log.lines().filter(|line| !line.trim().is_empty())) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let kind = match words[1] {
            "get" => Kind::GetPages,
            "fault" => Kind::Fault,
            "map" => Kind::MapPages,
            "add" => Kind::Add,
            "delete" => Kind::Delete,
            _ => Kind::Write,
        };
        let event = Event {
            time_ns,
            task: words[0].parse().unwrap(),
            kind,
            device: 1 << 20,
            inode: 7,
            index: words[2].parse().unwrap(),
            extent: words[3].parse().unwrap(),
        };
        survey.push(Entry::Event(event));
        events.push(event);
    }
    let mut normaliser = survey.normaliser();
    for event in events {
        normaliser.push(event);
    }
    let trace = normaliser.finish();
    let shown: Vec<String> = trace
        .records
        .iter()
        .map(|r| format!("{} {:?} {}+{}\n", r.request, r.op, r.offset_bytes, r.length_bytes))
        .collect();
    want.assert_eq(&shown.concat());
}

#[test]
fn a_read_past_the_end_is_clipped() {
    check(10_000, "1 get 0 23", &expect![["0 Read 0+10000\n"]]);
}

#[test]
fn batches_of_one_read_are_one_request() {
    let log = "
        1 get 0 95
        1 get 31 95
        2 get 31 95
        1 get 62 95
        1 get 62 95";
    check(
        1 << 20,
        log,
        &expect![["
        0 Read 0+393216
        1 Read 126976+266240
        2 Read 253952+139264
    "]],
    );
}

#[test]
fn a_read_whose_first_batch_was_not_told_begins_where_it_must() {
    let log = "
        1 get 0 23
        1 get 24 47
        1 get 70 71
        1 get 90 92";
    check(
        1 << 20,
        log,
        &expect![["
        0 Read 0+98304
        1 Read 98304+98304
        2 Read 196608+98304
        3 Read 368640+12288
    "]],
    );
}

#[test]
fn the_same_page_twice_is_two_requests() {
    check(4096, "1 get 0 0\n1 get 0 0", &expect![["0 Read 0+4096\n1 Read 0+4096\n"]]);
}

#[test]
fn what_was_asked_for_is_told_apart_from_what_came_with_it() {
    let log = "
        1 add 0 2
        1 add 4 2
        1 get 0 3
        1 fault 9 0
        1 add 8 1
        1 add 16 0
        1 delete 0 2";
    check(
        1 << 20,
        log,
        &expect![["
        0 Fill 0+16384
        0 Readahead 16384+16384
        0 Read 0+16384
        1 Fault 36864+4096
        1 Fill 32768+8192
        1 Readahead 65536+4096
        1 Evict 0+16384
    "]],
    );
}

#[test]
fn folios_of_one_write_are_one_request() {
    let log = "
        1 write 0 12288
        1 write 4096 8192
        2 write 4096 8192
        1 write 8192 4096
        1 write 8192 4096";
    check(
        1 << 20,
        log,
        &expect![["
        0 Write 0+12288
        1 Write 4096+8192
        2 Write 8192+4096
    "]],
    );
}

#[test]
fn a_write_makes_the_file_grow() {
    let log = "
        1 write 0 5000
        1 add 0 0
        1 add 1 0
        1 get 0 3";
    check(
        0,
        log,
        &expect![["
        0 Write 0+5000
        0 Fill 0+4096
        0 Fill 4096+4096
        1 Read 0+5000
    "]],
    );
}

#[test]
fn an_unknown_file_keeps_its_number_and_a_broken_recording_says_so() {
    let event = Event {
        time_ns: 5,
        task: 1,
        kind: Kind::GetPages,
        device: 254 << 20,
        inode: 123_456,
        index: 0,
        extent: 0,
    };
    let mut survey = Survey::default();
    survey.push(Entry::Event(event));
    let mut normaliser = survey.normaliser();
    normaliser.push(event);
    let trace = normaliser.finish();
    assert_eq!(trace.files, ["unknown inode 254:0/123456"]);
    assert_eq!(trace.facts.warnings.len(), 2, "{:?}", trace.facts.warnings);
}

#[test]
fn a_fill_is_judged_by_the_demand_before_it_when_the_next_is_far_off() {
    let event = |time_ns, task, kind, index, extent| {
        let (device, inode) = (1 << 20, 7);
        Event { time_ns, task, kind, device, inode, index, extent }
    };
    let mut events = vec![
        event(0, 1, Kind::GetPages, 0, 1),
        event(1, 1, Kind::Add, 1, 0),
        event(2, 1, Kind::Add, 2, 0),
    ];
    let others = tail::TAIL_RECORDS as u64;
    events.extend((0..others).map(|n| event(3 + n, 2, Kind::GetPages, n, n)));
    events.push(event(3 + others, 1, Kind::GetPages, 2, 2));
    let mut survey = Survey::default();
    for event in &events {
        survey.push(Entry::Event(*event));
    }
    let mut normaliser = survey.normaliser();
    for event in events {
        normaliser.push(event);
    }
    let trace = normaliser.finish();
    assert_eq!(trace.records.len() as u64, others + 4);
    let ops: Vec<(CacheEvent, u32)> =
        trace.records.iter().take(3).map(|r| (r.op, r.request)).collect();
    assert_eq!(ops, [(CacheEvent::Read, 0), (CacheEvent::Fill, 0), (CacheEvent::Readahead, 0)]);
}

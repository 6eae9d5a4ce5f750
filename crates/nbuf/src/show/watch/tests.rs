//! What the text of an interval looks like.

use expect_test::expect;
use nbuf::experiment::result::{
    WatchCpu, WatchDisc, WatchFaults, WatchMeter, WatchOwn, WatchPressure, WatchQueue, WatchTimes,
};

use super::*;

/// An interval with something in each line.
pub(crate) fn sample() -> WatchDocument {
    let times = WatchTimes {
        count: 12,
        mean_seconds: Some(0.025),
        p50_seconds: Some(0.02),
        p90_seconds: Some(0.03),
        p99_seconds: Some(0.1),
        ..WatchTimes::default()
    };
    WatchDocument {
        unix_seconds: 86_399.5,
        seconds: 2.0,
        processors: 2,
        cpu: WatchCpu {
            user_seconds: 1.0,
            system_seconds: 0.5,
            interrupt_seconds: 0.1,
            multiprogramming_idle_seconds: 0.4,
            true_idle_seconds: 2.0,
            idle_by: WatchMeter::Samples,
            ..WatchCpu::default()
        },
        pressure: Some(WatchPressure { io_some_percent: 20.0, ..WatchPressure::default() }),
        queue: WatchQueue { length: 3, length_mean: 1.5, samples: 20, ..WatchQueue::default() },
        faults: WatchFaults {
            major: 12,
            minor: 2000,
            running_between_mean_seconds: Some(0.00075),
            between_major: Some(times.clone()),
            between: Some(WatchTimes::default()),
            ..WatchFaults::default()
        },
        discs: vec![WatchDisc {
            name: "vda".into(),
            reads: 200,
            read_mean_seconds: Some(0.0005),
            queue_mean: 0.05,
            busy_percent: 5.0,
            ..WatchDisc::default()
        }],
        service: Some(times),
        files: vec![WatchFile {
            path: "/var/lib/a\u{1b}[2J".into(),
            pages: 1000,
            cached: 500,
            grown: Some(-7),
            map: vec![0.0, 0.1, 0.5, 0.9, 1.0],
            ..WatchFile::default()
        }],
        chosen: Some(WatchChosen {
            processes: vec![1, 2],
            user_seconds: 0.5,
            ..WatchChosen::default()
        }),
        own: WatchOwn { cpu_percent: 0.4, records_percent: 0.2, records: 3000, lost: 0 },
        ..WatchDocument::default()
    }
}

#[test]
fn a_paragraph_has_a_line_for_each_meter() {
    expect![[r#"
        23:59:59  2.00 s of 2 processors
        CPU       user 25.0 %, system 12.5 %, interrupts 2.5 %, stolen 0.0 %
        idle      true 50.0 %, multiprogramming 10.0 % (by samples)
        pressure  CPU 0 %, disc 20 % some and 0 % full, memory 0 % some and 0 % full
        queue     3 now, mean 1.5 of 20 samples
                  0/s switches and 0/s tasks made
        states    0 running, 0 sleeping, 0 disc, 0 stopped, 0 zombies, 0 idle
        faults    6.0/s major and 1,000/s minor
                  running time by faults: - a major one, 750 us any
        between   major 12: mean 25.0 ms, p50 20.0 ms, p90 30.0 ms, p99 100 ms
        between   any none
        cache     0 B, +0 B, 0 B read from discs
                  pages: 0/s filled at least, 0/s evicted, 0/s refaulted
        disc      vda 5 % busy, queue 0.05; 100/s read 500 us, 0/s written
        service   12: mean 25.0 ms, p50 20.0 ms, p90 30.0 ms, p99 100 ms
        file      /var/lib/a?[2J
                  500 of 1,000 pages cached (-7), 0 dirty, 0 evicted
                  | ░▒▓█|
        chosen    2 processes: user 25.0 %, system 0.0 % of a core, 0 B
                  threads: 0 running, 0 sleeping, 0 disc, 0 stopped, 0 zombies, 0 idle
                  0/s major and 0/s minor faults, running time - a fault
        own       0.4 % of a core here, 0.2 % in others for 3,000 records

    "#]]
    .assert_eq(&text(&sample()));
}

#[test]
fn no_line_is_wider_than_a_terminal() {
    let text = text(&sample());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

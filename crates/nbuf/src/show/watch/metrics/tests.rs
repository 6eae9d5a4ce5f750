//! What is scraped after one interval and after two.

use std::collections::BTreeMap;

use nbuf::experiment::result::{FigureStep, WatchTimes};
use nbuf::units::whole;

use super::super::tests::sample;
use super::*;

/// Names with labels, and their values in thousandths.
fn read(text: &str) -> BTreeMap<String, u64> {
    let values = text.lines().filter(|line| !line.starts_with('#'));
    let parsed = values.map(|line| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), whole((value.parse::<f64>().unwrap() * 1000.0).round()))
    });
    parsed.collect()
}

fn after(intervals: &[WatchDocument]) -> String {
    let mut metrics = Metrics::default();
    for interval in intervals {
        metrics.take(interval);
    }
    metrics.text()
}

#[test]
fn counters_grow_and_gauges_are_of_the_last_interval() {
    let mut second = sample();
    (second.queue.length_mean, second.faults.major) = (0.5, 30);
    // The disc did nothing, and has no figures in the document.
    let quiet = std::mem::take(&mut second.discs);
    let values = read(&after(&[sample(), second]));
    assert_eq!(values["nbuf_cpu_seconds_total{mode=\"user\"}"], 2000);
    assert_eq!(values["nbuf_cpu_seconds_total{mode=\"multiprogramming_idle\"}"], 800);
    assert_eq!(values["nbuf_page_faults_total{kind=\"major\"}"], 42_000);
    assert_eq!(values["nbuf_run_queue_length"], 500);
    assert_eq!(values["nbuf_watched_seconds_total"], 4000);
    let disc = &quiet[0];
    let reads = format!("nbuf_disc_reads_total{{disc=\"{}\"}}", disc.name);
    assert_eq!(values[&reads], 1000 * disc.reads);
    // How busy it is now cannot be said.
    assert!(!values.keys().any(|name| name.starts_with("nbuf_disc_busy_ratio")), "{values:?}");
}

#[test]
fn a_histogram_has_buckets_that_add_up() {
    let step = |from, to, count| FigureStep { from, to, count };
    let steps = vec![step(1e-6, 1.5e-6, 3), step(1.5e-6, 2e-6, 4), step(10.0, 15.0, 1)];
    let times = WatchTimes { count: 8, mean_seconds: Some(1.5), steps, ..WatchTimes::default() };
    let mut seen = sample();
    seen.service = Some(times);
    let values = read(&after(&[seen.clone(), seen]));
    let bucket = |end: &str| values[&format!("nbuf_disc_service_seconds_bucket{{le=\"{end}\"}}")];
    let buckets = ["0.000001", "0.000002", "10.0", "+Inf"].map(bucket);
    assert_eq!(buckets, [0, 14_000, 14_000, 16_000]);
    assert_eq!(values["nbuf_disc_service_seconds_count"], 16_000);
    assert_eq!(values["nbuf_disc_service_seconds_sum"], 24_000);
}

#[test]
fn every_family_is_described_once_and_the_text_has_an_end() {
    let text = after(&[sample(), sample()]);
    let described: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    let names: std::collections::BTreeSet<&str> =
        described.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names.len(), described.len());
    assert!(described.contains(&"nbuf_cpu_seconds counter"), "{described:?}");
    assert!(text.ends_with("# EOF\n"));
    // Before the first interval there is nothing to say, and that is an answer.
    assert_eq!(Metrics::default().text(), "# EOF\n");
}

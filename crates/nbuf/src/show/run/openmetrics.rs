//! The figures of a command as `OpenMetrics`, for the text files that a node's exporter collects.
//!
//! The command has ended, so that each figure is a gauge; meters are histograms.
//! Source: the `OpenMetrics` specification, version 1.0. Names begin with `nbuf_run_`, and end with their unit.

use nbuf::experiment::result::{RunDocument, RunMeter, RunParts};

use super::super::watch::metrics::{Value, Values, bytes, now, plain, seconds, text};

/// The text of the file.
pub(crate) fn openmetrics(ran: &RunDocument) -> String {
    let some = |count: Option<u64>| count.map(|count| now(count as f64)).unwrap_or_default();
    let command = by("command", [(ran.command.join(" "), f64::from(ran.exit_status))]);
    let cpu = by("mode", [("user", ran.user_seconds), ("system", ran.system_seconds)]);
    let faults = counts("kind", [("major", ran.faults_major), ("minor", ran.faults_minor)]);
    let cache = counts(
        "kind",
        ran.cache.iter().flat_map(|cache| {
            [("lookups", cache.lookups), ("hits", cache.hits), ("fills", cache.fills)]
        }),
    );
    let (read, written) = (ran.device_read_bytes.0, ran.device_written_bytes.0);
    let disc = counts("direction", [("read", read), ("written", written)]);
    let (waits, taken) = (ran.switches_voluntary, ran.switches_involuntary);
    let switches = counts("kind", [("voluntary", waits), ("involuntary", taken)]);
    let each = ran.runs.iter().enumerate().map(|(at, run)| (at + 1, run.real_seconds));
    let mut families = vec![
        plain("run_exit_status", "Exit status of the command").of(command),
        seconds("run_real", "Time of the clock").of(now(ran.real_seconds)),
        seconds("run_real_part", "Time of the clock by what the command did")
            .of(parts(ran.real_time)),
        seconds("run_thread_part", "Lives of all threads by part").of(parts(ran.thread_time)),
        seconds("run_cpu", "Time of processors").of(cpu),
        plain("run_faults", "Page faults").of(faults),
        plain("run_cache", "Look-ups in the page cache, hits, and pages put into it").of(cache),
        bytes("run_disc", "Bytes from and to block devices").of(disc),
        bytes("run_memory_max", "Most memory of a process").of(now(ran.memory_bytes_max.0 as f64)),
        plain("run_switches", "Times that a thread left its processor").of(switches),
        plain("run_processes", "Processes").of(some(ran.processes)),
        plain("run_threads", "Threads").of(some(ran.threads)),
        seconds("run_each_real", "Time of the clock of each run").of(by("run", each)),
    ];
    families.extend(ran.meters.iter().flat_map(|meters| {
        [
            seconds("run_event", "Times of events").of(histograms("event", &meters.events)),
            seconds("run_call", "Times of system calls").of(histograms("call", &meters.calls)),
        ]
    }));
    families.retain(|family| !family.values.is_empty());
    text(families)
}

fn by<S: ToString>(label: &'static str, values: impl IntoIterator<Item = (S, f64)>) -> Values {
    let row = |(name, value): (S, f64)| (vec![(label, name.to_string())], Value::Gauge(value));
    values.into_iter().map(row).collect()
}

fn counts(label: &'static str, counts: impl IntoIterator<Item = (&'static str, u64)>) -> Values {
    by(label, counts.into_iter().map(|(name, count)| (name, count as f64)))
}

fn parts(parts: Option<RunParts>) -> Values {
    let named = parts.iter().flat_map(RunParts::named);
    by("part", named.map(|(name, part)| (name.replace(' ', "_"), part)))
}

fn histograms(label: &'static str, meters: &[RunMeter]) -> Values {
    let row = |meter: &RunMeter| {
        let name = match &meter.step_of {
            Some(whole) => format!("{whole}, {}", meter.name),
            None => meter.name.clone(),
        };
        let steps = meter.histogram.iter().map(|step| (step.to_seconds, step.count));
        (vec![(label, name)], Value::of_steps(steps, meter.total_seconds))
    };
    meters.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use nbuf::experiment::result::{RunMeterStep, RunMeters, RunSample};

    use super::*;

    fn sample() -> RunDocument {
        let meter = RunMeter {
            name: "read".into(),
            count: 5,
            total_seconds: 0.25,
            histogram: vec![
                RunMeterStep { from_seconds: 1e-6, to_seconds: 1.1e-6, count: 3 },
                RunMeterStep { from_seconds: 0.1, to_seconds: 0.11, count: 2 },
            ],
            ..RunMeter::default()
        };
        let run = |real_seconds| RunSample { real_seconds, ..RunSample::default() };
        RunDocument {
            command: vec!["a \"b\"\n".into()],
            exit_status: 3,
            real_seconds: 1.5,
            real_time: Some(RunParts { lock_or_pipe_seconds: 1.5, ..RunParts::default() }),
            runs: vec![run(1.0), run(1.5)],
            meters: Some(RunMeters { calls: vec![meter], ..RunMeters::default() }),
            ..RunDocument::default()
        }
    }

    #[test]
    fn every_figure_has_its_line() {
        let text = openmetrics(&sample());
        for line in [
            "# TYPE nbuf_run_real_seconds gauge",
            "# UNIT nbuf_run_real_seconds seconds",
            "nbuf_run_real_seconds 1.5",
            "nbuf_run_real_part_seconds{part=\"lock_or_pipe\"} 1.5",
            "nbuf_run_exit_status{command=\"a \\\"b\\\"\\n\"} 3.0",
            "nbuf_run_each_real_seconds{run=\"2\"} 1.5",
            "nbuf_run_call_seconds_bucket{le=\"0.000002\",call=\"read\"} 3",
            "nbuf_run_call_seconds_bucket{le=\"+Inf\",call=\"read\"} 5",
            "nbuf_run_call_seconds_sum{call=\"read\"} 0.25",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(text.ends_with("# EOF\n"), "{text}");
        // What is unknown has no line, and no name.
        let ordinary = openmetrics(&RunDocument::default());
        assert!(!ordinary.contains("run_cache") && !ordinary.contains("part"), "{ordinary}");
    }
}

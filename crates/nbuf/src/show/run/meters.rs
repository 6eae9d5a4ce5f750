//! The table of meters.

use nbuf::experiment::result::{RunMeter, RunMeterStep, RunMeters};
use nbuf::units::grouped;

use super::super::table::{Table, number, text};
use super::super::text::{count, wrap};
use super::super::watch::time;

/// Calls that have a row; the others have one together.
const CALLS: usize = 20;
/// Characters of a small histogram.
const BARS: usize = 16;
/// By height, in eighths.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Faults, requests, waits and system calls, in two tables of at most `width` columns.
pub(crate) fn tables(meters: &RunMeters, width: usize) -> String {
    let mut out = sheet("Events", meters.events.iter()).draw(width);
    let shown = meters.calls.iter().take(CALLS);
    out.push('\n');
    out.push_str(&sheet("System calls", shown).draw(width));
    let others = meters.calls.get(CALLS..).unwrap_or_default();
    let mut words = String::new();
    if !others.is_empty() {
        let seconds: f64 = others.iter().map(|call| call.total_seconds).sum();
        let kinds = count(others.len() as u64, "other call", "other calls");
        words = format!("{kinds} took {} together; --json has all. ", time(seconds));
    }
    let entries = count(meters.kernel_entries, "time", "times");
    wrap(
        &mut out,
        &format!(
            "{words}The command entered the kernel {entries}. The histograms go from 100 ns at the left to 10 s \
             at the right, two columns to a factor of ten."
        ),
        width,
    );
    out
}

fn sheet<'a>(title: &str, meters: impl Iterator<Item = &'a RunMeter>) -> Table {
    let name = |meter: &RunMeter| match meter.step_of {
        Some(_) => format!("- {}", meter.name),
        None => meter.name.clone(),
    };
    Table::of(title, meters)
        .column(text(title), name)
        .column(number("count"), |meter| grouped(meter.count))
        .column(number("total"), |meter| time(meter.total_seconds))
        .column(number("mean").rank(2), |meter| time(meter.mean_seconds))
        .column(number("p50").rank(1), |meter| time(meter.p50_seconds))
        .column(number("p90").rank(4), |meter| time(meter.p90_seconds))
        .column(number("p99").rank(1), |meter| time(meter.p99_seconds))
        .column(number("max").rank(3), |meter| time(meter.max_seconds))
        .column(text("").label("histogram").rank(5), |meter| bars(&meter.histogram))
        .done()
}

/// Two columns to a factor of ten, from 100 ns on; what is beyond an end is in the last column there.
fn bars(steps: &[RunMeterStep]) -> String {
    let mut counts = [0_u64; BARS];
    for step in steps {
        let place = ((step.from_seconds.max(1e-9) * 1e7).log10() * 2.0 + 1e-9).floor();
        let place = (0..BARS - 1).find(|&at| place <= at as f64).unwrap_or(BARS - 1);
        counts[place] += step.count;
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let bar = |&count: &u64| match count {
        0 => ' ',
        count => HEIGHTS[usize::try_from(count * 7 / most).unwrap_or(7)],
    };
    counts.iter().map(bar).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::show::tests::fit;

    fn meter(name: &str, count: u64, from_seconds: f64) -> RunMeter {
        let step = |from_seconds, count| RunMeterStep {
            from_seconds,
            to_seconds: from_seconds * 1.5,
            count,
        };
        RunMeter {
            name: name.to_owned(),
            count,
            total_seconds: from_seconds * count as f64,
            mean_seconds: from_seconds,
            p50_seconds: from_seconds,
            p90_seconds: from_seconds,
            p99_seconds: from_seconds * 1.2,
            max_seconds: from_seconds * 1.4,
            histogram: vec![step(from_seconds, count - 1), step(from_seconds * 100.0, 1)],
            step_of: (name == "device").then(|| "major fault".to_owned()),
        }
    }

    #[test]
    fn the_tables_fit_any_width() {
        let meters = RunMeters {
            kernel_entries: 1234,
            events: vec![meter("major fault", 40, 1e-3), meter("device", 40, 9e-4)],
            by: None,
            calls: (0..22).map(|at| meter(&format!("call {at}"), 9, 2e-6)).collect(),
        };
        let wide = tables(&meters, 100);
        // The expectation is written without an indentation.
        let first: Vec<&str> = wide.lines().take(3).map(|line| &line[2..]).collect();
        expect![[r#"
              Events       count    total     mean      p50      p90      p99      max
              major fault     40  40.0 ms  1.00 ms  1.00 ms  1.00 ms  1.20 ms  1.40 ms          █   ▁
              - device        40  36.0 ms   900 us   900 us   900 us  1.08 ms  1.26 ms         █   ▁
        "#]].assert_eq(&(first.join("\n") + "\n"));
        let last: Vec<&str> = wide.lines().skip(26).collect();
        expect!["    The histograms go from 100 ns at the left to 10 s at the right, two columns to a factor of ten."].assert_eq(&last.join("\n"));
        fit([40, 60, 80, 120], |width| tables(&meters, width));
    }
}

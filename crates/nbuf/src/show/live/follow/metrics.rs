//! The last window of each program as `OpenMetrics`.
//!
//! Source: the `OpenMetrics` specification, version 1.0. Names begin with `nbuf_live_`, and end with their unit. The
//! curve has the sizes that are powers of two, so that its labels stay the same.

use std::collections::BTreeMap;

use nbuf::experiment::result::{LiveDocument, LiveFollow, LivePoint};

use super::super::super::watch::metrics::{
    Family, Labels, Value, Values, bytes, plain, ratio, seconds, text,
};

/// The last window of each program, and its sums.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    last: BTreeMap<String, (LiveFollow, Sums)>,
    cpu_seconds: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    events: u64,
    lost: u64,
    attached: u64,
}

impl Metrics {
    /// Takes another window. A program that has no line for two windows is gone.
    pub(crate) fn take(&mut self, window: &LiveFollow) {
        self.cpu_seconds = window.nbuf_cpu_seconds;
        self.last.retain(|_, (last, _)| last.window + 2 > window.window);
        let (last, sums) = self.last.entry(window.target.clone()).or_default();
        sums.attached += window.attached;
        if let Some(live) = &window.live {
            sums.events += live.events;
            sums.lost += live.lost;
        }
        last.clone_from(window);
    }

    /// The text that is scraped.
    pub(crate) fn text(&self) -> String {
        let mut families = self.of_windows();
        families.extend(self.of_figures());
        families.extend(self.of_curves());
        families.push(
            seconds("live_nbuf_cpu", "Processor time of nbuf")
                .of(vec![(Vec::new(), Value::Counter(self.cpu_seconds))]),
        );
        families.retain(|family| !family.values.is_empty());
        text(families)
    }

    /// What each window has, also of a program that is not there.
    fn of_windows(&self) -> Vec<Family> {
        let counter = |of: fn(&LiveFollow, &Sums) -> u64| -> Values {
            let all = self.last.values();
            all.map(|(window, sums)| (target(window), Value::Counter(of(window, sums) as f64)))
                .collect()
        };
        let gauge = |of: fn(&LiveFollow) -> f64| -> Values {
            self.last
                .values()
                .map(|(window, _)| (target(window), Value::Gauge(of(window))))
                .collect()
        };
        vec![
            plain("live_windows", "Windows that have ended").of(counter(|window, _| window.window)),
            plain("live_events", "Events that were recorded").of(counter(|_, sums| sums.events)),
            plain("live_lost_events", "Events that were lost").of(counter(|_, sums| sums.lost)),
            plain(
                "live_attached",
                "Times that nbuf attached: once a window, and again after a restart",
            )
            .of(counter(|_, sums| sums.attached)),
            plain(
                "live_watched_processes",
                "Processes that run and are watched; 0 while the program is absent",
            )
            .of(gauge(|window| window.live.as_ref().map_or(0.0, |live| live.processes as f64))),
            plain("live_curve_windows", "Windows that the curve is made of")
                .of(gauge(|window| window.windows as f64)),
        ]
    }

    /// Figures of programs that were watched.
    fn of_figures(&self) -> Vec<Family> {
        let gauge = |of: fn(&LiveDocument) -> Option<f64>| -> Values {
            let known = |(window, live): (&LiveFollow, &LiveDocument)| {
                Some((target(window), Value::Gauge(of(live)?)))
            };
            self.known().filter_map(known).collect()
        };
        vec![
            bytes("live_other_memory", "Memory that is no page cache")
                .of(gauge(|live| Some(live.memory.other_bytes().0 as f64))),
            bytes(
                "live_cache_held",
                "Page cache that is charged to the cgroup, or mapped by the processes",
            )
            .of(gauge(|live| Some(live.memory.cache_bytes.0 as f64))),
            bytes(
                "live_recommended",
                "The limit to set: the cache that meets the target, and other memory",
            )
            .of(gauge(|live| Some(live.answer.as_ref()?.limit_bytes.0 as f64))),
            bytes("live_recommended_cache", "The cache of that limit")
                .of(gauge(|live| Some(live.answer.as_ref()?.cache_bytes.0 as f64))),
            plain(
                "live_accesses_per_second",
                "Page accesses a second, older windows with less weight",
            )
            .of(gauge(|live| Some(live.accesses_per_second))),
            plain("live_fills_per_second", "Pages a second that the kernel brought in")
                .of(gauge(|live| Some(live.fills_per_second))),
            plain("live_is_steady", "1 if the last window agrees with those before it")
                .of(gauge(|live| Some(f64::from(u8::from(live.is_steady))))),
        ]
    }

    /// The miss ratio at each size, with its band.
    fn of_curves(&self) -> Vec<Family> {
        let mut values = Values::new();
        for (window, live) in self.known() {
            let round = |point: &&LivePoint| point.cache_bytes.0.is_power_of_two();
            for point in live.points.iter().filter(round) {
                let rate = live.accesses_per_second.max(f64::MIN_POSITIVE);
                for (edge, misses) in [
                    ("low", point.misses_per_second_low),
                    ("best", point.misses_per_second),
                    ("high", point.misses_per_second_high),
                ] {
                    let mut labels = target(window);
                    labels.push(("cache_bytes", point.cache_bytes.0.to_string()));
                    labels.push(("edge", edge.to_owned()));
                    values.push((labels, Value::Gauge((misses / rate).clamp(0.0, 1.0))));
                }
            }
        }
        let help = "Share of page accesses that a cache of this size misses, with the edges of its band of 95 %";
        vec![ratio("live_miss", help).of(values)]
    }

    fn known(&self) -> impl Iterator<Item = (&LiveFollow, &LiveDocument)> {
        self.last.values().filter_map(|(window, _)| Some((window, window.live.as_ref()?)))
    }
}

fn target(window: &LiveFollow) -> Labels {
    vec![("target", window.target.clone())]
}

#[cfg(test)]
mod tests {
    use nbuf::units::Bytes;

    use super::super::tests::window;
    use super::*;

    fn value(text: &str, name: &str) -> Option<f64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.parse().ok()
    }

    #[test]
    fn counters_grow_and_gauges_are_of_the_last_window() {
        let mut metrics = Metrics::default();
        let live = LiveDocument { events: 5, lost: 2, ..window().live.unwrap() };
        let mut first = LiveFollow { live: Some(live), ..window() };
        first.live.as_mut().unwrap().points[0].cache_bytes = Bytes(8 << 20);
        metrics.take(&first);
        metrics.take(&LiveFollow { window: 8, nbuf_cpu_seconds: 2.5, ..first });
        let text = metrics.text();
        for (name, want) in [
            ("nbuf_live_events_total{target=\"db\"}", 10.0),
            ("nbuf_live_lost_events_total{target=\"db\"}", 4.0),
            ("nbuf_live_windows_total{target=\"db\"}", 8.0),
            ("nbuf_live_nbuf_cpu_seconds_total", 2.5),
            ("nbuf_live_recommended_cache_bytes{target=\"db\"}", 41_943_040.0),
            ("nbuf_live_miss_ratio{target=\"db\",cache_bytes=\"8388608\",edge=\"best\"}", 0.5),
        ] {
            assert_eq!(value(&text, name), Some(want), "{name}: {text}");
        }
        // 40 MiB is no power of two.
        assert!(!text.contains("cache_bytes=\"41943040\""), "{text}");
    }

    #[test]
    fn an_absent_program_keeps_its_counters_until_it_is_gone() {
        let mut metrics = Metrics::default();
        metrics.take(&window());
        let gone = LiveFollow { window: 8, live: None, attached: 0, ..window() };
        metrics.take(&gone);
        let text = metrics.text();
        assert_eq!(value(&text, "nbuf_live_watched_processes{target=\"db\"}"), Some(0.0));
        assert!(!text.contains("recommended"), "{text}");
        let other = LiveFollow { target: "new".to_owned(), window: 10, ..window() };
        metrics.take(&other);
        assert!(!metrics.text().contains("\"db\"") && text.ends_with("# EOF\n"));
    }
}

//! Windows of programs that are followed: a sentence for people, and figures for Prometheus.

mod metrics;

use nbuf::experiment::result::LiveFollow;

pub(crate) use metrics::Metrics;

use super::super::text::{field, rate};
use super::limit;

/// A window on a line.
pub(crate) fn line(window: &LiveFollow) -> String {
    let begin = format!("{} (window {}): ", field(&window.target), window.window);
    let absent = window.absent.as_deref().map(field);
    let Some(live) = &window.live else {
        return format!("{begin}not watched: {}\n", absent.unwrap_or_default());
    };
    let mut parts = vec![match (&live.answer, live.points.last()) {
        (Some(point), _) => format!(
            "{}: {} of cache hits {:.1} %, {} misses/s",
            limit(point),
            point.cache_bytes,
            point.hit_ratio * 100.0,
            rate(point.misses_per_second)
        ),
        (None, Some(known)) => format!("more than {} of cache", known.cache_bytes),
        (None, None) => "cache buys nothing so far".to_owned(),
    }];
    parts.push(format!("other memory {}", live.memory.other_bytes()));
    parts.push(format!("{} accesses/s", rate(live.accesses_per_second)));
    let numbers: Vec<String> = window.processes.iter().take(3).map(ToString::to_string).collect();
    let more = if window.processes.len() > 3 { ", ..." } else { "" };
    parts.push(format!("watched {}{more}", numbers.join(", ")));
    if window.attached > 1 {
        parts.push(format!("attached {} times", window.attached));
    }
    if !live.is_steady {
        parts.push("not steady".to_owned());
    }
    if live.lost > 0 {
        parts.push(format!("{} of {} events lost", live.lost, live.events));
    }
    parts.extend(absent.map(|reason| format!("not watched now: {reason}")));
    format!("{begin}{}\n", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::super::tests::document;
    use super::*;

    pub(super) fn window() -> LiveFollow {
        LiveFollow {
            schema: LiveFollow::SCHEMA.to_owned(),
            target: "db".to_owned(),
            window: 7,
            windows: 7,
            attached: 2,
            processes: vec![11, 12, 13, 14],
            nbuf_cpu_seconds: 1.5,
            live: Some(document()),
            ..LiveFollow::default()
        }
    }

    #[test]
    fn a_window_is_a_line_that_begins_with_the_answer() {
        let text = line(&window());
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(
            text.starts_with("db (window 7): 53.0 MiB: 40.0 MiB of cache hits 99.5 %"),
            "{text}"
        );
        assert!(text.contains("watched 11, 12, 13, ...; attached 2 times"), "{text}");
        let absent = Some("no unit `db`\nruns here".to_owned());
        let gone = LiveFollow { absent, live: None, ..window() };
        let text = line(&gone);
        assert!(text.starts_with("db (window 7): not watched: no unit `db`"), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

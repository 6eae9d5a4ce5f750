//! The arguments of `nbuf watch`.

use std::path::PathBuf;

use nbuf::experiment::watch::Spec;

use crate::sudo_user::Needs;

const AFTER: &str = "\
Examples:
  sudo nbuf watch
  sudo nbuf watch --once
  sudo nbuf watch --interval 5s --json --record day.jsonl
  sudo nbuf watch --file /var/lib/db/table --pid 1234
  sudo nbuf watch --metrics 9464
  nbuf watch --replay day.jsonl
  nbuf watch --server /run/disc.sock

Under sudo each switch and request is seen. Other users see samples of the waiting tasks, and no
distributions; a note names what is missing.

Exit status:
  0    the count is reached, q was pressed, a signal came, or no process reads on
  2    usage error
  125  nbuf failed, or the server does not answer; standard error says why";

/// What do processors, tasks, page faults, the page cache and discs do now?
///
/// On a terminal it displays each interval until q is pressed; ? shows the keys. Otherwise it prints a
/// paragraph for each: processor time with true idle and multiprogramming idle, run queue, states of
/// processes, page faults and the running time between them, page cache, discs.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Arguments {
    /// Print one interval and end
    #[arg(long, conflicts_with = "count")]
    pub(super) once: bool,

    /// Print one JSON document a line, one for each interval
    #[arg(long)]
    pub(super) json: bool,

    /// The length of an interval, such as 500ms or 2s; from 100ms to 1h
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = milliseconds)]
    pub(super) interval: u64,

    /// End after this number of intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,

    /// Show what of this file is in the page cache; can be given several times
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,

    /// Show time, faults and states of this process apart; can be given several times
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pid: Vec<u32>,

    /// Show the same of the processes of a cgroup and those below it, by its directory
    #[arg(long, value_name = "DIRECTORY")]
    cgroup: Option<PathBuf>,

    /// Also write each interval to this file, which must not exist, as a line of JSON
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,

    /// Serve the figures to Prometheus, at /metrics; a port alone means 127.0.0.1
    #[arg(long, value_name = "ADDRESS", value_parser = crate::command::scrapes::address)]
    pub(super) metrics: Option<std::net::SocketAddr>,

    /// Show the intervals of a recording instead of this machine
    #[arg(long, value_name = "FILE",
        conflicts_with_all = ["record", "file", "pid", "cgroup", "interval", "metrics"])]
    pub(super) replay: Option<PathBuf>,

    /// Show what `nbuf serve` does at this socket, or control socket, instead of this machine
    #[arg(long, value_name = "PATH",
        conflicts_with_all = ["record", "file", "pid", "cgroup", "metrics", "replay"])]
    pub(super) server: Option<PathBuf>,
}

impl Arguments {
    /// A recording is only a file, and a server answers its user; the machine is looked at with the rights for it.
    pub(in crate::command) fn needs(&self) -> Needs {
        let looks = self.replay.is_none() && self.server.is_none();
        if looks { Needs::Watching } else { Needs::Nothing }
    }

    /// After how many intervals it ends.
    pub(super) fn count(&self) -> Option<u64> {
        if self.once { Some(1) } else { self.count }
    }

    /// What the experiment is asked.
    pub(super) fn spec(&self) -> Spec {
        Spec {
            interval_ms: self.interval,
            count: self.count(),
            files: self.file.clone(),
            processes: self.pid.clone(),
            cgroup: self.cgroup.clone(),
        }
    }
}

/// `500ms`, `2s`, `1m`, and seconds without a unit.
fn milliseconds(text: &str) -> Result<u64, String> {
    let units = [("ms", 1.0), ("s", 1e3), ("m", 60e3), ("h", 3600e3)];
    let found = units.iter().find_map(|(unit, ms)| Some((text.strip_suffix(unit)?, ms)));
    let (number, ms) = found.unwrap_or((text, &1e3));
    let number: f64 = number.trim().parse().map_err(|_| "write 500ms, 2s or 1m".to_owned())?;
    let all = number * ms;
    if !(100.0..=3_600_000.0).contains(&all) {
        return Err("give a time from 100ms to 1h".to_owned());
    }
    Ok(nbuf::units::Nanos::from_millis(all).0 / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn times_have_units() {
        let of =
            ["500ms", "2s", "1m", "1h", "0.25", "100ms"].map(|text| milliseconds(text).unwrap());
        assert_eq!(of, [500, 2000, 60_000, 3_600_000, 250, 100]);
        for text in ["", "s", "99ms", "2h", "-1s", "nan", "1x"] {
            assert!(milliseconds(text).is_err(), "{text}");
        }
    }
}

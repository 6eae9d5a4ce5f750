//! Rows of a file, a line of JSON for each measurement as it ends. A harness that was stopped goes on behind them.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::Spec;
use super::run::{Cell, Measured, Window};
use super::services::Service;

/// What has been measured, in all runs of the harness with this file.
#[derive(Debug)]
pub(super) struct Rows {
    path: PathBuf,
    rows: Vec<Value>,
}

impl Rows {
    /// Reads the file, if it exists. A line that broke off is left out.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).with_context(|| format!("{}", path.display())),
        };
        let rows = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok(Self { path: path.to_owned(), rows })
    }

    /// Adds a row. It is in the file when this returns.
    fn add(&mut self, row: Value) -> Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(&self.path);
        let mut file = file.with_context(|| format!("{}", self.path.display()))?;
        // The line before may have broken off.
        file.write_all(format!("\n{row}\n").as_bytes())?;
        file.sync_data()?;
        self.rows.push(row);
        Ok(())
    }

    fn of<'a>(&'a self, kind: &str, service: &str, seconds: u64) -> Vec<&'a Value> {
        let is_it = |row: &&Value| {
            row["kind"] == kind && row["service"] == service && row["seconds"] == seconds
        };
        self.rows.iter().filter(is_it).collect()
    }

    /// What a window of a service without a limit showed.
    pub(super) fn add_prediction(&mut self, spec: &Spec, measured: &Measured) -> Result<()> {
        self.add(json!({
            "kind": "prediction",
            "service": measured.name,
            "seconds": spec.seconds,
            "resident_bytes": measured.resident_bytes,
            "pace": measured.pace,
            "live": measured.live,
        }))
    }

    /// What the kernel did under a limit.
    pub(super) fn add_cell(&mut self, spec: &Spec, service: &Service, cell: &Cell) -> Result<()> {
        self.add(json!({
            "kind": "cell",
            "service": service.name,
            "seconds": spec.seconds,
            "part": cell.part,
            "cache_bytes": cell.cache_bytes,
            "operations": cell.operations,
            "filled": cell.filled,
            "taken": cell.taken,
        }))
    }

    /// One of several windows that follow each other.
    pub(super) fn add_window(
        &mut self,
        spec: &Spec,
        service: &Service,
        window: &Window,
    ) -> Result<()> {
        let points = window.live["points"].as_array().into_iter().flatten();
        // Only what the table needs.
        let points: Vec<Value> = points
            .map(|point| {
                let keys = super::table::MISSES.into_iter().chain(["cache_bytes"]);
                keys.map(|key| (key.to_owned(), point[key].clone())).collect()
            })
            .collect();
        self.add(json!({
            "kind": "window",
            "service": service.name,
            "seconds": spec.window_seconds,
            "run": window.run,
            "pace": window.pace,
            "live": { "points": points },
        }))
    }

    /// All of a service.
    pub(super) fn measured(&self, spec: &Spec, service: &Service) -> Measured {
        let mut measured = Measured::of(service);
        let number = |row: &Value, key: &str| row[key].as_u64().unwrap_or(0);
        if let Some(&row) = self.of("prediction", service.name, spec.seconds).last() {
            measured.resident_bytes = number(row, "resident_bytes");
            measured.pace = row["pace"].as_f64().unwrap_or(0.0);
            measured.live = row["live"].clone();
        }
        let cells = self.of("cell", service.name, spec.seconds).into_iter().map(|row| Cell {
            part: number(row, "part"),
            cache_bytes: number(row, "cache_bytes"),
            operations: number(row, "operations"),
            filled: number(row, "filled"),
            taken: number(row, "taken"),
        });
        measured.cells = cells.collect();
        let windows = self.of("window", service.name, spec.window_seconds).into_iter();
        let windows = windows.map(|row| Window {
            run: number(row, "run"),
            pace: row["pace"].as_f64().unwrap_or(0.0),
            live: row["live"].clone(),
        });
        measured.windows = windows.collect();
        measured
    }
}

#[cfg(test)]
mod tests {
    use super::super::services::SERVICES;
    use super::*;

    #[test]
    fn a_stopped_harness_has_what_it_measured() {
        let folder = std::env::temp_dir().join(format!("nbuf-rows-{}", std::process::id()));
        let path = folder.join("rows.jsonl");
        let spec = Spec::parse("nbuf".into(), std::iter::empty()).unwrap();
        let service = &SERVICES[0];
        let mut rows = Rows::open(&path).unwrap();
        let live = json!({ "points": [{ "cache_bytes": 5, "misses_per_second": 2.5, "x": 1 }] });
        let measured = Measured { pace: 1.5, resident_bytes: 9, live, ..Measured::of(service) };
        rows.add_prediction(&spec, &measured).unwrap();
        let cell = Cell { part: 75, cache_bytes: 7, operations: 6, filled: 5, taken: 4 };
        rows.add_cell(&spec, service, &cell).unwrap();
        let window = Window { run: 3, pace: 2.0, live: measured.live.clone() };
        rows.add_window(&spec, service, &window).unwrap();
        // It is stopped while it writes.
        let mut text = fs::read_to_string(&path).unwrap();
        text += "{\"kind\": \"ce";
        fs::write(&path, text).unwrap();
        let mut rows = Rows::open(&path).unwrap();
        rows.add_cell(&spec, service, &Cell { part: 50, ..cell.clone() }).unwrap();
        let again = Rows::open(&path).unwrap().measured(&spec, service);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!((again.resident_bytes, again.live), (9, measured.live));
        assert_eq!(again.cells.iter().map(|cell| cell.part).collect::<Vec<_>>(), [75, 50]);
        assert_eq!((again.windows.len(), again.windows[0].run), (1, 3));
        assert_eq!(again.windows[0].live["points"][0]["misses_per_second"], 2.5);
        // Another length is another measurement, and so is another service.
        let other = Spec { seconds: spec.seconds + 1, ..spec.clone() };
        assert_eq!(rows.measured(&other, service).cells.len(), 0);
        assert_eq!(rows.measured(&spec, &SERVICES[1]).cells.len(), 0);
    }
}

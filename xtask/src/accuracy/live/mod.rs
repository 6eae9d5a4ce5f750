//! How well `nbuf size` predicts programs that run: real services under a steady load, each watched for a while,
//! and then limited to parts of the cache that it had, while the kernel counts what comes in.
//!
//! All of it is made by the harness in a folder: data on a disc with a window of 128 KiB, servers in groups of
//! their own below ours, and loads outside of these. Nothing of it stays, however the harness ends. Needs root, the
//! memory controller of version 1 next to a unified hierarchy, and perf. A service takes three minutes with windows of
//! 30 s, and 50 further windows of a minute take nearly an hour. Each row goes into a file as it ends, and a later run of
//! the harness makes only the rows that are missing there. Remove the file to measure another build.

mod fills;
mod place;
mod rows;
mod run;
mod services;
mod table;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

pub use table::{document, markdown};

use place::Disc;
use rows::Rows;
use run::Measured;
use services::{SERVICES, Service};

/// What the harness is asked for.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Where everything is made. It must not exist: services are emptied and run as root in it.
    pub folder: PathBuf,
    /// The program that is tested.
    pub nbuf: PathBuf,
    /// Services by name; all without.
    pub only: Vec<String>,
    /// Seconds that a service is watched, that a limit is left alone before it is measured, and that it is measured.
    pub seconds: u64,
    /// Further windows, each compared with the next.
    pub windows: usize,
    /// Seconds of each of them.
    pub window_seconds: u64,
    /// The file of all rows.
    pub rows: PathBuf,
}

impl Spec {
    /// From the words of the command line: services, and `--in FOLDER`, `--for SECONDS`, `--windows NUMBER`,
    /// `--window-seconds SECONDS` and `--rows FILE`.
    ///
    /// # Errors
    /// If a word is unknown.
    pub fn parse(nbuf: PathBuf, mut words: impl Iterator<Item = String>) -> Result<Self> {
        let mut spec = Self {
            folder: std::env::temp_dir(),
            nbuf,
            only: Vec::new(),
            seconds: 60,
            windows: 50,
            window_seconds: 60,
            rows: crate::tidy::repository().join("target/accuracy-live.jsonl"),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            match word.as_str() {
                "--in" => spec.folder = value()?.into(),
                "--for" => spec.seconds = value()?.parse().context("--for SECONDS")?,
                "--windows" => spec.windows = value()?.parse().context("--windows NUMBER")?,
                "--window-seconds" => {
                    spec.window_seconds = value()?.parse().context("--window-seconds SECONDS")?;
                }
                "--rows" => spec.rows = value()?.into(),
                name if SERVICES.iter().any(|service| service.name == name) => {
                    spec.only.push(word);
                }
                _ => {
                    let names: Vec<&str> = SERVICES.iter().map(|service| service.name).collect();
                    bail!("no service `{word}`; choose of {}", names.join(", "));
                }
            }
        }
        spec.folder.push(format!("nbuf-live-{}", std::process::id()));
        Ok(spec)
    }
}

/// Measures the services, one after the other.
///
/// # Errors
/// If the disc cannot be made. What happens to a service is in its place.
pub fn measure(spec: &Spec) -> Result<Vec<Measured>> {
    if let Some(parent) = spec.folder.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::create_dir(&spec.folder).with_context(|| format!("{}", spec.folder.display()))?;
    let here = spec.folder.join("here");
    fs::create_dir(&here)?;
    fs::write(here.join("serve.py"), include_str!("serve.py"))?;
    fs::write(here.join("load.py"), include_str!("load.py"))?;
    fs::write(here.join("Mapped.java"), include_str!("Mapped.java"))?;
    let mut rows = Rows::open(&spec.rows)?;
    let disc = Disc::make(&spec.folder)?;
    let wanted = |service: &&Service| {
        spec.only.is_empty() || spec.only.iter().any(|name| name == service.name)
    };
    let mut measured = Vec::new();
    for service in SERVICES.iter().filter(wanted) {
        say(&format!("{}: begins", service.name));
        let done = missing(service).map_or_else(
            || run::service(spec, &disc, service, &mut rows),
            |what| Err(anyhow::anyhow!("{what} is not installed")),
        );
        let error = done.err().map(|error| format!("{error:#}"));
        if let Some(error) = &error {
            say(&format!("{}: {error}", service.name));
        }
        measured.push(Measured { error, ..rows.measured(spec, service) });
        // What has been measured is kept, whatever comes.
        fs::write(spec.folder.join("live.json"), document(&measured))?;
        fs::write(spec.folder.join("live.md"), markdown(&measured))?;
    }
    Ok(measured)
}

/// What a service needs and is not here.
fn missing(service: &Service) -> Option<String> {
    let works =
        |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    let program = service
        .programs
        .iter()
        .find(|program| !works(Command::new("sh").args(["-c", "command -v \"$0\""]).arg(program)));
    let module = service
        .modules
        .iter()
        .find(|module| !works(Command::new(python()).arg("-c").arg(format!("import {module}"))));
    program.map(ToString::to_string).or_else(|| module.map(|name| format!("Python's {name}")))
}

/// Python with the modules that the stores need: `NBUF_PYTHON`, or the one of the `PATH`.
fn python() -> String {
    std::env::var("NBUF_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Waits, looking every quarter of a second; whether it came.
fn until(seconds: u64, mut is_so: impl FnMut() -> bool) -> bool {
    for _ in 0..seconds * 4 {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(250));
    }
    is_so()
}

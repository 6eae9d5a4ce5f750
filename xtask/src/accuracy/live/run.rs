//! One service: made, warmed, watched, limited, and watched again in short windows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::fills::Counting;
use super::place::{Disc, Groups};
use super::rows::Rows;
use super::services::Service;
use super::{Spec, python, say, until};
use crate::process;

/// Parts of the resident cache that the limits leave, in percent.
const PARTS: [u64; 3] = [75, 50, 25];
/// A cache that grows by less in five seconds is steady: one part in this many.
const STEADY: u64 = 200;
/// Room for other memory to grow under a limit, in bytes.
const SPARE: u64 = 2 << 20;

/// What was found of a service.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub(super) name: &'static str,
    pub(super) is_mapped: bool,
    pub(super) reads: bool,
    pub(super) error: Option<String>,
    pub(super) resident_bytes: u64,
    /// Operations a second while it was watched.
    pub(super) pace: f64,
    /// What nbuf said.
    pub(super) live: Value,
    pub(super) cells: Vec<Cell>,
    pub(super) windows: Vec<Window>,
}

/// A limit, and what the kernel did.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// Part of the resident cache, in percent.
    pub(super) part: u64,
    pub(super) cache_bytes: u64,
    pub(super) operations: u64,
    pub(super) filled: u64,
    pub(super) taken: u64,
}

/// A short window.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// The run of the service that it is of: a window is followed only by one of the same run.
    pub(super) run: u64,
    pub(super) pace: f64,
    pub(super) live: Value,
}

impl Measured {
    pub(super) fn of(service: &Service) -> Self {
        let Service { name, is_mapped, reads, .. } = *service;
        Self { name, is_mapped, reads, ..Self::default() }
    }
}

/// Measures what is missing in the rows, and adds it. Its groups, and what runs in them, are gone afterwards.
pub(super) fn service(spec: &Spec, disc: &Disc, service: &Service, rows: &mut Rows) -> Result<()> {
    let before = rows.measured(spec, service);
    let is_missing = |part: &u64| before.cells.iter().all(|cell| cell.part != *part);
    let is_unknown = before.live.is_null();
    let parts: Vec<u64> = PARTS.into_iter().filter(is_missing).collect();
    // Each run of the service gives a pair less than windows.
    let pairs = spec.windows.saturating_sub(1).saturating_sub(before.pairs().count());
    let windows = if pairs == 0 { 0 } else { pairs + 1 };
    let run = before.windows.iter().map(|window| window.run).max().unwrap_or(0) + 1;
    if !is_unknown && parts.is_empty() && windows == 0 {
        return Ok(());
    }
    let stage = Stage::set(spec, disc, service)?;
    stage.steady()?;
    let mut resident_bytes = before.resident_bytes;
    if is_unknown {
        resident_bytes = stage.groups.cache()?;
        let free = stage.count(spec.seconds.div_ceil(2), 100)?;
        let Window { pace, live, .. } = stage.window(spec.seconds, run)?;
        rows.add_cell(spec, service, &free)?;
        let measured = Measured { resident_bytes, pace, live, ..Measured::of(service) };
        rows.add_prediction(spec, &measured)?;
    }
    for &part in &parts {
        let cell = stage.limited(part, resident_bytes, spec.seconds)?;
        rows.add_cell(spec, service, &cell)?;
    }
    stage.groups.limit(None)?;
    if windows > 0 && !parts.is_empty() {
        stage.steady()?;
    }
    for number in 1..=windows {
        rows.add_window(spec, service, &stage.window(spec.window_seconds, run)?)?;
        if number % 10 == 0 {
            say(&format!("{}: {number} windows", service.name));
        }
    }
    Ok(())
}

/// A server that others end.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.wait();
    }
}

/// A service with its load, until it is dropped.
struct Stage<'a> {
    spec: &'a Spec,
    disc: &'a Disc,
    service: &'a Service,
    folders: [(&'static str, PathBuf); 3],
    load: Option<Child>,
    // It ends with its groups.
    groups: Groups,
    _server: Server,
}

impl<'a> Stage<'a> {
    fn set(spec: &'a Spec, disc: &'a Disc, service: &'a Service) -> Result<Self> {
        let (data, work) = (disc.path().join(service.name), spec.folder.join(service.name));
        fs::create_dir(&data)?;
        fs::create_dir(&work)?;
        let folders = [("D", data), ("W", work.clone()), ("H", spec.folder.join("here"))];
        // Servers of the data end with groups of their own, also if a step fails.
        let data = Groups::make(&format!("{}-data", service.name))?;
        let mut shell = data.command(service.data);
        shell.envs(folders.clone()).env("PYTHON", python());
        process::run(shell.stdin(Stdio::null()).stdout(Stdio::null()))?;
        drop(data);
        disc.drop_cache(&folders[0].1)?;
        let groups = Groups::make(service.name)?;
        let mut server = groups.command(service.serve);
        let server = log(&mut server, &work.join("server.log"))?
            .envs(folders.clone())
            .env("PYTHON", python())
            .spawn()?;
        let mut stage =
            Self { spec, disc, service, folders, load: None, groups, _server: Server(server) };
        if service.load != "true" {
            let mut shell = Command::new("sh");
            shell.args(["-c", service.load]).envs(stage.folders.clone()).env("PYTHON", python());
            stage.load = Some(log(&mut shell, &work.join("load.log"))?.spawn()?);
        }
        Ok(stage)
    }

    /// Waits until it is warm, and its cache does not grow any more.
    fn steady(&self) -> Result<()> {
        ensure!(until(30, || self.groups.is_alive()), "the service does not begin; see its log");
        let works = until(240, || !self.groups.is_alive() || self.operations() > 100);
        ensure!(
            works && self.groups.is_alive(),
            "the service or its load has failed; see its logs"
        );
        let mut before = 0;
        for _ in 0..10 {
            let now = self.groups.cache()?;
            if now.saturating_sub(before) * STEADY < now {
                break;
            }
            before = now;
            std::thread::sleep(Duration::from_secs(5));
        }
        say(&format!("{}: steady with {} MiB", self.service.name, self.groups.cache()? >> 20));
        Ok(())
    }

    fn operations(&self) -> u64 {
        let mut shell = Command::new("sh");
        shell.args(["-c", self.service.operations]).envs(self.folders.clone());
        process::output(&mut shell).map_or(0, |text| number(&String::from_utf8_lossy(&text)))
    }

    /// What the kernel counts in this time.
    fn count(&self, seconds: u64, part: u64) -> Result<Cell> {
        let cache = self.groups.cache()?;
        let begun = Counting::begin(&self.groups, self.disc.path(), &self.looks(seconds))?;
        let (counted, looks) = begun.end()?;
        let cache_bytes = u64::midpoint(cache, self.groups.cache()?);
        let cell = Cell {
            part,
            cache_bytes,
            operations: between(&looks)?,
            filled: counted.filled,
            taken: counted.taken,
        };
        say(&format!("{}: {cell:?}", self.service.name));
        Ok(cell)
    }

    /// Looks at the operations before and after a while.
    fn looks(&self, seconds: u64) -> Command {
        let look = self.service.operations;
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &format!("echo $({look}); sleep {seconds}; echo $({look})")])
            .envs(self.folders.clone());
        shell
    }

    fn limited(&self, part: u64, resident: u64, seconds: u64) -> Result<Cell> {
        self.groups.limit(Some(self.groups.other()? + SPARE + resident * part / 100))?;
        std::thread::sleep(Duration::from_secs(seconds / 2));
        let cell = self.count(seconds.div_ceil(2), part)?;
        ensure!(self.groups.is_alive(), "the service was killed under a limit of {part} %");
        Ok(cell)
    }

    /// Watches it by nbuf.
    fn window(&self, seconds: u64, run: u64) -> Result<Window> {
        let mut looks = self.looks(seconds);
        let looks = looks.stdout(Stdio::piped()).spawn()?;
        let mut nbuf = Command::new("setpriv");
        nbuf.args(["--pdeathsig", "KILL"]).arg(&self.spec.nbuf);
        nbuf.args(["--as-root", "size", "-q", "--json", "--overhead", "1%", "--cgroup"]);
        nbuf.arg(&self.groups.memory).arg("--for").arg(format!("{seconds}s"));
        if self.service.is_mapped {
            // Other programs of this machine may make the kernel reclaim memory.
            nbuf.args(["--mmap", "on"]);
        }
        let output = nbuf.stdin(Stdio::null()).output()?;
        let looks = looks.wait_with_output()?;
        let live = serde_json::from_slice(&output.stdout)
            .with_context(|| String::from_utf8_lossy(&output.stderr).trim().to_owned())?;
        let done = between(&String::from_utf8_lossy(&looks.stdout))?;
        Ok(Window { run, pace: done as f64 / seconds as f64, live })
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        if let Some(load) = &mut self.load {
            let _ = load.kill();
            let _ = load.wait();
        }
    }
}

/// Its output goes to a file.
fn log<'a>(command: &'a mut Command, path: &Path) -> Result<&'a mut Command> {
    let file = fs::File::create(path)?;
    Ok(command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file))
}

fn number(text: &str) -> u64 {
    text.trim().parse().unwrap_or(0)
}

/// Operations between two looks, a line each.
fn between(looks: &str) -> Result<u64> {
    let numbers: Vec<u64> = looks.split_whitespace().map(number).collect();
    match numbers[..] {
        [before, after] if after > before => Ok(after - before),
        _ => bail!("the load does not go on: {looks:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_stands_is_an_error() {
        assert_eq!(between("0000000100\n0000000350\n").unwrap(), 250);
        assert!(between("5\n5\n").is_err() && between("7\n").is_err());
    }
}

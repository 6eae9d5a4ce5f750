//! The servers that are compared, each started for a row and stopped after it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// What answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// nbdkit's file plugin: no cache of its own.
    Plain,
    /// nbdkit's cache filter, with blocks of 4 KiB.
    Filter,
    /// nbdkit's copy-on-write filter, which keeps all that was read.
    Cow,
    /// qemu-nbd through the page cache.
    QemuBack,
    /// qemu-nbd past it.
    QemuNone,
    /// `nbuf serve --write back`.
    Nbuf,
    /// The same, which looks for requests for 100 us before it sleeps.
    Spinning,
    /// The same, that may step aside.
    NbufAuto,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "nbdkit file, no cache",
            Self::Filter => "nbdkit cache, 4 KiB",
            Self::Cow => "nbdkit cow, cow-on-read",
            Self::QemuBack => "qemu-nbd writeback, threads",
            Self::QemuNone => "qemu-nbd none, io_uring",
            Self::Nbuf => "nbuf serve",
            Self::Spinning => "nbuf serve --spin 100",
            Self::NbufAuto => "nbuf serve --bypass auto",
        }
    }
}

/// The backend of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disc {
    /// The image, in the page cache.
    Fast,
    /// The image behind a delay of 5 ms, 16 requests at a time.
    Slow,
}

/// Where everything is, and how large the cache of a server is.
pub(super) struct Place<'a> {
    pub(super) nbuf: &'a Path,
    pub(super) folder: &'a Path,
    pub(super) image: &'a Path,
    pub(super) cache_bytes: u64,
}

/// A server that runs.
pub(super) struct Server {
    child: Child,
    /// The slow disc of nbuf, which is a server of its own.
    backend: Option<Child>,
    pub(super) socket: PathBuf,
    kind: Kind,
}

impl Server {
    /// Starts it and waits for its socket.
    pub(super) fn start(kind: Kind, disc: Disc, place: &Place<'_>) -> Result<Self> {
        let socket = place.folder.join("served.sock");
        let mut backend = None;
        let mut command = match kind {
            Kind::Nbuf | Kind::Spinning | Kind::NbufAuto => {
                let mut disc_of_ours = format!("file:{}", place.image.display());
                if disc == Disc::Slow {
                    let slow = place.folder.join("slow.sock");
                    backend = Some(start(&mut nbdkit(&slow, &[], disc, place), &slow)?);
                    disc_of_ours = format!("nbd:unix:{}", slow.display());
                }
                let mut command = Command::new(place.nbuf);
                command.args(["-q", "serve", "--write", "back", "--disc", &disc_of_ours]);
                command.args(["--size", &format!("{}B", place.cache_bytes), "--socket"]);
                command.arg(&socket);
                if kind == Kind::Spinning {
                    command.args(["--spin", "100"]);
                }
                command
            }
            Kind::Plain => nbdkit(&socket, &[], disc, place),
            Kind::Filter => nbdkit(&socket, &["--filter=cache"], disc, place),
            Kind::Cow => nbdkit(&socket, &["--filter=cow"], disc, place),
            Kind::QemuBack => qemu(&socket, ["--cache=writeback", "--aio=threads"], place),
            Kind::QemuNone => qemu(&socket, ["--cache=none", "--aio=io_uring"], place),
        };
        match kind {
            Kind::Filter => {
                command.args(["cache-on-read=true", "cache-min-block-size=4096"]);
                command.arg(format!("cache-max-size={}", place.cache_bytes));
            }
            Kind::Cow => {
                command.arg("cow-on-read=true");
            }
            Kind::NbufAuto => {
                command.args(["--bypass", "auto"]);
            }
            _ => {}
        }
        Ok(Self { child: start(&mut command, &socket)?, backend, socket, kind })
    }

    /// Its address for clients of NBD.
    pub(super) fn uri(&self) -> String {
        format!("nbd+unix:///?socket={}", self.socket.display())
    }

    /// Reads the whole disc once.
    pub(super) fn warm(&self) -> Result<()> {
        crate::process::run(Command::new("nbdcopy").args([&self.uri(), "null:"]))
    }

    /// Processor time of it so far, in microseconds.
    pub(super) fn cpu_us(&self) -> Result<u64> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name may have spaces and ends with the last bracket; the times are fields 14 and 15.
        let fields: Vec<&str> =
            text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<u64>().ok());
        let ticks = ticks(11).zip(ticks(12)).context("no times in /proc/PID/stat")?;
        // The kernel counts in hundredths of a second for programs, whatever its clock.
        Ok((ticks.0 + ticks.1) * 10_000)
    }

    /// Reads so far, and those that its cache served, where it says so.
    pub(super) fn reads(&self, nbuf: &Path) -> Result<Option<(f64, f64)>> {
        if self.kind != Kind::Nbuf {
            return Ok(None);
        }
        let mut command = Command::new(nbuf);
        command.args(["-q", "serve", "stats", "--json"]).arg(&self.socket);
        let stats: Value = serde_json::from_slice(&crate::process::output(&mut command)?)?;
        let reads = stats["reads"].as_f64().zip(stats["read_hits"].as_f64());
        reads.map(Some).context("no reads in the document of `nbuf serve stats`")
    }

    /// Ends it, as SIGTERM does, and its backend.
    pub(super) fn stop(mut self) -> Result<()> {
        end(&mut self.child)?;
        if let Some(backend) = &mut self.backend {
            end(backend)?;
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for child in std::iter::once(&mut self.child).chain(&mut self.backend) {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = fs::remove_file(&self.socket);
    }
}

fn nbdkit(socket: &Path, filters: &[&str], disc: Disc, place: &Place<'_>) -> Command {
    let mut command = Command::new("nbdkit");
    command.args(["-f", "-t", "16", "-U"]).arg(socket).args(filters);
    if disc == Disc::Slow {
        command.arg("--filter=delay");
    }
    command.arg("file").arg(place.image);
    if disc == Disc::Slow {
        command.args(["delay-read=5ms", "delay-write=5ms"]);
    }
    command
}

fn qemu(socket: &Path, how: [&str; 2], place: &Place<'_>) -> Command {
    let mut command = Command::new("qemu-nbd");
    command.args(["-t", "-e", "8", "-f", "raw", "-k"]).arg(socket).args(how).arg(place.image);
    command
}

/// Starts a server and waits until a client can connect.
fn start(command: &mut Command, socket: &Path) -> Result<Child> {
    let _ = fs::remove_file(socket);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
    for _ in 0..500 {
        if std::os::unix::net::UnixStream::connect(socket).is_ok() {
            return Ok(child);
        }
        if let Some(status) = child.try_wait()? {
            bail!("{command:?} ended with {status} before it served");
        }
        sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
    bail!("{command:?} did not serve within ten seconds")
}

fn end(child: &mut Child) -> Result<()> {
    let mut kill = Command::new("kill");
    ensure!(kill.arg(child.id().to_string()).status()?.success(), "cannot end a server");
    for _ in 0..1500 {
        if child.try_wait()?.is_some() {
            return Ok(());
        }
        sleep(Duration::from_millis(20));
    }
    bail!("a server did not end within thirty seconds")
}

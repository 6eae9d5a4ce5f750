//! A cache that runs: a disc served by NBD, until a signal or a caller ends it.
//!
//! ```no_run
//! use nbuf::experiment::serve::{self, Spec};
//! use nbuf::experiment::session::Session;
//! use nbuf::units::Bytes;
//!
//! let spec = Spec::new("file:disc.img".parse()?, Bytes(256 << 20));
//! let document = serve::run(&spec, &mut Session::new(&()))?;
//! assert_eq!(document.owed_bytes, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod config;
mod describe;
mod error;
mod keep;
mod limits;
mod ready;
mod spec;
mod watch;

pub use crate::cache::cached::Writes;
pub use crate::cache::policy::Choice;
pub use crate::path::nbd::{Address, ListenError};
pub use check::check;
pub use config::{Config, ConfigError};
pub use error::Error;
pub use keep::Reread;
pub use spec::{BehindSpec, BehindSpecError, Spec};
pub use watch::{WatchSpec, watch};

use std::path::{Path, PathBuf};

use super::result::ServeDocument;
use super::session::{Interim, Session};
use crate::cache::cached::{PAGE_BYTES_MAX, PAGE_BYTES_MIN, Settings};
use crate::clock::Stopwatch;
use crate::path::nbd::{self, Behind, PassedSockets, Server, ServerError, Setup};
use describe::describe;

/// Where a server can be reached, before its first client.
#[derive(Clone, Debug)]
pub struct Serving {
    /// Where clients connect.
    pub addresses: Vec<Address>,
    /// The socket to ask it about itself.
    pub control: PathBuf,
    /// The size of the disc.
    pub size_bytes: u64,
}

/// Serves until the first signal, and then writes what is dirty; until the second at most.
pub fn run(spec: &Spec, session: &mut Session) -> Result<ServeDocument, Error> {
    run_with(spec, None, session)
}

/// The same, where SIGHUP ends nothing: settings are read again by `reread`, which may have another size, policy, way
/// to write and number of clients. An [observer](Session::observer) gets a notice of each change, and of what stays.
pub fn run_with(
    spec: &Spec,
    reread: Option<Reread<'_>>,
    session: &mut Session,
) -> Result<ServeDocument, Error> {
    spec.check()?;
    let passed = if spec.takes_sockets { PassedSockets::take() } else { Ok(<_>::default()) };
    let passed = passed.map_err(ServerError::Listen)?;
    let addresses = passed.addresses().map_err(ServerError::Listen)?;
    spec.check_addresses(&addresses)?;
    // Before any thread starts, so that none of them takes a signal.
    session.cancellation.listen().map_err(Error::Signals)?;
    let clock = Stopwatch::start();
    let disc = open(spec, clock)?;
    let mut listen = spec.listen.clone();
    if listen.is_empty() && addresses.is_empty() {
        listen.push(Address::Unix(
            nbd::default_socket(&spec.disc.to_string()).map_err(Error::Place)?,
        ));
    }
    let control = match passed.control().map_err(ServerError::Listen)? {
        Some(Address::Unix(path)) => path,
        _ => control(spec, &[addresses, listen.clone()].concat())?,
    };
    let setup = Setup {
        listen,
        passed,
        control: Some(control.clone()),
        policy: spec.policy,
        settings: spec.settings()?,
        name: spec.name.clone(),
        is_read_only: spec.is_read_only || disc.is_read_only(),
        clients_max: limits::clients(spec.clients_max, session.observer),
        client_timeout: spec.client_timeout,
    };
    let size_bytes = crate::disc::Disc::size_bytes(&disc);
    let mut server = Server::new(disc, setup, clock)?;
    let addresses = server.addresses().map_err(ServerError::Wait)?;
    let serving = Serving { addresses, control, size_bytes };
    session.observer.interim(Interim::Serving(&serving)).map_err(Error::Observer)?;
    if spec.takes_sockets {
        ready::notify();
    }
    let signals = session.cancellation.listen().map_err(Error::Signals)?;
    let wake = std::os::fd::AsFd::as_fd(signals.descriptor());
    let mut keep = keep::Keep { spec, size_bytes, session, reread, ends: 0 };
    let drained = server.run(wake, &mut keep)?;
    let document = describe(spec, size_bytes, &server.snapshot());
    Ok(ServeDocument { error: drained.error, owed_bytes: drained.owed_bytes, ..document })
}

fn open(spec: &Spec, clock: Stopwatch) -> Result<Behind, Error> {
    match &spec.disc {
        BehindSpec::File(path) => {
            let (file, size_bytes) = nbd::open(path, spec.is_read_only)?;
            let disc = Behind::file(file, size_bytes, spec.threads, clock);
            Ok(disc.map_err(ServerError::Wait)?)
        }
        BehindSpec::Nbd(socket) => Behind::nbd(socket, clock)
            .map_err(|error| Error::Behind { socket: socket.display().to_string(), error }),
    }
}

/// The control socket: the given one, next to the first Unix socket, or where a default socket would be.
fn control(spec: &Spec, listen: &[Address]) -> Result<PathBuf, Error> {
    if let Some(path) = &spec.control {
        return Ok(path.clone());
    }
    let unix = listen.iter().find_map(|address| match address {
        Address::Unix(path) => Some(path.clone()),
        Address::Tcp(_) => None,
    });
    let beside = match unix {
        Some(path) => path,
        None => nbd::default_socket(&spec.disc.to_string()).map_err(Error::Place)?,
    };
    Ok(nbd::control_path(&beside))
}

impl Spec {
    fn check_addresses(&self, addresses: &[Address]) -> Result<(), Error> {
        for address in addresses {
            if let Address::Tcp(address) = address
                && !address.ip().is_loopback()
                && !self.allows_anyone
            {
                return Err(Error::NotLoopback(*address));
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Error> {
        self.check_addresses(&self.listen)?;
        let page = self.page_bytes;
        if !page.is_power_of_two() || !(PAGE_BYTES_MIN..=PAGE_BYTES_MAX).contains(&page) {
            return Err(Error::Page(page));
        }
        if self.policy.to_string().starts_with("opt") {
            return Err(Error::Future);
        }
        Ok(())
    }

    fn settings(&self) -> Result<Settings, Error> {
        let (bytes, page_bytes) = (self.size.0, self.page_bytes);
        let pages = u32::try_from(bytes / u64::from(page_bytes)).ok().filter(|&pages| pages > 0);
        let pages = pages.ok_or(Error::Size { bytes, page_bytes })?;
        Ok(Settings { page_bytes, ..Settings::new(pages, self.writes) })
    }
}

/// Asks a running server for its figures. `socket` is its control socket, or its socket if the control socket has the
/// usual name.
pub fn stats(socket: &Path) -> Result<ServeDocument, Error> {
    let answer = ask(socket, "stats")?;
    serde_json::from_str(&answer).map_err(|_| Error::Refused(answer.trim().to_owned()))
}

/// Lets a running server write what is dirty and end.
pub fn drain(socket: &Path) -> Result<(), Error> {
    ask(socket, "drain").map(drop)
}

/// Gives the cache of a running server another size, when all that is dirty is written.
pub fn resize(socket: &Path, size: crate::units::Bytes) -> Result<(), Error> {
    ask(socket, &format!("resize {}", size.0)).map(drop)
}

/// Gives the cache of a running server another policy, when all that is dirty is written.
pub fn change_policy(socket: &Path, policy: Choice) -> Result<(), Error> {
    ask(socket, &format!("policy {policy}")).map(drop)
}

fn ask(socket: &Path, line: &str) -> Result<String, Error> {
    let beside = nbd::control_path(socket);
    let control = if beside.exists() { beside } else { socket.to_owned() };
    let failed = |error| Error::NoServer { control: control.display().to_string(), error };
    let answer = nbd::ask(&control, line).map_err(failed)?;
    match serde_json::from_str::<serde_json::Value>(&answer) {
        // A server of NBD greets.
        Err(_) => Err(Error::NotControl(control.display().to_string())),
        Ok(value) if value["error"].is_string() && value["schema"].is_null() => {
            Err(Error::Refused(value["error"].as_str().unwrap_or_default().to_owned()))
        }
        _ => Ok(answer),
    }
}

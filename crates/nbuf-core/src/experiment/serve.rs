//! A cache that runs: a disc served by NBD, until a signal or a control client ends it.
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

mod backend;
mod check;
mod chunks;
mod config;
mod describe;
mod ends;
mod error;
mod export;
mod in_time;
mod journal;
mod keep;
mod kept;
mod limits;
mod need;
mod object;
mod open;
mod readahead;
mod ready;
mod spec;
pub(crate) mod state;
mod tier;
mod tls;
mod trust;
mod watch;

pub use crate::cache::cached::{Bypass, Writes};
pub use crate::cache::policy::Choice;
pub use crate::disc::object::ObjectDiscError;
pub use crate::path::nbd::{
    Address, CredentialsError, ListenError, Remote, RemoteError, RemotePlace, TrustError,
};
pub use backend::{BackendSpec, BackendSpecError};
pub use check::check;
pub use chunks::ChunksSpec;
pub use config::{Config, ConfigError, ExportConfig};
pub use error::Error;
pub use export::{Dirty, ExportSpec, NamedDisc, NamedDiscError};
pub use journal::JournalError;
pub use keep::Reread;
pub use need::{NeedSpec, need};
pub use readahead::{Readahead, ReadaheadError};
pub use spec::Spec;
pub use state::{ListError, StateError, StateErrorKind};
pub use tier::TierSpec;
pub use tls::{TlsError, TlsErrorKind, TlsSpec};
pub use trust::TrustSpec;
pub use watch::{WatchSpec, watch};

use std::path::{Path, PathBuf};

use super::result::ServeDocument;
use super::session::{Interim, Session};
use crate::clock::Stopwatch;
use crate::disc::Disc as _;
use crate::path::nbd::{self, PassedSockets, Server, ServerError, Setup};
use crate::sys::memory::available;
use crate::units::Bytes;
use describe::describe;
use ends::Ends;
use in_time::{STEP_MAX, in_time};

/// Where a server can be reached, before its first client.
#[derive(Clone, Debug)]
pub struct Serving {
    /// Where clients connect.
    pub addresses: Vec<Address>,
    /// The socket to ask it about itself.
    pub control: PathBuf,
    /// The sizes of the discs.
    pub sizes_bytes: Vec<u64>,
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
    check::are_distinct(&spec.exports)?;
    let passed = if spec.takes_sockets { PassedSockets::take() } else { Ok(<_>::default()) };
    let passed = passed.map_err(ServerError::Listen)?;
    let addresses = passed.addresses().map_err(ServerError::Listen)?;
    spec.check_addresses(&addresses)?;
    limits::fit(spec, available())?;
    let tls = spec.tls.as_ref().map(TlsSpec::open).transpose()?;
    // Before any thread starts, so that none of them takes a signal.
    session.cancellation.listen().map_err(Error::Signals)?;
    let clock = Stopwatch::start();
    let ends = &Ends::new(&session.cancellation, reread.is_some());
    let (offers, mut kept) = open::all(spec, (clock, ends), session.observer)?;
    let mut listen = spec.listen.clone();
    if listen.is_empty() && addresses.is_empty() {
        listen.push(Address::Unix(nbd::default_socket(&spec.discs()).map_err(Error::Place)?));
    }
    let control = match passed.control().map_err(ServerError::Listen)? {
        Some(Address::Unix(path)) => path,
        _ => control(spec, &[addresses, listen.clone()].concat())?,
    };
    let setup = Setup {
        listen,
        passed,
        control: Some(control.clone()),
        clients_max: limits::clients(spec.clients_max, session.observer),
        client_timeout: spec.client_timeout,
        spin: spec.spin,
        tls,
    };
    let sizes_bytes: Vec<u64> = offers.iter().map(|offer| offer.disc.size_bytes()).collect();
    let mut server = Server::new(offers, setup, clock)?;
    let addresses = server.addresses().map_err(ServerError::Wait)?;
    let serving = Serving { addresses, control, sizes_bytes: sizes_bytes.clone() };
    // What could go wrong before leaves the list alone, and what goes wrong now puts it back.
    let replaced = kept.begin(&mut server, session.observer)?;
    if let Err(error) = session.observer.interim(Interim::Serving(&serving)) {
        kept.put_back(replaced);
        return Err(Error::Observer(error));
    }
    kept.started();
    if spec.takes_sockets {
        ready::notify();
    }
    let signals = session.cancellation.listen().map_err(Error::Signals)?;
    let wake = std::os::fd::AsFd::as_fd(signals.descriptor());
    let mut keep = keep::Keep { spec, sizes_bytes, session, reread, credentials: None, ends };
    let drained = server.run(wake, &mut keep)?;
    let document = describe(spec, &keep.sizes_bytes, &server.snapshot());
    let is_clean = drained.error.is_none() && drained.owed_bytes == 0;
    let insisted = || ends.is_second();
    kept.end(&spec.exports, &mut server, is_clean, &insisted, session.observer);
    // To close the file of a disc may take for ever, as to read it may: all has been said by then.
    let backends = server.into_backends();
    let close = move |_: &in_time::Steps| {
        drop((backends, kept));
        Ok(())
    };
    let _ = in_time(STEP_MAX, &insisted, close);
    Ok(ServeDocument { error: drained.error, owed_bytes: drained.owed_bytes, ..document })
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
        None => nbd::default_socket(&spec.discs()).map_err(Error::Place)?,
    };
    Ok(nbd::control_path(&beside))
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

/// Gives the cache of a running server another size, when all that is dirty is written. An export by its name;
/// the empty name is the only one. The size that it has then, which is whole pages.
pub fn resize(socket: &Path, size: Bytes, export: &str) -> Result<Bytes, Error> {
    let answer = ask(socket, format!("resize {} {export}", size.0).trim_end())?;
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap_or_default();
    Ok(answer["bytes"].as_u64().map_or(size, Bytes))
}

/// Gives the cache of a running server another policy, in the same way.
pub fn change_policy(socket: &Path, policy: Choice, export: &str) -> Result<(), Error> {
    ask(socket, format!("policy {policy} {export}").trim_end()).map(drop)
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

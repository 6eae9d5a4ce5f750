//! The loop that owns a cache and everybody who asks of it.
//!
//! One thread waits for sockets and the disc, serves hits at once, hands misses to the disc, and sends all
//! replies of a turn in one call for each client. No lock is held anywhere.
//!
//! Invariant: what is kept for clients is bounded: their number, their buffers, and all of these together.

mod behind;
mod clients;
mod drain;
mod figures;
mod keeper;
mod requests;
mod snapshot;
mod status;
mod turn;

pub(crate) use behind::Behind;
use clients::Clients;
pub(crate) use drain::Drained;
use figures::Figures;
pub(crate) use keeper::{Change, Keeper, Signalled};
pub(crate) use snapshot::Snapshot;

use std::io;
use std::os::fd::BorrowedFd;

use super::connection::Connection;
use super::control::{Caller, Command};
use super::handshake::Export;
use super::listener::{Address, ListenError, Listener, Socket};
use super::passed::PassedSockets;
use crate::cache::cached::{Cached, Counts, Others, Settings};
use crate::cache::policy::{self, AnyPolicy};
use crate::clock::Stopwatch;
use crate::disc::{Disc, DiscError};
use crate::units::Nanos;

/// How a server is set.
#[derive(Debug)]
pub(crate) struct Setup {
    /// Where clients connect.
    pub(crate) listen: Vec<Address>,
    /// Sockets that listen already.
    pub(crate) passed: PassedSockets,
    /// Where the control socket is, unless one was passed.
    pub(crate) control: Option<std::path::PathBuf>,
    /// The policy.
    pub(crate) policy: policy::Choice,
    /// The cache.
    pub(crate) settings: Settings,
    /// The name of the export.
    pub(crate) name: String,
    /// Whether writes are refused.
    pub(crate) is_read_only: bool,
    /// The most clients at once.
    pub(crate) clients_max: usize,
    /// How long a client may be slow within a request.
    pub(crate) client_timeout: Nanos,
}

/// Why a server cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// It cannot listen.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The kernel refused a call.
    #[error("cannot wait for clients ({0})")]
    Wait(#[from] io::Error),
}

/// A request of a client at the cache.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// The place of the connection, and its client: another may be there now.
    place: usize,
    client: u32,
    cookie: u64,
    command: u16,
    bytes: u64,
    /// When it came, if its time is measured.
    began: Option<Nanos>,
}

/// What all clients wait for.
#[derive(Debug)]
enum Quiet {
    /// The server ends.
    End,
    /// The cache is changed, and the caller or the program is notified.
    Renew(Change, Option<Caller>),
}

/// A server of one disc.
pub(crate) struct Server {
    cache: Cached<dyn AnyPolicy, Behind>,
    export: Export,
    policy: policy::Choice,
    figures: Figures,
    clients_max: usize,
    listeners: Vec<Listener>,
    control: Option<Listener>,
    callers: Vec<Caller>,
    connections: Clients,
    /// Whether clients wait for the server, or for room, and whether they did at the look before.
    is_held: bool,
    was_held: bool,
    /// Pages that were looked at for requests in this turn.
    looks: u64,
    clients_ever: u32,
    asked: Vec<Option<Asked>>,
    free: Vec<u32>,
    clock: Stopwatch,
    now: Nanos,
    last_tick: Nanos,
    client_timeout: Nanos,
    /// When clients are accepted again, after the kernel had no room for one.
    accept_at: Nanos,
    quiet: Option<Quiet>,
    /// The task of the flush that ends a quiet time.
    flush: Option<u32>,
    /// How that flush ended.
    flushed: Option<Result<(), DiscError>>,
    flushes_failed: u32,
    /// When the next such flush may begin.
    flush_at: Nanos,
    ended: Option<Drained>,
}

impl Server {
    /// Listens for clients of this disc. Times are those of the clock that the disc has too.
    pub(crate) fn new(disc: Behind, setup: Setup, clock: Stopwatch) -> Result<Self, ServerError> {
        let export = Export {
            name: setup.name,
            size_bytes: disc.size_bytes(),
            is_read_only: setup.is_read_only,
            page_bytes: setup.settings.page_bytes,
            request_bytes_max: requests::REQUEST_BYTES_MAX,
        };
        let mut listeners = setup.passed.listeners;
        for address in &setup.listen {
            listeners.push(Listener::bind(address)?);
        }
        let control = match (setup.passed.control, setup.control) {
            (Some(passed), _) => Some(passed),
            (None, Some(path)) => Some(Listener::bind(&Address::Unix(path))?),
            (None, None) => None,
        };
        let policy = setup.policy.build(setup.settings.pages, 0);
        let mut cache = Cached::new(disc, policy, setup.settings);
        cache.time_with(Box::new(move || clock.nanos()));
        cache.compare_with(Others::new(setup.policy, setup.settings.pages, Counts::default()));
        Ok(Self {
            cache,
            export,
            policy: setup.policy,
            figures: Figures::new(),
            clients_max: setup.clients_max,
            listeners,
            control,
            callers: Vec::new(),
            connections: Clients::new()?,
            is_held: false,
            looks: 0,
            was_held: false,
            clients_ever: 0,
            asked: Vec::new(),
            free: Vec::new(),
            clock,
            now: Nanos::ZERO,
            last_tick: Nanos::ZERO,
            client_timeout: setup.client_timeout,
            accept_at: Nanos::ZERO,
            quiet: None,
            flush: None,
            flushed: None,
            flushes_failed: 0,
            flush_at: Nanos::ZERO,
            ended: None,
        })
    }

    /// Where it listens.
    pub(crate) fn addresses(&self) -> io::Result<Vec<Address>> {
        self.listeners.iter().map(Listener::address).collect()
    }

    /// Serves until signals end it; `wake` is readable when one came.
    pub(crate) fn run(
        &mut self,
        wake: BorrowedFd<'_>,
        keeper: &mut dyn Keeper,
    ) -> Result<Drained, ServerError> {
        let mut wanted = None;
        loop {
            self.turn(wake, keeper)?;
            let signalled = keeper.signals();
            match signalled.ends {
                0 => {}
                1 => self.drain(),
                _ => return Ok(self.result()),
            }
            wanted = signalled.change.or(wanted);
            if self.quiet.is_none()
                && let Some(change) = wanted.take()
            {
                self.quiet = Some(Quiet::Renew(change, None));
            }
            self.quieten(keeper);
            if let Some(ended) = self.ended.take() {
                return Ok(ended);
            }
        }
    }

    fn accept(&mut self, socket: Socket) {
        if self.connections.len() >= self.clients_max || self.quiet.is_some() {
            return;
        }
        self.clients_ever = self.clients_ever.wrapping_add(1);
        let client = self.clients_ever;
        self.cache.client_came(client);
        self.connections.add(Connection::new(socket, client, self.now));
    }

    fn command(&mut self, mut caller: Caller, command: Command, keeper: &dyn Keeper) {
        let change = self.setting();
        match command {
            Command::Stats => caller.answer(&keeper.describe(&self.snapshot())),
            Command::Drain => {
                caller.answer("{\"draining\": true}");
                self.drain();
            }
            Command::Resize(bytes) => {
                let pages = bytes / u64::from(self.cache.settings().page_bytes);
                match u32::try_from(pages) {
                    Ok(pages) if pages > 0 => self.renew(caller, Change { pages, ..change }),
                    _ => caller.refuse("the size is a page at least, and 16 TiB at most"),
                }
            }
            Command::Policy(name) => match name.parse::<policy::Choice>() {
                Ok(choice) if choice.row().name == "opt" => {
                    caller.refuse("opt needs the future, which only a simulation has");
                }
                Ok(policy) => self.renew(caller, Change { policy, ..change }),
                Err(error) => caller.refuse(&error.to_string()),
            },
        }
    }

    /// How it is set now.
    fn setting(&self) -> Change {
        let settings = self.cache.settings();
        let (pages, writes) = (settings.pages, settings.writes);
        Change { policy: self.policy, pages, writes, clients_max: self.clients_max }
    }

    /// Begins to renew the cache, when nothing else is going on.
    fn renew(&mut self, mut caller: Caller, change: Change) {
        if self.quiet.is_some() {
            return caller.refuse("the server ends, or changes already: ask again");
        }
        self.quiet = Some(Quiet::Renew(change, Some(caller)));
    }
}

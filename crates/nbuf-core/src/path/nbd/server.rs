//! The loop that owns the caches and everybody who asks of them.
//!
//! One thread waits for sockets and the disc, serves hits at once, hands misses to the disc, and sends all
//! replies of a turn in one call for each client. No lock is held anywhere.
//!
//! Invariant: what is kept for clients is bounded: their number, their buffers, and all of these together.

mod allocation;
mod backend;
mod clients;
mod commands;
mod complete;
mod doors;
mod drain;
mod figures;
mod journal;
mod keeper;
mod layers;
mod pair;
mod requests;
mod served;
mod snapshot;
mod status;
mod tier;
mod turn;
mod wait;

pub(crate) use backend::{Backend, Instead};
use clients::Clients;
use doors::Doors;
pub(crate) use drain::Drained;
pub(crate) use keeper::{Change, Keeper, Signalled};
pub(crate) use served::Offer;
use served::Served;
pub(crate) use snapshot::{Snapshot, Snapshots};
use status::Looking;
pub(crate) use tier::TierSnapshot;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::BorrowedFd;

use super::connection::Connection;
use super::control::ControlClient;
use super::export::Export;
use super::handshake::{Handshake, Secrecy};
use super::listener::{Address, ListenError, Listener, Socket};
use super::passed::PassedSockets;
use super::tls::Tls;
use crate::cache::tiered::Entry;
use crate::clock::Stopwatch;
use crate::disc::Disc;
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
    /// The most clients at once.
    pub(crate) clients_max: usize,
    /// How long a client may be slow within a request.
    pub(crate) client_timeout: Nanos,
    /// How long it looks for more after a turn with work, before it sleeps.
    pub(crate) spin: Nanos,
    /// TLS, if there is a certificate.
    pub(crate) tls: Option<Tls>,
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
struct PendingRequest {
    /// The place of the connection, and its client: another may be there now.
    place: usize,
    client: u32,
    cookie: u64,
    command: u16,
    bytes: u64,
    /// When it came, if its time is measured.
    began: Option<Nanos>,
}

/// What clients wait for.
#[derive(Debug)]
enum Quiet {
    /// The server ends, and all wait.
    End,
    /// The cache of this disc is changed, and the control client or the program is notified: clients of the disc wait.
    Renew(usize, Change, Option<ControlClient>),
}

/// A server of discs.
pub(crate) struct Server {
    discs: Vec<Served>,
    /// What clients are answered of each.
    exports: Vec<Export>,
    clients_max: usize,
    listeners: Vec<Listener>,
    control: Option<Listener>,
    control_clients: Vec<ControlClient>,
    /// Control clients that have not taken all of their answer.
    leaving: Vec<ControlClient>,
    connections: Clients,
    doors: Doors,
    /// Whether clients wait for the server, or for room, and whether they did at the look before.
    is_held: bool,
    was_held: bool,
    /// Pages that were looked at for requests in this turn.
    looks: u64,
    /// Clients with which keys were agreed on in this turn.
    agreements: usize,
    tls: Option<Tls>,
    clients_ever: u32,
    pending: Vec<Option<PendingRequest>>,
    free: Vec<u32>,
    /// Requests for a status that wait for a look at the file, by their numbers.
    looking: HashMap<u32, Looking>,
    clock: Stopwatch,
    now: Nanos,
    last_tick: Nanos,
    client_timeout: Nanos,
    /// How long it looks for more after a turn with work, before it sleeps.
    spin: Nanos,
    /// Whether the last turn had work.
    did_serve: bool,
    /// When clients are accepted again, after the kernel had no room for one.
    accept_at: Nanos,
    quiet: Option<Quiet>,
    /// Changes that wait for a quiet time.
    wanted: VecDeque<(usize, Change)>,
    /// When the quiet time began.
    quiet_since: Nanos,
    ended: Option<Drained>,
}

impl Server {
    /// Listens for clients of these discs. Times are those of the clock that the discs have too.
    pub(crate) fn new(
        offers: Vec<Offer>,
        setup: Setup,
        clock: Stopwatch,
    ) -> Result<Self, ServerError> {
        let (mut discs, mut exports) = (Vec::new(), Vec::new());
        for offer in offers {
            let Offer { disc, name, is_default, is_read_only, policy, settings, pages } = offer;
            let (size_bytes, page_bytes) = (disc.size_bytes(), settings.page_bytes);
            let request_bytes_max = requests::REQUEST_BYTES_MAX;
            exports.push(Export {
                name,
                is_default,
                size_bytes,
                is_read_only,
                page_bytes,
                request_bytes_max,
            });
            discs.push(Served::new(disc, policy, settings, &pages, clock));
        }
        let mut listeners = setup.passed.listeners;
        for address in &setup.listen {
            listeners.push(Listener::bind(address)?);
        }
        let control = match (setup.passed.control, setup.control) {
            (Some(passed), _) => Some(passed),
            (None, Some(path)) => Some(Listener::bind(&Address::Unix(path))?),
            (None, None) => None,
        };
        Ok(Self {
            discs,
            exports,
            clients_max: setup.clients_max,
            listeners,
            control,
            control_clients: Vec::new(),
            leaving: Vec::new(),
            connections: Clients::new()?,
            doors: Doors::default(),
            is_held: false,
            looks: 0,
            agreements: 0,
            tls: setup.tls,
            was_held: false,
            clients_ever: 0,
            pending: Vec::new(),
            free: Vec::new(),
            looking: HashMap::new(),
            clock,
            now: Nanos::ZERO,
            last_tick: Nanos::ZERO,
            client_timeout: setup.client_timeout,
            spin: setup.spin,
            did_serve: false,
            accept_at: Nanos::ZERO,
            quiet: None,
            wanted: VecDeque::new(),
            quiet_since: Nanos::ZERO,
            ended: None,
        })
    }

    /// Where it listens.
    pub(crate) fn addresses(&self) -> io::Result<Vec<Address>> {
        self.listeners.iter().map(Listener::address).collect()
    }

    /// What it is at: connected clients, clients since the start, and each disc.
    pub(crate) fn snapshot(&self) -> Snapshots {
        let up = self.time();
        Snapshots {
            clients: self.connections.len() as u64,
            clients_ever: self.clients_ever.into(),
            discs: self.discs.iter().map(|served| served.snapshot(up)).collect(),
        }
    }

    /// The pages that each cache holds, the first one to be evicted first. For the end.
    pub(crate) fn eviction_orders(&mut self) -> Vec<Vec<u64>> {
        self.discs.iter_mut().map(|served| served.cache.eviction_order()).collect()
    }

    /// What the second tier of each disc holds, where there is one in order. For the end. It waits for writes to tiers as
    /// long as a request may take, unless a second signal came.
    pub(crate) fn held_by_tiers(&mut self, insisted: &dyn Fn() -> bool) -> Vec<Option<Vec<Entry>>> {
        self.discs.iter_mut().map(|served| served.cache.disc_mut().held(insisted)).collect()
    }

    /// Closes its sockets. Its discs, for a thread that may wait until their files are closed.
    pub(crate) fn into_backends(self) -> Vec<Backend> {
        self.discs.into_iter().map(|served| served.cache.into_disc()).collect()
    }

    /// Uses the second tier of a disc no more, for this reason.
    pub(crate) fn lose_tier(&mut self, disc: usize, why: String) {
        self.discs[disc].cache.disc_mut().lose_tier(why);
    }

    /// Serves until signals end it; `wake` is readable when one came.
    pub(crate) fn run(
        &mut self,
        wake: BorrowedFd<'_>,
        keeper: &mut dyn Keeper,
    ) -> Result<Drained, ServerError> {
        // The start took its time: what is asked now is not late.
        self.now = self.now.max(self.time());
        self.warm();
        loop {
            self.turn(wake, keeper)?;
            self.notify(keeper);
            let signalled = keeper.signals();
            match signalled.ends {
                0 => {}
                1 => self.drain(),
                _ => return Ok(self.result()),
            }
            if let (Some(tls), Some(credentials)) = (&mut self.tls, signalled.credentials) {
                tls.credentials = credentials;
            }
            if let Some(changes) = signalled.changes {
                let more = |&(disc, change): &(usize, Change)| {
                    !self.is_changed_at_once(disc, change, keeper)
                };
                self.wanted = changes.into_iter().filter(more).collect();
            }
            if self.quiet.is_none()
                && let Some((disc, change)) = self.wanted.pop_front()
            {
                self.quieten_for(Quiet::Renew(disc, change, None));
            }
            self.quieten(keeper);
            if let Some(ended) = self.ended.take() {
                return Ok(ended);
            }
        }
    }

    fn accept(&mut self, socket: Socket) {
        if self.connections.len() >= self.clients_max || matches!(self.quiet, Some(Quiet::End)) {
            return;
        }
        self.clients_ever = self.clients_ever.wrapping_add(1);
        let client = self.clients_ever;
        let secrecy = self.tls.as_ref().map_or(Secrecy::Absent, |tls| tls.secrecy(&socket));
        let handshake = Handshake::new(secrecy);
        self.connections.add(Connection::new(socket, handshake, client, self.now));
    }
}

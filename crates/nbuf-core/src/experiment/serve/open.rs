//! Opens the discs of a server, and what their caches held before.

use std::fs::File;

use super::ends::Ends;
use super::journal::JournalFile;
use super::kept::Kept;
use super::state::{Source, State};
use super::tier::TierFile;
use super::{BackendSpec, Error, ExportSpec, Spec, TrustSpec, object};
use crate::cache::cached::Settings;
use crate::clock::Stopwatch;
use crate::disc::Disc as _;
use crate::disc::object::REQUESTS;
use crate::experiment::notice::{Notice, ServeNotice};
use crate::experiment::session::Observer;
use crate::path::nbd::{self, Backend, Instead, Offer, ServerError, Trust};

/// Requests that another server is taken to serve at once, as nbdkit does by default.
const NBD_REQUESTS: u32 = 16;

/// Opens all discs, and the files that are kept for the next start. Signals end it where it takes long.
pub(super) fn all(
    spec: &Spec,
    (clock, ends): (Stopwatch, &Ends<'_>),
    observer: &dyn Observer,
) -> Result<(Vec<Offer>, Kept), Error> {
    let trust = spec.trust.as_ref().map(TrustSpec::load).transpose()?;
    let state = spec.state.as_deref();
    let mut state = state.map(|path| State::open(path, observer)).transpose()?;
    let (mut offers, mut sources) = (Vec::new(), Vec::new());
    let (mut tiers, mut journals) = (Vec::new(), Vec::new());
    for export in &spec.exports {
        let (mut offer, source) = open(spec, export, trust.as_ref(), clock, observer)?;
        // What a journal owes comes to the disc before anything looks at the disc's times.
        let opened = JournalFile::open(export, offer.disc, &source, (clock, ends), observer)?;
        journals.push(opened.0);
        offer.disc = opened.1;
        let mut tier = None;
        if let Some(wanted) = &export.tier {
            let own = source.try_clone().map_err(ServerError::Wait)?;
            let disc = (offer.disc, own);
            let opened = TierFile::open(wanted, export, disc, (spec.threads, clock), observer)?;
            offer.disc = opened.1;
            tier = Some(opened.0);
        }
        tiers.push(tier);
        offers.push(offer);
        sources.push(source);
    }
    if let Some(state) = &mut state {
        state.fill(&spec.exports, &mut offers, sources, observer);
    }
    Ok((offers, Kept { state, tiers, journals }))
}

fn open(
    spec: &Spec,
    export: &ExportSpec,
    trust: Option<&Trust>,
    clock: Stopwatch,
    observer: &dyn Observer,
) -> Result<(Offer, Source), Error> {
    let disc_requests = match &export.disc {
        BackendSpec::File(_) | BackendSpec::Direct(_) => {
            u32::try_from(spec.threads).unwrap_or(u32::MAX)
        }
        BackendSpec::Nbd(_) => NBD_REQUESTS,
        BackendSpec::Object(_) | BackendSpec::Chunks(_) => REQUESTS,
    };
    // Its times are looked at when all is written. The lock is shared with it.
    let (mut kept, mut numbers) = (None, <_>::default());
    let keep = |file: &File| file.try_clone().map(Some).map_err(ServerError::Wait);
    let disc = match &export.disc {
        BackendSpec::File(path) => {
            let (file, size_bytes) = nbd::open(path, export.is_read_only)?;
            kept = keep(&file)?;
            Backend::file(file, size_bytes, spec.threads, clock).map_err(ServerError::Wait)?
        }
        BackendSpec::Direct(path) => {
            let is_read_only = export.is_read_only;
            let (file, size_bytes) = nbd::open(path, is_read_only)?;
            kept = keep(&file)?;
            let opened = Backend::direct(file, size_bytes, spec.threads, is_read_only, clock);
            let (disc, instead) = opened.map_err(ServerError::Wait)?;
            let notice = instead.as_ref().map(|instead| match instead {
                Instead::ThroughCache(error) => ServeNotice::ThroughCache { disc: path, error },
                Instead::Threads(error) => ServeNotice::NoRing { threads: spec.threads, error },
            });
            if let Some(notice) = notice {
                observer.notice(&Notice::Serve(notice));
            }
            disc
        }
        BackendSpec::Nbd(remote) => Backend::nbd(remote, trust, clock)
            .map_err(|error| Error::Backend { address: remote.to_string(), error })?,
        BackendSpec::Object(address) => {
            let disc = object::open(address, clock)?;
            numbers = disc.numbers();
            Backend::object(disc)
        }
        BackendSpec::Chunks(chunks) => {
            Backend::object(object::open_chunks(chunks, export.is_read_only, clock)?)
        }
    };
    let source = Source::of(&export.disc, kept, disc.size_bytes(), numbers);
    let offer = Offer {
        name: export.name.clone(),
        is_default: export.is_default,
        is_read_only: export.is_read_only || disc.is_read_only(),
        policy: export.policy,
        settings: Settings { disc_requests, ..export.settings()? },
        disc,
        pages: Vec::new(),
    };
    Ok((offer, source))
}

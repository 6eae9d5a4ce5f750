//! The configuration around a workload: cache, processor and disc, built for each replay.

mod backend;
mod replaying;
mod source;
mod synthetic;
mod until;
mod users;
mod workload;

pub(super) use source::named;
pub(super) use workload::{Outcome, Workload};

use super::error::Error;
use super::spec::{CachingUnit, Order, Spec};
use super::{Clients, Cpu, Figures, Machine, Observer, Stats, replay};
use crate::cache::layer::{Addressing, Layer, NoCache, SECTOR_BYTES, Sectors, Units, Writes};
use crate::cache::max_iv::Rules;
use crate::cache::policy::Choice;
use crate::disc::table::Shape;
use crate::experiment::memory::bound;
use crate::experiment::session::Session;
use crate::units::{Bound, Bytes};
use backend::Backend;

/// A cache of more units than this is not simulated.
const UNITS_MAX: u64 = 1 << 31;
/// Nor one of more sectors with their words.
const SECTORS_MAX: u64 = 1 << 24;
/// The default chunk.
const CHUNK_BYTES: u32 = 4096;
/// Sectors of a track beyond which they have no room in 8 bits.
const TRACK_SECTORS_MAX: u64 = 255;

/// What to do where there is too little memory.
const LESS: &str = "allow more with --memory, or keep larger units with --unit";
/// Memory of a sector in MAX-IV, and of a unit in a sketch of frequencies, up to `SKETCHED_MAX`.
const SECTOR_STATE_BYTES: u64 = 64;
const SKETCH_BYTES: u64 = 8;
const SKETCHED_MAX: u64 = 1 << 26;

/// Cache, processor and disc.
pub(super) struct Config {
    pub(super) policy: String,
    pub(super) unit: CachingUnit,
    pub(super) unit_bytes: u32,
    backend: Backend,
    pub(super) machine: Machine,
    writes: Writes,
    rules: Rules,
    addressing: Addressing,
    seed: u64,
    /// Memory of one replay.
    pub(super) memory: Bound,
}

impl Config {
    /// The configuration of a spec; refuses what contradicts itself.
    pub(super) fn of(spec: &Spec, seed: u64) -> Result<Self, Error> {
        let backend = Backend::of(&spec.disc, spec.destroy)?;
        let shape = backend.shape();
        let policy = match (&spec.policy, &spec.sizes) {
            (Some(policy), _) => policy.clone(),
            (None, Some(_)) => "lru".to_owned(),
            (None, None) => "none".to_owned(),
        };
        if spec.sizes.is_none() && policy != "none" {
            return Err(usage("a cache has a size: give it with --size, such as --size 64MiB"));
        }
        must_matter(spec, &policy)?;
        let is_max_iv = policy == "max-iv";
        let default = if is_max_iv { CachingUnit::Sector } else { CachingUnit::Chunk(CHUNK_BYTES) };
        let unit = spec.unit.unwrap_or(default);
        let unit_bytes = unit_bytes(unit, is_max_iv, shape)?;
        let cpu = if is_max_iv { "modcomp-320us" } else { "modern" };
        let cpu = spec.cpu.clone().or_else(|| Cpu::named(cpu));
        let Some(cpu) = cpu else { return Err(usage("there is no such processor")) };
        let (sector_bytes, moves_bytes) = (shape.sector_bytes, backend.is_real());
        let addressing = addressing(spec.address.unwrap_or(Order::SectorLow), shape);
        let lists = spec.lists.unwrap_or(Rules::DEFAULT.lists);
        Ok(Self {
            policy,
            unit,
            unit_bytes,
            machine: Machine { cpu, sector_bytes, moves_bytes },
            backend,
            writes: spec.writes.unwrap_or_default(),
            rules: Rules { lists, positions: spec.positions, ..Rules::DEFAULT },
            addressing,
            seed,
            memory: bound(spec.memory, LESS),
        })
    }

    /// Divides the memory among the replays that run at once.
    pub(super) fn share(&mut self, replays: usize) {
        let at_once = replays.min(rayon::current_num_threads()).max(1) as u64;
        self.memory.allowed = Bytes(self.memory.allowed.0 / at_once);
    }

    /// The sizes of the spec, in units.
    pub(super) fn sizes(&self, spec: &Spec) -> Result<Vec<u64>, Error> {
        let sizes = match &spec.sizes {
            Some(sizes) => sizes.pages_or_none(self.unit_bytes.into())?,
            None => vec![0],
        };
        match (&spec.policy, &sizes[..]) {
            (Some(policy), [0]) if policy != "none" => {
                return Err(usage(
                    "a cache of less than one unit hits nothing: write 1 or more, a range from nothing such \
                     as 0..768:32, or --policy none",
                ));
            }
            (Some(policy), sizes) if policy == "none" && sizes != [0] => {
                return Err(usage(
                    "--size is for a cache: leave it out, or name another --policy than none",
                ));
            }
            _ => {}
        }
        let most = if self.policy == "max-iv" { SECTORS_MAX } else { UNITS_MAX };
        if sizes.last().is_some_and(|&size| size > most) {
            return Err(Error::TooManyUnits { most });
        }
        Ok(sizes)
    }

    /// Refuses a workload that runs past the end of the disc.
    pub(super) fn must_hold(&self, bytes: u64) -> Result<(), Error> {
        self.backend.must_hold(bytes)?;
        if self.policy == "max-iv" && !self.addressing.reaches(bytes) {
            return Err(Error::Unaddressable);
        }
        Ok(())
    }

    /// Refuses to overwrite an existing file.
    pub(super) fn may_write(&self, writes: bool) -> Result<(), Error> {
        if writes { self.backend.may_write() } else { Ok(()) }
    }

    /// Whether it takes real time.
    pub(super) fn is_real(&self) -> bool {
        self.backend.is_real()
    }

    /// Replays the clients with a cache of `size_units`; `held` bytes of the memory are in use already.
    fn replay(
        &self,
        (size_units, held): (u64, u64),
        session: &Session<'_>,
        clients: &mut dyn Clients,
        observer: &mut dyn Observer,
    ) -> Result<Stats, Error> {
        let mut disc = self.backend.build(session)?;
        let mut cache = self.cache(size_units, disc.size_bytes(), self.memory.without(held))?;
        Ok(replay(&self.machine, &mut *cache, &mut *disc, clients, observer)?)
    }

    /// The size of the disc; unknown for a file that is not created yet.
    pub(super) fn disc_bytes(&self) -> Option<u64> {
        self.backend.size_bytes()
    }

    /// The meters of the six figures, for a workload that touches `bytes` of the disc (0 is all of it),
    /// behind a management space, if it has one.
    pub(super) fn figures(&self, bytes: u64, management_bytes: Option<u64>) -> Figures {
        let shape = self.backend.shape();
        let has_tracks = shape.track_bytes > u64::from(shape.sector_bytes);
        let bytes = if bytes == 0 { self.disc_bytes().unwrap_or(0) } else { bytes };
        Figures::new(bytes, has_tracks.then_some(shape.track_bytes), management_bytes)
    }

    fn cache(
        &self,
        size_units: u64,
        disc_bytes: u64,
        memory: Bound,
    ) -> Result<Box<dyn Layer>, Error> {
        let size = u32::try_from(size_units).unwrap_or(u32::MAX);
        // Most grow with what they have seen; these are laid out as large as they may become.
        let name = self.policy.split(':').next().unwrap_or_default();
        let laid_out = match name {
            "max-iv" => SECTOR_STATE_BYTES * size_units,
            "w-tinylfu" => SKETCH_BYTES * size_units.min(SKETCHED_MAX).next_power_of_two(),
            _ => 0,
        };
        memory.allow("a cache of this size", laid_out)?;
        let memory = memory.without(laid_out);
        Ok(match (size, self.policy.parse::<Choice>()) {
            (0, _) => Box::new(NoCache),
            (_, Err(_)) => Box::new(Sectors::new(size, self.rules, self.addressing)),
            (_, Ok(choice)) => {
                let policy = choice.build(size, self.seed);
                let unit_bytes = self.unit_bytes.into();
                Box::new(Units::new(policy, unit_bytes, disc_bytes, self.writes).within(memory))
            }
        })
    }
}

fn usage(text: &str) -> Error {
    Error::Usage(text.to_owned())
}

/// Refuses options that change nothing.
fn must_matter(spec: &Spec, policy: &str) -> Result<(), Error> {
    let is_max_iv = policy == "max-iv";
    let has_own = spec.lists.is_some() || spec.address.is_some() || spec.positions.is_some();
    if has_own && !is_max_iv {
        return Err(usage(
            "--lists, --address and --positions are for max-iv: write --policy max-iv",
        ));
    }
    if spec.writes.is_some() && (is_max_iv || policy == "none") {
        return Err(usage(
            "--writes is for a cache without rules of its own: write --policy lru, or leave it out",
        ));
    }
    Ok(())
}

fn unit_bytes(unit: CachingUnit, is_max_iv: bool, shape: Shape) -> Result<u32, Error> {
    let bytes = match unit {
        CachingUnit::Sector if is_max_iv => SECTOR_BYTES.into(),
        _ if is_max_iv => return Err(Error::UnitOfMaxIv),
        CachingUnit::Sector => shape.sector_bytes.into(),
        CachingUnit::Track => shape.track_bytes,
        CachingUnit::Cylinder => shape.cylinder_bytes,
        CachingUnit::Chunk(bytes) => bytes.into(),
    };
    match u32::try_from(bytes) {
        Ok(bytes) if bytes > 0 => Ok(bytes),
        _ => Err(Error::UnitTooLarge { bytes }),
    }
}

/// The addressing of the spec, where sectors of the disc fit into it.
fn addressing(order: Order, shape: Shape) -> Addressing {
    let track = shape.track_bytes / u64::from(SECTOR_BYTES);
    let fits = shape.track_bytes > u64::from(shape.sector_bytes) && track <= TRACK_SECTORS_MAX;
    let track_sectors = u32::try_from(track).unwrap_or(u32::MAX);
    match order {
        Order::SectorLow if fits => Addressing::SectorLow { track_sectors },
        Order::TrackLow if fits => Addressing::TrackLow { track_sectors },
        _ => Addressing::Plain,
    }
}

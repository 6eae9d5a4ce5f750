//! What stands around a workload: cache, processor and disc, made anew for each replay.

use anyhow::{Result, bail};
use nbuf::cache::front::{Addressing, Front, Nothing, SECTOR_BYTES, Sectors, Units};
use nbuf::cache::max_iv::Rules;
use nbuf::cache::policy::Choice;
use nbuf::disc::table::Shape;
use nbuf::experiment::replay::{Cpu, Crowd, Figures, Machine, Seen, Watch, replay};
use nbuf::units::{Bound, Bytes};

use super::Args;
use super::arguments::{CachingUnit, Order, WritesDo};
use super::behind::Behind;
use crate::command::memory::bound;

/// A cache of more units than this is not simulated.
const UNITS_MAX: u64 = 1 << 31;
/// Nor one of more sectors with their words.
const SECTORS_MAX: u64 = 1 << 24;
/// A chunk, unless told otherwise.
const CHUNK_BYTES: u32 = 4096;
/// Sectors of a track beyond which they have no room in 8 bits.
const TRACK_SECTORS_MAX: u64 = 255;

/// What to do where there is too little memory.
const LESS: &str = "allow more with --memory, or keep larger units with --unit";
/// What a sector takes in a cache with words, and a unit in a sketch of frequencies, up to so many.
const SECTOR_STATE_BYTES: u64 = 64;
const SKETCH_BYTES: u64 = 8;
const SKETCHED_MAX: u64 = 1 << 26;

/// See the module.
pub(super) struct Setting {
    pub(super) policy: String,
    pub(super) unit: CachingUnit,
    pub(super) unit_bytes: u32,
    behind: Behind,
    pub(super) machine: Machine,
    writes: nbuf::cache::front::Writes,
    rules: Rules,
    addressing: Addressing,
    seed: u64,
    /// What one replay may use.
    pub(super) memory: Bound,
}

impl Setting {
    /// What was asked for; refuses what makes no sense.
    pub(super) fn of(args: &Args) -> Result<Self> {
        let behind = Behind::of(&args.disc, args.destroy)?;
        let shape = behind.shape();
        let policy = match (&args.policy, &args.size) {
            (Some(policy), _) => policy.clone(),
            (None, Some(_)) => "lru".to_owned(),
            (None, None) => "none".to_owned(),
        };
        if args.size.is_none() && policy != "none" {
            bail!("a cache has a size: say how large with --size, such as --size 64MiB");
        }
        must_matter(args, &policy)?;
        let is_max_iv = policy == "max-iv";
        let default = if is_max_iv { CachingUnit::Sector } else { CachingUnit::Chunk(CHUNK_BYTES) };
        let unit = args.unit.unwrap_or(default);
        let unit_bytes = unit_bytes(unit, is_max_iv, shape)?;
        let cpu = if is_max_iv { "modcomp-320us" } else { "modern" };
        let cpu = args.cpu.clone().or_else(|| Cpu::named(cpu));
        let Some(cpu) = cpu else { bail!("there is no such processor") };
        let (sector_bytes, moves_bytes) = (shape.sector_bytes, behind.is_real());
        let addressing = addressing(args.address.unwrap_or(Order::SectorLow), shape);
        let lists = args.lists.unwrap_or(Rules::DEFAULT.lists);
        Ok(Self {
            policy,
            unit,
            unit_bytes,
            machine: Machine { cpu, sector_bytes, moves_bytes },
            behind,
            writes: args.writes.unwrap_or(WritesDo::Fill).into(),
            rules: Rules { lists, positions: args.positions, ..Rules::DEFAULT },
            addressing,
            seed: args.seed,
            memory: bound(args.memory, LESS),
        })
    }

    /// Shares the memory out to so many replays, as many as go on at once.
    pub(super) fn share(&mut self, replays: usize) {
        let at_once = replays.min(rayon::current_num_threads()).max(1) as u64;
        self.memory.allowed = Bytes(self.memory.allowed.0 / at_once);
    }

    /// The sizes that were asked for, in units.
    pub(super) fn sizes(&self, args: &Args) -> Result<Vec<u64>> {
        let sizes = match &args.size {
            Some(sizes) => sizes.pages_or_none(self.unit_bytes.into())?,
            None => vec![0],
        };
        match (&args.policy, &sizes[..]) {
            (Some(policy), [0]) if policy != "none" => bail!(
                "a cache of less than one unit hits nothing: write 1 or more, a range from nothing such \
                 as 0..768:32, or --policy none"
            ),
            (Some(policy), sizes) if policy == "none" && sizes != [0] => {
                bail!("--size is for a cache: leave it out, or name another --policy than none");
            }
            _ => {}
        }
        let most = if self.policy == "max-iv" { SECTORS_MAX } else { UNITS_MAX };
        if sizes.last().is_some_and(|&size| size > most) {
            bail!("more than {most} units are not simulated: write a smaller --size");
        }
        Ok(sizes)
    }

    /// Refuses a workload that runs past the end of the disc.
    pub(super) fn must_hold(&self, bytes: u64) -> Result<()> {
        self.behind.must_hold(bytes)?;
        if self.policy == "max-iv" && !self.addressing.reaches(bytes) {
            bail!("this takes more of a disc than max-iv can address: choose another --policy");
        }
        Ok(())
    }

    /// Refuses to write where something could be lost.
    pub(super) fn may_write(&self, writes: bool) -> Result<()> {
        if writes { self.behind.may_write() } else { Ok(()) }
    }

    /// Whether it takes real time.
    pub(super) fn is_real(&self) -> bool {
        self.behind.is_real()
    }

    /// Replays it with a cache of so many units, beside so many bytes of memory that are in use.
    pub(super) fn replay(
        &self,
        (size_units, held): (u64, u64),
        crowd: &mut dyn Crowd,
        watch: &mut dyn Watch,
    ) -> Result<Seen> {
        let mut disc = self.behind.build(self.seed)?;
        let mut cache = self.cache(size_units, disc.size_bytes(), self.memory.without(held))?;
        Ok(replay(&self.machine, &mut *cache, &mut *disc, crowd, watch)?)
    }

    /// Where the disc ends; that of a file which is not there yet is not known.
    pub(super) fn disc_bytes(&self) -> Option<u64> {
        self.behind.size_bytes()
    }

    /// The meters of the six figures, for a workload that takes so many bytes of the disc (0 is all of
    /// it), from a management space on, if it has one.
    pub(super) fn figures(&self, bytes: u64, management_bytes: Option<u64>) -> Figures {
        let shape = self.behind.shape();
        let has_tracks = shape.track_bytes > u64::from(shape.sector_bytes);
        let bytes = if bytes == 0 { self.disc_bytes().unwrap_or(0) } else { bytes };
        Figures::new(bytes, has_tracks.then_some(shape.track_bytes), management_bytes)
    }

    fn cache(&self, size_units: u64, disc_bytes: u64, memory: Bound) -> Result<Box<dyn Front>> {
        let size = u32::try_from(size_units).unwrap_or(u32::MAX);
        // Most grow with what they have seen; these are laid out as large as they may become.
        let laid_out = match self.policy.as_str() {
            "max-iv" => SECTOR_STATE_BYTES * size_units,
            "w-tinylfu" => SKETCH_BYTES * size_units.min(SKETCHED_MAX).next_power_of_two(),
            _ => 0,
        };
        memory.allow("a cache of this size", laid_out)?;
        let memory = memory.without(laid_out);
        Ok(match (size, self.policy.parse::<Choice>()) {
            (0, _) => Box::new(Nothing),
            (_, Err(_)) => Box::new(Sectors::new(size, self.rules, self.addressing)),
            (_, Ok(choice)) => {
                let policy = choice.build(size, self.seed);
                let unit_bytes = self.unit_bytes.into();
                Box::new(Units::new(policy, unit_bytes, disc_bytes, self.writes).within(memory))
            }
        })
    }
}

/// Refuses what would change nothing.
fn must_matter(args: &Args, policy: &str) -> Result<()> {
    let is_max_iv = policy == "max-iv";
    let has_own = args.lists.is_some() || args.address.is_some() || args.positions.is_some();
    if has_own && !is_max_iv {
        bail!("--lists, --address and --positions are for max-iv: write --policy max-iv");
    }
    if args.writes.is_some() && (is_max_iv || policy == "none") {
        bail!(
            "--writes is for a cache without rules of its own: write --policy lru, or leave it out"
        );
    }
    Ok(())
}

fn unit_bytes(unit: CachingUnit, is_max_iv: bool, shape: Shape) -> Result<u32> {
    let bytes = match unit {
        CachingUnit::Sector if is_max_iv => SECTOR_BYTES.into(),
        _ if is_max_iv => bail!(
            "max-iv keeps sectors of {SECTOR_BYTES} bytes: leave --unit out, or keep other units with \
             --policy lru"
        ),
        CachingUnit::Sector => shape.sector_bytes.into(),
        CachingUnit::Track => shape.track_bytes,
        CachingUnit::Cylinder => shape.cylinder_bytes,
        CachingUnit::Chunk(bytes) => bytes.into(),
    };
    match u32::try_from(bytes) {
        Ok(bytes) if bytes > 0 => Ok(bytes),
        _ => bail!(
            "a unit of {bytes} bytes is too large to be moved at once: write a smaller --unit"
        ),
    }
}

/// As it was asked for, where sectors of the disc fit into it.
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

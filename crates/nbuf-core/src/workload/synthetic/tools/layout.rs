//! Where things lie on the disc of the tools.
//!
//! The management space is one piece at the beginning, as large as it will ever have to be; data is in
//! the rest, every file from the beginning of a track on. So the arm goes a long way between a file and
//! what is known about it, which is the paper's complaint. The linked sectors of directories and files
//! are strewn over the management space: the place of one follows from its name, as if by chance.

use super::Parameters;
use crate::clock::Random;

/// Bytes of a sector: 128 words.
pub const SECTOR_BYTES: u64 = 256;

/// Sectors of a track of the paper's discs: its track cache wastes 38 of 42.
pub const TRACK_SECTORS: u64 = 42;

/// Tracks of a hundred that are management space. Not in the paper, which has it "relatively large".
const MANAGEMENT_PERCENT: u64 = 5;

/// Tracks for the files that a user keeps.
pub(super) const HOME_TRACKS: u64 = 4;

/// Least tracks for what a user reads once, and for his pipes.
const LOOSE_TRACKS_MIN: u64 = 8;

/// Places of directories and files on the disc, in tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    seed: u64,
    management: u64,
    programs: u64,
    program_tracks: u64,
    cores: u64,
    core_tracks: u64,
    homes: u64,
    loose: u64,
    loose_tracks: u64,
}

/// A disc is too small for the users' files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{users} users of the tools need a disc of {needed_bytes} B, and this one has {size_bytes} B: choose a larger disc or fewer users"
)]
pub struct DiscTooSmall {
    /// How many there are to be.
    pub users: u32,
    /// What would do.
    pub needed_bytes: u64,
    /// What there is.
    pub size_bytes: u64,
}

impl Layout {
    /// The layout of a disc of this size, without the end that makes no whole track. A quarter of the unused
    /// sectors is before the programs, a quarter behind them, the rest with the loose files.
    pub fn new(parameters: &Parameters, size_bytes: u64) -> Result<Self, DiscTooSmall> {
        let track_bytes = SECTOR_BYTES * TRACK_SECTORS;
        let users = u64::from(parameters.users);
        let tracks = size_bytes / track_bytes;
        let management = (tracks * MANAGEMENT_PERCENT).div_ceil(100);
        let program_tracks = (1 + u64::from(parameters.program_sectors)).div_ceil(TRACK_SECTORS);
        let core_tracks = u64::from(parameters.core_sectors).div_ceil(TRACK_SECTORS);
        let all_programs = u64::from(parameters.tools) * program_tracks;
        let each = core_tracks + HOME_TRACKS + LOOSE_TRACKS_MIN;
        let files = all_programs + users * each;
        // One more, since the management space is rounded up.
        let needed = (files + 1) * 100 / (100 - MANAGEMENT_PERCENT) + 1;
        if tracks < needed {
            let needed_bytes = needed * track_bytes;
            return Err(DiscTooSmall { users: parameters.users, needed_bytes, size_bytes });
        }
        let spare = tracks - management - files;
        let programs = management + spare / 4;
        let cores = programs + all_programs + spare / 4;
        let homes = cores + users * core_tracks;
        Ok(Self {
            seed: parameters.seed,
            management,
            programs,
            program_tracks,
            cores,
            core_tracks,
            homes,
            loose: homes + users * HOME_TRACKS,
            loose_tracks: LOOSE_TRACKS_MIN + spare / 2 / users.max(1),
        })
    }

    /// Where the management space ends, which begins the disc.
    pub fn management_bytes(&self) -> u64 {
        self.management * TRACK_SECTORS * SECTOR_BYTES
    }

    /// Whether a byte of the disc is in the management space.
    pub fn is_management(&self, offset_bytes: u64) -> bool {
        offset_bytes < self.management_bytes()
    }

    /// The sector of the management space where a link of what has this name is.
    pub(super) fn link(&self, name: u64, number: u64) -> u64 {
        let mut random = Random::new(name ^ self.seed.rotate_left(32));
        Random::new(random.next() ^ number).below(self.management * TRACK_SECTORS)
    }

    /// The first sector of a program, which is its LPR; the rest follows.
    pub(super) fn program(&self, number: u64) -> u64 {
        (self.programs + number * self.program_tracks) * TRACK_SECTORS
    }

    /// Where the shell of a user is written to.
    pub(super) fn core(&self, user: u64) -> u64 {
        (self.cores + user * self.core_tracks) * TRACK_SECTORS
    }

    /// One of the files that a user keeps.
    pub(super) fn home(&self, user: u64, number: u64) -> u64 {
        (self.homes + user * HOME_TRACKS + number % HOME_TRACKS) * TRACK_SECTORS
    }

    /// One of the files that come and go: after many, a track is used again.
    pub(super) fn loose(&self, user: u64, number: u64) -> u64 {
        (self.loose + user * self.loose_tracks + number % self.loose_tracks) * TRACK_SECTORS
    }
}

//! The end of a drive's prefetch after a read.

use super::drive::{Ahead, Drive};

/// The sector before which the prefetch ends, after a read of `start` to before `end`.
pub(super) fn until(drive: &Drive, start: u64, end: u64) -> u64 {
    let track_end = |sector: u64| {
        drive.geometry.run(sector, u64::MAX).map_or(sector, |run| sector + run.sectors)
    };
    match drive.buffer.ahead {
        Ahead::None => end,
        Ahead::Sectors(count) => end + count,
        Ahead::Track(count) => {
            let same = drive.geometry.run(end, 1);
            let last = drive.geometry.run(end.saturating_sub(1), 1);
            let stays = matches!((same, last), (Some(same), Some(last))
                if (same.cylinder, same.head) == (last.cylinder, last.head));
            if stays { track_end(end).min(end + count) } else { end }
        }
        Ahead::Cylinder(count) => {
            let cylinder = drive.geometry.cylinder(end.saturating_sub(1));
            let mut until = end;
            while until < end + count
                && let Some(run) = drive.geometry.run(until, end + count - until)
                && run.cylinder == cylinder
            {
                until += run.sectors;
            }
            until
        }
        Ahead::NextTrack => {
            let this = track_end(end);
            let begun_before = track_end(start) < this;
            if begun_before { track_end(this) } else { this }
        }
    }
}

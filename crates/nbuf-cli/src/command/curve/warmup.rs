//! How many requests fill the caches before anything is counted.

use anyhow::{Result, bail};

use super::Args;
use super::arguments::Warmup;
use super::reading::{Reading, named};
use crate::show::text::count;

/// The requests of the warm-up. A share is one of all requests, which a reading of its own counts.
pub(super) fn requests(args: &Args, reading: &mut Reading<'_>) -> Result<u64> {
    match args.warmup {
        None => Ok(0),
        Some(Warmup::Requests(requests)) => Ok(requests),
        Some(Warmup::Share(_)) if !reading.again() => bail!(
            "--warmup with a share counts the requests first, and a pipe comes once: give a file, \
             or a number of requests such as --warmup 1000000"
        ),
        Some(Warmup::Share(share)) => {
            reading.read(|_, _| Ok(()))?;
            let requests = u128::from(reading.requests) * u128::from(share) / 1_000_000;
            Ok(u64::try_from(requests).unwrap_or(reading.requests))
        }
    }
}

/// Refuses a warm-up that leaves nothing to count.
pub(super) fn must_leave_some(args: &Args, reading: &Reading<'_>, warmup: u64) -> Result<()> {
    if warmup > 0 && warmup >= reading.requests && !reading.is_ended() {
        bail!(
            "--warmup {warmup} leaves nothing to count: {} has {}; give a smaller number, or a \
             share such as --warmup 10%",
            named(args),
            count(reading.requests, "request", "requests")
        );
    }
    Ok(())
}

//! How many requests fill the caches before anything is counted.

use super::reading::{Reading, named};
use super::spec::Warmup;
use super::{Error, Spec};

/// The requests of the warm-up. A share is one of all requests, which a reading of its own counts.
pub(super) fn requests(spec: &Spec, reading: &mut Reading<'_>) -> Result<u64, Error> {
    match spec.warmup {
        None => Ok(0),
        Some(Warmup::Requests(requests)) => Ok(requests),
        Some(Warmup::Millionths(_)) if !reading.again() => Err(Error::WarmupOfPipe),
        Some(Warmup::Millionths(share)) => {
            reading.read(|_, _| Ok(()))?;
            let requests = u128::from(reading.requests) * u128::from(share) / 1_000_000;
            Ok(u64::try_from(requests).unwrap_or(reading.requests))
        }
    }
}

/// Refuses a warm-up that leaves nothing to count.
pub(super) fn must_leave_some(
    spec: &Spec,
    reading: &Reading<'_>,
    warmup: u64,
) -> Result<(), Error> {
    let requests = reading.requests;
    if warmup > 0 && warmup >= requests && !reading.is_ended() {
        return Err(Error::WarmupOfAll { warmup, name: named(spec), requests });
    }
    Ok(())
}

//! The lease: who may write, until when. It keeps a second writer out. A PUT with a condition is what protects a chunk.

use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use object_store::{PutMode, UpdateVersion};

use super::super::super::done::lock;
use super::super::ObjectDiscError;
use super::manifest::{Claim, LEASE, MANIFEST};
use super::objects::{Missed, Objects};
use crate::clock::{Stopwatch, unix_time};

/// How long a lease is valid after it was written, and how often it is.
pub(super) const TERM: Duration = Duration::from_secs(30);
pub(super) const RENEW: Duration = Duration::from_secs(10);
/// Tries of a renewal whose condition fails, although the lease is ours.
const TRIES: usize = 3;
/// A version that no object has.
const NO_TAG: &str = "\"0x8D0000000000000\"";

/// A lease that this process has.
pub(super) struct Lease {
    claim: Claim,
    valid: Mutex<Valid>,
    /// A renewal and the release exclude each other.
    turn: tokio::sync::Mutex<()>,
}

/// What is known of the lease in the store.
#[derive(Clone)]
struct Valid {
    version: UpdateVersion,
    /// Before the request of the last renewal.
    since: Stopwatch,
    until_ms: u64,
    /// Why the last renewal failed.
    why: String,
}

/// Milliseconds since 1970.
fn now_ms() -> u64 {
    unix_time().map_or(0, millis)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Lease {
    /// Takes the lease, if no server has it.
    pub(super) async fn take(objects: &Objects, owner: &str) -> Result<Self, ObjectDiscError> {
        let since = Stopwatch::start();
        let before = read(objects).await?;
        let (address, now) = (objects.address.clone(), now_ms());
        let claim = before.as_ref().map(|(claim, _)| claim);
        let claim = Claim::next(claim, owner, now, millis(TERM)).map_err(|seconds| {
            let owner = claim.map(|claim| claim.owner.clone()).unwrap_or_default();
            ObjectDiscError::Leased { address: address.clone(), owner, seconds }
        })?;
        let mode = before.map_or(PutMode::Create, |(_, version)| PutMode::Update(version));
        let version = match objects.put(LEASE, claim.text().into(), mode).await {
            Ok(version) => version,
            Err(Missed::Failed(error)) => return Err(error),
            Err(Missed::Absent) => return Err(ObjectDiscError::Absent(address)),
            // Another server was quicker, or an answer was lost.
            Err(Missed::Other) => match read(objects).await? {
                Some((found, version)) if found.is_of_same(&claim) => version,
                found => {
                    let owner = found.map(|(found, _)| found.owner).unwrap_or_default();
                    let seconds = TERM.as_secs();
                    return Err(ObjectDiscError::Leased { address, owner, seconds });
                }
            },
        };
        let valid = Valid { version, since, until_ms: claim.until_ms, why: String::new() };
        Ok(Self { claim, valid: Mutex::new(valid), turn: <_>::default() })
    }

    /// Whether the store refuses writes whose condition does not hold. What it would write is there already.
    pub(super) async fn check_conditions(
        &self,
        objects: &Objects,
        manifest: Bytes,
    ) -> Result<(), ObjectDiscError> {
        let (e_tag, version) = (Some(NO_TAG.to_owned()), Some("1".to_owned()));
        let other = PutMode::Update(UpdateVersion { e_tag, version });
        for (name, bytes, mode) in
            [(MANIFEST, manifest, PutMode::Create), (LEASE, self.claim.text().into(), other)]
        {
            match objects.put(name, bytes, mode).await {
                Err(Missed::Other | Missed::Absent) => {}
                Err(Missed::Failed(error)) => return Err(error),
                Ok(_) => return Err(ObjectDiscError::NoConditions(objects.address.clone())),
            }
        }
        Ok(())
    }

    /// Whether the lease is valid now, by the clock of the machine and by the time since the renewal.
    pub(super) fn check(&self, objects: &Objects) -> Result<(), ObjectDiscError> {
        let valid = lock(&self.valid);
        if valid.since.elapsed() < TERM && now_ms() < valid.until_ms {
            return Ok(());
        }
        let why = if valid.why.is_empty() { "no answer".to_owned() } else { valid.why.clone() };
        Err(ObjectDiscError::LeaseExpired { address: objects.address.clone(), why })
    }

    /// Renews the lease. A store that does not answer is asked again later.
    ///
    /// # Errors
    /// If another server has the lease.
    pub(super) async fn renew(&self, objects: &Objects) -> Result<(), ObjectDiscError> {
        let _turn = self.turn.lock().await;
        for _ in 0..TRIES {
            let (before, since) = (lock(&self.valid).clone(), Stopwatch::start());
            let until_ms = now_ms().saturating_add(millis(TERM));
            let text = Claim { until_ms, ..self.claim.clone() }.text();
            match objects.put(LEASE, text.into(), PutMode::Update(before.version)).await {
                Ok(version) => {
                    *lock(&self.valid) = Valid { version, since, until_ms, why: String::new() };
                    return Ok(());
                }
                Err(Missed::Failed(error)) => {
                    lock(&self.valid).why = error.to_string();
                    return Ok(());
                }
                // An earlier renewal may have arrived without an answer.
                Err(Missed::Other | Missed::Absent) => match read(objects).await {
                    Ok(Some((found, version))) if found.is_of_same(&self.claim) => {
                        lock(&self.valid).version = version;
                    }
                    Ok(found) => return Err(lost(objects, found)),
                    Err(error) => {
                        lock(&self.valid).why = error.to_string();
                        return Ok(());
                    }
                },
            }
        }
        Ok(())
    }

    /// Ends the lease. A store that does not answer gives it to others after its term.
    pub(super) async fn release(&self, objects: &Objects) {
        let _turn = self.turn.lock().await;
        let version = lock(&self.valid).version.clone();
        let text = Claim { until_ms: 0, ..self.claim.clone() }.text();
        let _ = objects.put(LEASE, text.into(), PutMode::Update(version)).await;
    }

    /// Makes it look as old as it is valid.
    #[cfg(test)]
    pub(super) fn expire(&self) {
        lock(&self.valid).until_ms = 0;
    }
}

/// Why a lease is no longer ours, by what is in its place.
fn lost(objects: &Objects, found: Option<(Claim, UpdateVersion)>) -> ObjectDiscError {
    let address = objects.address.clone();
    let why = match found {
        Some((claim, _)) => format!("`{}` has taken it over", claim.owner),
        None => "its object was removed".to_owned(),
    };
    ObjectDiscError::LeaseLost { address, why }
}

/// The claim in the store, if there is one.
async fn read(objects: &Objects) -> Result<Option<(Claim, UpdateVersion)>, ObjectDiscError> {
    match objects.get(LEASE, None, None).await {
        Ok(got) => {
            let address = objects.called(LEASE);
            let claim = Claim::parse(&got.bytes);
            let claim = claim.map_err(|why| ObjectDiscError::NoChunks { address, why })?;
            Ok(Some((claim, got.version)))
        }
        Err(Missed::Failed(error)) => Err(error),
        // There was no condition.
        Err(Missed::Absent | Missed::Other) => Ok(None),
    }
}

//! The two texts of a disc: its manifest, which never changes, and the lease of its writer.

use serde::{Deserialize, Serialize};

use super::layout::Layout;

/// The names of their objects below the prefix.
pub(super) const MANIFEST: &str = "manifest";
pub(super) const LEASE: &str = "lease";
/// What they begin with. Another number means that an older nbuf reads it wrong.
const MANIFEST_FORMAT: &str = "nbuf.chunks/1";
const LEASE_FORMAT: &str = "nbuf.chunks-lease/1";

#[derive(Serialize, Deserialize)]
struct Manifest {
    format: String,
    size_bytes: u64,
    chunk_bytes: u64,
}

/// The text of a disc's manifest.
pub(super) fn manifest(layout: &Layout) -> String {
    let (size_bytes, chunk_bytes) = (layout.size_bytes(), layout.chunk_bytes());
    let format = MANIFEST_FORMAT.to_owned();
    serde_json::to_string(&Manifest { format, size_bytes, chunk_bytes }).unwrap_or_default()
}

/// The layout in a manifest, or why it is none.
pub(super) fn layout(text: &[u8]) -> Result<Layout, String> {
    let read: Manifest = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if read.format != MANIFEST_FORMAT {
        return Err(format!("its format is `{}`", cut(&read.format)));
    }
    Layout::new(read.size_bytes, read.chunk_bytes).map_err(str::to_owned)
}

/// Who may write, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// No other process has this text.
    pub(super) owner: String,
    /// It grows by one with each owner.
    pub(super) generation: u64,
    /// Milliseconds since 1970; 0 where the owner has ended.
    pub(super) until_ms: u64,
}

#[derive(Serialize, Deserialize)]
struct Lease {
    format: String,
    owner: String,
    generation: u64,
    until_ms: u64,
}

impl Claim {
    /// The text of a lease.
    pub(super) fn text(&self) -> String {
        let Self { owner, generation, until_ms } = self.clone();
        let format = LEASE_FORMAT.to_owned();
        serde_json::to_string(&Lease { format, owner, generation, until_ms }).unwrap_or_default()
    }

    /// The claim in a lease, or why it is none.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let read: Lease = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if read.format != LEASE_FORMAT {
            return Err(format!("its format is `{}`", cut(&read.format)));
        }
        let Lease { owner, generation, until_ms, .. } = read;
        Ok(Self { owner: cut(&owner), generation, until_ms })
    }

    /// The claim of another owner after this one, or how long that has to wait: whole seconds, at least one.
    pub(super) fn next(
        before: Option<&Self>,
        owner: &str,
        now_ms: u64,
        term_ms: u64,
    ) -> Result<Self, u64> {
        let left = before.map_or(0, |claim| claim.until_ms.saturating_sub(now_ms));
        if left > 0 {
            return Err(left.div_ceil(1000));
        }
        let generation = before.map_or(0, |claim| claim.generation).saturating_add(1);
        let until_ms = now_ms.saturating_add(term_ms);
        Ok(Self { owner: cut(owner), generation, until_ms })
    }

    /// Whether both are of one owner, who has renewed it or not.
    pub(super) fn is_of_same(&self, other: &Self) -> bool {
        (&self.owner, self.generation) == (&other.owner, other.generation)
    }
}

/// A text in a line that is not too long, for errors.
fn cut(text: &str) -> String {
    text.chars().filter(|one| !one.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn texts_come_back(
            (sectors, power) in (1_u64..1 << 29, 12_u32..=26),
            owner in "[a-z0-9 :.-]{0,40}",
            (generation, until_ms) in (any::<u64>(), any::<u64>()),
        ) {
            let wanted = Layout::new(sectors * 512, 1 << power).unwrap();
            prop_assert_eq!(layout(manifest(&wanted).as_bytes()), Ok(wanted));
            let claim = Claim { owner, generation, until_ms };
            prop_assert_eq!(Claim::parse(claim.text().as_bytes()), Ok(claim));
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            prop_assert!(layout(&bytes).is_err() && Claim::parse(&bytes).is_err());
        }

        /// At no time have two owners a claim that has not ended, if both have one clock.
        #[test]
        fn one_owner_at_a_time(tries in proptest::collection::vec((0_u64..50, 0_u8..3), 1..60)) {
            let (mut now, mut held) = (1_000, None::<Claim>);
            for (after, owner) in tries {
                now += after;
                let owner = owner.to_string();
                match Claim::next(held.as_ref(), &owner, now, 100) {
                    Ok(next) => {
                        let before = held.as_ref();
                        prop_assert!(before.is_none_or(|before| before.until_ms <= now));
                        prop_assert!(before.is_none_or(|before| !before.is_of_same(&next)));
                        prop_assert_eq!(next.generation, before.map_or(0, |one| one.generation) + 1);
                        prop_assert_eq!(next.until_ms, now + 100);
                        held = Some(next);
                    }
                    Err(seconds) => {
                        prop_assert_eq!(seconds, 1);
                        prop_assert!(held.as_ref().is_some_and(|held| held.until_ms > now));
                    }
                }
            }
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let check = |text: &str, want: &str| {
            let said = layout(text.as_bytes()).unwrap_err();
            assert!(said.contains(want) && !said.contains('\n'), "{said}");
        };
        check("", "EOF");
        check("{}", "missing field");
        check(
            r#"{"format":"nbuf.chunks/2","size_bytes":512,"chunk_bytes":4096}"#,
            "`nbuf.chunks/2`",
        );
        check(r#"{"format":"nbuf.chunks/1","size_bytes":511,"chunk_bytes":4096}"#, "sectors");
        let lease = r#"{"format":"x\ny","owner":"a","generation":1,"until_ms":2}"#;
        assert_eq!(Claim::parse(lease.as_bytes()), Err("its format is `xy`".to_owned()));
    }
}

//! One cache of one policy, of keys or of bytes, that reports what leaves it.

use super::walk::Seen;
use crate::cache::objects::{Layers, NEVER_NS, Object, ObjectEngine};
use crate::cache::policy::{Access, AnyPolicy, Choice, Outcome};

/// What an object costs next to the memory of its policy: its size, in a vector that has grown.
const CHARGE_BYTES: u64 = 16;

/// How large a cache is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Keys or pages, whatever their sizes.
    Keys(u32),
    /// Bytes.
    Bytes(u64),
}

impl Room {
    /// Memory that a key costs in a cache of this policy.
    pub(super) fn key_bytes(self, choice: &Choice) -> u64 {
        let each = choice.row().page_bytes;
        match self {
            Self::Keys(_) => each,
            Self::Bytes(_) => each.max(8) + CHARGE_BYTES,
        }
    }
}

/// A cache.
pub(super) enum Watched {
    Keys(Box<dyn AnyPolicy>),
    Bytes(Box<dyn ObjectEngine>),
}

impl Watched {
    /// Nothing for a policy without a rule for objects.
    pub(super) fn new(choice: &Choice, room: Room, seed: u64) -> Option<Self> {
        Some(match room {
            Room::Keys(keys) => Self::Keys(choice.build(keys, seed)),
            Room::Bytes(bytes) => {
                let layers = Layers { seed, ..Layers::default() };
                let mut engine = choice.objects(&[bytes], &layers)?;
                engine.watch();
                Self::Bytes(engine)
            }
        })
    }

    /// An access. Whether it hits; what leaves is added to `gone`.
    pub(super) fn access(&mut self, seen: &Seen, gone: &mut Vec<u32>) -> bool {
        match self {
            Self::Keys(policy) => match policy.access(Access::to(seen.key)) {
                Outcome::Hit => true,
                Outcome::Filled { evicted } => {
                    gone.extend(evicted);
                    false
                }
                Outcome::Bypassed => false,
            },
            Self::Bytes(engine) => {
                let is_hit = engine.look(&object(seen));
                gone.append(&mut engine.gone());
                is_hit
            }
        }
    }

    pub(super) fn contains(&self, key: u32) -> bool {
        match self {
            Self::Keys(policy) => policy.contains(key),
            Self::Bytes(engine) => engine.holds(key),
        }
    }

    /// A key exists no more.
    pub(super) fn remove(&mut self, key: u32) {
        match self {
            Self::Keys(policy) => {
                policy.remove(key);
            }
            Self::Bytes(engine) => {
                engine.remove(&[key]);
                // It did not leave by an eviction.
                drop(engine.gone());
            }
        }
    }
}

fn object(seen: &Seen) -> Object {
    let &Seen { key: number, bytes, is_write, .. } = seen;
    let (is_counted, charge, cost, now_ns, ends_ns) = (true, bytes, 1.0, 0, NEVER_NS);
    Object { number, is_write, is_counted, bytes, charge, cost, now_ns, ends_ns }
}

//! Every order in which threads join, end and detach loads of one key, by loom. Each order must end, and no old value
//! may stay in the cache.

use loom::sync::{Arc, Mutex};
use loom::thread;

use flights::{Flights, Joined};

#[expect(dead_code, reason = "the counts of loads are for the cache")]
#[path = "../src/cache/keyed/flights.rs"]
mod flights;

/// One key, so one list.
mod shards {
    pub(crate) fn place(_hash: u64, _lists: usize) -> usize {
        0
    }
}

mod sync {
    pub(crate) use std::sync::PoisonError;

    pub(crate) use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(crate) use loom::thread;
}

const OLD: u32 = 1;
const NEW: u32 = 2;

/// A cache of one key over a source of its value.
struct Model {
    flights: Flights<(), u32>,
    stored: Mutex<Option<u32>>,
    source: Mutex<u32>,
    loads: Mutex<u32>,
}

impl Model {
    fn new() -> Arc<Self> {
        let flights = Flights::default();
        let (stored, source, loads) = (Mutex::new(None), Mutex::new(OLD), Mutex::new(0));
        Arc::new(Self { flights, stored, source, loads })
    }

    fn stored(&self) -> Option<u32> {
        *self.stored.lock().unwrap()
    }

    fn loads(&self) -> u32 {
        *self.loads.lock().unwrap()
    }

    /// What `Cache::get_or_load` does. The first loads fail, this many.
    fn get_or_load(&self, fails: u32) -> u32 {
        loop {
            let leader = match self.flights.join(0, &(), || self.stored()) {
                Joined::Value(value) => return value,
                Joined::Failed => continue,
                Joined::Leads(leader) => leader,
            };
            let number = {
                let mut loads = self.loads.lock().unwrap();
                *loads += 1;
                *loads
            };
            if number <= fails {
                drop(leader);
                continue;
            }
            let value = *self.source.lock().unwrap();
            leader.finish(value, |value| {
                self.stored.lock().unwrap().get_or_insert(value);
            });
            return value;
        }
    }

    /// What `Cache::insert` and `Cache::remove` do, when the source has changed.
    fn renew(&self, to: Option<u32>) {
        *self.source.lock().unwrap() = NEW;
        self.flights.detach(0, &());
        *self.stored.lock().unwrap() = to;
    }
}

#[test]
fn callers_of_one_key_share_one_load() {
    loom::model(|| {
        let model = Model::new();
        let other = model.clone();
        let other = thread::spawn(move || other.get_or_load(0));
        assert_eq!((model.get_or_load(0), other.join().unwrap()), (OLD, OLD));
        assert_eq!((model.loads(), model.stored()), (1, Some(OLD)));
    });
}

#[test]
fn after_a_load_that_fails_another_caller_loads() {
    loom::model(|| {
        let model = Model::new();
        let other = model.clone();
        let other = thread::spawn(move || other.get_or_load(1));
        assert_eq!((model.get_or_load(1), other.join().unwrap()), (OLD, OLD));
        assert_eq!((model.loads(), model.stored()), (2, Some(OLD)));
    });
}

#[test]
fn an_old_value_does_not_come_back() {
    for to in [None, Some(NEW)] {
        loom::model(move || {
            let model = Model::new();
            let other = model.clone();
            let other = thread::spawn(move || other.renew(to));
            let got = model.get_or_load(0);
            other.join().unwrap();
            assert!([OLD, NEW].contains(&got));
            let stored = model.stored();
            // After a removal, a load that began later may have stored what is new.
            assert!(stored == Some(NEW) || (to.is_none() && stored.is_none()), "{stored:?}");
        });
    }
}

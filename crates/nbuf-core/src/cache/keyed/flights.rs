//! Loads under way: one a key, for which the other callers wait.
//!
//! Invariant: a load that is listed when it ends stores its value, before another caller can see that it ended.
//! An insertion or a removal takes it off the list, so that an old value does not replace a new one.

use std::borrow::Borrow;

use super::shards::place;
use super::sync::thread::{self, ThreadId};
use super::sync::{Arc, AtomicU64, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, PoisonError};

/// Lists of loads, by the hash of the key.
const LISTS: usize = 64;

#[derive(Debug)]
enum State<V> {
    Loading,
    Loaded(V),
    Failed,
}

#[derive(Debug)]
struct Flight<V> {
    state: Mutex<State<V>>,
    ended: Condvar,
    thread: ThreadId,
}

type List<K, V> = Vec<(K, Arc<Flight<V>>)>;

#[derive(Debug)]
pub(super) struct Flights<K, V> {
    lists: [Mutex<List<K, V>>; LISTS],
    pub(super) under_way: AtomicUsize,
    loads: AtomicU64,
    joined: AtomicU64,
}

impl<K, V> Default for Flights<K, V> {
    fn default() -> Self {
        Self {
            lists: std::array::from_fn(|_| Mutex::default()),
            under_way: AtomicUsize::new(0),
            loads: AtomicU64::new(0),
            joined: AtomicU64::new(0),
        }
    }
}

/// What a caller with a key gets.
pub(super) enum Joined<'a, K, V> {
    /// The value that another loaded.
    Value(V),
    /// Another failed to load it.
    Failed,
    /// It has to load it.
    Leads(Leader<'a, K, V>),
}

/// A caller that loads. If it is dropped before it is done, the load has failed.
pub(super) struct Leader<'a, K, V> {
    flights: &'a Flights<K, V>,
    hash: u64,
    flight: Arc<Flight<V>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K, V> Flights<K, V> {
    /// Loads that began, and callers that waited.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.loads.load(Ordering::Relaxed), self.joined.load(Ordering::Relaxed))
    }

    fn list(&self, hash: u64) -> MutexGuard<'_, List<K, V>> {
        lock(&self.lists[place(hash, LISTS)])
    }

    /// Takes a load off the list: what it gives may be old.
    pub(super) fn detach<Q: Eq + ?Sized>(&self, hash: u64, key: &Q)
    where
        K: Borrow<Q>,
    {
        // A load that begins later asks for what is new.
        if self.under_way.load(Ordering::SeqCst) > 0 {
            self.list(hash).retain(|(other, _)| other.borrow() != key);
        }
    }
}

impl<K: Eq + Clone, V: Clone> Flights<K, V> {
    /// Waits for the load of a key that is under way. If there is none, looks once more for its value, and begins.
    pub(super) fn join(
        &self,
        hash: u64,
        key: &K,
        peek: impl FnOnce() -> Option<V>,
    ) -> Joined<'_, K, V> {
        let mut list = self.list(hash);
        if let Some((_, flight)) = list.iter().find(|(other, _)| other == key) {
            let flight = flight.clone();
            drop(list);
            self.joined.fetch_add(1, Ordering::Relaxed);
            return flight.wait();
        }
        if let Some(value) = peek() {
            return Joined::Value(value);
        }
        let flight = Arc::new(Flight {
            state: Mutex::new(State::Loading),
            ended: Condvar::new(),
            thread: thread::current().id(),
        });
        self.under_way.fetch_add(1, Ordering::SeqCst);
        self.loads.fetch_add(1, Ordering::Relaxed);
        list.push((key.clone(), flight.clone()));
        Joined::Leads(Leader { flights: self, hash, flight })
    }
}

impl<V: Clone> Flight<V> {
    fn wait<'a, K>(&self) -> Joined<'a, K, V> {
        assert!(
            self.thread != thread::current().id(),
            "a load asks for the key that it loads, and would wait for itself: load another key"
        );
        let mut state = lock(&self.state);
        loop {
            match &*state {
                State::Loading => {
                    state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                State::Loaded(value) => return Joined::Value(value.clone()),
                State::Failed => return Joined::Failed,
            }
        }
    }
}

impl<K, V> Leader<'_, K, V> {
    /// Ends with a value, which is stored unless the load was taken off the list.
    pub(super) fn finish<T>(self, value: V, store: impl FnOnce(V) -> T)
    where
        V: Clone,
    {
        let mut list = self.flights.list(self.hash);
        let listed = list.iter().position(|(_, flight)| Arc::ptr_eq(flight, &self.flight));
        // What leaves for it is dropped without the lock.
        let mut gone = None;
        let mut key = None;
        if let Some(at) = listed {
            gone = Some(store(value.clone()));
            key = Some(list.swap_remove(at));
        }
        drop(list);
        *lock(&self.flight.state) = State::Loaded(value);
        drop((gone, key));
    }
}

impl<K, V> Drop for Leader<'_, K, V> {
    fn drop(&mut self) {
        let mut list = self.flights.list(self.hash);
        list.retain(|(_, flight)| !Arc::ptr_eq(flight, &self.flight));
        drop(list);
        let mut state = lock(&self.flight.state);
        if matches!(*state, State::Loading) {
            *state = State::Failed;
        }
        drop(state);
        self.flight.ended.notify_all();
        self.flights.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

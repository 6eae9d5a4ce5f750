//! The places of a system table: each admits one command or request at a time. The others wait in the order
//! in which they came.
//!
//! Source: Saltzer, "Multics Performance", 1969, "System Table size".

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Tickets are given out in order. The ticket `t` is admitted once `t - places` others have left.
#[derive(Debug)]
pub(super) struct Places {
    count: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    tickets: u64,
    left: u64,
    is_closed: bool,
}

impl Places {
    pub(super) fn new(places: u32) -> Self {
        Self { count: places.into(), state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits for a place. Whether there is one: not so once they are closed.
    pub(super) fn enter(&self) -> bool {
        let mut state = self.state();
        let ticket = state.tickets;
        state.tickets += 1;
        while ticket >= state.left + self.count && !state.is_closed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.is_closed
    }

    /// Gives a place back.
    pub(super) fn leave(&self) {
        self.state().left += 1;
        self.changed.notify_all();
    }

    /// Ends all waits.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

    use super::*;

    #[test]
    fn no_more_are_inside_than_there_are_places_and_all_come_in() {
        for places in [1, 3, 8] {
            let table = Places::new(places);
            let (inside, most, came) = (AtomicI64::new(0), AtomicI64::new(0), AtomicU64::new(0));
            std::thread::scope(|scope| {
                for _ in 0..6 {
                    scope.spawn(|| {
                        for _ in 0..200 {
                            assert!(table.enter());
                            let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
                            most.fetch_max(now, Ordering::SeqCst);
                            std::thread::yield_now();
                            came.fetch_add(1, Ordering::SeqCst);
                            inside.fetch_sub(1, Ordering::SeqCst);
                            table.leave();
                        }
                    });
                }
            });
            let most = most.into_inner();
            assert!((1..=i64::from(places)).contains(&most), "{most} inside {places}");
            assert_eq!(came.into_inner(), 1200);
        }
    }

    #[test]
    fn a_wait_ends_when_the_places_are_closed() {
        let table = Places::new(1);
        assert!(table.enter());
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| table.enter());
            table.close();
            assert!(!waits.join().unwrap());
        });
        assert!(!table.enter());
    }
}

//! The table of all mechanisms.

use std::ops::RangeInclusive;

use super::descriptor::{Blocking, Descriptor, Epoll, Eventfd, Pipe, Poll, Socketpair};
use super::{
    Row, Waits, condvar, futex, loops, pair, pummel, queue, relay, rings, semaphore, signal, spin,
    star,
};

/// The rounds of a batch: few enough to fit into one time slice, and enough to exceed the cost of
/// reading the clock.
pub const ROUNDS: RangeInclusive<u64> = 40..=200;

const fn pair<E: pair::End>(name: &'static str, about: &'static str, waits: Waits) -> Row {
    let round = "messages there and back";
    Row { name, about, round, waits, threads: 2, rounds: ROUNDS, open: pair::open::<E> }
}

/// All mechanisms.
pub const WAKES: &[Row] = &[
    pair::<futex::Futex<0>>("futex", "a word in memory and futex(2)", Waits::Sleeping),
    pair::<semaphore::Sem>("semaphore", "sem_post and sem_wait", Waits::Sleeping),
    pair::<condvar::MutexCondvar>(
        "mutex+condvar",
        "Rust's, notified under the mutex",
        Waits::Sleeping,
    ),
    pair::<condvar::Pthread>(
        "pthread-condvar",
        "pthread_mutex and pthread_cond, signalled under the mutex",
        Waits::Sleeping,
    ),
    pair::<Descriptor<Eventfd, Blocking>>(
        "eventfd",
        "write and a read that blocks",
        Waits::Sleeping,
    ),
    pair::<Descriptor<Eventfd, Poll>>("eventfd+poll", "write, poll and read", Waits::Sleeping),
    pair::<Descriptor<Eventfd, Epoll>>(
        "eventfd+epoll",
        "write, epoll_wait and read",
        Waits::Sleeping,
    ),
    pair::<Descriptor<Pipe, Blocking>>("pipe", "write and a read that blocks", Waits::Sleeping),
    pair::<Descriptor<Pipe, Poll>>(
        "pipe+poll",
        "write, poll and read, as on OpenVMS",
        Waits::Sleeping,
    ),
    pair::<Descriptor<Pipe, Epoll>>("pipe+epoll", "write, epoll_wait and read", Waits::Sleeping),
    pair::<Descriptor<Socketpair, Blocking>>(
        "socketpair",
        "stream sockets of one machine",
        Waits::Sleeping,
    ),
    pair::<queue::MessageQueue>("message-queue", "POSIX queues", Waits::Sleeping),
    pair::<signal::Signal>("signal", "tgkill and sigwaitinfo", Waits::Sleeping),
    pair::<rings::RingMessage>(
        "ring-message",
        "io_uring, MSG_RING to the other ring",
        Waits::Sleeping,
    ),
    pair::<rings::RingRead>(
        "ring-eventfd",
        "write, and io_uring reads the eventfd",
        Waits::Sleeping,
    ),
    pair::<spin::Spin<false>>("spin", "asks memory and nothing else", Waits::Spinning),
    pair::<spin::Spin<true>>("spin+yield", "asks memory, then sched_yield", Waits::Yielding),
    pair::<futex::Futex<2000>>("spin+futex", "asks memory 2000 times, then futex(2)", Waits::Both),
    pair::<loops::LoopFlag>("loop-flag", "two event loops of libuv, a flag each", Waits::Sleeping),
    Row {
        name: "loop-ring",
        about: "four such loops in a ring",
        round: "times around, four wake-ups each",
        waits: Waits::Sleeping,
        threads: relay::LOOPS,
        rounds: ROUNDS,
        open: relay::open,
    },
    Row {
        name: "loop-star",
        about: "one such loop and four others, all at once",
        round: "times that each of the four has answered",
        waits: Waits::Sleeping,
        threads: star::PEERS + 1,
        rounds: ROUNDS,
        open: star::open,
    },
    Row {
        name: "loop-pummel",
        about: "four threads send to one such loop, as fast as they can",
        round: "wake-ups of the loop, not sends",
        waits: Waits::Sleeping,
        threads: pummel::SENDERS + 1,
        rounds: 400..=500_000,
        open: pummel::open,
    },
];

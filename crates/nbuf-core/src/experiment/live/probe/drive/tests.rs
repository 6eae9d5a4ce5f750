//! Probes of a simulated group: whatever happens, a value that is not ours is never overwritten.

use std::cell::{Cell, RefCell};
use std::io;

use proptest::prelude::*;

use super::super::super::super::result::LivePoint;
use super::*;

const MIB: u64 = 1 << 20;

/// What happens at a moment, besides the probe.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    /// Another program writes the limit.
    Other(Option<u64>),
    /// The other memory becomes this.
    Grow(u64),
    Waits,
    Kill,
    End,
    Signal,
    /// The kernel refuses writes from now on.
    Refuse,
}

/// A service with 100 MiB of cache and 10 MiB of other memory, which reads back 20 MiB a second.
struct Fake {
    now_ms: Cell<u64>,
    limit: Cell<Option<Bytes>>,
    look: Cell<Look>,
    events: RefCell<Vec<(u64, Event)>>,
    writes: RefCell<Vec<Option<Bytes>>>,
    reclaimed: Cell<u64>,
    calls: Cell<u64>,
    has_reclaim: bool,
    waits: Cell<bool>,
    has_ended: Cell<bool>,
    has_signal: Cell<bool>,
    refuses: Cell<bool>,
    /// What another program wrote.
    others: RefCell<Vec<Option<Bytes>>>,
}

impl Fake {
    fn new(events: Vec<(u64, Event)>, has_reclaim: bool) -> Self {
        let look = Look {
            cache: Bytes(100 * MIB),
            other: Bytes(10 * MIB),
            usage: Bytes(110 * MIB),
            ..Look::default()
        };
        Self {
            now_ms: Cell::new(0),
            limit: Cell::new(None),
            look: Cell::new(look),
            events: RefCell::new(events),
            writes: RefCell::default(),
            reclaimed: Cell::new(0),
            calls: Cell::new(0),
            has_reclaim,
            waits: Cell::new(false),
            has_ended: Cell::new(false),
            has_signal: Cell::new(false),
            refuses: Cell::new(false),
            others: RefCell::default(),
        }
    }

    /// The cache is what fits.
    fn settle(&self, grows: u64) {
        let mut look = self.look.get();
        let room = self.limit.get().map_or(u64::MAX, |limit| limit.0.saturating_sub(look.other.0));
        look.cache = Bytes((look.cache.0 + grows).min(100 * MIB).min(room));
        look.usage = look.cache + look.other;
        self.look.set(look);
    }

    fn happen(&self, event: Event) {
        let mut look = self.look.get();
        match event {
            Event::Other(limit) => {
                let limit = limit.map(Bytes);
                self.limit.set(limit);
                self.others.borrow_mut().push(limit);
            }
            Event::Grow(other) => look.other = Bytes(other),
            Event::Waits => self.waits.set(true),
            Event::Kill => look.kills += 1,
            Event::End => self.has_ended.set(true),
            Event::Signal => self.has_signal.set(true),
            Event::Refuse => self.refuses.set(true),
        }
        self.look.set(look);
    }
}

impl Ground for Fake {
    fn limit(&self) -> io::Result<Option<Bytes>> {
        Ok(self.limit.get())
    }

    fn set(&self, limit: Option<Bytes>) -> io::Result<()> {
        if self.refuses.get() && limit.is_some() {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        // The value of another program is never overwritten.
        assert!(self.others.borrow().last().is_none_or(|other| *other != self.limit.get()));
        self.limit.set(limit);
        self.writes.borrow_mut().push(limit);
        self.settle(0);
        Ok(())
    }

    fn reclaim(&self, bytes: Bytes) -> io::Result<bool> {
        if self.has_reclaim {
            let mut look = self.look.get();
            look.cache = look.cache - bytes;
            look.usage = look.cache + look.other;
            self.look.set(look);
            self.reclaimed.set(self.reclaimed.get() + bytes.0);
        }
        Ok(self.has_reclaim)
    }

    fn look(&self) -> io::Result<Look> {
        let mut look = self.look.get();
        look.time_ns = self.now_ms.get() * 1_000_000;
        Ok(look)
    }

    /// A thousand a second without a limit, and half of that under one.
    fn calls(&self) -> u64 {
        self.calls.get()
    }

    fn is_alive(&self) -> bool {
        !self.has_ended.get()
    }

    fn wait(&self, time: Duration) -> bool {
        let ms = u64::try_from(time.as_millis()).unwrap();
        self.now_ms.set(self.now_ms.get() + ms);
        let now = self.now_ms.get();
        let (due, later): (Vec<_>, Vec<_>) =
            self.events.borrow().iter().copied().partition(|(at, _)| *at <= now);
        self.events.replace(later);
        for (_, event) in due {
            self.happen(event);
        }
        let mut look = self.look.get();
        let is_limited = self.limit.get().is_some();
        self.calls.set(self.calls.get() + if is_limited { ms / 2 } else { ms });
        if is_limited {
            look.refaults += ms;
        }
        if self.waits.get() {
            look.io_some_ns += ms * 500_000;
        }
        self.look.set(look);
        self.settle(ms * 20 * MIB / 1000);
        self.has_signal.get()
    }

    fn watch(&self, _limit: Option<Bytes>) -> io::Result<()> {
        Ok(())
    }
}

fn plan() -> Plan {
    let step = |mib: u64| Step {
        limit: Bytes(mib * MIB),
        point: LivePoint { misses_per_second: 1000.0, ..LivePoint::default() },
    };
    Plan {
        before: None,
        steps: [110, 80, 40].map(step).to_vec(),
        pressure_max: 0.1,
        pressure_of: LivePressureOf::Group,
        free: Duration::from_secs(6),
        settle: Duration::from_secs(2),
        hold: Duration::from_secs(6),
        back: Duration::from_secs(30),
    }
}

fn probed(fake: &Fake) -> LiveProbe {
    drive(fake, &plan(), &mut |_| {})
}

#[test]
fn each_limit_is_measured_and_lifted() {
    for has_reclaim in [false, true] {
        let fake = Fake::new(Vec::new(), has_reclaim);
        let probe = probed(&fake);
        assert_eq!((probe.end, probe.is_restored), (LiveProbeEnd::Complete, true), "{probe:?}");
        let wanted: Vec<Option<Bytes>> =
            [110, 80, 40].iter().flat_map(|mib| [Some(Bytes(mib * MIB)), None]).collect();
        assert_eq!(*fake.writes.borrow(), wanted);
        let [first, .., last] = probe.steps.as_slice() else { panic!("{probe:?}") };
        assert_eq!((first.taken_bytes, first.back_seconds), (Bytes(0), Some(0.0)));
        let measured = last.measured.unwrap();
        assert!((measured.fills_per_second - 1000.0).abs() < 1.0, "{measured:?}");
        assert!((6.0..6.2).contains(&measured.seconds), "{measured:?}");
        let expected = last.expected_per_second.unwrap();
        assert!((expected - 500.0).abs() < 10.0, "{expected}");
        assert_eq!(last.cache_bytes, Bytes(30 * MIB));
        // Nine tenths of 20 MiB were back from the step before.
        assert!((67 * MIB..70 * MIB).contains(&last.taken_bytes.0), "{last:?}");
        // About 61 MiB at 20 MiB a second.
        let back = last.back_seconds.unwrap();
        assert!((3.0..3.2).contains(&back), "{back}");
        assert_eq!(fake.reclaimed.get() > 0, has_reclaim);
    }
}

/// When the first limit that takes something holds: after 6 s without one, and 8 s with the first.
const UNDER: u64 = 17_000;

#[test]
fn what_ends_a_probe_lifts_the_limit_at_once() {
    for (event, want) in [
        (Event::Grow(79 * MIB), LiveProbeEnd::Grew),
        (Event::Waits, LiveProbeEnd::Pressure),
        (Event::Kill, LiveProbeEnd::Killed),
        (Event::End, LiveProbeEnd::Ended),
        (Event::Signal, LiveProbeEnd::Interrupted),
    ] {
        let fake = Fake::new(vec![(UNDER, event)], false);
        let probe = probed(&fake);
        assert_eq!((probe.end, probe.is_restored, probe.steps.len()), (want, true, 2), "{probe:?}");
        assert_eq!(fake.limit.get(), None);
    }
    let fake = Fake::new(vec![(7000, Event::Refuse)], false);
    assert_eq!(probed(&fake).end, LiveProbeEnd::Refused);
    let fake = Fake::new(vec![(15_000, Event::Grow(60 * MIB))], false);
    // Enough room under 80 MiB, and none under 40.
    let probe = probed(&fake);
    assert_eq!((probe.end, probe.steps.len()), (LiveProbeEnd::NoRoom, 2), "{probe:?}");
}

#[test]
fn the_limit_of_another_program_is_left_alone() {
    for at in [3000, 9000, UNDER, 21_000] {
        for other in [Some(64 * MIB), Some(200 * MIB)] {
            let fake = Fake::new(vec![(at, Event::Other(other))], false);
            let probe = probed(&fake);
            assert_eq!((probe.end, probe.is_restored), (LiveProbeEnd::Changed, false), "{at}");
            assert_eq!(fake.limit.get(), other.map(Bytes));
            assert_eq!(probe.after_bytes, other.map(Bytes));
        }
    }
}

#[test]
fn without_pressure_twice_the_predicted_fills_end_it() {
    let fake = Fake::new(Vec::new(), false);
    let mut plan = Plan { pressure_of: LivePressureOf::Nothing, ..plan() };
    for step in &mut plan.steps {
        step.point.misses_per_second_high = 400.0;
    }
    assert_eq!(drive(&fake, &plan, &mut |_| {}).end, LiveProbeEnd::Pressure);
    for step in &mut plan.steps {
        step.point.misses_per_second_high = 600.0;
    }
    let fake = Fake::new(Vec::new(), false);
    assert_eq!(drive(&fake, &plan, &mut |_| {}).end, LiveProbeEnd::Complete);
}

proptest! {
    #[test]
    fn whatever_happens_the_limit_is_that_of_before_or_of_another_program(
        events in proptest::collection::vec((0u64..40_000, prop_oneof![
            (1u64..300).prop_map(|mib| Event::Other(Some(mib * MIB + 4096))),
            (1u64..120).prop_map(|mib| Event::Grow(mib * MIB)),
            Just(Event::Waits), Just(Event::Kill), Just(Event::End), Just(Event::Signal), Just(Event::Refuse),
        ]), 0..4),
        has_reclaim in any::<bool>(),
    ) {
        let fake = Fake::new(events, has_reclaim);
        let probe = probed(&fake);
        let want = fake.others.borrow().last().copied().unwrap_or(None);
        prop_assert_eq!(fake.limit.get(), want);
        prop_assert_eq!(probe.is_restored, want.is_none());
        prop_assert_eq!(probe.end == LiveProbeEnd::Changed && want.is_none(), false);
        let complete = probe.end == LiveProbeEnd::Complete;
        prop_assert!(!complete || probe.steps.iter().all(|step| step.measured.is_some()));
    }
}

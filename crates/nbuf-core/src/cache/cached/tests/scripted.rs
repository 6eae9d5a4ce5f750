//! Orders of answers that chance seldom brings, on a disc whose answers the test gives.

use std::collections::VecDeque;

use super::super::{Cached, Settings, Writes};
use crate::cache::policy::{AnyPolicy, POLICIES};
use crate::disc::{Breakdown, Completion, Disc, DiscError};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// A disc that answers on demand.
#[derive(Debug, Default)]
struct Scripted {
    waiting: Vec<(Request, Vec<u8>)>,
    done: VecDeque<Completion>,
}

impl Scripted {
    /// Answers the request of this kind at this byte.
    fn answer(&mut self, op: Op, offset: u64, is_good: bool) {
        let refused = || DiscError::Failed { what: "refused".to_owned() };
        self.answer_with(op, offset, if is_good { Ok(()) } else { Err(refused()) });
    }

    /// The same with this outcome.
    fn answer_with(&mut self, op: Op, offset: u64, outcome: Result<(), DiscError>) {
        let is_it =
            |(request, _): &(Request, Vec<u8>)| (request.op, request.offset) == (op, offset);
        let at = self.waiting.iter().position(is_it);
        let at = at.unwrap_or_else(|| panic!("{op:?} at {offset} is not among {:?}", self.waiting));
        let (request, data) = self.waiting.remove(at);
        let (at, breakdown) = (Nanos::ZERO, Breakdown::default());
        self.done.push_back(Completion { request, data, at, breakdown, outcome });
    }
}

impl Disc for Scripted {
    fn size_bytes(&self) -> u64 {
        1 << 20
    }

    fn submit(&mut self, _: Nanos, request: Request, data: Vec<u8>) {
        self.waiting.push((request, data));
    }

    fn next_completion(&mut self, _: Nanos) -> Option<Completion> {
        self.done.pop_front()
    }

    fn under_way(&self) -> usize {
        self.waiting.len() + self.done.len()
    }
}

#[test]
fn a_flush_that_a_disc_refuses_is_final_unless_the_disc_keeps_what_it_owes() {
    let lru = POLICIES.iter().find(|row| row.name == "lru").unwrap();
    let failed = |what: &str| Err(DiscError::Failed { what: what.to_owned() });
    let owed = || Err(DiscError::Owed { what: "9 B".to_owned() });
    for writes in [Writes::Through, Writes::Back] {
        let settings = Settings::new(8, writes);
        let mut cache = Cached::new(Scripted::default(), (lru.build)(8, 0), settings);
        for (answer, want) in [
            (owed(), owed()),
            (Ok(()), Ok(())),
            (owed(), owed()),
            (failed("one"), failed("one")),
            (owed(), failed("one")),
            (Ok(()), failed("one")),
        ] {
            cache.submit(Nanos::ZERO, Request::new(Op::Flush, 0, 0), Vec::new());
            cache.disc_mut().answer_with(Op::Flush, 0, answer);
            assert_eq!(cache.next_completion(Nanos::MAX).unwrap().outcome, want, "{writes}");
        }
    }
}

#[test]
fn what_failed_and_was_written_by_another_way_holds_up_no_flush() {
    let lru = POLICIES.iter().find(|row| row.name == "lru").unwrap();
    let settings = Settings { dirty_low_pages: 4, ..Settings::new(8, Writes::Back) };
    let mut cache: Cached<dyn AnyPolicy, Scripted> =
        Cached::new(Scripted::default(), (lru.build)(8, 0), settings);
    let ask = |cache: &mut Cached<dyn AnyPolicy, Scripted>, task, request: Request| {
        let data = vec![7; usize::try_from(request.length_bytes).unwrap()];
        cache.submit(Nanos::ZERO, Request { task, ..request }, data);
    };
    let next = |cache: &mut Cached<dyn AnyPolicy, Scripted>| {
        cache.next_completion(Nanos::MAX).map(|done| (done.request.task, done.outcome.is_ok()))
    };
    // Two parts of a page, each a write-back of its own.
    for (task, sector) in [(1, 0), (2, 2)] {
        ask(&mut cache, task, Request::new(Op::Write, sector * 512, 512));
        assert_eq!(next(&mut cache), Some((task, true)));
    }
    ask(&mut cache, 3, Request::new(Op::Flush, 0, 0));
    cache.disc_mut().answer(Op::Write, 0, false);
    assert_eq!(next(&mut cache), Some((3, false)));
    // The first part reaches the disc by a durable write, while the second is still on its way.
    let durable = Request { durable: true, ..Request::new(Op::Write, 0, 512) };
    ask(&mut cache, 4, durable);
    cache.disc_mut().answer(Op::Write, 0, true);
    assert_eq!(next(&mut cache), Some((4, true)));
    cache.disc_mut().answer(Op::Write, 1024, true);
    assert_eq!(next(&mut cache), None);
    assert_eq!(cache.owed_pages(), 0);
    ask(&mut cache, 5, Request::new(Op::Flush, 0, 0));
    cache.disc_mut().answer(Op::Flush, 0, true);
    // The failure may be reported once more; what counts is that the flush ends.
    assert!(next(&mut cache).is_some_and(|(task, _)| task == 5));
}

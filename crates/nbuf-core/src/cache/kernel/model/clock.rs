//! Time in the model: who waits for the disc, and how long.
//!
//! Every task has its own time, work and waits. A task that begins has waited as long as the
//! longest waiter before it, as a command that a script runs after another has. A limit on the
//! rate of requests or bytes is a queue that all share.

use super::super::stream::Touch;
use super::throttle::{Throttle, Unit};
use crate::meter::service::Service;
use crate::units::PAGE_BYTES;

/// Receives the events of the model. In the plain model it ignores them, at no cost.
pub(in super::super) trait Clock {
    /// A touch begins.
    fn begins(&mut self, touch: &Touch, task: u32);
    /// Pages are asked of the disc; the touch waits for the first request of them, or goes on.
    fn asks(&mut self, touch: &Touch, first: u32, pages: u32, waits: bool);
    /// The touch reaches pages that are cached, or will be as soon as they have been read.
    fn reaches(&mut self, touch: &Touch, first: u32, end: u32);
}

impl Clock for () {
    fn begins(&mut self, _touch: &Touch, _task: u32) {}
    fn asks(&mut self, _touch: &Touch, _first: u32, _pages: u32, _waits: bool) {}
    fn reaches(&mut self, _touch: &Touch, _first: u32, _end: u32) {}
}

/// The disc, and what limits it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc {
    /// Without a limit.
    pub service: Service,
    /// Pages that one request holds at most.
    pub request_pages: u32,
    /// Requests a second, if limited.
    pub iops: Option<f64>,
    /// Bytes a second, if limited.
    pub bytes_per_second: Option<f64>,
    /// How much of the limits' first slice has gone by when the run begins, from 0 to 1.
    pub slice_gone: f64,
}

/// Requests under way that are remembered of each file.
const UNDER_WAY: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Request {
    first: u32,
    end: u32,
    ready_ns: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Task {
    begun: bool,
    now_ns: f64,
    waited_ns: f64,
    waited_itself_ns: f64,
}

/// Follows a run in time.
#[derive(Debug)]
pub(in super::super) struct Timed {
    disc: Disc,
    scale: f64,
    tasks: Vec<Task>,
    now: usize,
    waited_ns: f64,
    requests: Option<Throttle>,
    bytes: Option<Throttle>,
    under_way: Vec<Vec<Request>>,
}

impl Timed {
    pub(in super::super) fn new(disc: Disc, scale: f64, files: usize) -> Self {
        let under_way = vec![Vec::new(); files];
        let throttle = |unit, rate| Throttle::new(unit, rate, disc.slice_gone);
        Self {
            disc,
            scale,
            tasks: Vec::new(),
            now: 0,
            waited_ns: 0.0,
            requests: disc.iops.map(|rate| throttle(Unit::Request, rate)),
            bytes: disc.bytes_per_second.map(|rate| throttle(Unit::Byte, rate)),
            under_way,
        }
    }

    /// How long the disc was waited for: along the longest chain of tasks, and by all tasks.
    pub(in super::super) fn waited_ns(&self) -> (f64, f64) {
        (self.waited_ns, self.tasks.iter().map(|task| task.waited_itself_ns).sum())
    }

    /// When a request that is made at `now` has been served.
    fn served(&mut self, now: f64, pages: u32) -> f64 {
        let held = |throttle: &mut Option<Throttle>, at, amount| {
            throttle.as_mut().map_or(at, |throttle| throttle.pass(at, amount))
        };
        let at = held(&mut self.bytes, now, f64::from(pages) * PAGE_BYTES as f64);
        let at = held(&mut self.requests, at, 1.0);
        at + self.disc.service.of_pages(pages)
    }

    fn wait_until(&mut self, ready: f64) {
        let task = &mut self.tasks[self.now];
        let wait = (ready - task.now_ns).max(0.0);
        task.now_ns += wait;
        task.waited_ns += wait;
        task.waited_itself_ns += wait;
        self.waited_ns = self.waited_ns.max(task.waited_ns);
    }
}

impl Clock for Timed {
    fn begins(&mut self, touch: &Touch, task: u32) {
        self.now = task as usize;
        if self.tasks.len() <= self.now {
            self.tasks.resize(self.now + 1, Task::default());
        }
        let task = &mut self.tasks[self.now];
        if !task.begun {
            let waited = self.waited_ns;
            *task = Task { begun: true, now_ns: waited, waited_ns: waited, waited_itself_ns: 0.0 };
        }
        task.now_ns += f64::from(touch.work_us) * 1000.0 * self.scale;
    }

    fn asks(&mut self, touch: &Touch, first: u32, pages: u32, waits: bool) {
        let now = self.tasks[self.now].now_ns;
        let most = self.disc.request_pages.max(1);
        let mut at = first;
        while at < first + pages {
            let count = most.min(first + pages - at);
            let ready_ns = self.served(now, count);
            if waits && at == first {
                self.wait_until(ready_ns);
            } else {
                let under_way = &mut self.under_way[touch.file as usize];
                if under_way.len() == UNDER_WAY {
                    under_way.remove(0);
                }
                under_way.push(Request { first: at, end: at + count, ready_ns });
            }
            at += count;
        }
    }

    fn reaches(&mut self, touch: &Touch, first: u32, end: u32) {
        let under_way = &mut self.under_way[touch.file as usize];
        if under_way.is_empty() {
            return;
        }
        let mut ready = 0.0_f64;
        under_way.retain(|request| {
            let reached = request.first < end && first < request.end;
            if reached {
                ready = ready.max(request.ready_ns);
            }
            !reached
        });
        self.wait_until(ready);
    }
}

//! Time in the model: who waits for the disc, and how long.
//!
//! Every task has its own time, work and waits. A task that begins has waited as long as whoever
//! waited longest before it, as a command that a script runs after another has. A limit on the
//! rate of requests or bytes is a queue that all share.

use super::super::stream::Touch;
use crate::meter::service::Service;

/// Told what the model does. The plain model tells nobody, at no cost.
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
}

/// How long the limited disc may be ahead of its rate (`throtl_slice` of `block/blk-throttle.c`).
const SLICE_NS: f64 = 1e8;

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
    /// When the queue of a limited disc will have caught up with its rate.
    free_ns: f64,
    under_way: Vec<Vec<Request>>,
}

impl Timed {
    pub(in super::super) fn new(disc: Disc, scale: f64, files: usize) -> Self {
        let under_way = vec![Vec::new(); files];
        Self {
            disc,
            scale,
            tasks: Vec::new(),
            now: 0,
            waited_ns: 0.0,
            free_ns: -SLICE_NS,
            under_way,
        }
    }

    /// How long the disc was waited for: along the longest chain of tasks, and by all tasks.
    pub(in super::super) fn waited_ns(&self) -> (f64, f64) {
        (self.waited_ns, self.tasks.iter().map(|task| task.waited_itself_ns).sum())
    }

    /// When a request that is made at `now` has been served.
    fn served(&mut self, now: f64, pages: u32) -> f64 {
        let ready = now + self.disc.service.of_pages(pages);
        let by_rate = self.disc.iops.map_or(0.0, |iops| 1e9 / iops);
        let bytes = f64::from(pages) * 4096.0;
        let by_bytes = self.disc.bytes_per_second.map_or(0.0, |rate| bytes * 1e9 / rate);
        let share = by_rate.max(by_bytes);
        if share == 0.0 {
            return ready;
        }
        self.free_ns = self.free_ns.max(now - SLICE_NS) + share;
        ready.max(self.free_ns)
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

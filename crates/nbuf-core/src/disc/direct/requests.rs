//! Requests of the owner: checked, begun or kept waiting, and given back.

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{Direct, Going};
use crate::disc::{Completion, Disc, DiscError};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

impl Disc for Direct {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        let mut checked = DiscError::check(&request, self.size_bytes);
        let moves = matches!(request.op, Op::Read | Op::Write);
        if moves && data.len() as u64 != request.length_bytes {
            let (length, given) = (request.length_bytes, data.len());
            let what = format!("a request of {length} B with {given} B of data");
            checked = Err(DiscError::Failed { what });
        }
        if checked.is_err() || request.op != Op::Flush && request.length_bytes == 0 {
            return self.answer(request, data, now, checked.err());
        }
        while self.going.contains_key(&self.number) {
            self.number = self.number.wrapping_add(1);
        }
        let number = self.number;
        self.number = number.wrapping_add(1);
        self.going.insert(number, Going { request, data, came: now, left: 0, error: None });
        let changes = matches!(request.op, Op::Write | Op::Discard);
        let from = request.offset / self.unit_bytes * self.unit_bytes;
        let to = self.out(request.offset + request.length_bytes);
        if !changes || self.gate.enter(number, from, to) {
            self.start(number);
        }
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        loop {
            if self.done.is_empty() {
                self.collect();
            }
            if let Some(completion) = self.done.pop_front() {
                return Some(completion);
            }
            if self.going.is_empty() || self.now() >= until {
                return None;
            }
            let mut descriptors = [PollFd::new(&self.ready, PollFlags::IN)];
            let _ = poll(&mut descriptors, Some(&Timespec { tv_sec: 0, tv_nsec: 10_000_000 }));
        }
    }

    fn under_way(&self) -> usize {
        self.going.len() + self.done.len()
    }
}

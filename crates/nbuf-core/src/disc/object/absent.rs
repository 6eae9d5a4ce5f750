//! What stands in for discs of objects in a build without their clients.

use std::os::fd::{AsFd, BorrowedFd};

use super::super::{Completion, Disc};
use crate::trace::request::Request;
use crate::units::Nanos;

/// No disc.
pub(crate) enum ObjectDisc {}

impl ObjectDisc {
    pub(crate) fn numbers(&self) -> (u64, [i64; 4]) {
        match *self {}
    }

    pub(crate) fn is_read_only(&self) -> bool {
        match *self {}
    }

    pub(crate) fn wait_for_notice(&mut self) {
        match *self {}
    }

    pub(crate) fn notice(&mut self) {
        match *self {}
    }

    pub(crate) fn complaint(&self) -> Option<String> {
        match *self {}
    }
}

impl AsFd for ObjectDisc {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match *self {}
    }
}

impl Disc for ObjectDisc {
    fn size_bytes(&self) -> u64 {
        match *self {}
    }

    fn submit(&mut self, _: Nanos, _: Request, _: Vec<u8>) {
        match *self {}
    }

    fn next_completion(&mut self, _: Nanos) -> Option<Completion> {
        match *self {}
    }

    fn under_way(&self) -> usize {
        match *self {}
    }
}

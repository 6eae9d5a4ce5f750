//! Replies to requests that are complete.

use super::super::connection::{Connection, Phase};
use super::super::replies::To;
use super::{PendingRequest, Server};
use crate::disc::nbd::wire::{command, error};
use crate::disc::{Completion, Disc, DiscError};
use crate::units::Nanos;

impl Server {
    pub(super) fn keep(&mut self, pending: PendingRequest) -> u32 {
        if let Some(task) = self.free.pop() {
            self.pending[task as usize] = Some(pending);
            return task;
        }
        self.pending.push(Some(pending));
        u32::try_from(self.pending.len() - 1).unwrap_or(u32::MAX)
    }

    /// A request of a disc is answered, that came then if its time is measured.
    pub(super) fn answered(&mut self, disc: usize, began: Option<Nanos>) {
        if let Some(began) = began {
            let took = self.time() - began;
            self.discs[disc].figures.served(took);
        }
    }

    /// Answers all that is complete.
    pub(super) fn complete(&mut self) {
        for disc in 0..self.discs.len() {
            while let Some(completion) = self.discs[disc].cache.next_completion(self.now) {
                self.take_completion(disc, completion);
            }
            self.take_holes(disc);
        }
    }

    fn take_completion(&mut self, disc: usize, completion: Completion) {
        let task = completion.request.task;
        let flushing = &mut self.discs[disc].flushing;
        if flushing.task == Some(task) {
            flushing.task = None;
            flushing.outcome = Some(completion.outcome.clone());
        }
        let Some(pending) = self.pending.get_mut(task as usize).and_then(Option::take) else {
            return;
        };
        self.free.push(task);
        self.answered(disc, pending.began);
        let connection = self.connections.get_mut(pending.place);
        if let Some(connection) = connection.filter(|found| found.client == pending.client) {
            reply(connection, &pending, completion);
            self.connections.touch(pending.place);
        }
    }
}

fn reply(connection: &mut Connection, pending: &PendingRequest, completion: Completion) {
    connection.under_way -= 1;
    connection.under_way_bytes -= pending.bytes;
    let Phase::Requests(form, _) = connection.phase else { return };
    let to = To { form, cookie: pending.cookie, offset: completion.request.offset };
    let error = match completion.outcome {
        Ok(()) => 0,
        Err(DiscError::PastTheEnd { .. }) => error::INVALID,
        Err(DiscError::Full { .. }) => error::NO_SPACE,
        Err(DiscError::Failed { .. } | DiscError::Owed { .. }) => error::IO,
    };
    if pending.command == command::READ && error == 0 {
        let data = completion.data;
        to.data_header(&mut connection.out, data.len());
        connection.out.extend_from_slice(&data);
    } else {
        to.plain(&mut connection.out, error);
    }
}

//! POSIX message queues, one each way.

use std::io;
use std::sync::Arc;

use rustix::io::Errno;

use super::pair::End;
use crate::sys::queue::Queue;

/// An end: the queue from which it takes, and the one into which it puts.
pub(super) struct MessageQueue {
    ours: Arc<Queue>,
    theirs: Arc<Queue>,
}

/// Opens a queue. The error says what to change on the machine.
fn queue() -> io::Result<Arc<Queue>> {
    Queue::new().map(Arc::new).map_err(|error| {
        let why = match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOSYS) => "no message queues in this kernel, or a filter refuses them",
            Some(Errno::MFILE) => "no more message queues are allowed (`ulimit -q`)",
            Some(Errno::NOSPC) => {
                "no more message queues are allowed (sysctl fs.mqueue.queues_max)"
            }
            _ => "mq_open",
        };
        io::Error::new(error.kind(), format!("{why}: {error}"))
    })
}

impl End for MessageQueue {
    fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = (queue()?, queue()?);
        Ok((Self { ours: a.clone(), theirs: b.clone() }, Self { ours: b, theirs: a }))
    }

    fn send(&mut self, number: u32) -> io::Result<()> {
        self.theirs.send(number.into())
    }

    fn receive(&mut self) -> io::Result<u32> {
        u32::try_from(self.ours.receive()?).map_err(io::Error::other)
    }
}

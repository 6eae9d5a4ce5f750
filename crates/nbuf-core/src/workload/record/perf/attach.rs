//! Attaching: an event for each tracepoint and processor, all in the ring of the processor.

use std::io;

use super::error::{Error, refused};
use super::{Attached, Perf};
use crate::sys::perf;
use crate::sys::ring::Ring;
use crate::workload::record::events::TaskIn;
use crate::workload::record::log::Kind;

impl Perf {
    /// Attaches to a task that has not executed yet. Its descendants inherit.
    pub fn attach(&mut self, pid: i32) -> Result<(), Error> {
        self.attach_to(pid, false)
    }

    /// Attaches to a thread that runs. What it starts from now on inherits.
    ///
    /// # Errors
    /// As [`Self::attach`]; [`Error::Gone`] for a thread that has ended.
    pub fn attach_running(&mut self, thread: i32) -> Result<(), Error> {
        self.attach_to(thread, true)
    }

    /// The same for the programs in the kernel, and all threads of a process.
    ///
    /// # Errors
    /// [`Error::Gone`] for a process that has ended.
    pub fn mark(&mut self, process: u32) -> Result<(), Error> {
        let Some(programs) = &mut self.programs else { return Ok(()) };
        programs.mark(process).and_then(|()| programs.attach()).map_err(refused)?;
        // Threads that began before the programs ran inherited nothing. A process that has ended has none.
        let _ = programs.mark(process);
        Ok(())
    }

    /// Ends counting: what runs on is not lost.
    pub fn stop(&mut self) -> io::Result<()> {
        if let Some(programs) = &mut self.programs {
            programs.stop();
        }
        let mut events = self.attached.iter().flat_map(|attached| &attached.events);
        events.try_for_each(|event| event.switch(false))
    }

    fn attach_to(&mut self, task: i32, begins_now: bool) -> Result<(), Error> {
        let is_first = self.attached.is_none();
        let mut attached = self.attached.take().unwrap_or_default();
        let kept = attached.events.len();
        let mut opened = self.open_on(task, &mut attached);
        if begins_now && opened.is_ok() {
            // Not before it has a ring: what is counted until then would be lost.
            let started = attached.events[kept..].iter().try_for_each(|event| event.switch(true));
            opened = started.map_err(refused);
        }
        if opened.is_err() {
            attached.events.truncate(kept);
        }
        if opened.is_ok() || !is_first {
            self.attached = Some(attached);
        }
        opened
    }

    fn open_on(&self, task: i32, attached: &mut Attached) -> Result<(), Error> {
        let wakeup_bytes = u32::try_from(self.ring_bytes / 4).unwrap_or(u32::MAX);
        let says_task = self.task_in == TaskIn::Sample;
        let sampling = perf::Sampling { wakeup_bytes, says_task, ..Default::default() };
        for (number, &processor) in self.processors.iter().enumerate() {
            let by_programs = |path| self.programs.as_ref().is_some_and(|it| it.has(path));
            let ours = self.layouts.iter().filter(|layout| !by_programs(layout.path));
            // One that never happens says which threads begin, where no other one does.
            let silent = self.programs.iter().map(|_| None);
            for (at, layout) in silent.chain(ours.map(Some)).enumerate() {
                // One of the events says it for all.
                let says = at == 0;
                let sampling = perf::Sampling { says_threads: says, says_names: says, ..sampling };
                let event = match layout {
                    Some(layout) => perf::open(layout.id.into(), task, processor, sampling),
                    None => perf::open_silent(task, processor, sampling),
                };
                let event = event.map_err(refused)?;
                if let Some(&leader) = attached.leaders.get(number) {
                    event.redirect_to(&attached.events[leader]).map_err(refused)?;
                } else {
                    let ring = Ring::map(event.descriptor(), self.ring_bytes).map_err(refused)?;
                    attached.rings.push(ring);
                    attached.leaders.push(attached.events.len());
                }
                attached.events.push(event);
            }
            for (id, filter) in self.others.wanted() {
                let wakeup_bytes = if self.others.wakes(id) { 0 } else { wakeup_bytes };
                let sampling = perf::Sampling { wakeup_bytes, ..sampling };
                let event = perf::open(id.into(), task, processor, sampling).map_err(refused)?;
                if !filter.is_empty() {
                    event.filter(&std::ffi::CString::new(filter).map_err(io::Error::from)?)?;
                }
                event.redirect_to(&attached.events[attached.leaders[number]])?;
                attached.events.push(event);
            }
        }
        Ok(())
    }

    /// Attaches to the calling thread too: the tracepoints of this kind, and of reclaim, from now on.
    pub fn attach_to_this_thread(&mut self, kind: Kind) -> Result<(), Error> {
        let Some(attached) = &mut self.attached else { return Ok(()) };
        let says_task = self.task_in == TaskIn::Sample;
        let of_kind = self.layouts.iter().filter(|layout| layout.kind == kind);
        for id in of_kind.map(|layout| layout.id).chain(self.others.reclaim_id()) {
            for (&processor, &leader) in self.processors.iter().zip(&attached.leaders) {
                let event = perf::open_on_this_thread(id.into(), processor, says_task);
                let event = event.map_err(refused)?;
                event.redirect_to(&attached.events[leader])?;
                attached.events.push(event);
            }
        }
        Ok(())
    }
}

//! Tracepoints next to those of the page cache, each with a layout of its own.

use super::super::advice::{self, AdviceLayout, Advising};
use super::super::btrfs::{self, Btrfs};
use super::super::calls::{self, Calls};
use super::super::direct::{self, DirectLayout};
use super::super::events::{Body, Layout, Sample, TaskIn};
use super::super::pipes::{self, PipeCall};
use super::super::reclaim::{self, ReclaimLayout};
use super::Error;
use super::error::refused;
use crate::sys::tracefs::Tracefs;

/// Those that are recorded.
#[derive(Debug, Default)]
pub(super) struct Others {
    pub(super) btrfs: Option<Btrfs>,
    pub(super) calls: Option<Calls>,
    advice: [Option<AdviceLayout>; 3],
    direct: Option<DirectLayout>,
    pipes: [Option<PipeCall>; 3],
    reclaim: Option<ReclaimLayout>,
}

/// Readers are woken for each record of these, to look at the task before it ends. All are rare.
const ADVISING: [Advising; 3] = [advice::OF_FILE, advice::AHEAD, advice::OF_MAPPING];

pub(super) struct Unreadable;

impl Others {
    /// Writes on btrfs.
    pub(super) fn add_btrfs(&mut self, systems: Vec<([u8; 16], u32)>) {
        if let (Some(format), false) = (format(btrfs::PATH), systems.is_empty()) {
            self.btrfs = Btrfs::parse(&format, systems).ok();
        }
    }

    /// Calls that go past the page cache.
    pub(super) fn add_direct(&mut self) {
        self.direct = format(direct::PATH).and_then(|format| DirectLayout::parse(&format).ok());
    }

    /// How files will be read.
    pub(super) fn add_advice(&mut self) {
        self.advice = ADVISING.map(|call| {
            let format = call.paths.iter().find_map(|path| format(path));
            AdviceLayout::parse(&call, &format?).ok()
        });
    }

    /// Calls that move bytes of files through a pipe.
    pub(super) fn add_pipes(&mut self) {
        self.pipes = pipes::CALLS.map(|name| PipeCall::find(name, format));
    }

    /// Whether readers are woken for each record of this tracepoint.
    pub(super) fn wakes(&self, id: u16) -> bool {
        self.advice.iter().flatten().any(|advice| advice.id == id)
    }

    /// Reclaim.
    pub(super) fn add_reclaim(&mut self) {
        self.reclaim = format(reclaim::PATH).and_then(|format| ReclaimLayout::parse(&format));
    }

    /// The number of the tracepoint of reclaim, where the kernel has it.
    pub(super) fn reclaim_id(&self) -> Option<u16> {
        self.reclaim.map(|reclaim| reclaim.id)
    }

    /// System calls that write.
    pub(super) fn add_calls(&mut self) -> Result<(), Error> {
        let tracefs = Tracefs::open().map_err(refused)?;
        let format = |path: &str| tracefs.read(&format!("events/{path}/format")).map_err(refused);
        self.calls = Some(Calls::parse(&format(calls::ENTER)?, &format(calls::EXIT)?)?);
        Ok(())
    }

    /// Their numbers, and which of their records are wanted; all, where that is empty.
    pub(super) fn wanted(&self) -> Vec<(u16, String)> {
        let calls = self.calls.iter().flat_map(|calls| [calls.enter, calls.exit]);
        let btrfs = self.btrfs.iter().map(|btrfs| (btrfs.id, btrfs::FILTER.to_owned()));
        let direct = self.direct.iter().map(|direct| (direct.id, direct::FILTER.to_owned()));
        let reclaim = self.reclaim.iter().map(|reclaim| (reclaim.id, String::new()));
        let advice = self.advice.iter().zip(ADVISING);
        let advice =
            advice.filter_map(|(layout, call)| Some(((*layout)?.id, call.filter.to_owned())));
        let pipes = self.pipes.iter().flatten().flat_map(|call| [call.enter, call.exit]);
        let pipes = pipes.map(|id| (id, String::new()));
        let all = calls.zip(Calls::filters()).chain(btrfs).chain(direct).chain(reclaim);
        all.chain(advice).chain(pipes).collect()
    }

    /// What a record says, if it says anything to us.
    pub(super) fn sample(
        &self,
        layouts: &[Layout],
        task_in: TaskIn,
        body: &[u8],
    ) -> Result<Option<Sample>, Unreadable> {
        let body = Body::parse(body, task_in).ok_or(Unreadable)?;
        if let Some(layout) = layouts.iter().find(|layout| layout.id == body.id) {
            return layout.event(&body).map(Sample::Event).map(Some).ok_or(Unreadable);
        }
        if let Some(calls) = self.calls.as_ref().filter(|calls| calls.has(body.id)) {
            return Ok(calls.decode(&body).map(Sample::Call));
        }
        if let Some(direct) = self.direct.as_ref().filter(|direct| direct.id == body.id) {
            return direct.read(&body).map(Sample::Direct).map(Some).ok_or(Unreadable);
        }
        if let Some(advice) = self.advice.iter().flatten().find(|advice| advice.id == body.id) {
            return advice.read(&body).map(Sample::Advice).map(Some).ok_or(Unreadable);
        }
        let is_of = |call: &&PipeCall| call.enter == body.id || call.exit == body.id;
        if let Some(call) = self.pipes.iter().flatten().find(is_of) {
            let Body { time_ns, task, id, .. } = body;
            return Ok(Some(Sample::Pipe { time_ns, task, begins: call.enter == id }));
        }
        if let Some(reclaim) = self.reclaim.filter(|reclaim| reclaim.id == body.id) {
            return reclaim.read(&body).map(Some).ok_or(Unreadable);
        }
        let btrfs = self.btrfs.as_ref().filter(|btrfs| btrfs.id == body.id).ok_or(Unreadable)?;
        Ok(btrfs.event(body.raw, body.task, body.time_ns).map(Sample::Event))
    }
}

/// The `format` file of a tracepoint, where the kernel has it.
fn format(path: &str) -> Option<String> {
    Tracefs::open().ok()?.read(&format!("events/{path}/format")).ok()
}

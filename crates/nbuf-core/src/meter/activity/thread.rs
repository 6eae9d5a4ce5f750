//! What each thread is in the middle of.

mod about;

use std::collections::HashMap;

use super::fault::Fault;
use super::linking::Linking;
use super::requests::Served;
use super::{Does, File, Kind};
use crate::meter::split::State;

/// A system call that it is in.
#[derive(Clone, Copy, Debug)]
struct Call {
    number: u64,
    does: Does,
    began_ns: u64,
    file: Option<File>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    call: Option<Call>,
    fault: Option<Fault>,
    interrupt_ns: Option<u64>,
    softirq_ns: Option<u64>,
    reclaim_ns: Option<u64>,
    /// Since when it can run and has no processor.
    runnable_ns: Option<u64>,
    has_processor: bool,
    /// When it last received a processor.
    ran_ns: u64,
    /// It sleeps uninterruptibly, and no request of its was completed since.
    unanswered: bool,
    woken_ns: Option<u64>,
    /// It was woken as it was about to leave its processor.
    woken_early: bool,
    /// When the call began that made it, until it runs.
    created_ns: Option<u64>,
    /// Since when it is about a file that it never touched before.
    touches_ns: Option<u64>,
    linking: Option<Linking>,
}

/// All threads that live. What threads do that nothing announced is passed over.
#[derive(Debug, Default)]
pub(super) struct Threads {
    threads: HashMap<u32, Thread>,
}

impl Threads {
    pub(super) fn born(&mut self, thread: u32, parent: Option<u32>, time_ns: u64) {
        let call = parent.and_then(|parent| self.threads.get(&parent)?.call);
        let created_ns = call.filter(|call| call.does == Does::Creates).map(|call| call.began_ns);
        let new = Thread { runnable_ns: Some(time_ns), created_ns, ..Thread::default() };
        self.threads.insert(thread, new);
    }

    pub(super) fn died(&mut self, thread: u32) {
        self.threads.remove(&thread);
    }

    pub(super) fn runs(&mut self, thread: u32, time_ns: u64, add: &mut impl FnMut(Kind, u64)) {
        let Some(known) = self.threads.get_mut(&thread) else { return };
        known.has_processor = true;
        (known.ran_ns, known.unanswered, known.woken_ns) = (time_ns, false, None);
        if let Some(since_ns) = known.runnable_ns.take() {
            add(Kind::Runnable, time_ns.saturating_sub(since_ns));
        }
        if let Some(since_ns) = known.created_ns.take() {
            add(Kind::Creation, time_ns.saturating_sub(since_ns));
        }
        if let Some(fault) = &mut known.fault {
            fault.runs_ns = Some(time_ns);
        }
    }

    pub(super) fn stops(&mut self, thread: u32, time_ns: u64, state: State) {
        let Some(known) = self.threads.get_mut(&thread) else { return };
        let is_runnable = state == State::Runnable;
        known.has_processor = false;
        known.unanswered = state == State::Uninterruptible;
        let woken_early = std::mem::take(&mut known.woken_early);
        known.runnable_ns = (is_runnable || woken_early).then_some(time_ns);
        if let Some(fault) = &mut known.fault
            && !is_runnable
        {
            fault.left_ns.get_or_insert(time_ns);
            fault.is_woken = woken_early;
        }
    }

    pub(super) fn woken(&mut self, thread: u32, time_ns: u64) {
        let Some(known) = self.threads.get_mut(&thread) else { return };
        if let Some(fault) = &mut known.fault {
            fault.is_woken = true;
        }
        known.woken_ns.get_or_insert(time_ns);
        if known.has_processor {
            known.woken_early = true;
        } else {
            known.runnable_ns.get_or_insert(time_ns);
        }
    }

    pub(super) fn reclaims(
        &mut self,
        thread: u32,
        begins: bool,
        time_ns: u64,
        add: &mut impl FnMut(Kind, u64),
    ) {
        let Some(known) = self.threads.get_mut(&thread) else { return };
        if begins {
            // Reclaim for the thread may reclaim for its cgroup: the outer one counts.
            known.reclaim_ns.get_or_insert(time_ns);
        } else if let Some(since_ns) = known.reclaim_ns.take() {
            let ns = time_ns.saturating_sub(since_ns);
            add(Kind::Reclaim, ns);
            if let Some(fault) = &mut known.fault {
                fault.reclaim_ns += ns;
            }
        }
    }

    pub(super) fn enters(&mut self, thread: u32, number: u64, does: Does, began_ns: u64) {
        if let Some(known) = self.threads.get_mut(&thread) {
            known.call = Some(Call { number, does, began_ns, file: None });
            // A fault that failed has no end.
            known.fault = None;
            if does == Does::Executes {
                known.linking = Some(Linking::default());
            }
        }
    }

    /// It entered a call some time ago. What it began since goes on.
    pub(super) fn is_in(&mut self, thread: u32, number: u64, does: Does, began_ns: u64) {
        if let Some(known) = self.threads.get_mut(&thread) {
            known.call = Some(Call { number, does, began_ns, file: None });
        }
    }

    /// Whether it is inside of a call that executes a program.
    pub(super) fn is_executing(&self, thread: u32) -> bool {
        let call = self.threads.get(&thread).and_then(|known| known.call);
        call.is_some_and(|call| call.does == Does::Executes)
    }

    pub(super) fn leaves(
        &mut self,
        thread: u32,
        result: i64,
        time_ns: u64,
        add: &mut impl FnMut(Kind, u64),
    ) {
        let Some(known) = self.threads.get_mut(&thread) else { return };
        let Some(Call { number, does, began_ns, .. }) = known.call.take() else { return };
        let ns = time_ns.saturating_sub(began_ns);
        add(Kind::Call(number), ns);
        known.touched(time_ns, add);
        if does == Does::Executes {
            let linking = known.linking.take().filter(|_| result == 0);
            known.linking = linking.and_then(|linking| linking.begins(time_ns));
        } else if known.linking.is_some() {
            add(Kind::LinkerCall, ns);
        }
        if does == Does::LooksUp {
            add(Kind::PathLookup, ns);
        }
    }

    pub(super) fn faults(&mut self, thread: u32, address: u64, began_ns: u64) {
        if let Some(known) = self.threads.get_mut(&thread) {
            known.fault = Some(Fault { address, began_ns, ..Fault::default() });
        }
    }

    pub(super) fn faulted(
        &mut self,
        thread: u32,
        address: u64,
        is_major: bool,
        time_ns: u64,
        add: &mut impl FnMut(Kind, u64),
    ) {
        let Some(known) = self.threads.get_mut(&thread) else { return };
        // One that failed has no end. The kernel may also bring pages in by itself, without a fault.
        let Some(fault) = known.fault.take_if(|fault| fault.address == address) else { return };
        let kind = if is_major { Kind::MajorFault } else { Kind::MinorFault };
        let ns = time_ns.saturating_sub(fault.began_ns);
        add(kind, ns);
        if known.touches_ns >= Some(fault.began_ns) {
            known.touched(time_ns, add);
        }
        if known.linking.is_some_and(|linking| linking.began_ns().is_some()) {
            add(Kind::LinkerFault, ns);
        }
        if is_major {
            fault.steps(time_ns, add);
        }
    }

    pub(super) fn interrupt(
        &mut self,
        thread: u32,
        kind: Kind,
        begins: bool,
        time_ns: u64,
        add: &mut impl FnMut(Kind, u64),
    ) {
        let Some(known) = self.threads.get_mut(&thread) else { return };
        let since = match kind {
            Kind::SoftInterrupt => &mut known.softirq_ns,
            _ => &mut known.interrupt_ns,
        };
        if begins {
            *since = Some(time_ns);
        } else if let Some(since_ns) = since.take() {
            add(kind, time_ns.saturating_sub(since_ns));
        }
    }

    /// A request is done: the fault of its thread may have waited for it.
    pub(super) fn served(&mut self, served: Served) {
        let Some(known) = self.threads.get_mut(&served.thread) else { return };
        known.unanswered = false;
        if !known.fault.is_some_and(|fault| fault.is_woken) {
            self.served_unseen(served);
        }
    }

    /// The same where it is known from the thread alone.
    pub(super) fn served_unseen(&mut self, served: Served) {
        if let Some(known) = self.threads.get_mut(&served.thread)
            && let Some(fault) = &mut known.fault
            && served.queued_ns >= fault.began_ns
            && !served.is_write
        {
            fault.read = Some(served);
        }
    }

    /// For a thread that gets a processor after a wait that no recorded completion ended: since when it
    /// may have sent its request, and when it was woken.
    pub(super) fn unanswered(&self, thread: u32, time_ns: u64) -> Option<(u64, u64)> {
        let known = self.threads.get(&thread).filter(|known| known.unanswered)?;
        Some((known.ran_ns, known.woken_ns.unwrap_or(time_ns)))
    }
}

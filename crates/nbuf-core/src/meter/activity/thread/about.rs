//! What a thread's fault or call is about: a file, or the linking of its program.

use super::super::linking::Code;
use super::super::{File, Kind};
use super::{Thread, Threads};

impl Thread {
    /// What it did about a new file is done.
    pub(super) fn touched(&mut self, time_ns: u64, add: &mut impl FnMut(Kind, u64)) {
        if let Some(since_ns) = self.touches_ns.take() {
            add(Kind::FileTouch, time_ns.saturating_sub(since_ns));
        }
    }
}

impl Threads {
    /// It looks for a page of a file that the command never touched before: from the beginning of its fault or
    /// call on. If one call has two, the second begins where it is looked for, and ends
    /// the first.
    pub(in super::super) fn first_touch(
        &mut self,
        thread: u32,
        time_ns: u64,
        add: &mut impl FnMut(Kind, u64),
    ) {
        let Some(known) = self.threads.get_mut(&thread) else { return };
        if known.touches_ns.is_some() {
            known.touched(time_ns, add);
            known.touches_ns = Some(time_ns);
        } else {
            let fault = known.fault.map(|fault| fault.began_ns);
            known.touches_ns = fault.or(known.call.map(|call| call.began_ns));
        }
    }

    /// The file that its fault, or else its call, is about.
    pub(in super::super) fn file(&self, thread: u32) -> Option<File> {
        let known = self.threads.get(&thread)?;
        match known.fault {
            Some(fault) => fault.file,
            None => known.call?.file,
        }
    }

    /// It looks for a page of this file: of several the first, or the last new one.
    pub(in super::super) fn is_about(&mut self, thread: u32, file: File, is_new: bool) {
        let Some(known) = self.threads.get_mut(&thread) else { return };
        let of_fault = known.fault.as_mut().map(|fault| &mut fault.file);
        if let Some(about) = of_fault.or(known.call.as_mut().map(|call| &mut call.file))
            && (is_new || about.is_none())
        {
            *about = Some(file);
        }
    }

    pub(in super::super) fn maps(&mut self, thread: u32, code: Code) {
        if let Some(linking) =
            self.threads.get_mut(&thread).and_then(|known| known.linking.as_mut())
        {
            linking.maps(code);
        }
    }

    /// A call or a fault by this instruction may be the first that is not the linker's.
    pub(in super::super) fn links_no_more(
        &mut self,
        thread: u32,
        instruction: u64,
        by_call: bool,
        time_ns: u64,
        add: &mut impl FnMut(Kind, u64),
    ) {
        let Some(known) = self.threads.get_mut(&thread) else { return };
        let Some(linking) = known.linking else { return };
        let Some(began_ns) = linking.began_ns() else { return };
        let ends =
            linking.ends_with_fault(instruction) || by_call && linking.ends_with_call(instruction);
        if ends {
            known.linking = None;
            add(Kind::Linker, time_ns.saturating_sub(began_ns));
        }
    }
}

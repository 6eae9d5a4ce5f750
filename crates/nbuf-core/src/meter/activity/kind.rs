//! The kinds of events that have a meter.

/// In the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A page fault that waited for a read, from touch to return.
    MajorFault,
    /// A part of it: until the request was sent, without reclaim.
    FaultFind,
    /// A part of it: reclaiming memory for the page.
    FaultReclaim,
    /// A part of it: from the request to the device.
    FaultQueue,
    /// A part of it: in the device.
    FaultDevice,
    /// A part of it: from the device's answer to the thread on a processor.
    FaultWakeup,
    /// A part of it: waiting for a read that was under way already.
    FaultShared,
    /// A part of it: the rest, in which the page is mapped.
    FaultMap,
    /// A page fault that waited for no read.
    MinorFault,
    /// A read of a disc, from the request to the device.
    ReadQueue,
    /// A read of a disc, in the device.
    ReadDevice,
    /// A write to a disc, from the request to the device.
    WriteQueue,
    /// A write to a disc, in the device.
    WriteDevice,
    /// Reclaiming memory, for the thread or its cgroup.
    Reclaim,
    /// A thread that can run waits for a processor.
    Runnable,
    /// From the call that makes a process or thread to its first instruction.
    Creation,
    /// An interrupt while the command had the processor.
    Interrupt,
    /// Work that an interrupt had put off, while the command had the processor.
    SoftInterrupt,
    /// A system call that looks up a path.
    PathLookup,
    /// The first look for a page of a file: until its fault or system call ends.
    FileTouch,
    /// From the end of `execve` to the program's own first instruction.
    Linker,
    /// A part of it: page faults.
    LinkerFault,
    /// A part of it: system calls.
    LinkerCall,
    /// The system call with this number.
    Call(u64),
}

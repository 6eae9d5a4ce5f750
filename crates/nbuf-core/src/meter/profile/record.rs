//! What a profile takes: records of mappings, names and samples, and what may be mapped.

use super::Mapping;

/// What the kernel reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// A part of a process's memory was mapped.
    Mapped {
        /// The process.
        process: u32,
        /// The part.
        mapping: Mapping,
        /// What is mapped there.
        object: Object,
    },
    /// A thread has another name.
    Named {
        /// Its process.
        process: u32,
        /// The thread.
        thread: u32,
        /// The name.
        name: String,
        /// Because it executed a program.
        executes: bool,
    },
    /// A process or thread began.
    Began {
        /// Its process.
        process: u32,
        /// The process that made it.
        parent: u32,
        /// The thread.
        thread: u32,
        /// The thread that made it.
        parent_thread: u32,
    },
    /// A thread ended.
    Ended {
        /// Its process.
        process: u32,
        /// The thread.
        thread: u32,
    },
    /// A thread was seen running: innermost frame first.
    Ran {
        /// Its process.
        process: u32,
        /// The thread.
        thread: u32,
        /// The stack.
        stack: Vec<Address>,
    },
    /// A page fault was served.
    Faulted {
        /// The process.
        process: u32,
        /// What ran.
        at: Address,
        /// What it touched.
        touched: u64,
        /// Whether a read was waited for.
        is_major: bool,
    },
    /// Pages were put into the page cache.
    Filled {
        /// The process.
        process: u32,
        /// What ran: the innermost frame of the program.
        at: Option<Address>,
        /// The device of the file, as the kernel numbers it.
        device: u32,
        /// The inode of the file.
        inode: u64,
        /// How many.
        pages: u64,
    },
}

/// A place that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// Where.
    pub value: u64,
    /// In the kernel.
    pub in_kernel: bool,
}

/// What may be mapped, and the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Object {
    /// The kernel and its modules.
    Kernel,
    /// Memory without a file: generated code, the heap, the stack.
    Anonymous,
    /// Memory without a file that a process executed: what its compiler made while it ran.
    Generated {
        /// The process.
        process: u32,
    },
    /// What the kernel made, such as `[vdso]`.
    Made(String),
    /// A file.
    File {
        /// Its name when it was mapped, as the process saw it.
        path: String,
        /// As the kernel numbers it.
        device: u32,
        /// Its number on the device.
        inode: u64,
    },
    /// A file that was never mapped, and so has no name here.
    Inode {
        /// As the kernel numbers it.
        device: u32,
        /// Its number on the device.
        inode: u64,
    },
    /// No mapping of the process has the address.
    Unknown,
}

//! Where members of the kernel's structures are, and the numbers of its tracepoints, by its own description.

use crate::sys::bpf::description::Description;
use crate::workload::record::btf::Btf;

/// The tracepoints whose arguments have types.
const TYPED: [&str; 4] = [
    "btf_trace_sched_switch",
    "btf_trace_task_newtask",
    "btf_trace_sched_process_exit",
    "btf_trace_mm_filemap_add_to_page_cache",
];
const STRUCTURES: [&str; 3] = ["task_struct", "folio", "pageflags"];
/// The same for what times system calls.
const TIMED: [&str; 5] = [
    "btf_trace_sys_enter",
    "btf_trace_sys_exit",
    "btf_trace_mm_filemap_get_pages",
    "btf_trace_mm_filemap_fault",
    "btf_trace_mm_filemap_map_pages",
];
const TIMED_STRUCTURES: [&str; 4] = ["mm_struct", "address_space", "inode", "super_block"];

/// Offsets in bytes, as instructions have them, and numbers of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kernel {
    pub(super) switch: u32,
    pub(super) newtask: u32,
    pub(super) exit: u32,
    pub(super) add: u32,
    pub(super) task: Task,
    pub(super) folio: Folio,
    /// Where it was asked for.
    pub(super) timed: Option<Timed>,
}

/// What times system calls, and looks for first touches of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timed {
    pub(super) enter: u32,
    pub(super) leave: u32,
    pub(super) looks: [u32; 3],
    /// The memory of a task, and in it the code of its program.
    pub(super) memory: i16,
    pub(super) start: i16,
    pub(super) end: i16,
    /// From the pages of a file to its inode, its number, its file system, and the device of that.
    pub(super) host: i16,
    pub(super) inode: i16,
    pub(super) block: i16,
    pub(super) device: i16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) number: i16,
    pub(super) process: i16,
    pub(super) flags: i16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Folio {
    pub(super) flags: i16,
    pub(super) order: i16,
    /// The bit that says that it has several pages.
    pub(super) head: i32,
}

impl Kernel {
    /// The kernel that runs, if it describes all that is needed.
    pub(super) fn described(times_calls: bool) -> Option<Self> {
        let description = Description::open().ok()?;
        let bytes = description.bytes();
        let wanted = wanted(times_calls);
        let early = Btf::parse_until_found(bytes, &wanted);
        let found = early.and_then(|btf| Self::of(&btf));
        // Members may be behind the last name.
        let found = found.filter(|found| found.timed.is_some() == times_calls);
        found.or_else(|| Self::of(&Btf::parse(bytes, &wanted)?))
    }

    fn of(btf: &Btf<'_>) -> Option<Self> {
        let of = |structure: &str, member: &str| i16::try_from(btf.offset(structure, member)?).ok();
        let [switch, newtask, exit, add] = TYPED.map(|name| btf.type_named(name));
        Some(Self {
            switch: switch?,
            newtask: newtask?,
            exit: exit?,
            add: add?,
            task: Task {
                number: of("task_struct", "pid")?,
                process: of("task_struct", "tgid")?,
                flags: of("task_struct", "flags")?,
            },
            folio: Folio {
                flags: of("folio", "flags")?,
                // A member of its own until Linux 6.6.
                order: of("folio", "_folio_order").or_else(|| of("folio", "_flags_1"))?,
                head: btf.value("pageflags", "PG_head")?.cast_signed(),
            },
            timed: Timed::of(btf),
        })
    }
}

impl Timed {
    fn of(btf: &Btf<'_>) -> Option<Self> {
        let of = |structure: &str, member: &str| i16::try_from(btf.offset(structure, member)?).ok();
        let [enter, leave, looks @ ..] = TIMED.map(|name| btf.type_named(name));
        let [pages, fault, around] = looks;
        Some(Self {
            enter: enter?,
            leave: leave?,
            looks: [pages?, fault?, around?],
            memory: of("task_struct", "mm")?,
            start: of("mm_struct", "start_code")?,
            end: of("mm_struct", "end_code")?,
            host: of("address_space", "host")?,
            inode: of("inode", "i_ino")?,
            block: of("inode", "i_sb")?,
            device: of("super_block", "s_dev")?,
        })
    }
}

fn wanted(times_calls: bool) -> Vec<&'static str> {
    let more: [&[_]; 2] = if times_calls { [&TIMED, &TIMED_STRUCTURES] } else { [&[], &[]] };
    [&TYPED[..], &STRUCTURES, more[0], more[1]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_the_description_says_what_all_of_it_says() {
        let Ok(description) = Description::open() else { return };
        for times_calls in [false, true] {
            let wanted = wanted(times_calls);
            let whole = Btf::parse(description.bytes(), &wanted).and_then(|btf| Kernel::of(&btf));
            assert_eq!(Kernel::described(times_calls), whole);
            assert_eq!(whole.unwrap().timed.is_some(), times_calls);
        }
    }
}
